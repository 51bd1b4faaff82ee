"""Reading: from SymPy expressions to the normal form.

One table lists every kind of SymPy node that the judge understands; any other node is `Undecided`. SymPy simplifies
nothing while an expression is read. The judge trusts what SymPy did when the expression was built: it collected equal
terms and factors, and computed exactly with numbers.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import sympy
from sympy import Basic, Derivative, Dummy, Expr, Indexed, KroneckerDelta, Ne, Product, Subs, Sum, Symbol, Wild
from sympy import Tuple as Sequence
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from derivations.language.arrays.binding import free_symbols, replace_free
from derivations.language.arrays.buckets import BucketNumber
from derivations.language.arrays.declarations import demands
from derivations.language.arrays.deferred import Deferred
from derivations.language.arrays.expression import Array, OnlyEntry
from derivations.language.arrays.internal import MARK, Internal, Unwritten
from derivations.language.arrays.scalars import Admitted, Expectation, Iverson, Variance, Within, declared_real
from derivations.language.arrays.shapes import on_axis, shape_text
from derivations.language.counting.costs import Count
from derivations.language.judge.normal_form.algebra import (
    IMAGINARY,
    PI,
    cosine,
    exponential,
    logarithm,
    multiply,
    odd_function,
    positive_part,
    power,
    require,
    sine,
    unit_step,
)
from derivations.language.judge.normal_form.context import (
    COMPLEX,
    INTEGER,
    NONNEGATIVE,
    POSITIVE,
    Condition,
    Context,
    Undecided,
)
from derivations.language.judge.normal_form.derivative import around, derivative
from derivations.language.judge.normal_form.integers import (
    always_nonnegative,
    difference_indicator,
    is_integer,
    order_indicator,
)
from derivations.language.judge.normal_form.powers import integer_power
from derivations.language.judge.normal_form.relations import RELATIONS, gap
from derivations.language.judge.normal_form.sums import (
    close,
    expectation_of,
    function,
    product_over,
    settle,
    substitute,
    times,
)
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Poly,
    add,
    constant,
    contains,
    negate,
    scale,
    single,
    subtract,
)
from derivations.language.judge.normal_form.writing import TOTAL, TOTAL_FUNCTIONS

__all__ = ["keep_in_range", "limit", "read", "symbol_atom"]


def read(expression: Basic, context: Context) -> Poly:
    """Return the normal form of a SymPy expression.

    Raises `Undecided` for a node that the table does not list.
    """
    # facts that follow from kept conditions may be used here: the conditions themselves are settled without them
    if not context.deriving:
        with context.derivation():
            return read(expression, context)
    context.spend(1)
    rule = _rule_for(type(expression))  # type: ignore[arg-type] # a class of SymPy's: hashable
    if rule is not None:
        return rule(expression, context)
    if isinstance(expression, Array) and expression.shape == ():
        return read(expression.entry(), context)
    if isinstance(expression, Boolean):
        raise Undecided(f"{expression} is a relation or a truth value, where a number is needed")
    if isinstance(expression, Array):
        raise Undecided(f"{expression} is an array of shape {shape_text(expression.shape)}, where a number is needed")
    raise Undecided(f"{type(expression).__name__} is not in the language of the judge: {expression}")


@cache
def _rule_for(kind: type[Basic]) -> Callable[[Any, Context], Poly] | None:
    """Return the first rule of the table for a type of node."""
    return next((rule for listed, rule in _RULES.items() if issubclass(kind, listed)), None)


@lru_cache(maxsize=1 << 12)
def symbol_atom(symbol: Symbol) -> Atom:
    """Return the atom of a symbol; its signature holds the declared assumptions."""
    if isinstance(symbol, OnlyEntry):
        return ("x", _marked(symbol.name, symbol), ())
    if isinstance(symbol, Dummy | Wild):
        raise Undecided(f"{symbol} has no name of its own: take a symbol")
    if symbol.is_integer:
        signature = "size" if symbol.is_positive else "index"
    elif symbol.is_positive:
        signature = "positive"
    elif symbol.is_nonnegative:
        signature = "nonnegative"
    else:
        signature = "real" if symbol.is_real else "complex"
    return ("sym", MARK + symbol.name if isinstance(symbol, Internal) else _plain(symbol.name), signature)


def _plain(name: str) -> str:
    """Return a user's name; raise `Undecided` if it contains the character reserved for the judge's own names."""
    if MARK in name:
        raise Undecided(f"the name {name!r} holds the control character {MARK!r}: choose another name")
    return name


def _marked(name: str, declared: Any) -> str:
    """Return the name of an array or a function with marks for its declared assumptions."""
    sign = POSITIVE if declared.is_positive else NONNEGATIVE if declared.is_nonnegative else ""
    kind = INTEGER if declared.is_integer else "" if declared.is_real else COMPLEX
    return f"{_plain(name)}{sign}{kind}"


def _symbol(expression: Symbol, context: Context) -> Poly:
    define = context.scalar_definitions.get(expression)
    if define is not None:
        return read(define(), context)
    if not expression.is_commutative:
        raise Undecided(f"{expression} does not commute")
    return single(context.symbols.get(expression) or symbol_atom(expression))


def _rational(expression: Any, context: Context) -> Poly:
    value = sympy.Rational(expression)
    return constant(sympy_number(value))


def sympy_number(value: Any) -> Any:
    """Return a SymPy rational as a Python integer or fraction."""
    from_parts = (int(value.p), int(value.q))
    return from_parts[0] if from_parts[1] == 1 else Fraction(*from_parts)


def _sum_of(expression: Any, context: Context) -> Poly:
    return add(*(read(term, context) for term in expression.args))


def _product_of(expression: Any, context: Context) -> Poly:
    result = ONE
    for factor in expression.args:
        result = multiply(result, read(factor, context), context)
    return settle(result, context)


def _power(expression: Any, context: Context) -> Poly:
    base, exponent = expression.args
    if exponent.is_Rational:
        value = read(base, context)
        # only these powers have a side condition that the sign of the base settles
        if exponent.is_negative or not exponent.is_Integer:
            _note_sign(base, value, context)
        return settle(power(value, sympy_number(exponent), context), context)
    raised, value = read(exponent, context), read(base, context)
    if is_integer(raised, context):
        return settle(integer_power(value, raised, context), context)
    # b^e = exp(e log b) for any real e; the logarithm keeps b > 0 as a condition
    return exponential(times(raised, logarithm(value, context), context), context)


def _product(expression: Product, context: Context) -> Poly:
    body, indices = _opened(expression, context)
    for index in reversed(indices):
        body = product_over(body, index, context)
    return body


def _note_sign(base: Expr, value: Poly, context: Context) -> None:
    """Record that a base is positive if its form shows it.

    The normal form may hide it: (x - 1)^2 + epsilon is multiplied out.
    """
    if structurally_positive(base, context):
        fact = Condition("positive", value)
        if fact not in context.by_form:
            context.by_form.append(fact)


def structurally_positive(expression: Expr, context: Context) -> bool:
    """Return whether an expression, as written, is a sum of nonnegative terms with a positive one among them."""
    if isinstance(expression, Deferred):
        return structurally_positive(expression.now(), context)
    if isinstance(expression, sympy.Add):
        return all(_structurally_nonnegative(term, context) for term in expression.args) and any(
            structurally_positive(term, context) for term in expression.args
        )
    if isinstance(expression, sympy.Mul):
        return all(structurally_positive(factor, context) for factor in expression.args)
    if isinstance(expression, sympy.Pow) and not isinstance(expression.base, sympy.exp):
        return bool(expression.exp.is_Rational) and structurally_positive(expression.base, context)
    if isinstance(expression, Symbol):
        # a symbol that is bound here is an index: its range counts, not its declaration
        return symbol_atom(expression)[2] in ("size", "positive") and expression not in context.symbols
    if isinstance(expression, sympy.exp):
        return declared_real(expression)
    return bool(expression.is_Rational and expression > 0)


def _structurally_nonnegative(expression: Expr, context: Context) -> bool:
    if isinstance(expression, Deferred):
        return _structurally_nonnegative(expression.now(), context)
    if structurally_positive(expression, context):
        return True
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and expression.exp % 2 == 0:
        return bool(expression.exp > 0) and declared_real(expression)
    if isinstance(expression, (sympy.Add, sympy.Mul)):
        return all(_structurally_nonnegative(part, context) for part in expression.args)
    if isinstance(expression, Sum):
        return _structurally_nonnegative(expression.function, context)
    if isinstance(expression, Indexed) and expression.base.label.name in context.definitions:
        with context.aside():
            value = context.definitions[expression.base.label.name](*expression.indices)
        return _structurally_nonnegative(value, context)
    return bool(isinstance(expression, Iverson) or (expression.is_Rational and expression >= 0))


def _deferred(expression: Deferred, context: Context) -> Poly:
    """Return the normal form of an array entry, and record the condition that each index is in range.

    All entries of arrays are read here.
    """
    array, *places = expression.args
    at = tuple(
        tuple(read(p, context) for p in (place if isinstance(place, Sequence) else (place,))) for place in places
    )

    def entry() -> Expr:
        for place, along in zip(expression.places, array.shape, strict=True):
            for number, size in on_axis(place, along):
                keep_in_range(limit(number, context), read(size, context), context)
        return expression.now()

    return _once(array, at, entry, context)


def _once(what: Any, at: tuple[Any, ...], value: Callable[[], Expr], context: Context) -> Poly:
    """Return the normal form of `value()`, cached by an array, its indices and the meaning of its symbols."""
    bound = frozenset((s, context.symbols[s]) for s in free_symbols(what) if s in context.symbols)
    key = (what, at, bound, context.features)
    found = context.remembered().get(key)
    if found is None:
        found = read(value(), context)
        context.remembered()[key] = found
    return found


def _indexed(expression: Indexed, context: Context) -> Poly:
    label = expression.base.label
    name = label.name
    define = context.definitions.get(name)
    if define is not None:
        at = tuple(read(place, context) for place in expression.indices)
        return _once(label, at, lambda: define(*expression.indices), context)
    name = _marked(name, label)
    places = tuple(read(place, context) for place in expression.indices)
    for place, size in zip(places, expression.base.shape or (), strict=False):
        if not is_integer(place, context):
            context.keep("integer", place)
        keep_in_range(place, read(size, context), context)
    return single(("x", name, places))


def _sum(expression: Sum, context: Context) -> Poly:
    body, indices = _opened(expression, context)
    return close(body, indices, context)


def _opened(expression: Sum | Product, context: Context) -> tuple[Poly, list[Atom]]:
    """Return the body of a sum or product with new indices, and these indices, outermost first."""
    names: dict[Any, Atom] = {}
    indices: list[Atom] = []
    # SymPy lists the innermost limit first
    for symbol, low, high in reversed(expression.limits):
        with context.naming(names):
            index = context.open_index(limit(low, context), limit(high, context))
        # SymPy used the declaration when it built the term, as in |j| = j: the range must not go below it
        least = _least_declared(symbol)
        if least is not None and not always_nonnegative(subtract(context.ranges[index][0], constant(least)), context):
            raise Undecided(f"the index {symbol} was declared to be at least {least}, and takes smaller values")
        names = names | {symbol: index}
        indices.append(index)
    with context.naming(names):
        return read(expression.function, context), indices


@lru_cache(maxsize=1 << 10)
def _least_declared(symbol: Symbol) -> int | None:
    """Return the least value that the declaration of an index admits, if any; refuse other declarations."""
    for least, declared in _INDICES:
        if symbol.assumptions0 == declared.assumptions0:
            return least
    # an even j, for example, made 1 of (-1)^j when the term was built, but the sum runs over odd j as well
    raise Undecided(f"the index {symbol} must be declared an integer, maybe nonnegative or positive, and nothing more")


_INDICES = (
    (None, Symbol("i", integer=True)),
    (0, Symbol("i", integer=True, nonnegative=True)),
    (1, Symbol("i", integer=True, positive=True)),
)


def keep_in_range(place: Poly, size: Poly, context: Context) -> None:
    """Record the side condition 0 <= place < size, unless it is proved."""
    seen = (place, size)
    if seen in context.remembered():
        return
    # `remembered` empties the table when conditions are dropped, so what is listed is proved or kept
    context.memory[seen] = place
    for bound in (place, subtract(subtract(size, ONE), place)):
        if not always_nonnegative(bound, context):
            context.keep("in range", bound)


def limit(expression: Any, context: Context) -> Poly:
    """Return the normal form of a summation limit or a size; unless proved, record that it must be an integer."""
    p = read(expression, context)
    if not is_integer(p, context):
        context.keep("integer", p)
    return p


def _delta(expression: KroneckerDelta, context: Context) -> Poly:
    if len(expression.args) > 2:
        raise Undecided(f"a delta with a range of its own: {expression}")
    first, second = (read(place, context) for place in expression.args)
    for place in (first, second):
        if not is_integer(place, context):
            raise Undecided(f"a delta of something that is not an integer: {expression}")
    return difference_indicator(subtract(first, second), context)


def _iverson(expression: Iverson, context: Context) -> Poly:
    condition = expression.args[0]
    if len(condition.args) != 2:
        raise Undecided(f"a bracket of more than one relation: {expression}")
    left, right = condition.args
    if isinstance(condition, Ne) and isinstance(left, Indexed) and right == 0:
        return _shown(left, context)
    a, b = read(left, context), read(right, context)
    integer = is_integer(a, context) and is_integer(b, context)
    if isinstance(condition, (sympy.Eq, Ne)) and integer:
        equal = difference_indicator(subtract(a, b), context)
        return equal if isinstance(condition, sympy.Eq) else subtract(ONE, equal)
    kind, _ = RELATIONS.get(type(condition), ("", 0))
    if kind not in (">", ">=") or not (declared_real(left) and declared_real(right)):
        raise Undecided(f"a bracket of something other than an order of reals or a relation of integers: {expression}")
    above = gap(type(condition), a, b)
    if integer:  # [g > 0] = [g - 1 >= 0] for integers
        return order_indicator(subtract(above, ONE) if kind == ">" else above, context)
    # [g >= 0] = 1 - [-g > 0]
    return unit_step(above, context) if kind == ">" else subtract(ONE, unit_step(negate(above), context))


def _bucket(expression: BucketNumber, context: Context) -> Poly:
    steps = expression.steps()
    if steps is None:
        raise Undecided(f"a bucket number with symbolic sizes: {expression}")
    return read(steps, context)


def _within(expression: Within, context: Context) -> Poly:
    value, place, size = expression.args
    keep_in_range(limit(place, context), read(size, context), context)
    return read(value, context)


def _admitted(expression: Admitted, context: Context) -> Poly:
    value, put_in, kind = expression.args
    _demand(kind.name, read(put_in, context), context)
    return read(value, context)


def _demand(kind: str, p: Poly, context: Context) -> None:
    """Record the declared assumption of a variable as a condition on the value substituted for it."""
    if kind != "integer":
        require(kind, p, context)
    elif not is_integer(p, context):
        context.keep("integer", p)


def _shown(entry: Indexed, context: Context) -> Poly:
    name = entry.base.label.name
    define = context.definitions.get(name)
    if define is not None and name in context.booleans:
        return read(define(*entry.indices), context)
    label = entry.base.label
    # an integer array that is not declared as a mask: [a != 0] = 1 - [a = 0]
    if label.is_integer and not label.is_nonnegative:
        return subtract(ONE, difference_indicator(read(entry, context), context))
    if define is not None or not label.is_integer:
        raise Undecided(f"a bracket of {name}, which is not a mask")
    return single(("true", _plain(name), tuple(read(place, context) for place in entry.indices)))


def _derivative(expression: Derivative, context: Context) -> Poly:
    _need("derivative", expression, context)
    if not all(count.is_Integer for _, count in expression.variable_count):
        raise Undecided(f"a derivative of symbolic order: {expression}")
    variables = [_variable(variable, context) for variable, count in expression.variable_count for _ in range(count)]
    with around(variables, context):
        value = read(expression.expr, context)
        for variable in variables:
            value = derivative(value, variable, context)
    return value


def _evaluated(expression: Subs, context: Context) -> Poly:
    """Return the value of an expression at given values of its variables: SymPy's `Subs`, as in partial derivatives."""
    inner, variables, values = expression.args
    if any(not variable.is_Symbol or variable.is_integer for variable in variables) or not declared_real(values):
        raise Undecided(f"a value is substituted for something that is not a real scalar: {expression}")
    # under a fresh name, because an assumption about a free x does not hold for the bound x of a Subs
    context.serial += 1
    names = {v: Internal(f"argument {context.serial} {number}", real=True) for number, v in enumerate(variables)}
    before = len(context.conditions)
    value = read(replace_free(inner, names), context)
    points = {symbol_atom(names[v]): read(point, context) for v, point in zip(variables, values, strict=True)}
    for variable, point in zip(variables, points.values(), strict=True):
        wanted = demands(variable)
        if wanted is None:
            raise Undecided(f"no side condition states the declaration of {variable}: {expression}")
        for kind in wanted:
            _demand(kind, point, context)
    # such a condition is about the bound name: it would be compared with assumptions that never mention it
    if any(contains(condition.of, atom) for condition in context.conditions[before:] for atom in points):
        raise Undecided(f"a side condition on a variable for which a value is substituted: {expression}")
    return substitute(value, points, context)


def _variable(variable: Any, context: Context) -> Atom:
    """Return the atom to differentiate by: a scalar that is not an integer, or an entry, but not a defined name."""
    defined = isinstance(variable, Indexed) and variable.base.label.name in context.definitions
    if not defined and variable not in context.scalar_definitions and not variable.is_integer:
        p = read(variable, context)
        if (
            len(p) == 1
            and p[0][1] == 1
            and len(p[0][0]) == 1
            and p[0][0][0][1] == 1
            and p[0][0][0][0][0] in ("x", "sym")
        ):
            return p[0][0][0][0]
    raise Undecided(f"{variable} is not a free variable to differentiate by")


def _expectation(expression: Expectation, context: Context) -> Poly:
    _need("expectation", expression, context)
    return expectation_of(lambda: read(expression.args[0], context), context)


def _variance(expression: Variance, context: Context) -> Poly:
    _need("expectation", expression, context)
    value = expression.args[0]
    mean = expectation_of(lambda: read(value, context), context)
    square = expectation_of(lambda: power(read(value, context), 2, context), context)
    return subtract(square, times(mean, mean, context))  # Var X = E[X^2] - E[X]^2


def _need(feature: str, expression: Basic, context: Context) -> None:
    if feature not in context.features:
        raise Undecided(f"the rule of this step does not use {feature}s: {expression}")


def _maximum(expression: Any, context: Context) -> Poly:
    _need_real(expression)
    first, *others = (read(term, context) for term in expression.args)
    for other in others:
        first = add(other, positive_part(subtract(first, other), context))  # max(a, b) = b + relu(a - b)
    return first


def _minimum(expression: Any, context: Context) -> Poly:
    _need_real(expression)
    first, *others = (read(term, context) for term in expression.args)
    for other in others:
        first = subtract(first, positive_part(subtract(first, other), context))  # min(a, b) = a - relu(a - b)
    return first


def _absolute(expression: Any, context: Context) -> Poly:
    _need_real(expression)
    value = read(expression.args[0], context)
    return add(positive_part(value, context), positive_part(negate(value), context))  # |a| = relu(a) + relu(-a)


def _sign(expression: Any, context: Context) -> Poly:
    _need_real(expression)
    above, below = (Iverson(order(expression.args[0], 0, evaluate=False)) for order in (sympy.Gt, sympy.Lt))
    return subtract(read(above, context), read(below, context))  # sign a = [a > 0] - [a < 0]


def _need_real(expression: Basic) -> None:
    if not declared_real(expression):
        raise Undecided(f"an order of numbers that were not declared real: {expression}")


def _unknown_function(expression: AppliedUndef, context: Context) -> Poly:
    places = tuple(read(place, context) for place in expression.args)
    name = expression.func.__name__
    if name in context.inverses:
        limit(expression.args[0], context)
        low, high = context.ranges[("fun", name)]
        bounds = (subtract(places[0], low), subtract(high, places[0]))
        for bound in bounds:
            if not always_nonnegative(bound, context):
                context.keep("in range", bound)
    else:
        name = MARK + name if isinstance(expression.func, Unwritten) else _marked(name, expression)
    return function(name, 0 if len(places) == 1 else (0,) * len(places), places, context)


def _total_function(expression: Expr, context: Context) -> Poly:
    """Return floor, atan or atan2 of real arguments as the value of an uninterpreted function.

    The only property used is that equal arguments give equal values.
    """
    for argument in expression.args:
        _need_real(argument)
    places = tuple(read(place, context) for place in expression.args)
    name = TOTAL + type(expression).__name__
    return function(name, 0 if len(places) == 1 else (0,) * len(places), places, context)


def _piecewise(expression: Any, context: Context) -> Poly:
    (first, condition), *rest = expression.args
    if condition is sympy.true:
        return read(first, context)
    if not rest:
        raise Undecided(f"a case distinction without a last case: {expression}")
    holds = read(Iverson(condition), context)  # [c] f + (1 - [c]) g: the conditions of both cases are kept
    other = _piecewise(sympy.Piecewise(*rest, evaluate=False), context) if len(rest) > 1 else read(rest[0][0], context)
    return add(times(holds, read(first, context), context), times(subtract(ONE, holds), other, context))


def _argument(build: Callable[[Poly, Context], Poly]) -> Callable[[Any, Context], Poly]:
    return lambda expression, context: settle(build(read(expression.args[0], context), context), context)


def _half_of_exponentials(join: Callable[[Poly, Poly], Poly], p: Poly, context: Context) -> Poly:
    """Return cosh(p) = (exp(p) + exp(-p)) / 2, or sinh(p) = (exp(p) - exp(-p)) / 2 if `join` subtracts."""
    return scale(join(exponential(p, context), exponential(negate(p), context)), Fraction(1, 2))


_RULES: dict[Any, Callable[[Any, Context], Poly]] = {
    Symbol: _symbol,
    sympy.Rational: _rational,
    sympy.Add: _sum_of,
    sympy.Mul: _product_of,
    Indexed: _indexed,
    Deferred: _deferred,
    Sum: _sum,
    Product: _product,
    KroneckerDelta: _delta,
    Iverson: _iverson,
    BucketNumber: _bucket,
    Admitted: _admitted,
    Within: _within,
    Derivative: _derivative,
    Subs: _evaluated,
    Expectation: _expectation,
    Variance: _variance,
    sympy.exp: _argument(exponential),
    sympy.log: _argument(logarithm),
    sympy.sin: _argument(sine),
    sympy.cos: _argument(cosine),
    sympy.cosh: _argument(lambda p, context: _half_of_exponentials(add, p, context)),
    sympy.sinh: _argument(lambda p, context: _half_of_exponentials(subtract, p, context)),
    sympy.erf: _argument(lambda p, context: odd_function("erf", p)),
    sympy.erfc: _argument(lambda p, context: subtract(ONE, odd_function("erf", p))),
    sympy.tanh: _argument(lambda p, context: odd_function("tanh", p)),
    sympy.Max: _maximum,
    sympy.Min: _minimum,
    sympy.Abs: _absolute,
    sympy.sign: _sign,
    sympy.Piecewise: _piecewise,
    AppliedUndef: _unknown_function,
    **dict.fromkeys(TOTAL_FUNCTIONS.values(), _total_function),
    sympy.core.numbers.Pi: lambda expression, context: single(PI),
    sympy.core.numbers.Exp1: lambda expression, context: exponential(ONE, context),
    sympy.core.numbers.ImaginaryUnit: lambda expression, context: single(IMAGINARY),
    sympy.Pow: _power,
    Count: lambda expression, context: read(expression.value(), context),
}
