"""The Transformer: embeddings, residual connections, encoder, decoder, and the whole model."""

from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.embedding import embedding, factorised_embedding
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.residual import post_norm_residual, pre_norm_residual
from derivations.transformer.transformer import transformer, transformer_loss

__all__ = [
    "decoder",
    "decoder_layer",
    "embedding",
    "encoder",
    "encoder_layer",
    "factorised_embedding",
    "post_norm_residual",
    "pre_norm_residual",
    "transformer",
    "transformer_loss",
]
