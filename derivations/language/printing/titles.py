r"""Titles with formulas: words, and between two dollar signs a formula in the signs of the plain-text view.

Definition   "below 1 exactly when $n >= 2$", "the kernel $phi(q) . phi(k)$": letters by name (d_k, mu_q, X_hat), ^ and
             _ for scripts with braces around more than one sign, o for the entrywise and . for the inner product;
             a 1 alone or after a factor is the vector of ones. Of a name such as x_t the t is an index where the result
             has an array x, and x_i is a row where it has a matrix X
Result       plain text, the title without its marks; LaTeX and Markdown, the formula in the letters of a notation
Raises       ValueError for a mark that is not closed, and a sign that no formula has
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from sympy import Basic

from derivations.language.printing.counting import symbols_in
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.letters import GREEK, joined
from derivations.language.printing.notation_file import KNOWN_NAMES
from derivations.language.printing.where import letters
from derivations.language.results.titles import title_parts

__all__ = ["marked", "printed_title"]

_TOKEN = re.compile(r"\s*(>=|<=|!=|=>|->|\.\.\.|[A-Za-z][A-Za-z0-9]*(?:'+)?(?:_[A-Za-z0-9]+)*|[0-9]+(?:\.[0-9]+)?|\S)")
_SIGNS: Mapping[str, str] = {
    ">=": r"\ge",
    "<=": r"\le",
    "!=": r"\ne",
    "->": r"\to",
    "=>": r"\implies",
    "~": r"\sim",
    "...": r"\ldots",
    "o": r"\odot",
    ".": r"\cdot",
    "*": r"\cdot",
    "inf": r"\infty",
    "x": r"\times",
}
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_BRACKETS.values())
_PLAIN = frozenset("<>=+-/,;!:|'")
_ONES = r"\mathbf{1}"  # the vector of ones, a 1 beside a factor
_WORD = re.compile(r"\\mathrm\{[^{}]{2,}\}(?:_\{[^{}]*\})?$|\\mathrm\{[^{}]{2,}\}")
_LARGE = ("sum", "max", "min", "lim", "log", "ln", "exp", "sin", "cos", "tanh")
_LARGE_MACROS = tuple(f"\\{name}" for name in _LARGE)
_INDICES = re.compile(r"[ijklnqrstv]{2}|[ijklst][0-9]")
_INDEX = re.compile(rf"[a-z]|[0-9]+|{_INDICES.pattern}")


def printed_title(typed: str, printer: LatexPrinter) -> tuple[str, ...]:
    """Return the words of a title and the LaTeX of its formulas, alternating."""
    parts = enumerate(title_parts(typed))
    return tuple(_Formula(part, printer).latex() if number % 2 else part for number, part in parts)


def marked(parts: Sequence[str], inline: Callable[[str], str], escape: Callable[[str], str]) -> str:
    """Return a printed title in a markup: `inline` marks its formulas, `escape` writes its words."""
    return "".join(inline(part) if number % 2 else escape(part) for number, part in enumerate(parts))


class _Formula:
    """Reads the tokens of a formula in a title; `at` is the position of the next token."""

    def __init__(self, text: str, printer: LatexPrinter) -> None:
        self.text, self.printer, self.at = text, printer, 0
        self.ranks = _ranks(printer.shown)
        self.tokens = _TOKEN.findall(text)
        self.spaced = [text[: found.start(1)].endswith(" ") for found in _TOKEN.finditer(text)]

    def latex(self) -> str:
        """Return the LaTeX of the whole formula."""
        found = self._sequence("")
        if self.at < len(self.tokens):
            raise ValueError(f"{self.tokens[self.at]!r} closes nothing in the formula ${self.text}$ of a title")
        return found

    def _sequence(self, closing: str) -> str:
        text, operand = "", ""  # `operand` is the text of the factor that was written last, if it was one
        while self.at < len(self.tokens) and self.tokens[self.at] not in (closing, *_CLOSING):
            token, place = self.tokens[self.at], self.at
            if token in ("_", "^"):
                self.at += 1
                script = self._scripted(operand, token)
                # the script belongs to the factor written last, which is written again with it
                text, operand = text.removesuffix(operand) + script, script
                continue
            found = self._atom(token, bool(operand))
            factor = token in _BRACKETS or (token[0].isalnum() and found not in _SIGNS.values())
            factor = factor and not found.startswith(_LARGE_MACROS)
            if factor and operand:
                text += self._between(operand, token, found, self.spaced[place])
            elif text and not text.endswith("(") and token not in ",;" and self.spaced[place]:
                text += " "
            text, operand = text + found, found if factor else ""
        return text

    def _between(self, left: str, token: str, right: str, spaced: bool) -> str:
        """Return the space or dot to print between two factors."""
        if not spaced:
            return ""
        if token[0].isdigit() and right == token:
            return r" \cdot "
        return r" \, " if _WORD.search(left) or _WORD.match(right) else " "

    def _scripted(self, base: str, sign: str) -> str:
        if self.tokens[self.at : self.at + 4] == ["{", "-", "T", "}"]:  # the transpose of an inverse, no letter T
            self.at, script = self.at + 4, "-T"
        else:
            script = self._argument()
        script = script[:-1] + self.printer.notation.transpose if script in ("T", "-T") else script
        if base == "1" and script == self.printer.notation.transpose:
            base = _ONES
        return self.printer.power(base, script) if sign == "^" else f"{base}_{{{script}}}"

    def _argument(self) -> str:
        """Read a script or the argument of a root, without the brackets around it."""
        token = self.tokens[self.at]
        if token == "-":
            self.at += 1
            return "-" + self._argument()
        if token in ("{", "("):
            return self._closed(token)
        if token == "T":
            self.at += 1
            return token
        return self._atom(token, False)

    def _closed(self, opening: str) -> str:
        """Read the formula between two brackets."""
        self.at += 1
        inside = self._sequence(_BRACKETS[opening])
        if self.tokens[self.at : self.at + 1] != [_BRACKETS[opening]]:
            raise ValueError(f"{opening} is not closed in the formula ${self.text}$ of a title")
        self.at += 1
        return inside

    def _atom(self, token: str, after_factor: bool) -> str:
        """Read one name, number, sign or bracket."""
        alone = len(self.tokens) == 1
        # "A o B" is an entrywise product, "O" or "o_i" a letter
        between = 0 < self.at < len(self.tokens) - 1 and self.spaced[self.at] and self.spaced[self.at + 1]
        shape = len(self.tokens) == 3 and self.at == 1
        if token in _BRACKETS:
            text = self._closed(token)
            ones = token == "{" and (text == "1" or text.startswith("1,"))
            text = _ONES + text[1:] if ones else text
            return rf"\{{{text}\}}" if token == "{" else f"{token}{text}{_BRACKETS[token]}"
        self.at += 1
        following = self.tokens[self.at] if self.at < len(self.tokens) and not self.spaced[self.at] else ""
        if token == "sqrt" and following == "(":
            return self.printer.root(self._closed(following), "")
        if (token in ("o", ".") and between) or (token == "x" and shape):
            return _SIGNS[token]
        if token == "1" and (after_factor or alone or self.tokens[self.at : self.at + 3] == ["1", "^", "T"]):
            return _ONES
        if token == "E" and following == "[":
            return r"\mathbb{E}"
        if token[0].isalpha():
            return self._name(token, following in ("(", "{"))
        if token in _SIGNS:
            return _SIGNS[token]
        if token in _PLAIN or token[0].isdigit():
            return token
        raise ValueError(f"the sign {token!r} is in no formula: ${self.text}$ of a title")

    def _name(self, token: str, applied: bool) -> str:
        base = token.rstrip("'")
        primes = token[len(base) :]
        stem, _, script = base.partition("_")
        if base == "inf":
            return _SIGNS["inf"]
        if base in _LARGE:
            return f"\\{base}"
        if stem in _LARGE:
            return f"\\{stem}_{{{self._letters(script)}}}"
        if self.tokens[self.at : self.at + 2] == ["_", "{"]:
            matrix = next((name for name in (base, base.capitalize()) if name in self.ranks), "")
            if self.ranks.get(matrix) == 2:
                return self._braced_row(matrix)
        if base not in self.ranks and (indexed := self._indexed(stem, script)):
            return indexed + primes
        if base in {*KNOWN_NAMES, *GREEK, *self.ranks}:
            return self.printer.named(base) + primes
        if _INDICES.fullmatch(base):
            return self._letters(base)
        functions = self.printer.notation.functions
        if base in functions or (applied and len(base) > 1 and "_" not in base):
            return (functions.get(base) or self.printer.function_name(base)) + primes
        if _INDEX.fullmatch(script):
            return self.printer.named(stem + primes, self._indices(script))
        return self.printer.named(base) + primes

    def _indexed(self, stem: str, script: str) -> str:
        """Return an entry, a row or a member of an array of the result, if a name is one; W_i^Q is a member of W_Q."""
        if not _INDEX.fullmatch(script):
            return ""
        indices = self._indices(script)
        sign, above = [*self.tokens[self.at :], "", ""][:2]
        if sign == "^" and above != "T" and f"{stem}_{above}".removeprefix("d") in {*KNOWN_NAMES, *self.ranks}:
            self.at += 2
            return self.printer.named(f"{stem}_{above}", indices, member=True)
        for name in (stem, stem.capitalize()):
            rank = self.ranks.get(name, 0)
            if rank >= len(indices) and (name == stem or rank == 2):
                row = rank == 2 and len(indices) == 1
                return self.printer.named(name, indices, member=rank == 3, row=row)
        return ""

    def _braced_row(self, base: str) -> str:
        """Read the script of a matrix; a single index, as in H_{t-1}, is a row."""
        self.at += 1
        script = self._argument()
        return self.printer.named(base, [script], row="," not in script)

    def _indices(self, script: str) -> list[str]:
        if script.isdigit():
            return [script]
        return [each if each.isdigit() else self.printer.named(each) for each in script]

    def _letters(self, script: str) -> str:
        return joined(self._indices(script)) if _INDICES.fullmatch(script) else self.printer.named(script)


@cache
def _ranks(shown: tuple[Basic, ...]) -> Mapping[str, int]:
    """Return the number of axes of each array on a page, and 0 for each scalar, by name."""
    ranks = {symbol.name: 0 for expr in shown for symbol in symbols_in(expr)}
    return ranks | {array.name: len(array.shape) for expr in shown for array in letters(expr, bound=True)}
