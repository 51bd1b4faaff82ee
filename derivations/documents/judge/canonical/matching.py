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
    """A form that a formula equals. `same` is false if only the fast numerical check shows it."""

    form: Form
    assignment: Assignment
    same: bool = True


def equal_forms(right: Node, assignment: Assignment, reader: Reader | None = None) -> Iterator[Match]:
    """Yield the forms that a right side equals under an assignment. A reader can be used for several formulas."""
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
    """Return a reader of formulas under an assignment."""
    return Reader(dict(assignment.meaning), assignment.indices, assignment.columns)


def reads(right: Node, reader: Reader) -> bool:
    """Return whether a right side can be read as an expression."""
    try:
        reader.value(right)
    except NOT_BUILT:
        return False
    return True


class Filter:
    """A fast filter for formulas of entries: it rules out those whose value differs from every form."""

    def __init__(self, assignment: Assignment) -> None:
        """Compute the values of the forms of an assignment."""
        self.entries = EntryNumbers(dict(assignment.meaning), assignment.indices)
        numbers = (_target_numbers(target) for _, target in assignment.targets)
        self.wanted = [found[1][0] for found in numbers if found is not None and found[0] == ()]

    def may_equal(self, node: Node) -> bool:
        """Return whether a formula may be one of the forms."""
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
    """Return whether two expressions are the same, or the judge proves them equal.

    This does not prove that the formula was read as its author meant it.
    """
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
    """Return the entry of an array at symbolic indices."""
    if not isinstance(value, Array):
        return value
    return value.entry(*(index(f"place_{axis}") for axis in range(len(value.shape))))


def _with_plain_bounds(expression: Value) -> Value:
    """Return an expression in which the index of every sum is renamed by its depth."""
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
    """Yield the free indices of an expression, with the sizes of their axes."""
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
