"""The known formulas, indexed by their fingerprints.

Definition   a known formula is a form of a concept of the catalogue, as an expression of entries; its weight counts
             functions, sums, roots and powers, for what is light is one edit away from everything
Result       `known_as(expression)` are the known formulas that an expression is: found by fingerprint, and proved by
             the judge
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import inf
from typing import Any

from sympy import Expr, Indexed, Max, Min, Pow, Sum, Symbol, cos, erf, exp, log, preorder_traversal, sin, tanh

from derivations.documents.budget import TooCostly, budget_of, spend
from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.equations import Equation
from derivations.documents.canon.forms import Form
from derivations.documents.canon.scalar_sampling import NoNumber
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated
from derivations.documents.elaborate.typings import again
from derivations.documents.nearest.fingerprint import Fingerprint, Plain, fingerprint, plain, profile
from derivations.documents.nearest.matching import UNNAMED, WEIGHTS, is_proved_same
from derivations.documents.nearest.quick import QUICK, Quick
from derivations.documents.scope import Scope
from derivations.documents.syntax import Node
from derivations.language.arrays.expression import Array, array
from derivations.symbols import index

__all__ = [
    "Known",
    "is_of_a_known_size",
    "known_as",
    "known_under",
    "may_be_known",
    "strange_letters",
    "typings_of",
]

LOOK_UP = 300  # steps of whoever asks
STEPS = 20_000  # of one look-up, renamings that the judge tries included
_FUNCTIONS = (exp, log, sin, cos, tanh, erf, Sum, Max, Min)


@dataclass(frozen=True)
class Known:
    """A formula of the catalogue or the handbook: its concept, its form, and the form without idle axes."""

    concept: Concept | Equation
    form: Form
    plain: Plain

    @property
    def title(self) -> str:
        """The title of the concept that the formula belongs to."""
        return self.concept.title

    @property
    def weight(self) -> int:
        """The number of functions, sums, roots and powers by which the formula can be recognised."""
        roots = [each for each in self.plain.expression.atoms(Pow) if each.exp != -1]
        return len(self.plain.expression.atoms(*_FUNCTIONS)) + len(roots)


@dataclass(frozen=True)
class _Table:
    by_fingerprint: Mapping[Fingerprint, tuple[Known, ...]]
    first_numbers: Mapping[tuple[Any, ...], Collection[Any]]
    letters: frozenset[int]  # how many letters a known formula has
    grouped: dict[Fingerprint, tuple[tuple[Known, ...], ...]] = field(default_factory=dict)

    def groups(self, print_: Fingerprint | None) -> tuple[tuple[Known, ...], ...]:
        """Return the formulas of a fingerprint in groups, which are computed on first use."""
        if print_ is None or print_ not in self.by_fingerprint:
            return ()
        if print_ not in self.grouped:
            self.grouped[print_] = _grouped(self.by_fingerprint[print_])
        return self.grouped[print_]


@cache
def _table(of: tuple[Concept | Equation, ...]) -> _Table:
    """Return a table of the known formulas of some concepts, indexed by fingerprint."""
    found: dict[Fingerprint, list[Known]] = defaultdict(list)
    numbers: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    with budget_of(inf, inf):  # reading the catalogue is no work of a formula
        for concept in of:
            alike: dict[object, Known] = {}  # typings of one formula may differ in nothing but idle axes
            for form in concept.forms() if isinstance(concept, Concept) else concept.forms:
                with suppress(NoNumber):  # of a function that is not known: an activation of any kind
                    known = Known(concept, form, plain(_entry(form)))
                    alike.setdefault(_without_names(known.plain.expression), known)
            for known in alike.values():
                with suppress(NoNumber):
                    print_ = fingerprint(known.plain)
                    if print_ is not None:
                        found[print_].append(known)
                        numbers[profile(known.plain)].add(print_[1])
    return _Table({print_: tuple(all_) for print_, all_ in found.items()}, numbers, frozenset(map(_letters, numbers)))


def _tables(quoted: Sequence[Equation]) -> Iterator[_Table]:
    yield _table(CONCEPTS)
    yield from (_table((each,)) for each in quoted)


def _entry(form: Form) -> Expr:
    value = form.value
    if isinstance(value, Array):
        return value.entry(*(index(f"place_{axis}") for axis in range(len(value.shape))))
    return value


def _letters(of: tuple[Any, ...]) -> int:
    """Return the number of arrays and scalars in a profile."""
    _, arrays, scalars = of
    return len(arrays) + int(scalars)


def is_of_a_known_size(side: Quick, quoted: Sequence[Equation] = ()) -> bool:
    """Return whether some known formula has as many letters as a side, or one more or less."""
    with suppress(NoNumber):
        return any(abs(side.letters - each) <= 1 for table in _tables(quoted) for each in table.letters)
    return False


def _distinct(typings: Iterable[Elaborated]) -> list[Elaborated]:
    """Return the typings without duplicates, which differ only in names and idle axes."""
    found: dict[object, Elaborated] = {}
    for typing in typings:
        side = Quick(typing.sides[0])
        try:
            found.setdefault(side.nameless, typing)
        except NoNumber:
            found[side] = typing
    return list(found.values())


def may_be_known(side: Quick, quoted: tuple[Equation, ...] = ()) -> bool:
    """Return whether the fingerprint of some known formula begins with the numbers of a side."""
    with suppress(NoNumber):
        known = _all_numbers(quoted)
        return any(each.numbers in known for each in side.readings)
    return False


@lru_cache(maxsize=64)
def _all_numbers(quoted: tuple[Equation, ...]) -> frozenset[Any]:
    return frozenset().union(*(each for table in _tables(quoted) for each in table.first_numbers.values()))


def known_under(typing: Elaborated, side: Node, quoted: tuple[Equation, ...] = ()) -> Iterator[tuple[Known, Expr]]:
    """Yield the known formulas that a side equals under a typing, each with the expression of the side."""
    if may_be_known(Quick(typing.sides[0]), quoted):
        with suppress(NotElaborated):
            (expression,) = again((side,), typing).sides
            yield from ((known, expression) for known in known_as(expression, quoted))


def typings_of(side: Node, scope: Scope, around: Sequence[Node]) -> list[Elaborated]:
    """Return the typings of a side, with letters for parts without a known meaning. There may be none."""
    try:
        return _distinct(elaborated((side,), scope, around, uninterpreted=True, algebra=QUICK))
    except (NotElaborated, NoNumber):
        return []


def known_as(expression: Expr, quoted: tuple[Equation, ...] = ()) -> tuple[Known, ...]:
    """Return the known formulas that an expression equals, up to renamed letters and transposed weights.

    Those of the handbook are looked up where they are `quoted`; one may have `strange_letters`.
    """
    found = _found(expression, quoted)
    if not found and (turned := _turned(expression)) != expression:
        found = _found(turned, quoted)
    return found


def strange_letters(expression: Expr, known: Known) -> str:
    """Return a text that names the letters in the wrong role in a known formula, or "" if there are none."""
    family = {name.key for name in known.concept.family} if isinstance(known.concept, Equation) else set()
    if not family:
        return ""
    here, there = (
        {symbol.name.partition("[")[0] for symbol in each.atoms(Symbol)} & family
        for each in (expression, known.plain.expression)
    )
    if here <= there or there <= here:
        return ""  # none stands in the place of another one
    return f"{' and '.join(sorted(there - here))} belongs where {' and '.join(sorted(here - there))} stands"


def _turned(expression: Expr) -> Expr:
    """Return an expression with the axes of every matrix of weights exchanged."""
    weights = [e for e in expression.atoms(Indexed) if len(e.indices) == 2 and WEIGHTS.match(str(e.base.label))]
    turned = {e: array(str(e.base.label), *e.base.shape[::-1]).entry(*e.indices[::-1]) for e in weights}
    return expression.xreplace(turned)


def _found(expression: Expr, quoted: tuple[Equation, ...]) -> tuple[Known, ...]:
    spend(LOOK_UP)
    return _looked_up(_Nameless(_without_names(expression), expression), quoted)


def _without_names(expression: Expr) -> tuple[object, ...]:
    """Return the structure of an expression without names: its letters are numbered in order of appearance."""
    numbers: dict[Symbol, int] = {}
    found: list[object] = []
    for part in preorder_traversal(expression):
        if isinstance(part, Symbol):
            at = numbers.setdefault(part, len(numbers))
            found.append((at, part.is_integer, part.is_positive, part.name.startswith(UNNAMED)))
        else:
            found.append((part.func, len(part.args)) if part.args else part)
    return tuple(found)


@dataclass(frozen=True)
class _Nameless:
    """An expression that compares equal to all that differ from it only in names."""

    key: tuple[object, ...]
    expression: Expr = field(compare=False)


@lru_cache(maxsize=4096)
def _looked_up(nameless: _Nameless, quoted: tuple[Equation, ...]) -> tuple[Known, ...]:
    """Return the known formulas that an expression equals, or none if that exceeds its separate budget."""
    with suppress(TooCostly), budget_of(STEPS, inf):
        return tuple(_proved(nameless.expression, quoted))
    return ()


def _proved(expression: Expr, quoted: tuple[Equation, ...]) -> Iterator[Known]:
    try:
        here = plain(expression)
        counted = profile(here)
        tables = [table for table in _tables(quoted) if counted in table.first_numbers]
        print_ = fingerprint(here, [table.first_numbers[counted] for table in tables])
    except NoNumber:
        return
    for table in tables:
        for group in table.groups(print_):
            if is_proved_same(here, group[0].plain):
                yield from group


def _grouped(formulas: Iterable[Known]) -> tuple[tuple[Known, ...], ...]:
    """Return formulas of one fingerprint in groups; those in a group are proved to be renamings of each other.

    What is the first one of a group is all of them, so that the judge is asked once for each group: a product of two
    matrices is the formula of two dozen concepts.
    """
    groups: list[list[Known]] = []
    with budget_of(inf, inf):
        for known in formulas:
            for group in groups:
                first = group[0].plain
                if is_proved_same(known.plain, first) and is_proved_same(first, known.plain):
                    group.append(known)
                    break
            else:
                groups.append([known])
    return tuple(map(tuple, groups))
