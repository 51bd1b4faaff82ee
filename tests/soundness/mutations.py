"""Ways in which people get formulas wrong, as operators on expressions.

An operator takes a node and its surroundings and returns wrong versions of it; `mutants` puts each back in place of the
node, everywhere in the expression. Whether a mutant is false is not decided here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import (
    Add,
    Basic,
    Derivative,
    Expr,
    Indexed,
    Integer,
    KroneckerDelta,
    Lambda,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    log,
    sin,
    tanh,
)
from sympy.core.relational import Relational

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import (
    CausalMask,
    Elementwise,
    Hadamard,
    Named,
    RowMean,
    RowSoftmax,
    RowSum,
    exponential,
    gelu,
    relu,
    square,
)
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded, Variance
from derivations.language.arrays.shapes import ShapeError, total
from derivations.language.layers.layer import Apply, Layer
from derivations.language.results.derivation import Derivation

__all__ = ["OPERATORS", "Scope", "mutants"]


@dataclass(frozen=True)
class Scope:
    """What a mutant may be made of: the indices, sizes and arrays of the derivation."""

    indices: tuple[Symbol, ...]
    sizes: tuple[Symbol, ...]
    arrays: tuple[Variable, ...]

    @staticmethod
    def of(derivation: Derivation, *expressions: Basic) -> Scope:
        """Return what occurs in some expressions of a derivation and in its definitions."""
        parts = (*expressions, *derivation.definitions, *derivation.ranges)
        symbols = sorted({s for part in parts for s in part.atoms(Symbol)}, key=str)
        indices = [s for s in symbols if s.is_integer and s.is_positive is None and s.is_nonnegative is None]
        sizes = [s for s in symbols if s.is_integer and s.is_positive]
        bound = {e.over[0] for e in derivation.definitions if e.over}
        arrays = {node for part in parts for node in part.atoms(Variable)} | {
            e.variable for e in derivation.definitions
        }
        usable = [a for a in arrays if a.kind == "real" and isinstance(a, Variable)]
        return Scope(tuple(s for s in indices if s not in bound), tuple(sizes), tuple(sorted(usable, key=str)))


Operator = Callable[[Any, Scope], Iterator[Any]]
OPERATORS: dict[str, Operator] = {}


def operator(name: str) -> Callable[[Operator], Operator]:
    """Enter an operator under its name."""

    def enter(function: Operator) -> Operator:
        OPERATORS[name] = function
        return function

    return enter


# --- terms and factors -----------------------------------------------------------------------------------------------


@operator("sign")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Add):
        for term in node.args:
            yield node - 2 * term
    elif isinstance(node, exp | sin | tanh | erf):
        yield node.func(-node.args[0])
    elif isinstance(node, Plus):
        yield Plus(node.args[0], Scaled(Integer(-1), node.args[1]))
    elif isinstance(node, Product | Hadamard | RowSoftmax | Elementwise):
        yield Scaled(Integer(-1), node)


@operator("lost term")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Add):
        for term in node.args:
            yield node - term
    elif isinstance(node, Plus):
        yield from (a for a in node.args if not isinstance(a, RowBroadcast | ColumnBroadcast))


@operator("dropped root or factor")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Pow) and node.exp in (Rational(1, 2), Rational(-1, 2)):
        yield node.base ** (2 * node.exp)
    elif isinstance(node, Mul):
        for factor in node.args:
            if factor.is_Rational is False or factor != -1:
                yield Mul(*(other for other in node.args if other is not factor))
    elif isinstance(node, Scaled):
        yield node.args[1]
    elif isinstance(node, Hadamard) and node.args[0].shape == node.shape == node.args[1].shape:
        yield from node.args


@operator("wrong exponent")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Pow):
        yield node.base ** (node.exp + 1)
        yield node.base ** (-node.exp)
    elif isinstance(node, Indexed) or (isinstance(node, Symbol) and not node.is_integer):
        yield node**2
    elif isinstance(node, Scaled):
        yield Scaled(node.args[0] ** 2, node.args[1])
    elif isinstance(node, exp):
        yield exp(2 * node.args[0])


@operator("wrong constant")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Rational) and not isinstance(node, sympy.core.numbers.NegativeOne):
        yield node + 1
        yield node + Rational(1, max(node.q, 2))
        if node not in (0, 1):
            yield 1 / node
    elif isinstance(node, Expr) and not isinstance(node, Symbol | Indexed | Array) and node.args:
        yield node + 1
    elif isinstance(node, Array) and node.kind == "real" and not isinstance(node, Variable | Lookups):
        yield Scaled(Integer(2), node)


Lookups = RowBroadcast | ColumnBroadcast


@operator("product for sum")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Add) and len(node.args) == 2:
        yield Mul(*node.args)
    elif isinstance(node, Mul) and len(node.args) == 2 and -1 not in node.args:
        yield Add(*node.args)
    elif isinstance(node, Hadamard) and node.args[0].shape == node.args[1].shape:
        yield Plus(*node.args)
    elif isinstance(node, Plus):
        yield Hadamard(*node.args)


# --- places and axes -------------------------------------------------------------------------------------------------


@operator("index")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Indexed):
        for place, old in enumerate(node.indices):
            for index in scope.indices:
                if index != old:
                    yield node.base[tuple(index if k == place else other for k, other in enumerate(node.indices))]
            yield node.base[tuple(other + 1 if k == place else other for k, other in enumerate(node.indices))]
    elif isinstance(node, KroneckerDelta):
        first, second = node.args[:2]
        yield from (KroneckerDelta(first, index) for index in scope.indices if index not in (first, second))
    elif isinstance(node, Member):
        yield from (Member(node.args[0], index) for index in (*scope.indices, Integer(0)) if index != node.args[1])


@operator("transpose")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Indexed) and len(node.indices) == 2:
        yield node.base[node.indices[1], node.indices[0]]
    elif isinstance(node, Transpose):
        yield node.args[0]
    elif isinstance(node, Product):
        left, right = node.args
        for build in (
            lambda: Product(right, left),
            lambda: Product(left, Transpose(right)),
            lambda: Product(Transpose(left), right),
        ):
            with suppress(ShapeError):
                yield build()
    elif isinstance(node, Array) and len(node.shape) == 2 and not isinstance(node, Product):
        yield Transpose(node)


@operator("wrong axis")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, RowSoftmax | Elementwise) and len(node.shape) == 2 and isinstance(node, RowSoftmax):
        first, *masks = node.args
        yield Transpose(RowSoftmax(Transpose(first), *(Transpose(mask) for mask in masks)))
    elif isinstance(node, RowSum | RowMean) and len(node.args[0].shape) == 2:
        yield type(node)(Transpose(node.args[0]))
    elif isinstance(node, RowBroadcast):
        yield ColumnBroadcast(node.args[0], node.args[1])
    elif isinstance(node, ColumnBroadcast):
        yield RowBroadcast(node.args[0], node.args[1])
    elif isinstance(node, Sum):
        yield from _other_index_summed(node, scope)
    elif isinstance(node, CausalMask):
        yield Transpose(node)


def _other_index_summed(node: Sum, scope: Scope) -> Iterator[Any]:
    bound, low, high = node.limits[0]
    for index in scope.indices:
        if index != bound and node.function.has(index):
            swapped = node.function.xreplace({bound: index, index: bound})
            yield Sum(swapped, (bound, low, high), *node.limits[1:])


@operator("captured index")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Sum):
        bound, low, high = node.limits[0]
        for index in scope.indices:
            if index != bound and node.function.has(index):
                yield Sum(node.function.xreplace({index: bound}), (bound, low, high), *node.limits[1:])
                yield Sum(node.function.xreplace({bound: index}), (bound, low, high), *node.limits[1:])
    elif isinstance(node, Mul):
        sums = [factor for factor in node.args if isinstance(factor, Sum) and len(factor.limits) == 1]
        for one in sums:  # a factor moves under the sum, whose index it mentions or should not
            rest = Mul(*(factor for factor in node.args if factor is not one))
            bound = one.limits[0][0]
            for index in scope.indices:
                if rest.has(index):
                    yield Sum(rest.xreplace({index: bound}) * one.function, one.limits[0])
    elif isinstance(node, Lambda) and len(node.variables) == 2:
        first, second = node.variables
        yield Lambda((first, second), node.expr.xreplace({second: first}))


@operator("off-by-one bound")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Sum):
        bound, low, high = node.limits[0]
        for first, last in ((low, high - 1), (low, high + 1), (low + 1, high)):
            yield Sum(node.function, (bound, first, last), *node.limits[1:])
    elif isinstance(node, Relational) and not isinstance(node, sympy.Eq | sympy.Ne):
        yield node.func(node.lhs, node.rhs + 1, evaluate=False)
    elif isinstance(node, Concatenate | SumOver) and not node.args[2].is_Integer:
        yield type(node)(node.args[0], node.args[1], node.args[2] + 1)


@operator("swapped sizes")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Symbol) and node.is_integer and node.is_positive:
        yield from (size for size in scope.sizes if size != node)
        yield node + 1


# --- functions and names ---------------------------------------------------------------------------------------------

_OTHER = {exp: cos, sin: cos, cos: sin, tanh: erf, erf: tanh, log: exp, Max: Min, Min: Max, Expectation: Variance}
_OTHER_NAMED = (relu, gelu, square, exponential)


@operator("wrong function")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    other = _OTHER.get(type(node))
    if other is not None:
        yield other(*node.args)
    if isinstance(node, exp):
        yield 1 + node.args[0]
    elif isinstance(node, Variance):
        yield Expectation(node.args[0] ** 2)
    elif isinstance(node, Max | sympy.Abs):
        yield node.args[-1]
    elif isinstance(node, Named) and len(node.formula.variables) == 1:
        yield from (function for function in _OTHER_NAMED if function != node)
    elif isinstance(node, RowMean):
        yield RowSum(node.args[0])
    elif isinstance(node, RowSum):
        yield RowMean(node.args[0])
    elif isinstance(node, RowSoftmax):
        yield exponential(node.args[0])
    elif isinstance(node, Rounded):
        yield Rounded(node.args[0], node.args[1] + 1)


@operator("wrong array")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, Variable) and node.kind == "real":
        yield from (other for other in scope.arrays if other != node and other.shape == node.shape)
    elif isinstance(node, Indexed):
        shape = node.base.shape
        for other in scope.arrays:
            if other.base != node.base and tuple(map(total, other.shape)) == tuple(shape or ()):
                yield other.base[node.indices]
    elif isinstance(node, Derivative) and isinstance(node.variables[0], Indexed):
        yield from (Derivative(node.expr, v) for v in node.expr.atoms(Indexed) if v != node.variables[0])
    elif isinstance(node, Apply) and len(node.arguments) > 1:
        first, second, *rest = node.arguments
        yield type(node)(node.args[0], node.layer, sympy.Tuple(second, first, *rest), *node.args[3:])


@operator("lost bracket")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    if isinstance(node, KroneckerDelta | Iverson):
        yield Integer(1)
        yield 1 - node
    elif isinstance(node, RowSoftmax) and len(node.args) == 2:
        yield RowSoftmax(node.args[0])


@operator("wrong relation")
def _(node: Any, scope: Scope) -> Iterator[Any]:
    strict = {sympy.Le: sympy.Lt, sympy.Lt: sympy.Le, sympy.Ge: sympy.Gt, sympy.Gt: sympy.Ge}
    if type(node) in strict:
        yield strict[type(node)](*node.args, evaluate=False)
        yield node.func(node.rhs, node.lhs, evaluate=False)


# --- everywhere ------------------------------------------------------------------------------------------------------


def _spots(node: Basic, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Basic]]:
    """Yield every node of an expression that may be replaced, with the way to it; a layer is closed."""
    yield path, node
    if isinstance(node, Layer | Variable | Indexed) or not node.args:
        if isinstance(node, Indexed):
            for k, part in enumerate(node.args[1:], 1):
                yield from _spots(part, (*path, k))
        return
    for k, part in enumerate(node.args):
        if isinstance(node, Apply) and k != 2:
            continue
        if isinstance(part, Basic) and not (isinstance(node, Sum | Lambda | Derivative) and _binds(node, k)):
            yield from _spots(part, (*path, k))


def _binds(node: Basic, place: int) -> bool:
    return place == 0 if isinstance(node, Lambda) else place > 0


def _put(node: Basic, path: tuple[int, ...], new: Any) -> Any:
    if not path:
        return new
    place, *rest = path
    parts = [_put(part, tuple(rest), new) if k == place else part for k, part in enumerate(node.args)]
    if isinstance(node, Indexed):
        return node.base[tuple(parts[1:])]
    return node.func(*parts)


def mutants(expression: Basic, scope: Scope, source: random.Random) -> Iterator[tuple[str, Basic]]:
    """Yield (operator, wrong version) in an order that the source of randomness gives, operators taking turns."""
    spots = list(_spots(expression))
    queues = {name: [(path, node) for path, node in spots] for name in OPERATORS}
    for queue in queues.values():
        source.shuffle(queue)
    turns = sorted(OPERATORS)
    source.shuffle(turns)
    pending = {name: _applied(expression, name, queues[name], scope) for name in turns}
    while pending:
        for name in list(pending):
            found = next(pending[name], None)
            if found is None:
                del pending[name]
            elif found != expression:
                yield name, found


def _applied(expression: Basic, name: str, queue: list[tuple[tuple[int, ...], Basic]], scope: Scope) -> Iterator[Basic]:
    for path, node in queue:
        versions = OPERATORS[name](node, scope)
        while True:
            try:
                wrong = next(versions, None)
                if wrong is None:
                    break
                made = _put(expression, path, wrong)
            except (
                ValueError,
                TypeError,
                AttributeError,
                IndexError,
                KeyError,
                NotImplementedError,
                ZeroDivisionError,
            ):
                continue
            if isinstance(made, Basic) and not made.has(sympy.nan, sympy.zoo, sympy.oo):
                yield made
