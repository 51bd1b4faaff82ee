"""The bytes of the weights of a model as stored: each module by the layout of its tensors.

Definition   a module is one stored matrix: weights that a family of checkpoints stores side by side are one module. It
             is packed if the layout packs it and no excluded name matches it; other weights have the base type
Units        bytes
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from sympy import Expr, Integer, expand

from derivations.architectures.checkpoints.family import Family, Stored
from derivations.architectures.composition import build
from derivations.architectures.description import Model
from derivations.architectures.kinds import by_kind
from derivations.architectures.storage import BYTES, Storage
from derivations.costs.weight_groups import MOST_LAYERS, Group, weight_groups
from derivations.language.arrays.expression import Shape
from derivations.language.arrays.shapes import total
from derivations.language.counting.costs import weight_shapes
from derivations.language.counting.operations import entries

__all__ = ["Shares", "base_dtype", "divided", "is_of_experts", "is_route", "matrix_sides", "stored_bytes"]

Shares: TypeAlias = Mapping[Expr, Expr]  # what replaces a size that is divided over devices
NOTHING: Shares = {}

ROUTES = ("W_router", "W_shared_gate")  # never packed
HEADS = ("W_head", "classifier.W", "next_sentence.W")
OUTSIDE = ("model.", "language_model.model.", "model.language_model.", "")  # possible prefixes of a module's name


def base_dtype(model: Model) -> str:
    """Return the type of the numbers that are not packed; bfloat16 if the configuration gives none."""
    return model.storage.dtype or "bfloat16"


def stored_bytes(model: Model, groups: Iterable[Group] | None = None, shares: Shares = NOTHING) -> Expr:
    """Return the bytes of the weights as they are stored: of all of them, or of some `groups`.

    Definition   `shares` replaces sizes that are divided over devices; routers are on every device
    Assumes      the layers of the model are in order, because excluded names may contain the number of a layer
    Raises       ValueError, one sentence with the reason, if it is not known how they are stored
    """
    # the bytes are a sum over the layers in any order, so equal layers are counted together
    storage, together = model.storage, by_kind(model)
    if storage.refused:
        raise ValueError(storage.refused)
    base = BYTES[base_dtype(model)]
    if storage.layout is None and groups is None:
        return base * sum((n * entries(s) for s, n in weight_shapes(build(together.architecture)).values()), Integer(0))
    groups = tuple(weight_groups(model, together) if groups is None else groups)
    if storage.layout is None:
        return expand(base * sum(_entries(groups, shares), Integer(0)))
    family = model.names
    if family is None or any(_has_axes(family, weight) for group in groups for weight in group.weights):
        raise ValueError("the names of its tensors, or their axes, are not known here, so not which are packed")
    result = Integer(0)
    for module in _modules(groups, family, shares):
        # unless an excluded name contains the number of a layer, all layers agree
        packed = Integer(module.packed_copies(storage)) if module.numbered(storage) else module.all_or_none(storage)
        result += packed * module.experts * storage.matrix(module.inputs, module.outputs)
        result += (module.copies - packed) * module.experts * base * module.inputs * module.outputs
    return expand(result + base * sum(_vectors(groups, shares), Integer(0)))


@dataclass(frozen=True)
class _Module:
    """A stored matrix: its name, with {n} for the number of the layer, and the layers that have it."""

    name: str
    weight: str
    inputs: Expr
    outputs: Expr
    of_experts: bool
    experts: Expr
    copies: Expr
    layers: tuple[int, ...] | None  # None if there are too many to list
    prefixes: tuple[str, ...]

    def numbered(self, storage: Storage) -> bool:
        """Return whether an excluded name contains the number of a layer."""
        return "{n}" in self.name and any(re.search(r"\d", name) for name in storage.left_out)

    def packed_copies(self, storage: Storage) -> int:
        """Return the number of layers in which this matrix is packed."""
        if self.layers is None:
            raise ValueError(f"{len(storage.left_out)} modules are left out by name, of more than {MOST_LAYERS} layers")
        return sum(self._is_packed(storage, number) for number in self.layers)

    def all_or_none(self, storage: Storage) -> Expr:
        """Return the number of copies if this matrix is packed, else 0."""
        return self.copies if self._is_packed(storage, 0) else Integer(0)

    def _is_packed(self, storage: Storage, number: int) -> bool:
        kind = self.weight.rpartition(".")[2]
        inside = self.weight.startswith(("encoder.", "decoder."))
        if kind in ROUTES or (storage.packs == "layers" and not inside):
            return False
        if storage.packs == "experts" and not self.of_experts:
            return False
        # expert 0 represents all experts of a layer
        short = self.name.removesuffix(".weight").replace("{n}", str(number)).replace("{e}", "0")
        names = {f"{prefix}{short}" for prefix in (*self.prefixes, *OUTSIDE)}
        if self.weight in HEADS:
            names.add("lm_head")  # its name in a list of modules, for every family
        return not any(_fits(name, pattern) for name in names for pattern in storage.left_out)


@lru_cache(maxsize=4096)
def _pattern(name: str) -> re.Pattern[str]:
    # a star matches within one part of a dotted name; the match may end where an inner module begins
    return re.compile(re.sub(r"(\\\.)?(\\\*)+", lambda m: (m[1] or "") + r"[^.]*", re.escape(name)) + r"(?:\.|$)")


def _fits(module: str, left_out: str) -> bool:
    """Return whether an excluded name is the name of a module, of a module that contains it, or the end of its name."""
    return module.endswith(left_out) or _pattern(left_out).match(module) is not None


def is_of_experts(weight: str, shape: Shape) -> bool:
    """Return whether a weight has one matrix for each expert; shared experts have one in all."""
    return ".experts." in weight and ".shared_experts." not in weight and not is_route(weight) and len(shape) > 1


# --- stored weights -------------------------------------------------------------------------------------------------


def _modules(groups: Iterable[Group], family: Family, shares: Shares) -> Iterator[_Module]:
    """Yield the stored matrices, without embeddings, whose rows are looked up."""
    for group in groups:
        shapes: dict[str, list[tuple[str, Shape]]] = {}
        for weight, shape in group.weights.items():
            stored = _stored(family, weight)
            if _is_matrix(weight):
                shapes.setdefault(stored.name, []).append((weight, shape))
        for name, parts in shapes.items():
            weight, shape = parts[0]
            each = NOTHING if is_route(weight) else shares
            routed = is_of_experts(weight, shape)  # whether stored one by one or in one tensor
            experts = total(shape[0]).xreplace(each) if routed else Integer(1)
            sides = [[side.xreplace(each) for side in matrix_sides(part, s[routed:])] for part, s in parts]
            outputs = sum((out for _, out in sides), Integer(0))
            yield _Module(
                name, weight, sides[0][0], outputs, routed, experts, group.copies, group.layers, family.prefixes
            )


def _vectors(groups: Iterable[Group], shares: Shares) -> Iterator[Expr]:
    """Yield the numbers of entries that are not in a matrix of a linear map."""
    others = (replace(g, weights={w: s for w, s in g.weights.items() if not _is_matrix(w)}) for g in groups)
    return _entries(others, shares)


def _entries(groups: Iterable[Group], shares: Shares) -> Iterator[Expr]:
    """Yield the numbers of entries of all weights."""
    for group in groups:
        for weight, shape in group.weights.items():
            yield group.copies * divided(weight, shape, shares)


def divided(weight: str, shape: Shape, shares: Shares) -> Expr:
    """Return the entries of a weight on one device; a router is on every device."""
    return entries(shape) if is_route(weight) else entries(shape).xreplace(shares)


def is_route(weight: str) -> bool:
    """Return whether a weight belongs to a router or to the gate of shared experts, which every device reads."""
    return weight.rpartition(".")[2] in (*ROUTES, "b_router")


def _has_axes(family: Family, weight: str) -> bool:
    """Return whether a weight is stored as a kernel instead of a linear map."""
    stored = family.weights.get(weight)
    return stored is not None and bool(stored.axes)


def _stored(family: Family, weight: str) -> Stored:
    stored = family.weights.get(weight)
    if stored is None:
        raise ValueError(f"the weight {weight} has no name in the checkpoints of this family, so whether it is packed")
    return stored


def _is_matrix(weight: str) -> bool:
    """Return whether a weight is a matrix of a product, by its name: tables, biases and norms are not."""
    return weight.rpartition(".")[2].startswith("W")


def matrix_sides(weight: str, shape: Shape) -> tuple[Expr, Expr]:
    """Return the inputs and outputs of a matrix, with heads side by side, or one below the other in W_O."""
    lengths = [total(axis) for axis in shape]
    if len(lengths) == 1:
        return lengths[0], Integer(1)
    if weight.endswith("W_O"):
        return _product(lengths[:-1]), lengths[-1]
    return lengths[-2], _product([*lengths[:-2], lengths[-1]])


def _product(lengths: Iterable[Expr]) -> Expr:
    result: Expr = Integer(1)
    for length in lengths:
        result = result * length
    return result
