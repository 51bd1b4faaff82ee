"""The masks of a stack: which positions see which, by the windows, chunks and reaches of its blocks.

Definition   in a causal stack position i sees k <= i, from its window or its chunk on; where it looks ahead it sees the
             k up to last[i], and in a stack with a prefix from first[i] on, where there are windows; in any other stack
             it sees the k with |i - k| up to its reach
Shapes       masks (n, n), last and first (n,)
Source       Beltagy, Peters and Cohan (2020), section 3.1, for windows; Meta (2025), Llama 4, for chunks; Gemma Team
             (2025), Gemma 3, and Beyer et al. (2024), PaliGemma, section 3, for positions that see later ones
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sympy import Expr, Ge, Lambda, floor

from derivations.architectures.description import Attention, Block, Stack
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Variable, require, token_array
from derivations.language.arrays.functions import CausalMask, Lookup, MaskConjunction, WindowMask
from derivations.language.arrays.masks import band_mask
from derivations.language.arrays.scalars import Iverson
from derivations.symbols import k, n, pos

__all__ = ["is_masked", "mask_of", "masks_of", "name_of_mask", "positions_seen"]


def mask_of(block: Block) -> object:
    """Return the key of a block's mask: its window, its chunks, or its reach to both sides."""
    if isinstance(block.attention, Attention) and block.attention.chunk is not None:
        return "chunk", block.attention.chunk
    return block.window if block.reach is None else block.reach


def name_of_mask(key: object) -> str:
    """Return the name of the mask of a key."""
    return "M" if key is None else f"M_{key[1] if isinstance(key, tuple) else key}"


def is_masked(block: Block, masks: Collection[object]) -> bool:
    """Return whether a block has attention, and a mask for it."""
    return isinstance(block.attention, Attention) and mask_of(block) in masks


def positions_seen(stack: Stack) -> list[Variable]:
    """Return the inputs with the last and the first position that each position of a stack sees.

    There are none unless positions see later ones. The first position is given only for a prefix with windows.
    """
    windows = {block.window for block in stack.blocks} - {None}
    if stack.ahead != "prefix" or not windows:
        return [] if stack.ahead == "none" else [token_array("last", n)]
    require(len(windows) == 1, lambda: "a prefix is described beside windows of one width")
    return [token_array("last", n), token_array("first", n)]


def masks_of(stack: Stack, seen: Sequence[Variable]) -> dict[object, Array]:
    """Return the masks of a stack by key; `seen` are its `positions_seen`."""
    masks: dict[object, Array] = {}
    if stack.causal:
        attended = [block.attention for block in stack.blocks if isinstance(block.attention, Attention)]
        chunks = {each.chunk: None for each in attended if each.chunk is not None}
        require(not (chunks and seen), lambda: "positions that see later ones are not described for chunks")
        for chunk in chunks:
            first = Tabulated(Lambda((pos, k), Iverson(Ge(k, chunk * floor(pos / chunk)))), n, n)
            masks["chunk", chunk] = MaskConjunction(CausalMask(n), first)
        # by text, because None and symbols have no common order
        for window in sorted({each.window for each in attended if each.chunk is None}, key=str):
            masks[window] = _looking_ahead(window, *seen) if seen else _looking_back(window)
    for reach in {block.reach: None for block in stack.blocks if block.reach is not None}:
        masks[reach] = band_mask(n, n, left=reach, right=reach)
    return masks


def _looking_back(window: Expr | None) -> Array:
    return CausalMask(n) if window is None else WindowMask(n, window)


def _looking_ahead(window: Expr | None, last: Array, first: Array | None = None) -> Array:
    """Return the mask of positions that see up to `last`, from their window or from `first` on."""
    up_to_last = Lookup(CausalMask(n), last)
    if window is None:
        return up_to_last
    from_start = band_mask(n, n, left=window - 1) if first is None else Lookup(band_mask(n, n, left=0), first)
    return MaskConjunction(up_to_last, from_start)
