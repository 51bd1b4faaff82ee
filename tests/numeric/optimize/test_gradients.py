"""What the passes make of gradients: one product for the weights of all heads, norms by what the forward pass knows."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Integer, Rational

from derivations.language import gradient
from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, SumOver
from derivations.language.arrays.expression import Array, Product, Scaled, Transpose
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.names import subexpressions
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder_layer
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.optimize import PASSES, Optimised, optimize
from numeric.optimize.draft import Draft
from numeric.optimize.rewrite import Proposal
from tests.numeric.optimize.layers import attention, made, refused

SIZES = {"n": 5, "m": 3, "d_model": 7, "h": 2, "d_k": 11, "d_v": 13, "d_ff": 17, "d": 7}
STEP = gradient(inlined(encoder_layer(biases=True)))


def nodes(of: Layer, kind: type[Array]) -> list[Array]:
    return [node for equation in of.equations for node in subexpressions(equation.value) if isinstance(node, kind)]


def value(found: Optimised, name: str) -> Array:
    return next(e.value for e in found.layer.equations if e.variable.name == name)


def test_gradients_by_the_weights_of_all_heads_are_blocks_of_one_product() -> None:
    found = optimize(STEP)
    assert refused(found) == []
    for letter in "QKV":
        by_matrix, by_bias = (value(found, f"dattention.{kind}_{letter}") for kind in "Wb")
        assert isinstance(by_matrix, ColumnBlock) and isinstance(by_matrix.args[0], Product)
        assert by_matrix.args[0].args[1].name.startswith(f"dattention.{letter}_wide")
        assert isinstance(by_bias, ColumnBlock)
    assert not nodes(found.layer, SumOver)


def test_matrices_of_heads_are_put_side_by_side_in_equations_of_their_own() -> None:
    """Inside of a product they would be put together again for every tile."""
    found = optimize(STEP)
    whole = {id(equation.value) for equation in found.layer.equations}
    assert all(id(node) in whole for node in nodes(found.layer, Concatenate))
    assert len([e for e in found.layer.equations if e.variable.name.startswith("attention.W_")]) == 3


def test_the_outputs_and_the_weights_of_a_gradient_stay_what_they_are() -> None:
    found = optimize(STEP)
    assert found.layer.outputs == STEP.outputs and found.layer.parameters == STEP.parameters
    assert not found.packing.equations


@pytest.mark.parametrize("layer", [layer_norm(), rms_norm()], ids=lambda layer: layer.name)
def test_a_norm_needs_no_power_of_its_variance(layer: Layer) -> None:
    found = optimize(gradient(layer))
    assert made(found)["norm_gradients"] == 1
    assert not any("prime" in str(equation) for equation in found.layer.equations)


def test_layers_themselves_are_left_alone() -> None:
    found = made(optimize(encoder_layer(biases=True)))
    assert not found["wide_gradients"] and not found["norm_gradients"]


@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize(
    "layer",
    [encoder_layer(biases=True), decoder_layer(), layer_norm(), rms_norm(), attention(cross=True)],
    ids=lambda layer: layer.name,
)
def test_values_are_those_of_the_plain_gradient(layer: Layer, batch: tuple[int, ...]) -> None:
    whole = gradient(inlined(layer))
    sizes = {s.name: SIZES[s.name] for s in whole.sizes}
    rng = np.random.default_rng(3)
    weights = {
        name: w + rng.normal(scale=0.1, size=w.shape) for name, w in initialise(whole, sizes, 0, np.float64).items()
    }
    arrays = [
        rng.random((*batch, *(SIZES[str(a)] for a in v.shape))) < 0.8
        if v.kind == "boolean"
        else rng.standard_normal((*batch, *(SIZES[str(a)] for a in v.shape)))
        for v in whole.inputs
    ]
    expected = compile_layer(whole)(*arrays, **weights)
    found = compile_layer(optimize(whole).layer)(*arrays, **weights)
    for one, other in zip(expected, found, strict=True):
        assert one.shape == other.shape
        assert np.abs(one - other).max() <= 1e-12 * max(1, np.abs(one).max())


# --- what is not so -------------------------------------------------------------------------------------------------

Change = Callable[[Proposal], Proposal]


class Spy(Draft):
    """A draft that changes every proposal."""

    change: Change = staticmethod(lambda proposal: proposal)

    def propose(self, name: str, proposal: Proposal) -> bool:
        changed = self.change(proposal)
        assert changed != proposal
        return super().propose(name, changed)


def new_values(change: Callable[[Array], Array]) -> Change:
    return lambda p: replace(p, replaced={v: change(new) for v, new in p.replaced.items()})


def of_new_variable(change: Callable[[Array], Array]) -> Change:
    return lambda p: replace(
        p, fresh=tuple(Equation(e.target, change(e.value), *(e.over or ())) for e in p.fresh), known=p.known
    )


def doubled(node: Array) -> Array:
    return Scaled(Integer(2), node)


def first_block(node: Array) -> Array:
    return ColumnBlock(node.args[0], Integer(0)) if isinstance(node, ColumnBlock) else -node


@pytest.mark.parametrize(
    ("name", "layer", "change"),
    [
        ("wide_gradients", gradient(attention()), new_values(first_block)),
        ("wide_gradients", gradient(attention()), new_values(doubled)),
        ("norm_gradients", gradient(layer_norm()), new_values(lambda node: -node)),
        ("norm_gradients", gradient(layer_norm()), of_new_variable(lambda node: node / 2)),
        ("norm_gradients", gradient(rms_norm()), of_new_variable(lambda node: -node)),
    ],
)
def test_a_wrong_rewriting_is_refused(name: str, layer: Layer, change: Change) -> None:
    draft = Spy(layer)
    draft.change = change
    PASSES[name](draft)
    assert draft.rewrites and not any(rewrite.done for rewrite in draft.rewrites)
    assert tuple(draft.equations.values()) == tuple(layer.equations)


def test_products_with_another_matrix_for_each_head_are_left_alone() -> None:
    """X_i^T dQ_i is no block of one product."""
    found = optimize(gradient(attention()))
    product = value(found, "dV")
    assert isinstance(product, Product) and isinstance(product.args[0], Transpose)
    assert Rational(1, 3) in {node.args[0] for node in subexpressions(value(found, "dQ"))}
