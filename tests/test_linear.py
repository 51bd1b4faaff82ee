"""The results about the linear layer are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Derivative, KroneckerDelta, Sum

from derivations.language.costs import Count
from derivations.language.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.language.expression import array
from derivations.language.proof import judge
from derivations.language.shapes import ShapeError
from derivations.linear import (
    W,
    X,
    Y,
    affine_not_linear,
    b,
    convolution,
    definition,
    is_convolution,
    jacobian,
    kernel_of_width_1,
    linear,
    parameters,
    parameters_512,
    pytorch_layout,
    row,
)
from derivations.symbols import d_in, d_out, i, index, j, k, l, n
from tests.broken import broken_steps, is_refused, of_topic, with_step

p = index("p")
A, x, y = array("A", d_out, d_in), array("x", d_in), array("y", d_in)


@pytest.mark.parametrize("name", of_topic("linear"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "linear.definition" else "proved")


WRONG = [
    ("a missing bias", definition, 0, 0, X @ W),
    ("W transposed in an entry", definition, 1, 0, Sum(X[i, k] * W[j, k], (k, 0, d_in - 1)) + b[j]),
    ("one input feature too few", definition, 1, 0, Sum(X[i, k] * W[k, j], (k, 0, d_in - 2)) + b[j]),
    ("another row", row, 0, 1, X[0] @ W + b),
    ("the sum of two values, without the correction", affine_not_linear, 0, 1, (x @ W + b) + (y @ W + b)),
    ("the correction with the wrong sign", affine_not_linear, 0, 1, (x @ W + b) + (y @ W + b) + b),
    ("f(0) = 0", affine_not_linear, 1, 0, 0 * b),
    ("the Jacobian without the position", jacobian, 0, 2, W[k, j]),
    ("the bias in the Jacobian", jacobian, 0, 2, KroneckerDelta(i, p) * W[k, j] + b[j]),
    ("another position in the Jacobian", jacobian, 0, 2, KroneckerDelta(i, k) * W[k, j]),
    ("the bias doubled", pytorch_layout, 0, 1, A @ X[i] + 2 * b),
    ("a convolution without its bias", is_convolution, 0, 0, X @ W),
    ("no biases counted", parameters, 0, 0, d_in * d_out),
    ("one bias for each input", parameters, 0, 0, d_in * d_out + d_in),
    ("no biases among the 262,656", parameters_512, 0, 0, 262144),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_kernel_of_width_2_is_no_linear_layer() -> None:
    """A wider kernel sees its neighbours, and returns one row less."""
    wide = convolution(X, array("K", 2, d_in, d_out), b)
    assert judge(derivation("", claim(wide, step("matrix product", X @ W + b)))).level in ("refuted", "unknown")


def test_a_derivative_needs_a_rule_that_differentiates() -> None:
    """The Jacobian is not decided under the name of a rule of algebra."""
    assert with_step(jacobian(), 0, 0, rule="algebra").level == "unknown"


def test_weights_of_the_wrong_layout_are_refused() -> None:
    """X A does not conform when A is stored as (d_out, d_in)."""
    with pytest.raises(ShapeError, match="d_in and d_out must be equal"):
        X @ A


def test_the_convolution_is_the_sliding_product_of_its_definition() -> None:
    """The entries at concrete sizes, against the same sums written as a loop in NumPy."""
    rng = np.random.default_rng(7)
    positions, channels, filters, width = 5, 3, 2, 2
    inputs, kernel = rng.integers(-9, 9, (positions, channels)), rng.integers(-9, 9, (width, channels, filters))
    offset = rng.integers(-9, 9, filters)
    names = array("X", positions, channels), array("K", width, channels, filters), array("b", filters)
    symbolic = convolution(*names)
    values = {
        v.entry(*place): int(data[place])
        for v, data in zip(names, (inputs, kernel, offset), strict=True)
        for place in np.ndindex(data.shape)
    }
    for place in np.ndindex(positions - width + 1, filters):
        window = inputs[place[0] : place[0] + width]
        expected = (window * kernel[:, :, place[1]]).sum() + offset[place[1]]
        assert symbolic.entry(*place).doit().xreplace(values) == expected


def test_parameters_are_the_weights_that_exist() -> None:
    """The count at prime sizes, against the sizes of arrays of the declared shapes."""
    layer = linear().at(d_in=5, d_out=7)
    allocated = sum(np.zeros([int(s) for s in v.shape]).size for v in layer.parameters)
    assert Count("parameters", layer).value() == allocated == 42


def test_the_kernel_of_width_1_holds_the_matrix() -> None:
    """Slice 0 of the kernel is W, and the derivative of an entry by itself is 1."""
    K = kernel_of_width_1("K", W)
    assert K.value.entry(0, k, l) == W[k, l]
    assert [str(s) for s in K.value.shape] == ["1", "d_in", "d_out"]
    one = derivation("", claim(Derivative(Y[i, j], Y[i, j]), step("derivative", 1)), ranges={i: n, j: d_out})
    assert judge(one).level == "proved"
