"""The expected gradients of a layer, with which the gradients of an implementation are compared.

Definition   for a cotangent G of the output Y: the gradient of sum G Y by every real input and weight
Result       the derived gradient of the layer, compiled, in float64; for a layer without one, complex steps
             Im f(x + i s) / s with s = 1e-200, exact up to rounding, at entries chosen at random
             (the others are NaN: not known)
Assumes      an implementation loses at most four bits more than the derived gradient; where the worst case is unknown,
             the bound of `numeric.verification.agreement.rounding` for four times the roundings of the layer
Source       Squire and Trapp (1998); Griewank and Walther (2008), section 4.5: a gradient costs at most four times the
             function
"""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from derivations.language import gradient
from derivations.language.differentiation.adjoints import GradientError
from numeric.codegen.compile import compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.runtime.structure import identifier, weight_tree
from numeric.verification.complex_steps import takes_complex_steps
from numeric.verification.conformance.drawing import Case, doubled, leaves, mapped
from numeric.verification.conformance.running_error import Arithmetic, Bounded, NotBounded, bounded
from numeric.verification.conformance.tolerance import FREEDOM, settled

__all__ = ["by_complex_steps", "derived", "expected_gradients"]

STEP = 1e-200
GRADIENT_COST = 4
LARGEST = 30  # most entries of one array that are differentiated by complex steps

Gradients = dict[str, Any]  # by the path of the array


def expected_gradients(case: Case, cotangent: Any) -> dict[str, tuple[Any, Any]]:
    """Return the gradient with respect to every real array, by path, and the permitted error of each of its entries."""
    try:
        with np.errstate(all="ignore"):  # an intermediate value may overflow, and an intermediate bound be NaN
            found, worst = derived(case, cotangent), _worst(case, cotangent)
    except (GradientError, CompileError):
        found, worst = _by_complex_steps_or_none(case, cotangent), {}
    sizes = [float(np.nanmax(np.abs(each), initial=0.0)) for each in (*found.values(), cotangent)]
    dtype, size = case.plan.dtype, np.array(max(sizes))
    return {
        path: (
            value,
            settled(worst.get(path), np.abs(value).max(initial=0.0), case, dtype, GRADIENT_COST, size),
        )
        for path, value in found.items()
    }


def derived(case: Case, cotangent: Any) -> Gradients:
    """Return the gradients computed by the derived gradient of the layer.

    Raises       GradientError or CompileError where the layer has no derived gradient
    """
    return _gradients(case, mapped(dict(case.arguments), lambda _, each: doubled(each)), cotangent)


def _worst(case: Case, cotangent: Any) -> Gradients:
    """Return the error bounds that the derived gradient computes for itself, if it can."""
    errors: Gradients = {}
    exact = mapped(dict(case.arguments), lambda _, each: doubled(each))
    for dtype, freedom in _arithmetics(case.plan.dtype):
        arithmetic = Arithmetic.of(dtype)
        try:
            found = _gradients(case, bounded(exact, arithmetic, 1), bounded(cotangent, arithmetic))
        except NotBounded:
            return {}
        for path, each in found.items():
            error = each.error if isinstance(each, Bounded) else np.full(np.shape(each), np.inf)
            errors[path] = errors.get(path, 0.0) + freedom * error
    return errors


def _arithmetics(dtype: str) -> tuple[tuple[str, int], ...]:
    """Return the number types in which errors arise, each with the permitted multiple of its bound."""
    return (("float64", FREEDOM + 1),) if dtype == "float64" else ((dtype, FREEDOM), ("float64", 1))


def _gradients(case: Case, arguments: Mapping[str, Any], cotangent: Any) -> Gradients:
    backward, layer = gradient(case.layer), case.layer
    run = compile_layer(backward)
    # a gradient may ask for other sizes than its layer: it reads some from dY, and puts a slice among all places
    sizes = {identifier(size.name): case.plan.sizes[size.name] for size in run.sizes}
    given = {**arguments, **sizes, identifier(backward.inputs[-1].name): cotangent, **case.defaults}
    output = run(**{name: given[name] for name in signature(run.function).parameters}, check=False)
    names = [identifier(each.name) for each in (*layer.inputs, *layer.parameters) if each.kind == "real"]
    names += weight_tree(layer).parts
    outputs = output if isinstance(output, tuple) else (output,)
    return leaves(dict(zip(names, outputs, strict=True)))


def _by_complex_steps_or_none(case: Case, cotangent: Any) -> Gradients:
    """Return the gradients by complex steps, or NaN where that is impossible."""
    try:
        return by_complex_steps(case, cotangent)
    except TypeError:
        real = {path: each for path, each in leaves(case.arguments).items() if each.dtype.kind == "f"}
        return {path: np.full(each.shape, np.nan) for path, each in real.items()}


def by_complex_steps(case: Case, cotangent: Any) -> Gradients:
    """Return the gradients by complex steps, at random entries of large arrays.

    Raises       TypeError for a layer with a function that accepts only real numbers, such as expit or |x|
    """
    if not takes_complex_steps(case.layer):
        raise TypeError(
            f"{case.layer.name} has the absolute value or sign of a number, which complex steps do not take"
        )
    exact = mapped(dict(case.arguments), lambda _, each: doubled(each))
    function = compile_layer(case.layer)
    rng = np.random.default_rng(case.plan.seed)
    slopes = {}
    for path, array in leaves(exact).items():
        if array.dtype.kind != "f":
            continue
        slope = np.full(array.shape, np.nan)
        for number in rng.permutation(array.size)[:LARGEST]:
            moved = array.astype(complex)
            # so small that the remainder of order STEP^2 vanishes; there is no subtraction in which digits could cancel
            moved.flat[number] += 1j * STEP
            output = function(**_with(exact, path, moved), **case.defaults, check=False)
            slope.flat[number] = (cotangent * output.imag).sum() / STEP
        slopes[path] = slope
    return slopes


def _with(arguments: Any, path: str, array: Any) -> Any:
    return mapped(arguments, lambda where, each: array if where == path else each)
