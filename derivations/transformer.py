r"""The whole Transformer: embeddings, positions, encoder, decoder, output softmax."""

from derivations.decoder import decoder
from derivations.embedding import embedding
from derivations.encoder import encoder
from derivations.language.expression import RowBroadcast, array, mask_array, token_array
from derivations.language.functions import Both, CausalMask, Named, relu, row_softmax
from derivations.language.layer import Equations, Layer, part
from derivations.positional_encoding import positional_encoding
from derivations.symbols import d_model, m, n, vocab

__all__ = ["transformer"]


def transformer(
    *, padded: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the encoder-decoder Transformer, its output tied to the embedding.

    Definition   memory = Encoder(Embedding(source) + PE), Z = Decoder(Embedding(target) + PE, memory),
                 logits = Z E^T, P = softmax of the rows of the logits
    Shapes       source (m,), target (n,), E (vocab, d_model), logits and P (n, vocab); with `padded`, masks of the
                 tokens that are no padding: source_visible (m,), target_visible (n,)
    Assumes      target position i sees target positions j <= i
    Source       Vaswani et al. (2017), section 3
    """
    source, target, E = token_array("source", m), token_array("target", n), array("E", vocab, d_model)
    seen, seen_target = mask_array("source_visible", m), mask_array("target_visible", n)
    embed, options = part("embedding", embedding()), {"biases": biases, "activation": activation}
    encode = part("encoder", encoder(masked=padded, final_norm=final_norm, **options))
    decode = part("decoder", decoder(masked_memory=padded, final_norm=final_norm, **options))

    let = Equations()
    P_source = let("P_source")(part("positions", positional_encoding(m))())
    P_target = let("P_target")(part("positions", positional_encoding(n))())
    X = let("X")(embed(source, E=E) + P_source)
    memory = let("memory")(encode(X, *([RowBroadcast(seen, m)] if padded else [])))
    Y = let("Y")(embed(target, E=E) + P_target)
    M = let("M")(Both(CausalMask(n), RowBroadcast(seen_target, n)) if padded else CausalMask(n))
    Z = let("Z")(decode(Y, memory, M, *([RowBroadcast(seen, n)] if padded else [])))
    logits = let("logits")(Z @ E.T)
    P = let("P")(row_softmax(logits))
    return Layer("transformer", (source, target, *([seen, seen_target] if padded else [])), (E,), let, P)
