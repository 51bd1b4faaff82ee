r"""Training a model: weights, gradients, the state of the optimiser and saved activations on the most loaded rank.

Definition   a weight has a copy in the type of the products, a gradient, a copy in float32 if that type is narrower,
             and the state of its optimiser; sharding divides the last two (1), the gradients too (2), the weights too
             (3). Activations are the saved residuals of the layers of a stage, for each micro-batch that is under way
Result       a stage of a 1F1B pipeline has at most min(p - s, micro-batches) micro-batches under way, s stages being
             before it; interleaved in c chunks, min(2 (p - s - 1) + (c - 1) p + 1, micro-batches c) chunks of them
Assumes      2 bytes for a number of activations, statistics of norms left out; the loss keeps its probabilities in
             float32. Fully sharded weights of one layer are gathered at a time
Units        bytes on one rank
Source       Rajbhandari et al. (2020), section 5; Korthikanti et al. (2022), section 4; Narayanan et al. (2021),
             section 2.2; Micikevicius et al. (2018), section 3.1, for the copy in float32
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sympy import Expr, Integer, Poly, Rational, Symbol, expand, prod

from derivations.architectures.composition import build
from derivations.architectures.description import Architecture, Model
from derivations.architectures.kinds import by_kind, without_tower
from derivations.architectures.storage import BYTES
from derivations.costs.counts import RECOMPUTED
from derivations.costs.fit.adapters import RANK, TARGETS, adapter_groups
from derivations.costs.fit.budget import Budget, Part, last_that_fits
from derivations.costs.fit.communication import data_bytes, expert_bytes, pipeline_bytes, rows_of, tensor_bytes
from derivations.costs.fit.hardware import Device
from derivations.costs.fit.inference import ONE_DEVICE, check_lengths, source_positions, stages_of, table_length
from derivations.costs.fit.mesh import DATA, EXPERT, TENSOR, Mesh, experts_of, stacks_of
from derivations.costs.fit.optimisers import optimiser_named, state_bytes
from derivations.costs.rank_residuals import residual_bytes
from derivations.costs.stored_bytes import Shares, base_dtype, divided, is_of_experts, stored_bytes
from derivations.costs.weight_groups import Group, Kind, Stage, kinds_of_layers, weight_groups
from derivations.language.counting.convention import Convention
from derivations.language.counting.costs import count_flops, count_training_flops
from derivations.language.counting.memory_counts import Storage, saved_residuals
from derivations.symbols import batch, m, n, size

__all__ = ["MICRO_BATCHES", "Training"]

MICRO_BATCHES = size("micro_batches")
LAYERS = re.compile(r"(encoder|decoder)\.layers(?:_(\d+))?\.(?:block_(\d+)\.)?")
BYTES_OF_A_PROBABILITY = 4


@lru_cache(maxsize=64)
def _residuals(architecture: Architecture, recomputed: str) -> tuple[Storage, ...]:
    """Return the saved residuals of one micro-batch.

    They are cached because plans for one model differ only in their meshes.
    """
    layer = build(architecture)
    return saved_residuals(layer, batch=batch, recomputed=RECOMPUTED[recomputed](layer)).storages


@dataclass(frozen=True)
class Training:
    """A training step: a data parallel rank runs `micro_batches` micro-batches of `batch` texts of `seq` positions.

    `recomputed` is "nothing", "attention" (selective) or "blocks" (full); `gradients` the bytes of a gradient; `rank`
    is that of adapters of the matrices in `targets`, None for training all weights. The weights of the model are as
    stored, so that frozen ones may be packed.
    """

    model: Model
    seq: int
    batch: int = 1
    micro_batches: int = 1
    mesh: Mesh = ONE_DEVICE
    optimiser: str = "adam"
    recomputed: str = "attention"
    gradients: int = 2
    rank: int | None = None
    targets: str = "all"
    source: int | None = None

    def __post_init__(self) -> None:
        for name in ("seq", "batch", "micro_batches", "rank", "source"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"{name.replace('_', '-')} must be an integer >= 1, not {value!r}")
        if self.recomputed not in RECOMPUTED:
            raise ValueError(
                f"nothing is recomputed under the name {self.recomputed!r}; choose {', '.join(RECOMPUTED)}"
            )
        if self.gradients not in (2, 4):
            raise ValueError(f"a gradient has 2 or 4 bytes, not {self.gradients!r}")
        if self.targets not in TARGETS:
            raise ValueError(f"the targets {self.targets!r} of adapters are unknown; choose {', '.join(TARGETS)}")
        if self.rank is None and self.model.storage.layout is not None:
            raise ValueError("packed weights are not trained themselves; give --lora a rank, or weights of one type")
        optimiser_named(self.optimiser)
        self.mesh.check(self.model)
        check_lengths(self.model, self.seq, self.source)

    # --- the model ---

    @cached_property
    def together(self) -> Model:
        """The model without a vision tower, with the layers of each kind in one run."""
        return by_kind(without_tower(self.model))

    @property
    def values(self) -> dict[Symbol, Integer]:
        """The numbers of all sizes."""
        numbers = {n: self.seq, batch: self.batch, MICRO_BATCHES: self.micro_batches}
        numbers |= {RANK: self.rank} if self.rank is not None else {}
        if len(stacks_of(self.model)) == 2:
            numbers[m] = source_positions(self.model, self.source or self.seq)
        sizes = {**self.together.values, **numbers}
        return {symbol: Integer(value) for symbol, value in sizes.items()} | self.mesh.values

    @cached_property
    def shares(self) -> Shares:
        """What each divided size of a weight is on one rank."""
        return self.mesh.shares(self.model)

    # --- bytes ---

    @cached_property
    def stages(self) -> tuple[Stage | None, ...]:
        """The stages of the pipeline."""
        return stages_of(self.model, self.mesh.pipeline)

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """The budget of a rank of every stage."""
        return tuple(Budget(tuple(self._parts(stage, number)), self.values) for number, stage in enumerate(self.stages))

    @cached_property
    def budget(self) -> Budget:
        """The budget of the most loaded rank."""
        return max(self.budgets, key=lambda budget: budget.bytes)

    def _parts(self, stage: Stage | None, number: int) -> Iterator[Part]:
        groups = tuple(weight_groups(self.model, self.together, stage))
        trained = self._trained(groups)
        words = f"in {base_dtype(self.model)}" if self.rank is None else "frozen, as stored"
        yield Part("weights", self._divided(3, self._stored, groups), f"{words}{self._sharded(3)}")
        if self.rank is not None:
            adapters = self._divided(3, self._numbers(self.width), trained)
            yield Part("adapters", adapters, f"two factors for each matrix of {self.targets}")
        gradients = self._divided(2, self._numbers(self.gradients), trained)
        yield Part("gradients", gradients, f"{self.gradients} bytes each{self._sharded(2)}")
        if self.width < 4:
            copy = self._divided(1, self._numbers(4), trained)
            yield Part("float32 copy", copy, f"which the optimiser changes{self._sharded(1)}")
        state = self._divided(1, self._state, trained)
        yield Part("optimiser", state, f"{optimiser_named(self.optimiser).words}{self._sharded(1)}")
        if self.mesh.sharded == 3 and self.mesh.data > 1:
            yield Part("gathered weights", self._largest_layer(groups), "of the largest layer, whole while it is used")
        yield from self._activations(stage, number)

    # --- of weights ---

    def _trained(self, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        """Return the groups of trained weights: all weights, or adapters with their sizes already divided."""
        return groups if self.rank is None else tuple(adapter_groups(groups, self.targets, self.shares))

    def _stored(self, groups: tuple[Group, ...]) -> Expr:
        return stored_bytes(self.model, groups, self.shares)

    def _state(self, groups: tuple[Group, ...]) -> Expr:
        shares: Shares = self.shares if self.rank is None else {}
        return expand(state_bytes(optimiser_named(self.optimiser), groups, shares))

    def _numbers(self, width: int) -> Callable[[tuple[Group, ...]], Expr]:
        """Return the function that gives the bytes of all trained entries at `width` bytes each."""
        shares: Shares = self.shares if self.rank is None else {}
        return lambda groups: width * _entries(groups, shares)

    def _divided(self, stage: int, measure: Callable[[tuple[Group, ...]], Expr], groups: tuple[Group, ...]) -> Expr:
        """Return what one rank keeps of a measure. Data parallel ranks divide it if sharding has reached `stage`."""
        if self.mesh.sharded < stage:
            return measure(groups)
        return expand(sum((measure(part) / ranks for part, ranks in self._by_data_ranks(groups)), Integer(0)))

    def _by_data_ranks(self, groups: tuple[Group, ...]) -> Iterator[tuple[tuple[Group, ...], Expr]]:
        """Yield groups with the number of ranks that hold the same weights, which is smaller for experts."""
        if self.mesh.expert == 1:
            yield groups, DATA
            return
        for experts, ranks in ((False, DATA), (True, TENSOR * DATA / EXPERT)):
            yield tuple(_only(group, experts) for group in groups), ranks

    def _sharded(self, stage: int) -> str:
        return f", over {self.mesh.data} data parallel ranks" if self.mesh.sharded >= stage else ""

    @property
    def width(self) -> int:
        """The bytes of a trained weight in the type of the products."""
        return 2 if self.rank is not None else BYTES[base_dtype(self.model)]

    def _largest_layer(self, groups: tuple[Group, ...]) -> Expr:
        layers = [replace(group, copies=Integer(1)) for group in groups if group.layers != () and group.copies != 0]
        sizes = [stored_bytes(self.model, (group,), self.shares) for group in layers]
        return max(sizes, key=lambda each: each.xreplace(self.values))

    # --- activations ---

    def _activations(self, stage: Stage | None, number: int) -> Iterator[Part]:
        under_way = self.under_way(number)
        saved = [(s, LAYERS.match(s.name)) for s in self.residuals]
        kinds = tuple(kinds_of_layers(self.model, self.together, stage))
        inside = [
            s if stage is None else replace(s, copies=self._in_stage(s.copies, found, kinds))
            for s, found in saved
            if found is not None
        ]
        first = [s for s, found in saved if found is None and s.name in ("X", "tokens", "X_encoder", "X_decoder")]
        last = [s for s, found in saved if found is None and s not in first]
        shares = self.mesh.shares(self.model, active=True)
        sequence = TENSOR if self.mesh.sequence else 1
        opened = first if stage is None or stage.opens else [s for s in first if s.kind == "real"]
        bytes_of_layers = residual_bytes([*inside, *opened], shares, sequence)
        words = {"nothing": "all", "attention": "all but scores and attention weights", "blocks": "inputs of layers"}
        times = "" if under_way == 1 else f", times {under_way} for the micro-batches under way"
        yield Part("activations", under_way * bytes_of_layers, f"saved residuals, {words[self.recomputed]}{times}")
        if self.recomputed == "blocks":
            again = max(self._one_block(shares, sequence), key=lambda each: each.xreplace(self.values))
            yield Part("layer computed again", again, "saved residuals of one layer during its backward pass")
        if stage is None or stage.closes:
            yield Part("after the layers", residual_bytes(last, shares, sequence), "the last norm and the head")
            shapes = build(self.together.architecture).shapes
            if "logits" in shapes:
                scores = batch * n * shapes["logits"][-1].xreplace(shares)
                yield Part("probabilities", BYTES_OF_A_PROBABILITY * scores, "of the loss, float32")

    @cached_property
    def residuals(self) -> tuple[Storage, ...]:
        """The saved residuals of one micro-batch in the whole model."""
        return _residuals(self.together.architecture, self.recomputed)

    def _in_stage(self, copies: Expr, place: re.Match[str], kinds: tuple[Kind, ...]) -> Expr:
        """Return the copies of a saved array in a stage, without the input of the stage's first layer."""
        side, run_number, block_number = place[1], int(place[2] or 1) - 1, int(place[3] or 1) - 1
        runs = getattr(self.together.architecture, side).runs
        before = sum(len(run.blocks) for run in runs[:run_number])
        kind = [each for each in kinds if each.side == side][before + block_number]
        found = copies.xreplace({runs[run_number].count: kind.copies})
        return found if found.xreplace({batch: Integer(1)}) >= 0 else Integer(0)

    def _one_block(self, shares: Shares, sequence: Expr | int) -> Iterator[Expr]:
        """Yield the residuals of one layer of each kind, with attention computed again."""
        found: dict[str, list[Storage]] = {}
        for storage in _residuals(self.together.architecture, "attention"):
            place = LAYERS.match(storage.name)
            if place is not None:
                run = getattr(self.together.architecture, place[1]).runs[int(place[2] or 1) - 1]
                one = replace(storage, copies=storage.copies.xreplace({run.count: Integer(1)}))
                found.setdefault(place[0], []).append(one)
        for storages in found.values():
            yield residual_bytes(storages, shares, sequence)

    def under_way(self, stage: int) -> Expr:
        """Return the largest number of micro-batches whose activations a stage holds at once.

        The number may be a fraction if a stage has several chunks.
        """
        p, c = self.mesh.pipeline, self.mesh.chunks
        if c == 1:
            return Integer(min(p - stage, self.micro_batches))
        return Rational(min(2 * (p - stage - 1) + (c - 1) * p + 1, self.micro_batches * c), c)

    # --- what is sent, and the operations ---

    @cached_property
    def sent(self) -> dict[str, Expr]:
        """The bytes that a rank of the most loaded stage sends in one step, by kind."""
        stage = self.stages[self.budgets.index(self.budget)]
        layers = [(kind.block, kind.copies) for kind in kinds_of_layers(self.model, self.together, stage)]
        rows = rows_of(batch, self.together.architecture.d_model)
        groups = tuple(weight_groups(self.model, self.together, stage))
        again = self.recomputed == "blocks"
        found = {
            "tensor parallel": MICRO_BATCHES * tensor_bytes(rows, iter(layers), self.mesh, again),
            "expert parallel": MICRO_BATCHES * expert_bytes(rows, iter(layers), self.mesh),
            "pipeline": MICRO_BATCHES * pipeline_bytes(rows, self.mesh),
            "data parallel": self._sent_to_data_ranks(groups),
        }
        return {kind: expand(value) for kind, value in found.items() if value != 0}

    def _sent_to_data_ranks(self, groups: tuple[Group, ...]) -> Expr:
        """Return the bytes that a rank sends for gradients, and for weights if these are sharded."""
        trained, weights = self._by_data_ranks(self._trained(groups)), self._by_data_ranks(groups)
        found = Integer(0)
        for (of_gradients, ranks), (of_weights, _) in zip(trained, weights, strict=True):
            if ranks.xreplace(self.values) > 1:
                gradients = self._numbers(self.gradients)(of_gradients)
                found += data_bytes(gradients, self._stored(of_weights), self.mesh, ranks, MICRO_BATCHES)
        return found

    @cached_property
    def flops(self) -> Expr:
        """The FLOPs of products of one step on all ranks, of visible pairs, recomputation included.

        Definition   frozen weights have no gradient, which would take as many products as they take forward; adapters
                     take 2 for each entry forward and 4 backward
        """
        layer = build(self.together.architecture)
        again = RECOMPUTED[self.recomputed](layer)
        visible = Convention(causal="visible", input_gradient=False)
        found = count_training_flops(layer, batch, visible, again).matmul
        if self.rank is not None:
            found = found - self._of_weights() + self._of_adapters()
        return expand(DATA * MICRO_BATCHES * found)

    def _of_weights(self) -> Expr:
        """Return the FLOPs of the products with weights in a forward pass: the terms linear in the lengths."""
        every_pair = count_flops(build(self.together.architecture), batch).matmul
        lengths = [symbol for symbol in (n, m) if symbol in self.values]
        terms = Poly(every_pair, *lengths).terms() if lengths else [((1,), every_pair)]
        rows = (
            factor * prod(length**power for length, power in zip(lengths, powers, strict=False))
            for powers, factor in terms
            if sum(powers) == 1
        )
        return sum(rows, Integer(0))

    def _of_adapters(self) -> Expr:
        groups = tuple(weight_groups(self.model, self.together))
        used = {network.experts: network.chosen for network in experts_of(self.together)}
        entries = _entries(tuple(adapter_groups(groups, self.targets, {})), used)
        rows = n if n in self.values else m if m in self.values else Integer(1)
        return 6 * batch * rows * entries

    @property
    def tokens(self) -> Expr:
        """The positions of one step."""
        return DATA * MICRO_BATCHES * batch * n

    # --- answers ---

    def longest(self, device: Device) -> int | None:
        """Return the length of the longest texts that fit, or 0 if none does."""
        return last_that_fits(self.budgets, n, device.memory, table_length(self.model))

    def most_texts(self, device: Device) -> int | None:
        """Return the largest micro-batch that fits; 0 if none does."""
        return last_that_fits(self.budgets, batch, device.memory)


def _only(group: Group, experts: bool) -> Group:
    """Return the weights of experts, or all others."""
    return replace(group, weights={w: s for w, s in group.weights.items() if is_of_experts(w, s) == experts})


def _entries(groups: tuple[Group, ...], shares: Shares) -> Expr:
    pairs = ((group, weight, shape) for group in groups for weight, shape in group.weights.items())
    return expand(sum((group.copies * divided(w, shape, shares) for group, w, shape in pairs), Integer(0)))
