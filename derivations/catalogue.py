"""The catalogue: every layer and every result, by name."""

from collections.abc import Callable

from derivations.attention import scaled_dot_product_attention
from derivations.decoder import decoder, decoder_layer
from derivations.dropout import dropout
from derivations.embedding import embedding
from derivations.encoder import encoder, encoder_layer
from derivations.feed_forward import feed_forward
from derivations.language.functions import gelu
from derivations.language.layer import Layer
from derivations.layer_norm import layer_norm
from derivations.linear import linear
from derivations.multi_head import multi_head_attention
from derivations.positional_encoding import positional_encoding
from derivations.softmax import softmax
from derivations.transformer import transformer

__all__ = ["LAYERS", "layers"]

LAYERS: dict[str, Callable[[], Layer]] = {
    "softmax": softmax,
    "linear": linear,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "masked_scaled_dot_product_attention": lambda: scaled_dot_product_attention(masked=True),
    "multi_head_attention": multi_head_attention,
    "masked_multi_head_attention": lambda: multi_head_attention(masked=True),
    "multi_head_attention_with_biases": lambda: multi_head_attention(biases=True),
    "feed_forward": feed_forward,
    "feed_forward_gelu": lambda: feed_forward(gelu),
    "layer_norm": layer_norm,
    "positional_encoding": positional_encoding,
    "embedding": embedding,
    "dropout": dropout,
    "encoder_layer": encoder_layer,
    "encoder": encoder,
    "decoder_layer": decoder_layer,
    "decoder": decoder,
    "transformer": transformer,
}


def layers() -> dict[str, Layer]:
    """Return every layer of the package by its name."""
    return {name: build() for name, build in LAYERS.items()}
