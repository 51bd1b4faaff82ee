r"""Cross-entropy, and the loss of the Transformer, entry by entry.

Definition   loss = -1/n sum_i sum_j T_ij log(exp(x_ij) / sum_l exp(x_il));   a token t means T_ij = 1 where j = t
Source       Goodfellow, Bengio and Courville (2016), section 6.2.2.3

>>> from mpmath import nstr
>>> from numeric.verification.reference import cross_entropy
>>> nstr(cross_entropy([[5.0, 5.0]], [1]), 12)                                             # log 2
'0.69314718056'
"""

from operator import index
from typing import Any

from mpmath import mp

from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, at_fifty_digits, read

__all__ = ["cross_entropy", "soft_cross_entropy"]


@loops_of("soft_cross_entropy")
@at_fifty_digits
def soft_cross_entropy(X: Array, T: Array) -> Any:
    """Return the mean cross-entropy of rows of logits against rows of weights.

    Definition   -1/n sum_i sum_j T_ij log(exp(x_ij) / sum_l exp(x_il))
    Shapes       X (n, vocab), T (n, vocab) -> a number
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    X, T = read("soft_cross_entropy", X=(X, "n vocab"), T=(T, "n vocab"))
    loss = mp.zero
    for x, t in zip(X, T, strict=True):
        whole = sum(mp.exp(each) for each in x)
        loss -= sum(t[j] * mp.log(mp.exp(x[j]) / whole) for j in range(len(x)))
    return loss / len(X)


@loops_of("cross_entropy")
@at_fifty_digits
def cross_entropy(X: Array, tokens: Array) -> Any:
    """Return the mean cross-entropy of rows of logits against tokens.

    Definition   -1/n sum_i log(exp(x_it) / sum_l exp(x_il)), t = tokens_i
    Shapes       X (n, vocab), tokens (n,) integers -> a number
    Raises       ValueError where a token is not an integer from 0 to vocab - 1, or their number is not that of the rows
    """
    (X,) = read("cross_entropy", X=(X, "n vocab"))
    vocab = len(X[0])
    try:
        numbers = [index(tokens[i]) for i in range(len(tokens))]
    except TypeError:
        numbers = [-1]
    if len(numbers) != len(X) or not all(0 <= token < vocab for token in numbers):
        raise ValueError(
            f"cross_entropy: the tokens are {tokens!r}; pass one integer from 0 to {vocab - 1} for each of the "
            f"{len(X)} rows."
        )
    return soft_cross_entropy(X, [[int(j == token) for j in range(vocab)] for token in numbers])
