"""Names that are given numbers: entries of a softmax, numbers that lose digits, all other ones."""

from collections.abc import Sequence

import pytest
from sympy import Integer

from derivations.documents.judge.numbers.named_numbers import check_named_numbers
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import FakeScope, statement

SOFTMAX = statement("y_i", "exp(x_i) / total(exp(x_j), j, 1, n)")
SHOWN = (  # the nearest first
    statement("exp(1)", "2.72", relations="≈"),
    statement("exp(2)", "7.39", relations="≈"),
    statement("[2, 1]"),
    SOFTMAX,
)


def decided(
    *sides: Node | str,
    link: int = 0,
    relations: str = "=",
    scope: FakeScope | None = None,
    before: Sequence[Statement] = (),
) -> Finding | None:
    said = statement(*sides, relations=relations)
    found = tuple(check_named_numbers(said, link, scope or FakeScope(before=before)))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("right", ["0.73", "0.73 * (1 - 0.73)", "512 / 8"])
def test_of_a_name_for_a_number_nothing_is_said(right: str) -> None:
    assert decided("g", right) is None


@pytest.mark.parametrize(
    ("left", "right"), [("h", "8"), ("e", "2.72"), ("g", "a * 2"), ("g * 2", "3.1"), ("g", "[1, 2]")]
)
def test_sizes_constants_letters_and_lists_are_left_alone(left: str, right: str) -> None:
    assert decided(left, right) is None


def test_names_in_a_row_stand_for_the_number_behind_them() -> None:
    found = decided("d_k", "d_v", "512 / 8", link=0)
    assert found is not None
    assert found.verdict == "holds"
    assert decided("d_k", "d_v", "512 / 16", link=0, scope=FakeScope(values={"d_v": Integer(64)})) is None
    assert decided("d_k", "d_v") is None


def test_letters_stand_for_the_number_that_their_values_and_what_follows_give() -> None:
    values = {"D": Integer(512), "m": Integer(8)}
    for given, follows, verdict in (("D / m", "512 / 8", "holds"), ("m / D", "512 / 8", None), ("D / m", "512", None)):
        found = decided("c", given, follows, link=0, scope=FakeScope(values=values))
        assert (found.verdict if found else None) == verdict
    assert decided("c", "D / m", "512 / 8", link=0) is None
    assert decided("c", "D / m", "512 / 8", link=0, scope=FakeScope(values={**values, "c": Integer(32)})) is None


@pytest.mark.parametrize(("left", "right"), [("y_1", "7.39 / 10.11"), ("y_2", "0.27"), ("y_1", "e**2 / (e**2 + e)")])
def test_an_entry_of_the_softmax_that_the_section_defines(left: str, right: str) -> None:
    found = decided(left, right, relations="≈", before=SHOWN)
    assert found is not None
    assert (found.verdict, found.assumptions) == ("conditional", ("x = [2, 1]",))


def test_no_entry_of_the_softmax_is_wrong() -> None:
    found = decided("y_1", "7.39 / 14.11", relations="≈", before=SHOWN)
    assert found is not None
    assert found.verdict == "wrong"
    assert found.right is not None
    assert found.right.startswith("0.731")


def test_another_entry_may_be_counted_from_0_and_terms_that_nobody_wrote_may_be_of_another_list() -> None:
    assert decided("y_1", "0.27", relations="≈", before=SHOWN) is None
    assert decided("y_1", "0.52", relations="≈", before=SHOWN[2:]) is None


def test_a_number_near_1_that_is_subtracted_from_1_keeps_one_digit() -> None:
    slope = statement("g_i", "y_i * (1 - y_i)")
    found = decided("y", "0.99995", before=(slope,))
    assert found is not None
    assert found.verdict == "conditional"
    for value, before in (("0.9995123", slope), ("0.73", slope), ("0.99995", SOFTMAX)):
        assert decided("y", value, before=(before,)) is None


def test_a_name_without_letters_is_no_name() -> None:
    assert decided(Name(""), "512 / 8") is None
