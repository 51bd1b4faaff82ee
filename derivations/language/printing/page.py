r"""A printed page: the content of a result or a layer, before it is set as LaTeX, Markdown or text.

A page has a title, rows of formulas (left side, relation, right side, remark) and notes: the definitions and ranges of
arrays and indices, the assumptions, and the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sympy import Basic, Rational, true

from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.scalars import Rounded
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.spelling import in_words
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.notation import Notation
from derivations.language.printing.references import source_in
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.where import letters, memberships, numbers, same_sizes, shape, where
from derivations.language.printing.words import Kind, said, word
from derivations.language.results.derivation import Assumption, Claim, Derivation
from derivations.language.results.titles import plain_title, title_parts

__all__ = [
    "Note",
    "Page",
    "Printers",
    "Row",
    "TableRow",
    "assumptions_of",
    "claim_page",
    "definitions_of",
    "display_conditions",
    "equation_rows",
    "layer_page",
    "layer_title",
    "members_of",
    "page",
    "printer_for",
    "printer_of_layer",
    "rows_of",
    "table",
    "words_within",
]


@dataclass(frozen=True)
class Row:
    """One line of a display: an equation or relation, and what is beside it.

    Words without a formula are the name of a rule; words with a formula introduce it, such as "if".
    """

    left: str
    relation: str
    right: str
    beside: str = ""
    words: str = ""

    @property
    def formula(self) -> str:
        """The line as one formula, followed by a space and the remark beside it."""
        return f"{self.left} {self.relation} {self.right}" + (rf" \qquad {self.beside}" if self.beside else "")


@dataclass(frozen=True)
class Note:
    """One sentence below a display: a word of the module `words`, then items that are a formula with words.

    Words may have formulas of their own, between dollar signs.
    """

    lead: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Page:
    """A title, an id, the display and its notes; `heading` has the words and formulas of the title, alternating."""

    title: str
    id: str
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()
    heading: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableRow:
    """One array of a layer: our name, its LaTeX, its shape as LaTeX and as text, and its role."""

    name: str
    latex: str
    shape: str
    shape_text: str
    what: str


Printers = Callable[..., LatexPrinter]  # a class of printers, or one with its language given


def page(
    derivation: Derivation,
    printers: Printers,
    using: str | Notation,
    *,
    steps: bool = False,
    printer: LatexPrinter | None = None,
) -> Page:
    """Return the page of a result; with `steps`, every step of its claims with the name of its rule.

    `printer` is that of the result, if it has printed parts of it: it remembers them.
    """
    printer = printer or printer_for(derivation, printers, using)
    typed = said(Kind.TITLES, derivation.headline, printer.lang)
    heading = printed_title(typed, printer)  # first: a letter of a row in it is explained below
    rows = tuple(row for claim in derivation.claims for row in rows_of(claim, printer, steps))
    assuming = tuple(assumptions_of(derivation.assumptions, printer))
    ranges = printer.ranges(dict(derivation.ranges))
    items = [(_with(formula, beside), "") for formula, beside in definitions_of(derivation, printer, steps)]
    notes = [Note("where", (*items, *[(ranges, "")] * bool(ranges))), Note("assuming", assuming)]
    source = Note("Source", (("", source_in(derivation.source, printer.lang)),) if derivation.source else ())
    found = tuple(note for note in (*notes, source) if note.items)
    return Page(plain_title(typed), derivation.id, rows, found, heading)


def definitions_of(derivation: Derivation, printer: LatexPrinter, steps: bool) -> Iterator[tuple[str, str]]:
    """Yield definitions and domains of a result's letters, with index ranges, except those it assumes or states."""
    said = {formula for formula, _ in assumptions_of(derivation.assumptions, printer)}
    sizes = derivation.ranges.values()
    stated = {(claim.lhs, claim.rhs) for claim in derivation.claims if len(claim.steps) == 1}
    rest = [each for each in derivation.definitions if (each.target, each.value) not in stated]
    parts = where(_shown(derivation, steps), rest, printer, derivation.bijections, sizes)
    yield from ((formula, beside) for formula, beside in parts if formula not in said)


def claim_page(claim: Claim, printers: Printers, using: str | Notation, *, steps: bool = False) -> Page:
    """Return the page of a single claim."""
    printer = printers(using).together(claim.lhs, *(s.expression for s in claim.steps))
    return Page("", "", tuple(rows_of(claim, printer, steps)))


def display_conditions(derivation: Derivation, printer: LatexPrinter) -> tuple[str, ...]:
    """Return the ranges of the indices of a result and what it assumes, for a display without notes."""
    ranges = printer.ranges(dict(derivation.ranges))
    parts = assumptions_of(derivation.assumptions, printer)
    stated = (_with(formula, words_within(words, printer)) for formula, words in parts)
    lead = rf"{printer.word('assuming')}\ "
    assumed = (("" if number else lead) + each for number, each in enumerate(stated))
    return (*([ranges] if ranges else []), *assumed)


def _shown(derivation: Derivation, steps: bool) -> Iterator[Basic]:
    """Yield the expressions that a page shows: both ends of the claims, or every step, and what is assumed."""
    for claim in derivation.claims:
        yield from (claim.lhs, *(s.expression for s in (claim.steps if steps else claim.steps[-1:])))
    for assumption in (*derivation.assumptions, *(a for claim in derivation.claims for a in claim.given)):
        yield assumption.statement


def printer_for(derivation: Derivation, printers: Printers, using: str | Notation) -> LatexPrinter:
    """Return the printer of a result, which counts indices from the same number in all of its expressions."""
    exprs: list[Basic] = [*derivation.definitions, *derivation.ranges]
    exprs += [e for c in derivation.claims for e in (c.lhs, *(s.expression for s in c.steps))]
    return printers(using, derivation.topic).together(*exprs)


def rows_of(claim: Claim, printer: LatexPrinter, steps: bool) -> Iterator[Row]:
    """Yield the row of a claim or, with `steps`, a row for each step with the name of its rule."""
    parts = [(formula, words_within(words, printer)) for formula, words in assumptions_of(claim.given, printer)]
    given = ", ".join(_with(formula, words) for formula, words in parts)
    decimals = int(claim.lhs.args[1]) if isinstance(claim.lhs, Rounded) else None
    left = printer.doprint(claim.lhs if decimals is None else claim.lhs.args[0])
    chain = [(s.relation, s.expression, said(Kind.RULES, s.rule, printer.lang)) for s in claim.steps]
    condition = word("if", printer.lang)
    for relation, expression, rule in chain if steps else [(claim.relation, claim.rhs, "")]:
        # a rounded number prints as x ~= 1.76, with all of its decimals
        rounded = decimals is not None and isinstance(expression, Rational)
        right = _decimal(expression, decimals or 0) if rounded else printer.doprint(expression)
        sign = printer.relations.get("approx" if rounded and relation == "=" else relation, relation)
        yield Row(left, sign, right, "" if steps else given, rule or (condition if given else ""))
        # further steps continue the chain: their left side is the line before
        left = ""
    if steps and given:
        yield Row("", "", "", given, condition)


def words_within(words: str, printer: LatexPrinter) -> str:
    """Return words as text inside a formula; formulas in the words stand between dollar signs."""
    return marked(title_parts(words), str, lambda part: printer.words(part) if part else "")


def _decimal(number: Rational, decimals: int) -> str:
    scaled = abs(number.p) * 10**decimals  # integer arithmetic, because a float would round
    digits = str(scaled // number.q).rjust(decimals + 1, "0")
    if scaled % number.q:
        raise ValueError(f"{number} is not a number of {decimals} decimals")
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if number < 0 else text


def assumptions_of(assumptions: Iterable[Assumption], printer: LatexPrinter) -> Iterator[tuple[str, str]]:
    """Yield each assumption: its formula with the ranges of its indices, and its words, with formulas between $."""
    for assumption in assumptions:
        formula = "" if assumption.statement in (true, None) else printer.doprint(assumption.statement)
        typed = said(Kind.ASSUMPTIONS, assumption.typed, printer.lang)
        words = marked(printed_title(typed, printer), "${}$".format, str)
        yield _with(formula, printer.ranges(dict(assumption.ranges))), words


def _with(formula: str, beside: str) -> str:
    return rf"{formula} \; ({beside})" if formula and beside else formula or beside


def layer_page(layer: Layer, printers: Printers, using: str | Notation) -> Page:
    """Return the page of a layer: its equations, and the domains of its inputs and parameters."""
    printer = printer_of_layer(layer, printers, using)
    rows = tuple(row for equation in layer.equations for row in _rows(equation, printer))
    members = tuple((domain, "") for domain in members_of(layer, printer))
    title = layer_title(layer.name, printer.lang)
    return Page(title, layer.name, rows, (Note("where", members),) if members else (), (title,))


def equation_rows(
    layer: Layer, printers: Printers, using: str | Notation
) -> Iterator[tuple[Equation, tuple[Row, ...]]]:
    """Yield each equation of a layer with the rows that it is printed as."""
    printer = printer_of_layer(layer, printers, using)
    yield from ((equation, _rows(equation, printer)) for equation in layer.equations)


def printer_of_layer(layer: Layer, printers: Printers, using: str | Notation) -> LatexPrinter:
    """Return the printer of a layer, which prints all of its equations alike."""
    printer = printers(using, layer.name).together(*layer.equations)
    # A contraction has axes of equal standing, and no axis of members.
    printer.has_families = not any(equation.value.has(Contraction) for equation in layer.equations)
    return printer


def _rows(equation: Equation, printer: LatexPrinter) -> tuple[Row, ...]:
    return tuple(Row(line.left, "=", line.right, line.ranges) for line in printer.lines(equation))


def members_of(layer: Layer, printer: LatexPrinter) -> list[str]:
    """Return what explains the letters of a layer: domains, sizes that must be equal, and definitions.

    Parameters that no equation shows are left out.
    """
    shown = {variable.name for equation in layer.equations for variable in letters(equation.value)}
    given = (*layer.inputs, *(parameter for parameter in layer.parameters if parameter.name in shown))
    return [*memberships(given, printer), *same_sizes(given, printer), *numbers(layer, printer)]


def layer_title(name: str, lang: str = "en") -> str:
    """Return the name of a layer or of a topic in words."""
    if name.endswith("_gradient"):
        return word("{} gradient", lang).format(layer_title(name.removesuffix("_gradient"), lang))
    title = in_words(name)
    return said(Kind.NAMES, title[:1].upper() + title[1:], lang)


def table(layer: Layer, using: str | Notation = "ours") -> tuple[TableRow, ...]:
    """Return the shapes of a layer's inputs, parameters and intermediates, in order of appearance.

    Result       rows of name, LaTeX, shape (LaTeX and text) and what: input, parameter, intermediate or output
    """
    printer = LatexPrinter(using, layer.name)
    named = [(v, "input") for v in layer.inputs] + [(v, "parameter") for v in layer.parameters]
    named += [(e.variable, "output" if e.variable in layer.outputs else "intermediate") for e in layer.equations]
    return tuple(
        TableRow(v.name, printer.doprint(v), shape(v, printer), " x ".join(str(total(a)) for a in v.shape), what)
        for v, what in named
    )
