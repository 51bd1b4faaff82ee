r"""How a model is divided over devices: the sizes that each rank has a share of.

Definition   tensor parallel ranks divide heads, hidden columns and the rows of the table of tokens: wherever such a
             size is an axis of a weight, of an activation or of the cache, the rank has 1/t of it; an array without
             such an axis is on every rank. g groups of keys and values are divided over min(t, g) ranks, and the heads
             of a group over the rest. Sequence parallel ranks divide the positions of arrays without such an axis too.
             Stages of a pipeline divide layers; expert parallel ranks divide experts; data parallel ranks divide texts,
             and, when sharded, the state of the optimiser (1), the gradients (2) and the weights (3)
Result       a rank's part of a layer is the layer with fewer heads or columns, and the outputs of the ranks add up:
             `feed_forward.tensor_parallel`, and the sum over heads of multi-head attention
Source       Shoeybi et al. (2019), section 3; Korthikanti et al. (2022), section 4; Rajbhandari et al. (2020),
             section 5; Lepikhin et al. (2021), section 3
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sympy import Expr, Integer, Symbol, ceiling, divisors

from derivations.architectures.description import Attention, Block, Experts, FeedForward, Model, Stack
from derivations.symbols import size

__all__ = [
    "DATA",
    "EXPERT",
    "PIPELINE",
    "TENSOR",
    "Mesh",
    "blocks_of",
    "experts_of",
    "layers_of",
    "stacks_of",
    "tensor_sizes",
]

TENSOR, PIPELINE, DATA, EXPERT = (size(name) for name in ("t", "p", "D", "e"))


@dataclass(frozen=True)
class Mesh:
    """The number of ranks of each kind.

    `sequence` divides positions over the tensor parallel ranks where heads and columns are not; `sharded` is the stage
    of Rajbhandari et al., 3 being fully sharded; `chunks` is the number of parts of each stage of an interleaved
    pipeline. Expert parallel ranks are taken out of the tensor and data parallel ones.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    sequence: bool = False
    sharded: int = 0
    chunks: int = 1

    @property
    def devices(self) -> int:
        """The number of devices."""
        return self.tensor * self.pipeline * self.data

    @property
    def values(self) -> dict[Symbol, Integer]:
        """The numbers of the sizes of the mesh."""
        numbers = ((TENSOR, self.tensor), (PIPELINE, self.pipeline), (DATA, self.data), (EXPERT, self.expert))
        return {symbol: Integer(number) for symbol, number in numbers}

    def __str__(self) -> str:
        """Return the kinds of parallelism in words, without kinds of one rank."""
        kinds = (
            ("tensor", self.tensor),
            ("pipeline", self.pipeline),
            ("data", self.data),
            ("expert", self.expert),
        )
        named = [f"{name} {number}" for name, number in kinds if number > 1]
        more = [
            *(["sequence parallel"] if self.sequence else []),
            *([f"sharded {self.sharded}"] if self.sharded else []),
            *([f"{self.chunks} chunks a stage"] if self.chunks > 1 else []),
        ]
        return ", ".join([*named, *more]) or "one device"

    # --- shares ---

    def shares(self, model: Model, *, active: bool = False) -> dict[Expr, Expr]:
        """Return what each divided size is on one rank: in weights or, if `active`, in activations.

        Definition   experts are divided over expert parallel ranks, else their columns over tensor parallel ones; the
                     tokens that come to a rank's experts are 1/t of all if the router is balanced
        """
        if self.tensor == 1 and self.expert == 1:
            return {}
        found: dict[Expr, Expr] = {}
        if self.tensor > 1:
            found[model.architecture.vocab] = ceiling(model.architecture.vocab / TENSOR)
            for block in blocks_of(model):
                for attention in attentions_of(block):
                    found |= self._heads(attention, model.values)
                network = block.feed_forward
                columns = [network.d_shared] if isinstance(network, Experts) else _columns(network)
                found |= {each: each / TENSOR for each in columns if each is not None}
        for network in experts_of(model):
            if self.expert > 1:
                found |= {} if active else {network.experts: network.experts / EXPERT}
            if self.tensor > 1 and (active or self.expert == 1):
                found[network.d_expert] = network.d_expert / TENSOR
        return found

    def _heads(self, attention: Attention, values: Mapping[Symbol, int]) -> dict[Expr, Expr]:
        if attention.groups is None:
            return {attention.heads: attention.heads / TENSOR}
        if self.tensor <= _number(attention.groups, values):
            return {attention.groups: attention.groups / TENSOR}
        shared = TENSOR / attention.groups  # ranks that hold the same keys and values
        return {attention.groups: Integer(1), attention.heads: attention.heads / shared}

    # --- refusals ---

    def check(self, model: Model) -> None:
        """Refuse a division that does not come out even.

        Raises       ValueError, one sentence that names numbers that would do
        """
        for name in ("tensor", "pipeline", "data", "expert", "chunks"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} parallel ranks must be an integer >= 1, not {value!r}")
        if self.sharded not in range(4):
            raise ValueError(f"the stages of sharding are 0, 1, 2 and 3, not {self.sharded}")
        if self.tensor > 1 and _recurs(model):
            raise ValueError(
                f"{model.name} has layers with a recurrence, which tensor parallel ranks do not divide here; leave "
                "--tensor out"
            )
        for what, number in _divided_sizes(model):
            if number % self.tensor:
                raise ValueError(
                    f"{self.tensor} devices cannot share {number} {what} of {model.name} in equal parts; tensor "
                    f"parallel ranks may be {_either(tensor_sizes(model))}"
                )
        if self.tensor not in tensor_sizes(model):
            raise ValueError(
                f"{self.tensor} devices cannot share the groups of keys and values of {model.name}; tensor parallel "
                f"ranks may be {_either(tensor_sizes(model))}"
            )
        self._check_experts(model)
        self._check_stages(model)

    def _check_experts(self, model: Model) -> None:
        numbers = {_number(network.experts, model.values) for network in experts_of(model)}
        if self.expert > 1 and not numbers:
            raise ValueError(f"{model.name} has no experts to divide over {self.expert} ranks; leave --expert out")
        for number in numbers:
            if number % self.expert:
                raise ValueError(
                    f"{self.expert} ranks cannot share {number} experts in equal parts; expert parallel ranks may be "
                    f"{_either(divisors(number))}"
                )
        if (self.tensor * self.data) % self.expert:
            raise ValueError(
                f"{self.expert} expert parallel ranks are taken out of {self.tensor} tensor times {self.data} data "
                f"parallel ones and must divide {self.tensor * self.data}; choose "
                f"{_either(divisors(self.tensor * self.data))}"
            )

    def _check_stages(self, model: Model) -> None:
        if self.pipeline == 1 and self.chunks == 1:
            return
        stacks = stacks_of(model)
        if len(stacks) > 1:
            raise ValueError(f"{model.name} has two stacks; a pipeline is planned for one, so leave --pipeline out")
        layers = layers_of(stacks[0], model.values)
        parts = self.pipeline * self.chunks
        if parts > layers:
            raise ValueError(
                f"{parts} stages are more than the {layers} layers of {model.name}; choose at most {layers}"
            )
        if self.chunks > 1 and layers % parts:
            raise ValueError(
                f"{layers} layers do not make {self.pipeline} stages of {self.chunks} equal chunks; the product of "
                f"both may be {_either(divisors(layers))}"
            )
        if self.chunks > 1 and self.pipeline == 1:
            raise ValueError("a pipeline of one stage is not interleaved; give --pipeline or leave --chunks out")


# --- what a model has -----------------------------------------------------------------------------------------------


def stacks_of(model: Model) -> tuple[Stack, ...]:
    """Return the stacks of a model."""
    architecture = model.architecture
    return tuple(stack for stack in (architecture.encoder, architecture.decoder) if stack is not None)


def blocks_of(model: Model) -> Iterator[Block]:
    """Yield every kind of block."""
    for stack in stacks_of(model):
        yield from dict.fromkeys(stack.blocks)


def attentions_of(block: Block) -> Iterator[Attention]:
    """Yield the self-attention and the cross-attention of a block, where it has them."""
    if isinstance(block.attention, Attention):
        yield block.attention
    if block.cross_attention is not None:
        yield block.cross_attention


def _recurs(model: Model) -> bool:
    return any(block.recurrent for block in blocks_of(model))


def experts_of(model: Model) -> Iterator[Experts]:
    """Yield the mixtures of experts."""
    for block in blocks_of(model):
        if isinstance(block.feed_forward, Experts):
            yield block.feed_forward


def layers_of(stack: Stack, values: Mapping[Symbol, int]) -> int:
    """Return the number of layers of a stack."""
    return sum(_number(run.count, values) * len(run.blocks) for run in stack.runs)


def _heads_of(attention: Attention) -> Expr:
    """Return the number of query heads."""
    return attention.heads if attention.groups is None else attention.groups * attention.heads


def _divided_sizes(model: Model) -> Iterator[tuple[str, int]]:
    for block in blocks_of(model):
        for attention in attentions_of(block):
            yield "heads", _number(_heads_of(attention), model.values)
        network = block.feed_forward
        columns = [network.d_expert, network.d_shared] if isinstance(network, Experts) else _columns(network)
        for each in columns:
            if each is not None:
                yield "hidden columns", _number(each, model.values)


def _columns(network: object) -> list[Expr | None]:
    """Return the hidden columns of a feed-forward network without a mixture of experts."""
    return [network.d_ff] if isinstance(network, FeedForward) else []


def tensor_sizes(model: Model) -> tuple[int, ...]:
    """Return the numbers of tensor parallel ranks that divide every divided size."""
    if _recurs(model):
        return (1,)
    numbers = [number for _, number in _divided_sizes(model)]
    groups = [
        _number(attention.groups, model.values)
        for block in blocks_of(model)
        for attention in attentions_of(block)
        if attention.groups is not None
    ]
    return tuple(
        each
        for each in map(int, divisors(min(numbers)))
        if all(number % each == 0 for number in numbers) and all(g % each == 0 or each % g == 0 for g in groups)
    )


def _number(expression: Expr, values: Mapping[Symbol, int]) -> int:
    # of a model with many runs most values are numbers of layers of other runs
    return int(
        expression.xreplace({symbol: Integer(values[symbol]) for symbol in expression.free_symbols & values.keys()})
    )


def _either(numbers: Iterable[int]) -> str:
    *first, last = [str(number) for number in numbers]
    return f"{', '.join(first)} or {last}" if first else last
