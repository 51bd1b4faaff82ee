"""Layers that carry a state from position to position: linear recurrences, state spaces, short convolutions."""

from derivations.recurrences.causal_convolution import causal_convolution
from derivations.recurrences.selective_state_space import selective_state_space, selective_states
from derivations.recurrences.short_convolution import short_convolution
from derivations.recurrences.state_space_heads import head_states, norm_of_groups, state_space_heads

__all__ = [
    "causal_convolution",
    "head_states",
    "norm_of_groups",
    "selective_state_space",
    "selective_states",
    "short_convolution",
    "state_space_heads",
]
