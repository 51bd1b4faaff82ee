"""Reduce a failing case to a small one that fails in the same way: a simpler kind, smaller sizes, simpler numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numeric.verification.conformance.drawing import Case, Plan, draw, leaves, mapped
from numeric.verification.conformance.verdict import Failure

__all__ = ["shrunk"]

NUMBERS = 150  # most calls of the function with simpler numbers
DRAWS = 3  # of one plan, each from another seed
ENTRIES = 40  # most entries of a case whose numbers are simplified one by one

Check = Callable[[Case], Failure | None]


@dataclass
class _Search:
    """The smallest failure so far, and the number of calls left."""

    check: Check
    best: Failure
    calls: int

    def accepts(self, case: Case) -> bool:
        """Return whether a case fails in the same way; then it becomes the smallest failure."""
        if self.calls <= 0:
            return False
        self.calls -= 1
        found = self.check(case)
        if found is None or found.kind != self.best.kind:  # another kind may come from another fault
            return False
        self.best = found
        return True


def shrunk(failure: Failure, check: Check, pinned: frozenset[str], shapes: int) -> Failure:
    """Return a failure of the same kind at a case no larger; try at most `shapes` cases, and keep the pinned sizes."""
    search = _Search(check, failure, shapes)
    _shrink_plan(search, pinned)
    search.calls = NUMBERS
    _shrink_numbers(search)
    return search.best


def _shrink_plan(search: _Search, pinned: frozenset[str]) -> None:
    """Try simpler plans; start again after each one that fails."""
    while True:
        if not any(search.accepts(case) for case in _plainer(search.best.case, pinned)):
            return


def _plainer(case: Case, pinned: frozenset[str]) -> Iterator[Case]:
    plan = case.plan
    changes: list[dict[str, Any]] = [{"layout": "plain"}] * (plan.layout != "plain")
    changes += [{"kind": "ordinary"}] * (plan.kind != "ordinary")
    changes += [{"batch": ()}] * bool(plan.batch)
    free = [name for name in plan.sizes if name not in pinned]
    changes += [{"sizes": {**plan.sizes, **dict.fromkeys(free, s)}} for s in (1, 2) if _smaller(plan, free, s)]
    for name, size in plan.sizes.items():
        steps = sorted({1, 2, 3, 4, size // 2, 3 * size // 4, size - 1})
        smaller = [s for s in steps if 0 < s < size] if name not in pinned else []
        changes += [{"sizes": {**plan.sizes, name: s}} for s in smaller]
    for change in changes:
        for seed in range(plan.seed, plan.seed + DRAWS):
            drawn = _drawn(case, replace(plan, **{**change, "seed": seed}))
            if drawn is not None:
                yield drawn


def _smaller(plan: Plan, names: list[str], size: int) -> bool:
    """Return whether setting these sizes to one value makes no size larger and several smaller."""
    return all(plan.sizes[name] >= size for name in names) and sum(plan.sizes[name] > size for name in names) > 1


def _drawn(case: Case, plan: Plan) -> Case | None:
    """Return the case of a plan, or None where its sizes leave an axis that is not whole."""
    try:
        return draw(case.layer, plan)
    except (TypeError, ValueError):
        return None


def _shrink_numbers(search: _Search) -> None:
    """Round the numbers, then try 0 and 1 for each of them; in a mask, hidden keys may become visible, never hidden."""
    search.accepts(_changed(search.best.case, lambda _, each: np.asarray(np.rint(each), each.dtype)))
    for path, array in leaves(search.best.case.arguments).items():
        for fill in (0, 1) if array.dtype.kind != "b" else (True,):
            if search.accepts(_filled(search.best.case, path, ..., fill)):
                break
    arrays = leaves(search.best.case.arguments)
    if sum(each.size for each in arrays.values()) > ENTRIES:
        return
    for path, array in arrays.items():
        for place in np.ndindex(array.shape):
            now = leaves(search.best.case.arguments)[path][place]
            simpler = [True] if array.dtype.kind == "b" else [0, 1] if abs(now) <= 100 else [0, 1, 1000]
            for value in simpler:
                if now == value or search.accepts(_filled(search.best.case, path, place, value)):
                    break


def _changed(case: Case, change: Callable[[str, Any], Any]) -> Case:
    return replace(case, arguments=mapped(dict(case.arguments), change))


def _filled(case: Case, path: str, place: Any, value: Any) -> Case:
    def fill(where: str, each: Any) -> Any:
        if where != path:
            return each
        copy = np.array(each)
        copy[place] = value
        return copy

    return _changed(case, fill)
