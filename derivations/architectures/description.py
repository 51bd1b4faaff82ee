"""The description of a Transformer as data: its layers, their order and their sizes.

This module has no formulas. `composition` turns a description into a layer of the package; counts, code and gradients
are computed from that layer. A size is a symbol; sizes that do not follow from each other are different symbols.
`values` of a model gives the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

from sympy import Expr, Integer, Rational, Symbol, expand

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.storage import Storage
from derivations.language.arrays.functions import Named, gelu
from derivations.language.layers.layer import Layer
from derivations.positions.positional_encoding import BASE
from derivations.symbols import d_ff, d_k, d_model, d_v, size, vocab

__all__ = [
    "Alibi",
    "Architecture",
    "Attention",
    "AudioStem",
    "Axes",
    "Block",
    "Cells",
    "Compared",
    "Convolved",
    "Disentangled",
    "Embedding",
    "Experts",
    "FeedForward",
    "Grid",
    "Head",
    "Indexer",
    "Latent",
    "Model",
    "Norm",
    "Patches",
    "PerLayer",
    "Projector",
    "Recurrent",
    "RelativeBias",
    "Rotary",
    "Run",
    "Sinusoids",
    "Stack",
    "Streams",
    "Temperature",
    "Tower",
    "Waveform",
    "as_run",
    "heads_of_groups",
    "key_value_heads",
    "of_pictures",
]

Ahead: TypeAlias = Literal["none", "picture", "prefix"]  # the positions that see later ones
EPSILON = Rational(1, 10**5)
frames = size("frames")  # rows after the first convolution of a sound
heads_of_groups, key_value_heads = size("r"), size("g")  # query heads that share keys and values; groups of them


# --- sub-layers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Norm:
    """A normalisation of rows: "layer" with gamma and beta, or "rms" with gamma. Either parameter may be absent."""

    kind: Literal["layer", "rms"] = "layer"
    eps: Rational = EPSILON
    scaled: bool = True  # has gamma
    shifted: bool = True  # has beta, where there is one


@dataclass(frozen=True)
class Rotary:
    """Rotary position embedding of queries and keys (Su et al. 2021).

    `columns` is the number of rotated columns, None for all. Pairs are neighbouring columns, or column i and
    i + columns/2 when `halves`; `base` is the base of the frequencies. `scaling` is a rule that changes the
    frequencies, with the name and numbers of the configuration: it has no parameters and no products. On a `grid`
    rows have two positions (Siméoni et al. 2025, DINOv3); with `axes` every row has a position on each of them.
    """

    columns: Expr | None = None
    halves: bool = True
    base: Rational = BASE
    scaling: tuple[tuple[str, object], ...] = ()
    grid: Grid | None = None
    axes: Axes | None = None


@dataclass(frozen=True)
class Grid:
    """Two axes of positions for patches, counted row by row after `first` rows that have no position.

    The first half of the pairs of columns is turned by the height of a patch, the second by its place in the row: by
    2 pi t base^(-4i/d), where t is the middle of the patch between the sides of the picture, at -1 and 1; or, if they
    are `counted`, by t base^(-4i/d), where t is its number from 0 on (Wang et al. 2024, Qwen2-VL).
    """

    rows: Expr
    columns: Expr
    first: Expr = Integer(0)
    counted: bool = False


@dataclass(frozen=True)
class Axes:
    """Three axes of positions: time, height and width (Wang et al. 2024, Qwen2-VL, section 2.1).

    `pairs` are the numbers of pairs of columns that each axis turns, one axis after the other, or in turn: pair i that
    of the axis i mod 3, as long as this axis has some left, and else that of time (Qwen Team 2025, Qwen3-VL).
    """

    pairs: tuple[int, int, int]
    in_turn: bool = False


@dataclass(frozen=True)
class Temperature:
    """A factor of the queries that grows with their position: 1 + strength log(1 + floor((p + first) / length)).

    Positions p count from 0. Source: Meta (2025), Llama 4, after Nakanishi (2025).
    """

    strength: Expr
    length: Expr
    first: int = 0


@dataclass(frozen=True)
class Alibi:
    """A bias linear in the distance, one slope for each head (Press, Smith and Lewis 2022, section 3).

    Slopes are 2^(-8 t / h) for t = 1, ..., h. If h is not a power of two, `power` is the largest power p below it, and
    the slopes are 2^(-8 t / p) for p heads, then every other slope of 2 p heads. With `scaled` the scale of the scores
    multiplies the bias, too.
    """

    power: Expr | None = None
    scaled: bool = False


@dataclass(frozen=True)
class RelativeBias:
    """A learned bias for each head and bucket of distances, one table for the whole stack (Raffel et al. 2020)."""

    buckets: Expr
    longest: Expr  # distances from here on share the last bucket
    bidirectional: bool = True


@dataclass(frozen=True)
class Disentangled:
    """Score terms between content and distance, from rows that the whole stack shares (He et al. 2021, DeBERTa).

    On each side the first `buckets` distances have a row, or buckets of distances that grow up to `longest`. The other
    fields are those of `disentangled_attention`; the rows may have a `norm`.
    """

    buckets: Expr
    longest: Expr | None = None
    shared: bool = False
    by_keys: bool = True
    by_queries: bool = True
    norm: Norm | None = None


@dataclass(frozen=True)
class Indexer:
    """Scores by which a position chooses the `chosen` keys that it attends to (DeepSeek-AI 2025, DeepSeek-V3.2).

    A head has the rotated columns of latent attention, paired in `halves` or as neighbours, and `passed` others.
    """

    heads: Expr
    passed: Expr
    chosen: Expr
    halves: bool
    eps: Rational  # of the norm of its keys


@dataclass(frozen=True)
class Latent:
    """Keys and values from a latent vector of width `key_value_rank`; queries from one of width `query_rank`, if any.

    Every head has `d_k` columns without position and shares `d_rotary` columns of rotary keys (DeepSeek-AI 2024).
    When `absorbed`, the maps to keys and values are applied to the queries and to the weighted sums instead. With an
    `indexer` a position attends to the keys with its largest scores.
    """

    key_value_rank: Expr
    query_rank: Expr | None
    d_rotary: Expr
    absorbed: bool = False
    indexer: Indexer | None = None


@dataclass(frozen=True)
class Attention:
    """Attention with a key and a value for each head (`groups` None), or with `groups` of `heads` query heads each.

    `biases` are those of queries, keys, values and output, in this order; `score_scale` multiplies the scores, 1 /
    sqrt(d_k) when None; `soft_cap` c replaces the scores s by c tanh(s / c); `window` is the number of positions that
    a position sees, itself included; `reach` is the distance up to which it sees others on both sides; in a `chunk` of
    so many positions it sees itself and those before it. `norm` is applied to every query and key: before the
    rotation, or after it if `norm_after`, and over all heads together if `norm_over_all`. `clip` c replaces the entries
    x of queries, keys and values by max(-c, min(x, c)). With `sinks` every head has a learned score that takes a share
    of the weights, like the score of a key without a value. With an `output_gate` what a head reads is multiplied by
    the sigmoid of a map of the rows. A `temperature` multiplies the queries. With a `bias_gate` of so many columns,
    an even number, the bias of a query's scores is multiplied by a number that the head makes of its own columns of the
    row (Chen et al. 2022, WavLM).

    Values are the columns that keys are made of, before their norm, with `values_of_keys`; the `value_norm` is theirs.
    A layer that `gives` its keys and values hands them on to those that take them, later layers with the same mask
    (Brandon et al. 2024).
    """

    heads: Expr  # of each group, or all of them
    groups: Expr | None = None
    d_k: Expr = d_k
    d_v: Expr = d_v
    biases: tuple[bool, bool, bool, bool] = (False, False, False, False)
    positions: Rotary | Alibi | Disentangled | None = None
    norm: Norm | None = None
    norm_after: bool = False
    norm_over_all: bool = False
    clip: Expr | None = None
    score_scale: Expr | None = None
    soft_cap: Expr | None = None
    window: Expr | None = None
    reach: Expr | None = None
    chunk: Expr | None = None
    latent: Latent | None = None
    sinks: bool = False
    output_gate: bool = False
    temperature: Temperature | None = None
    bias_gate: Expr | None = None
    values_of_keys: bool = False
    value_norm: Norm | None = None
    sharing: Literal["none", "gives", "takes"] = "none"

    @property
    def kept(self) -> Expr | None:
        """The largest number of positions whose keys and values are kept for later reads, None for all."""
        return self.window if self.chunk is None else self.chunk


@dataclass(frozen=True)
class Recurrent:
    """A layer that carries a state from position to position, instead of attention or a network, without a mask.

    `mixer` is a layer of the catalogue from rows to rows, with the sizes of the description.
    """

    mixer: Layer
    window: ClassVar[Expr | None] = None
    reach: ClassVar[Expr | None] = None
    kept: ClassVar[Expr | None] = None
    latent: ClassVar[Latent | None] = None
    positions: ClassVar[Rotary | Alibi | Disentangled | None] = None


@dataclass(frozen=True)
class FeedForward:
    """A feed-forward network: two matrices, or three when `gated`."""

    activation: Named = gelu
    gated: bool = False
    biases: bool = True  # one for every product
    d_ff: Expr = d_ff
    cutoff: Expr | None = None  # the gate is 0 up to so many standard deviations above its mean


@dataclass(frozen=True)
class Groups:
    """Groups of experts: only the `kept` best of `number` groups are used, ranked by the sum of `best` scores."""

    number: Expr
    kept: Expr
    best: int = 2


@dataclass(frozen=True)
class Experts:
    """A mixture of experts: each token goes through `chosen` of `experts` gated networks, and through shared ones."""

    experts: Expr
    chosen: Expr
    d_expert: Expr
    activation: Named
    d_shared: Expr | None = None  # width of all shared experts together
    shared_gate: bool = False  # the shared experts' output times the sigmoid of a learned score
    scoring: Literal["softmax", "sigmoid"] = "softmax"
    normalised: bool = True  # the weights of the chosen experts add up to 1
    eps: Expr = Integer(0)  # added to the sum by which the weights are divided
    threshold: Expr | None = None  # each chosen expert has a softmax of its own: `choices_by_threshold`
    scale: Expr = Integer(1)
    biases: bool = False  # of the router and of every matrix of an expert
    linear_activation: Named | None = None  # of the linear half of an expert, where it has one
    gated: bool = True  # three matrices for each expert, else two
    scaled_rows: bool = False  # the weights of experts multiply what they read, not what they put out
    corrected: bool = False  # experts are chosen by their scores plus stored numbers, which are parameters
    buffered: bool = False  # the same, with buffers, which are no parameters
    groups: Groups | None = None  # among those of the best groups
    in_full: bool = False  # the equations choose by buffers and groups too, which a count leaves out


@dataclass(frozen=True)
class PerLayer:
    """A row of `width` columns for each layer and token, from a table of `vocab` rows (Gemma Team 2025, Gemma 3n).

    A sub-layer multiplies it by the activation of a map of the rows.
    """

    vocab: Expr
    width: Expr
    activation: Named


@dataclass(frozen=True)
class Streams:
    """Several residual streams: a layer computes the `active` one and corrects all (Baykal et al. 2023, AltUp).

    What the rows of `per_layer` are gated by is multiplied by a learned number for each column if `scaled`; else these
    numbers are stored and not read.
    """

    number: Expr
    active: int = 0
    scaled: bool = True


# --- blocks, stacks, models -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """One layer of a stack.

    Order        "pre": x + F(norm(x)); "post": norm(x + F(x)); "sandwich": x + norm(F(norm(x))); "after": x +
                 norm(F(x)); "parallel": attention and feed-forward network side by side, x + A(norm(x)) + F(norm'(x)),
                 one norm for both when `one_norm`; "normed": norm(x) + F(norm(x)); what is added to x is multiplied by
                 `residual_scale`, and each column of it by a learned number with `layer_scale` (Touvron et al. 2021,
                 CaiT); in the order "normed" the two terms are multiplied by the numbers `mixing` of the attention, or
                 by those of the network (MiniMax 2025)

    A block without a feed-forward network, or without attention, has one sub-layer. A layer with recurrences `beside`
    attention reads the same normed rows, and what both give is added, each multiplied by its scale (Zuo et al. 2025,
    Falcon-H1). After its network a layer may have a sub-layer with rows of its own, `per_layer`. If `scaled`, what it
    puts out is multiplied by a stored number. Beside attention a branch of rank `augmented` may be added, and the sum
    divided by sqrt(2). The rows are several `streams`, side by side, if there are any.
    """

    attention: Attention | Recurrent | None
    feed_forward: FeedForward | Experts | Recurrent | None
    norm: Norm
    order: Literal["pre", "post", "sandwich", "after", "parallel", "normed"] = "pre"
    cross_attention: Attention | None = None
    one_norm: bool = False
    plain_start: bool = False  # attention reads the rows as they are, without a norm before it
    residual_scale: Expr = Integer(1)
    layer_scale: bool = False
    beside: Recurrent | None = None
    attention_scale: Expr = Integer(1)
    beside_scale: Expr = Integer(1)
    mixing: tuple[tuple[Expr, Expr], tuple[Expr, Expr]] = ((Integer(1), Integer(1)), (Integer(1), Integer(1)))
    per_layer: PerLayer | None = None
    streams: Streams | None = None
    augmented: Expr | None = None
    scaled: bool = False
    buffered: bool = False  # scaled too, by a number in a buffer, which is no parameter

    def __hash__(self) -> int:
        """Return the hash of all fields, computed once because plans look up thousands of layers."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, each.name) for each in fields(self)))

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without the cached hash, because another process hashes text differently."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    @property
    def recurrent(self) -> tuple[Recurrent, ...]:
        """The recurrent layers of the block: instead of attention, beside it, or instead of the network."""
        parts = (self.attention, self.beside, self.feed_forward)
        return tuple(each for each in parts if isinstance(each, Recurrent))

    @property
    def reach(self) -> Expr | None:
        """The distance up to which a position sees others on both sides, None for all."""
        return None if self.attention is None else self.attention.reach

    @property
    def window(self) -> Expr | None:
        """The number of positions that a position sees, None for all."""
        return None if self.attention is None else self.attention.window


@dataclass(frozen=True)
class Run:
    """A sequence of blocks, repeated `count` times; if `shared`, with the same weights, and `count` is a number.

    Source for shared weights: Lan et al. (2020), ALBERT, section 3.1.
    """

    blocks: tuple[Block, ...]
    count: Expr
    shared: bool = False


@dataclass(frozen=True)
class Sinusoids:
    """Sinusoidal positions, numbered from `first` on (Vaswani et al. 2017).

    Sines and cosines alternate, or all sines stand in front, in `halves`; `to_base` tells the exponents of the base.
    """

    first: int = 0
    halves: bool = False
    to_base: bool = False  # from 0 to 1, else to 1 - 2/d_model


@dataclass(frozen=True)
class Convolved:
    """Positions from a convolution over the rows themselves, in `groups` of columns with a window of `width` rows.

    With normed weights there is one convolution, and an activation after it. Without them there are `count` of them,
    one after the other, each with a norm without weights before its activation (Baevski et al. 2022, data2vec).
    Source: Baevski et al. (2020), section 2.
    """

    width: int
    groups: Expr
    activation: Named = gelu
    count: Expr | None = None

    @property
    def normed_weights(self) -> bool:
        """Whether the kernel weights at each position of the window are normalised together."""
        return self.count is None


@dataclass(frozen=True)
class Embedding:
    """The input of a stack: rows of a table, and the rows that are added to them.

    `positions` is the number of rows of a learned (or stored) table, read from row `first_position` on; `segments` is
    that of another table. Without a table `sinusoidal` positions have no parameters; with one a count has them as
    parameters, and a model that runs computes them. `scale` multiplies the token rows; `width` is the width of the
    token rows if a projection to d_model follows; if `narrow`, positions, segments and norm have that width too, and
    the projection after them has biases (Clark et al. 2020). The norm is that of the sum or, if `norm_first`, that of
    the token rows, to which positions are added. With a `grid` the table of positions is a square of so many rows and
    columns, between which those of a grid of patches lie at equal distances, from corner to corner.
    """

    positions: Expr | None = None
    first_position: int = 0
    sinusoidal: Sinusoids | None = None
    convolved: Convolved | None = None
    segments: Expr | None = None
    norm: Norm | None = None
    norm_first: bool = False
    scale: Expr = Integer(1)
    width: Expr | None = None
    narrow: bool = False
    grid: Grid | None = None
    side: Expr | None = None  # of the square of positions, where there is a grid


@dataclass(frozen=True)
class Patches:
    """Images as `count` patches of `size` x `size` pixels in `channels` colours, after `tokens` learned rows.

    The first learned row is the class token, the second that of distillation (Touvron et al. 2021).
    """

    size: Expr
    channels: Expr
    count: Expr
    tokens: int = 1
    biases: bool = True
    mask_token: bool = False  # one more learned row, stored and not used
    registers: Expr = Integer(0)  # learned rows after those (Darcet et al. 2024)
    frames: int = 1  # that each colour has; a picture has it in all of them

    @property
    def rows(self) -> Expr:
        """The number of rows of one image."""
        return self.count + self.tokens + self.registers


@dataclass(frozen=True)
class AudioStem:
    """Frames of `mel` numbers through two convolutions of width 3, the second of stride 2."""

    mel: Expr


@dataclass(frozen=True)
class Waveform:
    """Audio samples through convolutions without padding, an optional norm and a linear map.

    Of each convolution `convolutions` has the columns, the width and the stride. The rows of each have a norm before
    the activation or, if `over_time`, the columns of the first one alone, over all of its rows. What is after the
    last window of the last convolution is not read; `frames` is the number of rows of the first one where that norm
    reads more of them. Source: Baevski et al. (2020), section 2.
    """

    convolutions: tuple[tuple[Expr, int, int], ...]
    over_time: bool
    activation: Named = gelu
    biases: bool = False
    norm: Norm | None = None
    mask_token: bool = False  # a learned row, stored and not used
    frames: Expr | None = None

    def lengths(self, rows: Expr) -> tuple[Expr, ...]:
        """Return the number of samples, and of rows after each convolution, that `rows` output rows need."""
        found = [rows]
        for _, width, stride in reversed(self.convolutions):
            found.append(expand(stride * (found[-1] - 1) + width))
        return tuple(reversed(found))

    def samples(self, rows: Expr) -> Expr:
        """Return the number of samples that are read."""
        if self.frames is None:
            return self.lengths(rows)[0]
        _, width, stride = self.convolutions[0]
        return stride * (self.frames - 1) + width


@dataclass(frozen=True)
class Stack:
    """Runs of blocks in sequence, with the layers before and after them.

    The output is that of the last run and the norm, or of the runs whose numbers `read` has, one below the other: what
    is after the last of them is stored and computed, and nothing reads it. After each of the first `added` runs the
    rows get others of the same number. If `paired`, the mean of two neighbouring rows is taken before the last norm.
    In a causal stack every position sees those up to its own or, if it looks `ahead`, those up to a given one: in its
    window where rows of a picture look ahead, and beyond it in a prefix.
    """

    runs: tuple[Run, ...]
    embedding: Embedding
    causal: bool = False
    final_norm: Norm | None = None
    relative_bias: RelativeBias | None = None
    stem: Patches | AudioStem | Waveform | None = None  # in place of tokens
    read: tuple[int, ...] = ()
    added: int = 0
    paired: bool = False
    ahead: Ahead = "none"

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of all runs, each as often as the run lists it."""
        return tuple(block for run in self.runs for block in run.blocks)


@dataclass(frozen=True)
class Head:
    """The layers that compute the output from the last rows.

    Kinds        "none"; "language_model": scores of all tokens; "pooler": tanh of a linear map of the first row;
                 "masked_language_model": a linear map, an activation and a norm before the scores; "pretraining": that,
                 and a pooler with two classes; "classes": a linear map of the first row to `classes` scores;
                 "pooled_classes": the same after a pooler; "token_classes": the same of every row;
                 "transformed_classes": that after a linear map and an activation; "first_row": the norm of the first
                 row; "attention_pooler": one learned query attends to all rows, and `pooling` is a block's attention
                 and network after it; "end_row": the row of the first token `end` or, if that is None, of that with
                 the largest number; "last_row": a linear map of the last row to `width` columns. After "first_row" and
                 "end_row" a matrix gives the row `width` columns, if there is one
    """

    kind: Literal[
        "none",
        "language_model",
        "pooler",
        "masked_language_model",
        "pretraining",
        "classes",
        "pooled_classes",
        "token_classes",
        "transformed_classes",
        "first_row",
        "attention_pooler",
        "end_row",
        "last_row",
    ] = "language_model"
    tied: bool = True
    bias: bool = False
    buffered: bool = False  # has a bias too, but in a buffer, which is no parameter
    scale: Expr = Integer(1)  # of the rows before the scores
    soft_cap: Expr | None = None
    classes: Expr | None = None
    activation: Named | None = None
    norm: Norm | None = None
    pooling: Block | None = None
    transform_bias: bool = True  # of the linear map before the scores
    width: Expr | None = None
    end: int | None = None

    @property
    def scores_tokens(self) -> bool:
        """Whether every row gets scores of all tokens."""
        return self.kind in ("language_model", "masked_language_model")


@dataclass(frozen=True)
class Projector:
    """The map from the rows of a vision tower to rows as wide as token rows: one linear map, or two.

    With `inner` columns between them there are two linear maps, and an activation. `joined` neighbouring rows become
    one: side by side, or their mean if `averaged`; neighbours are those of one of the `cells` of a picture. The norm is
    that of the rows before, or of the joined ones. Where a tower is read after several layers, `beside` is their
    number: the rows of a patch stand side by side first.
    """

    inner: Expr | None = None
    activation: Named = gelu
    biases: bool = True
    norm: Norm | None = None
    joined: Expr = Integer(1)
    averaged: bool = False
    norm_joined: bool = False
    beside: int = 1
    cells: Cells | None = None


@dataclass(frozen=True)
class Cells:
    """A grid of `rows` by `columns` cells, each a square of side x side patches.

    The numbers are symbols where images differ in size.
    """

    rows: Expr
    columns: Expr
    side: Expr


@dataclass(frozen=True)
class Compared:
    """The score of a text and an image from their pooled rows, `biased` or not (Radford et al. 2021, CLIP)."""

    biased: bool = False


@dataclass(frozen=True)
class Tower:
    """A vision tower of a language model: its rows, from `first` on, are projected and placed among token rows.

    Without a projector the row of its head is `compared` with that of the text.

    Sizes of `architecture` are symbols of its own kind: `of_pictures` tells them from those of the language model. Each
    further projector is that of rows after earlier layers, which are added after the first layers of the language
    model (Meng et al. 2024, DeepStack). In the language model rows of a picture that follow one another see one another
    (`ahead` is "picture"; Gemma Team 2025, Gemma 3), or all positions of a prefix do ("prefix"; Beyer et al. 2024); its
    rotary positions have the given `axes`.
    """

    architecture: Architecture
    projector: Projector | None
    first: int = 0
    deep: tuple[Projector, ...] = ()
    compared: Compared | None = None
    ahead: Ahead = "none"
    axes: Axes | None = None


def of_pictures(symbol: Symbol) -> Symbol:
    """Return the size symbol of the vision tower that corresponds to one of the language model."""
    return size(f"{symbol.name}_pictures")


@dataclass(frozen=True)
class Architecture:
    """A Transformer: an encoder, a decoder or both, a head, and optionally a vision tower."""

    name: str
    head: Head
    encoder: Stack | None = None
    decoder: Stack | None = None
    d_model: Expr = d_model
    vocab: Expr = vocab
    tower: Tower | None = None

    def changed(self, change: Callable[[Block], Block]) -> Architecture:
        """Return the architecture with each block of its encoder and decoder changed."""

        def of(stack: Stack | None) -> Stack | None:
            if stack is None:
                return None
            return replace(stack, runs=tuple(replace(run, blocks=tuple(map(change, run.blocks))) for run in stack.runs))

        return replace(self, encoder=of(self.encoder), decoder=of(self.decoder))


def as_run(architecture: Architecture) -> Architecture:
    """Return the architecture with everything that its scores depend on, including what has no parameters.

    These are the groups of experts, and the numbers for their choice that checkpoints store and the library
    `transformers` keeps in buffers (of ERNIE 4.5 alone they are parameters there); biases of scores and scales of
    layers that it keeps so; sinusoidal positions, in the place of the tables that it makes of them; the end of a sound
    that only a norm over time reads; and beside pictures the later positions that are seen, and the axes of rotary
    positions.
    """
    tower = architecture.tower

    def in_full(block: Block) -> Block:
        network, scaled = block.feed_forward, replace(block, scaled=block.scaled or block.buffered)
        a = block.attention
        if (
            tower is not None
            and tower.axes is not None
            and isinstance(a, Attention)
            and isinstance(a.positions, Rotary)
        ):
            scaled = replace(scaled, attention=replace(a, positions=replace(a.positions, axes=tower.axes)))
        return replace(scaled, feed_forward=replace(network, in_full=True)) if isinstance(network, Experts) else scaled

    def computed(stack: Stack | None) -> Stack | None:
        if stack is not None and stack.causal and tower is not None and tower.ahead != "none":
            stack = replace(stack, ahead=tower.ahead)
        if stack is not None and isinstance(stack.stem, Waveform) and stack.stem.over_time:
            return replace(stack, stem=replace(stack.stem, frames=frames))
        if stack is None or stack.embedding.sinusoidal is None:
            return stack
        return replace(stack, embedding=replace(stack.embedding, positions=None))

    head, chosen = architecture.head, architecture.changed(in_full)
    return replace(
        chosen,
        encoder=computed(chosen.encoder),
        decoder=computed(chosen.decoder),
        head=replace(head, bias=head.bias or head.buffered),
    )


@dataclass(frozen=True)
class Model:
    """An architecture with the numbers of its sizes, and the assumptions made in reading them.

    `part` names the described part of the model, if that is not the whole model; `storage` is how its numbers are
    stored, `names` are those of its weights in checkpoints, if they are known, and `made_for` are the positions that
    its configuration was trained for, as far as it says so.
    """

    architecture: Architecture
    values: Mapping[Symbol, int]
    source: str = ""
    assumptions: tuple[str, ...] = ()
    published: tuple[tuple[str, object], ...] = field(default=())
    part: str = ""
    storage: Storage = field(default_factory=Storage)
    names: Names | None = None
    made_for: int | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.architecture.name
