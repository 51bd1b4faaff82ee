"""Array expressions: shapes are checked when they are built, and every entry is what the definition says."""

import pickle

import pytest
from sympy import Add, Function, Integer, KroneckerDelta, Lambda, Mul, Sum, Symbol, exp, sqrt, tanh
from sympy.utilities.exceptions import SymPyDeprecationWarning

from derivations.language.arrays.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Product,
    RowBroadcast,
    Transpose,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowMean,
    RowSoftmax,
    named,
    relu,
    row_softmax,
)
from derivations.language.arrays.scalars import Within
from derivations.language.arrays.shapes import Blocks, ShapeError
from derivations.language.layers.layer import Equations
from derivations.symbols import d_k, d_v, h, i, j, k, m, n, scalar

Q, K, V, X = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), array("X", n, d_k)
b, M = array("b", d_k), mask_array("M", n, m)
p = Symbol("l", integer=True)


def test_entries_are_ordinary_sympy():
    assert (Q @ K.T).entry(i, k) == Sum(Q[i, j] * K[k, j], (j, 0, d_k - 1))
    assert (Q + b).entry(i, k) == Q[i, k] + b[k]
    assert (Q / sqrt(d_k)).entry(i, k) == Q[i, k] / sqrt(d_k)
    assert (-Q).entry(i, k) == -Q[i, k]
    assert isinstance((Q - X).entry(i, k), Add)
    assert (3 * Q).entry(i, k) == Mul(3, Q[i, k])
    assert Q[i].entry(k) == Q[i, k]
    assert (Q[i] @ K[k]).entry() == Sum(Q[i, j] * K[k, j], (j, 0, d_k - 1))


def test_functions_of_arrays_have_their_entries():
    S = array("S", n, m)
    assert row_softmax(S).entry(i, k) == exp(S[i, k]) / Sum(exp(S[i, j]), (j, 0, m - 1))
    assert RowMean(S).entry(i) == Sum(S[i, j], (j, 0, m - 1)) / m
    assert Hadamard(Q, X).entry(i, k) == Q[i, k] * X[i, k]
    assert RowBroadcast(b, n).entry(i, k) == Within(b[k], i, n)  # the vector knows nothing of the rows
    assert ColumnBroadcast(array("mu", n), d_k).entry(i, k) == Within(array("mu", n)[i], k, d_k)
    assert relu(Q).entry(0, 0).args == (0, Q[0, 0])


def test_a_masked_softmax_counts_visible_keys_only():
    S = array("S", n, m)
    assert RowSoftmax(S, M).entry(i, k) == M[i, k] * exp(S[i, k]) / Sum(M[i, j] * exp(S[i, j]), (j, 0, m - 1))


def test_concatenation_has_columns_made_of_blocks():
    head = array("head", h, n, d_v)
    joined = Concatenate(head[i], i, h)
    assert joined.shape == (n, Blocks(h, d_v))
    assert joined.entry(j, (k, p)) == head[k, j, p]
    assert column_block(joined, k).entry(j, p) == head[k, j, p]
    with pytest.raises(ShapeError, match="give a pair"):
        joined.entry(j, k)


def test_a_product_over_blocks_sums_over_pairs():
    wide, W = Concatenate(array("head", h, n, d_v)[i], i, h), array("W", h * d_v, d_k)
    entry = (wide @ W).entry(j, k)
    assert isinstance(entry, Sum)
    assert len(entry.limits) == 2


def test_numbered_places_split_by_themselves():
    two = Interleave(array("s", 3, 2), array("c", 3, 2))
    assert two.shape == (3, Blocks(Integer(2), Integer(2)))
    assert two.entry(2, 3) == array("c", 3, 2)[2, 1]
    assert two.entry(2, 0) == array("s", 3, 2)[2, 0]


def test_tabulated_and_explicit_arrays():
    assert Tabulated(Lambda((i, j), i + 2 * j), n, m).entry(3, 4) == Within(Within(11, 3, n), 4, m)
    assert Tabulated(Lambda((i, j), i + 2 * j), 5, 7).entry(3, 4) == 11
    assert Explicit([[1, 2], [3, 4]]).entry(1, 0) == 3
    row = 2 * KroneckerDelta(i, 0) + 4 * KroneckerDelta(i, 1)
    assert Explicit([[1, 2], [3, 4]]).entry(i, 1) == Within(row, i, 2)


def test_look_up_reads_rows_of_the_table():
    E, tokens = array("E", m, d_k), token_array("tokens", n)
    assert Lookup(E, tokens).entry(i, k) == E[tokens[i], k]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Q @ K, "product of Q and K: shapes (n, d_k) and (m, d_k); the inner sizes d_k and m must be equal"),
        (lambda: Q + K, "sum of Q and K: shapes (n, d_k) and (m, d_k) differ"),
        (lambda: Q - V, "differ"),
        (lambda: Q + array("c", d_v), "differ"),
        (lambda: b.T, "a matrix is needed"),
        (lambda: array("s")[0], "scalar"),
        (lambda: RowBroadcast(Q, n), "a vector is needed"),
        (lambda: ColumnBroadcast(Q, n), "a vector is needed"),
        (lambda: row_softmax(array("S", n, m), array("B", n, m)), "must be boolean"),
        (lambda: row_softmax(array("S", n, n), M), "differ"),
        (lambda: Hadamard(Q, K), "differ"),
        (lambda: MaskConjunction(M, Q), "both must be boolean"),
        (lambda: Lookup(Q, b), "must hold integers"),
        (lambda: relu(Q, Q), "takes 1 arrays, not 2"),
        (lambda: array("Z", 0, n), "integer >= 1"),
        (lambda: array("Z", n, Integer(5) / 2), "integer >= 1"),
        (lambda: Q.entry(i), "an entry takes 2 places, not 1"),
        (lambda: Q[-1, 0], "outside"),
        (lambda: array("Z", 3)[3], "outside an axis of size 3"),
        (lambda: Tabulated(Lambda((i,), i), n, m), "must take 2 places"),
        (lambda: Concatenate(Concatenate(array("head", h, n, d_v)[i], i, h), i, h), "blocks already"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(build, words):
    with pytest.raises(ShapeError) as error:
        build()
    assert words in str(error.value)


def test_shapes_are_checked_again_on_a_rebuild():
    S = Q @ K.T
    assert S.xreplace({m: n}).shape == (n, n)
    with pytest.raises(ShapeError):
        Product(Q, K).xreplace({n: m})
    with pytest.raises(ShapeError):
        (Q @ array("W", d_k, d_v)).xreplace({array("W", d_k, d_v): array("W", n, d_v)})


def test_nothing_simplifies_by_itself():
    square = array("A", n, n)
    assert isinstance(square @ square, Product)
    assert Transpose(Transpose(Q)) == (Q.T).T
    assert (Q + X) != (X + Q)


def test_a_stray_sympy_sum_or_product_fails_loudly():
    with pytest.raises(SymPyDeprecationWarning, match="non-Expr"):
        Add(Q, X)
    with pytest.raises(TypeError):
        Q * X
    with pytest.raises(TypeError):
        Q + 1


def test_nodes_compare_hash_and_pickle():
    S = Q @ K.T / sqrt(d_k)
    again = array("Q", n, d_k) @ array("K", m, d_k).T / sqrt(d_k)
    assert again == S
    assert hash(S) == hash(again)
    copy: Array = pickle.loads(pickle.dumps(S))
    assert copy == S
    assert copy.shape == (n, m)


def test_an_index_bound_by_a_concatenation_is_not_replaced():
    head = array("head", h, n, d_v)
    assert Concatenate(head[i], i, h).xreplace({i: Integer(0)}) == Concatenate(head[i], i, h)


def test_text_is_python_syntax():
    phi = named("phi", Function("phi")(scalar("x")), scalar("x"))
    assert str(phi(Q @ K.T / sqrt(d_k) + array("B", n, m))) == "phi(1/sqrt(d_k) * (Q @ K.T) + B)"
    assert str(Member(array("W", h, n, m), i)) == "W[i]"
    assert str(CausalMask(n)) == "causal(n)"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Q * K, "write Hadamard(Q, K) for the product entry by entry, or Q @ K for the product of matrices"),
        (lambda: array("g") * Q, "g * Q: write Hadamard(g, Q)"),
        (lambda: Q * array("g"), "Q * g: write Hadamard(Q, g)"),
        (lambda: Q / K, "name the quotient of entries"),
        (lambda: 1 / Q, "name the quotient of entries"),
        (lambda: Q**2, "write square(...)"),
        (lambda: Q**3, 'named("power", x**(3), x)'),
        (lambda: Q + 1, 'named("shifted", x + 1, x), and apply it to Q'),
        (lambda: 1 - Q, "an array and a number are not added"),
        (lambda: exp(Q) @ K, "exp takes numbers; for every entry of an array write exponential(...)"),
        (lambda: K @ exp(Q), "write exponential(...)"),
        (lambda: K * exp(Q), "write exponential(...)"),
        (lambda: exp(Q) + K, "write exponential(...)"),
        (lambda: Equations()("E")(Function("f")(Q)), 'for every entry of an array write named("f", f(x), x)'),
        (lambda: tanh(Q), 'name it, as named("tanh", tanh(x), x)(Q)'),
    ],
)
def test_an_operation_on_numbers_names_the_one_on_arrays(build, words):
    with pytest.raises(TypeError) as error:
        build()
    assert words in str(error.value)


def test_a_smaller_array_beside_a_larger_is_told_how_to_repeat():
    """The broadcast that fits is named; where none fits, none is."""
    rows, columns, other = array("r", n), array("c", d_k), array("o", d_v)
    for build, words in (
        (lambda: Q + rows, "ColumnBroadcast(r, d_k) has r as every column"),
        (lambda: Hadamard(rows, Q), "ColumnBroadcast(r, d_k) has r as every column"),
        (lambda: Hadamard(Q, columns), "RowBroadcast(c, n) has c as every row"),
        (lambda: Q + array("b"), 'named("shifted", x + y, x, y)(Q, b) adds b to every entry'),
        (lambda: columns + array("b"), 'named("shifted", x + y, x, y)(c, b) adds b to every entry'),
    ):
        with pytest.raises(ShapeError) as error:
            build()
        assert str(error.value).endswith(f"differ; {words}")
    with pytest.raises(ShapeError, match=r"differ$"):
        Hadamard(Q, other)


def test_a_function_of_ones_own_needs_its_variables_and_a_formula():
    x = Symbol("x", real=True)
    with pytest.raises(TypeError, match=r"has no variable: write it after the formula, named\('f', ..., x\)"):
        named("f", x**2)
    for formula in ("x**2", lambda t: t):
        with pytest.raises(TypeError, match="a function has a name, a formula and its variables"):
            named("f", formula, x)


def test_a_function_of_numbers_is_its_formula():
    beta = scalar("beta")
    sigmoid = named("sigmoid", 1 / (1 + exp(-beta)), beta)
    assert sigmoid(beta * Q[i, j]) == 1 / (1 + exp(-beta * Q[i, j]))
    assert sigmoid(0) == Integer(1) / 2
    with pytest.raises(ShapeError, match="takes 1 arrays, not 2"):
        sigmoid(beta, beta)


def test_a_softmax_of_columns_is_refused_with_what_to_write():
    assert row_softmax(Q, axis=-1) == row_softmax(Q, axis=1) == row_softmax(Q)
    with pytest.raises(ShapeError, match=r"softmax over axis 0: write row_softmax\(Q.T\).T"):
        row_softmax(Q, axis=0)
