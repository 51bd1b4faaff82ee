"""Evaluation of scalar expressions to numbers, by plain loops in interval arithmetic.

It shares no code with the normal form. Every value is an interval that holds the true value, so two disjoint intervals
prove that an equality fails.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
import sympy
from mpmath import iv
from sympy import Basic, Derivative, Expr, Indexed, KroneckerDelta, Product, Sum, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import LARGEST, MASK, SHARE, Iverson, Rounded, Within
from derivations.language.arrays.shown import view
from derivations.language.counting.costs import Count
from derivations.language.judge import intervals
from derivations.language.judge.declared_numbers import declared_range, first_fitting

__all__ = ["NotEvaluable", "Sample", "evaluate", "holds", "whole", "written_out"]

_REAL, _MASK = Symbol("x", real=True), Symbol("M", **MASK)

_DIGITS = 40
_DRAWS = 12
_LARGEST_LOOP = 20_000
_LARGEST_POWER = 64
_LARGEST_ARGUMENT = 10**20  # of exp, sin and cos: mpmath works with as many digits as its argument has


class NotEvaluable(Exception):
    """An expression has no value at a sample: an expectation, an unbound symbol, a division by zero."""


@dataclass
class Sample:
    """Values of all free symbols and arrays: sizes and indices as integers, scalars and entries as exact fractions."""

    integers: dict[str, int]
    scalars: Mapping[str, Fraction] = field(default_factory=dict)
    seed: int = 0
    definitions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    bijections: dict[str, tuple[int, ...]] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    read: dict[tuple[str, tuple[int, ...]], Fraction] = field(default_factory=dict)  # the entries that were read
    arrays_read: set[str] = field(default_factory=set)
    entries: dict[str, Fraction] = field(default_factory=dict)
    labels: dict[str, Symbol] = field(default_factory=dict)  # the labels of the arrays read so far
    closed: bool = False  # no random values: an entry or an unknown function then has no value
    spent: int = 0

    def entry(self, name: str, places: tuple[int, ...], label: Symbol = _REAL) -> Fraction:
        """Return the entry of an array: a small fraction that depends only on the seed, the name and the indices.

        The entry has every declared property of the array's label. Raises `NotEvaluable` if no draw has them.
        """
        if name in self.arrays:
            value = self.arrays[name]
            for place in places:
                value = value[place]
            return Fraction(value)
        if self.closed:
            raise NotEvaluable(f"{name}{list(places)} has no value")
        # a text as seed: each entry has its own stream, whatever the order in which entries are read
        source = random.Random(f"{self.seed} {name} {places}")
        # exact fractions, so that an interval is wide only by the arithmetic that follows
        draws = (Fraction(source.randint(-24, 24), source.choice((2, 3, 5, 7))) for _ in range(_DRAWS))
        value = first_fitting(draws, label)
        if value is None:
            raise NotEvaluable(f"{name} was declared to be of a kind that no sample has")
        self.read[name, places] = value
        self.arrays_read.add(name)
        return value

    def visible(self, name: str, places: tuple[int, ...]) -> int:
        """Return the entry of a mask: 1 or 0."""
        if name in self.arrays:
            return int(bool(self.entry(name, places)))
        if self.closed:
            raise NotEvaluable(f"{name}{list(places)} has no value")
        shown = int(random.Random(f"{self.seed} {name} {places}").random() < 0.6)
        self.read[name, places] = Fraction(shown)
        self.arrays_read.add(name)
        return shown


def evaluate(expression: Basic, sample: Sample) -> Any:
    """Return an interval that holds the value of a scalar expression at a sample.

    Raises `NotEvaluable`.
    """
    before = iv.dps
    # the precision of mpmath's intervals is global: it is set back in any case
    iv.dps = _DIGITS
    try:
        return _number(expression, sample, {})
    except (ZeroDivisionError, mpmath.libmp.ComplexResult) as error:
        raise NotEvaluable(str(error)) from error
    finally:
        iv.dps = before


def _number(expression: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    sample.spent += 1
    if sample.spent > _LARGEST_LOOP:
        raise NotEvaluable("too many terms for one sample")
    for kind, rule in _RULES.items():
        if isinstance(expression, kind):
            return rule(expression, sample, bound)
    if isinstance(expression, Array) and expression.shape == ():
        return _number(expression.entry(), sample, bound)
    raise NotEvaluable(f"{type(expression).__name__} has no number")


def whole(expression: Basic, sample: Sample) -> int:
    """Return the exact value of an integer expression, such as a size; raises `NotEvaluable` for any other."""
    return _integer(expression, sample, {})


def _integer(expression: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> int:
    """Return the exact value of an integer expression, such as an index or a limit of a sum."""
    value = _exact_number(expression, sample, bound)
    if value.denominator != 1:
        raise NotEvaluable(f"{expression} is not an integer")
    return int(value)


def _exact_number(expression: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> Fraction:
    """Return the exact value of an expression of integers."""
    if isinstance(expression, AppliedUndef):
        name, (argument,) = expression.func.__name__, expression.args
        place = _integer(argument, sample, bound)
        table = sample.bijections.get(name)
        if table is None or not 0 <= place < len(table):
            raise NotEvaluable(f"{expression} has no integer value")
        return Fraction(table[place])
    if isinstance(expression, Symbol):
        value = bound.get(expression, sample.integers.get(expression.name))
        if value is None:
            raise NotEvaluable(f"no value for {expression}")
        return Fraction(value)
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if isinstance(expression, (sympy.Add, sympy.Mul, sympy.Max, sympy.Min)):
        parts = [_exact_number(part, sample, bound) for part in expression.args]
        combine: dict[Any, Callable[[list[Fraction]], Any]] = {
            sympy.Add: sum, sympy.Mul: math.prod, sympy.Max: max, sympy.Min: min
        }  # fmt: skip
        return Fraction(combine[type(expression)](parts))
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and abs(expression.exp) <= _LARGEST_POWER:
        base = _exact_number(expression.base, sample, bound)
        if base == 0 and expression.exp < 0:
            raise NotEvaluable("a division by zero")
        return base ** int(expression.exp)
    raise NotEvaluable(f"{expression} is not an integer")


def _symbol(expression: Symbol, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    define = sample.definitions.get(expression.name)
    if define is not None and expression.is_real and not expression.is_integer:
        return _number(define(), sample, {})
    if expression in bound or expression.name in sample.integers:
        return iv.mpf(_integer(expression, sample, bound))
    if expression.name in sample.entries:
        return intervals.fraction(sample.entries[expression.name])
    if expression.name in sample.scalars:
        return intervals.fraction(sample.scalars[expression.name])
    raise NotEvaluable(f"no value for {expression}")


def _rounded(expression: Rounded, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    """Return the rounded value if the whole interval rounds to it."""
    number, decimals = _number(expression.args[0], sample, bound), _integer(expression.args[1], sample, bound)
    units = number * iv.mpf(10) ** decimals
    # any integer may be tried: only the comparison with the whole interval decides
    nearest = int(mpmath.nint(mpmath.mpf(units.mid)))
    half = iv.mpf(1) / 2
    if units > nearest - half and units < nearest + half:
        return intervals.fraction(Fraction(nearest, 1) / Fraction(10) ** decimals)
    raise NotEvaluable(f"the interval does not tell what {expression} is")


def _indexed(expression: Indexed, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    name = expression.base.label.name
    places = tuple(_integer(place, sample, bound) for place in expression.indices)
    for place, size in zip(places, expression.base.shape or (), strict=False):
        if not 0 <= place < _integer(size, sample, bound):
            raise NotEvaluable(f"{expression} lies outside its array")
    define = sample.definitions.get(name)
    if define is not None:
        return _number(define(*map(sympy.Integer, places)), sample, {})
    label = _label(expression, sample)
    # a token, say, must be smaller than the vocabulary, and no declaration says so
    if label.is_integer and name not in sample.arrays:
        raise NotEvaluable(f"{name} holds integers, whose range is not known here")
    return intervals.fraction(sample.entry(name, places, label))


def _label(expression: Indexed, sample: Sample) -> Symbol:
    """Return the label of an array, which must have only one declaration."""
    label: Symbol = expression.base.label
    if sample.labels.setdefault(label.name, label) != label:
        raise NotEvaluable(f"there are two arrays {label} with different declarations")
    return label


def _sum(expression: Sum, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    # SymPy lists the innermost limit first
    (symbol, low, high), *inner = reversed(expression.limits)
    body = Sum(expression.function, *reversed(inner)) if inner else expression.function
    total = iv.mpf(0)
    for value in _places(low, high, sample, bound):
        total += _number(body, sample, {**bound, symbol: value})
    return total


def _product(expression: Product, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    (symbol, low, high), *inner = reversed(expression.limits)
    body = Product(expression.function, *reversed(inner)) if inner else expression.function
    total = iv.mpf(1)
    for value in _places(low, high, sample, bound):
        total *= _number(body, sample, {**bound, symbol: value})
    return total


def _places(low: Basic, high: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> range:
    """Return the range of a sum, which may be empty.

    Symbolic limits must not give a negative length: such sizes are outside the statement. Between numbers the range is
    then empty.
    """
    first, last = _integer(low, sample, bound), _integer(high, sample, bound)
    if last < first - 1 and not (low.is_Integer and high.is_Integer):
        raise NotEvaluable(f"a sum over {last - first + 1} places")
    return range(first, last + 1)


def _power(expression: sympy.Pow, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    base = _number(expression.base, sample, bound)
    if expression.exp.is_Integer:
        exponent = int(expression.exp)
        # an interval that holds 0 does not tell whether the base is 0
        if exponent < 0 and 0 in base:
            raise NotEvaluable("a division by zero")
        return base**exponent if exponent >= 0 else 1 / base ** (-exponent)
    exponent = _number(expression.exp, sample, bound)
    # a negative base has integer powers, but no logarithm
    if expression.exp.is_integer and exponent.delta == 0:
        whole = int(exponent.a)
        if abs(whole) > _LARGEST_LOOP or (whole < 0 and 0 in base):
            raise NotEvaluable("a power that is too large, or a division by zero")
        return base**whole if whole >= 0 else 1 / base ** (-whole)
    if not base > 0:
        raise NotEvaluable("a root of a number that is not positive")
    return intervals.exp(_moderate(exponent * intervals.log(base)))


def _iverson(expression: Iverson, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    condition = expression.args[0]
    left, right = condition.args
    if isinstance(condition, sympy.Ne) and isinstance(left, Indexed) and right == 0:
        name = left.base.label.name
        places = tuple(_integer(place, sample, bound) for place in left.indices)
        define = sample.definitions.get(name)
        if define is not None:
            value = _number(define(*map(sympy.Integer, places)), sample, {})
            # the interval [0, 0] is exactly 0; a wider one around 0 may hold either
            if 0 in value and value.delta > 0:
                raise NotEvaluable(f"the interval does not tell whether {left} is 0")
            return iv.mpf(int(0 not in value))
        label = left.base.label
        if label.is_integer and label.assumptions0 == _MASK.assumptions0:
            _label(left, sample)
            return iv.mpf(sample.visible(name, places))
        return iv.mpf(int(_number(left, sample, bound) != 0))
    return iv.mpf(int(holds(condition, sample, bound)))


def _within(expression: Within, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    value, place, size = expression.args
    if not 0 <= _integer(place, sample, bound) < _integer(size, sample, bound):
        raise NotEvaluable(f"{place} lies outside an axis of size {size}")
    return _number(value, sample, bound)


def holds(condition: Basic, sample: Sample, bound: Mapping[Symbol, int] | None = None) -> bool:
    """Return whether a relation holds at a sample; raises `NotEvaluable` if the intervals do not decide it."""
    left, right = (_number(part, sample, bound or {}) for part in condition.args)
    if isinstance(condition, (sympy.Eq, sympy.Ne)):
        if _apart(left, right):
            return isinstance(condition, sympy.Ne)
        if left.delta == 0 and right.delta == 0:  # two points that are not apart are equal
            return isinstance(condition, sympy.Eq)
        raise NotEvaluable(f"the intervals do not tell whether {condition}")
    answers = {
        sympy.Le: (left <= right, left > right),
        sympy.Lt: (left < right, left >= right),
        sympy.Ge: (left >= right, left < right),
        sympy.Gt: (left > right, left <= right),
    }
    # mpmath answers None for overlapping intervals: then neither the relation nor its opposite is shown
    yes, no = answers[type(condition)]
    if yes or no:
        return bool(yes)
    raise NotEvaluable(f"the intervals do not tell whether {condition}")


def _apart(left: Any, right: Any) -> bool:
    return bool(left < right) or bool(right < left)


def _derivative(expression: Derivative, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    """Return a derivative at a sample: SymPy differentiates the expression with all sums written out."""
    value = written_out(expression.expr, sample, bound)
    for variable, count in expression.variable_count:
        value = value.diff(written_out(variable, sample, bound), count)
    if value.has(Derivative):
        raise NotEvaluable(f"nothing is known of the slope of {value}")
    return _number(value, sample, {})


def written_out(expression: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    """Return the expression without sums, definitions, deltas and brackets; each entry is a symbol such as `x[2]`."""
    sample.spent += 1
    if sample.spent > _LARGEST_LOOP:
        raise NotEvaluable("too many terms for one sample")
    if isinstance(expression, Sum):
        (symbol, low, high), *inner = reversed(expression.limits)
        body = Sum(expression.function, *reversed(inner)) if inner else expression.function
        values = _places(low, high, sample, bound)
        return sympy.Add(*(written_out(body, sample, {**bound, symbol: value}) for value in values))
    if isinstance(expression, Indexed):
        name = expression.base.label.name
        places = tuple(_integer(place, sample, bound) for place in expression.indices)
        define = sample.definitions.get(name)
        if define is not None:
            return written_out(define(*map(sympy.Integer, places)), sample, {})
        # x[2] as a symbol of its own: a derivative by x[2] must not see x[3] as the same array
        text = f"{name}{list(places)}"
        sample.entries[text] = sample.entry(name, places, _label(expression, sample))
        return Symbol(text, real=True)
    if isinstance(expression, Within):
        return written_out(expression.args[0], sample, bound)
    if isinstance(expression, Iverson):
        _off_the_edge(expression.args[0], sample, bound)
    if isinstance(expression, (KroneckerDelta, Iverson)):
        # brackets are locally constant off their edges, so their slope is 0
        return sympy.Integer(int(_number(expression, sample, bound).a))
    if isinstance(expression, (sympy.Piecewise, Rounded)):
        raise NotEvaluable(f"a derivative of {expression}")
    if isinstance(expression, Symbol) and expression.is_real and not expression.is_integer:
        define = sample.definitions.get(expression.name)
        if define is not None:
            return written_out(define(), sample, {})
    if isinstance(expression, Symbol) and (expression in bound or expression.name in sample.integers):
        return sympy.Integer(_integer(expression, sample, bound))
    if isinstance(expression, Count):
        return written_out(expression.value(), sample, bound)
    if not expression.args:
        return expression
    return expression.func(*(written_out(part, sample, bound) for part in expression.args))


def _off_the_edge(condition: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> None:
    """Raise `NotEvaluable` at the jump of a bracket that compares reals, because it has no derivative there."""
    left, right = condition.args
    mask = isinstance(left, Indexed) and left.base.label.is_integer
    if mask or (left.is_integer and right.is_integer):
        return
    if not _apart(_number(left, sample, bound), _number(right, sample, bound)):
        raise NotEvaluable(f"a derivative at the edge of {condition}")


def _sign(expression: Any, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    """Return the sign of a nonzero number. SymPy writes the derivative of |x| as sign(x)."""
    # sign(x) = 2 [x > 0] - 1 off x = 0
    return 2 * _heaviside(expression, sample, bound) - 1


def _heaviside(expression: Any, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    value = _number(expression.args[0], sample, bound)
    if value > 0 or value < 0:
        return iv.mpf(int(bool(value > 0)))
    raise NotEvaluable("a derivative at a kink")


def _unknown_function(expression: AppliedUndef, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    name = expression.func.__name__
    if name in sample.bijections:
        return iv.mpf(_integer(expression, sample, bound))
    sign = declared_range(expression)
    if sample.closed or expression.func in (LARGEST, SHARE) or sign is None:
        raise NotEvaluable(f"{expression} has no value")
    total = iv.mpf(len(name) + sample.seed)  # each sample has another function
    for number, argument in enumerate(expression.args):
        value = _number(argument, sample, bound)
        total += (number + 1) * value**3 - value  # neither additive nor monotone nor symmetric in the arguments
    return _OF_SIGN[sign](total)


_OF_SIGN: dict[str, Callable[[Any], Any]] = {
    "any": lambda value: value,
    "positive": lambda value: value**2 + 1,
    "nonnegative": lambda value: value**2,
    "negative": lambda value: -(value**2) - 1,
    "nonpositive": lambda value: -(value**2),
}


def _fold(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def rule(expression: Basic, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
        first, *rest = (_number(part, sample, bound) for part in expression.args)
        for other in rest:
            first = combine(first, other)
        return first

    return rule


def _of(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda expression, sample, bound: function(_number(expression.args[0], sample, bound))


def _moderate(value: Any) -> Any:
    """Return an argument unchanged if it is not too large; raises `NotEvaluable` otherwise."""
    if not (value < _LARGEST_ARGUMENT and value > -_LARGEST_ARGUMENT):
        raise NotEvaluable("an argument that is too large")
    return value


def _log(value: Any) -> Any:
    if not value > 0:
        raise NotEvaluable("a logarithm of a number that is not positive")
    return intervals.log(value)


def _delta(expression: KroneckerDelta, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    first, second = (_integer(part, sample, bound) for part in expression.args[:2])
    return iv.mpf(int(first == second))


def _piecewise(expression: sympy.Piecewise, sample: Sample, bound: Mapping[Symbol, int]) -> Any:
    for value, condition in expression.args:
        if condition is sympy.true or holds(condition, sample, bound):
            return _number(value, sample, bound)
    raise NotEvaluable("no case holds")


_RULES: dict[Any, Callable[..., Any]] = {
    Symbol: _symbol,
    sympy.Rational: lambda e, sample, bound: intervals.fraction(Fraction(int(e.p), int(e.q))),
    sympy.core.numbers.Pi: lambda e, sample, bound: intervals.pi(),
    sympy.core.numbers.Exp1: lambda e, sample, bound: intervals.exp(iv.mpf(1)),
    sympy.Add: _fold(lambda a, b: a + b),
    sympy.Mul: _fold(lambda a, b: a * b),
    sympy.Pow: _power,
    sympy.exp: _of(lambda value: intervals.exp(_moderate(value))),
    sympy.log: _of(_log),
    sympy.sin: _of(lambda value: intervals.sin(_moderate(value))),
    sympy.cos: _of(lambda value: intervals.cos(_moderate(value))),
    sympy.cosh: _of(lambda value: (intervals.exp(_moderate(value)) + intervals.exp(_moderate(-value))) / 2),
    sympy.sinh: _of(lambda value: (intervals.exp(_moderate(value)) - intervals.exp(_moderate(-value))) / 2),
    sympy.tanh: _of(intervals.tanh),
    sympy.erf: _of(intervals.erf),
    sympy.erfc: _of(lambda value: 1 - intervals.erf(value)),
    # max and min increase in both arguments, so the ends of the intervals give the ends of the result
    sympy.Max: _fold(lambda a, b: iv.mpf([max(a.a, b.a), max(a.b, b.b)])),
    sympy.Min: _fold(lambda a, b: iv.mpf([min(a.a, b.a), min(a.b, b.b)])),
    sympy.Abs: _of(abs),
    Indexed: _indexed,
    Sum: _sum,
    Product: _product,
    KroneckerDelta: _delta,
    sympy.Mod: lambda e, sample, bound: iv.mpf(_integer(e.args[0], sample, bound) % _integer(e.args[1], sample, bound)),
    Iverson: _iverson,
    Within: _within,
    Rounded: _rounded,
    Derivative: _derivative,
    sympy.Piecewise: _piecewise,
    sympy.Heaviside: _heaviside,
    sympy.sign: _sign,
    AppliedUndef: _unknown_function,
    Count: lambda e, sample, bound: _number(e.value(), sample, bound),
}


@view("function")
def function_of(derivation: Any) -> Callable[..., float]:
    """Return the right-hand side of a derivation as a function of keyword arguments: numbers and nested lists.

    A size that is not given is that of the arrays.

    Raises `TypeError` for a name that is missing or unknown, and where the value is undefined.
    """
    definitions = {e.variable.name: e.value_at for e in derivation.definitions}
    known = {s.name for s in derivation.rhs.free_symbols if isinstance(s, Symbol)}
    known |= {s.name for e in derivation.definitions for s in e.value.free_symbols}
    shapes = {v.name: v.base.shape for e in derivation.definitions for v in e.value.atoms(Array) if hasattr(v, "base")}
    known |= set(shapes)
    shapes |= {str(e.base.label): e.base.shape for e in derivation.rhs.atoms(Indexed) if e.base.shape}

    def function(**values: Any) -> float:
        """Return the value at the given numbers and arrays."""
        unknown = sorted(set(values) - known | set(values) & set(definitions))
        if unknown:
            wanted = ", ".join(sorted(known - set(definitions)))
            raise TypeError(f"{derivation.called} has no free {unknown[0]}; it depends on {wanted}")
        arrays = {name: value for name, value in values.items() if getattr(value, "ndim", hasattr(value, "__len__"))}
        numbers = {name: _exact(name, value) for name, value in values.items() if name not in arrays}
        integers = {name: int(value) for name, value in numbers.items() if value.denominator == 1}
        # a size that is given by name wins over the length of an array
        integers = _lengths(shapes, arrays) | integers
        sample = Sample(integers, numbers, 0, definitions, arrays=arrays, closed=True)
        try:
            return float(evaluate(derivation.rhs, sample).mid)
        except IndexError as error:
            raise TypeError(f"{derivation.called}: an array is smaller than the sizes say") from error
        except NotEvaluable as error:
            raise TypeError(f"{derivation.called}: {error}; give it by name") from error

    return function


def _lengths(shapes: Mapping[str, Sequence[Expr]], arrays: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that follow from the lengths of arrays. Raise `TypeError` if two arrays disagree."""
    found: dict[str, int] = {}
    for name, array in arrays.items():
        for size in shapes.get(name, ()):
            if isinstance(size, Symbol) and found.setdefault(size.name, len(array)) != len(array):
                raise TypeError(f"{size} is {len(array)} by {name}, and {found[size.name]} by an array before it")
            array = array[0] if len(array) else ()
    return found


def _exact(name: str, value: Any) -> Fraction:
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a finite number, not {value!r}") from error
