r"""Formulas on GitHub: what its pages refuse, and formulas written so that it sets them.

GitHub sets the formulas of a Markdown file with MathJax 3.2, from which it takes away packages, and its page element
`math-renderer` refuses a formula by name, by size, or by the size of all formulas of the page together. Sources:

    REFUSED           the list in that element, a substring test; "The following macros are not allowed" in
                      github/markup issue 1688, and the reason from GitHub's support in LASY-org/lasy pull request 134
    ABSENT            the commands of the packages that GitHub's configuration takes away: newcommand (github/markup
                      issue 1551), html, require, bbox, action, colortbl; and mbox, reported in
                      Programmiermethoden-CampusMinden/Prog2-Lecture issue 1039
    BRACES_*          opening braces stand for macros in that element: "Unable to render expression"
    an HTML tag       a fence is read as HTML again before it is set, so that `<b` opens a tag and ends the formula

Read in November 2026. `\mathrm{softmax}(x)` renders everywhere where `\operatorname{softmax}(x)` does.
"""

import re
from collections.abc import Iterator, Sequence

__all__ = ["ABSENT", "BRACES_OF_A_FORMULA", "BRACES_OF_A_PAGE", "REFUSED", "for_github", "refusals"]

REFUSED = (
    *("DeclareMathOperator", "DeclarePairedDelimiters", "Newextarrow", "newtagform", "renewtagform", "operatorname"),
    *("colorbox", "definecolor", "fcolorbox", "hphantom", "mathchoice", "mmlToken", "phantom", "unicode", "vphantom"),
)
ABSENT = (
    *("def", "let", "newcommand", "newenvironment", "renewcommand", "renewenvironment"),
    *("class", "cssId", "href", "style", "require", "bbox", "mathtip", "texttip", "toggle"),
    *("cellcolor", "columncolor", "rowcolor", "mbox"),
)
BRACES_OF_A_FORMULA, BRACES_OF_A_PAGE = 1000, 2000

_FUNCTION = r"(?:cos|det|exp|inf|lim|ln|log|max|min|sin|sup|tanh)\}"  # KaTeX demands braces around these
_SINGLE = re.compile(rf"(?<!\\)([_^])\{{([A-Za-z0-9]|\\(?!{_FUNCTION})[A-Za-z]+(?=\}}(?![A-Za-z])))\}}")
_WORD = re.compile(r"(?<!\\)([_^])\{(\\mathrm\{[A-Za-z]+\})\}")
_ALPHABET = re.compile(r"\\math(bb|bf)\{([A-Za-z0-9])\}")
_TAG = re.compile(r"<[A-Za-z/!?][^\s>]*")


def for_github(formula: str) -> str:
    r"""Return a formula with fewer braces and no `\operatorname`, which means the same: x_{i} is written x_i."""
    # TeX takes one letter or macro as a script without braces, and GitHub counts braces
    short = _ALPHABET.sub(r"\\math\1 \2", _WORD.sub(r"\1\2", _SINGLE.sub(r"\1\2", formula)))
    return short.replace(r"\operatorname{", r"\mathrm{")


def refusals(formulas: Sequence[str]) -> list[str]:
    """Return what GitHub refuses in the formulas of one page, a sentence each; empty if it sets all of them."""
    found = [f"{reason}: {formula}" for formula in formulas for reason in _reasons(formula)]
    braces = sum(map(_braces, formulas))
    if braces > BRACES_OF_A_PAGE:
        too_many = f"more than {BRACES_OF_A_PAGE}: move a part to a page of its own"
        found.append(f"the page has {braces} opening braces, {too_many}")
    return found


def _reasons(formula: str) -> Iterator[str]:
    commands = set(re.findall(r"\\([A-Za-z]+)", formula))
    for macro in REFUSED:
        # a substring, as on GitHub: \phantomsection is refused because of \phantom
        if f"\\{macro}" in formula:
            yield f"\\{macro} is refused"
    for macro in ABSENT:
        if macro in commands:
            yield f"\\{macro} is unknown there"
    if tag := _TAG.search(formula):
        yield f"{tag[0]} is read as an HTML tag"
    if _braces(formula) > BRACES_OF_A_FORMULA:
        yield f"there are more than {BRACES_OF_A_FORMULA} opening braces"


def _braces(formula: str) -> int:
    return formula.count("{") + 1  # GitHub counts the pieces between braces
