"""The formulas that are known, by their fingerprints.

Definition   a known formula is a form of a concept of the catalogue, as an expression of entries; its weight counts
             functions, sums, roots and powers, for what is light is one edit away from everything
Result       `known_as(expression)` are the known formulas that an expression is: found by fingerprint, and proved by
             the judge
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from typing import Any

from sympy import Expr, Indexed, Max, Min, Pow, Sum, Symbol, cos, erf, exp, log, preorder_traversal, sin, tanh

from derivations.documents.budget import TooCostly, budget_of, spend
from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.equations import Equation
from derivations.documents.canon.forms import Form
from derivations.documents.canon.measure_equations import MEASURES
from derivations.documents.canon.norm_equations import NORMS
from derivations.documents.canon.running_equations import RUNNING
from derivations.documents.canon.scalar_sampling import NoNumber
from derivations.documents.canon.training_equations import TRAINING
from derivations.documents.nearest.fingerprint import Fingerprint, Plain, fingerprint, plain, profile
from derivations.documents.nearest.matching import UNNAMED, is_proved_same
from derivations.language.arrays.expression import Array, array
from derivations.symbols import index

__all__ = ["Known", "is_of_a_known_size", "known_as"]

WEIGHTS = re.compile(r"(bold )?(W|w|weight)(?![a-z])")
EQUATIONS = (*TRAINING, *RUNNING, *MEASURES, *NORMS)
LOOK_UP = 300  # steps of whoever asks
STEPS = 20_000  # of one look-up, renamings that the judge tries included
_FUNCTIONS = (exp, log, sin, cos, tanh, erf, Sum, Max, Min)


@dataclass(frozen=True)
class Known:
    """A known formula."""

    concept: Concept | Equation
    form: Form
    plain: Plain

    @property
    def title(self) -> str:
        """What it is the formula of."""
        return self.concept.title

    @property
    def weight(self) -> int:
        """How much stands in it by which it can be recognised."""
        roots = [each for each in self.plain.expression.atoms(Pow) if each.exp != -1]
        return len(self.plain.expression.atoms(*_FUNCTIONS)) + len(roots)


@dataclass(frozen=True)
class _Table:
    by_fingerprint: Mapping[Fingerprint, tuple[Known, ...]]
    first_numbers: Mapping[tuple[Any, ...], Collection[Any]]
    letters: frozenset[int]  # how many letters a known formula has


@cache
def _table() -> _Table:
    found: dict[Fingerprint, list[Known]] = defaultdict(list)
    numbers: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    with budget_of(inf, inf):  # reading the catalogue is no work of a formula
        for concept, forms in _formulas():
            for form in forms:
                try:
                    known = Known(concept, form, plain(_entry(form)))
                    print_ = fingerprint(known.plain)
                except NoNumber:
                    continue  # a function that is not known: an activation of any kind
                if print_ is not None:
                    found[print_].append(known)
                    numbers[profile(known.plain)].add(print_[1])
    return _Table({print_: tuple(all_) for print_, all_ in found.items()}, numbers, frozenset(map(_letters, numbers)))


def _formulas() -> Iterator[tuple[Concept | Equation, Iterable[Form]]]:
    for concept in CONCEPTS:
        yield concept, concept.forms()
    for equation in EQUATIONS:
        yield equation, equation.forms


def _entry(form: Form) -> Expr:
    value = form.value
    if isinstance(value, Array):
        return value.entry(*(index(f"place_{axis}") for axis in range(len(value.shape))))
    return value


def _letters(of: tuple[Any, ...]) -> int:
    """Return how many letters, numbers and sizes a profile counts."""
    _, arrays, scalars = of
    return len(arrays) + int(scalars)


def is_of_a_known_size(expression: Expr) -> bool:
    """Say whether some known formula has as many letters as an expression, or one more or less."""
    try:
        letters = _letters(profile(plain(expression)))
    except NoNumber:
        return False
    return any(abs(letters - each) <= 1 for each in _table().letters)


def known_as(expression: Expr) -> tuple[Known, ...]:
    """Return the known formulas that an expression is, with letters renamed, and weights stored either way."""
    found = _found(expression)
    if found:
        return found
    turned = _turned(expression)
    return () if turned == expression else _found(turned)


def _turned(expression: Expr) -> Expr:
    """Return an expression with the axes of every matrix of weights exchanged."""
    weights = [e for e in expression.atoms(Indexed) if len(e.indices) == 2 and WEIGHTS.match(str(e.base.label))]
    turned = {e: array(str(e.base.label), *e.base.shape[::-1]).entry(*e.indices[::-1]) for e in weights}
    return expression.xreplace(turned)


def _found(expression: Expr) -> tuple[Known, ...]:
    spend(LOOK_UP)
    return _found_unnamed(_unnamed(expression))


def _unnamed(expression: Expr) -> Expr:
    """Return an expression with its letters numbered as they come, for no formula is known by its letters."""
    letters = dict.fromkeys(part for part in preorder_traversal(expression) if isinstance(part, Symbol))
    return expression.xreplace(
        {
            letter: Symbol(f"{UNNAMED if letter.name.startswith(UNNAMED) else 'letter_'}{at}", **letter.assumptions0)
            for at, letter in enumerate(letters)
        }
    )


@lru_cache(maxsize=4096)
def _found_unnamed(expression: Expr) -> tuple[Known, ...]:
    """Look an expression up, at a cost of its own, so that a formula met before is judged no other way."""
    with suppress(TooCostly), budget_of(STEPS, inf):
        return tuple(_proved(expression))
    return ()


def _proved(expression: Expr) -> Iterator[Known]:
    table = _table()
    try:
        here = plain(expression)
        print_ = fingerprint(here, table.first_numbers)
    except NoNumber:
        return
    if print_ is not None and print_ in table.by_fingerprint:
        for group in _groups(print_):
            if is_proved_same(here, group[0].plain):
                yield from group


@cache
def _groups(print_: Fingerprint) -> tuple[tuple[Known, ...], ...]:
    """Return the known formulas of one fingerprint; those in a group are proved to be renamings of each other.

    What is the first one of a group is all of them, so that the judge is asked once for each group: a product of two
    matrices is the formula of two dozen concepts.
    """
    groups: list[list[Known]] = []
    with budget_of(inf, inf):
        for known in _table().by_fingerprint[print_]:
            for group in groups:
                first = group[0].plain
                if is_proved_same(known.plain, first) and is_proved_same(first, known.plain):
                    group.append(known)
                    break
            else:
                groups.append([known])
    return tuple(map(tuple, groups))
