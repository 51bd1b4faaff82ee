"""A maximum that is subtracted and cancels: gradients, proofs, ties, and maxima whose slope is needed."""

import numpy as np
import pytest
from sympy import Symbol, log

from derivations.language import gradient
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import Array, ColumnBroadcast, array, mask_array
from derivations.language.arrays.functions import (
    Hadamard,
    RowLogSumExp,
    RowSoftmax,
    RowSum,
    exponential,
    named,
)
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.differentiation.cancelling import cancelling
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.judge.proof import judge, prove_equal
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_v, h, m, n
from numeric import compile_layer
from tests.contractions import i, j, k

x, y = Symbol("x", real=True), Symbol("y", real=True)
over = named("over", x / y, x, y)
S, V, M = array("S", n, m), array("V", m, d_v), mask_array("M", n, m)


def columns(numbers: Array) -> Array:
    """Return one number for each row, repeated along it."""
    return ColumnBroadcast(numbers, m)


def layer_of(value: Array, *inputs: Array) -> Layer:
    let = Equations()
    output = let("Y")(value)
    return Layer("tried", inputs, (), let, output)


def shifted(scores: Array = S) -> Array:
    return exponential(scores - columns(RowMax(scores)))


def softmax() -> Array:
    return over(shifted(), columns(RowSum(shifted())))


HELD = Hadamard(M, exponential(S - columns(RowMax(S, M))))
HALF = exponential(S - columns(RowMax(S)) / 2)
CANCELS = {
    "softmax": (softmax(), (S,)),
    "division after the product": (over(shifted() @ V, ColumnBroadcast(RowSum(shifted()), d_v)), (S, V)),
    "softmax of a difference": (RowSoftmax(S - columns(RowMax(S))), (S,)),
    "log of the sum": (RowMax(S) + named("ln", log(x), x)(RowSum(shifted())), (S,)),
    "log-sum-exp of a difference": (RowMax(S) + RowLogSumExp(S - columns(RowMax(S))), (S,)),
    "half the maximum": (over(HALF, columns(RowSum(HALF))), (S,)),
    "mask": (over(HELD, columns(RowSum(HELD))), (S, M)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CANCELS))
def test_a_maximum_that_cancels_needs_no_slope(name: str) -> None:
    value, inputs = CANCELS[name]
    layer = layer_of(value, *inputs)
    gradient(layer)
    assert judge(local_claims(layer)).level == "proved"


def test_the_gradient_is_that_of_the_softmax() -> None:
    written, plain = gradient(layer_of(softmax(), S)), gradient(layer_of(RowSoftmax(S), S))
    assert judge(whole_claims(layer_of(softmax(), S))).level == "proved"
    dY = array("dY", n, m)
    assert prove_equal(written.result(S, dY), plain.result(S, dY)).level == "proved"


def test_ties_have_the_same_gradient() -> None:
    """Nothing is differentiated at the kink: two equal largest entries make no difference."""
    scores, g = np.array([[2.0, 2.0, -1.0], [0.0, 0.0, 0.0]]), np.array([[1.0, -2.0, 5.0], [3.0, 1.0, -1.0]])
    (found, wanted) = (
        compile_layer(gradient(layer_of(each, S)))(S=scores, dY=g) for each in (softmax(), RowSoftmax(S))
    )
    assert np.allclose(found, wanted, rtol=1e-14)


def test_largest_entries_of_more_axes_cancel() -> None:
    A = array("A", h, n, m)

    def rows(numbers: Array) -> Array:
        return contraction((i, j, k), (h, n, m), [], 1, operand_of(numbers, (i, j)))

    powers = exponential(A - rows(RowMax(A)))
    layer = layer_of(over(powers, rows(RowSum(powers))), A)
    assert judge(local_claims(layer)).level == "proved"
    turned = contraction((i, j, k), (h, m, n), [], 1, operand_of(over(powers, rows(RowSum(powers))), (i, k, j)))
    assert judge(local_claims(layer_of(turned, A))).level == "proved"


@pytest.mark.parametrize(
    "value",
    [
        RowMax(S),
        shifted(),
        shifted() @ V,
        over(shifted(), columns(RowSum(Hadamard(shifted(), shifted())))),
        over(shifted(), columns(RowSum(exponential(S)))),
        over(shifted(), columns(RowSum(shifted()))) + columns(RowMax(S)),
        RowSoftmax(S - 2 * Hadamard(columns(RowMax(S)), S)),
        over(shifted().T, ColumnBroadcast(RowSum(shifted().T), n)),
    ],
    ids=["alone", "no division", "a product", "squares", "another sum", "added again", "times the scores", "columns"],
)
def test_a_maximum_that_matters_is_refused_by_name(value: Array) -> None:
    with pytest.raises(GradientError, match="an output depends on the largest entry"):
        gradient(layer_of(value, S, V))


def test_the_judge_refuses_a_value_that_depends_on_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules that follow a maximum are not trusted: what they call free is claimed, and must be proved."""
    layer = layer_of(shifted(), S)
    from derivations.language.differentiation import claims, reverse
    from derivations.language.differentiation.preparation import prepared

    ready = prepared(layer)
    (largest,) = (e.variable for e in ready.equations if isinstance(e.value, RowMax))
    wrong = {largest: {ready.output: ready.equations[-1].value.args[0](S - columns(largest))}}
    assert cancelling(ready) == {}
    for module in (claims, reverse):
        monkeypatch.setattr(module, "cancelling", lambda _: wrong)
    assert judge(local_claims(layer)).claims[0][0].level != "proved"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RowMax(array("t")), "it is a scalar"),
        (lambda: RowMax(S, array("T", n, m)), "must be boolean"),
        (lambda: RowMax(S, mask_array("N", m, n)), "differ"),
    ],
)
def test_largest_entries_that_are_refused(build, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        build()
