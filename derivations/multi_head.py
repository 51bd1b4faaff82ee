r"""Multi-head attention: heads as column blocks, how W^O mixes them, and what h heads cost.

Definition   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V), Y = Concat(head_1, ..., head_h) W^O
Result       Y = sum_i head_i W_i^O; with d_k = d_v = d_model / h: 4 d_model^2 parameters, and the products of h heads
             cost as many FLOPs as those of one head of width d_model
Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), head_i (n, d_v), W^O (h d_v, d_model), Y (n, d_model)
Assumes      h divides d_model where d_k = d_v = d_model / h
Source       Vaswani et al. (2017), section 3.2.2
"""

from sympy import Eq, Integer, KroneckerDelta, Lambda, Sum, symbols

from derivations.attention import scaled_dot_product_attention
from derivations.language.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.costs import Count
from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import array, mask_array
from derivations.language.layer import Equation, Equations, Layer, part
from derivations.language.shapes import Blocks
from derivations.language.statements import Conformable
from derivations.symbols import d_k, d_model, d_v, h, i, index, j, m, n

__all__ = ["multi_head_attention"]

SECTION = "Vaswani et al. (2017), section 3.2.2"
X_Q, X_K, X_V, M = array("X_Q", n, d_model), array("X_K", m, d_model), array("X_V", m, d_model), mask_array("M", n, m)
W_Q, W_K, W_V = array("W_Q", h, d_model, d_k), array("W_K", h, d_model, d_k), array("W_V", h, d_model, d_v)
W_O = array("W_O", Blocks(h, d_v), d_model)
b_Q, b_K, b_V, b_O = array("b_Q", h, d_k), array("b_K", h, d_k), array("b_V", h, d_v), array("b_O", d_model)
r, c = index("r"), index("c")  # a row, a column


def multi_head_attention(*, masked: bool = False, biases: bool = False) -> Layer:
    """Return attention with h heads, each with projections of its own.

    Definition   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V), Y = Concat(head_1, ..., head_h) W^O
    Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q and W_K (h, d_model, d_k), W_V (h, d_model, d_v),
                 W_O (h d_v, d_model), mask M (n, m), Y (n, d_model); biases b_Q, b_K (h, d_k), b_V (h, d_v), b_O
    Source       Vaswani et al. (2017), section 3.2.2
    """
    attention = part("attention", scaled_dot_product_attention(masked=masked))
    heads = (i, h)

    let = Equations()
    Q = let("Q", over=heads)(X_Q @ W_Q[i] + b_Q[i] if biases else X_Q @ W_Q[i])
    K = let("K", over=heads)(X_K @ W_K[i] + b_K[i] if biases else X_K @ W_K[i])
    V = let("V", over=heads)(X_V @ W_V[i] + b_V[i] if biases else X_V @ W_V[i])
    head = let("head", over=heads)(attention(Q[i], K[i], V[i], *([M] if masked else [])))
    projected = let("Z")(Concatenate(head[i], i, h))
    Y = let("Y")(projected @ W_O + b_O if biases else projected @ W_O)
    return Layer(
        "masked_multi_head_attention" if masked else "multi_head_attention",
        (X_Q, X_K, X_V, *([M] if masked else [])),
        (W_Q, W_K, W_V, W_O, *([b_Q, b_K, b_V, b_O] if biases else [])),
        let,
        Y,
    )


heads = multi_head_attention()
Q, K, V, head, Z, Y = (equation.variable for equation in heads.equations)
concatenated = Concatenate(head[i], i, h)


def equations() -> tuple[Equation, ...]:
    """Return the equations of the layer with the concatenation written where it is used."""
    return (*heads.until("head").equations, Equation(Y, heads.equation("Y").value.xreplace({Z: concatenated})))


# --- heads ----------------------------------------------------------------------------------------------------------


@result
def definition() -> Derivation:
    """Multi-head attention: h outputs side by side, mixed by W^O."""
    return derivation(
        "Definition of multi-head attention",
        claim(Y, step("definition", concatenated @ W_O)),
        about=equations(),
        source=SECTION,
    )


@result
def one_head() -> Derivation:
    """One head is attention on projections of its own; what is projected has width d_model."""
    projected = array("Q", n, d_k)
    attention = scaled_dot_product_attention()
    return derivation(
        "Head i is Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V); queries of width d_k fit W_i^Q only if d_k = d_model",
        claim(
            head[i],
            step("definition", attention.result(Q[i], K[i], V[i])),
            step("definition", attention.result(X_Q @ W_Q[i], X_K @ W_K[i], X_V @ W_V[i])),
        ),
        claim(Conformable(projected, W_Q[i]), step("shape", Eq(d_k, d_model), "iff")),
        about=heads.until("head"),
        ranges={i: h},
        source=SECTION,
    )


@result
def split() -> Derivation:
    """The heads split one wide projection: what is cut into blocks is X W^Q, each block of which reads all of X."""
    wide = Concatenate(W_Q[i], i, h)
    return derivation(
        "The queries of head i are block i of the columns of X_Q [W_1^Q ... W_h^Q]",
        claim(column_block(X_Q @ wide, i), step("block product", X_Q @ W_Q[i]), step("definition", Q[i])),
        claim(X_Q @ wide, step("block product", Concatenate(Q[i], i, h))),
        about=heads.until("head"),
        ranges={i: h},
        source=SECTION,
    )


@result
def concat_index() -> Derivation:
    """Head i owns d_v columns, those of block i."""
    unit = Tabulated(Lambda((c,), KroneckerDelta(c, d_v * i + j)), h * d_v)
    return derivation(
        "Column j of head i is column (i - 1) d_v + j of Concat(head_1, ..., head_h)",
        claim(column_block(concatenated, i), step("definition", head[i])),
        claim((concatenated @ unit)[r], step("Kronecker delta", head[i, r, j])),
        ranges={i: h, r: n, j: d_v},
        source=SECTION,
    )


@result
def concat_index_of_width_64() -> Derivation:
    """With d_v = 64, head 1 owns the columns 1 to 64, head 2 the columns 65 to 128."""
    eight = array("head", 8, n, 64)
    unit = Tabulated(Lambda((c,), KroneckerDelta(c, 64 * i + j)), 512)
    return derivation(
        "With eight heads of width 64, head i is in the columns 64 (i - 1) + 1 to 64 i of the concatenation",
        claim((Concatenate(eight[i], i, 8) @ unit)[r], step("Kronecker delta", eight[i, r, j])),
        ranges={i: Integer(8), r: n, j: Integer(64)},
        source=SECTION,
    )


@result
def concat_is_sum() -> Derivation:
    """W^O adds up what the heads say, each through its own rows: no product of two heads occurs."""
    rows = column_block(W_O.T, i).T
    h_1, h_2, w_11, w_12, w_21, w_22 = symbols("h_1 h_2 w_11 w_12 w_21 w_22", real=True)
    mixed = Explicit([[h_1 * w_11 + h_2 * w_21, h_1 * w_12 + h_2 * w_22]])
    return derivation(
        "Concat(head_1, ..., head_h) W^O = sum_i head_i W_i^O, W_i^O being block i of the rows of W^O",
        claim(
            concatenated @ W_O,
            step("block product", Tabulated(Lambda((r, c), Sum((head[i] @ rows)[r, c], (i, 0, h - 1))), n, d_model)),
        ),
        claim(
            Explicit([[h_1, h_2]]) @ Explicit([[w_11, w_12], [w_21, w_22]]),
            step("matrix product", mixed),
        ),
        source=SECTION,
    )


# --- sizes and costs ------------------------------------------------------------------------------------------------

SHARED_WIDTH = (
    Assumption(Eq(d_k, d_model / h, evaluate=False), {}, "h divides d_model"),
    Assumption(Eq(d_v, d_model / h, evaluate=False)),
)
BASE = (Assumption(Eq(d_model, 512)), Assumption(Eq(h, 8)))


def renamed(layer: Layer, name: str) -> Layer:
    """Return the same layer under a name of its own."""
    return Layer(name, *layer.args[1:])


@result
def head_width() -> Derivation:
    """The width of a head in the base model: 512 / 8 = 64; the concatenation fits W^O when h d_v = d_model."""
    return derivation(
        "A head of the base model has width d_model / h = 512 / 8 = 64",
        claim(d_k, step("assumption", d_model / h), step("assumption", 64), given=(*SHARED_WIDTH, *BASE)),
        claim(h * d_v, step("assumption", d_model), step("assumption", 512), given=(*SHARED_WIDTH, *BASE)),
        claim(
            Conformable(concatenated, array("W", d_model, d_model)),
            step("shape", Eq(h * d_v, d_model), "iff"),
        ),
        source=SECTION,
    )


@result
def parameters() -> Derivation:
    """Four matrices of d_model^2 weights when the heads share the width of the model: 1,048,576 in the base model."""
    with_biases = renamed(multi_head_attention(biases=True), "biased_multi_head_attention")
    count = Count("parameters", heads)
    return derivation(
        "Parameters of multi-head attention: 4 d_model^2 when d_k = d_v = d_model / h",
        claim(
            count,
            step("count", h * d_model * (2 * d_k + d_v) + h * d_v * d_model),
            step("algebra", 2 * h * d_model * (d_k + d_v)),
        ),
        claim(count, step("assumption", 4 * d_model**2), given=SHARED_WIDTH),
        claim(count, step("assumption", 1048576), given=(*SHARED_WIDTH, *BASE)),
        claim(
            Count("parameters", with_biases),
            step("count", count + h * (2 * d_k + d_v) + d_model),
        ),
        source=SECTION,
    )


@result
def one_head_cost() -> Derivation:
    """A head of width d_model / h costs 1/h of what a head of width d_model costs, in products."""
    alone = heads.until("head").at(h=1)
    narrow = Count("matmul FLOPs", renamed(alone, "one_head"))
    wide = Count("matmul FLOPs", renamed(alone, "one_wide_head").xreplace({d_k: d_model, d_v: d_model}))
    return derivation(
        "The products of one head of width d_model / h cost 1/h of those of one head of width d_model",
        claim(
            narrow,
            step("count", 2 * d_model * (n * d_k + m * d_k + m * d_v) + 2 * n * m * (d_k + d_v)),
            step("assumption", (2 * (n + 2 * m) * d_model**2 + 4 * n * m * d_model) / h),
            step("count", wide / h),
        ),
        assuming=SHARED_WIDTH,
        source=SECTION,
    )


@result
def cost_equals_one_head() -> Derivation:
    """Products cost the same in h heads as in one; softmax and scaling are done h times, on n m scores each time."""
    one = renamed(heads.at(h=1), "single_head_attention").xreplace({d_k: d_model, d_v: d_model})
    total, softmax, products = "FLOPs", "softmax FLOPs", "matmul FLOPs"
    return derivation(
        "The products of h heads cost what those of one head of width d_model cost; softmax costs h times as much",
        claim(
            Count(products, heads),
            step("count", 2 * h * d_model * (n + m) * (d_k + d_v) + 2 * h * n * m * (d_k + d_v)),
            step("assumption", 4 * (n + m) * d_model**2 + 4 * n * m * d_model),
            step("count", Count(products, one)),
        ),
        claim(Count(softmax, heads), step("count", 5 * h * n * m), step("count", h * Count(softmax, one))),
        claim(Count(total, heads) - Count(total, one), step("assumption", 6 * (h - 1) * n * m)),
        assuming=SHARED_WIDTH,
        source=SECTION,
    )
