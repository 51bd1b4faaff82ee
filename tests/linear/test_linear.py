"""The results about the linear layer are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Derivative, Integer, KroneckerDelta, Sum

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.costs import Count
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.linear.convolution import convolution, kernel_of_width_1
from derivations.linear.linear import (
    W,
    X,
    Y,
    affine_combination,
    affine_not_linear,
    b,
    column_parallel,
    commutes_with_averaging,
    composition,
    definition,
    flops,
    is_convolution,
    jacobian,
    linear,
    parameter_jacobian,
    parameters,
    parameters_512,
    pytorch_layout,
    row,
    row_parallel,
)
from derivations.symbols import batch, d, d_in, d_out, h, i, index, j, k, l, m, n, scalar
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

p = index("p")
A, x, y = array("A", d_out, d_in), array("x", d_in), array("y", d_in)
V, mean, c = array("V", d_out, d), array("A", m, n), scalar("a")
blocks, blocks_in = array("W", h, d_in, d_out), array("X", h, n, d_in)


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
    ("the derivative by another weight", parameter_jacobian, 0, 2, X[i, k]),
    ("the derivative by the weights of another input", parameter_jacobian, 0, 2, X[i, l] * KroneckerDelta(j, k)),
    ("every bias in every output", parameter_jacobian, 1, 0, 1),
    ("weights that do not add up", affine_combination, 0, 1, c * (x @ W + b) + c * (y @ W + b)),
    ("a linear combination of affine values", affine_combination, 0, 1, c * (x @ W) + (1 - c) * (y @ W) + 2 * b),
    ("the bias before the averaging as it is", commutes_with_averaging, 0, 0, mean @ (X @ W) + b),
    ("the bias averaged away", commutes_with_averaging, 0, 1, mean @ (X @ W)),
    ("the first bias as it is", composition, 0, 1, (X @ W + b) @ V),
    ("the first bias without the second matrix", composition, 0, 2, linear().result(X, W=W @ V, b=array("c", d))),
    ("the rank of the wider one", composition, 1, 0, d_out - 1),
    (
        "the blocks in one order, the columns in another",
        column_parallel,
        0,
        0,
        Concatenate(X @ blocks[h - 1 - i], i, h),
    ),
    ("one block alone", row_parallel, 0, 0, blocks_in[0] @ array("W", h, d_out, d_in)[0].T),
    (
        "each block with the first of the inputs",
        row_parallel,
        0,
        0,
        SumOver(blocks_in[0] @ array("W", h, d_out, d_in)[i].T, i, h),
    ),
    ("multiply-adds as FLOPs", flops, 0, 0, batch * n * d_in * d_out),
    ("no bias in the FLOPs", flops, 1, 0, 2 * batch * n * d_in * d_out),
    ("the bias doubled", pytorch_layout, 1, 0, A @ array("x", d_in) + 2 * b),
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


def test_averages_need_weights_that_add_up_to_1() -> None:
    """Without the assumption on the rows the bias may come out multiplied."""
    right = commutes_with_averaging()
    assert is_refused(judge(replace(right, assumptions=())).claims[0][1])


def test_blocks_are_those_of_numpy() -> None:
    """Columns side by side, and products of blocks added, at prime sizes."""
    rng = np.random.default_rng(2)
    inputs, weights = rng.integers(-9, 9, (2, 3, 5)), rng.integers(-9, 9, (2, 7, 5))
    one, other = row_parallel().lhs, row_parallel().rhs
    whole = np.concatenate(inputs, axis=1) @ np.concatenate(weights, axis=1).T
    for place in np.ndindex(3, 7):
        numbers = {h: Integer(2), n: Integer(3), d_in: Integer(5), d_out: Integer(7)}
        for side in (one, other):
            assert value(side.entry(*place), numbers, {"X": inputs, "W": weights}) == whole[place]


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
