"""Rounded numbers: whether a printed number is the rounded value of an expression.

Definition   a printed number is right within half a unit of its last digit; bytes may be counted by 1000 or 1024, a
             percentage may be a number of hundredths, `log` may have the base e, 2 or 10
Result       holds; conditional for a reading that has to be named, for numbers that were rounded later, for rough ones;
             wrong, with the number as it should be printed; a truncated number is told from another error
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from derivations.documents.judge.numbers.letters import sources_of
from derivations.documents.judge.numbers.number_links import CHECK, NumberLink, check_of, foreign_units, touch, units_of
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.sums import written_out
from derivations.documents.judge.numbers.units import BITS, UNITS, conversions, of_the_kind
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.syntax import Call, Node, Number, Power
from derivations.documents.verdicts import Finding, Repair

__all__ = ["COUNTED", "ROUNDED_DOWN", "ROUNDED_UP", "check_rounding", "repair_of"]

ROUNDED_DOWN = "the whole number below is meant"
ROUNDED_UP = "the next whole number is meant"
TRUNCATED = f"{CHECK}.truncated"
ROUNDED_DIGITS = 4  # shorter decimals, as in e^{0.5}, are meant as they stand
FINE_DECIMALS = 2
THREE_DIGITS = 100
ROUGHLY = Fraction(2, 100)
FINE = 1_000  # parts of half a unit of the last digit, within which a value is computed
PLAIN_UNITS = {"bytes", "byte", "B"}
COUNTED = PLAIN_UNITS | {
    "FLOPs",
    "FLOP",
    "flops",
    "parameters",
    "params",
    "dimensions",
    "tokens",
    "heads",
    "layers",
    "維",
    "维",
}


def check_rounding(question: NumberLink, source: Node, target: Printed) -> Iterator[Finding]:
    """Decide whether a printed number is what an expression rounds to."""
    readings = tuple(_readings(question, source, target))
    if not readings:
        yield from _summed(question, source, target)
        return
    for value, scale, assumption in readings:
        if _rounds(value, scale, target, loose=question.loose):
            reason = (
                f"the value is {decimal(_scaled(value, scale))}, which rounds to what is printed{question.valued()}"
            )
            assumptions: tuple[str, ...] = (assumption,) if assumption else ()
            if target.unit in UNITS and target.exact and not (question.loose or _is(value, scale, target)):
                assumptions += ("= stands for ≈",)
            yield Finding("conditional" if assumptions else "holds", CHECK, reason, assumptions=assumptions)
            return
    if foreign_units(source, units=PLAIN_UNITS | {target.unit} | of_the_kind(target.unit)):
        return
    if _changes_the_unit(source, readings[0][0], target):
        return
    scales = {scale for _, scale, _ in readings}
    rounding = question.enclosures(source, spread=True) if _has_rounded(source) else None
    for node in sources_of(question.statement, source, question.scope):
        unrounded = question.enclosures(node)
        if unrounded and rounding and not touch(unrounded[0], rounding[0]):
            continue  # what the letters stand for elsewhere
        if unrounded and any(_rounds(unrounded[0], scale, target, loose=question.loose) for scale in scales):
            reason = (
                f"{decimal(readings[0][0])} from the numbers as printed, {decimal(unrounded[0])} from unrounded ones"
            )
            yield Finding("conditional", CHECK, reason, assumptions=("the numbers were rounded after this one",))
            return
    if _both_rounded(source, readings, target):
        reason = (
            f"the value is {decimal(_scaled(readings[0][0], readings[0][1]))} from a number that was rounded as well"
        )
        yield Finding("conditional", CHECK, reason, assumptions=("both numbers were rounded",))
        return
    spread = question.enclosures(source, spread=True) if _has_rounded(source) else None
    if spread is not None and (
        ((_in_a_function(source) or _outruns(target, source)) and spread[0].low <= target.value <= spread[0].high)
        or (
            _is_long(source)
            and spread[0].low <= target.value + target.half_unit
            and target.value - target.half_unit <= spread[0].high
        )
        or (_is_fine(source) and any(_is_near(readings[0][0], spread[0], scale, target) for scale in scales))
    ):
        reason = f"the value is {decimal(readings[0][0])} from the number as printed, which was rounded"
        yield Finding("conditional", CHECK, reason, assumptions=("the printed numbers were rounded",))
        return
    measured = bool(units_of(source)) or (target.unit in UNITS and UNITS[target.unit].kind == "time")
    plain = [reading for reading in readings if not (reading[2] and measured)] or readings
    unit = 2 * target.half_unit
    offs = {reading: reading[0].middle / reading[1] - target.value for reading in plain}
    cut = {each: _is_truncated(off, _scaled(*each[:2]), unit) for each, off in offs.items()}
    of_one_base = [each for each in plain if cut[each] or (each[0] == plain[0][0] and BITS not in each[2])]
    nearest = min(of_one_base or plain, key=lambda each: (not cut[each], abs(offs[each])))
    yield _missed(question, _scaled(nearest[0], nearest[1]), target)


def _both_rounded(source: Node, readings: tuple[tuple[Enclosure, Fraction, str], ...], target: Printed) -> bool:
    """Return whether source and target may be roundings of one number, in two units."""
    shown = printed(source)
    if shown is None or shown.exact or target.exact or shown.unit == target.unit or target.unit not in UNITS:
        return False
    return any(
        abs(value.middle / scale - target.value) <= target.half_unit + shown.half_unit / scale
        for value, scale, _ in readings
    )


def _has_rounded(source: Node) -> bool:
    return any(isinstance(part, Number) and not part.exact for part in source.walk())


def _is_fine(source: Node) -> bool:
    """Return whether some number has at least two decimals. One decimal, as in 0.1 + 0.2, counts as exact."""
    numbers = (part for part in source.walk() if isinstance(part, Number) and not part.exact)
    return any(len(part.text.partition(".")[2]) >= FINE_DECIMALS for part in numbers)


def _is_long(source: Node) -> bool:
    """Return whether every number that is not whole has been rounded to four digits or more."""
    numbers = [part for part in source.walk() if isinstance(part, Number) and not part.exact]
    return bool(numbers) and all(_digits(each) >= ROUNDED_DIGITS for each in numbers)


def _in_a_function(source: Node) -> bool:
    """Return whether a number that was rounded to four digits or more stands in an exponent or in a function."""
    insides = [part.exponent for part in source.walk() if isinstance(part, Power)]
    insides += [each for part in source.walk() if isinstance(part, Call) for each in part.arguments]
    numbers = (part for inside in insides for part in inside.walk() if isinstance(part, Number) and not part.exact)
    return any(_digits(part) >= ROUNDED_DIGITS for part in numbers)


def _outruns(target: Printed, source: Node) -> bool:
    """Return whether a printed number has more digits than its least precise input, which has at least four."""
    digits = [_digits(part) for part in source.walk() if isinstance(part, Number) and not part.exact]
    return bool(digits) and ROUNDED_DIGITS <= min(digits) < _digits(target.number)


def _digits(number: Number) -> int:
    return sum(each.isdigit() for each in number.text.lstrip("0."))


def _summed(question: NumberLink, source: Node, target: Printed) -> Iterator[Finding]:
    """Decide whether a printed number is the sum over a list that the section shows."""
    out = written_out(question.statement, source, question.scope)
    value = question.precisely(out.node, target.half_unit / FINE) if out is not None else None
    if out is None or value is None:
        return
    rounded_terms = question.enclosures(out.rounded) if out.rounded is not None else None
    if _rounds(value, Fraction(1), target, loose=question.loose):
        reason = f"the value {decimal(value)} rounds to what is printed"
        yield Finding("conditional", CHECK, reason, assumptions=(out.over,))
    elif rounded_terms is not None and _rounds(rounded_terms[0], Fraction(1), target, loose=question.loose):
        right = rounded(value, target)
        reason = f"the terms were rounded before they were added; rounded afterwards it is {right}"
        yield Finding("conditional", CHECK, reason, right, assumptions=(out.over, "the terms are as printed"))
    elif out.certain:
        yield _missed(question, value, target)


def _readings(question: NumberLink, source: Node, target: Printed) -> Iterator[tuple[Enclosure, Fraction, str]]:
    """Yield the possible values of the source, each with its scale and its assumption."""
    for base in question.bases(source):
        found = question.precisely(source, target.half_unit / FINE, base=base)
        if found is None:
            continue
        if base or target.unit not in UNITS:
            yield found, Fraction(1), f"log has the base {base}" if base else ""
        if "%" in target.number.text:
            yield found, Fraction(100), ""
        if target.unit in UNITS and not base:
            measured = [unit for unit in units_of(source) if unit in UNITS]
            if len(measured) < 2:
                yield from ((found, *each) for each in conversions("".join(measured), target.unit))


def _changes_the_unit(source: Node, value: Enclosure, target: Printed) -> bool:
    """Return whether a factor of the source may have changed the unit, as the 8 of bits and bytes does."""
    if target.unit not in UNITS or printed(source) is not None:
        return False
    return any(_rounds(value, ratio, target, loose=True) for ratio, _ in conversions("", target.unit))


def _scaled(value: Enclosure, scale: Fraction) -> Enclosure:
    return Enclosure(value.low / scale, value.high / scale)


def _is(value: Enclosure, scale: Fraction, target: Printed) -> bool:
    return value.low / scale <= target.value <= value.high / scale


def _rounds(value: Enclosure, scale: Fraction, target: Printed, *, loose: bool) -> bool:
    half = target.coarse_half_unit if loose else target.half_unit
    low, high = target.value - half, target.value + half
    return low <= value.low / scale and value.high / scale <= high


def _is_near(value: Enclosure, spread: Enclosure, scale: Fraction, target: Printed) -> bool:
    """Return whether a printed number is off by at most a unit of its last digit, which rounded inputs may explain."""
    unit, off = 2 * target.half_unit, value.middle / scale - target.value
    if _is_truncated(off, value, unit):
        return False
    low, high = target.value - target.half_unit, target.value + target.half_unit
    return abs(off) <= unit and spread.low / scale <= high and low <= spread.high / scale


def _is_truncated(off: Fraction, value: Enclosure, unit: Fraction) -> bool:
    """Return whether a number is truncated: it is nearer to 0 than the value, by less than one last digit."""
    return abs(off) < unit and off * value.middle > 0


def _missed(question: NumberLink, value: Enclosure, target: Printed) -> Finding:
    """Return the finding for a printed number that is not within half a unit of the value."""
    repair = repair_of(question, target, value)
    right = repair.text if repair else rounded(value, target)
    off, unit = value.middle - target.value, 2 * target.half_unit
    truncated = _is_truncated(off, value, unit)
    shown = decimal(value)
    if target.rough and (truncated or abs(off) <= ROUGHLY * abs(value.middle)):
        how = "truncated" if truncated else "rough"
        reason = f"{target.number.text} is {how}: the value is {shown}, rounded {right}"
        return Finding("conditional", CHECK, reason, right, assumptions=(f"{target.number.text} is meant roughly",))
    if truncated:
        reason = f"{target.number.text} is truncated; rounded it is {right}"
        return Finding("wrong", TRUNCATED, reason, right or shown, repair=repair)
    if _is_rounded_up(off, value, target):
        reason = f"{target.number.text} is rounded up: the value is {shown}"
        return Finding("conditional", CHECK, reason, right, assumptions=(ROUNDED_UP,))
    reason = f"the value is {shown}{question.valued()}, not {target.number.text}"
    return Finding("wrong", check_of(question, value.middle, target.value), reason, right or shown, repair=repair)


def _is_rounded_up(off: Fraction, value: Enclosure, target: Printed) -> bool:
    """Return whether a whole number is the next one above a value of at least three digits, as for a sample's size."""
    return target.exact and not target.unit and -1 < off < 0 and value.low >= THREE_DIGITS


def repair_of(question: NumberLink, target: Printed | None, value: Enclosure) -> Repair | None:
    """Return the repair that replaces a printed number in its passage, or None."""
    if target is None:
        return None
    text, whole = rounded(value, target), value.exact and value.low.denominator == 1
    if text is None or text == target.number.text or (target.exact and not (whole or question.loose)):
        return None
    number = target.number
    at = question.statement.passage.text.find(number.text, number.start, number.end)
    return Repair(at, at + len(number.text), text) if at >= 0 else None
