r"""Token embedding."""

from sympy import sqrt

from derivations.language.expression import array, token_array
from derivations.language.functions import Lookup
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, n, vocab

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
