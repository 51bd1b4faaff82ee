"""What was read and is printed reads as the same."""

import pytest
from hypothesis import given, settings

from derivations.documents.formulas import formula_text, read_formula, statements_text
from tests.documents.formulas.corpus import CODE, CODE_REFUSED, LATEX, PLAIN, REFUSED
from tests.documents.formulas.writing import latex_formulas, plain_formulas

pytestmark = pytest.mark.slow  # round trips of a whole corpus and of drawn formulas


@pytest.mark.parametrize("formula", [formula for formula in LATEX if formula not in REFUSED])
def test_the_corpus_in_latex_is_read_to_its_end_and_printed(formula):
    reading = read_formula(formula, "latex")
    assert reading.stopped is None
    assert read_formula(statements_text(reading.statements), "latex") == reading


@pytest.mark.parametrize("formula", PLAIN)
def test_the_corpus_in_plain_characters_is_read_to_its_end_and_printed(formula):
    reading = read_formula(formula, "plain")
    assert reading.stopped is None
    assert read_formula(statements_text(reading.statements, "plain"), "plain") == reading


@pytest.mark.parametrize("formula", [formula for formula in CODE if formula not in CODE_REFUSED])
def test_the_corpus_in_code_is_read_to_its_end(formula):
    assert read_formula(formula, "code").stopped is None


@pytest.mark.parametrize("formula", LATEX)
def test_every_part_has_its_place(formula):
    reading = read_formula(formula, "latex")
    for statement in reading.statements:
        for node in statement.walk():
            assert 0 <= node.start <= node.end <= len(formula)


@given(latex_formulas())
@settings(max_examples=300, deadline=None)
def test_random_formulas_in_latex_read_print_and_read_alike(formula):
    reading = read_formula(formula, "latex")
    assert reading.stopped is None
    printed = statements_text(reading.statements)
    assert read_formula(printed, "latex") == reading
    assert statements_text(read_formula(printed, "latex").statements) == printed


@given(plain_formulas())
@settings(max_examples=300, deadline=None)
def test_random_formulas_in_plain_characters_read_print_and_read_alike(formula):
    reading = read_formula(formula, "plain")
    assert reading.stopped is None
    assert read_formula(statements_text(reading.statements, "plain"), "plain") == reading


@given(latex_formulas())
@settings(max_examples=100, deadline=None)
def test_every_formula_can_be_printed_in_plain_characters(formula):
    for statement in read_formula(formula, "latex").statements:
        assert formula_text(statement, "plain")


def test_the_printer_is_checked_by_a_slip():
    """A printer that loses a transpose would be found: the trees differ."""
    assert read_formula("Q K^T", "latex") != read_formula("Q K", "latex")
