"""A layer made fast: optimised, compiled to code that works in place and in tiles, its weights packed once.

Definition   prepare(layer, weights)(*inputs) is compile_layer(layer)(*inputs, **weights) to rounding
Shapes       those of the layer; every input may have batch axes in front, which broadcast
Assumes      weights do not change afterwards: combined weights are copies

>>> import numpy as np
>>> from derivations.attention import scaled_dot_product_attention
>>> attention = prepare(scaled_dot_product_attention(), {})
>>> attention(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5))).shape
(2, 5)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from derivations.language.differentiation.preparation import prepared
from derivations.language.differentiation.reverse import gradient, passes
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Gradient, Layer, Repeat
from numeric.codegen.lowering.choices import SWITCHES, Choice
from numeric.codegen.lowering.module import LoweredLayer, lowered
from numeric.codegen.lowering.source import FunctionSource
from numeric.optimize import Optimised, packed
from numeric.optimize.here import optimised_here
from numeric.optimize.packing import at_path
from numeric.optimize.ways import Way, Ways, ways_of
from numeric.runtime.blas_threads import one_thread_in_blas
from numeric.runtime.checks import InputContract, InputError
from numeric.runtime.few_rows import few_rows_text
from numeric.runtime.own_memory import own_memory
from numeric.runtime.packed_weights import packed_weight
from numeric.runtime.structure import WeightTree, applications, identifier, weight_tree
from numeric.runtime.tiles import default_threads, undivided

__all__ = ["Prepared", "PreparedGradient", "flat_weights", "nested", "prepare", "prepare_gradient"]


DEFAULTS = {"epsilon": 1e-5}
PACKED = "packed_weights"  # named in `without`, it changes the weights and not the code


@dataclass(frozen=True)
class Prepared:
    """A layer with its weights, which can be called on its inputs; they are checked unless `check` is False.

    Raises       InputError where an input does not fit the layer
    """

    optimised: Optimised
    code: LoweredLayer
    ways: Ways
    threads: int
    contract: InputContract
    note: str = ""  # on a pass that was left out, since it is no gain on this computer

    def __call__(self, *inputs: Any, check: bool = True, **named: Any) -> Any:
        """Return the output of the layer."""
        if check:
            given, named = self.contract.check(inputs, named)
            inputs = tuple(given)
        rows = _rows(inputs)
        way = self.ways.way(rows, lambda way: self._results(way, rows, inputs, named))
        # an output may be a view of an input or of a weight, such as a transpose
        return own_memory(self._results(way, rows, inputs, named), [*inputs, *way.arguments.values()])

    def _results(self, way: Way, rows: int, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        # a single tile leaves NumPy's products to the threads of BLAS; where threads of this package divide the rows,
        # those of BLAS would alternate with them, and spin while they wait
        divided = self.threads == 1 or rows >= way.undivided or way.one_thread
        with one_thread_in_blas() if divided else undivided(way.undivided):
            return self.code.function(*inputs, **way.arguments, **named, threads=self.threads)

    def __repr__(self) -> str:
        """Return the name and the number of threads."""
        return f"<prepared layer {self.optimised.original.name}, {self.threads} threads>"

    @property
    def source(self) -> str:
        """The text of the code."""
        return self.code.text

    def explain(self) -> str:
        """Return the rewrites and the choices of the code, with the theorems that permit them."""
        choices = [choice.text() for choice in self.choices]
        few = few_rows_text() if any(source.factors for source in self._sources) else ""
        texts = [self.optimised.explain(), self.note, *choices, few, self.ways.text()]
        return "\n\n".join(filter(None, texts))

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices in the code of the rewritten layer, and of the layers that it repeats."""
        return tuple(choice for source in self._sources for choice in source.choices)

    @property
    def _sources(self) -> tuple[FunctionSource, ...]:
        return (self.code.source, *self.code.source.blocks.values())


def _rows(inputs: tuple[Any, ...]) -> int:
    """Return the number of rows of the input that has the most."""
    return max((math.prod(np.shape(x)[:-1]) for x in inputs if np.ndim(x) > 1), default=0)


def prepare(
    layer: Layer,
    weights: Mapping[str, Any],
    *,
    threads: int | None = None,
    without: Iterable[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> Prepared:
    """Return a layer as fast code with its packed weights. `weights` are nested as `compile_layer` takes them.

    Assumes      `threads` is by default the number of cores that the process may use; `sizes` holds the sizes that are
                 not an axis of a weight or an input; `without` names passes of `optimize`, or of the code
                 "hidden_keys" and "key_tiles", or "packed_weights": with the extra `fast` weights are held once more,
                 packed for products, and the first call at each size chooses between these and NumPy's
    Raises       CompileError where an equation has no NumPy form, ValueError for an unknown pass, InputError where
                 weights do not fit or a size is missing
    """
    return _prepared(layer, layer, weights, threads, without, sizes)


def _prepared(
    layer: Layer,
    checked: Layer,
    weights: Mapping[str, Any],
    threads: int | None,
    without: Iterable[str],
    sizes: Mapping[str, int] | None,
) -> Prepared:
    """Prepare a layer whose inputs are checked as those of another layer, which takes the same inputs."""
    left_out = frozenset([without] if isinstance(without, str) else without)
    optimised, note = optimised_here(layer, weights, without=left_out - {*SWITCHES, PACKED})
    # once here, so that a call has only its inputs to check
    contract = InputContract(checked, weights, sizes, defaults=DEFAULTS)
    code = lowered(optimised.layer, left_out & set(SWITCHES), optimised.pulled)
    known = contract.sizes
    asked = {name: known.get(size) for name, size in code.source.sizes.items()}
    missing = [name for name, value in asked.items() if value is None]
    if missing:
        raise InputError(
            f"{layer.name}: no weight tells the size {missing[0]}; give it as sizes={{{missing[0]!r}: ...}}"
        )
    made = packed(optimised, weights, known)
    own = zip(code.source.parameters, optimised.layer.parameters, strict=True)
    own_arrays = [(name, made[identifier(parameter.name)]) for name, parameter in own]

    def arguments(pack: Packing) -> dict[str, Any]:
        stacks = {name: _in_order(code, name, made[name], pack) for name in code.source.stacks if name in made}
        return {**pack(code.source, own_arrays), **stacks, **asked}

    plain = arguments(_as_they_are)
    count = default_threads() if threads is None else _whole(threads)
    ways = ways_of(plain, plain if PACKED in left_out else arguments(_with_packed), count)
    return Prepared(optimised, code, ways, count, contract, note)


def _whole(threads: Any) -> int:
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads must be an integer >= 1, not {threads!r}")
    return threads


@dataclass(frozen=True)
class PreparedGradient:
    """The gradient of a layer with its weights. It is called on the inputs and the gradient for the output."""

    of: Layer
    flat: Layer
    step: Prepared

    def __call__(self, *inputs: Any, check: bool = True, **scalars: Any) -> tuple[Any, ...]:
        """Return the output, the gradients for all real inputs, and the gradients for the weights, nested alike."""
        results = self.step(*inputs, check=check, **scalars)
        results = results if isinstance(results, tuple) else (results,)
        names = [*(p.name for p in self.flat.parameters), *self.step.code.source.pulled_stacks]
        by_weights = results[len(results) - len(names) :]
        named = dict(zip(map(identifier, names), by_weights, strict=True))
        return (*results[: len(results) - len(names)], nested(weight_tree(self.of), named))

    @property
    def source(self) -> str:
        """The text of the code."""
        return self.step.source

    def explain(self) -> str:
        """Return the rewrites, with the theorems that permit them."""
        return self.step.explain()


def prepare_gradient(
    layer: Layer,
    weights: Mapping[str, Any],
    *,
    threads: int | None = None,
    without: Iterable[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> PreparedGradient:
    """Return a training step of a layer: its output and all gradients, from inputs and the gradient for the output.

    Definition   the gradient of the layer with its parts written out, made fast like any other layer
    Shapes       gradients have the shapes of inputs and weights; for inputs and weights without batch axes, or with
                 batch axes of length 1, they are sums over the batch
    Assumes      for a repeated layer the forward pass saves only the input, and the backward pass recomputes the
                 rest (Chen et al. 2016)
    Raises       the errors of `prepare`
    """
    flat = inlined(layer)
    whole, both = gradient(flat), passes(flat)
    # both passes in one layer: the backward pass reads the values of the forward pass directly
    equations = (*prepared(flat).equations, *both.backward)
    step = Gradient(whole.name, whole.inputs, whole.parameters, equations, (*flat.outputs, *whole.outputs))
    flat_values = flat_weights(flat, weights)
    # a size of the layer on which no gradient depends is known and not read
    unread = {size.name for size in layer.sizes} - {size.name for size in whole.sizes}
    known = {name: value for name, value in (sizes or {}).items() if name not in unread}
    return PreparedGradient(layer, flat, _prepared(step, whole, flat_values, threads, without, known))


def nested(tree: WeightTree, named: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return arrays as a tree of weights, given by their names in the layer whose parts are written out."""
    own = {name: named[f"{path}{name}"] for name in tree.parameters}
    parts = {name: _part(part, named, f"{path}{name}") for name, part in tree.parts.items()}
    return own | parts


def _part(tree: WeightTree, named: Mapping[str, Any], path: str) -> Any:
    if tree.count is None:
        return nested(tree, named, f"{path}_")
    return [nested(replace(tree, count=None), each) for each in named[path]]


Packing = Callable[[FunctionSource, Sequence[tuple[str, Any]]], dict[str, Any]]


def _as_they_are(source: FunctionSource, arrays: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    return dict(arrays)


def _with_packed(source: FunctionSource, arrays: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return weights by name. Those that are right factors of products with rows also get their packed form."""
    return {name: packed_weight(array) if name in source.factors else array for name, array in arrays}


def _in_order(code: LoweredLayer, name: str, weights: Any, pack: Packing) -> Any:
    """Return the weights of the layers of a repetition in the order in which the function of one layer takes them."""
    block = code.source.blocks[code.source.stacks[name].layer]
    own = list(zip(block.parameters, map(identifier, (p.name for p in block.layer.parameters)), strict=True))
    return [tuple(pack(block, [(argument, each[held]) for argument, held in own]).values()) for each in weights]


def flat_weights(layer: Layer, weights: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested weights by the names of a layer whose parts are written out."""
    flat = {identifier(p.name): at_path(weights, p.name) for p in layer.parameters}
    for node in applications(layer):
        if isinstance(node, Repeat) and weight_tree(node.layer, frozenset(node.bound)):
            below = at_path(weights, node.name)
            flat[identifier(node.name)] = [flat_weights(node.layer, each) for each in below]
    return flat
