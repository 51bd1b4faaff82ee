"""Whole models from their descriptions: embeddings, stacks of blocks, the head.

Definition   X = rows of the table (times a scale) plus positions and segments; Z = stack(X); the output is head(Z). In
             an encoder-decoder every layer of the decoder reads the rows of the encoder. With a tower the table of
             tokens goes on with the projected rows of a picture: token vocab + i is row i of it; or the pooled rows of
             both are compared.
Shapes       tokens (n,), or source (m,) and target (n,); Z (n, d_model); logits (n, vocab)
Source       Vaswani et al. (2017), section 3; sources of variants are in the description of a model
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, reduce

from sympy import Expr, Integer, Lambda, Max, Min, Rational, tanh

from derivations.architectures.attention import attention_layer, soft_cap
from derivations.architectures.blocks import (
    Around,
    block_layer,
    distances_of,
    feed_forward_layer,
    groups_of,
    rows_of_distances,
    sharing,
    width_of,
)
from derivations.architectures.comparison import comparison_layer
from derivations.architectures.description import (
    Architecture,
    Attention,
    AudioStem,
    Block,
    Compared,
    Head,
    Norm,
    Patches,
    Projector,
    RelativeBias,
    Run,
    Stack,
    Tower,
    Waveform,
    of_pictures,
)
from derivations.architectures.masks import is_masked, mask_of, masks_of, name_of_mask, positions_seen
from derivations.architectures.patches import audio_stem, patch_embedding, stretched_positions
from derivations.architectures.projections import norm_layer, places_of
from derivations.architectures.projectors import projector_layer, projectors_layer
from derivations.architectures.relative_position_bias import buckets, relative_position_bias
from derivations.architectures.sounds import convolved_positions, waveform_stem
from derivations.language.arrays.arrangements import Numbers, column_block
from derivations.language.arrays.buckets import SignedBuckets
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array, Variable, array, require, token_array
from derivations.language.arrays.functions import Lookup, gelu, named
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.layer import Equations, Layer, Part, part
from derivations.linear.linear import linear
from derivations.positions.positional_encoding import positional_encoding
from derivations.symbols import d_model, d_out, h, i, k, m, n, pos, scalar, vocab
from derivations.transformer.alternating_updates import S, joined_streams, new_streams

__all__ = ["build", "stack_layer", "tower_layer"]

t = scalar("t")
bounded = named("tanh", tanh(t), t)
OF_TOKENS = ("tokens", "last", "first", "p_0", "p_1", "p_2")  # what layers read of the tokens beside their rows
SIDES = {"encoder": ("source", m), "decoder": ("target", n)}  # what each stack of an encoder-decoder reads


@lru_cache(maxsize=64)
def build(architecture: Architecture) -> Layer:
    """Return the model as one layer, from tokens (patches, frames, samples) to the output of its head.

    Shapes       tokens (n,), or source (m,) and target (n,); logits (n, vocab) of a language model
    """
    write = _Writer(architecture)
    memory = None
    if architecture.encoder is not None:
        Z = write.through("encoder", architecture.encoder)
        memory = Z
    if architecture.decoder is not None:
        Z = write.through("decoder", architecture.decoder, memory)
    outputs = _HEADS[architecture.head.kind](write, architecture.head, Z)
    if architecture.tower is not None and architecture.tower.compared is not None:
        row = outputs[-1] if isinstance(outputs, tuple) else outputs
        outputs = write.compared(row, architecture.tower, architecture.tower.compared)
    layer = Layer(architecture.name, write.inputs, write.parameters, write.let, outputs)
    return layer.xreplace({d_model: architecture.d_model, vocab: architecture.vocab})


def tower_layer(tower: Tower) -> Layer:
    """Return the vision tower as a layer from patches to rows, or to the single row of its head.

    Its sizes have separate symbols.

    Shapes       patches (patches, pixels); rows (rows - first, d_model_pictures), or (1, columns of the head)
    """
    whole, architecture = build(tower.architecture), tower.architecture
    let = Equations()
    rows = whole.equation("Z").variable if tower.compared is None else whole.outputs[-1]
    stack = architecture.encoder
    count = max(1, len(stack.read) if stack is not None else 1)
    each = total(rows.shape[0]) / count
    blocks = [RowRange(rows, number * each + tower.first, each - tower.first) for number in range(count)]
    taken = let("rows")(reduce(Stacked, blocks)) if tower.first else rows
    layer = Layer(architecture.name, whole.inputs, whole.parameters, (*whole.equations, *let), taken)
    return layer.xreplace({symbol: of_pictures(symbol) for symbol in layer.sizes})


def _placed(stack: Stack, table: Array, length: Expr) -> Array:
    """Return position rows from a table, with zero rows for registers, which have no position."""
    stem = stack.stem
    if not isinstance(stem, Patches) or stem.registers == 0:
        return RowRange(table, stack.embedding.first_position, length)
    before = PlacedRows(RowRange(table, 0, stem.tokens), 0, length)
    return before + PlacedRows(RowRange(table, stem.tokens, stem.count), stem.tokens + stem.registers, length)


class _Writer:
    """Collects the inputs, parameters and equations of a model."""

    def __init__(self, architecture: Architecture) -> None:
        self.let = Equations()
        self.inputs: list[Variable] = []
        self._parameters: dict[str, Variable] = {}
        self._pair = architecture.encoder is not None and architecture.decoder is not None
        self._width: Expr | None = None  # of the rows of the table, if it is not d_model
        self._narrow = False  # whether a head scores rows of that width
        self._tower = architecture.tower
        self._deep: list[Array] = []  # rows that are added after the first layers

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The parameters, in the order in which they were first used."""
        return tuple(self._parameters.values())

    def parameter(self, name: str, *shape: Expr) -> Variable:
        """Return the parameter with a name. Repeated calls with one name return the same parameter."""
        return self._parameters.setdefault(name, array(name, *shape))

    def input(self, variable: Variable) -> Variable:
        """Add an input to the model and return it."""
        self.inputs.append(variable)
        return variable

    # --- what a stack takes in, and the stack ---

    def through(self, side: str, stack: Stack, memory: Array | None = None) -> Array:
        """Add the equations of a stack and of its input rows to the model. Return the output of the stack."""
        rows = self._embedded(side, stack)
        layer = part(side, stack_layer(stack, side, memory is not None))
        name = "memory" if side == "encoder" and self._pair else "Z"
        given = {each.name: each for each in self.inputs}
        told = [given.get(v.name) or self.input(v) for v in layer.layer.inputs if v.name in OF_TOKENS]
        return self.let(name)(layer(rows, *([] if memory is None else [memory]), *self._deep, *told))

    def _embedded(self, side: str, stack: Stack) -> Array:
        suffix, embedding = (f"_{side}" if self._pair else ""), stack.embedding
        X, length = self._rows(side, stack)
        self._narrow = embedding.narrow
        width = embedding.width if embedding.narrow else d_model
        norm = f"{side}_embedding_norm" if self._pair else "embedding_norm"
        if embedding.norm is not None and embedding.norm_first:
            X = self.let(f"U{suffix}")(part(norm, norm_layer(embedding.norm))(X))
        if embedding.positions is not None:
            table = self.parameter(f"P{suffix}", embedding.positions, width)
            on_grid = None if embedding.grid is None else self.let("P_grid")(stretched_positions(table, embedding))
            X = X + (_placed(stack, table, length) if on_grid is None else on_grid)
        elif embedding.sinusoidal is not None:
            waves = positional_encoding(length, **vars(embedding.sinusoidal))
            X = X + self.let(f"P{suffix}")(part("positions", waves)())
        elif embedding.convolved is not None:
            X = X + self.let(f"P{suffix}")(part("positions", convolved_positions(embedding.convolved))(X))
        if embedding.segments is not None:
            segments = self.input(token_array("segments", length))
            X = X + Lookup(self.parameter("T", embedding.segments, width), segments)
        rows = self.let(f"X{suffix}")(X)
        if embedding.norm is None or embedding.norm_first:
            return rows
        normed = self.let(f"U{suffix}")(part(norm, norm_layer(embedding.norm))(rows))
        return self.let("X_wide")(_affine("embedding_projection", d_model)(normed)) if embedding.narrow else normed

    def _rows(self, side: str, stack: Stack) -> tuple[Array, Expr]:
        """Return the rows of tokens, patches, frames or samples, and their number."""
        name, length = SIDES[side] if self._pair else ("tokens", n)
        if isinstance(stack.stem, AudioStem):
            frames = self.input(array("frames", 2 * length, stack.stem.mel))
            return part("stem", audio_stem())(frames), length
        if isinstance(stack.stem, Waveform):
            if stack.stem.mask_token:
                self.parameter("mask_token", 1, d_model)
            samples = self.input(array("samples", stack.stem.samples(length), 1))
            return self.let("R")(part("stem", waveform_stem(stack.stem))(samples)), length
        if isinstance(stack.stem, Patches):
            count, width = stack.stem.count, stack.stem.channels * stack.stem.size**2
            stem = part("stem", patch_embedding(biases=stack.stem.biases))
            rows = self.let("R")(stem(self.input(array("patches", count, width))))
            if stack.stem.mask_token:
                self.parameter("mask_token", 1, d_model)
            if stack.stem.registers != 0:
                rows = Stacked(self.parameter("registers", stack.stem.registers, d_model), rows)
            for name in reversed(("class_token", "distillation_token")[: stack.stem.tokens]):
                rows = Stacked(self.parameter(name, 1, d_model), rows)
            return rows, stack.stem.rows
        self._width = stack.embedding.width
        table = self.parameter("E", vocab, self._width or d_model)
        tokens, scale = self.input(token_array(name, length)), stack.embedding.scale
        if self._tower is None or self._tower.projector is None:
            X: Array = Lookup(table, tokens)
            X = X if scale == 1 else X * scale
        else:
            first, *deep = self._pictured(self._tower, self._tower.projector)
            X = Lookup(self.let("E_all")(Stacked(table if scale == 1 else table * scale, first)), tokens)
            for number, rows in enumerate(deep, 1):
                placed = PlacedRows(rows, vocab, vocab + rows.shape[0])  # nothing is added to a token of the text
                self._deep.append(self.let(f"D_{number}")(Lookup(placed, tokens)))
        projected = self._width is not None and not stack.embedding.narrow
        return (X @ self.parameter("W_in", self._width, d_model) if projected else X), length

    def _of_tower(self, tower: Tower) -> Array:
        """Add the vision tower, and return the rows that it computes from an image."""
        layer = tower_layer(tower)
        (patches,) = layer.inputs
        return self.let("S")(part("pictures", layer)(self.input(patches)))

    def _pictured(self, tower: Tower, projector: Projector) -> list[Array]:
        """Return the rows of an image, as wide as token rows, and the rows added after the first layers."""
        rows = self._of_tower(tower)
        if not tower.deep:
            return [self.let("V")(part("projector", projector_layer(projector, rows.shape))(rows))]
        several = (projector, *tower.deep)
        all_rows = self.let("V_all")(part("projector", projectors_layer(several, rows.shape))(rows))
        count = total(all_rows.shape[0]) / len(several)
        names = ("V", *(f"V_{number}" for number, _ in enumerate(tower.deep, 1)))
        return [self.let(name)(RowRange(all_rows, i * count, count)) for i, name in enumerate(names)]

    # --- what the head makes of the last rows ---

    def scores(self, head: Head, Z: Array) -> Array:
        """Add the equations of the scores of all tokens."""
        Z = self.narrowed(head, Z if head.scale == 1 else Z * head.scale)
        width = self._width or d_model
        logits = Z @ (self.parameter("E", vocab, width).T if head.tied else self.parameter("W_head", width, vocab))
        logits = self.let("logits")(logits + self.parameter("b_head", vocab) if head.bias else logits)
        return logits if head.soft_cap is None else self.let("capped")(soft_cap(head.soft_cap)(logits))

    def narrowed(self, head: Head, Z: Array) -> Array:
        """Return the rows projected to the width of the table, if that is not d_model."""
        return (
            Z
            if self._width is None or self._narrow
            else self.let("Z_out")(Z @ self.parameter("W_out", d_model, self._width))
        )

    def scores_of_transformed(self, head: Head, Z: Array) -> Array:
        """Add an affine map, an activation and a norm, then the scores of all tokens."""
        width = (self._width or d_model) if self._narrow else d_model
        of_rows = _affine("transform", width) if head.transform_bias else _matrix("transform", width)
        H = self.let("H")(of_rows(Z))
        G = self.let("G")((head.activation or gelu)(H))
        return self.scores(head, self.let("V")(part("transform_norm", norm_layer(head.norm or Norm()))(G)))

    def pooled(self, head: Head, Z: Array) -> Array:
        """Add the pooler: an affine map of the first row, then an activation, by default tanh."""
        return self.let("pooled")((head.activation or bounded)(_affine("pooler", d_model)(RowRange(Z, 0, 1))))

    def transformed_classes(self, head: Head, Z: Array) -> Array:
        """Add an affine map and an activation of every row, then the scores of the classes."""
        H = self.let("H")(_affine("transform", d_model)(Z))
        return self.classes(head, self.let("G")((head.activation or gelu)(H)))

    def first_row(self, head: Head, Z: Array) -> Array:
        """Add the norm of the first row, then the projection of the head if it has one."""
        normed = part("final_norm", norm_layer(head.norm or Norm()))
        return self.embedded(head, self.let("pooled")(normed(RowRange(Z, 0, 1))))

    def end_row(self, head: Head, Z: Array) -> Array:
        """Add the row of the token that ends the text, then the projection of the head if it has one."""
        return self.embedded(head, self.let("pooled")(Lookup(Z, self.input(token_array("end", 1)))))

    def embedded(self, head: Head, row: Array) -> Array:
        """Return a pooled row projected to the width of the head, if the head has a width."""
        if head.width is None:
            return row
        return self.let("embedded")(row @ self.parameter("W_embedded", d_model, head.width))

    def last_row(self, head: Head, Z: Array) -> Array:
        """Add an affine map of the last row."""
        return self.let("pooled")(_affine("pooler", head.width or d_model)(RowRange(Z, Z.shape[0] - 1, 1)))

    def compared(self, text: Array, tower: Tower, how: Compared) -> Array:
        """Add the scores of a text row against the pooled row of the vision tower."""
        comparison = part("comparison", comparison_layer(biased=how.biased))
        return self.let("logits")(comparison(text, self._of_tower(tower)))

    def attended(self, head: Head, Z: Array) -> Array:
        """Add attention pooling: one learned query attends to all rows, and a network follows."""
        pooling = head.pooling
        assert pooling is not None and isinstance(pooling.attention, Attention) and pooling.feed_forward is not None
        query = self.parameter("probe", 1, d_model)
        collected = part("pooler_attention", attention_layer(pooling.attention, cross=True))
        A = self.let("A")(collected(query, Z))
        U = self.let("U_pooled")(part("pooler_norm", norm_layer(pooling.norm))(A))
        return self.let("pooled")(A + part("pooler_network", feed_forward_layer(pooling.feed_forward))(U))

    def classes(self, head: Head, rows: Array, name: str = "classifier", count: Expr | None = None) -> Array:
        """Add the affine map that computes the scores of the classes."""
        return self.let(f"{name}_scores")(_affine(name, count or head.classes)(rows))


def _affine(name: str, width: Expr | None) -> Part:
    return part(name, linear().xreplace({d_out: width}))


def _matrix(name: str, width: Expr) -> Part:
    X, W = array("X", n, d_model), array("W", d_model, width)
    let = Equations()
    return part(name, Layer("matrix", (X,), (W,), let, let("Y")(X @ W)))


def _pretraining(write: _Writer, head: Head, Z: Array) -> tuple[Array, Array]:
    """Add the scores of tokens, and the scores of whether the second segment follows the first."""
    tanh_pooled = write.pooled(replace(head, activation=None), Z)
    return write.scores_of_transformed(head, Z), write.classes(head, tanh_pooled, "next_sentence", Integer(2))


_HEADS: dict[str, Callable[[_Writer, Head, Array], Array | tuple[Array, ...]]] = {
    "none": _Writer.narrowed,
    "language_model": _Writer.scores,
    "masked_language_model": _Writer.scores_of_transformed,
    "pretraining": _pretraining,
    "pooler": lambda write, head, Z: (Z, write.pooled(head, Z)),
    "classes": lambda write, head, Z: write.classes(head, RowRange(Z, 0, 1)),
    "pooled_classes": lambda write, head, Z: write.classes(head, write.pooled(head, Z)),
    "token_classes": _Writer.classes,
    "transformed_classes": lambda write, head, Z: write.transformed_classes(head, Z),
    "first_row": lambda write, head, Z: (Z, write.first_row(head, Z)),
    "attention_pooler": lambda write, head, Z: (Z, write.attended(head, Z)),
    "end_row": lambda write, head, Z: (Z, write.end_row(head, Z)),
    "last_row": lambda write, head, Z: (Z, write.last_row(head, Z)),
}


# --- stacks ---------------------------------------------------------------------------------------------------------


def stack_layer(stack: Stack, name: str = "stack", memory: bool = False) -> Layer:
    """Return the blocks of a stack in sequence, with their masks and biases, and its last norm.

    Shapes       X, Z and what is added after the first runs (n, d_model), memory (m, d_model); tokens (n,), where
                 layers have rows of their own for them; the last position that each position sees (n,), where some
                 see later ones, and the first one, where windows do not bind them; places p_0, p_1, p_2 (n,) on
                 axes of positions
    """
    X, seen = array("X", n, d_model), array("memory", m, d_model)
    added = [array(f"D_{number}", n, d_model) for number in range(1, stack.added + 1)]
    read: dict[int, Array] = {}
    let = Equations()
    beside: dict[object, Array] = {}
    own = next((block.per_layer for block in stack.blocks if block.per_layer is not None), None)
    tokens, parameters = [], []
    if own is not None:
        tokens, parameters = [token_array("tokens", n)], [array("gamma_E", own.width)]
        beside.update({"X_0": X, **{each.name: each for each in (*tokens, *parameters)}})
    places = next((found for block in stack.blocks if (found := places_of(block.attention))), [])
    beside.update({each.name: each for each in places})
    seen_between = positions_seen(stack)
    beside.update({key: let(name_of_mask(key))(mask) for key, mask in masks_of(stack, seen_between).items()})
    if stack.relative_bias is not None:
        beside["B"] = let("B")(_bias(stack.relative_bias, _heads(stack.blocks[0])))
    rows = _distances(let, beside, stack)
    streams, Z = stack.blocks[0].streams, X
    if streams is not None:
        Z = let("X_streams")(part("new_streams", new_streams().xreplace({S: streams.number}))(X))
    for number, run in enumerate(stack.runs, 1):
        layers = "layers" if len(stack.runs) == 1 else f"layers_{number}"
        name = "Z" if len(stack.runs) == 1 else f"Z_{number}"
        for turn in range(int(run.count) - 1 if run.shared else 0):  # a part that is applied again has the same weights
            Z = let(f"{name}_after_{turn + 1}")(_run(run, layers, Z, seen if memory else None, beside))
        Z = let(name)(_run(run, layers, Z, seen if memory else None, beside))
        for block in run.blocks:
            if sharing(block) == "gives":
                Z = _taken_apart(let, block, Z, number, beside)
        if number <= stack.added:
            Z = let(f"Z_{number}_added")(Z + added[number - 1])
        read[number] = Z
    if stack.paired:
        first, second = (RowRange(Z, start, n / 2, 2) for start in (0, 1))
        Z = let("Z_paired")((first + second) * Rational(1, 2))
    if streams is not None:
        Z = let("Z_joined")(part("joined_streams", joined_streams().xreplace({S: streams.number}))(Z))
    if stack.final_norm is not None:
        Z = let("Y")(part("final_norm", norm_layer(stack.final_norm))(Z))
    if stack.read:
        taken = reduce(Stacked, (read[number] for number in stack.read))
        Z = taken if len(stack.read) == 1 else let("rows")(taken)
    given = (X, *([seen] if memory else []), *added, *tokens, *seen_between, *places)
    return Layer(name, given, (*rows, *parameters), let, Z)


def _taken_apart(let: Equations, block: Block, Z: Array, number: int, beside: dict[object, Array]) -> Array:
    """Split the output columns of a block into rows, keys and values, and return the rows."""
    assert isinstance(block.attention, Attention)
    groups, start = groups_of(block.attention), total(width_of(block))
    for letter, width in (("K", block.attention.d_k), ("V", block.attention.d_v)):
        columns = ColumnRange(Z, start, Blocks(groups, width))
        beside[letter, mask_of(block)] = let(f"{letter}_{number}", over=(i, groups))(column_block(columns, i))
        start = start + groups * width
    return let(f"Z_{number}_rows")(ColumnRange(Z, 0, width_of(block)))


def _run(run: Run, name: str, X: Array, memory: Array | None, beside: dict[object, Array]) -> Array:
    """Apply a run to rows: one block repeated, or a sequence of blocks repeated."""
    masked, biased = any(is_masked(block, beside) for block in run.blocks), "B" in beside
    around = Around(memory is not None, masked, biased)
    gives = any(sharing(block) == "gives" for block in run.blocks)
    if gives and len(run.blocks) > 1:
        raise ValueError("a layer whose keys and values later ones take is a run of its own")
    shared, count = [*([memory] if memory is not None else [])], None if run.shared or gives else run.count
    if len(run.blocks) == 1:
        (block,) = run.blocks
        given = [beside[key] for key in _read_by(block, beside)]
        return part(name, block_layer(block, around), count=count)(X, *shared, *given)
    keys = {key: None for block in run.blocks for key in _read_by(block, beside)}
    masks = {mask_of(block) for block in run.blocks if is_masked(block, beside)}
    # masks by text, because None and symbols have no common order
    ordered = [*sorted(masks, key=str), *(key for key in keys if key not in masks)]
    inputs = {key: Variable(_name_of(key, masks), beside[key].shape, beside[key].kind) for key in ordered}
    return part(name, _sequence(run, around, inputs), count=count)(X, *shared, *(beside[key] for key in ordered))


def _read_by(block: Block, beside: Mapping[object, Array]) -> Iterator[object]:
    """Yield the keys of the arrays that a block reads beside its rows, in the order of its inputs."""
    if is_masked(block, beside):
        yield mask_of(block)
    yield from (name for name in "BRN" if name in beside)
    yield from (each.name for each in places_of(block.attention))
    if sharing(block) == "takes":
        yield from (("K", mask_of(block)), ("V", mask_of(block)))
    if block.per_layer is not None:
        yield from ("X_0", "tokens", "gamma_E")


def _name_of(key: object, masks: Collection[object]) -> str:
    """Return the name under which a sequence of blocks reads an array."""
    if key in masks:
        return name_of_mask(key)
    if isinstance(key, tuple):  # keys or values
        return f"{key[0]}{name_of_mask(key[1])[1:]}"
    return str(key)


def _sequence(run: Run, around: Around, beside: Mapping[object, Variable]) -> Layer:
    """Return different blocks in sequence as one layer."""
    X, memory = array("X", n, width_of(run.blocks[0])), [array("memory", m, d_model)] if around.memory else []
    let = Equations()
    Z: Array = X
    for number, block in enumerate(run.blocks, 1):
        own = replace(around, masked=is_masked(block, beside))
        given = (beside[key] for key in _read_by(block, beside))
        Z = let(f"Z_{number}")(part(f"block_{number}", block_layer(block, own))(Z, *memory, *given))
    return Layer("blocks", (X, *memory, *beside.values()), (), let, Z)


def _distances(let: Equations, beside: dict[object, Array], stack: Stack) -> tuple[Variable, ...]:
    """Add the numbers of all relative distances and the norm of their rows, and return the rows.

    The result is empty unless attention is disentangled.
    """
    by, *others = map(distances_of, stack.blocks)
    if by is None:
        return ()
    require(not others, lambda: "rows of distances are described for equal layers")
    rows, _ = rows_of_distances(by)
    beside["R"] = rows if by.norm is None else let("R_norm")(part("distance_norm", norm_layer(by.norm))(rows))
    cut = Lambda((pos, k), Max(0, Min(2 * by.buckets - 1, by.buckets + pos - k)))
    plain = by.longest is None
    beside["N"] = let("N")(Numbers(cut, n, n) if plain else SignedBuckets(n, n, by.buckets, by.longest))
    return (rows,)


def _heads(block: Block) -> Expr:
    if not isinstance(block.attention, Attention):
        raise ValueError("a bias of scores needs attention in every layer")
    return block.attention.heads


def _bias(relative: RelativeBias, heads: Expr) -> Array:
    """Return the bias of the scores of every head by distance, from the table of the stack."""
    layer = relative_position_bias(n, n, bidirectional=relative.bidirectional, max_distance=relative.longest)
    return part("relative_position_bias", layer.xreplace({buckets: relative.buckets, h: heads}))()
