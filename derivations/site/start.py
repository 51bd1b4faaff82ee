"""The introduction on the start page: what the site is, what a visitor can do, how to install the package."""

from __future__ import annotations

from importlib.metadata import metadata

from derivations.site.judge import PATH as JUDGE
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page

__all__ = ["absent_page", "welcomed"]

PACKAGE = "derivations"


def welcomed(content: Html, results: int, layers: int, models: int) -> Html:
    """Return the content of the start page with the introduction below its title."""
    title, end, rest = content.text.partition("</h1>")
    return Html(title + end) + _welcome(results, layers, models) + Html(rest)


def _welcome(results: int, layers: int, models: int) -> Html:
    about = metadata(PACKAGE)
    cards = (
        ("results/index.html", "Read formulas", f"{results} results, each proved step by step; LaTeX to copy."),
        ("layers/index.html", "Read layers", f"{layers} layers: equations beside their NumPy, gradients and costs."),
        (
            "calculator.html",
            "Size a model",
            f"Parameters, FLOPs and bytes of {models} models or of yours; does it fit.",
        ),
        (JUDGE, "Check your own", "A formula, a document or a NumPy function of yours, decided in your browser."),
    )
    parts = (
        element("p", about["Summary"], class_="lead"),
        element("nav", *(_card(*card) for card in cards), aria_label="What to do here", class_="cards"),
        element(
            "p", "To have it on your machine: ", element("code", "pip install ."), " in the folder of its source, with "
            f"Python {about['Requires-Python'].removeprefix('>=')} or later; then ", element("code", PACKAGE),
            " proves every result.",
        ),
    )  # fmt: skip
    return joined(parts)


def _card(path: str, title: str, words: str) -> Html:
    return element("a", element("strong", title), element("span", words), href=path, class_="card")


def absent_page() -> Page:
    """Return the page that web servers show for an address without a page."""
    start = element("a", "the start page", href="index.html")
    content = element("p", "This address has no page: look on ", start, ", or search above.")
    return Page("404.html", "No such page", element("h1", "No such page") + content)
