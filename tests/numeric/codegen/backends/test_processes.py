"""Two processes of one host form a mesh: their results are those of one process, and what they exchange is counted."""

import json
import os
import socket
import subprocess
import sys
from math import prod

import pytest

from derivations.language import count_parameters
from derivations.transformer.encoder import encoder

SIZES = {"d_model": 12, "h": 2, "d_k": 5, "d_v": 3, "d_ff": 22, "N": 2}
BATCH, LENGTH = 4, 7
PROGRAM = """
import json, re, sys
import jax, numpy as np
from derivations.language import gradient
from derivations.transformer import encoder
from numeric import compile_layer, initialise
from numeric.codegen.backends.sharding import device_mesh, fully_sharded, on_mesh, sharded

number, address, sizes, batch, length = json.loads(sys.argv[1])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(address, 2, number)
layer = encoder()
weights = initialise(layer, sizes, 0)
X, wanted = np.random.default_rng(0).normal(size=(2, batch, length, sizes["d_model"])).astype(np.float32)

def slopes(backend, weights, X, wanted):
    error = compile_layer(layer, backend)(X, check=False, **weights) - wanted
    return compile_layer(gradient(layer), backend)(X, 2 * error / error.size, check=False, **weights)[1]

def moved(name, run, *arguments):
    text = run.lower(*arguments).compile().as_text()
    found = re.findall(rf"= (.*?) {name}(?:-start)?\\(", text)
    shapes = [shape for line in found for shape in re.findall(r"f32\\[([\\d,]*)\\]", line)]
    return [[int(size) for size in shape.split(",") if size] for shape in shapes]

def differs(found, expected):
    return max(
        float(np.max(np.abs(np.asarray(share.data) - whole[share.index])))
        for each, whole in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
        for share in each.addressable_shards
    )

data, heads = device_mesh(2, 1), device_mesh(1, 2)
one, full, cut = sharded(layer, weights, data), fully_sharded(weights, data), sharded(layer, weights, heads)
encode = jax.jit(lambda weights, X: compile_layer(layer, "jax")(X, check=False, **weights))
step = jax.jit(lambda *all_: slopes("jax", *all_))
batches = [on_mesh(each, data) for each in (X, wanted)]
expected = slopes("numpy", weights, X, wanted)
encoded = compile_layer(layer)(X, **weights)
json.dump({
    "devices": [jax.device_count(), jax.local_device_count()],
    "encoded": differs([encode(cut, on_mesh(X, heads))], [encoded]),
    "by batch": differs(step(one, *batches), expected),
    "by everything": differs(step(full, *batches), expected),
    "shares": [list(each.addressable_shards[0].data.shape) for each in jax.tree.leaves(full)],
    "wholes": [list(each.shape) for each in jax.tree.leaves(weights)],
    "gradients added": moved("all-reduce", step, one, *batches),
    "gathered without need": moved("all-gather", step, one, *batches),
    "weights gathered": moved("all-gather", step, full, *batches),
    "heads added": moved("all-reduce", encode, cut, on_mesh(X, heads)),
}, sys.stdout)
"""


@pytest.fixture(scope="module")
def runs(repository):
    """What each of two processes found."""
    pytest.importorskip("jax")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    environment.pop("XLA_FLAGS", None)
    given = [json.dumps([number, address, SIZES, BATCH, LENGTH]) for number in range(2)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, each],
            cwd=repository,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in given
    ]
    said = [each.communicate() for each in running]
    assert not any(each.returncode for each in running), "".join(errors for _, errors in said)
    return [json.loads(out[out.index('{"devices"') :]) for out, _ in said]


@pytest.mark.peers
def test_two_processes_agree_with_one(runs):
    for run in runs:
        assert run["devices"] == [2, 1]
        assert run["encoded"] < 1e-5
        assert run["by batch"] < 1e-6 and run["by everything"] < 1e-6


@pytest.mark.peers
def test_each_process_holds_half_of_what_is_fully_sharded(runs):
    for share, whole in zip(runs[0]["shares"], runs[0]["wholes"], strict=True):
        assert 2 * prod(share) == prod(whole) if any(length % 2 == 0 for length in whole) else share == whole


@pytest.mark.peers
def test_a_data_parallel_step_adds_up_one_number_for_every_parameter(runs):
    parameters = int(count_parameters(encoder()).subs({size: SIZES.get(size.name, 1) for size in encoder().sizes}))
    for run in runs:
        assert sum(map(prod, run["gradients added"])) == parameters
        assert not run["gathered without need"]
        assert sum(map(prod, run["weights gathered"])) >= sum(map(prod, run["wholes"])) == parameters


@pytest.mark.peers
def test_heads_and_hidden_units_exchange_the_two_sums_of_each_layer(runs):
    for run in runs:
        assert run["heads added"] and {prod(shape) for shape in run["heads added"]} == {
            BATCH * LENGTH * SIZES["d_model"]
        }
        assert len(run["heads added"]) == 2 * SIZES["N"]
