"""Exponentials of rows and the deferred normalisation: values, proofs, and what the judge must not believe."""

import numpy as np
import pytest
from sympy import Derivative, E, Gt, Rational, Sum, log

from derivations.language.arrays.exponentials import Normalised, row_exponentials
from derivations.language.arrays.expression import Array, ColumnBroadcast, array, mask_array
from derivations.language.arrays.functions import RowSum, exponential, row_softmax
from derivations.language.arrays.shapes import ShapeError, shape_text
from derivations.language.counting.costs import count_flops
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.latex import LatexPrinter
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d_v, i, j, k, l, m, n
from numeric import compile_layer

S, T, V, M = array("S", n, m), array("T", n, m), array("V", m, d_v), mask_array("M", n, m)
c, u = array("c", n), array("u", n)
SEEN = Assumption(Gt(Sum(M[i, l], (l, 0, m - 1)), 0), {i: n}, "every query sees a key")
TWO = Assumption(Gt(log(2), 0, evaluate=False), {}, "2 > 1")


def says(left: object, right: object, *assuming: Assumption, **given: object) -> str:
    """What the judge says of an equality."""
    stated = claim(left, step("exponent", right))  # type: ignore[arg-type]
    return judge(derivation("t", stated, assuming=assuming, **given)).level  # type: ignore[arg-type]


def divided(exponentials: Array) -> Array:
    """The product with the values, divided by the sums of the rows."""
    return Normalised(exponentials @ V, RowSum(exponentials))


def test_shapes_and_texts() -> None:
    powers = row_exponentials(S, M, 2)
    assert (shape_text(powers.shape), str(powers)) == ("(n, m)", "exponentials(S, M, base=2)")
    assert (powers.mask, powers.base, row_exponentials(S).mask, row_exponentials(S).base) == (M, 2, None, E)
    assert powers.func(*powers.args) == powers
    assert LatexPrinter().doprint(powers) == r"\mathrm{rowpow}_{2}(S, M)"
    assert LatexPrinter().doprint(Normalised(V, array("l", m))) == r"\mathrm{diag}(l)^{-1} V"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: row_exponentials(S, T), "the mask T must be boolean"),
        (lambda: row_exponentials(S, mask_array("N", m, n)), r"shapes \(n, m\) and \(m, n\)"),
        (lambda: row_exponentials(S, None, Rational(1, 2)), "the base must be greater than 1"),
        (lambda: row_exponentials(array("R", 2, n, m)), "has no rows"),
        (lambda: Normalised(V, array("l", n)), "one number for each row is needed"),
    ],
)
def test_what_does_not_fit_is_refused(build: object, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        build()  # type: ignore[operator]


def test_the_division_may_come_late() -> None:
    assert says(row_softmax(S) @ V, divided(row_exponentials(S))) == "proved"
    assert says(row_softmax(S, M) @ V, divided(row_exponentials(S, M)), SEEN) == "proved"
    assert says(row_softmax(S, M) @ V, divided(row_exponentials(S, M))) == "unknown"  # a row may see no key


def test_powers_of_two_are_exponentials_of_scaled_scores() -> None:
    assert says(row_exponentials(S), row_exponentials(S / log(2), None, 2), TWO) == "proved"
    assert says(row_exponentials(S, M), row_exponentials(S / log(2), M, 2), TWO) == "proved"
    assert says(row_exponentials(S), row_exponentials(S / log(2), None, 2)) == "proved"  # log 2 > 0, as 2 > 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (row_softmax(S) @ V, divided(2 * row_exponentials(S)) + divided(row_exponentials(S))),
        (row_softmax(S) @ V, divided(row_exponentials(2 * S))),
        (row_softmax(S) @ V, Normalised(row_exponentials(S) @ V, RowSum(row_exponentials(T)))),
        (row_softmax(S) @ V, row_exponentials(S) @ V),
        (row_softmax(S, M) @ V, divided(row_exponentials(S))),
        (row_exponentials(S), row_exponentials(S, None, 2)),
        (row_exponentials(S), row_exponentials(S * log(2), None, 2)),  # the factor the wrong way up
        (row_exponentials(S), exponential(S)),  # the reference is not 0
        (row_exponentials(S, M), row_exponentials(S)),  # the largest visible entry need not be the largest
    ],
)
def test_what_is_not_so_is_not_proved(left: Array, right: Array) -> None:
    assert says(left, right, TWO, SEEN) in ("refuted", "unknown")


def test_the_reference_is_the_same_for_equal_rows_alone() -> None:
    shifted = S + ColumnBroadcast(c, m)
    assert says(row_exponentials(shifted), row_exponentials(S)) in ("refuted", "unknown")
    assert says(
        row_exponentials(S)[i, j] * row_exponentials(T)[k, j], row_exponentials(S)[k, j], ranges={i: n, k: n, j: m}
    ) in ("refuted", "unknown")


def test_the_reference_depends_on_the_scores() -> None:
    powers = row_exponentials(S)
    left = Derivative(powers[i, j], S[i, j])
    stated = claim(left, step("derivative", powers[i, j]))  # as if the reference were a constant
    assert judge(derivation("t", stated, ranges={i: n, j: m})).level in ("refuted", "unknown")


def test_a_change_of_reference_cancels_in_the_quotient() -> None:
    shifted = S + ColumnBroadcast(c, m)
    assert says(divided(row_exponentials(shifted)), divided(row_exponentials(S))) == "proved"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("base", [E, 2, 10])
def test_compiled_rows_without_a_key_are_zeros_and_large_scores_do_not_overflow(dtype: type, base: object) -> None:
    let = Equations()
    powers = let("P")(row_exponentials(S, M, base))
    sums = let("l")(RowSum(powers))
    output = let("O")(Normalised(powers @ V, sums))
    layer = Layer("late", (S, V, M), (), let, output)
    scores = np.array([[1e4, 0, -1e4], [1, 2, 3], [5, 5, 5]], dtype)
    seen = np.array([[True, True, True], [False, True, False], [False, False, False]])
    values = np.arange(6, dtype=dtype).reshape(3, 2)
    result = compile_layer(layer)(scores, values, seen)
    assert result.dtype == dtype
    assert result.tolist() == [[0, 1], [2, 3], [0, 0]]


def test_operations_are_counted() -> None:
    let = Equations()
    powers = let("P")(row_exponentials(S))
    output = let("O")(Normalised(powers @ V, RowSum(powers)))
    layer = Layer("late", (S, V), (), let, output)
    counts = count_flops(layer)
    assert (counts.softmax, counts.reduction, counts.matmul) == (3 * n * m + n * d_v, n * m, 2 * n * m * d_v)
