"""Mixtures of experts: broken statements are refused; loops over positions, and libraries, agree with the layer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, exp

from derivations.feed_forward.mixture_of_experts import (
    EXPERT,
    MIXTURE,
    E,
    K,
    L,
    P,
    Y,
    choice_invariance,
    chosen,
    d_expert,
    d_shared,
    definition,
    dense_form,
    e,
    equal_experts,
    experts,
    flops,
    i,
    mixture_gradient,
    mixture_of_experts,
    network,
    p,
    parameters,
    picked,
    routed_gradient,
    router_jacobian,
    s,
    scaled_sigmoid_weights,
    single_choice,
    softmax_over_chosen,
    t,
    w,
    weights_sum_to_one,
)
from derivations.language.arrays.expression import array
from derivations.language.arrays.routing import RoutedOuter, RoutedProduct, TopK
from derivations.language.counting.costs import Count, count_flops, count_parameters
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import batch, d_model, n, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("mixture_of_experts"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "mixture_of_experts.definition" else "proved")


OWN = KroneckerDelta(e, chosen[s, i])
AVERAGE = picked(KroneckerDelta(e, chosen[t, i]) * w[t, i], t)
WRONG = [
    ("the sigmoid for the softmax", definition, 0, 0, 1 / (1 + exp(-L[i, e]))),
    ("shares of all experts", definition, 1, 0, P[i, chosen[s, i]]),
    ("every position to the expert of the first", definition, 2, 0, network(chosen[s, 0])),
    ("weights left out", definition, 3, 0, picked(network(chosen[s, i]))),
    ("the sum of all scores", weights_sum_to_one, 0, 1, picked(p[s, i])),
    ("weights that sum to K", weights_sum_to_one, 0, 2, K),
    ("the scale forgotten", scaled_sigmoid_weights, 1, 0, 1),
    ("the scale twice", scaled_sigmoid_weights, 1, 0, scalar("c", positive=True) ** 2),
    ("a softmax over all logits", softmax_over_chosen, 0, 1, exp(L[i, chosen[s, i]]) / experts(exp(L[i, e]))),
    ("all experts with one weight", dense_form, 0, 2, experts(w[0, i] * network(e))),
    ("the weights of all experts sum to K", dense_form, 1, 1, K),
    ("the smallest entries", choice_invariance, 1, 0, TopK(-array("S", n, E), K)),
    ("the smallest probabilities", choice_invariance, 2, 0, TopK(-array("S", n, E), K)),
    ("twice the network", equal_experts, 0, 0, 2 * Y),
    ("a logit that competes with nothing", router_jacobian, 0, 0, w[s, i] * (OWN - OWN * w[s, i])),
    ("the sign", router_jacobian, 0, 0, w[s, i] * (OWN + AVERAGE)),
    ("a single expert that learns", single_choice, 1, 0, KroneckerDelta(e, chosen[0, i])),
    ("a weight of a half", single_choice, 0, 0, Rational(1, 2)),
    ("one expert too many", parameters, 1, 0, 3 * (E + 1) * d_model * d_expert + d_model * E),
    ("no router", parameters, 1, 0, 3 * E * d_model * d_expert),
    ("all experts in use", parameters, 2, 0, 3 * E * d_model * d_expert + d_model * E),
    ("a shared network for each expert", parameters, 3, 0, 3 * E * d_model * d_shared),
    ("a gate for each hidden unit", parameters, 4, 0, d_model * d_shared),
    ("products of all experts", flops, 0, 0, 2 * batch * n * d_model * E + 6 * batch * n * E * d_model * d_expert),
    (
        "a router of the chosen experts",
        flops,
        0,
        1,
        2 * batch * n * d_model * K + K * Count("matmul FLOPs", EXPERT, batch),
    ),
    ("not one position but two", flops, 1, 0, n * Count("matmul FLOPs", MIXTURE.at(n=2), batch)),
    ("a shared network at one position", flops, 2, 0, 6 * batch * d_model * d_shared),
    ("a gate of one position", flops, 3, 0, 2 * batch * d_model),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.slow
@pytest.mark.parametrize("result", [routed_gradient, mixture_gradient])
def test_a_wrong_gradient_is_refused(result: Callable[[], Derivation]) -> None:
    right = result()
    for number, claim in enumerate(right.claims):
        assert is_refused(with_step(right, number, 0, 2 * claim.rhs))


def test_no_other_place_may_be_named() -> None:
    """Without the assumption that the numbers name experts, nothing that reads the experts is proved."""
    right = definition()
    for wanted in (0, 1):
        evidence = judge(replace(right, assumptions=right.assumptions[wanted : wanted + 1]))
        assert evidence.level == "unknown"
        assert all("is in range" in reason for reason in evidence.failures)


# --- numbers --------------------------------------------------------------------------------------------------------

SIZES = {"n": 7, "d_model": 5, "E": 11, "d_expert": 3, "d_shared": 2}
CHOSEN = 3
GROUPS = {"N_G": 3, "K_G": 2}
Arrays = dict[str, np.ndarray]


def random_weights(random: np.random.Generator) -> Arrays:
    shapes = {"W_router": (5, 11), "W_gate": (11, 5, 3), "W_up": (11, 5, 3), "W_down": (11, 3, 5)}
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def random_shared(random: np.random.Generator) -> Arrays:
    return {
        name: random.normal(size=shape) for name, shape in {"W_gate": (5, 2), "W_up": (5, 2), "W_down": (2, 5)}.items()
    }


def random_gate(random: np.random.Generator) -> Arrays:
    return {"W_shared_gate": random.normal(size=5)}


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def gated(x: np.ndarray, gate: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    return (silu(x @ gate) * (x @ up)) @ down


def loop(
    x: np.ndarray,
    weights: Arrays,
    *,
    sigmoid: bool = False,
    normalised: bool = True,
    correction: np.ndarray | None = None,
    scale: float = 1,
    shared: Arrays | None = None,
    best_of_group: int = 0,
    threshold: float | None = None,
    eps: float = 0,
) -> np.ndarray:
    """Every position by itself: its scores, the largest of them one after the other, and their networks."""
    output = []
    for row in x:
        logits = row @ weights["W_router"]
        scores = 1 / (1 + np.exp(-logits)) if sigmoid else np.exp(logits) / np.exp(logits).sum()
        left = {
            number: (scores[number] + (0 if correction is None else correction[number])).real for number in range(11)
        }
        if best_of_group:
            groups = [[e for e in left if 3 * e // 11 == group] for group in range(3)]
            groups.sort(key=lambda group: -sum(sorted((left[e] for e in group), reverse=True)[:best_of_group]))
            left = {e: left[e] for group in groups[:2] for e in group}
        best = []
        for _ in range(CHOSEN):
            best.append(max(left, key=left.__getitem__))
            if threshold is not None:
                scores[best[-1]] = share_of_near(logits, left, best[-1], threshold)
            del left[best[-1]]
        whole = sum(scores[number] for number in best) + eps if normalised else 1
        parts = [
            scale
            * scores[number]
            / whole
            * gated(row, *(weights[name][number] for name in ("W_gate", "W_up", "W_down")))
            for number in best
        ]
        seen = 1 / (1 + np.exp(-row @ weights["W_shared_gate"])) if "W_shared_gate" in weights else 1
        parts += [] if shared is None else [seen * gated(row, shared["W_gate"], shared["W_up"], shared["W_down"])]
        output.append(sum(parts))
    return np.array(output)


def share_of_near(logits: np.ndarray, left: Mapping[int, float], own: int, threshold: float) -> float:
    """The softmax of one of the experts that are left, over those of them that are near enough."""
    near = [e for e in left if logits[own] - logits[e] <= threshold * max(abs(logits[e]), logits[own])]
    return np.exp(logits[own]) / sum(np.exp(logits[e]) for e in near)


VARIANTS: list[tuple[str, dict[str, object]]] = [
    ("Mixtral", {}),
    ("shares of all experts", {"normalised": False}),
    ("sigmoid", {"scoring": "sigmoid"}),
    ("DeepSeek-V3", {"scoring": "sigmoid", "corrected": True, "shared": True, "scale": Rational(5, 2)}),
    ("Qwen2-MoE", {"normalised": False, "shared": True, "shared_gate": True}),
    ("DeepSeek-V2", {"normalised": False, "best_of_group": 1}),
    ("Phi-3.5-MoE", {"normalised": False, "threshold": Rational(1, 2)}),
    ("Phi-3.5-MoE, all far", {"normalised": False, "threshold": Rational(1, 10**6)}),
    ("LFM2-MoE", {"scoring": "sigmoid", "corrected": True, "eps": Rational(1, 3)}),
    ("DeepSeek-V3, groups", {"scoring": "sigmoid", "corrected": True, "best_of_group": 2}),
]


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_the_compiled_layer_is_a_loop_over_positions(name: str, options: dict[str, object]) -> None:
    random = np.random.default_rng(59)
    weights, shared, x = random_weights(random), random_shared(random), random.normal(size=(2, 7, 5))
    correction = random.normal(size=11)
    weights |= random_gate(random) if options.get("shared_gate") else {}
    given = [correction] if options.get("corrected") else []
    apply = compile_layer(mixture_of_experts(**options))
    parts = {"shared_experts": shared} if options.get("shared") else {}
    output = apply(x, *given, **weights, **parts, **(GROUPS if options.get("best_of_group") else {}), K=CHOSEN)
    assert output.shape == (2, 7, 5)
    asked = {
        "sigmoid": options.get("scoring") == "sigmoid",
        "normalised": options.get("normalised", True),
        "correction": correction if given else None,
        "scale": float(options.get("scale", 1)),
        "shared": shared if parts else None,
        "best_of_group": options.get("best_of_group", 0),
        "threshold": options.get("threshold"),
        "eps": float(options.get("eps", 0)),
    }
    for item in range(2):
        np.testing.assert_allclose(output[item], loop(x[item], weights, **asked), rtol=1e-9, atol=1e-12)
    other = {**asked, "normalised": not asked["normalised"]}
    assert np.abs(output[0] - loop(x[0], weights, **other)).max() > 1e-3


def test_one_group_of_experts_is_no_group_and_several_are() -> None:
    random = np.random.default_rng(79)
    weights, x, correction = random_weights(random), random.normal(size=(7, 5)), random.normal(size=11)
    options: dict[str, Any] = {"scoring": "sigmoid", "corrected": True}
    within = compile_layer(mixture_of_experts(best_of_group=2, **options))
    of_all = compile_layer(mixture_of_experts(**options))(x, correction, **weights, K=CHOSEN)
    np.testing.assert_array_equal(within(x, correction, **weights, N_G=1, K_G=1, K=CHOSEN), of_all)
    np.testing.assert_array_equal(within(x, correction, **weights, N_G=5, K_G=5, K=CHOSEN), of_all)
    assert np.abs(within(x, correction, **weights, **GROUPS, K=CHOSEN) - of_all).max() > 1e-2


def test_the_gradient_of_a_choice_within_groups_holds_the_choice_fixed() -> None:
    """The correction and what ranks the groups get none; a central difference along one direction agrees."""
    random = np.random.default_rng(83)
    weights, x, cotangent = random_weights(random), random.normal(size=(7, 5)), random.normal(size=(7, 5))
    correction, ahead = random.normal(size=11), random.normal(size=(5, 11))
    layer = mixture_of_experts(scoring="sigmoid", corrected=True, best_of_group=2)
    dX, db, dW_router, *_ = compile_layer(gradient(layer))(x, correction, cotangent, **weights, **GROUPS, K=CHOSEN)
    apply, step = compile_layer(layer), 1e-6
    sides = [
        apply(x, correction, **{**weights, "W_router": weights["W_router"] + sign * step * ahead}, **GROUPS, K=CHOSEN)
        for sign in (1, -1)
    ]
    slope = ((sides[0] - sides[1]) / (2 * step) * cotangent).sum()
    assert dX.shape == x.shape and not db.any()
    assert abs((dW_router * ahead).sum() - slope) < 1e-6 * abs(slope)


def test_the_number_type_is_kept() -> None:
    random = np.random.default_rng(61)
    weights = {name: value.astype(np.float32) for name, value in random_weights(random).items()}
    x = random.normal(size=(7, 5)).astype(np.float32)
    assert compile_layer(MIXTURE)(x, **weights, K=2).dtype == np.float32
    assert all(each.dtype == np.float32 for each in compile_layer(gradient(MIXTURE))(x, x, **weights, K=2))


def directions(x: np.ndarray, weights: Arrays, random: np.random.Generator) -> Iterator[tuple[int, np.ndarray, Arrays]]:
    """A direction in the input, then one in each weight, with the number of the gradient that it belongs to."""
    yield 0, random.normal(size=x.shape), {}
    for number, (name, value) in enumerate(weights.items(), start=1):
        yield number, np.zeros(x.shape), {name: random.normal(size=value.shape)}


@pytest.mark.parametrize(("scoring", "normalised"), [("softmax", True), ("softmax", False), ("sigmoid", True)])
def test_the_gradient_is_that_of_the_loop_by_a_complex_step(scoring: str, normalised: bool) -> None:
    random = np.random.default_rng(67)
    weights, x, cotangent = random_weights(random), random.normal(size=(2, 7, 5)), random.normal(size=(2, 7, 5))
    found = compile_layer(gradient(mixture_of_experts(scoring=scoring, normalised=normalised)))(
        x, cotangent, **weights, K=CHOSEN
    )
    step = 1e-30
    for number, ahead, of_weights in directions(x, weights, random):
        moved = {name: value + 1j * step * of_weights.get(name, 0) for name, value in weights.items()}
        outputs = [
            loop(x[item] + 1j * step * ahead[item], moved, sigmoid=scoring == "sigmoid", normalised=normalised)
            for item in range(2)
        ]
        slope = (np.array(outputs).imag / step * cotangent).sum()
        direction = next(iter(of_weights.values()), ahead)
        assert abs((found[number] * direction).sum() - slope) < 1e-9 * max(1, abs(slope))
        assert abs((found[number] * direction).sum() + slope) > 1e-3


def test_counts_of_named_models() -> None:
    """Mixtral 8x7B: 8 experts of 4096 x 14336, 2 chosen; DeepSeek-V3: 256 of 7168 x 2048, 8 chosen, 1 shared."""
    mixtral = MIXTURE.at(E=8, K=2, d_model=4096, d_expert=14336, n=1)
    assert count_parameters(mixtral) == 8 * 3 * 4096 * 14336 + 8 * 4096
    assert count_flops(mixtral).matmul == 2 * (2 * 3 * 4096 * 14336 + 8 * 4096)
    deepseek = mixture_of_experts(scoring="sigmoid", shared=True, scale=Rational(5, 2))
    numbers = {"E": 256, "K": 8, "d_model": 7168, "d_expert": 2048, "d_shared": 2048, "n": 1}
    assert count_parameters(deepseek.at(**numbers)) == 257 * 3 * 7168 * 2048 + 256 * 7168
    assert count_flops(deepseek.at(**numbers)).matmul == 2 * (9 * 3 * 7168 * 2048 + 256 * 7168)


def test_the_backward_pass_costs_twice_the_forward_pass() -> None:
    both = gradient(MIXTURE)
    products = [node for equation in both.equations for node in equation.value.atoms(RoutedProduct, RoutedOuter)]
    assert len(products) == 9  # three forward; for each, one by its rows and one by its matrices
    assert count_flops(both).matmul == 3 * count_flops(MIXTURE).matmul


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="the scoring 'tanh' is unknown; choose softmax or sigmoid"):
        mixture_of_experts(scoring="tanh")
    with pytest.raises(ValueError, match="shared_gate=True needs shared=True"):
        mixture_of_experts(shared_gate=True)
    with pytest.raises(ValueError, match="groups of experts are ranked by -1 scores; choose 1 or more"):
        mixture_of_experts(best_of_group=-1)
    with pytest.raises(ValueError, match="the 7 largest entries of P: a row has 3"):
        MIXTURE.at(E=3, K=7)
    random = np.random.default_rng(71)
    with pytest.raises(ValueError, match="the 13 largest entries of a row are asked for, and a row has 11"):
        compile_layer(MIXTURE)(np.zeros((7, 5)), **random_weights(random), K=13)


# --- elsewhere ------------------------------------------------------------------------------------------------------


@pytest.mark.peers
@pytest.mark.parametrize("model", ["Mixtral", "DeepSeek-V3", "Qwen2-MoE"])
def test_the_blocks_of_a_library_agree(model: str) -> None:
    """The same weights in the blocks of transformers, whose routers work in float32."""
    torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
    transformers = pytest.importorskip("transformers", reason="the peers tests compare with transformers")
    random = np.random.default_rng(73)
    weights, shared, x = random_weights(random), random_shared(random), random.normal(size=(2, 7, 5))
    correction = random.normal(size=11).astype(np.float32).astype(float)
    if model == "Mixtral":
        config = transformers.MixtralConfig(
            hidden_size=5, intermediate_size=3, num_local_experts=11, num_experts_per_tok=3, num_attention_heads=1
        )
        block = transformers.models.mixtral.modeling_mixtral.MixtralSparseMoeBlock(config).double()
        ours = compile_layer(MIXTURE)(x, **weights, K=CHOSEN)
    elif model == "Qwen2-MoE":
        config = transformers.Qwen2MoeConfig(
            hidden_size=5, moe_intermediate_size=3, num_experts=11, num_experts_per_tok=3,
            shared_expert_intermediate_size=2, norm_topk_prob=False,
        )  # fmt: skip
        block = transformers.models.qwen2_moe.modeling_qwen2_moe.Qwen2MoeSparseMoeBlock(config).double()
        weights |= random_gate(random)
        layer = mixture_of_experts(normalised=False, shared=True, shared_gate=True)
        ours = compile_layer(layer)(x, **weights, shared_experts=shared, K=CHOSEN)
    else:
        config = transformers.DeepseekV3Config(
            hidden_size=5, moe_intermediate_size=2, n_routed_experts=11, num_experts_per_tok=3, n_group=1, topk_group=1,
            n_shared_experts=1, routed_scaling_factor=2.5, norm_topk_prob=True,
        )  # fmt: skip
        block = transformers.models.deepseek_v3.modeling_deepseek_v3.DeepseekV3MoE(config).double()
        weights |= {
            name: random.normal(size=shape) for name, shape in {"W_gate": (11, 5, 2), "W_up": (11, 5, 2)}.items()
        }
        weights["W_down"] = random.normal(size=(11, 2, 5))
        layer = mixture_of_experts(scoring="sigmoid", corrected=True, shared=True, scale=Rational(5, 2))
        ours = compile_layer(layer)(x, correction, **weights, shared_experts=shared, K=CHOSEN)
    given = {
        "gate.weight": weights["W_router"].T,
        "experts.gate_up_proj": np.concatenate(
            [weights["W_gate"].swapaxes(1, 2), weights["W_up"].swapaxes(1, 2)], axis=1
        ),
        "experts.down_proj": weights["W_down"].swapaxes(1, 2),
    }
    if model == "DeepSeek-V3":
        given |= {
            "gate.e_score_correction_bias": correction,
            **{f"shared_experts.{part}_proj.weight": shared[f"W_{part}"].T for part in ("gate", "up", "down")},
        }
    if model == "Qwen2-MoE":
        given |= {
            "shared_expert_gate.weight": weights["W_shared_gate"][np.newaxis],
            **{f"shared_expert.{part}_proj.weight": shared[f"W_{part}"].T for part in ("gate", "up", "down")},
        }
    block.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in given.items()})
    with torch.no_grad():
        theirs = block.eval()(torch.from_numpy(x)).numpy()
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()
    assert np.abs(ours[::-1] - theirs).max() > 1e-2
