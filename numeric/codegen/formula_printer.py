"""Printers of formulas as Python: one for scalars computed from sizes, one for formulas applied to all entries.

A size or a scalar becomes a Python number (`math.sqrt(d_k)`): float32 arrays stay float32 beside it, whereas
`np.sqrt(5)` would make them float64. A formula of entries becomes NumPy over whole arrays, with the text of an array
for each of its variables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sympy import Basic, E, Expr, Lambda, Mul, Symbol, fraction, together, true
from sympy.logic.boolalg import Boolean
from sympy.printing.numpy import SciPyPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pycode import PythonCodePrinter

from numeric.codegen.exponentials import without_overflow
from numeric.runtime.structure import identifier

__all__ = ["CompileError", "FormulaPrinter", "ScalarPrinter", "quotient"]

MODULES = {"numpy": "np", "scipy.special": "special", "math": "math"}


class CompileError(ValueError):
    """An expression that has no NumPy form; the message names the expression and the form that it needs."""


def quotient(expr: Expr) -> tuple[Expr, Expr]:
    """Return a product as numerator and denominator; exp(-x) stays in the numerator, for exp(x) may overflow."""
    factors = Mul.make_args(expr)
    below = [factor for factor in factors if _stands_below(factor)]
    above = Mul(*(factor for factor in factors if factor not in below))  # a quotient need not cancel: b^u b^-u
    numerator, denominator = fraction(above, exact=True)
    return numerator, denominator * Mul(*(1 / factor for factor in below))


def _stands_below(factor: Expr) -> bool:
    return bool(factor.is_Pow and factor.base != E and factor.exp.could_extract_minus_sign())


class _Quotients:
    """A mixin for printers that writes a product as a numerator over a denominator: `x / sqrt(v + epsilon)`."""

    def _print_Mul(self: Any, expr: Expr) -> str:
        numerator, denominator = quotient(expr)
        if denominator != 1:
            below = self.parenthesize(denominator, PRECEDENCE["Pow"])
            return f"{self.parenthesize(numerator, PRECEDENCE['Mul'])} / {below}"
        coefficient, _ = expr.as_coeff_Mul()
        if coefficient.is_negative:
            return f"-{self.parenthesize(-expr, PRECEDENCE['Mul'])}"
        return " * ".join(self.parenthesize(factor, PRECEDENCE["Mul"]) for factor in expr.as_ordered_factors())

    def _print_Pow(self: Any, expr: Expr, rational: bool = False) -> str:
        if _stands_below(expr):
            return f"(1 / {self.parenthesize(1 / expr, PRECEDENCE['Pow'])})"
        return str(self._hprint_Pow(expr, rational=rational, sqrt=f"{self._module}.sqrt"))

    def _module_format(self: Any, fqn: str, register: bool = True) -> str:
        module, _, name = fqn.rpartition(".")
        if module not in self._modules:
            raise CompileError(f"{fqn} is not among the functions of NumPy and SciPy that compiled layers call")
        return f"{self._modules[module]}.{name}"

    def _print_not_supported(self, expr: Any) -> str:
        raise CompileError(f"{type(expr).__name__} in {expr} has no NumPy form: write it with functions that have one")

    emptyPrinter = _print_not_supported

    def _print_Within(self, expr: Expr) -> str:
        value = self._print(expr.args[0])  # type: ignore[attr-defined]  # of the printer that this is mixed into
        return f"({value})"  # a proof needs the condition on the indices; a compiled layer can rely on it

    _print_Admitted = _print_Within

    def _print_Indexed(self, expr: Expr) -> str:
        raise CompileError(f"the entry {expr} stands in a scalar: write the equation with whole arrays")


class ScalarPrinter(_Quotients, PythonCodePrinter):
    """Prints scalars computed from sizes and constants, as Python numbers."""

    _module = "math"
    _modules = MODULES

    def __init__(self, names: Mapping[Basic, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Symbol) -> str:
        # a size or a scalar has a name in the function; anything else has no value when it runs
        if expr not in self._names:
            raise CompileError(f"the symbol {expr} is neither a size nor a scalar of the layer: declare it positive")
        return self._names[expr]

    def _print_Max(self, expr: Expr) -> str:
        return f"max({', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Expr) -> str:
        return f"min({', '.join(map(self._print, expr.args))})"

    def _print_Iverson(self, expr: Expr) -> str:
        return f"int({self._print(expr.args[0])})"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def whole(self, expr: Expr) -> str:
        """Return the text of an integer expression of sizes, with integer division."""
        numerator, denominator = fraction(expr)
        over = "" if denominator == 1 else f" // ({self._print(denominator)})"
        return f"({self._print(numerator)}){over}"

    def real(self, expr: Expr) -> str:
        """Return the text of an expression of sizes as a float, because integers of NumPy overflow without an error."""
        return str(self._print(expr)) if fraction(expr)[1] != 1 else f"float({self._print(expr)})"


class FormulaPrinter(_Quotients, SciPyPrinter):
    """Prints a formula of entries as operations on whole arrays; subclasses for other libraries override attributes."""

    _modules: Mapping[str, str] = MODULES
    _arrays = MODULES["numpy"]  # the name of the array library in the source
    _float64 = "float"  # the library's names of the number types
    _int64 = "int"

    def __init__(self, names: Mapping[Basic, str], taken: Iterable[str]) -> None:
        super().__init__()
        self._scalar = ScalarPrinter(names)
        self._reserved = frozenset((*taken, *names.values()))
        self._taken = set(self._reserved)
        self._bindings: dict[Symbol, str] = {}
        self._dtype = "float"

    def _print(self, expr: Any, **settings: Any) -> str:
        """Print an expression; an expression without arrays is printed as a Python number."""
        if isinstance(expr, Expr | Boolean) and not (expr.free_symbols & self._bindings.keys()):
            return str(self._scalar._print(expr))
        return str(super()._print(expr, **settings))

    def _cast(self, text: str, dtype: str) -> str:
        """Return the text of an array cast to a number type."""
        return f"{text}.astype({dtype})"

    def _number(self, text: str) -> str:
        """Return the text of a number in a choice between numbers only; a backend may have to make it an array."""
        return text

    @contextmanager
    def _with(self, **state: Any) -> Iterator[None]:
        before = {name: getattr(self, name) for name in state}
        self.__dict__.update(state)
        try:
            yield
        finally:
            self.__dict__.update(before)

    def _fresh(self, wanted: str) -> str:
        """Return a new name, and reserve it until the end of the line."""
        name = identifier(wanted)
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _formula(self, formula: Lambda, texts: list[str], dtype: str | None = None) -> str:
        """Print a formula with the given texts for its variables; a long text that occurs twice gets a name (`:=`).

        `dtype` is the number type of truth values as numbers, by default that of the first array.
        """
        bindings, long = {}, {}
        for variable, text in zip(formula.variables, texts, strict=True):
            bindings[variable] = text
            # a name or a slice of one costs nothing to repeat
            if not re.fullmatch(r"\w+(\[[^()]*\])?", text):
                bindings[variable] = self._fresh(variable.name)
                long[bindings[variable]] = text
        dtype = dtype or f"{bindings[formula.variables[0]]}.dtype"
        with self._with(_bindings=bindings, _dtype=dtype):
            printed = self._print(without_overflow(formula.expr, formula.variables))
        for name, text in long.items():
            word = re.compile(rf"\b{name}\b")
            first = f"({name} := {text})" if len(word.findall(printed)) > 1 else text
            begin = word.search(printed)  # Python evaluates from left to right, so the first occurrence binds the name
            printed = printed if begin is None else printed[: begin.start()] + first + printed[begin.end() :]
        return f"({printed})"

    def _print_Symbol(self, symbol: Symbol) -> str:
        return self._bindings[symbol]

    _print_Dummy = _print_Symbol  # the variable of SymPy's identity function

    def _print_Expit(self, expr: Expr) -> str:
        return f"{self._modules['scipy.special']}.expit({self._print(expr.args[0])})"

    def _print_LogAddExp(self, expr: Expr) -> str:
        return f"{self._arrays}.logaddexp({', '.join(map(self._print, expr.args))})"

    def _extremum(self, function: str, expr: Expr) -> str:
        # NumPy's maximum and minimum take two arrays, SymPy's any number of arguments
        first, *rest = map(self._print, expr.args)
        for text in rest:
            first = f"{self._arrays}.{function}({first}, {text})"
        return first

    def _print_Max(self, expr: Expr) -> str:
        return self._extremum("maximum", expr)

    def _print_Min(self, expr: Expr) -> str:
        return self._extremum("minimum", expr)

    def _print_Abs(self, expr: Expr) -> str:
        return f"{self._arrays}.abs({self._print(expr.args[0])})"

    def _print_floor(self, expr: Expr) -> str:
        # of integers this is exact, and remains an integer, which numbers rows of a table
        above, below = fraction(together(expr.args[0]))
        if below == 1:
            return f"{self._arrays}.floor({self._print(above)})"
        return f"({' // '.join(self.parenthesize(each, PRECEDENCE['Pow']) for each in (above, below))})"

    def _print_sign(self, expr: Expr) -> str:
        return f"{self._arrays}.sign({self._print(expr.args[0])})"

    def _print_Piecewise(self, expr: Expr) -> str:
        *cases, last = expr.args
        numbers_alone = not any(value.free_symbols & self._bindings.keys() for value, _ in expr.args)
        number = self._number if numbers_alone else str
        text, behind = "", ""
        for value, condition in cases if last.cond == true else expr.args:
            text += f"{self._arrays}.where({self._print(condition)}, {number(self._print(value))}, "
            behind += ")"
        # outside all conditions a Piecewise without a default is undefined: NaN
        text += number(self._print(last.expr) if last.cond == true else f"{self._arrays}.nan") + behind
        return self._cast(text, self._dtype) if numbers_alone else text

    def _print_Relational(self, expr: Expr) -> str:
        return f"({self._print(expr.lhs)} {expr.rel_op} {self._print(expr.rhs)})"

    def _joined(self, sign: str, expr: Boolean) -> str:
        parts = sorted(expr.args, key=lambda part: part.sort_key())
        return f"({f' {sign} '.join(map(self._print, parts))})"

    def _print_And(self, expr: Boolean) -> str:
        return self._joined("&", expr)

    def _print_Or(self, expr: Boolean) -> str:
        return self._joined("|", expr)

    def _print_Not(self, expr: Boolean) -> str:
        return f"(~{self._print(expr.args[0])})"

    def _print_Iverson(self, expr: Expr) -> str:
        return self._cast(self._print(expr.args[0]), self._dtype)

    def _print_KroneckerDelta(self, expr: Expr) -> str:
        return self._cast(f"({self._print(expr.args[0])} == {self._print(expr.args[1])})", self._dtype)
