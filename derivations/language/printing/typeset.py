"""The printer of scalars: ordinary SymPy expressions, with indices counted from 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sympy import (
    Add,
    Basic,
    Expr,
    Float,
    Indexed,
    Integer,
    KroneckerDelta,
    Le,
    Mul,
    Pow,
    Rational,
    Symbol,
    cos,
    sin,
    true,
)
from sympy.core.function import AppliedUndef

from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.printing.counting import Letter, folds, has_index, is_index, printed_sum
from derivations.language.printing.letters import joined
from derivations.language.printing.marks import Marks
from derivations.language.printing.order import factors, is_size_like, natural, terms

__all__ = ["ATOM", "PRODUCT", "STATEMENT", "SUM", "ScalarPrinter"]

STATEMENT, SUM, PRODUCT, ATOM = 0, 1, 2, 3  # precedence levels of printed forms, from loose to tight

_DECIMALS = 6  # at most, of a fraction that prints as a decimal
_PLAIN_BASES = (Symbol, Indexed, Integer, KroneckerDelta, AppliedUndef, Expectation, Variance)
_COMPARISONS = {"Equality": "=", "Unequality": "!=", "LessThan": "<=", "StrictLessThan": "<"}
_COMPARISONS |= {"GreaterThan": ">=", "StrictGreaterThan": ">"}


class ScalarPrinter(Marks):
    """The printer of scalars in a notation."""

    # How operands are put together

    def level(self, expr: Basic) -> int:
        """Return the precedence level of the printed form of an expression."""
        if expr in self._operands:
            return self._operands[expr][1]
        # an index prints as j - first, which is a sum
        if self.first and is_index(expr):
            return SUM
        if isinstance(expr, Add):
            folded = self._folded(expr)
            return SUM if isinstance(folded, Add) else self.level(folded)
        if isinstance(expr, Mul | Rational) or self._is_quotient(expr):
            return self._product_level(expr)
        if expr.func.__name__ in ("Sum", "Limit", "Derivative", "largest"):
            return ATOM if self._is_partial(expr) and not self.slashed() else PRODUCT
        if getattr(expr, "is_Relational", False) or expr.func.__name__ in ("And", "Or", "Not", "Implies", "Equivalent"):
            return STATEMENT
        return SUM if expr.func.__name__ in ("Piecewise", "Lambda") else ATOM

    def _product_level(self, expr: Expr) -> int:
        negative, top, bottom = self._split(expr)
        if negative:
            return SUM
        if not bottom and len(top) == 1:
            return ATOM if isinstance(top[0], Integer) else self.level(top[0])
        whole = bottom and not self.slashed() and not self._sum_apart(top, bottom)
        return ATOM if whole else PRODUCT

    def operand(self, expr: Basic, least: int) -> str:
        """Return the printed form, in parentheses if its level is below `least`."""
        text = self._print(expr)
        return text if self.level(expr) >= least else self.wrapped(text)

    def _in_letters(self, expr: Basic) -> str:
        return self._with_letters(self._print(expr))

    def _with_letters(self, text: str) -> str:
        """Return a text with macros replaced by their letters, so that order and length ignore the names of macros."""
        macros = self.notation.macros or {}
        return re.sub(r"\\dv[A-Za-z]+", lambda macro: macros.get(macro[0], macro[0]), text)

    def place(self, place: Expr) -> str:
        """Return the printed form of an index, counted from the first index of the notation."""
        if isinstance(place, Indexed):  # a token number: the vocabulary counts from 0
            return self._print(place)
        return self._print(self.shifted(place))

    def shifted(self, place: Expr) -> Expr:
        """Return the expression that is printed for an index."""
        return place if self.first == 0 else printed_sum(place, self.first, self.first)

    # Sums, products, powers

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        if expr in self._operands:
            return self._operands[expr][0]
        if self.first and is_index(expr):
            return self._print(Letter(expr) - self.first)
        return self.named(expr.name)

    _print_Dummy = _print_Symbol

    def _print_Letter(self, expr: Letter) -> str:
        index = expr.args[0]
        if isinstance(index, Symbol):
            return self.named(index.name)
        return self.applied(self._undefined(index), [self.place(arg) for arg in index.args])

    def _print_Add(self, expr: Add, order: Any = None) -> str:
        expr = self._folded(expr)
        if not isinstance(expr, Add):
            return self._print(expr)
        ordered = terms(expr, self._in_letters)
        parts = [self.operand(t, PRODUCT) if isinstance(t, Add) else self._print(t) for t in ordered]
        text = parts[0]
        for part in parts[1:]:
            text += f" - {part[1:].lstrip()}" if part.startswith("-") else f" + {part}"
        return text

    def _folded(self, expr: Add) -> Expr:
        """Return a sum with its index terms as printed: j + 1 is the letter j."""
        return printed_sum(expr, self.first, 0) if folds(expr, self.first) else expr

    def _print_Mul(self, expr: Expr) -> str:
        negative, top, bottom = self._split(expr)
        apart = self._sum_apart(top, bottom)
        rest = [factor for factor in top if factor not in apart]
        if not apart:
            return ("-" if negative else "") + (self.quotient(rest, bottom) if bottom else self.product(rest))
        text = self.quotient(rest, bottom)
        return ("-" if negative else "") + self.juxtaposed(
            [self.wrapped(text) if self.slashed() else text, *self._operand_texts(apart)]
        )

    def quotient(self, top: Sequence[Expr], bottom: Sequence[Expr]) -> str:
        """Return the quotient of two products."""
        if self.slashed():
            return self.over(self.product(top, ATOM), bottom)
        return self.over(self._print(top[0]) if len(top) == 1 else self.product(top), bottom)

    def over(self, above: str, bottom: Sequence[Expr]) -> str:
        """Return a printed numerator over a product."""
        if not self.slashed():
            return self.fraction(above, self._print(bottom[0]) if len(bottom) == 1 else self.product(bottom))
        below = self.operand(bottom[0], ATOM) if len(bottom) == 1 else self.wrapped(self.product(bottom))
        return f"{above} / {below}"

    def slashed(self) -> bool:
        """Return whether quotients are written on one line, as in exponents."""
        return self._inline

    def product(self, parts: Sequence[Expr], last: int = PRODUCT) -> str:
        """Return factors side by side, in the order given; the last one may be of a lower level."""
        return self.juxtaposed(self._operand_texts(parts, last)) if parts else "1"

    def _operand_texts(self, parts: Sequence[Expr], last: int = PRODUCT) -> list[str]:
        return [self.operand(part, last if place == len(parts) - 1 else ATOM) for place, part in enumerate(parts)]

    def _split(self, expr: Expr) -> tuple[bool, list[Expr], list[Expr]]:
        """Return the sign of a product and the factors above and below its fraction line."""
        negative, top, bottom = False, [], []
        sums = {factor: self._folded(factor) for factor in expr.args if isinstance(factor, Add)}
        products = {each: product for each, product in sums.items() if isinstance(product, Mul)}  # 8 j + 8 is 8 j
        for factor in factors(expr.xreplace(products), self._in_letters):
            # (-a - b) c prints as -(a + b) c
            if isinstance(factor, Add) and all(term.as_coeff_Mul()[0] < 0 for term in factor.args):
                negative, factor = not negative, -factor
            if isinstance(factor, Rational):
                # the sign goes in front of the whole product
                negative ^= factor < 0
                if (decimal := _decimal(abs(factor))) is not None:
                    top.append(decimal)
                    continue
                top += [Integer(abs(factor.p))] * (abs(factor.p) != 1)
                bottom += [Integer(factor.q)] * (factor.q != 1)
            elif self._is_quotient(factor):
                below = -factor.exp
                bottom.append(factor.base if below == 1 else Pow(factor.base, below, evaluate=False))
            else:
                top.append(factor)
        for root in [factor for factor in top if factor**2 in bottom and isinstance(factor**2, Integer)]:
            top.remove(root)  # sqrt(2) / 2 is written 1 / sqrt(2)
            bottom[bottom.index(root**2)] = root
        for side in (top, bottom):  # SymPy writes sqrt(2 pi) as sqrt(2) sqrt(pi)
            roots = [f for f in side if isinstance(f, Pow) and f.exp == Rational(1, 2) and f.base.is_number]
            if len(roots) > 1:
                side[side.index(roots[0])] = Pow(Mul(*(f.base for f in roots)), Rational(1, 2), evaluate=False)
                for root in roots[1:]:
                    side.remove(root)
        return negative, top or ([] if bottom else [Integer(1)]), bottom

    @staticmethod
    def _is_quotient(factor: Basic) -> bool:
        return isinstance(factor, Pow) and bool(factor.exp.as_coeff_Mul()[0] < 0)

    @staticmethod
    def _sum_apart(top: Sequence[Expr], bottom: Sequence[Expr]) -> list[Expr]:
        """Return the sum over an index that is written after the fraction: 1/d sum_j x_j."""
        large = [factor for factor in top if factor.func.__name__ == "Sum"]
        return large if large and bottom and not any(factor.func.__name__ == "Sum" for factor in bottom) else []

    def _print_Rational(self, expr: Rational) -> str:
        return self._print_Mul(expr) if expr.q != 1 else str(expr.p)

    _print_Half = _print_Rational

    def _print_Pow(self, expr: Pow) -> str:
        base, exponent = expr.base, expr.exp
        if self._is_quotient(expr):
            return self._print_Mul(expr)
        if isinstance(exponent, Rational) and exponent.p == 1 and exponent.q > 1:
            return self.root(self._print(base), "" if exponent.q == 2 else str(exponent.q))
        if isinstance(base, sin | cos) and exponent.is_Integer:
            # sin^2(x), as in textbooks
            function = self.power(self.function_name(base.func.__name__), str(exponent))
            return self.applied(function, [self._print(base.args[0])])
        plain = isinstance(base, _PLAIN_BASES) and base not in self._operands and self.level(base) == ATOM
        text = self._print(base)
        return self.power(text if plain else self.wrapped(text), self.inline(exponent))

    def inline(self, expr: Basic) -> str:
        """Return the printed form on one line, as in exponents: quotients with a slash."""
        outer, self._inline = self._inline, True
        try:
            return self._print(expr)
        finally:
            self._inline = outer

    def _print_ExpBase(self, expr: Expr, exp: Any = None) -> str:
        short = self.inline(expr.args[0])
        # A long exponent, or one with sums, is easier to read as exp(...).
        is_short = len(self._with_letters(short)) <= 28
        if self.has_euler and is_short and not any(macro in short for macro in (r"\sum", r"\frac", "e^", r"\begin")):
            return self.power("e", short)
        return self.applied(self.function_name("exp"), [self._print(expr.args[0])])

    # Entries, deltas, sums over an index, derivatives

    def _print_Indexed(self, expr: Indexed) -> str:
        places = [self.place(place) for place in expr.indices]
        if self.notation.columns and len(places) > 1:
            places[-2:] = places[:-3:-1]
        return self.named(str(expr.base.label), places, member=len(places) == 3)

    def _compared(self, *sides: Expr) -> list[str]:
        # Both sides are shifted by `first`, so the comparison is the same (`counting`).
        indexed = self.first and any(map(has_index, sides))
        return [self.place(side) if indexed else self._print(side) for side in sides]

    def _print_KroneckerDelta(self, expr: Expr, exp: Any = None) -> str:
        # delta_ij = delta_ji: letters are printed before numbers
        return rf"\delta_{{{joined(sorted(self._compared(*expr.args), key=lambda t: (t.isdigit(), natural(t))))}}}"

    def _print_Iverson(self, expr: Expr, exp: Any = None) -> str:
        condition = expr.args[0]
        if condition.func.__name__ == "Unequality" and condition.rhs == 0 and isinstance(condition.lhs, Indexed):
            return self._print(condition.lhs)  # [M_ij != 0] is the entry M_ij of a mask itself, 1 or 0
        return self.wrapped(self._print(condition), "[]")

    def _print_Relational(self, expr: Any) -> str:
        sign = _COMPARISONS[expr.func.__name__]
        if sign == "<" and self.first and is_index(expr.lhs) and is_size_like(expr.rhs):
            return self._print_Relational(Le(expr.lhs, expr.rhs - 1, evaluate=False))  # j < n is j <= n counted from 1
        left, right = self._compared(expr.lhs, expr.rhs)
        return f"{left} {self.relations[sign]} {right}"

    def _print_And(self, expr: Any) -> str:
        return self._connected("and", expr.args)

    def _print_Or(self, expr: Any) -> str:
        return self._connected("or", expr.args)

    def _print_Implies(self, expr: Any, altchar: Any = None) -> str:
        return f" {self.relations['=>']} ".join(self._print(arg) for arg in expr.args)

    def _print_Equivalent(self, expr: Any, altchar: Any = None) -> str:
        return f" {self.relations['<=>']} ".join(sorted((self._print(arg) for arg in expr.args), key=natural))

    def _connected(self, how: str, args: Sequence[Basic]) -> str:
        parts = sorted((self._print(arg) for arg in args), key=natural)
        return f" {self.relations[how]} ".join(parts)

    def _print_Sum(self, expr: Any) -> str:
        body = expr.function
        quotient = self.slashed() and bool(self._split(body)[2])
        text = self.wrapped(self._print(body)) if quotient or self.level(body) < PRODUCT else self._print(body)
        for index, *ends in expr.limits:
            low, high = [*map(self.place, ends), "", ""][:2]
            text = self.big("sum", f"{self.place(index)}={low}" if low else self.place(index), high, text)
        return text

    @staticmethod
    def _is_partial(expr: Basic) -> bool:
        return expr.func.__name__ == "Derivative" and isinstance(expr.args[0], Indexed | Symbol | AppliedUndef)

    def _print_Derivative(self, expr: Any) -> str:
        body, variables = expr.expr, expr.variables
        # d for a function of one variable, the partial sign otherwise
        letter = "d" if len(body.free_symbols) == 1 and not body.atoms(Indexed) else self.differential
        order = len(variables)
        times = letter if order == 1 else self.power(letter.strip(), str(order)) + " "
        below = " ".join(letter + self._print(v) for v in variables)
        if len(set(variables)) == 1 and order > 1:
            below = letter + self.power(self._print(variables[0]), str(order))
        if self._is_partial(expr):
            return self.fraction(times + self._print(body), below)
        return f"{self.fraction(times.strip(), below)} {self.operand(body, ATOM)}"

    def _print_Limit(self, expr: Any) -> str:
        body, variable, target, _ = expr.args
        text = self._print(body) if self.level(body) >= PRODUCT else self.wrapped(self._print(body))
        below = f"{self._print(variable)} {self.relations['->']} {self._print(target)}"
        return self.big("lim", below, "", text)

    def _print_Lambda(self, expr: Any) -> str:
        variables = ", ".join(self._print(v) for v in expr.variables)
        left = variables if len(expr.variables) == 1 else self.wrapped(variables)
        return f"{left} \\mapsto {self._print(expr.expr)}"

    # Functions

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        if self.first and is_index(expr):
            return self._print(Letter(expr) - self.first)
        name = expr.func.__name__
        function = self.notation.functions.get(name) or self._undefined(expr) or self.function_name(name)
        return self.applied(function, [self._print(arg) for arg in expr.args])

    def _undefined(self, expr: Any) -> str:
        return self.named(expr.func.__name__) if isinstance(expr, AppliedUndef) else ""

    _print_log = _print_erf = _print_sin = _print_cos = _print_tanh = _print_Function

    def _print_Max(self, expr: Any, exp: Any = None) -> str:
        numbers = [arg for arg in expr.args if arg.is_number]
        rest = sorted((self._print(arg) for arg in expr.args if not arg.is_number), key=natural)
        return self.applied(self.function_name(expr.func.__name__.lower()), [*map(self._print, numbers), *rest])

    _print_Min = _print_Max

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        return self.bars(self._print(expr.args[0]))

    def _print_floor(self, expr: Any, exp: Any = None) -> str:
        return self.whole_part(self._print(expr.args[0]))

    def _print_Piecewise(self, expr: Any) -> str:
        cases = [(self._print(value), self._print(when) if when != true else "") for value, when in expr.args]
        return self.cases(cases)

    def _print_Expectation(self, expr: Any, exp: Any = None) -> str:
        return r"\mathbb{E}" + self.wrapped(self._print(expr.args[0]), "[]")

    def _print_Variance(self, expr: Any, exp: Any = None) -> str:
        return self.applied(r"\mathrm{Var}", [self._print(expr.args[0])])

    def _print_Rounded(self, expr: Any, exp: Any = None) -> str:
        return self.applied(rf"\mathrm{{round}}_{{{expr.args[1]}}}", [self._print(expr.args[0])])


def _decimal(number: Rational) -> Float | None:
    """Return a number as the decimal that it was written as, such as 0.044715 and not 8943/200000; None for others."""
    # 73/100, 3/128 and 1/10000 are no longer as fractions
    if number.p == 1 or number.q <= 100 or number.q % 5 or 10**_DECIMALS % number.q:
        return None
    return Float(number, 15)
