"""Decoding with a cache: a layer rewritten for the next positions, and the theorem that permits it."""

from derivations.language.decoding.decoding import THEOREM, Decoding, next_positions

__all__ = [
    "THEOREM",
    "Decoding",
    "next_positions",
]
