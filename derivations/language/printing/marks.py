r"""The marks of printed mathematics in LaTeX: fractions, scripts, parentheses, names and relations.

The other printers lay out formulas by these few methods, and the text printer overrides them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from sympy import Basic, Symbol
from sympy.printing.latex import LatexPrinter as SympyLatexPrinter
from sympy.printing.printer import Printer

from derivations.language.printing.counting import symbols_in
from derivations.language.printing.notation import Notation, notation

__all__ = ["Marks"]

_FUNCTIONS = ("log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "exp")
_WORD = r"\\(?:text|mathrm)\{[^{}]{2,}\}"
_TALL = (r"\frac", r"\sum", r"\begin", r"\left", r"\lim")
_TEXT_SIGNS = {sign: f"\\{sign}" for sign in "_&%$#{}"} | {
    "\\": r"\textbackslash ",
    "^": r"\textasciicircum ",
    "~": r"\textasciitilde ",
    "<": r"\textless ",
    ">": r"\textgreater ",
}


class Marks(SympyLatexPrinter):
    """A printer in a notation; `scope` is the layer or topic whose names it uses.

    `first` overrides the number that indices count from, which is otherwise that of the notation.
    """

    relations: ClassVar[dict[str, str]] = {
        "=": "=",
        "!=": r"\ne",
        "<=": r"\le",
        "<": "<",
        ">=": r"\ge",
        ">": ">",
        "->": r"\to",
        "~": r"\sim",
        "=>": r"\implies",
        "<=>": r"\iff",
        "implies": r"\implies",
        "iff": r"\iff",
        "in": r"\in",
        "approx": r"\approx",
        "and": r"\wedge",
        "or": r"\vee",
    }
    dots, dot, hadamard, differential = r"\ldots", r"\cdot", r"\odot", r"\partial "

    def __init__(self, using: str | Notation = "ours", scope: str = "", first: int | None = None) -> None:
        super().__init__()
        self.notation = notation(using)
        self.scope = scope
        self._given_first = first
        self.first = self.notation.first_index if first is None else first
        self._inline = False
        self._operands: dict[Symbol, tuple[str, int]] = {}  # printed arguments of a formula, with their levels
        self._printed: dict[Any, str] = {}

    def doprint(self, expr: Any) -> str:
        """Return the printed form."""
        if self._given_first is None and isinstance(expr, Basic):
            self.first = self.counting(expr)
        return Printer.doprint(self, expr)

    def counting(self, *exprs: Basic) -> int:
        """Return the number that indices count from in these expressions: 0 if a zero-based symbol occurs."""
        names = {symbol.name for expr in exprs for symbol in symbols_in(expr)}
        return 0 if names & set(self.notation.zero_based) else self.notation.first_index

    def fraction(self, top: str, bottom: str) -> str:
        """Return a quotient with a fraction line."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def root(self, text: str, degree: str) -> str:
        """Return a root, the square root for an empty degree."""
        return rf"\sqrt[{degree}]{{{text}}}" if degree else rf"\sqrt{{{text}}}"

    def wrapped(self, text: str, brackets: str = "()") -> str:
        """Return a text in brackets that are as tall as the text."""
        tall = any(macro in text for macro in _TALL)
        left, right = brackets[0], brackets[1]
        return rf"\left{left}{text}\right{right}" if tall else left + text + right

    def power(self, text: str, exponent: str) -> str:
        """Return a power."""
        return f"{self.wrapped(text) if _is_raised(text) else text}^{{{exponent}}}"

    def applied(self, function: str, arguments: Sequence[str]) -> str:
        """Return a function applied to arguments."""
        return function + self.wrapped(", ".join(arguments))

    def big(self, operator: str, below: str, above: str, body: str) -> str:
        """Return an operator with limits before its body."""
        return rf"\{operator}_{{{below}}}" + (f"^{{{above}}}" if above else "") + f" {body}"

    def words(self, text: str) -> str:
        """Return words inside a formula."""
        return rf"\text{{{''.join(_TEXT_SIGNS.get(sign, sign) for sign in text)}}}"

    def function_name(self, name: str) -> str:
        """Return the name of a function that the notation does not list."""
        return f"\\{name}" if name in _FUNCTIONS else f"\\operatorname{{{name.replace('_', '-')}}}"

    def named(self, name: str, indices: Sequence[str] = (), *, member: bool = False, row: bool = False) -> str:
        """Return a name with indices; `member` and `row` as in `Name`."""
        printed = self.notation.of(name, self.scope)
        return (printed.of_row() if row else printed).latex(indices, member=member)

    def juxtaposed(self, texts: Sequence[str]) -> str:
        """Return factors side by side, with a dot before a number and a space beside a word."""
        product = texts[0]
        for text in texts[1:]:
            word = re.search(_WORD + "$", product) or re.match(_WORD, text)
            product += (r" \cdot " if text[:1].isdigit() else r" \, " if word else " ") + text
        return product

    def cases(self, cases: Sequence[tuple[str, str]]) -> str:
        """Return values by condition; an empty condition means "otherwise"."""
        rows = (rf"{value} & " + (rf"\text{{if }} {when}" if when else r"\text{otherwise}") for value, when in cases)
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _is_raised(text: str) -> bool:
    """Return whether a text ends with a superscript or has a prime: LaTeX rejects a second superscript."""
    if not text.endswith("}"):
        return "'" in text
    depth, place = 1, len(text) - 1
    while depth:
        place -= 1
        depth += (text[place] == "}") - (text[place] == "{")
    return "'" in text or text[place - 1] == "^"
