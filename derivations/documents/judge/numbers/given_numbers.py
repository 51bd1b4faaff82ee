"""The numbers that a section prints for a letter: T = 0.5 here, T = 2 there, p = 0.1.

Definition   a letter is given a number where `T = 0.5` is written; one whole number alone is a value, which the scope
             holds already. A decimal fraction stands for itself where it has one digit that counts, or two with 5 as
             the last (0.9, 0.25); any other may have been rounded (0.33) or truncated, by a unit of its last digit
Result       `given_numbers(scope, ...)`: every way in which the letters of formulas may stand for such numbers, the
             nearest first; one way that gives nothing where no letter has any, where there are too many, where one is
             0 (a special case) or has a unit, or where a letter may be a function, p(0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import prod

from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Fence, List, Name, Node, Number, Product
from derivations.documents.verdicts import Finding

__all__ = ["Given", "best_of", "given_numbers", "letter_keys"]

Given = Mapping[str, Number]
MOST_WAYS = 8
MOST_LETTERS = 16
OF_SEVERAL = "of the numbers that the section gives a letter, one that agrees is meant"


def given_numbers(scope: Scope, *nodes: Node) -> Iterator[Given]:
    """Yield the possible assignments of printed numbers to the letters of some formulas."""
    letters = {key for node in nodes for key in letter_keys(node)}
    functions = {key for node in nodes for key in _may_be_functions(node)}
    choices = {key: _numbers(key, scope) for key in sorted(letters)[:MOST_LETTERS]}
    known = {key: numbers for key, numbers in choices.items() if numbers}
    odd = any(each.unit or each.value == 0 for numbers in known.values() for each in numbers)
    if odd or functions & known.keys() or prod(map(len, known.values())) > MOST_WAYS:
        known = {}
    for way in product(*known.values()):
        yield dict(zip(known, way, strict=True))


def best_of(found: Sequence[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Return the findings of the best of several assignments. They are `wrong` only if all assignments are."""
    right = next((each for each in found if each and all(finding.verdict != "wrong" for finding in each)), None)
    if right is None:
        return found[0] if all(found) else ()
    if right is found[0]:
        return right
    return tuple(replace(each, said="conditional", assumptions=(*each.assumptions, OF_SEVERAL)) for each in right)


def letter_keys(node: Node) -> Iterator[str]:
    """Yield the letters of a formula, without the names of functions."""
    functions = {id(part.function) for part in node.walk() if isinstance(part, Call)}
    return (part.key for part in node.walk() if isinstance(part, Name) and part.base and id(part) not in functions)


def _may_be_functions(node: Node) -> Iterator[str]:
    """Yield the letters before a bracket that holds one thing: p(0) may be a function, p(1 - p) is a product."""
    for part in node.walk():
        if isinstance(part, Product):
            for (first, second), operator in zip(pairwise(part.factors), part.operators, strict=True):
                one = isinstance(second, List) or (
                    isinstance(second, Fence) and isinstance(second.inside, Name | Number)
                )
                if operator == "" and isinstance(first, Name) and one:
                    yield first.key


def _numbers(key: str, scope: Scope) -> tuple[Number, ...]:
    """Return the numbers printed for a letter, or none if it has a formula or they are all its known value."""
    printed, value = scope.numbers_in_reach(key), scope.value_of(key)
    if value is not None and (value.free_symbols or all(each.value == value for each in printed)):
        return ()
    return tuple(
        replace(each, exact=True) if _stands_for_itself(each) else replace(each, half_unit=2 * each.half_unit)
        for each in printed
    )


def _stands_for_itself(number: Number) -> bool:
    digits = number.text.lstrip("-0.").replace(".", "")
    return number.exact or (digits.isdigit() and (len(digits) == 1 or (len(digits) == 2 and digits[1] == "5")))
