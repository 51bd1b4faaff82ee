r"""A printed page: the content of a result or a layer, before it is set as LaTeX, Markdown or text.

A page has a title, rows of formulas (left side, relation, right side, remark) and notes: the definitions and ranges of
arrays and indices, the assumptions, and the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sympy import Basic, Expr, Rational, true

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.scalars import Rounded
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.letters import Name
from derivations.language.printing.notation import Notation
from derivations.language.results.derivation import Assumption, Claim, Derivation

__all__ = ["Note", "Page", "Row", "TableRow", "claim_page", "display_ranges", "layer_page", "page", "table"]


@dataclass(frozen=True)
class Row:
    """One line of a display: an equation or relation, with a formula and words beside it (a range, a rule's name)."""

    left: str
    relation: str
    right: str
    beside: str = ""
    words: str = ""


@dataclass(frozen=True)
class Note:
    """One sentence below a display: a word of the module `words`, then items that are a formula with words."""

    lead: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Page:
    """A title, an id, the display, and the notes below it."""

    title: str
    id: str
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class TableRow:
    """One array of a layer: our name, its LaTeX, its shape as LaTeX and as text, and its role."""

    name: str
    latex: str
    shape: str
    shape_text: str
    what: str


Printers = type[LatexPrinter]


def page(derivation: Derivation, printers: Printers, using: str | Notation, *, steps: bool = False) -> Page:
    """Return the page of a result; with `steps`, every step of its claims with the name of its rule."""
    printer = _printer(derivation, printers, using)
    rows = tuple(row for claim in derivation.claims for row in _rows(claim, printer, steps))
    where = [(f"{line.left} = {line.right}", line.ranges) for e in derivation.definitions for line in printer.lines(e)]
    ranges = printer.ranges(dict(derivation.ranges))
    items = [(_with(formula, beside), "") for formula, beside in where] + [(ranges, "")] * bool(ranges)
    notes = [Note("where", tuple(items)), Note("assuming", tuple(_assumptions(derivation.assumptions, printer)))]
    source = Note("source", (("", derivation.source),) if derivation.source else ())
    return Page(derivation.title, derivation.id, rows, tuple(note for note in (*notes, source) if note.items))


def claim_page(claim: Claim, printers: Printers, using: str | Notation, *, steps: bool = False) -> Page:
    """Return the page of a single claim."""
    printer = printers(using, "", printers(using).counting(claim.lhs, *(s.expression for s in claim.steps)))
    return Page("", "", tuple(_rows(claim, printer, steps)))


def display_ranges(derivation: Derivation, printers: Printers, using: str | Notation) -> str:
    """Return the ranges of the indices of a result, for a display without notes."""
    return _printer(derivation, printers, using).ranges(dict(derivation.ranges))


def _printer(derivation: Derivation, printers: Printers, using: str | Notation) -> LatexPrinter:
    exprs: list[Basic] = [*derivation.definitions, *derivation.ranges]
    exprs += [e for c in derivation.claims for e in (c.lhs, *(s.expression for s in c.steps))]
    return printers(using, derivation.topic, printers(using).counting(*exprs))


def _rows(claim: Claim, printer: LatexPrinter, steps: bool) -> Iterator[Row]:
    parts = [(formula, printer.words(words) if words else "") for formula, words in _assumptions(claim.given, printer)]
    given = ", ".join(_with(formula, words) for formula, words in parts)
    decimals = int(claim.lhs.args[1]) if isinstance(claim.lhs, Rounded) else None
    left = printer.doprint(claim.lhs if decimals is None else claim.lhs.args[0])
    chain = [(s.relation, s.expression, s.rule) for s in claim.steps]
    for relation, expression, rule in chain if steps else [(claim.relation, claim.rhs, "")]:
        rounded = decimals is not None and isinstance(expression, Rational)
        right = _decimal(expression, decimals or 0) if rounded else printer.doprint(expression)
        sign = printer.relations.get("approx" if rounded and relation == "=" else relation, relation)
        yield Row(left, sign, right, "" if steps else given, rule or ("if" if given else ""))
        left = ""
    if steps and given:
        yield Row("", "", "", given, "if")


def _decimal(number: Rational, decimals: int) -> str:
    scaled = abs(number.p) * 10**decimals  # integer arithmetic, because a float would round
    digits = str(scaled // number.q).rjust(decimals + 1, "0")
    if scaled % number.q:
        raise ValueError(f"{number} is not a number of {decimals} decimals")
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if number < 0 else text


def _assumptions(assumptions: Iterable[Assumption], printer: LatexPrinter) -> Iterator[tuple[str, str]]:
    for assumption in assumptions:
        formula = "" if assumption.statement in (true, None) else printer.doprint(assumption.statement)
        yield _with(formula, printer.ranges(dict(assumption.ranges))), assumption.text


def _with(formula: str, beside: str) -> str:
    return rf"{formula} \; ({beside})" if formula and beside else formula or beside


def layer_page(layer: Layer, printers: Printers, using: str | Notation) -> Page:
    """Return the page of a layer: its equations, and the domains of its inputs and parameters."""
    printer = printers(using, layer.name, printers(using).counting(*layer.equations))
    lines = [line for equation in layer.equations for line in printer.lines(equation)]
    rows = tuple(Row(line.left, "=", line.right, line.ranges) for line in lines)
    members = tuple((_membership(v, printer), "") for v in (*layer.inputs, *layer.parameters))
    title = layer.name.replace("_", " ")
    return Page(title[:1].upper() + title[1:], layer.name, rows, (Note("where", members),) if members else ())


def _membership(variable: Variable, printer: LatexPrinter) -> str:
    r"""Return the domain of an array, such as X \in \mathbb{R}^{n \times d_{k}}."""
    domain = {"real": r"\mathbb{R}", "boolean": r"\{0, 1\}", "integer": r"\mathbb{N}"}[variable.kind]
    name = Name(printer.notation.of(variable.name, printer.scope).latex())
    shape = _shape(variable, printer)
    return rf"{name.base} \in {domain}" + (f"^{{{shape}}}" if shape else "")


def _shape(variable: Variable, printer: LatexPrinter) -> str:
    sizes: list[Expr] = [total(along) for along in variable.shape]
    if printer.notation.columns and len(sizes) > 1:
        sizes[-2:] = sizes[:-3:-1]
    return r" \times ".join(printer.doprint(size) for size in sizes)


def table(layer: Layer, using: str | Notation = "ours") -> tuple[TableRow, ...]:
    """Return the shapes of a layer's inputs, parameters and intermediates, in order of appearance.

    Result       rows of name, LaTeX, shape (LaTeX and text) and what: input, parameter, intermediate or output
    """
    printer = LatexPrinter(using, layer.name)
    named = [(v, "input") for v in layer.inputs] + [(v, "parameter") for v in layer.parameters]
    named += [(e.variable, "output" if e.variable in layer.outputs else "intermediate") for e in layer.equations]
    return tuple(
        TableRow(v.name, printer.doprint(v), _shape(v, printer), " x ".join(str(total(a)) for a in v.shape), what)
        for v, what in named
    )
