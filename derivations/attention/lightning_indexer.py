r"""Sparse attention by a lightning indexer: a small layer scores all keys, and attention reads the best k of them.

Definition   q_i = [c_Q W_i^Q, RoPE(c_Q W_i^R)], [k_R, k] = LayerNorm(X W^K), w = X W_w;
             I_ts = sum_{i=1}^{h_I} w_ti ReLU(q_ti . [k_s, RoPE(k_R)_s]);
             position t attends to the k_I visible positions s with the largest I_ts
Result       only the order of the scores matters: a positive factor of all of them changes nothing; with k_I >= n all
             visible keys are chosen, and the layer is latent attention
Shapes       X (n, d_model), c_Q (n, r_Q), q_i and k (n, d_r + d_P), w (n, h_I), I and the mask (n, n)
Assumes      d_r even; the indexer gets no gradient of the attention, for the choice is constant between ties
Source       DeepSeek-AI (2025), DeepSeek-V3.2, section 2.1, equations 1 and 2; columns and norm as in the released code
"""

from sympy import Expr, Ge, Gt, Lt, Max, Sum

from derivations.attention.latent import EVEN, d_r, k_I, r_Q
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import relu
from derivations.language.arrays.routing import TopKMask
from derivations.language.arrays.scalars import Iverson
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.rotary import rotary_embedding
from derivations.symbols import d_model, epsilon, i, index, j, n, scalar, size

__all__ = ["d_P", "h_I", "lightning_indexer"]

TOPIC = "multi_head"

SOURCE = "DeepSeek-AI (2025), DeepSeek-V3.2, section 2.1"
h_I, d_P = size("h_I"), size("d_P")  # heads of the indexer, and their columns that are not rotated
X, c_Q, M = array("X", n, d_model), array("c_Q", n, r_Q), mask_array("M", n, n)
W_Q, W_R = array("W_Q", h_I, r_Q, d_P), array("W_R", h_I, r_Q, d_r)
W_K, W_w = array("W_K", d_model, d_r + d_P), array("W_w", d_model, h_I)
p, q = index("p"), index("q")  # a position, and that of a key


@catalogued
def lightning_indexer(*, rotary: Layer | None = None, eps: Expr | int = epsilon) -> Layer:
    """Return the scores by which every position chooses the keys that it attends to.

    The first d_r columns of queries and keys are rotated, by `rotary` (halves by default); `eps` is that of the norm.

    Definition   as in the docstring of the module, without the factors of the released code, which change no choice
    Shapes       X (n, d_model), c_Q (n, r_Q), W_Q (h_I, r_Q, d_P), W_R (h_I, r_Q, d_r), W_K (d_model, d_r + d_P),
                 W_w (d_model, h_I), I (n, n)
    Source       DeepSeek-AI (2025), DeepSeek-V3.2, equation 1
    """
    turned, heads = part("rotary", rotary or rotary_embedding(halves=True)), (i, h_I)
    let = Equations()
    Q = let("Q", over=heads)(c_Q @ W_Q[i])
    R_Q = let("R_Q", over=heads)(c_Q @ W_R[i])
    Q_R = let("Q_R", over=heads)(turned(R_Q[i]))
    normed = let("K_norm")(part("key_norm", layer_norm(eps))(X @ W_K))
    K_R = let("K_R")(turned(let("R_K")(ColumnRange(normed, 0, d_r))))
    K = let("K")(ColumnRange(normed, d_r, d_P))
    w = let("w")(X @ W_w)
    S = let("S", over=heads)(Q[i] @ K.T + Q_R[i] @ K_R.T)
    R = let("R", over=heads)(relu(S[i]))
    I = let("I")(contraction((p, q), (n, n), [(i, h_I)], 1, operand_of(w, (p, i)), operand_of(R, (i, p, q))))
    return Layer("lightning_indexer", (X, c_Q), (W_Q, W_R, W_K, W_w), let, I)


layer = lightning_indexer()
w, S, I = (layer.equation(name).variable for name in "wSI")
given = array("I", n, n)  # any scores


@result
def index_scores() -> Derivation:
    """A score is a weighted sum of the positive parts of dot products, one for each head of the indexer."""
    return derivation(
        "The score of a key: a weighted sum over heads of the positive parts of dot products",
        claim(I[p, q], step("definition", Sum(w[p, i] * Max(0, S[i, p, q]), (i, 0, h_I - 1)))),
        about=tuple(map(layer.equation, ("S", "R", "I"))),
        ranges={p: n, q: n},
        assuming=(EVEN,),
        source=SOURCE,
    )


@result
def index_order() -> Derivation:
    """A positive factor of the scores, such as 1/sqrt(d_I h_I) in the released code, changes no choice of keys."""
    r = scalar("r", positive=True)
    return derivation(
        "The $k_I$ keys with the largest scores stay when all scores are multiplied by $r > 0$",
        claim(TopKMask(r * given, M, k_I), step("algebra", TopKMask(given, M, k_I))),
        source=SOURCE,
    )


@result
def index_choice() -> Derivation:
    """No hidden key is chosen. At most n - 1 keys come before any key, so k_I >= n chooses every visible key.

    Key j comes before key q if its score is larger, or equal and j < q. A key is chosen if fewer than k_I of the
    visible ones come before it.
    """
    chosen = TopKMask(given, M, k_I).entry(p, q)
    before, after = (Iverson(Lt(*pair, evaluate=False)) for pair in ((j, q), (q, j)))
    no_less, larger = (Iverson(relation(given[p, j], given[p, q], evaluate=False)) for relation in (Ge, Gt))
    seen = M.entry(p, j)
    others = over_keys(before + after)
    shortfall = over_keys(before * (1 - seen * no_less) + after * (1 - seen * larger))
    return derivation(
        "No hidden key is chosen, and fewer than $n$ keys come before one: $k_I >= n$ chooses every visible key",
        claim(chosen, step("bound", M.entry(p, q), "<=")),
        claim(
            over_keys(seen * (before * no_less + after * larger)),
            step("bound", others, "<=", shortfall),
            step("Kronecker delta", n - 1),
        ),
        ranges={p: n, q: n},
        source=SOURCE,
    )


def over_keys(each: Expr) -> Sum:
    """Return the sum over the keys j."""
    return Sum(each, (j, 0, n - 1))
