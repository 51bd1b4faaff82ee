"""The formulas of a site: collected while its pages are written, and set in one go by one process.

KaTeX's HTML is some ten times as long as its MathML. So what is not seen at first, such as the steps of a proof and
what follows many other formulas, is MathML alone, which a browser shows as it is; the script of the page sets it as the
rest when it comes into view (assets/site.js).

A page has a mark for each formula. `Formulas.fill` puts what KaTeX returned in the place of the marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from derivations.site.markup import Html, element

__all__ = ["NO_LETTERS", "Formula", "Formulas", "Letters", "Setter", "written"]

AHEAD = 400  # letters of LaTeX in a row of formulas that are set ahead: what one sees of a page at first

_OPEN, _CLOSE = "\ue000", "\ue001"  # private-use characters, which no text of a page has
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


@dataclass(frozen=True)
class Formula:
    """LaTeX without delimiters, whether it is a display formula, and the output format that KaTeX writes."""

    latex: str
    display: bool
    output: str = "htmlAndMathml"


Letters = Mapping[str, str]  # the LaTeX of a formula in other notations, by their names, where it differs
NO_LETTERS: Letters = {}
Setter = Callable[[Sequence[Formula]], Sequence[str]]  # formulas to HTML, in order


def written(letters: Letters) -> dict[str, str]:
    """Return the HTML attributes that hold a formula in other notations. Each distinct text is stored once."""
    texts = list(dict.fromkeys(letters.values()))
    if not texts:
        return {}
    names = " ".join(f"{name}={texts.index(latex)}" for name, latex in letters.items())
    return {"data_letters": names, **{f"data_text_{place}": latex for place, latex in enumerate(texts)}}


def _late(parts: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each formula, and whether at least `AHEAD` letters of LaTeX come before it."""
    length = 0
    for latex in parts:
        yield latex, length >= AHEAD
        length += len(latex)


@dataclass
class Formulas:
    """The distinct formulas of all pages, numbered in the order of their first use."""

    places: dict[Formula, int] = field(default_factory=dict)

    def inline(self, latex: str) -> Html:
        """Return the placeholder of a formula in a line of text."""
        return self._mark(Formula(latex, False))

    def display(self, latex: str, letters: Letters = NO_LETTERS) -> Html:
        """Return the placeholder of a display formula, which scrolls by itself where a screen is narrow."""
        return element("div", self._mark(Formula(latex, True)), class_="display", **written(letters))

    def later(self, latex: str, display: bool = True, letters: Letters = NO_LETTERS) -> Html:
        """Return the placeholder of a formula that is typeset when it comes into view."""
        name, class_ = ("div", "display later") if display else ("span", "later")
        mark = self._mark(Formula(latex, display, "mathml"))
        return element(name, mark, class_=class_, **written(letters))

    def displays(self, rows: Iterable[str], letters: Sequence[Letters] = ()) -> list[Html]:
        """Return the placeholders of display formulas below one another. Only the first are typeset ahead."""
        shown = zip_longest(_late(rows), letters, fillvalue=NO_LETTERS)
        return [
            self.later(latex, letters=others) if late else self.display(latex, others)
            for (latex, late), others in shown
        ]

    def inlines(self, parts: Iterable[str], letters: Sequence[Letters] = ()) -> list[Html]:
        """Return the placeholders of formulas in lines of text. Only the first are typeset ahead."""
        shown = zip_longest(_late(parts), letters, fillvalue=NO_LETTERS)
        return [
            self.later(latex, False, others) if late else element("span", self.inline(latex), **written(others))
            for (latex, late), others in shown
        ]

    def taken(self, html: Html, others: Formulas) -> Html:
        """Return HTML in which the placeholders of `others` are replaced by those of this collection."""
        known = list(others.places)
        return Html(_MARK.sub(lambda mark: self._mark(known[int(mark[1])]).text, html.text))

    def _mark(self, formula: Formula) -> Html:
        return Html(f"{_OPEN}{self.places.setdefault(formula, len(self.places))}{_CLOSE}")

    def fill(self, pages: dict[str, str], setter: Setter) -> dict[str, str]:
        """Return the pages with every placeholder replaced by its formula, typeset by `setter`."""
        html = setter(list(self.places))
        return {path: _MARK.sub(lambda mark: html[int(mark[1])], text) for path, text in pages.items()}
