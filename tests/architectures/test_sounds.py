"""Encoders of samples: lengths, costs of the stem and of positions, and the gate of a bias by distance."""

import numpy as np
import pytest
from sympy import Integer

from derivations.architectures.attention import attention_layer
from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.composition import build
from derivations.architectures.description import Attention, Block, Convolved, FeedForward, Norm, Waveform
from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError
from derivations.architectures.sounds import convolved_positions, waveform_stem
from derivations.language import count_flops, count_parameters
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation.claims import local_claims
from derivations.language.judge.proof import judge
from derivations.symbols import d_k, d_model, h, n, size
from numeric import compile_layer

WAV2VEC = {
    "model_type": "wav2vec2",
    "architectures": ["Wav2Vec2ForCTC"],
    **{"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
    "vocab_size": 32,
}
COLUMNS = size("c_1"), size("c_2")
STEM = Waveform(((COLUMNS[0], 5, 3), (COLUMNS[1], 4, 2)), over_time=False)


def test_rows_read_as_many_samples_as_the_windows_of_all_convolutions() -> None:
    assert STEM.lengths(n) == (6 * n + 8, 2 * n + 2, n)
    assert STEM.lengths(Integer(1))[0] == 14


def test_the_model_of_the_paper_reads_25_milliseconds_every_20() -> None:
    """At 16,000 samples in a second (Baevski et al. 2020, section 4.2)."""
    model = model_of(WAV2VEC, "wav2vec2")
    assert any("a row reads 400 samples, each further row 320 more" in each for each in model.assumptions)
    counted = count_parameters(build(model.architecture)).subs(model.values)
    assert counted == 94_396_320  # as published with the model for English letters


def test_costs_of_the_stem_and_of_positions() -> None:
    stem, (first, second) = waveform_stem(STEM), COLUMNS
    assert count_flops(stem).matmul.equals(
        2 * (2 * n + 2) * 5 * first + 2 * n * 4 * first * second + 2 * n * second * d_model
    )
    positions = convolved_positions(Convolved(128, size("conv_groups")))
    assert count_parameters(positions).subs({d_model: 768, size("conv_groups"): 16}) == 128 * 768 * 48 + 128 + 768


def test_a_norm_over_time_reads_every_row_of_the_first_convolution() -> None:
    sizes = {COLUMNS[0]: Integer(2), COLUMNS[1]: Integer(3), d_model: Integer(2)}
    over_time = waveform_stem(Waveform(STEM.convolutions, over_time=True, frames=size("frames"))).xreplace(sizes)
    random = np.random.default_rng(5)
    drawn = {name: random.normal(size=shape) for name, shape in {"1": (5, 2), "2": (8, 3), "3": (3, 2)}.items()}
    weights = {
        "conv_1": {"W": drawn["1"]},
        "conv_2": {"W": drawn["2"]},
        "norm_1": {"gamma": np.ones(2), "beta": np.zeros(2)},
        "projection": {"W": drawn["3"], "b": np.zeros(2)},
    }
    samples = random.normal(size=(29, 1))
    run = compile_layer(over_time)
    short = run(samples[:26], **weights, frames=8, n=3)
    longer = run(samples, **weights, frames=9, n=3)
    assert short.shape == longer.shape == (3, 2)
    assert abs(short - longer).max() > 1e-6


# --- the gate of WavLM ------------------------------------------------------------------------------------------------

GATED = Attention(h, biases=(True,) * 4, bias_gate=Integer(8))


def test_the_gradient_of_a_gated_bias_is_proved() -> None:
    """Where the heads have all columns of the rows, which they assume."""
    evidence = judge(local_claims(attention_layer(GATED, biased=True).xreplace({d_model: h * d_k})))
    assert evidence.level == "proved" and not evidence.failures


def test_a_gate_costs_one_map_of_the_columns_of_a_head() -> None:
    gated, plain = (
        attention_layer(each, biased=True) for each in (GATED, Attention(h, biases=(True,) * 4, bias_gate=None))
    )
    assert count_flops(gated).matmul.equals(count_flops(plain).matmul + 2 * n * h * d_k * 8)
    assert (count_parameters(gated) - count_parameters(plain)).equals(8 * d_k + 8 + h)


def test_a_gate_without_a_bias_is_refused() -> None:
    with pytest.raises(ShapeError, match="a gate of biases needs a bias of the scores"):
        block_layer(Block(GATED, FeedForward(), Norm()), Around())


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"add_adapter": True}, "add_adapter is true, which changes the architecture"),
        ({"adapter_attn_dim": 16}, "adapter_attn_dim is 16, which changes the architecture"),
        ({"conv_dim": [512]}, "conv_dim has 1 numbers, conv_kernel 7 and conv_stride 7; lists of one length"),
        ({"conv_kernel": [10, 3, 0]}, "conv_kernel is 0; a whole number from 1"),
        ({"feat_extract_norm": "batch"}, 'feat_extract_norm is "batch", which is not known'),
        ({"num_conv_pos_embedding_groups": 7}, "hidden_size is 768, which is not a multiple of"),
        ({"architectures": ["Wav2Vec2ForPreTraining"]}, "known are Wav2Vec2Model, Wav2Vec2ForCTC"),
        ({"mask_time_prob": None}, "mask_time_prob is null; a number is needed"),
    ],
)
def test_what_is_not_read_is_refused_in_a_sentence(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        model_of(WAV2VEC | change, "wav2vec2")
