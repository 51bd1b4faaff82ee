"""Runs of lifted layers against their functions, at sizes and numbers that satisfy what was assumed.

The judge decides about the equations; whether they are what the function does is for the tracer to get right, so no
proof counts before this run: all sizes 1, distinct primes, and equal sizes.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol

from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from numeric.codegen.compile import CompiledLayer, compile_layer
from numeric.lifting.computed import concrete
from numeric.lifting.door import Door
from numeric.lifting.lift import Lifted, variables_in
from numeric.lifting.refusals import NotFollowed
from numeric.runtime.structure import identifier

__all__ = [
    "DOMAINS",
    "Disagreement",
    "OtherShape",
    "Run",
    "all_values",
    "assignments",
    "compiled_value",
    "disagreement",
    "draw",
    "evaluator",
    "result_of",
    "run_function",
    "satisfies",
    "symbols_of",
]

DOMAINS: Mapping[str, Callable[[Any], Any]] = {  # of functions that take all numbers, or raise for some of them
    "reals": lambda numbers: numbers,
    "positive numbers": np.abs,
    "probabilities": lambda numbers: 1 / (1 + np.exp(-numbers)),
}
_LARGEST = 4096  # of the sizes that are run
_PRIMES = (3, 5, 2, 7, 11, 13, 17, 19)
_TOLERANCE = {False: 1e-8, True: 1e-4}  # against the largest entry; True: the function casts to fewer digits


@dataclass(frozen=True)
class Run:
    """Sizes and arguments of one run."""

    sizes: Mapping[str, int]
    scalars: Mapping[str, float]
    arrays: Mapping[str, Any]


@dataclass(frozen=True)
class Disagreement:
    """A run in which two results differ: where, and both values."""

    run: Run
    place: tuple[int, ...]
    left: float
    right: float

    def beside(self, other: str) -> str:
        """Return the sizes, the entry and both values as text, with the name of what gives the second value."""
        at = f"entry {list(self.place)}" if self.place else "the result"
        return f"{_at(self.run)}, {at} is {self.left:.10g}, where {other} gives {self.right:.10g}"

    def __str__(self) -> str:
        """Return the sizes, the entry and both values as text."""
        return self.beside("the layer")


@dataclass(frozen=True)
class OtherShape:
    """A run whose result has another shape than that of the layer."""

    run: Run
    left: tuple[int, ...]
    right: tuple[int, ...]
    place: tuple[int, ...] = ()

    def beside(self, other: str) -> str:
        """Return the sizes and both shapes, with the name of what gives the second one."""
        return f"{_at(self.run)}, the result has the shape {self.left}, where {other} gives {self.right}"

    def __str__(self) -> str:
        """Return the sizes and both shapes."""
        return self.beside("the layer")


def _at(run: Run) -> str:
    sizes = ", ".join(f"{name} = {value}" for name, value in run.sizes.items())
    return f"at {sizes or 'these numbers'}"


def symbols_of(lifted: Lifted) -> list[Symbol]:
    """Return the size symbols of the arguments, and those that stand for sizes among the scalars."""
    found: dict[Symbol, None] = {}
    for value in (*lifted.arguments.values(), *lifted.weights.values()):
        for variable in variables_in(value):
            for along in variable.shape:
                found |= dict.fromkeys(sorted(total(along).free_symbols, key=str))
        if isinstance(value, Expr):
            found |= dict.fromkeys(s for s in sorted(value.free_symbols, key=str) if s.is_integer)
    return list(found)


def assignments(lifted: Lifted, general: bool = False, wanted: int = 3) -> Iterator[dict[str, int]]:
    """Yield sizes that satisfy what was assumed: all 1, distinct primes in two orders, all equal; then others."""
    fixed = dict(lifted.fixed)
    symbols = [s for s in symbols_of(lifted) if s not in fixed]
    primes = itertools.cycle(_PRIMES)
    distinct = {s: next(primes) for s in symbols}
    turned = dict(zip(symbols, reversed(list(distinct.values())), strict=True))
    choices = [*([] if general else [dict.fromkeys(symbols, 1)]), distinct, dict.fromkeys(symbols, 4), turned]
    choices += [{s: 1 + (k * (2 + i)) % 9 for i, s in enumerate(symbols)} for k in range(1, 40)]
    edges = sorted({abs(int(number)) for relation in lifted.assumed for number in relation.atoms(Integer)})
    for edge in (number for number in edges if 4 < number < _LARGEST):  # a size on either side of a number
        choices += [{**distinct, symbol: edge + step} for symbol in symbols for step in (-1, 0, 1)]
    given = 0
    for choice in choices:
        choice = {**choice, **fixed}
        if given >= wanted:
            return
        if all(bool(relation.xreplace(choice)) for relation in lifted.assumed):
            yield {s.name: value for s, value in choice.items()}
            given += 1


def draw(lifted: Lifted, sizes: Mapping[str, int], seed: int = 0, scale: float = 1.0, domain: str = "reals") -> Run:
    """Return random arguments: normal numbers, small whole numbers, masks whose rows show an entry and hide another.

    `domain` is one of `DOMAINS`: from where the real numbers are.
    """
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    scalars: dict[str, float] = {}
    smallest = min([*sizes.values(), 2])
    for value in (*lifted.arguments.values(), *lifted.weights.values()):
        for variable in variables_in(value):
            shape = tuple(_whole(total(along), sizes) for along in variable.shape)
            if variable.kind == "boolean":
                order = rng.random(shape)
                drawn: Any = rng.random(shape) < 0.7
                drawn |= order == order.max(-1, keepdims=True)
                drawn &= (order > order.min(-1, keepdims=True)) | (shape[-1] == 1)
            elif variable.kind == "integer":
                drawn = rng.integers(0, smallest, shape)
            else:
                drawn = DOMAINS[domain](scale * rng.standard_normal(shape))
            arrays[variable.name] = drawn
        if isinstance(value, Expr) and not value.is_integer:
            scalars |= {s.name: 0.25 for s in value.free_symbols if s.name not in sizes}
    return Run(sizes, scalars, arrays)


def _whole(size: Expr, sizes: Mapping[str, int]) -> int:
    return int(size.xreplace({s: sizes[s.name] for s in size.free_symbols}))


def _number(value: Expr, run: Run) -> Any:
    put = value.xreplace({s: run.sizes.get(s.name, run.scalars.get(s.name)) for s in value.free_symbols})
    return int(put) if value.is_integer else float(put)


def run_function(lifted: Lifted, run: Run) -> Any:
    """Return what the function gives for the arguments of a run."""

    def number(value: Expr) -> Any:
        return _number(value, run)

    arguments = {
        name: concrete(value, lifted.door, run.arrays, run.sizes, number) for name, value in lifted.arguments.items()
    }
    weights = {path: run.arrays[variable.name] for path, variable in lifted.weights.items()}
    return result_of(lifted.door, lifted.function, arguments, weights)


def result_of(door: Door, function: Any, arguments: Mapping[str, Any], weights: Mapping[str, Any]) -> Any:
    """Return the result of a function for numbers as a NumPy array; of several results, the first array."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = door.run(function, arguments, weights)
    if isinstance(result, tuple | list):
        result = next(each for each in result if hasattr(each, "shape"))
    return np.asarray(door.back(result))


def compiled_value(layer: Layer, run: Run, scalars: Mapping[str, float] | None = None) -> Any:
    """Return the value of a layer, compiled to NumPy, for the arguments of a run."""
    return all_values(layer, run, scalars or {})[layer.output.name]


def _compiled_run(layer: Layer, run: Run, scalars: Mapping[str, float]) -> Any:
    return _called(compile_layer(layer), run, scalars)


def _called(function: CompiledLayer, run: Run, scalars: Mapping[str, float]) -> Any:
    code = function.function.__code__
    asked = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = {identifier(name): value for name, value in run.arrays.items()}
    given = {**scalars, **run.sizes, **run.scalars, **known}
    with np.errstate(all="ignore"):
        return function(**{name: given[name] for name in asked if name in given}, check=False)


def evaluator(layer: Layer, scalars: Mapping[str, float]) -> Callable[[Run], Any]:
    """Return a function that computes the value of a layer for a run; the layer is compiled once for all runs."""
    compiled = compile_layer(layer)
    return lambda run: np.asarray(_called(compiled, run, scalars))


def all_values(layer: Layer, run: Run, scalars: Mapping[str, float], other: Run | None = None) -> dict[str, Any]:
    """Return the values of all arrays that a layer defines, by name.

    A layer is compiled once, with all its arrays as outputs: a proof asks for the last one first, then for all.
    """
    variables = tuple(equation.variable for equation in layer.equations)
    everything = Layer(layer.name, layer.inputs, layer.parameters, layer.equations, variables)
    values = _compiled_run(everything, other or run, scalars)
    values = values if isinstance(values, tuple | list) else (values,)
    return {v.name: np.asarray(value) for v, value in zip(variables, values, strict=True)}


def satisfies(lifted: Lifted, run: Run, scalars: Mapping[str, float] | None = None) -> bool:
    """Return whether a run satisfies the conditions of what was lifted: rows show an entry, and guards hold."""
    if not lifted.visible and not lifted.guarded:
        return True
    values = {**all_values(lifted.layer, run, scalars or {}), **run.arrays}
    guarded = all(bool(((np.asarray(values[mask.name]) != 0) == answer).all()) for mask, answer in lifted.guarded)
    return guarded and all(bool(np.any(values[mask.name], axis=-1).all()) for mask in lifted.visible)


def disagreement(one: Any, other: Any, run: Run, rounded: bool = False) -> Disagreement | None:
    """Return where two results differ, or None."""
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if one.shape != other.shape:
        raise NotFollowed(f"the function returns shape {one.shape} for {dict(run.sizes)}, the equations {other.shape}")
    if not one.size:
        return None
    scale = max(1.0, float(np.max(np.abs(other[np.isfinite(other)]), initial=0.0)))
    gap = np.where(np.isfinite(one) & np.isfinite(other), np.abs(one - other), np.where(one == other, 0, np.inf))
    gap = np.where(np.isnan(one) & np.isnan(other), 0, gap)
    place = np.unravel_index(int(np.argmax(gap)), gap.shape)
    if gap[place] <= _TOLERANCE[rounded] * scale:
        return None
    return Disagreement(run, tuple(map(int, place)), float(one[place]), float(other[place]))
