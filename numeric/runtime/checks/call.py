"""The check of one call of a layer: names, types and shapes once for each outline, and values at every call.

Definition   the outline of a call is all of it except the values: names, shapes and number types of all arrays,
             numbers of layers in lists, and the sizes given
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from sympy import Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Gradient, Layer
from numeric.runtime.checks.arrays import check_arrays, check_axes, collect
from numeric.runtime.checks.cotangents import check_cotangents
from numeric.runtime.checks.given import Given
from numeric.runtime.checks.values import check_finite, check_not_nan, check_tokens, scalar, size
from numeric.runtime.checks.wanted import token_bounds
from numeric.runtime.structure import WeightTree, identifier, weight_tree

__all__ = ["InputContract", "check_call", "check_weights"]

REMEMBERED = 1024  # outlines of a layer
Outline: TypeAlias = tuple[Any, ...]  # of names, shapes and number types, nested


def check_call(
    layer: Layer,
    function: Callable[..., Any],
    sizes: Sequence[Symbol],
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of a compiled layer by name: sizes as int, scalars as float.

    Raises       InputError where an argument is missing, unknown, of the wrong type, shape or value
    """
    return _contract(layer, function, tuple(sizes)).check(arguments, named)


def check_weights(layer: Layer, weights: Any, sizes: Mapping[str, int]) -> None:
    """Check the weights of a layer at the given sizes: all have one number type and no NaN.

    Raises       InputError where a weight is missing, unknown, of the wrong type or shape, or NaN
    """
    given = Given(layer.name, {size: sizes[size.name] for size in layer.sizes if size.name in sizes})
    collect(given, "weights", weight_tree(layer), weights)
    check_arrays(given)
    for name, _, value, _ in given.arrays:
        check_not_nan(given, name, value)


@lru_cache(maxsize=256)
def _contract(layer: Layer, function: Callable[..., Any], sizes: tuple[Symbol, ...]) -> "_Contract":
    tree = weight_tree(layer)
    kinds = [*layer.inputs, *layer.parameters, *tree.parts.values(), *sizes]
    return _Contract(layer, inspect.signature(function), kinds)


@dataclass(eq=False)
class _Contract:
    """The arguments that a function needs; where the weights are fixed, the sizes and the number type are known."""

    layer: Layer
    signature: inspect.Signature
    kinds: list[Any]  # of the first arguments: a variable, a tree of weights, or a size; the others are scalars
    known: Given | None = None
    seen: dict[Outline, Given] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = list(self.signature.parameters)
        self.inputs = frozenset(self.layer.inputs)
        self.bounds = token_bounds(self.layer)  # once: comparing layers takes longer than a call

    def check(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name.

        Raises       InputError
        """
        values = self._by_name(arguments, named)
        for name in self.names[len(self.kinds) :]:
            if name in values:
                values[name] = scalar(self._nothing(), name, values[name])
        outline = self._outline(values)
        checked = None if outline is None else self.seen.get(outline)
        given = self._in_full(values) if checked is None else self._in_outline(values, checked)
        check_finite(given, self.layer)
        check_tokens(given, self.bounds)
        if checked is None and outline is not None:
            # a bounded memory: calls of ever new shapes start over rather than grow it
            if len(self.seen) >= REMEMBERED:
                self.seen.clear()
            self.seen[outline] = Given(given.layer, given.sizes)
        return values

    def _nothing(self) -> Given:
        """Return the sizes and the number type that are known before any argument is read."""
        if self.known is None:
            return Given(self.layer.name)
        return Given(self.layer.name, dict(self.known.sizes), [], self.known.first)

    def _by_name(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        try:
            values = dict(self.signature.bind(*arguments, **named).arguments)
        except TypeError as error:
            wanted = ", ".join(str(p) for p in self.signature.parameters.values())
            raise self._nothing().refuse(f"{error}; the arguments are {wanted}") from None
        for name, kind in zip(self.names, self.kinds, strict=False):
            if isinstance(kind, Variable) and isinstance(values[name], np.generic):
                values[name] = np.asarray(values[name])  # a number is an array without axes
        return values

    def _outline(self, values: Mapping[str, Any]) -> Outline | None:
        """Return the outline of a call, or None where only the full check can judge an argument."""
        try:
            return tuple([_outline(values[name]) for name in self.names[: len(self.kinds)]])
        except TypeError:
            return None

    def _in_full(self, values: dict[str, Any]) -> Given:
        """Check names, types and shapes of all arguments; return the sizes and the arrays."""
        given = self._nothing()
        for name, kind in zip(self.names, self.kinds, strict=False):
            if isinstance(kind, Variable):
                given.arrays.append((name, kind, values[name], kind in self.inputs))
            elif isinstance(kind, WeightTree):
                collect(given, name, kind, values[name])
            else:
                values[name] = given.sizes[kind] = size(given, name, values[name])
        check_arrays(given)
        check_axes(given, self.layer)
        if isinstance(self.layer, Gradient):
            check_cotangents(given, self.layer)
        return given

    def _in_outline(self, values: dict[str, Any], checked: Given) -> Given:
        """Return the sizes of an earlier call and the inputs of this one. The calls differ only in values of arrays."""
        arrays = [(name, kind, values[name], True) for name, kind in zip(self.names, self.kinds, strict=False)
                  if isinstance(kind, Variable) and kind in self.inputs]  # fmt: skip
        return Given(checked.layer, checked.sizes, arrays)


def _outline(value: Any) -> Any:
    """Return the outline of an argument: all of it except the values of arrays.

    Raises       TypeError for anything but a plain array, dict, list, tuple or int
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.shape
    if kind is dict:
        return dict, tuple(value), tuple([_outline(each) for each in value.values()])
    if kind is list or kind is tuple:
        return tuple([_outline(each) for each in value])
    if kind is int:
        return value
    raise TypeError


class InputContract:
    """The inputs that a layer with fixed weights needs; the weights are checked here, once.

    Result       `sizes` are read from the weights or given; `check(inputs, named)` returns the inputs
                 in order and the scalars by name, as float
    Raises       InputError where a weight or a size or, in `check`, an input or a scalar does not fit
    """

    def __init__(
        self,
        layer: Layer,
        weights: Mapping[str, Any],
        sizes: Mapping[str, int] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """Check the weights; `sizes` are further known sizes, and scalars with a default are optional."""
        known, tree = Given(layer.name), weight_tree(layer)
        symbols = {symbol.name: symbol for symbol in layer.sizes}
        for name, value in (sizes or {}).items():
            if name not in symbols:
                raise known.refuse(f"there is no size {name}; its sizes are {', '.join(symbols)}")
            known.sizes[symbols[name]] = size(known, name, value)
        if tree or weights:
            collect(known, "weights", tree, weights)
        check_arrays(known)
        self.sizes: Mapping[Symbol, int] = known.sizes
        self._inputs = [identifier(variable.name) for variable in layer.inputs]
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in self._inputs]
        for name in sorted(identifier(symbol.name) for symbol in layer.scalars):
            default = (defaults or {}).get(name, inspect.Parameter.empty)
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        self._contract = _Contract(layer, inspect.Signature(parameters), list(layer.inputs), known)

    def check(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the inputs in order, and the scalars that are given by name.

        Raises       InputError
        """
        values = self._contract.check(tuple(inputs), named)
        return [values.pop(name) for name in self._inputs], values
