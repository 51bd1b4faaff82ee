"""Arguments computed from other arrays: tables such as cosines of angles, and masks in the form added to scores.

Definition   `Computed(array)` is passed as the array itself, or, where it is `added`, as 0 where the mask shows an
             entry and minus infinity elsewhere; `front` axes of length 1 stand before its own
Result       one value for a symbolic call, and one for a call with numbers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Expr, Integer, Symbol

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Variable
from derivations.language.layers.layer import Equation, Layer
from numeric.codegen.compile import compile_layer
from numeric.lifting import operations
from numeric.lifting.tensor import Tensor, made, tensor
from numeric.lifting.trace import current

__all__ = ["Computed", "concrete", "in_sizes"]

if TYPE_CHECKING:
    from numeric.lifting.door import Door


@dataclass(frozen=True)
class Computed:
    """An argument that is computed from an array of the layer, or from sizes alone."""

    array: Array
    added: bool = False
    front: int = 0
    steps: tuple[Equation, ...] = ()  # that define arrays which it reads

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The arrays from which the argument is computed and which a caller supplies."""
        defined = {step.variable for step in self.steps}
        return tuple(sorted(self.array.atoms(Variable) - defined, key=str))

    def symbolic(self) -> Tensor:
        """Return the symbolic array that a symbolic call gets."""
        value = made(self.array) if isinstance(self.array, Variable) else tensor(self._defined())
        value.is_argument = True
        if self.added:
            value = operations.where(value, Integer(0), -float("inf"))
        if self.front:
            value = operations.inserted(value, list(range(self.front)))
        value.is_argument = True
        return value

    def _defined(self) -> Array:
        """Return the array, with the names that the running trace gives to the arrays of its steps."""
        names: dict[Array, Array] = {}
        for step in self.steps:
            names[step.variable] = current().define(replace_free(step.value, names))
        found: Array = replace_free(self.array, names)
        return found

    def concrete(self, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> Any:
        """Return the array of numbers that a numeric call gets."""
        value = np.asarray(arrays[self.array.name] if isinstance(self.array, Variable) else self._value(sizes))
        if self.added:
            value = np.where(value, 0.0, -np.inf)
        return value.reshape((1,) * self.front + value.shape)

    def _value(self, sizes: Mapping[str, int]) -> Any:
        """Return the numeric value of an array that depends on sizes only."""
        output = Variable("table", self.array.shape, self.array.kind)
        function = compile_layer(Layer("table", (), (), [*self.steps, Equation(output, self.array)], output))
        values = (self.array, *(step.value for step in self.steps))
        needed = {s.name for value in values for s in value.free_symbols if isinstance(s, Symbol)}
        return function(**{name: size for name, size in sizes.items() if name in needed}, check=False)


def concrete(
    value: Any,
    door: Door,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    number: Callable[[Expr], Any] = lambda value: value,
) -> Any:
    """Return an argument with numbers in place of its arrays and scalars, also inside lists and mappings."""
    if isinstance(value, Variable):
        return door.given(arrays[value.name])
    if isinstance(value, Computed):
        return door.given(value.concrete(arrays, sizes))
    if isinstance(value, Expr):
        return number(value)
    if isinstance(value, Mapping):
        return {key: concrete(each, door, arrays, sizes, number) for key, each in value.items()}
    if isinstance(value, list):
        return [concrete(each, door, arrays, sizes, number) for each in value]
    return value


def in_sizes(value: Any, sizes: Mapping[Symbol, Expr]) -> Any:
    """Return an argument with some sizes replaced by others."""
    if isinstance(value, Computed):
        put = dict(sizes)
        steps = tuple(step.xreplace(put) for step in value.steps)
        return replace(value, array=value.array.xreplace(put), steps=steps)
    return [in_sizes(each, sizes) for each in value] if isinstance(value, list) else value
