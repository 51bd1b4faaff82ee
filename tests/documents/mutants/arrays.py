"""Formulas with random arrays in place of their letters: what they are, or that the shapes do not fit.

Definition   a letter has a rank (0 a number, 1 a vector, 2 a matrix) and random odd sizes, distinct where nothing makes
             them equal; a letter below which indices stand is a table of such arrays
Result       `Assignment.value(node)`; `Differ` where shapes do not fit, `Unread` for what this does not read
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import Any

import mpmath
import numpy as np

from derivations.documents import syntax
from derivations.documents.syntax import Name, Node, Number
from tests.documents.mutants.functions import ENTRYWISE, WHOLE, Differ, Value, unknown_function

__all__ = ["INDICES", "Assignment", "Unread", "sized", "split"]

INDICES = frozenset("ijlt")
FREE = 4  # where an index is that is paired and not bound
PAIRED = frozenset("k")  # an index beside another one, as of X_{ik}; alone it may be a label, as of d_k
ODD = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
ENTRY_OPERATORS = ("odot", "star", "circ")
CONSTANTS = {"e": mpmath.e, "π": mpmath.pi, "pi": mpmath.pi}


class Unread(Exception):
    """What is not read here."""


def sized(name: Name) -> bool:
    """Say whether a letter is written as sizes are."""
    return name.base in ("d", "n", "m", "h", "N", "L", "T", "eps", "ε", "epsilon") or name.base.startswith("d_")


def split(name: Name, bound: Mapping[str, int]) -> tuple[Name, tuple[Node, ...]]:
    """Return a name without the indices below it, and these."""
    rest: list[Node] = []
    places: list[Node] = []
    groups = (
        part.factors if isinstance(part, syntax.Product) else getattr(part, "items", (part,))
        for part in name.subscripts
    )
    parts = list(chain.from_iterable(groups))
    indices = INDICES | bound.keys() | (PAIRED if len(parts) == 2 else frozenset())
    for each in parts:
        letters = [inner.key for inner in each.walk() if isinstance(inner, Name)]
        is_place = bool(letters) and indices.issuperset(letters)
        (places if is_place else rest).append(each)
    return Name(name.base, tuple(rest), name.superscripts, name.primes, name.accent), tuple(places)


@dataclass
class Assignment:
    """Random arrays for letters; `shapes` gives the axes of a letter, `sizes` the length of each axis."""

    random: np.random.Generator
    ranks: Mapping[str, int]
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    tables: dict[Any, Value] = field(default_factory=dict)
    bound: dict[str, int] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)  # letters that bound sums
    given: Mapping[str, Value] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """Return what a formula is; raises `Differ` or `Unread`."""
        rule = _RULES.get(type(node))
        if rule is None:
            raise Unread(type(node).__name__)
        return rule(self, node)

    def whole(self, node: Node) -> int:
        """Return a whole number."""
        value = self.value(node)
        if isinstance(value, np.ndarray) or value != int(value):
            raise Unread("no whole number")
        return int(value)

    # --- letters ---

    def place(self, index: Node) -> int:
        """Return the number that an index is."""
        free = isinstance(index, Name) and index.key in PAIRED and index.key not in self.bound
        return FREE if free else self.whole(index)

    def axis(self, name: str) -> int:
        """Return the length of an axis: a new odd prime, if it is new."""
        if name not in self.sizes:
            used = set(self.sizes.values())
            self.sizes[name] = next(each for each in ODD if each not in used)
        return self.sizes[name]

    def array(self, key: str, places: tuple[int, ...], rank: int) -> Value:
        """Return the array of a letter, the same each time."""
        axes = self.shapes.setdefault(key, tuple(f"{key}:{axis}" for axis in range(rank)))
        shape = tuple(map(self.axis, axes))
        found = self.tables.get((key, places, shape))
        if found is None:
            drawn = self.random.uniform(0.3, 1.7, size=shape) * (
                self.random.choice((-1, 1), size=shape) if shape else 1
            )
            found = drawn if shape else mpmath.mpf(float(drawn))
            self.tables[key, places, shape] = found
        return found

    def name(self, node: Name) -> Value:
        if node.key in self.bound:
            return mpmath.mpf(self.bound[node.key])
        if node.key in self.given:
            return self.given[node.key]
        if node.key in self.bounds:
            return mpmath.mpf(self.bounds[node.key])
        if node.base in CONSTANTS and not node.subscripts:
            return +CONSTANTS[node.base]
        head, places = split(node, self.bound)
        if node.base in ("δ", "delta") and len(places) == 2:
            return mpmath.mpf(int(self.whole(places[0]) == self.whole(places[1])))
        if node.key in INDICES:
            return mpmath.mpf(self.bound.setdefault(node.key, 1 + len(self.bound)))
        at = tuple(self.place(each) for each in places)
        rank = self.ranks.get(node.key, self.ranks.get(head.key, 2 if node.base.isupper() else 0))
        return self.array(node.key if node.key in self.shapes else head.key, at, rank)

    # --- arithmetic ---

    def sum(self, node: syntax.Sum) -> Value:
        if 0 in node.signs:
            raise Unread("plus or minus")
        terms = [sign * self.value(each) for sign, each in zip(node.signs, node.terms, strict=True)]
        return reduce(added, terms)

    def product(self, node: syntax.Product) -> Value:
        whole = self.value(node.factors[0])
        turned = isinstance(node.factors[0], syntax.Transpose)
        for operator, factor in zip(node.operators, node.factors[1:], strict=True):
            other = self.value(factor)
            either = turned or isinstance(factor, syntax.Transpose)
            whole = multiplied(whole, operator, other, dotted=either)
            turned = False
        return whole

    def quotient(self, node: syntax.Quotient) -> Value:
        above, below = self.value(node.numerator), self.value(node.denominator)
        if isinstance(below, np.ndarray):
            if not isinstance(above, np.ndarray) or above.shape != below.shape:
                raise Unread("division by an array")
            return above / below
        if below == 0:
            raise Unread("division by zero")
        return above / (float(below) if isinstance(above, np.ndarray) else below)

    def power(self, node: syntax.Power) -> Value:
        base, exponent = self.value(node.base), self.value(node.exponent)
        if isinstance(exponent, np.ndarray):
            if isinstance(node.base, Name) and node.base.base == "e":
                return np.exp(exponent)
            raise Unread("an array as an exponent")
        if abs(exponent) > 400:
            raise Unread("a large exponent")
        return base ** (float(exponent) if isinstance(base, np.ndarray) else exponent)

    def root(self, node: syntax.Root) -> Value:
        degree = self.value(node.degree) if node.degree is not None else mpmath.mpf(2)
        inside = self.value(node.radicand)
        return abs(inside) ** (float(1 / degree) if isinstance(inside, np.ndarray) else 1 / degree)

    def transpose(self, node: syntax.Transpose) -> Value:
        inside = self.value(node.operand)
        return np.swapaxes(inside, -1, -2) if isinstance(inside, np.ndarray) and inside.ndim > 1 else inside

    def fence(self, node: syntax.Fence) -> Value:
        inside = self.value(node.inside)
        if node.bracket in ("(", "[", "{", ""):
            return inside
        if node.bracket == "||":
            return mpmath.mpf(float(np.linalg.norm(np.atleast_1d(np.asarray(inside, dtype=float)))))
        if node.bracket == "|":
            return abs(inside)
        raise Unread(node.bracket)

    # --- functions and sums ---

    def call(self, node: syntax.Call) -> Value:
        word = node.function.base.lower().rpartition(".")[2]
        arguments = [each for each in node.arguments if not isinstance(each, syntax.Chain)]
        axes = [each.sides[1] for each in node.arguments if isinstance(each, syntax.Chain) and len(each.sides) == 2]
        if word in ("concat", "concatenate", "cat"):
            while len(arguments) == 1 and isinstance(arguments[0], syntax.List):
                arguments = list(arguments[0].items)
            parts = [self.value(each) for each in arguments if not isinstance(each, syntax.Dots)]
            if not all(isinstance(each, np.ndarray) for each in parts):
                raise Unread("a concatenation of numbers")
            return joined(parts)
        values = [self.value(each) for each in arguments]
        if word in ("max", "min") and len(values) > 1:
            return reduce(lambda a, b: extreme(word, a, b), values)
        if word in ENTRYWISE and len(values) == 1:
            return ENTRYWISE[word](values[0])
        if word == "softmax" and axes and len(values) == 1 and isinstance(values[0], np.ndarray):
            at = self.whole(axes[0])
            return np.moveaxis(WHOLE[word](np.moveaxis(values[0], at, -1)), -1, at)
        if word in WHOLE:
            return WHOLE[word](*values)
        return unknown_function(word)(*values)

    def aggregate(self, node: syntax.Aggregate) -> Value:
        if node.kind not in ("sum", "product") or len(node.index) != 1 or node.over is not None:
            raise Unread(node.kind)
        first = self.whole(node.lower) if node.lower is not None else 1
        last = self.whole(node.upper) if node.upper is not None else 3
        if last - first > 100:
            raise Unread("a long sum")
        key, kept = node.index[0].key, dict(self.bound)
        terms = []
        for place in range(first, last + 1):
            self.bound = {**kept, key: place}
            terms.append(self.value(node.body))
        self.bound = kept
        if node.kind == "product":
            return reduce(lambda a, b: multiplied(a, "dot", b, dotted=False), terms, mpmath.mpf(1))
        return reduce(added, terms) if terms else mpmath.mpf(0)

    def entry(self, node: syntax.Entry) -> Value:
        of = self.value(node.of)
        for each in node.indices:
            at = self.whole(each) - 1
            if not isinstance(of, np.ndarray) or not 0 <= at < len(of):
                raise Unread("no such entry")
            of = of[at]
        return of if isinstance(of, np.ndarray) else mpmath.mpf(float(of))

    def cases(self, node: syntax.Cases) -> Value:
        for value, condition in node.branches:
            if condition is None or isinstance(condition, syntax.Words) or self.truth(condition):
                return self.value(value)
        raise Unread("no case applies")

    def truth(self, node: Node) -> bool:
        """Return whether a condition between numbers holds."""
        if not isinstance(node, syntax.Chain) or len(node.sides) != 2 or not isinstance(node.relations[0], str):
            raise Unread("a condition")
        first, second = (self.value(each) for each in node.sides)
        known = {"<": first < second, "≤": first <= second, ">": first > second, "≥": first >= second,
                 "=": first == second, "≠": first != second}  # fmt: skip
        if node.relations[0] not in known:
            raise Unread(node.relations[0])
        return bool(known[node.relations[0]])

    def list(self, node: syntax.List) -> Value:
        items = [self.value(each) for each in node.items]
        if any(isinstance(each, np.ndarray) for each in items):
            raise Unread("a list of arrays")
        return np.array([float(each) for each in items])

    def matrix(self, node: syntax.MatrixLiteral) -> Value:
        rows = [[self.value(each) for each in row] for row in node.rows]
        if any(isinstance(each, np.ndarray) for row in rows for each in row):
            raise Unread("a matrix of blocks")
        return np.array([[float(each) for each in row] for row in rows])


def added(a: Value, b: Value) -> Value:
    """Return a sum; a vector is added to every row."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape[-min(a.ndim, b.ndim) :] != b.shape[-min(a.ndim, b.ndim) :]:
            raise Differ(a.shape, b.shape)
        return a + b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return (a if isinstance(a, np.ndarray) else float(a)) + (b if isinstance(b, np.ndarray) else float(b))
    return a + b


def multiplied(a: Value, operator: str, b: Value, *, dotted: bool) -> Value:
    """Return a product as its operator says; `dotted` where one of two vectors is transposed."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return (a if isinstance(a, np.ndarray) else float(a)) * (b if isinstance(b, np.ndarray) else float(b))
        return a * b
    if operator in ENTRY_OPERATORS:
        if a.shape != b.shape and a.shape[-1:] != b.shape[-1:]:
            raise Differ(a.shape, b.shape)
        return a * b
    if operator in ("otimes", "oplus"):
        raise Unread(operator)
    if a.ndim == b.ndim == 1 and not (dotted or operator in ("dot", "at")):
        raise Unread("two vectors side by side")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise Differ(a.shape[-1:], b.shape[-2 if b.ndim > 1 else 0 :][:1])
    made = a @ b
    return made if made.shape else mpmath.mpf(float(made))


def extreme(word: str, a: Value, b: Value) -> Value:
    """Return the larger or the smaller of two, entry by entry."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape != b.shape:
            raise Differ(a.shape, b.shape)
        pick = np.maximum if word == "max" else np.minimum
        return pick(*(each if isinstance(each, np.ndarray) else float(each) for each in (a, b)))
    return max(a, b) if word == "max" else min(a, b)


def joined(parts: list[np.ndarray]) -> Value:
    """Return arrays side by side."""
    if len({each.shape[:-1] for each in parts}) != 1:
        raise Differ
    return np.concatenate(parts, axis=-1)


def _number(assignment: Assignment, node: Number) -> Value:
    return mpmath.mpf(node.value.numerator) / node.value.denominator


_RULES: Mapping[type[Node], Callable[[Assignment, Any], Value]] = {
    Number: _number,
    Name: Assignment.name,
    syntax.Sum: Assignment.sum,
    syntax.Product: Assignment.product,
    syntax.Negative: lambda assignment, node: -assignment.value(node.operand),
    syntax.Quotient: Assignment.quotient,
    syntax.Power: Assignment.power,
    syntax.Root: Assignment.root,
    syntax.Transpose: Assignment.transpose,
    syntax.Fence: Assignment.fence,
    syntax.Annotated: lambda assignment, node: assignment.value(node.of),
    syntax.Call: Assignment.call,
    syntax.Aggregate: Assignment.aggregate,
    syntax.Entry: Assignment.entry,
    syntax.Cases: Assignment.cases,
    syntax.List: Assignment.list,
    syntax.MatrixLiteral: Assignment.matrix,
}
