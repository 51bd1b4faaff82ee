"""Numbers beside one another: rough forms in brackets, weights that sum to 1, sums of lists."""

import pytest

from derivations.documents.judge.numbers.arithmetic import check_arithmetic
from derivations.documents.judge.numbers.mentions import check_mentions
from derivations.documents.passages import Block, Passage
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Chain, Name, Node, Number, Power
from derivations.documents.verdicts import Finding
from tests.documents.judge.trees import AT, FakeScope, number, statement, tree


def decided(*sides: Node | str, prose: str = "", around: str = "") -> Finding | None:
    one = statement(*sides, prose=prose)
    found = tuple(check_mentions(one, 0 if one.links else None, FakeScope(around=around)))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("numbers", "prose", "verdict"),
    [
        ("[0.25, 0.6, 0.15]", "The attention weights of the third token are ", "holds"),
        ("[0.3, 0.0, 0.7]", "The attention weights of the third token are ", "conditional"),
        ("[0.33, 0.33, 0.33]", "The probabilities are all equal: ", "conditional"),
        ("[0.3, 0.3, 0.3]", "The probabilities are all equal: ", "conditional"),
        ("[0.2, 0.6, 0.1]", "The attention weights of the third token are ", "wrong"),
        ("[0.4, 0.5, 0.2]", "softmax 後總和為 1，例如 ", "wrong"),
        ("[0.4, 0.5, 0.2]", "これらの確率は次の通りです：", "wrong"),
        ("[0.2, 0.6, 0.1]", "We feed these scores to softmax: ", None),
        ("[0.2, 0.6, 0.1]", "The softmax of ", None),
        ("[0.2, 0.6, 0.1]", "Some numbers: ", None),
        ("[2.0, 1.0, 0.1]", "The attention weights are computed from ", None),
        ("[1, 0, 0]", "The probabilities are ", None),
    ],
)
def test_weights_sum_to_1(numbers: str, prose: str, verdict: str | None) -> None:
    found = decided(numbers, prose=prose)
    assert (found.verdict if found else None) == verdict


def test_what_is_nearest_to_the_numbers_counts() -> None:
    found = decided("[0.2, 0.6, 0.1]", prose="from the scores follow the attention weights ")
    assert found is not None
    assert found.verdict == "wrong"
    assert decided("[0.2, 0.6, 0.1]", prose="the attention weights come from the scores ") is None


def in_brackets(rough: Number, opening: str) -> Finding | None:
    """A number, then a rough one in brackets, in one block."""
    first, second = (Passage("latex", text, AT) for text in ("e^{20} = 485,165,195", rough.text))
    block = Block("item", (first, Passage("prose", opening, AT), second))
    before = Statement(Chain((tree("e**20"), tree("485_165_195")), ("≈",)), first, block)
    after = Statement(Chain((rough,)), second, block)
    found = tuple(check_mentions(after, None, FakeScope(before=(before,))))
    return found[0] if found else None


def test_a_rough_number_in_brackets_is_the_one_before() -> None:
    for rough, verdict in (
        (number("4.9 億", scale=10**8), "holds"),
        (number("4.8 億", scale=10**8), "conditional"),
        (number("4.8 萬", scale=10**4), "wrong"),
        (number("49 million", scale=10**6), "wrong"),
    ):
        found = in_brackets(rough, " (**")
        assert found is not None
        assert found.verdict == verdict
    assert in_brackets(number("49 million", scale=10**6), " is less than (the number of people, ") is None


def sum_of_powers() -> Aggregate:
    power = Power(Name("e"), Name("x", (Name("j"),)))
    return Aggregate("sum", power, (Name("j"),), Number("1", 1), Name("n"))  # type: ignore[arg-type]


def test_a_sum_over_the_entries_of_the_list_before() -> None:
    shown = [statement("e**3", "20.09", relations="≈"), statement("e**1", "2.72", relations="≈"), statement("[3, 1]")]
    for printed, verdict in (
        ("22.80", "conditional"),
        ("22.81", "conditional"),
        ("23.01", "wrong"),
        ("22.18", "wrong"),
    ):
        one = statement(sum_of_powers(), printed, relations="≈")  # e^3 + e = 22.804; 20.09 + 2.72 = 22.81
        (found,) = check_arithmetic(one, 0, FakeScope(before=shown))
        assert found.verdict == verdict, printed


def test_a_list_that_may_not_be_meant_says_nothing_when_the_sum_differs() -> None:
    one = statement(sum_of_powers(), "23.01", relations="≈")
    assert not tuple(check_arithmetic(one, 0, FakeScope(before=[statement("[3, 1]")])))
    assert not tuple(check_arithmetic(one, 0, FakeScope()))


def test_the_list_that_defines_the_letter_is_certain() -> None:
    one = statement(sum_of_powers(), "23.01", relations="≈")
    (found,) = check_arithmetic(one, 0, FakeScope(definitions={"x": tree("[3, 1]")}))
    assert found.verdict == "wrong"
