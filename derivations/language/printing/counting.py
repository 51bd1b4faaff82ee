"""Counting from 1 in print: SymPy objects and code count from 0, printed mathematics counts from `first`.

An index j of our expressions counts from 0 and its printed letter counts from `first`. So our j is the printed
j - first, and our position p is the printed position p + first. Hence x[j] prints as x_j, x[0] as x_1, a sum over
j = 0, ..., n - 1 as a sum over j = 1, ..., n, the position i d_v + c as (i - 1) d_v + c, and the number j as j - 1. A
permutation sigma of positions also permutes printed positions: x[sigma(j)] prints as x_sigma(j). A comparison does not
change if the same number is added to both sides, nor does a Kronecker delta if it is added to both indices.
"""

from collections.abc import Iterator, Sequence

from sympy import Add, Basic, Expr, Indexed, Integer, Mul, Pow, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.layers.layer import Apply, Equation

__all__ = ["Letter", "folds", "has_index", "is_index", "printed_sum", "symbols_in"]


class Letter(Expr):
    """The printed letter of an index, which counts from the first index of the notation."""

    is_commutative = True
    is_integer = True

    @property
    def free_symbols(self) -> set[Basic]:
        """The letter itself, since it is not the same symbol as the index."""
        return {self}


def is_index(expr: Basic) -> bool:
    """Return whether an expression is an index: an integer symbol that is not a size, or its image by a permutation."""
    return isinstance(expr, Symbol | AppliedUndef) and bool(expr.is_integer) and not expr.is_positive


def has_index(expr: Basic) -> bool:
    """Return whether an index occurs in an expression as a number, like j in n - j, but not in x[j]."""
    return is_index(expr) or (isinstance(expr, _ARITHMETIC) and any(map(has_index, expr.args)))


_ARITHMETIC = (Add, Mul, Pow)


def _lettered(expr: Expr, first: int) -> Expr:
    # our j is the printed j - first
    if is_index(expr):
        return Letter(expr) - first
    if not has_index(expr):
        return expr
    args = [_lettered(arg, first) for arg in expr.args]
    blocks = isinstance(expr, Mul) and isinstance(expr.args[0], Integer) and abs(expr.args[0]) > 2
    return expr.func(*args, evaluate=not blocks)  # 64 i is the start of block i: it is kept as 64 (i - 1)


def printed_sum(expr: Expr, first: int, start: int) -> Expr:
    """Return `expr + start` with every index replaced by its letter minus `first`, the first printed index.

    Definition   j -> letter - first;  the constants are collected, so that j + 1 counted from 1 is just the letter, and
                 8 j + 8 is 8 times the letter
    """
    if first == 0 or isinstance(expr, Indexed):  # the entries of an array of token numbers count from 0
        return expr
    terms = [*Add.make_args(expr), Integer(start)]
    if (found := _multiples(terms, first)) is not None:
        return found
    return Add(*(_lettered(term, first) for term in terms))


def folds(expr: Add, first: int) -> bool:
    """Return whether a sum gets shorter in printed letters, as j + 1, n - j and 8 j + 8 do when counting from 1."""
    shorter = any(is_index(term) or is_index(-term) for term in expr.args)
    return bool(first) and (shorter or _multiples(expr.args, first) is not None)


def _multiples(terms: Sequence[Expr], first: int) -> Expr | None:
    """Return a sum such as 8 j + 8 as a multiple of the letter of j, or None where a number would be left."""
    numbers = Add(*(term for term in terms if term.is_Number))
    multiples = [term.as_coeff_Mul() for term in terms if not term.is_Number]
    counts = Add(*(count for count, _ in multiples))
    if not multiples or not all(is_index(index) for _, index in multiples) or numbers != first * counts:
        return None
    return Add(*(count * Letter(index) for count, index in multiples))


def symbols_in(expr: Basic) -> Iterator[Symbol]:
    """Yield the symbols of an expression, also bound ones, but not those inside an applied layer."""
    if isinstance(expr, Symbol):
        yield expr
        return
    children = expr.args
    if isinstance(expr, Apply):
        children = (*expr.arguments, *expr.bound.values())
    elif isinstance(expr, Equation):
        children = (expr.value,)
    for child in children:
        yield from symbols_in(child)
