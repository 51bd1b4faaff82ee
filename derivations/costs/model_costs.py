r"""Costs of whole models in closed form: their parameters, and the products of one forward pass.

Result       with h heads of width d_model/h and d_ff = 4 d_model, a layer of GPT or BERT has 12 d_model^2 + 13 d_model
             parameters and 24 d_model^2 + 4 n d_model FLOPs of products for each position, without embedding and head
Assumes      the descriptions in `derivations.architectures.models`; all products of causal attention counted
Units        parameters; FLOPs of products, one multiply-add being 2
Source       the papers of the models
"""

from derivations.architectures.composition import build
from derivations.architectures.description import heads_of_groups as r
from derivations.architectures.description import key_value_heads as g
from derivations.architectures.models import named_model
from derivations.attention.multi_head_costs import renamed
from derivations.costs.parameters import HEADS, equal
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.positions.rotary import EVEN
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, n, size, vocab

__all__ = ["layer_of"]

BROWN, TOUVRON = "Brown et al. (2020), table 2.1", "Touvron et al. (2023), section 2.2; Llama Team (2024), section 3.2"
JIANG, RAFFEL = "Jiang et al. (2024), section 2.1", "Raffel et al. (2020), section 2.1"
positions, segments, buckets = map(size, ("positions", "segments", "buckets"))
experts, chosen, d_expert = map(size, ("experts", "chosen", "d_expert"))
N_encoder, N_decoder = size("N_encoder"), size("N_decoder")


FOURFOLD = (*HEADS, equal(d_ff, 4 * d_model))


def layer_of(name: str) -> Layer:
    """Return the equations of a named model, under a name that is an identifier."""
    layer = build(named_model(name).architecture)
    return renamed(layer, name.replace("-", "_").replace(".", "_"))


def parameters(name: str) -> Count:
    """Return the number of parameters of a named model, as a term."""
    return Count("parameters", layer_of(name))


def products(name: str) -> Count:
    """Return the FLOPs of the products of one forward pass of a named model, as a term."""
    return Count("matmul FLOPs", layer_of(name))


attention_weights = d_model * (d_k + d_v) * (g * r + g)  # queries and output of g r heads, keys and values of g


# --- parameters -----------------------------------------------------------------------------------------------------


@result(topic="parameters")
def gpt() -> Derivation:
    """A decoder with learned positions, biases and a tied head: GPT-2, and the sizes of GPT-3."""
    return derivation(
        "Parameters of GPT-2 and GPT-3: $12 d_model^2 + 13 d_model$ in each layer, embeddings, the last norm",
        claim(
            parameters("gpt2"),
            step("count", N * (2 * h * (d_k + d_v) * d_model + h * (2 * d_k + d_v) + 2 * d_model * d_ff + d_ff
                               + 6 * d_model) + (vocab + positions + 2) * d_model),
            step("assumption", N * (12 * d_model**2 + 13 * d_model) + (vocab + positions + 2) * d_model),
        ),
        assuming=FOURFOLD,
        source=BROWN,
    )  # fmt: skip


@result(topic="parameters")
def bert() -> Derivation:
    """An encoder with learned positions and segments, a norm after them, and a pooler."""
    return derivation(
        "Parameters of BERT with its pooler",
        claim(
            parameters("bert-base"),
            step("assumption", N * (12 * d_model**2 + 13 * d_model) + (vocab + positions + segments + 2) * d_model
                 + d_model**2 + d_model),
        ),
        assuming=FOURFOLD,
        source="Devlin et al. (2019), section 3",
    )  # fmt: skip


@result(topic="parameters")
def llama() -> Derivation:
    """A decoder with RMS norms, rotary positions, grouped queries and gated networks, without biases or tied head."""
    return derivation(
        "Parameters of Llama: keys and values for $g$ groups of $r$ heads, three matrices in the feed-forward network",
        claim(
            parameters("llama-3-8b"),
            step("count", N * (attention_weights + 3 * d_model * d_ff + 2 * d_model) + (2 * vocab + 1) * d_model),
        ),
        source=TOUVRON,
    )


@result(topic="parameters")
def mixtral() -> Derivation:
    """As Llama, with a router and experts instead of the feed-forward network."""
    network = 3 * d_model * d_expert * experts + d_model * experts
    return derivation(
        "Parameters of Mixtral: every expert is stored, few are used",
        claim(
            parameters("mixtral-8x7b"),
            step("count", N * (attention_weights + network + 2 * d_model) + (2 * vocab + 1) * d_model),
        ),
        source=JIANG,
    )


@result(topic="parameters")
def t5() -> Derivation:
    """An encoder and a decoder without biases, each with one table of relative positions."""
    attention = h * (d_k + d_v) * d_model  # half of one: queries with keys, or values with output
    encoder = 2 * attention + 2 * d_model * d_ff + 2 * d_model
    decoder = 4 * attention + 2 * d_model * d_ff + 3 * d_model
    return derivation(
        "Parameters of T5: the width of all heads together need not be $d_model$",
        claim(
            parameters("t5-small"),
            step("count", N_encoder * encoder + N_decoder * decoder + 2 * buckets * h + (vocab + 2) * d_model),
        ),
        source=RAFFEL,
    )


# --- products -------------------------------------------------------------------------------------------------------


@result(topic="flops", name="gpt")
def gpt_products() -> Derivation:
    """Twice the weights of the products for every position, and the term that is quadratic in the length."""
    return derivation(
        "FLOPs of the products of GPT: $24 d_model^2 + 4 n d_model$ a position and layer, $2 vocab d_model$ in "
        "the head",
        claim(
            products("gpt2"),
            step("assumption", n * N * (24 * d_model**2 + 4 * n * d_model) + 2 * n * vocab * d_model),
        ),
        assuming=FOURFOLD,
        source=BROWN,
    )


@result(topic="flops", name="llama")
def llama_products() -> Derivation:
    """Grouped queries save products with the weights of keys and values, but no products between positions."""
    between = 2 * n**2 * g * r * (d_k + d_v)
    return derivation(
        "FLOPs of the products of Llama",
        claim(
            products("llama-3-8b"),
            step("count", N * (2 * n * attention_weights + between + 6 * n * d_model * d_ff)
                 + 2 * n * vocab * d_model),
        ),
        assuming=[EVEN],
        source=TOUVRON,
    )  # fmt: skip


@result(topic="flops", name="mixtral")
def mixtral_products() -> Derivation:
    """Every position costs its router and its chosen experts, for any number of experts."""
    between, network = 2 * n**2 * g * r * (d_k + d_v), 6 * d_model * d_expert * chosen + 2 * d_model * experts
    return derivation(
        "FLOPs of the products of Mixtral: the experts that are not chosen cost nothing",
        claim(
            products("mixtral-8x7b"),
            step("count", N * (2 * n * attention_weights + between + n * network) + 2 * n * vocab * d_model),
        ),
        assuming=[EVEN],
        source=JIANG,
    )


@result(topic="flops")
def bert_base_sequence() -> Derivation:
    """The encoder of BERT base with its pooler, on 128 tokens."""
    numbers = {d_model: 768, h: 12, d_k: 64, d_v: 64, d_ff: 3072, N: 12, n: 128}
    return derivation(
        "FLOPs of the products of BERT base on 128 tokens, with the pooler",
        claim(products("bert-base"), step("assumption", 22348431360)),
        assuming=[equal(symbol, value) for symbol, value in numbers.items()],
        source="Devlin et al. (2019), section 3",
    )
