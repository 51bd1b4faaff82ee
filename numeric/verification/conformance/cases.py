"""The cases of a test, in the order of the calls: the simplest first.

Result       ordinary numbers at distinct primes, hidden rows, extremes; other kinds of numbers; other memory layouts;
             sizes of 1 and equal sizes; sizes of several hundred
Assumes      a failure for a kind of numbers, a size or a memory layout shows in either number type, except a wrong
             number type of the result: the simplest cases of each are drawn in both
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Basic

from derivations.language.arrays.functions import RowSoftmax
from derivations.language.layers.layer import Layer
from numeric.runtime.checks import InputError
from numeric.runtime.structure import applications
from numeric.verification.conformance.drawing import Case, Plan, draw
from numeric.verification.conformance.numbers import KINDS
from numeric.verification.conformance.sizes import combined_sizes, draw_sizes, large_sizes, sizes_at_once

__all__ = ["EXTREMES", "Scope", "cases"]

BATCHES: tuple[tuple[int, ...], ...] = ((), (2,), (3, 2))
MANY = (131,)  # a batch larger than usual numbers of workers and blocks
ATTEMPTS = 20  # at drawing sizes that fit
EXTREMES = ("extreme 30", "extreme 1000")
UNEVEN = ("rising", "falling", "peak")  # along long axes
NUMBERS = ("tiny", "shifted", "equal", "flat", "zero")
MASKS = ("triangular", "all visible", "one visible")
ROWS = 40  # of combined sizes, for a layer with few equations
SHORT = 16  # most equations of a layer whose long axes are each tried with large numbers at either end


@dataclass(frozen=True)
class Scope:
    """The extent of a test: given sizes, number types, batch axes, hidden rows, memory layouts.

    `shapes` is the number of different shapes that the framework processes in a moment.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float64", "float32")
    batch: bool = True
    hidden: bool = True
    seed: int = 0
    scalars: Mapping[str, float] = field(default_factory=dict)
    layouts: tuple[str, ...] = ()
    shapes: int = 200


def cases(layer: Layer, scope: Scope) -> Iterator[Case]:
    """Yield the cases of a test.

    Raises       InputError where none of several random sizes fits the layer
    """
    yield from _plainest(layer, scope)
    arrays = bool(layer.inputs or layer.parameters)
    dtypes = scope.dtypes if arrays else ("float64",)
    sizes, batch = draw_sizes(layer, scope.sizes, scope.seed), BATCHES[1] if scope.batch and layer.inputs else ()
    other = Plan(sizes, dtypes[0], batch, "ordinary", scope.seed, scope.scalars, usual=False, gradient=False)
    plans = [replace(other, kind=kind, dtype=dtype) for kind in _kinds(layer, scope) for dtype in dtypes]
    plans += [replace(other, layout=layout, batch=axes) for layout in scope.layouts for axes in {(), batch}]
    if batch and arrays:
        plans.append(replace(other, batch=MANY))
    plans += _combined(layer, scope, replace(other, gradient=True), dtypes)
    plans += _large(layer, scope, replace(other, batch=(), usual=True), dtypes)
    yield from (case for case in (_drawn(layer, plan) for plan in plans) if case is not None)


def _plainest(layer: Layer, scope: Scope) -> Iterator[Case]:
    """Yield ordinary, hidden and extreme numbers at distinct primes, each number type and batch in turn."""
    real = any(variable.kind == "real" for variable in layer.inputs)
    masks = any(variable.kind == "boolean" for variable in layer.inputs)
    arrays = bool(layer.inputs or layer.parameters)
    batches = BATCHES if scope.batch and layer.inputs else BATCHES[:1]
    kinds = [("ordinary", axes) for axes in batches]
    kinds += [("hidden", batches[-1])] * (masks and scope.hidden) + [(kind, batches[-1]) for kind in EXTREMES] * real
    for dtype in scope.dtypes if arrays else ("float64",):
        for number, (kind, axes) in enumerate(kinds):
            plan = Plan({}, dtype, axes, kind, scope.seed + number, scope.scalars, usual=KINDS[kind].usual)
            yield _fitting(layer, scope.sizes, plan, scope.seed + batches.index(axes))


def _fitting(layer: Layer, pinned: Mapping[str, int], plan: Plan, seed: int) -> Case:
    """Return a case at sizes for which the layer has a value: some layers need one size to exceed another."""
    for attempt in range(ATTEMPTS):
        fitting = replace(plan, sizes=draw_sizes(layer, pinned, seed + attempt))
        try:
            case = draw(layer, fitting)
            if case.expected.size:
                return case
            why = "the output has no entries"
        except (TypeError, ValueError) as error:
            why = str(error)
    raise InputError(f"{layer.name}: none of {ATTEMPTS} random sizes fits: {why}")


def _drawn(layer: Layer, plan: Plan) -> Case | None:
    """Return the case of a plan, or None where the layer has no value at its sizes."""
    try:
        case = draw(layer, plan)
    except (TypeError, ValueError):
        return None
    return case if case.expected.size else None


def _kinds(layer: Layer, scope: Scope) -> list[str]:
    """Return the kinds of numbers that can reveal errors of a layer, beside the simplest."""
    kinds = {variable.kind for variable in layer.inputs}
    real = "real" in kinds or bool(layer.parameters)
    numbers = [*NUMBERS, *["huge"] * (not _has_softmax(layer))]
    return numbers * real + [*MASKS, *["none visible"] * scope.hidden] * ("boolean" in kinds)


def _has_softmax(layer: Layer) -> bool:
    own = any(_contains(equation.value, RowSoftmax) for equation in layer.equations)
    return own or any(_has_softmax(node.layer) for node in applications(layer))


def _contains(node: Basic, kind: Any) -> bool:
    return isinstance(node, kind) or any(_contains(each, kind) for each in node.args if not isinstance(each, Layer))


def _combined(layer: Layer, scope: Scope, plan: Plan, dtypes: tuple[str, ...]) -> list[Plan]:
    """Return plans with sizes that are 1 or equal; the two simplest in every number type."""
    rows = max(4, min(ROWS, scope.shapes // 5, 10 * ROWS // _equations(layer)))
    batch = bool(scope.batch and layer.inputs)
    found = []
    for number, (sizes, axes) in enumerate(combined_sizes(layer, scope.sizes, scope.seed, rows, batch)):
        mask = "triangular" if number == 1 else "ordinary"
        for dtype in dtypes if number < 2 else dtypes[:1]:
            found.append(
                replace(
                    plan, sizes=sizes, batch=axes, kind=mask, dtype=dtype, seed=plan.seed + number, gradient=number < 2
                )
            )
    return found


def _large(layer: Layer, scope: Scope, plan: Plan, dtypes: tuple[str, ...]) -> list[Plan]:
    """Return plans with sizes of several hundred: each alone, then all as large as time allows.

    Large numbers are at one end of an axis, or anywhere, so that a function that reads only a part of the axis, say
    for a maximum, fails; in float32 it overflows first.
    """
    together = replace(plan, sizes=sizes_at_once(layer, scope.sizes))
    real = any(variable.kind == "real" for variable in layer.inputs)
    alone = [replace(plan, sizes=sizes) for sizes in large_sizes(layer, scope.sizes)]
    plans = alone + [replace(together, dtype=dtype) for dtype in dtypes]
    if not real:
        return plans
    unusual = [replace(together, kind=EXTREMES[-1])]
    unusual += [replace(together, kind=kind, dtype=dtype) for kind in UNEVEN for dtype in dtypes]
    ends = UNEVEN[: 2 * (_equations(layer) <= SHORT)]
    unusual += [replace(each, kind=kind, dtype=dtypes[-1]) for each in alone for kind in ends]
    return plans + [replace(each, usual=False, gradient=False) for each in unusual]


def _equations(layer: Layer) -> int:
    """Return the number of equations that a layer evaluates, including those of its parts."""
    return len(layer.equations) + sum(_equations(node.layer) for node in applications(layer))
