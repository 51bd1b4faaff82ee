"""Gradients by numbers: right ones hold, single slips are wrong, and what may be meant otherwise is left alone."""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pytest

from derivations.documents.verdicts import Finding
from tests.documents.judge.claims import last, verdicts

ATTENTION = r"$S = \frac{Q K^T}{\sqrt{d_k}}$, $A = \text{softmax}(S)$, $O = A V$"
LAYERS = r"$H = X W_1 + b_1$, $G = \text{ReLU}(H)$, $Y = G W_2 + b_2$"
RESIDUAL = "$Z = Y + X$, $Y = X W$"
PROJECTIONS = "$Q = X W_Q$, $K = X W_K$, $V = X W_V$"
NORM = r"$\hat{X} = \text{LayerNorm}(X)$, $Y = \gamma \odot \hat{X} + \beta$"
VECTORS = r"$z = W x + b$, $p = \text{softmax}(z)$"
FLASH = r"$S = Q K^T$, $P = \text{softmax}(S)$, $O = P V$, $D = \text{rowsum}(dO \circ O)$"
SHAPES = (
    r"$Q \in \mathbb{R}^{n \times d_k}$, $K \in \mathbb{R}^{m \times d_k}$, $V \in \mathbb{R}^{m \times d_v}$, "
    r"$dO \in \mathbb{R}^{n \times d_v}$"
)


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (ATTENTION, r"dS = A \odot (dA - \text{rowsum}(dA \odot A) \mathbf{1}^T)"),
        (ATTENTION, r"dQ = \frac{(A \odot (dA - \text{rowsum}(dA \odot A) \mathbf{1}^T)) K}{\sqrt{d_k}}"),
        (FLASH, r"dS = P \circ (dP - D)"),
        (FLASH, r"dS_{ij} = P_{ij} (dP_{ij} - D_i)"),
        (FLASH, r"dS_{ij} = P_{ij} (dP_{ij} - \sum_k P_{ik} dP_{ik})"),
        (LAYERS, r"dH = dG \odot [H > 0]"),
        (LAYERS, r"dH = dG \odot 1_{G > 0}"),
        (LAYERS, r"dH = (dY W_2^T) \odot \text{ReLU}'(H)"),
        (LAYERS, r"dW_1 = X^T ((dY W_2^T) \odot \mathbb{1}[H > 0])"),
        (LAYERS, r"dW_{1,ij} = \sum_k X_{ki} dH_{kj}"),
        (LAYERS, r"\frac{\partial L}{\partial b_1} = \mathbf{1}^T \frac{\partial L}{\partial H}"),
        (RESIDUAL, "dX = dY W^T + dZ"),
        (RESIDUAL, "dX = dZ W^T + dZ"),
        (PROJECTIONS, "dX = dQ W_Q^T + dK W_K^T + dV W_V^T"),
        (NORM, r"d\gamma_j = \sum_i dY_{ij} \hat{X}_{ij}"),
        (NORM, r"d\hat{X} = dY \odot \gamma"),
        (VECTORS, r"\frac{\partial L}{\partial z} = (\text{diag}(p) - p p^T) \frac{\partial L}{\partial p}"),
        (r"$Y = \alpha X W$", r"dX = \alpha dY W^T"),
        ("$Y = X o B / (1 - p)$", "dX = dY o B / (1 - p)"),
    ],
)
def test_what_follows_holds(before: str, formula: str) -> None:
    finding = last(formula, before)
    assert (finding.check, finding.verdict) == ("gradient", "holds")


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (ATTENTION, r"dS = A \odot (dA + \text{rowsum}(dA \odot A) \mathbf{1}^T)"),
        (ATTENTION, "dQ = dS K"),
        (ATTENTION, r"dQ = dS K \sqrt{d_k}"),
        (ATTENTION, r"dK = \frac{dS^T Q}{d_k}"),
        (ATTENTION + ". " + SHAPES, r"dQ = \frac{dS K}{\sqrt{d_v}}"),
        (ATTENTION, r"dK = dS^T dS / \sqrt{d_k}"),
        (ATTENTION, "dA = dO dO^T"),
        (ATTENTION + " and $dA = dO V^T$", "dA = V V^T"),
        (ATTENTION + " and $dV = A^T dO$", "dV = A^T A"),
        (FLASH, r"dS = P \circ (dP + D)"),
        (LAYERS, r"dH = dG \odot [H < 0]"),
        (LAYERS, r"dW_1 = X^T ((dY W_2) \odot \mathbb{1}[H > 0])"),
        (LAYERS, r"dW_{1,ij} = \sum_k X_{ik} dH_{kj}"),
        (LAYERS, r"db_{1,i} = \sum_{j=1}^{n-1} dH_{ji}"),
        (LAYERS, r"db_{1,i} = \sum_{j=1}^{n} dH_{jj}"),
        (RESIDUAL, "dX = dY W^T - dZ"),
        (PROJECTIONS, "dX = dQ W_Q^T + dK W_Q^T + dV W_V^T"),
        (NORM, r"d\hat{X} = dY \odot \beta"),
        (VECTORS, r"\frac{\partial L}{\partial z} = (\text{diag}(p) + p p^T) \frac{\partial L}{\partial p}"),
        (r"$Y = \alpha X W$", "dX = dY W^T"),
        ("$U_i = X_U A_i$ for every $i$", "dA_i = U^T dU_i"),
        (NORM + r", $d\beta_j = \sum_i dY_{ij}$", r"d\gamma_j = \sum_i \hat{X}_{ij} \hat{X}_{ij}"),
        ("$H = D W + c$ and $dD = dH W^T$", "dW = D dH"),
        ("$Y_i = D^T B_i$", "dB_i = D dY_j"),
        ("$Z = X W$ and $H = F V + e$", r"de_i = \sum_{j=1}^{n} dH_{ij}"),
    ],
)
def test_a_slip_is_wrong(before: str, formula: str) -> None:
    """The check says no, and what it shows instead it does not call wrong."""
    finding = last(formula, before)
    assert (finding.check, finding.verdict) == ("gradient", "wrong")
    assert finding.right is not None
    assert last(finding.right, before).verdict in ("proved", "holds", "conditional")


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        (ATTENTION, "dA = V V^T"),  # no gradient by O is spoken of
        (ATTENTION + r" and $dA = dO V^T$, with the loss $L = \frac{1}{2} \|O - V\|^2$", "dA = V V^T"),
        (ATTENTION, r"dQ = \frac{1}{n} \frac{dS K}{\sqrt{d_k}}"),  # a mean over rows
        (ATTENTION + ", $d_k = d_v = 64$", r"dQ = \frac{dS K}{\sqrt{d_v}}"),
        (ATTENTION, r"dQ = \frac{dS K}{\sqrt{d}}"),  # of which nothing is known
        (ATTENTION, r"dQ = c \, dS K"),
        (r"$S = Q K^T$, $A = \text{softmax}(S / \sqrt{d_k})$", r"dQ = dS K / \sqrt{d_k}"),  # by the scaled scores
        (r"$S = Q K^T$, $A = \text{softmax}(S / \sqrt{d_k})$", r"dS = A \odot (dA - \text{rowsum}(dA \odot A) 1^T)"),
        ("$y = w x$", r"\frac{\partial L}{\partial w} = \frac{\partial L}{\partial y} x"),  # numbers
        ("$z = w^T x + b$", r"\frac{\partial L}{\partial x} = \frac{\partial L}{\partial z} w"),  # z is a number
        ("$z = w^T x + b$", r"\frac{\partial L}{\partial b} = \frac{\partial L}{\partial z}"),
        ("$C = A B$", "dC = dA B + A dB"),  # differentials
        ("$C = A B$", "dA = dC B^{-1}"),
        (PROJECTIONS, "dX = dQ W_Q^T + dU W_U^T"),
        ("$A = softmax(S)$ of every column", r"dS_{ij} = A_{ij} (dA_{ij} - \sum_k A_{kj} dA_{kj})"),
        (VECTORS, r"\frac{\partial L}{\partial W} = (p - y) x^T"),
        ("$Y = X W$ and $Y = W X$", "dX = dY W"),
        ("$Y = X o D / (1 - p)$", "dX = dY o D / (1 - p)"),
        ("$S = Q K^T$.\n\n$$dQ = dS K$$\n\nWith scaling, $S = \\tau Q K^T$", "dQ = \\tau dS K"),
        ("$y = W x$", r"dW_{ij} = \sum_n dy_{ni} x_{nj}"),  # over a batch, in rows
        ("$u = W_3 v$, " + LAYERS, r"db_{1,i} = \sum_{j=1}^{n} dH_{ji}"),  # columns elsewhere
        ("$A = \\text{softmax}(S)$", r"dS = \text{backward}(dA, A)"),
        (r"$z = W x$, $\frac{\partial L}{\partial z} = z$", r"\frac{\partial L}{\partial W} = z x^T"),
        ("$U_i = U A_i$ for every $i$", "dA_i = U^T dU_i"),
        ("$U = X$ and $U_i = X A_i$", "dA_i = U^T dU_i"),
        (r"$U \in \mathbb{R}^{n \times d}$ and $U_i = X A_i$", "dA_i = U^T dU_i"),
        (
            r"$A_i = \text{softmax}(S_i)$",
            r"dS_i = A \odot (dA_i - \text{rowsum}(dA_i \odot A) \mathbf{1}^T)",
        ),  # of head i
        ("$H = D W + c$", "dW = D dH"),  # D may be a number
        (NORM, r"d\gamma_j = \sum_i \hat{X}_{ij} \hat{X}_{ij}"),  # no gradient by Y is spoken of
        ("$z = W x$ and $H = F V + e$", r"de_i = \sum_{j=1}^{n} dH_{ij}"),  # columns
    ],
)
def test_what_may_be_meant_otherwise_is_not_wrong(before: str, formula: str) -> None:
    assert last(formula, before).verdict != "wrong"


def test_the_gradients_beside_a_formula_are_meant_before_those_of_other_blocks() -> None:
    """A feeds T as well as O, and it is the gradient by O of which the block of the formula speaks."""
    beside = r"Here $O = A V$, $\mathrm{d}O = Z$ and $\mathrm{d}A = V V^T$."
    other = r"With $T = A + B$ is $\mathrm{d}B = \mathrm{d}T$."
    assert verdicts(f"{other}\n\n{beside}\n")[-1] == "unknown"  # Z is a gradient without one
    beside = r"Here $O = A V$, $\mathrm{d}V = A^T \mathrm{d}O$ and $\mathrm{d}A = V V^T$."
    assert verdicts(f"{other}\n\n{beside}\n")[-1] == "wrong"


# --- random products, against differences ---


@dataclass(frozen=True)
class _Product:
    """A product of letters, some of them transposed, with a scale in front."""

    factors: tuple[tuple[str, bool], ...]
    scale: str = ""

    @property
    def text(self) -> str:
        """The product as a formula."""
        return self.scale + " ".join(letter + ("^T" if turned else "") for letter, turned in self.factors)

    def value(self, letters: dict[str, np.ndarray]) -> np.ndarray:
        """The product in numbers; ValueError where the sizes do not fit."""
        parts = [letters[letter].T if turned else letters[letter] for letter, turned in self.factors]
        return _SCALES[self.scale] * reduce(operator.matmul, parts)


_SCALES = {"": 1.0, r"\frac{1}{\sqrt{d_k}} ": 0.37, "2 ": 2.0}
_SIZES = (2, 3, 5, 7, 11)


def _defined(random_: random.Random) -> _Product:
    letters = random_.sample("ABPQRUV", random_.randint(1, 4))
    return _Product(tuple((each, random_.random() < 0.4) for each in letters), random_.choice([*_SCALES]))


def _gradient(made: _Product, at: int) -> _Product:
    """The gradient by the letter at a place, by the rule for products."""
    before = tuple((letter, not turned) for letter, turned in reversed(made.factors[:at]))
    behind = tuple((letter, not turned) for letter, turned in reversed(made.factors[at + 1 :]))
    found = (*before, ("dY", False), *behind)
    if made.factors[at][1]:
        found = tuple((letter, not turned) for letter, turned in reversed(found))
    return replace(made, factors=found)


def _slipped(right: _Product, random_: random.Random) -> _Product:
    factors = list(right.factors)
    at = random_.randrange(len(factors))
    letter, turned = factors[at]
    match random_.randrange(4):
        case 0:
            factors[at] = letter, not turned
        case 1:
            other = random_.randrange(len(factors))
            factors[at], factors[other] = factors[other], factors[at]
        case 2:
            factors[at] = random_.choice(factors)[0], turned
        case _:
            return replace(right, scale=random_.choice([*_SCALES]))
    return replace(right, factors=tuple(factors))


def _is_gradient(claimed: _Product, made: _Product, at: int) -> bool:
    """Say whether a product is the gradient, by differences at sizes that are all different."""
    numbers = np.random.default_rng(7)
    sizes = [(_SIZES[k + 1], _SIZES[k]) if turned else _SIZES[k : k + 2] for k, (_, turned) in enumerate(made.factors)]
    letters = {letter: numbers.normal(size=size) for (letter, _), size in zip(made.factors, sizes, strict=True)}
    weights = numbers.normal(size=made.value(letters).shape)
    by = made.factors[at][0]
    slopes = np.zeros_like(letters[by])
    for place in np.ndindex(*slopes.shape):
        moved = letters[by].copy()
        moved[place] += 1.0  # the product is linear in each of its letters
        slopes[place] = np.sum(weights * (made.value({**letters, by: moved}) - made.value(letters)))
    try:
        value = claimed.value({**letters, "dY": weights})
    except ValueError:
        return False
    return value.shape == slopes.shape and np.allclose(value, slopes)


def _judged(made: _Product, at: int, claimed: _Product) -> Finding:
    return last(f"d{made.factors[at][0]} = {claimed.text}", f"Let $Y = {made.text}$ for matrices.")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_products(seed: int) -> None:
    """Right gradients are never wrong, and slips are never proved and never hold."""
    random_ = random.Random(seed)
    made = _defined(random_)
    at = random_.randrange(len(made.factors))
    right = _gradient(made, at)
    assert _is_gradient(right, made, at)
    assert _judged(made, at, right).verdict in ("proved", "holds", "unknown")
    for _ in range(4):
        claimed = _slipped(right, random_)
        found = _judged(made, at, claimed)
        if _is_gradient(claimed, made, at):
            assert found.verdict != "wrong", claimed.text
        else:
            layout = any("layout" in text for text in found.assumptions)
            assert found.check != "gradient" or found.verdict == "wrong" or layout, (made.text, claimed.text)


@pytest.mark.parametrize("right", [r"\sum_{j=1}^{n-1} dH_{ji}", r"\sum_{j=1}^{n} dH_{jj}", r"\sum_{j=2}^{n} dH_{ji}"])
def test_part_of_a_sum_is_no_gradient_by_a_bias(right: str) -> None:
    """Also where nothing defines H."""
    assert last(f"db_i = {right}").verdict in ("unknown", "wrong")
    assert last(r"db_i = \sum_{j=1}^{n} dH_{ji}").verdict == "conditional"


def test_another_setting_behind_a_formula_does_not_define_its_letters() -> None:
    text = "We have $S = Q K^T$.\n\n$$dQ = dS K$$\n\nWith scaling, $S = \\tau Q K^T$ and $dQ = \\tau dS K$.\n"
    assert "wrong" not in verdicts(text)
