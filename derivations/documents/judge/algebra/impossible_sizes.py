r"""Equations between sizes that no sizes satisfy: `n d_v = n (d_k + d_v)`.

Definition   sizes are whole numbers from 1 on; the two sides are rational in them, and the numerator of their
             difference, with 1 + s in the place of every size s, has coefficients of one sign and a constant term
Result       `is_impossible(first, second)`: no sizes make the sides equal, so that it is no condition on them either
Assumes      what is written as a size, and stands beside a width with a label, d_k or d_in, is one: an m alone may be a
             mean, an h a hidden state. What differs by terms of a lower degree may leave them out on purpose, and a
             number that is not whole may count thousands or millions
"""

from __future__ import annotations

from sympy import Expr, Poly, Symbol, fraction, together

from derivations.documents.judge.algebra.scalar_growth import grows
from derivations.documents.judge.algebra.scalar_links import ratio_of

__all__ = ["is_impossible"]

MOST_LETTERS = 6
MOST_OPERATIONS = 80
PLACES = frozenset("ijlpqst")  # below a letter, of its entries


def is_impossible(first: Expr, second: Expr) -> bool:
    """Say whether two sides differ for all sizes."""
    if any(side.is_number and not (side.is_Integer and side > 0) for side in (first, second)):
        return False
    if (first - second).count_ops() > MOST_OPERATIONS:
        return False
    ratio = ratio_of(first, second)
    if ratio is None:
        return False
    above, below = fraction(together(ratio))
    letters = sorted(ratio.free_symbols, key=str)
    if not 0 < len(letters) <= MOST_LETTERS or not all(map(_is_size, letters)) or not any(map(_is_width, letters)):
        return False
    shifted = [each.xreplace({letter: 1 + letter for letter in letters}) for each in (above, below)]
    if any(map(grows, shifted)):
        return False
    polynomials = [Poly(each, *letters) for each in shifted]
    polynomial = polynomials[0] - polynomials[1]
    if polynomial.total_degree() < max(each.total_degree() for each in polynomials):
        return False
    factors = polynomial.coeffs()
    constant = polynomial.coeff_monomial(1)
    return bool(constant) and all(each.is_Rational and each * constant > 0 for each in factors)


def _is_size(letter: Symbol) -> bool:
    """Say whether a letter is a size, and none of entries: d_k, but not h_t."""
    label = letter.name.partition("_")[2]
    return bool(letter.is_positive and letter.is_integer) and label not in PLACES and not label.isdigit()


def _is_width(letter: Symbol) -> bool:
    return letter.name.startswith("d_")
