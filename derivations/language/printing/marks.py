r"""The building blocks of printed formulas in LaTeX: fractions, scripts, parentheses, names and relations.

The other printers lay out formulas by these few methods, and the text printer overrides them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from sympy import Basic, Symbol
from sympy.printing.latex import LatexPrinter as SympyLatexPrinter
from sympy.printing.printer import Printer

from derivations.language.printing.counting import symbols_in
from derivations.language.printing.notation import Notation, notation
from derivations.language.printing.words import Kind, language, said, word

__all__ = ["Marks"]

_FUNCTIONS = ("log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "exp")
_WORD = r"\\(?:text|mathrm)\{[^{}]{2,}\}"
_TALL = (r"\frac", r"\sum", r"\begin", r"\left", r"\lim")
_TEXT_SIGNS = {sign: f"\\{sign}" for sign in "_&%$#{}"} | {
    sign: rf"}}{formula}\text{{"  # a formula between words: MathJax on GitHub has no \textasciicircum and the like
    for sign, formula in {"\\": r"\backslash ", "^": r"\hat{\;}", "~": r"\sim ", "<": r"<", ">": r">"}.items()
}


class Marks(SympyLatexPrinter):
    """A printer in a notation; `scope` is the layer or topic whose names it uses.

    `first` overrides the number that indices count from, which is otherwise that of the notation. `lang` is the
    language of words in formulas.
    """

    relations: ClassVar[dict[str, str]] = {
        "=": "=",
        "!=": r"\ne",
        "<=": r"\le",
        "<": "<",
        ">=": r"\ge",
        ">": ">",
        "->": r"\to",
        "~": r"\sim ",
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

    def __init__(
        self, using: str | Notation = "ours", scope: str = "", first: int | None = None, lang: str = "en"
    ) -> None:
        super().__init__()
        self.notation = notation(using)
        self.scope = scope
        self.lang = language(lang).tag
        self._given_first = first
        self.first = self.notation.first_index if first is None else first
        self.has_families = True  # the first of three indices numbers the members of a family: W_{i,jk}
        self.has_euler = True  # e stands for Euler's number, and for nothing else
        self._inline = False
        self._operands: dict[Symbol, tuple[str, int]] = {}  # printed arguments of a formula, with their levels
        self._printed: dict[Any, str] = {}
        self.shown: tuple[Basic, ...] = ()  # what stands on the page, whose letters its words name too
        self.rows: dict[str, None] = {}  # the arrays of which a row was printed by a letter of its own

    def doprint(self, expr: Any) -> str:
        """Return the printed form."""
        if self._given_first is None and isinstance(expr, Basic):
            self._set_for(expr)
        return Printer.doprint(self, expr)

    def together(self, *exprs: Basic) -> Self:
        """Return this printer, set up for one page: all indices count from the same number, and e has one meaning.

        Where an index is called e, powers of Euler's number are printed as exp.
        """
        self._set_for(*exprs)
        self._given_first = self.first
        self.shown = exprs
        return self

    def _set_for(self, *exprs: Basic) -> None:
        self.first = self.counting(*exprs)
        self.has_euler = not any(symbol.name == "e" for expr in exprs for symbol in symbols_in(expr))

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

    def bars(self, text: str) -> str:
        """Return an absolute value; bars around other bars are marked as opening and closing."""
        # | | a | | is ambiguous, while \left and \right open and close
        return rf"\left|{text}\right|" if "|" in text else self.wrapped(text, "||")

    def whole_part(self, text: str) -> str:
        """Return the floor of a printed number."""
        tall = any(macro in text for macro in _TALL)
        return rf"\left\lfloor {text} \right\rfloor" if tall else rf"\lfloor {text} \rfloor"

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
        return rf"\text{{{''.join(_TEXT_SIGNS.get(sign, sign) for sign in text)}}}".replace(r"\text{}", "")

    def word(self, english: str) -> str:
        """Return one of the words of the package inside a formula, in the language of the printer."""
        return self.words(word(english, self.lang))

    def count(self, english: str) -> str:
        """Return the name of a count, such as "matmul FLOPs", in the language of the printer."""
        return self.words(said(Kind.COUNTS, english, self.lang))

    def function_name(self, name: str) -> str:
        """Return the name of a function that the notation does not list."""
        return f"\\{name}" if name in _FUNCTIONS else f"\\mathrm{{{name.replace('_', '-')}}}"

    def named(self, name: str, indices: Sequence[str] = (), *, member: bool = False, row: bool = False) -> str:
        """Return a name with indices; `member` and `row` as in `Name`."""
        member = member and self.has_families
        printed = self.notation.of(name, self.scope)
        if row and printed.of_row() != printed:
            self.rows.setdefault(name)
            if self.notation.macros is not None and printed.row:
                self.notation.macros[printed.row] = self.notation.plain.of(name, self.scope).of_row().base
        return (printed.of_row() if row else printed).latex(indices, member=member)

    def juxtaposed(self, texts: Sequence[str]) -> str:
        """Return factors side by side, with a space beside a word, and a dot before a number or before (x)^2.

        A letter in front of (x)^2 would be read as a function of x.
        """
        product = texts[0]
        for text in texts[1:]:
            worded = re.search(_WORD + "$", product) or re.match(_WORD, text)
            dotted = text[:1].isdigit() or _is_power_of_one(text)
            product += (r" \cdot " if dotted else r" \, " if worded else " ") + text
        return product

    def cases(self, cases: Sequence[tuple[str, str]]) -> str:
        """Return values by condition; an empty condition means "otherwise"."""
        lead, rest = self.words(word("if", self.lang) + " "), self.word("otherwise")
        rows = (rf"{value} & " + (f"{lead} {when}" if when else rest) for value, when in cases)
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _is_power_of_one(text: str) -> bool:
    """Return whether a text begins with one term in parentheses to a numeric power: (X)^2, but not (1 - y)^2."""
    inside = re.match(r"(?:\\left)?\(", text)
    if not inside:
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if not depth and sign == ")":
            return bool(re.match(r"\^\{?-?\d", text[place + 1 :]))
        if depth == 1 and sign in "+-" and text[place - 1] == " ":
            return False
    return False


def _is_raised(text: str) -> bool:
    """Return whether a text ends with a superscript or has a prime: LaTeX rejects a second superscript."""
    if not text.endswith("}"):
        return "'" in text
    depth, place = 1, len(text) - 1
    # back to the brace that opens the last group, and the sign before it
    while depth:
        place -= 1
        depth += (text[place] == "}") - (text[place] == "{")
    return "'" in text or text[place - 1] == "^"
