"""Scales and units that stand behind a formula belong to its last number, or the formula is not understood."""

from fractions import Fraction

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.formulas.amounts import with_amount
from derivations.documents.syntax import Number


def last(text, behind):
    reading = with_amount(read_formula(text, "latex"), behind)
    assert reading.stopped is None, reading.stopped
    return reading.statements[-1].sides[-1]


@pytest.mark.parametrize(
    ("text", "behind", "value", "unit"),
    [
        (r"3145728 \approx 315", " 万。", 3150000, ""),
        (r"N \approx 3.15", " million", 3150000, ""),
        ("N = 1.2", " 亿参数", 120000000, ""),
        (r"2 \times 7000000000 = 14", " GB of weights", 14, "GB"),
        ("512 + 512 = 1", " KB", 1, "KB"),
        ("96 = 174", "B parameters", 174 * 10**9, ""),
        ("96 = 174", " B parameters", 174 * 10**9, ""),
        ("0.25 = 25", "%", Fraction(1, 4), ""),
        ("0.25 = 25", " %, as", Fraction(1, 4), ""),
        ("0.001 = 1", " ms", 1, "ms"),
        ("175", "B", 175 * 10**9, ""),
        (r"8 \times 64 = 512", " 維", 512, ""),  # what changes no value is left where it stands
        (r"2 \times 4 = 8", " bytes", 8, ""),
        ("d = 8", " Bob", 8, ""),
        ("d = 8", "-bit", 8, ""),
        ("h = 8", " K is the key", 8, ""),  # a letter of the next words
    ],
)
def test_the_last_number_has_the_scale_and_the_unit_behind_it(text, behind, value, unit):
    node = last(text, behind)
    assert isinstance(node, Number)
    assert (node.value, node.unit) == (value, unit)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        (r"2 \times 4 = 8", " B."),  # bytes or billions
        ("7 = 3 + 4", " 万"),
        (r"2 = 1.4 \times 10^1", " GB"),
    ],
)
def test_where_it_cannot_be_told_the_statement_is_not_understood(text, behind):
    reading = with_amount(read_formula(f"a = b; {text}", "latex"), behind)
    assert reading.stopped is not None and reading.stopped.offset == 7
    assert len(reading.statements) == 1


def test_letters_take_no_amount():
    reading = read_formula("2 n d", "latex")
    assert with_amount(reading, " GB") is reading
    stopped = read_formula(r"x = \unknown 3", "latex")
    assert with_amount(stopped, " GB") is stopped
