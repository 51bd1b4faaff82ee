"""Tensors of a checkpoint in the safetensors format: one file, or shards that an index names; never pickle.

Definition   a file is the length of a header (8 bytes, little-endian), the header (JSON: for each tensor its type,
             shape, first and last byte), then the bytes of the tensors, one after the other without holes
Assumes      numbers that are not finite are accepted; bfloat16 is widened exactly to float32
Source       the format's description at https://github.com/huggingface/safetensors

Headers are not trusted: each size is compared with the shape beside it and with the bytes of the file.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from numeric.runtime.checks import InputError

__all__ = ["Tensor", "find_tensors", "read_header", "read_json", "read_tensor"]

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
LARGEST_HEADER = 25_000_000  # bytes, room for 100,000 tensors; also of an index
BITS = {  # of one entry, by the names of the format
    **{"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "BOOL": 8},
    **{"U64": 64, "U32": 32, "U16": 16, "U8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "C64": 64, "F4": 4},
    **{"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F6_E2M3": 6, "F6_E3M2": 6},
}
REAL = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # readable types, and the types of their bytes


@dataclass(frozen=True)
class Tensor:
    """The location of a tensor: its file, its type and shape, and the offset of its first byte."""

    name: str
    file: Path
    kind: str
    shape: tuple[int, ...]
    start: int


# --- the list of tensors --------------------------------------------------------------------------------------------


def find_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder by name, read from the headers of its files.

    Raises       InputError where there is no file of tensors, a file is damaged, or shards and index contradict
    """
    if (folder / SINGLE).exists():
        return read_header(folder / SINGLE)
    if (folder / INDEX).exists():
        return _sharded(folder)
    pickled = next((name for name in PICKLED if (folder / name).exists()), None)
    if pickled:
        raise InputError(f"{folder} has only {pickled}: pickled weights are not read; save them as {SINGLE}")
    raise InputError(f"{folder} has neither {SINGLE} nor {INDEX}; give the folder of a checkpoint")


def _sharded(folder: Path) -> dict[str, Tensor]:
    index = folder / INDEX
    places = read_json(index, _bytes(index)).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise InputError(f"{index}: weight_map must be an object from tensor names to file names")
    if odd := [name for name in (*places, *places.values()) if not name.isprintable()]:
        raise InputError(f"{index}: the name {odd[0]!r:.80} in weight_map must consist of printable letters")
    found: dict[str, Tensor] = {}
    for shard in sorted(set(places.values())):
        if Path(shard).name != shard or "\\" in shard or not shard.endswith(".safetensors"):
            raise InputError(
                f"{index}: weight_map names {shard!r:.80}, which must be a .safetensors file of the same folder"
            )
        named = {tensor for tensor, place in places.items() if place == shard}
        there = read_header(folder / shard)
        if missing := sorted(named - there.keys()):
            raise InputError(f"{folder / shard}: the tensor {missing[0]} is missing, which {INDEX} places there")
        if extra := sorted(there.keys() - named):
            raise InputError(f"{folder / shard}: the tensor {extra[0]} is extra, {INDEX} does not place it there")
        found |= there
    return found


# --- one file -------------------------------------------------------------------------------------------------------


def read_header(file: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name.

    Raises       InputError where the file is truncated, or its header is not JSON, too long or contradicts the bytes
    """
    try:
        with file.open("rb") as stream:
            head = stream.read(8)
            length = int.from_bytes(head, "little")
            rest = file.stat().st_size - 8 - length
            if len(head) < 8 or rest < 0:
                there = f"has a header of {length} bytes by its first 8 bytes" if len(head) == 8 else "ends before them"
                raise InputError(f"{file}: truncated, for it {there} and has {file.stat().st_size} bytes in all")
            if length > LARGEST_HEADER:
                raise InputError(f"{file}: its header has {length} bytes, more than the {LARGEST_HEADER} that are read")
            header = read_json(file, stream.read(length))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
    header.pop("__metadata__", None)
    entries = [_entry(file, name, told) for name, told in header.items()]
    _check_contiguous(file, entries, rest)
    return {name: Tensor(name, file, kind, shape, 8 + length + a) for name, kind, shape, a, _ in entries}


def read_json(file: Path, text: bytes) -> dict[str, Any]:
    """Return the object of a JSON text. Error messages name the file.

    Raises       InputError where the text is not UTF-8, not JSON, not an object, or has a key twice
    """
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repetition)
    except RecursionError:
        raise InputError(f"{file}: its JSON is nested too deeply") from None
    except ValueError as error:  # from the decoder, the parser, a number with too many digits, or a repeated key
        raise InputError(f"{file}: not JSON in UTF-8: {str(error).splitlines()[0]}") from None
    if not isinstance(value, dict):
        raise InputError(f"{file}: a JSON object is needed, not {type(value).__name__}")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, value in pairs:
        if name in names:
            raise ValueError(f"{name!r:.80} stands there twice")
        names[name] = value
    return names


def _bytes(file: Path) -> bytes:
    try:
        if (length := file.stat().st_size) > LARGEST_HEADER:
            raise InputError(f"{file} has {length} bytes, more than the {LARGEST_HEADER} that are read")
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None


def _entry(file: Path, name: str, told: Any) -> tuple[str, str, tuple[int, ...], int, int]:
    """Return name, type, shape, first and last byte of a tensor, from its entry in the header."""
    if not name.isprintable():
        raise InputError(f"{file}: the name {name!r:.80} of a tensor must consist of printable letters")
    if not isinstance(told, Mapping) or not {"dtype", "shape", "data_offsets"} <= told.keys():
        raise InputError(f"{file}: the header must tell dtype, shape and data_offsets of the tensor {name}")
    kind, shape, offsets = told["dtype"], told["shape"], told["data_offsets"]
    if not isinstance(kind, str) or kind not in BITS:
        raise InputError(f"{file}: the tensor {name} has the dtype {kind!r:.80}, which is not one of {', '.join(BITS)}")
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        told = f"shape {shape!r:.80} and data_offsets {offsets!r:.80}"
        raise InputError(f"{file}: {told} of the tensor {name} must be integers >= 0")
    bits, (start, stop) = math.prod(shape) * BITS[kind], offsets
    if bits != 8 * (stop - start):
        raise InputError(
            f"{file}: the tensor {name} of shape {tuple(shape)} and dtype {kind} has {-(-bits // 8)} bytes, "
            f"and its data_offsets {offsets} tell {stop - start}"
        )
    return name, kind, tuple(shape), start, stop


def _naturals(value: Any) -> bool:
    """Return whether a value is a list of at most 64 integers from 0 to 2^63 - 1: an array has at most 64 axes."""
    return (
        isinstance(value, list) and len(value) <= 64 and all(type(each) is int and 0 <= each < 2**63 for each in value)
    )


def _check_contiguous(file: Path, entries: Iterable[tuple[str, str, tuple[int, ...], int, int]], rest: int) -> None:
    """Check that tensors follow each other without holes or overlaps, up to the end of the file."""
    end = 0
    for name, _, _, start, stop in sorted(entries, key=lambda entry: entry[3:]):
        if start != end:
            what = "overlaps the one before" if start < end else "leaves a hole"
            raise InputError(f"{file}: the tensor {name} {what}, it begins at byte {start} of the data, not at {end}")
        if stop > rest:
            raise InputError(f"{file}: truncated, the tensor {name} ends at byte {stop} of the data, which has {rest}")
        end = stop
    if end != rest:
        raise InputError(f"{file}: the tensors end at byte {end} of the data, which has {rest}")


# --- numbers --------------------------------------------------------------------------------------------------------


def read_tensor(tensor: Tensor, dtype: DTypeLike = np.float32, cut: tuple[int, int, int] | None = None) -> Any:
    """Return the entries of a tensor. If they need no conversion, they are read from the file when they are used.

    A `cut` is an axis, its first place and the number of places: nothing else is read.

    Raises       InputError where the tensor does not hold real numbers of 16, 32 or 64 bits
    """
    if tensor.kind not in REAL:
        raise InputError(f"{tensor.file}: the tensor {tensor.name} has the dtype {tensor.kind}, not {', '.join(REAL)}")
    if 0 in tensor.shape:
        return np.zeros(tensor.shape, dtype)
    try:
        stored: Any = np.memmap(tensor.file, REAL[tensor.kind], "r", tensor.start, tensor.shape)
    except (OSError, ValueError) as error:  # ValueError: the file has become shorter since its header was read
        raise InputError(f"{tensor.file}: the tensor {tensor.name} cannot be read: {error}") from None
    if cut is not None:
        axis, start, length = cut
        stored = stored[(slice(None),) * axis + (slice(start, start + length),)]
    numbers = np.asarray(stored)
    if tensor.kind == "BF16":  # the upper half of a float32
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond the range of float32 become infinite
        return numbers.astype(dtype, copy=False)
