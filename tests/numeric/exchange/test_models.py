"""Checkpoints with random weights, loaded and exported: both engines compute the scores that the loaded model does."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numeric import load, to_onnx
from numeric.codegen.onnx_graph.engines import ENGINES, started
from numeric.exchange.equation_proofs import equation_proofs
from numeric.exchange.export import scores_of

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is asked of a network
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.peers, pytest.mark.slow]

VOCAB = 23
BOUND = 1e-5
GPT2 = {"vocab_size": VOCAB, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 17}
LLAMA = {
    "vocab_size": VOCAB,
    "hidden_size": 12,
    "intermediate_size": 19,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "max_position_embeddings": 64,
}
ENCODER = {
    "vocab_size": VOCAB,
    "hidden_size": 12,
    "intermediate_size": 19,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "max_position_embeddings": 17,
}
SIGLIP = {
    **{"hidden_size": 16, "intermediate_size": 11, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"image_size": 12, "patch_size": 3},
}
T5 = {"vocab_size": VOCAB, "d_model": 12, "d_kv": 5, "d_ff": 19, "num_layers": 2, "num_heads": 3}
DISTANCES = {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_buckets": 4}
MODELS = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)),
    "mixtral": lambda: transformers.MixtralForCausalLM(
        transformers.MixtralConfig(**LLAMA, num_local_experts=3, num_experts_per_tok=2)
    ),
    "gemma2": lambda: transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**LLAMA, query_pre_attn_scalar=4)),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**ENCODER)),
    "deberta": lambda: transformers.DebertaV2ForMaskedLM(transformers.DebertaV2Config(**ENCODER, **DISTANCES)),
    "t5": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(**T5)),
}
PICTURES = {  # each of 4 rows among the tokens
    "Gemma3": {"text_config": LLAMA | {"sliding_window": 3}, "vision_config": SIGLIP, "mm_tokens_per_image": 4},
    "Qwen3VL": {
        "text_config": LLAMA | {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 0]}},
        "vision_config": {
            **{"hidden_size": 16, "depth": 2, "num_heads": 2, "intermediate_size": 7, "patch_size": 3},
            **{"out_hidden_size": 12, "num_position_embeddings": 16, "deepstack_visual_indexes": [0]},
        },
    },
}


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def saved(make: Callable[[], Any], folder: Path) -> Path:
    model = make().eval().float()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data.copy_(0.3 * noise + (1 if parameter.ndim == 1 else 0))
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_loaded_model(name, engine, optimized, tmp_path: Path):
    model = load(saved(MODELS[name], tmp_path))
    names = [variable.name for variable in model.layer.inputs]
    rng = np.random.default_rng(7)
    feeds = {each: rng.integers(3, VOCAB, (2, 7)) for each in names}
    feeds |= {"segments": np.zeros((2, 7), np.int64)} if "segments" in names else {}
    expected = model.logits(*(feeds[each] for each in names if each != "segments"))
    (found,) = started(engine, to_onnx(model, optimized=optimized), threads=1)(feeds)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < BOUND * max(1, np.abs(expected).max())


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "deberta", "mixtral", "t5", "gemma2"])
def test_a_model_comes_back_equation_by_equation(name, tmp_path: Path):
    model = load(saved(MODELS[name], tmp_path))
    of, sizes = scores_of(model)
    graph = to_onnx(of, sizes=sizes, batch=(), scalars={each.name: None for each in of.scalars})
    verdicts = equation_proofs(graph, of, sizes)
    assert {each.level for each in verdicts.values()} == {"proved"}
    assert len(verdicts) > 45


@pytest.mark.parametrize("name", PICTURES)
def test_scores_of_a_text_with_a_picture_are_those_of_the_loaded_model(name, engine, tmp_path: Path):
    """What the loaded model makes of tokens and pictures is what the graph takes."""
    kind = getattr(transformers, f"{name}ForConditionalGeneration")
    saved(lambda: kind(kind.config_class(image_token_id=22, **PICTURES[name])), tmp_path)
    model, rng = load(tmp_path), np.random.default_rng(7)
    tokens, pictures = rng.integers(3, VOCAB - 1, (2, 8)), rng.normal(size=(2, 3, 12, 12))
    tokens[:, 2:6] = 22
    (found,) = started(engine, to_onnx(model), threads=1)(model.inputs(tokens, pictures))
    expected = model.logits(tokens, pictures)
    assert np.abs(found - expected).max() < BOUND * max(1, np.abs(expected).max())
