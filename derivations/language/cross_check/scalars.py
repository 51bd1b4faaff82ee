"""Values of scalar expressions under an assignment: numbers, arithmetic, entries of arrays, sums by loops."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256
from typing import Any

from sympy import (
    Add,
    Basic,
    Expr,
    Indexed,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    log,
    sin,
    sinh,
    tanh,
)
from sympy.core.function import AppliedUndef
from sympy.core.numbers import Exp1, Float, Integer, Pi

from derivations.language.cross_check.assignment import (
    CONTEXT,
    Assignment,
    Hole,
    Meaning,
    NotCovered,
    Undefined,
    meaning,
    rule,
    whole,
)
from derivations.language.cross_check.real_functions import (
    cosine,
    error_function,
    exponential,
    hyperbolic_tangent,
    logarithm,
    number,
    pi,
    power,
    root,
    sine,
)

__all__ = ["parts_of"]


def parts_of(node: Basic) -> list[Meaning]:
    """Return the functions that evaluate the parts of a node."""
    return [meaning(part) for part in node.args]


# --- numbers and symbols ---------------------------------------------------------------------------------------------


@rule.register
def _(node: Integer) -> Meaning:
    value = int(node)
    return lambda assignment: value


@rule.register
def _(node: Rational) -> Meaning:
    value = CONTEXT.divide(Decimal(int(node.p)), Decimal(int(node.q)))
    return lambda assignment: value


@rule.register
def _(node: Float) -> Meaning:
    value = CONTEXT.create_decimal(str(node))
    return lambda assignment: value


@rule.register
def _(node: Pi) -> Meaning:
    return lambda assignment: +pi()


@rule.register
def _(node: Exp1) -> Meaning:
    return lambda assignment: exponential(1)


@rule.register
def _(node: Symbol) -> Meaning:
    name, may_be_defined = node.name, bool(node.is_real and not node.is_integer)

    def value(assignment: Assignment) -> Any:
        if may_be_defined and name in assignment.definitions:
            return assignment.array(name, lambda _: (), "real")
        found = assignment.values.get(node)
        if found is None:
            raise NotCovered(f"no value for {name}")
        if assignment.reads is not None:
            assignment.reads.add((name, ()))
        return found

    return value


# --- arithmetic ------------------------------------------------------------------------------------------------------


@rule.register
def _(node: Add) -> Meaning:
    parts = parts_of(node)

    def value(assignment: Assignment) -> Any:
        total: Any = 0
        for part in parts:
            total += part(assignment)
        return total

    return value


@rule.register
def _(node: Mul) -> Meaning:
    parts = parts_of(node)

    def value(assignment: Assignment) -> Any:
        product: Any = 1
        for part in parts:
            product *= part(assignment)
        return product

    return value


@rule.register
def _(node: Pow) -> Meaning:
    base, exponent = parts_of(node)
    if node.exp == -1:
        return lambda assignment: 1 / number(base(assignment))
    if node.exp == 2:
        return lambda assignment: base(assignment) ** 2
    if node.exp == Rational(1, 2):
        return lambda assignment: root(number(base(assignment)))
    if node.exp == Rational(-1, 2):
        return lambda assignment: 1 / root(number(base(assignment)))
    return lambda assignment: power(base(assignment), exponent(assignment))


_FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    exp: exponential,
    log: logarithm,
    sin: sine,
    cos: cosine,
    tanh: hyperbolic_tangent,
    sinh: lambda value: (exponential(value) - exponential(-value)) / 2,
    cosh: lambda value: (exponential(value) + exponential(-value)) / 2,
    erf: error_function,
    erfc: lambda value: 1 - error_function(value),
}


def _register(kind: Any, function: Callable[[Any], Any]) -> None:
    @rule.register(kind)
    def _(node: Expr) -> Meaning:
        if len(node.args) != 1:
            raise NotCovered(f"no rule for {node}")
        (part,) = parts_of(node)
        return lambda assignment: function(part(assignment))


for _kind, _function in _FUNCTIONS.items():
    _register(_kind, _function)


@rule.register
def _(node: AppliedUndef) -> Meaning:
    name, parts = node.func.__name__, parts_of(node)
    # a cubic takes both signs
    restricted = node.is_nonnegative or node.is_nonpositive or not (node.is_real or node.is_integer)

    def value(assignment: Assignment) -> Any:
        arguments = [part(assignment) for part in parts]
        if name in assignment.bijections:
            place = whole(arguments[0])
            if not 0 <= place < len(assignment.bijections[name]):
                raise Undefined(f"{name} of {place}")
            return assignment.bijections[name][place]
        if restricted:
            raise NotCovered(f"no value for the function {name}")
        total: Any = 0
        for k, argument in enumerate(arguments):  # a cubic, drawn from the seed and the name
            digest = sha256(f"{assignment.seed} {name} {k}".encode()).digest()
            # cubes, so that a law that holds for linear or quadratic functions only is seen to fail
            a, b, c, d = (byte % 7 - 3 for byte in digest[:4])
            total += (a or 1) * argument**3 + b * argument**2 + (c or 2) * argument + d
        return total

    return value


# --- entries and sums ------------------------------------------------------------------------------------------------


@rule.register
def _(node: Indexed) -> Meaning:
    label, places = node.base.label, [meaning(place) for place in node.indices]
    sizes = [meaning(size) for size in node.base.shape or ()]
    name, kind = label.name, _kind_of(label)

    def shape(assignment: Assignment) -> tuple[int, ...]:
        if not sizes:
            raise NotCovered(f"{name} has no shape")
        return tuple(whole(size(assignment)) for size in sizes)

    def value(assignment: Assignment) -> Any:
        at = []
        for place in places:  # evaluate all indices first, because an index may itself read arrays
            number = place(assignment)
            at.append(number if type(number) is int else whole(number))
        inner = assignment.array(name, shape, kind)
        for number in at:
            if not 0 <= number < len(inner):
                raise Undefined(f"place {number} of {name}, which has {len(inner)}")
            inner = inner[number]
        if type(inner) is Hole:
            raise Undefined(str(inner.reason))
        if assignment.reads is not None and assignment.is_drawn(name):
            assignment.reads.add((name, tuple(at)))
        return inner

    return value


def _kind_of(label: Symbol) -> str:
    if not label.is_integer:
        return "real"
    return "boolean" if label.is_nonnegative else "integer"


@rule.register
def _(node: Sum) -> Meaning:
    inner = meaning(node.function)
    # SymPy lists the innermost limit first
    for symbol, low, high in node.limits:
        inner = _sum(inner, symbol, meaning(low), meaning(high))
    return inner


def _sum(inner: Meaning, symbol: Symbol, low: Meaning, high: Meaning) -> Meaning:
    def value(assignment: Assignment) -> Any:
        first, last, outer = whole(low(assignment)), whole(high(assignment)), assignment.values.get(symbol)
        values, total = assignment.values, 0
        try:
            for place in range(first, last + 1):
                values[symbol] = place
                total += inner(assignment)
        finally:
            if outer is None:
                values.pop(symbol, None)
            else:
                values[symbol] = outer
        return total

    return value
