"""Devices and engines by name: one file of data, and files of a user's own in the same form.

Definition   a device has bytes of memory, bytes a second between memory and chip, and operations a second by the type
             of the operands; an engine takes a fraction of the memory and hands out the cache in pages of positions
Units        bytes, bytes a second, FLOPs a second; all exact numbers
Source       each entry of `hardware.toml` names its own, with a date
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from sympy import Expr, Integer, Rational

__all__ = [
    "Device",
    "Engine",
    "device_named",
    "device_names",
    "devices",
    "engine_named",
    "engine_names",
    "own_device",
    "rate",
]

TYPES = ("float64", "float32", "bfloat16", "float16", "float8", "int8", "float4", "int4")
# the type whose products an operand of a type without products of its own is converted to
FALLS_BACK: Mapping[str, tuple[str, ...]] = {
    "int4": ("int4", "int8", "float16", "bfloat16"),
    "float4": ("float4", "float8", "float16", "bfloat16"),
    "float8": ("float8", "float16", "bfloat16"),
    "int8": ("int8", "float16", "bfloat16"),
    "bfloat16": ("bfloat16", "float32"),
    "float16": ("float16", "float32"),
}
LARGEST = 10**30  # of a number that a user gives


@dataclass(frozen=True)
class Device:
    """One accelerator.

    Units        bytes; bytes a second; FLOPs a second of products of matrices, by the type of the operands
    """

    name: str
    title: str
    memory: Rational
    bandwidth: Rational | None = None
    flops: Mapping[str, Rational] = field(default_factory=dict)
    on_chip: Rational = Integer(0)
    link: Rational = Integer(0)
    node: int = 1
    source: str = "given by the user"
    date: str = ""


@dataclass(frozen=True)
class Engine:
    """A program that serves models: its fraction of the memory, positions per page and positions per step."""

    name: str
    title: str
    fraction: Rational
    page: int
    chunk: int
    source: str
    date: str


def rate(device: Device, dtype: str) -> Rational | None:
    """Return the FLOPs a second of matrix products in a type, or None if the device states none.

    Definition   those of the type itself, else of the next type that holds its numbers
    """
    for each in FALLS_BACK.get(dtype, (dtype,)):
        if each in device.flops:
            return device.flops[each]
    return None


# --- by name --------------------------------------------------------------------------------------------------------


def device_names() -> tuple[str, ...]:
    """Return the names of the devices of the package."""
    return tuple(_devices())


def devices() -> tuple[Device, ...]:
    """Return the devices of the package."""
    return tuple(_devices().values())


def device_named(name: str, own: Path | None = None) -> Device:
    """Return a device by its name, from a file of the user first.

    Raises       LookupError with the nearest names; ValueError for a file that cannot be read
    """
    found = {**_alike(), **_devices(), **(_read(_text(own), str(own)) if own is not None else {})}
    folded = name.lower().replace(" ", "-").replace("_", "-").removeprefix("nvidia-")
    if folded in found:
        return found[folded]
    near = get_close_matches(folded, found, 3, 0.5)
    hint = f"did you mean {', '.join(near)}" if near else f"there are {', '.join(_devices())}"
    listed = "; `derivations fit --gpus` lists all" if near else ""
    raise LookupError(f"there is no device {name!r}; {hint}, or give --memory, --bandwidth and --flops{listed}")


def own_device(
    memory: Rational, bandwidth: Rational | None = None, flops: Rational | None = None, base: Device | None = None
) -> Device:
    """Return a device with numbers that the user gives, and the others from `base`, if any."""
    start = base or Device("own", "a device of your own", memory)
    rates = start.flops if flops is None else dict.fromkeys(TYPES, flops)
    return replace(
        start,
        title=start.title if base is None else f"{base.title}, with numbers of your own",
        memory=memory,
        bandwidth=start.bandwidth if bandwidth is None else bandwidth,
        flops=rates,
    )


def engine_names() -> tuple[str, ...]:
    """Return the names of the engines."""
    return tuple(_engines())


def engine_named(name: str) -> Engine:
    """Return an engine by its name.

    Raises       LookupError with the names there are
    """
    if name not in _engines():
        raise LookupError(f"there is no engine {name!r}; there are {', '.join(_engines())}")
    return _engines()[name]


# --- the file -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Mapping[str, Mapping[str, object]]]:
    return tomllib.loads(files("derivations.costs.fit").joinpath("hardware.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _devices() -> Mapping[str, Device]:
    return {name: _device(name, fields, "hardware.toml") for name, fields in _data()["devices"].items()}


@lru_cache(maxsize=1)
def _alike() -> Mapping[str, Device]:
    other = ((each, name) for name, fields in _data()["devices"].items() for each in _texts(fields.get("alike", ())))
    return {each: _devices()[name] for each, name in other}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


@lru_cache(maxsize=1)
def _engines() -> Mapping[str, Engine]:
    return {
        name: Engine(
            name,
            str(fields["title"]),
            Rational(str(fields["fraction"])),
            int(str(fields["page"])),
            int(str(fields["chunk"])),
            str(fields["source"]),
            str(fields["date"]),
        )
        for name, fields in _data()["engines"].items()
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: the file of devices cannot be read ({error.strerror}); name another") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: the file of devices is not UTF-8 text; save it as such") from None


def _read(text: str, place: str) -> dict[str, Device]:
    """Return the devices of a user's file."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: the file of devices is not TOML ({error})") from None
    tables = data.get("devices")
    if not isinstance(tables, dict) or not all(isinstance(each, dict) for each in tables.values()):
        raise ValueError(f"{place}: no table [devices.NAME] is in the file; write one with memory and bandwidth")
    return {name.lower(): _device(name, fields, place) for name, fields in tables.items()}


KNOWN = ("title", "alike", "memory", "bandwidth", "on_chip", "link", "node", "flops", "source", "date")


def _device(name: str, fields: Mapping[str, object], place: str) -> Device:
    unknown = [each for each in fields if each not in KNOWN]
    if unknown:
        raise ValueError(f"{place}: device {name} has a field {unknown[0]!r}; the fields are {', '.join(KNOWN)}")
    rates = fields.get("flops", {})
    if not isinstance(rates, dict) or not set(rates) <= set(TYPES):
        raise ValueError(f"{place}: flops of device {name} is a table by type of number: {', '.join(TYPES)}")
    if "memory" not in fields:
        raise ValueError(f"{place}: device {name} has no memory; give its bytes")
    of = f"{place}: device {name}"
    return Device(
        name,
        str(fields.get("title", name)),
        _positive(f"{of}, memory", fields["memory"]),
        _positive(f"{of}, bandwidth", fields["bandwidth"]) if "bandwidth" in fields else None,
        {key: _positive(f"{of}, flops of {key}", value) for key, value in rates.items()},
        _not_negative(f"{of}, on_chip", fields.get("on_chip", 0)),
        _not_negative(f"{of}, link", fields.get("link", 0)),
        int(_positive(f"{of}, node", fields.get("node", 1))),
        str(fields.get("source", place)),
        str(fields.get("date", "")),
    )


def _positive(what: str, value: object) -> Rational:
    number = _not_negative(what, value)
    if number == 0:
        raise ValueError(f"{what} is 0; give a number above 0")
    return number


def _not_negative(what: str, value: object) -> Expr:
    """Return an exact number that is at least 0. For example, 3.35e12 is read by its decimal digits."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        raise ValueError(f"{what} is {value!r:.40}; give a number from 0 to 1e30")
    return Rational(repr(value))
