"""A published formula, and its difference from the counts of the equations, explained term by term.

A formula keeps the letters of its paper, each bound to a size or a cost of the subject. Its departures are data: a
factor times a cost, which the equations give. The explanation is checked: the difference minus the named departures is
the remainder, `unexplained`, which is 0 or shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sympy import Expr, Integer, Rational, Symbol, expand

from derivations.costs.published.subject import Subject
from derivations.symbols import d_ff, d_k, d_model, d_v, h

__all__ = [
    "HEADS",
    "WIDTHS",
    "Departure",
    "Difference",
    "Letter",
    "Published",
    "Reading",
    "Relations",
    "Term",
    "difference",
    "letter",
]

Reading = Callable[[Subject], Expr]
Relations = tuple[tuple[Symbol, Expr], ...]

HEADS: Relations = ((d_v, d_k),)
WIDTHS: Relations = ((d_k, d_model / h), (d_v, d_model / h), (d_ff, 4 * d_model))


@dataclass(frozen=True)
class Letter:
    """A letter of a paper: the symbol, its meaning there, and a function that computes its value for a model."""

    symbol: Symbol
    meaning: str
    reading: Reading


def letter(name: str, meaning: str, of: Expr | Reading) -> Letter:
    """Return a letter, bound to a size or to a cost of the subject."""
    fixed = of if isinstance(of, Expr) else None
    reading: Reading = of if fixed is None else lambda subject: fixed
    return Letter(Symbol(name, positive=True), meaning, reading)


@dataclass(frozen=True)
class Departure:
    """A cost that the formula counts `factor` times more often than the equations (less often if negative), and why."""

    factor: Rational
    cost: str
    reading: Reading
    why: str


@dataclass(frozen=True)
class Published:
    """A formula as its paper prints it.

    `title` names the quantity, `convention` describes how the paper counts it; `derived` gives the same quantity from
    the equations, and `against` describes that; `relations` are relations of sizes that the paper assumes.

    Units        those in `units`
    """

    id: str
    title: str
    expression: Expr
    letters: tuple[Letter, ...]
    units: str
    convention: str
    source: str
    derived: Reading
    against: str
    departures: tuple[Departure, ...] = ()
    relations: Relations = ()
    any_decoder: bool = False  # what it counts is bound to costs alone, so that any decoder will do

    def __post_init__(self) -> None:
        """Refuse a formula with a letter that is not bound."""
        unknown = self.expression.free_symbols - {each.symbol for each in self.letters}
        if unknown:
            names = ", ".join(sorted(map(str, unknown)))
            raise ValueError(f"{self.id}: the formula has the letter {names}, which is bound to nothing; add it")

    def bound(self, subject: Subject) -> Expr:
        """Return the formula in the sizes of a subject."""
        return self.expression.xreplace({each.symbol: each.reading(subject) for each in self.letters})


@dataclass(frozen=True)
class Term:
    """One departure and its value."""

    departure: Departure
    value: Expr


@dataclass(frozen=True)
class Difference:
    """A published formula minus the count of the equations, under the relations of the formula."""

    formula: Published
    subject: Subject
    published: Expr
    derived: Expr
    value: Expr
    terms: tuple[Term, ...]
    unexplained: Expr

    @property
    def exact(self) -> bool:
        """Whether the formula equals the count of the equations."""
        return self.value == 0

    def checked(self) -> Difference:
        """Return this difference if it is explained.

        Raises       ValueError if the named departures do not add up to it
        """
        if self.unexplained != 0:
            raise ValueError(
                f"{self.formula.id}: {self.unexplained} of the difference {self.value} is unexplained; name where it "
                "comes from as a departure"
            )
        return self

    def at(self, lengths: Mapping[Symbol, int]) -> tuple[Rational, Rational]:
        """Return the values of the formula and of the equations for the sizes of the subject and these lengths.

        Raises       ValueError if the sizes do not satisfy the relations that the formula assumes
        """
        values = {symbol: Integer(value) for symbol, value in {**self.subject.model.values, **lengths}.items()}
        for size, expression in self.formula.relations:
            if size in values and values[size] != expression.xreplace(values):
                raise ValueError(
                    f"{self.formula.id}: {self.subject.model.name} has {size} = {values[size]}, where the formula "
                    f"takes {expression} for given; it is not about this model"
                )
        published, derived = self.published.xreplace(values), self.derived.xreplace(values)
        for number in (published, derived):
            if not isinstance(number, Rational):
                missing = ", ".join(sorted(map(str, number.free_symbols)))
                raise ValueError(f"{self.formula.id}: no number is given for {missing}; add it to the lengths")
        return published, derived


def difference(published: Published, derived: Subject) -> Difference:
    """Return the difference of a published formula from the costs of a subject, with its explanation.

    Definition   value = published - derived, expanded under the relations of the formula; a term for each departure;
                 unexplained = value - the sum of the terms
    Units        those of the formula
    """
    relations = dict(published.relations)

    def related(expression: Expr) -> Expr:
        return expand(expression.xreplace(relations))

    formula, counted = related(published.bound(derived)), related(published.derived(derived))
    value = expand(formula - counted)
    terms = tuple(Term(each, related(each.factor * each.reading(derived))) for each in published.departures)
    left = expand(value - sum((term.value for term in terms), Integer(0)))
    present = tuple(term for term in terms if term.value != 0)
    return Difference(published, derived, formula, counted, value, present, left)
