r"""Checks of shapes: products must conform, terms and sides must agree, and declarations must match results.

Definition   looks at equations, at declarations (`X \in \mathbb{R}^{n \times d}`, `W1: [512, 2048]`), and at shapes
             that stand beside what they are the shape of
Result       holds where all shapes are known and fit; conditional where they fit under an assumption that is named;
             wrong where two sizes are surely different under every reading; nothing where too little is known
Assumes      see `derivations.documents.scope.inference` for the readings, and `fitting` for who is to blame
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from derivations.documents.judge.shapes.declared_shapes import of_membership, of_mention
from derivations.documents.judge.shapes.fitting import Fit, fit, is_equation
from derivations.documents.judge.shapes.shape_findings import fitting, misfit
from derivations.documents.scope import Scope
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import flat, is_index, of_entries
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Entry,
    List,
    MatrixLiteral,
    Name,
    Node,
    Product,
    Quotient,
    Space,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_shapes"]


def check_shapes(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about shapes in one link of a statement, or in a statement without links."""
    mention = scope.document.mention(statement)
    if mention is not None:
        yield from of_mention(mention, statement, scope)
    elif link is None:
        yield from _of_expression(statement, scope)
    else:
        relation = statement.chain.relations[link]
        left, right = statement.chain.sides[link : link + 2]
        if relation == "∈" and isinstance(right, Space):
            yield from of_membership(left, right, statement, scope)
        elif is_equation(relation):
            yield from _of_equation((left, right), link, statement, scope)


# --- equations ---


def _of_equation(sides: Sequence[Node], link: int, statement: Statement, scope: Scope) -> Iterator[Finding]:
    code = statement.passage.syntax == "code"
    found = fit(sides, scope, code)
    if found.clashes:
        if link and fit(sides[:1], scope, code).clashes:
            return  # the link before has said it
        if code and _may_multiply_matrices(sides):
            return
        yield misfit(sides, found, statement, scope, code)
        return
    shape = found.shapes[1]
    known = found.inference.sizes.compared or (found.inference.notes and found.inference.met)
    tells = known or (found.aside and shape.last is not None)
    told = _is_computed(sides[1]) and _is_told_by_shapes(sides) and not _is_vague(sides[1], found, code)
    if told and (shape.complete or (shape.complete is None and tells)):
        yield fitting(found, shape)


def _may_multiply_matrices(sides: Sequence[Node]) -> bool:
    """Return whether `*` stands between factors, which multiplies matrices where they are of `np.matrix`."""
    return any(isinstance(part, Product) and "star" in part.operators for side in sides for part in side.walk())


def _is_told_by_shapes(sides: Sequence[Node]) -> bool:
    """Return whether fitting shapes support a formula: a definition, but not an identity or literal numbers."""
    left = sides[0].of if isinstance(sides[0], Annotated) else sides[0]
    if isinstance(left, Name) and _has_another_index(left, sides[1]):
        return False
    literal = [node for side in sides for node in side.walk() if isinstance(node, List | MatrixLiteral)]
    if literal:
        return any(isinstance(inner, Name) for node in literal for inner in node.walk())
    return isinstance(left, Name | Call | Entry)


def _has_another_index(left: Name, right: Node) -> bool:
    """Return whether a letter is defined by itself at an unbound index of the right side: X_{k+1} by X_j."""
    own = {part.key for each in left.subscripts for part in each.walk() if isinstance(part, Name)}
    bound = {index.key for part in right.walk() if isinstance(part, Aggregate) for index in part.index}
    places = (part.subscripts for part in right.walk() if isinstance(part, Name) and part.base == left.base)
    indices = (each for group in places for each in flat(group) if isinstance(each, Name) and is_index(each))
    return bool(own) and any(each.key not in own | bound for each in indices)


def _is_vague(side: Node, found: Fit, code: bool) -> bool:
    """Return whether a side divides a number by a matrix, or squares a letter of unknown shape."""
    return not code and any(_is_vague_part(part, found.inference) for part in side.walk())


def _is_vague_part(part: Node, inference: Inference) -> bool:
    match part:
        case Quotient(numerator=above, denominator=below):
            matrix = inference.shape(below).rank == 2 and not of_entries(below)
            return matrix and inference.shape(above).is_scalar
        case Product(factors=factors):
            squares = (first for first, second in pairwise(factors) if first == second and isinstance(first, Name))
            return any(inference.shape(each).open for each in squares)
    return False


def _is_computed(node: Node) -> bool:
    """Return whether a side computes something, so that its shape is a result; a single name does not."""
    return not isinstance(node, Name)


def _stands_side_by_side(node: Node, scope: Scope) -> bool:
    """Return whether arrays with the same rows stand side by side as blocks of a matrix, `[W^Q W^K W^V]`."""
    if not isinstance(node, Product) or len(node.factors) < 3 or any(node.operators):
        return False
    shapes = [scope.shape(each) if isinstance(each, Name) else None for each in node.factors]
    return all(shape and shapes[0] and shape[:-1] == shapes[0][:-1] for shape in shapes)


def _of_expression(statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about a formula without a relation, whose products may be impossible."""
    side = statement.chain.sides[0]
    if statement.is_equivalent or _stands_side_by_side(side, scope):
        return
    code = statement.passage.syntax == "code"
    found = fit((side,), scope, code)
    if found.clashes:
        yield replace(misfit((side,), found, statement, scope, code), said="unknown", repair=None)
    elif isinstance(side, Annotated) and found.shapes[0].complete:
        yield fitting(found, found.shapes[0])
