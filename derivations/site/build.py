"""The whole site: pages of results, layers and docs, put together as files by their paths.

Result       files that work from any folder and any web server, and that load nothing from elsewhere
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from derivations.catalogue import Verdict, get, known, names, verdict
from derivations.language.results.derivation import RESULTS
from derivations.processes import in_order, rarely_collecting
from derivations.site.attempts import Attempt
from derivations.site.calculator import calculator_page
from derivations.site.formulas import Formulas, Setter
from derivations.site.judge import judge_page
from derivations.site.layers import LayerView, layer_html, layers_page
from derivations.site.pages import Document, read_documents
from derivations.site.results import ResultView, Use, read_result, result_page, results_page
from derivations.site.shell import Page, framed
from derivations.site.start import absent_page, welcomed

__all__ = ["Contents", "built", "read_results"]

ASSETS = Path(__file__).with_name("assets")
SHIPPED = ("site.css", "site.js", "theme.js", "exact.js", "calculator.js", "icon.svg")
JUDGING = ("judge.js", "judge_client.js", "judge_worker.js", "packing.js")  # of a site that has Python

NOTATION = "notation.html"  # the page of docs about letters

Uses = Mapping[str, list[Use]]  # by the name of a result or layer, what refers to it


@dataclass(frozen=True)
class Contents:
    """What a site is built from: results, layers, names of models, and the folder of docs if there is one."""

    results: Sequence[ResultView]
    layers: Sequence[LayerView]
    models: Sequence[str]
    docs: Path | None
    has_python: bool = False  # whether Pyodide is put beside the files
    has_numpy: bool = False  # and whether its NumPy is
    attempts: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)  # to break a result, by its name


def read_results(levels: Mapping[str, str], jobs: int = 1) -> Iterator[tuple[Verdict, ResultView]]:
    """Yield the results of the catalogue as their pages show them, each with its verdict.

    `levels` are the levels of known evidence; a result that is not in them is proved. The process that proves a result
    prints it as well: most of the work of either is to build its expressions.
    """
    yield from in_order(_read, [(name, levels.get(name, "")) for name in names()], jobs)


@rarely_collecting()
def _read(asked: tuple[str, str]) -> tuple[Verdict, ResultView]:
    name, level = asked
    found = RESULTS[known(name)]()
    decided = Verdict(name, found.title, level) if level else verdict(name, partial(get, name), cross_checked=False)
    return decided, read_result(found, decided.level)


def built(contents: Contents, setter: Setter) -> dict[str, str | bytes]:
    """Return the files of a site by path, without the data of the calculator; `setter` typesets all formulas."""
    formulas = Formulas()
    paths = {view.id: view.path for view in contents.results} | {view.name: view.path for view in contents.layers}
    documents = [] if contents.docs is None else read_documents(contents.docs, formulas, paths)
    uses = _uses(contents, documents)
    pages = [
        *(each.page for each in documents),
        *_result_pages(contents, formulas, uses),
        *_layer_pages(contents, formulas, uses),
        calculator_page(contents.models, contents.has_python),
        judge_page(
            contents.has_python, {view.name: view.title for view in contents.layers} if contents.has_numpy else None
        ),
    ]
    if contents.docs is None:
        pages.append(_start(pages))
    numbers = len(contents.results), len(contents.layers), len(contents.models)
    pages = [
        replace(page, content=welcomed(page.content, *numbers)) if page.path == "index.html" else page for page in pages
    ]
    every = (*pages, absent_page())
    files: dict[str, str | bytes] = dict(formulas.fill({page.path: framed(page) for page in every}, setter))
    files["search-index.js"] = _search_index(pages)
    files |= {
        f"assets/{name}": (ASSETS / name).read_bytes() for name in (*SHIPPED, *(JUDGING if contents.has_python else ()))
    }
    for document in documents:
        files |= {name: (contents.docs / name).read_bytes() for name in document.files if contents.docs}
    return files


def _result_pages(contents: Contents, formulas: Formulas, uses: Uses) -> list[Page]:
    views = contents.results
    notation = NOTATION if contents.docs and (contents.docs / f"{Path(NOTATION).stem}.md").is_file() else ""
    pages = [results_page(views)]
    for place, view in enumerate(views):
        near = [*views[max(place - 1, 0) : place], *views[place + 1 : place + 2]]
        tried = contents.attempts.get(view.id, ())
        pages.append(result_page(view, formulas, uses.get(view.id, ()), near, tried, notation))
    return pages


def _layer_pages(contents: Contents, formulas: Formulas, uses: Uses) -> list[Page]:
    pages = {view.name: layer_html(view, formulas, uses.get(view.name, ())) for view in contents.layers}
    return [layers_page(pages), *pages.values()]


def _start(pages: Sequence[Page]) -> Page:
    """Return the first page of a site without docs: the list of results."""
    results = next(page for page in pages if page.path == "results/index.html")
    return replace(results, path="index.html", content=replace(results.content, text=_deeper(results.content.text)))


def _deeper(text: str) -> str:
    return text.replace('href="', 'href="results/').replace('href="results/#', 'href="#')


def _uses(contents: Contents, documents: Sequence[Document]) -> Uses:
    """Return the uses of each result and layer: pages that show it, results that cite it, layers that contain it."""
    uses: dict[str, list[Use]] = defaultdict(list)
    known = {view.id for view in contents.results}
    for view in contents.results:
        for part in view.source.split("; "):
            if part in known:
                uses[part].append((view.titled, view.path))
    layers = {view.name for view in contents.layers}
    for layer in contents.layers:
        for part in layer.parts:
            if part in layers:
                uses[part].append((((layer.title, ""),), layer.path))
    for document in documents:
        for name in document.shown:
            uses[name].append((((document.page.title, ""),), document.page.path))
    return uses


def _search_index(pages: Sequence[Page]) -> str:
    """Return the index as a script, because a page that is opened as a file may load scripts and nothing else."""
    rows = [
        [page.title, page.path, page.kind, page.words, *([page.heading] if len(page.heading) > 1 else [])]
        for page in pages
    ]
    return f"window.SEARCH_INDEX = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"
