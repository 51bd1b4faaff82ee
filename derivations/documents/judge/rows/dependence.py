r"""Which rows a row depends on: "row $i$ of the output depends only on row $i$ of the input".

Definition   of Y = X W + b, of entry by entry functions and of sums of such, row i is made of row i of X alone; of a
             product with X on the right it is made of all of them
Result       holds where the equation says so and the rows have one index; wrong where the indices differ
Assumes      the output is the left side of the last equation before, the input the array that its right side begins
             with
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.rows.row_vectors import INPUT, OUTPUT, Line, are_exchanged, line_of
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import BY_ENTRY, folded
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Call, Fence, Name, Node, Number, Product, Quotient, Sum
from derivations.documents.verdicts import Finding

__all__ = ["ONLY_ON", "check_dependence"]

CHECK = "entries.dependence"
ONLY_ON = "only on"  # the relation of what depends on nothing else
_DEPTH = 20
_ROW_BY_ROW = BY_ENTRY | {"softmax", "layernorm", "layernormalization", "rmsnorm", "ffn", "feedforward", "mlp"}


def check_dependence(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether a row depends on the row that is told alone."""
    if link is None or statement.chain.relations[link] != ONLY_ON:
        return
    made, source_row = (line_of(side) for side in statement.chain.sides[link : link + 2])
    if made is None or source_row is None or made.transposed or source_row.transposed:
        return
    for equation in scope.earlier(statement):
        left, right = _equation(equation)
        if left is None or right is None or not _is_named(made, left, OUTPUT):
            continue
        array = _first(right)
        if array is not None and _is_named(source_row, array, INPUT) and _row_by_row(right, array):
            yield from _judged(made, source_row, equation)
        return


def _judged(made: Line, source_row: Line, equation: Statement) -> Iterator[Finding]:
    text = source(equation.chain.sides[:2], equation, ("=",))
    if made.place == source_row.place:
        yield Finding("holds", CHECK, f"{text} works row by row")
    elif are_exchanged([(made, source_row)]):
        reason = f"{text} works row by row: row {made.place} is made of row {made.place}"
        yield Finding("wrong", CHECK, reason, right=f"row {made.place} of {source_row.matrix.key}")


def _equation(statement: Statement) -> tuple[Name | None, Node | None]:
    chain = statement.chain
    if chain.relations == ("=",) and isinstance(chain.sides[0], Name):
        return chain.sides[0], chain.sides[1]
    return None, None


def _is_named(line: Line, array: Name, noun: Name) -> bool:
    return line.matrix in (noun, array)


def _first(node: Node) -> Name | None:
    """Return the array that a formula begins with."""
    for _ in range(_DEPTH):
        match node:
            case Name():
                return None if is_weight(node) else node
            case Fence(inside=inside) | Annotated(of=inside) | Quotient(numerator=inside):
                node = inside
            case Product(factors=(inside, *_)) | Sum(terms=(inside, *_)) | Call(arguments=(inside,)):
                node = inside
            case _:
                return None
    return None


def _row_by_row(node: Node, array: Name, depth: int = _DEPTH) -> bool:
    """Say whether row i of a formula is made of row i of an array alone."""
    if not depth or not any(part == array for part in node.walk()):
        return depth > 0 and _is_fixed(node)
    match node:
        case Name() | Number():
            return True
        case Fence(bracket="(" | "[", inside=inside) | Annotated(of=inside):
            return _row_by_row(inside, array, depth - 1)
        case Sum(terms=terms):
            return all(_row_by_row(each, array, depth - 1) for each in terms)
        case Product(factors=(first, *others)):
            return all(map(_is_fixed, others)) and _row_by_row(first, array, depth - 1)
        case Call(function=function, arguments=(inside,)) if folded(function) in _ROW_BY_ROW:
            return _row_by_row(inside, array, depth - 1)
    return False


def _is_fixed(node: Node) -> bool:
    """Say whether a formula holds weights, biases and numbers alone."""
    return all(is_weight(part) or part.base.islower() for part in node.walk() if isinstance(part, Name))
