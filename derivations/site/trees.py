"""Counts as data that JavaScript evaluates exactly: closed forms over BigInt, which rounds nothing.

Definition   a tree is a number, the name of a size, or a list of a sign and the trees below it: ["+", "n", 1]. A sum of
             terms with rational coefficients stands over their common denominator, so that it is divided once, by "/",
             which refuses a remainder, or by "up", which rounds up; "min" is the smaller of two, "max" the larger; "#"
             stands before a number too large for JSON
Result       data rather than a program: a page whose policy runs no other scripts can still count a model of its reader
Raises       ValueError for what is not made of integers, sizes, sums, products, powers, minima and maxima

>>> from derivations.symbols import n
>>> tree(n * (n + 1) / 2)
['/', ['*', 'n', ['+', 'n', 1]], 2]
"""

from __future__ import annotations

from typing import TypeAlias

from sympy import Add, Expr, Integer, Max, Min, Mul, Pow, Rational, Symbol, ceiling, fraction, ilcm, together

from derivations.language.printing.latex import latex_of

__all__ = ["Tree", "addends", "rounded_up", "tree"]

Tree: TypeAlias = "int | str | list[Tree]"
SAFE = 2**53  # JavaScript reads numbers up to here without rounding them


def tree(expression: Expr) -> Tree:
    """Return the tree of a count."""
    match expression:
        case Symbol():
            return expression.name
        case Integer():
            return int(expression) if abs(int(expression)) < SAFE else ["#", str(expression)]
        case Rational():
            return ["/", expression.p, expression.q]
        case Add():
            return _sum(expression)
        case Mul():
            return _product(expression)
        case Pow(base=base, exp=Integer() as exponent) if exponent > 0:
            return ["^", tree(base), int(exponent)]
        case Min() | Max():
            return [type(expression).__name__.lower(), *map(tree, expression.args)]
        case ceiling(args=(inside,)):
            return rounded_up(inside)
    raise ValueError(f"{expression} has no form in whole numbers: {type(expression).__name__} is not printed")


def rounded_up(expression: Expr) -> Tree:
    """Return the tree of the least whole number that is not below a count."""
    over, below = fraction(together(expression))
    if below == 1:
        return tree(over)
    if not isinstance(below, Integer):
        raise ValueError(f"{expression} is divided by a size, and no number of devices is")
    return ["up", tree(over), int(below)]


def addends(expression: Expr) -> list[tuple[Tree, str]]:
    """Return the terms of a sum, each with its LaTeX; a form that is divided as a whole is one term."""
    terms = expression.as_ordered_terms() if isinstance(expression, Add) else [expression]
    if isinstance(expression, Add) and _denominator(expression) != 1:
        terms = [expression]
    return [(tree(term), latex_of(term)) for term in terms]


def _sum(total: Add) -> Tree:
    below = _denominator(total)
    if below != 1:
        return ["/", tree(Add(*(below * term for term in total.args))), below]
    return ["+", *map(tree, total.as_ordered_terms())]


def _product(product: Mul) -> Tree:
    coefficient, rest = product.as_coeff_Mul()
    if coefficient.q != 1:
        return ["/", tree(coefficient.p * rest), coefficient.q]
    numbers = [] if coefficient == 1 else [coefficient]
    return ["*", *map(tree, (*numbers, *rest.as_ordered_factors()))]


def _denominator(total: Add) -> int:
    """Return the least common denominator of the coefficients of a sum."""
    return int(ilcm(1, *(term.as_coeff_Mul()[0].q for term in total.args)))
