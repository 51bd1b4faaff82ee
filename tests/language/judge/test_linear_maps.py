"""Null space, rank and norm: proved with the right certificate, refused with any other."""

from fractions import Fraction
from random import Random

import pytest
from sympy import Basic, Eq, Expr, Integer, KroneckerDelta, Lambda, Matrix, Ne, Rational, Sum

from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm
from derivations.symbols import i, j, k, n, scalar

a = scalar("a")
u, v, w = array("u", n), array("v", n), array("w", n)
delta = KroneckerDelta(i, k)


def matrix(of: Expr) -> Array:
    return Tabulated(Lambda((i, k), of), n, n)


def vector(of: Expr) -> Array:
    return Tabulated(Lambda((i,), of), n)


ones, identity, centring = vector(Integer(1)), matrix(delta), matrix(delta - 1 / n)


def level(left: Basic, rule: str, right: Basic | int, relation: str = "=", *given: Basic, **setting: object) -> str:
    return str(judge(derivation("", claim(left, step(rule, right, relation, *given)), **setting)).level)


def test_centring_kills_the_ones_alone() -> None:
    assert level(NullSpace(centring), "null space", Span(ones), "=", identity, vector(1 / n)) == "proved"
    assert level(Rank(centring), "rank by trace", n - 1, "=", identity) == "proved"


def test_the_identity_kills_nothing() -> None:
    assert level(NullSpace(identity), "null space", Span(), "=", identity) == "proved"
    assert level(Rank(identity), "rank by trace", n, "=", identity) == "proved"


def test_a_matrix_written_out() -> None:
    whole = Explicit([[1, 2], [2, 4]])
    inverse = Explicit([[Rational(1, 25), Rational(2, 25)], [Rational(2, 25), Rational(4, 25)]])
    assert level(Rank(whole), "rank by trace", 1, "=", inverse) == "proved"
    assert level(Rank(whole), "rank by trace", 2, "=", inverse) == "unknown"


REFUSED = [
    ("a null space too small", Span(), (identity,)),
    ("a null space too large", Span(ones, u), (identity, vector(1 / n), u)),
    ("another vector", Span(u), (identity, u)),
    ("a certificate for another vector", Span(ones), (identity, ones)),
    ("no certificate", Span(ones), ()),
    ("a certificate that is a number", Span(ones), (Integer(1), ones)),
    ("a certificate of another kind of array", Span(ones), (identity, identity)),
]


@pytest.mark.parametrize(("span", "given"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_another_null_space_is_refused(span: Basic, given: tuple[Basic, ...]) -> None:
    assert level(NullSpace(centring), "null space", span, "=", *given) == "unknown"


def test_other_ranks_are_refused() -> None:
    assert level(Rank(centring), "rank by trace", n, "=", identity) == "unknown"
    assert level(Rank(centring), "rank by trace", n - 1, "<=", identity) == "unknown"
    assert level(Rank(centring), "rank by trace", 2 * n - 2, "=", matrix(2 * delta)) == "unknown"
    assert level(Rank(matrix(Integer(1))), "rank by trace", n, "=", identity) == "unknown"


def test_a_certificate_must_be_defined() -> None:
    """Diag(w) has an inverse only where no w_i is 0: the condition must not cancel out."""
    scaled, inverse = matrix(delta * w[i]), matrix(delta / w[i])
    nonzero = Assumption(Ne(w[i], 0), {i: n})
    for left, right, rule in ((NullSpace(scaled), Span(), "null space"), (Rank(scaled), n, "rank by trace")):
        assert level(left, rule, right, "=", inverse, assuming=[nonzero]) == "proved"
        assert level(left, rule, right, "=", inverse) == "unknown"


def test_a_norm_is_bounded_by_squares() -> None:
    mean = Sum(v[j], (j, 0, n - 1)) / n
    squares = Sum((v[i] - mean) ** 2, (i, 0, n - 1))
    below = squares + Sum(v[i] ** 2, (i, 0, n - 1))
    upper = n * mean**2
    assert level(SpectralNorm(centring), "quadratic form", 1, "<=", v, upper, below) == "proved"
    assert level(SpectralNorm(centring), "quadratic form", Rational(1, 2), "<=", v, upper, below) == "unknown"
    assert level(SpectralNorm(centring), "quadratic form", 1, ">=", v, upper, below) == "unknown"
    assert level(SpectralNorm(centring), "quadratic form", 1, "<=", v, -upper, below) == "unknown"
    assert level(SpectralNorm(centring), "quadratic form", 1, "<=", a, upper, below) == "unknown"


def test_the_vector_of_a_norm_must_be_free() -> None:
    """With v constrained to add up to 0, its form says nothing of other vectors."""
    constant = matrix(Integer(1))
    still = Assumption(Eq(Sum(v[j], (j, 0, n - 1)), 0, evaluate=False))
    square = Sum(v[i] ** 2, (i, 0, n - 1)) / 2
    bound = Rational(1, 2)
    assert (
        level(SpectralNorm(constant), "quadratic form", bound, "<=", v, square, square, assuming=[still]) == "unknown"
    )
    own = matrix(v[i] * v[k])
    assert level(SpectralNorm(own), "quadratic form", bound, "<=", v, square, square) == "unknown"


def test_a_norm_by_its_form_needs_symmetry() -> None:
    """v^T A v = 0 for a rotation by 90 degrees, whose norm is 1."""
    turn = Explicit([[0, -1], [1, 0]])
    two = array("v", 2)
    half = (two[0] ** 2 + two[1] ** 2) / 2
    assert level(SpectralNorm(turn), "quadratic form", Rational(1, 2), "<=", two, half, half) == "unknown"


def test_the_rank_of_the_centring_matrix_by_elimination() -> None:
    for size in (2, 3, 5, 7):
        dense = Matrix(size, size, lambda r, c, size=size: Rational(int(r == c)) - Rational(1, size))
        assert dense.rank() == size - 1
        values = [Fraction(Random(size).randint(-9, 9)) for _ in range(size)]
        centred = dense * Matrix([Rational(value.numerator) for value in values])
        assert sum(centred) == 0
