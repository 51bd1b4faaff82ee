"""Compiled contractions, with batches in front, by each backend, as source and in tiles, against loops."""

import numpy as np
import pytest

from derivations.language import gradient
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import RowLogSumExp, RowSoftmax, RowSum
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, h, m, n
from numeric import compile_layer, prepare
from tests.contractions import CASES, SIZES, by_loops, drawn, layer_of

SCORES, MASK = array("S", n, m), mask_array("M", n, m)
A = array("A", h, n, d)
BATCHES = ((), (3,), (2, 3))


def several(result: object) -> tuple[object, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_compiled_contraction_has_the_entries_of_the_loops(name: str) -> None:
    rng = np.random.default_rng(3)
    layer = layer_of(name)
    compiled = compile_layer(layer)
    sizes = {size.name: SIZES[size] for size in compiled.sizes}
    for batch in ((), (3,)):
        inputs = drawn(layer, rng, batch)
        found = compiled(**inputs, **sizes)
        for item in np.ndindex(*batch):
            wanted = by_loops(name, {key: value[item] for key, value in inputs.items()})
            assert found[item].shape == wanted.shape
            assert np.allclose(found[item], wanted, rtol=1e-13, atol=1e-13)


def test_a_number_type_is_kept() -> None:
    layer = layer_of("three operands")
    inputs = {name: value.astype(np.float32) for name, value in drawn(layer, np.random.default_rng(4)).items()}
    assert compile_layer(layer)(**inputs).dtype == np.float32


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("batched product", "C = 2 * np.einsum('...ijl,...ikl->...ijk', A, B)"),
        ("split axis", "C = split_axis(W, -2, d_k)"),
        ("merged axes", "C = merge_axes(np.einsum('...jik->...ijk', A), -2)"),
        ("slice in steps", "C = X[..., :, 1::2]"),
        ("placed among zeros", "C = place_axis(X, -1, m, d + m, 1)"),
    ],
)
def test_the_text_reads_as_one_would_write_it(name: str, line: str) -> None:
    assert f"    {line}  #" in compile_layer(layer_of(name)).source


def layers() -> dict[str, Layer]:
    def one(value: Array, *inputs: Array) -> Layer:
        let = Equations()
        return Layer("tried", inputs, (), let, let("C")(value))

    found = {name: layer_of(name) for name in CASES}
    found |= {f"gradient of {name}": gradient(layer) for name, layer in found.items()}
    rows = {"sums": RowSum(A), "softmax": RowSoftmax(A), "log-sum-exp": RowLogSumExp(A)}
    found |= {name: one(value, A) for name, value in rows.items()}
    found |= {f"gradient of {name}": gradient(one(value, A)) for name, value in rows.items()}
    return found | {
        "largest": one(RowMax(A), A),
        "largest visible": one(RowMax(SCORES, MASK), SCORES, MASK),
    }


def inputs_of(layer: Layer, batch: tuple[int, ...]) -> dict[str, object]:
    inputs = drawn(layer, np.random.default_rng(5), batch)
    return {key: value > 0 if key == "M" else value for key, value in inputs.items()}


FAST = ("batched product", "gradient of slice in steps", "gradient of softmax", "largest visible")


@pytest.mark.parametrize("name", FAST)
def test_source_and_tiles_agree(name: str) -> None:
    compare(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(layers().keys() - set(FAST)))
def test_source_and_tiles_agree_for_each(name: str) -> None:
    compare(name)


def compare(name: str) -> None:
    layer = layers()[name]
    compiled, module = compile_layer(layer), {}
    sizes = {size.name: SIZES[size] for size in compiled.sizes}
    exec(compiled.source, module)  # noqa: S102 - our own source is what is tested
    # the tiles ask for every size that is not an axis by itself
    ready = prepare(layer, {}, sizes={"h": 7} | sizes if name == "split axis" else sizes)
    for batch in BATCHES:
        inputs = inputs_of(layer, batch)
        wanted = several(compiled(**inputs, **sizes))
        for found in (several(module[layer.name](**inputs, **sizes)), several(ready(**inputs))):
            assert all(np.allclose(a, b, rtol=1e-13, atol=1e-13) for a, b in zip(found, wanted, strict=True))


@pytest.mark.peers
@pytest.mark.parametrize("name", sorted(layers()))
def test_other_libraries_agree(name: str) -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    layer = layers()[name]
    compiled = compile_layer(layer)
    sizes = {size.name: SIZES[size] for size in compiled.sizes}
    for batch in BATCHES:
        inputs = inputs_of(layer, batch)
        wanted = several(compiled(**inputs, **sizes))
        with jax.enable_x64(True):
            by_jax = several(compile_layer(layer, backend="jax")(**inputs, **sizes))
        tensors = {key: torch.as_tensor(value) for key, value in inputs.items()}
        by_torch = several(compile_layer(layer, backend="torch")(**tensors, **sizes))
        for found in (by_jax, by_torch):
            assert all(
                np.allclose(np.asarray(a), b, rtol=1e-12, atol=1e-12) for a, b in zip(found, wanted, strict=True)
            )
