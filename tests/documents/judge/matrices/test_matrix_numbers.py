r"""Numbers of formulas of matrices: identities hold for them, what differs differs, what is no matrix has none."""

from __future__ import annotations

import pytest

from derivations.documents.formulas import read_formula
from derivations.documents.judge.matrices.matrix_numbers import Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value, are_alike

KINDS: Kinds = {
    **dict.fromkeys(("A", "B", "C", "I", "I_n", "I_m", "W_1", "W_h"), "matrix"), "b": "row", "x": "row", "v": "column",
    "c": "number", "d_k": "number",
}  # fmt: skip


def value(formula: str) -> Value | None:
    """Return the value of a formula without a relation."""
    return matrix_value(read_formula(formula, "latex").statements[0].sides[0], KINDS)


def test_an_orthogonal_matrix_is_turned_back_by_its_transpose_and_by_nothing_else() -> None:
    kinds: Kinds = {"A": "matrix", "R": "rotation", "I": "matrix"}
    back, again, inverse, one, unit = (
        matrix_value(read_formula(formula, "latex").statements[0].sides[0], kinds)
        for formula in ("R^T A R", "R A R", "R^{-1} A R", "R R^T", "I")
    )
    assert are_alike(back, inverse)
    assert not are_alike(back, again)
    assert are_alike(one, unit)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(A B) C", "A (B C)"),
        ("(A B)^T", "B^T A^T"),
        ("A A^{-1}", "I"),
        ("I_n A", "A I_m"),
        ("(A B)^{-2}", "B^{-1} A^{-1} B^{-1} A^{-1}"),
        ("A^3", "A A A"),
        (r"\det(A B)", r"\det(B) \det(A)"),
        (r"\operatorname{tr}(A B)", r"\operatorname{tr}(B A)"),
        (r"\operatorname{softmax}(A + c B)", r"\operatorname{softmax}(c B + A)"),
        ("(A + b) B", "A B + b B"),
        ("x A v", "v^T A^T x^T"),
        (r"A \odot B", r"B \odot A"),
        (r"\frac{A B}{\sqrt{d_k}}", r"\frac{1}{\sqrt{d_k}} A B"),
        (r"A \operatorname{Concat}(W_1, \ldots, W_h)", r"\operatorname{Concat}(A W_1, \ldots, A W_h)"),
        (r"\operatorname{LayerNorm}(c A)", r"\operatorname{LayerNorm}(A)"),
        ("f(A, B)", "f(B, A)"),  # as far as is known
    ],
)
def test_identities_hold_for_the_numbers(first: str, second: str) -> None:
    values = value(first), value(second)
    assert None not in values
    assert are_alike(*values)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A B", "B A"), ("(A B)^T", "A^T B^T"), ("f(A, B)", "f(A, C)"), ("f(A, B)", "f(B, B)"),
        ("f(A)", "g(A)"), ("f(A) B", "f(A B)"),
        (r"\operatorname{softmax}(A)^T", r"\operatorname{softmax}(A^T)"), ("x A", "A v"), ("A", "-A"),
        (r"\operatorname{tr}(A B C)", r"\operatorname{tr}(A C B)"), (r"A \odot B", "A B"), ("c", "A"),
    ],
)  # fmt: skip
def test_what_differs_differs(first: str, second: str) -> None:
    values = value(first), value(second)
    assert None not in values
    assert not are_alike(*values)


@pytest.mark.parametrize(
    "formula",
    [
        "A x",
        "v A",
        "A + c",
        "1^T",
        "Z A",
        "A / B",
        r"\sum_{i=1}^n A",
        "A^{1/2}",
        "A^{99}",
        r"A \pm B",
        r"\frac{A}{0}",
        "x^2",
    ],
)
def test_what_is_no_matrix_and_no_number_has_no_value(formula: str) -> None:
    assert value(formula) is None
