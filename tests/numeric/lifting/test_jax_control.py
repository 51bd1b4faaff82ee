"""JAX's branches, loops and updates of parts: right ones are proved, near misses are not, the rest is refused."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Symbol

from derivations.symbols import d, n
from numeric.lifting import NotFollowed, lift, prove_same

pytestmark = pytest.mark.peers

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
p = Symbol("p", integer=True, positive=True)


def level(one: Any, other: Any, **shapes: Any) -> str:
    return prove_same(one, other, **shapes).level


# --- branches --------------------------------------------------------------------------------------------------------


def by_cond(x: Any) -> Any:
    return lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: 2 * v, x)


def test_a_branch_by_entries_is_a_choice() -> None:
    assert level(by_cond, lambda x: jnp.where(x.sum() > 0, x + 1, 2 * x), x=(n, d)) == "proved"
    assert level(by_cond, lambda x: jnp.where(x.sum() > 0, 2 * x, x + 1), x=(n, d)) == "refuted"
    assert level(by_cond, lambda x: jnp.where(x > 0, x + 1, 2 * x), x=(n, d)) == "refuted"


def test_a_branch_whose_number_is_known_is_followed_alone() -> None:
    def switched(x: Any) -> Any:
        return lax.switch(1, [lambda v: v, lambda v: 2 * v, jnp.sort], x)

    assert level(switched, lambda x: 2 * x, x=(n, d)) == "proved"
    assert level(switched, lambda x: x, x=(n, d)) == "refuted"


def test_a_branch_into_three_ways_by_entries_is_refused() -> None:
    def three(x: Any) -> Any:
        which = jnp.where(x.sum() > 0, 2, 0)
        return lax.switch(which, [lambda v: v, lambda v: 2 * v, lambda v: 3 * v], x)

    with pytest.raises(NotFollowed, match=r"3 ways|rounded|number"):
        lift(three, x=(n, d))


# --- loops -----------------------------------------------------------------------------------------------------------


def thrice(x: Any) -> Any:
    return jnp.tanh(jnp.tanh(jnp.tanh(x) + x) + x) + x


def by_scan(x: Any) -> Any:
    return lax.scan(lambda c, _: (jnp.tanh(c) + x, None), x, None, length=3)[0]


def by_while(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.tanh(s[1]) + x), (0, x))[1]


def one_round_less(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, jnp.tanh(s[1]) + x), (0, x))[1]


@pytest.mark.parametrize("loop", [by_scan, by_while, lambda x: jax.jit(by_scan)(x)])
def test_loops_of_a_number_of_rounds_are_followed(loop: Any) -> None:
    assert level(loop, thrice, x=(n, d)) == "proved"


def test_a_round_less_is_refuted() -> None:
    assert level(one_round_less, thrice, x=(n, d)) == "refuted"


def products(reverse: bool) -> Any:
    return lambda W, x: lax.scan(lambda c, w: (c * w, c + w), x, W, reverse=reverse)[1]


def test_the_results_of_the_rounds_are_stacked() -> None:
    def forward(W: Any, x: Any) -> Any:
        return jnp.stack([x + W[0], x * W[0] + W[1], x * W[0] * W[1] + W[2]])

    assert level(products(False), forward, W=(3, d), x=(d,)) == "proved"
    assert level(products(True), forward, W=(3, d), x=(d,)) == "refuted"
    assert level(products(True), lambda W, x: forward(W[::-1], x)[::-1], W=(3, d), x=(d,)) == "proved"


def test_a_number_of_rounds_that_depends_on_entries_is_refused() -> None:
    with pytest.raises(NotFollowed, match="number of rounds depends"):
        lift(lambda x: lax.while_loop(lambda s: s.sum() < 3, lambda s: s + 1, x), x=(n, d))
    with pytest.raises(NotFollowed, match="more than 64 rounds"):
        lift(lambda x: lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 1, s[1] + x), (0, x))[1], x=(n, d))


# --- updates of a part -----------------------------------------------------------------------------------------------


UPDATES = {
    "a column": (
        lambda x: x.at[:, 0].set(0.0),
        lambda x: jnp.concatenate([jnp.zeros((x.shape[0], 1)), x[:, 1:]], 1),
        {"x": (n, 5)},
    ),
    "columns": (
        lambda x: x.at[:, 1:3].multiply(2.0),
        lambda x: jnp.concatenate([x[:, :1], 2 * x[:, 1:3], x[:, 3:]], 1),
        {"x": (n, 5)},
    ),
    "rows": (
        lambda x, y: x.at[1:3].add(y),
        lambda x, y: jnp.concatenate([x[:1], x[1:3] + y, x[3:]], 0),
        {"x": (5, d), "y": (2, d)},
    ),
    "the larger of both": (
        lambda x, y: x.at[1:3].max(y),
        lambda x, y: jnp.concatenate([x[:1], jnp.maximum(x[1:3], y), x[3:]], 0),
        {"x": (5, d), "y": (2, d)},
    ),
    "a slice": (
        lambda x, y: lax.dynamic_update_slice(x, y, (1, 0)),
        lambda x, y: jnp.concatenate([x[:1], y, x[3:]], 0),
        {"x": (5, d), "y": (2, d)},
    ),
    "a prefix": (
        lambda x, y: lax.dynamic_update_slice(x, y, (0, 0)),
        lambda x, y: jnp.concatenate([y, x[2:]], 0),
        {"x": (n + 2, d), "y": (2, d)},
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_part_is_followed(name: str) -> None:
    one, other, shapes = UPDATES[name]
    assert level(one, other, **shapes) == "proved"
    assert level(one, lambda x, **rest: x, **shapes) != "proved"


def sinusoids(first: Any, second: Any) -> Any:
    def table(x: Any) -> Any:
        empty = jnp.zeros((x.shape[0], 2 * x.shape[1]))
        return empty.at[:, 0::2].set(first(x)).at[:, 1::2].set(second(x))

    return table


def test_every_second_column_of_a_table() -> None:
    def stacked(x: Any) -> Any:
        return jnp.stack([jnp.sin(x), jnp.cos(x)], -1).reshape(x.shape[0], -1)

    assert level(sinusoids(jnp.sin, jnp.cos), stacked, x=(n, p)) == "proved"
    assert level(sinusoids(jnp.cos, jnp.sin), stacked, x=(n, p)) == "refuted"


@pytest.mark.parametrize(
    ("function", "shapes", "words"),
    [
        (lambda x: x.at[:, ::2].set(0.0), {"x": (n, 5)}, "declare the size as a multiple of 2"),
        (lambda x: x.at[jnp.array([0, 0, 1])].add(1.0), {"x": (5, d)}, "a write at the places"),
    ],
)
def test_other_writes_are_refused(function: Any, shapes: Any, words: str) -> None:
    with pytest.raises(NotFollowed, match=words):
        lift(function, **shapes)


# --- orders of entries, cube roots -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: jnp.sort(x, axis=-1), "in which order"),
        (lambda x: x[jnp.argsort(x[:, 0])], "in which order"),
        (lambda x: jnp.argmax(x, axis=-1) * 1.0, "at which place the largest entry stands"),
        (lambda x: jnp.argmin(x, axis=-1) * 1.0, "at which place the largest entry stands"),
        (lambda x: lax.cummax(x, axis=0), "a running maximum"),
    ],
)
def test_an_order_of_entries_is_refused_with_a_sentence(function: Any, words: str) -> None:
    with pytest.raises(NotFollowed, match=words):
        lift(function, x=(n, d))


def test_cube_roots() -> None:
    assert level(lambda x: jnp.cbrt(jnp.exp(x)), lambda x: jnp.exp(x / 3), x=(n, d)) == "proved"
    assert level(lambda x: jnp.cbrt(x), lambda x: -jnp.cbrt(-x), x=(n, d)) == "proved"
    assert level(lambda x: jnp.cbrt(jnp.exp(x)), lambda x: jnp.exp(x / 2), x=(n, d)) == "refuted"
    assert level(lambda x: jnp.cbrt(x), lambda x: jnp.cbrt(jnp.abs(x)), x=(n, d)) == "refuted"
