r"""Rows, columns and entries: "row $i$ of $Q$ is $q_i$", `(A B^T)_{ij} = a_i \cdot b_j`, column j of K^T is row j of K.

Definition   two lines of matrices, or two dot products of lines, that are said to be equal
Result       holds where they are the same line or product by algebra; conditional where a small letter is taken to be
             a row of its matrix; wrong where products of the same lines carry other indices, and of a statement in
             words where lines do; wrong is a dot product of lines that have
             not the same length
Assumes      `x_i = X[j]` picks a row, so no line of a formula is refused; other numbers may count from 0, or the rows
             of a part, so that letters alone are surely others
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from derivations.documents.judge.rows.row_vectors import TOKENS, Line, are_exchanged, dot_of, index_text, line_of
from derivations.documents.judge.rows.weighted_rows import of_weighted_sum
from derivations.documents.judge.wording import size_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Entry, Name, Node, Sum
from derivations.documents.verdicts import Finding

__all__ = ["check_entries"]

CHECK, NAMING, FIT = "entries", "entries.naming", "entries.fit"


def check_entries(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what rows and columns say of one link, or of a dot product that stands alone."""
    in_words = statement.passage.syntax == "prose"
    if link is None:
        if in_words:
            yield from _of_product(statement.chain.sides[0], scope)
        return
    if statement.chain.relations[link] not in ("=", ":=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    lines = line_of(left), line_of(right)
    if lines[0] is not None and lines[1] is not None:
        if in_words:
            yield from _of_lines(lines[0], lines[1], scope)
        return
    if lines[0] is not None and isinstance(right, Sum):
        yield from of_weighted_sum(lines[0], right)
        return
    there = dot_of(right, scope)
    here = dot_of(left, scope)
    if there is not None and here is not None:
        yield from _of_dots(here, there, scope)
    elif there is not None and isinstance(left, Entry) and isinstance(left.of, Name) and len(left.indices) == 2:
        yield from _of_naming(left, there, scope)


def _of_lines(first: Line, second: Line, scope: Scope) -> Iterator[Finding]:
    """Judge "row i of Q is q_i" and "column j of K^T is row j of K"."""
    if first.kind == second.kind and first.place == second.place:
        letter = next((each for each in (first, second) if each.by_custom), None)
        reason = f"both are {first.text}" if letter is None else f"it names {first.text}"
        yield Finding("holds", CHECK if letter is None else NAMING, reason)
        return
    same_index = first.place == second.place
    if TOKENS in (first.matrix, second.matrix):
        yield from _of_token(first, second)
    if same_index and first.by_custom != second.by_custom and _is_free(first, scope) and _is_free(second, scope):
        known = _known(first, second)
        yield Finding("holds", NAMING, f"it names {known.text}")
        return
    if first.matrix.key != second.matrix.key:
        return
    by_custom = first.by_custom or second.by_custom
    told = by_custom or (first.kind == second.kind and first.twice != second.twice)
    if told and are_exchanged([(first, second)]):
        yield Finding("wrong", CHECK, _mistaken(first, second), right=_as_said(first, second))
    elif by_custom and same_index:
        assumption = f"the vectors are the columns of {first.matrix.key}"
        yield Finding("conditional", CHECK, f"it names {_known(first, second).text}", assumptions=(assumption,))


def _of_token(first: Line, second: Line) -> Iterator[Finding]:
    """Judge "row i of V is the content of token i"; other numbers may count otherwise."""
    line, token = (second, first) if first.matrix == TOKENS else (first, second)
    if line.transposed or line.matrix == TOKENS:
        return
    if line.place == token.place:
        assumption = f"the rows of {line.matrix.key} are the tokens in order"
        yield Finding("conditional", CHECK, f"{line.text} belongs to that token", assumptions=(assumption,))
    elif are_exchanged([(line, token)]):
        reason = f"{line.text} belongs to token {line.place}, not to token {token.place}"
        yield Finding("wrong", CHECK, reason, right=f"token {line.place}")


def _is_free(line: Line, scope: Scope) -> bool:
    """Say whether a small letter may be a line of any matrix, as none has its capital letter."""
    return not line.by_custom or not scope.is_used(line.matrix)


def _known(first: Line, second: Line) -> Line:
    return second if first.by_custom else first


def _mistaken(first: Line, second: Line) -> str:
    letter, line = (first, second) if first.by_custom else (second, first)
    named = letter.letter(letter.index) if letter.by_custom else "the other"
    return f"{named} is {letter.text}, not {line.text}"


def _as_said(first: Line, second: Line) -> str:
    """Return what the second should be, as it is written."""
    return second.letter(first.index) if second.by_custom else first.text


def _of_dots(first: tuple[Line, Line], second: tuple[Line, Line], scope: Scope) -> Iterator[Finding]:
    """Judge "entry (i, j) of A B is the dot product of a_i and b_j"; small letters may be rows or columns."""
    if all(each.by_custom for each in (*first, *second)):
        return
    if all(each.by_custom and _is_free(each, scope) for each in second):
        if [each.place for each in first] == [each.place for each in second]:
            named = tuple(f"{b.letter(b.index)} is {a.text}" for a, b in zip(first, second, strict=True))
            yield Finding("conditional", CHECK, "both are one dot product", assumptions=named)
        return
    if _keys(first) != _keys(second) or first[0].matrix.key == first[1].matrix.key:
        return
    ordered = second if first[0].matrix.key == second[0].matrix.key else (second[1], second[0])
    pairs = tuple(zip(first, ordered, strict=True))
    if any(a.transposed != b.transposed and not (a.by_custom or b.by_custom) for a, b in pairs):
        return
    customs = tuple(f"{a.letter(a.index)} is {(b if a.by_custom else a).text}" for a, b in pairs if _is_custom(a, b))
    what = f"the dot product of {' and '.join((b if a.by_custom else a).text for a, b in pairs)}"
    if all(a.place == b.place for a, b in pairs):
        yield Finding("conditional" if customs else "holds", CHECK, f"both are {what}", assumptions=customs)
    elif are_exchanged(pairs):
        known = " and ".join(a.text for a in first)
        right = f"the dot product of {known}"
        yield Finding("wrong", CHECK, f"it is {right}: the indices are others", right=right)


def _keys(pair: tuple[Line, Line]) -> list[str]:
    return sorted(each.matrix.key for each in pair)


def _is_custom(first: Line, second: Line) -> bool:
    return first.by_custom or second.by_custom


def _of_naming(left: Entry, there: tuple[Line, Line], scope: Scope) -> Iterator[Finding]:
    """Judge that a name is given to a matrix of dot products, entry by entry."""
    defined = isinstance(left.of, Name) and scope.definition(left.of) is not None
    if tuple(map(index_text, left.indices)) == (there[0].place, there[1].place) and not defined:
        first, second = (f"{each.matrix.key}{'^T' * turned}" for each, turned in _factors(there))
        yield Finding("holds", CHECK, f"it is an entry of {first} {second}")


def _factors(pair: tuple[Line, Line]) -> tuple[tuple[Line, bool], tuple[Line, bool]]:
    """Return the matrices whose product has an entry, and whether they stand there transposed."""
    return (pair[0], pair[0].transposed), (pair[1], not pair[1].transposed)


def _of_product(node: Node, scope: Scope) -> Iterator[Finding]:
    """Judge a dot product of lines that is told in words: they must have the same length."""
    lines = dot_of(node, scope)
    if lines is None or isinstance(node, Entry) or all(each.by_custom for each in lines):
        return
    lengths = [_length(each, scope) for each in lines]
    if lengths[0] is None or lengths[1] is None:
        return
    relation = scope.compare(lengths[0], lengths[1]).relation
    sizes = " and ".join(f"{each.text} has {size_text(size)}" for each, size in zip(lines, lengths, strict=True))
    if relation == "equal":
        yield Finding("holds", FIT, f"the dot product is defined: {sizes} entries")
    elif relation == "different":
        yield Finding("wrong", CHECK, f"lines of different lengths have no dot product: {sizes} entries")


def _length(line: Line, scope: Scope) -> Expr | None:
    """Return how many entries a line has."""
    shape = scope.shape(line.matrix)
    return None if shape is None or len(shape) != 2 else shape[0 if line.transposed else 1]
