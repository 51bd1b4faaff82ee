"""Rows taken, placed and stacked, entries chosen by a matrix of numbers, sliding windows: values, proofs, refusals."""

from collections.abc import Callable
from dataclasses import replace
from decimal import localcontext

import numpy as np
import pytest
from sympy import Expr, Ge, Integer, Symbol

from derivations.language.arrays.buckets import (
    BucketNumber,
    RelativeBuckets,
    SignedBucketNumber,
    SignedBuckets,
    bucket,
    signed_bucket,
)
from derivations.language.arrays.expression import Array, Variable, array, mask_array, token_array
from derivations.language.arrays.functions import CausalMask, RowSum, WindowMask, row_softmax
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked, strided_windows
from derivations.language.arrays.selection import AddedEntries, AddedPicks, Chosen, Pick
from derivations.language.arrays.shapes import ShapeError, shape_text
from derivations.language.counting.costs import count_flops
from derivations.language.cross_check.assignment import CONTEXT, Assignment, meaning
from derivations.language.differentiation.claims import local_claims
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.text import TextPrinter
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, d_v, h, i, j, k, m, n, size
from numeric import compile_layer
from numeric.runtime.primitives import choose, place_rows, relative_buckets, signed_buckets, take_rows
from tests.broken import is_refused, with_step

X, Y, Z, W = array("X", n, d), array("Y", m, d), array("Z", n + m, d), array("W", d, d_v)
R = array("R", n, m)
S, N, T, G = array("S", n, n), token_array("N", n, m), array("T", d, h), array("G", h, n, m)
w, first = size("w"), size("s")
RANDOM = np.random.default_rng(29)


def layer(value: Array, *inputs: Variable) -> Layer:
    """A layer of one equation."""
    let = Equations()
    output = let("Y_0")(value)
    return Layer("rows", inputs, (), let, output)


# --- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "shape", "text"),
    [
        (RowRange(Z, n, m), "(m, d)", "Z[n:m + n]"),
        (RowRange(array("U", 2 * n, d), 0, n, 2), "(n, d)", "U[0:2*n:2]"),
        (PlacedRows(X, 2, n + 5), "(n + 5, d)", "placed(X, 2)"),
        (Stacked(X, Y), "(m + n, d)", "stacked(X, Y)"),
        (Chosen(T, N), "(h, n, m)", "T[N]"),
        (AddedEntries(G, N, d), "(d, h)", "added(G, N)"),
        (Pick(S, N), "(n, m)", "pick(S, N)"),
        (AddedPicks(R, N, d), "(n, d)", "added(R, N)"),
        (RelativeBuckets(n, m, 8, 20, True), "(n, m)", "buckets(n, m)"),
        (WindowMask(n, w), "(n, n)", "window(n, w)"),
        (strided_windows(X, 3, padding=1), "(n, 3*d)", "windows(placed(X, 1), 3)"),
        (strided_windows(X, 3, stride=2, padding=1), "(n/2, 3*d)", "windows(placed(X, 1), 3)[0:n:2]"),
        (strided_windows(array("U", 11, d), 3, stride=2), "(5, 3*d)", "windows(U, 3)[0:10:2]"),
        (strided_windows(array("U", 11, d), 2, stride=5, padding=1), "(3, 2*d)", "windows(placed(U, 1), 2)[0:15:5]"),
    ],
)
def test_the_shape_follows_from_the_operands(node: Array, shape: str, text: str) -> None:
    assert (shape_text(node.shape), str(node)) == (shape, text)
    assert node.func(*node.args) == node


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: RowRange(array("v", n), 0, 1), "a matrix is needed"),
        (lambda: RowRange(array("U", 3, d), 2, 2), "there is no row 3 in 3 rows"),
        (lambda: RowRange(X, n, 1), "there is no row n in n rows"),
        (lambda: RowRange(X, -1, 1), "there is no row -1"),
        (lambda: RowRange(array("U", 7, d), 0, 3, 0), "the step must be an integer >= 1"),
        (lambda: RowRange(X, Integer(1) / 2, 1), "the first row must be an integer"),
        (lambda: PlacedRows(X, 1, n), "there is no row n in n rows"),
        (lambda: PlacedRows(array("U", 3, d), 0, 5, 3), "there is no row 6 in 5 rows"),
        (lambda: Stacked(X, array("V", n, d_v)), "two matrices of as many columns"),
        (lambda: Stacked(X, mask_array("M", m, d)), "the first is real, the second boolean"),
        (lambda: Chosen(array("v", n), N), "a table of rank 2"),
        (lambda: Chosen(T, array("R", n, m)), "must hold integers"),
        (lambda: AddedEntries(G, token_array("N", m, n), d), "needs one number each"),
        (lambda: Pick(S, token_array("N", m, n)), "needs numbers for each row"),
        (lambda: Pick(S, R), "must hold integers"),
        (lambda: Pick(S, token_array("N", n, m, d)), "a vector of numbers is needed"),
        (lambda: AddedPicks(R, token_array("N", m, n), d), "needs one number each"),
    ],
)
def test_what_does_not_fit_is_refused(build: Callable[[], Array], reason: str) -> None:
    with pytest.raises(ShapeError, match=reason):
        build()


def test_rows_of_masks_and_of_numbers_stay_what_they_are() -> None:
    assert RowRange(mask_array("M", n + m, d), 0, n).kind == "boolean"
    assert Stacked(token_array("a", n, d), token_array("b", m, d)).kind == "integer"


# --- proofs ---------------------------------------------------------------------------------------------------------


def says(left: Expr | Array, right: Expr | Array | int, rule: str = "definition", **setting: object) -> str:
    """What the judge says of one equality."""
    return judge(derivation("", claim(left, step(rule, right)), **setting)).level


IN_X = {i: n, j: d}


@pytest.mark.parametrize(
    ("left", "right", "rule", "ranges"),
    [
        (RowRange(Z, 0, n)[i, j], Z[i, j], "definition", IN_X),
        (RowRange(Z, n, m)[i, j], Z[n + i, j], "definition", {i: m, j: d}),
        (PlacedRows(X, 2, n + 3)[i + 2, j], X[i, j], "definition", IN_X),
        (PlacedRows(X, 2, n + 3)[1, j], 0, "definition", IN_X),
        (Stacked(X, Y)[i, j], X[i, j], "definition", IN_X),
        (Stacked(X, Y)[n + i, j], Y[i, j], "definition", {i: m, j: d}),
        (RowRange(Stacked(X, Y), 0, n), X, "algebra", {}),
        (RowRange(Stacked(X, Y), n, m), Y, "algebra", {}),
        (Stacked(RowRange(Z, 0, n), RowRange(Z, n, m)), Z, "algebra", {}),
        (Stacked(X, Y) @ W, Stacked(X @ W, Y @ W), "block product", {}),
        (WindowMask(n, w)[i, i], 1, "indicator", {i: n}),
        (WindowMask(n, w)[i, i + 1], 0, "indicator", {i: n - 1}),
        (WindowMask(n, w)[i + w - 1, i], 1, "indicator", {i: n - w}),
        (WindowMask(n, w)[i + w, i], 0, "indicator", {i: n - w}),
        (WindowMask(n, n)[i, j], CausalMask(n)[i, j], "indicator", {i: n, j: n}),
        (RowSum(row_softmax(S, WindowMask(n, w)))[i], 1, "algebra", {i: n}),
    ],
)
def test_what_is_true_is_proved(left: Expr, right: Expr, rule: str, ranges: dict) -> None:
    assert says(left, right, rule, ranges=ranges) in ("proved", "definition")


@pytest.mark.parametrize(
    ("left", "right", "rule", "ranges"),
    [
        (RowRange(Z, n, m)[i, j], Z[i, j], "definition", {i: m, j: d}),
        (RowRange(array("U", 2 * n, d), 0, n, 2)[i, j], array("U", 2 * n, d)[i, j], "definition", IN_X),
        (PlacedRows(X, 2, n + 3)[i, j], X[i, j], "definition", IN_X),
        (PlacedRows(X, 2, n + 3)[2, j], 0, "definition", IN_X),
        (Stacked(X, Y)[i, j], Y[i, j], "definition", {i: m, j: d}),
        (Stacked(array("X", n, d), array("V", n, d)), Stacked(array("V", n, d), array("X", n, d)), "algebra", {}),
        (WindowMask(n, w)[i + w, i], 1, "indicator", {i: n - w}),
        (WindowMask(n, w)[i, j], CausalMask(n)[i, j], "indicator", {i: n, j: n}),
    ],
)
def test_what_is_false_is_refused(left: Expr, right: Expr, rule: str, ranges: dict) -> None:
    assert says(left, right, rule, ranges=ranges) == "refuted"


@pytest.mark.parametrize(
    ("left", "right", "ranges"),
    [
        (RowRange(0 * X, 5, m)[i, j], 0, {i: m, j: d}),  # nobody said that X has m + 5 rows
        (RowRange(X, 0, m)[i, j], X[i, j], {i: m, j: d}),
        (RowRange(Z, 0, m)[m, j], Z[m, j], {j: d}),  # row m of m rows
        (PlacedRows(X, 2, n + 3)[n + 3, j], 0, {j: d}),
        (PlacedRows(0 * X, first, m)[i, j], 0, {i: m, j: d}),
        (Chosen(0 * T, N)[k, i, j], 0, {i: n, j: m, k: h}),  # nor that the numbers name rows
    ],
)
def test_a_place_off_its_axis_is_not_proved(left: Expr, right: Expr, ranges: dict) -> None:
    assert says(left, right, ranges=ranges) in ("unknown", "refuted")


def test_enough_rows_may_be_assumed() -> None:
    enough = [Assumption(n - m >= 0)]
    assert says(RowRange(X, 0, m)[i, j], X[i, j], ranges={i: m, j: d}, assuming=enough) == "definition"


WHOLE = array("X", first + n + w, d)
GRADIENTS = {
    "a range": (RowRange(WHOLE, first, n), WHOLE),
    "a stride": (RowRange(array("U", 2 * n, d), 0, n, 2), array("U", 2 * n, d)),
    "rows placed": (PlacedRows(X, first, first + n + w), X),
    "rows placed apart": (PlacedRows(X, 0, 2 * n, 2), X),
    "rows stacked": (Stacked(X, Y), X, Y),
    "windows with padding": (strided_windows(X, 3, padding=1), X),
    "windows with a stride": (
        strided_windows(array("U", 2 * n, d), 3, stride=2, padding=1),
        array("U", 2 * n, d),
    ),
}


IN_TABLE = [Assumption(Ge(bound, 0, evaluate=False), {i: n, j: m}, "") for bound in (N[i, j], d - 1 - N[i, j])]
BY_NUMBER = {"entries picked": (Pick(S, N), S, N), "entries added in their rows": (AddedPicks(R, N, d), R, N)}


@pytest.mark.parametrize("name", [*GRADIENTS, *BY_NUMBER])
def test_the_gradient_is_proved_and_twice_it_is_refused(name: str) -> None:
    value, *of = (GRADIENTS | BY_NUMBER)[name]
    right = local_claims(layer(value, *of))
    right = replace(right, assumptions=(*right.assumptions, *(IN_TABLE if N in of else ())))
    assert judge(right).level == "proved"
    for number, one in enumerate(right.claims):
        assert is_refused(with_step(right, number, len(one.steps) - 1, 2 * one.rhs))


def test_a_gradient_placed_one_row_further_on_is_refused() -> None:
    right = local_claims(layer(RowRange(WHOLE, first, n), WHOLE))
    body, start, rows, by = right.claims[0].rhs.args
    assert is_refused(with_step(right, 0, 0, PlacedRows(body, start + 1, rows, by)))


# --- the cross-check, by hand ---------------------------------------------------------------------------------------

A, B = array("A", 2, 2), array("B", 3, 2)
HELD = {"A": [[1, 2], [3, 5]], "B": [[7, 11], [13, 17], [19, 23]], "q": [[1, 0, 1]], "u": [[1, 1], [0, 1], [1, 0]]}
q, u = token_array("q", 1, 3), token_array("u", 3, 2)
BY_HAND = {
    "rows from 1 on": (RowRange(B, 1, 2), [[13, 17], [19, 23]]),
    "every other row": (RowRange(B, 0, 2, 2), [[7, 11], [19, 23]]),
    "rows among zeros": (PlacedRows(A, 1, 4), [[0, 0], [1, 2], [3, 5], [0, 0]]),
    "rows apart": (PlacedRows(A, 0, 3, 2), [[1, 2], [0, 0], [3, 5]]),
    "stacked": (Stacked(A, B), [[1, 2], [3, 5], [7, 11], [13, 17], [19, 23]]),
    "chosen": (Chosen(A, q), [[[3, 1, 3]], [[5, 2, 5]]]),
    "picked": (Pick(B, u), [[11, 11], [13, 17], [23, 19]]),
    "added in rows": (AddedPicks(B, u, 3), [[0, 18, 0], [13, 17, 0], [23, 19, 0]]),
    "added": (AddedEntries(Chosen(A, q), q, 3), [[1, 2], [6, 10], [0, 0]]),
    "window": (WindowMask(4, 2), [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]),
    "windows with padding": (strided_windows(A, 3, padding=1), [[0, 0, 1, 2, 3, 5], [1, 2, 3, 5, 0, 0]]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_value_is_what_it_is_by_hand(name: str) -> None:
    node, expected = BY_HAND[name]
    given = Assignment({}, {}, "by hand")
    given.arrays |= HELD
    with localcontext(CONTEXT):
        assert meaning(node)(given) == expected


@pytest.mark.parametrize("name", BY_HAND)
def test_the_compiled_layer_is_what_it_is_by_hand(name: str) -> None:
    node, expected = BY_HAND[name]
    names = [v for v in (q, u, A, B) if node.has(v)]
    let = Equations()
    output = let("Y")(node)
    whole = Layer("by_hand", [v for v in names if v in (q, u)], [v for v in names if v not in (q, u)], let, output)
    given = {v.name: np.array(HELD[v.name], dtype=int if v in (q, u) else float) for v in names}
    output = compile_layer(whole)(**given)
    np.testing.assert_array_equal(output, np.array(expected))


# --- NumPy ----------------------------------------------------------------------------------------------------------


def test_batch_axes_stand_in_front() -> None:
    above, below = RANDOM.normal(size=(3, 1, 2, 5)), RANDOM.normal(size=(7, 3, 5))
    output = compile_layer(layer(Stacked(X, Y), X, Y))(above, below)
    assert output.shape == (3, 7, 5, 5)
    for one in range(3):
        for two in range(7):
            np.testing.assert_array_equal(output[one, two], [*above[one, 0], *below[two]])


def slid(rows: np.ndarray, width: int, stride: int, padding: int) -> np.ndarray:
    """The stretches of a padded sequence, in loops."""
    padded = [*np.zeros((padding, rows.shape[1])), *rows, *np.zeros((padding, rows.shape[1]))]
    starts = range(0, len(padded) - width + 1, stride)
    return np.array([np.concatenate(padded[start : start + width]) for start in starts])


@pytest.mark.parametrize(
    ("rows", "width", "stride", "padding"), [(7, 3, 1, 1), (14, 3, 2, 1), (15, 3, 5, 2), (22, 5, 11, 0)]
)
def test_windows_with_stride_and_padding_are_the_loop(rows: int, width: int, stride: int, padding: int) -> None:
    sequence = RANDOM.normal(size=(2, rows, 3))
    value = strided_windows(X, width, stride=stride, padding=padding)
    output = compile_layer(layer(value, X))(sequence)
    for one, item in zip(sequence, output, strict=True):
        np.testing.assert_array_equal(item, slid(one, width, stride, padding))


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_compiled_gradient_is_the_transposed_map(name: str) -> None:
    """All of these nodes are linear: <G, f(X)> = <f^T(G), X> for every X and G."""
    value, *of = GRADIENTS[name]
    lengths = {first: 2, n: 5, m: 3, w: 7, d: 2}
    forward = layer(value, *of)
    shapes = [tuple(int(along.subs(lengths)) for along in v.shape) for v in of]
    given = [RANDOM.normal(size=shape) for shape in shapes]
    at = forward.at(**{s.name: lengths[s] for s in forward.sizes})
    output = compile_layer(at)(*given)
    cotangent = RANDOM.normal(size=output.shape)
    found = compile_layer(gradient(at))(*given, cotangent)
    pulled = found if isinstance(found, tuple) else (found,)
    inner = sum((a * b).sum() for a, b in zip(pulled, given, strict=True))
    np.testing.assert_allclose(inner, (cotangent * output).sum(), rtol=1e-12)


def test_the_window_mask_is_the_loop() -> None:
    output = compile_layer(layer(WindowMask(n, w)))(n=11, w=3)
    assert output.dtype == bool
    assert output.tolist() == [[0 <= row - column < 3 for column in range(11)] for row in range(11)]


@pytest.mark.parametrize(("tables", "items"), [((), (2,)), ((2,), ()), ((2, 1), (3,)), ((), ())])
def test_every_item_of_a_batch_reads_its_own_table(tables: tuple[int, ...], items: tuple[int, ...]) -> None:
    table, numbers = RANDOM.normal(size=(*tables, 5, 3)), RANDOM.integers(5, size=(*items, 2, 7))
    found = choose(table, numbers)
    batch = np.broadcast_shapes(tables, items)
    assert found.shape == (*batch, 3, 2, 7)
    every = np.broadcast_to(table, (*batch, 5, 3))
    for place, number in np.ndenumerate(np.broadcast_to(numbers, (*batch, 2, 7))):
        *item, row, column = place
        np.testing.assert_array_equal(found[(*item, slice(None), row, column)], every[(*item, number)])


def test_rows_that_are_not_there_are_an_error() -> None:
    table = np.ones((5, 2))
    with pytest.raises(ValueError, match="rows 2 to 5 are needed of 5 rows"):
        take_rows(table, 2, 4, 1)
    with pytest.raises(ValueError, match="rows 1 to 5 do not fit among 5 rows"):
        place_rows(table, 1, 5, 1)
    with pytest.raises(ValueError, match="rows -1 to 4 are named of 5 rows"):
        choose(table, np.array([[-1, 4]]))
    assert take_rows(table, 0, 0, 2).shape == (0, 2)


# --- buckets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (17, 23), (5, 11), (4, 3)])
def test_the_array_of_buckets_is_the_function(both: bool, buckets: int, longest: int) -> None:
    """Two ways of counting in integers: which powers a distance reaches, and the first distance of each bucket."""
    array_of = relative_buckets(53, 61, buckets, longest, both)
    assert array_of.tolist() == [[bucket(k - q, buckets, longest, both) for k in range(61)] for q in range(53)]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (17, 23), (5, 11), (4, 3)])
def test_the_brackets_of_a_bucket_number_are_the_function(both: bool, buckets: int, longest: int) -> None:
    """Proofs know a bucket number by its brackets."""
    distance = Symbol("a", integer=True)
    steps = BucketNumber(distance, buckets, longest, Integer(both)).steps()
    for a in (*range(-30, 31), -longest - 1, -longest, 1 - longest, longest - 1, longest, longest + 1):
        assert steps.xreplace({distance: Integer(a)}).doit() == bucket(a, buckets, longest, both)


def test_a_bucket_number_with_symbolic_sizes_has_no_brackets() -> None:
    assert BucketNumber(Symbol("a", integer=True), n, 128, Integer(0)).steps() is None


SIGNED = [(32, 64), (8, 11), (9, 23), (6, 13), (4, 4)]


@pytest.mark.parametrize(("buckets", "longest"), SIGNED)
def test_the_array_and_the_brackets_of_signed_buckets_are_the_function(buckets: int, longest: int) -> None:
    """In integers: powers that a distance passes, the first distance of each bucket, and brackets for proofs."""
    near = range(-50, 62)
    array_of = signed_buckets(62, 51, buckets, longest)
    assert array_of.tolist() == [[signed_bucket(q - k, buckets, longest) for k in range(51)] for q in range(62)]
    distance = Symbol("a", integer=True)
    steps = SignedBucketNumber(distance, buckets, longest).steps()
    for a in (*near[::7], -3 * longest, -longest, 1 - longest, longest - 1, longest, 3 * longest):
        assert steps.xreplace({distance: Integer(a)}).doit() == signed_bucket(a, buckets, longest)


def test_signed_buckets_by_hand() -> None:
    """Of 6 buckets the first 3 have a distance each, the next begin behind 3, behind sqrt(3 * 12) = 6 and behind 12."""
    found = [signed_bucket(a, 6, 13) for a in range(-14, 15)]
    assert found == [0, 0, *6 * [1], *3 * [2], 3, 4, 5, 6, 7, 8, 9, *3 * [10], *8 * [11]]


@pytest.mark.parametrize("build", [signed_bucket, lambda *given: signed_buckets(3, 5, *given[1:])])
def test_too_few_signed_buckets_are_refused(build: Callable) -> None:
    for wrong in [(3, 11), (8, 5)]:
        with pytest.raises(ValueError, match="signed buckets up to distance"):
            build(1, *wrong)
    with pytest.raises(ValueError, match="at least 4 buckets, and a largest distance"):
        SignedBuckets(n, m, 8, 5)


def test_an_entry_of_signed_buckets_is_a_number_and_proofs_know_its_brackets() -> None:
    near = SignedBuckets(n, n, 8, 11)
    assert SignedBuckets(5, 11, 8, 11)[2, 7] == 3
    assert SignedBucketNumber(Symbol("a", integer=True), n, 11).steps() is None
    assert says(near[i, i], 8, ranges={i: n}) == "definition"
    assert says(near[i, j], near[j, i], ranges={i: n, j: n}) == "unknown"


@pytest.mark.parametrize("build", [bucket, lambda *given: relative_buckets(3, 5, *given[1:])])
def test_too_few_buckets_are_refused(build: Callable) -> None:
    with pytest.raises(ValueError, match="buckets up to distance"):
        build(1, 3, 128, True)
    with pytest.raises(ValueError, match="buckets up to distance"):
        build(1, 32, 16, False)
    with pytest.raises(ValueError, match="each direction needs at least 2 buckets"):
        RelativeBuckets(n, m, 2, 7, True)


def test_an_entry_of_numbers_is_a_number_and_a_proof_knows_nothing_of_it() -> None:
    assert RelativeBuckets(5, 11, 32, 128, True)[2, 7] == 21
    buckets = RelativeBuckets(n, n, 32, 128, True)
    assert says(buckets[i, i], 0, ranges={i: n}) == "definition"
    assert says(buckets[i, j], buckets[j, i], ranges={i: n, j: n}) == "unknown"


# --- counts and print -----------------------------------------------------------------------------------------------


def test_moving_rows_takes_no_operation_and_adding_up_takes_one_each() -> None:
    free = [RowRange(Z, 0, n), PlacedRows(X, 1, n + 2), Stacked(X, Y), WindowMask(n, w)]
    for node in (*free, Chosen(T, N), Pick(S, N), RelativeBuckets(n, m, 8, 20, True)):
        inputs = [v for v in (X, Y, Z, T, S, N) if node.has(v)]
        assert count_flops(layer(node, *inputs)).total == 0
    added = count_flops(layer(AddedEntries(G, N, d), G, N))
    assert added.by_kind["reduction"] == h * m * n == added.total
    assert count_flops(layer(AddedPicks(R, N, d), R, N)).by_kind["reduction"] == m * n


@pytest.mark.parametrize(
    ("node", "latex", "text"),
    [
        (RowRange(Z, 0, n), "[Z]_{1:n}", "[Z]_{1:n}"),
        (RowRange(array("U", 2 * n, d), 0, n, 2), r"[U]_{1,3,\ldots,2 n - 1}", "[U]_{1,3,...,2 n - 1}"),
        (PlacedRows(X, 2, n + 5), r"\mathrm{place}_{3:n + 2}(X)", "place_{3:n + 2}(X)"),
        (Stacked(X, Y), r"\begin{bmatrix} X \\ Y \end{bmatrix}", "[X; Y]"),
        (Chosen(T, N), "[T]_{N}", "[T]_N"),
        (AddedEntries(G, N, d), r"\mathrm{add}_{N}(G)", "add_N(G)"),
        (Pick(S, N), r"\mathrm{pick}(S, N)", "pick(S, N)"),
        (AddedPicks(R, N, d), r"\mathrm{add}_{N}(R)", "add_N(R)"),
        (WindowMask(n, w), r"\mathrm{Window}(n, w)", "Window(n, w)"),
        (
            RelativeBuckets(n, m, 8, 20, True),
            r"[\mathrm{bucket}(j - i)]_{i,j}",
            "[bucket(j - i)]_{i,j}",
        ),
        (SignedBuckets(n, m, 8, 20), r"[\mathrm{bucket}(i - j)]_{i,j}", "[bucket(i - j)]_{i,j}"),
    ],
)
def test_the_print(node: Array, latex: str, text: str) -> None:
    assert LatexPrinter().doprint(node) == latex
    assert TextPrinter().doprint(node) == text


def test_stacked_rows_are_columns_side_by_side_in_a_notation_of_columns() -> None:
    columns = LatexPrinter("columns").doprint(Stacked(X, Y))
    assert columns == r"\begin{bmatrix} X & Y \end{bmatrix}"
