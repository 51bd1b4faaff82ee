"""Types of stored numbers by name: one type for all, or packed matrices with scales for groups.

Definition   stored and computed types are apart: a packed matrix is read as stored and multiplied in the computed type.
             `int4` and the others are layouts of `derivations.architectures.storage` with their usual groups, applied
             to the matrices of all layers, or of the experts; embeddings, norms and the head keep the base type
Units        bytes
Source       the layouts of `storage.METHODS`; MXFP4: Rouhani et al. (2023), Open Compute Project, blocks of 32
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sympy import Symbol

from derivations.architectures.description import Experts, Model
from derivations.architectures.storage import BYTES, METHODS, Storage, Where, b, g, p
from derivations.costs.fit.mesh import blocks_of
from derivations.costs.stored_bytes import base_dtype

__all__ = ["BYTES", "WEIGHTS", "computed_type", "stored_as"]


@dataclass(frozen=True)
class Packing:
    """A method of `storage.METHODS`, the values of its symbols, and what it is called in words."""

    words: str
    method: str
    numbers: Mapping[Symbol, int]
    layout: int = 0
    computed: str = ""  # the type that products are computed in, where it is not the base type
    packs: Where | None = None


WEIGHTS: Mapping[str, Packing] = {
    "int4": Packing("4 bits, a scale and a zero for 128 inputs, as GPTQ stores them", "gptq", {b: 4, g: 128}),
    "int4-g32": Packing("4 bits, a scale and a zero for 32 inputs, as GPTQ stores them", "gptq", {b: 4, g: 32}),
    "int3": Packing("3 bits, a scale and a zero for 128 inputs, as GPTQ stores them", "gptq", {b: 3, g: 128}),
    "awq": Packing("4 bits, a scale and a zero for 128 inputs, as AWQ stores them", "awq", {b: 4, g: 128}),
    "nf4": Packing("4 bits, two levels of scales, as QLoRA stores them", "bitsandbytes", {}, 1),
    "int8-rows": Packing("8 bits, a scale for each output", "bitsandbytes", {}, 0, "int8"),
    "fp8-blocks": Packing("8 bits, a scale for 128 by 128", "fp8", {p: 128, g: 128}, 3, "float8"),
    "fp8-rows": Packing("8 bits, a scale for each output", "fbgemm_fp8", {}, 0, "float8"),
    "mxfp4": Packing("4 bits, a scale for 32 inputs", "mxfp4", {}, 0),
}


def stored_as(model: Model, name: str | None) -> Model:
    """Return a model whose weights are stored as a type or packing of the given name; None leaves them as they are.

    Definition   MXFP4 packs the experts of a model that has some, else all matrices of the layers
    Raises       ValueError for an unknown name
    """
    if name is None:
        return model
    base = base_dtype(model)
    if name in BYTES:
        return replace(model, storage=Storage(name))
    packing = WEIGHTS.get(name)
    if packing is None:
        raise ValueError(f"the type of weights {name!r} is unknown; choose {', '.join((*BYTES, *WEIGHTS))}")
    method = METHODS[packing.method]
    has_experts = any(isinstance(block.feed_forward, Experts) for block in blocks_of(model))
    packs: Where = "layers" if method.packs == "experts" and not has_experts else method.packs
    storage = Storage(
        dtype=base if base not in ("float8", "int8") else "bfloat16",
        method=packing.method,
        layout=method.layouts[packing.layout],
        packs=packs,
        numbers=packing.numbers,
        left_out=("lm_head",),
    )
    return replace(model, storage=storage)


def computed_type(model: Model, name: str | None) -> str:
    """Return the type of the products: that of the packing if it has one, else the base type."""
    packing = WEIGHTS.get(name or "")
    return (packing.computed if packing else "") or base_dtype(model)
