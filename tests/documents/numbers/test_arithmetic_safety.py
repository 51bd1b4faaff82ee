"""Strange formulas end without a crash and without a hang in the check of numbers."""

import random

import pytest
from sympy import Integer

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.numbers.arithmetic import check_arithmetic
from derivations.documents.passages import Block, Passage
from derivations.documents.statements import Statement
from derivations.documents.verdicts import VERDICTS
from tests.documents.trees import AT, FakeScope, tree

PIECES = (
    "1", "0", "3.5", "0.27", "10^{100}", "9^{9^{9}}", "e", "e^{20}", "x", "y_1", "d_k", "d_{model}", "h", "n", "N",
    "W_1", "K^T", r"\sqrt{d_k}", r"\sqrt{-2}", r"\frac{1}{2}", r"\frac{1}{0}", r"\frac{a}{b}", r"\sum_{i=1}^{n} ",
    "x_i",
    r"\sum_{i=1}^{10^{100}} ", r"\sum_{i=1}^{3} i^", "q_i k_i", "Var(", "E[", r"\log ", r"\log(0)", r"\exp(",
    r"\max(0,",
    "(", ")", "[", "]", "|", "+", "-", r"\times ", r"\cdot ", "/", "=", r"\approx ", "<", r"\ll ", r"\to ", "4.8 億",
    "175B", "14 GB", r"50\%", r"2\times 10^{4}", r"2\times10^{-99999}", r"\text{softmax}(", "[0.1, 0.3]", ",", "^2",
    r"\begin{bmatrix} 0.1 & 0.9 \\ 0.5 & 0.5 \end{bmatrix}", r"\lfloor 3/2 \rfloor", "^{-1}", "^{1/3}", "^{999999999}",
    "1e999", r"\text{FLOPs}", r"\pi", "!", r"\infty",
)  # fmt: skip
SCOPE = FakeScope(
    {"h": Integer(8), "d_model": Integer(512), "n": Integer(3)},
    definitions={"y_1": tree("e**2 / (e**2 + y_1)")},  # in terms of itself
    around="The FLOPs of the FFN\nattention weights of all tokens\nParameters",
)


def checked(text: str) -> None:
    for chain in read_formula(text, "latex").statements:
        passage = Passage("latex", text, AT)
        one = Statement(chain, passage, Block("paragraph", (Passage("prose", "FFN FLOPs probabilities", AT), passage)))
        for link in one.links or (None,):
            assert all(found.verdict in VERDICTS for found in check_arithmetic(one, link, SCOPE))


@pytest.mark.parametrize("seed", range(8))
def test_formulas_of_random_pieces_do_no_harm(seed: int) -> None:
    source = random.Random(f"pieces {seed}")
    for _ in range(100):
        sides = ("".join(source.choices(PIECES, k=source.randint(1, 10))) for _ in range(source.choice((1, 2, 2, 3))))
        checked(source.choice(("=", r"\approx ")).join(sides))


@pytest.mark.parametrize(
    "text",
    [
        r"\sum_{i=1}^{10^{100}} q_i k_i = 3 d_k",
        r"\sum_{i=1}^{10^{9}} i^2 = 3",
        "10^{10^{10^{10}}} = 3",
        r"(x+y+z+w)^{12} (a+b+c+d)^{12} = x",
        "2^{99999} = 3^{99999}",
        r"e^{e^{e^{e^{e}}}} \approx 5",
        r"9999999999^{0.3333333333} \approx 1",
        "0.1^{99999} = 0",
        r"\sqrt{2}\sqrt{2} = 2",
        "1" * 5000 + " = " + "1" * 5000,
        "y_1 = y_1 + 1 = 2 y_1",
    ],
)
def test_what_is_over_the_budget_is_left_alone(text: str) -> None:
    checked(text)


DIGITS_LOST = (
    (r"e^{500} - e^{500} + 1.5", "1.5", "1.7"),
    (rf"\sin({'7' * 100})", "0.953", "0.935"),
    (r"\cos(10^{100})", "-0.928", "0.928"),
)


@pytest.mark.parametrize(("expression", "right", "wrong"), DIGITS_LOST)
def test_what_cancels_is_computed_with_more_digits(expression: str, right: str, wrong: str) -> None:
    assert _verdicts(f"${expression} = {right}$") == ["holds"]
    assert _verdicts(f"${expression} = {wrong}$") == ["wrong"]


@pytest.mark.parametrize("number", ["1.0", "0.3"])
def test_a_number_of_which_nothing_is_known_is_not_off(number: str) -> None:
    assert "wrong" not in _verdicts(rf"$\sin(e^{{2000}}) = {number}$")
    assert "wrong" not in _verdicts(rf"$[\sin(e^{{2000}}), 2 + 0.5] = [{number}, 2.5]$")


def _verdicts(text: str) -> list[str]:
    return [claim.finding.verdict for claim in check_text(text, "markdown").claims]
