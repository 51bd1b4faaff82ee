"""Check the gradients for outputs that the gradient of a layer takes: they need the batch axes of those outputs."""

import re

import numpy as np

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Gradient
from numeric.runtime.checks.given import Given

__all__ = ["check_cotangents"]


def check_cotangents(given: Given, layer: Gradient) -> None:
    """Check that the gradient for an output has the batch axes of the output; otherwise sums over the batch are wrong.

    Raises       InputError
    """
    batches = {v: value.shape[: value.ndim - len(v.shape)] for _, v, value, is_input in given.arrays if is_input}
    cotangents = _cotangents(layer)
    # the output has the batch axes of all inputs together
    whole = np.broadcast_shapes(*(batch for variable, batch in batches.items() if variable not in cotangents))
    for name, variable, value, _ in given.arrays:
        if variable not in cotangents:
            continue
        of = cotangents[variable]
        wanted = whole if of is None else batches.get(of, ())
        if batches[variable] != wanted:
            raise given.refuse(
                f"{name} has shape {value.shape}, its batch axes must be {wanted}, those of the output: "
                f"give one gradient for each item (np.broadcast_to)"
            )


def _cotangents(layer: Gradient) -> dict[Variable, Variable | None]:
    """Return the cotangents that a gradient layer takes, each with the array whose gradient the output is, or None.

    Result       {dY: None} for a first gradient; {d2dX: X, d2dW: W, dY: None}
                 for the gradient of that gradient
    """
    real = [variable for variable in layer.inputs if variable.kind == "real"]
    count = len(layer.outputs) - len(layer.parameters)
    by = (*real[:count], *layer.parameters)
    prefix = layer.outputs[0].name.removesuffix(by[0].name) if by else ""
    found: dict[Variable, Variable | None] = {}
    for variable in real[count:]:
        output = variable.name.removeprefix(prefix)
        found[variable] = next((x for x in by if re.fullmatch(rf"d\d*{re.escape(x.name)}", output)), None)
    if any(found.values()):
        found |= {x: None for x in real[:count] if x not in found.values()}
    return found
