"""Where a function departs from a layer: the first array of the layer that it does not compute, and the line.

Definition   an array of the layer is met if a step of the function has its numbers in one run, in some order of axes;
             what a met array reads need not be met
Result       a hint beside a refutation, which stands without it
"""

from __future__ import annotations

from collections.abc import Mapping

from derivations.language.arrays.expression import Array, Variable
from derivations.language.layers.names import variables_in
from numeric.lifting.differential import all_values, assignments, draw
from numeric.lifting.lift import Lifted
from numeric.lifting.pairing import numbers_of_parts, paired_numbers
from numeric.lifting.reading.binding import Binding

__all__ = ["first_difference"]

_SHORT = 6  # equations of a layer in which nobody needs to be told where


def first_difference(lifted: Lifted, binding: Binding, scalars: Mapping[str, float]) -> str:
    """Return a text that names the first array of the layer that the function does not compute, and the line.

    The text is empty for a short layer, and where nothing is found.
    """
    theirs = binding.layer.equations
    if len(theirs) <= _SHORT:
        return ""
    try:
        run = draw(lifted, next(assignments(lifted, general=True)))
        mine = all_values(lifted.layer, run, scalars)
        other = all_values(binding.whole(theirs), run, scalars, binding.batch_values(run))
    except Exception:  # a hint only
        return ""
    met: dict[Variable, Variable] = {}  # arrays of the function, with those of the layer
    own = [equation.variable for equation in lifted.layer.equations]
    for equation in theirs:
        variable = equation.variable
        numbers, batch = numbers_of_parts(variable, other[variable.name], run)
        same = [v for v in own if v.kind == variable.kind and paired_numbers(mine[v.name], numbers, batch)]
        met |= dict.fromkeys(same, variable)
    settled: set[Array] = set(met.values())
    for equation in reversed(theirs):
        if equation.variable in settled:
            settled |= set(variables_in(equation.value))
    defined = {equation.variable for equation in theirs}
    first = [
        e
        for e in theirs
        if e.variable not in settled and any(variables_in(e.value)) and set(variables_in(e.value)) & defined <= settled
    ]
    if not first:
        return ""
    missing = first[-1]  # those before it may be steps that the function takes inside of others
    line = _line_after(lifted, met, set(variables_in(missing.value)) & set(met.values()))
    return f"it does not compute {missing.variable.name} of {binding.layer.name}{line and f': {line}'}"


def _line_after(lifted: Lifted, met: Mapping[Variable, Variable], wanted: set[Array]) -> str:
    """Return the line of the last step that depends on wanted arrays only and matches no array of the layer itself."""
    behind: dict[Array, set[Array]] = {}
    found = ""
    for equation in lifted.layer.equations:
        variable = equation.variable
        if variable in met:
            behind[variable] = {met[variable]}
            continue
        behind[variable] = set().union(*(behind.get(each, set()) for each in variables_in(equation.value)))
        if wanted and behind[variable] and behind[variable] <= wanted:
            found = lifted.lines.get(variable, "") or found
    return found
