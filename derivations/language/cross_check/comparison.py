"""The numerical cross-check: both sides of every step at small sizes and drawn values, with three outcomes.

agrees           both sides were evaluated at one point or more, and the relation held at each
disagrees        the relation fails at a point inside the assumptions, which the reason names
not applicable   a step could not be evaluated at any point, and the reason says why

Numbers have 60 digits. Two sides agree within 10^-22 of their size, and differ if they are more than 10^-15 apart; a
limit is compared at a large argument, within 10^-3. Between these bounds the comparison is open. Agreement is not a
proof: it only means that no error of the judge was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from typing import Any

from sympy import Basic, Limit

from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.costs import Count
from derivations.language.cross_check import (
    calculus,
    choices,
    contractions,
    counting,
    expectations,
    largest,
    layers,
    rows,
    saved_residuals,
    statements,
)
from derivations.language.cross_check.arrays import deep
from derivations.language.cross_check.assignment import CONTEXT, Assignment, Hole, NotCovered, Undefined, Unfit, meaning
from derivations.language.cross_check.real_functions import number
from derivations.language.cross_check.sampling import Situation, assignments
from derivations.language.results.derivation import Claim, Derivation

__all__ = ["Comparison", "CrossCheck", "StepCheck", "compare", "cross_check", "points_of"]

_ATTEMPTS, _PLACES = 3, 4
_AGREE, _DIFFER = Decimal(10) ** -22, Decimal(10) ** -15
_FAR_AGREE, _FAR_DIFFER = Decimal(10) ** -3, Decimal(10) ** -1

RULES = (
    calculus,
    choices,
    contractions,
    counting,
    expectations,
    largest,
    saved_residuals,
    layers,
    rows,
    statements,
)  # imported for the rules they register


@dataclass(frozen=True)
class StepCheck:
    """The result for one step: the outcome, the number of points, and the reason if it does not agree."""

    outcome: str
    points: int
    reason: str = ""


@dataclass(frozen=True)
class CrossCheck:
    """The result for a derivation: the outcome, the number of compared points, and the first reason."""

    outcome: str
    steps: tuple[tuple[StepCheck, ...], ...]

    @property
    def points(self) -> int:
        """The number of comparisons, over all steps."""
        return sum(step.points for claim in self.steps for step in claim)

    @property
    def reason(self) -> str:
        """The point of disagreement, or the step that could not be evaluated, for the first such step."""
        return next(
            (
                f"claim {c}, step {s}: {step.reason}"
                for c, claim in enumerate(self.steps, 1)
                for s, step in enumerate(claim, 1)
                if step.outcome == self.outcome and step.outcome != "agrees"
            ),
            "",
        )


def cross_check(derivation: Derivation) -> CrossCheck:
    """Evaluate both sides of every step of a derivation at small sizes, without code of the judge."""
    claims = tuple(_claim(derivation, claim) for claim in derivation.claims)
    outcomes = {step.outcome for steps in claims for step in steps}
    outcome = next((o for o in ("disagrees", "not applicable") if o in outcomes), "agrees")
    return CrossCheck(outcome, claims)


def _claim(derivation: Derivation, claim: Claim) -> tuple[StepCheck, ...]:
    expressions = [claim.lhs, *(s.expression for s in claim.steps)]
    links = list(zip(expressions, (s.relation for s in claim.steps), expressions[1:], strict=False))
    # a count runs a layer, so its sizes must be small; other steps are compared at any sizes
    runs = [i for i, (left, _, right) in enumerate(links) if left.has(Count) or right.has(Count)]
    plain = [i for i in range(len(links)) if i not in runs]
    found: dict[int, StepCheck] = {}
    if plain:
        found |= _links(points_of(derivation, claim, _ATTEMPTS, _PLACES), links, plain)
    if runs:  # counts: where the assumed sizes are too large to run a layer, agreement at small sizes is accepted
        found |= _counts(derivation, claim, links, runs)
    return tuple(found[i] for i in range(len(links)))


def _counts(derivation: Derivation, claim: Claim, links: list[Any], runs: list[int]) -> dict[int, StepCheck]:
    strict = _links(points_of(derivation, claim, _ATTEMPTS, _PLACES), links, runs)
    rest = [i for i in runs if strict[i].outcome == "not applicable"]
    relaxed = _links(points_of(derivation, claim, _ATTEMPTS, _PLACES, relaxed=True), links, rest) if rest else {}
    for i in rest:
        if relaxed[i].outcome == "agrees":
            strict[i] = relaxed[i]
        elif relaxed[i].outcome == "disagrees":
            # the assumptions fail there, so that nothing is refuted; but nothing was checked either, and it is told
            strict[i] = replace(strict[i], reason=f"{strict[i].reason}; where a size is too small, {relaxed[i].reason}")
    return strict


def points_of(
    derivation: Derivation, claim: Claim, attempts: int, places: int, relaxed: bool = False
) -> Iterator[Assignment]:
    """Yield assignments under which the assumptions of a claim hold.

    Raises       NotCovered when none is found
    """
    situation, found, reason = Situation.of(derivation, claim, relaxed), False, ""
    for attempt in range(attempts):
        try:
            with localcontext(CONTEXT):
                for assignment in assignments(situation, attempt, places):
                    found = True
                    yield assignment
        except (NotCovered, Undefined, ArithmeticError) as error:
            reason = str(error)
    if not found:
        raise NotCovered(reason)


@dataclass
class Comparison:
    """The comparison of two sides at one point: "agree", "differ", "undefined" (one side has no value) or "open"."""

    verdict: str
    reason: str = ""


def _links(points: Iterable[Assignment], links: list[Any], chosen: list[int]) -> dict[int, StepCheck]:
    counts, reasons, failed = dict.fromkeys(chosen, 0), dict.fromkeys(chosen, "no point was reached"), dict[int, str]()
    try:
        for assignment in points:
            with localcontext(CONTEXT):
                # the right side of one step is the left side of the next
                kept: dict[Basic, Any] = {}
                for i in chosen:
                    left, relation, right = links[i]
                    result = compare(left, relation, right, assignment, kept)
                    if result.verdict == "agree":
                        counts[i] += 1
                    elif result.verdict == "differ" or result.verdict == "undefined":
                        failed.setdefault(i, result.reason)
                    else:
                        reasons[i] = result.reason
    except NotCovered as error:
        reasons = dict.fromkeys(chosen, str(error))
    return {
        i: StepCheck("disagrees", counts[i], failed[i])
        if i in failed
        else StepCheck("agrees", counts[i])
        if counts[i]
        else StepCheck("not applicable", 0, reasons[i])
        for i in chosen
    }


def compare(
    left: Basic, relation: str, right: Basic, assignment: Assignment, kept: dict[Basic, Any] | None = None
) -> Comparison:
    """Compare two sides under an assignment, in the decimal context; `kept` caches their values."""
    values = []
    kept = {} if kept is None else kept
    for side in (left, right):
        if side not in kept:
            kept[side] = _value(side, assignment)
        if isinstance(kept[side], NotCovered | ShapeError):
            return Comparison("open", str(kept[side]))
        values.append(kept[side])
    undefined = [isinstance(value, ArithmeticError) for value in values]
    # neither side claims anything here, which is no agreement either
    if all(undefined):
        return Comparison("open", f"both sides are undefined: {values[0]}")
    if any(undefined):
        side, value = ("left", values[0]) if undefined[0] else ("right", values[1])
        if isinstance(value, Unfit):
            return Comparison("open", str(value))
        return Comparison("undefined", f"at {_told(assignment)} the {side} side is undefined: {value}")
    return _compared(left, relation, right, assignment, *values)


def _value(side: Basic, assignment: Assignment) -> Any:
    assignment.values = dict(assignment.base)
    try:
        return meaning(side)(assignment)
    except (Undefined, ArithmeticError, NotCovered, ShapeError) as error:
        return error
    except (TypeError, ValueError, IndexError, KeyError, RecursionError) as error:  # arrays whose sizes do not fit
        return NotCovered(f"{type(error).__name__}: {error}")


def _compared(left: Basic, relation: str, right: Basic, assignment: Assignment, a: Any, b: Any) -> Comparison:
    if isinstance(a, list) != isinstance(b, list):
        return Comparison("differ", "an array and a scalar")
    if isinstance(a, list):
        if _sizes(a) != _sizes(b):
            return Comparison("differ", f"at {_told(assignment)} the sizes are {_sizes(a)} and {_sizes(b)}")
        rank = len(left.shape) if isinstance(left, Array) else len(_sizes(a))
        pairs = list(_flat(deep(rank, lambda x, y: (x, y), a, b))) if a else []
    else:
        pairs = [(a, b)]
    for x, y in pairs:
        if isinstance(x, Hole) != isinstance(y, Hole):
            lacking, hole = ("left", x) if isinstance(x, Hole) else ("right", y)
            return Comparison("undefined", f"at {_told(assignment)} the {lacking} side is undefined: {hole.reason}")
    defined = [(x, y) for x, y in pairs if not isinstance(x, Hole)]
    if pairs and not defined:
        return Comparison("open", "no entry is defined")
    pairs = defined
    verdicts = [_relation(relation, x, y, left.has(Limit) or right.has(Limit)) for x, y in pairs]
    for verdict, (x, y) in zip(verdicts, pairs, strict=True):
        if verdict == "differ":
            return Comparison(
                "differ", f"at {_told(assignment)} the left side is {_short(x)}, the right side {_short(y)}"
            )
    if "open" in verdicts:
        return Comparison("open", "the two sides are too close to tell")
    return Comparison("agree")


def _sizes(value: Any) -> tuple[int, ...]:
    return (len(value), *_sizes(value[0])) if isinstance(value, list) and value else ()


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for member in value:
            yield from _flat(member)
    else:
        yield value


def _relation(relation: str, a: Any, b: Any, coarse: bool) -> str:
    agree, differ = (_FAR_AGREE, _FAR_DIFFER) if coarse else (_AGREE, _DIFFER)
    # relative for large values, absolute for small ones
    gap, scale = a - b, 1 + abs(a) + abs(b)
    if relation in ("=", "iff"):
        return "agree" if abs(gap) <= agree * scale else "differ" if abs(gap) >= differ * scale else "open"
    if relation in (">=", ">"):
        gap = -gap
    if gap > agree * scale:
        return "differ" if gap >= differ * scale else "open"
    # a strict relation fails at equality, also within the tolerance; at a limit the sides may only tend to it
    if relation in ("<", ">") and gap >= 0 and not coarse:
        return "differ"
    return "agree"


def _told(assignment: Assignment) -> str:
    named = sorted((symbol.name, value) for symbol, value in assignment.base.items())
    return ", ".join(f"{name} = {_short(value)}" for name, value in named[:12]) + f" (drawn from {assignment.seed!r})"


def _short(value: Any) -> str:
    return str(value) if isinstance(value, int | bool) else f"{number(value):.12g}"
