"""Layers that carry a state from position to position: linear recurrences, state spaces, short convolutions."""

from derivations.recurrences.causal_convolution import causal_convolution
from derivations.recurrences.gated_recurrence import gated_recurrence
from derivations.recurrences.lightning_attention import decaying_heads, lightning_attention
from derivations.recurrences.linear_recurrence import linear_recurrence
from derivations.recurrences.selective_state_space import selective_state_space, selective_states
from derivations.recurrences.short_convolution import short_convolution
from derivations.recurrences.state_space_heads import head_states, norm_of_groups, state_space_heads

__all__ = [
    "causal_convolution",
    "decaying_heads",
    "gated_recurrence",
    "head_states",
    "lightning_attention",
    "linear_recurrence",
    "norm_of_groups",
    "selective_state_space",
    "selective_states",
    "short_convolution",
    "state_space_heads",
]
