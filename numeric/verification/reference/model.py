"""The whole Transformer: tokens in, logits and probabilities of the next token out.

Definition   memory = Encoder(embedding(source) + PE),   Z = Decoder(embedding(target) + PE, memory),
             logits = Z E^T,   probabilities = softmax of every row of the logits
Assumes      one embedding E for source, target and output; no dropout
Source       Vaswani et al. (2017), sections 3.1, 3.4 and 3.5, figure 1
"""

from typing import Any

from numeric.verification.reference import stacks
from numeric.verification.reference.attention import causal_mask, padding_mask, softmax
from numeric.verification.reference.loss import cross_entropy
from numeric.verification.reference.position_wise import linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read_mask
from numeric.verification.reference.stacks import Weights, add
from numeric.verification.reference.tokens import embedding as embed
from numeric.verification.reference.tokens import positional_encoding

__all__ = ["loss", "probabilities", "transformer"]


@at_fifty_digits
def transformer(
    source: Array,
    target: Array,
    embedding: Weights,
    encoder: dict[str, Any],
    decoder: dict[str, Any],
    source_mask: Array | None = None,
    target_mask: Array | None = None,
    *,
    causal: bool = True,
    activation: str = "relu",
    eps: float = 1e-5,
) -> tuple[Matrix, Matrix]:
    """Return the logits and the probabilities of the next token after each target position.

    Definition   memory = Encoder(embedding(source) + PE),   Z = Decoder(embedding(target) + PE, memory),
                 logits = Z E^T,   probabilities_i = softmax(logits_i)
    Shapes       source (m,), target (n,) token ids, source_mask (m,), target_mask (n,) -> (n, vocab), (n, vocab)
    Assumes      a mask is True at a token and False at padding; `causal` hides the target positions j > i from i;
                 `embedding` is {E}, `encoder` and `decoder` are {layers} or {layers, final_norm}
    Source       Vaswani et al. (2017), figure 1; section 3.4 for the tied output and the factor sqrt(d_model)
    Raises       ValueError from a layer, TypeError where a weight's name is missing or unknown
    """
    m, n = len(source), len(target)
    source_visible = read_mask("transformer", source_mask, m)
    target_visible = read_mask("transformer", target_mask, n)
    earlier = causal_mask(n)
    M_target = [[target_visible[j] and (earlier[i][j] or not causal) for j in range(n)] for i in range(n)]

    memory = stacks.encoder(
        _positioned(source, embedding), **encoder, M=padding_mask(source_visible, m), activation=activation, eps=eps
    )
    Z = stacks.decoder(
        _positioned(target, embedding), memory, **decoder,
        M=M_target, M_memory=padding_mask(source_visible, n), activation=activation, eps=eps,
    )  # fmt: skip
    E = embedding["E"]
    E_transposed = [[E[token][j] for token in range(len(E))] for j in range(len(E[0]))]
    logits = linear(Z, E_transposed)
    return logits, [softmax(row) for row in logits]


@loops_of("transformer")
def probabilities(
    source: Array,
    target: Array,
    E: Array,
    source_visible: Array | None = None,
    target_visible: Array | None = None,
    **given: Any,
) -> Matrix:
    """Return the probabilities of the Transformer, for arguments named as in the layer and in `given`."""
    return transformer(source, target, {"E": E}, source_mask=source_visible, target_mask=target_visible, **given)[1]


@loops_of("transformer_loss")
def loss(
    source: Array,
    target: Array,
    labels: Array,
    E: Array,
    source_visible: Array | None = None,
    target_visible: Array | None = None,
    **given: Any,
) -> Any:
    """Return the mean cross-entropy of the Transformer's logits against labels, for arguments named as in the layer."""
    logits, _ = transformer(source, target, {"E": E}, source_mask=source_visible, target_mask=target_visible, **given)
    return cross_entropy(logits, labels)


def _positioned(tokens: Array, embedding: Weights) -> Matrix:
    """Return the embedded tokens plus the positional encoding."""
    X = embed(tokens, **embedding)
    return add(X, positional_encoding(len(X), len(X[0])))
