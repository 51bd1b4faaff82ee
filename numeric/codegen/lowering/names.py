"""Names in the generated code of a layer: those that are reserved, and new ones that differ from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from numeric.runtime.structure import RESERVED, identifier

__all__ = ["HELPERS", "OWN", "all_rows_of", "beside_own", "names_of", "of_items", "with_derived"]

_TILES = (
    "column_of_ones",
    "each_tile",
    "empty_rows",
    "flat_rows",
    "items_of",
    "of_batch",
    "online_step",
    "product_of_heads",
    "product_of_rows",
    "row_of",
    "shaped",
)
HELPERS = {"numeric.runtime.few_rows": ("rows_times",), "numeric.runtime.tiles": _TILES}  # which the code calls
LOCALS = (
    *("batch", "dtype", "items", "lowest", "threads", "tile", "weights"),
    *("first", "last", "begin", "end", "g", "t", "count", "rows", "low", "high"),
    *("a", "b", "heads_at_once", "c", "e", "keys_at_once"),
)
OWN = frozenset({*RESERVED, *(name for names in HELPERS.values() for name in names), *LOCALS})
NUMBERED = re.compile(r"(loop|piece)_\d+")


def all_rows_of(name: str) -> str:
    """Return the name of the array with the rows of all items, from the name of a variable."""
    return f"{name}_all"


def of_items(name: str) -> str:
    """Return the name of all rows of the items of a tile, from the name of a variable."""
    return f"{name}_of_items"


def with_derived(name: str) -> set[str]:
    """Return the name of a variable with the names derived from it: all rows, a tile's items, a block of heads."""
    return {name, all_rows_of(name), of_items(name), f"{name}_"}


def beside_own(name: str) -> str:
    """Return a name with underscores added until it differs from all reserved names."""
    while name in OWN or NUMBERED.fullmatch(name):
        name += "_"
    return name


def names_of(symbols: Iterable[Any], taken: frozenset[str]) -> dict[Any, str]:
    """Return a name for each variable, size and scalar: its own, with underscores added where that is taken."""
    names: dict[Any, str] = {}
    used = set(taken)
    for each in dict.fromkeys(symbols):
        name = beside_own(identifier(each.name))
        while used & with_derived(name):
            name += "_"
        names[each] = name
        used |= with_derived(name)
    return names
