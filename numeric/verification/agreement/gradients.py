"""Gradients of layers, compared with differences of the layers themselves.

Definition   for random cotangents G of the outputs of a layer and a random direction P of one of its arrays x, the
             derived <dx, P> is compared with d/dt <G, Y(x + t P)> at t = 0; one direction for each array
Result       the complex step Im Y(x + i s P) / s with s = 1e-200 of the compiled layer in float64 is exact up to
             rounding, so that the bound is that of four times the roundings of the layer; for a gradient of a gradient
             it is that of sixteen times. Where a function does not accept complex numbers, central differences of order
             six, with that s from 2^-7 to 2^-16 whose bound is the smallest: it adds the roundings of the layer
             divided by s, and the difference of the results of order four and six. That difference exceeds the error of
             order six, and is large where a step crosses a jump. Where a point amplifies changes of its arrays by a
             gain above 1 (a row of small variance in layer normalisation), the bound is multiplied by the gain
Assumes      no entry is at a kink: there the complex step takes one side as well (ReLU'(0) = 0); for central
             differences, no kink is nearby
Source       Squire and Trapp (1998), "Using complex variables to estimate derivatives of real functions"; Griewank and
             Walther (2008), "Evaluating Derivatives", section 4.5: a gradient costs at most four times the function
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import fsum, inf
from operator import itemgetter
from typing import Any

import numpy as np

from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Layer
from numeric.codegen.compile import CompiledLayer, compile_layer
from numeric.runtime.structure import identifier, weight_tree
from numeric.verification.agreement.cases import SIZES, Case, all_cases
from numeric.verification.agreement.report import Check
from numeric.verification.agreement.rounding import rounding_bound, roundings
from numeric.verification.complex_steps import takes_complex_steps

__all__ = ["cotangents", "gradient_check", "gradient_checks", "gradients_by_name", "leaves", "results"]

COMPLEX_STEP = 1e-200
REAL_STEPS = (2.0**-7, 2.0**-10, 2.0**-13, 2.0**-16)
CHANGE = 2.0**-20  # relative change of the arguments, which measures the gain of roundings
GRADIENT_COST = 4
Path = tuple[str | int, ...]


def gradient_checks(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Check]:
    """Yield the check of the gradient of every layer that has one, for all sizes and number types."""
    for case in all_cases(sizes, seed):
        if gradient_names(case.layer):
            yield gradient_check(case, seed=seed)


def gradient_check(case: Case, function: Callable[..., Any] | None = None, order: int = 1, seed: int = 0) -> Check:
    """Compare a gradient, by default the derived one, with finite differences of the layer. Return their distance.

    Definition   `order` 2 checks the gradient of the gradient against differences of the gradient
    Units        units in the last place of the largest sum of |dx P| over the arrays x; infinite where the arrays
                 differ in name, shape or number type, or an entry is not finite
    """
    rng = np.random.default_rng([seed, order, *case.name.encode()])
    layer, arguments = case.layer, case.arguments
    for _ in range(order - 1):
        layer, arguments = gradient(layer), {**arguments, **cotangents(layer, arguments, case.sizes, rng)}
    given = cotangents(layer, arguments, case.sizes, rng)
    call = function or (lambda **named: run(gradient(layer), named, case.sizes))
    found = dict(leaves(gradients_by_name(layer, call(**arguments, **given))))
    count = GRADIENT_COST ** (order - 1) * roundings(case.layer, case.sizes)
    point = _Point(layer, _doubled(arguments), list(given.values()), case.sizes, rounding_bound(count))
    wanted = dict(leaves({name: arguments[name] for name in gradient_names(layer)}))
    error, bound = _compared(point, found, wanted, rounding_bound(GRADIENT_COST * count), rng)
    words = "gradient" if order == 1 else f"gradient of order {order}"
    return Check(f"{words} of {case.name}", error, bound, f"ULP, {case.dtype}, {len(found)} arrays")


def _compared(
    point: "_Point", found: dict[Path, Any], wanted: dict[Path, Any], bound: float, rng: Any
) -> tuple[float, float]:
    """Return the largest error of the gradients with respect to the wanted arrays, and its bound."""
    if found.keys() != wanted.keys():
        return inf, bound
    errors, sums, doubts, slopes = [], [], [], {}
    for path, x in wanted.items():
        dx = found[path]
        if dx.shape != x.shape or dx.dtype != x.dtype or not np.isfinite(dx).all():
            return inf, bound
        direction = rng.standard_normal(x.shape)
        slope, doubt = point.slope(path, direction)
        slopes[path] = slope, direction
        products = dx.astype(np.float64) * direction
        errors.append(abs(fsum(products.flat) - slope))
        sums.append(fsum(np.abs(products).flat))
        doubts.append(doubt)
    unit = float(np.spacing(dx.dtype.type(max(sums))))
    error, bound = max(errors) / unit, bound + max(doubts) / unit
    if bound < error < inf:  # the gain is at least 1, so it is measured only where it decides
        near = point.nearby(wanted, rng)
        changes = [abs(near.slope(path, direction)[0] - slope) for path, (slope, direction) in slopes.items()]
        bound *= max(1.0, max(changes) / (CHANGE * max(sums)))
    return error, bound


@dataclass(frozen=True)
class _Point:
    """A layer at arguments in float64, with cotangents of its outputs."""

    layer: Layer
    arguments: dict[str, Any]
    cotangents: list[Any]
    sizes: Mapping[str, int]
    bound: float  # of the roundings of the layer

    def values(self, path: Path, step: Any) -> tuple[Any, ...]:
        """Return the outputs of the layer where one array is moved by a step."""
        moved = _replaced(self.arguments, path, _at(self.arguments, path) + step)
        return results(run(self.layer, moved, self.sizes, check=False))

    def slope(self, path: Path, direction: Any) -> tuple[float, float]:
        """Return d/dt <G, Y(x + t P)> at t = 0, and a bound of its error."""
        if not takes_complex_steps(self.layer):
            return self.slope_by_differences_at_best(path, direction)
        try:
            # Im f(x + i h) = h f'(x) + O(h^3): no subtraction, so h can be so small that the remainder vanishes
            changes = [y.imag for y in self.values(path, 1j * COMPLEX_STEP * direction)]
        except TypeError:  # a function that does not accept complex numbers
            return self.slope_by_differences_at_best(path, direction)
        return _pairing(self.cotangents, changes) / COMPLEX_STEP, 0.0

    def slope_by_differences_at_best(self, path: Path, direction: Any) -> tuple[float, float]:
        """Return the slope from differences, and a bound of its error, for the step size with the smallest bound."""
        return min((self.slope_by_differences(path, direction, s) for s in REAL_STEPS), key=itemgetter(1))

    def slope_by_differences(self, path: Path, direction: Any, size: float) -> tuple[float, float]:
        """Return the slope from central differences of order six with a given step size, and a bound of its error."""
        given, step = self.cotangents, size * direction
        around = [(self.values(path, k * step), self.values(path, -k * step)) for k in (1, 2, 3)]
        one, two, three = (_pairing(given, ahead) - _pairing(given, behind) for ahead, behind in around)
        fourth = (8 * one - two) / (12 * size)
        sixth = (45 * one - 9 * two + three) / (60 * size)
        units = [np.abs(g).sum() * np.spacing(np.abs(y).max()) for g, y in zip(given, around[0][0], strict=True)]
        rounded = self.bound * float(sum(units)) * 2 / size  # the factors of order six add up to less than 2
        return sixth, rounded + abs(sixth - fourth)

    def nearby(self, paths: Iterable[Path], rng: Any) -> "_Point":
        """Return a point with every entry of the arrays changed by a relative 2^-20, up or down."""
        arguments = self.arguments
        for path in paths:
            x = _at(arguments, path)
            arguments = _replaced(arguments, path, x * (1 + CHANGE * rng.choice([-1, 1], x.shape)))
        return replace(self, arguments=arguments)


def _pairing(cotangents: list[Any], values: Iterable[Any]) -> float:
    return fsum(fsum((g * y).flat) for g, y in zip(cotangents, values, strict=True))


# --- calls ----------------------------------------------------------------------------------------------------------


def run(layer: Layer, arguments: Mapping[str, Any], sizes: Mapping[str, int], check: bool = True) -> Any:
    """Return the output of a compiled layer, with arguments by name; sizes and scalars it does not take are dropped."""
    compiled: CompiledLayer = compile_layer(layer)
    scalars = {identifier(scalar.name) for scalar in layer.scalars}
    named = {name: value for name, value in arguments.items() if not isinstance(value, float | int) or name in scalars}
    return compiled(**named, **{size.name: sizes[size.name] for size in compiled.sizes}, check=check)


def results(returned: Any) -> tuple[Any, ...]:
    """Return the outputs of a compiled layer as a tuple, also if it is a single array."""
    return returned if isinstance(returned, tuple) else (returned,)


def cotangents(layer: Layer, arguments: Mapping[str, Any], sizes: Mapping[str, int], rng: Any) -> dict[str, Any]:
    """Return random cotangents of the outputs of a layer, under the names that its gradient gives them."""
    values = results(run(layer, arguments, sizes))
    names = [variable.name for variable in gradient(layer).inputs[len(layer.inputs) :]]
    return {
        identifier(name): np.asarray(rng.standard_normal(value.shape)).astype(value.dtype)
        for name, value in zip(names, values, strict=True)
    }


def gradient_names(layer: Layer) -> list[str]:
    """Return the names of the arrays that a gradient is computed for, in order: real inputs, weights, parts."""
    tree = weight_tree(layer)
    return [*(identifier(v.name) for v in layer.inputs if v.kind == "real"), *tree.parameters, *tree.parts]


def gradients_by_name(layer: Layer, returned: Any) -> dict[str, Any]:
    """Return the gradients that the gradient of a layer returns, by the names of their arrays."""
    return dict(zip(gradient_names(layer), results(returned), strict=True))


# --- nested arrays --------------------------------------------------------------------------------------------------


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the arrays in nested dicts and lists, each with its path."""
    if not isinstance(value, dict | list):
        yield path, value
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(inner, (*path, key))


def _at(value: Any, path: Path) -> Any:
    return _at(value[path[0]], path[1:]) if path else value


def _replaced(value: Any, path: Path, array: Any) -> Any:
    if not path:
        return array
    changed = value.copy()
    changed[path[0]] = _replaced(value[path[0]], path[1:], array)
    return changed


def _doubled(value: Any) -> Any:
    """Return nested arguments with all real numbers in float64, which represents float32 exactly."""
    if isinstance(value, Mapping):
        return {name: _doubled(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_doubled(inner) for inner in value]
    return value.astype(np.float64) if getattr(value, "dtype", None) == np.float32 else value
