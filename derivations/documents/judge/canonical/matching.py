"""Whether a formula equals a canonical form once its letters have their roles.

Result       `equal_forms(right, assignment)` yields the forms that a right side equals, decided by the judge of
             equality; quick numbers merely spare it what is different
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isclose

from sympy import Basic, Expr, Gt, Indexed, Sum, Symbol, log

from derivations.documents.canon.forms import Form, Value
from derivations.documents.canon.sampling import Numbers, numbers
from derivations.documents.canon.scalar_sampling import NoNumber
from derivations.documents.judge.arrays.arrays import NotRead, Reader
from derivations.documents.judge.arrays.entry_numbers import EntryNumbers, NotEntries
from derivations.documents.judge.canonical.assigning import ROW, Assignment
from derivations.documents.judge.canonical.entry_places import same_places
from derivations.documents.proving import are_equal
from derivations.documents.syntax import Node
from derivations.language.arrays.expression import Array, Member
from derivations.language.arrays.shapes import ShapeError, total
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import index, n

__all__ = ["Filter", "Match", "equal_forms", "free_places", "positive_under_logarithms", "reader_of", "reads"]


NOT_BUILT = (
    NotRead, ShapeError, NoNumber, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError
)  # fmt: skip


@dataclass(frozen=True)
class Match:
    """A form that a formula equals; not the `same` where quick numbers alone say so."""

    form: Form
    assignment: Assignment
    same: bool = True


def equal_forms(right: Node, assignment: Assignment, reader: Reader | None = None) -> Iterator[Match]:
    """Yield the forms that a right side equals under an assignment; a reader serves several formulas."""
    reader = reader or reader_of(assignment)
    try:
        value = reader.value(right)
        found = numbers(value)
    except NOT_BUILT:
        return  # what cannot be built is nothing that is known
    for form, target in assignment.targets:
        if _alike(found, _target_numbers(target)) and same_places(right, form, assignment):
            yield Match(form, assignment, _same(value, target))


def reader_of(assignment: Assignment) -> Reader:
    """Return what reads formulas under an assignment."""
    return Reader(dict(assignment.meaning), assignment.indices, assignment.columns)


def reads(right: Node, reader: Reader) -> bool:
    """Say whether a right side is read as an expression at all."""
    try:
        reader.value(right)
    except NOT_BUILT:
        return False
    return True


class Filter:
    """Tells quickly what can be no form of an assignment: formulas of entries that have another number."""

    def __init__(self, assignment: Assignment) -> None:
        """Take the numbers of the targets."""
        self.entries = EntryNumbers(dict(assignment.meaning), assignment.indices)
        numbers = (_target_numbers(target) for _, target in assignment.targets)
        self.wanted = [found[1][0] for found in numbers if found is not None and found[0] == ()]

    def may_equal(self, node: Node) -> bool:
        """Say whether a formula may be one of the forms."""
        try:
            found = self.entries.number(node)
        except NotEntries:
            return True
        return any(isclose(found, wanted, rel_tol=1e-7, abs_tol=1e-9) for wanted in self.wanted)


@lru_cache(maxsize=1024)
def _target_numbers(target: Value) -> Numbers | None:
    try:
        return numbers(target)
    except NoNumber:
        return None


def _alike(first: Numbers, second: Numbers | None) -> bool:
    return (
        second is not None
        and first[0] == second[0]
        and all(isclose(a, b, rel_tol=1e-7, abs_tol=1e-9) for a, b in zip(first[1], second[1], strict=True))
    )


@lru_cache(maxsize=4096)
def _same(value: Value, target: Value) -> bool:
    """Say whether two expressions are the same, or the judge proves them equal: neither proves what was read so."""
    if value == target:
        return True
    if isinstance(value, Array) is not isinstance(target, Array):
        return False
    if _with_plain_bounds(_entry(value)) == _with_plain_bounds(_entry(target)):
        return True
    ranges: dict[Symbol, Expr] = {ROW: n}
    for expression in (target, value):
        for place, size in free_places(expression, frozenset()):
            ranges.setdefault(place, size)
    assumed = positive_under_logarithms(value, target)
    whole = derivation(
        "a formula of a document", claim(value, step("algebra", target)), ranges=ranges, assuming=assumed
    )
    return are_equal(value, target, whole)


def _entry(value: Value) -> Value:
    """Return an entry of an array at any place."""
    if not isinstance(value, Array):
        return value
    return value.entry(*(index(f"place_{axis}") for axis in range(len(value.shape))))


def _with_plain_bounds(expression: Value) -> Value:
    """Return an expression in which every index of a sum has the name of its depth."""
    sums = sorted(expression.atoms(Sum), key=lambda each: each.count_ops())
    for whole in sums:
        if len(whole.limits) == 1:
            place, low, high = whole.limits[0]
            depth = index(f"bound_{len(whole.function.atoms(Sum))}")
            new = Sum(whole.function.xreplace({place: depth}), (depth, low, high))
            expression = expression.xreplace({whole: new})
    return expression


def positive_under_logarithms(*expressions: Value) -> list[Assumption]:
    """Return the assumptions that all entries of an array under a logarithm are positive."""
    entries = {part for each in expressions for log_ in each.atoms(log) for part in log_.args[0].atoms(Indexed)}
    return [_positive(entry) for _, entry in sorted({entry.base: entry for entry in entries}.items(), key=str)]


def _positive(entry: Indexed) -> Assumption:
    """Return the assumption that all entries of an array under a logarithm are positive."""
    places = tuple(index(f"place_{number}") for number in range(len(entry.indices)))
    statement = Gt(entry.base[places], 0, evaluate=False)
    sizes = dict(zip(places, entry.base.shape, strict=True))
    return Assumption(statement, sizes, "what stands under a logarithm is positive")


def free_places(expression: Basic, bound: frozenset[Basic]) -> Iterator[tuple[Symbol, Expr]]:
    """Yield the indices that are not bound, with the sizes of the axes they stand on."""
    if isinstance(expression, Indexed):
        for place, size in zip(expression.indices, expression.base.shape, strict=True):
            if isinstance(place, Symbol) and place not in bound:
                yield place, size
        return
    if isinstance(expression, Member) and isinstance(expression.args[1], Symbol) and expression.args[1] not in bound:
        yield expression.args[1], total(expression.args[0].shape[0])
    inner = bound.union(getattr(expression, "bound_symbols", ()), getattr(expression, "variables", ()))
    for part in expression.args:
        yield from free_places(part, inner)
