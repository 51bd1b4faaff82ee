"""Repeated calls of a function: with other numbers in the same arrays, then with the first ones again.

Definition   the calls of one case: its numbers twice; one argument at a time changed, by one number where possible;
             all numbers changed; its first numbers once more
Result       None, or a `Failure`: state (the result of a later call depends on an earlier one), kept (a later call
             changed the result of an earlier one)
Assumes      a result that shares memory with an argument may change with that argument

This finds a cache whose key is an address, an identity, a shape, a first entry or all arguments but one; it also finds
a buffer that every call returns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numeric.verification.conformance.drawing import Case, draw, leaves, mapped
from numeric.verification.conformance.frameworks import Framework
from numeric.verification.conformance.sizes import draw_sizes
from numeric.verification.conformance.verdict import Call, Failure, described, given, judged

__all__ = ["repeated"]

OTHER = 1000  # added to the seed to draw other numbers
OTHER_SCALAR = 0.5


@dataclass
class _Kept:
    """A result, and a copy of it from the time when it was returned."""

    output: Any
    copy: Any


def repeated(call: Call, case: Case, framework: Framework, pinned: frozenset[str]) -> Failure | None:
    """Return the failure of a function that is called repeatedly, or None."""
    arguments = given(case, framework)
    kept: list[_Kept] = []
    for step in _steps(case, pinned):
        with framework.precision(case.plan.dtype), np.errstate(all="ignore"):
            arguments = _refilled(arguments, step, framework)
            try:
                output = call(*arguments.values())
            except Exception as error:
                return _state(f"it raised {described(error)}", case, step)
        wrong = judged(output, step, framework)
        if wrong is not None:
            return _state(wrong.sentence, case, step)
        wrong = _changed(kept, framework, case, step)
        if wrong is not None:
            return wrong
        if not any(framework.shares(output, each) for each in leaves(arguments).values()):
            kept.append(_Kept(output, np.copy(framework.back(output))))
    return None


def _steps(case: Case, pinned: frozenset[str]) -> Iterator[Case]:
    """Yield the cases of the calls; the first case is also the last."""
    other = _other(case, pinned)
    yield case
    if leaves(case.arguments):
        for name, value in case.arguments.items():
            if name in case.plan.scalars:
                continue
            changed = _nudged(value, other.arguments[name])
            if changed is not value:
                yield replace(case, arguments={**case.arguments, name: changed})
    yield other
    yield case


def _other(case: Case, pinned: frozenset[str]) -> Case:
    """Return a case with other numbers, of few digits; with other sizes, where the only arguments are sizes."""
    plan = replace(case.plan, kind="ordinary", seed=case.plan.seed + OTHER)
    if not leaves(case.arguments):
        kept = {name: size for name, size in plan.sizes.items() if name in pinned}
        return draw(case.layer, replace(plan, sizes=draw_sizes(case.layer, kept, plan.seed)))
    return _rounded(draw(case.layer, plan))


def _rounded(case: Case) -> Case:
    return replace(
        case,
        arguments=mapped(
            dict(case.arguments), lambda _, each: np.asarray(np.round(each, 2)) if each.dtype.kind == "f" else each
        ),
    )


def _nudged(value: Any, other: Any) -> Any:
    """Return an argument with one number of each real array changed; other arrays and scalars change as a whole."""
    if isinstance(value, float):
        return OTHER_SCALAR
    if not leaves(value):
        return value
    new = leaves(other)

    def nudged(path: str, each: Any) -> Any:
        if each.dtype.kind != "f" or not each.size:
            return new[path]
        changed = each.copy()
        # the last entry: a cache that compares first entries misses the change
        changed[(-1,) * each.ndim] = new[path][(-1,) * each.ndim]
        return changed

    return mapped(value, nudged)


def _refilled(arguments: Mapping[str, Any], step: Case, framework: Framework) -> dict[str, Any]:
    """Return the same arrays, overwritten with the numbers of a step."""
    arrays = leaves(arguments)
    filled: dict[str, Any] = mapped(dict(step.arguments), lambda path, each: framework.write(arrays[path], each))
    return filled


def _state(sentence: str, case: Case, step: Case) -> Failure:
    numbers = "the same arguments" if step is case else "other numbers in the same arrays"
    told = f"called again with {numbers}, {sentence}; it keeps something from an earlier call"
    return Failure("state", told, case, None if step is case else step)


def _changed(kept: list[_Kept], framework: Framework, case: Case, step: Case) -> Failure | None:
    """Return a failure where an earlier result has changed since it was returned, or None."""
    for each in kept:
        now = np.asarray(framework.back(each.output))
        places = np.argwhere(now != each.copy)
        if len(places):
            where = tuple(map(int, places[0]))
            sentence = (
                f"a later call changed the result of an earlier one: {each.copy[where]:.6g} at {list(where)} became "
                f"{now[where]:.6g}; return a new array, not one that the function keeps"
            )
            return Failure("kept", sentence, case, step)
    return None
