"""The letters of the calculator and their meanings: from the package, from architectures, and the calculator's own.

Definition   a type has the bytes of a number, `NUMBER`; what is computed has at least two, `WORKING`, since a type of
             one byte is for storage; an optimiser keeps a copy in float32 of weights in a narrower type, `COPY`
"""

from __future__ import annotations

from collections.abc import Mapping

from derivations.language.printing.alphabet import meaning
from derivations.symbols import batch, size

__all__ = ["BATCH", "COPY", "NUMBER", "WORKING", "meaning_of"]

BATCH, NUMBER, WORKING, COPY = batch, size("b"), size("b_act"), size("b_copy")
OWN: Mapping[str, str] = {
    NUMBER.name: "bytes of a stored number",
    WORKING.name: "bytes of a number of activations and cache: as stored, at least 2",
    COPY.name: "bytes of the float32 copy of a weight: 4, or 0 where weights have 4 or more",
    "n": "positions of a text",
    "m": "positions of the source",
    "g": "heads of keys and values",
    "r": "query heads that share keys and values",
    "d_rotary": "columns that are rotated",
    "positions": "rows of the table of positions",
    "source_positions": "rows of the table of source positions",
    "mel": "channels of a frame of sound",
    "window": "positions that a layer with a window sees",
    "buckets": "buckets of distances",
    "segments": "kinds of segments",
    "experts": "experts of a layer",
    "chosen": "experts that a token chooses",
    "d_expert": "hidden width of an expert",
    "d_shared": "hidden width of the shared experts",
    "expert_groups": "groups of experts",
    "kept_groups": "groups that a token may choose from",
    "classes": "classes that are told apart",
    "patch": "side of a patch",
    "channels": "channels of a picture",
    "patches": "patches of a picture",
    "d_embedding": "width of the embedding",
    "h_power": "power of two of the slopes of heads",
    "key_value_rank": "width of the latent keys and values",
    "query_rank": "width of the latent queries",
    "N_periods": "repetitions of a period of layers",
    "N_full": "layers without a window",
    "N_window": "layers with a window",
    "N_dense": "layers without experts",
    "N_experts": "layers with experts",
}
SIDES = ("encoder", "decoder")


def meaning_of(name: str) -> str:
    """Return the meaning of a letter, or an empty text; `h_encoder` is the number of heads of the encoder."""
    stem, _, last = name.rpartition("_")
    found = OWN.get(name) or meaning(name)
    if found or not stem:
        return found
    of = f"of the {last}" if last in SIDES else f"in run {last}" if last.isdigit() else ""
    return f"{meaning_of(stem)}, {of}" if of and meaning_of(stem) else ""
