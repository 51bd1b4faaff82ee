"""Models of the library `transformers` with random weights, saved and loaded: the same scores, the same texts.

The library computes norms and rotary angles in float32 even in a float64 model. `exactly` lets it use float64 there:
the float64 comparisons are of its equations with ours, not of its rounding.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numeric.models.load import load
from tests.numeric.verification.agreement.float64 import exactly
from tests.numeric.verification.agreement.small_families import COUNTED, OF_TEXTS, RECURRENT, SMALL, VOCAB
from tests.numeric.verification.agreement.test_parameter_counts import class_and_config

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is asked of a network
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.peers, pytest.mark.slow]

Build = Callable[[], Any]


def made(name: str, seed: int = 0) -> Any:
    """Return a model whose every parameter is random, those of norms and biases too, which start at 1 and 0."""
    model = CASES[name]().eval()
    generator = torch.Generator().manual_seed(seed)
    unsaved = getattr(model, "_keys_to_ignore_on_save", None) or ()  # tables that the library computes
    for parameter in (each for name, each in model.named_parameters() if name not in unsaved):
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.get_default_dtype())
        parameter.data.copy_(0.3 * noise + (1 if parameter.ndim == 1 else 0))
    for name, stored in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "expert_bias", "final_logits_bias", "layer_scalar")):
            stored.data.copy_(0.3 * torch.randn(stored.shape, generator=generator, dtype=stored.dtype))
    if "Experts" in str(model):
        model.set_experts_implementation("eager")  # the other one has no float64
    return model


def gpt2(kind: str = "GPT2LMHeadModel", **changes: Any) -> Build:
    sizes = {"vocab_size": VOCAB, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 17, **ENDS, **changes}
    return lambda: getattr(transformers, kind)(transformers.GPT2Config(**sizes))


def bert(kind: str, **changes: Any) -> Build:
    sizes = {"vocab_size": VOCAB, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
    sizes |= {"intermediate_size": 11, "max_position_embeddings": 17, "type_vocab_size": 3, **changes}
    return lambda: getattr(transformers, kind)(transformers.BertConfig(**sizes))


def bloom(**changes: Any) -> Build:
    sizes = {"vocab_size": VOCAB, "hidden_size": 12, "n_layer": 2, **ENDS, **changes}
    return lambda: transformers.BloomForCausalLM(transformers.BloomConfig(**sizes))


def roberta(kind: str) -> Build:
    sizes = {"vocab_size": VOCAB, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
    sizes |= {"intermediate_size": 11, "max_position_embeddings": 17, "pad_token_id": 1, "num_labels": 5}
    return lambda: getattr(transformers, kind)(transformers.RobertaConfig(**sizes))


def distilbert(kind: str) -> Build:
    sizes = {"vocab_size": VOCAB, "dim": 12, "n_layers": 2, "n_heads": 3, "hidden_dim": 11, "num_labels": 5}
    return lambda: getattr(transformers, kind)(transformers.DistilBertConfig(max_position_embeddings=17, **sizes))


def t5(**changes: Any) -> Build:
    sizes = {"vocab_size": VOCAB, "d_model": 12, "d_kv": 5, "d_ff": 11, "num_layers": 2, "num_heads": 3}
    sizes |= {"decoder_start_token_id": 0, **changes}
    return lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes))


def bart(**changes: Any) -> Build:
    sizes = {"vocab_size": VOCAB, "d_model": 12, "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 7}
    sizes |= {"encoder_attention_heads": 3, "decoder_attention_heads": 2, "decoder_ffn_dim": 11}
    sizes |= {"max_position_embeddings": 19, **changes}
    return lambda: transformers.BartForConditionalGeneration(transformers.BartConfig(**sizes))


def decoder(family: str, kind: str = "ForCausalLM", **changes: Any) -> Build:
    """A decoder in the manner of Llama, with two query heads for each group of keys and values."""
    sizes = {"vocab_size": VOCAB, "hidden_size": 12, "intermediate_size": 11, "num_hidden_layers": 2, "head_dim": 6}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": 0, **ENDS, **changes}
    config = f"{family}TextConfig" if family == "Gemma3" else f"{family}Config"
    return lambda: getattr(transformers, f"{family}{kind}")(
        getattr(transformers, config)(
            **{name: None if value is NULL else value for name, value in sizes.items() if value is not None}
        )
    )


def small(name: str, sizes: dict[str, Any]) -> Build:
    def build() -> Any:
        model_class, config = class_and_config(name, sizes)
        return model_class(config)

    return build


def falcon(**changes: Any) -> Build:
    sizes = {
        "vocab_size": VOCAB,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        **ENDS,
        **changes,
    }
    return lambda: transformers.FalconForCausalLM(transformers.FalconConfig(**sizes))


NULL = object()  # a field that is null, where None leaves the field out
ENDS = {"bos_token_id": 0, "eos_token_id": 1}
EXPERTS: dict[str, Any] = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7}
LINEAR = {"rope_type": "linear", "factor": 2.5, "rope_theta": 100.0}
BY_WAVELENGTH = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
BY_WAVELENGTH |= {"original_max_position_embeddings": 64, "rope_theta": 500.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.5, "rope_theta": 100.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 100.0}
WIDE_YARN = {**YARN, "mscale": 0.7, "mscale_all_dim": 1.3, "beta_fast": 3.0, "beta_slow": 0.2, "rope_theta": 1000.0}
LONG = {"rope_type": "longrope", "original_max_position_embeddings": 16, "rope_theta": 100.0}
LONG |= {"short_factor": [1.0, 1.1, 1.3, 1.0, 1.7], "long_factor": [1.0, 2.0, 3.5, 4.0, 5.5]}
LONGER = {"head_dim": 10, "max_position_embeddings": 64}  # texts of 7 are below 16 positions, and beyond 5 or 6
OPT_SIZES: dict[str, Any] = {"vocab_size": VOCAB, "hidden_size": 12, "ffn_dim": 11, "num_hidden_layers": 2}
OPT_SIZES |= {"num_attention_heads": 3, "max_position_embeddings": 17, "pad_token_id": 1, **ENDS}
NEOX: dict[str, Any] = {"hidden_size": 32, "head_dim": None, "num_key_value_heads": None}
CASES: dict[str, Build] = {
    "gpt2": gpt2(),
    "gpt2, one head, narrow network": gpt2(n_head=1, n_inner=5, n_layer=3),
    "gpt2, own head": gpt2(tie_word_embeddings=False, activation_function="relu"),
    "gpt2, exact GELU, unscaled": gpt2(activation_function="gelu", scale_attn_weights=False, layer_norm_epsilon=1e-3),
    "bert": bert("BertForMaskedLM"),
    "bert, pretraining": bert("BertForPreTraining", num_attention_heads=2, hidden_act="relu"),
    "bert, own head": bert("BertForMaskedLM", tie_word_embeddings=False, layer_norm_eps=1e-2),
    "bert, classes": bert("BertForSequenceClassification", num_labels=5),
    "bert, tokens' classes": bert("BertForTokenClassification", num_labels=5),
    "bert, next sentence": bert("BertForNextSentencePrediction"),
    "t5": t5(),
    "t5, gated": t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_decoder_layers=1),
    "t5, few buckets": t5(relative_attention_num_buckets=6, relative_attention_max_distance=5, num_heads=2, d_kv=7),
    "bart": bart(),
    "bart, scaled": bart(scale_embedding=True, activation_function="relu", encoder_layers=1, decoder_layers=1),
    "llama": decoder("Llama"),
    "llama, biases, tied": decoder("Llama", tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
    "llama, one group": decoder("Llama", num_key_value_heads=1, rms_norm_eps=1e-3),
    "llama, no groups": decoder("Llama", num_key_value_heads=None, head_dim=None, hidden_size=16),
    "llama, linear": decoder("Llama", rope_parameters=LINEAR),
    "llama, by wavelength": decoder("Llama", rope_parameters=BY_WAVELENGTH, head_dim=10),
    "llama, yarn": decoder("Llama", rope_parameters=YARN, **LONGER),
    "llama, yarn, two scales": decoder("Llama", rope_parameters=WIDE_YARN, **LONGER),
    "llama, yarn, given scale, not rounded": decoder(
        "Llama", rope_parameters={**YARN, "attention_factor": 1.7, "truncate": False, "beta_fast": 3.0}, **LONGER
    ),
    "llama, dynamic": decoder("Llama", rope_parameters=DYNAMIC, **LONGER),
    "llama, dynamic, beyond": decoder("Llama", rope_parameters=DYNAMIC, head_dim=10, max_position_embeddings=5),
    "llama, longrope": decoder("Llama", rope_parameters=LONG, **LONGER),
    "llama, longrope, beyond": decoder(
        "Llama",
        rope_parameters={**LONG, "original_max_position_embeddings": 5, "factor": 3.0, "attention_factor": 0.8},
        **LONGER,
    ),
    "phi3, longrope, some columns": decoder(
        *("Phi3",), hidden_size=80, head_dim=None, original_max_position_embeddings=6, max_position_embeddings=64,
        rope_parameters={**LONG, "original_max_position_embeddings": 6, "partial_rotary_factor": 0.5},
    ),
    "gpt_neox, yarn, some columns": decoder("GPTNeoX", **NEOX, rope_parameters={**YARN, "partial_rotary_factor": 0.5}),
    "mistral": decoder("Mistral", sliding_window=None),
    "mistral, window": decoder("Mistral", sliding_window=3, num_hidden_layers=3),
    "qwen2": decoder("Qwen2", head_dim=None, hidden_size=24),
    "qwen2, tied": decoder("Qwen2", head_dim=None, hidden_size=16, tie_word_embeddings=True, num_key_value_heads=4),
    "qwen2, windows": decoder(
        *("Qwen2",), head_dim=None, hidden_size=24, use_sliding_window=True, sliding_window=2, max_window_layers=1
    ),
    "qwen2, windows from a layer on that is not there": decoder(
        *("Qwen2",), head_dim=None, hidden_size=24, use_sliding_window=True, sliding_window=2, max_window_layers=9
    ),
    "qwen3": decoder("Qwen3"),
    "qwen3, tied": decoder("Qwen3", tie_word_embeddings=True, num_key_value_heads=1, attention_bias=True),
    "mixtral": decoder("Mixtral", num_local_experts=5, num_experts_per_tok=2),
    "mixtral, window": decoder("Mixtral", num_local_experts=3, num_experts_per_tok=1, sliding_window=2),
    "gemma2": decoder("Gemma2", sliding_window=3, query_pre_attn_scalar=7, num_hidden_layers=4),
    "gemma2, odd layers": decoder("Gemma2", sliding_window=2, num_hidden_layers=3, num_key_value_heads=4),
    "gemma2, caps": decoder("Gemma2", attn_logit_softcapping=2.0, final_logit_softcapping=1.5, sliding_window=4),
    "gemma2, no caps": decoder("Gemma2", attn_logit_softcapping=NULL, final_logit_softcapping=NULL, sliding_window=4),
    "gemma": decoder("Gemma"),
    "gemma3": decoder("Gemma3", sliding_window=3, num_hidden_layers=7, query_pre_attn_scalar=7),
    "phi3": decoder("Phi3", hidden_size=16, head_dim=None),
    "qwen3 of experts": decoder("Qwen3Moe", norm_topk_prob=False, **EXPERTS),
    "qwen3 of experts and networks": decoder("Qwen3Moe", num_hidden_layers=3, mlp_only_layers=[1], **EXPERTS),
    "qwen3 of experts, every other layer": decoder("Qwen3Moe", num_hidden_layers=4, decoder_sparse_step=2, **EXPERTS),
    "qwen2 of experts, one shared": decoder(
        *("Qwen2Moe",), head_dim=None, hidden_size=24, shared_expert_intermediate_size=5, **EXPERTS
    ),
    "gptj": lambda: transformers.GPTJForCausalLM(
        transformers.GPTJConfig(
            vocab_size=VOCAB, n_embd=24, n_layer=2, n_head=3, n_positions=17, rotary_dim=4, n_inner=7, **ENDS
        )
    ),
    "neox": decoder("GPTNeoX", rotary_pct=0.25, **NEOX),
    "neox, in sequence": decoder("GPTNeoX", rotary_pct=1.0, use_parallel_residual=False, **NEOX),
    "bloom": bloom(n_head=4),
    "bloom, heads that are no power of two": bloom(n_head=3),
    "falcon, biases by distance": falcon(multi_query=False, alibi=True, bias=True, parallel_attn=False),
    "falcon": falcon(multi_query=True),
    "falcon, heads of their own": falcon(multi_query=False, bias=True, parallel_attn=False),
    "falcon, groups": falcon(new_decoder_architecture=True, num_kv_heads=2),
    "falcon, groups, one norm": falcon(new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1),
    "opt": lambda: transformers.OPTForCausalLM(transformers.OPTConfig(word_embed_proj_dim=12, **OPT_SIZES)),
    "opt, narrow table": lambda: transformers.OPTForCausalLM(
        transformers.OPTConfig(word_embed_proj_dim=7, do_layer_norm_before=False, **OPT_SIZES)
    ),
    "roberta": roberta("RobertaForMaskedLM"),
    "roberta, classes": roberta("RobertaForSequenceClassification"),
    "distilbert": distilbert("DistilBertForMaskedLM"),
    "distilbert, classes": distilbert("DistilBertForSequenceClassification"),
    **{f"{number}-{name}": small(name, sizes) for number, (name, sizes) in enumerate(SMALL + RECURRENT + OF_TEXTS)},
}  # fmt: skip


def tokens(*shape: int, seed: int = 7) -> Any:
    """Tokens that are neither padding nor ends in any of the cases."""
    return np.random.default_rng(seed).integers(3, VOCAB, size=shape)


def scores(model: Any) -> tuple[tuple[Any, ...], Any]:
    """Return tokens and the library's scores of them."""
    source, target = tokens(2, 7), tokens(2, 5, seed=8)
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            out = model(input_ids=torch.tensor(source), decoder_input_ids=torch.tensor(target))
            return (source, target), out.logits.numpy()
        out = model(torch.tensor(source))
        return (source,), (out.prediction_logits if "prediction_logits" in out else out.logits).numpy()


def exact(name: str) -> tuple[Any, tuple[Any, ...], Any]:
    """Return a float64 model, tokens, and the library's scores of them without float32 on the way."""
    CASES[name]()  # modules that the library imports late are imported here, where float32 is itself
    with exactly():
        model = made(name)
        return model, *scores(model)


@pytest.mark.parametrize("name", CASES)
def test_scores_in_float64(tmp_path: Path, name: str) -> None:
    model, given, expected = exact(name)
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64).logits(*given)
    assert ours.dtype == expected.dtype == np.float64
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10)
    assert np.ptp(expected, axis=-1).min() > 0.01  # the scores are not all alike


@pytest.mark.parametrize("name", CASES)
def test_scores_in_float32_as_the_library_computes_them(tmp_path: Path, name: str) -> None:
    model = made(name)
    model.save_pretrained(tmp_path, max_shard_size="2KB")
    given, expected = scores(model)
    ours = load(tmp_path).logits(*given)
    assert (tmp_path / "model.safetensors.index.json").exists()
    assert ours.dtype == expected.dtype == np.float32
    # random weights may let rounding grow, by another amount on each processor: then by that of the library's scores
    rounded = (
        abs(expected - load(tmp_path, np.float64).logits(*given)).max() if abs(ours - expected).max() > 1e-4 else 0
    )
    np.testing.assert_allclose(ours, expected, rtol=0, atol=max(1e-4, 3 * rounded))


GENERATING = [
    name
    for name in CASES
    if not name.startswith(("bert", "roberta", "distilbert"))
    and not name.partition(":")[0].rstrip("0123456789").endswith(("ForMaskedLM", "ForSequenceClassification"))
    and not name.endswith("beyond")  # the library keeps keys that were turned at the frequencies of shorter texts
]


# three texts of each model; of every sixth one those of other weights too
@pytest.mark.parametrize(
    ("name", "seed"), [*((name, 0) for name in GENERATING), *((name, 1) for name in GENERATING[::6])]
)
def test_greedy_texts_token_for_token(tmp_path: Path, name: str, seed: int) -> None:
    model = made(name, seed)
    model.save_pretrained(tmp_path)
    given = tokens(3, 5, seed=seed)
    with torch.no_grad():
        expected = model.generate(
            torch.tensor(given),
            attention_mask=torch.ones(given.shape, dtype=torch.long),
            do_sample=False,
            max_new_tokens=8,
        ).numpy()
    before = 1 if model.config.is_encoder_decoder else given.shape[1]
    np.testing.assert_array_equal(load(tmp_path).generate(given, 8), expected[:, before:])


LENGTHS = (6, 3, 1, 4)  # of texts that are filled up with padding to 6 tokens
PADDED = ["gpt2", "opt", "bloom", "llama", "llama, yarn", "mistral, window", "gemma3", "falcon", "t5", "bart"]


def padded(model: Any) -> tuple[Any, Any]:
    """Texts of several lengths behind padding, and the mask of their real tokens."""
    mask = np.array([[0] * (6 - length) + [1] * length for length in LENGTHS])
    return np.where(mask, tokens(len(LENGTHS), 6), model.config.pad_token_id or 0), mask


@pytest.mark.parametrize("name", PADDED)
def test_greedy_texts_behind_padding_token_for_token(tmp_path: Path, name: str) -> None:
    """Absolute, rotary and relative positions, biases by distance, windows: padding is as if it were not there."""
    model = made(next(case for case in CASES if case.startswith(name)))
    given, mask = padded(model)
    with torch.no_grad():
        expected = model.generate(
            torch.tensor(given),
            attention_mask=torch.tensor(mask),
            do_sample=False,
            max_new_tokens=8,
            pad_token_id=model.config.pad_token_id or 0,
        ).numpy()
    model.config.pad_token_id = model.config.pad_token_id or 0
    model.generation_config.pad_token_id = model.config.pad_token_id
    model.save_pretrained(tmp_path)
    before = 1 if model.config.is_encoder_decoder else given.shape[1]
    ours = load(tmp_path)
    np.testing.assert_array_equal(ours.generate(given, 8, mask=mask), expected[:, before:])
    if not model.config.is_encoder_decoder:  # the mask is read: without it padding has a say
        assert abs(ours.logits(given, mask=mask) - ours.logits(given))[mask.astype(bool)].max() > 0.001


@pytest.mark.parametrize("name", ["bert", "bert, classes", "roberta", "distilbert"])
def test_scores_of_texts_before_padding(tmp_path: Path, name: str) -> None:
    """Encoders see in both directions: what stands behind a text must not be seen."""
    CASES[name]()
    with exactly():
        model = made(name)
        given, mask = (each[:, ::-1].copy() for each in padded(model))
        with torch.no_grad():
            expected = model(torch.tensor(given), attention_mask=torch.tensor(mask)).logits.numpy()
    model.save_pretrained(tmp_path)
    ours = load(tmp_path, np.float64).logits(given, mask=mask)
    real = slice(None) if ours.ndim == 2 else mask.astype(bool)
    np.testing.assert_allclose(ours[real], expected[real], rtol=0, atol=1e-10)
    assert abs(load(tmp_path, np.float64).logits(given)[real] - expected[real]).max() > 0.001


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart"])
def test_half_precision_is_read_exactly(tmp_path: Path, name: str) -> None:
    """A model stored in bfloat16 has the scores that the library finds when it reads it into float32."""
    model = made(name).to(torch.bfloat16)
    model.save_pretrained(tmp_path)
    given, expected = scores(type(model).from_pretrained(tmp_path, dtype=torch.float32).eval())
    np.testing.assert_allclose(load(tmp_path).logits(*given), expected, rtol=0, atol=1e-4)


def test_bert_without_a_head(tmp_path: Path) -> None:
    model = bert("BertModel")().double().eval()
    model.save_pretrained(tmp_path)
    given, segments = tokens(2, 7), np.random.default_rng(1).integers(3, size=(2, 7))
    with torch.no_grad():
        out = model(torch.tensor(given), token_type_ids=torch.tensor(segments))
    ours = load(tmp_path, np.float64)
    np.testing.assert_allclose(ours.hidden(given, segments=segments), out.last_hidden_state, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.pooled(given, segments=segments), out.pooler_output, rtol=0, atol=1e-10)
    assert abs(ours.hidden(given) - ours.hidden(given, segments=segments)).max() > 0.001  # segments count


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2"])
def test_a_decoder_without_a_head(tmp_path: Path, name: str) -> None:
    model, given, _ = exact(name)
    model.base_model.save_pretrained(tmp_path)
    with exactly(), torch.no_grad():
        expected = model.base_model(torch.tensor(given[0])).last_hidden_state
    np.testing.assert_allclose(load(tmp_path, np.float64).hidden(*given), expected, rtol=0, atol=1e-10)


def test_a_checkpoint_may_have_heads_that_the_configuration_does_not_name(tmp_path: Path) -> None:
    """As the first checkpoints of BERT have: the pooler and the next sentence beside the masked language model."""
    model, given, expected = exact("bert, pretraining")
    model.config.architectures = ["BertForMaskedLM"]
    model.save_pretrained(tmp_path)
    config = (tmp_path / "config.json").read_text(encoding="utf-8")
    (tmp_path / "config.json").write_text(config.replace("BertForPreTraining", "BertForMaskedLM"), encoding="utf-8")
    loaded = load(tmp_path, np.float64)
    assert loaded.model.architecture.head.kind == "masked_language_model"
    np.testing.assert_allclose(loaded.logits(*given), expected, rtol=0, atol=1e-10)


def test_t5_with_scores_from_a_matrix_of_their_own(tmp_path: Path) -> None:
    """As version 1.1 is published: `tie_word_embeddings` is false, and the matrix of the head is stored."""
    safetensors = pytest.importorskip("safetensors.numpy")
    model = made("t5, gated")
    model.save_pretrained(tmp_path)
    stored = safetensors.load_file(tmp_path / "model.safetensors")
    stored["lm_head.weight"] = np.random.default_rng(5).normal(size=(VOCAB, 12)).astype(np.float32)
    safetensors.save_file(stored, tmp_path / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config.pop("scale_decoder_outputs")
    (tmp_path / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}), encoding="utf-8")
    given, expected = scores(type(model).from_pretrained(tmp_path))
    np.testing.assert_allclose(load(tmp_path).logits(*given), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["llama, dynamic, beyond", "llama, longrope", "phi3, longrope, some columns"])
def test_texts_that_outgrow_their_frequencies_are_computed_anew(tmp_path: Path, name: str) -> None:
    """Greedy texts are those of `logits`, also where the frequencies change on the way."""
    made(name).save_pretrained(tmp_path)
    ours, text = load(tmp_path, np.float64), tokens(2, 4)
    written = ours.generate(text, 15, end=())
    for place in range(15):
        following = ours.logits(text)[..., -1, :].argmax(axis=-1)
        np.testing.assert_array_equal(written[..., place], following)
        text = np.concatenate([text, following[..., None]], axis=-1)


def test_frequencies_for_which_a_number_is_missing_are_refused(tmp_path: Path) -> None:
    decoder("Llama", rope_parameters=DYNAMIC)().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    del config["max_position_embeddings"]
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match="max_position_embeddings is missing; rotary positions of the type 'dynamic'"):
        load(tmp_path)


def test_kimi_k2_is_deepseek_v3_with_one_group_of_experts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library has no such model_type: its file is that of DeepSeek-V3, where only the word differs."""
    sizes = next(sizes for _, sizes in COUNTED if sizes.get("model_type") == "kimi_k2")
    monkeypatch.setitem(CASES, "kimi_k2", small("DeepseekV3ForCausalLM", {**sizes, "model_type": "deepseek_v3"}))
    model, given, expected = exact("kimi_k2")
    model.save_pretrained(tmp_path)
    config = (tmp_path / "config.json").read_text(encoding="utf-8").replace('"deepseek_v3"', '"kimi_k2"')
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    np.testing.assert_allclose(load(tmp_path, np.float64).logits(*given), expected, rtol=0, atol=1e-10)


def test_biases_of_scores_that_are_not_stored_are_zeros(tmp_path: Path) -> None:
    """As in checkpoints of BART that are older than its biases."""
    safetensors = pytest.importorskip("safetensors.numpy")
    model, given, biased = exact("bart")
    model.final_logits_bias.zero_()
    with exactly():
        _, expected = scores(model)
    assert abs(biased - expected).max() > 0.01
    model.save_pretrained(tmp_path)
    stored = safetensors.load_file(tmp_path / "model.safetensors")
    del stored["final_logits_bias"]
    safetensors.save_file(stored, tmp_path / "model.safetensors", metadata={"format": "pt"})
    np.testing.assert_allclose(load(tmp_path, np.float64).logits(*given), expected, rtol=0, atol=1e-10)


def test_rows_that_are_halved_behind_every_few_layers(tmp_path: Path) -> None:
    """RWKV has norms of halved rows behind so many layers, for which epsilon is four times as large."""
    sizes = dict(next(sizes for name, sizes in RECURRENT if name.startswith("Rwkv")))
    build = small("RwkvForCausalLM", sizes | {"rescale_every": 2, "num_hidden_layers": 5, "layer_norm_epsilon": 0.1})
    build()
    with exactly():
        model = build().eval()
        model.save_pretrained(tmp_path)  # before it halves its weights, too
        given, expected = scores(model)
    np.testing.assert_allclose(load(tmp_path, np.float64).logits(*given), expected, rtol=0, atol=1e-10)


def test_the_comparison_can_fail(tmp_path: Path) -> None:
    """One entry of one tensor changed by 0.001 shows in the scores."""
    model, given, expected = exact("llama")
    model.model.layers[1].self_attn.k_proj.weight.data[5, 3] += 0.001
    model.save_pretrained(tmp_path)
    assert 1e-10 < abs(load(tmp_path, np.float64).logits(*given) - expected).max() < 0.1


def test_a_detector_scores_every_token(tmp_path: Path) -> None:
    """ELECTRA's discriminator has one score of each token, where the library leaves the axis of one score out."""
    sizes = dict(next(sizes for name, sizes in COUNTED if name == "ElectraForPreTraining"))
    model = small("ElectraForPreTraining", sizes)().double().eval()
    model.save_pretrained(tmp_path)
    given = tokens(2, 7)
    with torch.no_grad():
        expected = model(torch.tensor(given)).logits
    np.testing.assert_allclose(load(tmp_path, np.float64).logits(given)[..., 0], expected, rtol=0, atol=1e-10)
