r"""Products of matrices that are written out: a slip in one entry is wrong, systems and conditions are left alone."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding


def matrix(*rows: str) -> str:
    """Return a matrix with its rows written as LaTeX has them."""
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def said(formula: str, before: str = "We find") -> Finding:
    """Return what is said of a formula in a sentence."""
    return check_text(f"{before} ${formula}$ here.", "markdown").claims[0].finding


TURN = matrix(r"\cos a & -\sin a", r"\sin a & \cos a")
TURN_BY_B = matrix(r"\cos b & -\sin b", r"\sin b & \cos b")
TURN_BY_BOTH = matrix(r"\cos(a + b) & -\sin(a + b)", r"\sin(a + b) & \cos(a + b)")
PAIR = matrix("x_1", "x_2")
TURNED = matrix(r"x_1 \cos a - x_2 \sin a", r"x_1 \sin a + x_2 \cos a")
IDENTITIES = (
    f"{TURN} {TURN_BY_B} = {TURN_BY_BOTH}",
    f"{TURN}^T {TURN} = {matrix('1 & 0', '0 & 1')}",
    f"{TURN} {PAIR} = {TURNED}",
    f"{matrix('a & b')} {matrix('w & x', 'y & z')} = {matrix('a w + b y & a x + b z')}",
)


@pytest.mark.parametrize("formula", IDENTITIES)
def test_an_identity_is_not_refuted(formula: str) -> None:
    assert said(formula).verdict != "wrong"


@pytest.mark.parametrize(
    ("number", "old", "new"),
    [
        (0, r"-\sin(a + b)", r"\sin(a + b)"),
        (0, r"\cos(a + b)", r"\cos(a - b)"),
        (0, r"\sin a", r"\cos a"),
        (1, r"-\sin a", r"\sin a"),
        (1, r"\cos a", r"\cos a^2"),
        (2, r"x_2 \sin a", r"x_1 \sin a"),
        (2, r"+ x_2 \cos a", r"- x_2 \cos a"),
        (3, "b z", "b y"),
        (3, "a w + b y", "a w - b y"),
    ],
)
def test_a_slip_in_one_entry_is_wrong(number: int, old: str, new: str) -> None:
    changed = IDENTITIES[number].replace(old, new, 1)
    assert changed != IDENTITIES[number]
    assert said(changed).verdict == "wrong"


@pytest.mark.parametrize(
    ("before", "formula"),
    [
        ("We solve", f"{matrix('a & b', 'c & d')} {PAIR} = {matrix('u', 'v')}"),
        ("If", IDENTITIES[3].replace("b z", "b y")),
        ("We find", f"{matrix('a & b', 'c & d')} {PAIR} = {PAIR}"),
        ("We find", f"{matrix('a & b', 'b & c')} = {matrix('a & c', 'c & b')}"),
        ("We find", f"{matrix('a & b')} {matrix('w & x')} = {matrix('a w & b x')}"),  # no product of matrices
        ("We find", rf"{matrix('a & b')} \odot {matrix('w & x')} = {matrix('a w & b x')}"),
    ],
)
def test_systems_and_conditions_are_left_alone(before: str, formula: str) -> None:
    assert said(formula, before).verdict != "wrong"
