"""The correctness of a gradient, as claims for the judge.

There are two equivalent forms. `whole_claims` states that each gradient is the derivative of <dY, Y>, with everything
unfolded. `local_claims` states this equation by equation, with uninterpreted names. Together with the chain rule, which
sums the terms of all uses of a variable, it proves the gradients of layers that are too large to unfold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from typing import Any

from sympy import (
    Abs,
    Add,
    Derivative,
    Dummy,
    Eq,
    Expr,
    Ge,
    Gt,
    Lambda,
    Max,
    Min,
    Mod,
    Ne,
    Pow,
    Sum,
    Symbol,
    fraction,
    log,
    sign,
)
from sympy.core.relational import Relational

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Member, Plus, Scaled, Shape, Variable
from derivations.language.arrays.functions import Elementwise, Lookup, RowSoftmax
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.arrays.selection import (
    Chosen,
    Pick,
)
from derivations.language.arrays.shapes import Axis, Blocks, Pair, Place, flat, join, total
from derivations.language.differentiation.cancelling import cancelling
from derivations.language.differentiation.preparation import prepared, read_by
from derivations.language.differentiation.reverse import (
    Contribution,
    contributions,
    cotangent_prefix,
    depending,
    passes,
)
from derivations.language.layers.layer import Apply, Equation, Layer
from derivations.language.layers.names import fresh_name
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, step

__all__ = ["inner_product", "local_claims", "smoothness", "whole_claims"]

_LETTERS = ("i", "j", "k", "l", "p", "q", "r", "s", "t", "u", "v", "w")


@dataclass
class Places:
    """Indices for the axes of shapes: one letter for each size, and another if a shape has the size twice."""

    suffix: str = ""
    ranges: dict[Symbol, Expr] = field(default_factory=dict)
    _letters: dict[tuple[Expr, int], Symbol] = field(default_factory=dict)

    def of(self, shape: Iterable[Axis]) -> list[Place]:
        """Return one index for every axis of a shape. On an axis of blocks it is a pair."""
        seen: dict[Expr, int] = {}

        def index(size: Expr) -> Symbol:
            # an array of shape (n, n) needs two letters for the one size
            seen[size] = seen.get(size, 0) + 1
            key = (size, seen[size])
            if key not in self._letters:
                name = _LETTERS[len(self._letters)] + self.suffix
                self._letters[key] = Symbol(name, integer=True)
                self.ranges[self._letters[key]] = size
            return self._letters[key]

        blocks = [_sizes_of(along) for along in shape]
        indices = [tuple(map(index, sizes)) for sizes in blocks]
        return [
            Pair(*pair, sizes[1]) if len(pair) == 2 else pair[0] for pair, sizes in zip(indices, blocks, strict=True)
        ]


def inner_product(g: Array, value: Callable[..., Expr], shape: Iterable[Axis]) -> Expr:
    """Return <g, Y>, the sum of g times Y over all indices. `value` returns the entry of Y at given indices."""
    places = Places("_1")  # the suffix keeps these indices apart from those at which a gradient is read
    at = places.of(shape)
    term = g.entry(*at) * value(*at)
    return Sum(term, *((index, 0, size - 1) for index, size in reversed(places.ranges.items()))) if at else term


def whole_claims(layer: Layer) -> Derivation:
    """Return the claims that every gradient of a layer is the derivative of <dY, Y>, with everything unfolded.

    Assumes      the layer applies no other layer that has weights
    """
    forward, both = prepared(layer), passes(layer)
    products = [
        inner_product(g, output.entry, output.shape) for g, output in zip(both.given, layer.outputs, strict=True)
    ]
    definitions = {e.variable: e for e in (*forward.equations, *both.forward, *both.backward)}
    real = [v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"]
    places, claims = Places(), []
    for variable, slope in zip(real, both.outputs, strict=True):
        found = definitions[slope]
        shape = (*([found.over[1]] if found.over else []), *found.value.shape)  # it may have axes of blocks
        at = places.of(map(join, variable.shape, shape))
        # the sum over all outputs: a variable may reach the loss through each of them
        claims.append(claim(Derivative(Add(*products), variable.entry(*at)), step("chain rule", slope.entry(*at))))
    assumptions = [*whole_sizes(layer), *(a for e in forward.equations for a in smoothness(e))]
    return derivation(
        f"The gradient of {layer.name}",
        *claims,
        about=tuple(definitions.values()),
        ranges=places.ranges,
        assuming=assumptions,
    )


def local_claims(layer: Layer) -> Derivation:
    """Return the claims that the terms of every equation of a layer are the derivatives of <g, value>.

    Definition   names are uninterpreted: only the right-hand side of the equation is known. An equation that applies a
                 layer has no claim here, because its gradient is proved with that layer. A largest entry that
                 cancels has the claims that no output depends on it
    """
    forward = prepared(layer)
    prefix = cotangent_prefix(forward)
    active = depending(forward, {v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"})
    places, claims = Places(), list(_of_cancelling(forward))
    for equation in forward.equations:
        used = read_by(equation.value) & active
        if equation.value.has(Apply) or not used or equation.variable not in active:
            continue
        given = tuple(smoothness(equation))
        by_law = isinstance(equation.value, Recurrence) and equation.value.is_by_law
        found = (_of_law if by_law else _of_equation)(equation, prefix, used, places)
        claims += [replace(c, given=given) for c in found]
    return derivation(
        f"The gradient of {layer.name}, equation by equation",
        *claims,
        ranges=places.ranges,
        assuming=whole_sizes(layer),
    )


def _of_cancelling(forward: Layer) -> Iterator[Claim]:
    """Yield a claim for each largest entry that cancels: another number in its place changes no value."""
    for largest, free in cancelling(forward).items():
        other = Variable(fresh_name(f"{largest.name}_other", set(forward.shapes)), largest.shape)
        for variable, value in free.items():
            # a value that is equal for any two numbers in this place does not depend on it
            changed = replace_free(value, {largest: other})
            given = (a for each in (value, changed) for a in smoothness(Equation(variable, each)))
            yield replace(claim(value, step("algebra", changed)), given=tuple(given))


def _of_equation(equation: Equation, prefix: str, used: set[Variable], places: Places) -> Iterator[Claim]:
    variable = equation.variable
    g = Variable(prefix + variable.name, variable.shape)
    target = Member(g, equation.over[0]) if equation.over else g
    # the gradient for one equation is the derivative of <g, value>, with g the gradient for its target
    product = inner_product(g, equation.value_at, variable.shape)
    yield from _of_terms(product, contributions(equation, target, used, equation.value), places)


def _of_law(equation: Equation, prefix: str, used: set[Variable], places: Places) -> Iterator[Claim]:
    """Yield the claims for a recurrence with a rank-one part. They cover its relation at all positions at once.

    The states H and their gradient G, by all that reads them, are uninterpreted. G_t is what reads H_t from outside,
    g_t, and what the law at the next position reads of it: that is the law of the recurrence in the other direction,
    of which G is the solution. The gradients for what the law reads are those of <G, law(H)>, where H is kept.
    """
    node, states = equation.value, equation.variable
    g = Variable(prefix + states.name, states.shape)
    carried = node.transposed(g)
    G = Variable(fresh_name(f"{g.name}_carried", {v.name for v in node.atoms(Variable)}), states.shape)
    by_the_law = inner_product(G, node.law(states).entry, states.shape)
    at = places.of(states.shape)
    both = inner_product(g, states.entry, states.shape) + by_the_law
    yield claim(Derivative(both, states.entry(*at)), step("chain rule", carried.law(G).entry(*at)))
    parts = [replace(part, value=replace_free(part.value, {carried: G})) for part in contributions(equation, g, used)]
    yield from _of_terms(by_the_law, parts, places)


def _of_terms(product: Expr, terms: Iterable[Contribution], places: Places) -> Iterator[Claim]:
    """Yield, for each variable, the claim that its terms sum to the derivative of an inner product."""
    parts: dict[Variable, list[Contribution]] = {}
    for part in terms:
        parts.setdefault(part.of, []).append(part)
    for of, several in sorted(parts.items(), key=lambda item: item[0].name):
        shape = of.shape
        for part in several:
            shape = _finer(shape, part)
        at = places.of(shape)
        slope = Derivative(product, of.entry(*at))
        if at and not any(part.member for part in several) and not any(isinstance(place, Pair) for place in at):
            value = reduce(Plus, (part.value for part in several))
            yield claim(Tabulated(Lambda(tuple(at), slope), *of.shape), step("chain rule", value))
        else:
            yield claim(slope, step("chain rule", Add(*(_entry(part, at) for part in several))))


def _finer(shape: Shape, part: Contribution) -> Shape:
    """Return a shape in which the axes of blocks of a contribution replace plain axes."""
    own = (part.member[1], *part.value.shape) if part.member else part.value.shape
    return tuple(map(join, shape, own))


def _entry(part: Contribution, at: list[Place]) -> Expr:
    if part.member is None:
        return part.value.entry(*at)
    return replace_free(part.value, {part.member[0]: flat(at[0])}).entry(*at[1:])


def whole_sizes(layer: Layer) -> list[Assumption]:
    """Return the assumptions that the size of every axis of a layer is an integer >= 1."""
    axes = {part for shape in prepared(layer).shapes.values() for along in shape for part in _sizes_of(along)}
    fractions = sorted({fraction(size) for size in axes}, key=str)
    whole = [
        Assumption(Eq(Mod(number, divisor), 0, evaluate=False), {}, f"{divisor} divides ${number}$")
        for number, divisor in fractions
        if divisor != 1
    ]
    perhaps_empty = sorted((size for size in axes if not size.is_positive), key=str)
    return whole + [Assumption(Ge(size, 1, evaluate=False), {}, "no axis is empty") for size in perhaps_empty]


def _sizes_of(along: Axis) -> tuple[Expr, ...]:
    return (along.count, along.size) if isinstance(along, Blocks) else (along,)


# --- where an equation is smooth ------------------------------------------------------------------------------------


def smoothness(equation: Equation) -> Iterator[Assumption]:
    """Yield the conditions for an equation to be differentiable: off kinks, inside domains, with a visible key."""
    for node in _inside(equation.value):
        if isinstance(node, Elementwise):
            yield from _of_function(node, equation)
        elif isinstance(node, RowSoftmax) and len(node.args) == 2:
            yield from _of_mask(node, equation)
        elif isinstance(node, Scaled):
            powers = sorted(node.args[0].atoms(Pow), key=str)
            for condition, words in (found for power in powers for found in _conditions(power)):
                yield Assumption(condition, {}, words)
        elif isinstance(node, Lookup | Pick | Chosen):
            yield from _of_tokens(node.args[1], node.args[0].shape[1 if isinstance(node, Pick) else 0], equation)
        elif isinstance(node, RoutedProduct):
            yield from _of_tokens(node.args[2], node.args[1].shape[0], equation)


def _inside(node: Array) -> Iterator[Array]:
    yield node
    if not isinstance(node, Apply):
        for part in node.args:
            if isinstance(part, Array):
                yield from _inside(part)


def _of_function(node: Elementwise, equation: Equation) -> Iterator[Assumption]:
    function, *arrays = node.args
    places = Places("_2")
    at = places.of(node.shape)
    values = {
        variable: array.entry(*at) if array.shape else array.entry()
        for variable, array in zip(function.formula.variables, arrays, strict=True)
    }
    ranges = {**places.ranges, **({equation.over[0]: total(equation.over[1])} if equation.over else {})}
    # a variable that is declared positive tells where the function is defined, not what the entries of an array are
    plain = {variable: Dummy(variable.name, real=True) for variable in values if variable.is_positive}
    values |= {plain[variable]: values[variable] for variable in plain}
    formula = function.formula.expr.xreplace(plain)
    for part in sorted(formula.atoms(Pow, log, Max, Min, Abs, sign, Relational), key=str):
        for condition, words in _conditions(part):
            if condition.free_symbols & set(values):
                yield Assumption(replace_free(condition, values), ranges, words)


def _conditions(part: Expr) -> Iterator[tuple[Any, str]]:
    if isinstance(part, Max | Min):
        for first, second in combinations(part.args, 2):
            yield Ne(second - first, 0, evaluate=False), "off the kink"
    elif isinstance(part, Abs | sign):
        yield Ne(part.args[0], 0, evaluate=False), "off the kink" if isinstance(part, Abs) else "off the jump"
    elif isinstance(part, Relational):  # of a bracket or a case
        yield Ne(part.lhs - part.rhs, 0, evaluate=False), "off the jump"
    elif isinstance(part, log):
        yield Gt(part.args[0], 0, evaluate=False), "where the logarithm is defined"
    # a positive base, such as a size, is off every singular point
    elif part.base.is_positive or not part.base.free_symbols:
        return
    elif not part.exp.is_Integer:
        yield Gt(part.base, 0, evaluate=False), "where the root is smooth"
    elif part.exp.is_negative:
        yield Ne(part.base, 0, evaluate=False), "where the quotient is defined"


def _of_tokens(tokens: Array, size: Axis, equation: Equation) -> Iterator[Assumption]:
    places = Places("_2")
    token = tokens.entry(*places.of(tokens.shape))
    ranges = {**places.ranges, **({equation.over[0]: total(equation.over[1])} if equation.over else {})}
    yield Assumption(Ge(token, 0, evaluate=False), ranges, "tokens count from 0")
    yield Assumption(Ge(total(size) - 1 - token, 0, evaluate=False), ranges, "every token has a row")


def _of_mask(node: RowSoftmax, equation: Equation) -> Iterator[Assumption]:
    mask = node.args[1]
    places, key = Places("_2"), Symbol("key", integer=True)
    at = places.of(mask.shape[:-1])
    ranges = {**places.ranges, **({equation.over[0]: total(equation.over[1])} if equation.over else {})}
    # Without a visible key the quotient of the softmax is 0/0.
    visible = Sum(mask.entry(*at, key), (key, 0, total(mask.shape[-1]) - 1))
    yield Assumption(Gt(visible, 0, evaluate=False), ranges, "every query sees a key")
