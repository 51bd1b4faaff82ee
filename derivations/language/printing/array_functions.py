r"""The definitions of array functions whose printed names are in no textbook, such as `windows` or `pick`.

Definition   an entry of the function, from the same rule that proofs use: \mathrm{pick}(P, t)_{i} = P_{i, t_{i}}; of a
             recurrence its law; of blocks, rows and columns that are put together, where each argument stands; of a
             layer that is a part of others and has no page of its own, its output by its inputs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, cast

from sympy import Basic, Integer, Symbol

from derivations.language.arrays.arrangements import ColumnBlock, PlacedBlock
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.deferred import Deferred
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.functions import Interleave
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange
from derivations.language.arrays.selection import EveryOther
from derivations.language.arrays.shapes import Blocks, Pair, Place
from derivations.language.layers.catalogued import LAYERS
from derivations.language.layers.layer import Layer
from derivations.language.printing.alphabet import FUNCTIONS
from derivations.language.printing.arrays import general_places, stated_entry
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.words import word

__all__ = ["definitions_of_functions"]

_IN_WORDS = {  # of rows, and of what prints as columns
    TopK: ("places of the largest of each row, in order", "places of the largest of each column, in order"),
    TopKMask: ("1 at the largest shown of each row", "1 at the largest shown of each column"),
}
_LETTERS = "UVRSTXYZABCDEFGHKLMNPQ"  # for arguments that are formulas themselves


def definitions_of_functions(printer: LatexPrinter, taken: Iterable[str] = ()) -> Iterator[str]:
    """Yield the definitions of the array functions that a printer has printed, without using the letters in `taken`."""
    letters = [letter for letter in (*_LETTERS, *(f"U_{k}" for k in range(2, 10))) if letter not in {*taken}]
    for name, part in [*printer.parts.items()]:
        if name not in {*LAYERS, *FUNCTIONS} and (definition := _of_part(part, printer)):
            yield definition
    for applied in [*printer.functions.values()]:
        yield from _definition(_with_letters(applied, letters), printer)


def _of_part(part: Layer, printer: LatexPrinter) -> str:
    """Return the output of a part as a formula in its inputs, or an empty text where it has no short form.

    Contractions have none: they print entry by entry.
    """
    known: dict[Basic, Basic] = {}
    families: dict[Basic, tuple[Basic, Basic]] = {}

    def put(node: Any) -> Any:
        # by hand: `xreplace` would rename the index of a sum, which the formula of a member is meant to meet
        if isinstance(node, Member) and node.args[0] in families:
            index, formula = families[node.args[0]]
            return replace_free(formula, {index: node.args[1]})
        if node in known or not node.args or getattr(node, "closed", False):
            return known.get(node, node)
        return node.func(*map(put, node.args))

    for equation in part.equations:
        value = put(equation.value)
        if value.has(Contraction) or families.keys() & value.atoms(Variable):
            return ""
        if equation.over is None:
            known[equation.variable] = value
        else:
            families[equation.variable] = equation.over[0], value
    if len(part.outputs) != 1 or part.outputs[0] not in known:
        return ""
    name = printer.applied(printer.notation.function(part.name), [printer.doprint(each) for each in part.inputs])
    return f"{name} = {printer.doprint(known[part.outputs[0]])}"


def _with_letters(applied: Array, letters: list[str]) -> Array:
    """Return an application with letters for the arguments that are formulas or occur twice."""
    named = {variable.name for variable in applied.atoms(Variable)}
    free = (letter for letter in letters if letter not in named)

    def lettered(part: Any) -> Any:
        is_plain = not isinstance(part, Array) or (isinstance(part, Variable) and applied.args.count(part) == 1)
        return part if is_plain else Variable(next(free), part.shape, part.kind)

    return cast(Array, applied.func(*map(lettered, applied.args)))


def _definition(applied: Array, printer: LatexPrinter) -> Iterator[str]:
    if type(applied) in _IN_WORDS:
        said = _IN_WORDS[type(applied)][printer.notation.columns]
        yield f"{printer.doprint(applied)} : {printer.words(word(said, printer.lang))}"
    elif isinstance(applied, Interleave):
        yield from (_equation(EveryOther(applied, n), part, printer) for n, part in enumerate(applied.args))
    elif isinstance(applied, PlacedRows):
        body, start, _, step = applied.args
        yield _equation(RowRange(applied, start, body.shape[0], step), body, printer) + _elsewhere(printer)
    elif isinstance(applied, PlacedBlock):
        body, block, _ = applied.args
        yield _equation(ColumnBlock(applied, block), body, printer) + _elsewhere(printer)
    elif isinstance(applied, Recurrence):
        places = general_places(applied)
        first = applied.shape[0] if applied.backwards else Integer(-1)  # the state before the first one that is read
        law = applied.entry_by_law(partial(Deferred, applied), *places)
        yield f"{_entry(applied, places, printer)} = {printer.doprint(law)}"
        yield f"{_entry(applied, (first, *places[1:]), printer)} = 0"
    else:
        places = tuple(map(_in_blocks, general_places(applied), applied.shape))
        yield f"{_entry(applied, places, printer)} = {printer.doprint(stated_entry(applied, places))}"


def _equation(left: Array, right: Array, printer: LatexPrinter) -> str:
    return f"{printer.doprint(left)} = {printer.doprint(right)}"


def _elsewhere(printer: LatexPrinter) -> str:
    return rf" \ {printer.words(word('and 0 elsewhere', printer.lang))}"


def _entry(applied: Array, places: Iterable[Place], printer: LatexPrinter) -> str:
    return printer.doprint(Deferred(applied, *places) if applied.shape else applied)


def _in_blocks(place: Place, along: object) -> Place:
    """Return the index of an entry, as a block number and an index inside the block if the axis consists of blocks."""
    if not isinstance(along, Blocks) or isinstance(place, Pair):
        return place
    return Pair(Symbol(f"{place}_1", integer=True), Symbol(f"{place}_2", integer=True), along.size)
