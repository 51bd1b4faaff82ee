"""Contractions: entries, local indices, the nodes that have the same entries, and what is refused."""

import pytest
from sympy import Integer, KroneckerDelta, Rational, Symbol
from sympy import Tuple as Places

from derivations.language.arrays.contraction import contraction, in_axes, operand_of
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    array,
)
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.arrays.shapes import Blocks, ShapeError
from derivations.language.judge.proof import prove_equal
from derivations.symbols import d, d_k, h, m, n
from tests.contractions import A, B, S, X, i, j, k, p, q

W, v = array("W", d, m), array("v", n)


@pytest.mark.parametrize(
    ("built", "usual"),
    [
        (contraction((i, j), (n, m), [(p, d)], 1, operand_of(X, (i, p)), operand_of(W, (p, j))), X @ W),
        (contraction((i, j), (n, n), [(p, d)], 1, operand_of(X, (i, p)), operand_of(X, (j, p))), X @ X.T),
        (contraction((j, i), (m, n), [(p, d)], 3, operand_of(X, (i, p)), operand_of(W, (p, j))), 3 * (W.T @ X.T)),
        (contraction((i, j), (d, n), [], 1, operand_of(X, (j, i))), Transpose(X)),
        (contraction((i, j), (m, n), [], 1, operand_of(v, (j,))), RowBroadcast(v, m)),
        (contraction((i, j), (n, m), [], 1, operand_of(v, (i,))), ColumnBroadcast(v, m)),
        (contraction((i, j), (h, n), [(p, d)], 1, operand_of(A, (i, j, p))), RowSum(A)),
        (contraction((i,), (d,), [(p, n)], 1, operand_of(X, (p, i))), RowSum(Transpose(X))),
        (contraction((i, j), (n, m), [], 1, operand_of(S, (i, j)), operand_of(S, (i, j))), Hadamard(S, S)),
        (
            contraction((i, j), (n, n), [], 1, operand_of(v, (i,)), operand_of(v, (j,))),
            Hadamard(ColumnBroadcast(v, n), RowBroadcast(v, n)),
        ),
        (contraction((i, j), (n, d), [], 1, operand_of(X, (i, j))), X),
    ],
    ids=["product", "transposed factor", "both transposed", "transpose", "rows", "columns", "sums of rows",
         "sums of columns", "entrywise", "outer", "the array itself"],
)  # fmt: skip
def test_the_usual_node_is_built_and_has_the_same_entries(built: Array, usual: Array) -> None:
    assert built == usual


def test_a_usual_node_has_the_entries_of_the_contraction() -> None:
    node = Contraction((i, j), (n, n), [(p, d)], 1, [(i, p), (j, p)], X, X)
    assert isinstance(contraction((i, j), (n, n), [(p, d)], 1, *(operand_of(X, (s, p)) for s in (i, j))), Product)
    assert prove_equal(node, X @ X.T).level == "proved"
    assert prove_equal(node, 2 * (X @ X.T)).level == "refuted"


def test_a_number_stands_in_front() -> None:
    built = contraction(
        (i, j, k), (h, n, m), [(p, d)], Rational(1, 3), operand_of(A, (i, j, p)), operand_of(B, (i, k, p))
    )
    assert isinstance(built, Scaled)
    assert (built.args[0], built.args[1].factor) == (Rational(1, 3), 1)


def test_a_prefix_is_not_the_array_itself() -> None:
    """The index runs over fewer places than the axis has."""
    prefix = contraction((i, j), (n, 2), [], 1, operand_of(array("Y", n, 7), (i, j)))
    assert isinstance(prefix, Contraction)
    assert prefix.shape == (n, 2)


def test_names_of_indices_do_not_matter() -> None:
    first = Contraction((i, j), (n, m), [(p, d)], 1, [(i, p), (p, j)], X, W)
    second = Contraction((q, k), (n, m), [(j, d)], 1, [(q, j), (j, k)], X, W)
    assert first == second
    assert first.func(*first.args) == first


def test_indices_are_local() -> None:
    """An operand that depends on a symbol i keeps it, whatever the index of the contraction was called."""
    row = Member(A, i)  # row i of a family, read with indices of which one is called i as well
    node = Contraction((i, j), (d, n), [], 1, [(j, i)], row)
    assert i in node.free_symbols
    assert i not in node.bound_symbols
    assert node.entry(0, 1) == A[i, 1, 0]
    assert node.xreplace({i: Integer(3)}).entry(0, 1) == A[3, 1, 0]
    moved = Contraction((i, j), (d, n), [], 1, [(j, i)], X)
    assert moved.xreplace({i: Integer(3)}) == moved
    (own,) = (s for s in moved.bound_symbols if s.name == "i")
    assert moved.xreplace({X: Member(A, own)}).entry(0, 1) == A[own, 1, 0]


def test_a_delta_in_a_sum_is_its_one_term() -> None:
    shifted = contraction(
        (i, j), (n, d), [(p, m + d)], KroneckerDelta(p, j + m), operand_of(array("G", n, m + d), (i, p))
    )
    assert shifted == Contraction((i, j), (n, d), [], 1, [(i, j + m)], array("G", n, m + d))
    outside = contraction((i, j), (n, m + d), [(p, d)], KroneckerDelta(p + m, j), operand_of(X, (i, p)))
    assert outside.sums  # j - m is negative for small j: these entries are 0


def test_other_blocks_are_read_as_a_plain_axis() -> None:
    array_of_blocks = array("G", n, Blocks(h, d))
    assert in_axes(array_of_blocks, (n, h * d)) == array_of_blocks
    plain = in_axes(array_of_blocks, (n, Blocks(d, h)))
    assert plain.shape == (n, d * h)
    assert prove_equal(plain + array("F", n, Blocks(d, h)), array("F", n, Blocks(d, h)) + plain).level == "proved"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: contraction((i, j), (n, d), [], 1, operand_of(X, (i,))), "reads it at 1 places"),
        (lambda: contraction((i,), (n, d), [], 1, operand_of(X, (i, 0))), "2 axes, 1 indices"),
        (lambda: contraction((i, i), (n, d), [], 1, operand_of(X, (i, i))), "an index occurs twice"),
        (lambda: contraction((i,), (n,), [], 1, operand_of(X, (i, i**2))), "not linear in the indices"),
        (lambda: contraction((i, j), (n, m), [], 1, operand_of(S, (i * j, j))), "not linear in the indices"),
        (lambda: contraction((i,), (n,), [], 1, operand_of(X, (i, d))), "outside its axis"),
        (lambda: contraction((i,), (n,), [], 1, operand_of(X, (i, -1))), "outside its axis"),
        (lambda: contraction((i, j), (n, 4), [], 1, operand_of(array("Y", n, 7), (i, 1 + 2 * j))), "outside its axis"),
        (lambda: contraction((i, j), (n, d), [], 1, operand_of(X, (i, j + 1))), "outside its axis"),
        (lambda: contraction((i, j), (n, 7), [], 1, operand_of(array("Y", n, 7), (i, 5 - j))), "outside its axis"),
        (lambda: contraction((i,), (n,), [], 1, operand_of(X, (i, Places(0, 0)))), "has no blocks"),
        (lambda: contraction((Places(i, j),), (n,), [], 1, operand_of(v, (i,))), "needs an axis of blocks"),
        (lambda: Contraction((i,), (n,), [], 1, [(i,), (i,)], v), "places of 2 arrays are given for 1"),
    ],
)
def test_what_is_refused(build, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        build()


def test_no_node_hides_an_array() -> None:
    """Rules walk over the operands of a node: in a tuple an array was not seen, and its gradient was 0."""

    class Hiding(Array):
        def _infer(self):
            return self.args[0][0].shape

    with pytest.raises(ShapeError, match="must be arguments of the node"):
        Hiding(Places(X))


def test_split_axes_of_symbolic_sizes_are_read_in_range() -> None:
    wide = array("Q", n, h * d_k)
    heads = contraction((i, j, k), (h, n, d_k), [], 1, operand_of(wide, (j, d_k * i + k)))
    s, t, u = (Symbol(name, integer=True) for name in "stu")
    assert heads.entry(s, t, u).has(wide[t, d_k * s + u])


def test_text() -> None:
    node = Contraction(
        (i, Places(j, k)), (n, Blocks(h, d)), [(p, m)], i + 1, [(i, p), (j, p, k)], S + S, array("Z", h, m, d)
    )
    assert str(node) == "[i, (j, k) -> sum p: (i + 1) * (S + S)[i, p] * Z[j, p, k]]"
