"""The arguments of a function under test: random arrays of given sizes, drawn from a seed.

Definition   a `Plan` determines a case: sizes, number type, batch axes, kind of numbers, memory layout and seed; equal
             plans give equal cases
Shapes       those of `numeric.verification.conformance.sizes`
Assumes      weights are normal numbers: matrices that keep the size of a row, vectors around 1; in unusual cases
             also around -1, and 0
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Layer
from numeric.codegen.compile import compile_layer
from numeric.runtime.structure import WeightTree, identifier, weight_tree
from numeric.verification.conformance.numbers import KINDS, Kind
from numeric.verification.conformance.sizes import shape_of

__all__ = ["Case", "Plan", "doubled", "draw", "leaves", "mapped"]

SCALARS = {"epsilon": 1e-5}  # the defaults of the layers; other scalars are arguments
SCALAR = 0.25  # value of a scalar without a default, such as the rate of dropout


@dataclass(frozen=True)
class Plan:
    """The recipe of a case; for `usual` sizes and numbers the typical rounding error is known."""

    sizes: Mapping[str, int]
    dtype: str
    batch: tuple[int, ...] = ()
    kind: str = "ordinary"
    seed: int = 0
    scalars: Mapping[str, float] = field(default_factory=dict)
    layout: str = "plain"
    usual: bool = True
    gradient: bool = True

    @property
    def numbers(self) -> Kind:
        """How the numbers of the arrays are drawn: the entry of `KINDS` called `kind`."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Case:
    """The arguments of a compiled layer, by name, and the scalars that have a default."""

    layer: Layer
    plan: Plan
    arguments: Mapping[str, Any]
    defaults: Mapping[str, float]

    @cached_property
    def expected(self) -> Any:
        """The output of the layer in float64, for arguments of any number type."""
        exact = mapped(self.arguments, lambda _, each: doubled(each))
        with np.errstate(all="ignore"):  # exp(-x) of a sigmoid may overflow on its way to 1/infinity
            return compile_layer(self.layer)(**{**exact, **self.defaults})


def draw(layer: Layer, plan: Plan) -> Case:
    """Return the case of a plan."""
    rng = np.random.default_rng([plan.seed, *layer.name.encode()])
    scaled_weights = not any(each.kind == "real" for each in layer.inputs)
    inputs = {identifier(each.name): _input(each, plan, rng) for each in layer.inputs}
    weights = _weights(weight_tree(layer), plan, rng, scaled_weights)
    given = _asked(layer, plan, set(inputs) | set(weights))
    defaults = {s.name: plan.scalars.get(s.name, SCALARS[s.name]) for s in layer.scalars if s.name in SCALARS}
    case = Case(layer, plan, {**inputs, **weights, **given}, defaults)
    # a variance is >= 0, and the logarithm of a decay <= 0
    positive, negative = _of_one_sign(case, 1), _of_one_sign(case, -1)
    return next(filter(_has_value, (case, positive, negative)), positive)


def _has_value(case: Case) -> bool:
    """Return whether the output is finite, in float64 and in the number type of the case, which has a smaller range."""
    if not np.isfinite(case.expected).all():
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(compile_layer(case.layer)(**{**case.arguments, **case.defaults})).all())


def _of_one_sign(case: Case, sign: int) -> Case:
    """Return a case whose real numbers have one sign; sizes, tokens and masks keep theirs."""

    def signed(_: str, array: Any) -> Any:
        array = np.asarray(array)
        return sign * np.abs(array) if array.dtype.kind == "f" else array

    return replace(case, arguments=mapped(case.arguments, signed))


def _asked(layer: Layer, plan: Plan, known: set[str]) -> dict[str, Any]:
    """Return the sizes and scalars that are arguments of the compiled layer, in its order."""
    code = compile_layer(layer).function.__code__
    asked = [name for name in code.co_varnames[: code.co_argcount] if name not in known and name not in SCALARS]
    return {name: plan.sizes[name] if name in plan.sizes else plan.scalars.get(name, SCALAR) for name in asked}


def _input(variable: Variable, plan: Plan, rng: Any) -> Any:
    shape = (*plan.batch, *shape_of(variable.shape, plan.sizes))
    if variable.kind == "integer":
        return _tokens(plan.sizes.get("vocab", min(plan.sizes.values())), shape, rng)
    if variable.kind == "boolean":
        return plan.numbers.mask(shape, rng)
    return np.asarray(plan.numbers.real(_normal(shape, rng)), plan.dtype)


def _normal(shape: tuple[int, ...], rng: Any) -> Any:
    return np.asarray(rng.standard_normal(shape))  # NumPy draws a number of its own for an array without axes


def _tokens(count: int, shape: tuple[int, ...], rng: Any) -> Any:
    """Return token numbers; each row begins with the first token and ends with the last."""
    # both ends of the table are read, so that a count that is off by one fails
    tokens = rng.integers(count, size=shape)
    if shape and shape[-1] > 1:
        tokens[..., 0] = 0
    if shape and shape[-1]:
        tokens[..., -1] = count - 1
    return tokens


def _weights(tree: WeightTree, plan: Plan, rng: Any, scaled: bool) -> dict[str, Any]:
    """Return random weights: matrices that keep the size of a row, vectors and numbers around 1, or also -1 and 0."""
    weights: dict[str, Any] = {}
    for name, variable in tree.parameters.items():
        shape = shape_of(variable.shape, plan.sizes)
        normal = _normal(shape, rng)
        # entries of variance 1/k in a matrix of k rows: the entries of x W have the size of those of x
        weight = normal / shape[-2] ** 0.5 if len(shape) > 1 else 1 + normal / 2
        if len(shape) <= 1 and not plan.usual:
            weight = weight * rng.choice([-1, 0, 1, 1], size=shape)
        weights[name] = np.asarray(plan.numbers.real(np.asarray(weight)) if scaled else weight, plan.dtype)
    for name, part in tree.parts.items():
        copies = 0 if part.count is None else shape_of((part.count,), plan.sizes)[0]
        below = [_weights(part, plan, rng, False) for _ in range(max(copies, 1))]
        weights[name] = below[0] if part.count is None else below
    return weights


def leaves(tree: Any, path: str = "") -> dict[str, Any]:
    """Return the arrays of nested arguments by path, such as `layers[0].norm.gamma`, without plain numbers."""
    if isinstance(tree, Mapping):
        parts = [(f"{path}.{name}" if path else name, value) for name, value in tree.items()]
    elif isinstance(tree, list | tuple):
        parts = [(f"{path}[{number}]", value) for number, value in enumerate(tree)]
    else:
        return {path: tree} if hasattr(tree, "shape") else {}
    return {name: leaf for where, value in parts for name, leaf in leaves(value, where).items()}


def doubled(array: Any) -> Any:
    """Return an array of real numbers in float64, any other array unchanged."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def mapped(tree: Any, change: Callable[[str, Any], Any], path: str = "") -> Any:
    """Return nested arguments with every array replaced by `change(path, array)`."""
    if isinstance(tree, Mapping):
        return {name: mapped(value, change, f"{path}.{name}" if path else name) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [mapped(value, change, f"{path}[{number}]") for number, value in enumerate(tree)]
    return change(path, tree) if hasattr(tree, "shape") else tree
