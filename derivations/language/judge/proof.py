"""The judge: the only code that decides what is proved.

What it trusts:
    the normal form (`normal_form`): its rules are listed in the heads of its modules;
    the entry rule of every array node (`expression`, `arrangements`, `functions`, `selection`, `rows`, `routing`,
        `columns`, `exponentials`): what it means;
    the rules that count (`operations`, `flop_passes`, `memory_counts`), at sizes for which every axis is an integer
        >= 1;
    certificates (`certificates`): forms that show a sign, their equalities proved by the normal form, and the known
        inequalities listed there;
    the law of each rule that has a tactic of its own (`rules`), whose premises the tactic checks;
    what the second look (`thorough`) adds: cases of maxima and brackets, nonnegative combinations of facts
        (`normal_form.deciding`, `facts`, `linear`), continuity (`almost`), induction over a stack (`stacks`);
    floating-point numbers are the decimals that were written (`decimals`);
    the laws of limits that `limits` lists;
    interval arithmetic of mpmath and the mean value form, for rounded numbers, suprema and counterexamples;
    rank(A B) <= the inner size; null space, rank and norm by the equalities that `linear_maps` lists;
    what SymPy does when an expression is built: collecting equal terms and factors, exact arithmetic on numbers, and
        what follows from the declaration of a symbol: so a name has one declaration (`premises`), and a bound symbol
        stands for nothing that its own excludes (`declarations`).
What it does not use: `simplify`, `refine`, `equals`, `Sum.doit`, assumption queries on anything but a symbol.

A step is `proved` when its tactic says yes and every side condition that came up is settled or stated; `refuted` when
a counterexample is found inside the assumptions; else `unknown`. Silence is never success. Where no values are found
that satisfy all assumptions (`satisfying`), nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches

from sympy import Basic, Derivative, Expr, Indexed, Symbol

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.deferred import deferring
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import ShapeError, shape_text
from derivations.language.arrays.shown import view
from derivations.language.judge import limits, linear_maps, suprema, tactics
from derivations.language.judge.counterexample import Counterexample, find_counterexample
from derivations.language.judge.decimals import exact, exact_step, rounded_by_arithmetic
from derivations.language.judge.goal import Goal
from derivations.language.judge.normal_form.context import Undecided
from derivations.language.judge.rules import RULES
from derivations.language.judge.satisfying import satisfiable
from derivations.language.judge.stated import as_stated
from derivations.language.judge.thorough import proved_thoroughly
from derivations.language.results.derivation import Claim, Derivation, Step, chained, no_relation
from derivations.language.results.written import shown

__all__ = ["Evidence", "StepEvidence", "judge", "prove_equal"]

LEVELS = ("refuted", "unknown", "tested", "proved for sizes up to N", "proved", "definition")


@dataclass(frozen=True)
class StepEvidence:
    """The verdict about one step: its level, and the reason where it is not proved.

    `unmet` holds the kind ("nonzero", "positive", ...) and the value of a side condition that came up and is neither
    proved nor among the assumptions. Its symbols have names only.
    """

    level: str
    rule: str
    reason: str = ""
    counterexample: Counterexample | None = None
    unmet: tuple[str, Expr] | None = None

    def __str__(self) -> str:
        """Return the level and the reason as one sentence."""
        return f"{self.level}: {self.reason}" if self.reason else self.level


@dataclass(frozen=True)
class Evidence:
    """The verdict about a derivation; its level is that of its weakest step."""

    level: str
    claims: tuple[tuple[StepEvidence, ...], ...]
    of: Derivation | None = field(default=None, compare=False, repr=False)  # the one object that was decided

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each step that is not proved, with its number."""
        return tuple(
            f"claim {c}, step {s} ({step.rule}): {step.level}: {step.reason}"
            for c, steps in enumerate(self.claims, 1)
            for s, step in enumerate(steps, 1)
            if step.level in ("refuted", "unknown")
        )

    def __str__(self) -> str:
        """Return the level, and a line for each step that is not proved."""
        return "\n".join([self.level, *self.failures])


@view("evidence")
def judge(derivation: Derivation) -> Evidence:
    """Decide every step of a derivation, once; the result has the level of its weakest step."""
    if not isinstance(derivation, Derivation):
        raise TypeError(f"the judge decides a derivation, not {shown(derivation)}: build one with `derivation`")
    known = derivation.__dict__.get(_KEPT)
    # `copy.copy` takes the attribute along: evidence counts only for the very object that was decided
    if isinstance(known, Evidence) and known.of is derivation:
        return known
    claims = tuple(_decided(claim, derivation) for claim in derivation.claims)
    evidence = Evidence(_weakest(claims), claims, derivation)
    # derivations are frozen; what is kept is no part of their value
    object.__setattr__(derivation, _KEPT, evidence)
    return evidence


_KEPT = "_decided"  # under this name a derivation keeps its evidence


def _weakest(claims: tuple[tuple[StepEvidence, ...], ...]) -> str:
    """Return the level of the weakest step; it is unknown if there is no claim, or a claim has no steps."""
    steps = [step for steps in claims for step in steps]
    if not steps or not all(claims):
        return "unknown"
    if all(step.level == "proved" and step.rule == "definition" for step in steps):
        return "definition"
    return min((step.level for step in steps), key=LEVELS.index)


def _decided(claim: Claim, derivation: Derivation) -> tuple[StepEvidence, ...]:
    """Decide the steps of a claim; if their relations do not chain, no step is proved."""
    if chained(claim.steps) is None:
        return tuple(StepEvidence("unknown", step.rule, no_relation(claim.steps)) for step in claim.steps)
    before = [claim.lhs, *(step.expression for step in claim.steps)]
    return tuple(
        _decide(previous, step, claim, derivation) for previous, step in zip(before, claim.steps, strict=False)
    )


def prove_equal(
    left: Basic | int,
    right: Basic | int,
    derivation: Derivation | None = None,
    rule: str = "algebra",
    *,
    refute: bool = True,
) -> StepEvidence:
    """Decide `left = right` under the definitions, ranges and assumptions of a derivation.

    Without `refute` no counterexample is sought: what is not proved is unknown.
    """
    try:
        step = Step(rule, right)
        claim = Claim(left, (step,))
    except (TypeError, ShapeError) as error:
        return StepEvidence("unknown", str(rule), str(error))
    if not isinstance(derivation, Derivation | None):
        return StepEvidence(
            "unknown",
            rule,
            f"assumptions are passed as a derivation, not {shown(derivation)}: build one with `derivation`",
        )
    return _decide(claim.lhs, step, claim, derivation or Derivation("", "", (claim,)), refute)


def _decide(previous: Basic, step: Step, claim: Claim, derivation: Derivation, refute: bool = True) -> StepEvidence:
    rule = RULES.get(step.rule)
    if rule is None:
        near = get_close_matches(step.rule, RULES, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return StepEvidence("unknown", step.rule, f"there is no rule called {step.rule!r}{meant}")
    unmet = None
    # 1 - 0.9999 carries rounding errors of the user's own arithmetic: it may fail a true statement
    noisy = not refute or rounded_by_arithmetic(previous) or rounded_by_arithmetic(step.expression)
    try:
        previous, step, (derivation, claim) = exact(previous), exact_step(step), as_stated(derivation, claim)
        goal = Goal(previous, step, claim, derivation, rule)
        with nullcontext() if rule.tactic in _WITH_NUMBERS else deferring():  # no large expression is built
            missing = _TACTICS[rule.tactic](goal)
        if missing is None:
            missing = goal.uncovered()
        else:
            with suppress(Exception):  # a hint only: what is not proved stays so
                goal.uncovered()
        if missing is None:
            return _proved(step, claim, derivation)
        unmet = goal.unmet
    except (Undecided, ShapeError) as error:
        missing = str(error)
    except (NameError, ImportError):
        raise  # a mistake in the code of a rule, which would else pass for something that it cannot decide
    except Exception as error:  # whatever happens inside, silence is never success
        missing = f"the rule {step.rule!r} does not know terms of this kind (a {type(error).__name__} came up)"
    # The second look costs more than a few numbers, unless a derivative is written out and differentiated for each.
    looked = proved_thoroughly(previous, step, claim, derivation, rule) if previous.has(Derivative) else None
    if looked:
        return _proved(step, claim, derivation)
    try:
        counterexample = (
            None if noisy else find_counterexample(previous, step.relation, step.expression, claim, derivation)
        )
    except Exception:  # no counterexample then
        counterexample = None
    if counterexample is not None:
        reason = f"{_other_shape(previous, step)}{counterexample}"
        return StepEvidence("refuted", step.rule, reason, counterexample)
    if looked is None and proved_thoroughly(previous, step, claim, derivation, rule):
        return _proved(step, claim, derivation)
    # the goal says so itself of a condition that came up
    hint = "" if "ranges={" in missing else _without_range(previous, step, derivation)
    return StepEvidence("unknown", step.rule, missing + hint, unmet=unmet)


def _without_range(left: Basic, step: Step, derivation: Derivation) -> str:
    """Return a hint about an index without a range, or an empty text; no counterexample can have such an index."""
    for side in (left, step.expression):
        free = free_symbols(side)
        for entry in sorted(side.atoms(Indexed), key=str):
            for place, size in zip(entry.indices, entry.base.shape or (), strict=False):
                if isinstance(place, Symbol) and place in free and not {place, size} & set(derivation.ranges):
                    return f"; {place} has no range (say how many values it has: ranges={{{place}: {size}}})"
    return ""


def _other_shape(left: Basic, step: Step) -> str:
    """Return the shapes of two arrays if they differ: this explains more than an unequal entry does."""
    if not isinstance(left, Array) or not isinstance(step.expression, Array):
        return ""
    one, other = shape_text(left.shape), shape_text(step.expression.shape)
    return "" if one == other else f"the left side has shape {one}, the right side {other}: "


def _proved(step: Step, claim: Claim, derivation: Derivation) -> StepEvidence:
    """Return the evidence of a step that follows from the assumptions.

    It counts as proved only if some values satisfy the assumptions, since a contradiction implies every statement.
    """
    if satisfiable(derivation, claim):
        return StepEvidence("proved", step.rule)
    stated = (str(a.statement) for a in (*derivation.assumptions, *claim.given))
    reason = f"no values satisfy the assumptions {'; '.join(stated)}, as far as small sizes show"
    return StepEvidence("unknown", step.rule, reason)


# every module of tactics lists its tactics under the names that rules use
_TACTICS: Mapping[str, Callable[[Goal], str | None]] = {
    **tactics.TACTICS,
    **limits.TACTICS,
    **linear_maps.TACTICS,
    **suprema.TACTICS,
}

_WITH_NUMBERS = {"rounding", "supremum"}  # these write entries out and evaluate them
