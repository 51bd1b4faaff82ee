"""Matrices of letters: what the judge proves entry by entry holds, and one entry that it refutes is wrong."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text


def matrix(*rows: str) -> str:
    lines = r" \\ ".join(rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


TURN = matrix(r"\cos\theta & -\sin\theta", r"\sin\theta & \cos\theta")
BACK = matrix(r"\cos\theta & \sin\theta", r"-\sin\theta & \cos\theta")
ONE, OTHER = matrix("a & b", "c & d"), matrix("e & f", "g & h")
HOLDS = (
    (f"{ONE} {OTHER}", matrix("a e + b g & a f + b h", "c e + d g & c f + d h")),
    (
        matrix("2 & 3", "4 & 5") + r" \times " + matrix("v_1", "v_2"),
        matrix("2 v_1 + 3 v_2", "4 v_1 + 5 v_2"),
    ),
    (f"{TURN} " + matrix("x_1", "x_2"), matrix(r"x_1 \cos\theta - x_2 \sin\theta", r"x_1 \sin\theta + x_2 \cos\theta")),
    (TURN, BACK + r"^\top"),
    (
        matrix("s (1 - s) & -s t", "-s t & t (1 - t)"),
        matrix("s & 0", "0 & t") + " - " + matrix("s^2 & s t", "s t & t^2"),
    ),
)
WRONG = (
    (f"{ONE} {OTHER}", matrix("a e + b g & a f + b h", "c e + d g & c f - d h"), "entry 2, 2"),
    (TURN, matrix(r"\cos\theta & \sin\theta", r"\sin\theta & \cos\theta") + r"^\top", "entry 1, 2"),
)
UNKNOWN = (
    ("x^T y", "y x^T"),  # nothing is written out
    (r"R_\theta^T", r"R_\theta"),
    (matrix("A", "B") + "^T", matrix("A & B")),  # blocks are transposed as well
    (matrix("A & B") + " " + matrix("C", "D"), "C A + D B"),
    (f"{ONE} {OTHER}", matrix("a e & b f", "c g & d h")),  # another product is meant
    (f"{ONE} {OTHER}", matrix("a e + b g & a f + b h")),  # not alike
    (matrix("a", "b"), matrix("a", "c")),  # one other entry shows nothing
    (ONE, matrix("a & b", r"c & \ldots")),
)


def said(left: str, right: str) -> list[tuple[str, str]]:
    claim = check_text(f"$${left} = {right}$$", "markdown").claims[-1]
    return [(each.verdict, each.reason) for each in claim.findings if each.check == "chain"]


@pytest.mark.parametrize(("left", "right"), HOLDS)
def test_entries_that_are_proved_equal_hold(left: str, right: str) -> None:
    assert [verdict for verdict, _ in said(left, right)] == ["holds"]


@pytest.mark.parametrize(("left", "right", "place"), WRONG)
def test_one_entry_that_is_refuted_is_wrong(left: str, right: str, place: str) -> None:
    ((verdict, reason),) = said(left, right)
    assert verdict == "wrong"
    assert place in reason


@pytest.mark.parametrize(("left", "right"), UNKNOWN)
def test_what_may_be_meant_otherwise_is_left_alone(left: str, right: str) -> None:
    assert said(left, right) == []
