"""Units of bytes, time and operations, with their kinds and sizes.

Definition   the size of a unit is told in the least unit of its kind; GB may be 10^9 or 2^30 bytes, so that it has two
Result       `conversions(source, target)`: what a number in one unit may be divided by to be one in the other, with
             what is assumed; nothing where the kinds differ. A number without a unit may be in any of the kind
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["BITS", "BYTES", "UNITS", "Unit", "conversions", "is_scaled", "of_the_kind"]

BITS = "bits"
THOUSAND = Fraction(1000)


@dataclass(frozen=True)
class Unit:
    """A unit. Of two sizes, the first is a power of ten and the second a power of two."""

    kind: str
    sizes: tuple[Fraction, ...]


def _units(kind: str, words: Mapping[str, tuple[int | Fraction, ...]]) -> dict[str, Unit]:
    units = ((names, Unit(kind, tuple(map(Fraction, sizes)))) for names, sizes in words.items())
    return {name: unit for names, unit in units for name in names.split()}


_PREFIXES = tuple(enumerate("KMGTP", 1))
BYTES: Mapping[str, Unit] = (
    _units("bytes", {"B": (1,)})
    | {f"{prefix}B": Unit("bytes", (THOUSAND**power, Fraction(1024) ** power)) for power, prefix in _PREFIXES}
    | {f"{prefix}iB": Unit("bytes", (Fraction(1024) ** power,)) for power, prefix in _PREFIXES}
    | _units("bytes", {"kB": (1000, 1024)})
)
UNITS: Mapping[str, Unit] = {
    **BYTES,
    **_units("bytes", {"byte bytes Bytes 字节 字節 位元组 位元組 バイト": (1,), "bit bits": (Fraction(1, 8),)}),
    **_units("time", {
        "ms": (Fraction(1, 1000),), "s seconds 秒": (1,), "minutes 分": (60,), "h hours 小时 小時 時間": (3600,),
        "days 天 日": (86400,),
    }),
    **_units("operations", {"FLOP FLOPs FLOPS flop flops": (1,)}),
    **{f"{prefix}FLOP{end}": Unit("operations", (THOUSAND**power,)) for power, prefix in _PREFIXES for end in "sS"},
}  # fmt: skip


def is_scaled(unit: str) -> bool:
    """Return whether a whole number in a unit may be rounded: 14 GB and 49,600 s may, 14 bytes may not."""
    return unit in BYTES or (unit in UNITS and (UNITS[unit].kind == "time" or UNITS[unit].sizes[0] != 1))


def of_the_kind(unit: str) -> frozenset[str]:
    """Return the units of the same kind."""
    kind = UNITS[unit].kind if unit in UNITS else None
    return frozenset(name for name, each in UNITS.items() if each.kind == kind)


def conversions(source: str, target: str) -> Iterator[tuple[Fraction, str]]:
    """Yield the factors to divide by to convert a number, each with its assumption. A missing unit is ""."""
    if source == target:
        yield Fraction(1), ""
    elif not source:
        yield from _without_unit(target)
    elif source in UNITS and target in UNITS and UNITS[source].kind == UNITS[target].kind:
        first, second = UNITS[source].sizes, UNITS[target].sizes
        for binary in range(max(len(first), len(second))):
            stands = " and ".join(name for name in (source, target) if len(UNITS[name].sizes) > 1)
            yield (
                second[min(binary, len(second) - 1)] / first[min(binary, len(first) - 1)],
                (f"{stands} counted by 1024" if binary else ""),
            )


def _without_unit(target: str) -> Iterator[tuple[Fraction, str]]:
    yield Fraction(1), ""
    if target not in UNITS:
        return
    if UNITS[target].kind == "bytes":
        sizes = UNITS[target].sizes
        for position, size in enumerate(sizes):
            yield size, f"{target} is 2^{size.numerator.bit_length() - 1} bytes" if position else ""
        yield from ((8 * size, f"the number without a unit is one of {BITS}") for size in sizes)
        return
    seen = {Fraction(1)}
    for name, unit in UNITS.items():
        ratio = UNITS[target].sizes[0] / unit.sizes[0]
        if unit.kind == UNITS[target].kind and ratio not in seen:
            seen.add(ratio)
            yield ratio, f"the number without a unit is in {name}"
