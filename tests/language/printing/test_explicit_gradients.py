"""Gradients written out as matrices, against differences of the layers written out, to forty digits."""

from random import Random

import pytest
from sympy import Float, Integer, Rational, eye
from sympy import ImmutableDenseMatrix as Matrix

from derivations.catalogue import layers
from derivations.feed_forward.mixture_of_experts import mixture_of_experts
from derivations.language.arrays.arrangements import PlacedBlock, SumOver
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import RowLogSumExp
from derivations.language.arrays.selection import AddedWindows, EveryOther, OneHot, Pick, ScatterRows, Windows
from derivations.language.arrays.shapes import Blocks, ShapeError, total
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Repeat
from derivations.language.printing.explicit import explicit, explicit_layer
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import epsilon, i
from derivations.transformer.encoder import encoder
from derivations.transformer.transformer import transformer_loss
from tests.tiers import few

SIZES = {"n": 2, "m": 3, "d_model": 2, "d": 3, "d_k": 3, "d_v": 2, "d_ff": 3, "d_in": 3, "d_out": 2, "h": 2, "N": 2}
SIZES |= {"frames": 2, "mel": 2, "pixels": 3, "buckets": 7}
SIZES |= {"vocab": 5, "r": 2, "g": 2, "w": 2, "E": 5, "K": 2, "d_expert": 3}
DIGITS, STEP, NEAR = 60, Float("1e-20", 60), Float("1e-35", 60)
LAYERS = {
    name: layers()[name]
    for name in (
        "softmax", "linear", "scaled_dot_product_attention", "masked_scaled_dot_product_attention", "feed_forward_gelu",
        "multi_head_attention_with_biases", "layer_norm", "embedding", "cross_entropy", "soft_cross_entropy",
        "batch_norm", "convolution", "grouped_query_attention", "encoder_layer", "decoder_layer",
    )
} | {"encoder": encoder(), "transformer_loss": transformer_loss()}  # fmt: skip
LAYERS["mixture_of_experts"] = mixture_of_experts()
SLOW = {"transformer_loss"}


def numbers(name, variable):
    """Small rationals of the shape of a variable, the same ones for the same name."""
    random = Random(name)

    def filled(shape):
        if not shape:
            if variable.kind == "integer":
                return random.randrange(SIZES["vocab"])
            return random.randrange(2) if variable.kind == "boolean" else Rational(random.randint(-9, 9), 7)
        return [filled(shape[1:]) for _ in range(shape[0])]

    return filled([int(total(along)) for along in variable.shape])


def weights(layer, path=""):
    """Numbers for the weights of all parts of a layer, by their full names."""
    found = {}
    for name, applied in layer.parts.items():
        copies = [f"{name}.{k}" for k in range(applied.count)] if isinstance(applied, Repeat) else [name]
        for copy in copies:
            own = [p for p in applied.layer.parameters if p.name not in applied.bound]
            found |= {f"{path}{copy}.{p.name}": numbers(f"{path}{copy}.{p.name}", p) for p in own}
            found |= weights(applied.layer, f"{path}{copy}.")
    return found


def moved(value, direction, step):
    if isinstance(value, list):
        return [moved(v, d, step) for v, d in zip(value, direction, strict=True)]
    return value + step * direction


def pairing(value, other):
    """The sum of the products of the entries of two values, as matrices, tuples of them or nested lists."""
    if isinstance(value, tuple):
        return sum(pairing(v, o) for v, o in zip(value, other, strict=True))
    return sum(v * o for v, o in zip(value, Matrix(_rows(other)), strict=True))


def _rows(value):
    return value if isinstance(value, list) and value and isinstance(value[0], list) else [value]


def error(layer, wrong=None):
    """How far the derived <dx, P> are from the differences of <G, Y>, for every real input and own parameter x."""
    layer = layer.at(**{s.name: SIZES[s.name] for s in layer.sizes}).xreplace({epsilon: Rational(1, 1000)})
    given = {v.name: numbers(v.name, v) for v in (*layer.inputs, *layer.parameters)} | weights(layer)
    differentiated = gradient(layer)
    cotangent = differentiated.inputs[-1]
    g = numbers("cotangent", cotangent)
    values = explicit_layer(differentiated, {**given, cotangent.name: g}, digits=DIGITS)
    by = [v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"]
    errors = []
    for variable, of in zip(by, differentiated.outputs, strict=True):
        direction = numbers(f"direction of {variable.name}", variable)
        ahead, behind = (
            pairing(explicit_layer(layer, at, digits=DIGITS)[layer.output.name], g)
            for at in ({**given, variable.name: moved(given[variable.name], direction, s)} for s in (STEP, -STEP))
        )
        found = values[of.name] if wrong is None else wrong(values[of.name])
        errors.append(abs(pairing(found, direction) - (ahead - behind) / (2 * STEP)))
    return max(errors)


@pytest.mark.parametrize(
    "name", few([pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in LAYERS], fast=5)
)
def test_a_gradient_written_out_agrees_with_differences(name):
    assert error(LAYERS[name]) < NEAR


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "embedding", "cross_entropy"])
def test_a_wrong_gradient_is_found(name):
    assert error(LAYERS[name], lambda value: -value) > Float("1e-3")
    assert error(LAYERS[name], lambda value: value * (1 + Rational(1, 10**20))) > NEAR


# Nodes, by hand


X = Matrix([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
GIVEN = {"X": X, "tokens": [2, 0, 2]}
wide, tokens = array("X", 3, 4), token_array("tokens", 3)
pairs = array("P", 3, Blocks(Integer(2), Integer(2)))
family = array("F", 2, 3, 4)


def test_choices_by_number():
    assert explicit(Pick(wide, tokens), GIVEN) == Matrix([[3, 5, 11]])
    assert explicit(OneHot(tokens, 3), {"tokens": [2, 0, 2]}) == Matrix([[0, 0, 1], [1, 0, 0], [0, 0, 1]])
    assert explicit(ScatterRows(wide, tokens, 4), GIVEN) == Matrix(
        [[5, 6, 7, 8], [0, 0, 0, 0], [10, 12, 14, 16], [0, 0, 0, 0]]
    )


def test_columns_and_rows():
    assert explicit(EveryOther(pairs, Integer(0)), {"P": X}) == Matrix([[1, 3], [5, 7], [9, 11]])
    assert explicit(EveryOther(pairs, Integer(1)), {"P": X}) == Matrix([[2, 4], [6, 8], [10, 12]])
    square = array("E", 2, 2)
    assert explicit(PlacedBlock(square, 1, 3), {"E": eye(2)}) == Matrix([[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
    assert explicit(Windows(wide, 2), {"X": X}) == Matrix([[*range(1, 9)], [*range(5, 13)]])
    stretches = array("S", 2, Blocks(Integer(2), Integer(4)))
    held = Matrix([[*range(1, 9)], [*range(5, 13)]])
    assert explicit(AddedWindows(stretches, 3), {"S": held}) == Matrix(
        [[1, 2, 3, 4], [10, 12, 14, 16], [9, 10, 11, 12]]
    )


def test_sums_over_a_family_and_of_exponentials():
    assert explicit(SumOver(family[i], i, 2), {"F": (X, 2 * X)}) == 3 * X
    row = explicit(RowLogSumExp(array("X", 1, 2)), {"X": [[0, 0]]})
    assert (row[0] - Float("0.69314718055994530941723212145818", 32)).evalf(30) == pytest.approx(0, abs=1e-30)


def test_a_pullback_of_a_name_that_the_layer_does_not_have_is_refused():
    layer = LAYERS["encoder_layer"]
    applied = layer.parts["feed_forward"]
    with pytest.raises(ShapeError, match="no real input or parameter called Q"):
        Pullback(applied, array("g", *applied.shape), "Q")


def test_the_gradient_of_cross_entropy_is_softmax_minus_one_hot():
    given = {"X": [[0, 0], [0, 0]], "tokens": [1, 0], "dloss": 1}
    values = explicit_layer(gradient(cross_entropy()), given, n=2, vocab=2)
    quarter = Rational(1, 4)
    assert values["dX"] == Matrix([[quarter, -quarter], [-quarter, quarter]])
