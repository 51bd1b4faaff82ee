r"""The rules of reverse mode: what the gradient of a value becomes as the gradient of what it is made of.

Definition   dX is the array of the derivatives of <dY, Y> = sum over all places p of dY_p Y_p by the entries of X,
             for a given array dY of the shape of Y
Result       one rule for each operation; with the chain rule, by which what the uses of a variable contribute adds
             up, they give the gradient of every layer
Shapes       dX has the shape of X
Assumes      every function is differentiable where it is evaluated: off the kinks, inside its domain
Source       Baydin, Pearlmutter, Radul and Siskind (2018), section 3.2; Petersen and Pedersen (2012), section 2
"""

from dataclasses import replace

from sympy import Function, Integer

from derivations.language.arrays.arrangements import Concatenate, SumOver, column_block
from derivations.language.arrays.expression import Array, ColumnBroadcast, Variable, array, mask_array, token_array
from derivations.language.arrays.functions import (
    Hadamard,
    Interleave,
    Lookup,
    RowLogSumExp,
    RowMean,
    RowSum,
    named,
    relu,
    row_softmax,
    uninterpreted_function,
)
from derivations.language.arrays.selection import EveryOther, Pick, Windows
from derivations.language.arrays.shapes import Blocks
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Derivation, result
from derivations.linear.dropout import dropout
from derivations.positions.rotary import rotary_embedding
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import d, h, i, m, n, scalar, size, vocab

__all__: list[str] = []

SURVEY = "Baydin, Pearlmutter, Radul and Siskind (2018), section 3.2"
COOKBOOK = "Petersen and Pedersen (2012), section 2"
A, B, C, D, X = array("A", n, m), array("B", m, d), array("C", n, m), array("D", n, d), array("X", n, m)
a, b, v = array("a", m), array("b", m), array("v", n)
tokens, M = token_array("tokens", n), mask_array("M", n, m)
heads, wide, pairs = array("B", h, n, d), array("W", n, Blocks(h, d)), array("X", n, Blocks(m, Integer(2)))
width = size("width")


def rule(title: str, value: Array, *of: Variable, family: bool = False, source: str = SURVEY) -> Derivation:
    """Return what the rules say of Y = value, for each of the arrays `of`; with `family`, of the members Y_i."""
    let = Equations()
    output = let("Y", over=(i, h))(value) if family else let("Y")(value)
    real = [variable for variable in of if variable.kind == "real"]
    given = [variable for variable in of if variable.kind != "real"]
    claims = local_claims(Layer("rule", (*real, *given), (), let, output))
    return replace(claims, title=title, source=source)


# --- linear algebra -------------------------------------------------------------------------------------------------


@result
def product() -> Derivation:
    """Both factors, each multiplied by the transpose of the other."""
    return rule("Y = A B has dA = dY B^T and dB = A^T dY", A @ B, A, B, source=COOKBOOK)


@result
def matrix_times_vector() -> Derivation:
    """The gradient by the matrix is an outer product."""
    return rule("y = A b has dA = dy b^T and db = A^T dy", A @ b, A, b, source=COOKBOOK)


@result
def vector_times_matrix() -> Derivation:
    """A row in front of a matrix."""
    return rule("y = a B has da = B dy and dB = a dy^T", a @ B, a, B, source=COOKBOOK)


@result
def dot_product() -> Derivation:
    """Of a dot product, each vector is the other's gradient."""
    return rule("s = a . b has da = ds b and db = ds a", a @ b, a, b, source=COOKBOOK)


@result
def transpose() -> Derivation:
    """The gradient is transposed back."""
    return rule("Y = A^T has dA = dY^T", A.T, A)


@result
def sum_and_multiple() -> Derivation:
    """Sums hand the gradient on, multiples multiply it."""
    t = scalar("t")
    return rule("Y = t A + C has dA = t dY and dC = dY", t * A + C, A, C)


@result
def broadcast_bias() -> Derivation:
    """A vector added to every row collects what all rows say."""
    return rule("Y = A + 1 b^T has dA = dY, and db is the sum of the rows of dY", A + b, A, b)


@result
def broadcast_column() -> Derivation:
    """A vector added to every column collects what all columns say."""
    return rule("Y = A + v 1^T has dv = the sum of the columns of dY", A + ColumnBroadcast(v, m), A, v)


# --- entry by entry, along rows -------------------------------------------------------------------------------------


@result
def entrywise_product() -> Derivation:
    """As for numbers: each factor times the other."""
    return rule("Y = A o C has dA = dY o C and dC = dY o A", Hadamard(A, C), A, C)


@result
def elementwise() -> Derivation:
    """Any differentiable function, applied entry by entry."""
    return rule("Y = f(A) entry by entry has dA = dY o f'(A)", uninterpreted_function("f")(A), A)


@result
def elementwise_of_two() -> Derivation:
    """A function of two arrays, by its two partial derivatives."""
    x, y = scalar("x"), scalar("y")
    f = named("f", Function("f", real=True)(x, y), x, y)
    return rule("Y = f(A, C) entry by entry has dA = dY o f_1(A, C) and dC = dY o f_2(A, C)", f(A, C), A, C)


@result
def relu_off_the_kink() -> Derivation:
    """The gradient passes where the entry is positive and stops elsewhere; at 0 the slope is taken to be 0."""
    return rule("Y = ReLU(A) has dA = dY o [A > 0] where no entry of A is 0", relu(A), A)


@result
def row_sum() -> Derivation:
    """Every entry of a row counts once."""
    return rule("s = row sums of A has dA = ds 1^T", RowSum(A), A)


@result
def row_mean() -> Derivation:
    """Every entry of a row of m counts 1/m."""
    return rule("s = row means of A has dA = ds 1^T / m", RowMean(A), A)


@result
def softmax() -> Derivation:
    """The rule of attention weights: what is not above the weighted mean of the row is pushed down."""
    return rule("A = softmax of the rows of S has dS = A o (dA - rowsum(dA o A) 1^T)", row_softmax(X), X)


@result
def masked_softmax() -> Derivation:
    """The same with a mask: hidden entries have weight 0 and gradient 0."""
    return rule("With a mask, softmax has dS = A o (dA - rowsum(dA o A) 1^T) as without", row_softmax(X, M), X, M)


@result
def log_sum_exp() -> Derivation:
    """The gradient of a smooth maximum is the softmax."""
    return rule("z = log-sum-exp of the rows of X has dX = Diag(dz) softmax(X)", RowLogSumExp(X), X)


# --- parts, families, choices ---------------------------------------------------------------------------------------


@result
def concatenation() -> Derivation:
    """Each block takes its columns of the gradient."""
    return rule("Y = [B_1 ... B_h] has dB_i = block i of dY", Concatenate(heads[i], i, h), heads)


@result
def blocks() -> Derivation:
    """The gradients of the blocks, side by side."""
    return rule("Y_i = block i of W has dW = [dY_1 ... dY_h]", column_block(wide, i), wide, family=True)


@result
def sum_over_family() -> Derivation:
    """Each member of a sum gets the whole gradient."""
    return rule("Y = B_1 + ... + B_h has dB_i = dY for every i", SumOver(heads[i], i, h), heads)


@result
def shared_by_family() -> Derivation:
    """What every member of a family uses collects the gradients of all of them."""
    return rule("Y_i = D^T B_i has dD = sum_i B_i dY_i^T and dB_i = D dY_i", D.T @ heads[i], D, heads, family=True)


@result
def interleaving() -> Derivation:
    """Even columns go to the first array, odd ones to the second."""
    return rule("Columns in turn: dA has the even columns of dY, dC the odd ones", Interleave(A, C), A, C)


@result
def every_other_column() -> Derivation:
    """Columns that were left out have gradient 0."""
    return rule(
        "Y = the even columns of X: dX has dY in the even columns and 0 in the odd ones", EveryOther(pairs, 0), pairs
    )


@result
def look_up() -> Derivation:
    """A row of the table collects what all positions say that chose it."""
    E = array("E", vocab, d)
    return rule(
        "Y = rows tokens_i of E: row v of dE is the sum of the rows i of dY with tokens_i = v",
        Lookup(E, tokens),
        E,
        tokens,
    )


@result
def pick() -> Derivation:
    """Only the chosen entry of a row has a gradient."""
    return rule("y_i = X_{i, tokens_i} has dX = dy_i at that place and 0 elsewhere", Pick(X, tokens), X, tokens)


@result
def windows() -> Derivation:
    """A row collects what all stretches say that hold it."""
    return rule(
        "Stretches of rows: row r of dX adds up what the stretches that hold row r say of it", Windows(D, width), D
    )


# --- layers and stacks ----------------------------------------------------------------------------------------------


@result
def dropped_entries() -> Derivation:
    """What was dropped learns nothing; what was kept is scaled like the value."""
    title = "Y = X o D / (1 - p) has dX = dY o D / (1 - p)"
    return replace(whole_claims(dropout()), title=title, source="Srivastava et al. (2014), section 5")


@result
def rotation() -> Derivation:
    """The gradient is turned back by the same angle."""
    return replace(
        local_claims(rotary_embedding()),
        title="Rotary embedding: the gradient of every pair is turned back, equation by equation",
        source="Su et al. (2021), section 3.2.2",
    )


@result
def mean_cross_entropy() -> Derivation:
    """Probabilities minus the one-hot target, shared out over the positions."""
    title = "The mean cross-entropy of n rows has dX = (softmax(X) - one-hot(tokens)) / n, times dloss"
    source = "Goodfellow, Bengio and Courville (2016), section 6.2.2.3"
    return replace(whole_claims(cross_entropy()), title=title, source=source)


@result
def repetition() -> Derivation:
    """Two of N layers, each any function of an affine map: gradients go back through the last one first.

    One layer more is one step more: what comes before it is covered by the rule for the input of a layer.
    """
    f, let = uninterpreted_function("f"), Equations()
    W, c, V, e = array("W", d, d), array("c", d), array("V", d, d), array("e", d)
    first = let("Y_1")(f(let("H_1")(D @ W + c)))
    output = let("Y_2")(f(let("H_2")(first @ V + e)))
    stack = Layer("two_layers", (D,), (W, c, V, e), let, output)
    return replace(
        whole_claims(stack),
        title="The gradient of two layers, one after the other: the last is gone back through first",
        source=SURVEY,
    )
