"""Write the operations of one loop over rows, equation by equation; equations over heads use blocks of heads.

Result       the scores of all keys exist for the heads of one block only; where they are read as exponentials and by
             no other equation, for one tile of keys only
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from derivations.language.arrays.shapes import Axis, total
from derivations.language.layers.layer import Equation, Layer
from numeric.codegen.lowering.choices import Choice
from numeric.codegen.lowering.expressions import members_of
from numeric.codegen.lowering.hidden_keys import copied_if_read_later, hidden, visible_range
from numeric.codegen.lowering.key_tiles import KeyTiles
from numeric.codegen.lowering.locality import Phase
from numeric.codegen.lowering.loop_schedule import LoopSchedule, Unsupported
from numeric.codegen.lowering.operands import moved, numbers, of_keys_at_hand
from numeric.codegen.lowering.products import all_rows, bind_all_rows
from numeric.codegen.lowering.registers import Body, Layout, Loop, Operation
from numeric.codegen.lowering.row_functions import power_of
from numeric.codegen.lowering.rules import RULES
from numeric.codegen.lowering.views import heads_of_view
from numeric.codegen.lowering.writer import TileWriter
from numeric.codegen.printer import Call

__all__ = ["Written", "written"]

Written = tuple[Body, tuple[str, str]]  # the operations of a loop, and the range of keys that its queries see


def written(
    layer: Layer, call: Callable[[Any], Call], taken: frozenset[str], without: frozenset[str]
) -> tuple[LoopSchedule, dict[int, Written]]:
    """Return the loop schedule of a layer and, by phase number, the operations and the visible keys of each loop.

    An equation that cannot be written in a loop over heads is tried without one, then evaluated outside of all loops.
    """
    schedule: LoopSchedule | None = None
    # each failed attempt takes one equation out of the loops over heads, or out of all loops: at most two for each
    for _ in range(2 * len(layer.equations) + 2):
        schedule = LoopSchedule(layer, call, taken, without, schedule)
        bodies: dict[int, Written] = {}
        for number, phase in enumerate(schedule.phases):
            if phase.size is None:
                continue
            writer = _writer(schedule, phase)
            try:
                _write(writer)
            except Unsupported:
                again = writer.in_loop and writer.evaluated not in schedule.unlooped
                (schedule.unlooped if again else schedule.apart).add(writer.evaluated)
                break
            visible = writer.mask.range(schedule) if writer.mask is not None else ("0", schedule.name(phase.size))
            bodies[number] = writer.body, visible
        else:
            return schedule, bodies
    raise AssertionError(f"layer {layer.name}: no end of what has no form in a tile")


def _writer(schedule: LoopSchedule, phase: Phase) -> TileWriter:
    """Return the writer of one loop over tiles. By default it skips the keys that no query of a tile sees."""
    if "hidden_keys" in schedule.without:
        return TileWriter(schedule, phase, RULES)
    return TileWriter(schedule, phase, RULES, *visible_range(schedule, phase))


def _write(writer: TileWriter) -> None:
    """Write the operations of all equations of the phase."""
    if writer.mask is not None:
        cut = ", ".join(sorted(v.name for v in writer.ranged))
        where = f"{cut} for the keys that a tile sees"
        writer.schedule.choices.append(Choice("hidden_keys", writer.mask.theorem, where))
    for equations in _runs(writer):
        if _wants_loop(writer, equations):
            _heads(writer, equations)
        else:
            for equation in equations:
                _equation(writer, equation)


def _equation(writer: TileWriter, equation: Equation) -> None:
    """Write one equation; its text becomes the comment of the first operation."""
    variable = writer.evaluated = equation.variable
    writer.family = equation.over
    start = len(writer.body)
    register = writer.value(equation.value, writer.target(variable))
    target = writer.target(variable)
    if register is not target:
        register = moved(writer, register, target)
    whole = writer.targets[variable]
    writer.at[variable] = whole if target is not whole else register  # of all heads, where a loop wrote some of them
    first = next((op for op in writer.body[start:] if isinstance(op, Operation)), None)
    if first is not None:
        text = str(equation.value)
        shown = text if len(text) < 80 else f"{text[:77]}..."
        first.comment = first.comment or f"{variable.name} = {shown}"
    writer.family = None


# --- equations about heads ------------------------------------------------------------------------------------------


def _runs(writer: TileWriter) -> Iterator[list[Equation]]:
    """Yield runs of consecutive equations that one loop over heads may evaluate; any other equation is a run of one."""

    def kind(equation: Equation) -> tuple[Axis | None, bool]:
        return members_of(equation), equation.variable in writer.schedule.unlooped

    run: list[Equation] = []
    for equation in writer.phase.equations:
        if writer.schedule.is_view(equation):
            continue
        if run and not (equation.over and kind(equation) == kind(run[0])):
            yield run
            run = []
        run.append(equation)
    if run:
        yield run


def _wants_loop(writer: TileWriter, run: list[Equation]) -> bool:
    """Return whether a run has scores of all keys, and its heads can be cut into blocks."""
    return bool(run[0].over and _scores(writer, run)) and run[0].variable not in writer.schedule.unlooped


def _scores(writer: TileWriter, run: list[Equation]) -> list[Equation]:
    return [e for e in run if len(e.variable.shape) == 3 and e.variable.shape[2] in writer.schedule.positions]


def _heads(writer: TileWriter, run: list[Equation]) -> None:
    """Write a loop over blocks of heads."""
    schedule = writer.schedule
    for equation in run:
        writer.evaluated = equation.variable
        _name_operands(writer, equation, run)
        _name_target(writer, equation, run)
    keys = _scores(writer, run)[0].variable.shape[2]
    writer.begin(Loop(schedule.whole(members_of(run[0])), schedule.whole(keys)))
    writer.in_loop = True
    tiles = None if "key_tiles" in schedule.without else KeyTiles.of(schedule, run)
    for equation in run:
        if tiles is None or equation not in tiles.equations:
            _equation(writer, equation)
        elif equation is next(e for e in reversed(run) if e in tiles.equations):
            _key_tiles(writer, tiles)
    writer.in_loop = False
    writer.end()


def _name_operands(writer: TileWriter, equation: Equation, run: list[Equation]) -> None:
    """Name the operands that exist before the loop: arrays of the tile, columns of them, all rows of its items."""
    schedule, own = writer.schedule, {e.variable for e in run}
    for variable in sorted(schedule.read(equation) - own, key=lambda v: v.name):
        read = schedule.equation.get(variable)
        if variable in writer.phase.across[equation.variable]:
            bind_all_rows(writer, variable)
        elif read is not None and schedule.is_view(read):
            heads_of_view(writer, variable, read)
        elif variable.kind != "boolean":
            writer.variable(variable)


def _name_target(writer: TileWriter, equation: Equation, run: list[Equation]) -> None:
    """Give a target that outlives the loop its memory before the loop begins."""
    schedule, variable = writer.schedule, equation.variable
    together = schedule.concatenated.get(variable)
    if variable in schedule.stored:
        writer.targets[variable] = writer.stored(variable)
    elif together is not None and any(e.variable == together for e in writer.phase.equations):
        wide = writer.stored(together) if together in schedule.stored else writer.own(together)
        writer.targets[together] = wide
        heads, columns = schedule.whole(variable.shape[0]), schedule.whole(total(variable.shape[-1]))
        form = {"layout": Layout.HEADS, "columns": columns, "heads": heads, "of": variable}
        text = f".reshape(g, t, {heads}, {columns}).swapaxes(1, 2)"
        writer.targets[variable] = writer.view(wide, schedule.name(variable), text=text, **form)
    elif any(variable in schedule.read(e) for e in writer.phase.equations if e not in run):
        writer.targets[variable] = writer.own(variable)


# --- tiles of keys --------------------------------------------------------------------------------------------------


def _key_tiles(writer: TileWriter, tiles: KeyTiles) -> None:
    """Write the loop over tiles of keys, which updates the sums and the mixture of values from tile to tile."""
    schedule, powers = writer.schedule, tiles.powers.value
    writer.evaluated = tiles.powers.variable
    writer.family = tiles.powers.over
    where = f"{tiles.sums.variable.name} and {tiles.mixture.variable.name}, tile by tile of {tiles.keys} keys"
    schedule.choices.append(Choice("key_tiles", "attention.tile_step", where))
    sums, mixture = writer.target(tiles.sums.variable), writer.target(tiles.mixture.variable)
    reference = numbers(writer, mixture)
    is_ranged = writer.ranged and tiles.keys == writer.phase.size
    low, high = ("low", "high") if is_ranged else ("0", schedule.whole(tiles.keys))
    sees_keys = tiles.keys == writer.phase.size  # self-attention has a key for each row; other keys may number 0
    writer.emit("{out}", (), reference)  # memory for the running reference
    for register in (sums, mixture):
        writer.emit("{out}" if sees_keys else "{out}.fill(0)", (), register)
    writer.begin(Loop(high, schedule.whole(tiles.keys), low))
    writer.tiled_keys, writer.cut = tiles.keys, frozenset(e.variable for e in (*tiles.scores, tiles.powers))
    for equation in tiles.scores:
        _equation(writer, equation)
    writer.family = tiles.powers.over
    scores = of_keys_at_hand(writer, writer.value(powers.args[0]), powers.args[0].shape[-1])
    if powers.mask is not None:
        scores = hidden(writer, scores, powers.mask, None)
    scores = copied_if_read_later(writer, scores, None)
    values = all_rows(writer, tiles.mixture.value.args[1])
    text = f"online_step({{0}}, {values}, {{1}}, {{2}}, {{out}}, {power_of(powers.base)}, c == {low})"
    writer.emit(text, (scores, reference, sums), mixture)
    writer.tiled_keys, writer.cut, writer.family = None, frozenset(), None
    writer.end()
    writer.at[tiles.sums.variable], writer.at[tiles.mixture.variable] = sums, mixture
