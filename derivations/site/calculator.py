"""The calculator: the counts of every built-in model as functions of batch, lengths, phase and precision.

Definition   the closed forms are those of `derivations count --json`, under the same names, as trees (trees.py); the
             batch and the bytes of one number are letters in them, beside the sizes of the model. The bytes on devices
             are those of `derivations fit` (fits.py); neither needs the other, so that two processes derive them
Result       a script with the different forms, and for each model its sizes and which forms are its own: models of one
             architecture share them. `row_of` is the same of a model that a reader brings
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Expr

from derivations.architectures.description import Model
from derivations.architectures.models import named_model
from derivations.costs.counts import BYTES, PHASES, Counts, count, length_limits
from derivations.costs.fit.inference import beyond
from derivations.language.printing.latex import latex_of
from derivations.processes import rarely_collecting
from derivations.site.fits import RANKS, Parts, devices, plans
from derivations.site.letters import BATCH, NUMBER, meaning_of
from derivations.site.markup import Html, element, joined
from derivations.site.shell import Page
from derivations.site.trees import addends, rounded_up
from derivations.symbols import m, n, size

__all__ = [
    "PURPOSES",
    "QUANTITIES",
    "SCRIPTS",
    "calculator_data",
    "calculator_page",
    "calculator_script",
    "counts_of",
    "plans_of",
    "row_of",
]

READING = ("assets/judge_client.js", "assets/packing.js")  # in a site that has Python
SCRIPTS = ("assets/exact.js", "calculator-data.js", "assets/calculator.js")
AS_STORED = "as stored"
PURPOSES = {phase: "training" if phase == "training" else "serving" for phase in PHASES}  # what devices are planned for
SERVED, TRAINED = ("prefill", "decode"), ("training",)
QUANTITIES = {  # of `derivations count`, where its name says too little: in words, and the phases that have it
    "parameters.active": ("active, used by one token", PHASES),
    "memory.weights_bytes": ("weights", PHASES),
    "memory.kv_cache_bytes_per_token": ("cache of keys and values, for each position of a text", SERVED),
    "memory.kv_cache_bytes": ("cache of keys and values, of all texts", SERVED),
    "memory.source_kv_cache_bytes": ("cache of the keys and values of the source", SERVED),
    "memory.activation_bytes": ("saved for the backward pass, if nothing is computed again", TRAINED),
}
ON_DEVICES = {  # of `derivations fit`, by its purposes: in words, and the parts whose names could be misread
    "serving": ("serving", {"activations": "arrays of a step of serving, at its fullest moment"}),
    "training": (
        "a step of training by Adam, with attention computed again and gradients of 2 bytes",
        {"activations": "saved for the backward pass, but for what attention computes again"},
    ),
}
FIELDS = {  # the names of fields in words; the others have their own
    "seq": "positions of a text (seq)",
    "source": "positions of the source",
    "batch": "texts at once (batch)",
    "dtype": "type of numbers",
    "ranks": "devices, tensor parallel (ranks)",
}

_Set = tuple[tuple[str, Expr], ...]


@dataclass
class _Forms:
    """The distinct sets of closed forms, numbered in the order of their first use. A set maps JSON paths to forms."""

    places: dict[_Set, int] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)  # what was derived of an architecture, for its other models

    def of(self, counts: Counts) -> _Set:
        """Return the closed forms of counts; models of one architecture differ in the numbers of its sizes alone."""
        model = counts.model
        key = (replace(model.architecture, name=""), model.part, counts.dtype, str(model.storage))
        if key not in self.known:
            self.known[key] = counts.closed_forms()  # parameters and memory are those of every phase
        if (*key, counts.phase) not in self.known:
            forms = {**self.known[key], "flops": counts.closed_flops()}
            self.known[*key, counts.phase] = tuple(_paths(forms))
        found: _Set = self.known[*key, counts.phase]
        return found

    def place(self, forms: _Set) -> int:
        """Return the number of a set of forms. A new set gets the next number."""
        return self.places.setdefault(forms, len(self.places))


def calculator_data(models: Iterable[str]) -> str:
    """Return the script that holds the closed forms of models, and the sizes of each."""
    named = list(models)
    return calculator_script(counts_of(named), plans_of(named))


def calculator_script(counted: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """Return the script that holds the counts and the plans of the same models."""
    words = {"quantities": QUANTITIES, "purposes": PURPOSES, "on_devices": ON_DEVICES}
    data = {**_joined(counted, planned), **words, "bytes": dict(BYTES), "devices": devices()}
    return f"globalThis.CALCULATOR={json.dumps(data, ensure_ascii=False, separators=(',', ':'))};\n"


def row_of(model: Model) -> dict[str, Any]:
    """Return the data of one model, and the closed forms that it uses."""
    found = _joined(_counted({"": model}), _planned({"": model}))
    models = found.pop("models")
    return {"model": models[""], **found}


@rarely_collecting()
def counts_of(models: Iterable[str]) -> dict[str, Any]:
    """Return the closed forms of the counts of models, and for each model its sizes and the numbers of its forms."""
    return _counted({name: named_model(name) for name in models})


@rarely_collecting()
def plans_of(models: Iterable[str]) -> dict[str, Any]:
    """Return the parts of the bytes that models take on devices, and for each model the numbers of its parts."""
    return _planned({name: named_model(name) for name in models})


def _joined(counted: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts and plans of the same models merged into one mapping, with the letters of both."""
    models = {name: {**row, **planned["models"][name]} for name, row in counted["models"].items()}
    letters = dict(sorted({**counted["letters"], **planned["letters"]}.items()))
    return {"forms": counted["forms"], "parts": planned["parts"], "letters": letters, "models": models}


def _counted(models: Mapping[str, Model]) -> dict[str, Any]:
    forms = _Forms()
    rows = {name: _counts_row(model, forms) for name, model in models.items()}
    listed = [{path: addends(form) for path, form in each} for each in forms.places]
    return {"forms": listed, "letters": _letters(forms.places), "models": rows}


def _planned(models: Mapping[str, Model]) -> dict[str, Any]:
    places: dict[Parts, int] = {}  # the different parts of the bytes on a device, in the order of their first use
    rows = {name: _plans_row(model, places) for name, model in models.items()}
    listed = [{name: [(rounded_up(form), latex_of(form))] for name, form in each} for each in places]
    return {"parts": listed, "letters": _letters(places), "models": rows}


def _letters(sets: Iterable[_Set]) -> dict[str, tuple[str, str]]:
    """Return the LaTeX and the meaning of each letter in sets of forms."""
    names = {symbol.name for each in sets for _, form in each for symbol in form.free_symbols}
    return {name: (latex_of(size(name)), meaning_of(name)) for name in names}


def _counts_row(model: Model, forms: _Forms) -> dict[str, Any]:
    """Return the counts of a model by phase, and its sizes as texts, since they may be too large for JavaScript."""
    found: dict[str, Any] = {"phases": {}, "limits": {}}
    for phase in PHASES:
        try:
            counts = replace(count(model, phase=phase), batch=BATCH, number_size=NUMBER)
        except ValueError:  # an encoder has no phase of decoding
            continue
        found["phases"][phase] = forms.place(forms.of(counts))
        limits = length_limits(model, phase)
        found["limits"][phase] = {str(symbol): [limit.most, limit.fixed] for symbol, limit in limits.items()}
        found |= {"sizes": _sizes(counts), "dtype": counts.dtype, "of": model.part or "the whole model"}
    return {**found, "made_for": _made_for(model)}


def _plans_row(model: Model, places: dict[Parts, int]) -> dict[str, Any]:
    """Return the memory plans of a model for any number type. For quantised weights, add those as stored."""
    found = {"plans": _plans(model, places, as_stored=False)}
    return found if model.storage.layout is None else {**found, "stored": _plans(model, places, as_stored=True)}


def _made_for(model: Model) -> tuple[int, str] | None:
    """Return the number of positions that a model was made for, and the remark of `derivations fit` on longer texts."""
    if model.made_for is None:
        return None
    (words,) = beyond(model, model.made_for + 1)
    return model.made_for, " ".join(words)


def _plans(model: Model, places: dict[Parts, int], as_stored: bool) -> dict[str, dict[int, int | str]]:
    """Return the number of each plan's parts by purpose and ranks, or the reason why there is no plan."""
    found: dict[str, dict[int, int | str]] = {purpose: {} for purpose in ON_DEVICES}
    for purpose, ranks, parts in plans(model, as_stored):
        known = parts if isinstance(parts, str) else places.setdefault(parts, len(places))
        found[purpose][ranks] = known
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


def calculator_page(models: Iterable[str], has_python: bool = False) -> Page:
    """Return the page of the calculator; its script fills the numbers in, and Python reads the models of readers."""
    fields = [
        _choice("model", models),
        _choice("phase", PHASES),
        _choice("dtype", (AS_STORED, *BYTES)),
        *(_slider(name) for name in ("batch", "seq", "source")),
        _choice("device", ((name, title) for name, title, _ in devices())),
        _choice("ranks", map(str, RANKS)),
    ]
    fits = element("p", id="fits", role="status")
    note = element("p", id="message", role="alert", hidden=True)
    counts = element("div", id="counts", aria_live="polite", class_="wide")
    without = element("noscript", element("p", "The numbers need JavaScript."))
    content = joined(
        [
            element("h1", "Calculator"),
            element("form", *fields, id="calculator"),
            without,
            note,
            fits,
            counts,
            *(_own() if has_python else []),
        ]
    )
    scripts = (*(READING if has_python else ()), *SCRIPTS)
    return Page(
        "calculator.html",
        "Calculator",
        content,
        "page",
        "parameters flops memory cache bytes fits device config.json",
        scripts,
    )


def _choice(name: str, values: Iterable[str | tuple[str, str]]) -> Html:
    """Return a form field that offers values, which may have titles."""
    pairs = (each if isinstance(each, tuple) else ("" if each == AS_STORED else each, each) for each in values)
    options = (element("option", title, value=value) for value, title in pairs)
    words = FIELDS.get(name, name)
    return element("label", element("span", words), element("select", *options, name=name), class_="field")


def _slider(name: str) -> Html:
    words = FIELDS.get(name, name)
    slider = element(
        "input", type="range", name=f"{name}_slider", min="0", step="1", aria_label=f"{words}, as a slider"
    )
    number = element("input", type="number", name=name, min="1", step="1", aria_describedby=f"remark_{name}")
    remark = element("small", id=f"remark_{name}", role="status", class_="remark", hidden=True)
    label = element("label", element("span", words), number)
    return element("div", label, slider, remark, class_="field", id=f"field_{name}")


def _own() -> list[Html]:
    """Return the field into which a reader pastes the configuration of a model."""
    words = "Paste a config.json, or drop the file here; the package reads it in your browser."
    box = element("textarea", name="config", rows="4", spellcheck="false", id="config")
    button = element("button", "Read", type="button", id="read")
    state = element("span", id="reading", role="status")
    label = element("label", element("span", words), box, class_="field")
    return [element("h2", "A model of yours"), label, element("p", button, " ", state, class_="asking")]
