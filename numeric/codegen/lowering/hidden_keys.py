"""Hidden keys: which arrays have columns for the visible keys of a tile only, and how hidden scores become -inf.

Definition   a mask of positions determines which keys the queries of a tile see. Where all scores of a loop have one
             such mask, the scores, and all arrays computed from them entry by entry, exist for those keys only
"""

from __future__ import annotations

from derivations.language.arrays.exponentials import RowExponentials
from derivations.language.arrays.expression import Array, Product, Variable
from derivations.language.arrays.functions import RowSoftmax, RowSum
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import subexpressions
from numeric.codegen.lowering.expressions import named, variables_of
from numeric.codegen.lowering.key_tiles import is_entrywise
from numeric.codegen.lowering.locality import Phase
from numeric.codegen.lowering.loop_schedule import LoopSchedule, Unsupported
from numeric.codegen.lowering.masks import PositionMask
from numeric.codegen.lowering.operands import as_heads, like
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.lowering.writer import TileWriter

__all__ = ["copied_if_read_later", "hidden", "mask_of", "visible_range"]

NOTHING: tuple[None, frozenset[Variable]] = None, frozenset()


def mask_of(node: RowSoftmax | RowExponentials) -> Array | None:
    """Return the mask of a softmax or of exponentials, if they have one."""
    if isinstance(node, RowExponentials):
        return node.mask
    return node.args[1] if len(node.args) == 2 else None


# --- which arrays have columns for visible keys alone ---------------------------------------------------------------


def visible_range(schedule: LoopSchedule, phase: Phase) -> tuple[PositionMask | None, frozenset[Variable]]:
    """Return the mask of positions that all scores of a phase share, and the arrays whose columns it cuts."""
    found: set[PositionMask | None] = set()
    cut: set[Variable] = set()
    for equation in phase.equations:
        variable = equation.variable
        if schedule.layout(variable)[0] is Layout.HEADS and variable.shape[-1] == phase.size:
            # an array that outlives the tile must have all of its columns
            if variable in schedule.stored:
                return NOTHING
            cut.add(variable)
        for node in subexpressions(equation.value):
            if isinstance(node, RowSoftmax | RowExponentials) and node.shape[-1] == phase.size:
                found.add(PositionMask.of(mask_of(node), phase.size))
    # two masks would need two ranges of keys
    if len(found) != 1 or not all(_keeps_to_keys(schedule, phase, e, cut) for e in phase.equations):
        return NOTHING
    mask = found.pop()
    return (mask, frozenset(cut)) if mask is not None else NOTHING


def _keeps_to_keys(schedule: LoopSchedule, phase: Phase, equation: Equation, cut: set[Variable]) -> bool:
    """Return whether an equation gives the same result when the hidden columns of the cut arrays are missing."""
    value = equation.value
    if not cut & schedule.read(equation):
        return True
    if equation.variable in cut:
        return isinstance(value, RowSoftmax | RowExponentials) or is_entrywise(value, cut)
    if isinstance(value, RowSum):
        return _is_masked(phase, named(value.args[0]), cut)
    if isinstance(value, Product):
        right = {schedule.root(v) for v in variables_of(value.args[1])}
        return _is_masked(phase, named(value.args[0]), cut) and not right & cut
    return False


def _is_masked(phase: Phase, variable: Variable | None, cut: set[Variable]) -> bool:
    """Return whether the columns of hidden keys of a cut array are zeros."""
    values = (e.value for e in phase.equations if e.variable == variable)
    return variable in cut and any(isinstance(value, RowSoftmax | RowExponentials) for value in values)


# --- hidden scores --------------------------------------------------------------------------------------------------


def hidden(writer: TileWriter, scores: Register, mask: Array, target: Register | None) -> Register:
    """Write -inf where a key is hidden, in place unless another operation reads the scores."""
    position = PositionMask.of(mask, writer.phase.size)
    scores = as_heads(writer, scores) if position else scores
    text, columns = _of_positions(writer, position) if position else (_of_mask(writer, mask, scores), "")
    where = writer.bind(Register(writer.schedule.fresh("hidden"), Layout.FIXED, given=True), text)
    copied = copied_if_read_later(writer, scores, target)
    place = f"{{out}}[..., {columns}]" if columns else "{out}"
    return writer.emit(f"np.copyto({place}, -np.inf, where={where.name})", (copied,), copied)


def _of_positions(writer: TileWriter, mask: PositionMask) -> tuple[str, str]:
    """Return the text of a mask of the keys hidden by position, and the text of the score columns that it covers."""
    schedule = writer.schedule
    # keys before the first query of the tile are visible to all of its queries
    if writer.tiled_keys is not None and mask.looks_back:
        return mask.hidden(schedule, "max(c, begin)", "e"), "max(begin - c, 0):"
    if writer.tiled_keys is not None:
        return mask.hidden(schedule, "c", "e"), ""
    if writer.ranged:
        return mask.hidden(schedule), mask.columns
    return mask.hidden(schedule, "0", schedule.whole(mask.node.sides[1])), ""


def _of_mask(writer: TileWriter, mask: Array, scores: Register) -> str:
    """Return the text of a mask of the keys that a given mask hides."""
    variable = named(mask)
    if variable is None:
        raise Unsupported(mask)
    while variable in writer.schedule.equation and isinstance(writer.schedule.equation[variable].value, Variable):
        variable = writer.schedule.equation[variable].value  # another name of a mask
    whole, keys = writer.schedule.whole_name(variable), writer.key_slice(variable.shape[-1])
    columns = keys and f", {keys}"
    text = f"~{whole}[begin:end{columns}]"
    if variable in writer.schedule.batched:
        text = f"~{whole}{writer.schedule.mask_rows(variable, columns)}"
    if scores.layout is Layout.ROWS:
        return f"np.broadcast_to({text}, (g, 1, t, {scores.columns})).reshape(count, {scores.columns})"
    return text


def copied_if_read_later(writer: TileWriter, scores: Register, target: Register | None) -> Register:
    """Return the scores if they belong to the tile and no operation reads them later, else a copy."""
    if not scores.root.given and (scores.of is None or not writer.schedule.read_twice(scores.of)):
        return scores
    return writer.emit("np.copyto({out}, {0})", (scores,), like(writer, scores, target))
