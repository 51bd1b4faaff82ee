"""The frame of every page of a site: the head, the navigation, the search box, the footer."""

from __future__ import annotations

from dataclasses import dataclass

import derivations
from derivations.site.markup import Content, Html, element, joined

__all__ = ["Page", "framed"]

# Nothing is loaded from elsewhere and no script stands inside a page, so that pasted text cannot run as one.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; font-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; style-src 'self' 'unsafe-inline'"  # KaTeX places signs by style attributes
)
SCRIPTS = ("assets/katex/katex.min.js", "search-index.js", "assets/site.js")
PLACES = (
    ("index.html", "Pages"),
    ("results/index.html", "Results"),
    ("layers/index.html", "Layers"),
    ("calculator.html", "Calculator"),
    ("judge.html", "Judge"),
)


@dataclass(frozen=True)
class Page:
    """A page: its path in the site, its title, its content, its scripts, and the words that the search finds it by."""

    path: str
    title: str
    content: Html
    kind: str = "page"
    words: str = ""  # that the search finds it by, beside its title
    scripts: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()  # the title as words and LaTeX in turns, where it has formulas

    @property
    def root(self) -> str:
        """The relative path from the page to the root of the site."""
        return "../" * self.path.count("/")


def framed(page: Page) -> str:
    """Return a page as an HTML document."""
    root = page.root
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", page.title if page.title == "Derivations" else f"{page.title} · Derivations"),
        element("link", rel="icon", href=f"{root}assets/icon.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href=f"{root}assets/katex/katex.min.css"),
        element("link", rel="stylesheet", href=f"{root}assets/site.css"),
        _script(f"{root}assets/theme.js"),
        *(_script(root + name, defer=True) for name in (*SCRIPTS, *page.scripts)),
    )
    body = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("header", _navigation(page), _search(), class_="top"),
        element("main", page.content, id="content", tabindex="-1"),
        element("footer", f"derivations {derivations.__version__}"),
    )
    html = element("html", element("head", *head), element("body", *body, data_root=root or "./"), lang="en")
    return f"<!doctype html>\n{html.text}\n"


def _script(source: str, defer: bool = False) -> Html:
    return element("script", src=source, defer=defer)


def _navigation(page: Page) -> Html:
    links = [
        element("a", name, href=page.root + path, **({"aria_current": "page"} if path == page.path else {}))
        for path, name in PLACES
    ]
    home: Content = element("a", "Derivations", href=f"{page.root}index.html", class_="home")
    return element("nav", home, joined(links), aria_label="Site")


def _search() -> Html:
    box = element(
        "input", type="search", id="search", placeholder="Search", autocomplete="off", aria_label="Search",
        role="combobox", aria_expanded="false", aria_controls="found", aria_autocomplete="list",
    )  # fmt: skip
    found = element("ul", id="found", role="listbox", aria_label="Found", hidden=True)
    theme = element("button", "◐", type="button", id="theme", aria_label="Light or dark", title="Light or dark")
    return element("div", box, found, theme, class_="tools")
