"""The purposes of parameters and operations: attention, feed-forward networks, embeddings and head, norms.

Parts of a model, and components of its parameters, are grouped by their names; this module counts nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Integer, expand

from derivations.language.counting.operations import Flops

__all__ = [
    "FLOPS",
    "PARAMETERS",
    "flops_by_purpose",
    "parameters_by_purpose",
    "purpose_of_component",
    "purpose_of_part",
]

PARAMETERS = ("embedding and head", "attention", "feed-forward", "norms and the rest")
FLOPS = ("attention projections", "attention pairs", "feed-forward", "embedding and head", "norms and the rest")

_NETWORKS = frozenset({"feed_forward", "experts"})
_ATTENTIONS = frozenset({"self_attention", "cross_attention"})
_HEADS = frozenset({"", "comparison", "projector", "stem", "transform", "pooler", "classifier", "next_sentence"})
_ENDS = ("_embedding", "embedding_projection", "_stem", "cls_token_or_segment_embedding", "pooler_and_nsp")


def purpose_of_part(path: str) -> str:
    """Return the purpose of the operations of a part, from its dotted name; "" is the model itself.

    Definition   pairs: scores, softmax and weighted sums, the operations on each pair of positions; projections: the
                 rest of attention; feed-forward: networks, experts and their router; embedding and head: the parts
                 before and after the stacks; the rest: norms and residual sums
    """
    names = path.removeprefix("pictures.").split(".")
    if not _ATTENTIONS.isdisjoint(names):
        return "attention pairs" if names[-1] == "attention" else "attention projections"
    if not _NETWORKS.isdisjoint(names):
        return "feed-forward"
    return "embedding and head" if names[0] in _HEADS else "norms and the rest"


def purpose_of_component(name: str) -> str:
    """Return the purpose of the parameters of a component.

    The router counts with the experts, and a vision tower counts like a stack.
    """
    name = name.removeprefix("pictures.")
    if name.startswith(("layers.ffn_", "layers.router_")):
        return "feed-forward"
    if name.startswith(("layers.self_attention_", "layers.cross_attention_", "layers.attention_", "layers.relative_")):
        return "attention"
    head = name.startswith(
        ("lm_head_weights", "lm_head_biases", "classifier_", "projector_", "comparison_")
    ) or name.endswith(_ENDS)
    return "embedding and head" if head else "norms and the rest"


def flops_by_purpose(parts: Mapping[str, Flops], *, products: bool = False) -> dict[str, Expr]:
    """Return the operations of parts of a forward pass by purpose, or only those of products.

    Assumes      parts from `flops_by_part`; in a training step the gradient of scores and weighted sums, which have no
                 weights, is counted with the projections around them, so that the two cannot be separated
    Units        those of the parts; the values add up to the same total
    """
    counts = dict.fromkeys(FLOPS, Integer(0))
    for path, flops in parts.items():
        counts[purpose_of_part(path)] += flops.matmul if products else flops.total
    return {purpose: expand(value) for purpose, value in counts.items()}


def parameters_by_purpose(components: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the parameters of components, from `parameters_by_component`, by purpose.

    Units        parameters; the values add up to those of the components
    """
    counts = dict.fromkeys(PARAMETERS, Integer(0))
    for name, value in components.items():
        counts[purpose_of_component(name)] += value
    return {purpose: expand(value) for purpose, value in counts.items()}
