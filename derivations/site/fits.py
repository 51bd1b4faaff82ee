"""Whether a model fits on devices, for the calculator: the bytes of `derivations fit` on one device of several.

Definition   a text is served, the weights are as stored, and the devices are tensor parallel ranks; each part of the
             bytes is rounded up by itself, and they fit if their sum is no more than the memory of the device
Result       the parts as expressions in the sizes, for each number of ranks that divides the model
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from derivations.architectures.description import Model
from derivations.costs.fit.hardware import device_named, device_names
from derivations.costs.fit.inference import Serving, usual_length
from derivations.costs.fit.mesh import Mesh, tensor_sizes

__all__ = ["Parts", "devices", "parts_on_ranks"]

RANKS = (1, 2, 4, 8)  # devices that stand in one machine

Parts = tuple[tuple[str, Expr], ...]  # the name of each part, and its bytes before they are rounded up


def devices() -> list[tuple[str, str, int]]:
    """Return the devices: their names, their titles, their bytes."""
    found = map(device_named, device_names())
    return [(device.name, device.title, int(device.memory)) for device in found]


def parts_on_ranks(model: Model) -> Iterator[tuple[int, Parts]]:
    """Yield numbers of ranks, and the parts of the bytes on each of them; none where a plan does not take the model."""
    for ranks in RANKS:
        if ranks in tensor_sizes(model):
            try:
                serving = Serving(model, usual_length(model), mesh=Mesh(tensor=ranks))
                (budget,) = serving.budgets  # ranks of one stage are alike
            except ValueError:  # it reads pictures of one size, or how its weights are stored is not known
                return
            sizes = serving.mesh.values
            yield ranks, tuple((f"fit.{part.name}", part.bytes.xreplace(sizes)) for part in budget.parts)
