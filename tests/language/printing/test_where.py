r"""Printed results say something: no line repeats the one before, and every letter is one that the notes explain."""

import re
from dataclasses import replace

import pytest
from sympy import Function, Sum, exp

from derivations.catalogue import layers, names
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import row_softmax, uninterpreted_function
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, part
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.letters import GREEK
from derivations.language.printing.page import Page, Row, layer_page, page
from derivations.language.printing.views import text
from derivations.language.printing.where import membership
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d_k, h, i, j, m, n, scalar

K, Q, x, y = array("K", m, d_k), array("Q", n, d_k), array("x", n), array("y", n)
NAMES = names() and tuple(RESULTS)  # `names` imports every module of results

_LETTER = re.compile(r"\\(?:text|begin|end|mathbb|mathbf)\{[^{}]*\}|(?P<letter>\\mathrm\{\w+\}|\\[A-Za-z]+|[A-Za-z])")
_GREEK = {rf"\{name}" for name in GREEK}
_KNOWN = {"e", "d", "I", r"\mathrm{d}", r"\delta", r"\pi"}  # Euler's number, differentials, the identity, delta, pi
_SCRIPT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_APPLIED = rf"(?:[_^]{_SCRIPT})*(?:\(|\\left)"
_BINDERS = (
    rf"\\partial_{_SCRIPT}",
    rf"\\(?:sum|sup|lim)_{_SCRIPT}",
    rf"\]_{_SCRIPT}",
    r"(\S+) \\mapsto",
    r"((?:\S+, )*\S+) = [01], \\ldots",
)


def letters(latex: str) -> set[str]:
    """The letters of a formula, without the names of functions and the words in scripts of a name."""
    found = set()
    for match in _LETTER.finditer(latex):
        letter, before, after = match["letter"] or "", latex[: match.start()], latex[match.end() :]
        word = letter.startswith(r"\mathrm")
        function = word and (re.match(_APPLIED, after) or re.search(r"_\{$|\}\($|recomputed:\}\\ $", before))
        if letter in _GREEK or len(letter) == 1 or (word and not function):
            found.add(letter)
    return found


def unexplained(shown: Page) -> set[str]:
    """The letters of a display that its notes do not hold, and no sum, limit or table binds."""
    display = " ".join(f"{row.left} {row.right} {row.beside}" for row in shown.rows)
    notes = " ".join(formula for note in shown.notes for formula, _ in note.items)
    bound = {letter for sign in _BINDERS for inside in re.findall(sign, display) for letter in letters(inside)}
    return letters(display) - letters(notes) - bound - _KNOWN


def repeated(rows: tuple[Row, ...]) -> list[str]:
    """The lines that are printed like the line before them, or like the left-hand side that they follow."""
    before = [row.left or last.right for row, last in zip(rows, (rows[0], *rows), strict=False)]
    return [row.right for row, last in zip(rows, before, strict=True) if row.relation and row.right == last]


def built(name: str) -> Derivation:
    """A result with its id, not judged."""
    return replace(RESULTS[name](), id=name)


@pytest.mark.slow
def test_no_line_of_a_result_repeats_the_one_before():
    assert {
        name: lines for name in NAMES if (lines := repeated(page(built(name), LatexPrinter, "ours", steps=True).rows))
    } == {}


@pytest.mark.slow
@pytest.mark.parametrize("steps", [True, False])
def test_every_letter_of_a_result_is_explained(steps: bool):
    pages = {name: page(built(name), LatexPrinter, "ours", steps=steps) for name in NAMES}
    assert {name: found for name, shown in pages.items() if (found := unexplained(shown))} == {}


@pytest.mark.slow
def test_every_letter_of_a_layer_is_explained_or_defined_by_it():
    every = layers()
    for layer in (*every.values(), *map(gradient, every.values())):
        shown = layer_page(layer, LatexPrinter, "ours")
        defined = letters(" ".join(f"{row.left} {row.beside}" for row in shown.rows))
        assert unexplained(shown) <= defined, layer.name


def test_a_line_that_repeats_is_noticed():
    total = Sum(exp(x[j]), (j, 0, n - 1))
    said = derivation("Nothing", claim(y[i], step("definition", exp(x[i]) / total), step("algebra", exp(x[i]) / total)))
    assert repeated(page(said, LatexPrinter, "ours", steps=True).rows) == [
        r"\frac{e^{x_{i}}}{\sum_{j=1}^{n} e^{x_{j}}}"
    ]
    same = derivation("Nothing", claim(y[i], step("definition", y[i])))
    assert repeated(page(same, LatexPrinter, "ours", steps=True).rows) == ["y_{i}"]


def test_an_unexplained_letter_is_noticed():
    shown = page(derivation("Softmax", claim(y[i], step("definition", x[i])), ranges={i: n}), LatexPrinter, "ours")
    assert unexplained(shown) == set()
    assert unexplained(replace(shown, notes=shown.notes[1:])) == {"x", "y", "i"}
    row = Row(r"\mathrm{head} + \beta z", "=", r"\mathrm{FFN}(x) + \sum_{j=1}^{n} x_{j}")
    assert unexplained(replace(shown, rows=(row,))) == {r"\mathrm{head}", r"\beta", "z"}


def where(*claims, **options) -> str:
    """The sentence below a display, as text."""
    lines = text(derivation("Title", *claims, **options)).splitlines()
    return next((line for line in lines if line.startswith("Where ")), "")


def test_definitions_that_the_display_does_not_reach_are_left_out():
    let = Equations()
    S = let("S")(Q @ K.T)
    let("A")(row_softmax(S))
    said = where(claim(S[i, j], step("definition", (Q @ K.T)[i, j])), about=let, ranges={i: n, j: m})
    assert said == "Where S = Q K^T, Q in R^{n x d_k}, K in R^{m x d_k}, i = 1, ..., n, j = 1, ..., m."


def test_a_weight_that_only_a_layer_reads_is_left_out():
    """RMSNorm(Q) is printed without its gain, which is declared where an equation shows it."""
    gain = array("g", d_k)
    normed = part("norm", rms_norm())(Q, gamma=gain)
    assert where(claim(normed, step("definition", normed))) == "Where Q in R^{n x d_k}."
    assert where(claim(normed, step("definition", Q + gain))) == "Where Q in R^{n x d_k}, g in R^{d_k}."
    shown = layer_page(layers()["short_convolution"], LatexPrinter, "ours")
    assert not any("K_" in formula for note in shown.notes for formula, _ in note.items)


def test_arrays_numbers_and_functions_have_domains():
    c, g, act = scalar("c"), scalar("g", positive=True), uninterpreted_function("act")
    assert where(claim(c * x @ y, step("algebra", g * y @ x))) == "Where x, y in R^n, c in R, g > 0."
    assert where(claim(act(x), step("algebra", act(y)))) == "Where x, y in R^n, act : R -> R."
    tokens = token_array("tokens", n)
    assert where(claim(array("E", h, n)[tokens[i], i], step("algebra", x[i])), ranges={i: n}) == (
        "Where E in R^{h x n}, tokens in N^n, x in R^n, i = 1, ..., n."
    )


@pytest.mark.parametrize(
    ("sizes", "printed"),
    [((n, m + 1), r"n \times (m + 1)"), ((m + 1,), "m + 1"), ((n, 2 * m), r"n \times 2 m")],
)
def test_a_size_that_is_a_sum_has_brackets_beside_others(sizes, printed: str):
    assert membership(array("X", *sizes), LatexPrinter()) == rf"X \in \mathbb{{R}}^{{{printed}}}"


def test_a_permutation_is_one_of_the_places():
    sigma = Function("sigma", integer=True)
    said = where(claim(x[sigma(i)], step("reindexing", y[i])), ranges={i: n}, bijections=[("sigma", "inverse", n)])
    assert said == "Where x, y in R^n, sigma : {1, ..., n} <-> {1, ..., n}, i = 1, ..., n."


def test_the_letter_of_a_row_is_explained():
    said = where(claim((Q @ K.T)[i], step("row of a product", K @ Q[i])), ranges={i: n})
    assert said == "Where Q in R^{n x d_k}, K in R^{m x d_k}, q_i = Q_{i,:}, i = 1, ..., n."


def test_sizes_are_stated_once():
    assert where(claim(2 * n * d_k, step("count", n * d_k))) == "Where d_k, n in N_{>0}."
    assert where(claim(n * x @ y, step("algebra", y @ x))) == "Where x, y in R^n."


def test_what_a_claim_defines_is_not_defined_before_it():
    """ "Let dV = A^T dO. Then dV = A^T dO" says one thing twice."""
    said = text(RESULTS["attention.gradient_v"]())
    assert said.count("dV = A^T dO") == 2  # the title, and the claim
    assert "V, dV in R^{m x d_v}" in said
