r"""The affine map of every row.

Definition   Y = X W + b, the vector b added to every row
Result       row i of Y is x_i W + b; with the weights stored as A = W^T, y_i = A x_i + b; kernel-1 convolution
Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), Y (n, d_out)
Assumes      rows are positions
Source       Vaswani et al. (2017), section 3.3; PyTorch, torch.nn.Linear
"""

from sympy import Derivative, Eq, Integer, KroneckerDelta, Lambda, Sum

from derivations.language.arrays.arrangements import Concatenate, SumOver, Tabulated
from derivations.language.arrays.expression import RowBroadcast, array
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Rank
from derivations.linear.convolution import convolution, kernel_of_width_1
from derivations.symbols import batch, d, d_in, d_out, h, i, index, j, k, l, m, n, scalar

__all__ = ["linear"]

GOODFELLOW = "Goodfellow, Bengio and Courville (2016), section 6.5"
MEGATRON = "Shoeybi et al. (2019), section 3"
X, W, b, Y = array("X", n, d_in), array("W", d_in, d_out), array("b", d_out), array("Y", n, d_out)
p = index("p")


@catalogued
def linear() -> Layer:
    """Return the affine map of every row.

    Definition   Y = X W + b, the vector b added to every row
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), Y (n, d_out)
    """
    let = Equations()
    let("Y")(X @ W + b)
    return Layer("linear", (X,), (W, b), let, Y)


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
    """The layer maps each row separately, and all rows by the same map."""
    return derivation(
        "Row $i$ of the linear layer is the affine image of row $i$ of its input",
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
    """The map f(x) = x W + b gives one b too many for a sum, and maps 0 to b."""
    x, y = array("x", d_in), array("y", d_in)
    zero = Tabulated(Lambda((k,), Integer(0)), d_in)
    return derivation(
        "The map $f(x) = x W + b$ is affine: $f(x + y) = f(x) + f(y) - b$ and $f(0) = b$, so that it is linear "
        "only if $b = 0$",
        claim(
            (x + y) @ W + b,
            step("distributivity", x @ W + y @ W + b),
            step("algebra", (x @ W + b) + (y @ W + b) - b),
        ),
        claim(zero @ W + b, step("algebra", b)),
    )


@result
def jacobian() -> Derivation:
    """Row i of the output depends only on row i of the input, through W."""
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
def parameter_jacobian() -> Derivation:
    """Output j depends on column j of W, with the input as slope, and on its own bias."""
    return derivation(
        "Derivatives of the linear layer by its weights and by its bias",
        claim(
            Derivative(Y[i, j], W[k, l]),
            step("derivative", Sum(X[i, p] * Derivative(W[p, j], W[k, l]), (p, 0, d_in - 1))),
            step("derivative", Sum(X[i, p] * KroneckerDelta(p, k) * KroneckerDelta(j, l), (p, 0, d_in - 1))),
            step("Kronecker delta", X[i, k] * KroneckerDelta(j, l)),
        ),
        claim(Derivative(Y[i, j], b[l]), step("derivative", KroneckerDelta(j, l))),
        about=linear(),
        ranges={i: n, j: d_out, k: d_in, l: d_out},
        source=GOODFELLOW,
    )


@result
def affine_combination() -> Derivation:
    """The line through two inputs is mapped to the line through their images."""
    x, y, a = array("x", d_in), array("y", d_in), scalar("a")
    return derivation(
        "An affine map keeps affine combinations: $f(a x + (1 - a) y) = a f(x) + (1 - a) f(y)$",
        claim(
            (a * x + (1 - a) * y) @ W + b,
            step("distributivity", a * (x @ W) + (1 - a) * (y @ W) + b),
            step("algebra", a * (x @ W + b) + (1 - a) * (y @ W + b)),
        ),
    )


@result
def commutes_with_averaging() -> Derivation:
    """Averaging rows with weights that sum to 1, as attention does, gives the same before the map and after it."""
    A, values = array("A", m, n), X @ W
    return derivation(
        "$A (X W + b) = (A X) W + b$ for every matrix $A$ whose rows add up to 1",
        claim(
            A @ (values + b),
            step("distributivity", A @ values + A @ RowBroadcast(b, n)),
            # A 1 b = b, because each row of A adds up to 1
            step("assumption", A @ values + b),
            step("associativity", linear().result(A @ X)),
        ),
        assuming=[Assumption(Eq(Sum(A[i, j], (j, 0, n - 1)), 1, evaluate=False), {i: m}, "rows add up to 1")],
    )


@result
def composition() -> Derivation:
    """Two affine maps in a row are one, with the product of the matrices; its rank is at most the inner size."""
    V, c = array("V", d_out, d), array("c", d)
    return derivation(
        "Two linear layers in a row are one linear layer, with matrix $W V$ and bias $b V + c$",
        claim(
            linear().result(Y, W=V, b=c),
            step("definition", (X @ W + b) @ V + c),
            step("distributivity", X @ W @ V + b @ V + c),
            step("associativity", linear().result(X, W=W @ V, b=b @ V + c)),
        ),
        claim(Rank(W @ V), step("rank of a product", d_out, "<=")),
        about=linear(),
        source="Goodfellow, Bengio and Courville (2016), section 6.1",
    )


@result
def column_parallel() -> Derivation:
    """With the columns of W in h blocks, each block of the output needs only its own block of W."""
    blocks = array("W", h, d_in, d_out)
    return derivation(
        "$X [W_1 ... W_h] = [X W_1 ... X W_h]$",
        claim(X @ Concatenate(blocks[i], i, h), step("block product", Concatenate(X @ blocks[i], i, h))),
        source=MEGATRON,
    )


@result
def row_parallel() -> Derivation:
    """With the columns of X and the rows of W in h blocks, the output is the sum of the products of the blocks."""
    inputs, blocks = array("X", h, n, d_in), array("W", h, d_out, d_in)
    return derivation(
        "$[X_1 ... X_h] [W_1; ...; W_h] = X_1 W_1 + ... + X_h W_h$",
        claim(
            Concatenate(inputs[i], i, h) @ Concatenate(blocks[i], i, h).T,
            step("block product", SumOver(inputs[i] @ blocks[i].T, i, h)),
        ),
        source=MEGATRON,
    )


@result
def pytorch_layout() -> Derivation:
    """A library that stores A = W^T computes X A^T + b, which is A x + b for a column vector."""
    A, x = array("A", d_out, d_in), array("x", d_in)
    return derivation(
        "With weights stored as $A = W^T$ the linear layer is $X A^T + b$, and each position goes through $A x + b$",
        claim(linear().result(X, W=A.T)[i], step("row of a product", X[i] @ A.T + b)),
        claim(x @ A.T + b, step("transpose of a product", A @ x + b)),
        ranges={i: n},
        source="PyTorch, torch.nn.Linear",
    )


@result
def is_convolution() -> Derivation:
    """With a kernel that spans one position, no row sees its neighbours: the convolution is the linear layer."""
    K = kernel_of_width_1("K", W)
    return derivation(
        "The linear layer is a convolution whose kernel spans one position",
        claim(convolution(X, K.target, b), step("matrix product", X @ W + b), step("definition", Y)),
        about=(K, *linear().equations),
        source="Vaswani et al. (2017), section 3.3",
    )


@result
def parameters() -> Derivation:
    """Count one weight for each pair of an input and an output, and one bias for each output."""
    return derivation(
        "Parameters of the linear layer",
        claim(Count("parameters", linear()), step("count", d_in * d_out + d_out), step("algebra", (d_in + 1) * d_out)),
    )


@result
def flops() -> Derivation:
    """Count one multiply-add for each weight at each position, and one addition for each bias."""
    products = Count("matmul FLOPs", linear(), batch)
    return derivation(
        "FLOPs of the linear layer: 2 for each weight at each position, 1 for each bias",
        claim(products, step("count", 2 * batch * n * d_in * d_out)),
        claim(Count("FLOPs", linear(), batch), step("count", products + batch * n * d_out)),
    )


@result
def parameters_512() -> Derivation:
    """A square map of width 512."""
    return derivation(
        "Parameters of the linear layer with $d_in = d_out = 512$",
        claim(
            Count("parameters", linear().at(d_in=512, d_out=512)),
            step("count", 262656),
        ),
    )
