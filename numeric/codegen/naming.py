"""The names of the functions of a plan, and of the variables, sizes and scalars in each."""

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Basic

from numeric.codegen.formula_printer import CompileError
from numeric.codegen.plan import Plan, Unit
from numeric.runtime.structure import identifier

__all__ = ["Names", "named"]


@dataclass(frozen=True)
class Names:
    """The Python name of every function, and of every variable, size and scalar in it."""

    functions: Mapping[Unit, str]
    local: Mapping[Unit, Mapping[Basic, str]]


def named(plan: Plan) -> Names:
    """Return names such that no local name hides a function that is called in its scope.

    Raises       CompileError where two arguments have the same name
    """
    local = {unit: _local_names(unit) for unit in plan.units}
    return Names(_function_names(plan, local), local)


def _local_names(unit: Unit) -> dict[Basic, str]:
    """Return the Python names of a layer's variables, sizes and scalars; arguments keep theirs.

    Raises       CompileError where two arguments have the same name
    """
    layer = unit.layer
    public = (*unit.inputs, *layer.parameters, *layer.scalars)
    names: dict[Basic, str] = {each: identifier(each.name) for each in public}
    taken = [*names.values(), *unit.tree.parts]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise CompileError(f"layer {layer.name}: two arguments are called {twice[0]}; rename one of them")
    for each in dict.fromkeys((*layer.sizes, *layer.inputs, *(e.variable for e in layer.equations))):
        if each in names:
            continue
        name = identifier(each.name)
        while name in taken:
            name += "_"
        names[each] = name
        taken.append(name)
    return names


def _function_names(plan: Plan, local: Mapping[Unit, Mapping[Basic, str]]) -> dict[Unit, str]:
    """Return the function name of every layer: the layer's name, changed where another function or a local has it."""
    # a local variable with the name of a called function would hide that function
    shadowed: dict[Unit, set[str]] = {unit: set() for unit in plan.units}
    for caller in plan.units:
        for callee in plan.callees(caller):
            shadowed[callee] |= {*local[caller].values(), *caller.tree.parts}
    functions: dict[Unit, str] = {}
    for unit in reversed(plan.units):  # the requested layer comes first, so that it keeps its own name
        base = identifier(unit.layer.name)
        base = f"apply_{base}" if base in shadowed[unit] else base
        name, number = base, 1
        while name in functions.values() or name in shadowed[unit]:
            number += 1
            name = f"{base}_{number}"
        functions[unit] = name
    return functions
