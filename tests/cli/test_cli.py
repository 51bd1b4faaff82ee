"""The command line: every command, what it prints and where, its exit codes, and one sentence for bad input."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations import catalogue
from derivations.catalogue import get, layer, layers, names, results
from derivations.cli import cli
from derivations.cli.results import FORMATS
from derivations.documents.choices import MATHS
from derivations.language.printing.export import Layout, pages_of, write_files
from derivations.language.printing.fragments import fragment, points
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.statement import statement
from tests.tiers import few

LEVELS = {"definition", "proved", "proved for sizes up to N", "tested", "refuted", "unknown"}
FEW = ("softmax.jacobian", "attention.scores", "feed_forward.parameters")


def run(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, list(arguments), prog_name="derivations")


def printed(*arguments: str) -> str:
    """The standard output of a command that must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def process(*arguments: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "derivations.cli", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(catalogue.__file__).parents[1]), **environment},
        cwd=folder,
        check=False,
    )


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["show", "--help"], ["--version"], ["nonsense"]])
def test_help_waits_for_nothing(repository: Path, arguments: list[str]):
    """Neither the help nor a refusal of an unknown command imports what takes long."""
    program = (
        "import sys; from derivations.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "late = ('sympy', 'numpy', 'scipy', 'mpmath', 'rich')\n"
        "print([name for name in late if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, *arguments]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=repository, check=True)
    assert ran.stderr.splitlines()[-1] == "[]"


def test_that_an_import_would_be_noticed(repository: Path):
    program = "import sys, derivations.catalogue; print('sympy' in sys.modules)"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=repository, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.commands)])
def test_every_command_has_help_with_examples(command: tuple[str, ...]):
    text = printed(*command, "--help")
    assert text.startswith("Usage: derivations")
    examples = [line for line in text.splitlines() if line.startswith("  derivations")]
    assert examples
    assert "\\b" not in text


# --- list -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listed() -> list[dict[str, str]]:
    """What `list --json` prints, read."""
    return json.loads(printed("list", "--json", "--prove"))


@pytest.mark.slow
def test_the_list_as_json_has_every_result(listed: list[dict[str, str]]):
    assert [row["id"] for row in listed] == names()
    for row in listed:
        letters = row.pop("letters")
        assert list(row) == ["id", "title", "topic", "evidence"]
        assert all(isinstance(value, str) and value for value in [*row.values(), *letters])
        assert row["topic"] == row["id"].partition(".")[0]
        assert row["evidence"] in LEVELS


@pytest.mark.slow
def test_the_whole_catalogue_is_proved(listed: list[dict[str, str]]):
    assert [row for row in listed if row["evidence"] not in ("definition", "proved")] == []


@pytest.mark.slow
def test_the_table_has_every_result(listed: list[dict[str, str]]):
    table = printed("list", "--all")
    assert f"{len(listed)} results" in table
    assert [row["id"] for row in listed if f"{row['id']} " not in table] == []


# --- show -----------------------------------------------------------------------------------------------------------


def test_a_numbered_equation_has_a_label_of_one_form():
    said = printed("show", "softmax.jacobian_diagonal", "--label", "eq")
    assert said.splitlines()[2:5] == [
        r"\begin{equation}\label{eq:softmax-jacobian_diagonal}",
        r"\frac{\partial y_{i}}{\partial x_{i}} = y_{i} (1 - y_{i})",
        r"\end{equation}",
    ]
    plain = printed("show", "softmax.jacobian_diagonal", "--numbered")
    assert plain == said.replace(r"\label{eq:softmax-jacobian_diagonal}", "")
    assert plain == printed("show", "softmax.jacobian_diagonal", "--format", "latex", "--math", "equation")
    assert r"\label{eq:linear_gradient}" in printed("show", "linear", "--gradient", "--label", "eq")


def test_letters_are_macros_on_demand():
    said = printed("show", "linear", "--macros", "--label", "eq").splitlines()
    assert said[0] == r"\providecommand{\dvW}{W}"
    assert r"\dvY = \dvX \dvW + \dvb" in said


def test_the_text_is_shown_by_default():
    assert printed("show", "softmax.jacobian") == (
        "Jacobian of softmax (softmax.jacobian)\n"
        "    dy_i/dx_k = y_i (delta_ik - y_k)\n"
        "Where y = softmax(x), x in R^n, i, k = 1, ..., n.\n"
        "Source: Bridle (1990).\n"
        "Evidence: proved.\n"
    )


def test_steps_are_shown_with_their_rules():
    without, with_steps = printed("show", "softmax.jacobian"), printed("show", "softmax.jacobian", "--steps")
    for step in get("softmax.jacobian").steps:
        assert f"[{step.rule}]" in with_steps
        assert f"[{step.rule}]" not in without


NAMES = [
    ("softmax.saturation", False),
    ("softmax.saturation", True),
    ("attention.weights", True),
    ("encoder_layer", False),
]


@pytest.mark.parametrize(("name", "steps"), NAMES)
@pytest.mark.parametrize("form", ["latex", "markdown", "text"])
def test_a_format_is_that_of_the_object(name: str, form: str, steps: bool):
    shown = get(name) if "." in name else layer(name)
    marks = {"math": "brackets"} if steps and form == "latex" else {}  # what "Where" says stands below the steps
    expected = getattr(shown, form)(steps=steps, **marks).rstrip("\n") + "\n"
    if form == "text" and "." in name:
        expected += f"Evidence: {shown.evidence.level}.\n"
    assert printed("show", name, "--format", form, *["--steps"] * steps) == expected


def test_steps_as_latex_say_where():
    """The ranges stand in the sentence below, and not among the names of rules."""
    for options in ((), ("--macros",), ("--label", "eq")):
        shown = printed("show", "softmax.jacobian", "--steps", "--format", "latex", *options)
        assert "\nWhere " in shown and "& &&" not in shown


def test_python_is_source_that_runs(tmp_path: Path):
    source = tmp_path / "saturation.py"
    source.write_text(printed("show", "softmax.saturation", "--format", "python"), encoding="utf-8")
    command = [sys.executable, "-c", "from saturation import *; print(softmax_saturation(10.0))"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert float(ran.stdout) == pytest.approx(4.5395807735951673e-05, rel=1e-14)


def test_python_of_a_layer_is_its_source():
    assert printed("show", "feed_forward", "--format", "python") == printed("code", "feed_forward")


@pytest.mark.parametrize("name", ["dot_product.variance", "softmax.saturation_bound", "multi_head_attention"])
def test_json_is_the_statement(name: str):
    text = printed("show", name, "--json")
    assert text == printed("show", name, "--format", "json")
    shown = get(name) if "." in name else layer(name)
    assert json.loads(text) == shown.json()
    assert json.loads(text)["id"] == name


@pytest.mark.slow
def test_everything_is_json():
    for name, shown in {**results(), **layers()}.items():
        printed = shown.json()
        assert json.loads(json.dumps(printed, ensure_ascii=False)) == printed, name


def test_sizes_are_put_in():
    at_64 = printed("show", "dot_product.variance", "--set", "d_k=64", "--format", "latex")
    assert at_64.startswith(r"\mathrm{Var}\left(\sum_{j=1}^{64} q_{j} k_{j}\right) = 64")
    shapes = printed("show", "feed_forward", "--set", "d_model=512", "--set", "d_ff=2048")
    assert "W_1 in R^{512 x 2048}" in shapes and "d_ff" not in shapes


@pytest.mark.parametrize("name", sorted(set(NOTATIONS) - {"ours"}))
def test_each_built_in_notation_is_taken(name: str):
    for shown in ("feed_forward", "multi_head_attention", "attention.swap_query_key"):
        text = printed("show", shown, "--notation", name, "--format", "latex")
        object_shown = get(shown) if "." in shown else layer(shown)
        assert text == object_shown.latex(name).rstrip("\n") + "\n"


def test_a_notation_of_ones_own_is_taken(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('[names]\nn = "L"\n[layers.feed_forward]\nH = "z_1"\n', encoding="utf-8")
    assert "i, k = 1, ..., L" in printed("show", "softmax.jacobian", "--notation", str(file))
    assert r"z_{1} &= X W_{1} + b_{1}" in printed("show", "feed_forward", "--notation", str(file), "--format", "latex")


@pytest.mark.parametrize(
    ("math", "opening", "inline"),
    [
        ("dollars", "$$\n", "$y = "),
        ("brackets", "\\[\n", "\\(y = "),
        ("equation", "\\begin{equation}\n", "$y = "),
        ("fence", "```math\n", "$`y = "),
    ],
)
def test_formulas_are_marked_as_asked(math: str, opening: str, inline: str):
    text = printed("show", "softmax.jacobian", "--format", "markdown", "--math", math)
    assert opening in text and inline in text
    assert math in MATHS and len(MATHS) == 4


@pytest.mark.parametrize(
    ("lang", "evidence"), [("en", "Evidence: proved."), ("zh-Hant", "證據：已證明。"), ("zh", "证据：已证明。")]
)
def test_words_are_in_the_language_asked_for(lang: str, evidence: str):
    assert printed("show", "softmax.jacobian", "--lang", lang).endswith(f"\n{evidence}\n")


# --- verify ---------------------------------------------------------------------------------------------------------


def test_some_results_are_verified():
    rows = json.loads(printed("verify", *FEW, "--json"))
    assert [{key: row[key] for key in ("id", "evidence", "failures", "cross_check")} for row in rows] == [
        {"id": name, "evidence": "proved", "failures": [], "cross_check": "agrees"} for name in FEW
    ]
    table = printed("verify", *FEW)
    assert f"{len(FEW)} verified" in table and all(name in table for name in FEW)


@pytest.mark.slow
def test_verification_in_two_processes_says_the_same():
    ran = process("verify", *FEW, "--json", "--jobs", "2")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == printed("verify", *FEW, "--json")


@pytest.mark.parametrize(
    ("level", "outcome", "code"),
    [
        ("refuted", "agrees", 1),
        ("unknown", "agrees", 1),
        ("proved", "disagrees", 1),
        ("proved", "not applicable", 0),
        ("definition", "agrees", 0),
    ],
)
def test_the_exit_code_tells_success_from_failure(monkeypatch: pytest.MonkeyPatch, level: str, outcome: str, code: int):
    failures = ("claim 1, step 2 (algebra): the reason",) if level in ("refuted", "unknown") else ()
    reason = "claim 1, step 3: where it differs" if outcome == "disagrees" else ""

    def verdicts(ids, jobs=1):
        found = {FEW[1]: catalogue.Verdict(FEW[1], "a title", level, failures, outcome, reason)}
        return (found.get(name) or catalogue.Verdict(name, "a title", "proved", (), "agrees") for name in ids)

    monkeypatch.setattr(catalogue, "verify", verdicts)
    table = run("verify", *FEW)
    assert table.exit_code == code
    assert all(failure in table.stdout for failure in (*failures, reason))
    as_json = run("verify", *FEW, "--json")
    assert as_json.exit_code == code
    assert [row["evidence"] for row in json.loads(as_json.stdout)] == ["proved", level, "proved"]
    assert [row["cross_check"] for row in json.loads(as_json.stdout)] == ["agrees", outcome, "agrees"]


def test_a_broken_result_fails(monkeypatch: pytest.MonkeyPatch):
    """Not only a pretended verdict: a step with a lost term, judged, ends in exit code 1 with the step named."""
    from dataclasses import replace

    right = get("softmax.jacobian")
    *before, last = right.steps
    y = right.rhs.args[-1]
    wrong = replace(right.claims[0], steps=(*before, replace(last, expression=y)))
    monkeypatch.setitem(catalogue.RESULTS, right.id, lambda: replace(right, claims=(wrong,)))
    result = run("verify", right.id, "--json")
    assert result.exit_code == 1
    (row,) = json.loads(result.stdout)
    assert row["evidence"] == "refuted"
    assert row["failures"][0].startswith("claim 1, step 3 (definition): refuted: ")


# --- export ---------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, by its path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("exported") / "new" / "pages"
    ran = process("export", str(folder), PYTHONHASHSEED="1")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    assert ran.stderr == f"{len(contents(folder))} files in {folder}\n"
    return contents(folder)


@pytest.mark.slow
def test_every_result_and_layer_is_exported(exported: dict[str, bytes]):
    stems = [*names(), *(f"layer-{name}" for name in layers())]
    expected = {f"latex/{stem}.tex" for stem in stems} | {f"markdown/{stem}.md" for stem in stems}
    assert set(exported) == expected | {"derivations.tex", "references.bib", "derivations.md"}
    assert all(exported.values())


@pytest.mark.slow
def test_a_file_is_the_derivation(exported: dict[str, bytes]):
    assert exported["markdown/softmax.jacobian.md"].decode("utf-8") == get("softmax.jacobian").markdown(steps=True)
    tex = fragment(statement(get("softmax.jacobian"), "ours"), 345.0)
    assert exported["latex/softmax.jacobian.tex"].decode("utf-8") == tex
    assert r"{Jacobian of softmax}{res:softmax-jacobian}" in exported["derivations.tex"].decode("utf-8")


@pytest.mark.slow
def test_export_is_the_same_over_runs_and_hash_seeds(exported: dict[str, bytes], tmp_path: Path):
    ran = process("export", str(tmp_path), PYTHONHASHSEED="2")
    assert ran.returncode == 0, ran.stderr
    assert contents(tmp_path) == exported


def test_export_takes_notation_marks_and_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = "attention.swap_query_key"
    monkeypatch.setattr(catalogue, "results", lambda: {name: get(name)})  # the whole catalogue takes long
    monkeypatch.setattr(catalogue, "layers", dict)
    printed("export", str(tmp_path), "--notation", "vaswani", "--math", "brackets", "--lang", "zh-Hant")
    page = contents(tmp_path)[f"markdown/{name}.md"].decode("utf-8")
    assert page == get(name).markdown("vaswani", steps=True, math="brackets", lang="zh-Hant")
    assert page != get(name).markdown(steps=True)


def test_a_label_is_the_same_wherever_it_is_printed():
    for shown in (get("softmax.jacobian"), layer("linear")):
        tex = fragment(statement(shown, "ours"), 345.0, label="eq")
        (label,) = re.findall(r"\\label{.*?}", tex)
        assert label in printed("show", getattr(shown, "id", "linear"), "--label", "eq")


def test_a_result_is_shown_in_lines_for_a_width():
    """With its steps as `export` writes it; without them its formulas alone."""
    steps = printed("show", "softmax.jacobian", "--steps", "--width", "3.3in")
    assert steps.rstrip("\n") == fragment(statement(get("softmax.jacobian"), "ours"), points("3.3in")).rstrip("\n")
    brief = printed("show", "flops.mixtral", "--width", "3.3in", "--label", "eq")
    assert brief.startswith(r"\begin{alignat}{2}")
    assert brief.count(r"\label{eq:flops-mixtral}") == 1
    assert brief.count("\n") > printed("show", "flops.mixtral", "--format", "latex").count("\n")


@pytest.mark.parametrize("options", [[], ["--width", "3.3in"], ["--macros"], ["--math", "dollars"], ["--steps"]])
def test_a_formula_is_shown_with_what_it_assumes(options: list[str]):
    """Without it the formula is false."""
    shown = printed("show", "softmax.saturation_bound", "--format", "latex", *options)
    assert r"(1 - \delta_{" in shown and "ssuming" in shown


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout(width="wide"), "is no length"),
        (Layout(width="1in"), "too narrow"),
        (Layout(label="a b"), "a prefix of letters"),
    ],
)
def test_export_refuses_a_layout_that_cannot_be(layout: Layout, said: str):
    with pytest.raises(ValueError, match=said):
        pages_of({}, {}, layout=layout)


def test_files_are_written_all_or_not_at_all(tmp_path: Path):
    """A failure while files are made leaves what was there before, and nothing half-written beside it."""
    write_files(tmp_path, {"a.md": "old", "sub/b.md": "old"})
    before = contents(tmp_path)
    with pytest.raises(OSError, match=r"."):
        write_files(tmp_path, {"a.md": "new", f"{'long' * 200}.md": "new"})
    assert contents(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.md", "sub"]
    write_files(tmp_path, {"a.md": "new"})
    assert contents(tmp_path) == {"a.md": b"new", "sub/b.md": b"old"}


# --- code -----------------------------------------------------------------------------------------------------------


def test_the_source_of_a_layer_runs_without_the_package(tmp_path: Path):
    source = printed("code", "scaled_dot_product_attention")
    assert "derivations" not in "".join(line for line in source.splitlines(True) if "import" in line)
    (tmp_path / "attention.py").write_text(source, encoding="utf-8")
    program = (
        "import sys, numpy as np; from attention import scaled_dot_product_attention as f\n"
        "Q = np.ones((2, 3)); K = np.ones((5, 3)); V = np.arange(35.0).reshape(5, 7)\n"
        "O = f(Q, K, V); assert O.shape == (2, 7); assert 'derivations' not in sys.modules\n"
        "print(np.abs(O - V.mean(axis=0)).max() < 1e-13)"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout == "True\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(catalogue.LAYERS))
def test_every_layer_has_source(name: str):
    source = printed("code", name)
    compile(source, name, "exec")
    assert f"def {layer(name).name}(" in source


# --- bad input ------------------------------------------------------------------------------------------------------


def _occupied(folder: Path) -> None:
    (folder / "occupied").write_text("a file where a folder should be", encoding="utf-8")


def _notation_file(folder: Path) -> None:
    (folder / "bad.toml").write_text('[names]\nW_q = "W"\n', encoding="utf-8")


def _binary(folder: Path) -> None:
    (folder / "binary").write_bytes(b"text\0and more")
    (folder / "latin").write_bytes("é".encode("latin-1"))
    (folder / "empty").write_bytes(b"")


BAD = {
    "unknown result": (["show", "softmax.jacobain"], "softmax.jacobian"),
    "unknown topic": (["show", "sotfmax.jacobian"], "softmax.jacobian"),
    "unknown layer": (["show", "encoder_layr"], "encoder_layer"),
    "unknown id to verify": (["verify", "softmax.jacobian", "softmax.ratoi"], "softmax.ratio"),
    "unknown layer to code": (["code", "multi_head_attentoin"], "multi_head_attention"),
    "size without number": (["show", "dot_product.variance", "--set", "d_k"], "set d_k=64"),
    "size zero": (["show", "dot_product.variance", "--set", "d_k=0"], "integer >= 1"),
    "negative size": (["show", "dot_product.variance", "--set", "d_k=-2"], "integer >= 1"),
    "fractional size": (["show", "dot_product.variance", "--set", "d_k=2.5"], "integer >= 1"),
    "size in words": (["show", "dot_product.variance", "--set", "d_k=many"], "integer >= 1"),
    "unknown size": (["show", "dot_product.variance", "--set", "width=2"], "d_k"),
    "unknown size of a layer": (["show", "feed_forward", "--set", "width=2"], "d_ff"),
    "unknown notation": (["show", "softmax.ratio", "--notation", "vaswany"], "vaswani"),
    "missing notation file": (["show", "softmax.ratio", "--notation", "missing.toml"], "missing.toml"),
    "bad notation file": (["show", "softmax.ratio", "--notation", "bad.toml"], "W_Q"),
    "unknown format": (["show", "softmax.ratio", "--format", "html"], "markdown"),
    "marks that LaTeX lacks": (["show", "softmax.ratio", "--format", "latex", "--math", "fence"], "dollars"),
    "a label that is no name": (["show", "softmax.ratio", "--label", "1:"], "letters"),
    "a label in Markdown": (["show", "softmax.ratio", "--label", "eq", "--format", "markdown"], "leave --format"),
    "a width of Markdown": (
        ["show", "softmax.ratio", "--width", "3in", "--format", "markdown"],
        "--width is for LaTeX",
    ),
    "a width without a unit": (["show", "softmax.ratio", "--width", "3"], "is no length"),
    "a number between dollars": (["show", "softmax.ratio", "--numbered", "--math", "dollars"], "leave --format"),
    "steps of a layer": (["show", "encoder_layer", "--steps"], "encoder_layer is a layer, which has equations and no"),
    "macros in Markdown": (["show", "softmax.ratio", "--macros", "--format", "markdown"], "leave --format"),
    "unknown language": (["show", "softmax.ratio", "--lang", "fr"], "one of en, zh-Hans, zh-Hant"),
    "unknown language of pages": (["export", "pages", "--lang", "fr"], "one of en, zh-Hans, zh-Hant"),
    "no id": (["show"], "ID"),
    "no processes": (["verify", "softmax.ratio", "--jobs", "0"], "jobs"),
    "unknown backend": (["code", "softmax", "--backend", "fortran"], "numpy"),
    "unknown option": (["list", "--yaml"], "--yaml"),
    "export onto a file": (["export", "occupied"], "occupied"),
    "export below a file": (["export", "occupied/pages"], "occupied/pages"),
    "neither file nor command": (["shwo"], "show"),
    "missing text": (["book.txt"], "book.txt"),
    "empty text": (["empty"], "empty"),
    "binary text": (["binary"], "NUL"),
    "text in another encoding": (["latin"], "UTF-8"),
    "folder as text": (["."], "cannot be read"),
    "main job onto a file": (["text", "--out", "occupied"], "occupied"),
}


def is_answered(
    folder: Path, run: Callable[[list[str]], tuple[int, str, str]], arguments: list[str], advice: str
) -> None:
    """Run a command on bad input, in a folder with files that are no good."""
    (folder / "text").write_text("A text.", encoding="utf-8")
    for prepare in (_occupied, _notation_file, _binary):
        prepare(folder)
    before = contents(folder)
    code, output, errors = run(arguments)
    assert code == 2, output + errors
    assert output == ""
    assert errors.startswith("derivations: ") and errors.count("\n") == 1
    assert advice in errors
    assert contents(folder) == before


@pytest.mark.parametrize(("arguments", "advice"), BAD.values(), ids=BAD)
def test_bad_input_is_answered_by_one_sentence(
    tmp_path: Path,
    arguments: list[str],
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    from derivations.cli import main

    def here(arguments: list[str]) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["derivations", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, *capsys.readouterr()

    is_answered(tmp_path, here, arguments, advice)


@pytest.mark.parametrize("what", few(["unknown result", "binary text", "main job onto a file"], fast=1))
def test_a_process_answers_bad_input_alike(tmp_path: Path, what: str):
    def by_itself(arguments: list[str]) -> tuple[int, str, str]:
        ran = process(*arguments, folder=tmp_path)
        return ran.returncode, ran.stdout, ran.stderr

    is_answered(tmp_path, by_itself, *BAD[what])


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_gets_no_message():
    """`derivations list | head`: the pipe is closed while the command still prints."""
    program = "import sys, derivations.cli as c; sys.argv = ['derivations', 'show', 'encoder', '--json']; c.main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(catalogue.__file__).parents[1])}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as ran:
        ran.stdout.close()
        assert ran.stderr.read() == b""
    assert ran.returncode == 1


def test_ctrl_c_ends_cleanly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from derivations.cli import main

    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "find", interrupted)
    monkeypatch.setattr(sys, "argv", ["derivations", "show", "softmax.ratio"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err.strip() == "derivations: stopped"


def test_formats_are_those_of_the_design():
    """The contract that other tools rely on."""
    assert set(FORMATS) == {"latex", "markdown", "text", "json", "python"}
    assert {name for name, command in cli.commands.items() if not command.hidden} == {
        "list",
        "show",
        "verify",
        "export",
        "code",
        "count",
        "fit",
        "check",
        "prove",
        "render",
        "site",
    }


def test_the_package_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "derivations", "--version"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and run.stdout.startswith("derivations")
