r"""Slips in equations between means and variances: `Var(x) = E[x^2] + E[x]^2`.

Definition   letters are independent random variables, as `moment_numbers` draws their moments; those that stand
             outside of means and variances as well are numbers
Result       `moment_slip(left, right, others)`: the side that is mended and the slip, where the two sides differ and
             one edit (a sign, an exponent, an index, a fraction) makes them equal whatever the moments are; or where an
             index inside of a sum stands nowhere else, and that of the sum makes them equal; else None
Assumes      sides are no mistake that are equal for variables which are 0 or 1, where x^2 is x, or where all entries
             are one variable: their variances do not add up. What is 0 or 1 has a square or none, and then keeps to it:
             E[m^2] q = E[m] q goes on without m^2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from derivations.documents.canon.edits import Edit
from derivations.documents.canon.letter_slips import ranges, signs
from derivations.documents.canon.places import places
from derivations.documents.judge.algebra.moment_numbers import ALIKE, ANY, CENTRED, Reading, differ
from derivations.documents.judge.algebra.scalar_letters import is_moment, is_size
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Fence,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
)

__all__ = ["inner_letters", "moment_edits", "moment_slip", "outside_letters"]

MOST_NODES = 100


def moment_slip(
    left: Node, right: Node, before: Sequence[Node] = (), behind: Sequence[Node] = (), *, centred: bool = False
) -> tuple[Node, str] | None:
    """Return the side that is mended, and the slip; None where the sides are equal, or no edit makes them so.

    `before` and `behind` are the other parts of the chain: where its squares go and come again, no letter is 0 or 1;
    nor is one whose mean is 0, as it is of all that are `centred`.
    """
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES:
        return None
    stray = _stray_index(left, right, (*before, *behind))
    if stray is not None:
        return stray
    squared = _squared_again(before, left, right) | _squared_again(behind, right, left)
    squared |= _letters_raised(right, above=2) - _letters_raised(left, above=2)  # nobody makes x^4 of a mask
    fixed = outside_letters(left, right)
    divisors = {key.partition("_")[0] for key in _divisors(left, right)}
    binary = CENTRED if centred else Reading(zero_or_one=_variables(left, right) - squared - divisors)
    if not all(differ(left, right, replace(reading, fixed=fixed)) for reading in (ANY, binary, ALIKE)):
        return _other_entry(left, right, fixed)
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in moment_edits(side):
            if bare(edit) != bare(other) and differ(edit, other, replace(ANY, fixed=fixed)) is False:
                return edit, f"{slip}, on the {where}"
    return _other_entry(left, right, fixed)


def _other_entry(left: Node, right: Node, fixed: frozenset[str]) -> tuple[Node, str] | None:
    """Return the side mended by the one entry that only the other side has, in the place of one of its own."""
    reading = replace(ANY, twins=False, fixed=fixed)
    if not differ(left, right, reading):
        return None
    entries = [{part for part in side.walk() if _is_entry(part)} for side in (left, right)]
    for side, other, own, theirs, where in (
        (right, left, entries[1], entries[0], "right"),
        (left, right, entries[0], entries[1], "left"),
    ):
        missing, extra = theirs - own, own - theirs
        if len(missing) != 1 or len(extra) > 1 or len(theirs) < 2:
            continue
        (meant,) = missing
        for node, put in places(side):
            if _is_entry(node) and node in (extra or own) and len(node.subscripts) == len(meant.subscripts):
                edit = put(meant)
                if bare(edit) != bare(other) and differ(edit, other, reading) is False:
                    return edit, f"{meant.key} belongs where {node.key} stands, on the {where}"
    return None


def _is_entry(node: Node) -> TypeGuard[Name]:
    """Say whether a part is a letter with indices."""
    return isinstance(node, Name) and bool(node.subscripts) and len(node.base) == 1 and not is_size(node)


def _stray_index(left: Node, right: Node, others: Sequence[Node]) -> tuple[Node, str] | None:
    """Return the side mended by an index that stands nowhere else, where the other side has that of a sum."""
    used = Counter(part.key for each in (left, right, *others) for part in each.walk() if isinstance(part, Name))
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        sums = [part for part in side.walk() if isinstance(part, Aggregate) and len(part.index) == 1]
        entries = {part.base for part in other.walk() if isinstance(part, Name) and _summed(part, other)}
        for node, put in places(side) if sums else ():
            if not isinstance(node, Name) or node.base not in entries or not _is_lone(node, used):
                continue
            for index in (each.index[0] for each in sums if any(part is node for part in each.body.walk())):
                edit = put(replace(node, subscripts=(index,)))
                if any(_summed(part, side) for part in side.walk()) and differ(edit, other, ANY) is False:
                    return edit, f"the index of {node.base} must be {index.key}, on the {where}"
    return None


def _is_lone(name: Name, used: Mapping[str, int]) -> bool:
    """Say whether a letter has one index, which is used nowhere else."""
    match name.subscripts:
        case (Name(base=base, subscripts=()) as index,):
            return len(base) == 1 and base.islower() and used[index.key] == 1
    return False


def _summed(part: Node, side: Node) -> bool:
    """Say whether a part is an entry at the index of a sum of its side."""
    bound = {name for each in side.walk() if isinstance(each, Aggregate) for name in each.index}
    return isinstance(part, Name) and not bound.isdisjoint(part.subscripts)


def _squared_again(others: Sequence[Node], side: Node, opposite: Node) -> set[str]:
    """Return the letters whose powers both sides have, and those which a side lacks that stands between powers."""
    powers = {letter for each in others for letter in _letters_raised(each)}
    return powers - _letters_raised(side) | (_letters_raised(side) & _letters_raised(opposite))


def _letters_raised(node: Node, above: int = 1) -> set[str]:
    """Return the letters whose powers stand in a formula."""
    return {
        base.base
        for part in node.walk()
        if isinstance(part, Power) and isinstance(base := part.base, Name)
        if isinstance(part.exponent, Number) and part.exponent.value > above
    }


def _variables(*sides: Node) -> frozenset[str]:
    """Return the letters that may be random: a letter of sizes, as the m of a mask, if means and variances have it."""
    taken = [part for side in sides for part in side.walk() if isinstance(part, Call)]
    inside = {id(name) for part in taken for each in part.arguments for name in _letters_in(each)}
    names = [name for side in sides for name in _letters_in(side)]
    sizes = {name.base for name in names if is_size(name) and id(name) not in inside}
    letters = {name.base for name in names if len(name.base) == 1 and name.base.isascii()}
    return frozenset(letters - sizes)


def outside_letters(*sides: Node) -> frozenset[str]:
    """Return the letters that stand outside of means and variances as well: they are numbers."""
    taken = [part for side in sides for part in side.walk() if is_moment(part)]
    inside = {id(part) for each in taken for part in each.walk()}
    return frozenset(name.key for side in sides for name in _letters_in(side) if id(name) not in inside)


def _divisors(*sides: Node) -> frozenset[str]:
    """Return the letters below the line of a fraction that stand outside of means and variances as well."""
    fractions = [part for side in sides for part in side.walk() if isinstance(part, Quotient)]
    return frozenset(name.key for part in fractions for name in _letters_in(part.denominator)) & outside_letters(*sides)


def _letters_in(side: Node) -> Iterator[Name]:
    """Yield the letters of a side: no functions, no labels of others, no indices of sums."""
    names = [part for part in side.walk() if isinstance(part, Name)]
    below = {id(part) for name in names for label in name.children for part in label.walk()}
    functions = {id(part.function) for part in side.walk() if isinstance(part, Call)}
    bound = {name for part in side.walk() if isinstance(part, Aggregate) for name in part.index}
    return (name for name in names if id(name) not in below | functions and name not in bound)


def inner_letters(side: Node) -> Iterator[Name]:
    """Yield the letters inside of means and variances."""
    for part in side.walk():
        if is_moment(part):
            yield from (name for each in part.arguments for name in _letters_in(each))


def moment_edits(side: Node) -> Iterator[Edit]:
    """Yield a side with one slip mended: an index, a sign, the range of a sum, an exponent, a fraction."""
    bound = tuple({name: None for part in side.walk() if isinstance(part, Aggregate) for name in part.index})
    for node, put in places(side):
        if isinstance(node, Name) and len(node.subscripts) == 1:
            for index in bound:
                if (index,) != node.subscripts:
                    yield put(replace(node, subscripts=(index,))), f"the index of {node.base} must be {index.key}"
        for rule in (signs, ranges, _exponents):
            for new, slip in rule(node, ()):
                yield put(new), slip


def _exponents(node: Node, letters: object) -> Iterator[Edit]:
    """Exponents and roots that are lost or wrong, and fractions upside down."""
    two = Number("2", Fraction(2))
    match node:
        case Power(base=base, exponent=Number(value=value)):
            yield base, "the exponent must be 1"
            if value != 2:
                yield replace(node, exponent=two), "the exponent must be 2"
        case Name() | Call() | Number():
            yield Power(node, two), "the square is missing"
        case Aggregate():
            yield Power(Fence("(", node), two), "the square is missing"
        case Fence(inside=Sum()):
            yield Power(node, two), "the square is missing"
        case Root(radicand=inside):
            yield inside, "there must be no root"
        case Quotient(numerator=above, denominator=below):
            yield Quotient(below, above), "the fraction is upside down"
            yield Quotient(above, Root(below)), "the root is missing"
            yield Product((above, below), ("dot",)), "it must be multiplied, not divided"
            yield above, "there must be no division"
