r"""A side of a chain that differs from the others: `(a + b)^2 = a^2 - 2 a b + b^2 = a^2 + b^2 + 2 a b`.

Definition   two sides of a chain agree if they have the same numbers in all draws of their letters; a side strays that
             differs from two which are written otherwise and agree, while one edit of it makes it agree as well
Result       `strayed(statement, link, scope)`: the side of a link that strays, mended, with the slip in words, or None;
             told of the link in front of it, of the first link where the chain begins with it
Assumes      the letters are free: what the section defines by one another, or is usual of sizes, is left alone, and a
             letter that the others lack, which may be a mean. The first and the last side may be meant for special
             values, unless they have all letters of the others
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from derivations.documents.conditions import is_condition
from derivations.documents.judge.algebra.equation_edits import tried
from derivations.documents.judge.algebra.free_letters import (
    free_letters,
    has_differentials,
    indices_of,
    letters_of,
)
from derivations.documents.judge.algebra.near_identities import MOST_NODES, Mended, is_explained
from derivations.documents.judge.algebra.sampled import Sampler
from derivations.documents.judge.algebra.telling_apart import agree, differing, same
from derivations.documents.judge.numbers.letters import ambiguous, bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Dots, Name, Node, Number

__all__ = ["strayed"]

MOST_SIDES = 8
EQUALS = ("=", "≡")


def strayed(statement: Statement, link: int, scope: Scope) -> Mended | None:
    """Return a corrected side of a link, or None.

    Two other sides of the chain agree with each other but not with it. One edit makes it agree too.
    """
    sides = statement.chain.sides
    begin, end = _run(statement, link)
    if not 3 <= end - begin <= MOST_SIDES or _is_special(statement) or _recurs(sides):
        return None
    for at in (link + 1, link) if link == begin else (link + 1,):
        others = (*sides[begin:at], *sides[at + 1 : end])
        stands_alone = isinstance(bare(sides[at]), Name | Number) or not any(True for _ in letters_of(sides[at]))
        found = None if stands_alone else _mended(sides[at], others, scope, within=begin < at < end - 1)
        if found is not None:
            return found
    return None


def _run(statement: Statement, link: int) -> tuple[int, int]:
    """Return the range of sides that equations connect with a link: the first one, and one after the last."""
    relations = statement.chain.relations
    begin, end = link, link
    while begin and relations[begin - 1] in EQUALS:
        begin -= 1
    while end < len(relations) and relations[end] in EQUALS:
        end += 1
    return begin, end + 1


def _is_special(statement: Statement) -> bool:
    """Return whether a statement is code, or holds only under a condition other than the range of an index."""
    condition = statement.chain.condition
    ranged = condition is None or any(isinstance(part, Dots) for part in condition.walk())
    return statement.passage.syntax == "code" or not ranged or is_condition(statement)


def _recurs(sides: Sequence[Node]) -> bool:
    r"""Return whether a letter is defined by another one of its kind, which is such a sum: `\mu_k` by `\mu_{k-1}`."""
    first, names = sides[0], (part for side in sides for part in side.walk() if isinstance(part, Name))
    return isinstance(first, Name) and any(each.base == first.base and each.key != first.key for each in names)


def _mended(side: Node, others: Sequence[Node], scope: Scope, *, within: bool) -> Mended | None:
    """Return a side corrected by one edit, after which it agrees with two other sides, or None."""
    if sum(1 for each in (side, *others) for _ in each.walk()) > MOST_NODES:
        return None
    pair = next((pair for pair in combinations(others, 2) if bare(pair[0]) != bare(pair[1]) and agree(*pair)), None)
    if pair is None or ambiguous(side, *pair):
        return None
    other = pair[0]
    numbers = Sampler(side, *pair)
    draws = differing(numbers, side, other)
    names = tuple(dict.fromkeys(each for part in (side, *pair) for each in letters_of(part)))
    own, whole = ({(name.base, name.accent) for name in free_letters(each)} for each in (side, other))
    fits = own <= whole if within else own == whole
    if not draws or not fits or has_differentials(side) or is_explained(side, other, names, scope):
        return None
    indices = tuple(dict.fromkeys(key for part in (side, *pair) for key in indices_of(part)))
    means = {each.accent for each in letters_of(side)}  # a mean stands for a sum, and in no sum of its own
    letters = tuple(each for each in names if not each.accent or each.accent in means)
    for edit, slip in tried(side, letters, indices):
        if same(numbers, edit, other, draws):
            return Mended(edit, str(slip))
    return None
