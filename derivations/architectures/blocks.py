"""One layer of a stack, from its description: sub-layers in the given order and with the given norms.

Definition   pre: x + F(norm(x)); post: norm(x + F(x)); sandwich: x + norm(F(norm(x))); after: x + norm(F(x)); parallel:
             attention and feed-forward network of the same x, added to it together; normed: norm(x) + F(norm(x)); a
             scale multiplies what is added; a block that gives its keys and values has them after the columns of x
Shapes       X and the output (n, d_model), memory (m, d_model), mask M (n, n), bias B (h, n, n), keys and values of an
             earlier layer (g, n, d_k)
Source       Vaswani et al. (2017), section 3.1; Xiong et al. (2020), figure 1; Wang and Komatsuzaki (2021) for
             parallel sub-layers; Gemma Team (2024), section 2, for norms on both sides; OLMo Team (2024), OLMo 2,
             section 3.3.2, for norms after sub-layers alone; IBM (2024), Granite 3.0, for the scale
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Expr, Integer, sqrt

from derivations.activations.sigmoid import softplus
from derivations.activations.xielu import above_half, xielu
from derivations.architectures.attention import attention_layer
from derivations.architectures.description import (
    Attention,
    Block,
    Disentangled,
    Experts,
    FeedForward,
    Indexer,
    Norm,
    PerLayer,
    Recurrent,
    Rotary,
    Streams,
)
from derivations.architectures.projections import growth, norm_layer, places_of, rotary_layer
from derivations.attention.latent import SCALE, d_r, k_I, latent_attention, r_KV, r_Q
from derivations.attention.lightning_indexer import d_P, h_I, lightning_indexer
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.feed_forward.groups_of_experts import K_G, N_G
from derivations.feed_forward.mixture_of_experts import E, K, d_expert, d_shared, mixture_of_experts
from derivations.feed_forward.sparse_gate import sparse_gated_feed_forward
from derivations.language.arrays.arrangements import Concatenate, column_block
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    RowBroadcast,
    Variable,
    array,
    mask_array,
    require,
    token_array,
)
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.arrays.shapes import Axis, Blocks, total
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_ff, d_k, d_model, d_v, h, i, m, n, vocab
from derivations.transformer.alternating_updates import S, corrected_streams, predicted_streams, stream_router
from derivations.transformer.augmented_residual import augmented_residual, r_A
from derivations.transformer.per_layer_embedding import d_E, per_layer_embedding

__all__ = [
    "Around",
    "block_layer",
    "distances_of",
    "feed_forward_layer",
    "groups_of",
    "rows_of_distances",
    "sharing",
    "width_of",
]


@dataclass(frozen=True)
class Around:
    """Which inputs a block has besides its rows: a memory, a mask, a bias of the scores.

    What a block takes from earlier layers, and what it reads of distances and tokens, is told by the block itself.
    """

    memory: bool = False
    masked: bool = False
    biased: bool = False

    def arrays(self, block: Block) -> tuple[Variable, ...]:
        """Return the inputs of a block after its rows."""
        a, own = block.attention, block.per_layer
        taken: list[Variable] = []
        if isinstance(a, Attention) and a.sharing == "takes":
            taken = [array("K", groups_of(a), n, a.d_k), array("V", groups_of(a), n, a.d_v)]
        rows = [array("X_0", n, d_model), token_array("tokens", n), array("gamma_E", own.width)] if own else []
        return (
            *([array("memory", m, d_model)] if self.memory else []),
            *([mask_array("M", n, n)] if self.masked else []),
            *([array("B", a.heads, n, n)] if self.biased and isinstance(a, Attention) else []),
            *(rows_of_distances(by) if (by := distances_of(block)) else ()),
            *places_of(a),
            *taken,
            *rows,
        )


def distances_of(block: Block) -> Disentangled | None:
    """Return the description of disentangled attention in a block, or None if it has none."""
    by = None if block.attention is None else block.attention.positions
    return by if isinstance(by, Disentangled) else None


def rows_of_distances(by: Disentangled) -> tuple[Variable, Variable]:
    """Return the array of relative position rows, and the array of their numbers for all pairs of positions."""
    return array("R", 2 * by.buckets, d_model), token_array("N", n, n)


def sharing(block: Block) -> str:
    """Return whether a block gives keys and values to later ones, takes them, or does neither."""
    return block.attention.sharing if isinstance(block.attention, Attention) else "none"


def groups_of(a: Attention) -> Expr:
    """Return the number of key-value heads: the groups, or all heads if they do not share keys and values."""
    return a.heads if a.groups is None else a.groups


def feed_forward_layer(network: FeedForward | Experts | Recurrent) -> Layer:
    """Return the layer that a block uses as its network: feed-forward, mixture of experts or recurrent."""
    if isinstance(network, Recurrent):
        return network.mixer
    if isinstance(network, Experts):
        return _experts(network)
    if network.activation == xielu:
        return _learned(network)
    if network.cutoff is not None:
        require(network.gated and not network.biases, lambda: "a sparse gate: it has a gate, and no biases")
        return sparse_gated_feed_forward(network.activation, cutoff=network.cutoff).xreplace({d_ff: network.d_ff})
    build = gated_feed_forward if network.gated else feed_forward
    return build(network.activation, biases=network.biases).xreplace({d_ff: network.d_ff})


@lru_cache(maxsize=256)
def block_layer(block: Block, around: Around) -> Layer:
    """Return one block: its inputs are the rows X, then the arrays of `around`."""
    X, given = array("X", n, width_of(block)), around.arrays(block)
    beside = {variable.name: variable for variable in given}
    let = Equations()
    Z: Array = X if block.streams is None else _active(let, block, block.streams, X)
    kappa = array("kappa")  # the stored scale of the block
    require(
        block.order == "sandwich" or not (block.streams or block.augmented or sharing(block) == "gives"),
        lambda: f"a block: streams, a branch of low rank and shared keys are not described for the order {block.order}",
    )
    if block.order == "parallel":
        Z = _parallel(let, block, X, beside)
    else:
        if block.attention is not None:
            Z = _sub_layer(let, block, _name(block), Z, _mixed(let, block, beside))
        if block.cross_attention is not None:
            cross = part("cross_attention", attention_layer(block.cross_attention, cross=True))
            Z = _sub_layer(let, block, "cross_attention", Z, lambda x: cross(x, beside["memory"]))
        if block.feed_forward is not None:
            Z = _sub_layer(let, block, "feed_forward", Z, _network(block))
    if block.streams is not None:
        Z = _corrected(let, block, block.streams, Z, beside)
    elif block.per_layer is not None:
        Z = let("Z_P")(Z + _own_rows(let, block, block.per_layer, Z, beside))
    if block.scaled:
        Z = let("Z_scaled")(Hadamard(kappa, Z))
    if sharing(block) == "gives":
        taken = next(equation.variable for equation in let if equation.variable.name == "handed")
        Z = let("Z_handed")(ColumnConcatenation(Z, ColumnRange(taken, d_model, total(taken.shape[1]) - d_model)))
    stored = [kappa] if block.scaled else []
    if block.streams is not None and not block.streams.scaled:
        stored.append(array("unread_scale", d_model))
    return Layer("block", (X, *given), stored, let, Z)


def _own_rows(let: Equations, block: Block, own: PerLayer, Z: Array, beside: dict[str, Variable]) -> Array:
    """Add the equations of a block's per-layer embedding, and return its normalised output."""
    rows = per_layer_embedding(own.activation, eps=block.norm.eps)
    inner = part("per_layer_input", rows.xreplace({d_E: own.width, vocab: own.vocab}))
    F = let("P")(inner(Z, *(beside[name] for name in ("X_0", "tokens", "gamma_E"))))
    return let("P_norm")(part("per_layer_input_norm_after", norm_layer(block.norm))(F))


# --- streams --------------------------------------------------------------------------------------------------------


def width_of(block: Block) -> Axis:
    """Return the number of columns of a block's rows, with all residual streams side by side."""
    return d_model if block.streams is None else Blocks(block.streams.number, d_model)


def _router(let: Equations, block: Block, streams: Streams, name: str, rows: Array) -> Array:
    return let(name)(part("stream_router", stream_router(block.norm.eps).xreplace({S: streams.number}))(rows))


def _active(let: Equations, block: Block, streams: Streams, X: Array) -> Array:
    """Add the equations that predict all streams, and return the active stream."""
    R = _router(let, block, streams, "R_X", column_block(X, streams.active))
    predicted = part("stream_prediction", predicted_streams().xreplace({S: streams.number}))
    return let("X_active")(column_block(let("X_predicted")(predicted(X, R)), streams.active))


def _corrected(let: Equations, block: Block, streams: Streams, Z: Array, beside: dict[str, Variable]) -> Array:
    """Add the equations that correct all streams, and return the streams.

    The output of the per-layer embedding is added to all streams but the first.
    """
    predicted = next(equation.variable for equation in let if equation.variable.name == "X_predicted")
    correction = part("stream_correction", corrected_streams(streams.active).xreplace({S: streams.number}))
    C = let("X_corrected")(correction(predicted, Z, _router(let, block, streams, "R_Z", Z)))
    if block.per_layer is None:
        return C
    first = let("C_active")(column_block(C, streams.active))
    if streams.scaled:
        first = let("C_scaled")(part("stream_scale", layer_scale())(first))
    added, others = _own_rows(let, block, block.per_layer, first, beside), streams.number - 1
    rest = let("C_rest")(ColumnRange(C, d_model, Blocks(others, d_model)))
    moved = let("C_moved", over=(i, others))(column_block(rest, i) + added)
    rows = ColumnConcatenation(column_block(C, 0), Concatenate(moved[i], i, others))
    return let("X_moved")(ColumnRange(rows, 0, Blocks(streams.number, d_model)))


def _name(block: Block) -> str:
    return "mixer" if isinstance(block.attention, Recurrent) else "self_attention"


def _mixed(let: Equations, block: Block, beside: dict[str, Variable]) -> Callable[[Array], Array]:
    """Return the function for attention, or for the sum of attention and a recurrence over the same rows."""
    attention = _self_attention(let, block, beside)
    if block.beside is None:
        return attention
    mixer = part("mixer", block.beside.mixer)

    def both(x: Array) -> Array:
        found = let("S")(attention(x)), let("R")(mixer(x))
        scales = block.attention_scale, block.beside_scale
        first, second = (each if c == 1 else c * each for each, c in zip(found, scales, strict=True))
        return first + second

    return both


def _self_attention(let: Equations, block: Block, beside: dict[str, Variable]) -> Callable[[Array], Array]:
    if isinstance(block.attention, Recurrent):
        return part("mixer", block.attention.mixer)
    assert block.attention is not None
    masked, biased = "M" in beside, "B" in beside
    attention = part("self_attention", _attention_of(block.attention, masked, biased))
    places = (each.name for each in places_of(block.attention))
    given = [beside[name] for name in ("M", "B", "R", "N", *places, "K", "V") if name in beside]
    if block.attention.sharing == "gives":
        return lambda x: ColumnRange(let("handed")(attention(x, *given)), 0, d_model)
    return lambda x: attention(x, *given)


def _attention_of(a: Attention, masked: bool, biased: bool) -> Layer:
    latent = a.latent
    if latent is None:
        return attention_layer(a, masked=masked, biased=biased)
    rotary, norm = a.positions if isinstance(a.positions, Rotary) else Rotary(), a.norm or Norm("rms")
    require(rotary.axes is None, lambda: "latent attention: positions on several axes are not described")
    layer = latent_attention(
        masked=masked,
        latent_queries=latent.query_rank is not None,
        absorbed=latent.absorbed,
        rotary=rotary_layer(rotary),
        rotated=a.positions is not None,
        eps=norm.eps,
        scale=SCALE if a.score_scale is None else a.score_scale,
        sparse=latent.indexer is not None,
        indexer=_indexer(latent.indexer, rotary),
        growth=None if a.temperature is None else growth(a.temperature),
    )
    sizes = {h: a.heads, d_k: a.d_k, d_v: a.d_v, r_KV: latent.key_value_rank, d_r: latent.d_rotary}
    if latent.indexer is not None:
        sizes |= {h_I: latent.indexer.heads, d_P: latent.indexer.passed, k_I: latent.indexer.chosen}
    return layer.xreplace(sizes if latent.query_rank is None else {**sizes, r_Q: latent.query_rank})


def _indexer(indexer: Indexer | None, rotary: Rotary) -> Layer | None:
    if indexer is None:
        return None
    return lightning_indexer(rotary=rotary_layer(replace(rotary, halves=indexer.halves)), eps=indexer.eps)


def _network(block: Block) -> Callable[[Array], Array]:
    network = block.feed_forward
    assert network is not None
    name = {Experts: "experts", Recurrent: "channel_mixer"}.get(type(network), "feed_forward")
    return part(name, feed_forward_layer(network))


_LETTERS = {
    "self_attention": ("U", "A", "Y"),
    "mixer": ("U", "A", "Y"),
    "cross_attention": ("V", "C", "R"),
    "feed_forward": ("W", "F", "Z"),
}


def _sub_layer(let: Equations, block: Block, name: str, x: Array, inner: Callable[[Array], Array]) -> Array:
    """Add the equations of one sub-layer with its norms and its residual sum."""
    normed, result, total = _LETTERS[name]
    norm = norm_layer(block.norm)
    c = block.residual_scale
    if block.order in ("post", "after"):
        F = let(result)(inner(x))
        if block.order == "post":
            return let(total)(part(f"{name}_norm", norm)(_added(x, F, c)))
        return let(total)(_added(x, let(f"{result}_norm")(part(f"{name}_norm", norm)(F)), c))
    plain = block.plain_start and name == "self_attention"
    U = x if plain else let(normed)(part(f"{name}_norm", norm)(x))
    F = let(result)(inner(U))
    if block.order == "normed":
        kept, c = block.mixing[name == "feed_forward"]
        return let(total)(_added(U if kept == 1 else kept * U, F, c))
    if block.layer_scale:
        F = let(f"{result}_scaled")(part(f"{name}_scale", layer_scale())(F))
    if block.order == "sandwich":
        F = let(f"{result}_norm")(part(f"{name}_norm_after", norm)(F))
    if block.augmented is not None and name == "self_attention":
        branch = augmented_residual(block.norm.eps).xreplace({r_A: block.augmented})
        L = let("L")(part("residual_branch", branch)(U))
        return let(total)((x + F + L) / sqrt(Integer(2)))
    return let(total)(_added(x, F, c))


def _learned(network: FeedForward) -> Layer:
    """Return a feed-forward network whose activation has two learned numbers.

    Shapes       X (n, d_model), alpha_p and alpha_n (1,), W_1 (d_model, d_ff), W_2 (d_ff, d_model), Y (n, d_model)
    Source       Apertus (2025), section 2.1
    """
    require(not network.gated and not network.biases, lambda: "xIELU: networks with a gate or biases are not described")
    X, alphas = array("X", n, d_model), (array("alpha_p", 1), array("alpha_n", 1))
    W_1, W_2 = array("W_1", d_model, network.d_ff), array("W_2", network.d_ff, d_model)
    let = Equations()
    H = let("H")(X @ W_1)
    numbers = (let("p")(softplus(alphas[0])), let("q")(above_half(alphas[1])))
    everywhere = (ColumnBroadcast(RowSum(RowBroadcast(each, n)), network.d_ff) for each in numbers)
    G = let("G")(xielu(H, *everywhere))
    return Layer("feed_forward_xielu", (X,), (W_1, *alphas, W_2), let, let("Y")(G @ W_2))


def layer_scale() -> Layer:
    """Return rows whose columns are multiplied by one learned number each.

    Shapes       X (n, d_model), gamma (d_model,), Y (n, d_model)
    Source       Touvron et al. (2021), Going deeper with image transformers, section 2
    """
    X, gamma = array("X", n, d_model), array("gamma", d_model)
    let = Equations()
    return Layer("layer_scale", (X,), (gamma,), let, let("Y")(Hadamard(RowBroadcast(gamma, n), X)))


def _parallel(let: Equations, block: Block, X: Array, beside: dict[str, Variable]) -> Array:
    """Add the equations of attention and a feed-forward network in parallel, and return the residual sum."""
    norm = norm_layer(block.norm)
    U = let("U")(part("self_attention_norm", norm)(X))
    A = let("A")(_self_attention(let, block, beside)(U))
    V = U if block.one_norm else let("V")(part("feed_forward_norm", norm)(X))
    F = let("F")(_network(block)(V))
    return let("Z")(X + A + F if block.residual_scale == 1 else _added(X, A + F, block.residual_scale))


def _added(x: Array, branch: Array, scale: Expr) -> Array:
    """Return the residual sum, without a factor where the scale is 1.

    Code that reads the sum expects its terms in that form.
    """
    return x + (branch if scale == 1 else scale * branch)


def _experts(network: Experts) -> Layer:
    """Return the mixture of experts that a description specifies."""
    corrected = network.corrected or (network.in_full and network.buffered)
    groups = network.groups if network.in_full else None
    layer = mixture_of_experts(
        network.activation,
        scoring=network.scoring,
        normalised=network.normalised,
        eps=network.eps,
        threshold=network.threshold,
        shared=network.d_shared is not None,
        shared_gate=network.shared_gate,
        scale=network.scale,
        biases=network.biases,
        linear_activation=network.linear_activation,
        gated=network.gated,
        corrected=corrected,
        best_of_group=groups.best if groups else 0,
        scaled_rows=network.scaled_rows,
    )
    if corrected:  # what is given there is stored in checkpoints: a weight of the model
        rows, given = layer.inputs
        stored = array("b_correction", *given.shape)
        equations = [replace_free(equation, {given: stored}) for equation in layer.equations]
        layer = Layer(layer.name, (rows,), (*layer.parameters, stored), equations, layer.output)
    sizes = {E: network.experts, K: network.chosen, d_expert: network.d_expert}
    if network.d_shared is not None:
        sizes[d_shared] = network.d_shared
    if groups:
        sizes |= {N_G: groups.number, K_G: groups.kept}
    return layer.xreplace(sizes)
