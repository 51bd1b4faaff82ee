"""The first numbers of the fingerprint of a side, in floats, as a filter before its expression is built.

Definition   the numbers are the first ones of its fingerprint, worked out in floats
Result       `QUICK` is an algebra; `Quick(side).numbers` are those of a side that is read in it
Raises       NoNumber where a side has none
Assumes      a number that is rounded the other way is one in a hundred million: then a formula is missed
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any, TypeAlias

from sympy import Expr, Integer

from derivations.documents.budget import spend
from derivations.documents.canon.scalar_sampling import NoNumber, drawn_unknown
from derivations.documents.elaborate.algebra import Algebra
from derivations.documents.nearest.fingerprint import LETTER, LONGEST, SIZE, Numbers, drawn_at, rounded_off
from derivations.documents.nearest.matching import WEIGHTS

__all__ = ["QUICK", "Quick"]

Env: TypeAlias = dict[str, float]
Evaluated: TypeAlias = Callable[[Env], float]


@dataclass(frozen=True)
class Part:
    """A node of a formula: its kind and its operands."""

    kind: str
    of: tuple[Any, ...]

    def __add__(self, other: Any) -> Part:
        """Return a sum. An index plus a number is an index with an offset."""
        if self.kind == "index" and not isinstance(other, Part):
            return Part("index", (self.of[0], self.of[1] + int(other)))
        return Part("sum", (self, other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Part:
        return self + -other

    def __rsub__(self, other: Any) -> Part:
        return -self + other

    def __neg__(self) -> Part:
        return Part("product", (-1.0, self))

    def __mul__(self, other: Any) -> Part:
        return Part("product", (self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Part:
        return Part("product", (self, Part("power", (other, -1.0))))

    def __pow__(self, other: Any) -> Part:
        return Part("power", (self, other))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _no_number(value: float) -> float:
    raise NoNumber("a step")


_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": lambda x: math.log(abs(x)),
    "ln": lambda x: math.log(abs(x)),
    "sqrt": lambda x: math.sqrt(abs(x)),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "sigmoid": _sigmoid,
    "relu": lambda x: max(0.0, x),
    "abs": abs,
    "erf": math.erf,
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "silu": lambda x: x * _sigmoid(x),
    "swish": lambda x: x * _sigmoid(x),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "step": _no_number,
}


def _derivative(of: Any, by: Any) -> Part:
    raise NoNumber("a derivative")


QUICK = Algebra(
    number=lambda above, below: above / below,
    scalar=lambda name: Part("letter", (name,)),
    index=lambda name: Part("index", (name, 0)),
    size=lambda name: Part("size", (name,)),
    entry=lambda name, shape, places: Part("entry", (name, *places)),
    total=lambda terms, place, first, last: Part("total", (terms, place, first, last)),
    added=lambda *terms: Part("sum", terms),
    times=lambda *factors: Part("product", factors),
    quotient=lambda above, below: Part("product", (above, Part("power", (below, -1.0)))),
    power=lambda base, exponent: Part("power", (base, exponent)),
    delta=lambda one, other: Part("delta", (one, other)),
    derivative=_derivative,
    largest=lambda *parts: Part("largest", parts),
    least=lambda *parts: Part("least", parts),
    function=lambda word: lambda of: Part("function", (_FUNCTIONS.get(word, drawn_unknown), of)),
    expectation=lambda of: Part("function", (drawn_unknown, of)),
    pi=math.pi,
    places=lambda entry: {Part("index", (name, 0)) for name in _indices(entry)},
)


@dataclass(frozen=True)
class Quick:
    """A side of a formula as a tree of parts, from which its fingerprint numbers are computed."""

    whole: Any
    turned: bool = False  # weights are stored the other way

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All parts, from the outside inwards."""
        return tuple(_parts(self.whole))

    @cached_property
    def entries(self) -> list[tuple[str, tuple[Any, ...]]]:
        """The entries of arrays, each with its indices."""
        return [_stored(part, self.turned) for part in self.parts if part.kind == "entry"]

    @cached_property
    def bound(self) -> set[str]:
        """The indices of sums."""
        return {part.of[1].of[0] for part in self.parts if part.kind == "total"}

    @cached_property
    def kept(self) -> Mapping[str, tuple[int, ...]]:
        """The axes of every array, without the idle ones, which always have the same unbound index."""
        bound = self.bound
        places: dict[str, list[set[Any]]] = {}
        for name, at in self.entries:
            here = places.setdefault(name, [set() for _ in at])
            if len(here) != len(at):
                raise NoNumber("a letter with different numbers of axes")
            for known, place in zip(here, at, strict=True):
                known.add(place)
        has_delta = any(part.kind == "delta" for part in self.parts)
        kept = {
            name: tuple(at for at, found in enumerate(axes) if len(found) > 1 or _indices(next(iter(found))) & bound)
            for name, axes in places.items()
            if has_delta or any(_indices(place) & bound for found in axes for place in found)
        }
        return {name: axes for name, axes in kept.items() if axes}

    @cached_property
    def free(self) -> list[str]:
        """The indices that no sum binds, on axes that are kept."""
        found = {each for part in self.parts if part.kind == "delta" for each in _indices(part)}
        found |= {each for name, at in self.entries for axis in self.kept.get(name, ()) for each in _indices(at[axis])}
        return sorted(found - self.bound)

    @property
    def letters(self) -> int:
        """How many arrays and numbers there are."""
        scalars = {each for each in self.entries if each[0] not in self.kept}
        scalars |= {(part.of[0], ()) for part in self.parts if part.kind in ("letter", "size")}
        return len(self.kept) + len(scalars)

    @cached_property
    def numbers(self) -> Numbers:
        """The first numbers of the fingerprint."""
        if len(self.free) > 3:
            raise NoNumber("more than three free indices")
        alone = frozenset(part.of[0] for part in self.parts if part.kind == "letter")
        value = _Compiler(self.kept, self.turned, alone).compiled(self.whole)
        numbers = []
        for at in product(range(SIZE), repeat=len(self.free)):
            spend()
            try:
                numbers.append(rounded_off(value(dict(zip(self.free, map(float, at), strict=True)))))
            except ZeroDivisionError:
                numbers.append(math.inf)
            except (ValueError, OverflowError, TypeError) as error:
                raise NoNumber(str(error)) from error
        return tuple(sorted(numbers))

    @property
    def readings(self) -> tuple[Quick, ...]:
        """The side as it is, and the side with transposed weights if that differs."""
        has_weights = any(_stored(part, True)[1] != part.of[1:] for part in self.parts if part.kind == "entry")
        return (self, Quick(self.whole, turned=True)) if has_weights else (self,)

    @property
    def nameless(self) -> tuple[object, ...]:
        """The structure of the side without names and idle axes."""
        numbers: dict[object, int] = {}

        def of(part: Any) -> object:
            if not isinstance(part, Part):
                return str(part)
            if part.kind == "entry":
                name, at = _stored(part, self.turned)
                axes = self.kept.get(name)
                letter = name if axes else (name, at)
                return (numbers.setdefault(letter, len(numbers)), *(of(at[axis]) for axis in axes or ()))
            if part.kind in ("letter", "size", "index"):
                return (part.kind, numbers.setdefault(part.of[0], len(numbers)), part.of[1:])
            return (part.kind, *map(of, part.of))

        return (of(self.whole),)


def _parts(of: Any) -> Iterator[Part]:
    if isinstance(of, Part):
        yield of
        for each in of.of:
            yield from _parts(each)


def _stored(entry: Part, turned: bool) -> tuple[str, tuple[Any, ...]]:
    name, *at = entry.of
    return name, tuple(at[::-1] if turned and len(at) == 2 and WEIGHTS.match(name) else at)


def _indices(place: Any) -> set[str]:
    return {part.of[0] for part in _parts(place) if part.kind == "index"}


@dataclass(frozen=True)
class _Compiler:
    kept: Mapping[str, tuple[int, ...]]
    turned: bool
    alone: frozenset[str]  # letters that stand without a place as well: their entries are others, as in a fingerprint

    def compiled(self, part: Any) -> Evaluated:
        if not isinstance(part, Part):
            number = float(part)
            return lambda env: number
        match part.kind, part.of:
            case "letter" | "size", _:
                return lambda env: LETTER
            case "index", (name, offset):
                return lambda env: env.get(name, LETTER) + offset
            case "entry", _:
                return self._entry(part)
            case "sum", terms:
                inner = [self.compiled(each) for each in terms]
                return lambda env: math.fsum([each(env) for each in inner])
            case "product", factors:
                inner = [self.compiled(each) for each in factors]
                return lambda env: math.prod([each(env) for each in inner])
            case "power", (base, exponent):
                below, above = self.compiled(base), self.compiled(exponent)
                return lambda env: _power(below(env), above(env))
            case "function", (function, of):
                argument = self.compiled(of)
                return lambda env: function(argument(env))
            case "delta", (one, other):
                first, second = self.compiled(one), self.compiled(other)
                return lambda env: float(first(env) == second(env))
            case ("largest" | "least") as kind, parts:
                inner = [self.compiled(each) for each in parts]
                choose = max if kind == "largest" else min
                return lambda env: choose(each(env) for each in inner)
            case "total", (terms, place, first, last):
                outer = tuple(sorted(_indices(part) - {place.of[0]}))
                return _total(self.compiled(terms), place.of[0], self._bound(first), self._bound(last), outer)
        raise NoNumber(part.kind)

    def _entry(self, part: Part) -> Evaluated:
        name, at = _stored(part, self.turned)
        axes = self.kept.get(name, ())
        if not axes:
            return lambda env: LETTER
        places = [self.compiled(at[axis]) for axis in axes]
        return lambda env: _drawn(tuple(int(place(env)) for place in places), name in self.alone)

    def _bound(self, end: Any) -> Evaluated:
        """Return the compiled bound of a sum, in which every size has the value SIZE."""
        if isinstance(end, Expr) and end.free_symbols:
            number = _size(end)
            return lambda env: number
        if isinstance(end, Part) and any(part.kind == "entry" for part in _parts(end)):
            raise NoNumber("an entry as the end of a sum")
        return self.compiled(_with_sizes(end))


def _with_sizes(part: Any) -> Any:
    if not isinstance(part, Part):
        return part
    return float(SIZE) if part.kind == "size" else Part(part.kind, tuple(map(_with_sizes, part.of)))


@lru_cache(maxsize=256)
def _size(expression: Expr) -> float:
    return float(expression.xreplace(dict.fromkeys(expression.free_symbols, Integer(SIZE))))


@cache
def _drawn(places: tuple[int, ...], changed: bool) -> float:
    return drawn_at(places, changed)


def _power(base: float, exponent: float) -> float:
    """Return a power, of the absolute base if the exponent is not a whole number.

    Its last digit may differ from that of `fingerprint`, which is slower and the same on every machine.
    """
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    return base ** int(exponent) if exponent == int(exponent) and abs(exponent) < 100 else abs(base) ** exponent


def _total(inner: Evaluated, place: str, low: Evaluated, high: Evaluated, outer: tuple[str, ...]) -> Evaluated:
    """Return the evaluation of a sum, which keeps its value for each choice of the outer indices."""
    known: dict[tuple[float | None, ...], float] = {}

    def value(env: Env) -> float:
        here = tuple(map(env.get, outer))
        if here not in known:
            start, end = int(low(env)), int(high(env))
            if end - start > LONGEST:
                raise NoNumber("a long sum")
            known[here] = math.fsum([inner({**env, place: float(at)}) for at in range(start, end + 1)])
        return known[here]

    return value
