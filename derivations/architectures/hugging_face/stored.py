"""How a configuration states the storage of its numbers: `torch_dtype` and `quantization_config`.

For an unknown layout only the bytes of the weights are refused, with the reason: parameters and operations do not
depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sympy import Symbol

from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.storage import BYTES, METHODS, Layout, Method, Storage, b, g, p

__all__ = ["storage_of"]

DTYPES: Mapping[str, str] = {name: name for name in BYTES} | {
    "half": "float16",
    "float": "float32",
    "double": "float64",
}
FLOAT8 = re.compile(r"float8_e[0-9]m[0-9][a-z]{0,5}")
A_NAME = re.compile(r"[\w.*\-]{1,200}")  # of modules: words, dots, and stars for any words
MOST_STARS, MOST_NAMES = 3, 100_000
GIVEN = ("quantization_config", "compression_config")


def storage_of(f: Fields, inner: Mapping[str, object] | None = None) -> Storage:
    """Read how numbers are stored; `inner` are the fields of the text model, used if the outer ones are missing."""
    dtype = _dtype(f, inner or {})
    given = [f.take(field, None) for field in GIVEN]
    config = next((each for each in (*given, (inner or {}).get(GIVEN[0])) if each), None)
    if config is None:
        return Storage(dtype)
    if not isinstance(config, dict):
        raise f.error(GIVEN[0], f"is {shown(config)}; an object or null is needed")
    try:
        return _quantised(dtype, config)
    except _Unknown as unknown:
        return Storage(dtype, str(config.get("quant_method", ""))[:60], refused=str(unknown))


class _Unknown(ValueError):
    """The storage is not known; the message is one sentence."""


def _dtype(f: Fields, inner: Mapping[str, object]) -> str | None:
    """Return the type of all numbers that are not packed, or None if the configuration gives none."""
    word = f.take("dtype", None, ("torch_dtype",)) or inner.get("dtype") or inner.get("torch_dtype")
    if word is None or word == "auto":
        return None
    name = str(word).removeprefix("torch.")
    if name in DTYPES:
        return DTYPES[name]
    if FLOAT8.fullmatch(name):
        return "float8"
    raise f.error(f.given("dtype", ("torch_dtype",)) or "dtype", f"is {shown(word)}; known are {', '.join(BYTES)}")


def _quantised(dtype: str | None, config: Mapping[str, object]) -> Storage:
    name = config.get("quant_method")
    if name is None and (config.get("load_in_8bit") or config.get("load_in_4bit")):
        name = "bitsandbytes"  # as its first releases wrote it
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        raise _Unknown(
            f"the tensors that quant_method {shown(name)} stores are not known here; known are {', '.join(METHODS)}"
        )
    for field, value in config.items():
        _check_field(field, value, method)
    layout = next((each for each in method.layouts if _is_met(each, config)), None)
    if layout is None:
        raise _Unknown(f"{GIVEN[0]} of {name} selects no layout; give load_in_8bit or load_in_4bit")
    numbers = _numbers(method, config)
    missing = {s.name for tensor in layout.tensors for s in tensor.entries.free_symbols & {b, p}} - {
        s.name for s in numbers
    }
    if missing:
        raise _Unknown(f"{GIVEN[0]} of {name} gives no {', '.join(sorted(missing))}")
    return Storage(dtype, str(name), layout, method.packs, numbers, _left_out(method, config))


def _check_field(field: str, value: object, method: Method) -> None:
    """Refuse a field that may change a size and is not understood."""
    known = ("quant_method", *method.bits, *method.group, *method.left_out, *method.harmless)
    if field in method.only:
        if not any(value == each and type(value) is type(each) for each in method.only[field]):
            raise _Unknown(f"{GIVEN[0]}.{field} is {shown(value)}; sizes are known for {_either(method.only[field])}")
    elif field not in known and not any(field in layout.where for layout in method.layouts):
        raise _Unknown(f"{GIVEN[0]}.{field[:60]!r} = {shown(value)} is not understood and may change sizes")


def _either(values: tuple[object, ...]) -> str:
    return " or ".join(map(shown, values))


def _is_met(layout: Layout, config: Mapping[str, object]) -> bool:
    return all(config.get(field) == value for field, value in layout.where.items())


def _numbers(method: Method, config: Mapping[str, object]) -> dict[Symbol, int]:
    """Return the bits of a number, and the numbers of inputs and outputs that share a scale.

    There is no group if all inputs share one.
    """
    found: dict[Symbol, int] = {}
    for field in method.bits:
        if field in config:
            found[b] = _whole(field, config[field])
    if method.group and not any(field in config for field in method.group):
        raise _Unknown(f"{GIVEN[0]} gives no {method.group[0]}")
    for field in method.group:
        value = config.get(field)
        if isinstance(value, list) and len(value) == 2:
            found |= {p: _whole(field, value[0]), g: _whole(field, value[1])}
        elif value not in (None, -1):
            found[g] = _whole(field, value)
    return found


def _whole(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise _Unknown(f"{GIVEN[0]}.{field} is {shown(value)}; a whole number is needed")
    return value


def _left_out(method: Method, config: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of modules that are not packed; the head, unless a list says otherwise."""
    given = [config[field] for field in method.left_out if config.get(field) is not None]
    names: list[str] = []
    for value in given:
        if not isinstance(value, list) or len(value) > MOST_NAMES:
            raise _Unknown(f"{GIVEN[0]} names modules as {shown(value)}; a list is needed")
        for name in value:
            if not isinstance(name, str) or not A_NAME.fullmatch(name) or name.count("*") > MOST_STARS:
                raise _Unknown(f"{GIVEN[0]} names a module {shown(name)}, which is not a name with stars for words")
            names.append(name)
    return (*names, *(["lm_head"] if method.head_too or not given else []))
