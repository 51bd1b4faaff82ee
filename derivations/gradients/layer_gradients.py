r"""The backward pass of the layers: each gradient in its textbook form, proved to be the derivative.

Definition   dX is the array of the derivatives of <dY, Y> by the entries of X, with Y the output of the layer
Result       dV = A^T dO, dA = dO V^T, dS = A o (dA - rowsum(dA o A) 1^T), dQ = dS K / sqrt(d_k),
             dK = dS^T Q / sqrt(d_k); dW = X^T dY for every weight that multiplies from the right
Shapes       dX has the shape of X
Assumes      every function is differentiable where it is evaluated: ReLU off its kink, with a mask a visible key
Source       the equations are those of `gradient(layer)`, by the rules of `gradient.*`
"""

from dataclasses import replace

from sympy import Eq, Expr, Integer, KroneckerDelta, Sum, Symbol, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, Variable, array
from derivations.language.arrays.functions import Hadamard, RowSum, gelu
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.spelling import in_words
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, result, step
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import N, d, d_k, epsilon, i, index, j, n
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder_layer
from derivations.transformer.transformer import transformer_loss

__all__: list[str] = []

RULES = "the rules gradient.*; the equations: Vaswani et al. (2017), {}"
attention = gradient(scaled_dot_product_attention())
Q, K, V, dO = attention.inputs
S, A = (attention.equation(name).variable for name in ("S", "A"))
dA, dS = (attention.equation(name).variable for name in ("dA", "dS"))


def of_layer(layer: Layer, title: str, source: str, *names: str) -> Derivation:
    """Return the derivation `whole_claims` of a layer. If names are given, keep only the gradients of these arrays."""
    whole = whole_claims(layer)
    kept = tuple(c for c in whole.claims if not names or _by(c) in names)
    read = {symbol for c in kept for part in (c.lhs, c.rhs) for symbol in part.atoms(Symbol)}
    ranges = {index: size for index, size in whole.ranges.items() if index in read}
    return replace(whole, title=title, claims=kept, ranges=ranges, source=source)


def _by(claimed: Claim) -> str:
    entry = claimed.lhs.args[1][0]
    return str(getattr(entry, "base", entry))


def with_matrices(whole: Derivation, *chains: Claim) -> Derivation:
    """Return a derivation with the matrix form of the same equations after its claims."""
    return replace(whole, claims=(*whole.claims, *chains))


# --- attention ------------------------------------------------------------------------------------------------------


@result(topic="softmax", name="gradient")
def softmax_gradient() -> Derivation:
    """The gradient of one row: dx = y o (dy - (y . dy) 1)."""
    return of_layer(softmax(), "The gradient of softmax: $dx = y o (dy - (y . dy) 1)$", "gradient.softmax")


def attention_gradient(name: str, title: str, *chain: Array) -> Derivation:
    """Return the gradient of attention with respect to one input, by entries and as a chain of matrix expressions."""
    whole = of_layer(scaled_dot_product_attention(), title, RULES.format("equation 1"), name)
    steps = (step("definition", array) for array in chain)
    return with_matrices(whole, claim(attention.equation(f"d{name}").variable, *steps))


@result(topic="attention")
def gradient_v() -> Derivation:
    """Every value gets the gradients of the outputs that used it, multiplied by its weights."""
    return attention_gradient("V", "The gradient of attention by the values: $dV = A^T dO$", A.T @ dO)


@result(topic="attention")
def gradient_q() -> Derivation:
    """The gradient passes through the scores, with the rule of softmax for every row."""
    slope = Hadamard(A, dA - ColumnBroadcast(RowSum(Hadamard(dA, A)), A.shape[1]))
    return attention_gradient(
        "Q",
        "The gradient of attention by the queries: $dQ = dS K / sqrt(d_k)$, $dS = A o (dA - rowsum(dA o A) 1^T)$",
        (dS @ K) / sqrt(d_k),
        (slope @ K) / sqrt(d_k),
    )


@result(topic="attention")
def gradient_k() -> Derivation:
    """As for the queries, with queries and keys exchanged."""
    return attention_gradient(
        "K", "The gradient of attention by the keys: $dK = dS^T Q / sqrt(d_k)$", (dS.T @ Q) / sqrt(d_k)
    )


@result(topic="attention")
def gradient_of_scores_sums_to_zero() -> Derivation:
    """Adding a number to all scores of a query changes nothing, so the gradients of its scores add up to 0."""
    return derivation(
        "The gradients by the scores of one query add up to 0",
        claim(Sum(dS[i, j], (j, 0, S.shape[1] - 1)), step("definition", 0)),
        claim(
            RowSum(Hadamard(dA, A)),
            step("matrix product", RowSum(Hadamard(dO, attention_output()))),
        ),
        about=(*attention.equations, scaled_dot_product_attention().equation("O")),
        ranges={i: n},
        source="Dao, Fu, Ermon, Rudra and Ré (2022), appendix B.2, for the second equation",
    )


def attention_output() -> Variable:
    """Return the output of attention."""
    return scaled_dot_product_attention().output


@result(topic="attention")
def gradient_with_mask() -> Derivation:
    """With a mask the backward pass is the same: hidden keys have weight 0, so their gradients are 0."""
    return of_layer(
        scaled_dot_product_attention(masked=True),
        "The gradients of masked attention: the equations of attention without a mask",
        RULES.format("section 3.2.3"),
    )


@result(topic="multi_head")
def gradient_by_equations() -> Derivation:
    """Each head is attention; the inputs sum over all heads, and W^O and the projections are linear."""
    return replace(
        local_claims(multi_head_attention(biases=True)),
        title="The gradient of multi-head attention, equation by equation",
        source=RULES.format("section 3.2.2"),
    )


@result(topic="multi_head", name="gradient")
def multi_head_gradient() -> Derivation:
    """The gradients with respect to the inputs and all weights, with all intermediate gradients substituted."""
    return of_layer(
        multi_head_attention(),
        "The gradient of multi-head attention: $dW_i^Q = X_Q^T dQ_i$, $dX_Q = sum_i dQ_i W_i^Q^T$, $dW^O = Z^T "
        "dY$, ...",
        RULES.format("section 3.2.2"),
    )


# --- position by position -------------------------------------------------------------------------------------------


@result(topic="linear", name="gradient")
def linear_gradient() -> Derivation:
    """The gradient of the weights is the transposed inputs times the gradients of the outputs."""
    return of_layer(
        linear(),
        "The gradient of an affine map: $dX = dY W^T$, $dW = X^T dY$, $db$ the sum of the rows of $dY$",
        "gradient.product",
    )


@result(topic="feed_forward", name="gradient")
def feed_forward_gradient() -> Derivation:
    """The gradient passes both affine maps and the activation, here ReLU off its kink."""
    return of_layer(
        feed_forward(),
        "The gradient of the feed-forward network: $dH = (dY W_2^T) o ReLU'(H)$, $dW_1 = X^T dH$, $dW_2 = G^T dY$, ...",
        RULES.format("section 3.3"),
    )


@result(topic="feed_forward")
def gradient_with_gelu() -> Derivation:
    """With GELU the slope is Phi(H) + H phi(H)."""
    return of_layer(
        feed_forward(gelu), "The gradient of the feed-forward network with GELU", RULES.format("section 3.3")
    )


@result(topic="embedding", name="gradient")
def embedding_gradient() -> Derivation:
    """A row of the table gets gradients only from the positions that have its token."""
    return of_layer(
        embedding(),
        "The gradient of an embedding: row $v$ of $dE$ is $sqrt(d_model)$ times the sum of the rows $i$ of $dX$ "
        "whose token is $v$",
        RULES.format("section 3.4"),
    )


# --- norms ----------------------------------------------------------------------------------------------------------

norm = layer_norm()
X, gamma = norm.inputs[0], norm.parameters[0]
sigma2, X_hat = (norm.equation(name).variable for name in ("sigma2", "X_hat"))
dY = gradient(norm).inputs[1]


def projected(slope: Array, along: Array, *, centred: bool) -> Expr:
    """Return entry (i, j) of G minus its component along x^, and with `centred` minus its mean."""
    k = index("k")
    mean = Sum(slope[i, k], (k, 0, d - 1)) / d if centred else Integer(0)
    return slope[i, j] - mean - along[i, j] * Sum(slope[i, k] * along[i, k], (k, 0, d - 1)) / d


def of_norm(layer: Layer, title: str, source: str, statistic: Array, *, centred: bool) -> Derivation:
    """Return the gradient of a norm with respect to its input: the compact form, and dY times the Jacobian."""
    backward, k, hat = gradient(layer), index("k"), layer.equation("X_hat").variable
    s = sqrt(statistic[i] + epsilon)
    kept = KroneckerDelta(k, j) - (1 / d if centred else 0) - hat[i, k] * hat[i, j] / d
    compact = projected(G, hat, centred=centred) / s
    return derivation(
        title,
        claim(backward.equation("dX").variable[i, j], step("algebra", compact)),
        claim(Sum(dY[i, k] * gamma[k] / s * kept, (k, 0, d - 1)), step("Kronecker delta", compact)),
        about=(*backward.equations, Equation(G, Hadamard(RowBroadcast(gamma, n), dY))),
        ranges={i: n, j: d},
        source=source,
    )


G = array("G", n, d)


@result(topic="layer_norm", name="gradient")
def layer_norm_gradient() -> Derivation:
    """The compact form: G = gamma o dY without its mean and its component along x^, divided by s."""
    return of_norm(
        norm,
        "The gradient of layer normalisation: "
        "$dX = (G - mean(G) - X_hat mean(G o X_hat)) / sqrt(sigma^2 + epsilon)$, $G = gamma o dY$",
        "Ba, Kiros and Hinton (2016), equations 3 and 4; layer_norm.jacobian",
        sigma2,
        centred=True,
    )


@result(topic="layer_norm", name="gradient_by_equations")
def layer_norm_gradient_by_equations() -> Derivation:
    """Each step of the backward pass is the derivative of its equation."""
    title = "The gradient of layer normalisation, equation by equation"
    return replace(local_claims(norm), title=title, source="Ba, Kiros and Hinton (2016); the rules gradient.*")


@result(topic="rms_norm", name="gradient")
def rms_norm_gradient() -> Derivation:
    """As for layer normalisation, without the mean."""
    layer = rms_norm()
    return of_norm(
        layer,
        "The gradient of RMS normalisation: $dX = (G - X_hat mean(G o X_hat)) / sqrt(ms + epsilon)$, $G = gamma o dY$",
        "Zhang and Sennrich (2019), section 4.2; rms_norm.jacobian",
        layer.equation("ms").variable,
        centred=False,
    )


@result(topic="rms_norm", name="gradient_by_equations")
def rms_norm_gradient_by_equations() -> Derivation:
    """Each step of the backward pass is the derivative of its equation."""
    return replace(
        local_claims(rms_norm()),
        title="The gradient of RMS normalisation, equation by equation",
        source="Zhang and Sennrich (2019); the rules gradient.*",
    )


XIONG = "Xiong et al. (2020), section 3"
states, branches = array("dX", N + 1, n, d), array("R", N, n, d)  # gradients after each layer, terms of the branches


def past_the_norm(called: str) -> Derivation:
    """Return the effect of N layers on a gradient when the norm of that name is inside the branch."""
    k = index("k")
    return derivation(
        f"With {called} inside the branch, the gradient before $N$ layers is the gradient after them plus what the "
        f"branches add",
        claim(
            states[0, i, j],
            # a telescoping sum
            step("linearity of sums", states[N, i, j] + Sum(states[k, i, j] - states[k + 1, i, j], (k, 0, N - 1))),
            step("assumption", states[N, i, j] + Sum(branches[k, i, j], (k, 0, N - 1))),
        ),
        ranges={i: n, j: d},
        assuming=[
            Assumption(
                Eq(states[k, i, j], states[k + 1, i, j] + branches[k, i, j]),
                {k: N, i: n, j: d},
                "residual.jacobian: $X_{k+1} = X_k + F_k(X_k)$, and $R_k$ is $dX_{k+1}$ pulled back through $F_k$",
            )
        ],
        source=XIONG,
    )


def through_the_norm(layer: Layer, called: str, statistic: Array, *, centred: bool) -> Derivation:
    """Return a bound of the gradient after a norm: at most as long as before, divided by the norm's divisor."""
    k, p, hat = index("k"), index("p"), layer.equation("X_hat").variable
    passed = projected(G, hat, centred=centred) / sqrt(statistic[i] + epsilon)
    mean = Sum(G[i, k], (k, 0, d - 1)) / d if centred else Integer(0)
    part = Sum(G[i, k] * hat[i, k], (k, 0, d - 1)) / d
    # |G|^2 minus the squared length of the projected G, as |x^|^2 = d (1 - eps / (statistic + eps))
    lost = d * mean**2 + d * part**2 * (1 + epsilon / (statistic[i] + epsilon))
    longest = Sum(G[i, p] ** 2, (p, 0, d - 1)) / (statistic[i] + epsilon)
    return derivation(
        f"With {called} after the sum, each of $N$ layers divides the gradient by "
        f"$sqrt({'sigma^2' if centred else 'ms'} + epsilon)$, and makes it no longer otherwise",
        claim(
            Sum(passed**2, (j, 0, d - 1)),
            step("bound", longest, "<=", lost / (statistic[i] + epsilon)),
        ),
        about=layer,
        ranges={i: n},
        source=XIONG,
    )


@result(topic="layer_norm")
def pre_norm_gradient() -> Derivation:
    """Every branch adds to the gradient; the gradient of the last state itself reaches the first one unchanged."""
    return past_the_norm("layer normalisation")


@result(topic="layer_norm")
def post_norm_gradient() -> Derivation:
    """At every layer the gradient passes the norm: it is divided by s, and two of its directions are removed."""
    return through_the_norm(norm, "layer normalisation", sigma2, centred=True)


@result(topic="rms_norm", name="pre_norm_gradient")
def rms_pre_norm_gradient() -> Derivation:
    """As for layer normalisation: a norm inside a branch does not act on the residual path."""
    return past_the_norm("RMS normalisation")


@result(topic="rms_norm", name="post_norm_gradient")
def rms_post_norm_gradient() -> Derivation:
    """As for layer normalisation, with one direction removed instead of two."""
    layer = rms_norm()
    return through_the_norm(layer, "RMS normalisation", layer.equation("ms").variable, centred=False)


# --- the whole ------------------------------------------------------------------------------------------------------


def by_equations(layer: Layer, source: str) -> Derivation:
    """Return the gradient claims of a layer for each equation that applies no part. The chain rule gives the rest."""
    title = f"The gradient of the {in_words(layer.name)}, equation by equation"
    return replace(local_claims(layer), title=title, source=RULES.format(source))


@result(topic="encoder", name="gradient")
def encoder_gradient() -> Derivation:
    """Residual sums pass the gradient on; attention, the feed-forward network and the norms have their own results."""
    return by_equations(encoder_layer(), "section 3.1")


@result(topic="decoder", name="gradient")
def decoder_gradient() -> Derivation:
    """As in the encoder, with two attentions."""
    return by_equations(decoder_layer(), "section 3.1")


@result(topic="transformer", name="gradient")
def transformer_gradient() -> Derivation:
    """The gradients from the loss to the embedding, which the output and both inputs share."""
    return by_equations(transformer_loss(), "section 3")
