"""The equations of one loop over rows as operations between registers: a rule for each node that can work in place.

What has no rule here is printed by the printer of layers, as one expression over the arrays of the tile.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from sympy import E, Expr, Integer, Symbol

from derivations.language.arrangements import ColumnBlock, Concatenate
from derivations.language.columns import ColumnRange
from derivations.language.exponentials import Normalised, RowExponentials
from derivations.language.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.functions import Elementwise, Hadamard, Lookup, RowMean, RowSoftmax, RowSum
from derivations.language.layer import Equation
from derivations.language.shapes import Axis, total
from numeric.formula_printer import quotient
from numeric.lowering.choices import Choice
from numeric.lowering.formulas import FormulaWriter
from numeric.lowering.key_tiles import KeyTiles, is_entrywise
from numeric.lowering.locality import Phase, row_axis
from numeric.lowering.masks import PositionMask
from numeric.lowering.program import Program, Unsupported
from numeric.lowering.registers import Layout, Loop, LoopEnd, Operation, Register

__all__ = ["PhaseWriter"]

HEADED = (Layout.HEADS, Layout.HEAD_NUMBERS)


@dataclass
class PhaseWriter:
    """Writes the operations of one phase; `stored` says which variables have arrays that outlive the tile."""

    program: Program
    phase: Phase
    body: list[Operation | Loop | LoopEnd] = field(default_factory=list)
    at: dict[Variable, Register] = field(default_factory=dict)
    prepared: dict[Variable, Register] = field(default_factory=dict)
    over: Symbol | None = None
    in_loop: bool = False
    tiled_keys: Symbol | None = None  # while a tile of keys is written
    cut: frozenset[Variable] = frozenset()  # what has columns for the keys of the tile alone
    mask: PositionMask | None = None
    ranged: frozenset[Variable] = frozenset()
    current: Equation | None = None

    @property
    def evaluated(self) -> Variable:
        """The variable whose equation is being written."""
        assert self.current is not None
        return self.current.variable

    @property
    def visible(self) -> tuple[str, str]:
        """The first and the last of the keys that the queries of a tile see."""
        return self.mask.range(self.program) if self.mask is not None else ("0", self.program.name(self.phase.size))

    def write(self) -> list[Operation | Loop | LoopEnd]:
        """Return the operations of all equations of the phase."""
        if "hidden_keys" not in self.program.without:
            self.mask, self.ranged = self._visible_range()
        if self.mask is not None:
            cut = ", ".join(sorted(v.name for v in self.ranged))
            self.program.choices.append(
                Choice("hidden_keys", self.mask.theorem, f"{cut} for the keys that a tile sees")
            )
        for equations, looped in self._runs():
            if looped:
                self._loop(equations)
            else:
                for equation in equations:
                    self._equation(equation)
        return self.body

    # --- runs of equations about heads ---

    def _runs(self) -> Iterator[tuple[list[Equation], bool]]:
        """Yield the equations in order, those in a row that a loop over blocks of heads evaluates together."""
        run: list[Equation] = []
        for equation in self.phase.equations:
            if self.program.is_view(equation):
                continue
            if equation.over is not None and run and _members(run[0]) == _members(equation):
                run.append(equation)
                continue
            if run:
                yield run, self._wants_loop(run)
                run = []
            if equation.over is not None:
                run = [equation]
            else:
                yield [equation], False
        if run:
            yield run, self._wants_loop(run)

    def _wants_loop(self, run: list[Equation]) -> bool:
        """Say whether scores of all keys occur, and nothing prevents that the heads are cut into blocks."""
        scores = [e for e in run if len(e.variable.shape) == 3 and e.variable.shape[2] in self.program.positions]
        return bool(scores) and not any(e.variable in self.program.unlooped for e in run)

    def _loop(self, run: list[Equation]) -> None:
        heads = self.program.whole(_members(run[0]))
        keys = next(e.variable.shape[2] for e in run if e.variable.shape[2] in self.program.positions)
        for equation in run:
            self.current = equation
            self._prepare_operands(equation, run)
            self._prepare_target(equation, run)
        self.body.append(Loop(heads, self.program.whole(keys)))
        self.in_loop = True
        tiles = None if "key_tiles" in self.program.without else KeyTiles.of(self.program, run)
        for equation in run:
            if tiles is None or equation not in tiles.equations:
                self._equation(equation)
            elif equation is next(e for e in reversed(run) if e in tiles.equations):
                self._key_tiles(tiles)
        self.in_loop = False
        self.body.append(LoopEnd())

    def _key_tiles(self, tiles: KeyTiles) -> None:
        """Write the loop over tiles of keys, which carries the sums and the mixture of values along."""
        self.current, self.over = tiles.powers, _index(tiles.powers)
        where = f"{tiles.sums.variable.name} and {tiles.mixture.variable.name}, tile by tile of {tiles.keys} keys"
        self.program.choices.append(Choice("key_tiles", "attention.tile_step", where))
        sums, mixture = self._target(tiles.sums.variable), self._target(tiles.mixture.variable)
        reference = self._numbers(mixture)
        low, high = self._key_range(tiles.keys)
        self._emit("{out}", (), reference)  # the memory that is carried along
        for register in (sums, mixture):
            self._emit("{out}.fill(0)", (), register)  # without any key
        self.body.append(Loop(high, self.program.whole(tiles.keys), low))
        self.tiled_keys, self.cut = tiles.keys, frozenset(e.variable for e in (*tiles.scores, tiles.powers))
        for equation in tiles.scores:
            self._equation(equation)
        self.over = _index(tiles.powers)
        scores = self._value(tiles.powers.value.args[0])
        if tiles.powers.value.mask is not None:
            scores = self._hidden(scores, tiles.powers.value.mask, None)
        scores = self._copied_if_read_later(scores, None)
        power = "np.exp2" if tiles.powers.value.base == 2 else "np.exp"
        if tiles.powers.value.base not in (E, Integer(2)):
            raise Unsupported(tiles.powers.value)
        values = self._across(tiles.mixture.value.args[1])
        text = f"online_step({{0}}, {values}, {{1}}, {{2}}, {{out}}, {power}, c == {low})"
        self._emit(text, (scores, reference, sums), mixture)
        self.tiled_keys, self.cut, self.over = None, frozenset(), None
        self.body.append(LoopEnd())
        self.at[tiles.sums.variable], self.at[tiles.mixture.variable] = sums, mixture

    def _key_range(self, keys: Symbol) -> tuple[str, str]:
        """Return the first and the last of the keys that the rows of a tile read."""
        return ("low", "high") if self.ranged and keys == self.phase.size else ("0", self.program.whole(keys))

    def _prepare_operands(self, equation: Equation, run: list[Equation]) -> None:
        """Name what is given before the loop begins: arrays of the tile, columns of them, all rows of its items."""
        own = {e.variable for e in run}
        for variable in sorted(self.program.read(equation) - own, key=lambda v: v.name):
            read = self.program.equation.get(variable)
            if variable in self.phase.across[equation.variable]:
                self._bind_across(variable, self.program.all_rows_name(variable))
            elif read is not None and self.program.is_view(read):
                self._of_view(variable, read)
            elif variable.kind != "boolean":
                self._variable(variable)

    def _prepare_target(self, equation: Equation, run: list[Equation]) -> None:
        """Give a target that lives longer than the loop its memory before the loop begins."""
        variable = equation.variable
        if variable in self.program.stored:
            self.prepared[variable] = self._stored(variable)
            return
        together = self.program.concatenated.get(variable)
        if together is not None and any(e.variable == together for e in self.phase.equations):
            wide = self._stored(together) if together in self.program.stored else self._own(together)
            self.prepared[together] = wide
            heads, columns = self.program.whole(variable.shape[0]), self.program.whole(total(variable.shape[-1]))
            text = f"{wide.name}.reshape(g, t, {heads}, {columns}).swapaxes(1, 2)"
            self.prepared[variable] = self._bind(
                Register(self.program.name(variable), Layout.HEADS, columns, heads, memory=wide), text, (wide,)
            )
        elif self._read_outside(variable, run):
            self.prepared[variable] = self._own(variable)

    def _read_outside(self, variable: Variable, run: list[Equation]) -> bool:
        """Say whether an equation of the phase that is not evaluated in the same loop reads a variable."""
        return any(variable in self.program.read(e) for e in self.phase.equations if e not in run)

    # --- masks that positions tell ---

    def _visible_range(self) -> tuple[PositionMask | None, frozenset[Variable]]:
        """Return the mask of positions that all scores of this phase have, and the arrays that it cuts."""
        found: set[PositionMask] = set()
        cut: set[Variable] = set()
        for equation in self.phase.equations:
            variable = equation.variable
            if self.program.layout(variable)[0] is Layout.HEADS and variable.shape[-1] == self.phase.size:
                if variable in self.program.stored:
                    return None, frozenset()
                cut.add(variable)
            for node in _nodes(equation.value):
                if isinstance(node, RowSoftmax | RowExponentials):
                    mask = _mask_of(node)
                    position = PositionMask.of(mask, self.phase.size) if mask is not None else None
                    if node.shape[-1] == self.phase.size:
                        if position is None:
                            return None, frozenset()
                        found.add(position)
        if len(found) != 1:
            return None, frozenset()
        for equation in self.phase.equations:
            if cut & self.program.read(equation) and not self._keeps_to_keys(equation, cut):
                return None, frozenset()
        return found.pop(), frozenset(cut)

    def _keeps_to_keys(self, equation: Equation, cut: set[Variable]) -> bool:
        """Say whether columns of hidden keys do not matter in an equation that reads cut arrays."""
        value = equation.value
        if equation.variable in cut:
            return isinstance(value, RowSoftmax | RowExponentials) or is_entrywise(value, self.program, cut)
        if isinstance(value, RowSum):
            return _named(value.args[0]) in cut and self._is_masked(_named(value.args[0]))
        if isinstance(value, Product):
            left = _named(value.args[0])
            rest = {self.program.root(v) for v in self.program.variables(value.args[1])}
            return left in cut and self._is_masked(left) and not (rest & cut)
        return False

    def _is_masked(self, variable: Variable | None) -> bool:
        equation = next((e for e in self.phase.equations if e.variable == variable), None)
        return equation is not None and isinstance(equation.value, RowSoftmax | RowExponentials)

    # --- one equation ---

    def _equation(self, equation: Equation) -> None:
        self.current = equation
        variable = equation.variable
        self.over = _index(equation)
        start = len(self.body)
        register = self._value(equation.value, self._target(variable))
        target = self._target(variable)
        if register is not target:
            register = self._moved(register, target)
        whole = self.prepared[variable]
        self.at[variable] = whole if target is not whole else register  # of all heads, where a loop wrote some of them
        if len(self.body) > start:
            first = next(op for op in self.body[start:] if isinstance(op, Operation))
            first.comment = first.comment or f"{equation.variable.name} = {_shown(equation)}"
        self.over = None

    def _target(self, variable: Variable) -> Register:
        """Return the register in which the value of a variable is wanted."""
        if variable not in self.prepared:
            self.prepared[variable] = self._stored(variable) if variable in self.program.stored else self._own(variable)
        return self._in_loop(self.prepared[variable], variable)

    def _own(self, variable: Variable) -> Register:
        layout, columns, heads = self.program.layout(variable)
        if variable in self.ranged:
            columns = "high - low"
        if variable in self.cut:
            columns = "e - c"
        if layout in HEADED and self.in_loop:
            heads = "b - a"
        return Register(self.program.name(variable), layout, columns, heads)

    def _stored(self, variable: Variable) -> Register:
        """Return the tile's part of an array that outlives the tile."""
        layout, columns, heads = self.program.layout(variable)
        register = Register(self.program.name(variable), layout, columns, heads, given=True)
        whole = self.program.whole_name(variable)
        text = f"{whole}[first:last, :, begin:end]" if layout in HEADED else f"{whole}[rows]"
        return self._bind(register, text)

    def _in_loop(self, register: Register, variable: Variable) -> Register:
        """Return the block of heads of a register that holds all of them."""
        if not self.in_loop or register.layout not in HEADED or register.heads == "b - a" or register.heads == "1":
            return register
        known = getattr(register, "_block", None)
        if known is None or known[0] is not self._loop_number():
            block = Register(
                f"{register.name}_", register.layout, register.columns, "b - a", memory=register, given=register.given
            )
            self._bind(block, f"{register.name}[:, a:b]", (register,))
            known = register._block = (self._loop_number(), block)  # type: ignore[attr-defined]
        return known[1]

    def _loop_number(self) -> Loop:
        return next(each for each in reversed(self.body) if isinstance(each, Loop))

    def _variable(self, variable: Variable) -> Register:
        """Return the register of a variable, for the rows of the tile."""
        if variable not in self.at:
            layout, columns, heads = self.program.layout(variable)
            register = Register(self.program.name(variable), layout, columns, heads, given=True)
            whole = self.program.whole_name(variable)
            if variable.kind == "boolean" and layout in HEADED and variable not in self.program.families:
                text = f"{whole}[first:last, begin:end][:, None]"
            elif layout in HEADED:
                text = f"{whole}[first:last, :, begin:end]"
            else:
                text = f"{whole}[rows]"
            self.at[variable] = self._bind(register, text)
        return self._in_loop(self.at[variable], variable)

    # --- expressions ---

    def _value(self, node: Array, target: Register | None = None) -> Register:
        """Return the register of an expression; `target` is where its value is wanted, if that is known."""
        if not self.program.reads_batched(node):
            return self._constant(node)
        rule = getattr(self, f"_{type(node).__name__}", None)
        return self._printed(node) if rule is None else rule(node, target)

    def _Variable(self, node: Variable, target: Register | None) -> Register:
        equation = self.program.equation.get(node)
        if equation is not None and self.program.is_view(equation) and node not in self.at:
            return self._value(equation.value, None)
        return self._variable(node)

    def _Member(self, node: Member, target: Register | None) -> Register:
        family, place = node.args
        if not isinstance(family, Variable) or place != self.over:
            return self._printed(node)
        equation = self.program.equation.get(family)
        if equation is not None and self.program.is_view(equation):
            return self._of_view(family, equation)
        return self._variable(family)

    def _of_view(self, family: Variable, equation: Equation) -> Register:
        """Return the heads of a family whose members are columns of one array."""
        if family not in self.at:
            text, operands = self._view_text(equation.value, across=False)
            layout, columns, heads = self.program.layout(family)
            register = Register(
                self.program.name(family), layout, columns, heads, memory=operands[0], given=operands[0].root.given
            )
            if self.in_loop:
                raise Unsupported(family)
            self.at[family] = self._bind(register, text, operands)
        return self._in_loop(self.at[family], family)

    def _view_text(self, node: Array, *, across: bool) -> tuple[str, tuple[Register, ...]]:
        """Return the text of a view of an array: of the tile's rows, or of all rows of its items."""
        match node:
            case ColumnBlock():
                wide, columns = node.args[0], node.args[0].shape[-1]
                text, operands = self._view_text(wide, across=across)
                count, size = self.program.whole(columns.count), self.program.whole(columns.size)
                n = self.program.name(wide.shape[0]) if across else "t"
                return f"{text}.reshape(g, {n}, {count}, {size}).swapaxes(1, 2)", operands
            case ColumnRange():
                text, operands = self._view_text(node.args[0], across=across)
                start = self.program.whole(node.args[1])
                end = self.program.whole(node.args[1] + total(node.args[2]))
                return f"{text}[:, {start}:{end}]", operands
            case Variable():
                equation = self.program.equation.get(node)
                if equation is not None and self.program.is_view(equation):
                    return self._view_text(equation.value, across=across)
                if across:
                    return f"{self.program.whole_name(node)}[first * {self._n(node)}:last * {self._n(node)}]", ()
                register = self._variable(node)
                return register.name, (register,)
        raise Unsupported(node)

    def _n(self, variable: Variable) -> str:
        return self.program.name(row_axis(variable, variable in self.program.families, self.program.positions))

    def _constant(self, node: Array) -> Register:
        """Return what reads no input: weights, vectors, tables of positions."""
        if node.shape and self.program.is_table(node, self.phase.size, self.over):
            return self._table(node)
        text = self.program.printed(node, self.over)
        in_family = self.over is not None and self.over in node.free_symbols
        if in_family and self.in_loop:
            text = f"({text})[a:b]"
        return Register(text, Layout.FIXED, given=True)

    def _table(self, node: Array) -> Register:
        name = self.program.table(node, self.over)
        in_family = self.over is not None and self.over in node.free_symbols
        rows = "begin:end" if not in_family else ("a:b, begin:end" if self.in_loop else ":, begin:end")
        columns = self._key_slice(node.shape[1]) if len(node.shape) == 2 else ""
        return Register(f"{name}[{rows}{columns and f', {columns}'}]", Layout.TABLE, given=True)

    def _key_slice(self, along: Axis) -> str:
        """Return which places of an axis are those of the keys at hand, if it is theirs."""
        if self.tiled_keys is not None and total(along) == self.tiled_keys:
            return "c:e"
        return "low:high" if self.ranged and total(along) == self.phase.size else ""

    # --- products ---

    def _Product(self, node: Product, target: Register | None) -> Register:
        left, right = node.args
        if len(left.shape) == 1:
            return self._printed(node)
        if not self.program.reads_batched(right):
            return self._by_weights(self._value(left), right, target)
        rows, across = self._value(left), self._across(right)
        heads = self._as_heads(rows)
        if len(right.shape) == 1:
            across, columns, layout = f"{across}[..., None]", "1", Layout.HEAD_NUMBERS
        else:
            columns, layout = self._columns(node), Layout.HEADS
        out = self._result(layout, columns, heads.heads, target, node)
        return self._emit("np.matmul({0}, " + across + ", out={out})", (heads,), out)

    def _by_weights(self, rows: Register, right: Array, target: Register | None) -> Register:
        weight = self._constant(right)
        if len(right.shape) == 1:
            text, columns = f"{weight.name}[..., None]", "1"
        else:
            text, columns = weight.name, self.program.whole(total(right.shape[1]))
        in_family = self.over is not None and self.over in right.free_symbols
        if in_family or rows.layout is Layout.HEADS:
            heads = self._as_heads(rows)
            count = heads.heads if heads.heads != "1" or not in_family else self._heads_here()
            layout = Layout.HEADS if len(right.shape) == 2 else Layout.HEAD_NUMBERS
            out = self._result(layout, columns, count, target)
            return self._emit("np.matmul({0}, " + text + ", out={out})", (heads,), out)
        layout = Layout.ROWS if len(right.shape) == 2 else Layout.NUMBERS
        out = self._result(layout, columns, "1", target)
        return self._emit("np.matmul({0}, " + text + ", out={out})", (rows,), out)

    def _across(self, node: Array) -> str:
        """Return the text of an array with all rows of the tile's items, as the right operand of a product."""
        if isinstance(node, Transpose):
            return f"{self._across(node.args[0])}.mT"
        text = self._all_rows(node)
        return text

    def _all_rows(self, node: Array) -> str:
        variable = _named(node)
        if variable is None or (isinstance(node, Member) and node.args[1] != self.over):
            raise Unsupported(node)
        name = self.program.all_rows_name(variable)
        register = self.prepared.get(("across", variable))  # type: ignore[call-overload]
        if register is None:
            if self.in_loop:
                raise Unsupported(node)
            register = self._bind_across(variable, name)
        text = name
        if isinstance(node, Member) and self.in_loop:
            text += "[:, a:b]"
        keys = row_axis(variable, variable in self.program.families, self.program.positions)
        if keys is not None and (places := self._key_slice(keys)):
            text += f"[..., {places}, :]"
        return text

    def _bind_across(self, variable: Variable, name: str) -> Register:
        """Name all rows of the tile's items of an array: (g, heads, n, columns)."""
        if ("across", variable) in self.prepared:
            return self.prepared["across", variable]  # type: ignore[index]
        equation = self.program.equation.get(variable)
        layout, columns, heads = self.program.layout(variable)
        if self.program.row_size(variable) is None:
            one = "" if variable in self.program.families else ", None"
            text = f"{self.program.standard_name(variable)}[first:last{one}]"
        elif equation is not None and self.program.is_view(equation):
            text, _ = self._view_text(equation.value, across=True)
            if layout is Layout.ROWS:
                text = f"{text}.reshape(g, 1, {self._n(variable)}, {columns})"
        elif layout in HEADED:
            text = f"{self.program.whole_name(variable)}[first:last]"
        elif layout is Layout.ROWS:
            n = self._n(variable)
            text = f"{self.program.whole_name(variable)}[first * {n}:last * {n}].reshape(g, 1, {n}, {columns})"
        else:
            raise Unsupported(variable)
        register = Register(name, Layout.HEADS, columns, heads, given=True)
        self.prepared["across", variable] = self._bind(register, text)  # type: ignore[index]
        return register

    # --- entry by entry ---

    def _Plus(self, node: Plus, target: Register | None) -> Register:
        left, right = node.args
        if isinstance(right, Scaled) and right.args[0].could_extract_minus_sign():
            scalar, array = -right.args[0], right.args[1]
            first = self._value(left, target)
            second = self._value(array if scalar == 1 else Scaled(scalar, array), None if first is target else target)
            return self._ufunc("np.subtract", (first, second), target)
        first = self._value(left, target)
        return self._ufunc("np.add", (first, self._value(right, None if first is target else target)), target)

    def _Scaled(self, node: Scaled, target: Register | None) -> Register:
        scalar, array = node.args
        if self.over is not None and self.over in scalar.free_symbols:
            return self._printed(node)
        numerator, denominator = quotient(scalar)
        register = self._value(array, target)
        if scalar == -1:
            return self._ufunc("np.negative", (register,), target)
        if numerator == 1:
            return self._ufunc("np.divide", (register, self.program.scalar(denominator)), target)
        return self._ufunc("np.multiply", (register, self.program.scalar(scalar)), target)

    def _Hadamard(self, node: Hadamard, target: Register | None) -> Register:
        if any(not a.shape for a in node.args) and any(self.program.reads_batched(a) for a in node.args if not a.shape):
            return self._printed(node)
        return self._ufunc("np.multiply", tuple(self._value(a) for a in node.args), target)

    def _Elementwise(self, node: Elementwise, target: Register | None) -> Register:
        function, *arrays = node.args
        used = set(function.formula.variables) & function.formula.expr.free_symbols
        if not used or any(not a.shape and self.program.reads_batched(a) for a in arrays):
            return self._printed(node)
        registers = [self._value(a) for a in arrays]
        names = [f"operand_{number}" for number in range(len(arrays))]
        operands = dict(zip(names, registers, strict=True))
        text = self.program.formula(function.formula, names)
        fixed = {name: register for name, register in operands.items() if register.layout is Layout.FIXED}
        for name, register in fixed.items():
            text = text.replace(name, f"({register.name})")
        for name in names:
            text = text.replace(f"{name}.dtype", "dtype")
        living = {name: register for name, register in operands.items() if name not in fixed}

        def emit(ufunc: str, parts: tuple[Register | str, ...], last: bool = False) -> Register:
            return self._ufunc(ufunc, parts, target if last else None)

        result = FormulaWriter(living, emit, self._opaque_entries).write(text)
        if isinstance(result, str):
            return self._printed(node)
        return result

    def _opaque_entries(self, text: str, operands: list[Register]) -> Register:
        widest = max(operands, key=lambda r: (r.layout in (Layout.ROWS, Layout.HEADS), r.columns != "1"))
        result = Register(
            self.program.fresh("values"), widest.layout, widest.columns, widest.heads, given=True, keeps=tuple(operands)
        )
        return self._bind(result, text, tuple(operands))

    def _RowBroadcast(self, node: RowBroadcast, target: Register | None) -> Register:
        return self._printed(node)

    def _ColumnBroadcast(self, node: ColumnBroadcast, target: Register | None) -> Register:
        return self._value(node.args[0])

    # --- functions of rows ---

    def _RowSum(self, node: RowSum, target: Register | None) -> Register:
        return self._summed(node, target)

    def _RowMean(self, node: RowMean, target: Register | None) -> Register:
        sums = self._summed(node, target)
        return self._ufunc("np.divide", (sums, self.program.whole(total(node.args[0].shape[-1]))), target)

    def _summed(self, node: RowSum | RowMean, target: Register | None) -> Register:
        array = node.args[0]
        if len(array.shape) != 2 or isinstance(array, Transpose):
            raise Unsupported(node)
        factors = _factors(array)
        if factors is not None and all(self.program.reads_batched(f) for f in factors):
            registers = [self._value(f) for f in factors]
            if all(r.layout in (Layout.ROWS, Layout.HEADS) and r.layout is registers[0].layout for r in registers):
                out = self._numbers(registers[0], target)
                return self._emit("np.vecdot({0}, {1}, axis=-1, keepdims=True, out={out})", tuple(registers), out)
        register = self._value(array)
        if register.layout not in (Layout.ROWS, Layout.HEADS):
            raise Unsupported(node)
        out = self._numbers(register, target)
        if register.columns != self.program.whole(total(array.shape[-1])) or self._is_masked_or_not(node):
            return self._emit("np.add.reduce({0}, axis=-1, keepdims=True, out={out})", (register,), out)
        ones = self.program.ones(register.columns)  # BLAS adds faster, in fewer parts: weights are to add up to 1
        return self._emit("np.matmul({0}, " + ones + ", out={out})", (register,), out)

    def _RowSoftmax(self, node: RowSoftmax, target: Register | None) -> Register:
        powers = self._powers(node.args[0], _mask_of(node), E, target)
        sums = self._emit("np.add.reduce({0}, axis=-1, keepdims=True, out={out})", (powers,), self._numbers(powers))
        sums = self._ufunc("np.maximum", (sums, "1"), None)
        return self._ufunc("np.divide", (powers, sums), target)

    def _RowExponentials(self, node: RowExponentials, target: Register | None) -> Register:
        return self._powers(node.args[0], node.mask, node.base, target)

    def _powers(self, scores: Array, mask: Array | None, base: Expr, target: Register | None) -> Register:
        """Write base^(s - r), r the largest visible score of the row; hidden scores become -inf first."""
        if base not in (E, Integer(2)) or len(scores.shape) != 2:
            raise Unsupported(scores)
        register = self._value(scores)
        if register.layout is Layout.FIXED:
            raise Unsupported(scores)
        if mask is not None:
            register = self._hidden(register, mask, target)
        largest = self._numbers(register)
        self._emit("np.maximum.reduce({0}, axis=-1, keepdims=True, initial=lowest, out={out})", (register,), largest)
        shifted = self._ufunc("np.subtract", (register, largest), target)
        return self._ufunc("np.exp2" if base == 2 else "np.exp", (shifted,), target)

    def _hidden(self, scores: Register, mask: Array, target: Register | None) -> Register:
        """Write -inf where a key is hidden, over the scores if nothing else reads them."""
        position, columns = PositionMask.of(mask, self.phase.size), ""
        if position is not None and self.tiled_keys is not None:
            text = position.hidden(self.program, "max(c, begin)" if position.looks_back else "c", "e")
            columns = "max(begin - c, 0):" if position.looks_back else ""
        elif position is not None and self.ranged:
            text, columns = position.hidden(self.program), position.columns
        elif position is not None:
            text = position.hidden(self.program, "0", self.program.name(self.phase.size))
        else:
            variable = _named(mask)
            if variable is None:
                raise Unsupported(mask)
            text = f"~{self._mask_rows(variable)}"
            if scores.layout is Layout.ROWS:
                text = f"np.broadcast_to({text}, (g, 1, t, {scores.columns})).reshape(count, {scores.columns})"
        hidden = Register(self.program.fresh("hidden"), Layout.FIXED, given=True)
        self._bind(hidden, text)
        copied = self._copied_if_read_later(scores, target)
        place = f"{{out}}[..., {columns}]" if columns else "{out}"
        self._emit(f"np.copyto({place}, -np.inf, where={hidden.name})", (copied,), copied, statement=True)
        return copied

    def _mask_rows(self, variable: Variable) -> str:
        whole, keys = self.program.whole_name(variable), self._key_slice(variable.shape[-1])
        columns = keys and f", {keys}"
        if variable in self.program.batched:
            return f"{whole}[first:last, begin:end{columns}][:, None]"
        return f"{whole}[begin:end{columns}]"

    def _copied_if_read_later(self, scores: Register, target: Register | None) -> Register:
        """Return the scores themselves if they are the tile's own, else a copy."""
        if not scores.root.given and not self.program.read_twice(scores):
            return scores
        out = self._like(scores, target)
        return self._emit("np.copyto({out}, {0})", (scores,), out, statement=True)

    def _Normalised(self, node: Normalised, target: Register | None) -> Register:
        rows, sums = (self._value(a) for a in node.args)
        of = _named(node.args[1])
        equation = self.program.equation.get(of) if of is not None else None
        powers = equation is not None and isinstance(equation.value, RowSum) and self._is_masked_or_not(equation.value)
        if not powers:
            raise Unsupported(node)
        sums = self._ufunc("np.maximum", (sums, "1"), None)  # 1 is among the powers of a row with a visible key
        return self._ufunc("np.divide", (rows, sums), target)

    def _is_masked_or_not(self, value: RowSum | RowMean) -> bool:
        variable = _named(value.args[0])
        equation = self.program.equation.get(variable) if variable is not None else None
        return equation is not None and isinstance(equation.value, RowExponentials)

    # --- moving ---

    def _Concatenate(self, node: Concatenate, target: Register | None) -> Register:
        body, over, _ = node.args
        variable = _named(body)
        if variable is None or target is None or not isinstance(body, Member) or body.args[1] != over:
            raise Unsupported(node)
        written = self.prepared.get(variable) if variable in self.program.concatenated else None
        if written is not None and written.memory is target:
            return target  # its heads were written in place
        outer, self.over = self.over, over
        heads = self._value(body)
        self.over = outer
        shape = f"g, t, {heads.heads}, {heads.columns}"
        return self._emit(
            f"np.copyto({{out}}.reshape({shape}), {{0}}.swapaxes(1, 2))", (heads,), target, statement=True
        )

    def _ColumnBlock(self, node: ColumnBlock, target: Register | None) -> Register:
        wide, block = node.args
        if block == self.over:
            text, operands = self._view_text(node, across=False)
            columns = node.args[0].shape[-1]
            count, size = self.program.whole(columns.count), self.program.whole(columns.size)
            register = Register(
                self.program.fresh("block"), Layout.HEADS, size, count, memory=operands[0], given=operands[0].root.given
            )
            return self._in_loop(self._bind(register, text, operands), None)  # type: ignore[arg-type]
        if self.over is not None and self.over in block.free_symbols:
            raise Unsupported(node)
        register = self._value(wide)
        size = wide.shape[-1].size
        start, end = self.program.whole(block * size), self.program.whole((block + 1) * size)
        part = Register(
            self.program.fresh("columns"),
            register.layout,
            self.program.whole(size),
            register.heads,
            memory=register,
            given=register.root.given,
        )
        return self._bind(part, f"{register.name}[..., {start}:{end}]", (register,))

    def _ColumnRange(self, node: ColumnRange, target: Register | None) -> Register:
        register = self._value(node.args[0])
        start = self.program.whole(node.args[1])
        end = self.program.whole(node.args[1] + total(node.args[2]))
        part = Register(
            self.program.fresh("columns"),
            register.layout,
            self.program.whole(total(node.args[2])),
            register.heads,
            memory=register,
            given=register.root.given,
        )
        return self._bind(part, f"{register.name}[..., {start}:{end}]", (register,))

    def _Lookup(self, node: Lookup, target: Register | None) -> Register:
        table, tokens = node.args
        if self.program.reads_batched(table) or len(table.shape) != 2:
            raise Unsupported(node)
        numbers = self._value(tokens)
        if numbers.layout is not Layout.TOKENS or self.over is not None:
            raise Unsupported(node)
        out = self._result(Layout.ROWS, self.program.whole(total(table.shape[1])), "1", target)
        return self._emit(f"np.take({self._constant(table).name}, {{0}}, axis=0, out={{out}})", (numbers,), out)

    # --- whatever else ---

    def _printed(self, node: Array) -> Register:
        """Print an expression over the arrays of the tile, with axes (g, heads, t, columns)."""
        if self.in_loop:
            raise Unsupported(node)
        operands: list[Register] = []
        read = sorted(self.program.variables(node) & self.program.batched, key=lambda v: v.name)
        arrays = {v: self._standard(v, operands) for v in read}
        text = self.program.printed_in_tile(node, self.over, arrays, self.phase.size)
        in_family = self.over is not None
        rows, columns = (node.shape[0] if node.shape else None), self.program.whole(total(node.shape[-1]))
        if rows != self.phase.size or len(node.shape) > 2 or node.kind != "real":
            raise Unsupported(node)
        heads = self._heads_here() if in_family else "1"
        if len(node.shape) == 2:
            shape = f"g, {heads}, t, {columns}" if in_family else f"g, t, {columns}"
            back = "" if in_family else f".reshape(count, {columns})"
            layout = Layout.HEADS if in_family else Layout.ROWS
        else:
            shape, columns = (f"g, {heads}, t" if in_family else "g, t"), "1"
            back = "[..., None]" if in_family else ".reshape(count, 1)"
            layout = Layout.HEAD_NUMBERS if in_family else Layout.NUMBERS
        register = Register(self.program.fresh("values"), layout, columns, heads, given=True, keeps=tuple(operands))
        return self._bind(register, f"np.broadcast_to({text}, ({shape})){back}", tuple(operands))

    def _standard(self, variable: Variable, operands: list[Register]) -> str:
        """Return the text of an array of the tile with its items as an axis in front."""
        across = variable not in self.program.aligned(self.phase, variable)
        if across:
            raise Unsupported(variable)
        register = (
            self._Member(Member(variable, self.over), None)
            if variable in self.program.families and self.over is not None
            else self._Variable(variable, None)
        )
        operands.append(register)
        match register.layout:
            case Layout.ROWS:
                return f"{register.name}.reshape(g, t, {register.columns})"
            case Layout.NUMBERS | Layout.TOKENS:
                return f"{register.name}.reshape(g, t)"
            case Layout.HEADS:
                return register.name if variable in self.program.families else f"{register.name}[:, 0]"
            case Layout.HEAD_NUMBERS:
                return f"{register.name}[..., 0]"
        raise Unsupported(variable)

    # --- registers ---

    def _heads_here(self) -> str:
        if self.in_loop:
            return "b - a"
        assert self.over is not None
        return self.program.whole(next(e.over[1] for e in self.phase.equations if e.over and e.over[0] == self.over))

    def _columns(self, node: Array) -> str:
        along = total(node.shape[1])
        columns = {"c:e": "e - c", "low:high": "high - low"}.get(self._key_slice(along))
        return columns or self.program.whole(along)

    def _as_heads(self, register: Register) -> Register:
        """Return rows as those of one head."""
        if register.layout in HEADED:
            return register
        if register.layout is not Layout.ROWS:
            raise Unsupported(register.name)
        heads = Register(
            self.program.fresh(f"{register.name}_head"),
            Layout.HEADS,
            register.columns,
            "1",
            memory=register,
            given=register.root.given,
        )
        return self._bind(heads, f"{register.name}.reshape(g, 1, t, {register.columns})", (register,))

    def _moved(self, register: Register, target: Register) -> Register:
        """Bring a value into the layout and the memory in which it is wanted."""
        if register.layout is Layout.HEADS and target.layout is Layout.ROWS and register.heads == "1":
            if not target.given and not register.root.given:
                rows = Register(target.name, Layout.ROWS, register.columns, "1", memory=register)
                return self._bind(rows, f"{register.name}.reshape(count, {register.columns})", (register,))
            shape = f"g, 1, t, {register.columns}"
            return self._emit(f"np.copyto({{out}}.reshape({shape}), {{0}})", (register,), target, statement=True)
        if register.layout is Layout.HEAD_NUMBERS and target.layout is Layout.NUMBERS and register.heads == "1":
            shape = "g, 1, t, 1"
            return self._emit(f"np.copyto({{out}}.reshape({shape}), {{0}})", (register,), target, statement=True)
        if register.layout is Layout.FIXED or register.layout is Layout.TABLE or register.layout is not target.layout:
            wanted = self._operand(register, target.layout)
            form = (
                "{out}.reshape(g, t, -1)"
                if register.layout is Layout.TABLE and target.layout in (Layout.ROWS, Layout.NUMBERS)
                else "{out}"
            )
            return self._emit(f"np.copyto({form}, {wanted})", (register,), target, statement=True)
        if target.given or target.memory is not None:
            return self._emit("np.copyto({out}, {0})", (register,), target, statement=True)
        alias = Register(
            target.name, register.layout, register.columns, register.heads, memory=register, given=register.given
        )
        return self._bind(alias, register.name, (register,))

    def _result(
        self, layout: Layout, columns: str, heads: str, target: Register | None, node: Array | None = None
    ) -> Register:
        """Return where a result goes: the target if it has that layout, else a register of its own."""
        if target is not None and target.layout is layout and target.columns == columns and target.heads == heads:
            return target
        return Register(self.program.fresh("part"), layout, columns, heads)

    def _numbers(self, register: Register, target: Register | None = None) -> Register:
        layout = Layout.HEAD_NUMBERS if register.layout in HEADED else Layout.NUMBERS
        return self._result(layout, "1", register.heads, target)

    def _like(self, register: Register, target: Register | None) -> Register:
        return self._result(register.layout, register.columns, register.heads, target)

    def _ufunc(self, name: str, operands: tuple[Register | str, ...], target: Register | None) -> Register:
        """Write one ufunc; its result is as wide as its widest operand."""
        registers = [r for r in operands if isinstance(r, Register)]
        moving = [r for r in registers if r.layout not in (Layout.FIXED, Layout.TABLE)]
        if not moving:
            raise Unsupported(name)
        headed = any(r.layout in HEADED for r in moving) or (self.over is not None and self._varies(registers))
        wide = any(r.layout in (Layout.ROWS, Layout.HEADS) for r in moving)
        columns = next((r.columns for r in moving if r.layout in (Layout.ROWS, Layout.HEADS)), "1")
        if not wide and any(r.layout is Layout.TABLE or _is_row(r) for r in registers if r not in moving):
            if target is None:
                raise Unsupported(name)
            wide, columns = True, target.columns
        heads = next((r.heads for r in moving if r.layout in HEADED and r.heads != "1"), "1")
        if headed and heads == "1" and self.over is not None:
            heads = self._heads_here()
        if headed:
            layout = Layout.HEADS if wide else Layout.HEAD_NUMBERS
        else:
            layout = Layout.ROWS if wide else Layout.NUMBERS
        out = self._result(layout, columns, heads, target)
        table = any(r.layout is Layout.TABLE for r in registers) and not headed
        texts, number = [], 0
        for operand in operands:
            if isinstance(operand, str):
                texts.append(operand)
                continue
            form = self._operand(operand, layout)
            if table and operand.layout in (Layout.ROWS, Layout.NUMBERS):
                form += ".reshape(g, t, -1)"
            texts.append(form.replace(operand.name, f"{{{number}}}", 1) if operand in moving else form)
            number += operand in moving
        result = "{out}.reshape(g, t, -1)" if table else "{out}"
        same = tuple(r for r in moving if r.layout is layout and r.columns == columns and r.heads == heads)
        return self._emit(
            f"{name}({', '.join(texts)}, out={result})", tuple(moving), out, overwrites=same, statement=table
        )

    def _varies(self, registers: list[Register]) -> bool:
        return any(r.layout in (Layout.FIXED, Layout.TABLE) and "[a:b" in r.name for r in registers)

    def _operand(self, register: Register, layout: Layout) -> str:
        """Return the text of an operand so that it broadcasts to a layout."""
        if layout in HEADED and register.layout is Layout.ROWS:
            return f"{register.name}.reshape(g, 1, t, {register.columns})"
        if layout in HEADED and register.layout is Layout.NUMBERS:
            return f"{register.name}.reshape(g, 1, t, 1)"
        if layout not in HEADED and register.layout in HEADED:
            if register.heads != "1":
                raise Unsupported(register.name)
            return f"{register.name}.reshape(count, {register.columns})"
        return register.name

    def _bind(self, register: Register, text: str, operands: tuple[Register, ...] = ()) -> Register:
        self.body.append(Operation(register, text, operands, binding=True))
        return register

    def _emit(
        self,
        text: str,
        operands: tuple[Register, ...],
        target: Register,
        *,
        overwrites: tuple[Register, ...] = (),
        statement: bool = False,
    ) -> Register:
        self.body.append(Operation(target, text, operands, overwrites, comment="", binding=False))
        return target


def _index(equation: Equation) -> Symbol | None:
    """Return the index of a family, if the equation defines one."""
    return equation.over[0] if equation.over else None


def _members(equation: Equation) -> Axis | None:
    """Return the number of members of a family, if the equation defines one."""
    return equation.over[1] if equation.over else None


def _is_row(register: Register) -> bool:
    """Say whether a fixed operand has columns: anything but a plain number."""
    try:
        return not isinstance(ast.literal_eval(register.name), int | float)
    except (ValueError, SyntaxError):
        return True


def _mask_of(node: RowSoftmax | RowExponentials) -> Array | None:
    if isinstance(node, RowExponentials):
        return node.mask
    return node.args[1] if len(node.args) == 2 else None


def _named(node: Array) -> Variable | None:
    """Return the variable that an expression names, as a whole or as a member."""
    inner = node.args[0] if isinstance(node, Member) else node
    return inner if isinstance(inner, Variable) else None


def _factors(node: Array) -> tuple[Array, Array] | None:
    """Return the two factors of an entrywise product or square."""
    if isinstance(node, Hadamard):
        return node.args[0], node.args[1]
    if isinstance(node, Elementwise):
        function = node.args[0].formula
        if len(function.variables) == 1 and function.expr == function.variables[0] ** 2:
            return node.args[1], node.args[1]
    return None


def _nodes(node: Array) -> Iterator[Array]:
    yield node
    for child in node.args:
        if isinstance(child, Array):
            yield from _nodes(child)


def _shown(equation: Equation) -> str:
    text = str(equation.value)
    return text if len(text) < 80 else f"{text[:77]}..."
