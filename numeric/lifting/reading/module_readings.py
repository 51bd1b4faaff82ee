"""The readings of a module: which weight of a layer each of its weights is, found by runs with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
from sympy import Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from numeric.lifting.computed import concrete
from numeric.lifting.differential import Run, evaluator, result_of
from numeric.lifting.door import attributes_of
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import BATCHES, Binding, are_close
from numeric.lifting.reading.fitting import Fitting, fittings
from numeric.lifting.reading.layouts import Piece, pieces_of
from numeric.lifting.reading.module_binding import Assigned, bindings_of_weights
from numeric.lifting.reading.weight_names import SIZES, alike
from numeric.lifting.reading.weight_search import Allowance, SearchEnded, as_likely, solutions

__all__ = ["Found", "readings_of_module"]

_TRIED = 300  # readings of a module that are run
_DEAD_ENDS = 3_000  # of the search for them
_EXACT = 1e-6  # a mean difference against the largest entry that leaves no doubt
_EPSILON = 1e-5  # of the layer, in runs that choose
_LACKING = 4  # weights that a module may have less or more than the layer
_AGREED: dict[Any, tuple[int, bool, Mapping[Symbol, int], Assigned]] = {}  # by kind of module: which reading agreed
Found = Literal["agrees", "differs", "has another shape", "has no value"]  # of a run, beside the layer


def readings_of_module(
    module: Any, layer: Layer, shapes: Mapping[str, Any], names: Mapping[str, str]
) -> Iterator[list[Binding]]:
    """Yield the readings of a module under which a run agrees with the layer, else the likeliest reading that runs."""
    stored = door_of(module).weights(module)
    ways = [f for batch in BATCHES for f in fittings(module, layer, shapes, batch)]
    if not ways:
        return
    alike = (type(module), tuple(stored.items()), layer, tuple(names.items()), len(ways))
    if alike in _AGREED:  # a run of this module decides whether it is read as the last one of its kind
        number, equal, sizes, assigned = _AGREED[alike]
        if _ModuleRun(module, ways[number], stored, equal).compared(sizes, assigned) == "agrees":
            yield list(bindings_of_weights(module, ways[number], sizes, assigned))
            return
    best: dict[Found, Binding] = {}
    for equal in (False, True):
        runs = [_ModuleRun(module, fitting, stored, equal) for fitting in ways]
        for found, number, sizes, assigned in _compared(module, layer, names, runs):
            readings = list(bindings_of_weights(module, ways[number], sizes, assigned))
            if found == "agrees" and readings:
                _AGREED[alike] = number, equal, sizes, assigned
                yield readings
                return
            if readings:
                best.setdefault(found, readings[-1])
        if best:  # else each reading that was run wants rows of equal number
            break
    for found in ("differs", "has another shape"):  # all readings were run
        if found in best:
            yield [replace(best[found], readings=(*best[found].readings, "the weights in the module's order"))]
            return


def _compared(
    module: Any, layer: Layer, names: Mapping[str, str], runs: Sequence[_ModuleRun]
) -> Iterator[tuple[Found, int, Mapping[Symbol, int], Assigned]]:
    """Yield how a module compares with a layer under each reading that can be evaluated. Those that agree come first.

    Of readings in which they do not agree there is one of each kind, the likeliest: after all were run, or, where the
    search was given up, if the names of the weights leave no other as likely.
    """
    numbers = _numbers(module)
    tried: set[Any] = set()
    outcomes: dict[Found, tuple[int, Mapping[Symbol, int], Assigned]] = {}
    likeliest: list[
        tuple[Mapping[Symbol, int], Assigned]
    ] = []  # of readings that are as likely, the one that differs least is kept
    apart, told = 0.0, True
    try:
        left = Allowance(_DEAD_ENDS)
        for parameters, pieces in _held(layer, door_of(module).weights(module)):
            for sizes, first in solutions(parameters, pieces, numbers, names, left):
                others = as_likely(first, names)
                for assigned in (first, *(others or ())):
                    key = tuple(sizes.items()), assigned
                    if key in tried:
                        continue
                    tried.add(key)
                    if len(tried) > _TRIED:
                        raise SearchEnded
                    near: list[int] = []
                    for number, run in enumerate(runs):
                        found = run.compared(sizes, assigned)
                        if found == "agrees":
                            near.append(number)
                            if run.apart < _EXACT:  # else another form of the inputs may agree better
                                break
                        elif (
                            found != "has no value"
                            and (found not in outcomes or (likeliest == [(sizes, first)] and run.apart < apart))
                            and any(True for _ in bindings_of_weights(module, run.fitting, sizes, assigned))
                        ):
                            if found not in outcomes:
                                likeliest.append((sizes, first))
                            outcomes[found], apart = (number, sizes, assigned), run.apart
                            told = told and others is not None
                    for number in sorted(near, key=lambda number: runs[number].apart):
                        yield "agrees", number, sizes, assigned
    except SearchEnded:
        if not told:
            return
    yield from ((found, *outcome) for found, outcome in outcomes.items())


def _held(
    layer: Layer, stored: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[Sequence[Variable], tuple[Piece, ...]]]:
    """Yield the layer's weights that a module stores, with the module's weights cut into as many pieces.

    Where the numbers do not fit, the module may lack biases, which the layer then has with any entries, or have
    weights that it does not use.
    """
    parameters = tuple(layer.parameters)
    fits = False
    for pieces in pieces_of(stored, len(parameters)):
        fits = True
        yield parameters, pieces
    more = len(parameters) - len(stored)
    if fits or not 0 < abs(more) <= _LACKING:
        return
    vectors = [v for v in parameters if len(v.shape) == 1 or v.name.rpartition(".")[2].startswith("b_")]
    vectors.sort(key=lambda v: max(alike(path, v.name) for path in stored))  # those that no path tells first
    for absent in combinations(vectors, max(more, 0)):
        for unused in combinations(stored, max(-more, 0)):
            kept = tuple(v for v in parameters if v not in absent)
            yield kept, tuple(Piece(path, shape) for path, shape in stored.items() if path not in unused)


class _ModuleRun:
    """One run of a module with random weights, to compare with the layer under each reading of the weights."""

    def __init__(self, module: Any, fitting: Fitting, stored: Mapping[str, tuple[int, ...]], equal: bool) -> None:
        self.module, self.fitting, self.door = module, fitting, door_of(module)
        self.free = (5, 5, 5) if equal else (5, 7, 11)  # the sizes that the module was not made with
        rng = np.random.default_rng(0)
        drawn = {path: rng.standard_normal(shape) / max((1, *shape)[-1], 1) ** 0.5 for path, shape in stored.items()}
        self.weights = {path: np.abs(w) if path.endswith("running_var") else w for path, w in drawn.items()}
        self.apart = 0.0  # of the last comparison
        self.results: dict[tuple[tuple[int, ...], ...], Any] = {}

    @cached_property
    def value(self) -> Callable[[Run], Any]:
        """The function that evaluates the layer on a run."""
        binding = Binding(self.fitting.layer, {})
        whole = replace(binding, equations=self.fitting.equations(binding)).whole(self.fitting.layer.equations)
        return evaluator(whole, {s.name: _EPSILON for s in self.fitting.layer.scalars})

    def compared(self, sizes: Mapping[Symbol, int], assigned: Assigned) -> Found:
        """Return how the module's result compares with the layer's, with the weights assigned by this reading."""
        layer, inputs = self.fitting.layer, self.fitting.inputs
        others = [s for v in inputs for a in v.shape for s in sorted(total(a).free_symbols, key=str) if s not in sizes]
        values = {**sizes, **dict(zip(dict.fromkeys(others), self.free, strict=False))}
        shapes = tuple(tuple(int(total(a).xreplace(values)) for a in v.shape) for v in inputs)
        try:
            arrays = dict(zip((v.name for v in inputs), self._inputs(shapes, inputs), strict=True))
            result = self._result(shapes, arrays, {s.name: v for s, v in values.items()})
            for variable, piece, layout in assigned:
                shape = [int(total(a).xreplace(values)) for a in variable.shape]
                arrays[variable.name] = layout.read(self.weights[piece.path], piece, shape).reshape(shape)
            for variable in layer.parameters:
                if variable.name not in arrays:  # the module has none
                    shape = [int(total(a).xreplace(values)) for a in variable.shape]
                    arrays[variable.name] = np.random.default_rng(2).standard_normal(shape)
            expected = self.value(Run({s.name: v for s, v in values.items()}, {}, arrays))
        except Exception:  # these numbers do not fit: another reading may
            return "has no value"
        if result is None:
            return "has no value"
        if result.shape != expected.shape:
            return "has another shape"
        gaps = np.abs(np.subtract(result, expected, dtype=float))
        self.apart = float(np.mean(gaps)) / max(1.0, float(np.max(np.abs(expected), initial=0)))
        return "agrees" if are_close(result, expected) else "differs"

    def _inputs(self, shapes: Sequence[tuple[int, ...]], inputs: Sequence[Variable]) -> list[Any]:
        rng = np.random.default_rng(1)
        draws: dict[str, Callable[[Any], Any]] = {
            "boolean": lambda shape: (rng.random(shape) < 0.7) | (np.arange(shape[-1]) == 0),
            "integer": lambda shape: rng.integers(0, 2, shape),
            "real": rng.standard_normal,
        }
        front = (3, 2)[: self.fitting.batch]
        alone = {v for name, v in zip(self.fitting.needed, inputs, strict=True) if name in self.fitting.given}
        return [
            draws[v.kind](shape if v in alone else (*front, *shape)) for v, shape in zip(inputs, shapes, strict=True)
        ]

    def _result(self, shapes: tuple[tuple[int, ...], ...], arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> Any:
        """Return the module's result, computed once for each combination of input shapes."""
        if shapes not in self.results:
            self.results[shapes] = None
            pairs = zip(self.fitting.needed, self.fitting.inputs, strict=True)
            arguments = {**{n: self.fitting.argument(n, v) for n, v in pairs}, **self.fitting.constants}
            given = {name: concrete(value, self.door, arrays, sizes) for name, value in arguments.items()}
            self.results[shapes] = result_of(self.door, self.module, given, self.weights)
        return self.results[shapes]


def _numbers(module: Any) -> dict[str, list[int]]:
    """Return a module's integer attributes above 1: all of them under an empty name, and some under a size's name."""
    named = [(name, n) for name, n in _attributes(module) if n > 1]
    found = {"": sorted({n for _, n in named})}
    for size, known in SIZES.items():
        told = dict.fromkeys(n for name, n in named if name in known)
        found |= {size: list(told)} if told else {}
    return found


def _attributes(module: Any) -> Iterator[tuple[str, int]]:
    for part in module.modules():
        for space in attributes_of(part):
            yield from ((k, v) for k, v in space.items() if isinstance(v, int) and not isinstance(v, bool))
