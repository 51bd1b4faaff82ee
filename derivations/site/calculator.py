"""The calculator: the counts of every built-in model as functions of batch, lengths, phase and precision.

Definition   the closed forms are those of `derivations count --json`, under the same names, printed as JavaScript; the
             batch and the bytes of one number are letters in them, beside the sizes of the model
Result       a script with the different forms, and for each model its sizes and which forms are its own: models of one
             architecture share them
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Expr, Symbol

from derivations.architectures.models import named_model
from derivations.costs.counts import BYTES, PHASES, Counts, count, length_limits
from derivations.language.printing.latex import latex_of
from derivations.site.javascript import javascript
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page
from derivations.symbols import m, n

__all__ = ["SCRIPTS", "calculator_data", "calculator_page"]

BATCH = Symbol("batch", integer=True, positive=True)
NUMBER = Symbol("bytes_per_number", integer=True, positive=True)
SCRIPTS = ("assets/exact.js", "calculator-data.js", "assets/calculator.js")
AS_STORED = "as stored"

_Set = tuple[tuple[str, Expr], ...]


@dataclass
class _Forms:
    """The different sets of closed forms, each form under the path of its number, in the order of their first use."""

    places: dict[_Set, int] = field(default_factory=dict)

    def place(self, forms: _Set) -> int:
        """Return the place of a set of forms."""
        return self.places.setdefault(forms, len(self.places))

    def script(self) -> str:
        """Return the sets as a list in JavaScript: functions of the sizes, with the LaTeX of each."""
        return f"[{','.join(map(_written, self.places))}]"


def _written(forms: _Set) -> str:
    rows = (f"{json.dumps(path)}:[s=>{javascript(form)},{json.dumps(latex_of(form))}]" for path, form in forms)
    return f"{{{','.join(rows)}}}"


def calculator_data(models: Iterable[str]) -> str:
    """Return the script that holds the closed forms of models, and the sizes of each."""
    forms = _Forms()
    rows = {name: _model(name, forms) for name in models}
    return (
        f"globalThis.CALCULATOR={{forms:{forms.script()},bytes:{json.dumps(dict(BYTES))},"
        f"models:{json.dumps(rows, separators=(',', ':'))}}};\n"
    )


def _model(name: str, forms: _Forms) -> dict[str, Any]:
    """Return what is particular to a model: sizes as texts, since they may be larger than JavaScript's numbers."""
    model = named_model(name)
    found: dict[str, Any] = {"phases": {}, "limits": {}}
    shared: dict[str, Any] = {}
    for phase in PHASES:
        try:
            counts = replace(count(model, phase=phase), batch=BATCH, number_size=NUMBER)
        except ValueError:  # an encoder has no phase of decoding
            continue
        shared = shared or counts.closed_forms()  # parameters and memory are those of every phase
        written = {**shared, "flops": counts.closed_flops()}
        found["phases"][phase] = forms.place(tuple(_paths(written)))
        limits = length_limits(model, phase)
        found["limits"][phase] = {str(symbol): [limit.most, limit.fixed] for symbol, limit in limits.items()}
        found |= {"sizes": _sizes(counts), "dtype": counts.dtype, "of": model.part or "the whole model"}
    return found


def _sizes(counts: Counts) -> dict[str, str]:
    return {symbol.name: str(value) for symbol, value in counts.values.items() if symbol not in (n, m)}


def _paths(forms: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the closed forms by their paths in the JSON, such as flops.terms.matmul."""
    for name, form in forms.items():
        path = f"{above}.{name}" if above else name
        if isinstance(form, Mapping):
            yield from _paths(form, path)
        elif form is not None:
            yield path, form


# --- the page -------------------------------------------------------------------------------------------------------


def calculator_page(models: Iterable[str]) -> Page:
    """Return the page of the calculator; its script fills the numbers in."""
    fields = [
        _choice("model", models),
        _choice("phase", PHASES),
        _choice("dtype", (AS_STORED, *BYTES)),
        *(_slider(name) for name in ("batch", "seq", "source")),
    ]
    note = element("p", id="message", role="alert", hidden=True)
    counts = element("div", id="counts", aria_live="polite", class_="wide")
    without = element("noscript", element("p", "The numbers need JavaScript."))
    content = joined([element("h1", "Calculator"), element("form", *fields, id="calculator"), without, note, counts])
    return Page("calculator.html", "Calculator", content, "page", "parameters flops memory cache bytes", SCRIPTS)


def _choice(name: str, values: Iterable[str]) -> Html:
    options = (element("option", value, value="" if value == AS_STORED else value) for value in values)
    return element("label", element("span", name), element("select", *options, name=name), class_="field")


def _slider(name: str) -> Html:
    slider = element("input", type="range", name=f"{name}_slider", min="0", step="1", aria_label=f"{name}, as a slider")
    number = element("input", type="number", name=name, min="1", step="1")
    return element("div", element("label", element("span", name), number), slider, class_="field", id=f"field_{name}")
