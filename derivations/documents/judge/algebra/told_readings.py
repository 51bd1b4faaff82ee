r"""Moments of random letters that the section states, for the numbers of means and variances.

Definition   a section tells of a letter its mean, E[W_{kp}] = 0, its mean square, E[x_k^2] = v or
             E[W_{kp} W_{lq}] = \sigma^2 \delta_{kl} \delta_{pq}, or its variance, where its mean is 0
Result       `told_slip(statement, left, right, scope)`: the side that is mended, the slip, and what is told, where two
             sides differ with the moments that are told and one edit makes them equal; else None
Assumes      each random letter of the sides is told of, once, and no entries of it are correlated; what may be 0 or 1,
             a mask, is left alone, and so is what holds under a condition
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.free_letters import indices_below, letters_of
from derivations.documents.judge.algebra.moment_numbers import Reading, differ, values
from derivations.documents.judge.algebra.moment_slips import inner_letters, moment_edits, outside_letters
from derivations.documents.judge.algebra.sampled import DELTAS, tops_of
from derivations.documents.judge.algebra.scalar_letters import VARIANCES, is_moment, is_size
from derivations.documents.judge.algebra.telling_apart import agree
from derivations.documents.judge.algebra.told_moments import statements_near
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number, Power, Product, rebuilt

__all__ = ["ToldSlip", "told_slip"]

MOST_NODES = 100
ONE = Number("1", Fraction(1))
MEAN, SQUARE, MIXED = 1, 2, 0  # powers of which a moment is told; MIXED of two entries that are correlated
ZERO_OR_ONE = re.compile(r"mask|bernoulli|dropout|0 or 1|binary|indicator")
SIGNS = re.compile(r"\bsigns?\b|ternary|quanti[sz]")
CORRELATED = re.compile(r"(?<!un)correlated|(?<!in)dependent")


@dataclass(frozen=True)
class ToldSlip:
    """A side as it is mended, the slip in words, and the equations that tell of its letters."""

    side: Node
    slip: str
    told: tuple[str, ...]


@dataclass(frozen=True)
class _Told:
    """A moment of a letter: of which power, its value, and the equation."""

    letter: Name
    power: int
    value: Node
    text: str


def told_slip(statement: Statement, left: Node, right: Node, scope: Scope) -> ToldSlip | None:
    """Return what makes two sides equal that differ with the moments that the section tells."""
    if statement.chain.condition is not None or is_condition(statement):
        return None
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES or _tells(left, right):
        return None
    outside = outside_letters(left, right)
    letters = {name for side in (left, right) for name in inner_letters(side)}
    letters = {name for name in letters if name.key not in outside | tops_of(left, right)}
    letters = {name for name in letters if not (is_size(name) and name.base == "d")}
    if not letters or any(len(name.base) > 1 or not name.base.isascii() or is_size(name) for name in letters):
        return None  # h_i may be random, and is a size by its form; a noise may be Greek
    found = list(_moments(statement, scope))
    told = _of_letters(letters, found)
    if told is None or _is_otherwise(letters, statement, scope):
        return None
    inside = {name.key for each in told.values() for name in letters_of(each)}
    reading = Reading(fixed=outside | inside, told=told)
    if not all(differ(left, right, each) for each in _others(reading, statement, scope)):
        return None
    texts = tuple(dict.fromkeys(each.text for each in found if (each.letter.base, each.power) in told))
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in moment_edits(side):
            pairs = values(edit, other, reading) if bare(edit) != bare(other) else None
            if pairs and all(map(all, pairs)) and differ(edit, other, reading) is False:
                return ToldSlip(edit, f"{slip}, on the {where}", texts)
    return None


def _others(reading: Reading, statement: Statement, scope: Scope) -> Iterator[Reading]:
    """Yield what may be so: all entries are one variable; where a mean square is a number, all are signs."""
    yield from (reading, replace(reading, alike=True))
    told = reading.told.items()
    square = any(power == SQUARE and isinstance(bare(value), Number) for (_, power), value in told)
    if square or SIGNS.search(scope.section_words(statement).lower()):
        yield from (replace(reading, signs=True), replace(reading, signs=True, alike=True))


def _is_otherwise(letters: set[Name], statement: Statement, scope: Scope) -> bool:
    """Say whether words speak of what is 0 or 1, or of what is correlated, and no equation keeps the letters apart."""
    words = scope.section_words(statement).lower()
    if ZERO_OR_ONE.search(words):
        return True
    few = not any(map(indices_below, letters)) and any(
        _keeps_apart(each, letters) for each in statements_near(statement, scope)
    )
    return CORRELATED.search(words) is not None and not few


def _keeps_apart(statement: Statement, letters: set[Name]) -> bool:
    """Say whether an equation says that the letters are uncorrelated: E[s t] = E[s] E[t]."""
    match statement.chain.sides:
        case (Call(arguments=(Product(factors=factors),)) as mean, Product(factors=means)) if is_moment(mean):
            inside = [each.arguments[0] for each in means if is_moment(each)]
            return set(factors) == letters and sorted(map(formula_text, inside)) == sorted(map(formula_text, factors))
    return False


def _tells(left: Node, right: Node) -> bool:
    """Say whether an equation tells of the moment of a letter, or sets a letter that is no size of a sum in it."""
    tops = tops_of(left, right)
    sides = [bare(side) for side in (left, right)]
    return any((isinstance(each, Name) and each.key not in tops) or _letter_of(each) is not None for each in sides)


def _of_letters(letters: set[Name], found: list[_Told]) -> dict[tuple[str, int], Node] | None:
    """Return the moments of letters by power; None where one is told nothing of, two things, or of mixed entries."""
    told: dict[tuple[str, int], Node] = {}
    for base in {name.base for name in letters}:
        own = [each for each in found if each.letter.base == base]
        entries = [name for name in letters if name.base == base]
        if not own or not all(_covers(each.letter, name) for each in own for name in entries):
            return None
        for each in own:
            if each.power == MIXED or not agree(told.setdefault((base, each.power), each.value), each.value):
                return None
    return told


def _covers(letter: Name, entry: Name) -> bool:
    """Say whether what is told of a letter is told of an entry: of the same one, or of all by any index or by none."""
    if letter == entry or not letter.subscripts:
        return True
    return len(letter.subscripts) == len(entry.subscripts) == len(indices_below(letter))


# --- what is told ---


def _moments(statement: Statement, scope: Scope) -> Iterator[_Told]:
    """Yield the moments that the section tells of letters."""
    centred: set[str] = set()
    variances: list[_Told] = []
    for other in statements_near(statement, scope):
        if other.chain.relations != ("=",):
            continue
        moment, value = other.chain.sides
        told = _letter_of(moment)
        if told is None:
            continue
        letter, power, apart = told
        plain = _without_deltas(bare(value))
        if any(is_moment(part) for part in value.walk()) or indices_below(plain):
            continue
        is_mixed = apart and plain == bare(value)
        each = _Told(letter, MIXED if is_mixed else power, plain, f"{formula_text(moment)} = {formula_text(value)}")
        if isinstance(moment, Call) and moment.function.base in VARIANCES:
            variances.append(each)
            continue
        if power == MEAN and isinstance(plain, Number) and not plain.value:
            centred.add(letter.base)
        yield each
    yield from (each for each in variances if each.letter.base in centred)


def _letter_of(moment: Node) -> tuple[Name, int, bool] | None:
    """Return the letter of a moment, its power, and whether two entries of it are multiplied; else None."""
    if not is_moment(moment) or len(moment.arguments) != 1:
        return None
    power = SQUARE if moment.function.base in VARIANCES else MEAN
    match bare(moment.arguments[0]):
        case Name(superscripts=(), primes=0, accent="") as letter:
            return letter, power, False
        case Power(base=Name(superscripts=(), primes=0, accent="") as letter, exponent=Number(value=value)) if (
            value == SQUARE and power == MEAN
        ):
            return letter, SQUARE, False
        case Product(factors=(Name() as letter, Name() as other)) if letter.base == other.base and power == MEAN:
            return letter, SQUARE, letter != other
    return None


def _without_deltas(value: Any) -> Any:
    """Return a value with 1 for Kronecker's deltas, as for one entry."""
    if isinstance(value, Name) and value.base in DELTAS:
        return ONE
    return rebuilt(value, _without_deltas)
