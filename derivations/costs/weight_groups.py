"""The weights of a model in groups: those of each kind of layer, and those before and after the layers.

Definition   a group is a set of weights by their names in the tables of checkpoints, with the number of its copies. A
             stage of a pipeline is a range of layers; the first stage has the weights before the layers, the last those
             after them, among them a copy of the table of tokens if the head is tied to it
Units        entries
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer, Min

from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.composition import build
from derivations.architectures.description import Architecture, Block, Model, Stack
from derivations.language.arrays.expression import Shape
from derivations.language.counting.costs import weight_shapes
from derivations.symbols import d_model, vocab

__all__ = ["MOST_LAYERS", "Group", "Kind", "Stage", "kinds_of_layers", "weight_groups"]

MOST_LAYERS = 100_000  # that are listed one by one
BEFORE = ("E", "P", "T", "W_in", "class_token", "stem", "embedding_norm", "encoder_embedding_norm")


@dataclass(frozen=True)
class Group:
    """Weights with their shapes, and the number of copies; `layers` are the layers that have them, None if too many."""

    weights: Mapping[str, Shape]
    copies: Expr
    layers: tuple[int, ...] | None = ()


@dataclass(frozen=True)
class Stage:
    """The layers `first` to `last` - 1 of `layers` layers, counted from 0."""

    first: int
    last: int
    layers: int

    @property
    def opens(self) -> bool:
        """Whether it is the first stage."""
        return self.first == 0

    @property
    def closes(self) -> bool:
        """Whether it is the last stage."""
        return self.last == self.layers


def weight_groups(model: Model, together: Model, stage: Stage | None = None) -> Iterator[Group]:
    """Yield the groups of a model, or of one stage.

    `together` is the model with one run for each kind of layer.

    Raises       ValueError for a stage of a model with two stacks, or with too many layers to list
    """
    yield from _outside(together, stage)
    for kind in kinds_of_layers(model, together, stage):
        shapes = _shapes_of_layer(kind.block, kind.masked, tuple(_widths(together).items()))
        weights = {_short(f"{kind.side}.{path}"): shape for path, shape in shapes}
        yield Group(weights, Min(1, kind.copies) if kind.shared else kind.copies, kind.layers)


@lru_cache(maxsize=256)  # plans of one model, which differ in their meshes, have the same layers
def _shapes_of_layer(
    block: Block, masked: bool, widths: tuple[tuple[Expr, Expr], ...]
) -> tuple[tuple[str, Shape], ...]:
    layer = block_layer(block, Around(memory=block.cross_attention is not None, masked=masked)).xreplace(dict(widths))
    return tuple((path, shape) for path, (shape, _) in weight_shapes(layer).items())


@dataclass(frozen=True)
class Kind:
    """Equal layers of the encoder or the decoder (`side`): their block, how many there are, and their numbers.

    `layers` holds the numbers. It is None if the stack has too many layers to list.
    """

    side: str
    block: Block
    copies: Expr
    layers: tuple[int, ...] | None
    masked: bool
    shared: bool  # all of them have the same weights


def kinds_of_layers(model: Model, together: Model, stage: Stage | None = None) -> Iterator[Kind]:
    """Yield the kinds of layers of a model, or of one stage.

    Raises       ValueError for a stage of a model with too many layers to list
    """
    for side in ("encoder", "decoder"):
        stack: Stack | None = getattr(together.architecture, side)
        ordered: Stack | None = getattr(model.architecture, side)
        if stack is None or ordered is None:
            continue
        numbers = _numbers_of_layers(model, ordered)
        for run in stack.runs:
            for block in run.blocks:
                copies, layers = run.count, numbers.get(block)
                if stage is not None:
                    copies, layers = _of_stage(layers, stage)
                yield Kind(side, block, copies, layers, stack.causal, run.shared)


def _of_stage(layers: tuple[int, ...] | None, stage: Stage) -> tuple[Expr, tuple[int, ...]]:
    if layers is None:
        raise ValueError(f"more than {MOST_LAYERS} layers are not divided into stages; leave --pipeline out")
    inside = tuple(number for number in layers if stage.first <= number < stage.last)
    return Integer(len(inside)), inside


def _outside(together: Model, stage: Stage | None) -> Iterator[Group]:
    whole = dict(_shapes_outside(together.architecture))
    outside = {path: shape for path, (shape, _) in whole.items()}
    if stage is None:
        for copies in dict.fromkeys(times for _, times in whole.values()):  # a tower has layers of its own
            yield Group({path: shape for path, (shape, times) in whole.items() if times == copies}, copies)
        return
    head = together.architecture.head
    tied = ("E",) if head.tied and not stage.opens and "logits" in build(together.architecture).shapes else ()
    before = {path: shape for path, shape in outside.items() if path.partition(".")[0] in BEFORE}
    after = {path: shape for path, shape in outside.items() if path not in before or path in tied}
    if stage.opens:
        yield Group(before, Integer(1))
    if stage.closes:
        yield Group(after, Integer(1))


@lru_cache(maxsize=64)
def _shapes_outside(architecture: Architecture) -> tuple[tuple[str, tuple[Shape, Expr]], ...]:
    return tuple((path, each) for path, each in weight_shapes(build(architecture)).items() if not _in_layers(path))


def _widths(model: Model) -> dict[Expr, Expr]:
    return {d_model: model.architecture.d_model, vocab: model.architecture.vocab}


def _numbers_of_layers(model: Model, stack: Stack) -> dict[Block, tuple[int, ...]]:
    counts = [int(run.count.xreplace(model.values)) for run in stack.runs]
    if sum(count * len(run.blocks) for count, run in zip(counts, stack.runs, strict=True)) > MOST_LAYERS:
        return {}
    found: dict[Block, list[int]] = {}
    number = 0
    for times, run in zip(counts, stack.runs, strict=True):
        for _ in range(times):
            for block in run.blocks:
                found.setdefault(block, []).append(number)
                number += 1
    return {block: tuple(numbers) for block, numbers in found.items()}


def _in_layers(path: str) -> bool:
    return any(name == "layers" or name.startswith("layers_") for name in path.split(".")[:2])


def _short(path: str) -> str:
    """Return the name of a weight in the tables of checkpoints, which do not distinguish groups of heads."""
    return path.replace(".group.", ".")
