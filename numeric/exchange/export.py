"""ONNX models of everything that has equations: layers, optimised layers, lifted functions, loaded models.

Definition   a subject is turned into a layer with weights and sizes, one rule for each kind; the layer is exported by
             `numeric.codegen.onnx_graph.export`
Raises       TypeError for a subject without equations
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from derivations.language.layers.layer import Layer
from derivations.positions.rotary_scaling import reach
from numeric.codegen.onnx_graph import export
from numeric.codegen.onnx_graph.model import onnx_library
from numeric.codegen.onnx_graph.operators import OPSET as PLAIN_OPSET
from numeric.exchange.single_operators import OPSET, SINGLE, as_single_operator
from numeric.models.load import LoadedModel, scores_in
from numeric.optimize.driver import Optimised
from numeric.optimize.engine import exported, optimised_for_engines
from numeric.optimize.packing import packed
from numeric.runtime.checks import InputContract, InputError
from numeric.runtime.structure import weight_tree

__all__ = ["scores_of", "to_onnx", "write_onnx"]

MESSAGE = 2**31 - 1  # bytes of the largest protobuf message


class HasLayer(Protocol):
    """An object that has a layer, such as a lifted function."""

    @property
    def layer(self) -> Layer:
        """The layer."""


@dataclass(frozen=True)
class _Subject:
    """What is exported: a layer, its weights if they are known, and its sizes."""

    layer: Layer
    weights: Mapping[str, Any] | None
    sizes: Mapping[str, int]
    dtype: str


def to_onnx(
    subject: Layer | Optimised | LoadedModel | HasLayer,
    weights: Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    scalars: Mapping[str, float | None] | None = None,
    batch: Sequence[str] = ("batch",),
    dtype: str = "float32",
    optimized: bool = False,
    operators: Collection[str] = (),
) -> Any:
    """Return a layer, an optimised layer, a loaded model or a lifted function as a model of the library `onnx`.

    The checker of `onnx`, with shape inference, accepts the model. A model with 1 GiB of weights or more is not
    checked.

    Definition   `weights` are nested as `compile_layer` takes them, those of the original layer where it is optimised;
                 without them they are inputs of the graph, by dotted names. `sizes` and `scalars` become numbers in
                 the graph; a scalar that is None is an input, though it may have a default. With `optimized` the
                 rewrites of `numeric.optimize` run first; weights that they combine are inputs where none are given.
                 A loaded model computes its scores; where its rotary frequencies depend on the length of a text, they
                 are those of short texts unless `sizes` tells the length, as {"reach": 4096}.
                 `operators` names operators of opset 23 that may stand for a whole layer: "Attention",
                 "RMSNormalization", "RotaryEmbedding"
    Shapes       every input has the axes named in `batch` in front, of any length; weights have none
    Raises       CompileError where an equation has no form in ONNX, with its name; InputError where weights, sizes or
                 scalars do not fit; TypeError for another kind of subject; ImportError without the package onnx
    """
    if unknown := set(operators) - set(SINGLE):
        raise InputError(f"{min(unknown)} is no operator that stands for a layer; choose of {', '.join(SINGLE)}")
    found = _subject(subject, weights, dict(sizes or {}), dtype)
    if optimized and not isinstance(subject, Optimised):
        found = _optimised(found)
    return export.to_onnx(
        found.layer,
        found.weights,
        sizes=found.sizes,
        scalars=scalars,
        batch=batch,
        dtype=found.dtype,
        finish=partial(as_single_operator, operators) if operators else None,
        opset=OPSET if operators else PLAIN_OPSET,
    )


def _subject(subject: Any, weights: Mapping[str, Any] | None, sizes: dict[str, int], dtype: str) -> _Subject:
    match subject:
        case LoadedModel():
            return _loaded(subject, sizes)
        case Optimised():
            return _with_weights(subject, weights, sizes, dtype)
        case Layer():
            return _Subject(subject, weights, sizes, dtype)
    if isinstance(getattr(subject, "layer", None), Layer):
        return _Subject(subject.layer, weights, sizes, dtype)
    raise TypeError(
        f"{type(subject).__name__} has no equations: give a layer, an optimised layer, a loaded model or lift(function)"
    )


def scores_of(model: LoadedModel) -> tuple[Layer, dict[str, int]]:
    """Return the layer of a loaded model up to its scores, else up to its hidden rows, and the sizes that are known."""
    layer = model.layer.until(scores_in(model.layer) or "Z")
    own = {size.name for size in layer.sizes}
    known = {**model.model.values, reach: 1}
    return layer, {size.name: int(number) for size, number in known.items() if size.name in own}


def _loaded(model: LoadedModel, sizes: dict[str, int]) -> _Subject:
    layer, known = scores_of(model)
    tree = weight_tree(layer)
    weights = {each: model.weights[each] for each in (*tree.parameters, *tree.parts)}
    return _Subject(layer, weights, known | sizes, model.dtype.name)


def _with_weights(
    optimised: Optimised, weights: Mapping[str, Any] | None, sizes: dict[str, int], dtype: str
) -> _Subject:
    if weights is None:
        return _Subject(optimised.layer, None, sizes, dtype)
    known = InputContract(optimised.original, weights, sizes).sizes
    own = set(optimised.layer.sizes)
    numbers = {size.name: int(number) for size, number in known.items() if size in own}
    return _Subject(optimised.layer, packed(optimised, weights, known), numbers, dtype)


def _optimised(found: _Subject) -> _Subject:
    if found.weights is None:  # the combined weights are inputs
        return _Subject(optimised_for_engines(found.layer).layer, None, found.sizes, found.dtype)
    optimised, made, known = exported(found.layer, found.weights, sizes=found.sizes)
    return _Subject(optimised.layer, made, known, found.dtype)


def write_onnx(model: Any, path: str | Path, *, external: bool | None = None) -> list[Path]:
    """Write a model, with its weights inside, or beside it in PATH.data; return the files.

    Definition   without `external` they are beside it where the model is larger than one message may be, 2 GiB
    """
    library, path = onnx_library(), Path(path)
    beside = model.ByteSize() > MESSAGE if external is None else external
    if not beside:
        library.save_model(model, path)
        return [path]
    data = path.with_name(f"{path.name}.data")
    data.unlink(missing_ok=True)  # the library appends to a file that is there
    copy = type(model)()
    copy.CopyFrom(model)  # the library moves the weights out of the model that it writes
    library.save_model(copy, path, save_as_external_data=True, location=data.name)
    return [path, data] if data.exists() else [path]
