r"""The sentence "where" below a display, which says what each of its letters is.

Definition   the definitions that the display reaches; x \in \mathbb{R}^{n} for arrays that none of them defines, c \in
             \mathbb{R} and g > 0 for numbers, f : \mathbb{R} \to \mathbb{R} for functions; q_{i} = Q_{i,:} for a letter
             that stands for a row
Assumes      a size needs no sentence of its own where a shape or a range states it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sympy import Basic, Expr, Function, IndexedBase, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.expression import Variable
from derivations.language.arrays.scalars import without_conditions
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Apply, Equation, Layer
from derivations.language.printing.array_functions import definitions_of_functions
from derivations.language.printing.entrywise import ABBREVIATED
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.letters import Name
from derivations.language.printing.order import natural

__all__ = ["letters", "membership", "memberships", "numbers", "same_sizes", "shape", "where"]

_SIZES = r"\mathbb{N}_{>0}"
_DOMAINS = {"real": r"\mathbb{R}", "boolean": r"\{0, 1\}", "integer": r"\mathbb{N}"}


def where(
    shown: Iterable[Basic],
    definitions: Iterable[Equation],
    printer: LatexPrinter,
    bijections: Iterable[tuple[str, str, Expr]] = (),
    ranged: Iterable[Expr] = (),
) -> Iterator[tuple[str, str]]:
    """Yield definitions and domains of the letters in expressions, each a formula with the ranges of its indices.

    The sizes in the ranges `ranged` of indices are stated there.
    """
    shown, known = list(shown), {equation.variable.name: equation for equation in definitions}
    reached = _reached(shown, known)
    for name, equation in known.items():
        if name in reached:
            yield from ((f"{line.left} = {line.right}", line.ranges) for line in printer.lines(equation))
    every = [*shown, *(part for name in reached if name in known for part in _sides(known[name]))]
    seen = {variable.name for expr in every for variable in letters(expr)}
    given = [variable for name, variable in reached.items() if name in seen and name not in known]
    stated = {symbol for variable in given for symbol in variable.free_symbols}.union(*(e.free_symbols for e in ranged))
    for formula in (
        *_grouped(memberships(given, printer)),
        *same_sizes(given, printer),
        *_grouped(rf"{printer.named(s.name)} \in {_SIZES}" for s in _symbols(every, is_size) if s not in stated),
        *_grouped(_number(s, printer) for s in _symbols(every, is_number) if s.name not in {*reached, *known}),
        *_functions(every, bijections, printer),
        *abbreviations(printer),
        *definitions_of_functions(printer, {*reached, *known}),
        *(_row(name, printer) for name in printer.rows if name in reached or name in known),
    ):
        yield formula, ""


def numbers(layer: Layer, printer: LatexPrinter) -> list[str]:
    """Return domains of scalars and of sizes missing from all shapes, and definitions of functions and row letters."""
    given = {variable.name for variable in (*layer.inputs, *layer.parameters)}
    values = [equation.value for equation in layer.equations]
    arrays = {variable.name for value in values for variable in letters(value)}
    stated = {symbol for variable in (*layer.inputs, *layer.parameters) for symbol in variable.free_symbols}
    sizes = (s for s in _symbols(values, is_size) if s not in stated)
    return [
        *_grouped(rf"{printer.named(s.name)} \in {_SIZES}" for s in sizes),
        *_grouped(_number(s, printer) for s in _symbols(values, is_number) if s.name not in arrays),
        *abbreviations(printer),
        *definitions_of_functions(printer, arrays | {variable.name for variable in layer.inputs}),
        *(_row(name, printer) for name in printer.rows if name in given),
    ]


def abbreviations(printer: LatexPrinter) -> list[str]:
    """Return the formulas of the functions that were printed by their names instead, such as that of the sigmoid."""
    formulas = (
        (Function(name)(*ABBREVIATED[name].variables), ABBREVIATED[name].expr) for name in printer.abbreviations
    )
    return [f"{printer.doprint(applied)} = {printer.doprint(formula)}" for applied, formula in formulas]


def _grouped(memberships: Iterable[str]) -> list[str]:
    """Return memberships with the letters of one domain side by side, in the order of its first letter."""
    groups: dict[str, list[str]] = {}
    for each in memberships:
        letter, _, domain = each.partition(" ")
        groups.setdefault(domain, []).append(letter)
    return [f"{', '.join(letters)} {domain}" for domain, letters in groups.items()]


def _number(symbol: Symbol, printer: LatexPrinter) -> str:
    name = printer.named(symbol.name)
    return f"{name} {printer.relations['>']} 0" if symbol.is_positive else rf"{name} \in {_DOMAINS['real']}"


def _functions(
    shown: Iterable[Basic], bijections: Iterable[tuple[str, str, Expr]], printer: LatexPrinter
) -> Iterator[str]:
    """Yield domain and codomain of each function without a formula: real numbers, or indices for a permutation."""
    permuted = {name: size for name, _, size in bijections}
    for name, count in sorted({(f.func.__name__, len(f.args)) for expr in shown for f in expr.atoms(AppliedUndef)}):
        if name in permuted:
            last = printer.inline(printer.shifted(permuted[name] - 1))
            places = rf"\{{{printer.first}, {printer.dots}, {last}\}}"
            yield rf"{printer.named(name)} : {places} \leftrightarrow {places}"
        elif name not in {inverse for _, inverse, _ in bijections}:
            arguments = _DOMAINS["real"] if count == 1 else printer.power(_DOMAINS["real"], str(count))
            yield rf"{printer.named(name)} : {arguments} \to {_DOMAINS['real']}"


def _reached(shown: Iterable[Basic], known: dict[str, Equation]) -> dict[str, Variable]:
    """Return the arrays in expressions, and in the definitions of these arrays, by name."""
    found: dict[str, Variable] = {}

    def reach(expr: Basic) -> None:
        for variable in letters(expr, bound=True):
            # entered before its definition is followed, so that a circle of definitions ends
            if variable.name not in found:
                found[variable.name] = variable
                if variable.name in known:
                    for side in _sides(known[variable.name]):
                        reach(side)

    for expr in shown:
        reach(expr)
    return found


def _sides(equation: Equation) -> tuple[Basic, ...]:
    return (equation.target, equation.value) if equation.over is None else (equation.value,)


def letters(expr: Basic, *, bound: bool = False) -> Iterator[Variable]:
    """Yield the arrays in an expression, also where only entries occur, but not those inside a layer.

    A layer is printed with its arguments; with `bound`, the weights that are bound to it are yielded as well.
    """
    if isinstance(expr, Variable):
        yield expr
    elif isinstance(expr, IndexedBase):
        yield Variable(str(expr.label), expr.shape, _kind(expr.label))
    elif isinstance(expr, Symbol) and type(expr) is not Symbol and expr.is_real:  # the entry of an array without axes
        yield Variable(expr.name, ())
    elif not getattr(expr, "closed", False):
        for part in expr.arguments if isinstance(expr, Apply) and not bound else expr.args:
            yield from letters(part, bound=bound)


def _kind(label: Symbol) -> str:
    if not label.is_integer:
        return "real"
    return "boolean" if label.is_nonnegative else "integer"


def _symbols(shown: Iterable[Basic], wanted: Callable[[Symbol], bool]) -> list[Symbol]:
    """Return the symbols of one kind in expressions, sorted by name."""
    found = {symbol for expr in shown for symbol in free_symbols(without_conditions(expr))}
    return sorted(filter(wanted, found), key=lambda symbol: natural(symbol.name))


def is_size(symbol: Symbol) -> bool:
    """Return whether a symbol is a size."""
    return bool(symbol.is_integer and symbol.is_positive)


def is_number(symbol: Symbol) -> bool:
    """Return whether a symbol is a real number: neither a size nor an index."""
    return bool(symbol.is_real and not symbol.is_integer)


def _row(name: str, printer: LatexPrinter) -> str:
    row = printer.named(name, ["i"], row=True)
    return f"{row} = {printer.named(name, [':,i' if printer.notation.columns else 'i,:'])}"


def membership(variable: Variable, printer: LatexPrinter) -> str:
    r"""Return the domain of an array, such as X \in \mathbb{R}^{n \times d_{k}}."""
    name = Name(printer.notation.of(variable.name, printer.scope).latex())
    sizes = shape(variable, printer)
    return rf"{name.base} \in {_DOMAINS[variable.kind]}" + (f"^{{{sizes}}}" if sizes else "")


def memberships(variables: Iterable[Variable], printer: LatexPrinter) -> list[str]:
    """Return the domain of each letter, of the first array if several arrays are printed by the same letter."""
    return [membership(each, printer) for each in _by_letter(variables, printer).values()]


def same_sizes(variables: Iterable[Variable], printer: LatexPrinter) -> list[str]:
    """Return the equations of sizes, such as m = n, that must hold where several arrays have the same letter."""
    variables = [*variables]
    first = _by_letter(variables, printer)
    pairs = ((first[_letter(each, printer)], each) for each in variables)
    sizes = ((total(a), total(b)) for one, other in pairs for a, b in zip(one.shape, other.shape, strict=False))
    return list(dict.fromkeys(f"{printer.doprint(b)} = {printer.doprint(a)}" for a, b in sizes if a != b))


def _by_letter(variables: Iterable[Variable], printer: LatexPrinter) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    for variable in variables:
        found.setdefault(_letter(variable, printer), variable)
    return found


def _letter(variable: Variable, printer: LatexPrinter) -> str:
    """Return the letter that a reader sees, whatever macro prints it."""
    return printer.notation.plain.of(variable.name, printer.scope).latex()


def shape(variable: Variable, printer: LatexPrinter) -> str:
    """Return the printed shape of an array, as it stands in a notation with rows or with columns."""
    sizes: list[Expr] = [total(along) for along in variable.shape]
    if printer.notation.columns and len(sizes) > 1:
        sizes[-2:] = sizes[:-3:-1]
    printed = [printer.doprint(size) for size in sizes]
    if len(sizes) > 1:
        printed = [f"({text})" if size.is_Add else text for size, text in zip(sizes, printed, strict=True)]
    return r" \times ".join(printed)
