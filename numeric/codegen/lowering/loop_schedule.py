"""The loop schedule of a flat layer, made before its code: names, layouts, loops, arrays that outlive a tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sympy import Basic, Expr, Lambda, Symbol

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array, Member, RowBroadcast, Variable
from derivations.language.arrays.shapes import Axis, total
from derivations.language.layers.layer import Equation, Gradient, Layer
from derivations.language.layers.names import fresh_name
from numeric.codegen.lowering.choices import Choice
from numeric.codegen.lowering.expressions import variables_of
from numeric.codegen.lowering.locality import WHOLE, Phase, phases_of, positions, row_axis
from numeric.codegen.lowering.names import OWN, all_rows_of, names_of, of_items, with_derived
from numeric.codegen.lowering.registers import Layout
from numeric.codegen.lowering.tile_printer import TilePrinter
from numeric.codegen.printer import Call
from numeric.codegen.syntax import names_in, tidied

__all__ = ["LoopSchedule", "Unsupported"]


class Unsupported(Exception):
    """An expression that has no form inside a tile."""


class LoopSchedule:
    """The loops of a flat layer, with names and layouts; variables in `apart` are evaluated outside of loops."""

    def __init__(
        self,
        layer: Layer,
        call: Callable[[Any], Call],
        taken: frozenset[str],
        without: frozenset[str] = frozenset(),
        apart: LoopSchedule | None = None,
    ):
        self.layer, self.without = layer, without
        self.choices: list[Choice] = []
        self.factors: set[str] = set()  # names of weights that rows are multiplied by
        own = len(layer.parameters) if isinstance(layer, Gradient) else 0
        self.by_parameters = frozenset(layer.outputs[len(layer.outputs) - own :])  # gradients, sums over a batch
        self.apart: set[Variable] = set(self.by_parameters) if apart is None else apart.apart  # evaluated whole
        self.unlooped: set[Variable] = set() if apart is None else apart.unlooped
        self.positions = positions(layer)
        self.equation: dict[Variable, Equation] = {e.variable: e for e in layer.equations}
        self.families = frozenset(e.variable for e in layer.equations if e.over) | frozenset(
            v for v in layer.inputs if len(v.shape) > 2
        )
        given = (*layer.inputs, *layer.parameters, *layer.sizes, *layer.scalars, *self.equation)
        self.names: dict[Basic, str] = names_of(given, taken)
        self._taken = {each for name in self.names.values() for each in with_derived(name)} | taken | OWN
        self.printer = TilePrinter(layer, self.names, call, self._taken)
        self.batched = frozenset(self.printer.batched)
        self.tables: dict[tuple[Array, Symbol | None], str] = {}
        self.columns_of_ones: dict[str, str] = {}
        self.printer.of_gradient = isinstance(layer, Gradient)

    # --- loops ---

    @cached_property
    def phases(self) -> list[Phase]:
        """The loops, in order."""
        layer = self.layer
        return phases_of(layer, self.families, self.batched, frozenset(self.apart))

    @cached_property
    def phase_of(self) -> dict[Variable, Phase]:
        """The loop that evaluates each variable."""
        return {e.variable: phase for phase in self.phases for e in phase.equations}

    @cached_property
    def stored(self) -> frozenset[Variable]:
        """The variables whose arrays outlive the tile: outputs, and those that other loops or other tiles read."""
        found = set(self.layer.outputs) & self.equation.keys()
        for phase in self.phases:
            for equation in phase.equations:
                if self.is_view(equation):
                    continue
                for variable in self.read(equation):
                    root = self.root(variable)
                    if root not in self.equation or root not in self.batched:
                        continue
                    # read by another loop, or at rows that another tile computes
                    if self.phase_of[root] is not phase or variable not in self.aligned(phase, variable):
                        found.add(root)
        return frozenset(found)

    def aligned(self, phase: Phase, variable: Variable) -> frozenset[Variable]:
        """Return {variable} if the loop reads it row by row, else the empty set."""
        root = self.root(variable)
        inside = root not in self.equation or self.phase_of[root] is phase or self.phase_of[root].size is phase.size
        return frozenset({variable}) if inside and not self._is_across(phase, variable) else frozenset()

    def _is_across(self, phase: Phase, variable: Variable) -> bool:
        return any(variable in phase.across.get(e.variable, ()) for e in phase.equations)

    # --- variables ---

    def read_in(self, node: Basic) -> frozenset[Variable]:
        """Return the variables that depend on an input and that an expression reads."""
        return variables_of(node) & self.batched

    def read(self, equation: Equation) -> frozenset[Variable]:
        """Return the variables that depend on an input and that an equation reads."""
        return self.read_in(equation.value)

    def reads_batched(self, node: Basic) -> bool:
        """Return whether an expression depends on an input."""
        return not self.batched.isdisjoint(variables_of(node))

    def is_view(self, equation: Equation) -> bool:
        """Return whether the right-hand side of an equation only selects columns of an array."""
        if equation.variable in self.layer.outputs or equation.variable in self.apart:
            return False
        node = equation.value
        while isinstance(node, ColumnBlock | ColumnRange):
            if isinstance(node, ColumnBlock) and (equation.over is None or node.args[1] != equation.over[0]):
                return False
            node = node.args[0]
        return (
            isinstance(node, Variable)
            and node != equation.value
            and node in self.batched
            and (node not in self.families)
            and (node in self.equation or node in self.layer.inputs)
        )

    def is_mask(self, variable: Variable) -> bool:
        """Return whether a variable is a mask over keys, which has no axis of heads."""
        return variable.kind == "boolean" and len(variable.shape) == 2

    def root(self, variable: Variable) -> Variable:
        """Return the variable in whose memory a variable is stored."""
        equation = self.equation.get(variable)
        while equation is not None and self.is_view(equation):
            (variable,) = self.read(equation)
            equation = self.equation.get(variable)
        return variable

    @cached_property
    def concatenated(self) -> dict[Variable, Variable]:
        """Map each family whose only use is a concatenation of its members to the variable that concatenates them."""
        found: dict[Variable, Variable] = {}
        readers: dict[Variable, list[Equation]] = {}
        for equation in self.layer.equations:
            for variable in self.read(equation):
                readers.setdefault(variable, []).append(equation)
        for variable, equations in readers.items():
            value = equations[0].value
            if len(equations) == 1 and isinstance(value, Concatenate) and isinstance(value.args[0], Member):
                body, over, _ = value.args
                # the members of such a family are written straight into their columns, without a copy
                if body.args == (variable, over) and variable in self.families:
                    found[variable] = equations[0].variable
        return found

    def read_twice(self, variable: Variable) -> bool:
        """Return whether a variable is read by several equations, outlives the tile, or is no result of an equation."""
        readers = sum(variable in self.read(e) for e in self.layer.equations)
        return readers > 1 or variable in self.stored or variable not in self.equation

    # --- texts ---

    def name(self, each: Basic) -> str:
        """Return the Python name of a variable or a size."""
        return self.names[each]

    def whole_name(self, variable: Variable) -> str:
        """Return the name of the array with all rows of a variable."""
        return all_rows_of(self.names[variable]) if variable in self.batched else self.names[variable]

    def standard_name(self, variable: Variable) -> str:
        """Return the name of an array without rows of positions, whose first axis is the batch items."""
        return self.names[variable] if variable in self.equation else self.whole_name(variable)

    def all_rows_name(self, variable: Variable) -> str:
        """Return the name of the array that holds all rows of a variable for the batch items of a tile."""
        return of_items(self.names[variable])

    def fresh(self, wanted: str) -> str:
        """Return a new name, which is not in use."""
        return fresh_name(wanted if wanted.isidentifier() else "value", self._taken)

    def whole(self, size: Any) -> str:
        """Return the text of a size, an integer."""
        return tidied(self.printer.size(total(size)))

    def scalar(self, expr: Expr) -> str:
        """Return the text of a scalar."""
        return tidied(self.printer.scalar(expr))

    def formula(self, formula: Lambda, texts: list[str]) -> str:
        """Return the text of a formula of entries, given the texts of its variables."""
        return tidied(self.printer.formula(formula, texts))

    def printed(self, node: Array, over: Symbol | None) -> str:
        """Return the text of an expression that reads no input."""
        return self.printer.in_family(node, over)

    def printed_exactly(self, node: Array, over: Symbol | None) -> str:
        """Return the text of an expression that reads no input, in its full shape."""
        return self.printer.in_family(node, over, exact=True)

    def printed_in_tile(self, node: Array, over: Symbol | None, arrays: Mapping[Variable, str], size: Any) -> str:
        """Return the text of an expression over arrays of the tile."""
        text = self.printer.in_family(node, over, arrays)
        if self.names[size] in names_in(text):
            raise Unsupported(node)
        return text

    def table(self, node: Array, over: Symbol | None) -> str:
        """Return the name of a table: an expression of positions alone, computed before the loops."""
        key = node, over if over is not None and over in node.free_symbols else None
        if key not in self.tables:
            self.tables[key] = self.fresh("table")
        return self.tables[key]

    def ones(self, length: str) -> str:
        """Return the name of a column of ones, made before the loops; a product with it is a sum."""
        if length not in self.columns_of_ones:
            self.columns_of_ones[length] = self.fresh("ones")
        return self.columns_of_ones[length]

    def is_table(self, node: Array, size: Symbol | None) -> bool:
        """Return whether the first axis of an expression that reads no input counts the positions of a loop."""
        is_repeated = isinstance(node, RowBroadcast)  # one row for every position
        return size is not WHOLE and bool(node.shape) and total(node.shape[0]) == size and not is_repeated

    def layout(self, variable: Variable) -> tuple[Layout, str, str]:
        """Return the layout of a variable in a tile, its number of columns and its number of heads."""
        family = variable in self.families
        shape: Sequence[Axis] = variable.shape[1:] if family else variable.shape
        heads = self.whole(variable.shape[0]) if family else "1"
        if len(shape) == 2:
            columns = self.whole(shape[1])
            if family or total(shape[1]) in self.positions or variable.kind == "boolean":
                return Layout.HEADS, columns, heads
            return Layout.ROWS, columns, heads
        if variable.kind != "real":
            return Layout.TOKENS, "1", heads
        return (Layout.HEAD_NUMBERS if family else Layout.NUMBERS), "1", heads

    def whole_shape(self, variable: Variable) -> str:
        """Return the shape of the array with all rows of a variable, one item after another."""
        layout, columns, heads = self.layout(variable)
        n = self.whole(self.row_size(variable))
        if layout.is_of_heads:
            return f"items, {heads}, {n}, {columns}"
        return f"items * {n}" if layout is Layout.TOKENS else f"items * {n}, {columns}"

    def mask_rows(self, variable: Variable, columns: str = "") -> str:
        """Return the index of the rows of a tile in a mask; a computed mask already has an axis of heads."""
        given = variable in self.layer.inputs
        return f"[first:last, begin:end{columns}][:, None]" if given else f"[first:last, :, begin:end{columns}]"

    def row_size(self, variable: Variable) -> Symbol | None:
        """Return the number of rows of a variable if its rows are positions, else None."""
        return row_axis(variable, variable in self.families, self.positions)
