"""Derivatives stated by the catalogue, compared with differences of the compiled functions.

Definition   a claim d y / d x = rhs, with y an entry of a defined array and x an entry of a given one, is compared at
             all indices with the slope of the compiled equations; so is a claim d f(t) / d t of one scalar
Result       smooth equations: the complex step Im f(x + i s) / s with s = 1e-200, exact up to rounding, so that the
             bound is that of four times the roundings of the function itself;
             functions with a kink: central differences with s = 2^-20, at points where the slopes to both sides
             agree; they are exact on straight pieces, up to roundings of f divided by s
Source       Squire and Trapp (1998), "Using complex variables to estimate derivatives of real functions"; Griewank and
             Walther (2008), "Evaluating Derivatives", section 4.5: a gradient costs at most four times the function
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from sympy import Abs, Basic, Derivative, Equality, Heaviside, Indexed, Lambda, Max, Min, Piecewise, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.arrays.expression import Variable, array
from derivations.language.arrays.functions import Lookup, Named
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Apply, Equations, Layer
from derivations.language.results.derivation import Assumption, Claim, Derivation
from derivations.symbols import n
from numeric.codegen.compile import CompiledLayer, compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.runtime.special import special
from numeric.verification.agreement.cases import drawn
from numeric.verification.agreement.formula import number, place
from numeric.verification.agreement.report import Check
from numeric.verification.agreement.rounding import rounding_bound, roundings

__all__ = ["derivative_checks", "derivative_claims", "jacobian_check", "scalar_check", "slopes"]

SIZES = {"n": 5, "d": 7, "d_in": 3, "d_out": 2, "d_model": 3, "d_k": 2, "d_v": 5, "d_ff": 7, "h": 2, "vocab": 11}
SIZES["w"] = 2  # of windows, which must not be longer than n
OTHER_SIZE = 3  # of all other sizes, such as m
KINKED = (Max, Min, Abs, Piecewise, Heaviside)
COMPLEX_STEP = 1e-200
REAL_STEP = 2.0**-20
GRADIENT_COST = 4
EPSILON, CONSTANT = 1e-5, 0.375  # values of scalars: epsilon, and any other, such as the slope of a leaky ReLU
TRIES = 20
CURVED = 0.75  # of the gap between the slopes on both sides is left at most for half the step, half without rounding

Function = Callable[..., Any]  # of arrays by name, or of one array


def derivative_checks(derivations: Iterable[Derivation], seed: int = 0) -> Iterator[Check]:
    """Yield a check for every first derivative that a result states, of an entry or of a function of one scalar."""
    for derivation in derivations:
        for claim in derivative_claims(derivation):
            if isinstance(claim.lhs.variables[0], Symbol):
                yield scalar_check(derivation, claim, seed)
            else:
                yield jacobian_check(derivation, claim, seed)


def derivative_claims(derivation: Derivation) -> Iterator[Claim]:
    """Yield the claims of a derivation that state a first derivative whose function can be compiled.

    Assumes      no unknown function and no applied layer in the definitions, no derivative on the right-hand side; the
                 claim's own assumptions are that entries of arrays equal a number, which the comparison then sets
    """
    if any(equation.value.atoms(AppliedUndef, Apply) for equation in derivation.definitions):
        return
    defined = {equation.variable.name for equation in derivation.definitions}
    for claim in derivation.claims:
        if claim.relation != "=" or claim.rhs.atoms(Derivative, AppliedUndef):
            continue
        if not all(_sets_entries(assumption) for assumption in claim.given):
            continue
        if isinstance(claim.lhs, Derivative) and len(claim.lhs.variables) == 1:
            function, variable = claim.lhs.expr, claim.lhs.variables[0]
            entries = isinstance(function, Indexed) and isinstance(variable, Indexed)
            known = entries and _name(function) in defined and _name(variable) not in defined
            if (known and _compiles(_defining(derivation, _name(function)))) or (
                function.free_symbols == {variable} and not function.atoms(Indexed, AppliedUndef)
            ):
                yield claim


def _sets_entries(assumption: Assumption) -> bool:
    """Return whether an assumption is that every entry of an array equals a number."""
    statement = assumption.statement
    return isinstance(statement, Equality) and isinstance(statement.lhs, Indexed) and statement.rhs.is_number is True


def _compiles(layer: Layer) -> bool:
    """Return whether a layer can be compiled to NumPy, unlike a routed product whose matrices are an input."""
    try:
        compile_layer(layer)
    except CompileError:
        return False
    return True


def jacobian_check(derivation: Derivation, claim: Claim, seed: int = 0) -> Check:
    """Return the distance of a stated Jacobian from the slopes of the compiled definitions, at a random point.

    Units        units in the last place of the largest entry of the Jacobian
    """
    output, variable = _name(claim.lhs.expr), _name(claim.lhs.variables[0])
    layer = _defining(derivation, output)
    stated = {symbol for size in derivation.ranges.values() for symbol in size.free_symbols}
    sizes = {size: SIZES.get(size.name, OTHER_SIZE) for size in stated.union(layer.sizes)}
    rng = np.random.default_rng([seed, *derivation.id.encode()])
    given: dict[str, Any] = {}

    def redraw() -> Any:
        for each in (*layer.inputs, *layer.parameters):
            shape = tuple(int(total(along).xreplace(sizes)) for along in each.shape)
            given[each.name] = drawn(each.kind, shape, SIZES["vocab"], rng)
        for assumption in claim.given:
            given[_name(assumption.statement.lhs)][...] = float(assumption.statement.rhs)
        return given[variable]

    compiled = compile_layer(layer)
    used = {scalar for equation in derivation.definitions for scalar in equation.free_symbols if _is_scalar(scalar)}
    constants = {scalar: EPSILON if scalar.name == "epsilon" else CONSTANT for scalar in used}
    function = _of_complex_numbers(compiled)
    asked = {size.name: sizes[size] for size in compiled.sizes} | {s.name: constants[s] for s in layer.scalars}
    jacobian, unit = slopes(lambda x: function(**{**given, variable: x, **asked}), redraw, layer)
    arrays = {**given, **_intermediates(derivation, given, constants)}
    scalars: dict[Basic, float] = {**sizes, **constants}
    errors = []
    for places in product(*(range(round(number(size, {}, scalars))) for size in derivation.ranges.values())):
        values = {**scalars, **dict(zip(derivation.ranges, places, strict=True))}
        where = (*place(claim.lhs.expr, values), *place(claim.lhs.variables[0], values))
        errors.append(abs(jacobian[where] - number(claim.rhs, arrays, values)))
    return _check(derivation, layer, float(max(errors)) / unit, f"{len(errors)} entries")


def scalar_check(derivation: Derivation, claim: Claim, seed: int = 0) -> Check:
    """Return the distance of a stated derivative of a function of one scalar from the slopes of the compiled function.

    Units        units in the last place of the largest slope
    """
    t = claim.lhs.variables[0]
    let, x = Equations(), array("x", n)
    y = let("y")(Named("f", Lambda((t,), claim.lhs.expr))(x))
    layer = Layer("function", (x,), (), let, y)
    rng = np.random.default_rng([seed, *derivation.id.encode()])
    points: list[Any] = []
    function = _of_complex_numbers(compile_layer(layer))

    def redraw() -> Any:
        points[:] = 2 * rng.standard_normal(SIZES["n"])
        return np.array(points)

    jacobian, unit = slopes(lambda at: function(x=at), redraw, layer)
    stated = np.array([number(claim.rhs, {}, {t: float(at)}) for at in points])
    return _check(derivation, layer, np.abs(np.diagonal(jacobian) - stated).max() / unit, f"{len(points)} points")


def slopes(function: Function, redraw: Callable[[], Any], layer: Layer) -> tuple[Any, float]:
    """Return the Jacobian of a compiled layer by differences at a point, and the unit of its error.

    Shapes       (output axes, input axes)
    Raises       ArithmeticError where no point away from the kinks is found
    """
    if not _has_kinks(layer):
        at = redraw()
        # complex-step differentiation, Squire and Trapp (1998): f'(x) = Im f(x + i h) / h without cancellation
        jacobian = _columns(lambda step: function(at + 1j * COMPLEX_STEP * step).imag / COMPLEX_STEP, at)
        return jacobian, float(np.spacing(np.abs(jacobian).max()))
    for _ in range(TRIES):
        at = redraw()
        here = function(at)
        unit = float(np.spacing(np.abs(here).max())) / REAL_STEP
        (right, left), closer = (
            [_columns(_difference(function, at, here, step), at) for step in (size, -size)]
            for size in (REAL_STEP, REAL_STEP / 2)
        )
        # the slopes on both sides differ by the step times the curvature, and at a kink by as much for every step
        gap, closer_gap = np.abs(right - left), np.abs(closer[0] - closer[1])
        if (closer_gap <= CURVED * gap + _bound(layer) * unit).all():
            return (right + left) / 2, unit
    raise ArithmeticError(f"{layer.name}: {TRIES} random points all lie near a kink")


def _difference(function: Function, at: Any, here: Any, step: float) -> Function:
    return lambda direction: (function(at + step * direction) - here) / step


def _columns(slope: Function, at: Any) -> Any:
    """Return the slopes in the direction of every entry, with those directions as the last axes."""
    directions = np.eye(at.size).reshape(at.size, *at.shape)
    columns = np.stack([slope(direction) for direction in directions], axis=-1)
    return columns.reshape(*columns.shape[:-1], *at.shape)


def _is_scalar(symbol: Basic) -> bool:
    return isinstance(symbol, Symbol) and bool(symbol.is_positive) and not symbol.is_integer


def _of_complex_numbers(compiled: CompiledLayer) -> Function:
    """Return a compiled layer as a function of complex numbers: expit and logaddexp accept only real ones."""
    inner = compiled.function
    names = {**inner.__globals__, "special": SimpleNamespace(erf=special.erf, expit=lambda x: 1 / (1 + np.exp(-x)))}
    for alias, module in inner.__globals__.items():
        if module is np:
            names[alias] = SimpleNamespace(**{**vars(np), "logaddexp": lambda a, b: np.log(np.exp(a) + np.exp(b))})
    return FunctionType(inner.__code__, names, inner.__name__, inner.__defaults__, inner.__closure__)


def _has_kinks(layer: Layer) -> bool:
    return any(node.formula.expr.has(*KINKED) for equation in layer.equations for node in equation.value.atoms(Named))


def _check(derivation: Derivation, layer: Layer, error: float, what: str) -> Check:
    return Check(derivation.id, float(error), _bound(layer), f"ULP, {what}")


def _bound(layer: Layer) -> float:
    return rounding_bound(GRADIENT_COST * roundings(layer, _sizes(layer)))


def _sizes(layer: Layer) -> dict[str, int]:
    return {symbol.name: SIZES.get(symbol.name, OTHER_SIZE) for symbol in layer.sizes}


def _name(entry: Indexed) -> str:
    return str(entry.base.label.name)


def _defining(derivation: Derivation, output: str) -> Layer:
    """Return the definitions of a derivation as a layer. Undefined arrays are its inputs, or parameters if tables."""
    defined = {equation.variable for equation in derivation.definitions}
    used = set().union(*(equation.value.atoms(Variable) for equation in derivation.definitions))
    given = sorted(used - defined, key=lambda variable: variable.name)
    tables = {node.args[0] for equation in derivation.definitions for node in equation.value.atoms(Lookup)}
    variable = next(variable for variable in defined if variable.name == output)
    inputs, parameters = ([each for each in given if (each in tables) is table] for table in (False, True))
    return Layer("definitions", inputs, parameters, derivation.definitions, variable)


def _intermediates(
    derivation: Derivation, given: Mapping[str, Any], constants: Mapping[Symbol, float]
) -> dict[str, Any]:
    found = {}
    for equation in derivation.definitions:
        layer = _defining(derivation, equation.variable.name)
        own = {scalar.name: constants[scalar] for scalar in layer.scalars}
        found[equation.variable.name] = compile_layer(layer)(**{**given, **own})
    return found
