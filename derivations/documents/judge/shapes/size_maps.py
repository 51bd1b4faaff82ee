r"""Maps of sizes, as documents write them: `512 \to 2048`, `[1, 10, 512] -> W1 -> [1, 10, 2048]`, a product of shapes.

Definition   a map takes a width to a width: as a matrix that is declared with these sizes, as letters that are set to
             these numbers, as another map beside it, or because both are the same
Result       holds where one of these says so; wrong where a matrix written on the arrow or beside it has other sizes
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sympy import Expr

from derivations.documents.judge.wording import shape_text, size_text
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import written_shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Arrow, Chain, Fence, Name, Node, Product
from derivations.documents.verdicts import Finding

__all__ = ["check_size_maps"]

_CHECK = "shapes.map"


def check_size_maps(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of a map of sizes, or of a product of shapes that stands alone."""
    chain = statement.chain
    if link is not None:
        if isinstance(chain.relations[link], Arrow):
            yield from _of_link(chain, link, statement, scope)
        return
    side = chain.sides[0]
    match side:
        case Fence(inside=Chain(relations=(Arrow(), *_)) as inner):
            yield from (
                finding for each in range(len(inner.relations)) for finding in _of_link(inner, each, statement, scope)
            )
        case Product():
            yield from _of_product(side, scope)


# --- one arrow ---


def _of_link(chain: Chain, link: int, statement: Statement, scope: Scope) -> Iterator[Finding]:
    arrow = chain.relations[link]
    before, after = (_sizes(side, scope) for side in chain.sides[link : link + 2])
    if not isinstance(arrow, Arrow):
        return
    if before is None or after is None:
        yield from _through_a_name(chain, link, scope)
        if before is None and after is not None and _is_words(chain, link):
            yield from _like_one_before(after, scope)
        return
    matrix = _on_arrow(arrow)
    if matrix is not None:
        yield _by_matrix(before, after, matrix, "the matrix on the arrow", scope)
        return
    beside = scope.shapes_beside(statement)
    if beside and all(_surely_other(before[-1], after[-1], sizes, scope) for sizes in beside):
        reason = f"the matrix beside it is {shape_text(beside[0])}"
        right = f"{size_text(beside[0][0])} → {size_text(beside[0][1])}"
        yield Finding("wrong", _CHECK, reason, right=right)
        return
    yield from _known_map(before, after, statement, scope)


def _sizes(node: Node, scope: Scope) -> tuple[Expr, ...] | None:
    if isinstance(node, Name) and not scope.document.distinctions.is_size(node.key):
        return None
    return written_shape(node.note, bare=True) if isinstance(node, Annotated) else written_shape(node, bare=True)


def _is_words(chain: Chain, link: int) -> bool:
    """Say whether the left side is a word or two, and no letter: "line 1: widen -> [1, 10, 2048]"."""
    side = chain.sides[link]
    return isinstance(side, Name) and len(side.base) > 2 and not side.subscripts


def _on_arrow(arrow: Arrow) -> tuple[Expr, ...] | None:
    for label in (arrow.above, arrow.below):
        for part in label.walk() if label is not None else ():
            found = written_shape(part)
            if found is not None and len(found) == 2:
                return found
    return None


def _by_matrix(
    before: tuple[Expr, ...], after: tuple[Expr, ...], matrix: tuple[Expr, ...], what: str, scope: Scope
) -> Finding:
    maps = f"{what} is {shape_text(matrix)}, so it takes {size_text(matrix[0])} to {size_text(matrix[1])}"
    relations = [scope.compare(a, b).relation for a, b in ((before[-1], matrix[0]), (after[-1], matrix[1]))]
    if "different" in relations and _surely_other(before[-1], after[-1], matrix, scope):
        return Finding("wrong", _CHECK, maps, right=f"{size_text(matrix[0])} → {size_text(matrix[1])}")
    if "different" in relations:
        return Finding("conditional", _CHECK, maps, assumptions=("the matrix stands on the left of a column",))
    if "unsure" in relations:
        return Finding("conditional", _CHECK, maps, assumptions=(f"{size_text(before[-1])} = {size_text(matrix[0])}",))
    return Finding("holds", _CHECK, maps)


def _surely_other(before: Expr, after: Expr, matrix: tuple[Expr, ...], scope: Scope) -> bool:
    """Say whether a matrix maps these widths neither as it stands nor transposed."""
    for first, second in (matrix[-2:], matrix[:-3:-1]):
        if "different" not in (scope.compare(before, first).relation, scope.compare(after, second).relation):
            return False
    return True


def _through_a_name(chain: Chain, link: int, scope: Scope) -> Iterator[Finding]:
    """Judge `1300 vectors of 512 -> W1 -> 1300 vectors of 2048`: as many vectors on both sides of a matrix."""
    middle = link + 1 if isinstance(chain.sides[link + 1], Name) else link
    if not 0 < middle < len(chain.sides) - 1 or not isinstance(chain.sides[middle], Name):
        return
    if not all(isinstance(each, Arrow) for each in chain.relations[middle - 1 : middle + 1]):
        return  # `logits = [200, 100] → softmax ≈ [1.0, 0.0]` maps numbers, no sizes
    before, after = _sizes(chain.sides[middle - 1], scope), _sizes(chain.sides[middle + 1], scope)
    name = chain.sides[middle]
    if before is None or after is None or not isinstance(name, Name):
        return
    if len(before) == len(after) and len(before) > 1:
        pairs = zip(before[:-1], after[:-1], strict=True)
        if "different" in (scope.compare(a, b).relation for a, b in pairs):
            yield Finding("wrong", _CHECK, f"{name.key} acts on each vector, so there are as many on both sides")
            return
    declared = [c.declaration for c in scope.shape_candidates(name) if c.declaration.sizes and not c.far]
    sizes = tuple(size for size in declared[0].sizes or () if size is not None) if declared else ()
    if len(sizes) == 2:
        yield _by_matrix(before, after, sizes, name.key, scope)
    else:
        yield Finding("holds", _CHECK, f"{name.key} takes {size_text(before[-1])} to {size_text(after[-1])}")


def _like_one_before(after: tuple[Expr, ...], scope: Scope) -> Iterator[Finding]:
    """Judge "widened -> [1, 10, 2048]": all axes but the last as before."""
    for sizes in scope.shapes_before():
        if len(sizes) == len(after) > 1:
            relations = {scope.compare(a, b).relation for a, b in zip(sizes[:-1], after[:-1], strict=True)}
            if relations <= {"equal", "given"}:
                yield Finding(
                    "holds", _CHECK, f"{shape_text(after)}: all axes but the last are those of {shape_text(sizes)}"
                )
                return


def _known_map(
    before: tuple[Expr, ...], after: tuple[Expr, ...], statement: Statement, scope: Scope
) -> Iterator[Finding]:
    """Find something in reach that maps the one width to the other."""
    whole_before, whole_after = _product(before), _product(after)
    said = f"{size_text(before[-1])} to {size_text(after[-1])}"
    if scope.compare(whole_before, whole_after).relation in ("equal", "given") and _is_known(whole_after, scope):
        yield Finding("holds", _CHECK, f"{' × '.join(map(size_text, before))} = {' × '.join(map(size_text, after))}")
        return
    for sizes in scope.shapes_beside(statement) + scope.matrices():
        if _is(before[-1], sizes[0], scope) and _is(after[-1], sizes[1], scope):
            yield Finding("holds", _CHECK, f"a matrix of {shape_text(sizes)} takes {said}")
            return
    if _is_known(before[-1], scope) and _is_known(after[-1], scope):
        yield Finding("holds", _CHECK, f"both widths are set in this section: {said}")


def _product(sizes: tuple[Expr, ...]) -> Expr:
    total = sizes[0]
    for size in sizes[1:]:
        total = total * size
    return total


def _is(first: Expr, second: Expr, scope: Scope) -> bool:
    return scope.compare(first, second).relation in ("equal", "given")


def _is_known(size: Expr, scope: Scope) -> bool:
    """Say whether a size is a letter that was explained, or a number that a letter is set to."""
    if size.free_symbols:
        return all(scope.document.distinctions.is_size(getattr(each, "name", "")) for each in size.free_symbols)
    return scope.is_set(size)


# --- products of shapes ---


def _of_product(side: Product, scope: Scope) -> Iterator[Finding]:
    r"""Judge `(n \times d) \cdot (d \times m)`."""
    shapes = [written_shape(factor) for factor in side.factors]
    known = [shape for shape in shapes if shape is not None and len(shape) == 2]
    if len(known) != len(shapes) or not set(side.operators) <= {"dot", "times", "at", "", "star"}:
        return
    relations = [(a[1], b[0], scope.compare(a[1], b[0]).relation) for a, b in pairwise(known)]
    bad = next(((a, b) for a, b, relation in relations if relation == "different"), None)
    if bad is not None:
        yield Finding("wrong", _CHECK, f"the inner sizes {size_text(bad[0])} and {size_text(bad[1])} differ")
    elif all(relation in ("equal", "given") for _, _, relation in relations):
        yield Finding("holds", _CHECK, f"the inner sizes agree: {shape_text((known[0][0], known[-1][1]))}")
