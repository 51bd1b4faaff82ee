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
from derivations.language.differentiation.reverse import gradient
from derivations.language.printing.views import MATH

__all__ = ["emitted", "label_of"]

_FENCE = re.compile(r"```math\n(.*?)\n```", re.DOTALL)
_ROLE = re.compile(r"\$`(.*?)`\$")  # words beside formulas have their $ and ` behind a backslash
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def emitted(block: MarkedBlock, options: Options, form: str, label: str = "") -> str:
    """Return what must stand in a block of a document; `form` is markdown, quarto, latex or restructuredtext."""
    shown = _shown(block, options)
    body = _body(shown, options, form, label)
    if options.title:
        body = f"{_title(shown, block, options, form)}\n\n{body}"
    return body if form == "latex" else f"\n{body}\n"  # in LaTeX a blank line would end the paragraph


def label_of(block: MarkedBlock, prefix: str, form: str, number: int) -> str:
    """Return the label of a block; `number` counts the blocks of one id, the second of which is called ...-2."""
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"the label {prefix!r} must be letters, digits and hyphens, such as eq")
    name = block.name.replace(".", "-") + (f"-{number}" if number > 1 else "")
    return f"{prefix}{':' if form == 'latex' else '-'}{name}"


def _shown(block: MarkedBlock, options: Options) -> Any:
    if not block.name:
        raise ValueError(f"the mark names nothing: write {block.kind}: and an id, such as softmax.jacobian")
    if block.kind == "derivation" and block.name in LAYERS:
        raise LookupError(f"{block.name} is a layer: write layer: {block.name}")
    shown: Any = get(block.name) if block.kind == "derivation" else layer(block.name)
    if options.gradient:
        if block.kind == "derivation":
            raise ValueError(f"{block.name} is a result; only a layer has a gradient")
        shown = gradient(shown)
    return shown.at(**options.sizes) if options.sizes else shown


def _body(shown: Any, options: Options, form: str, label: str) -> str:
    """Return the display and the sentences, or the display alone, which then says over what its indices run."""
    math = _math(options, form)
    how: dict[str, Any] = {"steps": options.steps, "lang": options.lang}
    if options.formula:
        display, sentences = MATH[math][0].format(shown.latex(options.notation, **how)), []
    else:
        view = shown.latex if form == "latex" else shown.markdown
        fragment = view(options.notation, math=math, **how).rstrip("\n")
        _, display, *sentences = fragment.split("\n\n")  # the heading comes first
    if form == "restructuredtext":
        display, sentences = _directive(display, label), [_with_roles(each) for each in sentences]
    elif label:
        display = _labelled(display, math, form, label)
    return "\n\n".join([display, *sentences]) + "\n"


def _math(options: Options, form: str) -> str:
    """Return how formulas are marked."""
    if form == "restructuredtext":
        if options.math:
            raise ValueError("reStructuredText marks formulas in one way, the directive math: leave math out")
        return "fence"  # which _directive and _with_roles turn into what reStructuredText has
    math = options.math or ("equation" if form == "latex" else "dollars")
    if form == "latex" and math == "fence":
        raise ValueError("LaTeX has no fences: choose math=equation, math=brackets or math=dollars")
    return math


def _labelled(display: str, math: str, form: str, label: str) -> str:
    if math == "equation":
        return display.replace("\\begin{equation}", f"\\begin{{equation}}\\label{{{label}}}", 1)
    if math != "dollars" or form == "latex":
        markdown = "" if form == "latex" else "dollars (MyST, Quarto) or "
        raise ValueError(f"a formula marked with {math} takes no label: choose {markdown}equation")
    return f"{display} {{#{label}}}" if form == "quarto" else f"{display} ({label})"


def _directive(display: str, label: str) -> str:
    formula = _FENCE.fullmatch(display)
    assert formula, "the view marks a display with a fence"
    lines = "\n".join(f"   {line}" for line in formula[1].splitlines())
    return ".. math::\n" + (f"   :label: {label}\n" if label else "") + f"\n{lines}"


def _with_roles(sentence: str) -> str:
    """Return a sentence with its formulas as roles, kept apart from letters beside them by an escaped space."""

    def role(found: re.Match[str]) -> str:
        before, after = sentence[: found.start()][-1:], sentence[found.end() :][:1]
        return r"\ " * before.isalnum() + f":math:`{found[1]}`" + r"\ " * after.isalnum()

    return _ROLE.sub(role, sentence)


def _title(shown: Any, block: MarkedBlock, options: Options, form: str) -> str:
    heading = (shown.latex if form == "latex" else shown.markdown)(options.notation, math="dollars", lang=options.lang)
    title = heading.split("\n", 1)[0]
    if form == "latex":
        return title
    called = {"restructuredtext": f"``{block.name}``"}.get(form, f"`{block.name}`")
    called += ", gradient" if options.gradient else ""
    evidence = f", {shown.evidence.level}" if block.kind == "derivation" else ""
    return f"**{title.removeprefix('### ')}** ({called}{evidence})"
