"""The conditions that the equations of a layer put on sizes and values, found once for each layer.

Result       `axes_to_check`   the axes whose length may not be a whole number
             `divisors`        the sizes that divide: they must not be 0
             `token_bounds`    the arrays that choose rows, each with the number of rows to choose from
             `scores`          the inputs that occur only as summands of the argument of a softmax: -inf hides a key
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from sympy import Basic, Expr, Integer, Pow, Symbol

from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Lookup, RowLogSumExp, RowMean, RowSoftmax, RowSum
from derivations.language.arrays.routing import RoutedOuter, RoutedProduct
from derivations.language.arrays.selection import AddedEntries, AddedPicks, Chosen, OneHot, Pick, ScatterRows
from derivations.language.arrays.shapes import Axis, total
from derivations.language.layers.layer import Apply, Layer
from numeric.runtime.structure import applications

__all__ = ["axes_to_check", "divisors", "scores", "token_bounds"]

MOVED = (ColumnBroadcast, Member, RowBroadcast, Transpose)  # they only move the entries of their first argument


@lru_cache(maxsize=1024)
def axes_to_check(layer: Layer) -> tuple[tuple[str, Axis], ...]:
    """Return the axes in a layer and its parts whose length is an expression, each with the name of a variable."""
    own = [(name, along) for name, shape in layer.shapes.items() for along in shape]
    asked = [(name, along) for name, along in own if not isinstance(total(along), Symbol | Integer)]
    inner = [each for node in applications(layer) for each in axes_to_check(node.layer)]
    # reversed: of several variables with one axis, the first one names it
    return tuple({along: (name, along) for name, along in [*inner, *asked][::-1]}.values())


@lru_cache(maxsize=1024)
def divisors(layer: Layer) -> tuple[tuple[str, str, Expr], ...]:
    """Return the expressions that must not be 0 in a layer and its parts: a variable, its operation, the expression."""
    values = {equation.variable: equation.value for equation in layer.equations}
    found: list[tuple[str, str, Expr]] = []
    for variable, value in values.items():
        found += [(variable.name, what, below) for what, below in _divisors_in(value, values, set(layer.sizes))]
    found += [each for node in applications(layer) for each in divisors(node.layer)]
    return tuple({below: (name, what, below) for name, what, below in found[::-1]}.values())


def _divisors_in(node: Basic, values: Mapping[Variable, Array], sizes: set[Symbol]) -> Iterator[tuple[str, Expr]]:
    match node:
        case RowMean():
            yield "is a mean over", total(node.args[0].shape[-1])
        case RowLogSumExp():
            yield "is a log-sum-exp over", total(node.args[0].shape[-1])
        case Pow() if (
            node.exp.could_extract_minus_sign() and node.base.free_symbols and node.base.free_symbols <= sizes
        ):
            yield "divides by a power of", node.base
        case Elementwise():
            function, *arrays = node.args
            below = {p.base for p in function.formula.expr.atoms(Pow) if p.exp.could_extract_minus_sign()}
            for place, array in zip(function.formula.variables, arrays, strict=True):
                for along in _summed(array, values) if place in below else ():
                    yield "divides by a sum over", total(along)
    for part in node.args:
        if not isinstance(part, Layer):
            yield from _divisors_in(part, values, sizes)


def _summed(node: Basic, values: Mapping[Variable, Array]) -> Iterator[Axis]:
    """Yield the axes that an array is summed over: where such an axis is empty, the array is 0."""
    match node:
        case Variable() if node in values:
            yield from _summed(values[node], values)
        case RowSum():
            yield node.args[0].shape[-1]
            yield from _summed(node.args[0], values)
        case Product():
            yield node.args[0].shape[-1]
            for factor in node.args:
                yield from _summed(factor, values)
        case _ if isinstance(node, MOVED):
            yield from _summed(node.args[0], values)


@lru_cache(maxsize=1024)
def token_bounds(layer: Layer) -> tuple[tuple[Array, Axis], ...]:
    """Return each array that chooses rows, or entries of rows, with the number of rows to choose from.

    Definition   an array of integers that an equation computes from others entry by entry is replaced by its expression
    """
    found: list[tuple[Array, Axis]] = []
    for equation in layer.equations:
        found += _bounds_in(equation.value)
    made = {e.variable: e.value for e in layer.equations if e.over is None and isinstance(e.value, Elementwise)}
    found = [(made.get(tokens, tokens), bound) for tokens, bound in found]
    for node in applications(layer):
        arguments = dict(zip(node.layer.inputs, node.arguments, strict=True))
        for tokens, bound in token_bounds(node.layer):
            if tokens.atoms(Variable) <= {*arguments}:
                found.append((tokens.xreplace(arguments), bound))
    return tuple(dict.fromkeys(found))


def _bounds_in(node: Basic) -> Iterator[tuple[Array, Axis]]:
    match node:
        case Lookup() | Chosen():
            yield node.args[1], node.args[0].shape[0]
        case Pick():
            yield node.args[1], node.args[0].shape[1]
        case OneHot():
            yield node.args[0], node.args[1]
        case RoutedProduct():
            yield node.args[2], node.args[1].shape[0]
        case RoutedOuter():
            yield node.args[2], node.args[3]
        case ScatterRows() | AddedEntries() | AddedPicks():
            yield node.args[1], node.args[2]
    for part in node.args:
        if not isinstance(part, Layer):
            yield from _bounds_in(part)


@lru_cache(maxsize=1024)
def scores(layer: Layer) -> frozenset[Variable]:
    """Return the inputs that only occur as summands of the argument of a softmax: an entry -inf hides a key."""
    uses: dict[Variable, list[bool]] = defaultdict(list)
    for output in layer.outputs:
        # a caller may do anything with an output
        uses[output].append(False)
    # backwards: every reader of a variable is seen before the equation that defines it
    for equation in reversed(layer.equations):
        known = uses[equation.variable]
        for variable, in_softmax in _uses(equation.value, bool(known) and all(known)):
            uses[variable].append(in_softmax)
    return frozenset(variable for variable in layer.inputs if uses[variable] and all(uses[variable]))


def _uses(node: Basic, in_softmax: bool) -> Iterator[tuple[Variable, bool]]:
    """Yield the variables in an expression, each with whether it is a summand of the argument of a softmax."""
    match node:
        case Variable():
            yield node, in_softmax
        case RowSoftmax():
            yield from _uses(node.args[0], True)
            for mask in node.args[1:]:
                yield from _uses(mask, False)
        case Plus():
            for term in node.args:
                yield from _uses(term, in_softmax)
        case Apply():
            inside = scores(node.layer)
            for inner, argument in zip(node.layer.inputs, node.arguments, strict=True):
                yield from _uses(argument, inner in inside)
            for value in node.bound.values():
                yield from _uses(value, False)
        case _ if isinstance(node, MOVED):
            yield from _uses(node.args[0], in_softmax)
        case _:
            for part in node.args:
                if not isinstance(part, Layer):
                    yield from _uses(part, False)
