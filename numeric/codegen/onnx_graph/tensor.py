"""A traced array: compiled source computes with it as with a NumPy array, and each operation adds a node to the graph.

Definition   `shape` holds numbers and expressions of sizes; operations broadcast and promote number types as NumPy's
             do, a Python number taking the type of the array beside it
Raises       TypeError, ValueError where an operation has no operator; the equation's name is added by the graph
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from sympy import Expr, expand, sympify

from numeric.codegen.onnx_graph.graph import Dim, Value, current, dim
from numeric.codegen.onnx_graph.numbers import value_of, vector_of
from numeric.codegen.onnx_graph.operators import BINARY, COMPARISONS, ENTRYWISE, NUMBER_TYPES, REDUCTIONS
from numeric.codegen.onnx_graph.shapes import broadcast, known_length, number_of_entries, places_of_slice, same

__all__ = ["Tensor", "node", "tensor", "type_named"]

RANK = list(NUMBER_TYPES)  # number types in the order of promotion
LAST = 2**62  # the end of a slice that goes to the end


class Tensor:
    """An array of the graph."""

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class
    __hash__ = None  # type: ignore[assignment]  # == is an operation on entries

    def __init__(self, value: Value, hides: bool = False) -> None:
        self.value = value
        self.hides = hides  # whether an entry may be minus infinity, as a hidden score is; a product has none

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The lengths of the axes."""
        return self.value.shape

    @property
    def dtype(self) -> str:
        """The name of the number type."""
        return self.value.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        """Return the length of the first axis, where it is a number."""
        return int(known_length(self.shape[0]))

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the first axis, whose length must be a number."""
        return (self[k] for k in range(len(self)))

    # Entrywise

    def apply(self, name: str) -> Tensor:
        """Return a function of every entry, by its name in the table of operators."""
        x = self if name in ("abs", "negative", "sign", "invert") else self.as_real()
        return _made(ENTRYWISE[name], [x], x.dtype, x.shape)

    def as_real(self) -> Tensor:
        """Return integers and truth values as float64, as NumPy does in functions of real numbers."""
        return self if self.dtype.startswith("float") else self.astype("float64")

    def astype(self, dtype: Any) -> Tensor:
        """Return the entries in another number type."""
        name = type_named(dtype)
        return self if name == self.dtype else _made("Cast", [self], name, self.shape, to=name)

    def binary(self, name: str, other: Any, swapped: bool = False) -> Tensor:
        """Return an operation on two arrays, or on an array and a number."""
        one, two = _alike(self, other, name)
        if swapped:
            one, two = two, one
        operator = BINARY.get(name) or COMPARISONS[name]
        dtype = one.dtype if name in BINARY else "bool"
        return _made(operator, [one, two], dtype, broadcast(one.shape, two.shape))

    def __add__(self, other: Any) -> Tensor:
        return self if _is(other, 0) else self.binary("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tensor:
        return self.binary("subtract", other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.binary("subtract", other, True)

    def __mul__(self, other: Any) -> Tensor:
        return self if _is(other, 1) else self.binary("multiply", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tensor:
        return self.binary("divide", other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.binary("divide", other, True)

    def __floordiv__(self, other: Any) -> Tensor:
        if self.dtype != "int64":
            return self.binary("divide", other).apply("floor")
        return (self - self % other).binary("floor_divide", other)  # Div cuts off, which is another number below 0

    def __mod__(self, other: Any) -> Tensor:
        return self.binary("mod", other) if self.dtype == "int64" else self - (self // other) * other

    def __pow__(self, other: Any) -> Tensor:
        return self.binary("multiply", self) if _is(other, 2) else self.binary("power", other)

    def __rpow__(self, other: Any) -> Tensor:
        return self.binary("power", other, True)

    def __neg__(self) -> Tensor:
        return self.apply("negative")

    def __abs__(self) -> Tensor:
        """Return max(x, -x): OpenVINO 2026.4 folds the operator Abs of a negated constant to that constant."""
        return self.binary("maximum", self.apply("negative"))

    def __invert__(self) -> Tensor:
        return self.apply("invert")

    def __and__(self, other: Any) -> Tensor:
        return self.binary("bitwise_and", other)

    def __or__(self, other: Any) -> Tensor:
        return self.binary("bitwise_or", other)

    def __eq__(self, other: Any) -> Any:
        return self.binary("equal", other)

    def __ne__(self, other: Any) -> Any:
        return ~self.binary("equal", other)

    def __lt__(self, other: Any) -> Tensor:
        return self.binary("less", other)

    def __le__(self, other: Any) -> Tensor:
        return self.binary("less_equal", other)

    def __gt__(self, other: Any) -> Tensor:
        return self.binary("greater", other)

    def __ge__(self, other: Any) -> Tensor:
        return self.binary("greater_equal", other)

    # Products and sums

    def __matmul__(self, other: Tensor) -> Tensor:
        batch = broadcast(self.shape[:-2], other.shape[:-2])
        shape = (*batch, *self.shape[-2:-1], *(other.shape[-1:] if other.ndim > 1 else ()))
        if not same(self.shape[-1], other.shape[-2 if other.ndim > 1 else -1]):
            raise ValueError(f"the product of shapes {self.shape} and {other.shape} does not exist")
        return Tensor(current().node("MatMul", [self.value, other.value], self.dtype, shape))

    def reduced(self, name: str, axis: Any, keepdims: bool = False) -> Tensor:
        """Return a reduction along axes."""
        given = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = sorted(k % self.ndim for k in given)
        if not axes:
            return self
        kept = [1 if k in axes else n for k, n in enumerate(self.shape) if keepdims or k not in axes]
        x = self.astype("int64") if self.dtype == "bool" else self
        places = Tensor(current().constant(np.asarray([k - self.ndim for k in axes], np.int64)))
        return _made(REDUCTIONS[name], [x, places], x.dtype, kept, keepdims=int(keepdims))

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return sums."""
        return self.reduced("sum", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return means."""
        return self.reduced("mean", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return largest entries."""
        return self.reduced("max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return least entries."""
        return self.reduced("min", axis, keepdims)

    # Axes

    def permuted(self, order: Sequence[int]) -> Tensor:
        """Return the array with its axes in another order."""
        if list(order) == list(range(self.ndim)):
            return self
        return _made("Transpose", [self], self.dtype, [self.shape[k] for k in order], perm=list(order))

    def swapaxes(self, one: int, other: int) -> Tensor:
        """Return the array with two axes exchanged."""
        order = list(range(self.ndim))
        order[one], order[other] = order[other], order[one]
        return self.permuted(order)

    @property
    def mT(self) -> Tensor:  # NumPy's name
        """The transposed matrices."""
        return self.swapaxes(-2, -1)

    @property
    def T(self) -> Tensor:  # NumPy's name
        """The array with its axes in reverse order."""
        return self.permuted(range(self.ndim)[::-1])

    def reshape(self, *lengths: Any) -> Tensor:
        """Return the entries in another shape; one length may be -1."""
        wanted = [dim(n) for n in (lengths[0] if isinstance(lengths[0], tuple | list) else lengths)]
        for k, n in enumerate(wanted):
            if n == -1:
                entries, others = map(number_of_entries, (self.shape, [*wanted[:k], *wanted[k + 1 :]]))
                wanted[k] = dim(entries if others == 1 else expand(sympify(entries) / others))
        if len(wanted) == self.ndim and all(map(same, wanted, self.shape)):
            return self
        return _made("Reshape", [self, Tensor(self._target(wanted))], self.dtype, wanted)

    def _target(self, wanted: Sequence[Dim]) -> Value:
        """Return a shape for `Reshape`: 0 copies the length at its place, and -1 is the one length that is left."""
        written: list[Dim] = []
        for k, n in enumerate(wanted):
            copies = isinstance(n, Expr) and k < self.ndim and same(n, self.shape[k])
            written.append(0 if copies else n)
        unknown = [k for k, n in enumerate(written) if isinstance(n, Expr)]
        if len(unknown) == 1:
            written[unknown[0]] = -1
        return vector_of(written)

    def expanded(self, lengths: Sequence[Any]) -> Tensor:
        """Return the array broadcast to a shape."""
        shape = tuple(map(dim, lengths))
        if len(shape) == self.ndim and all(map(same, shape, self.shape)):
            return self
        return _made("Expand", [self, Tensor(vector_of(shape))], self.dtype, shape)

    def inserted(self, axes: Sequence[int], shape: Sequence[Dim]) -> Tensor:
        """Return the array with new axes of length 1 at the given axis numbers; `shape` is the shape of the result."""
        places = Tensor(current().constant(np.asarray(axes, np.int64)))
        return _made("Unsqueeze", [self, places], self.dtype, shape)

    # Parts

    def __getitem__(self, key: Any) -> Tensor:
        if isinstance(key, Tensor):
            shape = (*key.shape, *self.shape[1:])
            return _made("Gather", [self, key.astype("int64")], self.dtype, shape, axis=0)
        items = list(key) if isinstance(key, tuple) else [key]
        places = [k for k, item in enumerate(items) if isinstance(item, EllipsisType)]
        whole = sum(item is not None and not isinstance(item, EllipsisType) for item in items)
        at = places[0] if places else len(items)
        items[at : at + len(places)] = [slice(None)] * (self.ndim - whole)
        return self._cut(items)

    def _cut(self, items: Sequence[Any]) -> Tensor:
        found, axis = self, 0
        new: list[int] = []
        slices: list[tuple[int, slice]] = []
        taken: list[tuple[int, Any]] = []
        for item in items:
            if item is None:
                new.append(axis - len(taken) + len(new))
                continue
            if isinstance(item, slice):
                slices += [(axis, item)] if item != slice(None) else []
            else:
                taken.append((axis, item))
            axis += 1
        found = found._sliced(slices)
        for at, place in reversed(taken):
            shape = [n for k, n in enumerate(found.shape) if k != at]
            found = _made("Gather", [found, Tensor(value_of(place, "int64"))], found.dtype, shape, axis=at)
        if new:
            shape = list(found.shape)
            for at in new:
                shape.insert(at, 1)
            found = found.inserted(new, shape)
        return found

    def _sliced(self, slices: Sequence[tuple[int, slice]]) -> Tensor:
        if not slices:
            return self
        shape, starts, ends, steps = list(self.shape), [], [], []
        for axis, cut in slices:
            length = shape[axis]
            start, end, step = (0 if cut.start is None else cut.start), cut.stop, (cut.step or 1)
            stop = length if end is None else end
            start, stop = (length + k if _is_negative(k) else k for k in (start, stop))
            if isinstance(stop, int) and isinstance(length, int):
                stop = min(stop, length)
            shape[axis] = places_of_slice(stop - start, step)
            starts.append(start)
            ends.append(LAST if end is None else stop)
            steps.append(step)
        axes = [axis for axis, _ in slices]
        given = [Tensor(vector_of(each)) for each in (starts, ends, axes, steps)]
        return _made("Slice", [self, *given], self.dtype, shape)


def node(operator: str, inputs: Sequence[Tensor], dtype: str, shape: Sequence[Dim], **attributes: Any) -> Tensor:
    """Return the output of an operator on arrays."""
    return _made(operator, inputs, dtype, shape, **attributes)


def _made(operator: str, inputs: Sequence[Tensor], dtype: str, shape: Sequence[Dim], **attributes: Any) -> Tensor:
    made = current().node(operator, [x.value for x in inputs], dtype, shape, **attributes)
    return Tensor(made, any(x.hides for x in inputs))


def tensor(given: Any, dtype: str) -> Tensor:
    """Return an array, a number or an expression of sizes as an array."""
    if isinstance(given, Tensor):
        return given
    return Tensor(value_of(given, dtype), hides=given == -np.inf)


def type_named(dtype: Any) -> str:
    """Return the name of a number type: NumPy's, Python's or compiled source's."""
    if isinstance(dtype, str):
        return dtype
    name = {"real": "float64", "whole": "int64"}.get(getattr(dtype, "__name__", ""))
    return name or np.dtype(dtype).name


def _alike(x: Tensor, other: Any, name: str) -> tuple[Tensor, Tensor]:
    """Return two operands in one number type."""
    dtype = x.dtype
    if isinstance(other, Tensor):
        dtype = max(x.dtype, other.dtype, key=RANK.index)
    elif dtype in ("bool", "int64") and not isinstance(other, bool):
        is_whole = other.is_integer if isinstance(other, Expr) else isinstance(other, int | np.integer)
        dtype = "int64" if is_whole else "float64"
    if name == "divide" and not dtype.startswith("float"):
        dtype = "float64"
    return x.astype(dtype), tensor(other, dtype).astype(dtype)


def _is(given: Any, number: int) -> bool:
    return isinstance(given, int | float) and given == number


def _is_negative(number: Any) -> bool:
    return bool(number.could_extract_minus_sign() if isinstance(number, Expr) else number < 0)
