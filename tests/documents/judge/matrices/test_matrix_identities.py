r"""Equations of matrices that are an identity but for one slip are wrong; properties and true identities are left."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim


def claims(text: str) -> dict[str, Claim]:
    """Return the claims of a text by their formulas."""
    return {claim.text: claim for claim in check_text(text, "markdown").claims}


def said(formula: str, before: str) -> Claim:
    """Return what is said of a formula in a sentence."""
    return claims(f"{before} ${formula}$ here.")[formula]


@pytest.mark.parametrize(
    ("formula", "mended"),
    [
        (r"C (A B) = A (B C)", r"\left( A B \right) C"),
        (r"(A B) C = (B C) A", r"A \left( B C \right)"),
        (r"(M N)^T = M^T N^T", "N^{T} M^{T}"),
        (r"(A B C)^T = A^T B^T C^T", "C^{T} B^{T} A^{T}"),
        (r"(A B)^{-1} = A^{-1} B^{-1}", "B^{-1} A^{-1}"),
        (r"\operatorname{tr}(A B C) = \operatorname{tr}(A C B)", r"\text{tr}\left( C A B \right)"),
        (r"A (B + C) = A B + C A", "A B + A C"),
        (r"(A + B)(A - B) = A^2 - A B + A B - B^2", "A^{2} - A B + B A - B^{2}"),
        (r"(A \odot B)^T = A^T \odot B", r"A^{T} \odot B^{T}"),
    ],
)
def test_a_slip_in_an_identity_of_matrices_is_wrong(formula: str, mended: str) -> None:
    found = said(formula, "For all matrices").finding
    assert (found.verdict, found.check) == ("wrong", "matrices")
    assert found.right == mended


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        ("For all matrices", r"(A B) C = A (B C)"),
        ("For all matrices", r"(A B)^T = B^T A^T"),
        ("For all matrices", r"(A B)^{-1} = B^{-1} A^{-1}"),
        ("For all matrices", r"\operatorname{tr}(A B C) = \operatorname{tr}(C A B)"),
        ("For all matrices", r"\det(A B) = \det(A) \det(B)"),
        ("For all matrices", r"(I + A)(I - A) = I - A^2"),
        ("For all matrices", r"\operatorname{softmax}(S + c) = \operatorname{softmax}(S)"),
        ("The matrices satisfy", "A B = B A"),  # they commute
        ("The matrix is symmetric,", r"(A B)^T = A B"),
        ("With a diagonal matrix", r"(D A)^T = A^T D"),
        ("It is equivariant under permutations,", r"f(P X) = P f(X)"),
        ("If", r"(A B)^T = A^T B^T"),
        ("So", r"A (B + C) = A B + C A"),  # numbers, as far as is known
        ("So", r"(B A) C = A (B C)"),
        ("So", r"x^T A y = y^T A^T x"),
        ("For all matrices", r"a B C = B a C"),
        ("The number of matrices is", r"N B C = B N C"),
        ("For all matrices", r"Z (W + v 1^T) = Z W + Z v 1^T"),
        ("For all matrices", r"X^T (Y - X \beta) = X^T Y - X^T X \beta"),
    ],
)
def test_what_holds_or_may_hold_is_not_refuted(before: str, formula: str) -> None:
    assert said(formula, before).finding.verdict != "wrong"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"g(X + A) = g(X + f(X, X))", "holds"),
        (r"g(X - A) = g(X + f(X, X))", "wrong"),
        (r"g(X + X) = g(X + f(X, X))", "wrong"),
        (r"g(X + A) = g(X - f(X, X))", "wrong"),
        (r"\operatorname{softmax}(A - c) = \operatorname{softmax}(f(X, X))", "unknown"),
    ],
)
def test_definitions_of_the_section_are_put_in(formula: str, verdict: str) -> None:
    text = r"Let $X \in \mathbb{R}^{n \times d}$ and $A = f(X, X)$." + f"\n\n$${formula}$$\n"
    assert claims(text)[formula].finding.verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"c W_Q K^T = c W_Q (u W_K)^T", "holds"),
        (r"c K^T W_Q = c W_Q (u W_K)^T", "wrong"),
        (r"c W_Q^T K = c W_Q (u W_K)^T", "wrong"),
        (r"c W_Q K^T = c (u W_K)^T W_Q", "wrong"),
        (r"c W_K K^T = c W_Q (u W_K)^T", "wrong"),
    ],
)
def test_letters_of_which_nothing_is_known_may_be_rows(formula: str, verdict: str) -> None:
    found = claims(f"$${formula}$$\n\nwhere $K = u W_K$.")[formula].finding
    assert found.verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "# One\n\nLet $X = f(Z)$.\n\n# Two\n\nFor matrices, $g(X - A) = g(A + f(Z))$.\n",  # of another section
        "Let $A = f(X)$ and later $A = f(Z)$. For matrices, $g(X - A) = g(X + f(X))$.\n",  # two things
    ],
)
def test_a_definition_that_may_not_be_meant_refutes_nothing(text: str) -> None:
    assert all(claim.finding.verdict != "wrong" for claim in claims(text).values())


@pytest.mark.parametrize(
    ("formula", "verdict"), [("Q K^T = X W_Q W_K^T X^T", "holds"), ("Q K^T = X W_Q W_K X^T", "wrong")]
)
def test_labels_are_no_letters(formula: str, verdict: str) -> None:
    """The Q of W_Q is not what Q is defined to be."""
    assert claims(f"With $Q = X W_Q$ and $K = X W_K$ we have ${formula}$ here.")[formula].finding.verdict == verdict


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        ("For matrices", "(A B)^T = B^T A^T", "holds"),
        ("For matrices", r"\operatorname{tr}(A B C) = \operatorname{tr}(C A B)", "holds"),
        ("For matrices", "(A + B)^2 = A^2 + A B + B A + B^2", "holds"),
        ("For matrices", "(A + B)^2 = A^2 + 2 A B + B^2", "unknown"),
        ("For matrices", r"f(A, B) + C = C + f(B, A)", "unknown"),  # a function may be symmetric
        ("For matrices", r"\operatorname{LayerNorm}(2 A) = \operatorname{LayerNorm}(A)", "unknown"),  # but for epsilon
        ("So", "(A B)^T = (A B)^T", "unknown"),
    ],
)
def test_what_is_equal_for_all_matrices_holds(before: str, formula: str, verdict: str) -> None:
    assert said(formula, before).finding.verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"\frac{A (B C)^T}{\sqrt{d_k}} = \frac{A C^T B^T}{\sqrt{d_k}}", "holds"),
        (r"\frac{A (B C)^T}{\sqrt{d_k}} = A C^T B^T", "wrong"),
        (r"\frac{A (B C)^T}{d_k} = \frac{A C^T B^T}{\sqrt{d_k}}", "wrong"),
        (r"A (B C)^T \cdot \sqrt{d_k} = \frac{A C^T B^T}{\sqrt{d_k}}", "wrong"),
        (r"\frac{A (B C)}{\sqrt{d_k}} = \frac{A C^T B^T}{\sqrt{d_k}}", "wrong"),
        (r"\frac{A (B C)^T}{\sqrt{d_k}} = \frac{A C^T B^T}{\sqrt{d_v}}", "wrong"),
    ],
)
def test_the_scale_is_that_of_both_sides(formula: str, verdict: str) -> None:
    assert said(formula, "For matrices").finding.verdict == verdict


@pytest.mark.parametrize("given", ["$d_v = d_k$", "$d_k = 64$ and $d_v = 64$"])
def test_two_sizes_may_be_set_to_be_one(given: str) -> None:
    formula = r"\frac{A (B C)^T}{\sqrt{d_k}} = \frac{A C^T B^T}{\sqrt{d_v}}"
    assert said(formula, f"Let {given}. For matrices").finding.verdict != "wrong"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"Q R (K R)^T = Q (R R^T) K^T", "holds"),
        (r"Q R^T (K R) = Q (R R^T) K^T", "wrong"),
        (r"Q R (R K)^T = Q (R R^T) K^T", "wrong"),
        (r"Q R (K R)^T = Q (R R^T) K", "wrong"),
        (r"Q R (K R)^T = Q K^T", "unknown"),  # a property of orthogonal matrices
        (r"R A R^T = R A R^{-1}", "unknown"),
        (r"(A B)^{-1} = B^T A^T", "unknown"),
        (r"(A B)^{-1} = (A B)^T", "unknown"),
        (r"Q R (K R)^T = Q (R^T R) K^T", "unknown"),  # both are K^T where R is orthogonal
    ],
)
@pytest.mark.parametrize(
    "words", ["An orthogonal matrix turns both,", "With a rotation matrix", "設正交矩陣", "直交行列なら"]
)
def test_orthogonal_matrices_have_their_own_properties_and_the_same_slips(
    formula: str, verdict: str, words: str
) -> None:
    assert said(formula, words).finding.verdict == verdict


ENTRIES = r"$M = [a_{ij}]_{i,j} + F$, $N = [a_{ij}]_{i,j} + G$"


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        (ENTRIES, "S + S F + (S + S F) G = S + S F + S G + S F G", "proved"),
        (ENTRIES, "S + F S + (S + S F) G = S + S F + S G + S F G", "wrong"),
        (ENTRIES, "S + S F + G (S + S F) = S + S F + S G + S F G", "wrong"),
        ("", "S + F S + (S + S F) G = S + S F + S G + S F G", "unknown"),  # F may be a number
        (r"$M = [a_{ij}]_{i,j} + N$", "S + N S = S + S N", "unknown"),  # and so may N, a count
        ("", r"X \operatorname{Concat}(W_1, \ldots, W_h) = \operatorname{Concat}(X W_1, \ldots, X W_h)", "holds"),
        ("", r"X \operatorname{Concat}(W_1, \ldots, W_h) = \operatorname{Concat}(W_1 X, \ldots, X W_h)", "wrong"),
        ("", "(X W + b) Y^T = (W X + b) Y^T", "unknown"),  # the same twice, if X and W commute
        ("", "(X W + b) (Y W)^T = (W X + b) W^T Y^T", "wrong"),
        ("", "(S W + b) (Y W)^T = (W S + b) W^T Y^T", "unknown"),  # S may be a scale
        ("", "(w X + b) (w X + b) = X w (w X + b) + b (w X + b)", "proved"),  # random numbers
    ],
)
def test_capitals_that_are_surely_matrices(before: str, formula: str, verdict: str) -> None:
    assert (
        claims(f"{before}\n\n${formula}$ here.\n" if not before else f"{before}, ${formula}$ here.")[
            formula
        ].finding.verdict
        == verdict
    )


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("W_1 R (W_2 (R^{-1})^T)^T = W_1 (R R^{-1}) W_2^T", "holds"),
        ("W_1 R (W_2 R^T)^T = W_1 (R R^{-1}) W_2^T", "wrong"),
        ("W_1 R (W_2 (R)^T)^T = W_1 (R R^{-1}) W_2^T", "wrong"),
        ("W_1 R (W_2 (R^{-1})^T)^T = W_1 (W_2) (R R^{-1})^T", "wrong"),
        ("W_1 R R W_2 = W_1 R R^{-1} W_2", "wrong"),
        ("W_1 R (W_2 R^T)^T = W_1 W_2^T", "unknown"),  # a property of reflections
    ],
)
def test_an_inverse_may_be_lost(formula: str, verdict: str) -> None:
    assert said(formula, "With matrices").finding.verdict == verdict


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("W_1 (R) = R W_1", "unknown"),
        ("A W_1 (R) B = A R W_1 B", "unknown"),
        ("W_1 (R)^T W_1 = W_1^T R^T W_1", "unknown"),
        ("W_1 (R) S^T = W_1 R S", "wrong"),
    ],
)
def test_a_weight_before_brackets_may_be_a_map(formula: str, verdict: str) -> None:
    assert said(formula, "With matrices").finding.verdict == verdict


def test_reflections_are_their_own_inverses() -> None:
    assert said("W_1 R R W_2 = W_1 R R^{-1} W_2", "With matrices of reflections").finding.verdict == "unknown"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"P I S^T = P S^T \; \text{if}\  I_{ij} = \delta_{ij}", "holds"),
        (r"P P S^T = P S^T \; \text{if}\  I_{ij} = \delta_{ij}", "wrong"),
        (r"P P S^T = P S^T \; \text{if}\  P_{ij} = \delta_{ij}", "unknown"),
        (r"P P S^T = P S^T \; \text{if}\  I_{ij} = \delta_{ij} \; (\text{I = P})", "unknown"),
        (r"P P S^T = P S^T", "unknown"),  # a property of projections
    ],
)
def test_a_condition_on_the_identity_speaks_of_the_equation(formula: str, verdict: str) -> None:
    found = [claim.finding.verdict for claim in claims(f"For matrices ${formula}$ here.").values()]
    assert found == [verdict]
