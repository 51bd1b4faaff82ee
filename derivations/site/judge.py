"""The page that judges what is pasted into it, by the package itself in the reader's browser."""

from __future__ import annotations

from collections.abc import Mapping

from derivations.site.functions import SAMPLE as FUNCTION
from derivations.site.functions import SAMPLE_LAYER
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page

__all__ = ["PATH", "judge_page"]

PATH = "judge.html"
SCRIPTS = ("assets/judge_client.js", "assets/judge.js")
SAMPLE = r"""Let $A \in \mathbb{R}^{n \times d}$ and $B \in \mathbb{R}^{d \times m}$. Then

$$(A B)^\top = B^\top A^\top$$

and $(a + b)^2 = a^2 + b^2$. The softmax is $y_i = \frac{e^{x_i}}{\sum_{j=1}^n e^{x_j}}$.
"""


def judge_page(has_python: bool, layers: Mapping[str, str] | None = None) -> Page:
    """Return the page. If the site lacks Pyodide or its NumPy, the page explains how to add it.

    `layers` are the titles of those that a function can be compared with, by their names; None where NumPy is absent.
    """
    parts = _forms(layers) if has_python else [_absent()]
    content = joined([element("h1", "Try the judge"), *parts])
    words = "check a document an equation a numpy function of your own markdown latex proved wrong counterexample"
    return Page(PATH, "Try the judge", content, "page", words, SCRIPTS if has_python else ())


def _absent() -> Html:
    command = element("code", "derivations site DIR --pyodide FOLDER")
    install = element("code", "npm install pyodide@0.29")
    return element(
        "p", "This copy of the site was built without Python. To have the judge in it: ", install,
        " in a folder, and name the folder: ", command, ".",
    )  # fmt: skip


def _forms(layers: Mapping[str, str] | None) -> list[Html]:
    lead = (
        "The package itself decides, in your browser: what you write here is sent nowhere. The first answer takes "
        "some seconds, while Python (28 MB with the package) is loaded."
    )
    return [
        element("p", lead),
        element("noscript", element("p", "The judge needs JavaScript.")),
        element("h2", "A document"),
        _document(),
        element("h2", "Two sides"),
        _equation(),
        element("h2", "A function"),
        *(_without_numpy() if layers is None else _function(layers)),
        _answer(),
    ]


def _without_numpy() -> list[Html]:
    return [
        element(
            "p", "This copy of the site was built without NumPy, which Pyodide's npm package lacks. To have functions "
            "proved here: put the wheel of NumPy from Pyodide's full distribution into the folder that ",
            element("code", "--pyodide"), " names. Where the package is installed, ",
            element("code", "derivations prove FILE:FUNCTION LAYER"), " proves them.",
        ),
    ]  # fmt: skip


def _function(layers: Mapping[str, str]) -> list[Html]:
    lead = (
        "A function over NumPy arrays is followed, run against its own equations, and proved to be a layer for all "
        "sizes, or refuted by numbers. Unlike a document it is run, as a program, in a worker of its own that ",
        element("em", "Stop"),
        " ends: paste none that you would not run. The first answer loads NumPy as well (6 MB more).",
    )
    text = element("textarea", FUNCTION, name="text", rows="9", spellcheck="false", wrap="off")
    shapes = element(
        "textarea", name="shapes", rows="3", spellcheck="false", placeholder="Q: n x d_k", aria_describedby="needed"
    )
    options = [
        element("option", f"{title} ({name})", value=name, selected=name == SAMPLE_LAYER)
        for name, title in layers.items()
    ]
    needed = "Needed where no layer gives them, a line for each argument."
    form = element(
        "form",
        element("label", element("span", "A function, with those it calls"), text, class_="field"),
        element("label", element("span", "Shapes"), shapes, class_="field"),
        element("p", needed, id="needed", class_="law"),
        element(
            "label", element("span", "Compare with the layer"),
            element("select", element("option", "none: show its equations", value=""), *options, name="layer"),
            class_="field",
        ),
        element("p", element("button", "Prove", type="submit", class_="ask"), class_="asking"),
        id="function",
    )  # fmt: skip
    return [element("p", *lead), form]


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


def _answer() -> Html:
    """Return the section for the answer. The script moves it below the form whose button was pressed."""
    stop = element("button", "Stop", type="button", id="stop", disabled=True)
    progress = element("progress", id="progress", aria_label="Progress", hidden=True)
    state = element("p", stop, " ", element("span", id="status", role="status"), " ", progress, class_="asking")
    head = element("h3", "Answer")
    return element("section", head, state, element("div", id="verdicts"), id="answer", hidden=True)
