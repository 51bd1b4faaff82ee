"""Assign a piece of memory to each value of a tile: taken when the value is written, free after its last use.

Result       a value takes the memory of an operand that is not read again, else a free piece of the same size, else a
             new one; values that a loop over heads reads from before it keep their memory until the loop has ended
"""

from __future__ import annotations

from dataclasses import dataclass, field

from numeric.codegen.lowering.registers import Body, Layout, Loop, LoopEnd, Operation, Register

__all__ = ["Pieces", "assign"]


@dataclass
class Pieces:
    """The memory of a tile: the layout, columns and heads of each piece, and the piece of each register."""

    sizes: list[tuple[Layout, str, str]] = field(default_factory=list)
    of: dict[Register, int] = field(default_factory=dict)


def assign(body: Body) -> Pieces:
    """Return the pieces of memory of the registers that a body writes."""
    last = _last_uses(body)
    pieces, free, taken = Pieces(), dict[tuple[Layout, str, str], list[int]](), dict[int, Register]()
    for number, operation in enumerate(body):
        if not isinstance(operation, Operation):
            continue
        target = operation.target
        written = (
            [*(r.root for r in operation.operands)] if operation.binding else [target]
        )  # a view names memory that later operations fill
        for register in written:
            if register.memory is None and not register.given and register not in pieces.of:
                pieces.of[register] = _piece(register, operation, number, last, pieces, free)
                taken[pieces.of[register]] = register
        for register in sorted({r for each in (*operation.operands, target) for r in each.roots}, key=lambda r: r.name):
            piece = pieces.of.get(register)
            if piece is not None and taken.get(piece) is register and last.get(register, -1) <= number:
                del taken[piece]
                free.setdefault(pieces.sizes[piece], []).append(piece)
    return pieces


def _piece(
    target: Register,
    operation: Operation,
    number: int,
    last: dict[Register, int],
    pieces: Pieces,
    free: dict[tuple[Layout, str, str], list[int]],
) -> int:
    for operand in operation.overwrites:
        root = operand.root
        whole = (root.layout, root.columns, root.heads) == (target.layout, target.columns, target.heads)
        # in place: the operand is not read again, and has the same form
        if not operation.binding and root in pieces.of and last[root] <= number and whole:
            return pieces.of[root]
    key = target.layout, target.columns, target.heads
    if free.get(key):
        return free[key].pop()
    pieces.sizes.append(key)
    return len(pieces.sizes) - 1


def _last_uses(body: Body) -> dict[Register, int]:
    """Return where each piece of memory is read last; a read inside a loop counts until the end of the loop."""
    ends = _ends(body)
    last: dict[Register, int] = {}
    first: dict[Register, int] = {}
    around: list[int] = []  # where the loops begin that are open
    for number, operation in enumerate(body):
        if isinstance(operation, Loop):
            around.append(number)
        elif isinstance(operation, LoopEnd):
            around.pop()
        else:
            for root in (r for register in (*operation.operands, operation.target) for r in register.roots):
                begun = first.setdefault(root, number)
                # a value from before the loop is read again in every round, so its memory is needed until the end
                until = next((ends[begin] for begin in around if begun < begin), number)
                last[root] = max(last.get(root, -1), until)
    return last


def _ends(body: Body) -> dict[int, int]:
    """Return the index of the end of each loop, by the index of its start."""
    ends, around = dict[int, int](), list[int]()
    for number, operation in enumerate(body):
        if isinstance(operation, Loop):
            around.append(number)
        elif isinstance(operation, LoopEnd):
            ends[around.pop()] = number
    return ends
