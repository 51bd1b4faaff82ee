"""Reading safetensors: what another writer stored comes back exactly, and each damaged file is named in a sentence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numeric.models.checkpoints.tensors import LARGEST_HEADER, find_tensors, read_tensor
from numeric.runtime.checks import InputError

VALUES = np.arange(-7, 8, dtype=np.float64).reshape(3, 5) / 4  # each is a number of every type below


def entry(dtype: str = "F32", shape: Any = (2, 3), offsets: Any = (0, 24)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def written(folder: Path, header: Any, data: bytes = bytes(24), name: str = "model.safetensors") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (folder / name).write_bytes(len(text).to_bytes(8, "little") + text + data)
    return folder


def bfloat16(values: Any) -> bytes:
    return (np.asarray(values, "<f4").view("<u4") >> 16).astype("<u2").tobytes()


STORED = {
    "F64": VALUES.astype("<f8").tobytes(),
    "F32": VALUES.astype("<f4").tobytes(),
    "F16": VALUES.astype("<f2").tobytes(),
    "BF16": bfloat16(VALUES),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", STORED)
def test_every_real_type_is_read_exactly(tmp_path: Path, kind: str, dtype: Any) -> None:
    data = STORED[kind]
    written(tmp_path, {"__metadata__": {"format": "pt"}, "w": entry(kind, (3, 5), (0, len(data)))}, data)
    read = read_tensor(find_tensors(tmp_path)["w"], dtype)
    assert read.dtype == dtype
    np.testing.assert_array_equal(read, VALUES)


@pytest.mark.parametrize(("axis", "wanted"), [(0, [[3.0, 4.0, 5.0]]), (1, [[1.0, 2.0], [4.0, 5.0]])])
def test_a_cut_is_some_places_along_an_axis(tmp_path: Path, axis: int, wanted: list[list[float]]) -> None:
    """Of a tensor with the columns of all layers a layer reads its own."""
    written(tmp_path, {"w": entry()}, np.arange(6, dtype="<f4").tobytes())
    found = find_tensors(tmp_path)["w"]
    assert read_tensor(found, float, (axis, 1, len(wanted[0]) if axis else 1)).tolist() == wanted


def test_bfloat16_is_widened_bit_by_bit(tmp_path: Path) -> None:
    """All 65536 of them, with infinities, NaN and subnormal numbers: the upper half of a float32."""
    every = np.arange(2**16, dtype="<u2")
    written(tmp_path, {"w": entry("BF16", (2**16,), (0, 2**17))}, every.tobytes())
    read = read_tensor(find_tensors(tmp_path)["w"], np.float32)
    np.testing.assert_array_equal(read.view(np.uint32), every.astype(np.uint32) << 16)


def test_numbers_beyond_float32_become_infinite(tmp_path: Path) -> None:
    written(tmp_path, {"w": entry("F64", (3,), (0, 24))}, np.array([1e300, -np.inf, np.nan]).tobytes())
    np.testing.assert_array_equal(read_tensor(find_tensors(tmp_path)["w"], np.float32), [np.inf, -np.inf, np.nan])


def test_a_tensor_without_entries_and_one_without_axes(tmp_path: Path) -> None:
    header = {"none": entry("F32", (0, 3), (0, 0)), "one": entry("F32", (), (0, 4)), "w": entry("F32", (5,), (4, 24))}
    found = find_tensors(written(tmp_path, header))
    assert [read_tensor(found[name]).shape for name in ("none", "one", "w")] == [(0, 3), (), (5,)]


def test_what_the_library_writes_is_read(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(7)
    tensors = {
        f"{kind.__name__}.{n}": rng.normal(size=(n, 3)).astype(kind)
        for kind in (np.float16, np.float32, np.float64)
        for n in (2, 5)
    }
    library.save_file(tensors, tmp_path / "model.safetensors")
    found = find_tensors(tmp_path)
    assert found.keys() == tensors.keys()
    for name, value in tensors.items():
        np.testing.assert_array_equal(read_tensor(found[name], value.dtype), value)


def test_a_number_stays_in_the_file(tmp_path: Path) -> None:
    """No copy of what is stored in the asked type: it is a view of the mapped file."""
    read = read_tensor(find_tensors(written(tmp_path, {"w": entry()}))["w"], np.float32)
    assert isinstance(read.base, np.memmap)


FINE = entry()
DAMAGED: Mapping[str, tuple[Any, bytes, str]] = {
    "not JSON": (b"hello", bytes(24), "not JSON in UTF-8"),
    "not UTF-8": (b'{"w\xff": 1}', bytes(24), "not JSON in UTF-8"),
    "nested": (b"[" * 200_000, bytes(24), "nested too deeply"),
    "no object": ([1], bytes(24), "a JSON object is needed, not list"),
    "a long number": (b'{"w": ' + b"9" * 5000 + b"}", bytes(24), "not JSON in UTF-8"),
    "twice": (b'{"w": 1, "w": 2}', bytes(24), "'w' stands there twice"),
    "no entry": ({"w": 5}, bytes(24), "dtype, shape and data_offsets of the tensor w"),
    "no shape": ({"w": {"dtype": "F32", "data_offsets": [0, 24]}}, bytes(24), "of the tensor w"),
    "unknown type": ({"w": entry("F31")}, bytes(24), "the tensor w has the dtype 'F31'"),
    "type no text": ({"w": entry(["F32"])}, bytes(24), "the tensor w has the dtype"),  # type: ignore[arg-type]
    "negative shape": ({"w": entry(shape=[-2, -3])}, bytes(24), "tensor w must be integers >= 0"),
    "shape of floats": ({"w": entry(shape=[2.0, 3])}, bytes(24), "tensor w must be integers >= 0"),
    "shape of booleans": ({"w": entry(shape=[True, 6])}, bytes(24), "tensor w must be integers >= 0"),
    "three offsets": ({"w": entry(offsets=[0, 12, 24])}, bytes(24), "tensor w must be integers >= 0"),
    "shape at odds": ({"w": entry(shape=[2, 4])}, bytes(24), "the tensor w of shape (2, 4) and dtype F32 has 32 bytes"),
    "type at odds": ({"w": entry("F64")}, bytes(24), "the tensor w of shape (2, 3) and dtype F64 has 48 bytes"),
    "huge shape": ({"w": entry(shape=[2**62, 2**62])}, bytes(24), "the tensor w of shape"),
    "backwards": ({"w": entry(offsets=[24, 0])}, bytes(24), "the tensor w of shape"),
    "truncated": ({"w": entry()}, bytes(23), "truncated, the tensor w ends at byte 24 of the data, which has 23"),
    "too long": ({"w": entry()}, bytes(25), "the tensors end at byte 24 of the data, which has 25"),
    "overlap": ({"v": entry(), "w": entry(offsets=[12, 36])}, bytes(36), "the tensor w overlaps"),
    "same place": ({"v": entry(), "w": entry()}, bytes(24), "the tensor w overlaps"),
    "hole": ({"v": entry(), "w": entry(offsets=[28, 52])}, bytes(52), "the tensor w leaves a hole"),
    "late start": ({"w": entry(offsets=[4, 28])}, bytes(28), "the tensor w leaves a hole"),
    "numbers beyond 63 bits": ({"w": entry(shape=[10**400])}, bytes(24), "tensor w must be integers >= 0"),
    "many axes": ({"w": entry(shape=[1] * 65)}, bytes(24), "tensor w must be integers >= 0"),
    "every axis huge": ({"w": entry(shape=[2**62] * 64)}, bytes(24), "the tensor w of shape"),
    "a name of two lines": ({"w\nw": entry()}, bytes(24), "the name 'w\\nw' of a tensor must consist of printable"),
    "half a letter": (b'{"\\ud800": 1}', bytes(24), "of a tensor must consist of printable letters"),
    "beyond": ({"w": entry(offsets=[2**60, 2**60 + 24])}, bytes(24), "the tensor w leaves a hole"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    header, data, message = DAMAGED[case]
    with pytest.raises(InputError) as error:
        find_tensors(written(tmp_path, header, data))
    assert message in str(error.value)
    assert "model.safetensors" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", range(20))
def test_changed_bytes_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Whatever a few bytes of the header become: tensors as long as the file, or one sentence."""
    rng, header = np.random.default_rng(seed), {"v": entry(), "w": entry("F64", (3,), (24, 48))}
    fine = bytearray(written(tmp_path, header, bytes(48)).joinpath("model.safetensors").read_bytes())
    refused = 0
    for _ in range(50):
        changed = fine.copy()
        for place in rng.integers(len(fine) - 48, size=rng.integers(1, 4)):
            changed[place] = rng.choice([*b'0123456789[]{},:"FIBU', rng.integers(256)])
        (tmp_path / "model.safetensors").write_bytes(changed)
        try:
            found = find_tensors(tmp_path)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert all(read_tensor(tensor).shape == tensor.shape for tensor in found.values() if tensor.kind[0] == "F")
    assert 0 < refused <= 50


@pytest.mark.parametrize("content", [b"", b"\x08\0\0", (100_000_000).to_bytes(8, "little") + b"{}", b"\xff" * 9])
def test_a_header_that_is_not_there_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="truncated"):
        find_tensors(tmp_path)


def test_a_header_too_long_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write((100_000_000).to_bytes(8, "little"))
        file.truncate(100_000_008)  # a hole: no such number of bytes is stored
    with pytest.raises(InputError, match=f"100000000 bytes, more than the {LARGEST_HEADER}"):
        find_tensors(tmp_path)


@pytest.mark.parametrize("kind", ["I64", "BOOL", "F8_E4M3"])
def test_what_is_no_real_number_is_found_and_not_read(tmp_path: Path, kind: str) -> None:
    length = 8 if kind == "I64" else 1
    found = find_tensors(written(tmp_path, {"w": entry(kind, (1,), (0, length))}, bytes(length)))
    with pytest.raises(InputError, match=f"the tensor w has the dtype {kind}"):
        read_tensor(found["w"])


def test_a_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    found = find_tensors(written(tmp_path, {"w": entry()}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="the tensor w cannot be read"):
        read_tensor(found["w"])


# --- shards ---------------------------------------------------------------------------------------------------------


def sharded(folder: Path, places: Any, **more: Any) -> Path:
    for number, name in enumerate(("v", "w")):
        written(folder, {name: entry()}, bytes([number]) * 24, f"part-{name}.safetensors")
    index = places if isinstance(places, bytes) else json.dumps({"metadata": {}, "weight_map": places, **more}).encode()
    (folder / "model.safetensors.index.json").write_bytes(index)
    return folder


def test_shards_are_read_as_one(tmp_path: Path) -> None:
    found = find_tensors(sharded(tmp_path, {"w": "part-w.safetensors", "v": "part-v.safetensors"}))
    assert {name: tensor.file.name for name, tensor in found.items()} == {
        name: f"part-{name}.safetensors" for name in "vw"
    }
    assert {name: read_tensor(tensor).tobytes()[0] for name, tensor in found.items()} == {"v": 0, "w": 1}


def test_a_shard_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    sharded(tmp_path / "elsewhere", {"v": "part-v.safetensors"})
    for name in ("part-v.safetensors", "model.safetensors.index.json"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    assert find_tensors(tmp_path).keys() == {"v"}


BOTH = {"v": "part-v.safetensors", "w": "part-w.safetensors"}
WRONG_INDEX: Mapping[str, tuple[Any, str]] = {
    "outside": ({**BOTH, "u": "../part-u.safetensors"}, "'../part-u.safetensors', which must be a .safetensors file"),
    "absolute": ({**BOTH, "u": "/etc/u.safetensors"}, "'/etc/u.safetensors', which must be"),
    "backslash": ({**BOTH, "u": "..\\u.safetensors"}, "which must be a .safetensors file of the same folder"),
    "parent": ({**BOTH, "u": ".."}, "'..', which must be"),
    "pickled": ({**BOTH, "u": "pytorch_model-1.bin"}, "'pytorch_model-1.bin', which must be a .safetensors file"),
    "shard missing": ({**BOTH, "u": "part-u.safetensors"}, "part-u.safetensors cannot be read: No such file"),
    "tensor missing": ({**BOTH, "u": "part-w.safetensors"}, "part-w.safetensors: the tensor u is missing"),
    "tensor extra": ({"v": "part-v.safetensors", "x": "part-w.safetensors"}, "the tensor x is missing"),
    "in another shard": ({"v": "part-v.safetensors", "w": "part-v.safetensors"}, "the tensor w is missing"),
    "two lines": ({**BOTH, "u\nv": "part-u.safetensors"}, "the name 'u\\nv' in weight_map must"),
    "no map": ([1], "weight_map must be an object"),
    "no text": ({"v": 5}, "weight_map must be an object"),
    "not JSON": (b"{", "index.json: not JSON in UTF-8"),
    "no object": (b"[]", "index.json: a JSON object is needed"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_INDEX)
def test_a_wrong_index_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    places, message = WRONG_INDEX[case]
    with pytest.raises(InputError) as error:
        find_tensors(sharded(tmp_path, places))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_tensor_that_the_index_does_not_name_is_refused(tmp_path: Path) -> None:
    sharded(tmp_path, {"v": "part-v.safetensors"})
    written(tmp_path, {"v": entry(), "u": entry(offsets=(24, 48))}, bytes(48), "part-v.safetensors")
    with pytest.raises(InputError, match="the tensor u is extra"):
        find_tensors(tmp_path)


def test_an_index_too_long_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "model.safetensors.index.json").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(InputError, match="100000000 bytes, more than"):
        find_tensors(tmp_path)


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02.")
    with pytest.raises(InputError, match=r"has only pytorch_model\.bin: pickled weights are not read"):
        find_tensors(tmp_path)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has neither model\.safetensors nor model\.safetensors\.index\.json"):
        find_tensors(tmp_path)
    with pytest.raises(InputError, match="give the folder of a checkpoint"):
        find_tensors(tmp_path / "nowhere")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        find_tensors(tmp_path)
