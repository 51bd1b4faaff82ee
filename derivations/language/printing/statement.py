r"""A result or a layer in the parts of a theorem: what it defines, assumes and states, and the steps of its proof.

The parts hold LaTeX; `fragments` sets them for a paper and `book` for a document of all results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from sympy import Basic, Indexed

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Layer
from derivations.language.printing.breaking.atoms import read, written
from derivations.language.printing.breaking.displays import Row
from derivations.language.printing.counting import is_index, symbols_in
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.notation import Notation
from derivations.language.printing.page import (
    assumptions_of,
    definitions_of,
    layer_title,
    members_of,
    printer_for,
    printer_of_layer,
    rows_of,
    words_within,
)
from derivations.language.printing.titles import marked, printed_title
from derivations.language.printing.views import escaped_latex
from derivations.language.printing.words import Kind, language, said, word
from derivations.language.results.derivation import Assumption, Claim, Derivation
from derivations.language.results.titles import title_parts

__all__ = ["Statement", "statement"]


@dataclass(frozen=True)
class Statement:
    """The parts of a result: its title, definitions, ranges, assumptions, claims and their proofs.

    `title` holds words and formulas, alternating.

    `assumptions` are formulas with words in LaTeX, `proofs` the rows of each claim with the names of the rules, and
    `letters` the names of the sizes and arrays in it. A layer has `members`, the domains of its arrays. `naming` says
    that nothing is proved: every step puts in what a name stands for, which is evidence of the level `definition`.
    """

    id: str
    title: tuple[str, ...]
    claims: tuple[Row, ...]
    definitions: tuple[Row, ...] = ()
    ranges: str = ""
    assumptions: tuple[tuple[str, str], ...] = ()
    proofs: tuple[tuple[Row, ...], ...] = ()
    members: tuple[str, ...] = ()
    source: str = ""
    letters: tuple[str, ...] = ()
    naming: bool = False


def statement(
    shown: Derivation | Layer, using: str | Notation, lang: str = "en", name: str = "", *, steps: bool = True
) -> Statement:
    """Return the parts of a result or of a layer, printed in a notation; `name` is what the catalogue calls it.

    Without `steps` there are no proofs, and no definitions that the steps alone need.
    """
    if isinstance(shown, Layer):
        return _of_layer(shown, using, lang, name or f"layer-{shown.name}")
    return replace(_of_result(shown, using, lang, steps), id=name or shown.id)


def _of_result(result: Derivation, using: str | Notation, lang: str, steps: bool) -> Statement:
    printers = partial(LatexPrinter, lang=lang)
    printer = printer_for(result, printers, using)
    # first: the definitions explain what title, claims and proofs print, such as a letter of a row
    title = printed_title(said(Kind.TITLES, result.headline, lang), printer)
    claims = tuple(_claim(claim, printer) for claim in result.claims)
    proofs = tuple(_proof(claim, printer) for claim in result.claims) if steps else ()
    letters = [*definitions_of(result, printer, steps)]
    expressions = [e for claim in result.claims for e in (claim.lhs, *(step.expression for step in claim.steps))]
    return Statement(
        result.id,
        title,
        claims,
        tuple(_defined(formula, ranges) for formula, ranges in letters if not _is_domain(formula)),
        printer.ranges(dict(result.ranges)),
        tuple(_assumed(result.assumptions, printer)),
        proofs,
        tuple(formula for formula, _ in letters if _is_domain(formula)),
        result.source,
        _letters([*expressions, *result.definitions], printer),
        all(step.rule == "definition" for claim in result.claims for step in claim.steps),
    )


def _of_layer(layer: Layer, using: str | Notation, lang: str, name: str) -> Statement:
    printer = printer_of_layer(layer, partial(LatexPrinter, lang=lang), using)
    lines = [line for equation in layer.equations for line in printer.lines(equation)]
    members = members_of(layer, printer)
    return Statement(
        name,
        (layer_title(name.removeprefix("layer-").rpartition(".")[2], lang),),
        tuple(Row(line.left, "=", line.right, _in_brackets(line.ranges)) for line in lines),
        tuple(_defined(formula, "") for formula in members if not _is_domain(formula)),
        members=tuple(filter(_is_domain, members)),
        letters=_letters([*layer.inputs, *layer.parameters, *layer.equations], printer),
    )


def _is_domain(formula: str) -> bool:
    """Return whether a formula states a domain, such as X in R^n or g > 0, and not an equation."""
    return not any(atom.tex == "=" for atom in read(formula))


def _defined(formula: str, ranges: str) -> Row:
    """Return the row of a definition, which is written as one formula."""
    atoms = read(formula)
    # at the first = outside brackets: a sum such as \sum_{j=1} has its = inside a script
    place = next(place for place, atom in enumerate(atoms) if atom.tex == "=")
    return Row(written(atoms[:place]), "=", written(atoms[place + 1 :]), _in_brackets(ranges))


def _in_brackets(ranges: str) -> str:
    return f"({ranges})" if ranges else ""


def _claim(claim: Claim, printer: LatexPrinter) -> Row:
    (row,) = rows_of(claim, printer, steps=False)
    given = [
        rf"{formula} \ {words_within(words, printer)}" if formula and words else formula or words_within(words, printer)
        for formula, words in assumptions_of(claim.given, printer)
    ]
    beside = rf"{printer.words(word('if', printer.lang) + ' ')} {', '.join(given)}" if given else ""
    return Row(row.left, row.relation, row.right, beside, _sentence(claim, printer))


def _assumed(assumptions: Iterable[Assumption], printer: LatexPrinter) -> Iterator[tuple[str, str]]:
    """Yield each assumption: its formula, and its words as LaTeX."""
    for formula, words in assumptions_of(assumptions, printer):
        yield formula, marked(title_parts(words), "${}$".format, escaped_latex)


def _sentence(claim: Claim, printer: LatexPrinter) -> str:
    """Return the conditions of a claim as a sentence: formulas between dollar signs, with their words."""
    given = [
        f"${formula}$ ({words})" if formula and words else f"${formula}$" if formula else words
        for formula, words in _assumed(claim.given, printer)
    ]
    signs = language(printer.lang)
    return f"{word('if', printer.lang)} {signs.comma.join(given)}{signs.stop}" if given else ""


def _proof(claim: Claim, printer: LatexPrinter) -> tuple[Row, ...]:
    rows = [row for row in rows_of(claim, printer, steps=True) if row.right]
    return tuple(Row(row.left, row.relation, row.right, printer.words(row.words)) for row in rows)


def _letters(expressions: Iterable[Basic], printer: LatexPrinter) -> tuple[str, ...]:
    """Return the names of sizes, scalars and arrays in expressions, without indices."""
    found: dict[str, None] = {}
    for expression in expressions:
        found |= dict.fromkeys(s.name for s in symbols_in(expression) if not is_index(s))
        found |= dict.fromkeys(str(entry.base.label) for entry in expression.atoms(Indexed))
        found |= dict.fromkeys(variable.name for variable in expression.atoms(Variable))
    # the weight of a part has a dot in its name, and the side of a limit is a sign
    return tuple(name for name in sorted(found) if name.isidentifier())
