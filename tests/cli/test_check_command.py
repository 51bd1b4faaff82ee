"""The command `check`: files and folders, its formats, its exit codes, repairs, and one sentence for bad input."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import derivations
from derivations.cli import cli, main
from derivations.documents import claims
from derivations.documents.readers.source import MAX_FILE
from derivations.documents.reports import judging
from derivations.documents.verdicts import Finding, Repair

RIGHT, WRONG = "Here $2 + 3 = 5$ stands.\n", "Here $2 + 3 = 7$ stands.\n"


@pytest.fixture(autouse=True)
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """One check alone, so that what the command does is seen apart from what the checks can do: 7 is wrong."""

    def check(statement, link, scope):
        text = statement.passage.text
        if (at := text.find("7")) >= 0:
            yield Finding("wrong", "arithmetic", "not 7", right="5", repair=Repair(at, at + 1, "5"))
        elif "b" in text:
            yield Finding("conditional", "shapes", "fits", assumptions=("b is a row",))
        elif "=" in text:
            yield Finding("holds", "arithmetic", "right")

    monkeypatch.setattr(claims, "CHECKS", (check,))


def run(*arguments: str | Path, text: str | bytes | None = None) -> Result:
    """Run `derivations check` in this process."""
    return CliRunner().invoke(cli, ["check", *map(str, arguments)], prog_name="derivations", input=text)


def process(*arguments: str | Path, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `derivations check` as a user does, with the checks that there are."""
    return subprocess.run(
        [sys.executable, "-m", "derivations.cli", "check", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(derivations.__file__).parents[1]), **environment},
        cwd=folder,
        check=False,
    )


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Path]:
    """Write a document."""

    def written(text: str, name: str = "a.md") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path

    return written


# --- what is judged -------------------------------------------------------------------------------------------------


def test_exit_codes(document: Callable[..., Path]):
    assert run(document(RIGHT)).exit_code == 0
    assert run(document(WRONG)).exit_code == 1
    assert run(document("No formula.\n")).exit_code == 0
    assert run(document("$x = 1 + b$")).exit_code == 0


def test_files_stay_in_their_order_and_folders_are_sorted(document: Callable[..., Path], tmp_path: Path):
    for name in ("z.md", "sub/b.md", "sub/a.md"):
        document(RIGHT, name)
    answer = json.loads(run(tmp_path / "z.md", tmp_path / "sub", "--json").stdout)
    assert [Path(each["file"]).name for each in answer["files"]] == ["z.md", "a.md", "b.md"]
    counts = {"claims": 3, "proved": 0, "holds": 3, "conditional": 0, "wrong": 0, "unknown": 0, "asserted": 3}
    assert answer["summary"] == counts


def test_standard_input():
    result = run("-", "--json", text=WRONG)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["files"][0]["file"] == "<stdin>"
    assert run("-", "--stdin-format", "latex", "--json", text=r"\(2 + 3 = 7\)").exit_code == 1
    broken = run("-", text=b"\xff\x00 $2 + 3 = 7$")
    assert broken.exit_code == 2
    assert broken.stderr.splitlines() == [
        "<stdin>:1:1: byte 1 is a null, so this is no text; name a document, saved as UTF-8"
    ]
    assert run("-", text=b" " * (MAX_FILE + 1)).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
def test_every_number_of_processes_prints_the_same(tmp_path: Path, form: str, document: Callable[..., Path]):
    for number in range(5):
        document(f"$h = {number}$ and $X \\in \\mathbb{{R}}^{{n \\times d}}$ and $2 + 3 = 7$\n", f"{number}.md")
    document("{", "bad.ipynb")
    document("Plain words.\n" * (2 * judging.WORTH_A_PROCESS // 12), "long.md")  # so that processes are started
    one, three = (process(".", "--format", form, "--jobs", jobs, folder=tmp_path) for jobs in ("1", "3"))
    assert one.stdout == three.stdout
    assert one.returncode == three.returncode
    assert "Traceback" not in one.stderr + three.stderr


# --- settings and comments ------------------------------------------------------------------------------------------


def test_what_is_ignored_is_not_wrong(document: Callable[..., Path], tmp_path: Path):
    path = document(WRONG)
    assert run(path, "--ignore", "arithmetic").exit_code == 0
    assert run(path, "--ignore", "shapes").exit_code == 1
    document('[tool.derivations.check]\nignore = ["arithmetic"]', "pyproject.toml")
    answer = json.loads(run(path, "--json").stdout)
    assert answer["summary"]["unknown"] == 1
    assert answer["files"][0]["claims"][0]["reason"] == "ignored: the settings leave this check out"
    assert run(path, "--config", document("[tool.derivations.check]\n", "other.toml")).exit_code == 1


def test_a_comment_with_a_reason_is_heeded_and_one_without_is_bad_input(document: Callable[..., Path]):
    comment = "<!-- derivations: ignore arithmetic{} -->\n"
    assert run(document(comment.format(" -- an example") + WRONG)).exit_code == 0
    result = run(document(comment.format("") + RIGHT))
    assert result.exit_code == 2
    assert "a.md:1:1: say why: <!-- derivations: ignore arithmetic -- the reason -->" in result.stderr


# --- formats --------------------------------------------------------------------------------------------------------


def test_text_shows_what_is_wrong_and_counts_the_rest(document: Callable[..., Path]):
    path = document(f"{WRONG}\n{RIGHT}")
    shown = run(path).stdout
    assert f"{path}:1:7  wrong  [arithmetic]" in shown
    assert "right: 5" in shown
    assert "2 + 3 = 5" not in shown
    assert "2 + 3 = 5" in run(path, "--verbose").stdout


@pytest.mark.parametrize(("option", "form"), [("--json", "json"), ("--sarif", "sarif")])
def test_options_that_name_a_format(document: Callable[..., Path], option: str, form: str):
    path = document(WRONG)
    assert run(path, option).stdout == run(path, "--format", form).stdout == run(path, option, "--format", form).stdout
    json.loads(run(path, option).stdout)


def test_github(document: Callable[..., Path]):
    assert run(document(WRONG), "--format", "github").stdout.startswith("::error file=")


# --- repairs --------------------------------------------------------------------------------------------------------


def test_fix_prints_a_diff_and_writes_nothing(document: Callable[..., Path]):
    path = document(f"first\r\n{WRONG}")
    result = run(path, "--fix")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-2:] == ["-Here $2 + 3 = 7$ stands.", "+Here $2 + 3 = 5$ stands."]
    assert "wrong: 1, of which 1 can be repaired with certainty" in result.stderr
    assert path.read_bytes() == f"first\r\n{WRONG}".encode()


def test_write_repairs_the_file_and_leaves_the_rest_of_it(document: Callable[..., Path]):
    path = document(f"\ufefffirst\r\n{WRONG}")
    result = run(path, "--fix", "--write")
    assert result.exit_code == 0
    assert path.read_bytes() == f"\ufefffirst\r\n{RIGHT}".encode()
    again = run(path, "--fix", "--write")
    assert (again.exit_code, again.stdout) == (0, "")


def test_a_notebook_is_repaired_inside_its_json(document: Callable[..., Path]):
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["# 中\n", "$2 + 3 = 7$"]}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=3)
    path = document(text, "a.ipynb")
    assert run(path, "--fix", "--write").exit_code == 0
    assert path.read_text(encoding="utf-8") == text.replace("= 7", "= 5")


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'FILE...'"),
        (["nowhere.md"], "there is no file or folder called 'nowhere.md'"),
        (["empty"], "there is no document in empty: documents end in .md"),
        (["a.md", "--json", "--sarif"], "choose one format, not json and sarif"),
        (["a.md", "--fix", "--json"], "--fix prints a diff: leave out the format json"),
        (["a.md", "--write"], "--write writes repairs: add --fix"),
        (["-", "--fix", "--write"], "standard input has no file to --write to"),
        (["a.md", "--jobs", "0"], "0 is not in the range x>=1"),
        (["a.md", "--config", "nowhere.toml"], "nowhere.toml"),
        (["a.md", "--config", "bad.toml"], "there is no setting 'ignor'; did you mean 'ignore'?"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    document: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
):
    document(RIGHT)
    document("[tool.derivations.check]\nignor = []", "bad.toml")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["derivations", "check", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (2, "")
    assert words in captured.err
    assert len(captured.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.tex", "a.py", "a.ipynb"])
def test_a_file_in_another_encoding_ends_in_exit_code_2(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes("# caf\xe9 $2 + 2 = 5$\n".encode("latin-1"))
    result = run(tmp_path / name)
    assert result.exit_code == 2
    assert f"{name}:1:" in result.stderr and "UTF-8" in result.stderr


def test_what_was_not_understood_is_listed_on_demand_with_its_place(document: Callable[..., Path]):
    path = document("Where $y = \\foo{3}$, $3 = 3$ and\nit is $x = \\oint z$.\n")
    asked = run(path, "--not-understood").stdout
    assert f"{path}:1:8  unknown  [not understood]" in asked and "the command \\foo is not known" in asked
    assert f"{path}:2:8  unknown  [not understood]" in asked
    assert "3 = 3" not in asked
    assert "not understood" not in run(path).stdout


def test_what_cannot_be_read_is_said_and_the_other_files_are_judged(document: Callable[..., Path], tmp_path: Path):
    document("{", "a.ipynb")
    document(RIGHT, "b.md")
    result = run(tmp_path, "--json")
    assert result.exit_code == 2
    assert "a.ipynb:1:" in result.stderr
    first, second = json.loads(result.stdout)["files"]
    assert len(first["problems"]) == 1
    assert second["claims"][0]["verdict"] == "holds"
    document(WRONG, "c.md")
    assert run(tmp_path).exit_code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every file")
def test_a_file_that_may_not_be_opened(document: Callable[..., Path]):
    path = document(RIGHT)
    path.chmod(0)
    assert run(path).exit_code == 2


@pytest.mark.parametrize(
    "data", [b"\x00\xff\xfe$", b"\xff\xfe\x00\xd8$x", b"$" * 9999, b"\\(" * 999, b"", b"\x1b]0;x\x07$x=7$"]
)
@pytest.mark.parametrize("name", ["a.md", "a.ipynb", "a.rst", "a.tex", "a.py"])
def test_strange_bytes_end_in_a_report(tmp_path: Path, data: bytes, name: str):
    path = tmp_path / name
    path.write_bytes(data)
    for form in ("text", "json", "sarif", "github"):
        result = run(path, "--format", form)
        assert result.exit_code in (0, 1, 2), result.exception
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "\x1b" not in result.stdout + result.stderr


def test_ctrl_c_ends_cleanly(
    document: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "check_file", interrupted)
    monkeypatch.setattr(sys, "argv", ["derivations", "check", str(document(RIGHT))])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out, captured.err.strip()) == (130, "", "derivations: stopped")


def test_help_has_examples():
    text = run("--help").stdout
    assert "derivations check docs --jobs 4" in text


def test_the_hook_of_pre_commit_calls_a_command_that_there_is(repository: Path):
    hook = (repository / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (entry,) = [line.partition("entry: ")[2] for line in hook.splitlines() if "entry: " in line]
    assert entry == "derivations check"
    assert "check" in cli.commands


def test_help_needs_no_sympy():
    code = "import sys; sys.argv = ['derivations', 'check', '--help']\n"
    code += "import atexit; atexit.register(lambda: print('sympy' in sys.modules))\n"
    code += "from derivations.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout.splitlines()[-1] == "False"
