"""Columns side by side get their columns of the gradient; a family that is used as a whole is pulled back once."""

from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import array
from derivations.language.counting.flop_counts import count_flops, count_training_flops
from derivations.language.differentiation.adjoints import adjoints
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d, d_k, d_model, h, i, m, n

X, A, B = array("X", n, d_model), array("A", n, d), array("B", n, m)


def test_each_matrix_gets_its_columns() -> None:
    g = array("g", n, d + m)
    found = dict(adjoints(ColumnConcatenation(A, B), g, g))
    assert found == {A: ColumnRange(g, 0, d), B: ColumnRange(g, d, m)}


def heads_read_together() -> Layer:
    """K_i = X W_i for all heads, read as one array by a part: Y = [K_1 U_1 ... K_h U_h]."""
    K, U, let = array("K", h, n, d_k), array("U", h, d_k, d), Equations()
    R = let("R", over=(i, h))(K[i] @ U[i])
    inner = Layer("read", (K,), (U,), let, let("Y")(Concatenate(R[i], i, h)))
    W, outer = array("W", h, d_model, d_k), Equations()
    keys = outer("K", over=(i, h))(X @ W[i])
    output = outer("Y")(part("read", inner)(keys))
    return Layer("heads_read_together", (X,), (W,), outer, output)


def test_a_family_that_is_used_as_a_whole_is_pulled_back_once() -> None:
    """A backward pass has twice the products of the forward pass, whatever the number of heads."""
    layer = heads_read_together()
    (written,) = [e for e in gradient(layer).equations if str(e.target) == "dK"]
    assert written.over is None
    forward, both = count_flops(layer).matmul, count_training_flops(layer).matmul
    assert (both - 3 * forward).expand() == 0
