"""Untrusted text: a reading or a stop, never an exception, never a hang."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derivations.documents.formulas import read_formula, statements_text
from derivations.documents.formulas.tokens import MAX_DEPTH, MAX_LENGTH
from tests.documents.formulas.corpus import LATEX, REFUSED
from tests.documents.formulas.writing import latex_soup

pytestmark = pytest.mark.slow  # texts are drawn, and hostile ones fill the limits

SYNTAXES = ("latex", "plain", "code")
HOSTILE = {
    "braces": "{" * 10_000 + "}" * 10_000,
    "open braces": "{" * 19_000,
    "brackets": "(" * 10_000 + ")" * 9_000,
    "left": r"\left(" * 3_000,
    "tower": "2^{" * 5_000 + "2" + "}" * 5_000,
    "plain tower": "2^" * 6_000 + "2",
    "fractions": r"\frac{1}{" * 2_000 + "x" + "}" * 2_000,
    "roots": r"\sqrt" * 4_000 + "x",
    "accents": r"\hat" * 4_000 + "x",
    "bold": r"\mathbf{" * 2_000 + "x" + "}" * 2_000,
    "colours": r"\textcolor{red}{" * 1_200 + "x" + "}" * 1_200,
    "texts": r"\text{$" * 2_000 + "x" + "$}" * 2_000,
    "notes": r"\underbrace{x}_{" * 1_200 + "y" + "}" * 1_200,
    "oversets": r"\overset{" * 2_000,
    "signs": "-" * 3_900 + "x",
    "bars": "|" * 3_900,
    "double bars": r"\|" * 3_900,
    "sums": r"\sum_i" * 1_900 + "x",
    "sines": r"\sin" * 3_900 + "x",
    "products": "x " * 3_900,
    "commas": "x, " * 1_900,
    "chains": "x = " * 1_900 + "x",
    "matrices": r"\begin{bmatrix}" * 1_300,
    "environments": r"\begin{aligned}" * 1_300,
    "digits": "9" * 19_000,
    "powers of ten": "1e" + "9" * 5_000,
    "thousands": "1" + ",000" * 4_000,
    "labels": "x" + "_{y" * 4_000 + "}" * 4_000,
    "identifiers": "a_" * 9_000,
    "primes": "x" + "'" * 3_900,
    "derivatives": r"\partial" * 3_900 + "x",
    "gradients": r"\nabla" * 3_900 + "x",
    "nul": "\0" * 100,
    "surrogate": "\ud800 = x",
    "long line": "x" * 50_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_hostile_text_is_read_or_stopped(name, syntax):
    text = HOSTILE[name]
    reading = read_formula(text, syntax)
    assert reading.stopped is None or 0 <= reading.stopped.offset <= len(text)
    for statement in reading.statements:  # what is kept can be walked, compared and printed
        assert statement == statement and len(list(statement.walk())) < 20_000
        assert statements_text((statement,)) and repr(statement)


@given(st.text(max_size=80), st.sampled_from(SYNTAXES))
@settings(max_examples=500, deadline=None)
@example("\\", "latex")
@example("\\begin", "latex")
@example("{\\", "latex")
@example("²", "latex")
@example("_", "plain")
def test_any_text_is_read_or_stopped(text, syntax):
    reading = read_formula(text, syntax)
    assert reading.stopped is None or (0 <= reading.stopped.offset <= len(text) and reading.stopped.reason)


@given(latex_soup)
@settings(max_examples=1_000, deadline=None)
def test_any_commands_are_read_or_stopped(text):
    reading = read_formula(text, "latex")
    for statement in reading.statements:
        assert statements_text((statement,)) is not None


@given(st.sampled_from([formula for formula in LATEX if formula not in REFUSED]), st.data())
@settings(max_examples=300, deadline=None)
def test_nothing_is_passed_over(formula, data):
    """A command that is not known stops the reading, wherever it stands."""
    place = data.draw(st.sampled_from([i for i, c in enumerate(formula) if c == " "] or [0]))
    reading = read_formula(formula[:place] + r" \unknowncommand " + formula[place:], "latex")
    assert reading.stopped is not None


@given(st.sampled_from(LATEX), st.data())
@settings(max_examples=300, deadline=None)
def test_a_formula_cut_short_is_read_or_stopped(formula, data):
    text = formula[: data.draw(st.integers(0, len(formula)))]
    reading = read_formula(text, "latex")
    assert reading.stopped is None or reading.stopped.offset <= len(text)


def test_depth_and_length_have_their_limits():
    assert read_formula("(" * (MAX_DEPTH - 1) + "x" + ")" * (MAX_DEPTH - 1), "latex").stopped is None
    assert (
        "inside one another"
        in read_formula("(" * (MAX_DEPTH + 1) + "x" + ")" * (MAX_DEPTH + 1), "latex").stopped.reason
    )
    assert "characters" in read_formula("x" * (MAX_LENGTH + 1), "latex").stopped.reason
