r"""Mixtures of experts: a router sends every position to K of E gated networks and adds their outputs with weights.

Definition   L = X W_router, P = softmax(L) or sigmoid(L), chosen = indices of the K largest entries of the rows of P,
             w_s = p_s / sum_t p_t, where p_s is the entry of P for the s-th chosen expert,
             Y = sum_s w_s (activation(X W_gate) o X W_up) W_down with the matrices of the s-th chosen expert
Result       the weights of the chosen experts are the softmax of their logits alone; the layer is the sum over all
             experts with weight 0 for those not chosen, and costs as much as its router and K experts
Shapes       X (n, d_model), W_router (d_model, E), W_gate and W_up (E, d_model, d_expert),
             W_down (E, d_expert, d_model), chosen (K, n), Y (n, d_model)
Assumes      K <= E; no expert has a capacity limit: every position gets all of its K experts
Source       Shazeer et al. (2017), section 2; Jiang et al. (2024), section 2.1
"""

from dataclasses import replace

from sympy import Derivative, Expr, Ge, Integer, KroneckerDelta, Lambda, Sum, Symbol, exp, sympify

from derivations.activations.sigmoid import sigmoid, silu
from derivations.feed_forward.choices_by_threshold import chosen_by_threshold
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.feed_forward.groups_of_experts import chosen_within_groups
from derivations.language.arrays.arrangements import SumOver, Tabulated
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, ColumnBroadcast, Variable, array, token_array
from derivations.language.arrays.functions import Hadamard, Lookup, Named, named, row_softmax
from derivations.language.arrays.routing import RoutedProduct, TopK
from derivations.language.arrays.selection import Pick
from derivations.language.counting.costs import Count
from derivations.language.differentiation.claims import local_claims
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import batch, d_ff, d_model, i, index, j, l, n, scalar, size

__all__ = ["E", "K", "d_expert", "d_shared", "mixture_of_experts"]

JIANG = "Jiang et al. (2024), section 2.1"
DEEPSEEK = "DeepSeek-AI (2024), DeepSeek-V3 technical report, section 2.1.2"
RULES = "the rules gradient.*; the equations: Jiang et al. (2024), section 2.1"

E, K = size("E"), size("K")  # the number of experts, and of those that one position uses
d_expert, d_shared = size("d_expert"), size("d_shared")  # hidden units of one expert, and of the shared network
s, t = index("s"), index("t")  # number the experts of one position, the first chosen first
e, f, u = index("e"), index("f"), index("u")  # e and f number all experts, u hidden units
X, W_router = array("X", n, d_model), array("W_router", d_model, E)
W_gate, W_up = array("W_gate", E, d_model, d_expert), array("W_up", E, d_model, d_expert)
W_down = array("W_down", E, d_expert, d_model)
W_shared_gate, b = array("W_shared_gate", d_model), array("b", E)
b_router, b_down = array("b_router", E), array("b_down", E, d_model)
b_gate, b_up = array("b_gate", E, d_expert), array("b_up", E, d_expert)
L, P, chosen = array("L", n, E), array("P", n, E), token_array("chosen", K, n)
p, w, g = array("p", K, n), array("w", K, n), array("g", K, n)
Z, Y = array("Z", K, n, d_model), array("Y", n, d_model)
share = named("share", scalar("x") / scalar("y"), scalar("x"), scalar("y"))


@catalogued("mixture_with_shared_experts", shared=True)
@catalogued
def mixture_of_experts(
    activation: Named = silu,
    *,
    scoring: str = "softmax",
    normalised: bool = True,
    shared: bool = False,
    shared_gate: bool = False,
    corrected: bool = False,
    best_of_group: int = 0,
    scale: Expr | int = 1,
    biases: bool = False,
    linear_activation: Named | None = None,
    gated: bool = True,
    scaled_rows: bool = False,
    threshold: Expr | None = None,
    eps: Expr | int = 0,
) -> Layer:
    """Return a mixture of E gated networks, of which every position uses K.

    Definition   P = softmax(X W_router) or sigmoid(X W_router); chosen are the indices of the K largest entries of each
                 row of P, or of P + b when `corrected`, among those of the best groups of experts when
                 `best_of_group` tells how many of its scores rank a group; g_s = scale p_s, divided by
                 sum_t p_t + `eps` when `normalised`; with a `threshold` each chosen expert has a softmax of its own
                 in the place of P, that of `choices_by_threshold`;
                 Y = sum_s g_s FFN(X) by the s-th chosen experts, plus one gated network of all rows when `shared`,
                 its rows times sigmoid(X W_shared_gate) when `shared_gate`. With `biases` the router and every
                 matrix of an expert has one, b_router (E,), b_gate and b_up (E, d_expert), b_down (E, d_model); if
                 `linear_activation` is given, it is applied to the linear half of an expert, X W_up; unless `gated`,
                 an expert is activation(X W_up) W_down, and so is the shared network; with
                 `scaled_rows` the weight g_s multiplies the rows that an expert reads, not what it puts out
    Shapes       X (n, d_model), b (E,), W_router (d_model, E), W_gate and W_up (E, d_model, d_expert),
                 W_down (E, d_expert, d_model), W_shared_gate (d_model,), chosen (K, n), Y (n, d_model); the shared
                 network has d_shared hidden units, those of all shared experts together
    Assumes      K <= E, and what `groups_of_experts` does of groups; the correction b is given, not learned by the
                 gradient; the epsilon is 0 unless given (libraries add 1e-20 to the sum of sigmoids)
    Source       Jiang et al. (2024), section 2.1: normalised softmax; Dai et al. (2024), section 3: shared experts;
                 DeepSeek-AI (2024), DeepSeek-V3, section 2.1.2: sigmoid, correction and scale; the released
                 models Qwen1.5-MoE and Qwen2-MoE (Qwen Team, 2024): the gate of the shared experts
    Raises       ValueError for a scoring that is neither softmax nor sigmoid, for a gate without shared experts, and
                 for groups that are ranked by fewer than 0 scores
    """
    if shared_gate and not shared:
        raise ValueError("mixture of experts: shared_gate=True needs shared=True, the experts that it is the gate of")
    if scoring not in ("softmax", "sigmoid"):
        raise ValueError(f"the scoring {scoring!r} is unknown; choose softmax or sigmoid")
    if best_of_group < 0:
        raise ValueError(
            f"groups of experts are ranked by {best_of_group} scores; choose 1 or more, or 0 for no groups"
        )
    factor = sympify(scale)
    let = Equations()

    def affine(rows: Array, W: Variable, b: Variable, numbers: Array) -> Array:
        products = RoutedProduct(rows, W, numbers)
        return products + Lookup(b, numbers) if biases else products

    L = let("L")(X @ W_router + b_router if biases else X @ W_router)
    if threshold is not None:
        chosen, p = chosen_by_threshold(let, L, K, threshold)
    else:
        P = let("P")(row_softmax(L) if scoring == "softmax" else sigmoid(L))
        if best_of_group:
            S = let("S")(P + b) if corrected else P
            chosen = chosen_within_groups(let, S, K, best_of_group)
        else:
            chosen = let("chosen")(TopK(P + b if corrected else P, K))
        p = let("p", over=(s, K))(Pick(P, chosen[s]))
    if normalised:
        total = let("total")(SumOver(p[s], s, K))
        of_all = share if eps == 0 else named("share_above_eps", scalar("x") / (scalar("y") + eps), *share.variables)
        p = let("w", over=(s, K))(of_all(p[s], total))
    g = p if factor == 1 else let("g", over=(s, K))(factor * p[s])
    weights = ColumnBroadcast(g[s], d_model)
    rows = let("X_s", over=(s, K))(Hadamard(weights, X))[s] if scaled_rows else X
    if gated:
        H = let("H", over=(s, K))(affine(rows, W_gate, b_gate, chosen[s]))
    U = let("U", over=(s, K))(affine(rows, W_up, b_up, chosen[s]))
    if gated:
        G = let("G", over=(s, K))(Hadamard(activation(H[s]), linear_activation(U[s]) if linear_activation else U[s]))
    else:
        G = let("G", over=(s, K))(activation(U[s]))
    Z = let("Z", over=(s, K))(affine(G[s], W_down, b_down, chosen[s]))
    Y = let("Y")(SumOver(Z[s] if scaled_rows else Hadamard(weights, Z[s]), s, K))
    if shared:
        network = gated_feed_forward(activation) if gated else feed_forward(activation, biases=False)
        common = part("shared_experts", network.xreplace({d_ff: d_shared}))
        C = common(X)
        if shared_gate:
            c = let("c")(sigmoid(X @ W_shared_gate))
            C = let("C")(Hadamard(ColumnBroadcast(c, d_model), C))
        Y = let("Y_all")(Y + C)
    inputs = (X, b) if corrected else (X,)
    of_shared = "mixture_with_gated_shared_experts" if shared_gate else "mixture_with_shared_experts"
    name = of_shared if shared else "mixture_of_experts"
    halves, shifts = ((W_gate, W_up), (b_gate, b_up)) if gated else ((W_up,), (b_up,))
    own = (W_router, *halves, W_down, *([b_router, *shifts, b_down] if biases else []))
    return Layer(name, inputs, (*own, *([W_shared_gate] if shared_gate else [])), let, Y)


MIXTURE = mixture_of_experts()
WITH_SHARED = mixture_of_experts(shared=True)
WITH_GATE = mixture_of_experts(shared=True, shared_gate=True)
EXPERT = Layer("expert", *gated_feed_forward().xreplace({d_ff: d_expert}).args[1:])
ROUTED = tuple(equation for equation in MIXTURE.equations if equation.variable != chosen)  # holds for any choice
BY_LOGITS = tuple(equation for equation in ROUTED if equation.variable != L)
PLACES = (
    Assumption(Ge(chosen[s, i], 0, evaluate=False), {s: K, i: n}, "experts count from 0"),
    Assumption(Ge(E - 1 - chosen[s, i], 0, evaluate=False), {s: K, i: n}, "there are $E$ experts"),
)


def picked(of: Expr, place: Symbol = s) -> Expr:
    """Return the sum of an expression over the experts that are chosen for one position."""
    return Sum(of, (place, 0, K - 1))


def experts(of: Expr, place: Symbol = e) -> Expr:
    """Return the sum of an expression over all experts."""
    return Sum(of, (place, 0, E - 1))


def network(number: Expr) -> Expr:
    """Return feature j of the output of one expert at position i."""
    gate, up = (Sum(X[i, l] * W[number, l, u], (l, 0, d_model - 1)) for W in (W_gate, W_up))
    return Sum(silu.formula(gate) * up * W_down[number, u, j], (u, 0, d_expert - 1))


def for_numbers(numbers: Array) -> tuple[Assumption, ...]:
    """Return the assumptions that the entries of `numbers` are numbers of experts, from 0 to E - 1."""
    return tuple(Assumption(a.statement.xreplace({chosen[s, i]: numbers[i]}), {i: n}, a.typed) for a in PLACES)


# --- values ---------------------------------------------------------------------------------------------------------


@result
def definition() -> Derivation:
    """The entries of a mixture of experts, for any choice of experts."""
    return derivation(
        "A mixture of experts: every position goes through $K$ of $E$ gated networks",
        claim(P[i, e], step("definition", exp(L[i, e]) / experts(exp(L[i, f]), f))),
        claim(w[s, i], step("definition", P[i, chosen[s, i]] / picked(P[i, chosen[t, i]], t))),
        claim(Z[s, i, j], step("definition", network(chosen[s, i]))),
        claim(Y[i, j], step("definition", picked(w[s, i] * network(chosen[s, i])))),
        about=ROUTED,
        ranges={i: n, j: d_model, s: K, e: E},
        assuming=PLACES,
        source=JIANG,
    )


@result
def weights_sum_to_one() -> Derivation:
    """The weights of the chosen experts add up to 1, for any choice."""
    whole = picked(p[t, i], t)
    return derivation(
        "The normalised weights of the chosen experts sum to 1",
        claim(
            picked(w[s, i]),
            step("definition", picked(p[s, i] / whole)),
            step("linearity of sums", picked(p[s, i]) / whole),
            step("algebra", 1),
        ),
        about=ROUTED,
        ranges={i: n},
        assuming=PLACES,
        source=JIANG,
    )


@result
def scaled_sigmoid_weights() -> Derivation:
    """Normalised sigmoid scores add up to the scale; a correction of the choice does not change the weights."""
    c = scalar("c", positive=True)
    layer = mixture_of_experts(scoring="sigmoid", corrected=True, shared=True, scale=c)
    score = sigmoid.formula(L[i, chosen[s, i]])
    return derivation(
        "Sigmoid scores with a scale: the weights of the chosen experts sum to the scale",
        claim(g[s, i], step("definition", c * score / picked(score.xreplace({s: t}), t))),
        claim(picked(g[s, i]), step("linearity of sums", c)),
        about=tuple(equation for equation in layer.equations if equation.variable != chosen),
        ranges={i: n, s: K},
        assuming=PLACES,
        source=DEEPSEEK,
    )


@result
def softmax_over_chosen() -> Derivation:
    """The softmax over all experts, normalised after the choice, is the softmax over the chosen logits."""
    logits = Tabulated(Lambda((t,), L[i, chosen[t, i]]), K)
    return derivation(
        "The weights are the softmax of the logits of the chosen experts alone",
        claim(
            w[s, i],
            step("definition", P[i, chosen[s, i]] / picked(P[i, chosen[t, i]], t)),
            step("algebra", exp(L[i, chosen[s, i]]) / picked(exp(L[i, chosen[t, i]]), t)),
            step("definition", row_softmax(logits).entry(s)),
        ),
        about=ROUTED,
        ranges={i: n, s: K},
        assuming=PLACES,
        source=JIANG,
    )


@result
def dense_form() -> Derivation:
    """Written as a sum over all E experts, those that are not chosen have weight 0."""
    weight = picked(KroneckerDelta(e, chosen[s, i]) * w[s, i])
    return derivation(
        "The mixture is the sum of all experts, with weight 0 for those that are not chosen",
        claim(
            Y[i, j],
            step("definition", picked(w[s, i] * network(chosen[s, i]))),
            step("Kronecker delta", picked(w[s, i] * experts(KroneckerDelta(e, chosen[s, i]) * network(e)))),
            step("order of summation", experts(weight * network(e))),
        ),
        claim(experts(weight), step("Kronecker delta", picked(w[s, i])), step("algebra", 1)),
        about=ROUTED,
        ranges={i: n, j: d_model},
        assuming=PLACES,
        source="Shazeer et al. (2017), section 2, equation 1",
    )


@result
def equal_experts() -> Derivation:
    """If all experts are equal, the mixture is one gated network, because the weights add up to 1."""
    A, B, C = array("A", d_model, d_expert), array("B", d_model, d_expert), array("C", d_expert, d_model)
    alike = {
        W_gate: Tabulated(Lambda((e, l, u), A[l, u]), E, d_model, d_expert),
        W_up: Tabulated(Lambda((e, l, u), B[l, u]), E, d_model, d_expert),
        W_down: Tabulated(Lambda((e, u, l), C[u, l]), E, d_expert, d_model),
    }
    return derivation(
        "A mixture of experts that are all alike is one gated network",
        claim(Y, step("linearity of sums", EXPERT.result(X, W_gate=A, W_up=B, W_down=C))),
        about=tuple(replace_free(equation, alike) for equation in ROUTED),
        assuming=PLACES,
        source=JIANG,
    )


@result
def choice_invariance() -> Derivation:
    """Adding a number to all scores of a row, a positive factor and a softmax change no choice: they keep the order."""
    S, c, r = array("S", n, E), array("c", n), scalar("r", positive=True)
    return derivation(
        "The places of the $K$ largest entries stay when a number is added to a row, all are scaled by $r > 0$, or a "
        "softmax is taken",
        claim(TopK(S + ColumnBroadcast(c, E), K), step("monotonicity", TopK(S, K))),
        claim(TopK(r * S, K), step("monotonicity", TopK(S, K))),
        claim(TopK(row_softmax(S), K), step("monotonicity", TopK(S, K))),
    )


# --- gradients ------------------------------------------------------------------------------------------------------


@result
def router_jacobian() -> Derivation:
    """The logits of the chosen experts behave as in a softmax; all other logits have gradient 0."""
    average = picked(KroneckerDelta(e, chosen[t, i]) * w[t, i], t)
    return derivation(
        "The weights by the logits: $w_s (delta - w)$ among the chosen experts, 0 by the logit of any other",
        claim(Derivative(w[s, i], L[i, e]), step("derivative", w[s, i] * (KroneckerDelta(e, chosen[s, i]) - average))),
        about=BY_LOGITS,
        ranges={i: n, s: K, e: E},
        assuming=PLACES,
        source=JIANG,
    )


@result
def single_choice() -> Derivation:
    """With one expert for each position, a router with normalised weights gets no gradient."""
    one = {K: Integer(1)}
    weight = w.xreplace(one)[0, i]
    return derivation(
        "With one expert for each position, the normalised weight is 1 and has derivative 0",
        claim(weight, step("algebra", 1)),
        claim(Derivative(weight, L[i, e]), step("derivative", 0)),
        about=tuple(equation.xreplace(one) for equation in BY_LOGITS),
        ranges={i: n, e: E},
        assuming=tuple(Assumption(a.statement.xreplace(one), {s: Integer(1), i: n}, a.typed) for a in PLACES),
        source="Fedus, Zoph and Shazeer (2022), section 2.1",
    )


@result
def routed_gradient() -> Derivation:
    """A position gets its gradient from its own expert; an expert's matrix sums over the positions sent to it."""
    numbers, A = token_array("numbers", n), array("A", E, d_model, d_expert)
    let = Equations()
    sent = let("Y")(RoutedProduct(X, A, numbers))
    claims = local_claims(Layer("routed_product", (X, A, numbers), (), let, sent))
    return replace(
        claims,
        title="$y_i = x_i A_e$ with $e = numbers_i$: $dx_i = dy_i A_e^T$, and $dA_e$ adds $x_i^T dy_i$ "
        "over the $i$ with number $e$",
        assumptions=(*claims.assumptions, *for_numbers(numbers)),
        source=RULES,
    )


@result(topic="mixture_of_experts", name="gradient")
def mixture_gradient() -> Derivation:
    """The choice itself has no gradient: it is constant except at ties."""
    claims = local_claims(MIXTURE)
    return replace(
        claims,
        title="The gradient of a mixture of experts, equation by equation, the choice held fixed",
        assumptions=(*claims.assumptions, *PLACES),
        source=RULES,
    )


# --- costs ----------------------------------------------------------------------------------------------------------


@result
def parameters() -> Derivation:
    """Every expert has the parameters of a gated network; one position uses those of K experts."""
    one, whole, shared = (Count("parameters", layer) for layer in (EXPERT, MIXTURE, WITH_SHARED))
    return derivation(
        "Parameters of a mixture of experts, and those that one position uses",
        claim(one, step("count", 3 * d_model * d_expert)),
        claim(whole, step("count", E * (3 * d_model * d_expert + d_model)), step("count", E * (one + d_model))),
        claim(whole - (E - K) * one, step("count", 3 * K * d_model * d_expert + d_model * E)),
        claim(shared - whole, step("count", 3 * d_model * d_shared)),
        claim(Count("parameters", WITH_GATE) - shared, step("count", d_model)),
        source=JIANG,
    )


@result
def flops() -> Derivation:
    """Count the products of the router and of K experts; the other experts cost no FLOPs."""
    products, one, shared = (Count("matmul FLOPs", layer, batch) for layer in (MIXTURE, EXPERT, WITH_SHARED))
    single = Count("matmul FLOPs", Layer("mixture_at_one_position", *MIXTURE.at(n=1).args[1:]), batch)
    used = Count("parameters", MIXTURE) - (E - K) * Count("parameters", EXPERT)
    return derivation(
        "A mixture of experts costs the products of its router and of $K$ experts, 2 FLOPs for each parameter used",
        claim(
            products,
            step("count", 2 * batch * n * d_model * E + 6 * batch * n * K * d_model * d_expert),
            step("count", 2 * batch * n * d_model * E + K * one),
            step("count", 2 * batch * n * used),
        ),
        claim(products, step("count", n * single)),
        claim(shared - products, step("count", 6 * batch * n * d_model * d_shared)),
        claim(Count("matmul FLOPs", WITH_GATE, batch) - shared, step("count", 2 * batch * n * d_model)),
        source=JIANG,
    )
