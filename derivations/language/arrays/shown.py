"""Views of results and layers (LaTeX, Markdown, text, JSON, Python) as methods.

The printers and the judge import the language, not the other way round. So they register their functions here under
the name of a view, and the methods look them up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["VIEWS", "Displayed", "Shown", "view"]

VIEWS: dict[str, Callable[..., Any]] = {}


def view(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the view called `name`."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        VIEWS[name] = function
        return function

    return enter


class Displayed:
    """An object that a notebook displays as a formula."""

    __slots__ = ()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {VIEWS['latex'](self)}$"


class Shown(Displayed):
    """A result or a layer, with its views."""

    __slots__ = ()

    def latex(self, notation: Any = "ours", **options: Any) -> str:
        """Return LaTeX; options: `steps`, `math` (dollars, brackets, equation), `lang`."""
        return VIEWS["latex"](self, notation, **options)

    def markdown(self, notation: Any = "ours", **options: Any) -> str:
        """Return Markdown; options: `steps`, `math` (dollars, brackets, fence, equation), `lang`."""
        return VIEWS["markdown"](self, notation, **options)

    def text(self, notation: Any = "ours", **options: Any) -> str:
        """Return plain text; options: `steps`, `lang`."""
        return VIEWS["text"](self, notation, **options)

    def json(self) -> dict[str, Any]:
        """Return plain data for JSON, expressions as SymPy's `srepr`."""
        return VIEWS["json"](self)

    def python(self) -> str:
        """Return Python source: a function for a closed form in scalars.

        Raises `NotClosedForm` if it is not a closed form in scalars.
        """
        return VIEWS["python"](self)

    def _repr_markdown_(self) -> str:
        return self.markdown()
