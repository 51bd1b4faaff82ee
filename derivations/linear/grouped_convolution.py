r"""Convolution in groups of columns, in which the weights of each window position may be normalised together.

Definition   group k of the columns of Y is the convolution of group k of the columns of X with a kernel of its own, of
             w positions; X has rows of zeros before and after it, so that Y has as many rows. With normed weights
             position u of the kernels is gamma_u W_u / ||W_u||, where ||W_u|| is over all entries of position u
Result       g groups divide weights and products by g; a factor on a position of W does not change Y
Shapes       X and Y (n, g d), W (g, w d, d), gamma (w,), b (g d,)
Assumes      w >= 1; with normed weights no position of W is zero everywhere
Source       Baevski et al. (2020), section 2; Salimans and Kingma (2016), equation 2, for the norm of weights
"""

from dataclasses import replace

from sympy import Expr, Gt, Sum, sqrt
from sympy import Tuple as Places

from derivations.language.arrays.arrangements import Concatenate, column_block
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named, square
from derivations.language.arrays.rows import PlacedRows
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import Blocks, axis
from derivations.language.counting.costs import Count
from derivations.language.differentiation.claims import local_claims
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d, index, n, scalar, size

__all__ = ["grouped_convolution", "groups"]

TOPIC = "convolution"
BAEVSKI = "Baevski et al. (2020), section 2"
SALIMANS = "Salimans and Kingma (2016), equation 2"

groups, width = size("g"), size("w")
k, u, i, o, t = (index(letter) for letter in "kuiot")
z = scalar("z", positive=True)


@catalogued("weight_normed_convolution", normed=True)
@catalogued
def grouped_convolution(span: Expr | int = width, before: Expr | int = width - 1, *, normed: bool = False) -> Layer:
    """Return the convolution in groups of columns, which keeps the number of rows.

    Definition   row t of the window of position t is row t - before + u of X, for u = 0, ..., w - 1; outside of X rows
                 are zeros. By default a position sees itself and those before it
    Shapes       X and Y (n, g d), W (g, w d, d), gamma (w,), b (g d,)
    Source       Baevski et al. (2020), section 2; Salimans and Kingma (2016), equation 2
    """
    span = axis(span)
    X, W, gamma, b = (
        array("X", n, groups * d),
        array("W", groups, Blocks(span, d), d),
        array("gamma", span),
        array("b", Blocks(groups, d)),
    )
    let = Equations()
    kernel, at = W, (k, Places(u, i), o)
    if normed:
        squares = let("Q")(square(W))
        sums = let("S")(contraction((u,), (span,), [(k, groups), (i, d), (o, d)], 1, operand_of(squares, at)))
        roots = let("R")(named("inverse_root", 1 / sqrt(z), z)(sums))
        unit = let("U")(contraction(at, W.shape, (), 1, operand_of(W, at), operand_of(roots, (u,))))
        kernel = let("K")(contraction(at, W.shape, (), 1, operand_of(unit, at), operand_of(gamma, (u,))))
    padded = let("P")(PlacedRows(X, before, n + span - 1))
    own = column_block(ColumnRange(padded, 0, Blocks(groups, d)), k)  # the columns of a group
    C = let("C", over=(k, groups))(Windows(own, span) @ kernel[k])
    Y = let("Y")(Concatenate(C[k], k, groups) + b)
    name = "weight_normed_convolution" if normed else "grouped_convolution"
    return Layer(name, (X,), (W, *([gamma] if normed else []), b), let, Y)


plain, of_normed = grouped_convolution(), grouped_convolution(normed=True)
(X,), W, gamma = plain.inputs, plain.parameters[0], of_normed.parameters[1]
OF_KERNEL = {k: groups, u: width, i: d, o: d}
SQUARES = Sum(W.entry(k, (u, i), o) ** 2, (o, 0, d - 1), (i, 0, d - 1), (k, 0, groups - 1))  # of one position
SOME = Assumption(Gt(SQUARES, 0), {u: width}, "no position of the kernels is zero everywhere")


@result
def grouped_definition() -> Derivation:
    """A column reads the columns of its group alone."""
    padded, C = (plain.equation(name).variable for name in "PC")
    taken = padded[t + u, k * d + i] * W.entry(k, (u, i), o)
    return derivation(
        "An output of group $k$ reads the $w$ rows of its window in the columns of group $k$ alone",
        claim(C[k].entry(t, o), step("block product", Sum(taken, (i, 0, d - 1), (u, 0, width - 1)))),
        about=plain.until("C"),
        ranges={t: n, k: groups, o: d},
        source=BAEVSKI,
    )


@result
def lengths_of_normed_weights() -> Derivation:
    """The norm of the weights at a window position is one learned number, whatever their direction."""
    squared = of_normed.until("K").result(X, W=W, gamma=gamma).entry(k, (u, i), o) ** 2
    total = Sum(squared, (o, 0, d - 1), (i, 0, d - 1), (k, 0, groups - 1))
    return derivation(
        "With normed weights the squares of position $u$ of the kernels add up to $gamma_u^2$",
        claim(total, step("algebra", gamma[u] ** 2)),
        ranges={u: width},
        assuming=[SOME],
        source=SALIMANS,
    )


@result
def factor_of_normed_weights() -> Derivation:
    """Only the direction of the stored weights matters: their length is not learned."""
    a = scalar("a", positive=True)
    kernel, scaled = (of_normed.until("K").result(X, W=each, gamma=gamma) for each in (W, a * W))
    return derivation(
        "A factor $a > 0$ on stored weights that are normed does not change the kernels",
        claim(scaled.entry(k, (u, i), o), step("algebra", kernel.entry(k, (u, i), o))),
        ranges=OF_KERNEL,
        assuming=[SOME],
        source=SALIMANS,
    )


@result
def grouped_costs() -> Derivation:
    """Count one kernel of w matrices for each group."""
    return derivation(
        "A convolution in $g$ groups: $g w d^2 + g d$ parameters, $w$ more with normed weights, "
        "$2 n g w d^2$ FLOPs of products",
        claim(Count("parameters", plain), step("count", groups * width * d**2 + groups * d)),
        claim(Count("parameters", of_normed), step("count", groups * width * d**2 + groups * d + width)),
        claim(Count("matmul FLOPs", of_normed), step("count", 2 * n * groups * width * d**2)),
        source=BAEVSKI,
    )


@result
def grouped_gradient() -> Derivation:
    """The gradient goes back into each window, and through the norm to the stored weights."""
    return replace(
        local_claims(of_normed),
        title="The gradient of a convolution in groups whose weights are normed",
        source=SALIMANS,
    )
