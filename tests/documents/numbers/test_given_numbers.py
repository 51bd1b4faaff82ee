"""Letters for which a section prints numbers: several of them, or a decimal fraction."""

import pytest

from tests.documents.numbers.claims import verdicts

TWO = "With $T = 0.5$ we have ${first}$.\n\nWith $T = 2$ we have ${second}$.\n"


def test_a_letter_may_have_two_numbers_in_a_section() -> None:
    text = TWO.replace("{first}", "3 / T = 6").replace("{second}", "3 / T = 1.5")
    assert "wrong" not in verdicts(text)
    assert verdicts(text).count("holds") == 2
    assert "wrong" not in verdicts(f"{text}\nSo $3 / T = 6$ there.\n")
    assert verdicts(f"{text}\nSo $3 / T = 5$ there.\n").count("wrong") == 1


def test_an_array_is_worked_out_for_each_number() -> None:
    text = "Let $z = [2.0, 1.0]$.\n\n" + TWO.replace("{first}", "z / T = [4.0, 2.0]").replace(
        "{second}", "z / T = [1.0, 0.5]"
    )
    assert "wrong" not in verdicts(text)


@pytest.mark.parametrize(
    ("before", "right", "wrong"),
    [
        (r"\epsilon = 0.1$, $K = 4", r"1 - \epsilon + \epsilon / K = 0.925", r"1 - \epsilon + \epsilon / K = 0.905"),
        ("p = 0.2", r"\frac{1}{1 - p} = 1.25", r"\frac{1}{1 - p} = 1.15"),
        ("x = -1.5", "2 x = -3", "2 x = -3.5"),
        ("x = -1.5", r"\tanh(x) \approx -0.905", r"\tanh(x) \approx -0.950"),
    ],
)
def test_a_decimal_fraction_stands_for_itself(before: str, right: str, wrong: str) -> None:
    assert verdicts(f"Let ${before}$. Then ${right}$.")[-1] == "holds"
    assert verdicts(f"Let ${before}$. Then ${wrong}$.")[-1] == "wrong"


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        ("p = 0.33", "30 p = 10"),  # a third
        ("k = 2.66", "3 k = 8"),  # 8/3, truncated
        ("p = 0.9", "p(0) = 0.5"),  # a function
        ("x = 0", "e^x = 7"),  # a special case
        ("t = 0.5 \\text{ ms}", "2 t = 3"),
        ("f = 0.5", r"\tanh'(0) = 1"),
    ],
)
def test_a_number_that_may_not_be_meant_exactly_refutes_nothing(before: str, formula: str) -> None:
    assert verdicts(f"Here ${before}$, and ${formula}$.")[-1] != "wrong"
