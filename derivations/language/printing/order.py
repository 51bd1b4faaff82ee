"""The order of the terms of sums and the factors of products in print, as in a textbook.

Products   numbers, sizes, other letters, brackets of Iverson, entries, functions, right factors (weights, values),
           Kronecker deltas, parentheses, sums over an index:  (n - 1) e^{-g},  y_i (delta_ik - y_k),  2 n d_model d_ff
Sums       positive terms before negative ones; polynomials in sizes by degree, their constant last; otherwise
           constants first:  delta_ik - y_k,  1 - y_i,  n - 1,  1 + e^{-g}
Written    a sum or product that its author left unevaluated keeps the author's order
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from sympy import Add, Basic, Expr, Indexed, KroneckerDelta, Mul, Number, Pow, Sum, Symbol, exp

from derivations.language.arrays.scalars import Iverson
from derivations.language.printing.counting import Letter, is_index

__all__ = ["factors", "is_size_like", "natural", "terms"]

_SIZES = ("batch", "N", "h", "n", "m", "vocab", "d", "d_in", "d_out", "d_model", "d_k", "d_v", "d_ff")
Print = Callable[[Basic], str]


def natural(text: str) -> tuple[Any, ...]:
    """Return a key that sorts texts by their letters, with numbers by their value: x_2 before x_10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"([0-9]+)", text))


def is_size_like(expr: Basic) -> bool:
    """Return whether an expression is built only from numbers and sizes."""
    symbols = expr.free_symbols
    return bool(symbols) and all(s.is_integer and s.is_positive for s in symbols) and not expr.has(Indexed, exp)


def factors(expr: Expr, text: Print) -> tuple[Expr, ...]:
    """Return the factors of a product in the order in which they are written."""
    given = Mul.make_args(expr)
    if Mul(*given).args != given:
        return given  # not in SymPy's order: the author left the product unevaluated, and chose this order
    # by the printed text at last, so that the order is that of the letters the reader sees
    return tuple(sorted(given, key=lambda f: (*_factor_rank(f), natural(text(f).replace("-", "")))))


def _factor_rank(factor: Basic) -> tuple[int, ...]:
    base = factor.base if isinstance(factor, Pow) else factor
    if isinstance(factor, Number):
        return (0,)
    if isinstance(base, Sum):
        return (9,)
    if is_size_like(factor):
        return (2, min(map(_size_place, factor.free_symbols)), isinstance(base, Add))
    if isinstance(base, Add):
        return (1,) if base.free_symbols and all(map(_is_letter, base.free_symbols)) else (8,)
    if isinstance(base, Symbol | Letter):
        return (1,) if _is_letter(base) else (3,)
    if isinstance(base, Iverson):
        return (5, 0) if base.atoms(Indexed) else (4,)
    if isinstance(base, Indexed):
        return _entry_rank(str(base.base.label))
    return (7,) if isinstance(base, KroneckerDelta) else (6, 0)


def _is_letter(symbol: Symbol) -> bool:
    return isinstance(symbol, Letter) or is_index(symbol)


def _entry_rank(name: str) -> tuple[int, int]:
    """Return the rank of an entry: queries and gains first, right factors (values, weights, embeddings) last."""
    # Q K^T and A V: entries print in the order of the matrix products that they come from
    return (6, 1) if name[0] in "WVvE" else (5, 0 if name in ("Q", "q", "gamma") else 1)


def terms(expr: Expr, text: Print) -> tuple[Expr, ...]:
    """Return the terms of a sum in the order in which they are written."""
    given = Add.make_args(expr)
    # as for factors: the author left the sum unevaluated, and chose this order
    if Add(*given).args != given:
        return given
    polynomial = all(term.is_number or _is_polynomial(term) for term in given)
    last = polynomial and any(not term.is_number and not text(term).startswith("-") for term in given)

    def key(term: Expr) -> tuple[Any, ...]:
        printed = text(term)
        behind = last and term.is_number
        return (behind, printed.startswith("-"), *_term_rank(term, polynomial), natural(printed))

    return tuple(sorted(given, key=key))


def _is_polynomial(term: Expr) -> bool:
    parts = Mul.make_args(term)
    return all(
        isinstance(p, Number | Symbol | Letter) or (isinstance(p, Pow | Add) and p.is_polynomial()) for p in parts
    )


def _term_rank(term: Expr, polynomial: bool) -> tuple[Any, ...]:
    if getattr(term, "name", "") == "epsilon":
        return (9,)
    if term.is_number:
        return (8,) if polynomial else (0,)
    if polynomial:
        return (1, -_degree(Mul.make_args(term)), _size_places(term))
    if term.has(Sum):
        return (1,)
    if term.has(KroneckerDelta):
        return (2,)
    return (3, -len(Mul.make_args(term))) if term.has(Indexed) else (4,)


def _degree(parts: Sequence[Expr]) -> int:
    powers = (part.exp if isinstance(part, Pow) else 1 for part in parts if part.free_symbols)
    return sum(int(power) if getattr(power, "is_number", True) and power == int(power) else 1 for power in powers)


def _size_places(term: Expr) -> tuple[int, ...]:
    return tuple(sorted(map(_size_place, term.free_symbols)))


def _size_place(symbol: Basic) -> int:
    name = getattr(symbol, "name", "")
    return _SIZES.index(name) if name in _SIZES else len(_SIZES)
