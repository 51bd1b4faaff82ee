"""The pages of layers: equations with the generated NumPy beside them, gradient, arrays, costs."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr, factor

from derivations.language.counting.costs import count_flops, count_parameters
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.catalogued import LAYERS
from derivations.language.layers.layer import Layer
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.page import Page as Printed
from derivations.language.printing.page import Row, equation_rows, layer_page, layer_title, table
from derivations.language.printing.views import latex, markdown
from derivations.processes import rarely_collecting
from derivations.site.formulas import NO_LETTERS, Formulas
from derivations.site.markup import Html, element, joined
from derivations.site.results import Use, copies, used_by
from derivations.site.shell import Page
from derivations.topics import aliases_of

__all__ = ["LayerView", "WithCode", "beside", "layer_html", "layers_page", "path_of", "read_layer", "read_layers"]

WithCode = tuple[tuple[Row, ...], tuple[str, ...]]  # the rows of an equation, and the lines of code that compute it


def path_of(name: str) -> str:
    """Return the path of the page of a layer in a site."""
    return f"layers/{name}.html"


def beside(layer: Layer, source: str) -> list[WithCode]:
    """Return the equations of a layer with the lines of its function that compute them.

    Definition   a line belongs to the first equation, not before those of earlier lines, whose name it assigns; lines
                 that assign no such name, such as a `return`, stand with the equation that follows or at the end
    """
    lines = list(_statements(source))
    found: list[WithCode] = []
    for equation, rows in equation_rows(layer, LatexPrinter, "ours"):
        name = equation.variable.name
        place = next((at for at, (target, _) in enumerate(lines) if target == name), None)
        taken = [] if place is None else lines[: place + 1]
        lines = lines[len(taken) :]
        found.append((rows, tuple(text for _, text in taken)))
    return [*found, ((), tuple(text for _, text in lines))] if lines else found


def _statements(source: str) -> Iterator[tuple[str, str]]:
    """Yield each statement of the last function: the name that it assigns, or an empty text, and its lines."""
    lines = source.splitlines()
    function = next(node for node in reversed(ast.parse(source).body) if isinstance(node, ast.FunctionDef))
    for node in function.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # the docstring
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        text = "\n".join(line[function.col_offset + 4 :] for line in lines[node.lineno - 1 : node.end_lineno])
        yield (target.id if isinstance(target, ast.Name) else "", text)


@dataclass(frozen=True)
class LayerView:
    """What the page of a layer shows: its content, the formulas in the content, and the names of the layer's parts."""

    name: str
    title: str
    content: Html
    formulas: Formulas
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        """The permanent address of the page in a site."""
        return path_of(self.name)


@rarely_collecting()
def read_layers(known: Mapping[str, Layer], source: Callable[[Layer], str]) -> list[LayerView]:
    """Return layers as their pages show them; `source` returns the generated code of a layer."""
    return [read_layer(name, layer, source) for name, layer in known.items()]


def read_layer(name: str, layer: Layer, source: Callable[[Layer], str]) -> LayerView:
    """Return what the page of a layer shows; `source` returns the generated code of a layer."""
    title, code = layer_title(name), source(layer)  # layers of one name differ in options, which the name says
    formulas = Formulas()
    backward = gradient(layer)
    has_gradient = bool(backward.equations)  # a layer without real arrays has none
    texts = {"LaTeX": latex(layer), "Markdown": markdown(layer), "Python": code}
    content = joined(
        [
            element("p", element("a", "Layers", href="index.html"), class_="crumbs"),
            element("h1", title),
            element("p", element("code", name), class_="facts"),
            _beside(beside(layer, code), formulas),
            copies({name: (text, NO_LETTERS) for name, text in texts.items()}),
            element("h2", "Arrays"),
            _arrays(layer, formulas),
            element("h2", "Costs"),
            _costs(layer, formulas),
            *([element("h2", "Gradient"), _gradient(backward, formulas)] if has_gradient else []),
            element("h2", "NumPy"),
            _code("Layer", code),
            *([_code("Gradient", source(backward))] if has_gradient else []),
        ]
    )
    return LayerView(
        name, title, content, formulas, tuple(dict.fromkeys(each.layer.name for each in layer.parts.values()))
    )


def layer_html(view: LayerView, formulas: Formulas, used: Iterable[Use]) -> Page:
    """Return the page of a layer; `used` lists what refers to it."""
    back = Page(view.path, "", Html("")).root
    content = joined([formulas.taken(view.content, view.formulas), *used_by(used, back)])
    return Page(view.path, view.title, content, "layer", " ".join([view.name, *aliases_of(view.name)]))


def layers_page(pages: Mapping[str, Page]) -> Page:
    """Return the page that lists all layers by the folder of their module, each with a short description."""
    rooms: dict[str, list[Html]] = defaultdict(list)
    for name, page in pages.items():
        build = getattr(LAYERS[name], "func", LAYERS[name])
        link = element("a", page.title, href=f"{name}.html")
        words = element("span", _said_of(build.__doc__ or ""), class_="law")
        rooms[build.__module__.split(".")[1]].append(element("li", link, " ", words))
    parts = [element("h1", "Layers")]
    for room, rows in rooms.items():
        parts += [element("h2", layer_title(room), id=room), element("ul", *rows, class_="results")]
    return Page("layers/index.html", "Layers", joined(parts))


def _said_of(docstring: str) -> str:
    """Return the description of a layer in the first line of its docstring, without the clauses about options."""
    line = docstring.partition("\n")[0].partition(";")[0].removeprefix("Return ").rstrip(".")
    return ", ".join(clause for clause in line.split(", ") if "`" not in clause)


def _beside(found: Sequence[WithCode], formulas: Formulas) -> Html:
    marks = iter(formulas.displays(row.formula for equations, _ in found for row in equations))
    rows = []
    for equations, lines in found:
        shown = joined(next(marks) for _ in equations)
        code = element("pre", element("code", "\n".join(lines))) if lines else None
        rows.append(element("div", element("div", shown), element("div", code), class_="pair"))
    return element("div", *rows, class_="pairs")


def _gradient(backward: Layer, formulas: Formulas) -> Html:
    printed: Printed = layer_page(backward, LatexPrinter, "ours")
    equations = (formulas.later(row.formula) for row in printed.rows)
    return element("details", element("summary", "Equations"), *equations)


def _arrays(layer: Layer, formulas: Formulas) -> Html:
    head = element("tr", *(element("th", each, scope="col") for each in ("array", "shape", "")))
    arrays = table(layer)
    letters, shapes = (
        formulas.inlines(each) for each in ([row.latex for row in arrays], [row.shape for row in arrays])
    )
    rows = (
        element("tr", *(element("td", each) for each in (letter, shape, row.what)))
        for letter, shape, row in zip(letters, shapes, arrays, strict=True)
    )
    return _table(head, rows)


def _costs(layer: Layer, formulas: Formulas) -> Html:
    flops = count_flops(layer)
    counts: dict[str, Expr] = {"parameters": count_parameters(layer), "FLOPs": flops.total}
    counts |= {f"FLOPs: {kind}": value for kind, value in flops.by_kind.items() if value != 0}
    marks = formulas.inlines(latex_of(factor(value)) for value in counts.values())
    rows = (
        element("tr", element("th", name, scope="row"), element("td", mark))
        for name, mark in zip(counts, marks, strict=True)
    )
    return _table(None, rows)


def _table(head: Html | None, rows: Iterable[Html]) -> Html:
    body = element("table", element("thead", head) if head else None, element("tbody", *rows))
    return element("div", body, class_="wide")


def _code(title: str, text: str) -> Html:
    return element("details", element("summary", title), element("pre", element("code", text)), class_="code")
