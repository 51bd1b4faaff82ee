"""Letters as macros: the same formulas, once the macros are replaced by what they stand for."""

import re
from pathlib import Path

import pytest

from derivations.catalogue import get, layers
from derivations.language.printing.export import Layout, export
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.macros import definitions, package, with_macros
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.page import layer_page
from derivations.language.printing.views import latex


def expanded(formula: str, used: dict[str, str]) -> str:
    """A formula with what its macros stand for."""
    return re.sub(r"\\dv[A-Za-z]+", lambda macro: used[macro[0]], formula)


@pytest.mark.parametrize("name", ["ours", "vaswani", "columns"])
def test_macros_stand_for_the_letters(name: str):
    using, used = with_macros(name)
    for layer in layers().values():
        said, plain = expanded(latex(layer, using), used), latex(layer, name)
        # a space keeps a word apart from what is beside it, and an index of one letter needs no comma
        assert re.sub(r"\\,| |,", "", said) == re.sub(r"\\,| |,", "", plain), layer.name
    assert using.macros and NOTATIONS[name].macros is None


def test_a_macro_that_is_defined_already_is_left_alone():
    using, used = with_macros("ours")
    assert latex(layers()["linear"], using) == r"\dvY = \dvX \dvW + \dvb"
    assert definitions(used).startswith("\\providecommand{\\dvW}{W}\n")  # several layers have a W, none says which
    assert definitions(used, {"layer-linear": ("W",)}).startswith(r"\providecommand{\dvW}{W} % W, as in layer-linear")
    assert package(used).splitlines()[:2] == [r"\NeedsTeXFormat{LaTeX2e}", r"\RequirePackage{amsmath,amssymb}"]


def test_a_size_is_a_macro_with_its_script():
    using, used = with_macros("ours")
    assert r"\sqrt{\dvdk}" in latex(layers()["scaled_dot_product_attention"], using)
    assert r"\providecommand{\dvdk}{d_{k}} % d_k: width of a query or key" in definitions(used)


def test_digits_of_names_are_spelled():
    using, used = with_macros("ours")
    assert r"\dvWOne_{1}" in latex(layers()["feed_forward"], using)
    assert used[r"\dvWOne"] == "W"


def test_an_export_with_macros_defines_every_macro_that_it_uses(tmp_path: Path) -> None:
    """The package of letters and the pages agree, and the widths are those of the letters."""
    shown = {name: get(name) for name in ("softmax.jacobian", "attention.scores")}
    export(tmp_path / "plain", shown, {})
    export(tmp_path / "macros", shown, {}, layout=Layout(macros=True))
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "macros").rglob("*.tex")}
    used = {macro for text in texts.values() for macro in re.findall(r"\\dv[A-Za-z]+", text)}
    defined = re.findall(
        r"\\providecommand\{(\\dv\w+)\}", (tmp_path / "macros/derivations.sty").read_text(encoding="utf-8")
    )
    assert used and used <= set(defined)
    assert r"\usepackage{derivations}" in texts["derivations.tex"]
    assert not (tmp_path / "plain/derivations.sty").exists()
    for name in shown:  # as many lines as with the letters themselves
        plain = (tmp_path / f"plain/latex/{name}.tex").read_text(encoding="utf-8")
        assert plain.count(r"\\") == texts[f"{name}.tex"].count(r"\\")


def test_a_letter_that_stands_for_several_arrays_is_declared_once_under_its_macros_too():
    using, _ = with_macros("chapter-7")
    layer = layers()["multi_head_attention"]
    plain, macros = (layer_page(layer, LatexPrinter, each).notes[0].items for each in ("chapter-7", using))
    assert len(macros) == len(plain)
    assert ("m = n", "") in plain and (r"\dvm = \dvn", "") in macros
