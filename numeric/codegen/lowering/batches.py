"""The batch axes of a layer: which inputs determine those of an output, and which gradients sum over them.

Definition   the batch axes of a call are the broadcast of those of all inputs that an equation reads; the batch axes of
             an output are the broadcast of those of the inputs that it depends on; a gradient for an input has the
             batch axes of that input
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Gradient, Layer
from numeric.codegen.lowering.expressions import variables_of

__all__ = ["Batches"]


@dataclass(frozen=True)
class Batches:
    """The batch axes of the inputs and outputs of a layer."""

    layer: Layer

    @cached_property
    def read(self) -> tuple[Variable, ...]:
        """The inputs that an equation reads, or that are outputs themselves."""
        found = set(self.layer.outputs).union(*(variables_of(e.value) for e in self.layer.equations))
        return tuple(v for v in self.layer.inputs if v in found)

    def of_output(self, output: Variable) -> tuple[Variable, ...]:
        """Return the inputs that an output depends on."""
        # backwards: an equation counts once a later one, or the output itself, needs its variable
        needed = {output}
        for equation in reversed(self.layer.equations):
            if equation.variable in needed:
                needed |= variables_of(equation.value)
        return tuple(v for v in self.layer.inputs if v in needed)

    @cached_property
    def by_inputs(self) -> Mapping[Variable, Variable]:
        """Map each output that is the gradient for an input to that input; empty for a layer with a single input."""
        layer = self.layer
        real = [v for v in layer.inputs if v.kind == "real"]
        if not isinstance(layer, Gradient) or len(layer.inputs) < 3:
            return {}
        last = layer.outputs[-1].name
        matches = (v for v in (*real, *layer.parameters) if re.fullmatch(rf"d\d*{re.escape(v.name)}", last))
        prefix = next((last.removesuffix(v.name) for v in matches), None)
        named = {v.name: v for v in layer.outputs}
        return {named[f"{prefix}{v.name}"]: v for v in real if f"{prefix}{v.name}" in named}
