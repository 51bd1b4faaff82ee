"""The text of the body of a loop over tiles: its memory, the ranges of a tile, its operations one by one."""

from __future__ import annotations

from numeric.codegen.lowering.locality import Phase
from numeric.codegen.lowering.loop_schedule import LoopSchedule
from numeric.codegen.lowering.memory import Pieces
from numeric.codegen.lowering.registers import Body, Layout, Loop, LoopEnd, Operation, Register
from numeric.codegen.syntax import names_in

__all__ = ["LoopText"]


class LoopText:
    """The text of the body of one loop; `visible` is the range of keys that its queries see, with an exclusive end."""

    def __init__(self, schedule: LoopSchedule, phase: Phase, pieces: Pieces, visible: tuple[str, str]):
        self.schedule, self.phase, self.pieces, self.visible = schedule, phase, pieces, visible
        self.written: set[Register] = set()
        self.holders: dict[int, str] = {}  # for each piece of memory, the name in scope of the tile's part of it

    def lines(self, body: Body) -> list[str]:
        """Return the lines, without indentation."""
        inner = self._inner(body)
        text = "\n".join(inner)
        names = names_in(text)
        n = self.schedule.whole(self.phase.size)
        head = []
        loops = [op for op in body if isinstance(op, Loop)]
        tiled = {op.keys for op in loops if op.low}
        keys = sorted(tiled or {op.keys for op in loops})
        most = keys[0] if len(keys) == 1 else f"max({', '.join(keys)})"
        if tiled:
            head.append(f"keys_at_once = tile.keys({most}, dtype)")
            most = "keys_at_once"
        for heads in sorted({op.heads for op in loops if not op.low}):
            head.append(f"heads_at_once = tile.heads({heads}, {most})")
        sizes = [self._size(*size) for size in self.pieces.sizes]
        if sizes:
            taken = ", ".join(f"piece_{number}" for number in range(1, len(sizes) + 1))
            head.append(f"{taken}{',' if len(sizes) == 1 else ''} = tile.pieces(dtype, {', '.join(sizes)})")
        top = ["first, last, begin, end = tile.place", "g, t = last - first, end - begin"]
        if "count" in names:
            top.append("count = g * t")
        if "rows" in names:
            top.append(f"rows = slice(first * {n} + begin, (last - 1) * {n} + end)")
        if "low" in names or "high" in names:
            low, high = self.visible
            top.append(f"low, high = {low}, {high}")
        return [*top, *head, *inner]

    def _size(self, layout: Layout, columns: str, heads: str) -> str:
        rows = "tile.rows"
        if layout in (Layout.ROWS, Layout.NUMBERS):
            return f"({rows}, {columns})"
        heads = "heads_at_once" if heads == "b - a" else heads
        columns = {"high - low": self.schedule.whole(self.phase.size), "e - c": "keys_at_once"}.get(columns, columns)
        parts = [part for part in (rows, heads, columns) if part != "1"]
        return f"({' * '.join(part if '+' not in part and '-' not in part else f'({part})' for part in parts)},)"

    def _inner(self, body: Body) -> list[str]:
        lines, outside = list[str](), list[dict[int, str]]()
        for operation in body:
            indent = "    " * len(outside)
            if isinstance(operation, Loop):
                outside.append(dict(self.holders))
            if isinstance(operation, Loop) and operation.low:
                low, high = operation.low, operation.heads
                lines.append(f"{indent}for c in range({low}, {high}, keys_at_once):")
                lines.append(f"{indent}    e = min(c + keys_at_once, {high})")
            elif isinstance(operation, Loop):
                lines.append(f"{indent}for a in range(0, {operation.heads}, heads_at_once):")
                lines.append(f"{indent}    b = min(a + heads_at_once, {operation.heads})")
            elif isinstance(operation, LoopEnd):
                self.holders = outside.pop()
            else:
                lines += [f"{indent}{line}" for line in self._statement(operation)]
        return lines

    def _statement(self, operation: Operation) -> list[str]:
        target = operation.target
        comment = f"# {operation.comment}" if operation.comment else ""
        before = [comment] if comment else []
        if operation.binding:
            for root in (r.root for r in operation.operands):
                if root in self.pieces.of and root not in self.written:
                    before.append(f"{root.name} = {self._place(root)}")
                    self._hold(root)
            self.written.add(target)
            return [*before, f"{target.name} = {operation.text}"]
        names = [r.name for r in operation.operands]
        known = target in self.written or target.given or target.memory is not None
        place = target.name if known else self._place(target)
        # a ufunc with `out=` returns its memory, so it can bind the name itself; other statements need the name before
        if not known and not operation.text.endswith("out={out})"):
            before.append(f"{target.name} = {place}")
            place, known = target.name, True
        self._hold(target)
        if operation.text == "{out}":  # memory only: a loop fills it
            return before
        text = _filled(operation.text, names, place)
        return [*before, text if known else f"{target.name} = {text}"]

    def _hold(self, register: Register) -> None:
        """Note that a register has a value, so that its part of a piece of memory has a name."""
        if register in self.pieces.of and register not in self.written:
            self.holders[self.pieces.of[register]] = register.name
        self.written.add(register)

    def _place(self, register: Register) -> str:
        """Return the memory of a register: the name of an earlier value in its piece, or a part of the piece."""
        number = self.pieces.of[register]
        if number in self.holders:
            return self.holders[number]
        piece = f"piece_{number + 1}"
        if register.layout in (Layout.ROWS, Layout.NUMBERS):
            return f"{piece}[:count]"
        return f"shaped({piece}, g, {register.heads}, t, {register.columns})"


def _filled(text: str, names: list[str], out: str) -> str:
    for number, name in enumerate(names):
        text = text.replace(f"{{{number}}}", name)
    return text.replace("{out}", out)
