r"""The affine map of every row.

Definition   Y = X W + b, the vector b added to every row
Result       row i of Y is x_i W + b; with the weights stored as A = W^T, y_i = A x_i + b; kernel-1 convolution
Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), Y (n, d_out)
Assumes      rows are positions
Source       Vaswani et al. (2017), section 3.3; PyTorch, torch.nn.Linear
"""

from sympy import Derivative, Integer, KroneckerDelta, Lambda, Sum

from derivations.language.arrangements import Tabulated
from derivations.language.costs import Count
from derivations.language.derivation import Derivation, claim, derivation, result, step
from derivations.language.expression import Array, array
from derivations.language.layer import Equation, Equations, Layer
from derivations.language.shapes import total
from derivations.symbols import d_in, d_out, i, index, j, k, l, n

__all__ = ["convolution", "linear"]

X, W, b, Y = array("X", n, d_in), array("W", d_in, d_out), array("b", d_out), array("Y", n, d_out)


def linear() -> Layer:
    """Return the affine map of every row.

    Definition   Y = X W + b, the vector b added to every row
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), Y (n, d_out)
    """
    let = Equations()
    let("Y")(X @ W + b)
    return Layer("linear", (X,), (W, b), let, Y)


def convolution(inputs: Array, kernel: Array, bias: Array) -> Array:
    """Return the convolution of a sequence of rows with a kernel that spans several positions.

    Definition   Y_il = sum_{t=0}^{width-1} sum_k X_{i+t,k} K_tkl + b_l
    Shapes       inputs (n, d_in), kernel (width, d_in, d_out), bias (d_out,); result (n - width + 1, d_out)
    Assumes      width <= n; no padding, stride 1
    Source       Goodfellow, Bengio and Courville (2016), equation 9.6
    """
    (rows, _), (width, channels, filters) = map(total, inputs.shape), map(total, kernel.shape)
    t, p = index("t"), index("p")
    window = Sum(inputs[i + t, p] * kernel[t, p, l], (p, 0, channels - 1), (t, 0, width - 1))
    return Tabulated(Lambda((i, l), window + bias[l]), rows - width + 1, filters)


def kernel_of_width_1(name: str, matrix: Array) -> Equation:
    """Return the equation that names the kernel whose only slice is the matrix."""
    t, p = index("t"), index("p")
    kernel = Tabulated(Lambda((t, p, l), matrix[p, l]), 1, *matrix.shape)
    return Equation(array(name, *kernel.shape), kernel)


@result
def definition() -> Derivation:
    """The layer, as a matrix and entry by entry."""
    return derivation(
        "Definition of the linear layer: an affine map of every row",
        claim(Y, step("definition", X @ W + b)),
        claim(Y[i, j], step("definition", Sum(X[i, k] * W[k, j], (k, 0, d_in - 1)) + b[j])),
        about=linear(),
        ranges={i: n, j: d_out},
    )


@result
def row() -> Derivation:
    """Each row is mapped by itself, all by the same map."""
    return derivation(
        "Row i of the linear layer is the affine image of row i of its input",
        claim(
            Y[i],
            step("definition", (X @ W + b)[i]),
            step("row of a product", X[i] @ W + b),
        ),
        about=linear(),
        ranges={i: n},
    )


@result
def affine_not_linear() -> Derivation:
    """The map f(x) = x W + b respects sums up to one b too many, and sends 0 to b."""
    x, y = array("x", d_in), array("y", d_in)
    zero = Tabulated(Lambda((k,), Integer(0)), d_in)
    return derivation(
        "The map f(x) = x W + b is affine: f(x + y) = f(x) + f(y) - b and f(0) = b, so that it is linear only if b = 0",
        claim(
            (x + y) @ W + b,
            step("distributivity", x @ W + y @ W + b),
            step("algebra", (x @ W + b) + (y @ W + b) - b),
        ),
        claim(zero @ W + b, step("algebra", b)),
    )


@result
def jacobian() -> Derivation:
    """Row i of the output depends on row i of the input alone, through W."""
    p = index("p")
    return derivation(
        "Jacobian of the linear layer",
        claim(
            Derivative(Y[i, j], X[p, k]),
            step("derivative", Sum(Derivative(X[i, l], X[p, k]) * W[l, j], (l, 0, d_in - 1))),
            step("derivative", Sum(KroneckerDelta(i, p) * KroneckerDelta(l, k) * W[l, j], (l, 0, d_in - 1))),
            step("Kronecker delta", KroneckerDelta(i, p) * W[k, j]),
        ),
        about=linear(),
        ranges={i: n, j: d_out, p: n, k: d_in},
    )


@result
def pytorch_layout() -> Derivation:
    """A library that stores A = W^T computes X A^T + b: on a column vector, A x + b."""
    A = array("A", d_out, d_in)
    return derivation(
        "With weights stored as A = W^T the linear layer is X A^T + b, and each position goes through A x + b",
        claim(
            linear().result(X, W=A.T)[i],
            step("row of a product", X[i] @ A.T + b),
            step("transpose of a product", A @ X[i] + b),
        ),
        ranges={i: n},
        source="PyTorch, torch.nn.Linear",
    )


@result
def is_convolution() -> Derivation:
    """Where the kernel spans one position, no position sees its neighbours: the convolution is the linear layer."""
    K = kernel_of_width_1("K", W)
    return derivation(
        "The linear layer is a convolution whose kernel spans one position",
        claim(convolution(X, K.target, b), step("matrix product", X @ W + b), step("definition", Y)),
        about=(K, *linear().equations),
        source="Vaswani et al. (2017), section 3.3",
    )


@result
def parameters() -> Derivation:
    """One weight for each pair of an input and an output, one bias for each output."""
    return derivation(
        "Parameters of the linear layer",
        claim(Count("parameters", linear()), step("count", d_in * d_out + d_out), step("algebra", (d_in + 1) * d_out)),
    )


@result
def parameters_512() -> Derivation:
    """A square map of width 512."""
    return derivation(
        "Parameters of the linear layer with d_in = d_out = 512",
        claim(
            Count("parameters", linear().at(d_in=512, d_out=512)),
            step("count", Integer(512) ** 2 + 512),
            step("algebra", 262656),
        ),
    )
