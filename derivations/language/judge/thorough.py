"""The second look: costlier proofs, for steps that the tactics leave undecided.

An equality is decided by cases, an inequality by cases and by linear arithmetic (`normal_form.deciding`). Both are
tried again with sums over k p values as sums over k blocks of p, for each p that divides a range. While the two sides
are read, a sign may follow from several assumed inequalities together. As in the first look, every side condition must
be proved or assumed.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Basic, Integer, Symbol

from derivations.language.arrays.deferred import deferring
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import same_size
from derivations.language.judge.goal import Goal, common_places
from derivations.language.judge.normal_form.almost import extends_everywhere, variables_of
from derivations.language.judge.normal_form.deciding import consult, has_sign, is_zero, settles
from derivations.language.judge.normal_form.reading import symbol_atom
from derivations.language.judge.normal_form.terms import Poly, subtract
from derivations.language.judge.rules import RULES, Rule
from derivations.language.layers.stacks import without_stacks
from derivations.language.results.derivation import Claim, Derivation, Step

__all__ = ["proved_thoroughly"]

_MOST_INNERS = 4  # sizes of blocks that are tried


def proved_thoroughly(previous: Basic, step: Step, claim: Claim, derivation: Derivation, rule: Rule) -> bool:
    """Return whether the second look proves a step."""
    tactic = {"normal form": _equal, "bound": _bounded}.get(rule.tactic)
    if tactic is None:
        return False
    try:
        if step.relation == "=" and isinstance(previous, Array) and isinstance(step.expression, Array):
            previous, step, equal = _with_stacks_named(previous, step, derivation)
            if equal:
                return True
        # the first round cuts no range, and collects the sizes of blocks that the next rounds try
        inners: list[Poly | None] = [None]
        for number in range(1 + _MOST_INNERS):
            # a new goal each time: normal forms and conditions depend on how ranges are cut
            goal = Goal(previous, step, claim, derivation, rule)
            goal.context.consult, goal.settle, goal.context.inner = consult, settles, inners[number]
            with deferring():
                if tactic(goal) and goal.uncovered() is None and _holds_everywhere(goal):
                    return True
            inners += [] if number else goal.context.inners
            if number + 1 >= len(inners):
                return False
        return False
    except Exception:  # whatever happens inside, silence is never success
        return False


def _with_stacks_named(left: Array, step: Step, derivation: Derivation) -> tuple[Basic, Step, bool]:
    """Return a step with an array for each repetition of symbolic count, and whether its sides are then the same."""

    def equal(one: Basic, other: Basic) -> bool:
        return _proved(one, other, derivation)

    def equal_alone(one: Basic, other: Basic) -> bool:
        return _proved(one, other, Derivation("", "", (Claim(one, (Step("algebra", other),)),)))

    named, value = without_stacks(left, step.expression, equal, equal_alone)
    return named, replace(step, expression=value), named == value and named != left


def _proved(left: Basic, right: Basic, derivation: Derivation) -> bool:
    step = Step("algebra", right)
    goal = Goal(left, step, Claim(left, (step,)), derivation, RULES[step.rule])
    goal.context.consult, goal.settle = consult, settles
    with deferring():
        return _equal(goal) and goal.uncovered() is None and _holds_everywhere(goal)


def _holds_everywhere(goal: Goal) -> bool:
    """Return whether the equality holds everywhere, if it was proved only almost everywhere."""
    generic = goal.context.generic
    if not generic:
        return True
    variables = variables_of(generic)
    if variables is None:
        return False
    sides = (goal.previous, goal.step.expression)
    symbols = frozenset(s for side in sides for s in side.free_symbols if isinstance(s, Symbol))
    named = frozenset(s for s in symbols if symbol_atom(s) in variables)
    statements = [a.statement for a in goal.assumptions]
    others = [*(e.value for e in goal.derivation.definitions), *goal.derivation.ranges.values()]
    return len(named) == len(variables) and extends_everywhere(sides, named, statements, others)


def _equal(goal: Goal) -> bool:
    left, right = goal.previous, goal.step.expression
    goal.context.generic = []  # a list admits proofs that hold almost everywhere; `_holds_everywhere` extends them
    if goal.step.relation != "=" or isinstance(left, Array) != isinstance(right, Array):
        return False
    if isinstance(left, Array) and isinstance(right, Array):
        if len(left.shape) != len(right.shape) or not all(map(same_size, left.shape, right.shape)):
            return False
        goal.require_real(left, right)
        places = common_places(left, right, goal)
        goal.keep_domains(left, *places)
        goal.keep_domains(right, *places)
        left, right = left.entry(*places), right.entry(*places)
    return _same(left, right, goal)


def _same(left: Basic, right: Basic, goal: Goal) -> bool:
    gap = subtract(goal.value(left), goal.value(right))
    # the conditions of the two sides were kept while they were read: continuity does not remove these
    with goal.context.after_reading(), goal.context.derivation():
        if is_zero(gap, goal.context):
            return True
    for index, count in goal.numbered.items():
        if index in left.free_symbols | right.free_symbols:
            values = ({index: Integer(value)} for value in range(count))
            return all(_same(left.xreplace(value), right.xreplace(value), goal) for value in values)
    return False


def _bounded(goal: Goal) -> bool:
    """Return whether the difference of the sides, or a certificate equal to it, has the sign that is needed."""
    left, right, relation = goal.previous, goal.step.expression, goal.step.relation
    if relation not in ("<=", "<", ">=", ">"):
        return False
    goal.require_real(left, right, *goal.step.certificate)
    low, high = (goal.value(side) for side in ((left, right) if relation in ("<=", "<") else (right, left)))
    gap = subtract(high, low)
    for certificate in goal.step.certificate[:1]:
        value = goal.value(certificate)
        if not is_zero(subtract(gap, value), goal.context):
            return False
        gap = value
    with goal.context.derivation():
        return has_sign(gap, relation in ("<", ">"), goal.context)
