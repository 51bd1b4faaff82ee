"""Functions over JAX arrays: right ones are proved, wrong ones are not, and what has no equation is refused."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from derivations.catalogue import layer
from derivations.language.counting.flop_counts import count_flops
from derivations.symbols import d_k, d_v, m, n
from numeric.lifting import NotFollowed, lift, prove, prove_same

pytestmark = pytest.mark.peers

ATTENTION = "scaled_dot_product_attention"


@pytest.fixture(scope="module")
def functions() -> Any:
    """The functions, whose module imports JAX."""
    return importlib.import_module("tests.numeric.lifting.corpus.jax_functions")


@pytest.fixture(scope="module")
def rows() -> Any:
    """The rows of JAX's own functions."""
    return importlib.import_module("tests.numeric.lifting.corpus.jax_rows").SEEN


def test_right_functions_are_proved(functions: Any) -> None:
    verdicts = {f.__name__: prove(f, target()) for f, target in functions.RIGHT}
    assert len(verdicts) == len(functions.RIGHT) >= 40
    assert [str(v) for v in verdicts.values() if v.level != "proved"] == []
    assert [v.assumed for v in verdicts.values() if v.assumed] == []


def test_all_wrong_functions_are_refuted(functions: Any) -> None:
    verdicts = [prove(f, target()) for f, target in functions.WRONG]
    assert len(verdicts) >= 35
    assert [str(v) for v in verdicts if v.level != "refuted"] == []


def test_what_has_no_equation_is_refused_with_the_users_line(functions: Any) -> None:
    for function, words in functions.REFUSED:
        with pytest.raises(NotFollowed, match=re.escape(words)) as refusal:
            lift(function, (n, d_k), (m, d_k), (m, d_v))
        if function is not functions.counted_calls:  # two runs differ, so no line is at fault
            assert "of jax_functions.py, in " in str(refusal.value)


def test_a_function_that_asks_who_runs_it_is_found_by_the_run(functions: Any) -> None:
    assert prove(functions.asks_who_runs_it, layer(ATTENTION)).level == "refuted"


def test_jax_own_functions(rows: Any) -> None:
    for row in rows:
        verdict = prove(row.made(), row.target(), **row.given)
        expected = {"proved": "proved", "different": "refuted"}[row.outcome]
        assert verdict.level == expected, f"{row.name}: {verdict}"
        for words in row.readings:
            assert any(words in reading for reading in verdict.readings), f"{row.name}: {verdict}"


def test_gradients_that_jax_takes_are_those_by_hand(functions: Any) -> None:
    for by_jax, by_hand, shapes, level in functions.GRADIENTS:
        verdict = prove_same(by_jax, by_hand, **shapes)
        assert verdict.level == level, str(verdict)


def test_a_function_under_the_name_of_one_of_jax_is_followed_for_itself(functions: Any) -> None:
    """log(exp(a) + exp(b)) has a rule of its own; a user's function of that name has not."""
    lifted = lift(functions.name_of_a_library, (n, d_k), (m, d_k), (m, d_v))
    assert "log" not in lifted.layer.text()


def test_a_comparison_of_sizes_is_an_assumption_also_inside_jit(functions: Any) -> None:
    """JAX answers `n == m` with False; an answer that a cache keeps must not be met in another trace."""
    jax = pytest.importorskip("jax")

    def branching(q: Any, k: Any, v: Any) -> Any:
        return functions.attention(q, k, v) if q.shape[0] != k.shape[0] else 2 * functions.attention(q, k, v)

    for function in (branching, jax.jit(branching)):
        for _ in range(2):
            verdict = prove(function, layer(ATTENTION))
            assert verdict.level == "proved"
            assert [str(relation) for relation in verdict.assumed] == ["Ne(n, m)"]


def test_equations_have_the_names_of_local_variables(functions: Any) -> None:
    lifted = lift(functions.attention, (n, d_k), (m, d_k), (m, d_v))
    assert [e.variable.name for e in lifted.layer.equations if not e.variable.name.startswith("t_")] == [
        "scores",
        "weights",
        "y",
    ]
    assert count_flops(lifted.layer).total.has(d_v)


def test_double_precision_and_jax_methods_are_as_before() -> None:
    jax = pytest.importorskip("jax")
    functions = importlib.import_module("tests.numeric.lifting.corpus.jax_functions")
    size = jax.export.symbolic_shape("n")[0]
    methods = dict(vars(type(size)))
    tracer = dict(vars(jax.core.Tracer))
    assert prove(functions.attention, layer(ATTENTION)).level == "proved"
    assert dict(vars(type(size))) == methods
    assert dict(vars(jax.core.Tracer)) == tracer
    assert jax.numpy.ones(3).dtype == "float32"


def test_jax_and_numpy_functions_are_the_same() -> None:
    np = pytest.importorskip("numpy")
    functions = importlib.import_module("tests.numeric.lifting.corpus.jax_functions")

    def by_numpy(q: Any, k: Any, v: Any) -> Any:
        weights = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
        return weights / weights.sum(axis=-1, keepdims=True) @ v

    shapes = {"q": (n, d_k), "k": (m, d_k), "v": (m, d_v)}
    assert prove_same(functions.attention, by_numpy, **shapes).level == "proved"
    assert prove_same(functions.without_scale, by_numpy, **shapes).level == "refuted"


def test_a_rule_that_is_wrong_is_found_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is checked: with another rule for tanh the lifted layer is not what the function does."""
    jax = pytest.importorskip("jax")
    rules = importlib.import_module("numeric.lifting.doors.jax_rules")
    monkeypatch.setitem(rules.ENTRYWISE, "tanh", lambda equation, one: rules.ENTRYWISE["exp"](equation, one))

    def squashed(x: Any) -> Any:
        return jax.numpy.tanh(x)

    verdict = prove_same(squashed, lambda x: jax.numpy.exp(x), x=(n, m))
    assert verdict.level != "proved"
    assert "not what the function does" in str(verdict.reason) or verdict.counterexample is not None


def test_convolutions_are_windows() -> None:
    """The axes stand in any order, and a transposed convolution has zeros between the entries."""
    lax = importlib.import_module("jax.lax")
    order = ("NWC", "WIO", "NWC")
    shapes = {"x": (n, d_k, m), "w": (3, m, d_v)}

    def convolved(x: Any, w: Any, step: int = 1) -> Any:
        return lax.conv_general_dilated(x, w, (step,), "VALID", dimension_numbers=order)

    def by_taps(x: Any, w: Any) -> Any:
        return sum(x[:, tap : tap + x.shape[1] - 2] @ w[tap] for tap in range(3))

    def turned(x: Any, w: Any) -> Any:
        return sum(x[:, tap : tap + x.shape[1] - 2] @ w[2 - tap] for tap in range(3))

    assert prove_same(convolved, by_taps, **shapes).level == "proved"
    assert prove_same(convolved, turned, **shapes).level == "refuted"
    lift(lambda x, w: lax.conv_transpose(x, w, (2,), "VALID", dimension_numbers=order), **shapes)
    with pytest.raises(NotFollowed, match="negative padding"):
        lift(lambda x, w: lax.conv_general_dilated(x, w, (1,), [(-1, 0)], dimension_numbers=order), **shapes)
    with pytest.raises(NotFollowed, match="groups of the batch"):
        lift(
            lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID", dimension_numbers=order, batch_group_count=2),
            x=(2, d_k, m),
            w=(3, m, 4),
        )


def test_a_roll_is_two_parts() -> None:
    jnp = importlib.import_module("jax.numpy")
    given = {"x": (n, m)}
    assert prove_same(lambda x: jnp.roll(x, 1, axis=0), lambda x: jnp.concatenate([x[-1:], x[:-1]]), **given).level == (
        "proved"
    )
    assert prove_same(lambda x: jnp.roll(x, 1, axis=0), lambda x: jnp.concatenate([x[1:], x[:1]]), **given).level == (
        "refuted"
    )


def test_products_remainders_and_angles() -> None:
    jnp = importlib.import_module("jax.numpy")
    same = {
        (lambda x, y: jnp.prod(x, axis=1) * y): lambda x, y: x[:, 0] * x[:, 1] * x[:, 2] * y,
        (lambda x, y: jnp.cumprod(x, axis=1)[:, 2] + y): lambda x, y: x.prod(1) + y,
        (lambda x, y: jnp.floor(y / 2) + jnp.ceil(-y / 2)): lambda x, y: 0 * y,
        (lambda x, y: 3 * jnp.fmod(y, x[:, 0])): lambda x, y: jnp.fmod(y, x[:, 0]) * 3,
        (lambda x, y: jnp.arctan2(y + y, x[:, 0])): lambda x, y: jnp.arctan2(2 * y, x[:, 0]),
    }
    given = {"x": (n, 3), "y": (n,)}
    assert [str(v) for f, g in same.items() if (v := prove_same(f, g, **given)).level != "proved"] == []
    others = [*same.values()]
    for number, function in enumerate(same):
        assert prove_same(function, others[number - 1], **given).level == "refuted"
