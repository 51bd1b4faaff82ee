"""The Transformer and the encoder over a mesh of eight virtual devices: each holds its share, the result is equal."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from derivations.attention.grouped_query import grouped_query_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.language.arrays.expression import array
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_ff, h, n
from derivations.transformer.encoder import encoder
from derivations.transformer.transformer import transformer
from numeric import InputError
from numeric.codegen.backends.sharding import device_mesh, on_mesh, partition, sharded

PROGRAM = """
import json, re, sys
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
from derivations.transformer import encoder
from numeric import Transformer, compile_layer, initialise
from numeric.codegen.backends.sharding import device_mesh, on_mesh, sharded

mesh = device_mesh(data=2, heads=4)
rng = np.random.default_rng(0)
def report(layer, arrays, weights):
    expected = compile_layer(layer)(*arrays, **weights)
    laid, given = sharded(layer, weights, mesh), [on_mesh(each, mesh) for each in arrays]
    run = jax.jit(compile_layer(layer, "jax"))
    found = run(*given, **laid)
    text = run.lower(*given, **laid).compile().as_text()
    block = laid.get("encoder", laid)["layers"][1]
    shares = {
        f"{part}.{name}": [list(each.data.shape) for each in block[part][name].addressable_shards]
        for part, name in (("attention", "W_Q"), ("attention", "W_O"), ("feed_forward", "W_1"), ("feed_forward", "W_2"))
    }
    return {
        "error": float(np.max(np.abs(found - expected))),
        "output": [list(each.data.shape) for each in found.addressable_shards],
        "devices": len(found.sharding.device_set),
        "shares": shares,
        "shapes": sorted(set(re.findall(r"f64\\[[\\d,]+\\]", text))),
        "added": len(re.findall(r"all-reduce(?:-start)?\\(", text)),
        "moved": len(re.findall(r"(?:all-gather|all-to-all|collective-permute)(?:-start)?\\(", text)),
    }

model = Transformer(d_model=24, h=4, d_ff=44, N=2, vocab=19, dtype=np.float64)
tokens = [rng.integers(0, 19, (6, 5)), rng.integers(0, 19, (6, 7))]
whole = report(model.layer(), tokens, model.weights)
sizes = {"d_model": 13, "h": 8, "d_k": 3, "d_v": 5, "d_ff": 28, "N": 2}
stack = report(encoder(), [rng.normal(size=(10, 11, 13))], initialise(encoder(), sizes, 0, np.float64))
json.dump({"transformer": whole, "encoder": stack}, sys.stdout)
"""


@pytest.fixture(scope="module")
def runs(repository):
    """What eight virtual devices did; JAX must know of them before it starts."""
    pytest.importorskip("jax")
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=repository, env=environment, capture_output=True, encoding="utf-8"
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.peers
@pytest.mark.parametrize("name", ["transformer", "encoder"])
def test_the_result_over_eight_devices_is_numpys(runs, name):
    assert runs[name]["error"] < 1e-12
    assert runs[name]["devices"] == 8


@pytest.mark.peers
def test_every_device_holds_a_quarter_of_the_weights_and_half_of_the_batch(runs):
    assert runs["transformer"]["shares"] == {
        "attention.W_Q": [[1, 24, 6]] * 8,
        "attention.W_O": [[6, 24]] * 8,
        "feed_forward.W_1": [[24, 11]] * 8,
        "feed_forward.W_2": [[11, 24]] * 8,
    }
    assert runs["encoder"]["shares"] == {
        "attention.W_Q": [[2, 13, 3]] * 8,
        "attention.W_O": [[10, 13]] * 8,
        "feed_forward.W_1": [[13, 7]] * 8,
        "feed_forward.W_2": [[7, 13]] * 8,
    }
    assert runs["transformer"]["output"] == [[3, 7, 19]] * 8 and runs["encoder"]["output"] == [[5, 11, 13]] * 8


@pytest.mark.peers
def test_the_scores_are_never_in_one_place_and_nothing_but_sums_is_exchanged(runs):
    """The compiled program has the scores of one head of three items, and not of all heads or all items."""
    shapes = runs["transformer"]["shapes"]
    assert "f64[3,1,5,5]" in shapes and "f64[3,1,7,7]" in shapes and "f64[3,1,7,5]" in shapes
    assert not {"f64[6,4,5,5]", "f64[3,4,5,5]", "f64[6,1,5,5]", "f64[3,4,7,7]"} & set(shapes)
    for run in runs.values():
        assert run["added"] and not run["moved"]


# How arrays lie follows from the shapes of the layer


def test_heads_and_hidden_units_are_cut_and_nothing_else():
    layers = partition(encoder())["layers"]
    assert layers["attention"] == {
        "W_Q": ("heads", None, None),
        "W_K": ("heads", None, None),
        "W_V": ("heads", None, None),
        "W_O": ("heads", None),
    }
    assert layers["feed_forward"] == {
        "W_1": (None, "heads"), "b_1": ("heads",), "W_2": ("heads", None), "b_2": (None,)
    }  # fmt: skip
    assert layers["attention_norm"] == {"gamma": (None,), "beta": (None,)}
    assert partition(transformer())["E"] == (None, None)


def test_other_sizes_may_be_split():
    assert partition(multi_head_attention(biases=True))["b_Q"] == ("heads", None)
    assert partition(encoder(), split=(h,))["layers"]["feed_forward"]["W_1"] == (None, None)
    grouped = grouped_query_attention()
    groups = next(size for size in grouped.sizes if size.name == "g")
    assert partition(grouped, split=(groups,))["W_K"] == ("heads", None, None)
    assert partition(grouped, split=(groups,))["W_O"] == ("heads", None, None)


def test_one_axis_of_the_mesh_serves_one_axis_of_an_array():
    W, X = array("W", h, d_ff), array("X", n, h)
    let = Equations()
    assert partition(Layer("both", (X,), (W,), let, let("Y")(X @ W))) == {"W": ("heads", None)}


# Saying no


@pytest.mark.peers
def test_a_mesh_larger_than_the_machine_is_refused():
    pytest.importorskip("jax")
    with pytest.raises(InputError, match=r"a mesh of 64 x 64 needs 4096 devices, .* XLA_FLAGS"):
        device_mesh(64, 64)


@pytest.mark.peers
def test_a_mesh_that_does_not_divide_an_axis_is_refused():
    pytest.importorskip("jax")
    mesh = SimpleNamespace(shape={"data": 2, "heads": 4})
    weights = {"W_Q": np.zeros((3, 7, 5)), "W_K": None, "W_V": None, "W_O": None}
    with pytest.raises(InputError, match=r"weights\.W_Q has shape \(3, 7, 5\), and axis 0 must be a multiple of 4"):
        sharded(multi_head_attention(), weights, mesh)
    with pytest.raises(InputError, match="axis 0 must be a multiple of 2"):
        on_mesh(np.zeros((3, 7)), mesh)
