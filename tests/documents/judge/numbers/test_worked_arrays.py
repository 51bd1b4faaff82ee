r"""Examples with numbers: products, softmaxes, norms of the arrays that a section shows, worked out by the document."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

ARRAYS = r"""
Let $A = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$, $u = (1, 2)$, $v = (3, 4)$ and $x = [2, 4, 6]$.
"""


def last(text: str) -> Claim:
    return check_text(text, "markdown").claims[-1]


def verdict_of(formula: str, before: str = ARRAYS) -> str:
    return last(f"{before}\n{formula}\n").finding.verdict


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"$A^\top = \begin{bmatrix} 1 & 3 \\ 2 & 4 \end{bmatrix}$",
         r"$A^\top = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$"),
        (r"$A^2 = \begin{bmatrix} 7 & 10 \\ 15 & 22 \end{bmatrix}$",
         r"$A^2 = \begin{bmatrix} 1 & 4 \\ 9 & 16 \end{bmatrix}$"),
        (
            r"$A A^\top = \begin{bmatrix} 5 & 11 \\ 11 & 25 \end{bmatrix}$",
            r"$A A^\top = \begin{bmatrix} 10 & 14 \\ 14 & 20 \end{bmatrix}$",
        ),
        (
            r"$A^{-1} = \begin{bmatrix} -2 & 1 \\ 1.5 & -0.5 \end{bmatrix}$",
            r"$A^{-1} = \begin{bmatrix} 2 & 1 \\ 1.5 & -0.5 \end{bmatrix}$",
        ),
        (
            r"$A \odot A = \begin{bmatrix} 1 & 4 \\ 9 & 16 \end{bmatrix}$",
            r"$A \odot A = \begin{bmatrix} 7 & 10 \\ 15 & 22 \end{bmatrix}$",
        ),
        (r"$A \begin{bmatrix} 1 \\ 1 \end{bmatrix} = \begin{bmatrix} 3 \\ 7 \end{bmatrix}$",
         r"$A \begin{bmatrix} 1 \\ 1 \end{bmatrix} = \begin{bmatrix} 4 \\ 6 \end{bmatrix}$"),
        (r"$\frac{A}{\sqrt{2}} = \begin{bmatrix} 0.707 & 1.414 \\ 2.121 & 2.828 \end{bmatrix}$",
         r"$\frac{A}{\sqrt{2}} = \begin{bmatrix} 0.707 & 1.414 \\ 2.121 & 2.838 \end{bmatrix}$"),
        (r"$\text{softmax}(A) = \begin{bmatrix} 0.269 & 0.731 \\ 0.269 & 0.731 \end{bmatrix}$",
         r"$\text{softmax}(A) = \begin{bmatrix} 0.269 & 0.731 \\ 0.296 & 0.731 \end{bmatrix}$"),
        ("$A u = (5, 11)$", "$A u = (7, 10)$"),
        ("$u A = (7, 10)$", "$u A = (5, 11)$"),
        (r"$u^\top A v = 61$", r"$u^\top A v = 51$"),
        (r"$\det(A) = -2$", r"$\det(A) = 2$"),
        (r"$\text{tr}(A) = 5$", r"$\text{tr}(A) = 6$"),
        (r"$\|A\|_F = 5.477$", r"$\|A\|_F = 5.577$"),
        (r"$u^\top v = 11$", r"$u^\top v = 10$"),
        (r"$u \cdot v = 1 \cdot 3 + 2 \cdot 4$", r"$u \cdot v = 1 \cdot 3 + 2 \cdot 3$"),
        (r"$\langle u, v \rangle = 11$", r"$\langle u, v \rangle = 7$"),
        (r"$u \odot v = (3, 8)$", r"$u \odot v = (3, 6)$"),
        ("$u + v = (4, 6)$", "$u + v = (4, 7)$"),
        ("$v - 2u = (1, 0)$", "$v - 2u = (1, 8)$"),
        (r"$\|v\| = 5$", r"$\|v\| = 7$"),
        (r"$\|v\|_1 = 7$", r"$\|v\|_1 = 5$"),
        (r"$\frac{u \cdot v}{\|u\| \|v\|} \approx 0.984$", r"$\frac{u \cdot v}{\|u\| \|v\|} \approx 0.948$"),
        (r"$\text{mean}(v) = 3.5$", r"$\text{mean}(v) = 4.5$"),
        (r"$\text{LayerNorm}(x) = [-1.225, 0, 1.225]$", r"$\text{LayerNorm}(x) = [-1.225, 0, 1.252]$"),
        (r"$\text{RMSNorm}(x) = [0.463, 0.926, 1.389]$", r"$\text{RMSNorm}(x) = [0.463, 0.926, 1.289]$"),
        (r"$\text{ReLU}([-1, 2]) = [0, 2]$", r"$\text{ReLU}([-1, 2]) = [1, 2]$"),
        (r"$\max(0, -u A + v) = (0, 0)$", r"$\max(0, u A - v) = (4, 0)$"),
        (r"$A^\top u = (7, 10)^\top$", r"$A^\top u = (5, 11)^\top$"),
        (r"$A \begin{bmatrix} 1 \\ 0 \end{bmatrix} = (1, 3)^\top$",
         r"$A \begin{bmatrix} 1 \\ 0 \end{bmatrix} = (1, 2)^\top$"),
        (r"$\begin{bmatrix} 1 & 2 \end{bmatrix} v = 11$", r"$\begin{bmatrix} 1 & 2 \end{bmatrix} v = 12$"),
        ("$e^u = (2.718, 7.389)$", "$e^u = (2.718, 7.398)$"),
        (r"$0.5 \cdot [1, 2] + 0.5 \cdot [3, 4] = [2, 3]$", r"$0.5 \cdot [1, 2] + 0.5 \cdot [3, 4] = [2, 4]$"),
        (r"$[\sin(1), \cos(1)] = [0.841, 0.540]$", r"$[\sin(2), \cos(2)] = [0.909, 0.416]$"),
    ],
)  # fmt: skip
def test_what_the_document_works_out_is_worked_out(right: str, wrong: str) -> None:
    assert verdict_of(right) == "holds"
    assert verdict_of(wrong) == "wrong"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"$\text{softmax}(A) = \begin{bmatrix} 0.119 & 0.119 \\ 0.881 & 0.881 \end{bmatrix}$", "conditional"),
        (r"$\text{LayerNorm}(x) = [-1, 0, 1]$", "conditional"),  # n - 1
        (r"$\text{std}(u) = 0.707$", "conditional"),
        (r"$\text{softmax}([10, 0]) \approx [1, 0]$", "holds"),  # decided elsewhere
        ("$(n, m) = (2, 3)$", "holds"),  # sets letters anew
        (r"$|u| = 2$", "unknown"),  # how long it is
        (r"$u v = 11$", "unknown"),  # which product is meant is not said
        (r"$u \times v = 11$", "unknown"),
        (r"$u + 1 = (2, 3)$", "unknown"),
        (r"$\|A\| = 5.465$", "unknown"),  # the largest singular value
        (r"$B A = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$", "unknown"),
    ],
)  # fmt: skip
def test_what_has_another_reading_is_not_called_wrong(formula: str, verdict: str) -> None:
    assert verdict_of(formula) == verdict


@pytest.mark.parametrize(
    "text",
    [
        # what stands between may have changed the letter
        r"$S = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$, masked: "
        r"$\begin{bmatrix} 1 & -\infty \\ 3 & 4 \end{bmatrix}$, "
        r"$\text{softmax}(S) = \begin{bmatrix} 1 & 0 \\ 0.269 & 0.731 \end{bmatrix}$",
        # two arrays for one letter
        r"$x = [1, 2]$ and $\|x\| = 2.236$. Then $x = [0, 1]$, $x = [0, 2]$, so $\|x\| = 1$",
        # the formula had another temperature
        r"$z = [2, 1, 0]$ and $p = \text{softmax}(z)$. With temperature 2 we get $p = [0.506, 0.307, 0.186]$",
        # weights of the layer are shown
        r"$g = [1, 2, 1]$, $x = [2, 4, 6]$, $\text{RMSNorm}(x) = [0.463, 1.852, 1.389]$",
        r"$x = [1, 2]$, after dropout $[0, 4]$ and $\|x\| = 4$",
        # sets, and shapes
        r"$A = \{1, 2\}$, $B = \{3, 4\}$, $A - B = \{1, 2\}$",
        "Their shapes: $(10, 64) + (10, 64) = (10, 64)$",
        r"Their shapes: $(10, 64)^\top = (64, 10)$",
        r"Their shapes: $(10, 64) \cdot (64, 5) = (10, 5)$",
        # another section
        "# One\n\n$x = [1, 2]$\n\n# Two\n\n" + r"$\|x\| = 3$",
    ],
)
def test_what_may_have_changed_is_not_called_wrong(text: str) -> None:
    assert last(text).finding.verdict != "wrong"


def test_a_number_that_was_rounded_before_or_after_is_right() -> None:
    before = r"$S = [1, 0]$, $a = \text{softmax}(S) = [0.731, 0.269]$, "
    before += r"$V = \begin{bmatrix} 200 & 0 \\ 0 & 400 \end{bmatrix}$."
    assert verdict_of("$a V = [146.2, 107.6]$", before) == "holds"
    assert verdict_of("$a V = [146.21, 107.58]$", before) == "conditional"
    assert verdict_of("$a V = [146.3, 107.6]$", before) == "conditional"
    assert verdict_of("$a V = [147.2, 107.6]$", before) == "wrong"


def test_a_slip_beside_a_letter_alone_is_found() -> None:
    before = r"$z = [2, 1, 0]$ and $p = \text{softmax}(z)$."
    assert verdict_of("$p = [0.665, 0.245, 0.090]$", before) == "holds"
    assert verdict_of("$p = [0.665, 0.254, 0.090]$", before) == "wrong"


def test_what_is_wrong_is_named_and_mended() -> None:
    claim = last(ARRAYS + r"$A^2 = \begin{bmatrix} 7 & 10 \\ 15 & 21 \end{bmatrix}$")
    assert claim.finding.reason == "entry (2, 2) is 22, not 21"
    assert claim.finding.right == "[[7, 10], [15, 22]]"
    assert claim.finding.repair is not None
    assert claim.finding.repair.text == "22"


@pytest.mark.parametrize("size", [40, 400])
def test_large_arrays_end(size: int) -> None:
    rows = r" \\ ".join(" & ".join("0.5" for _ in range(size)) for _ in range(3))
    matrix = rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
    found = check_text(rf"$A = {matrix}$ and $A A^\top = {matrix}$", "markdown")
    assert all(claim.finding.check != "failed" for claim in found.claims)
