r"""The Jacobian of softmax as a matrix: its null space, its rank, its sign and its size; the second derivatives.

Definition   J = diag(y) - y y^T,   y = softmax(x)
Result       J v = 0 only for constant v;   v^T J v = sum_i y_i (v_i - mean)^2 >= 0;   ||J|| <= 1/2
Shapes       x (n,), y (n,), J (n, n), v (n,)
Assumes      every x_j real; with a mask, at least one visible key
Source       Bridle (1990); Boyd and Vandenberghe (2004), section 3.1.5
"""

from sympy import Derivative, Expr, Gt, Integer, KroneckerDelta, Lambda, Rational, Sum, exp

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm
from derivations.softmax.softmax import BRIDLE, jacobian_as_matrix, softmax, total, x, y
from derivations.symbols import i, j, k, l, n

__all__: list[str] = []

TOPIC = "softmax"

BOYD = "Boyd and Vandenberghe (2004), section 3.1.5"
v, J = array("v", n), array("J", n, n)
ones = Tabulated(Lambda((i,), Integer(1)), n)


def diagonal(of: Expr) -> Array:
    """Return the diagonal matrix with the given entries, an expression in i."""
    return Tabulated(Lambda((i, k), KroneckerDelta(i, k) * of), n, n)


def over_rows(of: Expr) -> Expr:
    """Return the sum of an expression in i over all indices."""
    return Sum(of, (i, 0, n - 1))


def with_jacobian(mask: Array | None = None) -> tuple[Equation, ...]:
    """Return y = softmax(x) and J = diag(y) - y y^T."""
    let = Equations()
    let("y")(row_softmax(x, mask))
    let("J")(jacobian_as_matrix())
    return tuple(let)


@result
def jacobian_null_space() -> Derivation:
    """Equal shifts of all inputs change nothing, and no other change does: the rank is n - 1."""
    inverse = diagonal(1 / y[i])
    return derivation(
        "The null space of the Jacobian of softmax is spanned by the vector of ones",
        # diag(1/y) J + 1 y^T = I
        claim(NullSpace(J), step("null space", Span(ones), "=", inverse, y)),
        claim(Rank(J), step("rank by trace", n - 1, "=", inverse)),
        about=with_jacobian(),
        source=BRIDLE,
    )


@result
def masked_jacobian_null_space() -> Derivation:
    """With a mask, hidden keys have no effect: the rank is the number of visible keys minus 1."""
    M = mask_array("M", n)
    hidden = diagonal(1 - M[i])
    inverse = diagonal(M[i] * exp(-x[i]) * total(M[j] * exp(x[j])))
    rest = Tabulated(Lambda((i, k), KroneckerDelta(i, k) - y[k]), n, n)
    return derivation(
        "The null space of the Jacobian of masked softmax: constant on the visible keys, anything on the hidden ones",
        claim(NullSpace(J), step("null space", Span(ones, hidden), "=", inverse, y, rest)),
        claim(Rank(J), step("rank by trace", total(M[j]) - 1, "=", inverse)),
        about=with_jacobian(M),
        assuming=[Assumption(Gt(total(M[j]), 0), text="a key is visible")],
        source=BRIDLE,
    )


@result
def jacobian_psd() -> Derivation:
    """The quadratic form is the variance of v under the weights y."""
    mean = total(y[j] * v[j])
    form = (v @ (J @ v)).entry()
    return derivation(
        "The Jacobian of softmax is positive semidefinite: $v^T J v$ is the variance of $v$ under $y$",
        claim(
            form,
            step("Kronecker delta", over_rows(y[i] * v[i] ** 2) - mean**2),
            step("algebra", over_rows(y[i] * (v[i] - mean) ** 2)),
            step("bound", 0, ">="),
        ),
        about=with_jacobian(),
        source=BOYD,
    )


@result
def jacobian_bounds() -> Derivation:
    """No slope exceeds 1/4, and no direction is stretched by more than 1/2."""
    mean, half = total(y[j] * v[j]), Rational(1, 2)
    pairs = (1 - KroneckerDelta(i, k)) * y[i] * y[k] * (v[i] + v[k]) ** 2
    # above = v^T v / 2 - v^T J v and below = v^T v / 2 + v^T J v, both >= 0
    above = 2 * over_rows((y[i] - half) ** 2 * v[i] ** 2) + Sum(pairs, (i, 0, n - 1), (k, 0, n - 1)) / 2
    below = over_rows(v[i] ** 2) / 2 + over_rows(y[i] * (v[i] - mean) ** 2)
    return derivation(
        "Bounds of the Jacobian of softmax: slopes of at most $1/4$, spectral norm of at most $1/2$",
        claim(y[i] * (1 - y[i]), step("bound", Rational(1, 4), "<=", (y[i] - half) ** 2)),
        claim(SpectralNorm(J), step("quadratic form", half, "<=", v, above, below)),
        about=with_jacobian(),
        ranges={i: n},
        source="Gao and Pavel (2017); Popoviciu (1935)",
    )


@result
def hessian() -> Derivation:
    """The second derivatives of every entry, by the product rule on the first derivatives."""
    first = KroneckerDelta(i, j) - y[j]
    return derivation(
        "Second derivatives of softmax",
        claim(
            Derivative(y[i], x[j], x[l]),
            step("derivative", Derivative(y[i] * first, x[l])),
            step("product rule", first * Derivative(y[i], x[l]) - y[i] * Derivative(y[j], x[l])),
            step("derivative", y[i] * (first * (KroneckerDelta(i, l) - y[l]) - y[j] * (KroneckerDelta(j, l) - y[l]))),
        ),
        about=softmax(),
        ranges={i: n, j: n, l: n},
        source=BRIDLE,
    )
