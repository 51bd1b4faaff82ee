r"""Matrices that turn a pair of entries by an angle: the rows (cos a, -sin a) and (sin a, cos a).

Definition   a matrix of two rows with the cosine or the sine of one angle in every place
Result       the usual one where it turns a column (the rotary encoding) or a row, which is the other way (the shift of
             the sinusoidal encoding); wrong where its rows are not orthogonal, so that it turns nothing, and where one
             place has another angle than the three others, of the same letters; nothing otherwise
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.judge.canonical.residuals import Seen
from derivations.documents.syntax import Call, MatrixLiteral, Name, Negative, Node, Number, Product

__all__ = ["rotation", "turned_pair"]

FORWARD, BACK = ("cos", "-sin", "sin", "cos"), ("cos", "sin", "-sin", "cos")
ROTARY, SHIFT = "positional_encoding.rotary_definition", "positional_encoding.shift_is_linear"


def rotation(left: Node | None, right: MatrixLiteral) -> Seen | None:
    """Return what a matrix of cosines and sines is seen to be; `left` is what it is called."""
    if [len(row) for row in right.rows] != [2, 2]:
        return None
    entries = [_wave(entry) for row in right.rows for entry in row]
    waves = tuple(entry[0] for entry in entries if entry)
    angles = [entry[1] for entry in entries if entry]
    if len(angles) != len(entries):
        return None
    if len(set(angles)) != 1:
        return _of_another_angle(angles) if waves in (FORWARD, BACK) else None
    if waves == FORWARD:
        return Seen("usual", "this matrix turns a column by the angle", ROTARY)
    if waves == BACK:
        return Seen("usual", "this matrix turns a row by the angle, and a column the other way", SHIFT)
    name = left.function if isinstance(left, Call) else left.factors[0] if isinstance(left, Product) else left
    called = isinstance(name, Name) and name.base in ("R", "Rot", "rot", "rotation")
    if called and [wave.strip("-") for wave in waves] == ["cos", "sin", "sin", "cos"] and not _is_orthogonal(waves):
        return Seen("wrong", "this matrix turns nothing: one of the two sines must have the other sign", ROTARY)
    return None


def _of_another_angle(angles: Sequence[Node]) -> Seen | None:
    """Return that one place has an angle of its own, of the letters and numbers of the three others."""
    (usual, most), *_ = Counter(angles).most_common()
    if most != len(angles) - 1:
        return None
    other = next(angle for angle in angles if angle != usual)
    if _leaves(other) != _leaves(usual):
        return None
    reason = f"this matrix turns nothing: three of its places have one angle, {formula_text(usual, 'plain')}"
    return Seen("wrong", f"{reason}, and one has {formula_text(other, 'plain')}", ROTARY)


def _leaves(node: Node) -> Counter[str]:
    return Counter(part.key if isinstance(part, Name) else part.text for part in _letters_and_numbers(node))


def _letters_and_numbers(node: Node) -> Iterator[Name | Number]:
    return (part for part in node.walk() if isinstance(part, Name | Number))


def turned_pair(left: Node | None, right: Product) -> Seen | None:
    """Return what is seen of a pair that is a matrix times the pair before: x_1', x_2' of x_1, x_2."""
    match right.factors:
        case (MatrixLiteral() as matrix, MatrixLiteral() as pair) if isinstance(left, MatrixLiteral):
            letters = _letters_below(pair)
            if len(letters) == 1 and letters == _letters_below(left):
                return rotation(Name("R"), matrix)
    return None


def _letters_below(column: MatrixLiteral) -> set[str]:
    """Return the letters of two entries that stand in a column; none of what is no such column."""
    entries = [row[0] for row in column.rows if len(row) == 1]
    if len(entries) != len(column.rows) or len(entries) != 2:
        return set()
    return {entry.base if isinstance(entry, Name) else "" for entry in entries} - {""}


def _wave(node: Node) -> tuple[str, Node] | None:
    """Return "cos", "-sin" ... with the angle."""
    inner = node.operand if isinstance(node, Negative) else node
    if not isinstance(inner, Call) or len(inner.arguments) != 1 or function_word(inner.function) not in ("cos", "sin"):
        return None
    return "-" * (inner is not node) + function_word(inner.function), inner.arguments[0]


def _is_orthogonal(waves: tuple[str, ...]) -> bool:
    """Say whether the rows (cos, sin) and (sin, cos), with their signs, are orthogonal: their minus signs are odd."""
    return sum(wave.startswith("-") for wave in waves) % 2 == 1
