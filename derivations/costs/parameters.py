r"""Parameters of the layers and of the whole Transformer, in closed form and in numbers.

Result       encoder layer 4 d_model^2 + 2 d_model d_ff + d_ff + 5 d_model; decoder layer 8 d_model^2 + ... + 7 d_model;
             Transformer N (12 d_model^2 + 4 d_model d_ff + 2 d_ff + 12 d_model) + vocab d_model
Assumes      heads of width d_k = d_v = d_model / h; no biases in the attention; one embedding for source, target and
             output; no final norm
Units        parameters: learned numbers, including those of the norms (2 d_model for each norm)
Source       Vaswani et al. (2017), section 3
"""

from sympy import Eq, Expr, Rational

from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Assumption, Claim, Derivation, claim, derivation, result, step
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, vocab
from derivations.transformer.decoder import decoder_layer as one_decoder_layer
from derivations.transformer.encoder import encoder_layer as one_encoder_layer
from derivations.transformer.transformer import transformer as whole_transformer

__all__ = ["BASE", "HEADS", "equal"]

VASWANI = "Vaswani et al. (2017), section 3"


def equal(size: Expr, value: Expr | int) -> Assumption:
    """Return the assumption that a size has the given value."""
    return Assumption(Eq(size, value, evaluate=False))


# the heads share the width of the model; the base model of Vaswani et al. (2017), table 3
HEADS = (equal(d_k, d_model / h), equal(d_v, d_model / h))
BASE = tuple(equal(*pair) for pair in ((d_model, 512), (h, 8), (d_k, 64), (d_v, 64), (d_ff, 2048), (N, 6)))

projections = h * d_model * (d_k + d_v)
encoder_weights = 4 * d_model**2 + 2 * d_model * d_ff + d_ff + 5 * d_model
decoder_weights = 8 * d_model**2 + 2 * d_model * d_ff + d_ff + 7 * d_model
in_general = N * (6 * projections + 4 * d_model * d_ff + 2 * d_ff + 12 * d_model) + vocab * d_model


@result
def encoder_layer() -> Derivation:
    """Count four projections, the feed-forward network and two norms."""
    return derivation(
        "Parameters of an encoder layer whose heads share the width of the model",
        claim(
            Count("parameters", one_encoder_layer()),
            step("count", 2 * projections + 2 * d_model * d_ff + d_ff + 5 * d_model),
            step("assumption", encoder_weights),
        ),
        assuming=HEADS,
        source=VASWANI,
    )


@result
def decoder_layer() -> Derivation:
    """Count eight projections, the feed-forward network and three norms."""
    return derivation(
        "Parameters of a decoder layer whose heads share the width of the model",
        claim(
            Count("parameters", one_decoder_layer()),
            step("count", 4 * projections + 2 * d_model * d_ff + d_ff + 7 * d_model),
            step("assumption", decoder_weights),
        ),
        assuming=HEADS,
        source=VASWANI,
    )


@result
def transformer() -> Derivation:
    """The whole Transformer has N layers of each stack and one table of embeddings; positions are not learned."""
    whole, encoding, decoding = (
        Count("parameters", layer()) for layer in (whole_transformer, one_encoder_layer, one_decoder_layer)
    )
    return derivation(
        "Parameters of the Transformer",
        claim(
            whole,
            step("count", N * (encoding + decoding) + vocab * d_model),
            step("assumption", N * (encoder_weights + decoder_weights) + vocab * d_model),
        ),
        assuming=HEADS,
        source=VASWANI,
    )


@result
def final_norms() -> Derivation:
    """A norm after each stack, which some implementations have, adds 4 d_model parameters."""
    with_norms = Layer("transformer_with_final_norms", *whole_transformer(final_norm=True).args[1:])
    return derivation(
        "A final norm after each of the two stacks adds $4 d_model$ parameters",
        claim(
            Count("parameters", with_norms),
            step("count", Count("parameters", whole_transformer()) + 4 * d_model),
        ),
        source="PyTorch, torch.nn.Transformer",
    )


def base_model(*, tokens: Expr | int, value: Expr | int) -> Claim:
    """Return the claim that the base model has `value` parameters with a vocabulary of `tokens`."""
    sizes = BASE if tokens == vocab else (*BASE, equal(vocab, tokens))
    return claim(
        Count("parameters", whole_transformer()), step("count", in_general), step("assumption", value), given=sizes
    )


@result
def base() -> Derivation:
    """The base model has 44,101,632 parameters and 512 for each token; with the 256 bytes as tokens 44,232,704."""
    return derivation(
        "Parameters of the base model",
        base_model(tokens=vocab, value=44101632 + 512 * vocab),
        base_model(tokens=256, value=44232704),
        source="Vaswani et al. (2017), table 3",
    )


@result
def feed_forward_share() -> Derivation:
    """Of the parameters of a layer, 2/3 are in the feed-forward network, but half in a decoder layer."""
    network, attention = Count("parameters", feed_forward()), Count("parameters", multi_head_attention())
    weights = network - d_ff - d_model
    encoder_share, decoder_share = (8 * d_model + 5) / (12 * d_model + 9), (8 * d_model + 5) / (16 * d_model + 11)
    return derivation(
        "The share of the feed-forward network in the weights of a layer is $2/3$, with biases and norms a little less",
        claim(weights / (weights + attention), step("assumption", Rational(2, 3))),
        claim(
            network / Count("parameters", one_encoder_layer()),
            step("assumption", encoder_share),
            step("bound", Rational(2, 3), "<", 1 / (12 * d_model + 9)),
        ),
        claim(
            network / Count("parameters", one_decoder_layer()),
            step("assumption", decoder_share),
            step("bound", Rational(1, 2), "<", 1 / (32 * d_model + 22)),
        ),
        assuming=(*HEADS, equal(d_ff, 4 * d_model)),
        source=VASWANI,
    )
