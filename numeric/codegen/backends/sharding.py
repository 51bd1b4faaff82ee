"""Layers over a mesh of devices with JAX: which axis of each array lies along which axis of the mesh.

Definition   an axis of a weight goes to the axis `heads` of the mesh where its size is one that is split (by default h
             and d_ff), or where it is made of as many blocks; the first axis of a batch goes to the axis `data`
Result       W_Q, W_K and W_V are cut by heads, W_O by its blocks of rows, W_1 by columns and W_2 by rows: every device
             holds its share of each, and JAX adds up what the devices contribute (tensor parallelism);
             `fully_sharded` cuts weights and optimiser states along `data` instead, whatever layer they are of
Assumes      the lengths of the mesh divide those of the axes that they cut; where several processes form the mesh, each
             of them makes the same arrays
Source       Shoeybi et al. (2019), section 3 (heads); Rajbhandari et al. (2020), section 5 (weights and states)
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

from sympy import Expr, Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import Axis, Blocks
from derivations.language.layers.layer import Layer
from derivations.symbols import d_ff, h
from numeric.runtime.checks import InputError
from numeric.runtime.structure import WeightTree, weight_tree

__all__ = ["device_mesh", "fully_sharded", "on_mesh", "partition", "sharded"]

SPLIT = (h, d_ff)
DATA, HEADS = "data", "heads"
Places: TypeAlias = tuple[str | None, ...]  # the axis of the mesh along which each axis of an array lies


def device_mesh(data: int, heads: int) -> Any:
    """Return a mesh of data * heads devices of JAX.

    JAX derives how each array is placed on the mesh.

    Raises       InputError where there are fewer devices
    """
    jax = import_module("jax")
    devices = jax.devices()
    if not 1 <= data * heads <= len(devices):
        raise InputError(
            f"a mesh of {data} x {heads} needs {data * heads} devices, and JAX has {len(devices)}: choose others, or "
            f"set XLA_FLAGS=--xla_force_host_platform_device_count={data * heads} for virtual ones on a CPU"
        )
    kinds = (jax.sharding.AxisType.Auto,) * 2
    return jax.make_mesh((data, heads), (DATA, HEADS), axis_types=kinds, devices=devices[: data * heads])


def partition(layer: Layer, split: Iterable[Symbol] = SPLIT) -> dict[str, Any]:
    """Return, for each axis of each weight of a layer, the axis of the mesh that splits it, or None.

    Result       nested as the weights are; the layers of a repetition are placed alike, in one entry for all

    >>> from derivations.attention import multi_head_attention
    >>> partition(multi_head_attention())["W_Q"], partition(multi_head_attention())["W_O"]
    (('heads', None, None), ('heads', None))
    """
    return _places(weight_tree(layer), frozenset(split))


def _places(tree: WeightTree, split: frozenset[Expr]) -> dict[str, Any]:
    parts = {name: _places(part, split) for name, part in tree.parts.items()}
    return {**{name: _along(variable, split) for name, variable in tree.parameters.items()}, **parts}


def _along(variable: Variable, split: frozenset[Expr]) -> Places:
    """Return the mesh axis for each axis of an array: the first axis that can be split takes `heads`, the rest None."""
    cut = [_is_cut(along, split) for along in variable.shape]
    return tuple(HEADS if cut[place] and not any(cut[:place]) else None for place in range(len(cut)))


def _is_cut(along: Axis, split: frozenset[Expr]) -> bool:
    return (along.count if isinstance(along, Blocks) else along) in split


def sharded(layer: Layer, weights: Any, mesh: Any, split: Iterable[Symbol] = SPLIT) -> Any:
    """Return the weights of a layer on a mesh: each device holds its share of a split weight, and a copy of the others.

    Raises       InputError where the mesh does not divide an axis that it cuts
    """
    return _laid_out(partition(layer, split), weights, mesh, "weights")


def _laid_out(places: Any, weights: Any, mesh: Any, path: str) -> Any:
    if isinstance(weights, list | tuple):
        return [_laid_out(places, each, mesh, f"{path}[{number}]") for number, each in enumerate(weights)]
    if isinstance(places, dict):
        return {name: _laid_out(each, weights[name], mesh, f"{path}.{name}") for name, each in places.items()}
    return _put(weights, places, mesh, path)


def fully_sharded(arrays: Any, mesh: Any) -> Any:
    """Return nested arrays on a mesh, each cut along `data`, so that every device holds its share of all of them.

    Result       an array is cut along its first axis that the mesh divides; if there is none, each device has a copy
    """
    if isinstance(arrays, dict):
        return {name: fully_sharded(each, mesh) for name, each in arrays.items()}
    if isinstance(arrays, list | tuple):
        return [fully_sharded(each, mesh) for each in arrays]
    devices = mesh.shape[DATA]
    first = next((place for place, length in enumerate(arrays.shape) if length % devices == 0), None)
    places = tuple(DATA if place == first else None for place in range(len(arrays.shape)))
    return _put(arrays, places, mesh, "the array")


def on_mesh(array: Any, mesh: Any) -> Any:
    """Return an array on a mesh, with its first axis, the batch axis, split along `data`.

    Raises       InputError where the mesh does not divide the batch
    """
    return _put(array, (DATA,), mesh, "the array")


def _put(array: Any, places: Places, mesh: Any, path: str) -> Any:
    jax = import_module("jax")
    for number, along in _cut_by(places):
        if array.shape[number] % mesh.shape[along]:
            raise InputError(
                f"{path} has shape {tuple(array.shape)}, and axis {number} must be a multiple of {mesh.shape[along]}, "
                f"the length of the mesh along {along}: choose another mesh, or fewer sizes to split"
            )
    return jax.device_put(array, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*places)))


def _cut_by(places: Places) -> Iterator[tuple[int, str]]:
    return ((number, along) for number, along in enumerate(places) if along is not None)
