"""Attention layers built from descriptions: projections, scores, softmax and weighted sums.

Definition   Q_i, K_i, V_i = rows times W_i (plus b_i), queries and keys normed, all clipped, queries and keys rotated;
             S_i = Q_i K_i^T times the scale, capped, biased; A_i = softmax of the visible scores;
             Y = Concat(A_i V_i) W^O (plus b^O); keys and values may be those of an earlier layer
Shapes       X (n, d_model), memory (m, d_model), mask M (n, m), bias B (h, n, m), places p_a (n,) on axes of
             positions; rows of distances as in `disentangled_attention`; weights as in `multi_head` and
             `grouped_query_attention`; if only some columns are rotated, W_Q and W_K compute these, W_Q_pass and
             W_K_pass the others, and one matrix both where they are normed together; where the columns of all heads
             are normed together, W_Q is (d_model, h d_k)
Source       Vaswani et al. (2017), section 3.2; Ainslie et al. (2023), section 2.2; Su et al. (2021); for the scores
             Raffel et al. (2020), section 2.1, Press et al. (2022), section 3, Gemma Team (2024), section 2
"""

from __future__ import annotations

from sympy import Expr, Ge, Integer, Lambda, exp, sqrt, tanh

from derivations.activations.sigmoid import sigmoid
from derivations.architectures.description import Alibi, Attention, Disentangled
from derivations.architectures.projections import Projections, columns_of, places_of
from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.disentangled import buckets, disentangled_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated, column_block
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    RowBroadcast,
    Variable,
    array,
    mask_array,
    require,
)
from derivations.language.arrays.functions import Hadamard, Named, RowSum, exponential, named, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_k, d_model, d_v, h, i, index, m, n, scalar

__all__ = ["attention_layer", "soft_cap"]

t, u, v = scalar("t"), scalar("u"), scalar("v")
bias_gate = named("bias_gate", 2 + t * (v * u - 1), t, u, v)
beside_sink = named("beside_sink", t / (t + exp(u)), t, u)
group, head, p, q = map(index, ("a", "b", "p", "q"))  # a group, a head of it; a position and that of a key


def soft_cap(largest: Expr) -> Named:
    """Return the function that keeps scores between -c and c: c tanh(s / c)."""
    return named(f"soft_cap_{largest}".replace("/", "_over_"), largest * tanh(t / largest), t)


def attention_layer(a: Attention, *, masked: bool = False, biased: bool = False, cross: bool = False) -> Layer:
    """Return the attention layer of a description: self-attention over X or, if `cross`, attention to a memory.

    Shapes       X (n, d_model), memory (m, d_model), mask M (n, keys), bias B (h, n, keys), output (n, d_model)
    """
    if isinstance(a.positions, Disentangled):
        return _disentangled(a, a.positions, masked or cross)
    if a.groups is not None:
        return _grouped(a, masked, cross)
    changed = a.output_gate or a.temperature or a.norm or a.positions or a.clip or len(set(a.biases)) > 1
    require(
        not a.values_of_keys or a.d_v == a.d_k,
        lambda: f"attention: values that are the columns of keys are {a.d_k} wide, not {a.d_v}",
    )
    changed = changed or a.values_of_keys or a.value_norm or a.sharing != "none"
    if not (_scores_changed(a) or changed or biased or a.bias_gate):
        return _plain(a, masked, cross)
    return _of_separate_heads(a, masked, biased, cross)


def _plain(a: Attention, masked: bool, cross: bool) -> Layer:
    """Return standard multi-head attention, over X itself or over a memory."""
    heads = multi_head_attention(masked=masked, biases=a.biases[0]).xreplace({h: a.heads, d_k: a.d_k, d_v: a.d_v})
    X, memory, M, _ = _inputs(a, cross)
    bound = {parameter.name: parameter for parameter in heads.parameters}
    let = Equations()
    Y = let("Y")(part("heads", heads)(X, memory, memory, *([M] if masked else []), **bound))
    inputs = (X, *([memory] if cross else []), *([M] if masked else []))
    return Layer("cross_attention" if cross else "self_attention", inputs, heads.parameters, let, Y)


def _disentangled(a: Attention, by: Disentangled, masked: bool) -> Layer:
    """Return disentangled attention, whose scores also compare content with relative distances.

    Shapes       relative position rows R (2 buckets, d_model), their numbers N (n, n)
    """
    plain = Attention(a.heads, d_k=a.d_k, d_v=a.d_v, biases=a.biases, positions=by)
    require(
        a == plain and len(set(a.biases)) == 1 and not masked,
        lambda: "attention: terms of distances are described for all keys, and without other changes of the scores",
    )
    terms = {name: getattr(by, name) for name in ("shared", "by_keys", "by_queries")}
    layer = disentangled_attention(biases=a.biases[0], **terms)
    return layer.xreplace({h: a.heads, d_k: a.d_k, d_v: a.d_v, buckets: 2 * by.buckets})


def _inputs(a: Attention, cross: bool) -> tuple[Variable, Variable, Variable, Variable]:
    keys = m if cross else n
    X = array("X", n, d_model)
    memory = array("memory", m, d_model) if cross else X
    return X, memory, mask_array("M", n, keys), array("B", a.heads, n, keys)


def _of_separate_heads(a: Attention, masked: bool, biased: bool, cross: bool) -> Layer:
    """Return attention in which every head has its own queries, keys and values."""
    X, memory, M, B = _inputs(a, cross)
    write = Projections(a, (i, a.heads))
    queries, (keys, values, taken) = write.queries(X), _keys_and_values(write, memory)
    sinks = write.sinks()
    bias: list[Array] = [B] if biased else []
    if a.bias_gate is not None:
        require(biased, lambda: "attention: a gate of biases needs a bias of the scores")
        bias = [_gated_bias(write, a.bias_gate, X, B)]
    if isinstance(a.positions, Alibi):
        bias = [write.let("B")(_distances(a, a.positions, M.shape[1]))]
    attend = part("attention", _scored(a, masked, bool(bias), M.shape[1]))
    given = [*queries, *keys, values, *([M] if masked else [])]
    read = write.let("head", over=write.over)(attend(*given, *(each[i] for each in (*bias, *sinks))))
    heads = write.gated(read, X)
    W_O, b_O = array("W_O", Blocks(a.heads, a.d_v), d_model), array("b_O", d_model)
    Z = write.let("Z")(Concatenate(heads[i], i, a.heads))
    Y = write.let("Y")(Z @ W_O + b_O if a.biases[3] else Z @ W_O)
    parameters = [*write.parameters, W_O, *([b_O] if a.biases[3] else [])]
    read = [*([memory] if cross else []), *([M] if masked else []), *([B] if biased else []), *places_of(a), *taken]
    inputs = (X, *read)
    output = _given(write, Y, keys, values)
    return Layer("cross_attention" if cross else "self_attention", inputs, parameters, write.let, output)


# --- keys and values of several layers ------------------------------------------------------------------------------


def _keys_and_values(write: Projections, rows: Array) -> tuple[list[Array], Array, list[Variable]]:
    """Return keys and values of one head or group, and the inputs that hold those of an earlier layer."""
    a, (place, count) = write.a, write.over
    if a.sharing != "takes":
        return *write.keys_and_values(rows), []
    require(
        len(columns_of(a)) == 1, lambda: "attention: shared keys of which some columns are rotated are not described"
    )
    K, V = array("K", count, rows.shape[0], a.d_k), array("V", count, rows.shape[0], a.d_v)
    return [K[place]], V[place], [K, V]


def _given(write: Projections, Y: Variable, keys: list[Array], values: Array) -> Variable:
    """Return the output, followed by the columns of the keys and values if later layers reuse them."""
    if write.a.sharing != "gives":
        return Y
    require(len(keys) == 1, lambda: "attention: shared keys of which some columns are rotated are not described")
    # the halves of a rotated key are read as plain columns
    plain = (ColumnRange(each, 0, total(each.shape[-1])) for each in (*keys, values))
    given = (Concatenate(each, *write.over) for each in plain)
    return write.let("handed")(ColumnConcatenation(Y, *given))


# --- groups of heads ------------------------------------------------------------------------------------------------


def _grouped(a: Attention, masked: bool, cross: bool) -> Layer:
    """Return attention in which groups of heads share keys and values; the outputs of the groups are added."""
    if isinstance(a.positions, Alibi):
        raise ValueError("attention: a bias by distance for heads that share keys and values is not described yet")
    X, memory, M, _ = _inputs(a, cross)
    write = Projections(a, (group, a.groups))
    keys, values, taken = _keys_and_values(write, memory)
    inner, own = _group(a, masked, M.shape[1])
    weights = [array(v.name, a.groups, *v.shape) for v in own]  # each group has its own
    rows = write.all_normed("Q", X, a.heads * a.d_k) if a.norm_over_all else X
    given = [rows, *keys, values, *([M] if masked else []), *places_of(a)]
    written = write.let("Z", over=write.over)(part("group", inner)(*given, *(W[group] for W in weights)))
    b_O = array("b_O", d_model)
    total = SumOver(written[group], group, a.groups)
    Y = write.let("Y")(total + b_O if a.biases[3] else total)
    parameters = [*weights, *write.parameters, *([b_O] if a.biases[3] else [])]
    inputs = (X, *([memory] if cross else []), *([M] if masked else []), *places_of(a), *taken)
    output = _given(write, Y, keys, values)
    return Layer("cross_attention" if cross else "self_attention", inputs, parameters, write.let, output)


def _group(a: Attention, masked: bool, keys: Expr) -> tuple[Layer, list[Variable]]:
    """Return the layer for the query heads of one group, and its weights.

    The weights are inputs, because every group has separate ones.
    """
    X, M, V = array("X", n, d_model), mask_array("M", n, keys), array("V", keys, a.d_v)
    write = Projections(a, (head, a.heads))
    wide = [array("Q_group", n, Blocks(a.heads, a.d_k))] if a.norm_over_all else []
    require(
        not (wide and a.temperature),
        lambda: "attention: a temperature of queries that are normed over all heads is not described yet",
    )
    queries = write.turned("Q", column_block(wide[0], head)) if wide else write.queries(X)
    K = [array(f"K{suffix}", keys, width) for suffix, width in columns_of(a)]
    attend = part("attention", _scored(a, masked, False, keys))
    mask = [M] if masked else []
    sinks = [each[head] for each in write.sinks()]
    heads = write.let("head", over=write.over)(attend(*queries, *K, V, *mask, *sinks))
    if a.output_gate:
        require(
            not wide, lambda: "attention: a gate beside queries that are normed over all heads is not described yet"
        )
        heads = write.gated(heads, X)
    Z = write.let("Z")(Concatenate(heads[head], head, a.heads))
    weights = [*write.parameters, array("W_O", Blocks(a.heads, a.d_v), d_model)]
    Y = write.let("Y")(Z @ weights[-1])
    rows = wide or [X]  # queries that are normed over all heads are made outside of the groups
    return Layer("query_group", (*rows, *K, V, *mask, *places_of(a), *weights), (), write.let, Y), weights


# --- scores ----------------------------------------------------------------------------------------------------------


def _scale(a: Attention) -> Expr:
    return 1 / sqrt(a.d_k) if a.score_scale is None else a.score_scale


def _scores_changed(a: Attention) -> bool:
    return a.score_scale is not None or a.soft_cap is not None or a.sinks


def _scored(a: Attention, masked: bool, biased: bool, keys: Expr) -> Layer:
    """Return one head: scores from its queries and keys, weights, and the weighted sum of the values."""
    columns = columns_of(a)
    if not _scores_changed(a) and len(columns) == 1 and not biased:
        return scaled_dot_product_attention(masked=masked).xreplace({d_k: a.d_k, d_v: a.d_v, m: keys})
    Q = [array(f"Q{suffix}", n, width) for suffix, width in columns]
    K = [array(f"K{suffix}", keys, width) for suffix, width in columns]
    V, M, B = array("V", keys, a.d_v), mask_array("M", n, keys), array("B", n, keys)
    scale = _scale(a)
    let = Equations()
    products: Array = Q[0] @ K[0].T
    for more, others in zip(Q[1:], K[1:], strict=True):
        products = products + more @ others.T
    S = let("S")(products if scale == 1 else products * scale)
    if a.soft_cap is not None:
        S = let("S_capped")(soft_cap(a.soft_cap)(S))
    if biased:
        S = let("S_biased")(S + B)
    A = let("A")(row_softmax(S, M if masked else None))
    O = let("O")(A @ V)
    sink = array("sink", 1)
    if (
        a.sinks
    ):  # exp(s_j) / (z + exp(sink)) is softmax(s)_j times z / (z + exp(sink)), z the sum of the visible exp(s_j)
        terms = exponential(S)
        z = let("z")(RowSum(Hadamard(terms, M) if masked else terms))
        of_rows = let("sinks")(RowSum(RowBroadcast(sink, n)))
        O = let("O_share")(Hadamard(ColumnBroadcast(beside_sink(z, of_rows), a.d_v), O))
    inputs = (*Q, *K, V, *([M] if masked else []), *([B] if biased else []), *([sink] if a.sinks else []))
    return Layer("attention_head", inputs, (), let, O)


def _gated_bias(write: Projections, columns: Expr, X: Array, B: Array) -> Variable:
    """Add the bias of every head, multiplied for every query by the gate 2 + u (c v - 1).

    The gate is computed from the columns of X that belong to the head.

    Definition   u and v are sigmoids of the sums of the first and of the last half of the columns of a map that all
                 heads share; c is a learned number of the head
    Source       Chen et al. (2022), WavLM, section III.A
    """
    heads, width = write.a.heads, write.a.d_k
    W, b, c = array("W_gate", width, columns), array("b_gate", columns), array("gate_scale", heads, 1)
    write.parameters += [W, b, c]
    own = write.let("X_own", over=write.over)(column_block(ColumnRange(X, 0, Blocks(heads, width)), i))
    G = write.let("G_own", over=write.over)(own[i] @ W + b)
    halves = (RowSum(ColumnRange(G[i], start, columns / 2)) for start in (0, columns / 2))
    first, last = (write.let(name, over=write.over)(sigmoid(each)) for name, each in zip("uv", halves, strict=True))
    gate = write.let("gate", over=write.over)(bias_gate(first[i], last[i], RowSum(RowBroadcast(c[i], n))))
    return write.let("B_gated", over=write.over)(Hadamard(ColumnBroadcast(gate[i], B.shape[2]), B[i]))


def _distances(a: Attention, alibi: Alibi, keys: Expr) -> Array:
    """Return the biases of all heads by distance: the slope of each head, times j - i."""
    slope = Integer(2) ** (-8 * (head + 1) / (alibi.power or a.heads))
    if alibi.power is not None:
        # the slopes that 2 p heads would have: every other one of them is new
        between = Integer(2) ** (-4 * (2 * (head - alibi.power) + 1) / alibi.power)
        late = Iverson(Ge(head, alibi.power))
        slope = (1 - late) * slope + late * between
    return Tabulated(Lambda((head, p, q), slope * (q - p) * (_scale(a) if alibi.scaled else 1)), a.heads, n, keys)
