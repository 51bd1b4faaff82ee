"""Rules that change rotary frequencies: their numbers by hand, the lengths at which they change, fields as read."""

from math import ceil, floor, isclose, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
from sympy import Integer, Rational

from derivations.architectures.description import Rotary
from derivations.architectures.hugging_face import model_of
from derivations.architectures.projections import rotary_layer
from derivations.architectures.reading import ConfigError
from derivations.positions.rotary_scaling import amplitude, same_reach, yarn_range
from numeric.codegen.compile import compile_layer

LLAMA: dict[str, Any] = {
    **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 12, "intermediate_size": 11},
    **{"num_attention_heads": 2, "num_hidden_layers": 3, "head_dim": 10, "vocab_size": 13},
    **{"max_position_embeddings": 64, "rope_theta": 100.0},
}
N, COLUMNS = 11, 10


def positions(scaling: dict[str, Any], **others: Any) -> Rotary:
    decoder = model_of({**LLAMA, **others, "rope_scaling": scaling}, "llama").architecture.decoder
    assert decoder is not None
    found = decoder.blocks[0].attention.positions
    assert isinstance(found, Rotary)
    return found


def turned(rotary: Rotary, reach: int) -> Any:
    """Turn rows of 1 in the first half and 0 in the second: cosines and sines of the angles, times the amplitude."""
    layer = compile_layer(rotary_layer(rotary))
    rows = np.concatenate([np.ones((N, COLUMNS // 2)), np.zeros((N, COLUMNS // 2))], axis=1)
    sizes = {"reach": reach} if any(size.name == "reach" for size in layer.sizes) else {}
    return layer(rows, **sizes)


def expected(frequencies: list[float], size: float = 1.0) -> Any:
    angles = np.arange(N)[:, None] * np.array(frequencies)
    return size * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def plain(base: float = 100.0) -> list[float]:
    return [base ** (-2 * i / COLUMNS) for i in range(COLUMNS // 2)]


def test_yarn_by_hand() -> None:
    ends = [COLUMNS * log(16 / (turns * 2 * pi)) / (2 * log(100)) for turns in (2, 0.5)]
    low, high = max(floor(ends[0]), 0), min(ceil(ends[1]), COLUMNS - 1)
    assert 0 <= low < high < COLUMNS // 2
    shares = [min(max((i - low) / (high - low), 0), 1) for i in range(COLUMNS // 2)]
    frequencies = [w * (1 - t) + w / 4 * t for w, t in zip(plain(), shares, strict=True)]
    rule = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 2, "beta_slow": 0.5}
    found = turned(positions(rule), N)
    np.testing.assert_allclose(found, expected(frequencies, 1 + log(4) / 10), rtol=0, atol=1e-13)
    other = turned(positions({**rule, "beta_slow": 0.1}), N)
    assert abs(found - other).max() > 0.01  # the numbers of the rule are read


@pytest.mark.parametrize("reach", [1, 8, 9, 21])
def test_dynamic_by_hand(reach: int) -> None:
    grown = 100 * (2.5 * max(reach, 8) / 8 - 1.5) ** (COLUMNS / (COLUMNS - 2))
    rotary = positions({"rope_type": "dynamic", "factor": 2.5}, max_position_embeddings=8)
    np.testing.assert_allclose(turned(rotary, reach), expected(plain(grown)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("reach", [1, 8, 9, 21])
def test_longrope_by_hand(reach: int) -> None:
    short, long = [1.0, 1.5, 1.0, 2.5, 1.0], [1.0, 3.0, 5.0, 7.0, 11.0]
    rule = {"type": "su", "short_factor": short, "long_factor": long, "original_max_position_embeddings": 8}
    frequencies = [w / s for w, s in zip(plain(), short if reach <= 8 else long, strict=True)]
    size = sqrt(1 + log(64 / 8) / log(8))
    np.testing.assert_allclose(turned(positions(rule), reach), expected(frequencies, size), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"rope_type": "linear", "factor": Integer(4)}, 1.0),
        ({"rope_type": "yarn", "factor": Integer(4)}, 1 + log(4) / 10),
        ({"rope_type": "yarn", "factor": Rational(1, 2)}, 1.0),
        ({"rope_type": "yarn", "factor": Integer(4), "attention_factor": Rational(3, 2)}, 1.5),
        ({"rope_type": "yarn", "factor": Integer(4), "mscale": Integer(2)}, 1 + log(4) / 10),
        (
            {"rope_type": "yarn", "factor": Integer(4), "mscale": Integer(2), "mscale_all_dim": Integer(3)},
            (1 + log(4) / 5) / (1 + 3 * log(4) / 10),
        ),
        ({"rope_type": "longrope", "factor": Integer(4), "length": Integer(16)}, sqrt(1.5)),
        ({"rope_type": "longrope", "factor": Integer(1), "length": Integer(16)}, 1.0),
    ],
)
def test_amplitudes(rule: dict[str, Any], value: float) -> None:
    assert isclose(float(amplitude(rule)), value, rel_tol=1e-15)


def test_the_ends_of_a_ramp_are_kept_apart() -> None:
    """On 6 positions both waves turn less than once: both ends are the first pair."""
    assert yarn_range({"length": Integer(6)}, 10, Rational(100)) == (0, Rational(1, 1000))
    assert yarn_range({"length": Integer(7)}, 10, Rational(100)) == (0, 1)


def test_the_least_reach_with_the_same_frequencies() -> None:
    dynamic, long = ({"rope_type": kind, "length": Integer(8)} for kind in ("dynamic", "longrope"))
    assert [same_reach([dynamic], reach) for reach in (1, 8, 9, 21)] == [1, 1, 9, 21]
    assert [same_reach([long], reach) for reach in (1, 8, 9, 21)] == [1, 1, 9, 9]
    assert [same_reach([dynamic, long], reach) for reach in (8, 9, 21)] == [1, 9, 21]
    assert same_reach([{"rope_type": "yarn", "length": Integer(8)}], 21) == 1


@pytest.mark.parametrize(
    ("scaling", "sentence"),
    [
        ({"type": "yarn", "factor": 4.0, "attn_factor": 2.0}, "rope_parameters.attn_factor is not understood"),
        ({"type": "linear", "factor": 4.0, "finetuned": True}, "rope_parameters.finetuned is not understood"),
        ({"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [1.0] * 5}, "for each of the 5 pairs"),
        ({"type": "longrope", "short_factor": [1.0] * 5, "long_factor": 2}, "for each of the 5 pairs"),
        ({"type": "yarn"}, "rope_parameters.factor is missing"),
    ],
)
def test_fields_of_a_rule_that_are_refused(scaling: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        positions(scaling)


def test_fields_of_the_first_code_of_yarn_are_read() -> None:
    """`finetuned` says how the numbers were found; factors of 1 change nothing."""
    scaling = {"type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
    more = {"finetuned": True, "attn_factor": 1.0, "extrapolation_factor": 1.0}
    assert positions({**scaling, **more}) == positions(scaling)


@pytest.mark.parametrize(
    "changes",
    [
        {"full_attn_mod": 1, "interpolate_factor": 1, "lm_head_bias": False, "mlp_bias": False},
        {"use_sliding_window": False, "sliding_window": None},
    ],
)
def test_fields_that_say_that_nothing_is_added_are_read_by_every_family(changes: dict[str, Any]) -> None:
    phi = {**LLAMA, "model_type": "phi3", "architectures": ["Phi3ForCausalLM"]}
    for config in (LLAMA, phi):
        assert model_of({**config, **changes}, "same").architecture == model_of(config, "same").architecture
    for field in changes:
        with pytest.raises(ConfigError, match=field):
            model_of({**phi, field: "other"}, "other")
