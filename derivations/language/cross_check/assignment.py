"""Assignments: numbers for sizes, indices, scalars and arrays, under which an expression has a value.

`meaning(node)` turns a node into a function of an `Assignment`; `scalars` holds the rules for scalars, `arrays` those
for arrays. Numbers have 60 digits. Arrays are nested lists; an equation is evaluated once for the whole array, never
entry by entry on demand. No code of the judge is used: no normal form, no interval, no entry rule of a node.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import lru_cache, singledispatch
from math import prod
from typing import Any, TypeAlias

from sympy import Basic, Symbol

from derivations.language.layers.layer import Apply, Equation

__all__ = [
    "CONTEXT",
    "STEP",
    "Assignment",
    "Cell",
    "Hole",
    "Meaning",
    "NotCovered",
    "Undefined",
    "Unfit",
    "held",
    "inside",
    "meaning",
    "rule",
    "whole",
    "whole_size",
]


@lru_cache(maxsize=1 << 14)
def inside(node: Basic, kind: type[Basic]) -> frozenset[Any]:
    """Return the parts of an expression that are of a kind, cached because the same expressions recur."""
    return frozenset(node.atoms(kind))


DIGITS = 60
_LARGEST = 4000  # entries of a drawn array
STEP = Decimal(10) ** -14  # of a central difference: its error is about STEP^2 = 10^-28, below the tolerance 10^-22
CONTEXT = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero, Overflow])

Meaning: TypeAlias = Callable[["Assignment"], Any]  # the value of an expression: a number, or nested lists
Cell: TypeAlias = tuple[str, tuple[int, ...]]  # an entry of an array; with no place, a scalar


class NotCovered(Exception):
    """The cross-check has no rule for a node or a kind of statement."""


class Undefined(ArithmeticError):
    """A value does not exist: a division by zero, an index outside its array, a derivative at a kink."""


class Unfit(Undefined):
    """An assignment cannot test a statement, for example at a kink or with a size that is not an integer >= 1."""


class Hole:
    """An undefined entry of an array: it raises `Undefined` only when it is used."""

    def __init__(self, reason: ArithmeticError) -> None:
        self.reason = reason

    def _fail(self, *others: Any) -> Any:
        raise Undefined(str(self.reason))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _fail
    __pow__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _fail
    __getitem__ = __len__ = __iter__ = __bool__ = __int__ = _fail


def held(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the value of a function, or a hole if it is undefined."""
    try:
        return function(*arguments)
    except Unfit:
        raise
    except ArithmeticError as error:
        return Hole(error)


@singledispatch
def rule(node: Basic) -> Meaning:
    """Return the function that evaluates one node. There is one rule for each class of nodes.

    Raises       NotCovered for a class without a rule
    """
    raise NotCovered(f"no rule for {type(node).__name__}")


@lru_cache(maxsize=20_000)
def meaning(node: Basic) -> Meaning:
    """Return the function that evaluates an expression under an assignment."""
    return rule(node)


def whole(value: Any) -> int:
    """Return a number as an `int`; raises `Undefined` if it is not an integer."""
    if isinstance(value, int):
        return value
    if isinstance(value, Hole):
        raise Undefined(str(value.reason))
    # with 60 digits, 10^-40 is far above rounding and far below any true fraction that occurs
    nearest = int(value.to_integral_value())
    if abs(value - nearest) > Decimal(10) ** -40:
        raise Undefined(f"{value} is not an integer")
    return nearest


def whole_size(value: Any) -> int:
    """Return a size as an `int`. Raise `Unfit` if it is not an integer, because no axis has the length 5/2."""
    try:
        return whole(value)
    except Undefined as error:
        raise Unfit(f"a size: {error}") from error


class Assignment:
    """Values of free symbols (`base`) and drawn arrays (`arrays`), and equations by name (`definitions`)."""

    def __init__(self, base: Mapping[Symbol, Any], definitions: Mapping[str, Equation], seed: str) -> None:
        self.base, self.values = dict(base), dict(base)
        self.definitions, self.seed = definitions, seed
        self.arrays: dict[str, Any] = {}  # drawn arrays, shared with all assignments derived from this one
        self.masks: set[str] = set()  # the names of drawn masks
        self.draw: Callable[[str, str, random.Random], Any] = _draw
        self.bijections: dict[str, list[int]] = {}
        self.distributions: dict[str, Any] = {}  # the distributions of the entries of random arrays
        self.moments: dict[Any, Any] = {}
        self.local: dict[str, Any] | None = None  # the arrays of the layer that is being evaluated
        self.path = ""  # the prefix of the names of its weights
        self.differentiating = False
        self.reads: set[Cell] | None = None
        self._changed: dict[str, Any] = {}
        self._known: dict[str, Any] = {}
        self._children: dict[Any, Assignment] = {}

    # --- arrays ---

    def array(self, name: str, shape: Callable[[Assignment], tuple[int, ...]], kind: str) -> Any:
        """Return a whole array: local to the layer, changed, defined, or drawn at the first use."""
        if self.local is not None and name in self.local:
            return self.local[name]
        if name in self._changed:
            return self._changed[name]
        if name in self.definitions:
            return self._defined(name)
        return self.drawn(name, shape, kind)

    def drawn(self, name: str, shape: Callable[[Assignment], tuple[int, ...]], kind: str) -> Any:
        """Return an array without a definition; its entries are drawn once."""
        if name in self._changed:
            return self._changed[name]
        if name not in self.arrays:
            # a stream of its own for each array: the values do not depend on the order in which arrays are read
            source = random.Random(f"{self.seed} {name}")
            if kind == "boolean":
                self.masks.add(name)
            self.arrays[name] = _filled(shape(self), lambda: self.draw(name, kind, source))
        return self.arrays[name]

    def is_drawn(self, name: str) -> bool:
        """Return whether an array is neither local nor defined."""
        return not (self.local is not None and name in self.local) and name not in self.definitions

    def _defined(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = None  # marks the definition as being evaluated, to detect a circle
            outside = (self.values, self.local)
            # a definition is closed: indices and layers around its use are hidden from it
            self.values, self.local = dict(self.base), None
            try:
                self._known[name] = meaning(self.definitions[name])(self)
            except BaseException:
                del self._known[name]
                raise
            finally:
                self.values, self.local = outside
        if self._known[name] is None:
            raise NotCovered(f"the definition of {name} goes in a circle")
        return self._known[name]

    def forget(self) -> None:
        """Drop all values computed from the arrays, after the arrays were changed."""
        self._known, self._children, self.moments = {}, {}, {}

    # --- changed assignments ---

    def changed(self, key: Any, arrays: Mapping[str, Any], symbols: Mapping[Symbol, Any]) -> Assignment:
        """Return this assignment with some arrays and scalars replaced; computed values independent of them are kept.

        The new assignment is cached under its `key`, unless that is None.
        """
        other = self._children.get(key)
        if other is None:
            other = Assignment(self.base, self.definitions, self.seed)
            other.arrays, other.masks, other.draw = self.arrays, self.masks, self.draw
            other.bijections, other.distributions = self.bijections, self.distributions
            other.local, other.path = self.local, self.path
            other.differentiating, other.reads = self.differentiating, self.reads
            other._changed = {**self._changed, **arrays}
            names = frozenset(arrays) | {symbol.name for symbol in symbols}
            # a difference quotient changes one entry: what does not depend on it need not be computed again
            other._known = {name: value for name, value in self._known.items() if not self._depends(name, names)}
            if key is not None:
                self._children[key] = other
        other.base, other.values = {**self.base, **symbols}, {**self.values, **symbols}
        return other

    def _depends(self, defined: str, names: frozenset[str]) -> bool:
        return any(
            name == used or name.startswith(f"{used}.") for used in uses(self.definitions, defined) for name in names
        )


def uses(definitions: Mapping[str, Equation], name: str) -> frozenset[str]:
    """Return the names of all arrays, scalars and parts that a defined array depends on."""
    found: set[str] = set()
    rest = [name]
    while rest:
        current = rest.pop()
        if current in found:
            continue
        found.add(current)
        if current in definitions:
            rest.extend(_names(definitions[current]))
    return frozenset(found)


@lru_cache(maxsize=2000)
def _names(equation: Equation) -> frozenset[str]:
    names = {symbol.name for symbol in equation.atoms(Symbol)}
    names |= {part.name for part in equation.atoms(Apply)}
    return frozenset(
        names | {node.name for node in equation.value.atoms(Basic) if hasattr(node, "base") and hasattr(node, "name")}
    )


def _filled(sizes: tuple[int, ...], entry: Callable[[], Any]) -> Any:
    if prod(sizes) > _LARGEST:
        raise NotCovered(f"an array of {prod(sizes)} entries is too large to evaluate")
    if not sizes:
        return entry()
    return [_filled(sizes[1:], entry) for _ in range(sizes[0])]


def _draw(name: str, kind: str, source: random.Random) -> Any:
    if kind == "boolean":
        return int(source.random() < 0.6)
    return source.randrange(2) if kind == "integer" else Decimal(source.randint(-24, 24)) / 8
