r"""The judge's decision about two scalars of a document, and the conditions under which it holds.

Definition   both sides are given to the judge as they stand (`literal_scalars`), with no other assumption than that
             letters are real numbers, and those that the document makes sizes whole numbers of at least 1
Result       `decided(sides, ...)` of an equation that holds by rules which ignore where its sides are defined: a
             finding with the evidence of the judge, else one that is conditional on what is open. `provisos(sides)` are
             the conditions under which both sides are defined, as far as the judge does not settle them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sympy import Expr, Integer, Mul, Pow, Rational, exp, log

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.literal_scalars import Condition, Kind, Literally, literal
from derivations.documents.judge.algebra.readings import guessed
from derivations.documents.proving import are_equal, proved
from derivations.documents.scope import Scope
from derivations.documents.syntax import Node
from derivations.documents.verdicts import Finding

__all__ = ["Sides", "decided", "is_undefined", "provisos"]

CHECK = "chain"
_SAID: Mapping[Kind, str] = {"nonzero": "is not 0", "positive": "is positive", "nonnegative": "is not negative"}


@dataclass(frozen=True)
class Sides:
    """Two sides of a link as they are written, with their scope."""

    left: Node
    right: Node
    scope: Scope
    text: str

    @property
    def guesses(self) -> tuple[str, ...]:
        """The assumptions made when both sides are read as numbers."""
        return guessed(self.left, self.right, self.scope, self.text)

    def literally(self, values: Mapping[str, Expr] | None = None, *, by_spelling: bool = False) -> Literally | None:
        """Return both as expressions in which nothing is cancelled."""
        return literal(self.left, self.right, self.scope, values, guessed=by_spelling)


def decided(
    sides: Sides, reason: str, values: Mapping[str, Expr] | None = None, assumptions: tuple[str, ...] = ()
) -> Finding:
    """Return the finding for two sides that are equal by rules which ignore where a side is defined.

    Proved where the judge proves it of them as they stand; conditional on what is open and on what is guessed; unknown
    where the section gives letters numbers at which a side is not defined; holds where nothing is open, and the judge
    does not see it
    """
    found = sides.literally(values)
    guesses = sides.guesses
    if found is not None and not guesses:
        certain = proved(found.left, found.right, None, CHECK, reason)
        if certain is not None:
            return replace(certain, assumptions=assumptions)
    if is_undefined(sides):
        return Finding("unknown", CHECK, "a side is not defined at the numbers that are given")
    assumptions = (*assumptions, *guesses, *provisos(sides))
    where = "wherever both sides are defined" if assumptions else "as far as common factors were cancelled"
    return Finding("conditional" if assumptions else "holds", CHECK, f"{reason}, {where}", assumptions=assumptions)


def provisos(sides: Sides) -> tuple[str, ...]:
    """Return the conditions under which both sides are defined, without those that the judge can prove."""
    found = sides.literally(by_spelling=True)
    if found is None:
        return ("every part of it is defined",)
    said = (f"{formula_text(each.node, 'plain')} {_SAID[each.kind]}" for each in found.conditions if not _settled(each))
    return (*dict.fromkeys(said), *(f"{key} is a whole number of at least 1" for key in found.sizes))


def is_undefined(sides: Sides) -> bool:
    """Return whether a side is undefined at the numbers in it, or at those that the section gives to its letters."""
    found = sides.literally()
    for each in found.conditions if found is not None else ():
        values = {letter: _number(str(letter), sides.scope) for letter in each.value.free_symbols}
        if None not in values.values():
            number = each.value.xreplace(values).doit()
            fails = {"nonzero": number.is_zero, "positive": number.is_nonpositive, "nonnegative": number.is_negative}
            if fails[each.kind]:
                return True
    return False


def _number(key: str, scope: Scope) -> Expr | None:
    """Return the one number that the section gives to a letter."""
    numbers = {value for value in scope.values_of(key) if value.is_Rational}
    numbers |= {Rational(each.value.numerator, each.value.denominator) for each in scope.numbers_in_reach(key)}
    return next(iter(numbers)) if len(numbers) == 1 else None


def _settled(condition: Condition) -> bool:
    """Return whether the judge can prove a condition, tested by an equation that holds only under it."""
    value = condition.value
    match condition.kind:
        case "nonzero":
            first, second = Mul(value, Pow(value, -1, evaluate=False), evaluate=False), Integer(1)
        case "positive":
            first, second = exp(log(value, evaluate=False), evaluate=False), value
        case _:
            first, second = Pow(Pow(value, Rational(1, 2), evaluate=False), 2, evaluate=False), value
    return are_equal(first, second)
