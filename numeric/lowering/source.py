"""The text of a function for a flat layer: its loops over tiles, their memory, and what is evaluated whole."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from sympy import Basic, Integer

from derivations.language.expression import Variable
from derivations.language.layer import Equation, Layer, Repeat
from derivations.language.shapes import shape_text, total
from numeric.folding import WIDTH, folded, wrapped
from numeric.lowering.choices import Choice
from numeric.lowering.locality import Phase
from numeric.lowering.memory import Pieces, assign
from numeric.lowering.program import Program, Unsupported
from numeric.lowering.registers import Layout, Loop, LoopEnd, Operation, Register
from numeric.lowering.statements import PhaseWriter
from numeric.printer import AxisLength, Call
from numeric.structure import identifier

__all__ = ["FunctionSource"]

DEFAULTS = {"epsilon": "1e-5"}
Body = list[Operation | Loop | LoopEnd]
Written = tuple[Body, tuple[str, str]]  # the operations of a loop, and the keys that its queries see


class FunctionSource:
    """The text of the function that evaluates a flat layer; `blocks` names the functions of the layers that it repeats.

    Result       `text`, and the arguments: arrays by name, then sizes, then scalars, then the number of threads
    """

    def __init__(
        self,
        name: str,
        layer: Layer,
        blocks: dict[Layer, FunctionSource],
        call: Callable[[Any], Call],
        taken: frozenset[str],
        without: frozenset[str] = frozenset(),
    ):
        self.name, self.layer, self.blocks = name, layer, blocks
        self.program, bodies = _written(layer, call, taken, without)
        self.lines: list[str] = []
        self._whole: set[Variable] = set()  # with a name in the function, items in front
        names = self.program.names
        self.inputs = [names[v] for v in layer.inputs]
        self.parameters = [names[v] for v in layer.parameters]
        self.stacks = {identifier(a.name): a for e in layer.equations for a in _stacks(e.value)}
        self.scalars = sorted((names[s] for s in layer.scalars), key=lambda each: (each in DEFAULTS, each))
        self._body(bodies)
        body = "\n".join(self.lines)
        used = {each.id for each in ast.walk(ast.parse(f"def f():\n{body}")) if isinstance(each, ast.Name)}
        lengths = _lengths(self.program)
        self.sizes = {names[s]: s for s in layer.sizes if names[s] in used and s not in lengths}
        measured = [f"    {names[s]} = {text}" for s, text in lengths.items() if names[s] in used]
        arguments = [*self.inputs, *self.parameters, *self.stacks, *self.sizes]
        arguments += [f"{each}={DEFAULTS[each]}" if each in DEFAULTS else each for each in self.scalars]
        self.arguments = [*arguments, "threads=1"]
        head = f"def {name}({', '.join(self.arguments)}):"
        if len(head) > WIDTH:
            head = f"def {name}(\n{wrapped(self.arguments, ' ' * 4)}\n):"
        doc = f'    """Return {", ".join(f"{v.name} {shape_text(v.shape)}" for v in layer.outputs)}."""'
        self.text = "\n".join([head, doc, *self._begin(used), *measured, *self.lines]) + "\n"

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What the code does beside the equations, and the theorems that permit it."""
        rows = []
        for phase in self.program.phases:
            names = [e.variable.name for e in phase.equations]
            if phase.size is not None:
                where = f"{len(names)} equations, {names[0]} to {names[-1]}, in tiles of rows of {phase.size}"
                rows.append(Choice("row_tiles", "linear.row", where))
        return (*rows, *self.program.choices)

    # --- the function ---

    def _begin(self, used: set[str]) -> list[str]:
        """Return the lines that bring the inputs into shape."""
        program, lines = self.program, []
        batches = [
            f"{program.name(v)}.shape[:{-len(v.shape)}]" if v.shape else f"{program.name(v)}.shape"
            for v in self.layer.inputs
        ]
        batch = f"np.broadcast_shapes({', '.join(batches)})" if len(batches) > 1 else "".join(batches) or "()"
        lines.append(f"    batch = {batch}")
        lines.append("    items = math.prod(batch)")
        if "dtype" in used and program.printer.dtype_of:
            lines.append(f"    dtype = {program.printer.dtype_of}.dtype")
        if "lowest" in used:
            lines.append("    lowest = np.finfo(dtype).min  # where all keys are hidden, -inf less this is -inf")
        for variable in self.layer.inputs:
            name, whole = program.name(variable), program.whole_name(variable)
            if whole not in used:
                continue
            flat = program.row_size(variable) is not None and variable not in program.families
            if flat and variable.kind == "boolean" and len(variable.shape) == 2:
                flat = False
            function = "flat_rows" if flat else "items_of"
            lines.append(f"    {whole} = {function}({name}, batch, {len(variable.shape)})")
        return lines

    def _body(self, bodies: dict[int, Written]) -> None:
        program, number = self.program, 0
        constants = [e for e in self.layer.equations if e.variable not in program.batched]
        for equation in constants:
            self._assigned(equation)
        place = len(self.lines)
        for index, phase in enumerate(program.phases):
            equations = [e for e in phase.equations if e.variable in program.batched]
            if phase.size is None:
                for equation in equations:
                    self._assigned(equation)
                continue
            if not bodies[index][0]:
                continue
            number += 1
            self._part(number, phase, *bodies[index])
        tables = [f"    {name} = {self._table_text(node, over)}" for (node, over), name in program.tables.items()]
        tables += [f"    {name} = column_of_ones({length}, dtype)" for length, name in program.columns_of_ones.items()]
        self.lines[place:place] = tables
        self.lines.append("    return " + ", ".join(self._returned(v) for v in self.layer.outputs))

    def _table_text(self, node: Any, over: Any) -> str:
        return self.program.printer.in_family(node, over)

    # --- what is evaluated whole ---

    def _assigned(self, equation: Equation) -> None:
        program, variable = self.program, equation.variable
        arrays = {
            v: self._standard(v)
            for v in sorted(program.variables(equation.value), key=lambda v: v.name)
            if v in program.batched
        }
        if isinstance(equation.value, Repeat):
            self._repeated(equation, arrays)
        else:
            text = program.printer.whole_equation(equation, arrays, summed=variable in program.by_parameters)
            self._line(f"{program.name(variable)} = {text}", f"  # {shape_text(variable.shape)}")
        self._whole.add(variable)
        if variable in program.batched and variable in program.stored and self._is_read_in_tiles(variable):
            self._spread(variable)

    def _is_read_in_tiles(self, variable: Variable) -> bool:
        program = self.program
        return program.row_size(variable) is not None and any(
            phase.size is not None
            and any(variable in {program.root(v) for v in program.read(e)} for e in phase.equations)
            for phase in program.phases
        )

    def _spread(self, variable: Variable) -> None:
        """Give an array that was evaluated whole the form that tiles read."""
        program = self.program
        layout, columns, heads = program.layout(variable)
        n, name, whole = program.whole(program.row_size(variable)), program.name(variable), program.whole_name(variable)
        full, flat = {
            Layout.ROWS: (f"items, {n}, {columns}", f"items * {n}, {columns}"),
            Layout.NUMBERS: (f"items, {n}", f"items * {n}, 1"),
            Layout.TOKENS: (f"items, {n}", f"items * {n}"),
            Layout.HEADS: (f"items, {heads}, {n}, {columns}", f"items, {heads}, {n}, {columns}"),
            Layout.HEAD_NUMBERS: (f"items, {heads}, {n}", f"items, {heads}, {n}, 1"),
        }[layout]
        if layout is Layout.HEADS and variable not in program.families:
            full, flat = f"items, {n}, {columns}", f"items, 1, {n}, {columns}"
        self._line(f"{whole} = np.broadcast_to({name}, ({full})).reshape({flat})")

    def _repeated(self, equation: Equation, arrays: dict[Variable, str]) -> None:
        node, program = equation.value, self.program
        block = self.blocks[node.layer]
        target = program.name(equation.variable)
        first, *others = (program.printer.in_family(a, None, arrays) for a in node.arguments)
        named = [f"{each}={program.whole(size)}" for each, size in block.sizes.items()]
        named += [f"{each}={each}" for each in block.scalars] + ["threads=threads"]
        self._line(f"{target} = {first}", f"  # {shape_text(equation.variable.shape)}")
        if block.parameters:
            self._line(f"for weights in {identifier(node.name)}:")
            given = [target, *others, "*weights", *named]
        else:
            self._line(f"for _ in range({program.whole(node.count)}):")
            given = [target, *others, *named]
        self._line(f"    {target} = {block.name}({', '.join(given)})")

    def _standard(self, variable: Variable) -> str:
        """Return the text of an array with its items as an axis in front, name it if it is a view."""
        program = self.program
        equation = program.equation.get(variable)
        if variable in self._whole or variable not in program.batched:
            return program.name(variable)
        if equation is not None and program.is_view(equation):
            self._assigned(equation)
            return program.name(variable)
        whole = program.whole_name(variable)
        size = program.row_size(variable)
        if size is None:
            return whole
        n = program.whole(size)
        layout, columns, _ = program.layout(variable)
        if variable.kind == "boolean" and len(variable.shape) == 2:
            return whole
        match layout:
            case Layout.ROWS:
                return f"{whole}.reshape(items, {n}, {columns})"
            case Layout.NUMBERS | Layout.TOKENS:
                return f"{whole}.reshape(items, {n})"
            case Layout.HEADS:
                return whole if variable in program.families else f"{whole}[:, 0]"
            case _:
                return f"{whole}[..., 0]"

    def _returned(self, variable: Variable) -> str:
        program = self.program
        if variable not in program.batched or variable in program.by_parameters:
            return program.name(variable)
        shape = ", ".join(program.whole(total(along)) for along in variable.shape)
        source = program.name(variable) if variable in self._whole else program.whole_name(variable)
        return f"{source}.reshape(*batch, {shape})" if shape else f"{source}.reshape(batch)"

    # --- a loop over tiles ---

    def _part(self, number: int, phase: Phase, body: Body, visible: tuple[str, str]) -> None:
        program, name = self.program, f"loop_{number}"
        n = program.whole(phase.size)
        for equation in phase.equations:
            if equation.variable in program.stored and not program.is_view(equation):
                shape = self._whole_shape(equation.variable, n)
                self._line(f"{program.whole_name(equation.variable)} = np.empty({shape}, dtype)")
        pieces = assign(body)
        writer = _PartText(program, phase, pieces, visible)
        self.lines.append("")
        self._line(f"def {name}(tiles):")
        self.lines += [f"        {line}" for line in writer.lines(body)]
        self.lines.append("")
        self._line(f"each_tile({name}, items, {n}, threads)")

    def _whole_shape(self, variable: Variable, n: str) -> str:
        layout, columns, heads = self.program.layout(variable)
        if layout in (Layout.HEADS, Layout.HEAD_NUMBERS):
            return f"(items, {heads}, {n}, {columns})"
        return f"(items * {n}, {columns})"

    def _line(self, text: str, comment: str = "") -> None:
        inside = text.startswith(("    ", "def ", "for ", "each_tile"))
        if inside:
            self.lines.append(f"    {text}{comment}")
        else:
            self.lines.append(folded(f"    {text}") + comment)


class _PartText:
    """The text of the body of one loop."""

    def __init__(self, program: Program, phase: Phase, pieces: Pieces, visible: tuple[str, str]):
        self.program, self.phase, self.pieces, self.range = program, phase, pieces, visible
        self.written: set[Register] = set()

    def lines(self, body: Body) -> list[str]:
        """Return the lines, without indentation."""
        inner = self._inner(body)
        text = "\n".join(inner)
        names = {each.id for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)}
        n = self.program.whole(self.phase.size)
        head = []
        loops = [op for op in body if isinstance(op, Loop)]
        tiled = {op.keys for op in loops if op.low}
        keys = sorted(tiled or {op.keys for op in loops})
        most = keys[0] if len(keys) == 1 else f"max({', '.join(keys)})"
        if tiled:
            head.append(f"keys_at_once = tiles.keys({most})")
            most = "keys_at_once"
        for heads in sorted({op.heads for op in loops if not op.low}):
            head.append(f"heads_at_once = tiles.heads({heads}, {most})")
        sizes = [self._size(*size) for size in self.pieces.sizes]
        if sizes:
            taken = ", ".join(f"piece_{number}" for number in range(1, len(sizes) + 1))
            head.append(f"{taken}{',' if len(sizes) == 1 else ''} = tiles.pieces(dtype, {', '.join(sizes)})")
        top = ["g, t = last - first, end - begin"]
        if "count" in names:
            top.append("count = g * t")
        if "rows" in names:
            top.append(f"rows = slice(first * {n} + begin, (last - 1) * {n} + end)")
        if "low" in names or "high" in names:
            low, high = self.range
            top.append(f"low, high = {low}, {high}")
        return [*head, "for first, last, begin, end in tiles:", *(f"    {line}" for line in (*top, *inner))]

    def _size(self, layout: Layout, columns: str, heads: str) -> str:
        rows = "tiles.rows"
        if layout in (Layout.ROWS, Layout.NUMBERS):
            return f"({rows}, {columns})"
        heads = "heads_at_once" if heads == "b - a" else heads
        columns = {"high - low": self.program.whole(self.phase.size), "e - c": "keys_at_once"}.get(columns, columns)
        parts = [part for part in (rows, heads, columns) if part != "1"]
        return f"({' * '.join(part if '+' not in part and '-' not in part else f'({part})' for part in parts)},)"

    def _inner(self, body: Body) -> list[str]:
        lines, depth = list[str](), 0
        for operation in body:
            indent = "    " * depth
            if isinstance(operation, Loop) and operation.low:
                low, high = operation.low, operation.heads
                lines.append(f"{indent}for c in range({low}, {high}, keys_at_once):")
                lines.append(f"{indent}    e = min(c + keys_at_once, {high})")
                depth += 1
            elif isinstance(operation, Loop):
                lines.append(f"{indent}for a in range(0, {operation.heads}, heads_at_once):")
                lines.append(f"{indent}    b = min(a + heads_at_once, {operation.heads})")
                depth += 1
            elif isinstance(operation, LoopEnd):
                depth -= 1
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
                    self.written.add(root)
            self.written.add(target)
            return [*before, f"{target.name} = {operation.text}"]
        names = [r.name for r in operation.operands]
        known = target in self.written or target.given or target.memory is not None
        place = target.name if known else self._place(target)
        if not known and not operation.text.endswith("out={out})"):
            before.append(f"{target.name} = {place}")
            place, known = target.name, True
        self.written.add(target)
        if operation.text == "{out}":  # memory that a loop fills
            return before
        text = _filled(operation.text, names, place)
        return [*before, text if known else f"{target.name} = {text}"]

    def _place(self, register: Register) -> str:
        piece = f"piece_{self.pieces.of[register] + 1}"
        if register.layout in (Layout.ROWS, Layout.NUMBERS):
            return f"{piece}[:count]"
        return f"shaped({piece}, g, {register.heads}, t, {register.columns})"


def _filled(text: str, names: list[str], out: str) -> str:
    for number, name in enumerate(names):
        text = text.replace(f"{{{number}}}", name)
    return text.replace("{out}", out)


def _written(
    layer: Layer, call: Callable[[Any], Call], taken: frozenset[str], without: frozenset[str]
) -> tuple[Program, dict[int, Written]]:
    """Return the program and the operations of its loops; what has no form in a tile is evaluated whole."""
    program: Program | None = None
    for _ in range(2 * len(layer.equations) + 2):
        program = Program(layer, call, taken, without, program)
        bodies: dict[int, Written] = {}
        for number, phase in enumerate(program.phases):
            if phase.size is None:
                continue
            writer = PhaseWriter(program, phase)
            try:
                bodies[number] = writer.write(), writer.visible
            except Unsupported:
                variable = writer.evaluated
                (program.unlooped if writer.in_loop and variable not in program.unlooped else program.apart).add(
                    variable
                )
                break
        else:
            return program, bodies
    raise AssertionError(f"layer {layer.name}: no end of what has no form in a tile")


def _lengths(program: Program) -> dict[Basic, str]:
    """Return how each size is read off the shape of an input or a parameter."""
    given = sorted((*program.layer.inputs, *program.layer.parameters), key=lambda variable: variable.kind == "boolean")
    lengths: dict[Basic, str] = {}
    for variable in given:
        for number, along in enumerate(variable.shape):
            if getattr(along, "is_Symbol", False) and along not in lengths:
                place = number - len(variable.shape)
                lengths[along] = program.printer.doprint(AxisLength(variable, Integer(place)))
    return lengths


def _stacks(node: Any) -> list[Repeat]:
    found = [node] if isinstance(node, Repeat) else []
    for child in node.args:
        if not isinstance(child, Layer):
            found += _stacks(child)
    return found
