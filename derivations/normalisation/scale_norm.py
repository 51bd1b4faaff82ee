r"""Scale normalisation: every row is divided by its length, and scaled by one learned number.

Definition   kept_i = max(sum of x_ij^2, eps^2), y_ij = g x_ij / sqrt(kept_i)
Result       rows at least as long as eps get length |g|; others are multiplied by g / eps
Shapes       X (n, d), squares and kept (n,), g (), Y (n, d)
Assumes      eps > 0
Source       Nguyen and Salazar (2019)
"""

from sympy import Expr, Ge, Le, Max, Sum, sqrt

from derivations.language.arrays.expression import Array, ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowSum, named, square
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import standardise
from derivations.symbols import d, epsilon, i, j, k, n, scalar

__all__ = ["scale_norm"]

NGUYEN = "Nguyen and Salazar (2019), section 2.2"
X, Y, squares, kept, g = array("X", n, d), array("Y", n, d), array("squares", n), array("kept", n), array("g")
u, a = scalar("u"), scalar("a", positive=True)
row = Sum(X[i, j] ** 2, (j, 0, d - 1))
LONG = Assumption(Ge(row, epsilon**2), {i: n}, "no row is shorter than $epsilon$")
SHORT = Assumption(Le(row, epsilon**2), {i: n}, "no row is longer than $epsilon$")


@catalogued
def scale_norm(eps: Expr | int = epsilon) -> Layer:
    """Return scale normalisation: divide every row by its length, at least eps, and multiply it by a learned number.

    Definition   squares = sum of x^2 in the row, kept = max(squares, eps^2), y = g x / sqrt(kept). The root is taken
                 last, for the root of the squares alone has no slope at a row of zeros
    Shapes       X (n, d), squares and kept (n,), g (), Y (n, d)
    Assumes      eps > 0
    Source       Nguyen and Salazar (2019), section 2.2
    """
    let = Equations()
    let("squares")(RowSum(square(X)))
    let("kept")(named("at_least", Max(u, eps**2), u)(squares))
    let("Y")(Hadamard(g, standardise(0)(X, ColumnBroadcast(kept, d))))
    return Layer("scale_norm", (X,), (g,), let, Y)


def applied(to: Array) -> Array:
    """Return scale normalisation, with g, of any matrix with d columns."""
    return part("scale_norm", scale_norm())(to, g=g)


@result
def definition() -> Derivation:
    """The entries of scale normalisation."""
    return derivation(
        "Definition of scale normalisation",
        claim(squares[i], step("definition", row)),
        claim(
            Y[i, k],
            step("definition", g.entry() * X[i, k] / sqrt(kept[i])),
            step("definition", g.entry() * X[i, k] / Max(sqrt(row), epsilon)),
        ),
        about=scale_norm(),
        ranges={i: n, k: d},
        source=NGUYEN,
    )


@result
def sphere() -> Derivation:
    """Every row that is long enough is on a sphere whose radius is learned; the others are inside."""
    return derivation(
        "The length of a row of $Y$ is $|g|$ where that of $X$ is $epsilon$ or more",
        claim(
            Sum(Y[i, j] ** 2, (j, 0, d - 1)),
            step("linearity of sums", g.entry() ** 2 * row / kept[i]),
            step("assumption", g.entry() ** 2),
            given=(LONG,),
        ),
        claim(Y[i, k], step("assumption", g.entry() * X[i, k] / epsilon), given=(SHORT,)),
        about=scale_norm(),
        ranges={i: n, k: d},
        source=NGUYEN,
    )


@result
def scale_invariance() -> Derivation:
    """A factor a > 0 on the input has the same effect as dividing epsilon by a."""
    return derivation(
        "$ScaleNorm(a X)$ is $ScaleNorm(X)$ with $epsilon / a$",
        claim(
            applied(a * X)[i, k],
            step("definition", g.entry() * a * X[i, k] / sqrt(Max(a**2 * squares[i], epsilon**2))),
            step("algebra", g.entry() * X[i, k] / sqrt(Max(squares[i], epsilon**2 / a**2))),
        ),
        about=scale_norm(),
        ranges={i: n, k: d},
        source=NGUYEN,
    )


@result
def cost() -> Derivation:
    """One number is learned, where layer normalisation learns 2 d."""
    return derivation(
        "ScaleNorm has one parameter",
        claim(Count("parameters", scale_norm()), step("count", 1)),
        source=NGUYEN,
    )
