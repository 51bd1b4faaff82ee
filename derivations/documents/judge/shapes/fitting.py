"""Whether a formula fits the declared shapes of its letters, under some reading.

Definition   a reading gives every letter one of the shapes that are declared in reach; a formula fits if one reading
             leaves no two sizes that should be the same and surely are not
Result       `fit` gives the best reading, with the declarations that it leaves aside
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product
from typing import TypeGuard

from sympy import Expr

from derivations.documents.judge.shapes.projected_letters import projected_letters
from derivations.documents.scope import Candidate, Scope
from derivations.documents.scope.inference import Inference, Reading
from derivations.documents.scope.letters import flat
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Clash, Shape
from derivations.documents.scope.shape_rules import shape_of_part
from derivations.documents.syntax import (
    EQUATIONS,
    Aggregate,
    Chain,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Product,
    Sum,
)

__all__ = ["Fit", "fit", "fits_with", "is_equation", "read_sides"]

_MOST_READINGS = 16


@dataclass(frozen=True)
class Fit:
    """The best reading of some sides of a formula, and the declarations that it leaves aside."""

    inference: Inference
    shapes: tuple[Shape, ...]
    aside: tuple[Candidate, ...] = ()

    @property
    def clashes(self) -> Sequence[Clash]:
        """The sizes that should be equal and are not."""
        return self.inference.clashes


def is_equation(relation: object) -> bool:
    """Return whether a relation makes two sides equal, as = and := do."""
    return relation in EQUATIONS


def fit(sides: Sequence[Node], scope: Scope, code: bool = False) -> Fit:
    """Return the best reading of one side, or of two sides that are said to be equal."""
    first = read_sides(sides, scope, {}, code)
    if not first.clashes:
        return _supposing(first, sides, scope, code)
    names = [(key, scope.shape_candidates(name)) for key, name in first.inference.met.items()]
    inputs = projected_letters(sides, scope)
    open_names = [(key, found) for key, found in names if len(found) > 1 or (found and (found[0].far or key in inputs))]
    kept = _against_the_others(sides, scope)
    options = [
        [*enumerate(found)]
        + ([(-1, None)] if key in inputs or (found[0].far and not (kept and found[0].beside)) else [])
        for key, found in open_names
    ]
    for picks in islice(product(*options), 1, _MOST_READINGS):
        choice: dict[str, Shape] = {}
        aside: list[Candidate] = []
        for (key, found), (number, picked) in zip(open_names, picks, strict=True):
            sizes = picked.declaration.sizes if picked is not None else None
            choice[key] = UNKNOWN if sizes is None else Shape(sizes)
            aside.extend(each for each in found[:1] if number != 0)
        reading = read_sides(sides, scope, choice, code)
        if not reading.clashes:
            return replace(reading, aside=tuple(aside))
    return first


def _against_the_others(sides: Sequence[Node], scope: Scope) -> bool:
    """Return whether these products have weights on one side, and all others of the document on the other side."""
    own = scope.document.votes_of(Chain(tuple(sides)))
    others = scope.document.votes.everywhere - own
    return len(own) == len(others) == 1 and own.keys() != others.keys()


def _supposing(plain: Fit, sides: Sequence[Node], scope: Scope, code: bool) -> Fit:
    """Return a reading that takes undeclared letters as vectors, or as matrices of rows or of columns.

    Result       the first of the readings that fits and tells the shape; if none fits, the first, with its clashes
    Assumes      a small letter is no matrix where another summand tells the shape, as b does in W x + b
    """
    if not plain.inference.met:
        return plain
    if plain.shapes[-1].complete is not None:
        vectors = read_sides(sides, scope, {}, code, "vectors")
        names = {node.key: node for side in sides for node in side.walk() if isinstance(node, Name)}
        small = all(_is_small(names[key]) for key in vectors.inference.assumed if key in names)
        return vectors if vectors.clashes and vectors.inference.assumed and small else plain
    orders: tuple[Reading, ...] = ("vectors", "rows", "columns")
    if scope.convention == "columns":
        orders = ("vectors", "columns", "rows")
    readings = [read_sides(sides, scope, {}, code, unknown_as) for unknown_as in orders]
    fitting = [reading for reading in readings if not reading.clashes]
    known = [reading for reading in fitting if reading.shapes[-1].last is not None]
    certain = not plain.shapes[-1].open or any(reading.inference.assumed for reading in readings)
    if fitting or not certain:
        return (known or fitting or [plain])[0]
    return readings[0]


def read_sides(
    sides: Sequence[Node], scope: Scope, choice: dict[str, Shape], code: bool, unknown_as: Reading | None = None
) -> Fit:
    """Infer the shapes of one side, or of two equal sides, with the shapes of some letters given."""
    own = sides[0] if len(sides) == 2 else None
    unfolding = [own.key] if isinstance(own, Name) else []
    alike = frozenset(pair for side in sides for pair in _summed_together(side, scope))
    supposed = sides if unknown_as is not None else ()
    numbers = dict.fromkeys((key for side in supposed for key in _coefficients(side)), SCALAR)
    inference = Inference(scope, shape_of_part, choice, code, unknown_as, alike, unfolding, assumed=numbers)
    shapes = tuple(map(inference.shape, sides))
    if len(shapes) == 2 and not inference.clashes:
        _relate(inference, sides[0], sides[1], shapes[0], shapes[1])
    return Fit(inference, tuple(map(inference.sizes.settled, shapes)))


def _coefficients(side: Node) -> Iterator[str]:
    """Yield the coefficients a and b of a V + b U, which are scalars unless a shape is declared for them."""
    for node in side.walk():
        products = [term for term in node.terms if isinstance(term, Product)] if isinstance(node, Sum) else []
        pairs = [product.factors for product in products if len(product.factors) == 2]
        found = {
            first.key
            for first, second in pairs
            if _is_small(first) and isinstance(second, Name) and second.base.isupper()
        }
        if len(found) > 1:
            yield from found


def _is_small(node: Node) -> TypeGuard[Name]:
    return isinstance(node, Name) and len(node.base) == 1 and node.base.islower() and not node.subscripts


def _summed_together(side: Node, scope: Scope) -> Iterator[frozenset[Expr]]:
    r"""Yield pairs of sizes that one summation index runs over: n and m of `\sum_i Q_{ik} K_{il}`."""
    for node in side.walk():
        if not isinstance(node, Aggregate) or not node.index:
            continue
        ranges: dict[Node, list[Expr]] = {index: [] for index in node.index}
        for part in node.body.walk():
            indices = flat(part.subscripts) if isinstance(part, Name) else ()
            if len(indices) != 2 or not isinstance(part, Name):
                continue
            whole = scope.shape_candidates(replace(part, subscripts=()))
            sizes = (whole[0].declaration.sizes if whole else None) or ()
            for index, size in zip(indices, sizes, strict=False):
                if index in ranges and size is not None and len(sizes) == 2:
                    ranges[index].append(size)
        for found in ranges.values():
            yield from (frozenset(pair) for pair in pairwise(found[:8]))


def _relate(inference: Inference, left: Node, right: Node, a: Shape, b: Shape) -> None:
    """Compare two sides that are said to be equal, where they have the same number of axes."""
    if isinstance(right, Number) or a.is_scalar or b.is_scalar or _writes_out(left, right):
        return
    if _is_example(left, right, a, b, inference.scope):
        return
    if not a.open and not b.open and len(a.sizes) != len(b.sizes):
        return  # a vector may stand for one row of what is computed for all rows
    for back in range(1, min(len(a.sizes), len(b.sizes)) + 1):
        first, second = a.sizes[-back], b.sizes[-back]
        if first != 1 and second != 1:
            inference.sizes.same("relation", right, left, right, a, b, first, second)


def _writes_out(left: Node, right: Node) -> bool:
    r"""Return whether a letter is written out by its own entries, `x = (x_1, \dots, x_d)`, which declares it anew."""
    if not isinstance(left, Name) or not isinstance(right, List):
        return False
    names = [item for item in right.items if isinstance(item, Name)]
    return len(names) > 1 and all(name.base == left.base and name.subscripts for name in names)


def _is_example(left: Node, right: Node, a: Shape, b: Shape, scope: Scope) -> bool:
    """Return whether a letter of symbolic shape is shown by an example: an array of numbers with unrelated sizes."""
    entries: Sequence[Node] = ()
    if isinstance(right, MatrixLiteral):
        entries = tuple(entry for row in right.rows for entry in row)
    elif isinstance(right, List):
        entries = right.items
    if not isinstance(left, Name) or not entries or not all(isinstance(each, Number | Negative) for each in entries):
        return False
    own, shown = a.complete, b.complete
    if own is None or shown is None or len(own) != len(shown) or not any(size.free_symbols for size in own):
        return False
    told = ("equal", "given")
    return not any(scope.compare(mine, other).relation in told for mine in own for other in shown)


def fits_with(sides: Sequence[Node], scope: Scope, name: Name, sizes: tuple[Expr | None, ...]) -> bool:
    """Return whether two sides fit if a letter has a given shape."""
    return not read_sides(sides, scope, {name.key: Shape(sizes)}, False).clashes
