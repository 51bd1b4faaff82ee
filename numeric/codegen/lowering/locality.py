"""Which rows each equation reads: what can be computed tile by tile, and which arrays must be complete before that.

Definition   row i of the result reads row i of an array (`aligned`), or other rows of it too (`across`)
Result       an equation whose entry (i, j) reads only row i of some arrays can be evaluated for any range of rows:
             a row of a product is the row times the matrix. Arrays that it reads across come from an earlier loop
Assumes      sizes that are the first axis of an input count positions

Both are read off the entry rule of the right-hand side, for any node: an occurrence `X[i, p]` with the row's own index
is aligned, one with a bound index is across.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from sympy import Basic, Expr, Indexed, Integer, Symbol

from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.scalars import without_conditions
from derivations.language.arrays.shapes import Axis, Blocks, Pair, Place, ShapeError, total
from derivations.language.layers.layer import Apply, Equation, Layer
from derivations.language.layers.names import subexpressions
from numeric.codegen.lowering.expressions import variables_of

__all__ = ["Phase", "phases_of", "positions", "row_axis"]

ROW = Symbol("row", integer=True)
WHOLE = None


@dataclass
class Phase:
    """The equations that one loop over `size` rows evaluates; a `size` of None is for equations evaluated whole."""

    level: int
    size: Symbol | None
    equations: list[Equation] = field(default_factory=list)
    across: dict[Variable, frozenset[Variable]] = field(
        default_factory=dict
    )  # for each variable, the arrays that its equation reads across


@dataclass(frozen=True)
class Reads:
    """The arrays that an equation reads at its own row only, and those that it reads at other rows too."""

    aligned: frozenset[Variable]
    across: frozenset[Variable]


def positions(layer: Layer) -> frozenset[Symbol]:
    """Return the sizes that count positions: the first axes of inputs that are not masks."""
    firsts = (v.shape[0] for v in layer.inputs if v.shape and v.kind != "boolean")
    return frozenset(size for size in firsts if isinstance(size, Symbol))


def row_axis(variable: Variable, is_family: bool, sizes: frozenset[Symbol]) -> Symbol | None:
    """Return the number of rows of a variable if its rows are positions, else None."""
    shape = variable.shape[1:] if is_family else variable.shape
    return shape[0] if len(shape) in (1, 2) and shape[0] in sizes else None


def phases_of(
    layer: Layer, families: frozenset[Variable], batched: frozenset[Variable], apart: frozenset[Variable] = frozenset()
) -> list[Phase]:
    """Return the loops that evaluate the equations of a layer, in order.

    Definition   the level of an equation is one more than that of the arrays that it reads across, and at least that of
                 the arrays that it reads aligned; equations of one level and one size of rows share a loop
    """
    sizes = positions(layer)
    level: dict[Variable, int] = dict.fromkeys((*layer.inputs, *layer.parameters), 0)
    size_of: dict[Variable, Symbol | None] = {v: row_axis(v, False, sizes) for v in layer.inputs}
    phases: dict[tuple[int, Symbol | None], Phase] = {}
    for equation in layer.equations:
        target = equation.variable
        size = row_axis(target, equation.over is not None, sizes) if target in batched else WHOLE
        tiled = size is not None and target not in apart
        used = variables_of(equation.value) & batched
        read = _reads(equation, size, families & used, used) if tiled else None
        if read is None:
            size = WHOLE
            read = Reads(frozenset(v for v in used if size_of.get(v) is WHOLE), frozenset(used))
        # inputs are complete from the start; an array read across, or over other rows, needs an earlier loop
        levels = [level[v] for v in read.aligned]
        levels += [level[v] + (0 if v in layer.inputs else 1) for v in read.across]
        levels += [level[v] + 1 for v in read.aligned if size_of.get(v) != size and v not in layer.inputs]
        level[target], size_of[target] = max(levels, default=0), size
        phase = phases.setdefault((level[target], size), Phase(level[target], size))
        phase.equations.append(equation)
        phase.across[target] = read.across
    return sorted(phases.values(), key=lambda phase: (phase.level, phase.size is not WHOLE, str(phase.size)))


@lru_cache(maxsize=1 << 12)  # to write an entry takes a tenth of the time of lowering, and models have equal equations
def _reads(
    equation: Equation, size: Symbol, families: frozenset[Variable], batched: frozenset[Variable]
) -> Reads | None:
    """Return the arrays that row i of an equation reads, or None if its entry does not show them."""
    if any(isinstance(node, Apply | Contraction) for node in subexpressions(equation.value)):
        return None
    if any(len(v.shape) - (v in families) > 2 for v in variables_of(equation.value) & batched):
        return None  # a tile holds rows of matrices
    value = _with_tables(equation.value, size, batched)
    places = [_place(number, along) for number, along in enumerate(value.shape)]
    if not places or isinstance(places[0], Pair):
        return None
    places[0] = ROW
    try:
        entry = without_conditions(value.entry(*places))
    except (ShapeError, TypeError, ValueError):
        return None
    found = _of_entry(entry, size, families, batched)
    if found is None or found.aligned | found.across != variables_of(value) & batched:
        return None  # X - X cancels in the entry, but the code still reads X
    return found


def _of_entry(entry: Expr, size: Symbol, families: frozenset[Variable], batched: frozenset[Variable]) -> Reads | None:
    """Return the arrays that an entry of row `ROW` reads, or None if it uses the row number in another way."""
    named = {variable.name: variable for variable in batched}
    aligned, across, hidden = set(), set(), dict[Basic, Basic]()
    # innermost first: an index that is itself read from an array, E[tokens[i], j], is replaced by a symbol before
    inside_first = sorted(entry.atoms(Indexed), key=lambda read: (len(read.atoms(Indexed)), str(read)))
    for number, read in enumerate(inside_first):
        variable = named.get(read.base.label.name)
        hidden[read] = Symbol(f"hidden_{number}", integer=True)
        indices = [place.xreplace(hidden) for place in read.indices]
        of_row = [number for number, place in enumerate(indices) if ROW in place.free_symbols]
        if variable is None:
            if of_row and not (len(of_row) == 1 and indices[of_row[0]] == ROW and _is_table(read, of_row[0], size)):
                return None  # a weight whose rows are named by a position
            continue
        first = 1 if variable in families else 0
        if of_row == [first] and indices[first] == ROW:
            aligned.add(variable)
        elif of_row:
            return None
        else:
            across.add(variable)
    # the number of the row itself is used, as in a positional formula: only tables may do that
    if ROW in entry.xreplace(hidden).free_symbols:
        return None
    # an array that is read both ways must be complete: it counts as read across
    return Reads(frozenset(aligned - across), frozenset(across))


def _is_table(read: Indexed, place: int, size: Symbol) -> bool:
    """Return whether an array that depends on no input has a row for every position along the given axis."""
    return bool(read.base.label.name.startswith(_TABLE) or read.base.shape[place] == size)


_TABLE = "table of positions "


def _with_tables(node: Array, size: Symbol, batched: frozenset[Variable]) -> Array:
    """Replace every subexpression that reads no input and has `size` rows by a variable, which can be sliced."""
    if isinstance(node, Variable) or not isinstance(node, Array):
        return node
    if node.shape and node.shape[0] == size and not variables_of(node) & batched:
        return Variable(f"{_TABLE}{node}", tuple(map(total, node.shape)), node.kind)
    return node.func(*(_with_tables(a, size, batched) if isinstance(a, Array) else a for a in node.args))


def _place(number: int, along: Axis) -> Place:
    name = f"place_{number}"
    if isinstance(along, Blocks):
        return Pair(Symbol(f"{name}_block", integer=True), Symbol(name, integer=True), along.size)
    return Integer(0) if along == 1 else Symbol(name, integer=True)
