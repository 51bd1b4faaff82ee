"""Operations that read entries at other places: slices, reshapes, joined arrays, choices, positions, windows."""

from numeric.lifting.places.choosing import gathered, largest, picked, sorted_places
from numeric.lifting.places.joining import concatenate, padded, stack, tiled
from numeric.lifting.places.positions import (
    LARGEST_TABLE,
    band,
    identity,
    positions,
    powers,
    running_sums,
    table_of,
    tabulated,
    triangle,
)
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.places.slices import flipped, item, padded_by_own, rolled, set_along, written
from numeric.lifting.places.windows import convolved, pooled, pooled_to, window_entries

__all__ = [
    "LARGEST_TABLE",
    "band",
    "concatenate",
    "convolved",
    "flipped",
    "gathered",
    "identity",
    "item",
    "largest",
    "padded",
    "padded_by_own",
    "picked",
    "pooled",
    "pooled_to",
    "positions",
    "powers",
    "reshape",
    "rolled",
    "running_sums",
    "set_along",
    "sorted_places",
    "stack",
    "table_of",
    "tabulated",
    "tiled",
    "triangle",
    "window_entries",
    "written",
]
