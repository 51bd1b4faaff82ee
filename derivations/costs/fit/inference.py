r"""Serving a model: weights, the cache, the arrays of a step, on the most loaded device.

Definition   bytes(device) = weights + cache(batch, n) + live(tokens of a step) + logits of the last positions
Result       with w bytes of weights and of a step, and c bytes of cache for a position of a text, a memory of M bytes
             holds n <= (M - w) / (batch c) positions, where no window ends the growth
Assumes      the most loaded stage is the one that fits last; a step of the prefill takes at most `chunk` positions of
             all texts, and its arrays are live as the equations say; logits are made for the last position of a text
Units        bytes on one device
Source       Kwon et al. (2023), sections 3 and 4, for pages; the counts are those of `derivations.costs`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from sympy import Expr, Integer, Min, Rational, Symbol, expand

from derivations.architectures.composition import build
from derivations.architectures.description import Architecture, AudioStem, Block, Head, Model, Patches
from derivations.architectures.hugging_face.fields import LARGEST_SIZE
from derivations.architectures.kinds import by_kind, without_tower
from derivations.architectures.storage import BYTES
from derivations.costs.fit.budget import Budget, Part, largest, last_that_fits
from derivations.costs.fit.hardware import Device, Engine, engine_named
from derivations.costs.fit.mesh import Mesh, layers_of, stacks_of, tensor_sizes
from derivations.costs.key_value_caches import cached_numbers, cached_source_numbers, decoding_stack
from derivations.costs.stored_bytes import base_dtype, stored_bytes
from derivations.costs.weight_groups import Stage, kinds_of_layers, weight_groups
from derivations.language.counting.costs import count_parameters
from derivations.language.counting.live_arrays import live_entries
from derivations.symbols import batch, m, n

__all__ = ["Serving", "beyond", "fewest_devices", "stages_of", "usual_length"]

MOST_DEVICES = 4096
USUAL = 8192
ONE_DEVICE, PLAIN = Mesh(), engine_named("plain")
BYTES_OF_A_LOGIT = 4  # engines make the logits of the next token in float32


@lru_cache(maxsize=64)
def _live_entries(architecture: Architecture) -> tuple[Expr, ...]:
    """Return the numbers of live entries at each moment of a step.

    They are cached because plans for one model differ only in their meshes.

    The name is that of no model: models of one architecture share them.
    """
    return tuple(live_entries(build(architecture)))


@dataclass(frozen=True)
class Serving:
    """A model that generates texts: `batch` texts of `seq` positions each, on a mesh, by the rules of an engine.

    `cache` is the type of a number of the cache, by default that of the activations; `source` are the positions that
    an encoder reads.
    """

    model: Model
    seq: int
    batch: int = 1
    mesh: Mesh = ONE_DEVICE
    engine: Engine = PLAIN
    cache: str | None = None
    source: int | None = None
    latent: str = "absorbed"

    def __post_init__(self) -> None:
        for name in ("seq", "batch", "source"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} must be an integer >= 1, not {value!r}")
        if self.cache is not None and self.cache not in BYTES:
            raise ValueError(f"the type of the cache {self.cache!r} is unknown; choose {', '.join(BYTES)}")
        self.mesh.check(self.model)
        check_lengths(self.model, self.seq, self.source)

    # --- the model ---

    @cached_property
    def together(self) -> Model:
        """The model without its vision tower, with the layers of each kind grouped together.

        Texts do not pass through the tower.
        """
        return by_kind(without_tower(self.model))

    @property
    def values(self) -> dict[Symbol, Integer]:
        """The numbers of all sizes."""
        lengths = {n: self.seq, batch: self.batch}
        if self.reads_source:
            lengths[m] = source_positions(self.model, self.source or self.seq)
        sizes = {**self.together.values, **lengths}
        return {symbol: Integer(value) for symbol, value in sizes.items()} | self.mesh.values

    @property
    def reads_source(self) -> bool:
        """Whether an encoder reads a source beside what a decoder writes."""
        return len(stacks_of(self.model)) == 2

    @property
    def limit(self) -> int | None:
        """The length of the table of positions, or None if the model has no table."""
        return table_length(self.model)

    @property
    def generates(self) -> bool:
        """Whether the model writes tokens one by one, so that it keeps a cache and needs the last logits only."""
        return decoding_stack(self.model) is not None and self.model.architecture.head.scores_tokens

    # --- bytes ---

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """The budget of one device of every stage."""
        stages = stages_of(self.model, self.mesh.pipeline)
        return tuple(Budget(tuple(self._parts(stage)), self.values) for stage in stages)

    @cached_property
    def budget(self) -> Budget:
        """The budget of the most loaded device."""
        return max(self.budgets, key=lambda budget: budget.bytes)

    def _parts(self, stage: Stage | None) -> Iterator[Part]:
        shares = self.mesh.shares(self.model)
        groups = tuple(weight_groups(self.model, self.together, stage))
        yield Part("weights", stored_bytes(self.model, groups, shares), f"as stored: {self.storage_words}")
        if self.model.architecture.tower is not None and (stage is None or stage.opens):
            yield Part("tower", self.tower, "weights of what reads pictures, whole on every device that has them")
        layers: Mapping[Block, Expr] | None = None
        if stage is not None:
            layers = {kind.block: kind.copies for kind in kinds_of_layers(self.model, self.together, stage)}
        if decoding_stack(self.model) is not None:
            entries = cached_numbers(
                self.together, self.latent, layers=layers, shares=shares, page=self.engine.page
            ) + cached_source_numbers(self.together, layers=layers, shares=shares)
            yield Part(
                "cache",
                expand(batch * self.bytes_of_cache * entries),
                f"keys and values of every layer that reads them again, {self.cache_type}",
            )
        yield Part(
            "activations",
            self.bytes_of_activation * self.live.xreplace(self.mesh.shares(self.model, active=True)),
            f"arrays that are live at the fullest moment of a step of {self.step_words}",
        )
        if self.generates and (stage is None or stage.closes):
            logits = build(self.together.architecture).shapes["logits"]
            each = logits[-1].xreplace(shares)
            yield Part("logits", BYTES_OF_A_LOGIT * batch * each, "logits of the next token of every text, float32")

    @property
    def tower(self) -> Expr:
        """The bytes of the vision tower and its projector, which packing the layers does not change.

        Raises       ValueError where all matrices are packed, so that the names of those of the tower matter
        """
        storage = self.model.storage
        if storage.layout is not None and storage.packs == "linear":
            raise ValueError(
                f"{self.model.name}: which matrices of its tower of pictures {storage.method} packs is not known"
            )
        whole, texts = (count_parameters(build(each.architecture)) for each in (self.model, without_tower(self.model)))
        return expand(BYTES[base_dtype(self.model)] * (whole - texts))

    @cached_property
    def live(self) -> Expr:
        """The largest number of live entries at any moment of a step, for all its tokens."""
        architecture = replace(self.together.architecture, name="served")
        if self.generates:
            architecture = replace(architecture, head=Head("none"))
        lengths = [symbol for symbol in (n, m) if symbol in self.values]
        candidates = _live_entries(architecture)
        sizes = {symbol: value for symbol, value in self.values.items() if symbol not in lengths}
        found = largest(candidates, sizes, lengths)
        if self._chunked:
            return found.xreplace({n: Min(batch * n, Integer(self.engine.chunk))})
        return batch * found

    @property
    def _chunked(self) -> bool:
        """Whether a step may process only some of the positions.

        This holds for a decoder alone whose arrays are linear in the positions.
        """
        biased = any(stack.relative_bias is not None for stack in stacks_of(self.model))
        return self.generates and not self.reads_source and not biased

    @property
    def step_words(self) -> str:
        """The number of positions that a step processes, in words."""
        return f"at most {self.engine.chunk:,} positions" if self._chunked else "all positions"

    @property
    def activation_type(self) -> str:
        """The type of activations: the base type, or bfloat16 if the base type is for storage alone."""
        base = base_dtype(self.model)
        return base if BYTES[base] > 1 else "bfloat16"

    @property
    def bytes_of_activation(self) -> int:
        """The bytes of one number of the activations."""
        return BYTES[self.activation_type]

    @property
    def cache_type(self) -> str:
        """The type of a number of the cache."""
        return self.cache or self.activation_type

    @property
    def bytes_of_cache(self) -> int:
        """The bytes of one number of the cache."""
        return BYTES[self.cache_type]

    @property
    def storage_words(self) -> str:
        """How weights are stored, in a few words."""
        storage = self.model.storage
        return base_dtype(self.model) if storage.layout is None else f"{storage.method}, rest {base_dtype(self.model)}"

    # --- answers ---

    def room(self, device: Device) -> Rational:
        """Return the bytes of a device that the engine uses."""
        return self.engine.fraction * device.memory

    def longest(self, device: Device) -> int | None:
        """Return the length of the longest texts that fit, `batch` at once.

        The length is 0 if none fits, and None if a window ends the growth.
        """
        return last_that_fits(self.budgets, n, self.room(device), self.limit)

    def most_texts(self, device: Device) -> int | None:
        """Return the largest batch of texts of this length that fits; 0 if none does."""
        return last_that_fits(self.budgets, batch, self.room(device))

    def fits(self, device: Device) -> bool:
        """Return whether every device has room for its part."""
        return all(budget.bytes <= self.room(device) for budget in self.budgets)


def usual_length(model: Model) -> int:
    """Return the default length of a text: 8192, or less if the table of positions is shorter."""
    return min(USUAL, table_length(model) or USUAL)


def beyond(model: Model, seq: int) -> Iterator[tuple[str, str]]:
    """Yield a note if a text is longer than the context length that a model was trained for."""
    if model.made_for is not None and seq > model.made_for:
        yield "the model was made for", f"{model.made_for:,} positions; these are counted all the same"


def table_length(model: Model) -> int | None:
    """Return the length of the table of positions of the generating stack, or None without a table."""
    stack = decoding_stack(model) or stacks_of(model)[0]
    table = stack.embedding.positions
    if table is None:
        return None
    sizes = {symbol: Integer(value) for symbol, value in model.values.items()}
    return int(table.xreplace(sizes)) - stack.embedding.first_position


def check_lengths(model: Model, seq: int, source: int | None) -> None:
    """Refuse lengths that a model cannot read.

    Raises       ValueError, one sentence that says what would do
    """
    limit, encoder = table_length(model), model.architecture.encoder
    if seq > LARGEST_SIZE:
        raise ValueError(f"{model.name}: {seq} positions are asked for, at most 10^15 are counted; ask for fewer")
    if limit is not None and seq > limit:
        raise ValueError(
            f"{model.name}: {seq} positions are asked for, its table of positions has {limit}; ask for fewer"
        )
    if encoder is not None and isinstance(encoder.stem, Patches) and seq != limit:
        raise ValueError(f"{model.name} reads pictures of {limit} rows, not {seq} positions; leave the length out")
    if source is None:
        return
    if len(stacks_of(model)) < 2:
        raise ValueError(f"{model.name} reads no source beside what it writes; leave --source out")
    if source_positions(model, source) != source:
        raise ValueError(
            f"{model.name}: a source of {source} positions is asked for, its table has "
            f"{source_positions(model, source)}; leave --source out or ask for that"
        )


def source_positions(model: Model, asked: int) -> int:
    """Return the number of positions that an encoder reads: those requested, at most the length of its table.

    Frames always fill the table.
    """
    encoder = stacks_of(model)[0]
    if encoder.embedding.positions is None:
        return asked
    sizes = {symbol: Integer(value) for symbol, value in model.values.items()}
    table = int(encoder.embedding.positions.xreplace(sizes)) - encoder.embedding.first_position
    return table if isinstance(encoder.stem, AudioStem) else min(asked, table)


def stages_of(model: Model, number: int) -> tuple[Stage | None, ...]:
    """Return the stages of a pipeline, or None for a single stage with all layers.

    The first stages have one layer more where the layers do not divide evenly.
    """
    if number == 1:
        return (None,)
    layers = layers_of(stacks_of(model)[0], model.values)
    each, more = divmod(layers, number)
    ends = [0]
    for stage in range(number):
        ends.append(ends[-1] + each + (stage < more))
    return tuple(Stage(first, last, layers) for first, last in pairwise(ends))


def fewest_devices(serving: Serving, device: Device) -> Mesh | None:
    """Return the smallest mesh on which everything fits: tensor parallel inside a node, then pipeline stages.

    Definition   of meshes with equally many devices, the one with fewer stages; None if none up to 4096 devices fits
    """
    model = serving.model
    single = len(stacks_of(model)) == 1
    layers = layers_of(stacks_of(model)[0], model.values) if single else 1
    tensors = [each for each in tensor_sizes(model) if each <= device.node]
    meshes = sorted(
        ((t * p, p, t) for t in tensors for p in range(1, layers + 1) if t * p <= MOST_DEVICES),
    )
    room = serving.room(device)
    least = replace(serving, mesh=Mesh()).budget
    at_once = least.number(least.parts[0].bytes)  # weights are divided at best evenly
    for devices, p, t in meshes:
        if devices * room < at_once:
            continue
        mesh = replace(serving.mesh, tensor=t, pipeline=p, expert=1)
        if replace(serving, mesh=mesh).fits(device):
            return mesh
    return None
