r"""Markup of formulas in running text: dollar signs, brackets with backslashes, backticks, tags, links, commands.

Definition   a dialect is a pattern whose groups name the kinds of marks of a kind of document; `unknown` marks might
             write a part of a formula
Result       `MARKDOWN`, `RESTRUCTURED` and `LATEX`
Assumes      a pattern finds a mark in bounded reach, so that a text is read in linear time
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["DISPLAY_ENVIRONMENTS", "LATEX", "MARKDOWN", "RESTRUCTURED", "Dialect"]

DISPLAY_ENVIRONMENTS = (
    "equation", "align", "gather", "multline", "alignat", "flalign", "eqnarray", "displaymath", "math", "dmath",
    "subequations", "split", "aligned", "gathered", "cases", "bmatrix", "pmatrix", "matrix", "array",
)  # fmt: skip
_ENVIRONMENT = rf"\\begin\{{(?P<environment>(?:{'|'.join(DISPLAY_ENVIRONMENTS)})\*?)\}}"


@dataclass(frozen=True)
class Dialect:
    """The markup of one kind of document: a pattern for its marks, and rules for code, backslashes and tildes."""

    marks: re.Pattern[str]
    code: bool = False  # code between backticks may be a formula
    escapes: bool = False  # a backslash in front of a sign makes it text, in some generators inside formulas too
    ties: bool = False  # a tilde is a space


_BRACKETS = r"(?P<bracket>\\\\?[(\[])(?!\d+(?:pt|em|ex|mm|cm)\])"
_SKIPPED = (  # addresses, and the text of a picture as converters of PDF write it, out of its order
    r"(?P<skipped>(?:https?|ftp)://[^\s<>\"'，。）)\]]{1,2000}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{1,60}"
    r"|-+ Start of picture text -+(?s:.{0,5000}?)-+ End of picture text -+)"
)
MARKDOWN = Dialect(
    re.compile(
        rf"(?P<dollars>\$\$|\$)|{_ENVIRONMENT}|{_BRACKETS}|(?P<role>\{{[\w:-]{{1,30}}\}}|:[\w:-]{{1,30}}:)?(?P<ticks>`+)"
        rf"|(?P<tag><!--|</?[A-Za-z][\w:-]{{0,40}}(?:\s[^<>]{{0,2000}})?/?>)"
        rf"|(?P<link>\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)?(?: \"[^\"]{{0,200}}\")?\))"
        rf"|{_SKIPPED}|(?P<escape>\\(?=[!-/:-@\[-`{{-~]))|(?P<stars>\*+)"
    ),
    code=True,
    escapes=True,
)
RESTRUCTURED = Dialect(
    re.compile(
        rf"(?P<role>:[\w:+.-]{{1,40}}:)?(?P<ticks>`+)|{_SKIPPED}|(?P<nothing>\\\s)|(?P<escape>\\)|(?P<stars>\*+)"
    ),
    code=True,
)
_STYLES = (  # commands that write nothing of their own
    r"text(?:bf|it|rm|sf|tt|sc|sl|up|md|normal)|emph|underline|uline|bf(?:series)?|it(?:shape)?|rm|sf|sc|tt(?:family)?|em"
    r"|normal(?:size|font)|scriptsize|footnotesize|small|[lL]arge|LARGE|[hH]uge|centering|raggedright|(?:no)?indent"
    r"|protect|mbox"
)
_GAPS = (  # commands between texts that do not belong together
    r"par|new(?:line|page)|clearpage|(?:small|med|big)skip|[hv]fill|q?quad|caption|footnote|title|item"
)
_IN_BRACES = r"(?:\[[^\[\]{}]{0,200}\])?\{[^{}]{0,300}\}"
LATEX = Dialect(
    re.compile(
        rf"(?P<dollars>\$\$|\$)|{_ENVIRONMENT}|(?P<bracket>\\[(\[])|(?P<escape>\\(?=[%&#_$ ]))|{_SKIPPED}"
        rf"|(?P<gap>\\(?:{_GAPS})(?![A-Za-z])|\\\\)"
        r"|(?P<typed>\\(?:(?:verb|lstinline)\*?(?P<bar>[^A-Za-z\s{*])|(?:texttt|lstinline|code)\{))"
        r"|(?P<command>\\(?:cite\w*|(?:eq|auto|[cC]|page)?ref|label|url|href|input|include\w*|bibliography\w*|usepackage"
        rf"|documentclass|lstset|hypersetup|[hv]space)\*?{_IN_BRACES}|\\(?:{_STYLES})(?![A-Za-z])"
        r"|\\[,;:!/@-]|[{}])"
        rf"|(?P<unknown>\\(?:begin|end){_IN_BRACES}|\\[A-Za-z]+\*?|\\.)"
    ),
    code=True,
    ties=True,
)
