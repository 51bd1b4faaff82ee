"""Queries and keys of a description against NumPy written beside it: norms over heads, clipping, columns apart."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Rational

from derivations.architectures.attention import attention_layer
from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.description import (
    Attention,
    Block,
    FeedForward,
    Norm,
    Rotary,
    heads_of_groups,
    key_value_heads,
)
from derivations.language import gradient
from derivations.language.arrays.functions import relu
from derivations.language.arrays.shapes import total
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.layers.layer import Layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import h, size
from numeric import compile_layer

N, WIDTH, HEADS, EACH = 5, 7, 3, 4
RMS = Norm("rms", Rational(1, 100))
PLAIN = Attention(h, score_scale=Rational(1))


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def normed(rows: Any, gamma: Any = 1.0) -> Any:
    return gamma * rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 0.01)


def attended(Q: Any, K: Any, V: Any, W_O: Any) -> Any:
    """Heads of queries, keys and values (h, n, d) side by side, times W_O."""
    S = np.exp(Q @ K.swapaxes(-1, -2))
    return np.concatenate([*(S / S.sum(axis=-1, keepdims=True) @ V)], axis=-1) @ W_O


def by_head(wide: Any) -> Any:
    return wide.reshape(N, HEADS, EACH).swapaxes(0, 1)


X, W_O = drawn(N, WIDTH), drawn(HEADS * EACH, WIDTH, seed=3)
W_Q, W_K, W_V = (drawn(HEADS, WIDTH, EACH, seed=seed) for seed in range(3))


def test_a_norm_over_all_heads() -> None:
    layer = compile_layer(attention_layer(replace(PLAIN, norm=RMS, norm_over_all=True)))
    wide_Q, wide_K = (drawn(WIDTH, HEADS * EACH, seed=seed) for seed in (5, 6))
    gammas = [drawn(HEADS * EACH, seed=seed) for seed in (7, 8)]
    norms = {"query_norm": {"gamma": gammas[0]}, "key_norm": {"gamma": gammas[1]}}
    ours = layer(X, W_Q=wide_Q, W_K=wide_K, W_V=W_V, W_O=W_O, d_k=EACH, **norms)
    Q, K = by_head(normed(X @ wide_Q, gammas[0])), by_head(normed(X @ wide_K, gammas[1]))
    np.testing.assert_allclose(ours, attended(Q, K, X @ W_V, W_O), rtol=1e-12)
    other = attended(by_head(gammas[0] * np.ones((N, 1))) * normed(by_head(X @ wide_Q)), K, X @ W_V, W_O)
    assert abs(ours - other).max() > 1e-3  # a norm of every head is another one


GROUPED = Attention(heads_of_groups, key_value_heads)
NORMED = {
    "over all heads of a group": replace(GROUPED, norm=RMS, norm_over_all=True, positions=Rotary()),
    "before part of the columns is rotated": replace(PLAIN, norm=RMS, positions=Rotary(size("d_rotary"))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NORMED)
def test_gradients_through_norms_of_columns_that_are_cut(name: str) -> None:
    """Proved equation by equation; and the gradient by the rows against differences, which know nothing of the rule."""
    layer = attention_layer(NORMED[name], masked=True)
    assert prove_gradient(layer).evidence.level == "proved"
    numbers = {"n": N, "d_model": WIDTH, "d_k": 4, "d_v": 2, "h": 2, "r": 2, "g": 3, "d_rotary": 2}
    sizes = {each: numbers[each.name] for each in layer.sizes}

    def weights(of: Layer) -> dict[str, Any]:
        own = {v.name: drawn(*(int(total(along).xreplace(sizes)) for along in v.shape)) for v in of.parameters}
        return own | {name: weights(each.layer) for name, each in of.parts.items() if each.layer.parameters}

    mask, slopes, given = np.tri(N, dtype=bool), drawn(N, WIDTH, seed=2), weights(layer)
    forward, backward = compile_layer(layer), compile_layer(gradient(layer))

    def applied(function: Any, *arrays: Any) -> Any:
        return function(*arrays, **given, **{each.name: numbers[each.name] for each in function.sizes})

    dX, step = applied(backward, X, mask, slopes)[0], 1e-5
    for place in [(0, 0), (2, 3), (4, 6)]:
        moved = np.zeros_like(X)
        moved[place] = step
        change = applied(forward, X + moved, mask) - applied(forward, X - moved, mask)
        np.testing.assert_allclose((change * slopes).sum() / (2 * step), dX[place], rtol=1e-6)
    assert abs(dX).min() > 1e-6


def test_clipped_queries_keys_and_values() -> None:
    ours = compile_layer(attention_layer(replace(PLAIN, clip=Rational(1, 2))))(X, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O)
    clipped = [np.clip(X @ W, -0.5, 0.5) for W in (W_Q, W_K, W_V)]
    np.testing.assert_allclose(ours, attended(*clipped, W_O), rtol=1e-12)


def test_a_norm_after_the_rotation_is_that_of_the_rotated_columns() -> None:
    """A rotation keeps the mean square: without gamma the norm may stand on either side of it."""
    turned = replace(PLAIN, norm=replace(RMS, scaled=False), positions=Rotary())
    weights = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    before, after = (
        compile_layer(attention_layer(each))(X, **weights) for each in (turned, replace(turned, norm_after=True))
    )
    np.testing.assert_allclose(before, after, rtol=1e-12)
    without = compile_layer(attention_layer(replace(turned, norm=None)))(X, **weights)
    assert abs(before - without).max() > 1e-3


def test_one_norm_of_columns_of_which_some_are_rotated() -> None:
    a = replace(PLAIN, norm=replace(RMS, scaled=False), positions=Rotary(size("d_rotary")))
    layer = attention_layer(a)
    assert {each.name for each in layer.parameters} == {"W_Q", "W_K", "W_V", "W_O"}
    ours = compile_layer(layer)(X[:1], W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O, d_rotary=2)
    Q, K, V = X[:1] @ W_Q, X[:1] @ W_K, X[:1] @ W_V  # of one position: nothing is turned
    np.testing.assert_allclose(ours, attended(normed(Q), normed(K), V, W_O), rtol=1e-12)


def test_norms_without_their_weights() -> None:
    centred = X - X.mean(axis=-1, keepdims=True)
    gamma = drawn(WIDTH, seed=9)
    np.testing.assert_allclose(compile_layer(rms_norm(0.01, scaled=False))(X), normed(X), rtol=1e-12)
    bare = compile_layer(layer_norm(0.01, scaled=False, shifted=False))
    np.testing.assert_allclose(bare(X), normed(centred), rtol=1e-12)
    unshifted = compile_layer(layer_norm(0.01, shifted=False))
    np.testing.assert_allclose(unshifted(X, gamma=gamma), normed(centred, gamma), rtol=1e-12)
    with pytest.raises(ValueError, match="a shift without a scale"):
        layer_norm(scaled=False)


@pytest.mark.parametrize("order", ["pre", "after", "sandwich", "parallel"])
def test_what_is_added_is_scaled(order: Any) -> None:
    """With a scale of 0 a block leaves its rows as they are; with 1 it is the block without a scale."""
    block = Block(PLAIN, FeedForward(relu, biases=False), RMS, order)
    layers = [block_layer(replace(block, residual_scale=Rational(c)), Around()) for c in (0, 1)]
    assert layers[1] == block_layer(block, Around())
    scaled = block_layer(replace(block, residual_scale=Rational(1, 3)), Around())
    assert scaled != layers[1]
    assert {each.name for each in scaled.parameters} == {each.name for each in layers[1].parameters}
