r"""Convolution over positions, for comparison with attention; with a kernel of width 1 it is the linear layer.

Definition   Y_il = sum_{t=0}^{w-1} sum_k X_{i+t,k} K_tkl + b_l
Result       one product of the windows of X with the kernel; an output sees w positions, through two layers 2 w - 1
Shapes       X (n, d_in), K (w, d_in, d_out), b (d_out,), Y (n - w + 1, d_out); windows (n - w + 1, w d_in)
Assumes      w <= n; no padding and stride 1, unless a layer is given others
Source       Goodfellow, Bengio and Courville (2016), section 9.1
"""

from sympy import Derivative, Expr, Ge, KroneckerDelta, Lambda, Le, Sum

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.rows import strided_windows
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks, Sized, axis, total
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_in, d_out, i, index, j, k, l, n, size

__all__ = ["convolution", "convolution_layer", "kernel_of_width_1"]

GOODFELLOW = "Goodfellow, Bengio and Courville (2016), section 9.1"
VASWANI = "Vaswani et al. (2017), section 3.3"
width = size("w")
X, K = array("X", n, d_in), array("K", width, d_in, d_out)
W, b = array("W", d_in, d_out), array("b", d_out)
t, p = index("t"), index("p")
flat = array("W", Blocks(width, d_in), d_out)  # the kernel, its slices one below the other


def convolution(inputs: Array, kernel: Array, bias: Array) -> Array:
    """Return the convolution of a sequence of rows with a kernel that spans several positions.

    Definition   Y_il = sum_{t=0}^{w-1} sum_k X_{i+t,k} K_tkl + b_l
    Shapes       inputs (n, d_in), kernel (w, d_in, d_out), bias (d_out,); result (n - w + 1, d_out)
    Assumes      w <= n; no padding, stride 1
    Source       Goodfellow, Bengio and Courville (2016), equation 9.6
    """
    (rows, _), (span, channels, filters) = map(total, inputs.shape), map(total, kernel.shape)
    window = Sum(inputs[i + t, p] * kernel[t, p, l], (p, 0, channels - 1), (t, 0, span - 1))
    return Tabulated(Lambda((i, l), window + bias[l]), rows - span + 1, filters)


@catalogued("convolution")
def convolution_layer(
    span: Sized = width, *, stride: int = 1, padding: int = 0, rows: Expr = n, biases: bool = True
) -> Layer:
    """Return the convolution as a layer: the product of the windows, one in each row, and the whole kernel.

    Definition   Y = windows(X) W + b, row i of windows(X) being the rows stride i, ..., stride i + w - 1 of X side by
                 side, X with `padding` rows of zeros on either side; without b where it has no `biases`
    Shapes       X (rows, d_in), W (w d_in, d_out), b (d_out,), Y (floor((rows + 2 padding - w)/stride) + 1, d_out)
    Assumes      w <= rows + 2 padding; the stride divides the factor of every size in `rows`, or is 1
    Source       Goodfellow, Bengio and Courville (2016), sections 9.1 and 9.5
    """
    let = Equations()
    read, kernel = array("X", rows, d_in), array("W", Blocks(axis(span), d_in), d_out)
    product = strided_windows(read, span, stride=stride, padding=padding) @ kernel
    output = let("Y")(product + b if biases else product)
    name = "convolution" if stride == 1 else "strided_convolution"
    return Layer(name, (read,), (kernel, b) if biases else (kernel,), let, output)


def kernel_of_width_1(name: str, matrix: Array) -> Equation:
    """Return the equation that names the kernel whose only slice is the matrix."""
    kernel = Tabulated(Lambda((t, p, l), matrix[p, l]), 1, *matrix.shape)
    return Equation(array(name, *kernel.shape), kernel)


@result
def kernel_one() -> Derivation:
    """With a kernel that spans one position, no row sees its neighbours: row i is the affine image of row i."""
    one = kernel_of_width_1("K", W)
    return derivation(
        "A convolution whose kernel spans one position is the linear layer: row $i$ is $x_i W + b$",
        claim(convolution(X, one.target, b), step("matrix product", X @ W + b)),
        claim(convolution(X, one.target, b)[i], step("row of a product", X[i] @ W + b)),
        about=[one],
        ranges={i: n},
        source=VASWANI,
    )


@result
def product_of_windows() -> Derivation:
    """With windows side by side and a flattened kernel, the convolution is one product of matrices."""
    slices = Tabulated(Lambda((t, p, l), flat.entry((t, p), l)), width, d_in, d_out)
    return derivation(
        "A convolution is the product of the windows with the slices of the kernel, one below the other",
        claim(convolution(X, K, b), step("block product", convolution_layer().equation("Y").value)),
        about=[Equation(K, slices)],
        source=GOODFELLOW,
    )


@result
def jacobian() -> Derivation:
    """An output has nonzero derivatives only with respect to the positions in its window: i, ..., i + w - 1."""
    s = index("s")
    return derivation(
        "Jacobian of a convolution: slice $s - i$ of the kernel at the positions $s$ of the window, 0 elsewhere",
        claim(
            Derivative(convolution(X, K, b).entry(i, l), X[s, k]),
            step("derivative", Sum(KroneckerDelta(i + t, s) * K[t, k, l], (t, 0, width - 1))),
        ),
        ranges={i: n - width + 1, s: n, k: d_in, l: d_out},
        source=GOODFELLOW,
    )


def changed_outside(window: Expr) -> Equation:
    """Return the definition of a sequence that equals X in the window that starts at i, and is arbitrary elsewhere."""
    inside = Iverson(Ge(j, i, evaluate=False)) * Iverson(Le(j, i + window - 1, evaluate=False))
    elsewhere = array("Z", n, d_in)
    mixed = Lambda((j, p), inside * X[j, p] + (1 - inside) * elsewhere[j, p])
    return Equation(array("X_tilde", n, d_in), Tabulated(mixed, n, d_in))


@result
def receptive_field() -> Derivation:
    """Entries outside its window do not change an output."""
    other = changed_outside(width)
    return derivation(
        "An output of a convolution depends on the $w$ positions of its window alone",
        claim(convolution(other.target, K, b).entry(i, l), step("indicator", convolution(X, K, b).entry(i, l))),
        about=[other],
        ranges={i: n - width + 1, l: d_out},
        source=GOODFELLOW,
    )


@result
def receptive_field_of_two() -> Derivation:
    """Each further layer widens the window by w - 1: to see n positions takes (n - 1) / (w - 1) layers."""
    second, c, other = array("L", width, d_out, d_out), array("c", d_out), changed_outside(2 * width - 1)
    between, between_other = array("H", n - width + 1, d_out), array("H_tilde", n - width + 1, d_out)
    return derivation(
        "An output of two convolutions of width $w$ depends on $2 w - 1$ positions alone",
        claim(
            convolution(between_other, second, c).entry(i, l),
            step("indicator", convolution(between, second, c).entry(i, l)),
        ),
        about=[
            other,
            Equation(between, convolution(X, K, b)),
            Equation(between_other, convolution(other.target, K, b)),
        ],
        ranges={i: n - 2 * width + 2, l: d_out},
        source=GOODFELLOW,
    )


@result
def translation_equivariance() -> Derivation:
    """Every window gets the same kernel: a sequence shifted by one position gives outputs shifted by one."""
    longer = array("X", n + 1, d_in)
    moved = Equation(array("X_tilde", n, d_in), Tabulated(Lambda((j, p), longer[j + 1, p]), n, d_in))
    return derivation(
        "A convolution of a sequence without its first row is the convolution without its first row",
        claim(convolution(moved.target, K, b).entry(i, l), step("algebra", convolution(longer, K, b).entry(i + 1, l))),
        about=[moved],
        ranges={i: n - width + 1, l: d_out},
        source=GOODFELLOW,
    )


@result
def parameters() -> Derivation:
    """Count one matrix for each position of the window, and the bias."""
    return derivation(
        "Parameters of a convolution",
        claim(Count("parameters", convolution_layer()), step("count", width * d_in * d_out + d_out)),
    )
