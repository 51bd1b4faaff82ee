"""Products of arrays: each is a contraction, given by names for the axes of its factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Integer, KroneckerDelta, Symbol, prod
from sympy import Tuple as Places

from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import Blocks
from numeric.lifting.axes import (
    Along,
    Factors,
    Index,
    fine,
    is_one,
    numbered,
)
from numeric.lifting.operations.broadcasting import built, finer
from numeric.lifting.operations.entries import finite, real
from numeric.lifting.operations.rearranging import axis_number
from numeric.lifting.operations.reductions import summation
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = ["contract", "einsum", "matmul", "with_blocks"]


def matmul(one: Tensor, other: Tensor) -> Tensor:
    """Return the product of matrices, with batch axes in front that broadcast, or of vectors."""
    finite("a product", one, other)
    if not one.axes or not other.axes:
        raise ValueError("a product takes arrays with axes")
    left = ["r", "p"] if one.ndim > 1 else ["p"]
    right = ["p", "c"] if other.ndim > 1 else ["p"]
    batch = max(one.ndim - len(left), other.ndim - len(right))
    names = [f"b{number}" for number in range(batch)]
    first = names[batch - (one.ndim - len(left)) :] + left
    second = names[batch - (other.ndim - len(right)) :] + right
    return contract(names + [n for n in (*left, *right) if n != "p"], (one, first), (other, second))


def contract(wanted: Sequence[str], *factors: tuple[Tensor, Sequence[str]]) -> Tensor:
    """Return the sum of products of arrays with named axes; names that are not in `wanted` are summed over."""
    sizes: dict[str, Along] = {}
    if all(array.kind == "boolean" for array, _ in factors):
        raise refuse("a sum of products of truth values, which is one")
    for array, names in factors:
        finite("a product", array)
        for name, along in zip(names, array.axes, strict=True):
            known = sizes.get(name)
            if known is None or is_one(known):
                sizes[name] = along
            elif not is_one(along):
                sizes[name] = finer(known, along, "axes of a product")
    target = [sizes[name] for name in wanted]
    index: dict[str, Index] = dict(zip(wanted, numbered(target), strict=True))
    sums: list[Any] = []
    for name in sizes:
        if name not in index:
            index[name], more = summation(sizes[name], len(sums))
            sums += more
    reads = []
    for array, names in factors:
        places = [
            Integer(0) if is_one(along) and not is_one(sizes[name]) else index[name]
            for name, along in zip(names, array.axes, strict=True)
        ]
        reads.append((real(array).node, array.axes, places))
    return tensor(built(list(index.values())[: len(target)], target, sums, 1, *reads), axes=target)


def einsum(subscripts: str, *arrays: Tensor) -> Tensor:
    """Return Einstein's sum, as NumPy and PyTorch write it."""
    given, arrow, wanted = subscripts.replace(" ", "").partition("->")
    inputs = given.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(f"einsum: {len(inputs)} lists of axes for {len(arrays)} arrays")
    spread = max((a.ndim - len(i.replace("...", "")) for a, i in zip(arrays, inputs, strict=True)), default=0)
    dots = [f"...{number}" for number in range(spread)]
    named_axes = []
    for array, text in zip(arrays, inputs, strict=True):
        head, found, tail = text.partition("...")
        missing = array.ndim - len(head) - len(tail)
        if (missing and not found) or missing < 0:
            raise ValueError(f"einsum: {text!r} does not name {array.ndim} axes")
        named_axes.append([*head, *(dots[spread - missing :] if found else []), *tail])
    letters = [letter for names in named_axes for letter in names]
    if arrow:
        head, found, tail = wanted.partition("...")
        result = [*head, *(dots if found else []), *tail]
    else:
        result = [
            *(dots if "..." in given else []),
            *sorted({x for x in letters if letters.count(x) == 1 and x not in dots}),
        ]
    return contract(result, *zip(arrays, named_axes, strict=True))


def diagonal(array: Tensor, offset: int = 0, first: int = 0, second: int = 1) -> Tensor:
    """Return the diagonal of two axes as a last axis."""
    if offset != 0:
        raise refuse("a diagonal beside the main one")
    one, other = axis_number(first, array.ndim), axis_number(second, array.ndim)
    names = [f"a{number}" for number in range(array.ndim)]
    left = [name for number, name in enumerate(names) if number not in (one, other)]
    names[other] = names[one]
    return contract([*left, names[one]], (array, names))


def with_blocks(array: Tensor) -> Array:
    """Return the node of an array for the language, in which an axis of two parts is an axis of blocks."""
    if not any(isinstance(along, Factors) for along in array.axes):
        return array.node
    array = _in_two_parts(array)
    shape = [Blocks(*along.sizes) if isinstance(along, Factors) else along for along in array.axes]
    indices = numbered(array.axes)
    own = [Places(*index.symbols) if len(index.symbols) > 1 else index.symbols[0] for index in indices]
    read = [symbol for index in indices for symbol in index.symbols]
    return current().define(contraction(own, shape, (), 1, operand_of(array.node, read)))


def _in_two_parts(array: Tensor) -> Tensor:
    """Return an array whose axes have at most two parts each: the parts before the last one are merged in order."""
    own: list[Symbol] = []
    sums: list[tuple[Symbol, Expr]] = []
    factor: Expr = Integer(1)
    axes: list[Along] = []
    indices = numbered(array.axes)
    for index, along in zip(indices, array.axes, strict=True):
        *blocks, place = index.symbols
        if len(blocks) < 2:
            own, axes = [*own, *index.symbols], [*axes, along]
            continue
        merged = Index(tuple(blocks), index.sizes[:-1])
        block = Symbol(f"{place}_block", integer=True)
        sums += zip(merged.symbols, merged.sizes, strict=True)
        factor *= KroneckerDelta(block, merged.flat)
        own, axes = [*own, block, place], [*axes, Factors((prod(merged.sizes), index.sizes[-1]))]
    if not sums:
        return array
    read = [symbol for index in indices for symbol in index.symbols]
    node = contraction(own, fine(axes), sums, factor, operand_of(array.node, read))
    return Tensor(current().define(node), kind=array.kind, axes=axes)
