"""The names of layers and topics in words, with the hyphens and capitals that their ids lack.

Definition   words separated by underscores, except the parts of `SPELLED`, the longest of which that fits is taken
Result       `masked_scaled_dot_product_attention` is "masked scaled dot-product attention"
"""

import re
from collections.abc import Mapping

__all__ = ["SPELLED", "in_words"]

SPELLED: Mapping[str, str] = {  # parts of ids whose words are not written as the id has them
    "alibi": "ALiBi",
    "cross_entropy": "cross-entropy",
    "delta_net": "DeltaNet",
    "dot_product_attention": "dot-product attention",
    "embedding_axes": "embedding on axes",
    "embedding_halves": "embedding of halves",
    "feed_forward": "feed-forward network",
    "feed_forward_gelu": "feed-forward network with GELU",
    "flops": "FLOPs",
    "gelu": "GELU",
    "grouped_query": "grouped-query",
    "kimi_delta_attention": "Kimi Delta attention",
    "low_rank": "low-rank",
    "multi_head": "multi-head",
    "norm_inference": "norm at inference",
    "pre_norm": "pre-norm",
    "rms": "RMS",
    "soft_cross_entropy": "cross-entropy with soft labels",
    "transformer": "Transformer",
}
_PART = re.compile(rf"(?<![^_])(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))})(?![^_])")


def in_words(name: str) -> str:
    """Return a name in words, for the middle of a sentence."""
    return _PART.sub(lambda part: SPELLED[part[0]], name).replace("_", " ")
