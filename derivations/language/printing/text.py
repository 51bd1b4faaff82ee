r"""The text printer: the layout of the LaTeX printer on one line, in ASCII; indices count from 1 here too.

y_{i} (\delta_{ik} - y_{k}) prints as y_i (delta_ik - y_k), \frac{Q K^{\top}}{\sqrt{d_{k}}} as Q K^T / sqrt(d_k).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.words import word

__all__ = ["TextPrinter", "plain"]

_SIGNS: Mapping[str, str] = {
    r"\top": "T",
    r"\lVert": "||",
    r"\rVert": "||",
    r"\ldots": "...",
    r"\odot": "o",
    r"\cdot": "*",
    r"\wedge": "and",
    r"\vee": "or",
    r"\ne": "!=",
    r"\le": "<=",
    r"\ge": ">=",
    r"\to": "->",
    r"\leftrightarrow": "<->",
    r"\mapsto": "->",
    r"\sim": "~",
    r"\approx": "~=",
    r"\in": "in",
    r"\times": "x",
    r"\bmod": "mod",
    r"\implies": "=>",
    r"\iff": "<=>",
    r"\infty": "oo",
    r"\partial": "d",
    r"\lim": "lim",
    r"\sum": "sum",
    r"\backslash": "\\",
}
_ACCENT = re.compile(r"\\(hat|bar|tilde|dot)\{([^{}]*)\}")
_ALPHABET = re.compile(
    r"\\(?:mathrm|mathbf|mathcal|mathsf|mathit|mathbb|boldsymbol|text|operatorname)\{((?:\\.|[^{}\\])*)\}"
)
_SIMPLE = re.compile(r"-?[A-Za-z0-9]+")


def plain(latex: str) -> str:
    """Return LaTeX of one line as ASCII: letters and signs by name, scripts without braces."""
    text = re.sub(r"\\[,;!]\s*", "", latex.replace(r"\hat{\;}", "^")).replace("\\ ", " ")
    # from the inside out: \mathbf{\hat{x}} takes two rounds
    while _ALPHABET.search(text) or _ACCENT.search(text):
        text = _ACCENT.sub(r"\2_\1", _ALPHABET.sub(r"\1", text))
    text = re.sub(r"\\[A-Za-z]+", lambda macro: _SIGNS.get(macro[0], macro[0][1:]), text)
    return re.sub(r"\\([_&%$#{}])", r"\1", _scripts(text))


def _scripts(text: str) -> str:
    """Return a text without the braces of scripts that are one word, one number or one group in parentheses."""
    done, at = "", 0
    while at < len(text):
        if text[at] in "_^" and text[at + 1 : at + 2] == "{" and text[at - 1 : at] != "\\":
            end = _end(text, at + 1, "{}")
            inner = _scripts(text[at + 2 : end])
            whole = _SIMPLE.fullmatch(inner) or (inner[:1] == "(" and _end(inner, 0, "()") == len(inner) - 1)
            done += text[at] + (inner if whole else f"{{{inner}}}")
            at = end + 1
        else:
            done += text[at]
            at += 1
    return done


def _end(text: str, start: int, brackets: str) -> int:
    """Return the position of the bracket that closes the one at `start`, ignoring brackets after a backslash."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in brackets and text[place - 1 : place] != "\\":
            depth += 1 if text[place] == brackets[0] else -1
            if not depth:
                return place
    raise ValueError(f"a bracket is not closed in {text!r}")


class TextPrinter(LatexPrinter):
    """The printer of arrays and scalars as ASCII text in a notation."""

    differential = "d"

    def doprint(self, expr: Any) -> str:
        """Return the printed form."""
        return plain(super().doprint(expr))

    def slashed(self) -> bool:
        """Return True: quotients are written on one line."""
        return True

    def fraction(self, top: str, bottom: str) -> str:
        """Return a quotient; only quotients of differentials are printed by this method."""
        return f"{top}/{bottom}"

    def root(self, text: str, degree: str) -> str:
        """Return a root."""
        return f"sqrt({text})" if not degree else f"({text})^(1/{degree})"

    def wrapped(self, text: str, brackets: str = "()") -> str:
        """Return a text in brackets."""
        return brackets[0] + text + brackets[1]

    def bars(self, text: str) -> str:
        """Return an absolute value."""
        return f"abs({text})" if "|" in text else f"|{text}|"

    def whole_part(self, text: str) -> str:
        """Return the floor of a printed number."""
        return f"floor({text})"

    def power(self, text: str, exponent: str) -> str:
        """Return a power, with its exponent in parentheses unless it is a single name or number."""
        return super().power(text, exponent if re.fullmatch(r"\\?\w+", exponent) else self._once(exponent))

    def _once(self, exponent: str) -> str:
        return exponent if re.fullmatch(r"\([^()]*\)", exponent) else f"({exponent})"

    def cases(self, cases: Sequence[tuple[str, str]]) -> str:
        """Return values by condition."""
        lead, rest = word("if", self.lang), word("otherwise", self.lang)
        return "{" + "; ".join(f"{value} {lead} {when}" if when else f"{value} {rest}" for value, when in cases) + "}"

    def _print_Explicit(self, expr: Any) -> str:
        return self._print(expr.args[0])

    def one_above_other(self, parts: Sequence[str]) -> str:
        """Return stacked matrices: one below the other or, in a notation with column vectors, side by side."""
        return "[" + (", " if self.notation.columns else "; ").join(parts) + "]"

    def _print_MatrixBase(self, expr: Any) -> str:
        rows = (", ".join(self._print(entry) for entry in expr.row(i)) for i in range(expr.rows))
        return "[" + "; ".join(rows) + "]"

    _print_ImmutableDenseMatrix = _print_MutableDenseMatrix = _print_MatrixBase
