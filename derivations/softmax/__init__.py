"""Softmax: its entries, Jacobian and limits, log-sum-exp, and the cross-entropy of its logits."""

from derivations.softmax.cross_entropy import cross_entropy, negative_log_likelihood
from derivations.softmax.softmax import softmax

__all__ = [
    "cross_entropy",
    "negative_log_likelihood",
    "softmax",
]
