r"""Products of matrices that are written out, `[a b; c d] [x; y] = [a x + b y; c x + d y]`, entry by entry.

Definition   both sides are made of matrices with all entries written, by products and transposes; letters are numbers
Result       wrong where the sides differ, and are equal for all numbers by one edit of an entry, or with the entry of
             another place there; else nothing
Assumes      no sentence makes a condition of the equation; numbers without letters are a matter of arithmetic
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from derivations.documents.budget import current_budget
from derivations.documents.canon.edits import edits
from derivations.documents.canon.places import Edit, Put, places
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.matrices.matrix_equations import COST
from derivations.documents.judge.matrices.matrix_letters import letters_in_order
from derivations.documents.judge.matrices.matrix_numbers import Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import are_alike
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Fence, MatrixLiteral, Negative, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_literal_matrices"]

CHECK = "matrices.entries"
MOST_NODES, MOST_OTHERS, MOST_EDITS, MOST_WORK = 250, 8, 160, 100_000


def check_literal_matrices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the slip in an entry of matrices that are multiplied."""
    if link is None or statement.chain.relations[link] not in ("=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    if not _is_written_out(left) or not _is_written_out(right) or all(map(_is_literal, (left, right))):
        return
    parts = [part for side in (left, right) for part in islice(side.walk(), MOST_NODES + 1)]
    names = letters_in_order(left, right)
    budget = current_budget()
    if len(parts) > MOST_NODES or not names or budget.steps - budget.spent < COST or is_condition(statement):
        return
    if any(scope.shape(name) not in (None, ()) for name in names):
        return
    kinds: Kinds = {name.key: "number" for name in names}
    values = [matrix_value(side, kinds) for side in (left, right)]
    if None in values or are_alike(*values):
        return
    end = budget.spent + MOST_WORK
    for side, wanted in ((right, values[0]), (left, values[1])):
        for entry, put in _entries(side):
            others = _others(entry, (left, right))
            for edited, slip in chain(others, islice(edits(entry, names), MOST_EDITS)):
                if budget.spent > end:
                    return
                if are_alike(matrix_value(put(edited), kinds), wanted):
                    reason = f"the two sides differ, and are equal if the entry {source((entry,), statement)} is mended"
                    yield Finding("wrong", CHECK, f"{reason}: {slip}", source((edited,), statement))
                    return


def _is_literal(node: Node) -> bool:
    return isinstance(node, MatrixLiteral) or (isinstance(node, Fence) and _is_literal(node.inside))


def _is_written_out(node: Node) -> bool:
    """Say whether a side is made of matrices with all entries written."""
    match node:
        case MatrixLiteral():
            return True
        case Fence(bracket="(" | "[", inside=inside) | Transpose(operand=inside):
            return _is_written_out(inside)
        case Product(factors=factors):
            return all(map(_is_written_out, factors))
    return False


def _entries(side: Node) -> Iterator[tuple[Node, Put]]:
    """Yield the entries of the matrices of a side, with what puts another one in its place."""
    for node, put in places(side):
        if not isinstance(node, MatrixLiteral):
            continue
        for number, row in enumerate(node.rows):
            for column, entry in enumerate(row):
                yield entry, _putting(node, number, column, put)


def _others(entry: Node, sides: Sequence[Node]) -> Iterator[Edit]:
    """Yield the other entries that stand in the matrices, and minus each of them."""
    others = dict.fromkeys(other for side in sides for other, _ in _entries(side) if other != entry)
    for other in islice(others, MOST_OTHERS):
        yield other, "the entry is that of another place"
        yield Negative(Fence("(", other)), "the entry is minus that of another place"


def _putting(matrix: MatrixLiteral, number: int, column: int, put: Put) -> Put:
    rows, row = matrix.rows, matrix.rows[number]

    def put_entry(new: Node) -> Node:
        changed = (*row[:column], new, *row[column + 1 :])
        return put(replace(matrix, rows=(*rows[:number], changed, *rows[number + 1 :])))

    return put_entry
