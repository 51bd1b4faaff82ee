r"""Matrices written as their rows: X = [x_1; ...; x_n], and a function that acts on every row of one.

Definition   rows are numbered from 1, the last perhaps by a letter, and have one name
Result       holds where the name is that of the rows by its letter, or where the matrix is declared with as many rows
             and nothing else has the capital letter; conditional where the function has another name for one row
Assumes      rows that are marked by arrows are rows; without marks entries in a column are, unless the section writes
             its vectors as columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Call, Dots, Entry, MatrixLiteral, Name, Node, Number, Words
from derivations.documents.verdicts import Finding

__all__ = ["rows_below_each_other"]

CHECK, FIT = "naming", "naming.fit"


def rows_below_each_other(left: Node, right: MatrixLiteral, statement: Statement, scope: Scope) -> Iterator[Finding]:
    r"""Judge X = [x_1; ...; x_n] with rows, and f(X) = [f(x_1); ...; f(x_n)]: numbered from 1, all of one kind."""
    if not all(len(row) == 1 for row in right.rows):
        return
    rows, names = _numbered(right)
    whole = _argument(left)
    if not names or not isinstance(whole, Name) or not _are_rows_of(whole, names, left, statement, scope):
        return
    functions = {row.function.key if isinstance(row, Call) else "" for row in rows}
    marked = any(isinstance(row[0], Annotated) for row in right.rows)
    if len(functions) != 1:
        return
    function = functions.pop()
    own = left.function.key if isinstance(left, Call) else ""
    if bool(function) != bool(own):
        return
    if not function and (marked or scope.convention != "columns"):
        yield Finding("holds", FIT, f"the rows of {whole.key} are {names[0].base}_1, {names[0].base}_2, ...")
    elif function == own:
        yield Finding("holds", FIT, f"{own} acts on every row of {whole.key}")
    elif function:
        assumption = f"{own} of one row is {function}"
        yield Finding("conditional", CHECK, f"{own} acts on every row of {whole.key}", assumptions=(assumption,))


def _numbered(matrix: MatrixLiteral) -> tuple[list[Node], list[Name]]:
    """Return the rows that are written out, and their names, none where these are not counted from 1."""
    entries = [_unmarked(row[0]) for row in matrix.rows]
    rows = [entry for entry in entries if not isinstance(entry, Dots)]
    inner = [_argument(row) for row in rows]
    names = [name for name in inner if isinstance(name, Name) and len(name.subscripts) == 1]
    numbers = [name.subscripts[0] for name in names]
    counted = [each.value for each in numbers if isinstance(each, Number)]
    in_order = counted == list(range(1, len(counted) + 1)) and len(numbers) - len(counted) <= 1
    whole = len(names) == len(rows) > 1 and len({name.base for name in names}) == 1 and in_order
    return rows, names if whole else []


def _are_rows_of(whole: Name, names: Sequence[Name], left: Node, statement: Statement, scope: Scope) -> bool:
    """Say whether names are those of the rows of a matrix: by its letter, by their number, or as they were written."""
    if whole.base.lower() == names[0].base.lower():
        return True
    shape, last = scope.shape(whole), names[-1].subscripts[0]
    if shape is None or len(shape) != 2 or size_of(last) != shape[0] or scope.is_used(Name(names[0].base.upper())):
        return False
    if left is whole:
        return True
    written = (each.chain.sides for each in scope.earlier(statement))
    matrices = [sides[1] for sides in written if len(sides) == 2 and sides[0] == whole]
    return any(isinstance(each, MatrixLiteral) and _numbered(each)[1] == list(names) for each in matrices)


def _unmarked(entry: Node) -> Node:
    return entry.of if isinstance(entry, Annotated) and isinstance(entry.note, Words) else entry


def _argument(node: Node) -> Node:
    """Return x of f(x), and x of x."""
    if isinstance(node, Call) and len(node.arguments) == 1:
        return node.arguments[0]
    return node.of if isinstance(node, Entry) else node
