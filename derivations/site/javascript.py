"""Counts as JavaScript: closed forms over BigInt, which has no largest number and rounds nothing.

Definition   a sum of terms with rational coefficients is printed over their common denominator, so that it is divided
             once; `exactly` refuses a remainder, `least` is the smaller of two numbers (assets/exact.js)
Result       an expression over the fields of `s`, such as 2n * s.d_ff * s.d_model
Raises       ValueError for what is not made of integers, sizes, sums, products, powers and minima

>>> from derivations.symbols import n
>>> javascript(n * (n + 1) / 2)
'exactly(s.n * (s.n + 1n), 2n)'
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Min, Mul, Pow, Rational, Symbol, ilcm
from sympy.printing.printer import Printer

__all__ = ["javascript"]


def javascript(expression: Expr) -> str:
    """Return the JavaScript of a count."""
    printed: str = _Exact().doprint(expression)
    return printed


class _Exact(Printer):
    """Sums and products as JavaScript; other nodes are refused."""

    def _print_Symbol(self, symbol: Symbol) -> str:
        if not symbol.name.isidentifier():
            raise ValueError(f"the size {symbol.name!r} is no name in JavaScript: name it with letters and digits")
        return f"s.{symbol.name}"

    def _print_Integer(self, number: Integer) -> str:
        return f"{number.p}n" if number >= 0 else f"({number.p}n)"

    def _print_Rational(self, number: Rational) -> str:
        return f"exactly({number.p}n, {number.q}n)"

    def _print_Add(self, total: Add) -> str:
        below = _denominator(total)
        if below != 1:
            return f"exactly({self._print(Add(*(below * term for term in total.args)))}, {below}n)"
        return " + ".join(self._print(term) for term in total.as_ordered_terms())

    def _print_Mul(self, product: Mul) -> str:
        coefficient, rest = product.as_coeff_Mul()
        if coefficient.q != 1:
            return f"exactly({self._print(coefficient.p * rest)}, {coefficient.q}n)"
        numbers = [] if coefficient == 1 else [coefficient]
        return " * ".join(self._factor(factor) for factor in (*numbers, *rest.as_ordered_factors()))

    def _print_Pow(self, power: Pow) -> str:
        base, exponent = power.args
        if not (isinstance(exponent, Integer) and exponent > 0):
            raise ValueError(f"{power} is not a product of sizes, which a count is made of")
        return f"({self._print(base)}) ** {exponent.p}n"

    def _print_Min(self, least: Min) -> str:
        first, *others = least.args
        printed = self._print(first)
        for each in others:
            printed = f"least({printed}, {self._print(each)})"
        return printed

    def _factor(self, factor: Expr) -> str:
        is_bare_sum = isinstance(factor, Add) and _denominator(factor) == 1
        return f"({self._print(factor)})" if is_bare_sum else str(self._print(factor))

    def emptyPrinter(self, expression: object) -> str:
        """Refuse a node that has no exact form here."""
        raise ValueError(f"{expression} has no form in integers alone: {type(expression).__name__} is not printed")


def _denominator(total: Add) -> int:
    """Return the least common denominator of the coefficients of a sum."""
    return int(ilcm(1, *(term.as_coeff_Mul()[0].q for term in total.args)))
