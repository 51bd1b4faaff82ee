"""Registers, which hold the values inside a tile, and the list of operations between them.

A register has a layout. `g` items of `t` rows each are processed together, `count` = g t rows in all:

rows          (count, columns), the rows of all items one after another, so that a product with weights is one product
numbers       (count, 1), a number for each row
heads         (g, heads, t, columns), the rows of each head; one head where there is no family
head numbers  (g, heads, t, 1)
fixed         the same for all rows: weights, vectors of columns, scalars; a text
table         depends only on the position of the row: (t, columns), or (heads, t, columns); a text
tokens        (count,), whole numbers
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from derivations.language.arrays.expression import Variable

__all__ = ["KEYS_AT_HAND", "Body", "Layout", "Loop", "LoopEnd", "Operation", "Register"]

KEYS_AT_HAND = {  # number of columns of arrays that exist for some keys only, and the range of these keys
    "e - c": ("c", "e"),  # the keys of a tile of keys
    "high - low": ("low", "high"),  # the keys that the queries of a tile see
}


class Layout(Enum):
    """The arrangement of the entries of a register."""

    ROWS = "rows"
    NUMBERS = "numbers"
    HEADS = "heads"
    HEAD_NUMBERS = "head numbers"
    FIXED = "fixed"
    TABLE = "table"
    TOKENS = "tokens"

    @property
    def is_of_heads(self) -> bool:
        """Whether the layout has an axis of heads."""
        return self in (Layout.HEADS, Layout.HEAD_NUMBERS)

    @property
    def is_wide(self) -> bool:
        """Whether each row has columns."""
        return self in (Layout.ROWS, Layout.HEADS)

    @property
    def is_constant(self) -> bool:
        """Whether a register of this layout is a plain expression, which is the same for all batch items."""
        return self in (Layout.FIXED, Layout.TABLE)


@dataclass(eq=False)
class Register:
    """A value: its name in the code, its layout, its number of columns as text.

    `memory` is the register whose memory it shares, if it is a view of one; `given` says that its memory does not
    belong to the tile: an input, a weight, or an array that outlives the tile. `keeps` are registers of which it may
    hold a view; `of` is the variable whose value it holds, if it has one.
    """

    name: str
    layout: Layout
    columns: str = "1"
    heads: str = "1"
    memory: Register | None = None
    given: bool = False
    keeps: tuple[Register, ...] = ()
    of: Variable | None = None

    @property
    def root(self) -> Register:
        """The register that owns the memory of this one."""
        return self if self.memory is None else self.memory.root

    @property
    def roots(self) -> frozenset[Register]:
        """All registers that may own the memory of this one."""
        kept = (root for register in self.keeps for root in register.roots)
        return frozenset({self.root, *(self.memory.roots if self.memory else ()), *kept})


@dataclass(eq=False)
class Operation:
    """A statement: `text` with `{out}` for the target; with `binding` it only names a value.

    `overwrites` lists operands whose memory the target may take when they are not read again.
    """

    target: Register
    text: str
    operands: tuple[Register, ...]
    overwrites: tuple[Register, ...] = ()
    binding: bool = False
    comment: str = ""


@dataclass(eq=False)
class Loop:
    """The start of a loop over blocks of heads or, where `low` is set, over tiles of keys."""

    heads: str
    keys: str
    low: str = ""


@dataclass(eq=False)
class LoopEnd:
    """The end of the loop that began last."""


Body = list[Operation | Loop | LoopEnd]
