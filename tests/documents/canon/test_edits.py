"""Edits of formulas: what is put where, and what is left alone because a convention may want it so."""

from __future__ import annotations

import pytest

from derivations.documents.canon.edits import edits
from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.syntax import Name, Node


def node(text: str) -> Node:
    return read_formula(f"y = {text}", "latex").statements[0].sides[1]


def edited(text: str, letters: tuple[Name, ...] = (), indices: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the formulas after one edit, with the slips."""
    return {formula_text(new, "plain"): str(slip) for new, slip in edits(node(text), letters, indices)}


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Q K", "Q K^T"),
        ("K^T Q", "Q K^T"),
        ("a + b", "a - b"),
        ("x^3", "x^2"),
        (r"\sqrt{a + b}", "sqrt(a) + b"),
        (r"\sin x", "cos(x)"),
        (r"\frac{a}{b}", "b / a"),
    ],
)
def test_one_slip_is_mended(text: str, right: str) -> None:
    assert right in edited(text)


def test_an_exponent_that_is_an_index() -> None:
    assert edited(r"1 - \beta", indices=("t",))["1 - β^t"] == "the exponent t is missing"
    assert "1 - β^t" not in edited(r"1 - \beta")


@pytest.mark.parametrize("text", ["q^T K^T", "y y^T", "q^T k", "q K"])
def test_vectors_are_not_turned(text: str) -> None:
    """Whether a vector is a row or a column is no slip."""
    slips = edited(text).values()
    assert not any(slip.startswith(("q must", "k must", "y must")) for slip in slips)


def test_small_letters_of_code_may_be_matrices() -> None:
    product = read_formula("y = q @ k", "code").statements[0].sides[1]
    assert "k must be transposed" in {str(slip) for _, slip in edits(product, ())}


def test_letters_without_a_name_are_no_trouble() -> None:
    assert list(edits(node("a b"), (Name(""),), ()))
