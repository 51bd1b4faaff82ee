"""Layers that carry a state from position to position: linear recurrences, state spaces, short convolutions."""

from derivations.recurrences.causal_convolution import causal_convolution
from derivations.recurrences.gated_delta_net import gated_delta_net, gated_delta_rule, kimi_delta_attention
from derivations.recurrences.gated_recurrence import gated_recurrence
from derivations.recurrences.lightning_attention import decaying_heads, lightning_attention
from derivations.recurrences.linear_recurrence import linear_recurrence
from derivations.recurrences.selective_state_space import selective_state_space, selective_states
from derivations.recurrences.short_convolution import short_convolution
from derivations.recurrences.state_space_heads import head_states, state_space_heads
from derivations.recurrences.time_mixing import channel_mixing, time_mixing

__all__ = [
    "causal_convolution",
    "channel_mixing",
    "decaying_heads",
    "gated_delta_net",
    "gated_delta_rule",
    "gated_recurrence",
    "head_states",
    "kimi_delta_attention",
    "lightning_attention",
    "linear_recurrence",
    "selective_state_space",
    "selective_states",
    "short_convolution",
    "state_space_heads",
    "time_mixing",
]
