"""Gradients of contractions: proved, compared with differences of loops, and wrong ones refused."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import KroneckerDelta

from derivations.language import gradient
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import RowSum, exponential
from derivations.language.arrays.shapes import Blocks
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Claim, step
from derivations.symbols import d, h, m, n
from numeric import compile_layer
from tests.broken import is_refused
from tests.contractions import CASES, SIZES, A, B, by_loops, drawn, i, j, k, layer_of, p


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_gradient_is_proved(name: str) -> None:
    layer = layer_of(name)
    assert judge(local_claims(layer)).level == "proved"
    assert judge(whole_claims(layer)).level == "proved"


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_gradient_has_the_slopes_of_the_loops(name: str) -> None:
    rng = np.random.default_rng(0)
    layer = layer_of(name)
    inputs, compiled = drawn(layer, rng), compile_layer(gradient(layer))
    value = by_loops(name, inputs)
    g = rng.standard_normal(value.shape)
    found = compiled(**inputs, dC=g, **{size.name: SIZES[size] for size in compiled.sizes})
    for variable, slope in zip(layer.inputs, found if isinstance(found, tuple) else (found,), strict=True):
        x, direction = inputs[variable.name], rng.standard_normal(inputs[variable.name].shape)
        ahead, behind = (by_loops(name, {**inputs, variable.name: x + t * direction}) for t in (1e-3, -1e-3))
        wanted = ((ahead - behind) / 2e-3 * g).sum()  # a contraction of distinct operands is linear in each
        assert slope.shape == x.shape
        assert abs((slope * direction).sum() - wanted) < 1e-9 * max(1, np.abs(slope).sum())


def test_a_product_of_batches_has_the_gradient_of_the_product() -> None:
    backward = gradient(layer_of("batched product"))
    dC = backward.inputs[-1]
    wanted = contraction((i, j, k), (h, n, d), [(p, m)], 2, operand_of(dC, (i, j, p)), operand_of(B, (i, p, k)))
    assert backward.equation("dA").value == wanted


@pytest.mark.parametrize("name", ["permuted", "split axis", "merged axes", "placed among zeros"])
def test_moves_have_moves_as_gradients(name: str) -> None:
    """Where a place is an index, the gradient reads it: no delta is left."""
    (equation,) = gradient(layer_of(name)).equations
    assert isinstance(equation.value, Contraction)
    assert not equation.value.has(KroneckerDelta)
    assert equation.value.is_move


def test_a_wrong_gradient_is_refused() -> None:
    layer = layer_of("batched product")
    right, dC = local_claims(layer), gradient(layer).inputs[-1]
    turned = contraction((i, j, k), (h, n, d), [(p, m)], 2, operand_of(dC, (i, j, p)), operand_of(B, (i, p, k)))
    wrong = {
        "factor": turned / 2,
        "another head": contraction(
            (i, j, k), (h, n, d), [(p, m)], 2, operand_of(dC, (i, j, p)), operand_of(B, (0, p, k))
        ),
        "operand": contraction((i, j, k), (h, n, d), [(p, m)], 2, operand_of(dC, (i, j, p)), operand_of(A, (i, j, k))),
    }
    assert judge(right).claims[0][0].level == "proved"
    for value in wrong.values():
        claims = (Claim(right.claims[0].lhs, (step("chain rule", value),)), *right.claims[1:])
        assert is_refused(judge(replace(right, claims=claims)).claims[0][0])


def test_uses_with_different_blocks_add_up() -> None:
    """One use splits an axis into h blocks of d, the other into d blocks of h."""
    wide, let = array("W", n, h * d), Equations()
    first = let("F")(contraction((i, j, k), (h, n, d), [], 1, operand_of(wide, (j, d * i + k))))
    second = let("G")(contraction((i, j, k), (d, n, h), [], 1, operand_of(wide, (j, h * i + k))))
    sums = [RowSum(RowSum(RowSum(exponential(each)))) for each in (first, second)]
    output = let("y")(sums[0] + sums[1])
    layer = Layer("both", (wide,), (), let, output)
    assert judge(local_claims(layer)).level == "proved"
    x, compiled = np.random.default_rng(1).standard_normal((5, 14)), compile_layer(gradient(layer))
    sizes = {size.name: SIZES[size] for size in compiled.sizes}
    assert np.allclose(compiled(W=x, dy=np.float64(3.0), **sizes), 6 * np.exp(x))


def test_a_gradient_by_a_weight_is_summed_over_the_batch() -> None:
    X, W, let = array("X", h, n, d), array("W", h, d, m), Equations()
    output = let("Y")(
        contraction((i, j, k), (h, n, m), [(p, d)], 1, operand_of(X, (i, j, p)), operand_of(W, (i, p, k)))
    )
    backward = compile_layer(gradient(Layer("each_head", (X,), (W,), let, output)))
    rng = np.random.default_rng(2)
    x, w, g = rng.standard_normal((3, 7, 5, 2)), rng.standard_normal((7, 2, 11)), rng.standard_normal((3, 7, 5, 11))
    dX, dW = backward(X=x, W=w, dY=g)
    assert np.allclose(dX, g @ w.swapaxes(-1, -2))
    assert np.allclose(dW, (x.swapaxes(-1, -2) @ g).sum(axis=0))


def test_totals_keep_the_blocks_of_their_terms() -> None:
    wide, let = array("W", n, h * d), Equations()
    doubled = let("D")(2 * wide)
    output = let("F")(contraction((i, j, k), (h, n, d), [], 1, operand_of(doubled, (j, d * i + k))))
    layer = Layer("split", (wide,), (), let, output)
    assert gradient(layer).equation("dD").variable.shape == (n, Blocks(h, d))
    assert judge(whole_claims(layer)).level == "proved"
