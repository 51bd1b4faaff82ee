"""The writer of the operations of one loop: its registers, and a rule for each kind of node.

A rule takes the writer, a node and the register in which the value is wanted, if that is known, and returns the
register that holds the value. The rules are a table (`rules.RULES`), handed to the writer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Symbol

from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.shapes import Axis, total
from numeric.codegen.lowering.locality import Phase
from numeric.codegen.lowering.loop_schedule import LoopSchedule
from numeric.codegen.lowering.masks import PositionMask
from numeric.codegen.lowering.registers import KEYS_AT_HAND, Body, Layout, Loop, LoopEnd, Operation, Register

__all__ = ["Rule", "Rules", "TileWriter"]

NONE = Variable("(none)", ())


@dataclass
class TileWriter:
    """Writes the operations of one phase: `body` holds them, `evaluated` is the variable whose equation is written.

    `mask` hides keys from all scores by their positions, and the arrays in `ranged` have columns for visible keys only.
    For each variable, `at` is its value for the rows of the tile, `targets` the register where that is wanted, `across`
    all rows of the tile's items. `family` is the index of the family whose members are written, and their number;
    `in_loop` says whether they are written a block of heads at a time. While a tile of keys is written, `tiled_keys` is
    the number of all keys and `cut` are the arrays that have columns for the keys of the tile only.
    """

    schedule: LoopSchedule
    phase: Phase
    rules: Rules
    mask: PositionMask | None = None
    ranged: frozenset[Variable] = frozenset()
    body: Body = field(default_factory=list)
    evaluated: Variable = NONE
    at: dict[Variable, Register] = field(default_factory=dict)
    targets: dict[Variable, Register] = field(default_factory=dict)
    across: dict[Variable, Register] = field(default_factory=dict)
    family: tuple[Symbol, Axis] | None = None
    in_loop: bool = False
    tiled_keys: Symbol | None = None
    cut: frozenset[Variable] = frozenset()
    _blocks: dict[Register, Register] = field(default_factory=dict)  # of heads, since the last loop began

    @property
    def over(self) -> Symbol | None:
        """The index of the family whose members are written."""
        return self.family[0] if self.family else None

    # --- operations ---

    def bind(self, register: Register, text: str, operands: tuple[Register, ...] = ()) -> Register:
        """Bind the name of a register to the text of an expression, without an operation."""
        self.body.append(Operation(register, text, operands, binding=True))
        return register

    def emit(
        self, text: str, operands: tuple[Register, ...], target: Register, *, overwrites: tuple[Register, ...] = ()
    ) -> Register:
        """Write an operation that stores its result in the target."""
        self.body.append(Operation(target, text, operands, overwrites))
        return target

    def begin(self, loop: Loop) -> None:
        """Begin a loop."""
        self.body.append(loop)
        self._blocks.clear()

    def end(self) -> None:
        """End the loop that began last."""
        self.body.append(LoopEnd())

    # --- expressions ---

    def value(self, node: Array, target: Register | None = None) -> Register:
        """Return the register of an expression; `target` is where its value is wanted, if that is known."""
        if not self.schedule.reads_batched(node):
            return self.constant(node)
        return self.rules.get(type(node), self.rules[Array])(self, node, target)

    def printed(self, node: Array) -> Register:
        """Return the register of an expression by the rule for nodes without a rule of their own."""
        return self.rules[Array](self, node, None)

    def constant(self, node: Array) -> Register:
        """Return the register of an expression that reads no input: weights, vectors, tables of positions."""
        in_family = self.over is not None and self.over in node.free_symbols
        heads = self.heads_here() if in_family else "1"
        if node.shape and self.schedule.is_table(node, self.phase.size):
            name = self.schedule.table(node, self.over)
            rows = "begin:end" if not in_family else ("a:b, begin:end" if self.in_loop else ":, begin:end")
            columns = self.key_slice(node.shape[1]) if len(node.shape) == 2 else "None"  # numbers are one column
            return Register(f"{name}[{rows}{columns and f', {columns}'}]", Layout.TABLE, heads=heads, given=True)
        return Register(
            self._member(node, self.schedule.printed(node, self.over)), Layout.FIXED, heads=heads, given=True
        )

    def constant_whole(self, node: Array) -> str:
        """Return the text of all rows of an expression that reads no input, as the right operand of a product."""
        return self._member(node, self.schedule.printed_exactly(node, self.over))

    def _member(self, node: Array, text: str) -> str:
        """Return the text of the block of members in the current round of a loop, given a text for all members."""
        varies = self.over is not None and self.over in node.free_symbols
        return f"({text})[a:b]" if varies and self.in_loop else text

    # --- registers of variables ---

    def variable(self, variable: Variable) -> Register:
        """Return the register of a variable, for the rows of the tile."""
        if variable not in self.at:
            layout, columns, heads = self.schedule.layout(variable)
            register = Register(self.schedule.name(variable), layout, columns, heads, given=True, of=variable)
            whole = self.schedule.whole_name(variable)
            if variable.kind == "boolean" and layout.is_of_heads and variable not in self.schedule.families:
                text = f"{whole}{self.schedule.mask_rows(variable)}"
            else:
                text = _rows_of(whole, layout)
            self.at[variable] = self.bind(register, text)
        return self.block(self.at[variable])

    def target(self, variable: Variable) -> Register:
        """Return the register in which the value of a variable must be stored."""
        if variable not in self.targets:
            is_stored = variable in self.schedule.stored
            self.targets[variable] = self.stored(variable) if is_stored else self.own(variable)
        return self.block(self.targets[variable])

    def own(self, variable: Variable) -> Register:
        """Return a register in the memory of the tile."""
        layout, columns, heads = self.schedule.layout(variable)
        if variable in self.ranged:
            columns = "high - low"
        if variable in self.cut:
            columns = "e - c"
        if layout.is_of_heads and self.in_loop:
            heads = "b - a"
        return Register(self.schedule.name(variable), layout, columns, heads, of=variable)

    def stored(self, variable: Variable) -> Register:
        """Return the tile's part of an array that outlives the tile."""
        layout, columns, heads = self.schedule.layout(variable)
        register = Register(self.schedule.name(variable), layout, columns, heads, given=True, of=variable)
        return self.bind(register, _rows_of(self.schedule.whole_name(variable), layout))

    def block(self, register: Register) -> Register:
        """Return the block of heads in the current round of a loop, given a register that holds all heads."""
        # a single head is broadcast to the block
        if not self.in_loop or not register.layout.is_of_heads or register.heads in ("b - a", "1"):
            return register
        # one name for each round of a loop, however often the array is read in it
        if register not in self._blocks:
            self._blocks[register] = self.view(register, f"{register.name}_", heads="b - a", text="[:, a:b]")
        return self._blocks[register]

    def view(self, register: Register, name: str, *, text: str, **changed: Any) -> Register:
        """Name a view of a register; `text` is the index after the register's name, `changed` what the view changes."""
        form = {"layout": register.layout, "columns": register.columns, "heads": register.heads, "of": register.of}
        part = Register(name, **{**form, **changed}, memory=register, given=register.root.given)
        return self.bind(part, f"{register.name}{text}", (register,))

    # --- texts ---

    def key_columns(self, along: Axis) -> str:
        """Return code for the number of keys at hand, or "" if the axis is not one of keys or no key is skipped."""
        if self.tiled_keys is not None and total(along) == self.tiled_keys:
            return "e - c"
        return "high - low" if self.ranged and total(along) == self.phase.size else ""

    def key_slice(self, along: Axis) -> str:
        """Return the range of the current keys on an axis, if some keys are skipped; else an empty text."""
        return ":".join(KEYS_AT_HAND.get(self.key_columns(along), ()))

    def heads_here(self) -> str:
        """Return the number of members of a family that are written together."""
        if self.in_loop:
            return "b - a"
        assert self.family is not None
        return self.schedule.whole(self.family[1])


Rule = Callable[[TileWriter, Any, Register | None], Register]
Rules = Mapping[type[Array], Rule]


def _rows_of(whole: str, layout: Layout) -> str:
    """Return the text of the tile's rows of an array."""
    return f"{whole}[first:last, :, begin:end]" if layout.is_of_heads else f"{whole}[rows]"
