r"""Memory of training and decoding: activations, weights and optimiser state, the key-value cache.

Result       a pre-norm layer saves residuals of 34 n d_model + 5 h n^2 bytes, 34 n d_model when attention is
             recomputed, 2 n d_model when the layer is; training by Adam keeps 16 bytes for each parameter; a token
             adds 2 g d_k entries to a cache with g heads of keys and values
Assumes      numbers of 2 bytes and masks of 1; heads of width d_k = d_v = d_model / h; d_ff = 4 d_model; statistics of
             the rows that norms save are not counted unless stated
Units        bytes, or entries where a result says so
Source       Korthikanti et al. (2022); Rajbhandari, Rasley, Ruwase and He (2020); Shazeer (2019); Ainslie et al. (2023)
"""

from sympy import Add, Expr, Ge, Integer, Rational, sqrt

from derivations.attention.grouped_query import cache, g, grouped, r
from derivations.attention.multi_head import W_K, W_O, W_Q, W_V, b_K, b_O, b_Q, b_V, heads, multi_head_attention
from derivations.costs.parameters import HEADS, equal
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import gelu, row_softmax
from derivations.language.counting.costs import Count
from derivations.language.counting.memory_counts import (
    SavedResidualCount,
    partitioned_state_bytes,
    training_state_bytes,
)
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.linear.dropout import dropout
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import N, batch, d_ff, d_k, d_model, d_v, h, i, m, n, scalar
from derivations.transformer.encoder import encoder

__all__ = ["attention_with_dropout", "multi_head_attention_with_dropout", "pre_norm_layer"]

KORTHIKANTI = "Korthikanti et al. (2022), section "
ZERO = "Rajbhandari, Rasley, Ruwase and He (2020), section "
WIDTHS = (*HEADS, equal(d_ff, 4 * d_model))
ATTENTION = "scaled_dot_product_attention_with_dropout"


def attention_with_dropout() -> Layer:
    """Return scaled dot-product attention with dropout of the weights.

    Definition   S = Q K^T / sqrt(d_k), A = softmax of the rows of S, B = dropout(A), O = B V
    Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), mask D (n, m), O (n, d_v)
    Source       Korthikanti et al. (2022), figure 3
    """
    Q, K, V, D = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), mask_array("D", n, m)
    let = Equations()
    S = let("S")(Q @ K.T / sqrt(d_k))
    A = let("A")(row_softmax(S))
    B = let("B")(part("dropout", dropout())(A, D))
    O = let("O")(B @ V)
    return Layer(ATTENTION, (Q, K, V, D), (), let, O)


def multi_head_attention_with_dropout() -> Layer:
    """Return self-attention with h heads and biases; each head has its own dropout mask.

    Definition   head_i = Attention(X W_i^Q + b_i^Q, X W_i^K + b_i^K, X W_i^V + b_i^V; D_i), Y = Concat(head) W^O + b^O
    Shapes       X and Y (n, d_model), masks D (h, n, n), weights as those of multi-head attention
    Source       Korthikanti et al. (2022), figure 3
    """
    X, D = array("X", n, d_model), mask_array("D", h, n, n)
    attention, each = part("attention", attention_with_dropout()), (i, h)
    let = Equations()
    Q, K, V = (
        let(name, over=each)(X @ W[i] + b[i]) for name, W, b in (("Q", W_Q, b_Q), ("K", W_K, b_K), ("V", W_V, b_V))
    )
    head = let("head", over=each)(attention(Q[i], K[i], V[i], D[i]))
    Z = let("Z")(Concatenate(head[i], i, h))
    Y = let("Y")(Z @ W_O + b_O)
    return Layer("multi_head_attention_with_dropout", (X, D), (W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O), let, Y)


@catalogued("pre_norm_layer_with_dropout")
@catalogued("pre_norm_layer", dropping=False)
def pre_norm_layer(*, dropping: bool = True) -> Layer:
    """Return a pre-norm layer with GELU and biases; when `dropping`, with dropout of weights and after sub-layers.

    Definition   Y = X + dropout(MultiHead(LayerNorm(X))), Z = Y + dropout(FFN(LayerNorm(Y)))
    Shapes       X, Y, Z (n, d_model), masks D_A (h, n, n), D_Y and D_Z (n, d_model)
    Source       Korthikanti et al. (2022), figure 2
    """
    X, D_A = array("X", n, d_model), mask_array("D_A", h, n, n)
    D_Y, D_Z = mask_array("D_Y", n, d_model), mask_array("D_Z", n, d_model)

    def dropped(name: str, of: Array, mask: Array) -> Array:
        return part(name, dropout())(of, mask) if dropping else of

    let = Equations()
    L = let("L")(part("attention_norm", layer_norm())(X))
    if dropping:
        A = let("A")(part("self_attention", multi_head_attention_with_dropout())(L, D_A))
    else:
        A = let("A")(part("self_attention", multi_head_attention(biases=True))(L, L, L))
    Y = let("Y")(X + dropped("attention_dropout", A, D_Y))
    M = let("M")(part("feed_forward_norm", layer_norm())(Y))
    F = let("F")(part("feed_forward", feed_forward(gelu))(M))
    Z = let("Z")(Y + dropped("feed_forward_dropout", F, D_Z))
    if dropping:
        return Layer("pre_norm_layer_with_dropout", (X, D_A, D_Y, D_Z), (), let, Z)
    return Layer("pre_norm_layer", (X,), (), let, Z)


with_dropout, without_dropout = pre_norm_layer(), pre_norm_layer(dropping=False)
rows = 4 * n * d_model + 2 * n * h * (d_k + d_v) + 2 * n * d_ff  # numbers that are linear in n
weights = h * n**2  # of attention, in all heads


def saved_residual_bytes(layer: Layer, *recomputed: str) -> Expr:
    """Return the bytes of the residuals that the forward pass of a layer over a batch saves."""
    return SavedResidualCount("saved residual bytes", layer, batch, recomputed)


# --- activations ----------------------------------------------------------------------------------------------------


@result
def activations() -> Derivation:
    """The residuals of the parts add up to 34 bytes for an entry of the input and 5 for each attention weight.

    Linear: 4 for the inputs of the norms, 2 and 4 for those of the projections and of the network, 6 for queries, keys
    and values, 2 for the heads, 16 around the activation, 2 for masks; a weight is saved before and after dropout,
    with its mask. Without dropout 32 and 2.
    """
    return derivation(
        "Bytes of the residuals that a pre-norm layer saves for its backward pass, with dropout and without",
        claim(
            saved_residual_bytes(with_dropout),
            step("count", batch * (2 * rows + 2 * n * d_model + 5 * weights)),
            step("assumption", batch * (34 * n * d_model + 5 * h * n**2)),
            step("algebra", batch * n * d_model * (34 + 5 * h * n / d_model)),
        ),
        claim(
            saved_residual_bytes(without_dropout),
            step("count", batch * (2 * rows + 2 * weights)),
            step("assumption", batch * (32 * n * d_model + 2 * h * n**2)),
        ),
        assuming=WIDTHS,
        source=KORTHIKANTI + "4.1, equation 1",
    )


@result
def attention_share() -> Derivation:
    """The share of the residuals that is quadratic in the length; it is a half at n = 34 d_model / (5 h)."""
    of_weights = 5 * batch * weights
    return derivation(
        "The share of the attention weights, their masks and what is left of them in the saved residuals of a layer",
        claim(
            of_weights / saved_residual_bytes(with_dropout),
            step("assumption", 5 * h * n / (34 * d_model + 5 * h * n)),
        ),
        claim(
            5 * h * n / (34 * d_model + 5 * h * n),
            step("assumption", Rational(1, 2)),
            given=(equal(n, 34 * d_model / (5 * h)),),
        ),
        assuming=WIDTHS,
        source=KORTHIKANTI + "5",
    )


@result
def selective_recomputation() -> Derivation:
    """If scores, softmax, dropout and weighted sums are recomputed, no saved residual is quadratic in n.

    For GPT-3 (h = 96, n = 2048, d_model = 12288) 40/57 of the memory is freed, for MT-NLG (128, 2048, 20480) 32/49.
    """
    left, freed = saved_residual_bytes(with_dropout, ATTENTION), 5 * h * n / (34 * d_model + 5 * h * n)

    def model(number: int, width: int) -> tuple[Assumption, ...]:
        return (equal(h, number), equal(n, 2048), equal(d_model, width))

    return derivation(
        "A pre-norm layer whose attention is recomputed saves residuals of $34 n d_model$ bytes",
        claim(
            left,
            step("count", batch * (2 * rows + 2 * n * d_model)),
            step("assumption", 34 * batch * n * d_model),
        ),
        claim(1 - left / saved_residual_bytes(with_dropout), step("assumption", freed)),
        claim(freed, step("assumption", Rational(40, 57)), given=model(96, 12288)),
        claim(freed, step("assumption", Rational(32, 49)), given=model(128, 20480)),
        assuming=WIDTHS,
        source=KORTHIKANTI + "5",
    )


@result
def full_recomputation() -> Derivation:
    """A recomputed layer saves only its input; so does each layer of a stack."""
    X = array("X", n, d_model)
    let = Equations()
    Z = let("Z")(part("layers", without_dropout, count=N)(X))
    stack = Layer("pre_norm_stack", (X,), (), let, Z)
    return derivation(
        "A layer that is recomputed saves its input, $2 n d_model$ bytes; $N$ layers save $N$ times what one saves",
        claim(saved_residual_bytes(with_dropout, with_dropout.name), step("count", 2 * batch * n * d_model)),
        claim(saved_residual_bytes(stack), step("count", N * saved_residual_bytes(without_dropout))),
        claim(saved_residual_bytes(stack, "layers"), step("count", 2 * batch * N * n * d_model)),
        source=KORTHIKANTI + "5, table 2",
    )


@result
def norm_statistics() -> Derivation:
    """Each of the two norms saves a mean and a variance for each row, which the formulas omit."""
    statistics = SavedResidualCount("saved residual statistics", with_dropout, batch)
    return derivation(
        "What the norms of a layer save of its rows: 4 numbers for each, $4/(17 d_model)$ of the rest without "
        "attention",
        claim(statistics, step("count", 4 * batch * n)),
        claim(2 * statistics / saved_residual_bytes(with_dropout, ATTENTION), step("assumption", 4 / (17 * d_model))),
        assuming=WIDTHS,
        source=KORTHIKANTI + "4.1",
    )


@result
def checkpoints() -> Derivation:
    """Saving inputs of c bytes every s of N layers of a bytes needs least memory at s = sqrt(N c / a)."""
    c, a, s = (scalar(name, positive=True) for name in ("c", "a", "s"))  # bytes of an input, of a layer; segment
    needed = N * c / s + s * a
    return derivation(
        "With an input of $c$ bytes saved every $s$ of $N$ layers of $a$ bytes each, no less than $2 sqrt(N c "
        "a)$ are needed",
        # the inequality of arithmetic and geometric means
        claim(needed, step("bound", 2 * sqrt(N * c * a), ">=", (sqrt(N * c / s) - sqrt(s * a)) ** 2)),
        claim(needed, step("assumption", 2 * sqrt(N * c * a)), given=(equal(s, sqrt(N * c / a)),)),
        source="Chen, Xu, Zhang and Guestrin (2016), section 4",
    )


# --- weights and their optimiser ------------------------------------------------------------------------------------


@result
def training_state() -> Derivation:
    """Adam in mixed precision: weight and gradient of 2 bytes, a copy of the weight and two moments of 4 bytes each."""
    p = Count("parameters", encoder())
    mixed = Add(2 * p, 2 * p, 4 * p, 4 * p, 4 * p, evaluate=False)
    finer = Add(2 * p, 4 * p, 4 * p, 4 * p, 4 * p, evaluate=False)
    return derivation(
        "Training in mixed precision takes 16 bytes for each parameter, 18 with gradients of 4 bytes",
        claim(
            mixed,
            step("count", training_state_bytes(p)),
            step("assumption", 48 * N * d_model * (4 * d_model + 3)),
        ),
        claim(finer, step("count", training_state_bytes(p, gradients=4))),
        assuming=WIDTHS,
        source=ZERO + "3.1",
    )


@result
def partitioned_state() -> Derivation:
    """Each of D devices keeps over 1/4 of the state with moments divided, over 1/8 with gradients too, 1/D with all.

    Of 7.5 billion parameters on 64 devices: 31.4, 16.6 and 1.9 GB instead of 120.
    """
    p, D = scalar("p", positive=True), scalar("D", positive=True)
    stages = [partitioned_state_bytes(p, D, stage=stage) for stage in range(4)]
    billions = (equal(p, 75 * 10**8), equal(D, 64))
    gigabytes = (Integer(120), Rational(1005, 32), Rational(1065, 64), Rational(15, 8))
    return derivation(
        "The state of training on each of $D$ devices, with moments divided, gradients too, and weights too",
        claim(stages[1], step("bound", 4 * p, ">", 12 * p / D)),
        claim(stages[2], step("bound", 2 * p, ">", 14 * p / D)),
        *(
            claim(state / 10**9, step("assumption", value), given=billions)
            for state, value in zip(stages, gigabytes, strict=True)
        ),
        source=ZERO + "5 and figure 1",
    )


# --- the key-value cache --------------------------------------------------------------------------------------------


@result
def key_value_cache() -> Derivation:
    """Every token adds its keys and values in every layer: 2 h d_k numbers, 2 g d_k in g groups, 2 d_k with one."""
    per_token = cache(grouped) / m
    one = cache(grouped.xreplace({g: Integer(1)})) / m
    return derivation(
        "Numbers in the key-value cache of a layer for each token: multi-head, grouped-query, multi-query attention",
        claim(cache(heads) / m, step("algebra", h * (d_k + d_v)), step("assumption", 2 * h * d_k)),
        claim(per_token, step("algebra", g * (d_k + d_v)), step("assumption", 2 * g * d_k)),
        claim(one, step("algebra", d_k + d_v), step("assumption", 2 * d_k)),
        claim(cache(grouped) / cache(heads), step("algebra", g / h)),
        claim(g / h, step("assumption", 1 / r), given=(equal(h, g * r),)),
        assuming=(equal(d_v, d_k),),
        source="Shazeer (2019), section 3; Ainslie et al. (2023), section 2.2",
    )


@result
def cache_against_weights() -> Derivation:
    """The cache of long sequences exceeds the weights. For one sequence n must be a little over 6 d_model."""
    layers, stored = Count("parameters", encoder()), batch * N * cache(heads.xreplace({m: n}))
    long = Assumption(Ge(2 * batch * n, 12 * d_model + 10), {}, "the sequences of the batch are long")
    return derivation(
        "The cache of a batch against the weights of $N$ layers: larger when $2 batch n >= 12 d_model + 10$",
        claim(stored / layers, step("assumption", 2 * batch * n / (12 * d_model + 9))),
        claim(
            2 * batch * n / (12 * d_model + 9),
            step("bound", 1, ">", (2 * batch * n - 12 * d_model - 10) / (12 * d_model + 9) + 1 / (12 * d_model + 9)),
            given=(long,),
        ),
        assuming=WIDTHS,
        source="Pope et al. (2022), section 2",
    )
