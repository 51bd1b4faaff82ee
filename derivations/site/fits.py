"""Whether a model fits on devices, for the calculator: the bytes that `derivations fit` counts on each device.

Definition   a text is served, or a step of training is done by the defaults of `derivations fit --train`; the devices
             are tensor parallel ranks. The bytes of a number are letters, so that one plan holds for every type; where
             matrices are packed, the plan for weights as they are stored is another. Each part of the bytes is rounded
             up by itself, and they fit if their sum is no more than the memory of the device
Result       the parts as expressions in the sizes, for each number of ranks that divides the model, or why there is no
             plan
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sympy import Add, Expr, Integer

from derivations.architectures.description import Model
from derivations.architectures.storage import BYTES
from derivations.costs.fit.budget import Part
from derivations.costs.fit.hardware import device_named, device_names
from derivations.costs.fit.inference import Serving, usual_length
from derivations.costs.fit.mesh import Mesh, tensor_sizes
from derivations.costs.fit.precision import stored_as
from derivations.costs.fit.training import MICRO_BATCHES, Training
from derivations.site.letters import COPY, NUMBER, WORKING

__all__ = ["RANKS", "Parts", "devices", "plans"]

RANKS = (1, 2, 4, 8)  # devices that stand in one machine
READ_AT = "bfloat16"  # a plan for this type is read, and the letters are put in the place of its bytes
WIDTHS: Mapping[str, Mapping[str, Expr]] = {  # of the parts whose numbers have the chosen type; others have their own
    "serving": {"weights": NUMBER, "tower": NUMBER, "cache": WORKING, "activations": WORKING},
    "training": {"weights": NUMBER, "float32 copy": COPY},
}
BYTES_OF_COPY = BYTES["float32"]

Parts: TypeAlias = tuple[tuple[str, Expr], ...]  # the name of each part, and its bytes before they are rounded up


def devices() -> list[tuple[str, str, int]]:
    """Return the devices: their names, their titles, their bytes."""
    found = map(device_named, device_names())
    return [(device.name, device.title, int(device.memory)) for device in found]


def plans(model: Model, as_stored: bool) -> Iterator[tuple[str, int, Parts | str]]:
    """Yield each purpose and number of ranks, with the parts of the bytes on a rank, or why there is no plan.

    Definition   the weights are as stored, or have the type whose bytes are `NUMBER`
    """
    read = model if as_stored else stored_as(model, READ_AT)
    for purpose, widths in WIDTHS.items():
        for ranks in filter(tensor_sizes(model).__contains__, RANKS):
            try:
                mesh = Mesh(tensor=ranks)
                plan = (
                    Serving(read, usual_length(read), mesh=mesh)
                    if purpose == "serving"
                    else Training(read, usual_length(read), mesh=mesh)
                )
                (budget,) = plan.budgets  # ranks of one stage are alike
            except ValueError as reason:  # packed weights are not trained, say
                yield purpose, ranks, str(reason)
                continue
            sizes = {**mesh.values, MICRO_BATCHES: Integer(1)}
            typed = {} if as_stored else widths
            yield (
                purpose,
                ranks,
                tuple((f"fit.{part.name}", _in_letters(part, typed).xreplace(sizes)) for part in budget.parts),
            )


def _in_letters(part: Part, widths: Mapping[str, Expr]) -> Expr:
    """Return the bytes of a part, with a letter for the number of bytes of one number."""
    width = widths.get(part.name)
    if width is None:
        return part.bytes
    bytes_read = BYTES_OF_COPY if width == COPY else BYTES[READ_AT]
    return Add(*(term * width / bytes_read for term in Add.make_args(part.bytes)))
