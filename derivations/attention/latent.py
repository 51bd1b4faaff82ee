r"""Multi-head latent attention: keys and values of all heads are computed from one short vector for each position.

Definition   c_Q = RMSNorm(X W_DQ), c_KV = RMSNorm(X W_DKV), K_R = RoPE(X W_KR); Q_i = c_Q W_i^UQ,
             Q_i^R = RoPE(c_Q W_i^QR), K_i = c_KV W_i^UK, V_i = c_KV W_i^UV;
             S_i = (Q_i K_i^T + Q_i^R K_R^T) / sqrt(d_k + d_r), Y = Concat(softmax(S_i) V_i) W^O
Result       a head is plain attention on d_k + d_r columns; keys and values need not be computed: every head may read
             the latent itself, so that a cache holds r_KV + d_r numbers for each position, for every h
Shapes       X (n, d_model), c_Q (n, r_Q), c_KV (n, r_KV), Q_i and K_i (n, d_k), Q_i^R and K_R (n, d_r), V_i (n, d_v)
Assumes      d_r even
Source       DeepSeek-AI (2024), DeepSeek-V2, section 2.1
"""

from sympy import Eq, Expr, Lambda, Mod, Rational, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import heads as plain_heads
from derivations.attention.multi_head_costs import renamed
from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated, column_block
from derivations.language.arrays.expression import Array, array, mask_array, require
from derivations.language.arrays.functions import Hadamard, row_softmax
from derivations.language.arrays.routing import TopKMask
from derivations.language.arrays.rows import Stacked
from derivations.language.arrays.shapes import Blocks
from derivations.language.counting.costs import Count
from derivations.language.counting.operations import entries
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.rotary import rotary_embedding
from derivations.symbols import batch, d_k, d_model, d_v, epsilon, h, i, index, m, n, pos, size

__all__ = ["SCALE", "d_r", "k_I", "latent_attention", "latent_head", "r_KV", "r_Q"]

TOPIC = "multi_head"

DEEPSEEK = "DeepSeek-AI (2024), DeepSeek-V2, section 2.1"
V3_REPORT = "DeepSeek-AI (2024), DeepSeek-V3 technical report, section 4.2"
k_I = size("k_I")  # the keys that an indexer chooses for a position
r_Q, r_KV, d_r = size("r_Q"), size("r_KV"), size("d_r")  # widths of the latent vectors and of the rotated columns
SCALE = 1 / sqrt(d_k + d_r)
X, I, M = array("X", n, d_model), array("I", n, n), mask_array("M", n, n)
W_DQ, W_UQ, W_QR = array("W_DQ", d_model, r_Q), array("W_UQ", h, r_Q, d_k), array("W_QR", h, r_Q, d_r)
W_DKV, W_KR = array("W_DKV", d_model, r_KV), array("W_KR", d_model, d_r)
W_UK, W_UV, W_O = array("W_UK", h, r_KV, d_k), array("W_UV", h, r_KV, d_v), array("W_O", Blocks(h, d_v), d_model)
column = index("c")
W_Q, W_R = array("W_Q", h, d_model, d_k), array("W_R", h, d_model, d_r)  # for queries computed from X


def latent_head(*, masked: bool = False, scale: Expr = SCALE, latent: bool = False) -> Layer:
    """Return one head: scores from the columns with and without position, weights, and the weighted sum of values.

    Definition   S = (Q K^T + Q_R K_R^T) times the scale, A = softmax of the rows of S, O = A V
    Shapes       Q and K (n, d_k), Q_R and K_R (n, d_r), V and O (n, d_v), mask M (n, n); when `latent`, keys and values
                 are the latent vectors, and d_k and d_v are r_KV
    """
    columns, of_values = (r_KV, r_KV) if latent else (d_k, d_v)
    Q, Q_R, K = array("Q", n, columns), array("Q_R", n, d_r), array("K", n, columns)
    K_R, V = array("K_R", n, d_r), array("V", n, of_values)
    let = Equations()
    S = let("S")((Q @ K.T + Q_R @ K_R.T) * scale)
    A = let("A")(row_softmax(S, M if masked else None))
    O = let("O")(A @ V)
    name = "masked_latent_head" if masked else "latent_head"
    return Layer(name, (Q, Q_R, K, K_R, V, *([M] if masked else [])), (), let, O)


@catalogued("sparse_latent_attention", masked=True, sparse=True)
@catalogued("masked_latent_attention", masked=True)
@catalogued
def latent_attention(
    *,
    masked: bool = False,
    latent_queries: bool = True,
    absorbed: bool = False,
    halves: bool = False,
    rotary: Layer | None = None,
    rotated: bool = True,
    eps: Expr | int = epsilon,
    scale: Expr = SCALE,
    sparse: bool = False,
    indexer: Layer | None = None,
    growth: Expr | None = None,
) -> Layer:
    """Return multi-head latent attention; without `latent_queries` the queries are computed from X itself.

    When `absorbed`, no keys and values are computed: S_i = (Q_i W_i^UK^T c_KV^T + Q_i^R K_R^T) times the scale, and
    head i is (softmax(S_i) c_KV) W_i^UV, as in a step of decoding. `rotary` is the rotary embedding; the default is
    the usual one, which pairs `halves` or neighbours; if not `rotated`, the columns that all heads share stay as they
    are. `eps` is the epsilon of the norms.
    When `sparse`, a position attends to the k_I visible keys with the largest scores I, which are given, or computed
    by an `indexer`, a layer from X and c_Q. Queries are multiplied by the `growth` of their position `pos`, if there is
    one: c_Q is, or the copy of X that they are computed from.

    Definition   as in the docstring of the module
    Shapes       X and Y (n, d_model), mask M (n, n), W_DQ (d_model, r_Q), W_UQ (h, r_Q, d_k), W_QR (h, r_Q, d_r),
                 W_DKV (d_model, r_KV), W_KR (d_model, d_r), W_UK (h, r_KV, d_k), W_UV (h, r_KV, d_v),
                 W_O (h d_v, d_model)
    Source       DeepSeek-AI (2024), DeepSeek-V2, equations 37 to 47
    """
    turned = part("rotary", rotary or rotary_embedding(halves=halves)) if rotated else lambda rows: rows
    attend, heads = part("attention", latent_head(masked=masked, scale=scale, latent=absorbed)), (i, h)
    mask: list[Array] = [M] if masked else []
    let = Equations()
    if latent_queries:
        source = let("c_Q")(part("query_norm", rms_norm(eps))(X @ W_DQ))
        queries = [W_DQ, W_UQ, W_QR]
    else:
        source, queries = X, [W_Q, W_R]
    if sparse:
        require(
            masked, lambda: "latent attention: the keys of sparse attention are chosen among those that a mask shows"
        )
        require(
            indexer is None or latent_queries,
            lambda: "latent attention: an indexer reads the latent of the queries, and there is none",
        )
        scores = I if indexer is None else let("I")(part("indexer", indexer)(X, source))
        mask = [let("M_I")(TopKMask(scores, M, k_I))]
    if growth is not None:  # a factor of a row commutes with the products and the rotation after it
        source = let("c_grown")(Hadamard(source, Tabulated(Lambda((pos, column), growth), *source.shape)))
    Q = let("Q", over=heads)(source @ queries[-2][i])
    R_Q = let("R_Q", over=heads)(source @ queries[-1][i])
    Q_R = let("Q_R", over=heads)(turned(R_Q[i]))
    c_KV = let("c_KV")(part("key_value_norm", rms_norm(eps))(X @ W_DKV))
    K_R = let("K_R")(turned(let("R_K")(X @ W_KR)))
    if absorbed:
        U = let("U", over=heads)(Q[i] @ W_UK[i].T)
        C = let("C", over=heads)(attend(U[i], Q_R[i], c_KV, K_R, c_KV, *mask))
        head = let("head", over=heads)(C[i] @ W_UV[i])
    else:
        K = let("K", over=heads)(c_KV @ W_UK[i])
        V = let("V", over=heads)(c_KV @ W_UV[i])
        head = let("head", over=heads)(attend(Q[i], Q_R[i], K[i], K_R, V[i], *mask))
    Z = let("Z")(Concatenate(head[i], i, h))
    Y = let("Y")(Z @ W_O)
    of_all = "masked_latent_attention" if masked else "latent_attention"
    name = "sparse_latent_attention" if sparse else of_all
    parameters = (*queries, W_DKV, W_KR, W_UK, W_UV, W_O)
    given = [*([I] if sparse and indexer is None else []), *([M] if masked else [])]
    return Layer(name, (X, *given), parameters, let, Y)


# --- one head -------------------------------------------------------------------------------------------------------

DIRECT = renamed(latent_attention(latent_queries=False), "latent_attention_with_full_queries")
plain, absorbed = latent_attention(), renamed(latent_attention(absorbed=True), "absorbed_latent_attention")
c_Q, Q, Q_R, c_KV, K_R, K, V, head, Y = (
    plain.equation(name).variable for name in ("c_Q", "Q", "Q_R", "c_KV", "K_R", "K", "V", "head", "Y")
)
EVEN = Assumption(Eq(Mod(d_r, 2), 0, evaluate=False), {}, "turned columns stand in pairs")


def of_names(layer: Layer, *names: str) -> tuple[Equation, ...]:
    """Return the equations of a layer that have the given names. Variables of other equations are arbitrary arrays."""
    return tuple(map(layer.equation, names))


def column_concatenation(left: Array, right: Array) -> Array:
    """Return the columns of one matrix followed by those of another: [A B]."""
    return Stacked(left.T, right.T).T


@result
def latent_definition() -> Derivation:
    """Every head reads keys and values computed from the same latent, and the one rotated key of each position."""
    attended = latent_head().result(Q[i], Q_R[i], c_KV @ W_UK[i], K_R, c_KV @ W_UV[i])
    return derivation(
        "Latent attention: the keys and values of all heads are made from one short vector for each position",
        claim(head[i], step("definition", attended)),
        claim(Y, step("definition", Concatenate(head[i], i, h) @ W_O)),
        about=of_names(plain, "K", "V", "head", "Z", "Y"),
        ranges={i: h},
        assuming=[EVEN],
        source=DEEPSEEK,
    )


@result
def latent_scores() -> Derivation:
    """Rotated and unrotated columns are concatenated: two products, one head."""
    layer = latent_head()
    Q, Q_R, K, K_R, V = layer.inputs
    wide = scaled_dot_product_attention().at(d_k=d_k + d_r, m=n)
    return derivation(
        "A latent head is scaled dot-product attention on $d_k + d_r$ columns, of which $d_r$ are turned",
        claim(
            array("S", n, n),
            step("definition", (Q @ K.T + Q_R @ K_R.T) * SCALE),
            step("block product", (column_concatenation(Q, Q_R) @ column_concatenation(K, K_R).T) * SCALE),
        ),
        claim(
            layer.output,
            step("block product", wide.result(column_concatenation(Q, Q_R), column_concatenation(K, K_R), V)),
        ),
        about=layer,
        source="DeepSeek-AI (2024), DeepSeek-V2, equations 40 to 46",
    )


@result
def latent_absorbed() -> Derivation:
    """The key weights can multiply the queries instead, and the value weights can multiply the weighted sum.

    Every head then reads the same latent, as if it were one head of r_KV + d_r columns for keys and r_KV for values.
    """
    A, rows = array("A", h, n, n), column_block(W_O.T, i).T
    own = latent_head().result(Q[i], Q_R[i], K[i], K_R, V[i])
    shared = latent_head(latent=True).result(Q[i] @ W_UK[i].T, Q_R[i], c_KV, K_R, c_KV)
    return derivation(
        "Absorbed latent attention: keys and values need not be made, every head reads the latent itself",
        claim(
            (c_Q @ W_UQ[i]) @ K[i].T,
            step("definition", (c_Q @ W_UQ[i]) @ (c_KV @ W_UK[i]).T),
            step("transpose of a product", (c_Q @ W_UQ[i]) @ (W_UK[i].T @ c_KV.T)),
            step("associativity", (c_Q @ (W_UQ[i] @ W_UK[i].T)) @ c_KV.T),
        ),
        claim(own, step("associativity", shared @ W_UV[i])),
        claim(
            Concatenate(A[i] @ V[i], i, h) @ W_O,
            step("block product", SumOver((A[i] @ V[i]) @ rows, i, h)),
            step("definition", SumOver((A[i] @ (c_KV @ W_UV[i])) @ rows, i, h)),
            step("associativity", SumOver((A[i] @ c_KV) @ (W_UV[i] @ rows), i, h)),
        ),
        about=of_names(plain, "K", "V"),
        ranges={i: h},
        assuming=[EVEN],
        source="DeepSeek-AI (2024), DeepSeek-V2, section 2.1.2",
    )


# --- costs ----------------------------------------------------------------------------------------------------------


def cached(layer: Layer, *names: str) -> Expr:
    """Return the number of entries that a cache holds for each position, from the shapes of some arrays of a layer."""
    return sum(entries(layer.shapes[name]) for name in names) / n


V3 = {d_model: 7168, h: 128, d_k: 128, d_v: 128, r_Q: 1536, r_KV: 512, d_r: 64}  # the sizes of DeepSeek-V3
OF_V3 = tuple(Assumption(Eq(symbol, value)) for symbol, value in V3.items())


@result
def latent_cache() -> Derivation:
    """A latent and a rotated key instead of keys and values of every head: 576 numbers, not 40960, in DeepSeek-V3."""
    own = plain_heads.xreplace({m: n, d_k: d_k + d_r})
    kept, instead = cached(plain, "c_KV", "K_R"), cached(own, "K", "V")
    return derivation(
        "The cache of latent attention holds $r_KV + d_r$ numbers a position, whatever the number of heads",
        claim(kept, step("algebra", r_KV + d_r), step("assumption", 576), given=OF_V3),
        claim(instead, step("algebra", h * (d_k + d_r + d_v)), step("assumption", 40960), given=OF_V3),
        claim(instead / kept, step("algebra", h * (d_k + d_r + d_v) / (r_KV + d_r))),
        claim(instead / kept, step("assumption", Rational(640, 9)), given=OF_V3),
        source=V3_REPORT,
    )


@result
def latent_parameters() -> Derivation:
    """Maps to and from the latent replace one map from X to every head. Absorption keeps the number of weights."""
    queries = d_model * r_Q + r_Q + h * r_Q * (d_k + d_r)
    keys_and_values = d_model * (r_KV + d_r) + r_KV + h * r_KV * (d_k + d_v)
    count, direct = Count("parameters", plain), Count("parameters", DIRECT)
    return derivation(
        "Parameters of latent attention: two maps through a latent for queries, and for keys and values together",
        claim(count, step("count", queries + keys_and_values + h * d_v * d_model)),
        claim(count, step("assumption", 187107328), given=OF_V3),
        claim(Count("parameters", absorbed), step("count", count)),
        claim(count - direct, step("count", queries - h * d_model * (d_k + d_r))),
        source=V3_REPORT,
    )


@result
def latent_flops() -> Derivation:
    """Absorption computes no keys or values, but the products for each pair of positions then have r_KV columns."""
    projections = d_model * (r_Q + r_KV + d_r) + h * (r_Q * (d_k + d_r) + r_KV * (d_k + d_v) + d_v * d_model)
    count, without_keys = (Count("matmul FLOPs", layer, batch) for layer in (plain, absorbed))
    return derivation(
        "FLOPs of latent attention: its maps, and $d_k + d_r + d_v$ multiply-adds for each pair of positions and head",
        claim(count, step("count", 2 * batch * (n * projections + h * n**2 * (d_k + d_r + d_v)))),
        claim(without_keys - count, step("count", 2 * batch * h * n**2 * (2 * r_KV - d_k - d_v))),
        assuming=[EVEN],
        source=DEEPSEEK,
    )
