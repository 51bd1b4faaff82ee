"""The names in expressions, and fresh ones."""

import pytest

from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import RowSoftmax
from derivations.language.layers.layer import part
from derivations.language.layers.names import fresh_name, is_name, subexpressions, variables_in
from derivations.symbols import d, d_model, h, i, n

X, W, b, Q = array("X", n, d), array("W", d, d), array("b", d), array("Q", h, n, d)


def test_a_fresh_name_is_taken_at_once() -> None:
    taken = {"X", "Y_2"}
    assert [fresh_name(name, taken) for name in ("X", "X", "Y", "Y", "Z")] == ["X_2", "X_3", "Y", "Y_3", "Z"]
    assert taken == {"X", "X_2", "X_3", "Y", "Y_2", "Y_3", "Z"}


@pytest.mark.parametrize(
    ("node", "expected"), [(X, True), (Q[i], True), (X @ W, False), (X.T, False)], ids=["whole", "member", "XW", "X^T"]
)
def test_a_name_is_a_variable_or_a_member_of_one(node: Array, expected: bool) -> None:
    assert is_name(node) is expected


def test_variables_come_in_order_each_as_often_as_it_occurs() -> None:
    assert list(variables_in(RowSoftmax(X @ W @ X.T) @ (X @ W + b))) == [X, W, X, X, W, b]


def test_arrays_come_outermost_first() -> None:
    product = Q[i] @ X.T
    assert list(subexpressions(RowSoftmax(product))) == [RowSoftmax(product), product, Q[i], Q, X.T, X]


def test_the_inside_of_a_layer_is_its_own() -> None:
    Y = array("Y", n, d_model)
    applied = part("network", feed_forward())(Y)
    assert list(variables_in(applied)) == [Y]
    assert list(subexpressions(applied)) == [applied, Y]
