"""Rows sent to matrices: the nodes are what they are by hand, on every way; what does not fit is refused in words."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from sympy import Expr, Integer, Symbol, sympify

from derivations.language.arrays.expression import Array, array, mask_array, token_array
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.scalars import Within
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.operations import node_operations
from derivations.language.cross_check.assignment import CONTEXT, Assignment, Undefined, meaning
from derivations.language.differentiation.adjoints import adjoints
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.explicit import explicit
from derivations.language.printing.latex import latex_of
from derivations.language.printing.text import TextPrinter
from derivations.symbols import i, j, k, m, n, size
from numeric import compile_layer
from numeric.runtime.primitives import routed_outer, routed_outer_over_batch, routed_product, top_k, top_k_mask

E, K, a, b = size("E"), size("K"), size("a"), size("b")
X, G, S = array("X", n, a), array("G", n, b), array("S", n, m)
W, numbers = array("W", E, a, b), token_array("numbers", n)

SCORES = [[3, 1, 3, 5, 2], [7, 7, 7, 0, 8]]  # with ties: 3 twice, 7 three times
PLACES = [[3, 4], [0, 0], [2, 1]]  # by hand: the three largest of each row


def test_the_largest_entries_come_in_order_and_ties_go_to_the_smaller_place() -> None:
    assert top_k(np.array(SCORES), 3).tolist() == PLACES
    assert top_k(np.array([SCORES, SCORES[::-1]]), 1).tolist() == [[[3, 4]], [[4, 3]]]
    entries = TopK(S.xreplace({n: Integer(2), m: Integer(5)}), 3)
    given = {S.xreplace({n: Integer(2), m: Integer(5)})[r, c]: SCORES[r][c] for r in range(2) for c in range(5)}
    found = [[entries.entry(s, r).doit().xreplace(given).doit() for r in range(2)] for s in range(3)]
    assert found == PLACES
    with localcontext(CONTEXT):
        assert meaning(TopK(array("S", 2, 5), 3))(assignment(S=decimals(SCORES))) == PLACES


SHOWN = [[1, 1, 1, 0, 1], [0, 1, 1, 1, 1]]  # which hides the largest entry of the first row
LARGEST = [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1]]  # by hand: the two largest that are shown, of equal ones the first


def test_the_largest_visible_entries_are_shown_and_no_hidden_one() -> None:
    scores, shown = array("S", 2, 5), mask_array("M", 2, 5)
    assert top_k_mask(np.array(SCORES, float), np.array(SHOWN, bool), 2).tolist() == LARGEST
    entries, given = TopKMask(scores, shown, 2), {}
    for r, c in product(range(2), range(5)):
        given |= {scores[r, c]: SCORES[r][c], shown[r, c]: SHOWN[r][c]}
    found = [[entries.entry(r, c).doit().xreplace(given).doit() for c in range(5)] for r in range(2)]
    assert found == LARGEST == explicit(entries, {"S": SCORES, "M": SHOWN}).tolist()
    with localcontext(CONTEXT):
        assert meaning(entries)(assignment(S=decimals(SCORES), M=SHOWN)) == LARGEST


def test_where_no_more_are_visible_all_of_them_are_shown() -> None:
    for count in (4, 5, 7):
        assert top_k_mask(np.array(SCORES, float), np.array(SHOWN, bool), count).tolist() == SHOWN
        with localcontext(CONTEXT):
            mask = TopKMask(array("S", 2, 5), mask_array("M", 2, 5), count)
            assert meaning(mask)(assignment(S=decimals(SCORES), M=SHOWN)) == SHOWN


def test_a_mask_of_the_largest_has_no_slope_and_costs_nothing() -> None:
    M = mask_array("M", n, m)
    assert dict(adjoints(TopKMask(S, M, K), array("g", n, m), S)) == {}
    assert node_operations(TopKMask(S, M, K)).total == 0
    assert (TopKMask(S, M, K).kind, TopKMask(S, M, K).shape) == ("boolean", (n, m))
    assert latex_of(TopKMask(S, M, K)) == r"\mathrm{topmask}_{K}(S; M)"


def test_more_than_there_are_cannot_be_chosen() -> None:
    with pytest.raises(ShapeError, match="the 7 largest entries of S: a row has 5"):
        TopK(array("S", n, 5), 7)
    with pytest.raises(ValueError, match="the 7 largest entries of a row are asked for, and a row has 5"):
        top_k(np.array(SCORES), 7)
    with localcontext(CONTEXT), pytest.raises(Undefined, match="a row of 5 has no 7 largest entries"):
        meaning(TopK(array("S", 2, 5), K))(assignment({K: 7}, S=decimals(SCORES)))


def assignment(sizes: dict[Symbol, int] | None = None, **arrays: object) -> Assignment:
    """An assignment with given sizes and arrays."""
    made = Assignment(sizes or {}, {}, "by hand")
    made.arrays |= arrays
    return made


def decimals(rows: object) -> object:
    return [decimals(row) for row in rows] if isinstance(rows, list) else Decimal(rows)


ROWS, OTHERS = [[1, 2], [3, 4], [5, 6]], [[1, 0, 2], [0, 1, 1], [3, 1, 0]]
FAMILY = [[[1, 0, 2], [0, 1, 1]], [[5, 5, 5], [7, 7, 7]], [[2, 1, 0], [1, 1, 3]], [[9, 9, 9], [9, 9, 9]]]
TOKENS = [2, 0, 2]
PRODUCT = [[4, 3, 6], [3, 4, 10], [16, 11, 18]]  # [1, 2] by matrix 2, [3, 4] by matrix 0, [5, 6] by matrix 2
ZERO = [[0, 0, 0], [0, 0, 0]]
OUTER = [[[0, 3, 3], [0, 4, 4]], ZERO, [[16, 5, 2], [20, 6, 4]], ZERO]  # rows 0 and 2 go to matrix 2
TURNED = [[list(column) for column in zip(*matrix, strict=True)] for matrix in FAMILY]
SIZES = {n: Integer(3), a: Integer(2), b: Integer(3), E: Integer(4)}
NODES = {
    "product": (RoutedProduct(X, W, numbers), PRODUCT),
    "outer": (RoutedOuter(X, G, numbers, E), OUTER),
    "transposed": (BatchTranspose(W), TURNED),
}
GIVEN = {"X": ROWS, "G": OTHERS, "W": FAMILY, "numbers": TOKENS}


@pytest.mark.parametrize("name", NODES)
def test_a_node_is_what_it_is_by_hand(name: str) -> None:
    node, expected = NODES[name][0].xreplace(SIZES), NODES[name][1]
    with localcontext(CONTEXT):
        assert meaning(node)(assignment(**{key: decimals(value) for key, value in GIVEN.items()})) == expected
    entries = {}
    for variable in (X, G, W, numbers):
        fixed = variable.xreplace(SIZES)
        values = np.array(GIVEN[variable.name])
        entries |= {fixed.entry(*map(int, at)): int(values[at]) for at in np.ndindex(values.shape)}
    for at in np.ndindex(np.array(expected).shape):
        assert value_of(node, at, entries) == np.array(expected)[at]


def value_of(node: Array, at: tuple[int, ...], entries: dict[Expr, int]) -> Expr | int:
    """One entry, its sums written out and numbers put in; what counts only within bounds is what it counts."""
    value = sympify(node.entry(*map(int, at)).doit().xreplace(entries)).xreplace(
        entries
    )  # numbers, then their matrices
    return value.args[0] if isinstance(value, Within) else value


@pytest.mark.parametrize("name", NODES)
def test_compiled_a_node_is_what_it_is_by_hand(name: str) -> None:
    let = Equations()
    node = NODES[name][0]
    inputs = (X, G, numbers) if name == "outer" else (X, numbers)
    layer = Layer("example", inputs, () if name == "outer" else (W,), let, let("Y")(node))
    given = [np.array(GIVEN[variable.name], dtype=float) for variable in inputs[:-1]]
    weights = {} if name == "outer" else {"W": np.array(FAMILY, dtype=float)}
    sizes = {"E": 4} if name == "outer" else {}
    output = compile_layer(layer)(*given, np.array(TOKENS), **weights, **sizes)
    assert output.tolist() == NODES[name][1]


def test_batches_are_sent_item_by_item() -> None:
    random = np.random.default_rng(53)
    rows, others = random.normal(size=(7, 3, 2)), random.normal(size=(7, 3, 5))
    family, to = random.normal(size=(11, 2, 5)), random.integers(0, 11, size=(7, 3))
    sent = routed_product(rows, family, to)
    outer = routed_outer(rows, others, to, 11)
    whole = np.zeros((11, 2, 5))
    for item in range(7):
        for row in range(3):
            np.testing.assert_allclose(sent[item, row], rows[item, row] @ family[to[item, row]], rtol=1e-12)
            whole[to[item, row]] += np.outer(rows[item, row], others[item, row])
    np.testing.assert_allclose(outer.sum(axis=0), whole, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(routed_outer_over_batch(rows, others, to, 11), whole, rtol=1e-10, atol=1e-12)
    assert np.abs(routed_product(rows, family, (to + 1) % 11) - sent).max() > 1e-2


def test_a_product_costs_one_matrix_for_each_row() -> None:
    assert node_operations(RoutedProduct(X, W, numbers)).matmul == 2 * n * a * b
    assert node_operations(RoutedOuter(X, G, numbers, E)).matmul == 2 * n * a * b
    assert node_operations(TopK(S, K)).total == 0
    assert node_operations(BatchTranspose(W)).total == 0


def test_the_rules_of_differentiation() -> None:
    g, of_matrices = array("g", n, b), array("g", E, a, b)
    product, outer = RoutedProduct(X, W, numbers), RoutedOuter(X, G, numbers, E)
    assert dict(adjoints(product, g, product)) == {
        X: RoutedProduct(g, BatchTranspose(W), numbers),
        W: RoutedOuter(X, g, numbers, E),
    }
    assert dict(adjoints(outer, of_matrices, outer)) == {
        X: RoutedProduct(G, BatchTranspose(of_matrices), numbers),
        G: RoutedProduct(X, of_matrices, numbers),
    }
    assert dict(adjoints(BatchTranspose(W), BatchTranspose(W), W)) == {W: W}
    assert dict(adjoints(TopK(S, K), array("g", K, n), S)) == {}


def test_how_they_print() -> None:
    text = TextPrinter("ours", "", None).doprint
    assert latex_of(TopK(S, K)) == r"\mathrm{top}_{K}(S)"
    assert text(RoutedProduct(X, W, numbers)) == "X W_numbers"
    assert text(RoutedProduct(G + G, BatchTranspose(W), numbers)) == "(G + G) W_numbers^T"
    assert text(RoutedOuter(X, G, numbers, E)) == "outer_numbers(X, G)"
    assert str(RoutedProduct(G, BatchTranspose(W), numbers)) == "G @ W.T[numbers]"


def test_entries_are_ordinary_sympy() -> None:
    assert BatchTranspose(W).entry(k, i, j) == W[k, j, i]
    assert RoutedProduct(X, W, numbers).entry(i, j).args[1:] == (numbers[i], E)
    assert TopK(S, K).kind == "integer"
    assert TopK(S, K)[k].shape == (n,)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: TopK(array("S", n), 2), "a matrix of reals is needed, not .n,"),
        (lambda: TopK(token_array("S", n, m), 2), "of kind integer"),
        (lambda: TopKMask(S, array("M", n, m), 2), "reals and a boolean mask are needed, not M"),
        (lambda: TopKMask(S, mask_array("M", m, n), 2), "a mask of its shape"),
        (lambda: BatchTranspose(X), "a family of matrices is needed"),
        (lambda: RoutedProduct(X, W, array("v", n)), "must hold integers"),
        (lambda: RoutedProduct(X, W, token_array("v", m)), "needs one number for each row"),
        (lambda: RoutedProduct(G, W, numbers), "do not fit"),
        (lambda: RoutedProduct(X, X, numbers), "do not fit"),
        (lambda: RoutedOuter(X, S.T, numbers, E), "needs one number for each row"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(build: object, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        build()
