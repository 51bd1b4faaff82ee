"""Frequent questions about a model, answered exactly from its counts.

The width for a budget of parameters; the lengths at which attention costs more than the feed-forward networks, and a
cache of keys and values is larger than the weights; the share of the parameters in feed-forward networks; the effect of
the number of heads; the cost of training. An answer has an exact number, words, and a closed form in the sizes of the
model if there is one.
"""

from derivations.costs.key_value_caches import cached_numbers
from derivations.costs.questions.answer import Answer
from derivations.costs.questions.compute import decode_intensity, tokens_for_budget, training_compute
from derivations.costs.questions.heads import Effect, effect_of_heads
from derivations.costs.questions.lengths import cache_against_weights, crossover
from derivations.costs.questions.shares import embedding_share, feed_forward_share
from derivations.costs.questions.sizes import solve_size
from derivations.costs.questions.summary import summary

__all__ = [
    "Answer",
    "Effect",
    "cache_against_weights",
    "cached_numbers",
    "crossover",
    "decode_intensity",
    "effect_of_heads",
    "embedding_share",
    "feed_forward_share",
    "solve_size",
    "summary",
    "tokens_for_budget",
    "training_compute",
]
