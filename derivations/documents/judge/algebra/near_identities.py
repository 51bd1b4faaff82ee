r"""Equations that one edit turns into an identity: `(a + b)(a - b) = a^2 + b^2`.

Definition   the two sides differ for some numbers, and one edit of one of them makes the equation hold for all: a sign,
             an index, a letter, an exponent, a number. No condition is meant to be so near to an identity
Result       the side that is mended, with the slip in words; None where no edit mends it
Assumes      the letters are free: what the section defines by one another is left alone, and Kronecker's delta; words
             in front that make a condition of an equation (if, when, 若) are respected
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.canon.slips import Slip, SlipKind
from derivations.documents.conditions import is_condition
from derivations.documents.formulas.vocabulary import GREEK
from derivations.documents.judge.algebra.equation_edits import MOST_EDITS, tried
from derivations.documents.judge.algebra.free_letters import (
    cancellable,
    free_letters,
    has_differentials,
    indices_of,
    letters_of,
    may_be_means,
)
from derivations.documents.judge.algebra.normalisations import is_aggregate, is_exponential, is_normalisation
from derivations.documents.judge.algebra.sampled import Sampler, tops_of
from derivations.documents.judge.algebra.scalars import as_written, in_one_order, is_size, scalar
from derivations.documents.judge.algebra.telling_apart import agree, differing, may_agree, same
from derivations.documents.judge.numbers.letters import bare, put
from derivations.documents.proving import are_equal
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number, Power, Product, Quotient, Sum

__all__ = ["MOST_NODES", "USUAL", "Mended", "is_explained", "mended", "slip_between"]

MOST_NODES = 240
MOST_ONE_SIDED = 1  # letters of one side alone, as cancel in an identity: more make a definition
UNSURE = ("1", "I", "𝟙", "infty")  # an indicator of what is not said, infinity
_D_MODEL = Name("d", (Name("model"),))
USUAL: dict[str, Node] = {  # sizes as they are assumed of a layer
    "d_k": Quotient(_D_MODEL, Name("h")),
    "d_v": Quotient(_D_MODEL, Name("h")),
    "d_ff": Product((Number("4", Fraction(4)), _D_MODEL), ("",)),
}


@dataclass(frozen=True)
class Mended:
    """The corrected side of an equation, and a description of its mistake.

    With `drops` it lacks a letter that both sides had together: what vanishes may be left out on purpose.
    """

    side: Node
    slip: str
    drops: bool = False


@dataclass(frozen=True)
class _About:
    """Facts about an equation as written: whether its sides have the same letters, and which letters cancel."""

    alike: bool
    cancelled: frozenset[str]
    scope: Scope


def mended(statement: Statement, left: Node, right: Node, scope: Scope) -> Mended | None:
    """Return the edit that turns a false equation into an identity, also with the sizes that the section sets."""
    found = _mended(statement, left, right, scope)
    sizes = _sizes_set(left, right, scope) if found is None else {}
    return _mended(statement, put(left, sizes), put(right, sizes), scope) if sizes else found


def _sizes_set(left: Node, right: Node, scope: Scope) -> dict[str, Node]:
    """Return the sizes of two sides that the section sets to expressions in other letters, always to equal ones."""
    names = {part.key: part for side in (left, right) for part in letters_of(side) if is_size(part)}
    found = {key: scope.definitions(name) for key, name in names.items()}
    plain = {key: some for key, some in found.items() if not any(isinstance(bare(each), Number) for each in some)}
    once = {key: some[0] for key, some in plain.items() if len(some) == 1}
    ways = {key: [put(each, once) for each in some] for key, some in plain.items()}
    return {key: some[0] for key, some in ways.items() if some and all(agree(some[0], each) for each in some[1:])}


def _mended(statement: Statement, left: Node, right: Node, scope: Scope) -> Mended | None:
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES:
        return None
    cancelled = frozenset(cancellable(left) | cancellable(right))
    one_sided = _bases(left) ^ _bases(right)
    names = tuple(dict.fromkeys(each for side in (left, right) for each in letters_of(side)))
    shifts = {base for side in (left, right) for base in _shifts(side)} & cancelled
    if (
        (len(one_sided - cancelled) > MOST_ONE_SIDED and not is_normalisation(left, right))
        or any(name.base in UNSURE for name in names)
        or any(len(base) > 1 and base.isascii() and base not in GREEK for base in one_sided)  # a unit
        or any(has_differentials(side) or may_be_means(side, one_sided - shifts) for side in (left, right))
        or is_condition(statement)
        or is_explained(left, right, names, scope)
    ):
        return None
    numbers = Sampler(left, right)
    draws = differing(numbers, left, right)
    if not draws:
        return None
    indices = tuple(dict.fromkeys(key for side in (left, right) for key in indices_of(side)))
    about = _About(free_letters(left) == free_letters(right), cancelled, scope)
    normalised = is_normalisation(left, right)
    has_none = not any(is_exponential(part) for side in (left, right) for part in side.walk())
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in tried(side, names, indices):
            if normalised and _bases(edit) != _bases(side):
                continue  # without a letter it may hold for special values of it
            if has_none and slip.kind is SlipKind.EXPONENTIAL:
                continue  # of sizes it has no digits that are left
            if same(numbers, edit, other, draws) and _is_identity(edit, other, about):
                return Mended(edit, f"{slip}, on the {where}", _drops(side, edit, other))
    return None


def _drops(side: Node, edit: Node, other: Node) -> bool:
    """Return whether a letter of a side is left out, and no other one put in its place."""
    fewer = sum(1 for _ in letters_of(edit)) < sum(1 for _ in letters_of(side))
    return fewer and not _bases(side) <= _bases(edit) | _bases(other)


def _shifts(side: Node) -> Iterator[str]:
    """Yield the letters that exponents subtract. They may cancel between two sums of exponentials."""
    exponents = [bare(part.exponent) for part in side.walk() if isinstance(part, Power) and is_exponential(part)]
    for each in exponents:
        terms = zip(each.terms, each.signs, strict=True) if isinstance(each, Sum) else ()
        yield from (term.base for term, sign in terms if sign < 0 and isinstance(term, Name))


def _bases(side: Node) -> set[str]:
    return {name.base for name in free_letters(side)}


def slip_between(statement: Statement, whole: Node, other: Node) -> Slip | None:
    """Return the one mistake by which two formulas of the same letters differ, or None.

    The letters stand in the same order: another one may follow another convention.
    """
    if list(letters_of(whole)) != list(letters_of(other)) or _functions(whole) != _functions(other):
        return None
    if sum(1 for _ in whole.walk()) > MOST_NODES:
        return None
    if not differing(Sampler(whole, other), whole, other):
        return None
    if is_condition(statement):
        return None
    names, indices = tuple(dict.fromkeys(letters_of(whole))), tuple(dict.fromkeys(indices_of(whole)))
    for first, second in ((other, whole), (whole, other)):
        for edit, slip in tried(first, names, indices, most=MOST_EDITS // 12):
            if bare(edit) == bare(second):
                return slip
    return None


def _functions(side: Node) -> list[Name]:
    return [part.function for part in side.walk() if isinstance(part, Call)]


def _is_identity(edit: Node, other: Node, about: _About) -> bool:
    """Return whether two sides with equal values in all draws are equal, and not the same formula written twice.

    For scalars with the same letters, but for those that cancel, the draws decide: two formulas that differ do not
    agree in so many numbers. Others are equal by algebra, or in other groups.
    """
    if not in_one_order(edit, other, scope=about.scope):
        return False
    first, second = as_written(edit, about.scope), as_written(other, about.scope)
    if first is None or second is None:
        return False
    more = {name.base for name in free_letters(edit) ^ free_letters(other)}
    cancels = more <= about.cancelled
    if first == second or (not first.is_Symbol and first.as_dummy() == second.as_dummy()):
        merged = about.alike and _is_merged(edit, other)
        return _is_regrouped(edit, other) or merged or (bool(more) and cancels)
    if cancels:
        return True
    first, second = scalar(edit, about.scope), scalar(other, about.scope)
    return first is not None and second is not None and are_equal(first, second)


def _is_regrouped(first: Node, second: Node) -> bool:
    """Return whether two sides are the same product with different grouping: A (B C) and (A B) C."""
    leaves = ([each for each in side.walk() if isinstance(each, Name | Number)] for side in (first, second))
    return bool(next(leaves) == next(leaves) and bare(first) != bare(second))


def _is_merged(first: Node, second: Node) -> bool:
    """Return whether one side merges what the other one repeats: n c for sum_j c, e^{a + b} for e^a e^b."""
    return any(sum(map(kind, first.walk())) != sum(map(kind, second.walk())) for kind in (is_aggregate, is_exponential))


def is_explained(left: Node, right: Node, names: tuple[Name, ...], scope: Scope) -> bool:
    """Return whether the sides may be equal because of definitions of their letters, in the section or usual ones."""
    keys = {name.key for name in names}
    defined: dict[str, Node] = {}
    for name in names:
        found, given = scope.definition(name), scope.numbers_in_reach(name.key)
        if found is not None and any(each.key in keys for each in letters_of(found)):
            defined[name.key] = found
        elif len(given) == 1:
            defined[name.key] = given[0]
    tops = tops_of(left, right)
    usual = {key: value for key, value in USUAL.items() if key not in tops}
    if agree(*_with(usual, left, right)):
        return True
    return bool(defined) and any(may_agree(*_with(each, left, right)) for each in (defined, {**usual, **defined}))


def _with(values: dict[str, Node], *sides: Node) -> tuple[Node, ...]:
    """Return the sides with letters replaced, and then with letters in the replacements replaced."""
    return tuple(put(put(side, values), values) for side in sides)
