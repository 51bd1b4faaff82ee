"""Lifted functions: their equations carry the names of the source, and what no equation stands for ends the lift."""

import contextlib
import itertools
import random
import warnings
from textwrap import dedent

import numpy as np
import pytest

from derivations.language import gradient
from derivations.language.arrays.expression import Variable
from derivations.symbols import d, d_k, d_v, m, n
from numeric.lifting import NotFollowed, lift
from tests.numeric.lifting.following import follows

untraced = pytest.mark.skipif(
    "__import__('sys').gettrace() is not None", reason="a measurement of coverage traces the lines"
)


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    return P @ V


@untraced
def test_equations_have_the_names_of_the_source():
    lifted = follows(attention, sizes={"d_k": 2, "d_v": 7}, Q=(n, d_k), K=(m, d_k), V=(m, d_v))
    names = [str(equation.target) for equation in lifted.equations]
    assert names[0] == "S"
    assert "P" in names
    assert lifted.latex().splitlines()[1].startswith(r"S &= \frac{Q K^{\top}}{\sqrt{d_{k}}}")


def test_a_lifted_function_is_a_layer_with_a_gradient():
    lifted = lift(attention, Q=(n, d_k), K=(m, d_k), V=(m, d_v))
    assert {str(e.target) for e in gradient(lifted.layer).equations} >= {"dQ", "dK", "dV"}


def test_it_prints_what_it_rests_on():
    lifted = lift(lambda x, y: x * 1.4142135623730951 if x.shape != y.shape else y, x=(n,), y=(m,))
    assert str(lifted).splitlines()[-2:] == ["if Ne(n, m)", "reading 1.4142135623730951 as sqrt(2)"]


def test_an_argument_may_have_the_name_of_a_step():
    def step(t_1, t_2):
        return (t_1 + t_2) * 2 + np.exp(t_1)

    follows(step, t_1=(n,), t_2=(n,))


def test_lists_and_dicts_and_defaults_and_scalars():
    def residual(x, weights, parts, power=2, *, scale=3.0):
        for weight in weights:
            x = x + (x @ weight) ** power / scale
        return x * parts["g"]

    lifted = lift(residual, x=(n, d), weights=[(d, d), (d, d)], parts={"g": (d,)})
    assert [v.name for v in lifted.inputs] == ["x", "weights.0", "weights.1", "parts.g"]


def test_an_argument_that_is_returned_is_an_equation():
    follows(lambda x: x, x=(n, d))
    follows(lambda x: x[:] * 1, x=(n, d))


def caught_by_a_bare_except(x):
    try:
        if x.sum() > 0:
            return x
    except:  # noqa: E722
        pass
    return x * 2


def caught_by_base_exception(x):
    try:
        return x * float(x.shape[0])
    except BaseException:
        return x * 2


def from_text(name, text):
    """A function whose text Python warns of since 3.14."""
    space = {}
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        exec(dedent(text), space)  # noqa: S102
    return space[name]


left_in_a_finally = from_text(
    "left_in_a_finally",
    """
    def left_in_a_finally(x):
        factor = 2.0
        try:
            factor = float(x.shape[0])
        finally:
            return x * factor
    """,
)


def suppressed(x):
    with contextlib.suppress(BaseException):
        return x * len(x)
    return x * 2


@pytest.mark.parametrize("function", [caught_by_a_bare_except, caught_by_base_exception, left_in_a_finally, suppressed])
def test_a_refusal_that_is_caught_is_one_all_the_same(function):
    with pytest.raises(NotFollowed):
        lift(function, x=(n,))


def test_hidden_state_is_found_by_a_second_call():
    calls = itertools.count(2)
    with pytest.raises(NotFollowed, match="called again"):
        lift(lambda x: x * next(calls), x=(n,))


def test_a_cache_of_arrays_is_refused():
    cache = {}

    def cached(x):
        return cache.setdefault("y", x * 2) + 0 * x

    with pytest.raises(NotFollowed, match="kept from an earlier call"):
        lift(cached, x=(n,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * random.choice([2, 2]),
        lambda x: x * (2 if np.random.random() < 2 else 3),
        lambda x: x * np.random.rand(),
        lambda x: x * (np.random.rand(*x.shape) < 0.9),
    ],
)
def test_random_numbers_are_refused_even_where_they_do_not_show(function):
    with pytest.raises(NotFollowed):
        lift(function, x=(n,))


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: x.shape[0], "returns"),
        (lambda x: None, "returns NoneType"),
        (lambda x: (each for each in [x]), "returns generator"),
        (lambda x: x * np.arange(65.0), "65 numbers"),
        (lambda x: np.array([x[0], x[1]]), "use stack"),
        (lambda x: np.vectorize(lambda e: e)(x), "no rule|use stack"),
        (lambda x: np.random.default_rng(0).standard_normal(x.shape) + x, "without values|symbolic"),
    ],
)
def test_what_is_no_equation_is_refused(function, named):
    with pytest.raises(NotFollowed, match=named):
        lift(function, x=(n,))


def test_an_endless_loop_of_steps_ends(monkeypatch):
    monkeypatch.setattr("numeric.lifting.trace._STEPS", 40)

    def endless(x):
        while True:
            x = x + np.exp(x)

    with pytest.raises(NotFollowed, match="40 steps"):
        lift(endless, x=(n,))


def test_isinstance_says_what_it_says_of_numbers():
    follows(lambda x: x * 2 if isinstance(x, np.ndarray) else x * 3, x=(n,))


def test_a_mask_may_be_given_as_an_array_variable():
    lifted = lift(lambda x, mask: np.where(mask, x, 0.0), x=(n, m), mask=Variable("mask", (n, m), "boolean"))
    assert [v.kind for v in lifted.inputs] == ["real", "boolean"]


@untraced
def test_a_notebook_shows_the_source_beside_the_equations():
    shown = lift(attention, Q=(n, d_k), K=(m, d_k), V=(m, d_v))._repr_html_()
    assert "S = Q @ K.T / np.sqrt(Q.shape[-1])" in shown
    assert r"S &amp;= \frac{Q K^{\top}}" in shown


def test_a_function_without_source_is_shown_by_its_equations():
    assert lift(np.exp, (n,))._repr_html_() is None
