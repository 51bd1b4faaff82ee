"""The page that judges what is pasted into it, by the package itself in the reader's browser."""

from __future__ import annotations

from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page

__all__ = ["PATH", "judge_page"]

PATH = "judge.html"
SCRIPTS = ("assets/judge_client.js", "assets/judge.js")
SAMPLE = r"""Let $A \in \mathbb{R}^{n \times d}$ and $B \in \mathbb{R}^{d \times m}$. Then

$$(A B)^\top = B^\top A^\top$$

and $(a + b)^2 = a^2 + b^2$. The softmax is $y_i = \frac{e^{x_i}}{\sum_{j=1}^n e^{x_j}}$.
"""


def judge_page(has_python: bool) -> Page:
    """Return the page; without Pyodide in the site it says how to have it."""
    parts = _forms() if has_python else [_absent()]
    content = joined([element("h1", "Try the judge"), *parts])
    words = "check a document an equation of your own markdown latex proved wrong counterexample"
    return Page(PATH, "Try the judge", content, "page", words, SCRIPTS if has_python else ())


def _absent() -> Html:
    command = element("code", "derivations site DIR --pyodide FOLDER")
    install = element("code", "npm install pyodide@0.29")
    return element(
        "p", "This copy of the site was built without Python. To have the judge in it: ", install,
        " in a folder, and name the folder: ", command, ".",
    )  # fmt: skip


def _forms() -> list[Html]:
    lead = (
        "The package itself decides, in your browser: what you write here is sent nowhere. The first answer takes "
        "some seconds, while Python (28 MB with the package) is loaded."
    )
    without = "Functions over NumPy arrays are not taken here, since Pyodide's NumPy is not part of its npm package: "
    return [
        element("p", lead),
        element("noscript", element("p", "The judge needs JavaScript.")),
        element("h2", "A document"),
        _document(),
        element("h2", "Two sides"),
        _equation(),
        element("h2", "Verdicts", id="answer"),
        _state(),
        element("div", id="verdicts"),
        element("h2", "A function"),
        element(
            "p",
            without,
            element("code", "derivations prove FILE:FUNCTION LAYER"),
            " proves them where it is installed.",
        ),
    ]


def _document() -> Html:
    text = element("textarea", SAMPLE, name="text", rows="9", spellcheck="false")
    form = element(
        "select",
        element("option", "Markdown", value="markdown"),
        element("option", "LaTeX", value="latex"),
        name="form",
    )
    return element(
        "form",
        element("label", element("span", "Markdown or LaTeX, with formulas"), text, class_="field"),
        element("p", element("label", "Format ", form), " ", _ask(), class_="asking"),
        id="document",
    )


def _equation() -> Html:
    return element(
        "form",
        _line("left", "Left side, in LaTeX", r"(A B)^\top"),
        _line("right", "Right side", r"A^\top B^\top"),
        element(
            "label", element("span", "Shapes, a line for each letter"),
            element("textarea", "A: n x n\nB: n x n\n", name="shapes", rows="3", spellcheck="false"), class_="field",
        ),
        element("p", _ask(), class_="asking"),
        id="equation",
    )  # fmt: skip


def _line(name: str, words: str, value: str) -> Html:
    box = element("input", type="text", name=name, value=value, spellcheck="false", autocomplete="off")
    return element("label", element("span", words), box, class_="field")


def _ask() -> Html:
    return element("button", "Judge", type="submit", class_="ask")


def _state() -> Html:
    stop = element("button", "Stop", type="button", id="stop", disabled=True)
    progress = element("progress", id="progress", aria_label="Progress", hidden=True)
    return element("p", stop, " ", element("span", id="status", role="status"), " ", progress, class_="asking")
