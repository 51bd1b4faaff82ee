r"""Arithmetic: whether relations between numbers hold, decided by intervals that enclose both sides.

Definition   a printed number is right within half a unit of its last digit; a whole number after "=" is exact, after
             "≈" its zeros at the end need not count; letters stand for the values that they have in the section
Result       holds        right as printed
             conditional  right from the numbers before they were rounded, or truncated, or rough, where it is one with
                          a word for a power of ten (4.8 億, 175B) within 2%; or "=" for a number that was rounded
             wrong        anything else: the reason says what the value is, `right` how it would be printed; where a
                          number without such a word was truncated, that is the reason
             nothing      where a side has no number, or units differ that are not known
Assumes      `log` may have the base e, 2 or 10, GB may be 10^9 or 2^30 bytes, a percentage may be a number of
             hundredths: what is right under one reading is not wrong
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from derivations.documents.judge.numbers.given_numbers import best_of, given_numbers, letter_keys
from derivations.documents.judge.numbers.letters import ambiguous
from derivations.documents.judge.numbers.number_links import (
    CHECK,
    FAR,
    NumberLink,
    check_of,
    foreign_units,
    touch,
    units_of,
)
from derivations.documents.judge.numbers.orders import ORDERS, check_order
from derivations.documents.judge.numbers.other_meanings import CONSTANTS, is_meant_otherwise
from derivations.documents.judge.numbers.printed import Printed, decimal, printed
from derivations.documents.judge.numbers.rounding import COUNTED, ROUNDED_DOWN, ROUNDED_UP, check_rounding, repair_of
from derivations.documents.judge.numbers.scale_of_both import scale_of_both
from derivations.documents.judge.numbers.units import BYTES, UNITS, conversions, is_scaled
from derivations.documents.judge.numbers.values import MOST_BITS, Enclosure
from derivations.documents.judge.numbers.written_arrays import EntryPairs, entry_pairs
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Arrow, Call, Name, Node, Number, Product, Quotient, Sum, rebuilt
from derivations.documents.verdicts import Finding, settled

__all__ = ["check_arithmetic"]

EQUALITIES = ("=", "≡", "≈", "≃", "∼", "≅", "≒")
A_GOOD_PART = Fraction(5, 100)  # which no rounding of the numbers beside explains
BILLION = 10**9
TWO_DIGITS, MOST_DECIMALS = 10, 4
KILOBYTES = tuple(base**power for base in (1000, 1024) for power in (1, 2, 3, 4))


def check_arithmetic(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about a relation between numbers."""
    if link is None:
        return
    relation = statement.chain.relations[link]
    left, right = statement.chain.sides[link : link + 2]
    if isinstance(relation, Arrow):
        if link and isinstance(left, Name):  # `[2, 1] -> softmax -> [0.73, 0.27]`
            applied = Call(left, (statement.chain.sides[link - 1],))
            entries = entry_pairs(applied, right, scope)
            yield from _of_entries(entries, "=", statement, link, scope) if entries else ()
        return
    if relation in EQUALITIES and (_is_said_on_purpose(left, right) or _is_said_on_purpose(right, left)):
        return
    entries = entry_pairs(left, right, scope) if relation in EQUALITIES else None
    if entries is not None:
        yield from _of_entries(entries, relation, statement, link, scope)
    elif not _is_set(left, relation) and not _is_set(right, relation):
        yield from _between(left, right, relation, statement, link, scope)


def _of_entries(entries: EntryPairs, relation: str, statement: Statement, link: int, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about two arrays, or none if most entries differ and another operation may be meant."""
    found = {place: _between(*pair, relation, statement, link, scope) for place, pair in entries.pairs.items()}
    if not all(found.values()):
        return
    said = {place: settled(each) for place, each in found.items()}
    wrong = {place: each for place, each in said.items() if each.verdict == "wrong"}
    if entries.is_certain or len(wrong) == 1 or 2 * len(wrong) < len(said):
        for place, each in wrong.items():
            where = f"entry {', '.join(map(str, place))}: " if len(said) > 1 else ""
            check = CHECK if each.check == FAR else each.check  # the other entries are a witness
            yield Finding("wrong", check, where + each.reason, each.right)
            return
        assumed = tuple(dict.fromkeys(text for each in said.values() for text in each.assumptions))
        reason = f"all {len(said)} entries are what is printed" if len(said) > 1 else next(iter(said.values())).reason
        yield Finding("conditional" if assumed else "holds", CHECK, reason, assumptions=assumed)


def _between(
    left: Node, right: Node, relation: str, statement: Statement, link: int, scope: Scope
) -> tuple[Finding, ...]:
    """Return the findings about two numbers."""
    ways = given_numbers(scope, left, right) if statement.chain.condition is None else ({},)
    return best_of([tuple(_found(NumberLink(statement, left, right, relation, scope, way), link)) for way in ways])


def _found(question: NumberLink, link: int) -> Iterator[Finding]:
    """Yield the findings with given numbers in place of letters. A doubtful "wrong" is left out."""
    statement, left, right = question.statement, question.left, question.right
    found = tuple(_decided(question))
    if any(each.verdict == "wrong" for each in found):
        uncertain = ambiguous(left, right) or statement.is_equivalent or (link == 0 and _may_be_cut(question))
        uncertain = uncertain or is_meant_otherwise(question) or _is_scaled(question)
        if uncertain or any(_is_right(each) for each in _read_otherwise(question)):
            return
        if _may_be_bytes(left) != _in_bytes(left) and _may_be_rounded(question):
            return
        if any(not each.exact for each in question.given.values()):
            spread = question.enclosures(left, right, spread=True)
            if spread is None or touch(*spread):
                return
        found = _of_both_sides(question, found)
    yield from found


def _read_otherwise(question: NumberLink) -> Iterator[NumberLink]:
    """Yield the relation with B for bytes, and with thousands for 1024: `128k × 2 bytes = 256 KiB`."""
    for way in (_may_be_bytes, _in_powers_of_two):
        other = replace(question, left=way(question.left), right=way(question.right))
        if other != question:
            yield other


def _is_right(question: NumberLink) -> bool:
    return all(each.verdict != "wrong" for each in _decided(question))


def _of_both_sides(question: NumberLink, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings, under the assumption that the scale of the result applies to both sides if that helps."""
    alike = scale_of_both(question)
    if alike is None:
        return found
    link, scaled = alike
    without = tuple(_decided(link))
    if without and all(each.verdict != "wrong" for each in without):
        both = f"{scaled.text.partition(' ')[2]} belongs to both sides"
        return tuple(replace(each, said="conditional", assumptions=(*each.assumptions, both)) for each in without)
    value = question.enclosures(question.left if question.right is scaled else question.right)
    nothing_left = value is not None and abs(value[0].middle) < scaled.half_unit  # it would be printed as 0
    return without if nothing_left and without else found


def _is_scaled(question: NumberLink) -> bool:
    """Return whether a number without a unit may count kilobytes or more where the other side is in bytes."""
    for side, other in ((question.left, question.right), (question.right, question.left)):
        if BYTES.keys() & units_of(other) and not BYTES.keys() & units_of(side):
            for scale in KILOBYTES:
                scaled = Product((side, Number(str(scale), Fraction(scale), exact=True)), ("times",))
                found = _decided(replace(question, left=scaled, right=other))
                if all(each.verdict != "wrong" for each in found):
                    return True
    return False


def _decided(question: NumberLink) -> Iterator[Finding]:
    if question.relation in EQUALITIES:
        yield from _equality(question)
    elif question.relation in ORDERS:
        yield from check_order(question)


def _may_be_bytes(side: Node) -> Node:
    """Return a side with B read as bytes, not billions, unless it has a unit of bytes: `7B × 2 bytes`."""
    measured = {UNITS[unit].kind for unit in units_of(side) if unit in UNITS}
    return side if "bytes" in measured else _in_bytes(side)


def _may_be_rounded(question: NumberLink) -> bool:
    """Return whether rounded billions may explain a size, or nothing rules it out: `7B × 2 bytes = 13.5 GB`."""
    shown, spread = printed(question.right), question.enclosures(question.left, spread=True)
    if shown is None or spread is None:
        return True
    low, high = shown.value - shown.half_unit, shown.value + shown.half_unit
    sizes = [size for size, _ in conversions("", shown.unit)]
    return any(spread[0].low / size <= high and low <= spread[0].high / size for size in sizes)


def _in_bytes(node: Any) -> Any:
    """Return a formula in which every B that was read as a billion is read as bytes."""
    match node:
        case Number(text=text) if text.endswith("B") and not node.unit and node.value % BILLION == 0:
            digits = text.removesuffix("B").strip()
            return replace(
                node, text=digits, value=node.value / BILLION, half_unit=Fraction(1, 2), exact=True, unit="B"
            )
    return rebuilt(node, _in_bytes)


def _in_powers_of_two(node: Any) -> Any:
    """Return a formula in which every k of a power of two, such as the 128k of a context, is 1024."""
    match node:
        case Number(text=text, value=value) if text[-1:] in ("k", "K") and not node.unit:
            count = int(value / 1000)
            if 1000 * count == value and count & (count - 1) == 0:
                return replace(node, value=Fraction(1024 * count), exact=True)
    return rebuilt(node, _in_powers_of_two)


def _may_be_cut(question: NumberLink) -> bool:
    """Return whether a whole number in running text may be only the end of a longer formula."""
    left, right = printed(question.left), printed(question.right)
    if question.statement.passage.syntax == "latex" or left is None or right is None:
        return False
    return left.exact and not left.unit and "%" not in right.number.text


def _is_said_on_purpose(side: Node, other: Node) -> bool:
    """Return whether an equation with 0 is solved for letters, `a b = 0`, or is a contradiction, `1 = 0`."""
    if not isinstance(other, Number) or other.value != 0:
        return False
    return isinstance(side, Number) or any(key not in CONSTANTS for key in letter_keys(side))


def _is_set(side: Node, relation: str) -> bool:
    """Return whether a side is a letter that is given a value, except π and e in an approximation."""
    return isinstance(side, Name) and (side.key not in CONSTANTS or relation in ("=", "≡"))


def _equality(question: NumberLink) -> Iterator[Finding]:
    left, right = printed(question.left), printed(question.right)
    if left is not None and right is not None and _is_coarser(left, right):
        left, right = right, left  # the one with fewer digits is what was rounded
        question = replace(question, left=question.right, right=question.left)
    if right is not None and (question.loose or not right.exact or is_scaled(right.unit)):
        yield from check_rounding(question, question.left, right)
    elif left is not None and (question.loose or not left.exact or is_scaled(left.unit)):
        yield from check_rounding(question, question.right, left)
    else:
        yield from _exactly(question, left, right)


def _is_coarser(left: Printed, right: Printed) -> bool:
    """Return whether a number is printed less precisely than another, in one unit if their units convert."""
    scale = next((ratio for ratio, _ in conversions(right.unit, left.unit)), None) if left.unit and right.unit else None
    return left.half_unit * (scale or 1) > right.half_unit


def _exactly(question: NumberLink, left: Printed | None, right: Printed | None) -> Iterator[Finding]:
    """Compare two sides when neither is printed as a rounded number."""
    bits = 64
    while (sides := question.enclosures(question.left, question.right, bits=bits)) is not None:
        first, second = sides
        if first.exact and second.exact:
            break
        if first.low > second.high or first.high < second.low:
            break
        bits *= 2
        if bits > MOST_BITS:
            return  # equal as far as can be told: a matter of algebra
    if sides is None or foreign_units(question.left, question.right):
        return
    if first == second:
        yield Finding("holds", CHECK, f"both sides are {decimal(first)}{question.valued()}")
        return
    if not {*units_of(question.left), *units_of(question.right)} <= COUNTED:
        return
    if question.loose:
        yield from _two_expressions(question, first, second)
        return
    for base in question.bases(question.left, question.right)[1:]:
        other = question.enclosures(question.left, question.right, base=base, bits=128)
        if other is not None and other[0].low <= other[1].high and other[1].low <= other[0].high:
            yield Finding("conditional", CHECK, "both sides agree", assumptions=(f"log has the base {base}",))
            return
    yield from _unequal(question, left, right, first, second)


def _unequal(
    question: NumberLink, left: Printed | None, right: Printed | None, first: Enclosure, second: Enclosure
) -> Iterator[Finding]:
    """Yield a "wrong" finding for unequal sides, or a conditional one if rounding explains the difference."""
    spread = question.enclosures(question.left, question.right, spread=True)
    near = abs(first.middle - second.middle) < A_GOOD_PART * max(abs(first.middle), abs(second.middle))
    if near and spread is not None and _has_rounded(question.left, question.right) and touch(*spread):
        reason = f"the left side is {decimal(first)}, the right side {decimal(second)}, within the digits printed"
        yield Finding("conditional", CHECK, reason, assumptions=("the printed numbers were rounded",))
        return
    if left is None and right is None and question.may_be_other_values():
        return
    for counts, way, whole in ((_is_a_share, ROUNDED_UP, ceil), (_counts_places, ROUNDED_DOWN, floor)):
        if right is not None and counts(question) and whole(first.middle) == right.value:
            reason = f"{right.number.text} counts whole things: the value is {decimal(first)}"
            yield Finding("conditional", CHECK, reason, assumptions=(way,))
            return
    target, value = (left, second) if right is None and left is not None else (right, first)
    if target is not None and _may_round(value, target):
        off = value.middle - target.value
        rounds, is_cut = abs(off) <= target.half_unit, target.value >= TWO_DIGITS and 0 < off < 2 * target.half_unit
        if rounds or (is_cut and not value.exact):
            how = "rounds" if rounds else "is cut"
            reason = f"{decimal(value, 9)} {how} to {target.number.text}, it is not equal to it"
            yield Finding("conditional", CHECK, reason, assumptions=("= stands for ≈",))
            return
    repair = repair_of(question, target, value)
    reason = f"the left side is {decimal(first)}, the right side {decimal(second)}{question.valued()}"
    check = check_of(question, first.middle, second.middle)
    yield Finding("wrong", check, reason, right=repair.text if repair else decimal(value, 9), repair=repair)


def _is_a_share(question: NumberLink) -> bool:
    """Return whether a number is divided by another one in plain characters, as items are among blocks: 1000/16."""
    match question.left:
        case Quotient(numerator=Number(), denominator=Number()):
            return question.statement.passage.syntax != "latex"
    return False


def _counts_places(question: NumberLink) -> bool:
    """Return whether 1 is added to a quotient, as for the places of a kernel: (11 - 2)/2 + 1."""
    match question.left:
        case Sum(terms=(Quotient(), Number(value=last)), signs=(1, 1)):
            return last == 1
    return False


def _may_round(value: Enclosure, target: Printed) -> bool:
    """Return whether a value is inexact, or has over four decimals beside a whole number of at least two digits."""
    if not value.exact:
        return True
    return 10**MOST_DECIMALS % value.middle.denominator != 0 and abs(target.value) >= TWO_DIGITS


def _two_expressions(question: NumberLink, first: Enclosure, second: Enclosure) -> Iterator[Finding]:
    """Compare two expressions that should be nearly equal: within 5% they are, and from 50% on they are not."""
    spread = question.enclosures(question.left, question.right, spread=True)
    difference = abs(first.middle - second.middle)
    larger = max(abs(first.middle), abs(second.middle))
    if difference * 20 <= larger:
        yield Finding("holds", CHECK, f"{decimal(first)} and {decimal(second)} are nearly equal{question.valued()}")
    elif difference * 2 >= larger and not (spread is not None and touch(*spread)):
        reason = f"the left side is {decimal(first)}, the right side {decimal(second)}{question.valued()}"
        yield Finding("wrong", CHECK, reason, right=decimal(first))


def _has_rounded(*nodes: Node) -> bool:
    return any(isinstance(part, Number) and not part.exact for node in nodes for part in node.walk())
