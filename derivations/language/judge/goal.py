"""Goals: the step to decide, with its assumptions and the side conditions that must still be proved.

Every tactic of the judge gets a `Goal`. It holds the definitions, the ranges of the indices and the assumptions in the
form that the normal form and the certificates use, and it records side conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from sympy import Basic, Eq, Expr, Ge, Indexed, Integer, Mod, Symbol, true

from derivations.language.arrays.binding import free_symbols, replace_free
from derivations.language.arrays.declarations import at_places
from derivations.language.arrays.deferred import is_deferring
from derivations.language.arrays.expression import Array
from derivations.language.arrays.internal import Internal
from derivations.language.arrays.scalars import Within, declared_real
from derivations.language.arrays.shapes import Axis, Blocks, Pair, join, split, total
from derivations.language.judge.certificates import Bound, Inequalities
from derivations.language.judge.domains import partial_entries
from derivations.language.judge.normal_form.context import Condition, Context, Undecided
from derivations.language.judge.normal_form.integers import always_nonnegative, is_integer, is_stated
from derivations.language.judge.normal_form.reading import keep_in_range, limit, read, symbol_atom
from derivations.language.judge.normal_form.relations import RELATIONS, gap
from derivations.language.judge.normal_form.rewriting import Rewrite, rewrite, rewrite_rules
from derivations.language.judge.normal_form.signs import is_nonnegative, is_nonzero, is_positive
from derivations.language.judge.normal_form.sums import open_sum
from derivations.language.judge.normal_form.terms import (
    ONE,
    ZERO,
    Poly,
    atoms_of,
    contains,
    negate,
    own_level,
    scale,
    single,
    subtract,
)
from derivations.language.judge.normal_form.writing import write
from derivations.language.judge.normal_form.zero import vanishes
from derivations.language.judge.premises import check_definitions, check_symbol_consistency, sizes_of
from derivations.language.judge.rules import Rule
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Claim, Derivation, Step
from derivations.language.results.statements import Conformable

__all__ = ["Goal", "common_places", "places_of"]

_LARGEST_CASES = 8
_INDEX = Symbol("i", integer=True)


class Goal:
    """One step to decide: its two sides, and the context with the usable facts."""

    def __init__(self, previous: Basic, step: Step, claim: Claim, derivation: Derivation, rule: Rule) -> None:
        self.previous, self.step, self.rule = previous, step, rule
        self.claim, self.derivation = claim, derivation
        self.context = Context(features=rule.features)
        statement = tuple(p for p in (previous, step.expression, *step.certificate) if not isinstance(p, Conformable))
        check_symbol_consistency(statement, derivation, claim.given)
        check_definitions(derivation.definitions)
        self.context.definitions = {e.variable.name: partial(self.unfold, e) for e in derivation.definitions}
        # a defined scalar occurs as the entry of an array without axes, or as the symbol of its name
        self.context.scalar_definitions = {
            symbol: partial(self.unfold, e)
            for e in derivation.definitions
            if not e.variable.shape
            for symbol in (e.variable.entry(), e.variable.base.label)
        }
        self.context.booleans = {e.variable.name for e in derivation.definitions if e.variable.kind == "boolean"}
        self.inequalities = Inequalities(self.context)
        self.context.bounds = self.inequalities.bounds
        self.rewrites: list[Rewrite] = []
        self.places: list[Symbol] = []
        self.settle: Callable[[Condition, Context], bool] = lambda condition, context: False  # the last resort
        self.unmet: tuple[str, Expr] | None = None  # the kind and the value of the side condition that is not proved
        self.numbered: dict[Symbol, int] = {}  # indices with few values, which are tried one by one
        ends = free_symbols(claim.lhs) | free_symbols(claim.steps[-1].expression)
        shown = free_symbols(previous) | free_symbols(step.expression)
        for index, size in derivation.ranges.items():
            if size.is_Integer and size <= 0:
                raise Undecided(f"the range of {index} has no member: its size is {size}")
            self.open_range(index, size, stated=index in ends and index in shown)
        for name, inverse, size in derivation.bijections:
            limits = (ZERO, subtract(read(size, self.context), ONE))
            # the inverse of a bijection of a range is one too, so each undoes the other
            for here, there in ((name, inverse), (inverse, name)):
                self.context.inverses[here] = there
                self.context.ranges[("fun", here)] = limits
        self.assumptions = (*derivation.assumptions, *claim.given)
        for assumption in sorted(self.assumptions, key=lambda a: a.statement.has(Indexed, Within)):
            self.assume(assumption)  # sizes first: entries such as x[2] exist only if the size is large enough
        self.require_sizes(*sizes_of(statement, derivation))

    def unfold(self, equation: Equation, *places: Expr) -> Expr:
        """Return the entry of a definition's right-hand side at the indices `places`.

        An index on an axis of blocks is split into the block and the index inside it, with the conditions for that.
        """
        # sum_i y_j with y_j = x_i for a free i: the sum over i would bind the i of the definition
        captured = free_symbols(equation) & set(self.context.symbols)
        if captured:
            raise Undecided(f"the index {min(captured, key=str)} of a sum also occurs in the definition {equation}")
        pairs: list[Any] = []
        for place, along in zip(places, equation.variable.shape, strict=True):
            at = read(place, self.context)
            keep_in_range(at, read(total(along), self.context), self.context)
            if not isinstance(along, Blocks) or (place.is_Integer and along.size.is_Integer):
                pairs.append(place)
                continue
            # place = block * size + rest has one solution with 0 <= rest < size
            block, rest = split(place, along.size)
            self.context.conditions += [Condition("integer", p) for p in (at, read(block, self.context))]
            keep_in_range(read(rest, self.context), read(along.size, self.context), self.context)
            pairs.append(Pair(block, rest, along.size))
        value = replace_free(equation.value, {equation.over[0]: places[0]}) if equation.over else equation.value
        self.keep_domains(value, *pairs[len(pairs) - len(value.shape) :])
        return equation.value_at(*pairs)

    def keep_domains(self, array: Array, *places: Any) -> None:
        """Record the conditions under which an entry is defined, even if SymPy cancelled the parts that need them.

        Without indices this is a general entry. An entry at given indices is also read itself, a general one need not.
        """
        at, read_too = places or tuple(places_of(self, *array.shape)), bool(places) and is_deferring()
        for part in partial_entries(array, at, self.fresh, read_too):
            read(part, self.context)

    def require_real(self, *parts: Basic) -> None:
        """Raise `Undecided` for an expression that is not declared real.

        Inequalities compare real numbers, and the normal form reads the entries of arrays as real.
        """
        for part in parts:
            if not declared_real(part):
                raise Undecided(f"{part} is not proved to be real")

    def require_sizes(self, *sizes: Expr) -> None:
        """Record that sizes must be nonnegative, unless this is proved: no array has a negative size."""
        for size in sizes:
            number = read(size, self.context)
            if not always_nonnegative(number, self.context):
                self.context.keep("nonnegative", number)

    def speaks_of(self, variable: Symbol) -> bool:
        """Return whether a variable has a definition or occurs in an assumption, directly or through a definition."""
        atom = symbol_atom(variable)
        read_so_far = (
            *((bound.value, bound.limits) for bound in self.inequalities.bounds),
            *((rule.pattern, rule.value, rule.limits) for rule in self.rewrites),
            *(fact.of for fact in self.context.facts),
        )
        stated = any(variable in a.statement.free_symbols for a in self.assumptions)
        defined = variable in self.context.scalar_definitions
        return stated or defined or any(contains(part, atom) for part in read_so_far)

    def fresh(self, along: Axis) -> Any:
        """Return a new index for an axis, which occurs nowhere else."""
        return places_of(self, along)[0]

    def open_range(self, index: Symbol, size: Expr, *, stated: bool = True) -> None:
        """Record that an index takes the values 0, ..., size - 1.

        A statement with the index quantifies over its values, so the range may be assumed. A statement without the
        index is also about sizes for which the range is empty. There "0 <= i < size" would be a false premise, so a
        range that may be empty is not used.
        """
        # an even index, for example, does not take all values 0, ..., size - 1
        if index.assumptions0 != _INDEX.assumptions0:
            raise Undecided(f"the index {index} must be declared an integer and nothing more")
        limit(size, self.context)
        last = subtract(read(size, self.context), ONE)
        if not stated and not always_nonnegative(last, self.context):
            return
        # with few values, the step may be proved for each value where no proof for a general index is found
        if size.is_Integer and size <= _LARGEST_CASES:
            self.numbered[index] = int(size)
        self.context.ranges[symbol_atom(index)] = (ZERO, last)

    def assume(self, assumption: Assumption) -> None:
        """Store an assumption in usable form: a least size, a sign at all its indices, or an equation for rewriting."""
        for index in assumption.ranges:
            at_places(index, {index: index})  # its declaration must admit all of its values
        (statement, anything), context = _general(assumption), self.context
        if statement == true:
            return
        if type(statement) not in RELATIONS:
            raise Undecided(f"the assumption {statement} is false as it stands: nothing follows from it")
        left, right = statement.args
        # n >= 3 sharpens s >= 1, which the normal form uses everywhere without a search
        if (
            isinstance(statement, Ge)
            and not assumption.ranges
            and isinstance(left, Symbol)
            and right.is_Integer
            and symbol_atom(left)[2] == "size"
        ):
            context.minimum[left.name] = int(right)
            return
        sizes = {index: replace_free(size, anything) for index, size in assumption.ranges.items()}
        if any(size.free_symbols & set(anything.values()) for size in sizes.values()):
            raise Undecided("an assumption in which ranges of indices depend on each other")
        limits = {symbol_atom(anything[i]): (ZERO, subtract(read(size, context), ONE)) for i, size in sizes.items()}
        # Conditions from reading an assumption are checked below; they are not conditions of the step.
        before = (context.ranges, context.features, context.conditions)
        context.ranges, context.conditions = {**context.ranges, **limits}, []
        context.features |= {"expectation"}  # assumptions may state moments under every rule
        try:
            if isinstance(statement, Eq) and isinstance(left, Mod) and right == 0 and not assumption.ranges:
                self._assume_multiple(left)
                return
            low, high = read(right, context), read(left, context)
            # "x[5] > 0" for an x of unknown size would assume a sixth entry
            nowhere = [c for c in context.conditions if c.kind == "in range" and not _covered(c, context)]
            if nowhere:
                raise Undecided(f"the assumption {statement} mentions entries that may not exist")
        finally:
            context.ranges, context.features, context.conditions = before
        if isinstance(statement, Eq):
            # under other rules an assumed equation must not rewrite silently: the step names the rule that it uses
            if "assumption" in self.rule.features or self.rule.tactic == "bound":
                context.equations.append((subtract(high, low), tuple(limits.items())))
            if "assumption" in self.rule.features:
                self.rewrites += rewrite_rules(high, low, limits, context)
            return
        kind = _SIGNS[RELATIONS[type(statement)][0]]
        self.inequalities.bounds.append(Bound(kind, gap(type(statement), high, low), tuple(limits.items())))

    def _assume_multiple(self, remainder: Mod) -> None:
        """Assume that a size is a multiple of a number: their quotient is an integer."""
        number, divisor = remainder.args
        if not (divisor.is_Integer and divisor > 0):
            raise Undecided(f"the divisor of {remainder} must be a positive integer")
        quotient = scale(read(number, self.context), Fraction(1, int(divisor)))
        self.context.facts.append(Condition("integer", quotient))

    def value(self, expression: Basic) -> Poly:
        """Return the normal form of a scalar, rewritten by the assumed equations if the rule allows this."""
        p = read(expression, self.context)
        # an open index has no value outside its sum
        if atoms_of(p, "t"):
            raise Undecided("an index was left open")
        return rewrite(p, self.rewrites, self.context) if "assumption" in self.rule.features else p

    def equal(self, left: Basic, right: Basic) -> bool:
        """Return whether two scalars are proved equal, if necessary for each value of an index that has few values."""
        if vanishes(subtract(self.value(left), self.value(right)), self.context):
            return True
        for index, count in self.numbered.items():
            if index in left.free_symbols | right.free_symbols:
                values = ({index: Integer(value)} for value in range(count))
                return all(self.equal(left.xreplace(each), right.xreplace(each)) for each in values)
        return False

    def uncovered(self) -> str | None:
        """Return a message about the first side condition that is not proved, or None if all are proved."""
        for condition in list(self.context.conditions):
            if "assumption" in self.rule.features:
                # the two sides were rewritten, so the condition must speak of the same atoms
                condition = replace(condition, of=rewrite(condition.of, self.rewrites, self.context))
            if not _covered(condition, self.context):
                # costly facts only where the cheap ones are not enough
                self.sum_signs(condition.of)
                for bound in self.inequalities.bounds:
                    self.context.facts += bound.instances(self.context)
                if not _covered(condition, self.context) and not self.settle(condition, self.context):
                    self.unmet = condition.kind, write(condition.of)
                    return "a side condition is not among the assumptions: " + self._wanted(condition)
        return None

    def _wanted(self, condition: Condition) -> str:
        """Return a side condition as text, with a remedy for an index without a range."""
        place = write(condition.of)
        text = f"{place} is {condition.kind}"
        if condition.kind != "in range" or not place.is_Symbol:
            return text
        ends = (write(other.of) + place + 1 for other in self.context.conditions if other.kind == "in range")
        sizes = [end for end in ends if place not in end.free_symbols]
        return f"{text} (say how many values it has: ranges={{{place}: {sizes[0] if sizes else '...'}}})"

    def sum_signs(self, p: Poly) -> None:
        """Record which sums in a polynomial are positive or nonnegative, because all of their terms are."""
        # inner sums first: the sign of an outer one may rest on theirs
        for atom in sorted(atoms_of(p, "sum"), key=lambda each: own_level(each[2])):
            body, indices = open_sum(atom, self.context)
            places = (subtract(high, low) for low, high in (self.context.ranges[index] for index in indices))
            if is_positive(body, self.context) and all(always_nonnegative(p, self.context) for p in places):
                self.context.facts.append(Condition("positive", single(atom)))
            elif is_nonnegative(body, self.context):
                self.context.facts.append(Condition("nonnegative", single(atom)))


@lru_cache(maxsize=1 << 10)
def _general(assumption: Assumption) -> tuple[Basic, dict[Symbol, Symbol]]:
    """Return the statement of an assumption with its indices renamed to names that no user can write."""
    anything: dict[Symbol, Symbol] = {index: Internal(f"any {index.name}", integer=True) for index in assumption.ranges}
    return replace_free(assumption.statement, anything), anything


def _covered(condition: Condition, context: Context) -> bool:
    p = condition.of
    if condition.kind == "integer":
        return is_integer(p, context)
    if condition.kind == "in range":
        return always_nonnegative(p, context) or is_stated("nonnegative", p, context) or _beyond_stated(p, context)
    if condition.kind == "nonnegative":
        return is_nonnegative(p, context) or _beyond_stated(p, context)
    if condition.kind == "nonzero":
        return is_nonzero(p, context) or is_nonzero(negate(p), context)
    return is_positive(p, context)


def _beyond_stated(p: Poly, context: Context) -> bool:
    """Return whether p >= b for an assumption b >= 0 or b > 0: n - w + 1 >= 0 follows from n - w >= 0."""
    whole = (bound for bound in context.bounds if bound.kind in ("positive", "nonnegative") and not bound.limits)
    return any(always_nonnegative(subtract(p, bound.value), context) for bound in whole)


_SIGNS = {">=": "nonnegative", ">": "positive", "!=": "nonzero"}


def places_of(goal: Goal, *axes: Axis) -> list[Any]:
    """Return a fresh index for every axis. It occurs nowhere else and has the range of the axis."""
    places: list[Any] = []
    for along in axes:
        sizes = (along.count, along.size) if isinstance(along, Blocks) else (along,)
        indices = []
        for size in sizes:
            indices.append(Internal(f"place {len(goal.places) + 1}", integer=True))
            goal.places.append(indices[-1])
            goal.open_range(indices[-1], size)
        places.append(Pair(indices[0], indices[1], along.size) if isinstance(along, Blocks) else indices[0])
    return places


def common_places(left: Array, right: Array, goal: Goal) -> list[Any]:
    """Return new indices, one for each axis of two arrays of the same shape."""
    return places_of(goal, *map(join, left.shape, right.shape))
