"""Arrays that are written out: what NumPy computes holds, another number in one place is wrong, and what is meant."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.documents.checking import check_text
from derivations.documents.judge.numbers.arithmetic import check_arithmetic
from derivations.documents.statements import Statement
from derivations.documents.syntax import Arrow, Chain, Name
from tests.documents.judge.trees import FakeScope, statement, tree

RIGHT = (
    r"$\begin{bmatrix} 1 & 1 \\ 2 & 0 \end{bmatrix} \begin{bmatrix} 1 \\ 2 \end{bmatrix}"
    r" = \begin{bmatrix} 3 \\ 2 \end{bmatrix}$",
    r"$\begin{pmatrix} 0 \\ -1 \end{pmatrix} \cdot \begin{pmatrix} -1 & 2 \end{pmatrix}"
    r" = \begin{pmatrix} 0 & 0 \\ 1 & -2 \end{pmatrix}$",
    r"$\begin{bmatrix} 1 & 1 \\ 2 & 0 \end{bmatrix}^\top = \begin{bmatrix} 1 & 2 \\ 1 & 0 \end{bmatrix}$",
    r"$[1, 2] + 2 [3, 4] = [7, 10]$",
    r"$[1, 2] \odot [3, 4] = [3, 8]$",
    r"$[1, 2] \cdot [3, 4] = 11$",
    r"$\frac{[1, 2] \cdot [3, 4]}{\sqrt{4}} = 5.5$",
    r"$\| [3, 4] \| = 5$",
    r"$q = [1, 0, 1]$ and $k = [0, 1, 1]$, so $q \cdot k = 1$.",
    r"$\mathrm{softmax}([1, 2]) \approx [0.27, 0.73]$",
    r"$\tanh([0, 1]) \approx [0, 0.76]$",
)
WRONG = (
    (r"$[1, 2] + [3, 4] = [4, 7]$", "entry 2: the left side is 6"),
    (r"$[1, 2] \cdot [3, 4] = 12$", "the left side is 11"),
    (r"$q = [1, 0, 1]$ and $k = [0, 1, 1]$, so $q \cdot k = 2$.", "the left side is 1"),
    (
        r"$X = \begin{bmatrix} 1 & 0 \\ 0 & 2 \end{bmatrix}$, $W = \begin{bmatrix} 1 & 1 \\ 2 & 0 \end{bmatrix}$, "
        r"$X W = \begin{bmatrix} 1 & 1 \\ 4 & 1 \end{bmatrix}$",
        "entry 2, 2",
    ),
    (
        r"$X = \begin{bmatrix} 1 & 0 \\ 0 & 2 \end{bmatrix}$ and $W = \begin{bmatrix} 1 & 1 \\ 2 & 0 \end{bmatrix}$. "
        r"$Q = X W$ is $Q = \begin{bmatrix} 1 & 1 \\ 4 & 1 \end{bmatrix}$",
        "entry 2, 2",
    ),
)
SILENT = (
    r"$0.08714 [1, 0] + 0.64391 [0, 2] = [0.08713598, 1.28782]$",  # computed before the weights were rounded
    r"$[1, 2] [3, 4] = [3, 9]$",  # two lists side by side
    r"$[1, 2] \times [3, 4] = [3, 9]$",  # a cross, or entry by entry
    r"$\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"
    r" = \begin{bmatrix} 1 & 4 \\ 9 & 16 \end{bmatrix}$",  # most entries differ: another operation is meant
    r"$\begin{bmatrix} 1 & 1 \\ 2 & 0 \end{bmatrix} \begin{bmatrix} 1 & 2 & 3 \end{bmatrix} = [3, 2]$",
    r"$q = [1, 0]$, and later $q = [2, 0]$, so that $q \cdot [1, 1] = 5$.",  # which of them is not said
    r"$f([1, 2]) = [3, 4]$",
)


def verdicts(text: str) -> list[tuple[str, str]]:
    return [(claim.finding.verdict, claim.finding.reason) for claim in check_text(text, "markdown").claims]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_computed_right_holds(text: str) -> None:
    assert verdicts(text)[-1][0] == "holds"


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_another_number_is_wrong(text: str, reason: str) -> None:
    verdict, said = verdicts(text)[-1]
    assert verdict == "wrong"
    assert reason in said


@pytest.mark.parametrize("text", SILENT)
def test_what_may_be_meant_otherwise_is_not_called_wrong(text: str) -> None:
    assert all(verdict in ("unknown", "conditional") for verdict, _ in verdicts(text))


def latex(of: np.ndarray) -> str:
    rows = r" \\ ".join(" & ".join(map(str, row)) for row in of.tolist())
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


@pytest.mark.parametrize("seed", range(12))
def test_products_are_those_of_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, inner, columns = random.integers(1, 5, 3)
    one, other = random.integers(-9, 10, (rows, inner)), random.integers(-9, 10, (inner, columns))
    whole = one @ other
    assert verdicts(f"${latex(one)} {latex(other)} = {latex(whole)}$")[-1][0] == "holds"
    whole[random.integers(rows), random.integers(columns)] += 1
    assert verdicts(f"${latex(one)} {latex(other)} = {latex(whole)}$")[-1][0] == "wrong"


@pytest.mark.parametrize("other", ["[0.70, 0.20, 0.10]", "[0.66, 0.25, 0.10]", "[0.10, 0.24, 0.66]"])
def test_the_softmax_of_a_list_may_be_wrong_in_every_entry(other: str) -> None:
    """Nothing else is meant by it, as something else may be by a product."""
    assert verdicts(f"$softmax([2.0, 1.0, 0.1]) = {other}$")[-1][0] == "wrong"


def test_an_arrow_through_softmax() -> None:
    sides = (tree("[1.0, 3.0]"), Name("softmax"), tree("[0.12, 0.88]"))
    one = statement(*sides)
    arrows = Statement(Chain(sides, (Arrow(), Arrow())), one.passage, one.block)
    (found,) = check_arithmetic(arrows, 1, FakeScope())
    assert found.verdict == "holds"
