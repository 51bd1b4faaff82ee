"""Questions to the judge: whether outputs are equal, by way of equal intermediates, under added conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sympy import Expr, Symbol

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.judge.proof import StepEvidence
from derivations.language.layers.layer import Equation, Layer
from derivations.language.results.derivation import Assumption
from numeric.lifting.conditions import assumable, of_its_own, restated
from numeric.lifting.differential import Run, all_values, assignments, draw
from numeric.lifting.groups import heads_together
from numeric.lifting.lift import Lifted
from numeric.lifting.pairing import Chain, numbers_of_parts, paired_numbers
from numeric.lifting.reading.binding import Binding

__all__ = ["is_proved", "under_conditions"]

_SHORT = 9  # equations of two layers that are compared in one claim
_ROUNDS = 3  # of the search for intermediates
_CONDITIONS = 4  # that are added one after the other
_ROUNDING = 1e-8  # against the largest entry, in double precision; the equations were run with this as well
_REMEMBERED = 64  # questions whose answers are kept

_Answer: TypeAlias = tuple[tuple[StepEvidence, ...], tuple[Assumption, ...]]
_ANSWERED: dict[tuple[Any, ...], _Answer] = {}


def under_conditions(
    lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr], is_layer: bool = True
) -> _Answer:
    """Return the judge's evidence, and the conditions that were added because a division needs them.

    Where `is_layer`, what the function is compared with defines a layer, and another function otherwise, which has to
    have a value wherever the first one has.

    The judge is asked about equations in which weights are letters, and about nothing else of the function: for the
    next of several equal layers it is the same question, with the same answer.
    """
    question = (
        *(lifted.layer, lifted.assumed, lifted.conditions),
        *(binding.layer, binding.equations, binding.batch, tuple(scalars.items()), is_layer),
    )
    if question not in _ANSWERED:
        if len(_ANSWERED) >= _REMEMBERED:
            del _ANSWERED[next(iter(_ANSWERED))]
        _ANSWERED[question] = _judged(lifted, binding, scalars, is_layer)
    return _ANSWERED[question]


def _judged(lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr], is_layer: bool) -> _Answer:
    """Return the evidence for the claims as they are or, if that is no proof, under additional conditions.

    Where the judge misses no more than that some number is not 0, what makes it so is assumed, if it can be said of
    the sizes or of the rows of a mask alone, or if the layer itself has no value otherwise.
    """
    first = evidence = _claimed(lifted, binding, scalars)
    added: tuple[Assumption, ...] = ()
    for _ in range(_CONDITIONS):
        open_step = next((each for each in evidence if each.level != "proved"), None)
        if open_step is None:  # all are proved, or a run differs and the judge was not asked
            return evidence, added
        possible = assumable(open_step, lifted)
        if not possible and open_step.unmet:
            possible = _of_values(lifted, binding, scalars, is_layer, added)
        new = [each for each in possible if each not in (*added, *lifted.conditions)]
        if not new:
            break
        added = (*added, *new)
        evidence = _claimed(lifted, binding, scalars, added)
    return (evidence, added) if is_proved(evidence) else (first, ())


def _of_values(
    lifted: Lifted,
    binding: Binding,
    scalars: Mapping[Symbol, Expr],
    is_layer: bool,
    added: Sequence[Assumption],
) -> list[Assumption]:
    """Return the conditions to add so that the layer itself has a value; the layer claims nothing for other entries.

    Another function in its place says no more than the first one where both need the condition.
    """
    theirs = _renamed(heads_together(binding.layer), set(), scalars)
    assumptions = (*(Assumption(relation) for relation in lifted.assumed), *lifted.conditions, *added)
    equations = (*binding.equations, *theirs)
    needed = of_its_own(theirs[-1].variable, equations, dict(binding.batch), assumptions)
    if needed is None or is_layer:
        return [] if needed is None else [needed]
    both = {e.variable.name for e in lifted.layer.equations} | {v.name for v in lifted.layer.inputs}
    theirs = _renamed(heads_together(binding.layer), both, scalars)
    sides = [(lifted.layer.output, lifted.layer.equations), (theirs[-1].variable, (*binding.equations, *theirs))]
    own, other = (_all_of_its_own(*side, assumptions) for side in sides)
    for conditions, (output, wanted) in ((own, sides[1]), (other, sides[0])):  # each has a value where the other has
        stated = [e for e in (*lifted.layer.equations, *binding.equations, *theirs) if e not in wanted]
        if of_its_own(output, (*stated, *wanted), {}, (*assumptions, *conditions)) is not None:
            return []
    return list(own)


def _all_of_its_own(
    output: Variable, equations: Sequence[Equation], assumptions: Sequence[Assumption]
) -> tuple[Assumption, ...]:
    """Return the conditions under which the output of some equations has a value, as far as they can be found."""
    found: tuple[Assumption, ...] = ()
    for _ in range(_CONDITIONS):
        more = of_its_own(output, equations, {}, (*assumptions, *found), plain=True)
        if more is None or more in found:
            break
        found = (*found, more)
    return found


def is_proved(evidence: Sequence[StepEvidence]) -> bool:
    """Return whether the judge was asked, and proved every claim."""
    return bool(evidence) and all(each.level == "proved" for each in evidence)


def _claimed(
    lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr], added: Sequence[Assumption] = ()
) -> tuple[StepEvidence, ...]:
    """Return the judge's evidence that the outputs are equal, by way of equal intermediates where these are found.

    There is none where a run shows that the outputs differ, as under another value of epsilon: the judge would read two
    whole layers without an intermediate in common, which takes long.
    """
    own = lifted.layer.equations
    taken = {e.variable.name for e in own} | {v.name for v in (*lifted.layer.inputs, *lifted.layer.parameters)}
    theirs = _renamed(heads_together(binding.layer), taken, scalars)
    assumptions = (*(Assumption(relation) for relation in lifted.assumed), *lifted.conditions, *restated(added, own))
    output: Array = lifted.layer.output
    for index, _ in binding.batch:
        output = Member(output, index)

    def fresh() -> Chain:
        """Return a chain in which no arrays are identified yet."""
        return Chain(
            {e.variable: e for e in own},
            {e.variable: e for e in theirs},
            binding.equations,
            dict(binding.batch),
            assumptions,
        )

    run = _values(fresh(), lifted, binding, scalars) if len(own) + len(theirs) > _SHORT else None
    if run is None:
        return (fresh().decide(output, theirs[-1].variable),)
    if _differ(run.mine[lifted.layer.output.name], run.other[theirs[-1].variable.name]):
        return ()
    open_: dict[Variable, Variable] = {}
    for _ in range(_ROUNDS):
        links = _links(fresh(), run, open_)
        whole = links.chain.decide(output, theirs[-1].variable)
        if not links.supposed:
            return (*links.proved, whole)
        open_ |= links.supposed
        if whole.level != "proved":  # even with what is open
            break
    return (*links.proved, _unproved(lifted, open_))


def _unproved(lifted: Lifted, open_: Mapping[Variable, Variable]) -> StepEvidence:
    """Return evidence that names the first array whose numbers agree with the layer's without a proof."""
    other, mine = next(iter(open_.items()))
    where = lifted.lines.get(mine, "")
    reason = f"{mine} is not proved to be {other}, whose numbers it has{where and f' ({where})'}"
    return StepEvidence("unknown", "definition", reason)


@dataclass(frozen=True)
class _Values:
    """The arrays of a function and of a layer in one run."""

    run: Run
    mine: Mapping[str, Any]
    other: Mapping[str, Any]


def _values(chain: Chain, lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr]) -> _Values | None:
    """Return the arrays that the function and the layer compute for random numbers, or None if the run fails."""
    sizes = next(iter(assignments(lifted, general=True)), None)
    if sizes is None:
        return None
    run = draw(lifted, sizes)
    known = {"epsilon": 1e-5, **{s.name: float(value) for s, value in scalars.items()}}
    try:
        mine = all_values(lifted.layer, run, known)
        other = all_values(binding.whole(tuple(chain.theirs.values())), run, known, binding.batch_values(run))
    except Exception:  # without a run the whole is one claim
        return None
    return _Values(run, mine, other)


def _differ(one: Any, other: Any) -> bool:
    """Return whether two results differ by more than rounding; False if the shapes differ or an entry is not finite."""
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return False
    return bool(np.max(np.abs(one - other), initial=0) > _ROUNDING * max(1.0, float(np.max(np.abs(other), initial=0))))


@dataclass(frozen=True)
class _Links:
    """A chain after the search for intermediates: what is proved, and what was supposed because the numbers agree."""

    chain: Chain
    proved: tuple[StepEvidence, ...]
    supposed: Mapping[Variable, Variable]


def _links(chain: Chain, values: _Values, skipped: Mapping[Variable, Variable]) -> _Links:
    """Identify arrays that have equal numbers, in the layer's order; the arrays in `skipped` keep their definitions.

    One that is not proved is shared all the same, so that the claims after it stay short: then nothing is proved yet,
    and another round skips it.
    """
    own, theirs = list(chain.own), list(chain.theirs)
    mine, other = values.mine, values.other
    found: list[StepEvidence] = []
    supposed: dict[Variable, Variable] = {}
    for variable in theirs[:-1]:
        if variable in skipped:
            continue
        numbers, batch = numbers_of_parts(variable, other[variable.name], values.run)
        fits = []
        for candidate in own:
            if candidate in chain.own and candidate.kind == variable.kind:
                groups = paired_numbers(mine[candidate.name], numbers, batch)
                if groups is not None:
                    fits.append((candidate, groups))
        for candidate, groups in fits:
            evidence = chain.share(candidate, variable, groups, batch)
            if evidence.level == "proved":
                found.append(evidence)
                break
        else:
            if fits:
                (candidate, groups), *_ = fits
                chain.suppose(candidate, variable, groups, batch)
                supposed[variable] = candidate
    return _Links(chain, tuple(found), supposed)


def _renamed(layer: Layer, taken: set[str], scalars: Mapping[Symbol, Expr]) -> tuple[Equation, ...]:
    """Return the equations of a layer, written out, under names that the function's equations do not have."""
    whole = layer
    new: dict[Array, Array] = {}
    for equation in whole.equations:
        variable = equation.variable
        if variable.name in taken:
            new[variable] = Variable(f"{variable.name}__{layer.name}", variable.shape, variable.kind)
    put: dict[Any, Any] = {**new, **scalars}
    result = []
    computed: dict[Array, Array] = {}  # what has one value is one array, wherever the layer computes it
    for equation in whole.equations:
        target = new.get(equation.variable, equation.variable)
        over = equation.over
        if over is not None:
            target = Member(target, over[0])
        value = replace_free(equation.value, put) if put else equation.value
        once = over is None and equation.variable != whole.output
        if once and computed.setdefault(value, target) != target:
            put[equation.variable] = computed[value]
            continue
        result.append(Equation(target, value, *(over or ())))
    last = next(place for place, e in enumerate(result) if e.variable == new.get(whole.output, whole.output))
    return (*result[:last], *result[last + 1 :], result[last])
