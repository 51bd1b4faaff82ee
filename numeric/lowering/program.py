"""What is known of a flat layer before its code is written: names, layouts, loops, and arrays that outlive a tile."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from sympy import Basic, Expr, Lambda, Symbol

from derivations.language.arrangements import ColumnBlock, Concatenate
from derivations.language.columns import ColumnRange
from derivations.language.expression import Array, Member, Transpose, Variable
from derivations.language.layer import Equation, Gradient, Layer
from derivations.language.shapes import Axis, total
from numeric.lowering.choices import Choice
from numeric.lowering.locality import WHOLE, Phase, positions, row_axis, schedule
from numeric.lowering.registers import Layout, Register
from numeric.printer import Call, NumPyLayerPrinter
from numeric.structure import RESERVED, identifier

__all__ = ["OWN_NAMES", "Program", "Unsupported"]

OWN_NAMES = frozenset(
    {
        "a",
        "b",
        "batch",
        "begin",
        "c",
        "column_of_ones",
        "count",
        "dtype",
        "e",
        "each_tile",
        "end",
        "first",
        "flat_rows",
        "g",
        "heads_at_once",
        "high",
        "items",
        "items_of",
        "keys_at_once",
        "last",
        "loop_1",
        "loop_2",
        "loop_3",
        "loop_4",
        "loop_5",
        "loop_6",
        "loop_7",
        "loop_8",
        "low",
        "lowest",
        "online_step",
        "product_of_heads",
        "product_of_rows",
        "rows",
        "shaped",
        "t",
        "threads",
        "tiles",
        "weights",
    }
)


class Unsupported(Exception):
    """An expression that has no form inside a tile."""


class Program:
    """A flat layer, prepared for its code; equations in `whole` are evaluated outside of the loops over rows."""

    def __init__(
        self,
        layer: Layer,
        call: Callable[[Any], Call],
        taken: frozenset[str],
        without: frozenset[str] = frozenset(),
        apart: Program | None = None,
    ):
        self.layer, self.without = layer, without
        self.choices: list[Choice] = []
        self.apart: set[Variable] = set() if apart is None else apart.apart  # evaluated whole
        self.unlooped: set[Variable] = set() if apart is None else apart.unlooped
        self.positions = positions(layer)
        self.equation: dict[Variable, Equation] = {e.variable: e for e in layer.equations}
        self.families = frozenset(e.variable for e in layer.equations if e.over) | frozenset(
            v for v in layer.inputs if len(v.shape) == 3
        )
        self.names = self._named(taken)
        self._fresh_names = set(self.names.values()) | set(taken) | RESERVED | OWN_NAMES
        self.printer = TilePrinter(layer, self.names, call, self._fresh_names)
        self.batched = frozenset(self.printer.batched)
        self.tables: dict[tuple[Array, Symbol | None], str] = {}
        self.columns_of_ones: dict[str, str] = {}
        self.printer.of_gradient = isinstance(layer, Gradient)
        own = len(layer.parameters) if isinstance(layer, Gradient) else 0
        self.by_parameters = frozenset(layer.outputs[len(layer.outputs) - own :])  # gradients, sums over a batch

    def _named(self, taken: frozenset[str]) -> dict[Basic, str]:
        names: dict[Basic, str] = {}
        used = set(taken) | RESERVED | OWN_NAMES
        everything = (
            *self.layer.inputs,
            *self.layer.parameters,
            *self.layer.sizes,
            *self.layer.scalars,
            *self.equation,
        )
        for each in dict.fromkeys(everything):
            name = identifier(each.name)
            while name in used:
                name += "_"
            names[each] = name
            used |= {name, f"{name}_all"}
        return names

    # --- loops ---

    @cached_property
    def phases(self) -> list[Phase]:
        """The loops, in order."""
        layer = self.layer
        return schedule(layer, self.families, self.batched, frozenset(self.apart))

    @cached_property
    def phase_of(self) -> dict[Variable, Phase]:
        """The loop that evaluates each variable."""
        return {e.variable: phase for phase in self.phases for e in phase.equations}

    @cached_property
    def stored(self) -> frozenset[Variable]:
        """Variables whose arrays outlive the tile: outputs, and what other loops read or this one reads across."""
        found = set(self.layer.outputs) & self.equation.keys()
        for phase in self.phases:
            for equation in phase.equations:
                if self.is_view(equation):
                    continue
                for variable in self.read(equation):
                    root = self.root(variable)
                    if root not in self.equation or root not in self.batched:
                        continue
                    if self.phase_of[root] is not phase or variable not in self.aligned(phase, variable):
                        found.add(root)
        return frozenset(found)

    def aligned(self, phase: Phase, variable: Variable) -> frozenset[Variable]:
        """Return the variable, unless the loop reads it across: then nothing."""
        root = self.root(variable)
        inside = root not in self.equation or self.phase_of[root] is phase or self.phase_of[root].size is phase.size
        return frozenset({variable}) if inside and not self._is_across(phase, variable) else frozenset()

    def _is_across(self, phase: Phase, variable: Variable) -> bool:
        return any(variable in phase.across.get(e.variable, ()) for e in phase.equations)

    # --- variables ---

    def variables(self, node: Basic) -> set[Variable]:
        """Return the variables of an expression."""
        return {each for each in _nodes(node) if isinstance(each, Variable)}

    def read(self, equation: Equation) -> set[Variable]:
        """Return the variables that depend on an input and that an equation reads."""
        return self.variables(equation.value) & self.batched

    def reads_batched(self, node: Basic) -> bool:
        """Say whether an expression depends on an input."""
        return bool(self.variables(node) & self.batched)

    def is_view(self, equation: Equation) -> bool:
        """Say whether an equation only names columns of an array."""
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

    def root(self, variable: Variable) -> Variable:
        """Return the variable whose memory a variable is read from."""
        equation = self.equation.get(variable)
        while equation is not None and self.is_view(equation):
            (variable,) = self.variables(equation.value) & self.batched
            equation = self.equation.get(variable)
        return variable

    @cached_property
    def concatenated(self) -> dict[Variable, Variable]:
        """For each family that is only put side by side, the variable that holds its members so."""
        found: dict[Variable, Variable] = {}
        readers: dict[Variable, list[Equation]] = {}
        for equation in self.layer.equations:
            for variable in self.read(equation):
                readers.setdefault(variable, []).append(equation)
        for variable, equations in readers.items():
            value = equations[0].value
            if len(equations) == 1 and isinstance(value, Concatenate) and isinstance(value.args[0], Member):
                body, over, _ = value.args
                if body.args == (variable, over) and variable in self.families:
                    found[variable] = equations[0].variable
        return found

    def read_twice(self, register: Register) -> bool:
        """Say whether more than one equation reads what a register holds, or a result shares its memory."""
        variables = [v for v in self.batched if self.name(v) == register.name.rstrip("_")]
        if not variables:
            return False
        readers = sum(variables[0] in self.read(e) for e in self.layer.equations)
        return readers > 1 or variables[0] in self.stored or variables[0] not in self.equation

    # --- texts ---

    def name(self, each: Basic) -> str:
        """Return the Python name of a variable or a size."""
        return self.names[each]

    def whole_name(self, variable: Variable) -> str:
        """Return the name of the array with all rows of a variable."""
        return f"{self.names[variable]}_all" if variable in self.batched else self.names[variable]

    def standard_name(self, variable: Variable) -> str:
        """Return the name of an array without rows of positions, its items in front."""
        return self.names[variable] if variable in self.equation else self.whole_name(variable)

    def all_rows_name(self, variable: Variable) -> str:
        """Return the name of all rows of the tile's items of a variable."""
        return f"{self.names[variable]}_of_items"

    def fresh(self, wanted: str) -> str:
        """Return a name that is not in use."""
        wanted = wanted if wanted.isidentifier() else "value"
        name, number = wanted, 1
        while name in self._fresh_names:
            number += 1
            name = f"{wanted}_{number}"
        self._fresh_names.add(name)
        return name

    def whole(self, size: Any) -> str:
        """Return a size as text, an integer."""
        return _tidy(self.printer.size(total(size)))

    def scalar(self, expr: Expr) -> str:
        """Return a scalar as text."""
        return _tidy(self.printer.scalar(expr))

    def formula(self, formula: Lambda, texts: list[str]) -> str:
        """Return a formula of entries, with texts for its variables."""
        return _tidy(self.printer.formula(formula, texts))

    def printed(self, node: Array, over: Symbol | None) -> str:
        """Return the text of what reads no input."""
        return self.printer.in_family(node, over)

    def printed_in_tile(self, node: Array, over: Symbol | None, arrays: Mapping[Variable, str], size: Any) -> str:
        """Return the text of an expression over arrays of the tile."""
        text = self.printer.in_family(node, over, arrays)
        if self.names[size] in {each.id for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)}:
            raise Unsupported(node)
        return text

    def table(self, node: Array, over: Symbol | None) -> str:
        """Return the name of what depends on positions alone, which is computed before the loops."""
        key = node, over if over is not None and over in node.free_symbols else None
        if key not in self.tables:
            self.tables[key] = self.fresh("table")
        return self.tables[key]

    def ones(self, length: str) -> str:
        """Return the name of a column of ones, with which a product is a sum; it is made before the loops."""
        if length not in self.columns_of_ones:
            self.columns_of_ones[length] = self.fresh("ones")
        return self.columns_of_ones[length]

    def is_table(self, node: Array, size: Symbol | None, over: Symbol | None) -> bool:
        """Say whether the first axis of what reads no input counts the positions of a loop."""
        return bool(size is not WHOLE and node.shape and total(node.shape[0]) == size) and not _is_row_broadcast(node)

    def layout(self, variable: Variable) -> tuple[Layout, str, str]:
        """Return how a variable lies in a tile: layout, number of columns, number of heads."""
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

    def row_size(self, variable: Variable) -> Symbol | None:
        """Return the size of the positions along which a variable has rows."""
        return row_axis(variable, variable in self.families, self.positions)


class TilePrinter(NumPyLayerPrinter):
    """The printer of layers, with other texts for some variables, and sums over the rows of a matrix as products."""

    def _print_RowSum(self, node: Array) -> str:
        return self._sum_of_columns(node.args[0]) or super()._print_RowSum(node)

    def _print_RowMean(self, node: Array) -> str:
        sums = self._sum_of_columns(node.args[0])
        return f"({sums} / {self.size(total(node.args[0].shape[-1]))})" if sums else super()._print_RowMean(node)

    def _sum_of_columns(self, array: Array) -> str:
        """Return the sum over the rows of X, where X^T is given."""
        if not isinstance(array, Transpose) or array.kind != "real" or not self._is_batched(array):
            return ""
        return f"column_sums({self._exact(array.args[0])})"

    @property
    def batched(self) -> set[Variable]:
        """The variables that depend on an input."""
        return self._batched

    def in_family(self, node: Array, over: Symbol | None, arrays: Mapping[Variable, str] | None = None) -> str:
        """Return the text of a member of a family, all members together."""
        with self._with(_family=over, _names={**self._names, **(arrays or {})}):
            self._taken = set(self._reserved)
            return _tidy(self._exact(node) if arrays else self._print(node))

    def whole_equation(self, equation: Equation, arrays: Mapping[Variable, str], *, summed: bool) -> str:
        """Return the right-hand side of an equation over whole arrays; `summed` over all items of a batch."""
        with self._with(_names={**self._names, **arrays}, _target=self._names[equation.variable]):
            text = self.summed_over_batch(equation) if summed else self.doprint(equation)
            return ast.unparse(_OnThreads().visit(ast.parse(text, mode="eval"))) if self.of_gradient else text

    def size(self, size: Expr) -> str:
        """Return a size as an integer."""
        return self._scalar.whole(size)

    def scalar(self, expr: Expr) -> str:
        """Return a scalar."""
        return f"({self._scalar._print(expr)})"

    def formula(self, formula: Lambda, texts: list[str]) -> str:
        """Return a formula of entries."""
        self._taken = set(self._reserved) | set(texts)
        return self._formula(formula, texts, dtype="dtype")

    of_gradient = False

    @property
    def dtype_of(self) -> str | None:
        """The text of an array whose number type is that of the layer."""
        return self._dtype_of


class _OnThreads(ast.NodeTransformer):
    """Divides the large products of a backward pass among threads."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "product_over_batch":
            return _called("product_of_rows", *node.args)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _called("product_of_heads", node.left, node.right) if isinstance(node.op, ast.MatMult) else node


def _called(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments, ast.Name("threads", ast.Load())], [])


def _is_row_broadcast(node: Array) -> bool:
    from_row = type(node).__name__ == "RowBroadcast"
    return from_row


def _tidy(text: str) -> str:
    return ast.unparse(ast.parse(text, mode="eval"))


def _nodes(node: Basic) -> Iterator[Basic]:
    yield node
    for child in node.args:
        if not isinstance(child, Layer):
            yield from _nodes(child)
