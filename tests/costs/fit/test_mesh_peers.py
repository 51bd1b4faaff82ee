"""A plan on a simulated mesh: JAX puts the library's weights on 8 devices, which hold what the formula says."""

import json
import os
import subprocess
import sys

import pytest

from derivations.architectures.hugging_face import model_of
from derivations.costs.fit.inference import Serving
from derivations.costs.fit.mesh import Mesh

pytestmark = pytest.mark.peers

# The shapes are those of the library's own modules, the division is that of Megatron by the names of the modules.
PROGRAM = """
import json, sys
import jax, torch, transformers
from jax.sharding import Mesh, NamedSharding, PartitionSpec

fields, sizes = json.loads(sys.argv[1]), json.loads(sys.argv[2])
config = transformers.AutoConfig.for_model(**fields)
with torch.device("meta"):
    model = transformers.AutoModelForCausalLM.from_config(config)
columns = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "embed_tokens", "lm_head")
for tensor in sizes:
    mesh = Mesh(jax.devices()[:tensor], ("t",))
    held = dict.fromkeys(jax.devices()[:tensor], 0)
    for name, weight in model.named_parameters():
        spec = [None] * weight.dim()
        if any(part in name for part in columns):
            spec[0] = "t"  # a Linear has its outputs first
        elif "o_proj" in name or "down_proj" in name:
            spec[1] = "t"
        sharding = NamedSharding(mesh, PartitionSpec(*spec))
        array = jax.device_put(jax.numpy.zeros(weight.shape, jax.numpy.bfloat16), sharding)
        for shard in array.addressable_shards:
            held[shard.device] += shard.data.nbytes
    print(json.dumps(list(held.values())))
"""
LLAMA = {
    **{"model_type": "llama", "hidden_size": 48, "intermediate_size": 88, "num_attention_heads": 24},
    **{"num_key_value_heads": 8, "head_dim": 10, "num_hidden_layers": 5, "vocab_size": 136},
    **{"max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": False, "hidden_act": "silu"},
}


SIZES = [1, 2, 4, 8]


def test_every_device_holds_the_bytes_of_the_formula():
    pytest.importorskip("jax")
    pytest.importorskip("transformers")
    flags = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(LLAMA), json.dumps(SIZES)],
        env=flags,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    model = model_of({**LLAMA, "architectures": ["LlamaForCausalLM"]}, "tiny")
    for tensor, line in zip(SIZES, ran.stdout.splitlines(), strict=True):
        expected = Serving(model, 7, mesh=Mesh(tensor=tensor)).budget.numbers()["weights"]
        assert json.loads(line) == [expected] * tensor
