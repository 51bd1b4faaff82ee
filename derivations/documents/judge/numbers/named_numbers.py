r"""A name that is given a number: `y_1 \approx \frac{7.39}{10.11}`, `Gradient = 0.73 \times (1 - 0.73)`, `y = 0.73`.

Definition   the first side of a chain is a name, the next an expression of numbers alone, or a decimal fraction, or of
             letters whose values are the number after it; whole numbers that letters are set to are a matter of the
             scope
Result       holds        names in a row, or a letter whose values give what follows, and the section gives no other
             conditional  an entry of the softmax of a list that the section shows; a number near 1 of which the section
                          subtracts from 1, where one digit of the difference is left
             wrong        no entry of that softmax, where every term of its sum was written before
             nothing      where the section gives the name another number
Assumes      numbers of a softmax agree within 0.5%, the rounding of their terms apart
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Rational

from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.number_links import CHECK, touch
from derivations.documents.judge.numbers.printed import decimal, printed
from derivations.documents.judge.numbers.sums import WrittenOut, written_out
from derivations.documents.judge.numbers.values import Enclosure, enclose
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Quotient, Sum, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_named_numbers"]

SETS = ("=", ":=", "≡", "≈", "≃", "∼")
CONSTANTS = ("e", "π", "pi")
CLOSE, FAR = Fraction(5, 1000), Fraction(5, 100)
ONE_DIGIT = 10  # units of the last digit


def check_named_numbers(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about a number that is given to one or several names."""
    sides, relations = statement.chain.sides, statement.chain.relations
    if link is None or relations[link] not in SETS or not all(_is_named(each) for each in sides[: link + 1]):
        return
    name, given = sides[link : link + 2]
    assert isinstance(name, Name)
    value = _number(given)
    if _is_named(given):
        yield from _names_in_a_row(statement, link, scope)
    elif value is not None:
        yield from _given(statement, name, given, value, scope)
    else:
        yield from _by_what_follows(statement, link, scope)


def _is_named(side: Node) -> bool:
    return isinstance(side, Name) and bool(side.base) and side.key not in CONSTANTS


def _number(node: Node) -> Enclosure | None:
    """Return the number that a side without letters means; None for a whole number alone, which sets a size."""
    shown = printed(node)
    if any(isinstance(part, Name) and part.key not in CONSTANTS for part in node.walk()):
        return None
    if (shown is not None and shown.exact) or any(isinstance(part, Number) and part.unit for part in node.walk()):
        return None
    return enclose(node)


def _names_in_a_row(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield the finding that several names have the value that follows them: `d_k = d_v = 512 / 8`."""
    names = [each for each in statement.chain.sides[: link + 2] if isinstance(each, Name)]
    following = (enclose(each) for each in statement.chain.sides[link + 2 :])
    value = next((each for each in following if each is not None), None)
    if value is not None and all(_may_be(name, value, scope) for name in names):
        yield Finding("holds", CHECK, f"{' and '.join(each.key for each in names)} are both {decimal(value)}")


def _by_what_follows(statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield the finding that names equal a formula whose letters give the number after it: `c = D / m = 512 / 8`."""
    names = [each for each in statement.chain.sides[: link + 1] if isinstance(each, Name)]
    given, *others = statement.chain.sides[link + 1 :]
    value, following = enclose(given, letters_of(scope)), next((each for each in map(enclose, others) if each), None)
    if value is None or following is None or not (value.exact and value == following):
        return
    if statement.chain.relations[link] in ("=", ":=", "≡") and all(_may_be(name, value, scope) for name in names):
        yield Finding("holds", CHECK, f"{names[-1].key} is {decimal(value)}, as what follows says")


def _may_be(name: Name, value: Enclosure, scope: Scope) -> bool:
    """Return whether the section gives a name no other value."""
    known = scope.value(name)
    number = Fraction(known.p, known.q) if isinstance(known, Rational) else letters_of(scope)(name)
    return not isinstance(number, Fraction) or abs(number - value.middle) <= CLOSE * abs(number)


def _given(statement: Statement, name: Name, given: Node, value: Enclosure, scope: Scope) -> Iterator[Finding]:
    softmax = _softmax(statement, name, scope)
    if softmax is not None:
        yield from _against(softmax, name, given, value)
    elif _loses_digits(statement, name, given, scope):
        reason = f"1 - {name.key} is used, and of 1 - {decimal(value, 12)} one digit is left"
        yield Finding("conditional", CHECK, reason, assumptions=("one digit of the difference from 1 is enough",))


# --- an entry of a softmax ---


@dataclass(frozen=True)
class _Softmax:
    """The softmax of a list in the section, and the position of the entry that a name stands for."""

    over: WrittenOut
    values: tuple[Enclosure, ...]
    place: int


def _softmax(statement: Statement, name: Name, scope: Scope) -> _Softmax | None:
    """Return the softmax of which a numbered name is an entry, if the section defines it as a quotient by a sum."""
    number = name.subscripts[0] if len(name.subscripts) == 1 else None
    if not isinstance(number, Number):
        return None
    for earlier in scope.earlier(statement):
        defined, *others = earlier.chain.sides
        if not (isinstance(defined, Name) and defined.base == name.base and len(defined.subscripts) == 1):
            continue
        quotient = next((each for each in others if isinstance(each, Quotient)), None)
        index = defined.subscripts[0]
        out = written_out(statement, quotient, scope) if quotient is not None and isinstance(index, Name) else None
        if out is None or number.value.denominator != 1 or not 1 <= number.value <= len(out.entries):
            continue
        values = [enclose(_at(out, index, entry), bits=256) for entry in out.entries]
        known = tuple(value for value in values if value is not None)
        return _Softmax(out, known, int(number.value) - 1) if len(known) == len(values) else None
    return None


def _at(out: WrittenOut, index: Node, entry: Number) -> Node:
    """Return the quotient of a softmax with one entry of the list in place of the indexed letter."""

    def put(node: Any) -> Any:
        if isinstance(node, Name) and node.base == out.letter and node.subscripts == (index,):
            return entry
        return rebuilt(node, put)

    found: Node = put(out.node)
    return found


def _against(softmax: _Softmax, name: Name, given: Node, value: Enclosure) -> Iterator[Finding]:
    right, over = softmax.values[softmax.place], softmax.over
    spread = enclose(given, spread=True)
    if _near(value, right, CLOSE * abs(right.middle)) or (spread is not None and touch(spread, right)):
        yield Finding("conditional", CHECK, f"{name.key} is {decimal(right)}, as said", assumptions=(over.over,))
    elif over.certain and not any(_near(value, each, FAR) for each in softmax.values):
        reason = f"with {over.over} {name.key} is {decimal(right)}, not {decimal(value)}"
        yield Finding("wrong", CHECK, reason, right=decimal(right))


def _near(first: Enclosure, second: Enclosure, distance: Fraction) -> bool:
    return abs(first.middle - second.middle) <= distance


# --- digits that are lost ---


def _loses_digits(statement: Statement, name: Name, given: Node, scope: Scope) -> bool:
    """Return whether a name has a rounded value near 1 in a section that subtracts it from 1."""
    shown = printed(given)
    if shown is None or not 0 < 1 - shown.value < ONE_DIGIT * 2 * shown.half_unit:
        return False
    sums = (part for each in scope.earlier(statement) for part in each.chain.walk() if isinstance(part, Sum))
    return any(_is_rest(part, name) for part in sums)


def _is_rest(part: Sum, name: Name) -> bool:
    one, *others = part.terms
    return (
        isinstance(one, Number)
        and one.value == 1
        and part.signs == (1, -1)
        and all(isinstance(each, Name) and each.base == name.base for each in others)
    )
