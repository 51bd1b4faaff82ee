"""Latent attention: broken statements are refused; loops over positions, and a library, agree with the layer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Basic, Rational

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.latent import (
    DIRECT,
    EVEN,
    K_R,
    Q_R,
    SCALE,
    W_O,
    W_UK,
    W_UQ,
    W_UV,
    K,
    Q,
    V,
    absorbed,
    c_KV,
    c_Q,
    column_concatenation,
    d_r,
    head,
    i,
    latent_absorbed,
    latent_attention,
    latent_cache,
    latent_definition,
    latent_flops,
    latent_head,
    latent_parameters,
    latent_scores,
    plain,
    r_KV,
    r_Q,
)
from derivations.language.arrays.arrangements import Concatenate, SumOver, column_block
from derivations.language.arrays.expression import array
from derivations.language.counting.costs import Count, count_flops, count_parameters
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import batch, d_k, d_v, h, n, pos
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

RESULTS_OF_IT = sorted(name for name in RESULTS if name.startswith("multi_head.latent_"))


@pytest.mark.parametrize("name", RESULTS_OF_IT)
def test_every_result_is_proved_and_the_cross_check_agrees(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "multi_head.latent_definition" else "proved")
    assert cross_check(RESULTS[name]()).outcome == "agrees"


def test_there_are_results() -> None:
    assert len(RESULTS_OF_IT) == 6


SPLIT = latent_head()
q, q_R, k, k_R, v = SPLIT.inputs
WIDE = scaled_dot_product_attention().at(d_k=d_k + d_r, m=n)
NARROW = scaled_dot_product_attention().at(m=n)
SHARED = latent_head(latent=True)
A, ROWS = array("A", h, n, n), column_block(W_O.T, i).T
COUNT = Count("parameters", plain)
WRONG = [
    ("keys for values", latent_definition, 0, 0, latent_head().at(d_v=d_k).result(Q[i], Q_R[i], K[i], K_R, K[i])),
    ("keys of the first head", latent_definition, 0, 0, SPLIT.result(Q[i], Q_R[i], K[0], K_R, V[i])),
    ("one head at every place", latent_definition, 1, 0, Concatenate(head[0], i, h) @ W_O),
    ("turned queries of the first head", latent_definition, 0, 0, SPLIT.result(Q[i], Q_R[0], K[i], K_R, V[i])),
    ("no turned columns", latent_scores, 0, 0, (q @ k.T) * SCALE),
    (
        "columns in another order",
        latent_scores,
        0,
        1,
        (column_concatenation(q, q_R) @ column_concatenation(k_R, k).T) * SCALE,
    ),
    (
        "turned columns taken away",
        latent_scores,
        0,
        1,
        (column_concatenation(q, q_R) @ column_concatenation(k, -k_R).T) * SCALE,
    ),
    ("attention without turned columns", latent_scores, 1, 0, NARROW.result(q, k, v)),
    (
        "another scale",
        latent_scores,
        1,
        0,
        WIDE.result(2 * column_concatenation(q, q_R), column_concatenation(k, k_R), v),
    ),
    ("keys of the first head for all", latent_absorbed, 0, 1, (c_Q @ W_UQ[i]) @ (c_KV @ W_UK[0]).T),
    ("maps of two heads", latent_absorbed, 0, 2, (c_Q @ (W_UQ[i] @ W_UK[0].T)) @ c_KV.T),
    (
        "queries of the first head",
        latent_absorbed,
        1,
        0,
        SHARED.result(Q[0] @ W_UK[0].T, Q_R[i], c_KV, K_R, c_KV) @ W_UV[i],
    ),
    (
        "no turned columns when absorbed",
        latent_absorbed,
        1,
        0,
        SHARED.result(Q[i] @ W_UK[i].T, 0 * Q_R[i], c_KV, K_R, c_KV) @ W_UV[i],
    ),
    ("the first head, h times", latent_absorbed, 2, 0, SumOver((A[0] @ V[0]) @ ROWS, i, h)),
    ("rows that do not belong", latent_absorbed, 2, 2, SumOver((A[i] @ c_KV) @ (W_UV[0] @ ROWS), i, h)),
    ("a turned key for every head", latent_cache, 0, 0, r_KV + h * d_r),
    ("two latents", latent_cache, 0, 1, 1088),
    ("one head of keys", latent_cache, 1, 0, d_k + d_r + d_v),
    ("values as wide as keys", latent_cache, 1, 1, 49152),
    ("the turned columns forgotten", latent_cache, 2, 0, h * (d_k + d_v) / r_KV),
    ("71 times, no more", latent_cache, 3, 0, 71),
    ("no norms", latent_parameters, 0, 0, COUNT - r_Q - r_KV),
    ("another total", latent_parameters, 1, 0, 187105280),
    ("fewer when absorbed", latent_parameters, 2, 0, COUNT - h * r_KV * d_k),
    ("as many without a latent of queries", latent_parameters, 3, 0, 0),
    ("one position", latent_flops, 0, 0, Count("matmul FLOPs", plain.at(n=1), batch)),
    ("as much when absorbed", latent_flops, 1, 0, 0),
    ("less when absorbed", latent_flops, 1, 0, 2 * batch * h * n**2 * (d_k + d_v - 2 * r_KV)),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.slow
def test_turned_columns_stand_in_pairs() -> None:
    """Without the assumption that d_r is even nothing is said of turned columns."""
    assert EVEN in latent_absorbed().assumptions
    right = latent_absorbed()
    evidence = judge(replace(right, assumptions=()))
    assert evidence.level == "unknown"
    assert any("is integer" in reason for reason in evidence.failures)


# --- numbers --------------------------------------------------------------------------------------------------------

Arrays = dict[str, np.ndarray]
SIZES = {"n": 7, "d_model": 11, "h": 3, "d_k": 5, "d_v": 2, "r_Q": 13, "r_KV": 7, "d_r": 6}


def random_weights(random: np.random.Generator, latent_queries: bool = True) -> Arrays:
    queries = {"W_DQ": (11, 13), "W_UQ": (3, 13, 5), "W_QR": (3, 13, 6)}
    shapes = {
        **(queries if latent_queries else {"W_Q": (3, 11, 5), "W_R": (3, 11, 6)}),
        **{"W_DKV": (11, 7), "W_KR": (11, 6), "W_UK": (3, 7, 5), "W_UV": (3, 7, 2), "W_O": (6, 11)},
    }
    return {name: random.normal(size=shape) / 2 for name, shape in shapes.items()}


def random_norms(random: np.random.Generator) -> dict[str, Arrays]:
    return {"query_norm": {"gamma": random.normal(size=13)}, "key_value_norm": {"gamma": random.normal(size=7)}}


def normed(row: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return gamma * row / np.sqrt((row**2).mean() + 1e-5)


def turned(row: np.ndarray, position: int, halves: bool) -> np.ndarray:
    """Pairs as complex numbers, each times a number of length 1."""
    pairs = row[:3] + 1j * row[3:] if halves else row[::2] + 1j * row[1::2]
    pairs = pairs * np.exp(1j * position * 10000.0 ** (-np.arange(3) / 3))
    if halves:
        return np.concatenate([pairs.real, pairs.imag])
    return np.stack([pairs.real, pairs.imag], axis=1).reshape(6)


def loop(x: np.ndarray, weights: Arrays, norms: dict[str, Arrays], shown: np.ndarray, halves: bool) -> np.ndarray:
    """Every query by itself: keys and values of all positions before it are made anew from their latents."""
    output = np.zeros_like(x)
    latents = [normed(row @ weights["W_DKV"], norms["key_value_norm"]["gamma"]) for row in x]
    keys_turned = [turned(row @ weights["W_KR"], place, halves) for place, row in enumerate(x)]
    for place, row in enumerate(x):
        source = normed(row @ weights["W_DQ"], norms["query_norm"]["gamma"]) if "W_DQ" in weights else row
        of_queries, of_turned = ("W_UQ", "W_QR") if "W_DQ" in weights else ("W_Q", "W_R")
        for number in range(3):
            query = np.concatenate([source @ weights[of_queries][number],
                                    turned(source @ weights[of_turned][number], place, halves)])  # fmt: skip
            powers = np.zeros(len(x))
            for other in np.flatnonzero(shown[place]):
                key = np.concatenate([latents[other] @ weights["W_UK"][number], keys_turned[other]])
                powers[other] = np.exp(query @ key / np.sqrt(11))
            values = np.array([latent @ weights["W_UV"][number] for latent in latents])
            output[place] += powers / powers.sum() @ values @ weights["W_O"][2 * number : 2 * number + 2]
    return output


VARIANTS: list[dict[str, bool]] = [
    {},
    {"masked": True},
    {"masked": True, "absorbed": True},
    {"absorbed": True},
    {"latent_queries": False},
    {"halves": True, "masked": True},
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: ", ".join(options) or "plain")
def test_the_compiled_layer_is_a_loop_over_queries(options: dict[str, bool]) -> None:
    random = np.random.default_rng(79)
    weights, norms = random_weights(random, options.get("latent_queries", True)), random_norms(random)
    norms = norms if "W_DQ" in weights else {"key_value_norm": norms["key_value_norm"]}
    x = random.normal(size=(2, 7, 11))
    shown = np.tri(7, dtype=bool) if options.get("masked") else np.ones((7, 7), dtype=bool)
    apply = compile_layer(latent_attention(**options))
    output = apply(x, *([shown] if options.get("masked") else []), **weights, **norms)
    assert output.shape == (2, 7, 11)
    halves = options.get("halves", False)
    for item in range(2):
        np.testing.assert_allclose(output[item], loop(x[item], weights, norms, shown, halves), rtol=1e-9, atol=1e-12)
    assert np.abs(output[0] - loop(x[0], weights, norms, shown, not halves)).max() > 1e-3
    assert np.abs(output[0] - loop(x[0], weights, norms, np.tri(7, k=1, dtype=bool), halves)).max() > 1e-3


def test_counts_of_a_named_model() -> None:
    """DeepSeek-V3: width 7168, 128 heads of 128 + 64 columns, latents of 1536 and 512."""
    sizes = {"d_model": 7168, "h": 128, "d_k": 128, "d_v": 128, "r_Q": 1536, "r_KV": 512, "d_r": 64, "n": 5}
    assert count_parameters(plain.at(**sizes)) == 187107328
    weights = 187107328 - 1536 - 512  # without the norms
    between = 2 * 128 * 25 * (128 + 64 + 128)
    assert count_flops(plain.at(**sizes)).matmul == 2 * 5 * weights + between
    assert count_flops(absorbed.at(**sizes)).matmul == 2 * 5 * weights + 2 * 128 * 25 * (512 + 64 + 512)
    assert count_parameters(DIRECT.at(**{name: of for name, of in sizes.items() if name != "r_Q"})) == (
        weights + 512 - 7168 * 1536 - 1536 * 128 * 192 + 7168 * 128 * 192
    )


# --- elsewhere ------------------------------------------------------------------------------------------------------


@pytest.mark.peers
@pytest.mark.parametrize("latent_queries", [True, False])
def test_the_attention_of_a_library_agrees(latent_queries: bool) -> None:
    """The same weights in the attention of transformers, whose norms work in float32."""
    torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
    transformers = pytest.importorskip("transformers", reason="the peers tests compare with transformers")
    random = np.random.default_rng(83)
    weights, norms, x = random_weights(random, latent_queries), random_norms(random), random.normal(size=(2, 7, 11))
    modeling = transformers.models.deepseek_v3.modeling_deepseek_v3
    config = transformers.DeepseekV3Config(
        hidden_size=11, num_attention_heads=3, num_key_value_heads=3, q_lora_rank=13 if latent_queries else None,
        kv_lora_rank=7, qk_nope_head_dim=5, qk_rope_head_dim=6, v_head_dim=2, rope_theta=10000.0,
        attn_implementation="eager",
    )  # fmt: skip
    attention = modeling.DeepseekV3Attention(config, 0).double().eval()

    def stored(*of_heads: np.ndarray) -> np.ndarray:
        """The maps of every head below those of the head before."""
        return np.concatenate([np.concatenate([W[number].T for W in of_heads]) for number in range(3)])

    given = {
        "kv_a_proj_with_mqa.weight": np.concatenate([weights["W_DKV"], weights["W_KR"]], axis=1).T,
        "kv_a_layernorm.weight": norms["key_value_norm"]["gamma"],
        "kv_b_proj.weight": stored(weights["W_UK"], weights["W_UV"]),
        "o_proj.weight": weights["W_O"].T,
    }
    if latent_queries:
        given |= {
            "q_a_proj.weight": weights["W_DQ"].T,
            "q_a_layernorm.weight": norms["query_norm"]["gamma"],
            "q_b_proj.weight": stored(weights["W_UQ"], weights["W_QR"]),
        }
    else:
        given |= {"q_proj.weight": stored(weights["W_Q"], weights["W_R"])}
        del norms["query_norm"]
    attention.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in given.items()})
    rows, hidden = torch.from_numpy(x), np.triu(np.full((7, 7), -1e30), 1)
    angles = modeling.DeepseekV3RotaryEmbedding(config)(rows, torch.arange(7)[None])
    with torch.no_grad():
        theirs = attention(rows, angles, torch.from_numpy(hidden)[None, None])[0].numpy()
    for without_keys in (False, True):
        layer = latent_attention(
            masked=True, latent_queries=latent_queries, absorbed=without_keys, eps=Rational(1, 10**6)
        )
        ours = compile_layer(layer)(x, np.tri(7, dtype=bool), **weights, **norms)
        assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("latent_queries", [True, False])
def test_queries_that_grow_scale_the_scores_of_their_row(latent_queries: bool) -> None:
    """Row p, whose query is p + 1 times as long, is that of a layer with scores p + 1 times as large."""
    random = np.random.default_rng(83)
    weights, norms = random_weights(random, latent_queries), random_norms(random)
    given: dict[str, Any] = {**weights, **(norms if latent_queries else {"key_value_norm": norms["key_value_norm"]})}
    x = random.normal(size=(7, 11))
    grown = compile_layer(latent_attention(latent_queries=latent_queries, growth=pos + 1))(x, **given)
    for place in (0, 2):
        larger = latent_attention(latent_queries=latent_queries, scale=(place + 1) * SCALE)
        np.testing.assert_allclose(grown[place], compile_layer(larger)(x, **given)[place], rtol=1e-12)
    usual = compile_layer(latent_attention(latent_queries=latent_queries))(x, **given)
    assert np.abs(grown[2] - usual[2]).max() > 1e-3
