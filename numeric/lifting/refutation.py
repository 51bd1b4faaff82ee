"""A run of the function itself whose result is not that of the layer, whatever the layer's free scalars are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sympy import Expr, Rational, Symbol

from derivations.language.layers.layer import Layer
from numeric.lifting.differential import (
    DOMAINS,
    Disagreement,
    OtherShape,
    Run,
    assignments,
    disagreement,
    draw,
    run_function,
    satisfies,
)
from numeric.lifting.doors.choice import door_of
from numeric.lifting.lift import Lifted
from numeric.lifting.reading.binding import Binding
from numeric.lifting.refusals import NotFollowed

__all__ = ["decimals_of", "differing_elsewhere", "meant_scalars", "refutation", "untold_scalars"]

_RUNS = 5  # in which a difference is looked for
_DRAWN = (
    (1.0, "reals"),
    (8.0, "reals"),  # show what clips or saturates
    (1e-3, "reals"),  # show what is added to their squares
    *((1.0, domain) for domain in DOMAINS if domain != "reals"),  # where none of these has a value
)
_EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12, 1e-3)  # values that public code has; a refutation holds for each of them
_SCALAR = 0.25  # for a scalar that the function has as an argument
_GAP = 1e-4  # against the larger one: what is less may be rounding


def meant_scalars(lifted: Lifted, layer: Layer) -> list[dict[str, float]]:
    """Return candidate values for the layer's scalars. A scalar without an argument gets numbers from the function.

    No list holds what a scale may be, so that a function without a number for it is refuted under none.
    """
    default = {s.name: _EPSILONS[0] if s.name == "epsilon" else _SCALAR for s in layer.scalars}
    free = untold_scalars(lifted, layer)
    values = [float(value) for value in (*lifted.literals, *decimals_of(lifted.function)) if value.is_positive]
    if len(free) != 1:
        return [] if free else [default]
    (name,) = (s.name for s in free)
    if name == "epsilon":
        followed = lifted.layer is not layer  # then its own numbers are known
        values = [*(_EPSILONS[:1] if followed else _EPSILONS), *values]
    return [{**default, name: value} for value in dict.fromkeys(values)]


def untold_scalars(lifted: Lifted, layer: Layer) -> list[Symbol]:
    """Return the scalars of a layer that the function has no argument for."""
    known = {s.name for value in lifted.arguments.values() if isinstance(value, Expr) for s in value.free_symbols}
    return [s for s in layer.scalars if s.name not in known]


def decimals_of(function: Any) -> list[Expr]:
    """Return the float attributes of a module as exact numbers, such as the alpha of an adapter."""
    parts = function.modules() if door_of(function).weights(function) else ()
    return [
        Rational(repr(value)) for part in parts for value in vars(part).values() if isinstance(value, float) and value
    ]


def _differs(
    lifted: Lifted, binding: Binding, run: Run, result: Any, meant: Sequence[Mapping[str, float]]
) -> Disagreement | None:
    """Return a difference between a result and the layer's value, if they differ for all candidate scalars."""
    first: Disagreement | None = None
    for values in meant:
        expected = binding.value(run, values)
        if not satisfies(lifted, run, values) or not np.isfinite(expected).all():
            return None
        found = disagreement(result, expected, run, lifted.rounded)
        if found is None or abs(found.left - found.right) <= _GAP * max(1.0, abs(found.right)):
            return None
        first = first or found
    return first


def refutation(lifted: Lifted, binding: Binding) -> Disagreement | OtherShape | None:
    """Return a run whose result differs from the layer's value, or is not finite where the layer's value is.

    Two numbers that differ say more than a run in which the function has none, such as a variance of one number.
    """
    without: Disagreement | None = None
    meant = meant_scalars(lifted, binding.layer)
    other_shape: OtherShape | None = None
    compared = False
    for scale, domain in _DRAWN:
        if compared and domain != "reals":
            break
        for seed, sizes in enumerate(assignments(lifted, wanted=_RUNS)):
            run = draw(lifted, sizes, seed=seed + 10, scale=scale, domain=domain)
            try:
                result = run_function(lifted, run)
                expected = binding.value(run, meant[0]) if meant else result
                if result.shape != expected.shape:
                    other_shape = other_shape or OtherShape(run, result.shape, expected.shape)
                    continue
                found = _differs(lifted, binding, run, result, meant)
            except (Exception, NotFollowed):  # one of the two has no value at these sizes
                continue
            compared = compared or (all(np.isfinite(v).all() for v in (result, expected)) and satisfies(lifted, run))
            if found is None:
                continue
            if np.isfinite(found.left):
                return found
            if scale == 1.0:  # large numbers may overflow: no word about that
                without = without or found
    if without is not None:
        return without
    if other_shape is None or len(other_shape.left) > len(other_shape.right):
        return None  # more axes than the layer's: the function may want its arguments with more axes
    return other_shape


def differing_elsewhere(lifted: Lifted, value: Callable[[Run], Any]) -> Disagreement | None:
    """Return a run in which a function and its target differ, whether or not it satisfies the conditions of a proof.

    Conditions that a formula needs and the function does not, such as that factors are positive, must not hide it.
    """
    for seed, sizes in enumerate(assignments(lifted, wanted=_RUNS)):
        run = draw(lifted, sizes, seed=seed + 10)
        try:
            one, other = run_function(lifted, run), value(run)
        except (Exception, NotFollowed):  # one of the two has no value there
            continue
        if one.shape == other.shape and np.isfinite(one).all() and np.isfinite(other).all():
            found = disagreement(one, other, run, lifted.rounded)
            if found is not None:
                return found
    return None
