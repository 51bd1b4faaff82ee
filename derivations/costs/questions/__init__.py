"""Questions that people ask of a model, answered exactly from its counts.

How wide for a budget of parameters; where attention costs more than the feed-forward networks, and a cache of keys and
values is larger than the weights; which share of the parameters feed-forward networks hold; what the number of heads
changes; what training takes. An answer is a closed form in the sizes of the model where there is one, an exact number,
and words.
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
