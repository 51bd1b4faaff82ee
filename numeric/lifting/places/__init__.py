"""Operations on symbolic arrays that work by index: slices, reshapes, joins, gathers, masks of positions, windows."""

from numeric.lifting.places.choosing import gathered, largest, picked, sorted_places
from numeric.lifting.places.determinants import determinant, inverse, log_determinant, solved
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
from numeric.lifting.places.products import product_along, running_products, with_kernel
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.places.slices import flipped, item, padded_by_own, rolled, set_along, written
from numeric.lifting.places.spreading import convolved_transposed, enlarged, spread, windows_added
from numeric.lifting.places.windows import convolved, pooled, pooled_to, window_entries, windows

__all__ = [
    "LARGEST_TABLE",
    "band",
    "concatenate",
    "convolved",
    "convolved_transposed",
    "determinant",
    "enlarged",
    "flipped",
    "gathered",
    "identity",
    "inverse",
    "item",
    "largest",
    "log_determinant",
    "padded",
    "padded_by_own",
    "picked",
    "pooled",
    "pooled_to",
    "positions",
    "powers",
    "product_along",
    "reshape",
    "rolled",
    "running_products",
    "running_sums",
    "set_along",
    "solved",
    "sorted_places",
    "spread",
    "stack",
    "table_of",
    "tabulated",
    "tiled",
    "triangle",
    "window_entries",
    "windows",
    "windows_added",
    "with_kernel",
    "written",
]
