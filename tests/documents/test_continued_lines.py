"""Lines that begin with `=`: they go on with the formula before, and each is held against its last side."""

import pytest

from derivations.documents.checking import check_text

LINES = r"""
$$ y = (x + a)^2 - (x - a)^2 $$

so that

$$ = 4 a x $$
%s
$$ = %s $$
"""


def _said(text: str) -> list[tuple[str, str]]:
    return [(claim.text, claim.finding.verdict) for claim in check_text(text, "markdown").claims]


def test_every_line_is_held_against_the_one_before() -> None:
    assert _said(LINES % ("", "2 a \\cdot 2 x"))[1:] == [("= 4 a x", "proved"), ("= 2 a \\cdot 2 x", "proved")]
    assert _said(LINES % ("", "5 a x"))[1:] == [("= 4 a x", "proved"), ("= 5 a x", "wrong")]


@pytest.mark.parametrize(
    "between",
    [
        "\n# Another section\n",
        "where $a > 0$, and",  # another formula stands between
        "and $$ z = \\frac{1 $$ is not read,",
    ],
)
def test_what_another_formula_or_section_parts_is_let_be(between: str) -> None:
    assert _said(LINES % (between, "5 a x"))[-1] == ("= 5 a x", "unknown")


def test_a_line_that_goes_on_with_an_inequality_is_let_be() -> None:
    assert _said("$$ y \\leq 2 a x $$ and $$ = 5 a x $$")[-1] == ("= 5 a x", "unknown")
