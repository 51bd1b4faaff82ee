"""The symbolic array that replaces an argument while a function is lifted.

Definition   a `Tensor` holds the variable of an equation, and the mask of the entries that are not minus infinity
Shapes       those of the variable; a size that is known is a Python integer, the others are `Size`
Assumes      an array that is written into has no live view and is no argument: else the write is refused, since
             equations have no memory that two names share
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from sympy import Expr, Integer

from derivations.language.arrays.expression import Array
from numeric.lifting.axes import Along, same_length, size_of_axis
from numeric.lifting.numbers import Scalar, size_of
from numeric.lifting.refusals import refuse
from numeric.lifting.trace import current

__all__ = ["Tensor", "again", "empty", "made", "own_function", "taking_sizes", "tensor", "unwritten"]


class Tensor:
    """A symbolic array, which follows the protocols of array libraries."""

    __array_priority__ = 2000

    def __init__(
        self, node: Array, alive: Array | None = None, kind: str = "", axes: Sequence[Along] | None = None
    ) -> None:
        self._node, self.alive = node, alive  # of one shape
        self.axes = tuple(map(size_of_axis, node.shape)) if axes is None else tuple(axes)
        self._trace = current()
        self.kind = kind or node.kind
        self.base: Tensor | None = None
        self.is_argument = False
        self.is_empty = False  # an axis has no places: such an array may be joined with others, and no more
        self.is_unwritten = False  # it has no values yet: it may be written into, and no more
        self.filled: list[Any] = []  # where an array without values was written so far
        self._views: list[weakref.ref[Tensor]] = []

    @property
    def node(self) -> Array:
        """The variable that holds the array in the trace. An array that was kept from another run is refused."""
        if self._trace is not current():
            raise refuse("an array that the function kept from an earlier call")
        if self.is_empty or self.is_unwritten:
            raise refuse("an array without values" if self.is_unwritten else "an array without entries")
        return self._node

    # Shape

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """The symbolic sizes of the axes."""
        return tuple(map(size_of_axis, self.axes))

    @property
    def shape(self) -> Any:
        """The sizes as the function under study sees them."""
        return tuple(map(size_of, self.sizes))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def size(self) -> Any:
        """The number of entries."""
        return size_of(Integer(1) * _product(self.sizes))

    def __len__(self) -> int:
        """Return the length of the first axis if it is known."""
        if not self.ndim:
            raise TypeError("len() of an array without axes")
        return self._known(self.shape[0], "len()")

    def __getitem__(self, key: Any) -> Any:
        """Refuse: the class for each library defines its own indexing."""
        raise refuse("an index")

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first axis if its length is known."""
        for place in range(self._known(self.shape[0], "a loop over the rows of an array")):
            yield self[place]

    def _known(self, size: Any, what: str) -> int:
        if not isinstance(size, int):
            raise refuse(f"{what} needs the size {size!r}, which is symbolic: give a number for it in the shapes")
        return size

    # Values that a symbolic array does not have

    def _no_value(self, what: str) -> NoReturn:
        raise refuse(f"{what} of an array needs its entries, and they are symbolic")

    def __bool__(self) -> bool:
        """Refuse: a branch on symbolic entries has no single equation."""
        self._no_value("a branch on the truth value")

    def __float__(self) -> float:
        """Refuse: the entries have no values."""
        self._no_value("float()")

    def __int__(self) -> int:
        """Refuse: the entries have no values."""
        self._no_value("int()")

    def _no_rule(self, *others: Any) -> NoReturn:
        raise refuse("an operator that has no rule")

    __index__ = __int__
    __round__ = __floor__ = __ceil__ = __trunc__ = __int__
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _no_rule
    __ifloordiv__ = __imod__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __contains__ = _no_rule

    def item(self, *places: Any) -> NoReturn:
        """Refuse: the entries have no values."""
        self._no_value("item()")

    def tolist(self) -> NoReturn:
        """Refuse: the entries have no values."""
        self._no_value("tolist()")

    def __array__(self, *types: Any, **options: Any) -> NoReturn:
        """Refuse: a library that converts the array to numbers would not compute with its symbols."""
        self._no_value("a conversion to numbers")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse: a copy by `copy` or `pickle` would lose track of the memory that it shares."""
        raise refuse("a copy by the module copy or pickle")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """Return the node and its shape, also after the run: an error may hold the array."""
        return f"<symbolic array {self._node} of shape {self.shape}>"

    # Memory

    def view_of(self, base: Tensor) -> Tensor:
        """Record that this array may share memory with another one, and return this array."""
        root = base if base.base is None else base.base
        if root is not self:
            self.base = root
            root._views.append(weakref.ref(self))
        return self

    def overwrite(self, value: Tensor) -> Tensor:
        """Give the array another value, as an operation in place does.

        Raises       NotFollowed for an argument, a view, or an array that has live views
        """
        if self.is_argument or (self.base is not None and self.base.is_argument):
            raise refuse("a write into an argument: its caller would see it")
        if self.base is not None or any(view() is not None for view in self._views):
            raise refuse("a write into memory that another name still reads")
        if not all(map(same_length, value.axes, self.axes)) or len(value.axes) != len(self.axes):
            raise refuse("a write of an array of another shape")
        if self.kind != "real" and value.kind != self.kind:
            raise refuse(f"a write of {value.kind} numbers into an array of {self.kind} ones")
        self._node, self.alive, self.kind, self.axes = value.node, value.alive, value.kind, value.axes
        self.is_unwritten = False
        return self


def _product(sizes: tuple[Expr, ...]) -> Expr:
    result: Expr = Integer(1)
    for size in sizes:
        result = result * size
    return result


def tensor(value: Array, alive: Array | None = None, kind: str = "", axes: Sequence[Along] | None = None) -> Tensor:
    """Return the symbolic array of an expression, and record the expression as an equation of the trace."""
    return made(current().define(value), None if alive is None else current().define(alive), kind, axes)


def made(node: Array, alive: Array | None = None, kind: str = "", axes: Sequence[Along] | None = None) -> Tensor:
    """Return a symbolic array of the class that the running trace uses."""
    return (current().arrays or Tensor)(node, alive, kind, axes)


def again(array: Tensor) -> Tensor:
    """Return another array with the same entries, which shares no memory with the first."""
    return made(array.node, array.alive, array.kind, array.axes)


def empty(array: Tensor, axes: Sequence[Along]) -> Tensor:
    """Return an array without entries, such as an empty slice of another array."""
    found = made(array.node, None, array.kind, axes)
    found.is_empty = True
    return found


def unwritten(array: Tensor) -> Tensor:
    """Mark a newly made array as not yet written to, and return it."""
    array.is_unwritten = True
    return array


def taking_sizes(concrete: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `symbolic` if an argument is symbolic, else the library's function `concrete`."""

    def called(*given: Any, **options: Any) -> Any:
        parts = [p for g in (*given, *options.values()) for p in (g if isinstance(g, tuple | list) else (g,))]
        rule = symbolic if any(isinstance(part, Scalar | Tensor) for part in parts) else concrete
        return rule(*given, **options)

    called.concrete = concrete  # type: ignore[attr-defined]
    return called


def own_function(function: Any) -> Any:
    """Return the library's own function if it is wrapped by `taking_sizes`, else the function itself."""
    return getattr(function, "concrete", function)
