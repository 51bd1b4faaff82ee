"""Results and layers of a user's own module on the command line; what is refused."""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations.cli import cli, main
from derivations.language.differentiation import proving
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS, Derivation

MODULE = '''
"""A scale for every row."""

from sympy import Derivative

from derivations.language import ColumnBroadcast, Equations, Hadamard, Layer, array, claim, derivation, result, step
from derivations.symbols import d, i, j, n

t, X = array("t", n), array("X", n, d)
let = Equations()
Y = let("Y")(Hadamard(ColumnBroadcast(t, d), X))
scaled = Layer("scaled", (X, t), (), let, Y)
number = 5


def slope_of(value):
    return derivation(
        "Slope in the scale",
        claim(Derivative(Y[i, j], t[i]), step("product rule", value)),
        about=let,
        ranges={i: n, j: d},
    )


@result
def slope():
    return slope_of(X[i, j])


def layer():
    return scaled


def wrong():
    return slope_of(-X[i, j])


def fails():
    raise RuntimeError("a fault of its own")


def numbers():
    return 5
'''
BLOCKS = "<!-- derivation: rowscale:slope title -->\n<!-- end -->\n\n<!-- layer: rowscale:scaled -->\n<!-- end -->\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of its own, from which the command runs; what it imports and registers is taken back."""
    (tmp_path / "rowscale.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "missing.py").write_text("import there_is_no_such_module\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    results = dict(RESULTS)
    yield tmp_path
    for name in ("rowscale", "broken", "missing"):
        sys.modules.pop(name, None)
    RESULTS.clear()
    RESULTS.update(results)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """The one sentence by which a command refuses its arguments, with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["derivations", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("imported ")]
    assert stopped.value.code == 2
    assert len(lines) == 1
    return lines[0]


# --- what it does ---------------------------------------------------------------------------------------------------


def test_a_result_is_shown_and_the_import_is_said() -> None:
    shown = run("show", "rowscale:slope", "--steps")
    assert shown.exit_code == 0
    assert shown.stderr == "imported rowscale (rowscale.py)\n"
    assert "dY_ij/dt_i = X_ij    [product rule]" in shown.stdout
    assert shown.stdout.endswith("Evidence: proved.\n")


@pytest.mark.parametrize("name", ["rowscale:scaled", "rowscale:layer"])
def test_a_layer_is_shown_as_an_object_or_by_its_function(name: str) -> None:
    assert run("show", name, "--format", "latex").stdout == "Y = \\mathrm{diag}(t) X\n"
    assert "dt_i = " in run("show", name, "--gradient").stdout


def test_sizes_are_put_in() -> None:
    assert "X in R^{7 x d}" in run("show", "rowscale:scaled", "--set", "n=7").stdout


def test_they_are_exported_under_their_names_with_the_labels_of_show(folder: Path) -> None:
    ran = run("export", "pages", "rowscale:slope", "rowscale:scaled", "linear", "--gradients", "--label", "eq")
    assert ran.exit_code == 0, ran.stderr
    tex = {path.name: path.read_text(encoding="utf-8") for path in (folder / "pages" / "latex").iterdir()}
    layers = {f"layer-{name}{end}.tex" for name in ("rowscale.scaled", "linear") for end in ("", "_gradient")}
    assert set(tex) == {"rowscale.slope.tex", *layers}
    assert r"\paragraph{Scaled.}" in tex["layer-rowscale.scaled.tex"]
    for shown in (["slope"], ["scaled"], ["scaled", "--gradient"]):
        (label,) = re.findall(r"\\label{.*?}", run("show", f"rowscale:{shown[0]}", *shown[1:], "--label", "eq").stdout)
        assert any(label in each for each in tex.values())


def test_source_is_printed() -> None:
    assert "def scaled(X, t):" in run("code", "rowscale:layer").stdout


def test_a_result_is_verified() -> None:
    verified = run("verify", "rowscale:slope", "softmax.shift_invariance", "--json")
    assert verified.exit_code == 0
    assert '"id": "rowscale:slope",\n  "evidence": "proved"' in verified.stdout
    assert verified.stdout.count('"cross_check": "agrees"') == 2


def test_the_gradient_of_a_layer_is_verified() -> None:
    verified = run("verify", "rowscale:scaled", "--json")
    assert verified.exit_code == 0
    assert '"evidence": "proved"' in verified.stdout and '"cross_check": "agrees"' in verified.stdout


def test_a_wrong_gradient_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = proving.whole_claims

    def wrong(layer: Layer) -> Derivation:
        found = right(layer)
        first = found.claims[0]
        return replace(found, claims=(replace(first, steps=(replace(first.steps[0], expression=-first.rhs),)),))

    monkeypatch.setattr(proving, "whole_claims", wrong)
    verified = run("verify", "rowscale:scaled")
    assert verified.exit_code == 1
    assert "1 judged, 1 failed" in verified.stdout and "refuted" in verified.stdout


def test_a_wrong_result_fails() -> None:
    verified = run("verify", "rowscale:wrong")
    assert verified.exit_code == 1
    assert "refuted" in verified.stdout


def test_blocks_are_filled_and_checked(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(BLOCKS, encoding="utf-8")
    assert run("render", "page.md", "--module", "rowscale", "--label", "eq").exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "**Slope in the scale** (`rowscale:slope`, proved)" in text
    assert "(eq-rowscale-slope)" in text and r"Y = \mathrm{diag}(t) X" in text
    assert run("render", "page.md", "--module", "rowscale", "--label", "eq", "--check").exit_code == 0
    page.write_text(text.replace("= X_", "= - X_"), encoding="utf-8")
    assert run("render", "page.md", "--module", "rowscale", "--label", "eq", "--check").exit_code == 1


# --- what it refuses ------------------------------------------------------------------------------------------------

REFUSED = {
    "no module": ("show rowscal:slope", "there is no module 'rowscal'"),
    "no name": ("show rowscale:slop", "the module rowscale has no 'slop'; the nearest are slope"),
    "an empty name": ("show rowscale:", "the module rowscale has no ''"),
    "no name of a module": ("show ../rowscale:slope", "'../rowscale' is no name of a module"),
    "a number": ("show rowscale:number", "rowscale:number is of type int: a result, a layer, or a function"),
    "a function of numbers": ("show rowscale:numbers", "rowscale:numbers is of type int"),
    "a class": ("show rowscale:Layer", "rowscale:Layer is of type type"),
    "a function with arguments": ("show rowscale:slope_of", "rowscale:slope_of takes value: name a function without"),
    "a function that fails": ("show rowscale:fails", "rowscale:fails raised RuntimeError: a fault of its own"),
    "a module that fails": ("show broken:slope", "broken raised ZeroDivisionError: division by zero"),
    "an import that fails": ("show missing:slope", "missing raised ModuleNotFoundError: No module named 'there_is"),
    "the gradient of a result": ("show rowscale:slope --gradient", "rowscale:slope is a result: --gradient shows"),
    "code of a result": ("code rowscale:slope", "rowscale:slope is a result; a layer is needed"),
    "a layer counted": ("count rowscale:scaled", "rowscale:scaled: models are counted here; a layer is by count_flops"),
    "a module that is not named": ("render page.md", "page.md:1:1: a document alone imports nothing: name the module"),
    "another module": ("render page.md --module json", "a document alone imports nothing: name the module on the"),
    "no module to render": ("render page.md --module rowscal", "there is no module 'rowscal'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_says_no_in_one_sentence(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "page.md").write_text(BLOCKS, encoding="utf-8")
    arguments, words = REFUSED[case]
    assert words in refused(capsys, monkeypatch, *arguments.split())
    assert (folder / "page.md").read_text(encoding="utf-8") == BLOCKS


def test_a_result_that_is_refuted_fails_as_in_verify(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed check is exit code 1, and its step is written as all text is."""
    monkeypatch.setattr(sys, "argv", ["derivations", "show", "rowscale:wrong"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    told = capsys.readouterr().err
    assert "is not proved: claim 1, step 1 (product rule) is refuted" in told
    assert "KroneckerDelta" not in told and "[0]" not in told


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("derivation: rowscale:scaled", "rowscale:scaled is a layer: write layer: rowscale:scaled"),
        ("layer: rowscale:slope", "rowscale:slope is a derivation: write derivation: rowscale:slope"),
        ("derivation: rowscale:wrong", "is refuted"),
    ],
)
def test_a_mark_of_the_wrong_kind_is_refused(
    mark: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "page.md").write_text(f"<!-- {mark} -->\n<!-- end -->\n", encoding="utf-8")
    assert words in refused(capsys, monkeypatch, "render", "page.md", "--module", "rowscale")


def test_a_document_imports_nothing(folder: Path) -> None:
    """The module is not run because a mark names it."""
    (folder / "page.md").write_text(BLOCKS, encoding="utf-8")
    assert run("render", "page.md").exit_code == 1
    assert "rowscale" not in sys.modules


@pytest.mark.parametrize("name", ["rowscale:slope", "feed_forward", "softmax.jacobian"])
def test_a_result_is_no_folder_of_an_export(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"`derivations export pages {name}`" in refused(capsys, monkeypatch, "export", name)
    assert not (folder / name).exists()


def test_a_wrong_result_is_not_exported(folder: Path) -> None:
    failed = run("export", "pages", "rowscale:wrong")
    assert failed.exit_code == 1
    assert "is refuted" in failed.stderr
    assert not (folder / "pages").exists()
