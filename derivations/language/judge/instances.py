"""Instances of assumptions at given sizes and indices: relations between finitely many real unknowns.

Sums and quantifiers are written out. Every entry of an array is an unknown with the declared properties of the array. A
value without a formula (of an unknown function, a limit) is an unknown too.

expectation  the entries of arrays are random, x = mean + spread e, with independent e of a law in the table: two
             signs; three values with the moments of the normal law up to the fifth; a skewed law. In a fourth law all
             entries share a sign c: x = mean + spread e + common c
large sizes  entries from the fourth on are one unknown, so that a sum over them is a multiple of it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Expr,
    Heaviside,
    Indexed,
    Integer,
    KroneckerDelta,
    Max,
    Min,
    Mod,
    Mul,
    Piecewise,
    Pow,
    Product,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    expand,
    false,
    log,
    sign,
    sin,
    tanh,
    true,
)
from sympy.core.function import AppliedUndef

from derivations.language.arrays.declarations import facts_of
from derivations.language.arrays.expression import Array, OnlyEntry
from derivations.language.arrays.internal import Internal
from derivations.language.arrays.scalars import Expectation, Iverson, Rounded, Variance, Within
from derivations.language.counting.costs import Count
from derivations.language.judge.constraints import Constraint
from derivations.language.judge.declared_numbers import first_fitting
from derivations.language.judge.normal_form.relations import RELATIONS
from derivations.language.judge.solutions import Draws

__all__ = ["LAWS", "Instances", "NoInstance"]

_MOST_TERMS = 20_000
_LARGEST_RANGE = 130
_DISTINCT = 3  # entries that differ where sizes are larger
_MOST_SIGNS = 6
_MOST_DRAWN = 30
_FUNCTIONS = (Add, Mul, Pow, exp, log, sin, cos, tanh, erf, Max, Min, Abs, Mod, sign, Heaviside, Rounded)


_SIGNS = ((Integer(1), Rational(1, 2)), (Integer(-1), Rational(1, 2)))
# E e^2 = E e^4 = 1/3, so E e^4 = 3 (E e^2)^2 as for a normal law
_NORMAL = ((Integer(1), Rational(1, 6)), (Integer(-1), Rational(1, 6)), (Integer(0), Rational(2, 3)))
_LEANING = ((Integer(2), Rational(1, 5)), (Rational(-1, 2), Rational(4, 5)))  # mean 0, variance 1, E e^3 = 3/2
LAWS = {"signs": (_SIGNS, False), "normal": (_NORMAL, False), "leaning": (_LEANING, False), "common": (_SIGNS, True)}


class NoInstance(Exception):
    """These sizes give no instance: an entry does not exist, a range is negative, or there are too many terms."""

    def __init__(self, text: str, *, too_large: bool = False) -> None:
        super().__init__(text)
        self.too_large = too_large


@dataclass
class Instances:
    """The values of sizes, indices and permutations, and the real unknowns created so far."""

    integers: dict[str, int]
    definitions: Mapping[str, Callable[..., Any]]
    bijections: dict[str, tuple[int, ...]]
    default: int = 1  # for sizes without assumptions
    random: bool = False  # whether entries are random, because an assumption has an expectation
    law: str = "signs"
    starts: dict[Symbol, Draws] = field(default_factory=dict)
    declared: list[Constraint] = field(default_factory=list)
    entries: dict[Symbol, tuple[tuple[Expr, Expr], ...]] = field(default_factory=dict)  # values and probabilities
    named: dict[str, Symbol] = field(default_factory=dict)
    calls: dict[Symbol, tuple[str, tuple[Expr, ...]]] = field(default_factory=dict)  # values of unknown functions
    means: dict[Expr, Expr] = field(default_factory=dict)
    spent: int = 0

    def constraints(self, statement: Basic, ranges: Mapping[Symbol, Expr]) -> Iterator[Constraint]:
        """Yield the constraint that a relation gives for each choice of its indices; raises `NoInstance`."""
        indices = list(ranges)
        for case in product(*(self.places(Integer(0), size - 1, statement, i, {})[0] for i, size in ranges.items())):
            left, right = (
                self.outcome(self.write(side, dict(zip(indices, case, strict=True)))) for side in statement.args
            )
            kind, factor = RELATIONS[type(statement)]
            yield Constraint(kind, (left - right) * factor)

    def places(
        self, low: Expr, high: Expr, inside: Basic, index: Symbol, bound: Mapping[Symbol, int]
    ) -> tuple[range, int]:
        """Return the values of an index and how many there are.

        Of a large range only the first values are returned, if all later terms are equal.
        """
        first, last = self.whole(low, bound), self.whole(high, bound)
        # as in the normal form, a symbolic range may be empty but never shorter
        if last < first - 1 and not (low.is_Integer and high.is_Integer):
            raise NoInstance(f"a range of {last - first + 1} places")
        if last - first < _LARGEST_RANGE:
            return range(first, last + 1), max(last - first + 1, 0)
        # the index must occur only as a subscript: then terms from `_DISTINCT` on are all equal
        marks = {part: Symbol("entry") for part in inside.atoms(Indexed) if index in part.indices}
        if first or inside.xreplace(marks).has(index) or not all(part.base.shape for part in marks):
            raise NoInstance("a range that is too large", too_large=True)
        return range(_DISTINCT + 1), last + 1

    def whole(self, value: Expr, bound: Mapping[Symbol, int]) -> int:
        """Return the value of an integer expression."""
        found = self.write(value, bound)
        if isinstance(found, Internal) and found.is_integer:  # an integer entry used as an index, such as a token
            # any value will do for a search; that the entry has it becomes a relation
            fixed = Integer(self.default - 1)
            self.declared.append(Constraint("=", found - fixed))
            found = fixed
        if not found.is_Integer:
            raise NoInstance(f"{value} is not an integer")
        return int(found)

    def unknown(self, text: str, facts: Mapping[str, bool], draws: Draws = (1, 0, 0, 1)) -> Symbol:
        """Return the unknown of that name."""
        found = self.named.get(text)
        if found is None:
            found = self.named[text] = Internal(text, **(facts if facts.get("real") else {"real": True}))
            self.starts[found] = draws
        return found

    def write(self, e: Any, bound: Mapping[Symbol, int]) -> Any:
        """Return an expression in numbers and unknowns: sums are written out, and entries become unknowns."""
        self.spent += 1
        if self.spent > _MOST_TERMS:
            raise NoInstance("too many terms", too_large=True)
        for kind, rule in _RULES:
            if isinstance(e, kind):
                return rule(self, e, bound)
        if isinstance(e, Array) and e.shape == ():
            return self.write(e.entry(), bound)
        if isinstance(e, _FUNCTIONS):
            return e.func(*(self.write(part, bound) for part in e.args))
        if isinstance(e, Expr) and not e.args:
            return e
        return self.unknown(str(e.xreplace(dict(bound))), {})

    def symbol(self, e: Symbol, bound: Mapping[Symbol, int]) -> Any:
        """Return the value of a symbol: the number chosen for an integer, a definition, or a real unknown."""
        if e in bound:
            return Integer(bound[e])
        define = self.definitions.get(e.name)
        if define is not None and e.is_real and not e.is_integer:
            return self.write(define(), {})
        if e.is_integer and not isinstance(e, Internal) and e.name in self.integers:
            return Integer(self.integers[e.name])
        if e.is_integer and not isinstance(e, Internal):
            first = self.default if e.is_positive else 0
            value = first_fitting(map(Fraction, (first, *range(_MOST_DRAWN))), e)
            if value is None:
                raise NoInstance(f"no small number satisfies the declaration of {e}")
            return Integer(self.integers.setdefault(e.name, int(value)))
        return self.entry(e.name, e.assumptions0, (1, 0, 0, 1)) if isinstance(e, OnlyEntry) else e

    def indexed(self, e: Indexed, bound: Mapping[Symbol, int]) -> Any:
        """Return the value of an array entry; raises `NoInstance` if the entry does not exist."""
        name, places = e.base.label.name, tuple(self.whole(place, bound) for place in e.indices)
        sizes = [self.whole(size, bound) for size in e.base.shape or ()]
        if any(not 0 <= place < size for place, size in zip(places, sizes, strict=False)):
            raise NoInstance(f"{e} does not exist")
        define = self.definitions.get(name)
        if define is not None:
            return self.write(define(*map(Integer, places)), {})
        if max(sizes, default=0) > _LARGEST_RANGE:
            # entries from the fourth on are one unknown
            places = tuple(min(place, _DISTINCT) for place in places)
        # the third draw is a unit matrix, the fourth a row of equal weights that sums to 1
        draws = (1, 0, int(len(set(places)) == 1), Fraction(1, max(sizes[-1:], default=1)))
        return self.entry(f"{name}{list(places)}", {**e.base.label.assumptions0, **e.base.assumptions0}, draws)

    def entry(self, text: str, facts: Mapping[str, bool], draws: Draws) -> Symbol:
        """Return the unknown for an entry; it is a random variable if an assumption contains an expectation."""
        found = self.unknown(text, facts, draws)
        if self.random and not found.is_integer and found not in self.entries:
            mean, spread = self.unknown(f"mean of {found}", {}, (0, 1, 0, 0)), self.unknown(f"spread of {found}", {})
            self.entries[found] = self.law_of(str(found), mean, spread)
            # every outcome must have the declared properties, not only the mean
            values = {v.xreplace({_COMMON: Integer(c)}) for v, _ in self.entries[found] for c in (1, -1)}
            self.declared += [Constraint("declared", value, found) for value in sorted(values, key=str)]
        return found

    def law_of(self, text: str, mean: Symbol, spread: Symbol) -> tuple[tuple[Expr, Expr], ...]:
        """Return the values of a random entry with their probabilities; a value may contain the common sign."""
        values, common = LAWS[self.law]
        if common:
            mean += self.unknown(f"common part of {text}", {}, (0, 0, 1, 1)) * _COMMON
        return tuple((mean + spread * value, chance) for value, chance in values)

    def outcome(self, e: Any) -> Any:
        """Return an expression with every random entry replaced by its first value, and the common sign by 1."""
        if not self.entries:
            return e
        return e.xreplace({entry: law[0][0] for entry, law in self.entries.items()}).xreplace({_COMMON: Integer(1)})

    def expectation(self, e: Expr, bound: Mapping[Symbol, int]) -> Any:
        """Return the mean over all outcomes, term by term, and factor by factor where factors share no entry."""
        return Add(*(self.mean(term) for term in Add.make_args(expand(self.write(e.args[0], bound)))))

    def mean(self, term: Expr) -> Expr:
        """Return the mean of a product."""
        groups: list[tuple[set[Symbol], Expr]] = []  # E[f g] = E[f] E[g] for independent f and g
        for factor in Mul.make_args(term):
            own, joined = factor.free_symbols & self.entries.keys(), factor
            for other in [group for group in groups if group[0] & own]:
                groups.remove(other)
                own, joined = own | other[0], joined * other[1]
            groups.append((own, joined))
        whole = Mul(*(self.average(sorted(own, key=str), part) for own, part in groups))
        # the shared sign is averaged last: given the sign, the entries are independent
        both = [whole.xreplace({_COMMON: Integer(c)}) for c in (1, -1)] if whole.has(_COMMON) else [whole, whole]
        return expand(Add(*both) / 2)

    def average(self, random: list[Symbol], part: Expr) -> Expr:
        """Return the mean of an expression of a few independent entries."""
        known = self.means.get(part)
        if known is not None or not random:
            return known or part
        if len(random) > _MOST_SIGNS:
            raise NoInstance("a mean over too many outcomes", too_large=True)
        cases = product(*(self.entries[entry] for entry in random))
        found = []
        for case in cases:
            values = dict(zip(random, (value for value, _ in case), strict=True))
            found.append(prod(chance for _, chance in case) * part.xreplace(values))
        self.means[part] = expand(Add(*found))
        return self.means[part]

    def variance(self, e: Expr, bound: Mapping[Symbol, int]) -> Any:
        """Return E[x^2] - E[x]^2."""
        return self.write(Expectation(e.args[0] ** 2) - Expectation(e.args[0]) ** 2, bound)

    def repeated(self, e: Any, bound: Mapping[Symbol, int]) -> Any:
        """Return a sum or a product with its terms written out."""
        (index, low, high), *inner = reversed(e.limits)
        body = e.func(e.function, *reversed(inner)) if inner else e.function
        places, count = self.places(low, high, body, index, bound)
        terms = [self.write(body, {**bound, index: place}) for place in places]
        more = count - len(terms)
        if isinstance(e, Sum):
            # the terms beyond those written out equal the last one
            return Add(*terms, *([terms[-1] * more] if more else []))
        return Mul(*terms, *([terms[-1] ** more] if more else []))

    def within(self, e: Within, bound: Mapping[Symbol, int]) -> Any:
        """Return a value after checking that its index is in range."""
        if type(e) is Within and not 0 <= self.whole(e.args[1], bound) < self.whole(e.args[2], bound):
            raise NoInstance(f"{e} lies outside its axis")
        return self.write(e.args[0], bound)

    def bracket(self, e: Iverson, bound: Mapping[Symbol, int]) -> Any:
        """Return the Iverson bracket of a relation between unknowns, or its value."""
        return Iverson(self.relation(e.args[0], bound))

    def delta(self, e: KroneckerDelta, bound: Mapping[Symbol, int]) -> Any:
        """Return the value of a Kronecker delta."""
        return Integer(self.whole(e.args[0], bound) == self.whole(e.args[1], bound))

    def applied(self, e: AppliedUndef, bound: Mapping[Symbol, int]) -> Any:
        """Return the image of an index under a permutation, or the unknown value of a function."""
        table = self.bijections.get(e.func.__name__)
        if table is not None:
            place = self.whole(e.args[0], bound)
            if not 0 <= place < len(table):
                raise NoInstance(f"{e} has no value")
            return Integer(table[place])
        at = tuple(self.write(each, bound) for each in e.args)
        found = self.unknown(f"{e.func.__name__}{at}", facts_of(e))
        self.calls[found] = (e.func.__name__, at)
        self.declared += [Constraint("declared", s, s) for each in at for s in each.free_symbols]
        return found

    def consistent(self, values: Mapping[Symbol, Expr]) -> bool:
        """Return whether every function has equal values at equal arguments."""
        seen: dict[Any, Expr] = {}
        for unknown, (name, at) in self.calls.items():
            value = unknown.xreplace(values)
            if seen.setdefault((name, tuple(each.xreplace(values) for each in at)), value) != value:
                return False
        return True

    def cases(self, e: Piecewise, bound: Mapping[Symbol, int]) -> Any:
        """Return a `Piecewise` whose values and conditions are written in unknowns."""
        return Piecewise(*((self.write(value, bound), self.relation(case, bound)) for value, case in e.args))

    def relation(self, e: Any, bound: Mapping[Symbol, int]) -> Any:
        """Return a condition on unknowns, or its truth value."""
        return e if e in (true, false) else e.func(*(self.write(side, bound) for side in e.args))

    def slope(self, e: Derivative, bound: Mapping[Symbol, int]) -> Any:
        """Return the derivative of a formula; the derivative of an unknown function is an unknown."""
        uninterpreted_function = self.unknown(str(e.xreplace(dict(bound))), {})
        # finitely many values of an unknown function leave its slope free
        if self.random or e.has(AppliedUndef):
            return uninterpreted_function
        value: Any = self.write(e.expr, bound)
        for variable, count in e.variable_count:
            value = value.diff(self.write(variable, bound), count)
        return uninterpreted_function if value.has(Derivative) else value


_COMMON = Internal("common sign", real=True)
_RULES: tuple[tuple[Any, Callable[[Instances, Any, Mapping[Symbol, int]], Any]], ...] = (
    (Rational, lambda self, e, bound: e),
    (Symbol, Instances.symbol),
    (Indexed, Instances.indexed),
    ((Sum, Product), Instances.repeated),
    (Expectation, Instances.expectation),
    (Variance, Instances.variance),
    (Within, Instances.within),
    (Iverson, Instances.bracket),
    (KroneckerDelta, Instances.delta),
    (AppliedUndef, Instances.applied),
    (Derivative, Instances.slope),
    (Piecewise, Instances.cases),
    (Count, lambda self, e, bound: self.write(e.value(), bound)),
)
