r"""The printer of entrywise operations: products and functions of arrays of one shape.

Definition   A \odot B is the entrywise product, and a quotient where B is one: A / \sqrt{v + \epsilon};
             \mathrm{diag}(v) A has row i of A times v_i, and u v^{\top} the entries u_i v_j; a function without a name
             prints as its formula, in which products of arrays have the same sign
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Add, Basic, Dummy, Expr, Function, Lambda, Mul, Pow, Symbol, exp

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Member, Transpose, Variable
from derivations.language.printing.broadcasts import every_column, every_row
from derivations.language.printing.typeset import ATOM, PRODUCT, SUM, ScalarPrinter

__all__ = ["ABBREVIATED", "EntrywisePrinter", "is_ones"]

_ONES = r"\mathbf{1}"
_t = Symbol("t", real=True)
ABBREVIATED = {"sigmoid": Lambda(_t, 1 / (1 + exp(-_t)))}  # functions whose formula, where it recurs, prints by name


class EntrywisePrinter(ScalarPrinter):
    """The printer of entrywise operations in a notation."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._entrywise: frozenset[Basic] = frozenset()  # the variables of a formula that stand for arrays
        self.abbreviations: dict[str, None] = {}  # the functions whose formula was printed by their name

    # Products

    def _print_Hadamard(self, expr: Basic) -> str:
        left, right = expr.args
        if is_ones(right):
            return self.juxtaposed([self.operand(left, ATOM), self._print(right)])
        if (found := self._by_columns(left, right)) is not None:
            return self._rows_times(*found)
        # A o 2 x is written 2 A o x
        number, other = self._number_in_front(right)
        if number:
            first = self.operand(self.beside(left), ATOM)
            return self.juxtaposed([*number, f"{first} {self.hadamard} {other}"])
        if self._is_formula(right) and (text := self._times_formula(left, right)[0]):
            return text
        return self._alike(expr, self.hadamard)

    def hadamard_level(self, expr: Basic) -> int:
        """Return the precedence level of an entrywise product: that of a sum where it begins with a minus."""
        left, right = expr.args
        if self._by_columns(left, right) is not None or not self._is_formula(right):
            return PRODUCT
        return SUM if self._times_formula(left, right)[1] else PRODUCT

    def _by_columns(self, left: Array, right: Array) -> tuple[Array, Array] | None:
        """Return the vector that scales the rows of the other factor, and that factor; None for a quotient."""
        vectors = every_column(left), every_column(right)
        if vectors[0] is not None:
            return (vectors[0], right) if vectors[1] is None else None
        quotient = self._is_formula(right) and self._times_formula(left, right)[0]
        return None if vectors[1] is None or quotient else (vectors[1], left)

    def _rows_times(self, vector: Array, other: Array) -> str:
        """Return diag(v) A, which multiplies row i of A by v_i, or u v^T where all rows are v."""
        if (row := every_row(other)) is not None:
            return self.outer(vector, row)
        if vector.func.__name__ == "Hadamard" and is_ones(vector.args[1]) and not vector.args[0].shape:
            return self.juxtaposed([self.operand(vector.args[0], ATOM), self.factor(other, PRODUCT)])
        number, other = self._number_in_front(other)
        diagonal = self.applied(self.function_name("diag"), [self._print(vector)])
        factors = [diagonal, other if number else self.factor(other, PRODUCT)]
        return self.juxtaposed([*number, *(factors[::-1] if self.notation.columns else factors)])

    def outer(self, left: Array | None, right: Array | None) -> str:
        """Return u v^T, or its transpose in a notation with column vectors; None is the vector of ones."""
        first, second = (right, left) if self.notation.columns else (left, right)
        text = _ONES if first is None else self.operand(first, ATOM)
        ones = self.power(_ONES, self.notation.transpose)
        return self.juxtaposed([text, ones if second is None else self.transpose_of(second)])

    def transpose_of(self, expr: Array) -> str:
        """Return the printed transpose of an array."""
        if isinstance(expr, Transpose):
            return self._print(expr.args[0])
        return self.transposed(self.operand(expr, ATOM), expr)

    def transposed(self, text: str, operand: Basic) -> str:
        """Return the transpose of a printed operand."""
        single = isinstance(operand, Variable | Member) or self.level(operand) < ATOM
        return self.power(text if single else self.wrapped(text), self.notation.transpose)

    def beside(self, operand: Array) -> Array:
        """Return what is printed for an operand of a sum or a product.

        This is the vector b if every row of the operand is b, because the other operand shows the shape.
        """
        vector = every_row(operand)
        return operand if vector is None else vector

    def _number_in_front(self, expr: Array) -> tuple[list[str], Any]:
        """Return the number c of a formula c x and the printed x, or nothing and the array itself."""
        if self._is_formula(expr):
            coefficient, rest = expr.args[0].formula.expr.as_coeff_Mul()
            if coefficient.is_Integer and coefficient > 1 and rest in expr.args[0].formula.variables:
                return [str(coefficient)], self.factor(expr.args[1], PRODUCT)
        return [], expr

    def _times_formula(self, left: Array, right: Array) -> tuple[str, bool]:
        """Return A times a quotient, printed as one quotient, and whether it is negative.

        The text is empty for a formula that is not a quotient.
        """
        with _InPlace(self, right) as value:
            negative, top, bottom = self._split(value)
            if not bottom:
                return "", False
            above = [self._operand_text(part) for part in top if part != 1]
            text = self.over(f" {self.hadamard} ".join([self.operand(self.beside(left), PRODUCT), *above]), bottom)
            return (f"-{text}" if negative else text), negative

    def _operand_text(self, part: Expr) -> str:
        return self.operand(part, ATOM)

    def _print_MaskConjunction(self, expr: Basic) -> str:
        return self._alike(expr, self.relations["and"])

    def _alike(self, expr: Basic, sign: str) -> str:
        left, right = map(self.beside, expr.args)
        first = self._print(left) if left.func is expr.func else self.operand(left, ATOM)
        if left.func is expr.func and sign not in first:  # it printed as a product of matrices or as a quotient
            first = self.wrapped(first)
        return f"{first} {sign} {self.operand(right, PRODUCT if self._is_product_of_arrays(right) else ATOM)}"

    def _is_product_of_arrays(self, expr: Basic) -> bool:
        """Return whether an array prints as A o B, so that it needs no parentheses in another such product."""
        if not self._is_formula(expr):
            return False
        parts = expr.args[0].formula.expr
        return isinstance(parts, Mul) and all(part.free_symbols for part in parts.args) and self.level(expr) == PRODUCT

    def factor(self, operand: Array, least: int) -> str:
        """Return the printed form of a factor of a matrix product."""
        name = operand.func.__name__
        mixed = name in ("Hadamard", "MaskConjunction") or (self.slashed() and name == "Scaled")
        text = self._print(operand)
        mixed |= self._is_formula(operand) and self.level(operand) < ATOM and self.hadamard in text
        return self.wrapped(text) if mixed else self.operand(operand, least)

    # Functions

    def _function(self, name: str) -> str:
        named = name in self.notation.functions or name in self.notation.names
        return self.notation.function(name) if named else ""

    def _print_Named(self, expr: Basic) -> str:
        name = self._function(expr.name) or self.function_name(expr.name)
        arguments = list(map(self._print, expr.formula.variables))
        return f"{self.applied(name, arguments)} = {self._print(expr.formula.expr)}"

    def _is_formula(self, expr: Basic) -> bool:
        return expr.func.__name__ == "Elementwise" and not self._function(expr.args[0].name)

    def _print_Elementwise(self, expr: Basic) -> str:
        function = self._function(expr.args[0].name)
        if function and expr.args[0].name in ABBREVIATED:
            self.abbreviations.setdefault(expr.args[0].name)
        arguments = map(self._print, arguments_of(expr))
        return self.applied(function, list(arguments)) if function else self._in_place(expr)[0]

    def _in_place(self, expr: Basic) -> tuple[str, int]:
        """Return the formula of a function with the printed arguments in place of its variables, and its level."""
        with _InPlace(self, expr) as value:
            return self._print(value), self.level(value)

    def product(self, parts: Sequence[Expr], last: int = PRODUCT) -> str:
        """Return factors side by side, in the order given; those that are arrays have a sign between them."""
        arrays = [part for part in parts if self._entrywise & part.free_symbols]
        if len(arrays) < 2:
            return super().product(parts, last)
        numbers = [self.operand(part, ATOM) for part in parts if part not in arrays]
        levels = (PRODUCT if self._is_small_power(part) else ATOM for part in arrays)
        entries = f" {self.hadamard} ".join(map(self.operand, arrays, levels))
        return self.juxtaposed([*numbers, entries])

    def level(self, expr: Basic) -> int:
        """Return the precedence level of the printed form of an expression."""
        return PRODUCT if self._is_small_power(expr) else super().level(expr)

    def _is_small_power(self, expr: Basic) -> bool:
        """Return whether an expression is the square or cube of an array, entry by entry."""
        return isinstance(expr, Pow) and expr.base in self._entrywise and expr.exp in (2, 3)

    def _print_Pow(self, expr: Pow) -> str:
        if not self._is_small_power(expr):
            return super()._print_Pow(expr)
        # (X Q)^2 would be read as a product of matrices
        return f" {self.hadamard} ".join([self.operand(expr.base, ATOM)] * int(expr.exp))

    def abbreviated(self, value: Expr) -> Expr:
        """Return a formula in which 1 / (1 + e^{-u}), if it occurs more than once, is the sigmoid of u."""
        found = [part for part in _parts(value) if _logistic(part) is not None]
        if not self._function("sigmoid") or len(found) < 2:
            return value
        self.abbreviations.setdefault("sigmoid")
        return value.xreplace({part: Function("sigmoid")(_logistic(part)) for part in found})


class _InPlace:
    """A context manager that prints the variables of a function's formula as the arguments of the function."""

    def __init__(self, printer: EntrywisePrinter, expr: Basic) -> None:
        self.printer, self.outer = printer, (printer._operands, printer._entrywise)
        formula, arguments = expr.args[0].formula, arguments_of(expr)
        # an integer symbol would be read as an index, which is printed counting from 1
        named = {v: Dummy(v.name, real=True) if v.is_integer else v for v in formula.variables}
        pairs = [(named[v], argument) for v, argument in zip(formula.variables, arguments, strict=True)]
        texts = {variable: (printer._print(argument), printer.level(argument)) for variable, argument in pairs}
        self.inner = (
            {**printer._operands, **texts},
            printer._entrywise | {variable for variable, argument in pairs if argument.shape},
        )
        self.value = printer.abbreviated(formula.expr.xreplace(named))

    def __enter__(self) -> Expr:
        self.printer._operands, self.printer._entrywise = self.inner
        return self.value

    def __exit__(self, *_: object) -> None:
        self.printer._operands, self.printer._entrywise = self.outer


def arguments_of(expr: Basic) -> tuple[Array, ...]:
    """Return the arguments of a function as they are printed.

    A repeated vector is printed as the vector where another argument shows how it is repeated.
    """
    arrays = expr.args[1:]
    rows, columns = list(map(every_row, arrays)), list(map(every_column, arrays))
    vectors = [column if row is None else row for row, column in zip(rows, columns, strict=True)]
    # of rows and columns alone, nothing would show which is which
    shown = None in vectors or not (any(rows) and any(columns))
    return tuple(v if v is not None and shown else a for a, v in zip(arrays, vectors, strict=True))


def _parts(expr: Basic) -> list[Basic]:
    """Return the parts of an expression, each as often as it occurs."""
    return [expr, *(part for inner in expr.args for part in _parts(inner))]


def _logistic(part: Basic) -> Expr | None:
    """Return u for 1 / (1 + e^{-u}), else None."""
    if not (isinstance(part, Pow) and part.exp == -1 and isinstance(part.base, Add) and len(part.base.args) == 2):
        return None
    # SymPy fixes no order of the two terms
    one, power = sorted(part.base.args, key=lambda term: isinstance(term, exp))
    return -power.args[0] if one == 1 and isinstance(power, exp) else None


def is_ones(expr: Basic) -> bool:
    """Return whether an array is a table of ones."""
    return isinstance(expr, Tabulated) and expr.args[0].expr == 1
