"""The weights of a layer from the tensors of a checkpoint: each is found by name, checked, and reshaped.

Definition   the weights are nested as in `numeric.runtime.structure.weight_tree`; a repeated part takes the layers of
             the checkpoint in order, and blocks of different kinds in a repeated part take one layer each
Result       every tensor is used, or equals one that is used, or holds zeros that are never added, or is known not
             to be a weight; any other tensor is refused
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sympy import Integer, Symbol

from derivations.architectures.checkpoints.family import Family, Stored
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from numeric.models.checkpoints.arranging import Shape, arranged, stored_shape
from numeric.models.checkpoints.tensors import Tensor, find_tensors, read_tensor
from numeric.runtime.checks import InputError
from numeric.runtime.structure import WeightTree, weight_tree

__all__ = ["read_weights"]

TRANSPARENT = ("group", "layers")  # parts that do not occur in the names of weights


def read_weights(
    folder: Path, layer: Layer, values: Mapping[Symbol, int], family: Family, dtype: DTypeLike
) -> dict[str, Any]:
    """Return the weights of a layer, nested as the layer needs them.

    Shapes       those of the layer's parameters at the given sizes
    Raises       InputError where a tensor is missing, extra, of the wrong shape or type, or contradicts another one
    """
    checkpoint = _Checkpoint(folder, family, _by_short_name(folder, family), np.dtype(dtype))
    sizes = {symbol: Integer(value) for symbol, value in values.items()}
    weights = _Writer(checkpoint, sizes).grown(weight_tree(layer))
    checkpoint.check_the_rest()
    return weights


def _by_short_name(folder: Path, family: Family) -> dict[str, Tensor]:
    """Return the tensors by the names of the family's table."""
    found: dict[str, Tensor] = {}
    for name, tensor in find_tensors(folder).items():
        prefix = next((prefix for prefix in family.prefixes if name.startswith(prefix)), "")
        short = name.removeprefix(prefix)
        for pattern, meant in family.renamed.items():
            short = re.sub(pattern, meant, short)
        if short in found:
            raise InputError(f"{tensor.file}: the tensors {found[short].name} and {name} are the same weight: keep one")
        found[short] = tensor
    return found


@dataclass
class _Checkpoint:
    """The tensors of a folder by the names of a family, and which of them have been used."""

    folder: Path
    family: Family
    tensors: dict[str, Tensor]
    dtype: np.dtype[Any]
    used: set[str] = field(default_factory=set)

    def read(self, name: str, shape: Shape, weight: str, stored: Stored, own: tuple[int, int] = (0, 1)) -> Any:
        """Return a tensor in the shape that a weight needs, after its stored shape has been checked.

        Of a tensor with the columns of all layers it returns those of its `own`, one of so many.
        """
        axes = stored.axes
        there = self._find(name)
        if there is None and name in self.family.zero:
            return np.zeros(shape, self.dtype)
        if there is None:
            raise InputError(
                f"{self.folder}: the tensor {self._full(name)} is missing, which holds the weight {weight}"
            )
        tensor = self.tensors[there]
        wanted = (prod(shape[:-1]), shape[-1]) if axes == "experts" else shape
        along, (number, layers) = 1 if stored.as_written else 0, own if stored.of_layers else (0, 1)
        if layers > 1:
            wanted = tuple(length * layers if axis == along else length for axis, length in enumerate(shape))
        if _of_two_axes(tensor.shape, axes) != wanted:
            raise InputError(
                f"{tensor.file}: the tensor {tensor.name} has shape {tensor.shape}, {wanted} is needed by {weight}"
            )
        self.used.add(there)
        found = read_tensor(tensor, self.dtype, (along, number * shape[along], shape[along]) if layers > 1 else None)
        return (np.moveaxis(found, -1, 1) if axes == "taps" else found).reshape(shape)

    def check_the_rest(self) -> None:
        """Refuse tensors that were not used, except those that the family ignores."""
        for name in sorted(self.tensors.keys() - self.used):
            if any(re.fullmatch(pattern, name) for pattern in self.family.ignored):
                continue
            tensor, first = self.tensors[name], self._find(self.family.same.get(name, ""))
            if first in self.used and first is not None:
                self._check_same(tensor, self.tensors[first])
            elif name not in self.family.zero:
                raise InputError(f"{tensor.file}: the tensor {tensor.name} is extra, no weight is stored there")
            elif read_tensor(tensor).any():
                raise InputError(f"{tensor.file}: the tensor {tensor.name} must be 0 everywhere, it is not added")

    def _find(self, name: str) -> str | None:
        number = next(iter(re.findall(r"\.(\d+)\.", name)), "")
        written = ((each.replace("{n}", number) for each in pair) for pair in self.family.same.items())
        names = (name, *(other for other, same in written if same == name))
        return next((each for each in names if each in self.tensors), None)

    def _full(self, name: str) -> str:
        """Return the name with the prefix that related tensors have in the file."""
        neighbours = ((s, t.name) for s, t in self.tensors.items() if s.partition(".")[0] == name.partition(".")[0])
        return next((full.removesuffix(short) + name for short, full in neighbours if full.endswith(short)), name)

    def _check_same(self, tensor: Tensor, first: Tensor) -> None:
        same = tensor.shape == first.shape
        if not same or not np.array_equal(read_tensor(tensor), read_tensor(first), equal_nan=True):
            raise InputError(
                f"{tensor.file}: the tensor {tensor.name} differs from {first.name}: the configuration ties them"
            )


def _of_two_axes(shape: Shape, axes: str) -> Shape:
    """Return the shape of a tensor with axes merged as `axes` says: all, all but the last, or all but the first."""
    if axes == "flat":
        return (prod(shape),)
    if axes in ("", "experts") or not shape:
        return shape
    return (prod(shape[:-1]), shape[-1]) if axes == "rows" else (shape[0], prod(shape[1:]))


def _is_run(name: str, part: WeightTree) -> bool:
    """Return whether a part is a run of layers: repeated, or a layer whose keys and values later layers use."""
    return part.count is not None or name.startswith("layers_")


def _blocks(part: WeightTree) -> Mapping[str, WeightTree]:
    """Return the blocks of a sequence of layers, by name. A single block has the empty name."""
    return part.parts if all(name.startswith("block_") for name in part.parts) else {"": part}


@dataclass(frozen=True)
class _Writer:
    """Builds nested weights from a tree."""

    checkpoint: _Checkpoint
    sizes: Mapping[Symbol, Integer]

    def grown(self, tree: WeightTree, path: str = "", number: int | None = None, layers: int = 1) -> dict[str, Any]:
        """Return the weights of a tree. `number` is the number of the layer that it belongs to, of `layers` in all."""
        shapes = {name: self._shape(f"{path}{name}", variable.shape) for name, variable in tree.parameters.items()}
        weights: dict[str, Any] = {name: self._weight(path, name, shapes, number, layers) for name in shapes}
        copies = {name: self._copies(f"{path}{name}", part) for name, part in tree.parts.items() if _is_run(name, part)}
        of_stack = sum(count * len(_blocks(tree.parts[name])) for name, count in copies.items()) or layers
        numbers = count()  # numbers the layers of a stack across all of its repeated parts
        for name, part in tree.parts.items():
            if name not in copies:
                inner = path if name in TRANSPARENT else f"{path}{name}."
                weights[name] = self.grown(part, inner, number, layers)
            elif part.count is None:
                weights[name] = self._repeated(part, path, numbers, of_stack)
            else:
                weights[name] = [self._repeated(part, path, numbers, of_stack) for _ in range(copies[name])]
        return weights

    def _copies(self, path: str, part: WeightTree) -> int:
        (copies,) = (1,) if part.count is None else self._shape(path, (part.count,))
        return copies

    def _repeated(self, part: WeightTree, path: str, numbers: Iterator[int], layers: int) -> dict[str, Any]:
        grown = {name: self.grown(block, path, next(numbers), layers) for name, block in _blocks(part).items()}
        return grown.get("", grown)

    def _weight(self, path: str, name: str, shapes: Mapping[str, Shape], number: int | None, layers: int) -> Any:
        weight = f"{path}{name}"
        stored = self.checkpoint.family.weights.get(weight)
        if stored is None:
            raise InputError(
                f"{self.checkpoint.folder}: the weight {weight} has no name in checkpoints of this family yet"
            )
        shape = stored_shape(stored, name, shapes)
        told = f"{weight} of layer {number}" if number is not None else weight

        def read(theirs: str) -> Any:
            return self.checkpoint.read(theirs.replace("{n}", str(number)), shape, told, stored, (number or 0, layers))

        return arranged(stored, name, shapes, read)

    def _shape(self, path: str, shape: Any) -> Shape:
        lengths = [total(along).xreplace(dict(self.sizes)) for along in shape]
        if any(not isinstance(length, Integer) for length in lengths):
            raise InputError(
                f"{self.checkpoint.folder}: the sizes of {path} are {lengths}, which must be whole numbers"
            )
        return tuple(int(length) for length in lengths)
