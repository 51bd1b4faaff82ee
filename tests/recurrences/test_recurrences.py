"""Recurrences: their law, the rule of induction and what it refuses, states in caches, rows that are not seen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Eq, Expr, Ge, Integer, Lambda, Sum, cos, exp, sin

from derivations.architectures.hugging_face import model_of
from derivations.architectures.reading import ConfigError
from derivations.catalogue import layer
from derivations.costs.counts import count
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Scaled, array
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation import adjoints
from derivations.language.differentiation.claims import local_claims
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.judge.proof import judge, prove_equal
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Claim, Derivation, Step
from derivations.recurrences import delta_rule, gated_delta_rule
from derivations.recurrences.delta_rule import j, q, s
from derivations.recurrences.linear_recurrence import B, L, S, c, decayed, recurrent, t, total
from derivations.recurrences.time_mixing import time_mixing
from derivations.symbols import d, d_k, m, n
from numeric import compile_layer
from numeric.verification.reference.time_mixing import time_mixing as loops_of_time_mixing


def by_induction(form: Expr, assuming: list[Assumption]) -> Any:
    claim = Claim(S[t, c], (Step("induction", form, "=", (t,)),))
    return judge(Derivation("", "a form of a recurrence", (claim,), (), {t: n, c: d}, tuple(assuming))).claims[0][0]


WRONG = {
    "decayed once more": exp(L[t, c]) * decayed(t, c),
    "the state before": decayed(t, c) - B[t, c],
    "decayed since the start": exp(total(t, c)) * B[0, c],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_form_is_not_proved_by_induction(name: str) -> None:
    assert by_induction(decayed(t, c), recurrent()).level == "proved"
    assert by_induction(WRONG[name], recurrent()).level != "proved"


@pytest.mark.parametrize("wrong", ["with its own key", "without decay"])
def test_a_wrong_triangular_system_is_not_proved(wrong: str) -> None:
    """What a state says about the key of position t + 1 is said by the rows up to t, each decayed until then."""
    right = delta_rule.delta_rows()
    last, factor = (t, 1) if wrong == "without decay" else (t + 1, delta_rule.decay(t + 1, s))
    agree = Sum(delta_rule.k[t + 1, j] * delta_rule.k[s, j], (j, 0, d_k - 1))
    row = delta_rule.corrected_row(t + 1, q, Sum(factor * agree * delta_rule.u[s, q], (s, 0, last)))
    changed = Claim(right.claims[0].lhs, (Step("assumption", row),))
    assert judge(right).claims[0][0].level == "proved"
    assert judge(replace(right, claims=(changed,))).claims[0][0].level != "proved"


def test_lightning_attention_sees_the_past_alone_and_forgets_it() -> None:
    """Rates are 2^-4 and 2^-8 for two heads: what position 0 adds is exp(-3 rate) of itself at position 3."""
    function = compile_layer(layer("decaying_heads"))
    Q, K, V = np.random.default_rng(3).normal(size=(3, 2, 4, 5))
    earlier, last = V.copy(), V.copy()
    earlier[:, 0] += 1
    last[:, 3] += 1
    told = np.einsum("hp,hp->h", Q[:, 3], K[:, 0]) * np.exp(-3 / 2.0 ** np.array([4, 8]))
    change = (function(Q, K, earlier) - function(Q, K, V))[3]
    np.testing.assert_allclose(change, np.repeat(told[:, None], 5, axis=1), rtol=1e-9)
    np.testing.assert_array_equal(function(Q, K, last)[:3], function(Q, K, V)[:3])


def test_an_induction_needs_its_first_place() -> None:
    """Without the law at the first position any start would do."""
    found = by_induction(decayed(t, c), recurrent()[1:])
    assert found.level == "refuted"
    assert "t = 1" in found.reason


def test_an_induction_needs_the_law_at_every_place() -> None:
    found = by_induction(decayed(t, c), recurrent()[:1])
    assert found.level != "proved"
    assert "at the next place" in found.reason


def test_an_assumption_about_the_index_itself_is_refused() -> None:
    """A statement at one place t is no hypothesis for the next place."""
    at_t = Assumption(Eq(S[t, c], decayed(t, c)), {c: d})
    assert "speaks of the index t" in by_induction(decayed(t, c), [at_t]).reason


def test_the_logarithms_have_the_first_axes_of_the_states() -> None:
    with pytest.raises(ShapeError, match="must have the first axes"):
        Recurrence(array("L", m), B)
    with pytest.raises(ShapeError, match="backwards is 0 or 1"):
        Recurrence(L, B, Integer(2))


GRADIENTS = ["linear_recurrence", "selective_states", "gated_recurrence", "lightning_attention", "gated_delta_net"]


@pytest.mark.parametrize("name", [*GRADIENTS, pytest.param("kimi_delta_attention", marks=pytest.mark.slow)])
def test_the_gradient_is_proved(name: str) -> None:
    assert prove_gradient(layer(name)).evidence.level == "proved"


W, R, ADDED = array("W", n, d), array("R", n, d), array("F", n, d, m)


def of_rank_one(backwards: int = 0) -> Layer:
    """A recurrence whose matrices are diagonal plus rank one."""
    let, decays = Equations(), array("l", n)
    return Layer("r", (decays, ADDED, W, R), (), let, let("H")(Recurrence(decays, ADDED, backwards, W, R)))


@pytest.mark.parametrize("backwards", [0, 1])
def test_the_gradient_of_a_recurrence_that_is_not_diagonal_is_proved(backwards: int) -> None:
    claims = local_claims(of_rank_one(backwards))
    assert len(claims.claims) == 5  # the law of the gradient, and the gradients by what the law reads
    assert judge(claims).level == "proved"


def test_equal_arguments_have_equal_states() -> None:
    """No sum over the past is written for these states; the judge compares what the law is made of."""
    decays = array("l", n)
    once = Tabulated(Lambda((t, c), sin(R[t, c]) ** 2 * R[t, c] + cos(R[t, c]) ** 2 * R[t, c]), n, d)
    states = Recurrence(decays, ADDED, 0, W, once)
    assert states != Recurrence(decays, ADDED, 0, W, R)
    assert prove_equal(states, Recurrence(decays, ADDED, 0, W, R)).level == "proved"
    for other in (
        Recurrence(decays, ADDED, 1, W, R),
        Recurrence(decays, ADDED, 0, R, W),
        Recurrence(-decays, ADDED, 0, W, R),
        Recurrence(decays, 2 * ADDED, 0, W, R),
        Recurrence(decays, ADDED),
    ):
        assert prove_equal(states, other).level != "proved"


def test_a_gradient_without_the_transpose_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """With w and r in their places the gradient follows another law."""
    monkeypatch.setattr(
        Recurrence, "transposed", lambda node, g: Recurrence(node.args[0], g, 1 - node.args[2], *node.factors)
    )
    assert judge(local_claims(of_rank_one())).level != "proved"


def test_a_gradient_by_the_wrong_state_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix of a position acts on the state before it, and not on its own."""
    right = adjoints._of_steps

    def wrong(node: Recurrence, carried: Any, value: Any) -> Any:
        for of, slope in right(node, carried, value):
            yield of, Scaled(Integer(2), slope) if of == W else slope

    monkeypatch.setattr(adjoints, "_of_steps", wrong)
    assert judge(local_claims(of_rank_one())).level != "proved"


def test_entries_follow_from_the_law_at_numbered_positions() -> None:
    """At position 1 the matrix acts once; at a position without a number no entry is given."""
    H = of_rank_one().equation("H").value
    l, one = array("l", n), Integer(1)
    said = Sum(R[1, j] * ADDED[0, j, s], (j, 0, d - 1))
    right = exp(l[1]) * ADDED[0, c, s] + W[1, c] * said + ADDED[1, c, s]
    ranges = {c: d, s: m}
    about = Assumption(Ge(n, 2, evaluate=False), {}, "two positions")
    for value, level in ((right, "proved"), (right + ADDED[1, c, s], "refuted")):
        claim = Claim(H[one, c, s], (Step("algebra", value),))
        assert judge(Derivation("", "an entry", (claim,), (), ranges, (about,))).claims[0][0].level == level
    with pytest.raises(NotImplementedError, match="numbered positions"):
        H.entry(t, c, s)


def test_columns_and_rows_of_a_matrix_of_rank_one_fit() -> None:
    for written, read in ((array("W", n, m), R), (array("W", n), array("R", n)), (W, None), (W, array("R", n, d, m))):
        with pytest.raises(ShapeError, match="recurrence"):
            Recurrence(array("l", n), ADDED, 0, written, read)


def test_a_corrected_state_says_the_value_of_its_key() -> None:
    """With all of what is missing corrected, and a key of length 1, the state answers its key with the value."""
    function = compile_layer(gated_delta_rule())
    rng = np.random.default_rng(5)
    K, V = rng.normal(size=(7, 2, 5)), rng.normal(size=(7, 2, 3, 2))
    K /= np.sqrt((K * K).sum(axis=-1, keepdims=True))
    decays, whole = -rng.random((7, 2, 3)), np.ones((7, 2, 3))
    np.testing.assert_allclose(function(K, K, V, decays, whole), V / np.sqrt(5), rtol=1e-12)
    assert abs(function(K, K, V, decays, whole / 2) - V / np.sqrt(5)).max() > 0.1


def test_no_layer_looks_ahead() -> None:
    """Later rows do not change earlier ones, and earlier rows change later ones."""
    function = compile_layer(layer("linear_recurrence"))
    rng = np.random.default_rng(2)
    decays, added = -rng.random((7, 3)), rng.normal(size=(7, 3))
    before, later = function(decays, added), added.copy()
    later[4] += 1
    after = function(decays, later)
    np.testing.assert_array_equal(before[:4], after[:4])
    assert (before[4:] != after[4:]).all()


MAMBA = {
    "model_type": "mamba",
    "architectures": ["MambaForCausalLM"],
    "hidden_size": 10,
    "num_hidden_layers": 3,
    "state_size": 5,
    "conv_kernel": 4,
    "vocab_size": 23,
}


def test_a_state_does_not_grow_with_the_text() -> None:
    """d_inner = 20: a state of 20 x 5 and 3 rows of 20 for each layer, after 7 positions as after 700."""
    for length in (7, 700):
        counts = count(model_of(MAMBA, "mamba"), seq=length)
        assert counts.number(counts.cache_bytes) == 3 * (20 * 5 + 3 * 20) * counts.number(counts.bytes_per_number)


def test_rows_mixed_over_time_are_those_of_the_loops() -> None:
    rng = np.random.default_rng(0)
    sizes = {"n": 7, "d_model": 5, "d": 3}
    layer = time_mixing()
    drawn = {
        v.name: rng.normal(size=[sizes[str(axis)] for axis in v.shape]) for v in (*layer.inputs, *layer.parameters)
    }
    found = compile_layer(layer)(**drawn)
    np.testing.assert_allclose(found, np.array(loops_of_time_mixing(**drawn), dtype=float), rtol=0, atol=1e-12)
    changed = compile_layer(layer)(**{**drawn, "u": drawn["u"] + 1})
    np.testing.assert_allclose(changed[0], found[0], atol=1e-12)  # before the first position there is nothing
    assert abs(changed[1:] - found[1:]).max() > 0.01


def test_rwkv_keeps_two_sums_for_a_channel_and_two_rows() -> None:
    config = {"model_type": "rwkv", "hidden_size": 6, "attention_hidden_size": 5, "num_hidden_layers": 3}
    for length in (7, 700):
        counts = count(model_of(config | {"vocab_size": 23}, "rwkv"), seq=length)
        assert counts.number(counts.cache_bytes) == 3 * (2 * 5 + 2 * 6) * counts.number(counts.bytes_per_number)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"time_step_limit": [0.0, 1.0]}, "time_step_limit"),
        ({"expand": 0.01}, "leaves no column"),
        ({"hidden_act": "sine"}, "hidden_act"),
        ({"time_step_rank": 0}, "time_step_rank"),
    ],
)
def test_what_is_not_understood_is_refused(fields: dict[str, object], sentence: str) -> None:
    heads = {"num_heads": 4, "head_dim": 5, "n_groups": 2}
    base = {**MAMBA, **heads, "model_type": "mamba2"} if "time_step_limit" in fields else MAMBA
    config = {**base, "architectures": None, **fields}
    with pytest.raises(ConfigError, match=sentence):
        model_of(config, "changed")
