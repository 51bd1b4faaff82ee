"""Positions: sinusoidal and learned encodings, rotary embedding, biases of the scores."""

from derivations.positions.position_bias import alibi_attention, learned_positions
from derivations.positions.positional_encoding import positional_encoding
from derivations.positions.rotary import interpolated, interpolated_by_wavelength, rotary_embedding
from derivations.positions.rotary_scaling import SCALINGS, amplitude, reach, same_reach, yarn_range

__all__ = [
    "SCALINGS",
    "alibi_attention",
    "amplitude",
    "interpolated",
    "interpolated_by_wavelength",
    "learned_positions",
    "positional_encoding",
    "reach",
    "rotary_embedding",
    "same_reach",
    "yarn_range",
]
