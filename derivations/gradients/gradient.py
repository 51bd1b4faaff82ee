r"""The rules of reverse mode: from the gradient of a value to the gradients of its operands.

Definition   dX is the array of the derivatives of <dY, Y> = sum over all indices p of dY_p Y_p by the entries of X,
             for a given array dY of the shape of Y
Result       one rule for each operation; with the chain rule, which adds the contributions of all uses of a variable,
             they give the gradient of every layer
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
tokens, M, S = token_array("tokens", n), mask_array("M", n, m), array("S", n, m)
numbers = token_array("N", n, d)
heads, wide, pairs = array("B", h, n, d), array("W", n, Blocks(h, d)), array("X", n, Blocks(m, Integer(2)))
width = size("width")


def rule(
    title: str, value: Array, *of: Variable, output: str = "Y", family: bool = False, source: str = SURVEY
) -> Derivation:
    """Return the proof of the gradients of Y = value for each of the arrays `of`. With `family`, Y has members Y_i."""
    let = Equations()
    named = let(output, over=(i, h)) if family else let(output)
    real = [variable for variable in of if variable.kind == "real"]
    given = [variable for variable in of if variable.kind != "real"]
    claims = local_claims(Layer("rule", (*real, *given), (), let, named(value)))
    return replace(claims, title=title, source=source)


# --- linear algebra -------------------------------------------------------------------------------------------------


@result
def product() -> Derivation:
    """Each factor's gradient is dY multiplied by the transpose of the other factor."""
    return rule("$Y = A B$ has $dA = dY B^T$ and $dB = A^T dY$", A @ B, A, B, source=COOKBOOK)


@result
def matrix_times_vector() -> Derivation:
    """The gradient with respect to the matrix is an outer product."""
    return rule("$y = A b$ has $dA = dy b^T$ and $db = A^T dy$", A @ b, A, b, output="y", source=COOKBOOK)


@result
def vector_times_matrix() -> Derivation:
    """The gradient with respect to the row is a product, and with respect to the matrix an outer product."""
    return rule("$y = a B$ has $da = B dy$ and $dB = a dy^T$", a @ B, a, B, output="y", source=COOKBOOK)


@result
def dot_product() -> Derivation:
    """In a dot product, the gradient of each vector is a multiple of the other."""
    return rule("$s = a . b$ has $da = ds b$ and $db = ds a$", a @ b, a, b, output="s", source=COOKBOOK)


@result
def transpose() -> Derivation:
    """The gradient is the transpose of dY."""
    return rule("$Y = A^T$ has $dA = dY^T$", A.T, A)


@result
def sum_and_multiple() -> Derivation:
    """A sum passes the gradient on, and a multiple multiplies it."""
    t = scalar("t")
    return rule("$Y = t A + C$ has $dA = t dY$ and $dC = dY$", t * A + C, A, C)


@result
def broadcast_bias() -> Derivation:
    """A vector added to every row gets the sum of the gradients of all rows."""
    return rule("$Y = A + 1 b^T$ has $dA = dY$, and $db$ is the sum of the rows of $dY$", A + b, A, b)


@result
def broadcast_column() -> Derivation:
    """A vector added to every column gets the sum of the gradients of all columns."""
    return rule("$Y = A + v 1^T$ has as $dv$ the sum of the columns of $dY$", A + ColumnBroadcast(v, m), A, v)


# --- entry by entry, along rows -------------------------------------------------------------------------------------


@result
def entrywise_product() -> Derivation:
    """As for numbers, each factor's gradient is dY times the other factor."""
    return rule("$Y = A o C$ has $dA = dY o C$ and $dC = dY o A$", Hadamard(A, C), A, C)


@result
def elementwise() -> Derivation:
    """The rule holds for any differentiable function, applied entry by entry."""
    return rule("$Y = f(A)$ entry by entry has $dA = dY o f'(A)$", uninterpreted_function("f")(A), A)


@result
def elementwise_of_two() -> Derivation:
    """A function of two arrays needs its two partial derivatives."""
    x, y = scalar("x"), scalar("y")
    f = named("f", Function("f", real=True)(x, y), x, y)
    return rule(
        "$Y = f(A, C)$ entry by entry: $dA$ and $dC$ are $dY$ times the slope of $f$ by $A$ and by $C$", f(A, C), A, C
    )


@result
def relu_off_the_kink() -> Derivation:
    """The gradient passes at positive entries and stops elsewhere; the slope at 0 is 0 by convention."""
    return rule("$Y = ReLU(A)$ has $dA = dY o [A > 0]$ where no entry of $A$ is 0", relu(A), A)


@result
def row_sum() -> Derivation:
    """Every entry of a row gets the gradient of the sum."""
    return rule("$s = rowsum(A)$ has $dA = ds 1^T$", RowSum(A), A, output="s")


@result
def row_mean() -> Derivation:
    """Every entry of a row of m gets 1/m of the gradient of the mean."""
    return rule("$s = rowmean(A)$ has $dA = ds 1^T / m$", RowMean(A), A, output="s")


@result
def softmax() -> Derivation:
    """The rule of attention weights subtracts the weighted mean of the row from dA, then multiplies by the weights."""
    return rule("$A = softmax(S)$, row by row, has $dS = A o (dA - rowsum(dA o A) 1^T)$", row_softmax(S), S, output="A")


@result
def masked_softmax() -> Derivation:
    """With a mask the rule is the same: hidden entries have weight 0 and gradient 0."""
    return rule(
        "With a mask, softmax has $dS = A o (dA - rowsum(dA o A) 1^T)$ as without", row_softmax(S, M), S, M, output="A"
    )


@result
def log_sum_exp() -> Derivation:
    """The gradient of a smooth maximum is the softmax."""
    return rule("$z = logsumexp(X)$, row by row, has $dX = Diag(dz) softmax(X)$", RowLogSumExp(X), X, output="z")


# --- parts, families, choices ---------------------------------------------------------------------------------------


@result
def concatenation() -> Derivation:
    """Each block gets its columns of the gradient."""
    return rule("$Y = [B_1 ... B_h]$ has as $dB_i$ block $i$ of $dY$", Concatenate(heads[i], i, h), heads)


@result
def blocks() -> Derivation:
    """The gradient is the concatenation of the gradients of the blocks."""
    return rule("$Y_i$, block $i$ of $W$, has $dW = [dY_1 ... dY_h]$", column_block(wide, i), wide, family=True)


@result
def sum_over_family() -> Derivation:
    """Each member of a sum gets the whole gradient."""
    return rule("$Y = B_1 + ... + B_h$ has $dB_i = dY$ for every $i$", SumOver(heads[i], i, h), heads)


@result
def shared_by_family() -> Derivation:
    """An array that every member of a family uses gets the sum of the gradients of all members."""
    return rule(
        "$Y_i = D^T B_i$ has $dD = sum_i B_i dY_i^T$ and $dB_i = D dY_i$", D.T @ heads[i], D, heads, family=True
    )


@result
def interleaving() -> Derivation:
    """Even columns of the gradient go to the first array, odd columns to the second."""
    return rule("Columns in turn: $dA$ has the even columns of $dY$, $dC$ the odd ones", Interleave(A, C), A, C)


@result
def every_other_column() -> Derivation:
    """Columns that were not selected have gradient 0."""
    return rule(
        "$Y$, the even columns of $X$: $dX$ has $dY$ in the even columns and 0 in the odd ones",
        EveryOther(pairs, 0),
        pairs,
    )


@result
def look_up() -> Derivation:
    """A row of the table gets the sum of the gradients of all positions that selected it."""
    E = array("E", vocab, d)
    return rule(
        "$Y$, the rows $tokens_i$ of $E$: row $v$ of $dE$ is the sum of the rows $i$ of $dY$ with $tokens_i = v$",
        Lookup(E, tokens),
        E,
        tokens,
    )


@result
def pick() -> Derivation:
    """Only the chosen entry of a row has a gradient."""
    return rule(
        "$y_i = X_{i, tokens_i}$ has $dX = dy_i$ at that place and 0 elsewhere", Pick(X, tokens), X, tokens, output="y"
    )


@result
def picks() -> Derivation:
    """An entry of a row that is chosen several times gets the sum of the gradients of all its copies."""
    return rule(
        "$Y_ij = X_{i, N_ij}$: entry $v$ of row $i$ of $dX$ is the sum of the entries $dY_ij$ with $N_ij = v$",
        Pick(X, numbers),
        X,
        numbers,
    )


@result
def windows() -> Derivation:
    """A row gets the sum of the gradients of all windows that contain it."""
    return rule(
        "Stretches of rows: row $r$ of $dD$ adds up what the stretches that hold row $r$ say of it",
        Windows(D, width),
        D,
    )


# --- layers and stacks ----------------------------------------------------------------------------------------------


@result
def dropped_entries() -> Derivation:
    """Dropped entries have gradient 0; the gradient of kept entries is scaled like the value."""
    title = "$Y = X o D / (1 - p)$ has $dX = dY o D / (1 - p)$"
    return replace(whole_claims(dropout()), title=title, source="Srivastava et al. (2014), section 5")


@result
def rotation() -> Derivation:
    """The gradient is rotated back by the same angle."""
    return replace(
        local_claims(rotary_embedding()),
        title="Rotary embedding: the gradient of every pair is turned back, equation by equation",
        source="Su et al. (2021), section 3.2.2",
    )


@result
def mean_cross_entropy() -> Derivation:
    """The gradient is the probabilities minus the one-hot target, divided by the number of positions."""
    title = "The mean cross-entropy of $n$ rows has $dX = (softmax(X) - onehot(tokens)) / n$, times $dloss$"
    source = "Goodfellow, Bengio and Courville (2016), section 6.2.2.3"
    return replace(whole_claims(cross_entropy()), title=title, source=source)


@result
def repetition() -> Derivation:
    """The gradient goes back through two layers, the last one first. A layer is any function of an affine map.

    Each further layer is one more step: the rule for the input of a layer covers all layers before it.
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
