r"""FLOPs of the matrix products of the layers and of the whole Transformer, in closed form and in numbers.

Result       encoder layer 4 n d_model (n + 2 d_model + d_ff); the part 4 n^2 d_model is quadratic in n, and is half of
             the total when n = 2 d_model + d_ff; decoder layer and Transformer likewise
Assumes      heads of width d_k = d_v = d_model / h; all products of causal attention counted; one pass over one example
             with m source and n target positions
Units        FLOPs, one multiply-add being 2; without softmax, norms, activations and sums
Source       Vaswani et al. (2017), section 3 and table 1
"""

from sympy import Rational

from derivations.costs.parameters import BASE, HEADS, equal
from derivations.language.counting.costs import Count
from derivations.language.results.derivation import Claim, Derivation, claim, derivation, result, step
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, m, n, vocab
from derivations.transformer.decoder import decoder_layer as one_decoder_layer
from derivations.transformer.encoder import encoder_layer as one_encoder_layer
from derivations.transformer.transformer import transformer as whole_transformer

__all__: list[str] = []

TABLE = "Vaswani et al. (2017), table 1"
MATMUL = "matmul FLOPs"

heads = 2 * h * (d_k + d_v)
encoder_general = heads * n * (n + 2 * d_model) + 4 * n * d_model * d_ff
crossing_general = heads * (n * d_model + m * d_model + n * m)
encoder_work = 4 * n * d_model * (n + 2 * d_model + d_ff)
crossing_work = 4 * d_model * (n * d_model + m * d_model + n * m)


@result
def encoder_layer() -> Derivation:
    """In an encoder layer, projections and feed-forward network are linear in n, scores and weighted sums quadratic."""
    return derivation(
        "FLOPs of the matrix products of an encoder layer whose heads share the width of the model",
        claim(
            Count(MATMUL, one_encoder_layer()),
            step("count", encoder_general),
            step("assumption", 8 * n * d_model**2 + 4 * n**2 * d_model + 4 * n * d_model * d_ff),
            step("algebra", encoder_work),
        ),
        assuming=HEADS,
        source=TABLE,
    )


@result
def decoder_layer() -> Derivation:
    """A decoder layer costs as much as an encoder layer plus the cross-attention."""
    return derivation(
        "FLOPs of the matrix products of a decoder layer whose heads share the width of the model",
        claim(
            Count(MATMUL, one_decoder_layer()),
            step("count", encoder_general + crossing_general),
            step("assumption", encoder_work + crossing_work),
        ),
        assuming=HEADS,
        source=TABLE,
    )


@result
def transformer() -> Derivation:
    """The whole Transformer has N layers of each stack, and the scores of all tokens at n positions."""
    stacks = N * (encoder_work.xreplace({n: m}) + encoder_work + crossing_work)
    encoding = Count(MATMUL, one_encoder_layer().xreplace({n: m}))
    return derivation(
        "FLOPs of the matrix products of the Transformer",
        claim(
            Count(MATMUL, whole_transformer()),
            step("count", N * (encoding + Count(MATMUL, one_decoder_layer())) + 2 * n * d_model * vocab),
            step("assumption", stacks + 2 * n * d_model * vocab),
        ),
        assuming=HEADS,
        source=TABLE,
    )


@result
def quadratic_share() -> Derivation:
    """The share of the products that are quadratic in the length; it is a half at n = 2 d_model + d_ff."""
    quadratic = 4 * n**2 * d_model
    long = equal(n, 2 * d_model + d_ff)
    return derivation(
        "The products that are quadratic in $n$ are $n / (n + 2 d_model + d_ff)$ of an encoder layer",
        claim(quadratic / Count(MATMUL, one_encoder_layer()), step("assumption", n / (n + 2 * d_model + d_ff))),
        claim(n / (n + 2 * d_model + d_ff), step("assumption", Rational(1, 2)), given=(long,)),
        assuming=HEADS,
        source=TABLE,
    )


def base_model(positions: int, value: int) -> Claim:
    """Return the claim that the base model over bytes, with n = m positions, takes `value` FLOPs in its products."""
    sizes = (*BASE, equal(vocab, 256), equal(n, positions), equal(m, positions))
    stacks = N * (encoder_general.xreplace({n: m}) + encoder_general + crossing_general)
    return claim(
        Count(MATMUL, whole_transformer()),
        step("count", stacks + 2 * n * d_model * vocab),
        step("assumption", value),
        given=sizes,
    )


@result
def base() -> Derivation:
    """The base model over bytes, for 10 and for 512 positions."""
    return derivation(
        "FLOPs of the matrix products of the base model over bytes, with as many source as target positions",
        base_model(10, 887111680),
        base_model(512, 54895050752),
        source="Vaswani et al. (2017), table 3",
    )
