r"""The matrix behind heads side by side: `Concat(head_1, ..., head_h) W^O` with W^O of h d_v rows, not of d_v.

Definition   heads side by side are as wide as all of them together, so that the matrix behind them has as many rows
Result       wrong where its declared rows are the width of one head: of keys, of values, or of a head by its name, or
             what the section sets to a share of another width
Assumes      the letter of that width is divided nowhere near: d_v / h may be the width of a head as well
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Symbol

from derivations.documents.judge.wording import size_text
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import CONCATENATION, folded
from derivations.documents.scope.letters import last_index
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Dots, Name, Node, Product, Quotient, Space
from derivations.documents.verdicts import Finding

__all__ = ["check_joined_heads"]

CHECK = "shapes.declared"
WIDTHS_OF_ONE = ("key width", "value width", "head width")


def check_joined_heads(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a matrix which is declared with the rows of one head stands behind several."""
    if link is None or statement.chain.relations[link] != "∈":
        return
    weight, space = statement.chain.sides[link : link + 2]
    sizes = scope.written(space) if isinstance(space, Space) else None
    if not isinstance(weight, Name) or sizes is None or len(sizes) != 2 or not isinstance(sizes[0], Symbol):
        return
    rows = sizes[0]
    for other in scope.document.used_in(weight, statement):
        heads = next((each for side in other.chain.sides for each in _heads_before(weight, side)), None)
        if heads is not None and _is_of_one(rows, scope) and not _is_shared_out(rows, statement, scope):
            reason = f"{weight.key} stands behind {size_text(heads)} heads side by side, and has the rows of one"
            yield Finding("wrong", CHECK, reason, size_text(heads * rows) + f" × {size_text(sizes[1])}")
            return


def _heads_before(weight: Name, side: Node) -> Iterator[Expr]:
    """Yield how many heads stand side by side before a matrix: `Concat(head_1, ..., head_h) W^O`."""
    for part in side.walk():
        match part:
            case Product(factors=(*_, Call(function=function, arguments=(_, *_, last) as items), Name() as behind)):
                count = last_index(last)
                if behind == weight and folded(function) in CONCATENATION and any(isinstance(i, Dots) for i in items):
                    yield from (count,) if isinstance(count, Symbol) else ()


def _is_of_one(rows: Symbol, scope: Scope) -> bool:
    """Say whether a size is the width of one head, by its name, by what it is called, or as a share of another."""
    known = scope.document.distinctions
    if any(known.is_called(rows.name, meaning) for meaning in WIDTHS_OF_ONE):
        return True
    shares = (each for each in scope.definitions(Name(rows.name)) if isinstance(each, Quotient))
    return any(isinstance(each.numerator, Name) and isinstance(each.denominator, Name) for each in shares)


def _is_shared_out(rows: Symbol, statement: Statement, scope: Scope) -> bool:
    """Say whether a size is divided in a formula around, or in a shape."""
    divided = any(
        isinstance(part, Quotient)
        and any(isinstance(each, Name) and each.key == rows.name for each in part.numerator.walk())
        for other in scope.document.used_in(Name(rows.name), statement)
        for side in other.chain.sides
        for part in side.walk()
    )
    shapes = (size for sizes in scope.matrices() for size in sizes if rows in size.free_symbols)
    return divided or any(size.as_numer_denom()[1] != 1 for size in shapes)
