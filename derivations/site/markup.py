"""HTML as values: text is escaped when it becomes markup, so that no page has to remember to.

Strings become `Html` through `element` alone. A template language would escape as well; with pages that are lists,
tables and `details`, functions are shorter, are typed, and add no dependency.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

__all__ = ["Content", "Html", "element", "joined"]

VOID = frozenset({"br", "img", "input", "link", "meta"})


@dataclass(frozen=True)
class Html:
    """Markup, in which text is escaped already."""

    text: str

    def __add__(self, other: Html) -> Html:
        return Html(self.text + other.text)


Content: TypeAlias = Html | str


def joined(parts: Iterable[Content | None], between: str = "") -> Html:
    """Return parts side by side, their texts escaped; a part that is None is left out."""
    return Html(between.join(_markup(part) for part in parts if part is not None))


def element(name: str, /, *children: Content | None, **attributes: str | bool) -> Html:
    """Return an element; an attribute `class_` is `class`, `data_copy` is `data-copy`; one that is false is left out.

    >>> element("a", "x < y", href="page.html", class_="sum").text
    '<a href="page.html" class="sum">x &lt; y</a>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    start = f"<{name}{written}>"
    return Html(start if name in VOID else f"{start}{joined(children).text}</{name}>")


def _attribute(key: str, value: str | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _markup(part: Content) -> str:
    return part.text if isinstance(part, Html) else escape(part, quote=False)
