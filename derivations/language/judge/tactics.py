"""Tactics: the functions that decide a step, except those of `limits`, `linear_maps` and `suprema`.

Each takes a goal and returns None if the step is proved, else a message about the missing part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

from mpmath import iv
from sympy import Basic, Eq, Expr, Integer, Symbol

from derivations.language.arrays.binding import free_symbols, replace_free
from derivations.language.arrays.declarations import at_places
from derivations.language.arrays.expression import Array
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.scalars import Rounded, declared_real
from derivations.language.arrays.shapes import same_size, shape_text, total
from derivations.language.judge import intervals
from derivations.language.judge.certificates import nonnegative, positive
from derivations.language.judge.evaluate import NotEvaluable, Sample, evaluate
from derivations.language.judge.goal import Goal, common_places
from derivations.language.judge.normal_form.context import Condition
from derivations.language.judge.normal_form.reading import read
from derivations.language.results.derivation import Assumption, Step
from derivations.language.results.statements import Conformable, Rank

__all__ = [
    "TACTICS",
    "by_bound",
    "by_induction",
    "by_normal_form",
    "by_order",
    "by_rank",
    "by_rounding",
    "by_shape",
    "unequal",
]

_LARGEST_ORDER = 4


def by_normal_form(goal: Goal) -> str | None:
    """Prove that the two sides, scalars or arrays, have the same normal form."""
    if goal.step.relation != "=":
        return f"the rule {goal.rule.name} proves equalities, not {goal.step.relation}"
    return unequal(goal.previous, goal.step.expression, goal)


def unequal(left: Basic, right: Basic, goal: Goal) -> str | None:
    """Return the reason why two scalars or arrays are not proved equal, if they are not."""
    if isinstance(left, Array) != isinstance(right, Array):
        return "an array and a scalar are never equal"
    if isinstance(left, Array) and isinstance(right, Array):
        fits = len(left.shape) == len(right.shape) and all(map(same_size, left.shape, right.shape))
        if not fits:
            return f"the shapes {shape_text(left.shape)} and {shape_text(right.shape)} differ"
        goal.require_real(left, right)
        laws = _by_law(left, goal), _by_law(right, goal)
        if laws[0] is not None and laws[1] is not None:
            return _arguments_unequal(laws[0], laws[1], goal)
        places = common_places(left, right, goal)
        # on their own, because an entry may have lost what is undefined: x * (1/x) is 1
        goal.keep_domains(left, *places)
        goal.keep_domains(right, *places)
        left, right = left.entry(*places), right.entry(*places)
    return None if goal.equal(left, right) else "the two sides are not proved to be equal"


def _by_law(array: Array, goal: Goal) -> Recurrence | None:
    """Return the recurrence that an array is, or is defined to be, if its states have no closed form."""
    defined = {equation.variable: equation.value for equation in goal.derivation.definitions if not equation.over}
    found = defined.get(array, array)
    return found if isinstance(found, Recurrence) and found.is_by_law else None


def _arguments_unequal(left: Recurrence, right: Recurrence, goal: Goal) -> str | None:
    """Return why the arguments of two recurrences are not proved equal, or None; equal arguments give equal states."""
    if left.backwards != right.backwards:
        return "one recurrence runs forwards and one backwards"
    both = zip((*left.args[:2], *left.factors), (*right.args[:2], *right.factors), strict=True)
    return next((missing for one, other in both if (missing := unequal(one, other, goal)) is not None), None)


def by_order(goal: Goal) -> str | None:
    """Prove the equality for every order of the certificate's numbers: one of these orders always holds."""
    numbers = goal.step.certificate
    real = all(isinstance(number, Expr) and declared_real(number) for number in numbers)
    # 4 numbers have 24 orders, each a proof of its own
    if not 2 <= len(numbers) <= _LARGEST_ORDER or not real:
        return f"the certificate names 2 to {_LARGEST_ORDER} real numbers"
    # real numbers are totally ordered, so one of these orders always holds
    for order in permutations(numbers):
        # a new goal for each order, so that the facts of one order are not used in another
        inside = Goal(goal.previous, goal.step, goal.claim, goal.derivation, goal.rule)
        for upper, lower in combinations(order, 2):
            inside.context.facts.append(Condition("nonnegative", read(upper - lower, inside.context)))
        missing = by_normal_form(inside) or inside.uncovered()
        if missing:
            return f"with {' >= '.join(map(str, order))}: {missing}"
    return None


def by_induction(goal: Goal) -> str | None:
    """Prove the equality by induction over the certificate's index: for its first value, and from each to the next.

    The hypothesis is the equality at one place t, for all values of the other indices; no other assumption may speak of
    t itself, since it would be one about a single place.
    """
    left, right, index = goal.previous, goal.step.expression, goal.step.certificate[:1]
    ranges, others = dict(goal.derivation.ranges), (*goal.derivation.assumptions, *goal.claim.given)
    if len(goal.step.certificate) != 1 or index[0] not in ranges or goal.step.relation != "=":
        return "the certificate of an induction is one index with a range, and the statement an equality"
    (t,) = index
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return "an induction is about numbers, not arrays"
    if any(t in free_symbols(each.statement) and t not in each.ranges for each in others):
        return f"an assumption speaks of the index {t} of the induction itself"
    count = ranges.pop(t)
    if any(t in size.free_symbols for size in ranges.values()):
        return f"the range of another index depends on {t}"
    hypothesis = Assumption(Eq(left, right, evaluate=False), dict(ranges))
    first = replace(goal.derivation, ranges=ranges)
    later = replace(
        goal.derivation,
        ranges={**ranges, t: count - 1},
        assumptions=(*goal.derivation.assumptions, hypothesis, *_at_next_place(others, t, count - 1)),
    )
    for what, place, derivation in (("at the first place", Integer(0), first), ("at the next place", t + 1, later)):
        before, after = (at_places(side, {t: place}) for side in (left, right))
        inside = Goal(before, Step("assumption", after), goal.claim, derivation, goal.rule)
        missing = by_normal_form(inside) or inside.uncovered()
        if missing:
            return f"{what}: {missing}"
    return None


def _at_next_place(assumptions: Iterable[Assumption], t: Symbol, count: Expr) -> Iterator[Assumption]:
    """Yield the assumptions about an index with `count` values, for the value t of this index.

    An example is a recurrence relation that leads from t to t + 1.
    """
    for each in assumptions:
        for index, size in each.ranges.items():
            if same_size(size, count) and t not in each.ranges:
                rest = {other: among for other, among in each.ranges.items() if other != index}
                yield Assumption(replace_free(each.statement, {index: t}), rest)


def by_bound(goal: Goal) -> str | None:
    """Prove an inequality: the form of the difference of the two sides shows its sign."""
    left, right = goal.previous, goal.step.expression
    strange = [part for part in (left, right, *goal.step.certificate) if not isinstance(part, Expr)]
    if strange:
        return f"a bound compares numbers, but {strange[0]} is not a number"
    gap = right - left if goal.step.relation in ("<=", "<") else left - right
    if goal.step.relation not in ("<=", "<", ">=", ">"):
        return f"a bound states an inequality, not {goal.step.relation}"
    certificate = goal.step.certificate[0] if goal.step.certificate else gap
    goal.require_real(left, right, certificate)
    goal.value(left)  # each side on its own: an undefined part may cancel in the difference
    goal.value(right)
    goal.value(gap)  # the conditions for both sides to be defined are kept as side conditions
    goal.value(certificate)
    if certificate is not gap and not goal.equal(gap, certificate):
        return "the certificate is not proved to equal the difference of the two sides"
    test = positive if goal.step.relation in ("<", ">") else nonnegative
    if not test(certificate, goal.inequalities):
        return f"the form of {certificate} does not show its sign"
    return None


def by_rounding(goal: Goal) -> str | None:
    """Prove a rounded value: the number differs from it by less than half a unit of the last decimal."""
    rounded, value = goal.previous, goal.step.expression
    if not isinstance(rounded, Rounded) or not value.is_Rational or goal.step.relation != "=":
        return "rounding states that a number, rounded to some decimals, is a rational number"
    number, decimals = rounded.args
    if (value * 10**decimals).is_Integer is not True:
        return f"{value} has more than {decimals} decimals"
    definitions = goal.context.definitions
    try:
        interval = evaluate(number, Sample({}, definitions=definitions, closed=True))
    except NotEvaluable as error:
        return f"{number} is not a number: {error}"
    half = iv.mpf(1) / (2 * iv.mpf(10) ** int(decimals))
    centre = intervals.fraction(Fraction(int(value.p), int(value.q)))
    # strictly inside: at exactly half a unit both neighbours would be correct roundings
    inside = interval > centre - half and interval < centre + half
    return None if inside else f"{number} lies in {interval}, which does not round to {value}"


def by_rank(goal: Goal) -> str | None:
    """Prove that a rank is at most a size of the matrix, or the inner size if the matrix is a product A B."""
    rank, bound = goal.previous, goal.step.expression
    if not isinstance(rank, Rank) or goal.step.relation != "<=":
        return "this rule states rank(A B) <= size"
    matrix = rank.args[0]
    goal.keep_domains(matrix)
    # the columns of A B are combinations of the columns of A, of which there are as many as the inner size
    inner = [matrix.args[0].shape[-1]] if type(matrix).__name__ == "Product" else []
    goal.require_sizes(*(total(size) for size in (*matrix.shape, *inner)))
    if any(goal.equal(total(size), bound) for size in (*matrix.shape, *inner)):
        return None
    return f"{bound} is neither the inner size nor a size of {matrix}"


def by_shape(goal: Goal) -> str | None:
    """Prove that a matrix product can be formed iff the two sizes named in the condition are equal."""
    statement, condition = goal.previous, goal.step.expression
    if not isinstance(statement, Conformable) or goal.step.relation != "iff" or not isinstance(condition, Eq):
        return "this rule states: A B conforms iff two sizes are equal"
    given, wanted = (e.lhs - e.rhs for e in (condition, statement.condition))
    same = goal.equal(given, wanted) or goal.equal(given, -wanted)
    return None if same else f"the condition is {statement.condition}, not {condition}"


TACTICS = {
    "normal form": by_normal_form,
    "order": by_order,
    "induction": by_induction,
    "bound": by_bound,
    "rounding": by_rounding,
    "rank": by_rank,
    "shape": by_shape,
}
