r"""Arrays that carry a bound of their rounding error: a compiled layer evaluated on them bounds its own error.

Definition   a `Bounded` array is a value v in float64 and a bound e: a machine with unit roundoff u that takes the same
             steps computes a number within e of v
Result       the bound of each operation is the propagated error of its operands plus its own roundings:
             a + b: e_a + e_b;   a b: |a| e_b + |b| e_a + e_a e_b;   a/b: (e_a + |a/b| e_b) / (|b| - e_b);
             f(a): e_a times the largest slope within e_a of a;   a product over k columns: k roundings of sum |a||b|
Assumes      +, -, *, /, sqrt round once; exp, log, erf, expit, tanh, sin, cos err by at most 4 units in the last place;
             numbers smaller than the smallest normal number may become 0; the angles of a table of
             sines and cosines are no larger than its number of rows
Source       Higham (2002), "Accuracy and Stability of Numerical Algorithms", sections 2.2, 3.1 and 3.3

No estimate is involved: the bound is that of the worst case, for the numbers with which the layer is called.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

__all__ = ["Arithmetic", "Bounded", "NotBounded", "bounded"]

LIBRARY = 8  # roundings of a library function: an error of 4 units in the last place is at most 8 u of the value


class NotBounded(NotImplementedError):
    """An operation whose rounding error has no known bound."""


@dataclass(frozen=True)
class Arithmetic:
    """A number type: its unit roundoff u and its smallest normal number."""

    unit: float
    smallest: float

    @classmethod
    def of(cls, dtype: Any) -> "Arithmetic":
        """Return the arithmetic of float32 or float64."""
        info = np.finfo(dtype)
        return cls(float(info.eps) / 2, float(info.tiny))


class Bounded(NDArrayOperatorsMixin):
    """A value, and a bound of its rounding error, of the same shape."""

    def __init__(self, value: Any, error: Any, arithmetic: Arithmetic) -> None:
        self.value = np.asarray(value, dtype=np.float64)
        error = np.where(np.isnan(error), np.inf, error)
        self.error = np.broadcast_to(error, self.value.shape)
        self.arithmetic = arithmetic

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.value.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the value, float64."""
        return self.value.dtype

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self.value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute on the values, and bound the error of the result."""
        rule = UFUNCS.get(ufunc.__name__)
        if rule is None or method != "__call__" or options:
            raise NotBounded(f"no bound of the rounding error of {ufunc.__name__} ({method}) is known")
        operands = [_operand(each, self.arithmetic) for each in inputs]
        with np.errstate(all="ignore"):
            value = ufunc(*(each.value for each in operands))
            carried, roundings = rule(value, *operands)
            return _rounded(value, carried, roundings, self.arithmetic)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Move values and errors alike, or bound the error of the result."""
        rule = FUNCTIONS.get(function.__name__)
        if rule is None:
            raise NotBounded(f"no bound of the rounding error of {function.__name__} is known")
        return rule(*arguments, **options)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        """Refuse to become a plain array, which would lose the bound."""
        raise NotBounded("no bound of the rounding error is known for what turns arrays into plain ones")

    def moved(self, move: Callable[[Any], Any]) -> "Bounded":
        """Return the entries rearranged by a function, each with its bound."""
        return Bounded(move(self.value), move(self.error), self.arithmetic)

    def __getitem__(self, places: Any) -> "Bounded":
        """Return the entries at the given indices."""
        return self.moved(lambda part: part[places])

    def __setitem__(self, places: Any, entries: Any) -> None:
        """Put entries at the given indices, each with its bound."""
        given = _operand(entries, self.arithmetic)
        self.value, self.error = self.value.copy(), self.error.copy()  # an error may be one number for all entries
        self.value[places], self.error[places] = given.value, given.error

    @property
    def mT(self) -> "Bounded":
        """The transposed matrices."""
        return self.moved(lambda part: part.mT)

    def reshape(self, *shape: int) -> "Bounded":
        """Return the entries in another shape."""
        return self.moved(lambda part: part.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> "Bounded":
        """Return the entries with two axes interchanged."""
        return self.moved(lambda part: part.swapaxes(first, second))

    def transpose(self, *axes: int) -> "Bounded":
        """Return the entries with the axes in another order."""
        return self.moved(lambda part: part.transpose(*axes))

    def astype(self, dtype: Any) -> "Bounded":
        """Return the same entries: the number type is that of the arithmetic."""
        return self

    def max(self, axis: Any = None, keepdims: bool = False, initial: Any = -np.inf) -> "Bounded":
        """Return the largest entry; its error is at most the largest error in its row."""
        value = self.value.max(axis=axis, keepdims=keepdims, initial=initial)
        return Bounded(value, self.error.max(axis=axis, keepdims=keepdims, initial=0.0), self.arithmetic)

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Bounded":
        """Return the sum of n entries, which rounds n - 1 times in any order."""
        value, error, sizes = (part.sum(axis=axis, keepdims=keepdims) for part in (self.value, self.error, self._reach))
        terms = self.size // max(np.size(value), 1)
        return Bounded(value, error + _gamma(terms - 1, self.arithmetic) * sizes, self.arithmetic)

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Bounded":
        """Return the mean: a sum, and a division."""
        total = self.sum(axis=axis, keepdims=keepdims)
        mean: Bounded = total / (self.size // max(total.size, 1))
        return mean

    @property
    def _reach(self) -> Any:
        """The largest absolute value that an entry may have."""
        return np.abs(self.value) + self.error


def bounded(value: Any, arithmetic: Arithmetic, roundings: int = 0) -> Any:
    """Return nested arrays of real numbers as `Bounded` arrays; masks and token numbers stay unchanged.

    The numbers are exact, or have been rounded `roundings` times.
    """
    if isinstance(value, dict):
        return {name: bounded(inner, arithmetic, roundings) for name, inner in value.items()}
    if isinstance(value, list):
        return [bounded(inner, arithmetic, roundings) for inner in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return Bounded(value, _gamma(roundings, arithmetic) * np.abs(value), arithmetic)
    return value


def _operand(value: Any, arithmetic: Arithmetic) -> Bounded:
    """Return an operand: a constant that float32 cannot represent exactly is itself rounded.

    A table of constants may contain sines and cosines of rounded angles, which are no larger than its number of rows.
    """
    if isinstance(value, Bounded):
        return value
    numbers = np.asarray(value, dtype=np.float64)
    with np.errstate(over="ignore"):
        held = numbers.astype(np.float32) == numbers
    angle = numbers.shape[-2] if numbers.ndim > 1 else 0
    return Bounded(numbers, np.where(held, 0.0, arithmetic.unit * (np.abs(numbers) + angle)), arithmetic)


def _rounded(value: Any, carried: Any, roundings: Any, arithmetic: Arithmetic) -> Bounded:
    """Return a result: the propagated errors of its operands, plus its own roundings; an infinity is exact."""
    own = _gamma(roundings, arithmetic) * (np.abs(value) + carried) + np.sign(roundings) * arithmetic.smallest
    return Bounded(value, np.where(np.isinf(value), 0.0, carried + own), arithmetic)


def _gamma(roundings: Any, arithmetic: Arithmetic) -> Any:
    """Return gamma_r = r u / (1 - r u), the bound of the relative error of r roundings (Higham, section 3.1)."""
    return roundings * arithmetic.unit / (1 - roundings * arithmetic.unit)


# The propagated error of the operands, and the number of roundings of the operation

Rule = Callable[..., tuple[Any, Any]]


def _times(value: Any, a: Bounded, b: Bounded) -> tuple[Any, Any]:
    return np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error, 1


def _over(value: Any, a: Bounded, b: Bounded) -> tuple[Any, Any]:
    # |a/b - a'/b'| <= (e_a + |a/b| e_b) / |b'|, and |b'| >= |b| - e_b
    room = np.abs(b.value) - b.error
    return np.where(room > 0, (a.error + np.abs(value) * b.error) / room, np.inf), 1


def _matmul(value: Any, a: Bounded, b: Bounded) -> tuple[Any, Any]:
    sizes = np.abs(a.value), np.abs(b.value)
    carried = sizes[0] @ b.error + a.error @ sizes[1] + a.error @ b.error
    columns = a.shape[-1]
    # |A||B| times the relative error of k roundings, Higham (2002), section 3.1, with the largest possible operands
    return carried + _gamma(columns, a.arithmetic) * ((sizes[0] + a.error) @ (sizes[1] + b.error)), 0


def _power(value: Any, a: Bounded, p: Bounded) -> tuple[Any, Any]:
    exponent = float(p.value) if p.value.ndim == 0 else np.nan
    if np.isnan(exponent) or np.any(p.error):
        raise NotBounded("no bound of the rounding error of a power whose exponent is rounded is known")
    near, far = np.abs(a.value) - a.error, np.abs(a.value) + a.error
    # x^p is steepest at the far end of the interval for p >= 1, at the near end for p < 1
    worst = far if exponent >= 1 else np.where(near > 0, near, np.nan)
    carried = np.where(a.error == 0, 0.0, np.abs(exponent) * worst ** (exponent - 1) * a.error)
    return carried, 1 if exponent == 2 else LIBRARY


def _sqrt(value: Any, a: Bounded) -> tuple[Any, Any]:
    below = np.sqrt(np.maximum(a.value - a.error, 0))
    # sqrt(a) - sqrt(a') = (a - a') / (sqrt(a) + sqrt(a'))
    return np.where(a.error == 0, 0.0, a.error / (value + below)), 1


def _log(value: Any, a: Bounded) -> tuple[Any, Any]:
    # log a - log(a - e) = -log(1 - e/a) is the larger of the two sides, for the logarithm is concave
    return np.where(a.error == 0, 0.0, -np.log1p(-np.minimum(a.error / np.abs(a.value), 1))), LIBRARY


def _lipschitz(slope: float, roundings: int = LIBRARY) -> Rule:
    # the mean value theorem: |f(a) - f(a')| <= max |f'| |a - a'|
    return lambda value, a: (slope * a.error, roundings)


def _compared(value: Any, a: Bounded, b: Bounded) -> tuple[Any, Any]:
    """Return the error of a comparison: 1 where the difference is within the errors, so that the result may change."""
    error = a.error + b.error
    return np.where((np.abs(a.value - b.value) <= error) & (error > 0), 1.0, 0.0), 0


UFUNCS: dict[str, Rule] = {
    **dict.fromkeys(("greater", "greater_equal", "less", "less_equal"), _compared),
    "negative": _lipschitz(1, 0),
    "absolute": _lipschitz(1, 0),
    "add": lambda value, a, b: (a.error + b.error, 1),
    "subtract": lambda value, a, b: (a.error + b.error, 1),
    "multiply": _times,
    "divide": _over,
    "matmul": _matmul,
    "power": _power,
    "square": lambda value, a: (2 * np.abs(a.value) * a.error + a.error**2, 1),
    "sqrt": _sqrt,
    "maximum": lambda value, a, b: (np.maximum(a.error, b.error), 0),
    "minimum": lambda value, a, b: (np.maximum(a.error, b.error), 0),
    "heaviside": lambda value, a, b: (np.where((np.abs(a.value) <= a.error) & (a.error > 0), 1.0, b.error), 0),
    # exp(a + e) - exp(a) = exp(a) (exp(e) - 1)
    "exp": lambda value, a: (np.where(value == 0, 0.0, value * np.expm1(a.error)), LIBRARY),
    "log": _log,
    # the slopes by a and by b are positive and sum to 1
    "logaddexp": lambda value, a, b: (np.maximum(a.error, b.error), LIBRARY),
    "tanh": _lipschitz(1),
    "sin": _lipschitz(1),
    "cos": _lipschitz(1),
    "erf": _lipschitz(2 / np.sqrt(np.pi)),
    "expit": _lipschitz(1 / 4),
}


def _where(condition: Any, a: Any, b: Any) -> Bounded:
    arithmetic = next(each.arithmetic for each in (a, b) if isinstance(each, Bounded))
    first, second = _operand(a, arithmetic), _operand(b, arithmetic)
    value, error = (np.where(condition, *parts) for parts in ((first.value, second.value), (first.error, second.error)))
    return Bounded(value, error, arithmetic)


def _mover(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda array, *rest, **options: array.moved(lambda part: function(part, *rest, **options))


def _joiner(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(arrays: Any, *rest: Any, **options: Any) -> Bounded:
        arithmetic = next(each.arithmetic for each in arrays if isinstance(each, Bounded))
        parts = [_operand(each, arithmetic) for each in arrays]
        value, error = (function(one, *rest, **options) for one in ([p.value for p in parts], [p.error for p in parts]))
        return Bounded(value, error, arithmetic)

    return joined


def _broadcast_arrays(*arrays: Any) -> list[Bounded]:
    arithmetic = next(each.arithmetic for each in arrays if isinstance(each, Bounded))
    parts = [_operand(each, arithmetic) for each in arrays]
    shape = np.broadcast_shapes(*(each.shape for each in parts))
    return [each.moved(lambda part: np.broadcast_to(part, shape)) for each in parts]


def _einsum(text: str, *operands: Any) -> Bounded:
    """Return sums of products. Their error is the effect of the errors of the factors, plus that of all roundings."""
    arithmetic = next(each.arithmetic for each in operands if isinstance(each, Bounded))
    parts = [_operand(each, arithmetic) for each in operands]
    given, wanted = text.replace("...", "").split("->")
    lengths = {
        letter: length
        for axes, part in zip(given.split(","), parts, strict=True)
        for letter, length in zip(reversed(axes), reversed(part.shape), strict=False)
    }
    terms = math.prod(length for letter, length in lengths.items() if letter not in wanted)
    sizes = np.einsum(text, *(np.abs(part.value) for part in parts))
    reach = np.einsum(text, *(np.abs(part.value) + part.error for part in parts))
    rounded = _gamma(terms + len(parts) - 2, arithmetic) * reach
    return Bounded(np.einsum(text, *(part.value for part in parts)), reach - sizes + rounded, arithmetic)


def _full_like(array: Bounded, fill: Any, shape: Any = None, **options: Any) -> Bounded:
    value = np.full_like(array.value, fill, shape=shape)
    return _operand(value, array.arithmetic)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "stack": _joiner(np.stack),
    "concatenate": _joiner(np.concatenate),
    "broadcast_arrays": _broadcast_arrays,
    "einsum": _einsum,
    "full_like": _full_like,
    "zeros_like": lambda array, **options: _full_like(array, 0.0, **options),
    "ones_like": lambda array, **options: _full_like(array, 1.0, **options),
    "sum": lambda array, *rest, **options: array.sum(*rest, **options),
    "max": lambda array, *rest, **options: array.max(*rest, **options),
    "mean": lambda array, *rest, **options: array.mean(*rest, **options),
    **{
        function.__name__: _mover(function)
        for function in (
            np.broadcast_to, np.expand_dims, np.moveaxis, np.reshape, np.squeeze, np.swapaxes, np.take_along_axis,
            np.transpose,
        )
    },
}  # fmt: skip
