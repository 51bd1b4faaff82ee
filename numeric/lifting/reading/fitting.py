"""A layer with as many inputs as a module takes, and what each parameter of the module gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Equation, Layer
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import Binding, parameters_of
from numeric.lifting.reading.fewer_inputs import needed_arrays, with_fewer_inputs
from numeric.lifting.reading.module_inputs import Given, inputs_by_name, masks_without_use, tables_by_name

__all__ = ["Fitting", "fittings"]


@dataclass(frozen=True)
class Fitting:
    """A layer with as many inputs as a module takes."""

    layer: Layer
    equations: Callable[[Binding], tuple[Equation, ...]]  # how the inputs that the module lacks follow
    readings: tuple[str, ...]
    inputs: list[Variable]
    needed: list[str]  # the module's names of these
    constants: dict[str, Any]  # what is passed as it is
    batch: int
    given: Mapping[str, Given]  # parameters that get an input in another form

    def argument(self, name: str, variable: Variable) -> Any:
        """Return the argument for a parameter that receives the given input of the layer."""
        return self.given[name].value(variable, self.batch) if name in self.given else variable


def fittings(module: Any, layer: Layer, shapes: Mapping[str, Any], batch: int) -> list[Fitting]:
    """Return the ways to give a module the inputs of a layer: by the names of its parameters, then in order."""
    parameters = parameters_of(door_of(module).called(module))
    constants = {
        name: value for name, value in shapes.items() if value is None or isinstance(value, bool | str | float)
    }
    free = [p for p in parameters if p.name not in shapes]
    found: list[Fitting] = []
    for tables, told in tables_by_name(layer, free, batch, module.modules()):
        unused = masks_without_use([p for p in free if p.name not in tables], layer.inputs)
        readings = (*told, *(f"{name} as None" for name in unused))
        found += _given_inputs(layer, parameters, shapes, {**constants, **tables, **unused}, readings, batch)
    return found


def _given_inputs(
    layer: Layer,
    parameters: Sequence[Parameter],
    shapes: Mapping[str, Any],
    constants: dict[str, Any],
    told: tuple[str, ...],
    batch: int,
) -> Iterator[Fitting]:
    """Yield the ways to pass the inputs of a layer to a module, in addition to its constant arguments."""
    needed = [p.name for p in parameters if (p.default is p.empty or p.name in shapes) and p.name not in constants]
    left = layer.inputs[len(needed) :]
    optional = [p.name for p in parameters if p.name not in needed and p.default is not p.empty]
    for named in inputs_by_name(left, optional):
        if len(named) == len(left):
            inputs = [*layer.inputs[: len(needed)], *(variable for variable, _ in named.values())]
            forms = {name: given for name, (_, given) in named.items() if given}
            readings = [given.told(named[name][0].name, name) for name, given in forms.items()]
            readings = [*filter(None, readings), *told]
            names = [*needed, *named]
            yield Fitting(layer, lambda _: (), tuple(readings), inputs, names, constants, batch, forms)
    own_mask = len(needed) < len(layer.inputs) and any(v.kind == "boolean" for v in layer.inputs)
    single = len(needed) < sum(not (own_mask and v.kind == "boolean") for v in layer.inputs)
    changed, equations, readings_ = with_fewer_inputs(layer, own_mask, single)
    if changed is not None:
        inputs = [v for v in needed_arrays(changed, readings_) if v in changed.inputs]
        if len(inputs) == len(needed):
            yield Fitting(changed, equations, (*readings_, *told), inputs, needed, constants, batch, {})
