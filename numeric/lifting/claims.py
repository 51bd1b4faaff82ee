"""What the judge is asked: equal outputs, by way of equal intermediates, under conditions that a division needs."""

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
from derivations.language.layers.names import variables_in as variables_of
from derivations.language.results.derivation import Assumption
from numeric.lifting.conditions import assumable, of_its_own
from numeric.lifting.differential import Run, all_values, assignments, draw
from numeric.lifting.groups import heads_together
from numeric.lifting.lift import Lifted
from numeric.lifting.pairing import Chain, fine_shape, grouping
from numeric.lifting.reading.binding import Binding

__all__ = ["is_proved", "under_conditions"]

_SHORT = 9  # equations of two layers that are compared in one claim
_CONDITIONS = 3  # that are added one after the other
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
    """Return the evidence for the claims as they are, or under conditions that these lack.

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
        if not possible and open_step.unmet and is_layer:
            possible = _own_conditions(lifted, binding, scalars)
        new = [each for each in possible if each not in (*added, *lifted.conditions)]
        if not new:
            break
        added = (*added, *new)
        evidence = _claimed(lifted, binding, scalars, added)
    return (evidence, added) if is_proved(evidence) else (first, ())


def _own_conditions(lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr]) -> list[Assumption]:
    """Return the conditions under which the layer itself has a value: it says nothing of other entries."""
    theirs = _renamed(heads_together(binding.layer), set(), scalars)
    assumptions = (*(Assumption(relation) for relation in lifted.assumed), *lifted.conditions)
    equations = (*binding.equations, *theirs)
    return list(of_its_own(theirs[-1].variable, equations, dict(binding.batch), assumptions) or ())


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
    assumptions = (*(Assumption(relation) for relation in lifted.assumed), *lifted.conditions, *added)
    chain = Chain(
        {e.variable: e for e in own},
        {e.variable: e for e in theirs},
        binding.equations,
        dict(binding.batch),
        assumptions,
    )
    found: list[StepEvidence] = []
    if len(own) + len(theirs) > _SHORT:
        run = _values(chain, lifted, binding, scalars)
        if run is not None and _differ(run.mine[lifted.layer.output.name], run.other[theirs[-1].variable.name]):
            return ()
        found = [] if run is None else _intermediates(chain, run)
    whole: Array = lifted.layer.output
    for index, _ in binding.batch:
        whole = Member(whole, index)
    return (*found, chain.decide(whole, theirs[-1].variable))


@dataclass(frozen=True)
class _Values:
    """The arrays of a function and of a layer in one run."""

    run: Run
    mine: Mapping[str, Any]
    other: Mapping[str, Any]


def _values(chain: Chain, lifted: Lifted, binding: Binding, scalars: Mapping[Symbol, Expr]) -> _Values | None:
    """Return what both compute for random numbers, or None: the search for intermediates is an aid."""
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
    """Return whether two results differ by more than rounding; where one has no value, nothing is known."""
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return False
    return bool(np.max(np.abs(one - other), initial=0) > _ROUNDING * max(1.0, float(np.max(np.abs(other), initial=0))))


def _intermediates(chain: Chain, values: _Values) -> list[StepEvidence]:
    """Share the intermediates that are proved equal, in the layer's order; return the evidence."""
    own, theirs = list(chain.own), list(chain.theirs)
    run, mine, other = values.run, values.mine, values.other

    def numbers_of(variable: Variable) -> Any:
        """Return the numbers of an array of the layer, an axis of blocks as two."""
        value = other[variable.name]
        fine = [int(size.xreplace({s: run.sizes[s.name] for s in size.free_symbols})) for size in fine_shape(variable)]
        return value.reshape(*value.shape[: value.ndim - len(variable.shape)], *fine)

    found = []
    for variable in theirs[:-1]:
        numbers = numbers_of(variable)
        for candidate in own:
            if candidate not in chain.own or candidate.kind != variable.kind:
                continue
            batch = other[variable.name].ndim - len(variable.shape)
            groups = grouping(mine[candidate.name], numbers, batch)
            if groups is None:
                continue
            evidence = chain.share(candidate, variable, groups, batch)
            if evidence.level == "proved":
                found.append(evidence)
                break
    return found


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
    tables: dict[Array, Array] = {}  # what follows from sizes is one array, wherever the layer computes it
    for equation in whole.equations:
        target = new.get(equation.variable, equation.variable)
        over = equation.over
        if over is not None:
            target = Member(target, over[0])
        value = replace_free(equation.value, put) if put else equation.value
        table = over is None and not any(variables_of(value)) and equation.variable != whole.output
        if table and tables.setdefault(value, target) != target:
            put[equation.variable] = tables[value]
            continue
        result.append(Equation(target, value, *(over or ())))
    last = next(place for place, e in enumerate(result) if e.variable == new.get(whole.output, whole.output))
    return (*result[:last], *result[last + 1 :], result[last])
