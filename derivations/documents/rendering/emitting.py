r"""The text of one block, from the views of a result or of a layer.

Definition   the display and the sentences below it as the view prints them, without its heading; with a label, the
             display can be referred to
Result       Markdown: `$$ ... $$ (eq-softmax-jacobian)` as MyST has it, `$$ ... $$ {#eq-softmax-jacobian}` as Quarto
             has it; LaTeX: `\label{eq:softmax-jacobian}`; reStructuredText: `.. math::`, `:label:`
Raises       LookupError with the nearest ids for an unknown one; ValueError for options that do not fit
"""

from __future__ import annotations

import re
from typing import Any

from derivations.catalogue import LAYERS, get, layer
from derivations.documents.rendering.marks import MarkedBlock
from derivations.documents.rendering.options import Options
from derivations.language.differentiation.reverse import required_gradient
from derivations.language.layers.layer import Layer
from derivations.language.printing import labels
from derivations.language.printing.fragments import alone, fitted, points
from derivations.language.printing.references import linked
from derivations.language.printing.statement import statement
from derivations.language.printing.views import delimiters, escaped_markdown
from derivations.language.printing.words import Kind, language, said, word

__all__ = ["emitted", "label_of"]

_DISPLAY = re.compile(r"\\\[\n(.*?)\n\\\]", re.DOTALL)
_ROLE = re.compile(r"(?<!\\)\\\((.*?)\\\)")  # words beside formulas have their backslashes after a backslash


def emitted(block: MarkedBlock, options: Options, form: str, label: str = "") -> str:
    """Return the text for a block of a document. `form` is markdown, quarto, latex or restructuredtext."""
    shown = _shown(block, options)
    body = _body(shown, options, form, label)
    if options.title:
        body = f"{_title(shown, block, options, form)}\n\n{body}"
    return body if form == "latex" else f"\n{body}\n"  # in LaTeX a blank line would end the paragraph


def label_of(block: MarkedBlock, prefix: str, form: str, number: int) -> str:
    """Return the label of a block. `number` counts the blocks of one id, and the second label ends in -2."""
    return labels.label_of(prefix, block.name, number, ":" if form == "latex" else "-")


def _shown(block: MarkedBlock, options: Options) -> Any:
    if not block.name:
        raise ValueError(f"the mark names nothing: write {block.kind}: and an id, such as softmax.jacobian")
    if block.kind == "derivation" and block.name in LAYERS:
        raise LookupError(f"{block.name} is a layer: write layer: {block.name}")
    shown: Any = _of_module(block, options) if ":" in block.name else _of_catalogue(block)
    if options.gradient:
        if block.kind == "derivation":
            raise ValueError(f"{block.name} is a result; only a layer has a gradient")
        shown = required_gradient(shown)
    return shown.at(**options.sizes) if options.sizes else shown


def _of_catalogue(block: MarkedBlock) -> Any:
    return get(block.name) if block.kind == "derivation" else layer(block.name)


def _of_module(block: MarkedBlock, options: Options) -> Any:
    """Return the layer or the result that a user's module has under the name on a mark."""
    found = options.own(block.name)
    kind = "layer" if isinstance(found, Layer) else "derivation"
    if kind != block.kind:
        raise LookupError(f"{block.name} is a {kind}: write {kind}: {block.name}")
    return found


def _body(shown: Any, options: Options, form: str, label: str) -> str:
    """Return the display with its sentences, or the display alone, which then includes the ranges of its indices."""
    math = _math(options, form)
    if options.width and form == "latex":
        return _fitted(shown, options, points(options.width), math, label)
    how: dict[str, Any] = {"steps": options.steps, "lang": options.lang}
    if options.formula:
        display, sentences = delimiters(math)[0](shown.latex(options.notation, **how)), []
    else:
        view = shown.latex if form == "latex" else shown.markdown
        fragment = view(options.notation, math=math, **how).rstrip("\n")
        _, display, *sentences = fragment.split("\n\n")  # the heading comes first
        if form != "latex" and getattr(shown, "source", None):
            sentences[-1] = _source(shown.source, form, options.lang)  # a page has no list of references
    if form == "restructuredtext":
        display, sentences = _directive(display, label), [_with_roles(each) for each in sentences]
    elif label:
        display = _labelled(display, math, form, label)
    return "\n\n".join([display, *sentences]) + "\n"


def _fitted(shown: Any, options: Options, width: float, math: str, label: str) -> str:
    """Return the displays in lines that fit into a width, and the sentences below them."""
    parts = statement(shown, options.notation, options.lang, steps=options.steps)
    said = alone(parts) if options.formula else parts
    displays, sentences = fitted(said, width, math=math, lang=options.lang, label=label)
    # ragged, because TeX does not break the line inside of most formulas
    below = [rf"{{\raggedright {' '.join(sentences)}\par}}"] if sentences else []
    return "\n\n".join([*displays, *below]) + "\n"


def _source(source: str, form: str, lang: str) -> str:
    """Return the sentence with the source, with links to the works that the bibliography has."""
    marked = "`{} <{}>`__" if form == "restructuredtext" else "[{}]({})"
    signs = language(lang)
    words = linked(source, marked.format, escaped_markdown, lang)
    return f"{word('Source', lang)}{signs.colon}{words}{signs.stop}"


def _math(options: Options, form: str) -> str:
    """Return the name of the markup for formulas, such as equation, dollars or brackets."""
    if form == "restructuredtext":
        if options.math:
            raise ValueError("reStructuredText marks formulas in one way, the directive math: leave math out")
        return "brackets"  # which _directive and _with_roles turn into what reStructuredText has
    math = options.math or ("equation" if form == "latex" else "dollars")
    if form == "latex" and math == "fence":
        raise ValueError("LaTeX has no fences: choose math=equation, math=brackets or math=dollars")
    return math


def _labelled(display: str, math: str, form: str, label: str) -> str:
    if math == "equation":
        return labels.labelled(display, label)
    if math != "dollars" or form == "latex":
        markdown = "" if form == "latex" else "dollars (MyST, Quarto) or "
        raise ValueError(f"a formula marked with {math} takes no label: choose {markdown}equation")
    return f"{display} {{#{label}}}" if form == "quarto" else f"{display} ({label})"


def _directive(display: str, label: str) -> str:
    formula = _DISPLAY.fullmatch(display)
    assert formula, "the view marks a display with brackets"
    lines = "\n".join(f"   {line}" for line in formula[1].splitlines())
    return ".. math::\n" + (f"   :label: {label}\n" if label else "") + f"\n{lines}"


def _with_roles(sentence: str) -> str:
    """Return a sentence with its formulas as roles, kept apart from letters beside them by an escaped space."""

    def role(found: re.Match[str]) -> str:
        before, after = sentence[: found.start()][-1:], sentence[found.end() :][:1]
        return r"\ " * before.isalnum() + f":math:`{found[1]}`" + r"\ " * after.isalnum()

    return _ROLE.sub(role, sentence)


def _title(shown: Any, block: MarkedBlock, options: Options, form: str) -> str:
    if form == "restructuredtext":  # bold words hold no role, so formulas stay in plain text
        title = shown.text(options.notation, lang=options.lang).split("\n", 1)[0].rpartition(" (")[0]
    else:
        math = _math(options, form)
        view = shown.latex if form == "latex" else shown.markdown
        title = view(options.notation, math=math, lang=options.lang).split("\n", 1)[0]
    if form == "latex":
        return title
    signs = language(options.lang)
    called = {"restructuredtext": f"``{block.name}``"}.get(form, f"`{block.name}`")
    called += signs.comma + word("gradient", options.lang) if options.gradient else ""
    evidence = ""
    if block.kind == "derivation":
        evidence = signs.comma + said(Kind.EVIDENCE, shown.evidence.level, options.lang)
    return f"**{title.removeprefix('### ')}** ({called}{evidence})"
