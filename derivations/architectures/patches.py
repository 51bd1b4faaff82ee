r"""Images and sounds as sequences: patches of pixels, a class token before them, and the stem for spectra.

Definition   patches: Y = U W + b, row i of U the pixels of patch i;  class token: Z = [c; X];
             stem: Y = GELU(conv_2(GELU(conv_1(X)))), both of width 3 and padding 1, the second with stride 2
Result       a convolution whose stride is its width is the linear layer on patches; the class token's row is the same
             for every image, and the other rows move down by one; the stem halves the length
Shapes       U (n, pixels), W (pixels, d_model), pixels = channels p^2; c (1, d_model), Z (n + 1, d_model);
             spectra (frames, mel), Y (frames/2, d_model)
Assumes      pixels of a patch in the order of the kernel: channel, row, column; an even number of frames
Source       Dosovitskiy et al. (2021), section 3.1; Radford et al. (2023), section 2.2
"""

from dataclasses import replace
from functools import reduce
from itertools import product
from operator import add

from sympy import Eq, Expr, Lambda, Max, Min, Mod, Sum, floor

from derivations.architectures.description import Embedding
from derivations.gradients.gradient import rule
from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.columns import ColumnConcatenation
from derivations.language.arrays.expression import Array, array, require
from derivations.language.arrays.functions import Hadamard, Lookup, gelu
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import Blocks
from derivations.language.counting.costs import Count
from derivations.language.differentiation.claims import local_claims
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.linear.convolution import convolution_layer
from derivations.symbols import d, d_in, d_model, d_out, i, index, j, k, l, m, n, pos, size

__all__ = ["audio_stem", "class_token", "patch_embedding", "row_and_column", "stretched_positions"]

DOSOVITSKIY = "Dosovitskiy et al. (2021), section 3.1"
RADFORD = "Radford et al. (2023), section 2.2"
channels, p, pixels, width, frames, mel = map(size, ("channels", "p", "pixels", "w", "frames", "mel"))
t = index("t")


@catalogued
def patch_embedding(*, biases: bool = True) -> Layer:
    """Return the embedding of patches: a linear layer on the concatenated pixels of each patch.

    Definition   Y = U W + b, or U W without biases
    Shapes       U (n, pixels), W (pixels, d_model), b (d_model,), Y (n, d_model); pixels = channels p^2
    Assumes      the pixels of a patch are in the order of the kernel of the equivalent convolution
    Source       Dosovitskiy et al. (2021), section 3.1
    """
    U, W, b = array("U", n, pixels), array("W", pixels, d_model), array("b", d_model)
    let = Equations()
    output = let("Y")(U @ W + b if biases else U @ W)
    return Layer("patch_embedding", (U,), (W, b) if biases else (W,), let, output)


@catalogued
def class_token() -> Layer:
    """Return a sequence with one learned row before it, whose last state represents the whole sequence.

    Definition   Z = [c; X]
    Shapes       X (n, d_model), c (1, d_model), Z (n + 1, d_model)
    Source       Dosovitskiy et al. (2021), section 3.1, equation 1
    """
    X, c = array("X", n, d_model), array("c", 1, d_model)
    let = Equations()
    output = let("Z")(Stacked(c, X))
    return Layer("class_token", (X,), (c,), let, output)


@catalogued
def audio_stem() -> Layer:
    """Return the stem for spectra: two convolutions over time, the second with stride 2.

    Definition   H = GELU(conv_1(X)), Y = GELU(conv_2(H)); both of width 3 with one row of zeros on either side
    Shapes       X (frames, mel), H (frames, d_model), Y (frames/2, d_model)
    Assumes      an even number of frames
    Source       Radford et al. (2023), section 2.2
    """
    X = array("X", frames, mel)
    first = part("conv_1", convolution_layer(3, padding=1).at(d_out=d_model))
    second = part("conv_2", convolution_layer(3, stride=2, padding=1).at(d_out=d_model))
    let = Equations()
    H = let("H")(gelu(first(X)))
    output = let("Y")(gelu(second(H)))
    return Layer("audio_stem", (X,), (), let, output)


def row_and_column(number: Expr, columns: Expr) -> tuple[Expr, Expr]:
    """Return the row and the column of entry `number` of a grid that is counted row by row."""
    row = floor(number / columns)
    return row, number - columns * row


def stretched_positions(table: Array, embedding: Embedding) -> Array:
    """Return positions for a grid of patches, interpolated between those of a square table.

    Definition   patch p of `count` on an axis lies at t = p (side - 1) / (count - 1), corner on corner; of the places
                 floor(t) and floor(t) + 1 the square has there, the shares are 1 - r and r, r = t - floor(t)
    Shapes       table (side^2, d_model), result (rows columns, d_model)
    Source       Qwen Team (2025), Qwen3-VL, after Dosovitskiy et al. (2021), section 3.2
    """
    grid, side = embedding.grid, embedding.side
    require(grid is not None and side is not None, lambda: "positions on a grid need the grid and a side of the square")
    assert grid is not None and side is not None
    row, column = row_and_column(pos, grid.columns)
    length, corners = grid.rows * grid.columns, []
    for down, across in product((0, 1), repeat=2):
        y, share_y = _tap(row, grid.rows, down, side)
        x, share_x = _tap(column, grid.columns, across, side)
        number = Numbers(Lambda((pos,), y * side + x), length)
        share = Tabulated(Lambda((pos, k), share_y * share_x), length, d_model)
        corners.append(Hadamard(share, Lookup(table, number)))
    return reduce(add, corners)


def _tap(place: Expr, count: Expr, later: int, side: Expr) -> tuple[Expr, Expr]:
    """Return the table index before or after a position on one axis, and its interpolation weight."""
    at = place * (side - 1) / Max(1, count - 1)  # a single patch lies on the first place
    before = floor(at)
    return (Min(before + 1, side - 1), at - before) if later else (before, 1 - at + before)


EVEN = Assumption(Eq(Mod(frames, 2), 0, evaluate=False), {}, "an even number of frames")


@result
def stride_of_the_width() -> Derivation:
    """Windows that do not overlap are patches: the convolution is a linear layer on each patch.

    For images the same holds along both axes.
    """
    X, kernel, b = array("X", n * width, d_in), array("W", Blocks(width, d_in), d_out), array("b", d_out)
    taken = Sum(X[width * i + t, k] * kernel.entry((t, k), l), (k, 0, d_in - 1), (t, 0, width - 1))
    let = Equations()
    cut = let("P")(RowRange(Windows(X, width), 0, n, width))
    return derivation(
        "A convolution whose stride is its width is a linear layer on patches: windows that do not overlap",
        claim(cut[i, (t, k)], step("definition", X[width * i + t, k])),
        claim(Tabulated(Lambda((i, l), taken + b[l]), n, d_out), step("block product", cut @ kernel + b)),
        about=[*let],
        ranges={i: n, t: width, k: d_in},
        source=DOSOVITSKIY,
    )


@result
def patch_costs() -> Derivation:
    """Each patch is read once, so the cost is that of a linear layer."""
    inside = channels * p**2
    layer = patch_embedding().at(pixels=inside)
    return derivation(
        "Embedding $n$ patches: $channels p^2 d_model + d_model$ parameters, $2 n channels p^2 d_model$ FLOPs of "
        "products",
        claim(Count("parameters", layer), step("count", inside * d_model + d_model)),
        claim(Count("matmul FLOPs", layer), step("count", 2 * n * inside * d_model)),
        source=DOSOVITSKIY,
    )


@result
def class_token_above() -> Derivation:
    """The first row is learned, the others are those of the image, each one row further down."""
    layer = class_token()
    (X,), (c,), Z = layer.inputs, layer.parameters, layer.output
    return derivation(
        "With a class token the first row is the token, and row $j + 1$ is row $j$ of the sequence; $d_model$ "
        "parameters",
        claim(Z[0, k], step("definition", c[0, k])),
        claim(Z[j + 1, k], step("definition", X[j, k])),
        claim(Count("parameters", layer), step("count", d_model)),
        about=layer,
        ranges={j: n, k: d_model},
        source=DOSOVITSKIY,
    )


@result
def class_token_gradient() -> Derivation:
    """The gradient of the class token is that of its row, summed over all images."""
    return replace(
        local_claims(class_token()),
        title="A class token: $dc$ is the first row of $dZ$, $dX$ the others",
        source=DOSOVITSKIY,
    )


@result
def stem_costs() -> Derivation:
    """Count two kernels of three matrices; the second convolution computes half of the frames."""
    layer = audio_stem()
    return derivation(
        "The stem: parameters, and FLOPs of products, 3 matrices for each frame and for each second frame",
        claim(
            Count("parameters", layer),
            step("count", 3 * mel * d_model + d_model + 3 * d_model**2 + d_model),
        ),
        claim(
            Count("matmul FLOPs", layer),
            step("count", 2 * frames * 3 * mel * d_model + 2 * (frames / 2) * 3 * d_model**2),
        ),
        assuming=[EVEN],
        source=RADFORD,
    )


# --- the rules of reverse mode for rows, and for columns beside one another -----------------------------------------

first, rest = size("s"), size("r")
A, B, C, D = array("A", n, d), array("B", m, d), array("C", n, m), array("D", first + n + rest, d)


@result(topic="gradient")
def rows_taken() -> Derivation:
    """Rows that are not read have gradient 0."""
    return rule("$Y$, $n$ rows of $D$, has $dD = dY$ in those rows and 0 in the others", RowRange(D, first, n), D)


@result(topic="gradient")
def every_other_row() -> Derivation:
    """Rows that a stride skips have gradient 0, as skipped columns do."""
    longer = array("D", 2 * n, d)
    return rule("$Y$, every other row of $D$, has $dD = dY$ there and 0 between", RowRange(longer, 0, n, 2), longer)


@result(topic="gradient")
def rows_among_zeros() -> Derivation:
    """Rows of padding get no gradient."""
    return rule(
        "$Y$, the rows of $A$ among rows of zeros, has as $dA$ its rows of $dY$",
        PlacedRows(A, first, first + n + rest),
        A,
    )


@result(topic="gradient")
def rows_stacked() -> Derivation:
    """Each matrix gets its rows of the gradient."""
    return rule("$Y = [A; B]$ has as $dA$ the first rows of $dY$ and as $dB$ the others", Stacked(A, B), A, B)


@result(topic="gradient")
def columns_beside() -> Derivation:
    """Each matrix gets its columns of the gradient."""
    beside = ColumnConcatenation(A, C)
    return rule("$Y = [A C]$ has as $dA$ the first columns of $dY$ and as $dC$ the others", beside, A, C)
