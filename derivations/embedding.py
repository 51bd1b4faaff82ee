r"""Token embedding: rows of a table, chosen by numbers.

Definition   X_i = sqrt(d_model) E_{tokens_i}
Result       the entry formula
Shapes       tokens (n,), E (vocab, d_model), X (n, d_model)
Assumes      0 <= tokens_i < vocab
Source       Vaswani et al. (2017), section 3.4
"""

from sympy import Ge, Indexed, sqrt

from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import array, token_array
from derivations.language.functions import Lookup
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, i, k, n, vocab

__all__ = ["embedding"]


def embedding() -> Layer:
    """Return the embedding of tokens: rows of a table, times sqrt(d_model).

    Definition   X_i = sqrt(d_model) E_{tokens_i}
    Shapes       tokens (n,), E (vocab, d_model), X (n, d_model)
    Assumes      0 <= tokens_i < vocab
    Source       Vaswani et al. (2017), section 3.4
    """
    tokens, E = token_array("tokens", n), array("E", vocab, d_model)
    let = Equations()
    X = let("X")(Lookup(E, tokens) * sqrt(d_model))
    return Layer("embedding", (tokens,), (E,), let, X)


@result
def definition() -> Derivation:
    """The embedding, entry by entry: row i is the row of the table that token i names."""
    tokens, E, X = token_array("tokens", n), array("E", vocab, d_model), array("X", n, d_model)
    return derivation(
        "Definition of the token embedding",
        claim(X[i, k], step("definition", sqrt(d_model) * Indexed(E.base, tokens[i], k))),
        about=embedding(),
        ranges={i: n, k: d_model},
        assuming=[Assumption(Ge(tokens[i], 0), {i: n}), Assumption(Ge(vocab - 1 - tokens[i], 0), {i: n})],
        source="Vaswani et al. (2017), section 3.4",
    )
