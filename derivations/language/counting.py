"""Counting from 1 in print: SymPy objects and code count from 0, printed mathematics counts from `first`.

An index j of our expressions counts from 0; its printed letter counts from `first`, so that our j is the printed
j - first, and our place p is the printed place p + first. Hence x[j] prints as x_j, x[0] as x_1, a sum over
j = 0, ..., n - 1 as a sum over j = 1, ..., n, the place i d_v + c as (i - 1) d_v + c, and the number j as j - 1.
Adding the same to both sides of a comparison, or to both places of a Kronecker delta, changes neither.
"""

from collections.abc import Iterator

from sympy import Add, Basic, Expr, Indexed, Integer, Symbol

from derivations.language.layer import Apply, Equation

__all__ = ["Letter", "is_index", "printed_sum", "symbols_in"]


class Letter(Symbol):
    """An index as it is printed: it already counts from the first index of the notation."""


def is_index(expr: Basic) -> bool:
    """Say whether an expression is an index: an integer symbol that is no size."""
    return isinstance(expr, Symbol) and not isinstance(expr, Letter) and bool(expr.is_integer) and not expr.is_positive


def printed_sum(expr: Expr, first: int, start: int) -> Expr:
    """Return `expr + start` with every index outside of entries replaced by its letter minus `first`.

    Definition   j -> letter - first;  the constants are collected, so that j + 1 counted from 1 is the letter alone
    """
    if first == 0:
        return expr
    letters = {s: Letter(s.name, integer=True) for s in symbols_in(expr, entries=False) if is_index(s)}
    if isinstance(expr, Indexed):
        return expr
    terms = [term.xreplace({s: letter - first for s, letter in letters.items()}) for term in Add.make_args(expr)]
    return Add(*terms, Integer(start))


def symbols_in(expr: Basic, *, entries: bool = True) -> Iterator[Symbol]:
    """Yield the symbols of an expression, bound ones too; not those inside a layer that it applies.

    Without `entries`, the places of entries (Indexed) are left out.
    """
    if isinstance(expr, Symbol):
        yield expr
    elif isinstance(expr, Apply):
        for child in (*expr.arguments, *expr.bound.values()):
            yield from symbols_in(child, entries=entries)
    elif isinstance(expr, Indexed):
        if entries:
            for place in expr.indices:
                yield from symbols_in(place)
    elif isinstance(expr, Equation):
        yield from symbols_in(expr.value)
    else:
        for child in expr.args:
            yield from symbols_in(child, entries=entries)
