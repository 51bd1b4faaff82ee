"""Feed-forward networks: position-wise, gated, and mixtures of experts."""

from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import GATES, gated_feed_forward
from derivations.feed_forward.mixture_of_experts import E, K, d_expert, d_shared, mixture_of_experts

__all__ = [
    "GATES",
    "E",
    "K",
    "d_expert",
    "d_shared",
    "feed_forward",
    "gated_feed_forward",
    "mixture_of_experts",
]
