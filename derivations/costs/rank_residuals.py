"""The bytes of saved residuals on one of several devices.

Definition   an array that has an axis of a divided size (heads, hidden columns) is divided; sequence parallel devices
             divide all others, too, which have one axis of positions; without that they are on every device
Units        bytes
Source       Korthikanti et al. (2022), section 4.2 and table 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Expr, Integer, expand

from derivations.language.counting.memory_counts import Storage

__all__ = ["BYTES_OF_KIND", "divided_entries", "residual_bytes"]

BYTES_OF_KIND: Mapping[str, int] = {"real": 2, "boolean": 1, "integer": 8}  # tokens are 64-bit integers


def residual_bytes(
    storages: Iterable[Storage],
    shares: Mapping[Expr, Expr],
    sequence: Expr | int = 1,
    *,
    kinds: Mapping[str, int] = BYTES_OF_KIND,
    roles: tuple[str, ...] = ("input", "activation"),
) -> Expr:
    """Return the bytes of some storages on one device; `sequence` is the number of devices that share positions.

    Definition   `shares` replaces divided sizes, `kinds` are the bytes of an entry, `roles` those that count
    """
    counted = (
        kinds.get(storage.kind, 0) * divided_entries(storage, shares, sequence)
        for storage in storages
        if storage.role in roles
    )
    return expand(sum(counted, Integer(0)))


def divided_entries(storage: Storage, shares: Mapping[Expr, Expr], sequence: Expr | int = 1) -> Expr:
    """Return the entries of a storage on one device."""
    entries = storage.elements
    shared = entries.xreplace(dict(shares))
    return entries / sequence if shared == entries else shared
