r"""Token embedding: rows of a table, selected by token numbers.

Definition   X_i = sqrt(d_model) E_{tokens_i}
Result       one-hot rows times the table; entries of variance 1 if those of the table have variance 1/d_model, for
             which the logits H E^T of a tied output have variance 1, too; vocab d_model parameters, which a tied
             output does not need again
Shapes       tokens (n,), E (vocab, d_model), X (n, d_model)
Assumes      0 <= tokens_i < vocab
Source       Vaswani et al. (2017), section 3.4
"""

from sympy import Eq, Expr, Function, Ge, Indexed, KroneckerDelta, Lambda, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.functions import Lookup
from derivations.language.arrays.scalars import Expectation as Mean
from derivations.language.arrays.scalars import Variance
from derivations.language.arrays.selection import OneHot
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Rank
from derivations.linear.linear import linear
from derivations.symbols import d_model, i, j, k, l, n, size, vocab

__all__ = ["embedding", "factorised_embedding"]

VASWANI = "Vaswani et al. (2017), section 3.4"
LAN = "Lan, Chen, Goodman, Gimpel, Sharma and Soricut (2020), section 3.1"
PRESS = "Press and Wolf (2017), section 2"
tokens, E = token_array("tokens", n), array("E", vocab, d_model)
r = size("r")
X, H = array("X", n, d_model), array("H", n, d_model)
IN_VOCABULARY = (
    Assumption(Ge(tokens[i], 0), {i: n}),
    Assumption(Ge(vocab - 1 - tokens[i], 0), {i: n}),
)


@catalogued
def embedding() -> Layer:
    """Return the embedding of tokens: rows of a table, times sqrt(d_model).

    Definition   X_i = sqrt(d_model) E_{tokens_i}
    Shapes       tokens (n,), E (vocab, d_model), X (n, d_model)
    Assumes      0 <= tokens_i < vocab
    Source       Vaswani et al. (2017), section 3.4
    """
    let = Equations()
    let("X")(Lookup(E, tokens) * sqrt(d_model))
    return Layer("embedding", (tokens,), (E,), let, X)


def chosen(column: Expr) -> Indexed:
    """Return the entry of the table in the row of token i."""
    return Indexed(E.base, tokens[i], column)


@result
def definition() -> Derivation:
    """The entries of the embedding: row i is sqrt(d_model) times the row of the table for token i."""
    return derivation(
        "Definition of the token embedding",
        claim(X[i, k], step("definition", sqrt(d_model) * chosen(k))),
        about=embedding(),
        ranges={i: n, k: d_model},
        assuming=IN_VOCABULARY,
        source=VASWANI,
    )


@result
def one_hot_product() -> Derivation:
    """Looking up a row is multiplying by a one-hot row: a linear layer without a bias."""
    return derivation(
        "The embedding is the product of one-hot rows and the table",
        claim(
            (OneHot(tokens, vocab) @ E)[i, k],
            step("matrix product", Sum(KroneckerDelta(tokens[i], l) * E[l, k], (l, 0, vocab - 1))),
            step("Kronecker delta", chosen(k)),
        ),
        claim(X[i, k], step("Kronecker delta", sqrt(d_model) * (OneHot(tokens, vocab) @ E)[i, k])),
        about=embedding(),
        ranges={i: n, k: d_model},
        assuming=IN_VOCABULARY,
        source=VASWANI,
    )


@result
def one_hot_rows() -> Derivation:
    """The products of one-hot rows are 1 for equal tokens and 0 for different ones."""
    T = OneHot(tokens, vocab)
    return derivation(
        "One-hot rows have length 1, and are orthogonal where the tokens differ",
        claim(
            (T @ T.T)[i, j],
            step("Kronecker delta", KroneckerDelta(tokens[i], tokens[j])),
        ),
        ranges={i: n, j: n},
        assuming=IN_VOCABULARY,
        source=VASWANI,
    )


@result
def permutation_equivariance() -> Derivation:
    """A token has the same row at every position: the embedding ignores the order of the tokens."""
    sigma = Function("sigma", integer=True)
    T, moved = OneHot(tokens, vocab), Tabulated(Lambda((i, l), KroneckerDelta(tokens[sigma(i)], l)), n, vocab)
    return derivation(
        "Embedding permuted tokens gives the rows of the embedding, permuted",
        claim((moved @ E)[i], step("row of a product", T[sigma(i)] @ E), step("row of a product", (T @ E)[sigma(i)])),
        ranges={i: n},
        bijections=[("sigma", "sigma_inverse", n)],
        source=VASWANI,
    )


def moment(of: Expr, value: Expr | int, text: str) -> Assumption:
    """Return the assumption that an expression has the given expectation, at all indices."""
    sizes = {i: n, j: vocab, k: d_model, l: d_model}
    return Assumption(Eq(Mean(of), value, evaluate=False), {s: sizes[s] for s in sizes if of.has(s)}, text)


TABLE = (
    moment(E[j, k], 0, "entries of mean 0"),
    moment(E[j, k] ** 2, 1 / d_model, "of variance $1/d_model$"),
    moment(E[j, k] * E[j, l], KroneckerDelta(k, l) / d_model, "and uncorrelated"),
)


@result
def scale() -> Derivation:
    """With a table of variance 1/d_model, the factor sqrt(d_model) gives entries of variance 1, like the positions."""
    scaled = sqrt(d_model) * E[j, k]
    return derivation(
        "Entries of variance $1/d_model$ times $sqrt(d_model)$ have variance 1; the rows alone have length 1 on "
        "average",
        claim(Variance(scaled), step("variance", d_model * Variance(E[j, k])), step("moments", 1)),
        claim(
            Mean((E[j] @ E[j]).entry()),
            step("linearity of expectation", Sum(Mean(E[j, k] ** 2), (k, 0, d_model - 1))),
            step("moments", 1),
        ),
        ranges={j: vocab, k: d_model},
        assuming=TABLE,
        source=VASWANI,
    )


@result
def tied_logits() -> Derivation:
    """With the same table as output matrix, logits have variance 1 without the scale, which only the input has."""
    logit, pair = (H @ E.T)[i, j], H[i, k] * H[i, l]
    text = "the table is independent of what enters the output"
    return derivation(
        "With a table of variance $1/d_model$ and features of mean square 1, tied logits have variance 1",
        claim(
            Variance(logit),
            step("variance", Mean(logit**2) - Mean(logit) ** 2),
            step("moments", Sum(Mean(H[i, k] ** 2), (k, 0, d_model - 1)) / d_model),
            step("moments", 1),
        ),
        ranges={i: n, j: vocab},
        assuming=[
            *TABLE,
            moment(H[i, k] * E[j, k], Mean(H[i, k]) * Mean(E[j, k]), text),
            moment(pair * E[j, k] * E[j, l], Mean(pair) * Mean(E[j, k] * E[j, l]), text),
            moment(H[i, k] ** 2, 1, "features of mean square 1, as after a norm"),
        ],
        source=PRESS,
    )


@result
def weight_tying() -> Derivation:
    """With the table as output matrix, a logit is the product of a row and the token's row of the table."""
    return derivation(
        "A tied output: logit $v$ is the dot product with row $v$ of the table, and $vocab d_model$ parameters "
        "are saved",
        claim(H @ E.T, step("matrix product", Tabulated(Lambda((i, j), (H[i] @ E[j]).entry()), n, vocab))),
        claim(Count("parameters", embedding()), step("count", vocab * d_model)),
        claim(Count("parameters", linear().at(d_in=d_model, d_out=vocab)), step("count", vocab * d_model + vocab)),
        source=PRESS,
    )


def factorised_embedding() -> Layer:
    """Return the embedding through a narrow table: rows of width r, projected to the width of the model.

    Definition   Z_i = E_{tokens_i}, X = Z P
    Shapes       tokens (n,), E (vocab, r), P (r, d_model), Z (n, r), X (n, d_model)
    Assumes      0 <= tokens_i < vocab
    Source       Lan, Chen, Goodman, Gimpel, Sharma and Soricut (2020), section 3.1
    """
    table, projection = array("E", vocab, r), array("P", r, d_model)
    let = Equations()
    rows = let("Z")(Lookup(table, tokens))
    let("X")(rows @ projection)
    return Layer("factorised_embedding", (tokens,), (table, projection), let, X)


@result
def factorised() -> Derivation:
    """The narrow table times the projection is a table of rank at most r: a look-up in it is the embedding."""
    layer = factorised_embedding()
    table, projection = layer.parameters
    return derivation(
        "An embedding through width $r$ is one with the table $E P$, for $r (vocab + d_model)$ parameters",
        claim(
            X[i, k],
            step("row of a product", (table @ projection)[tokens[i], k]),
        ),
        claim(Rank(table @ projection), step("rank of a product", r, "<=")),
        claim(
            Count("parameters", layer),
            step("count", vocab * r + r * d_model),
            step("algebra", r * (vocab + d_model)),
        ),
        about=layer,
        ranges={i: n, k: d_model},
        assuming=IN_VOCABULARY,
        source=LAN,
    )
