"""The oracle of expectations and variances: random letters that are independent, with the moments that a text gives.

Definition   every letter that is no size and no Greek one is random inside an expectation or a variance; its
             distribution has two values, of its own for each letter, with mean 0 and variance 1 where the text says so
Result       `moments_in(chains)`: what a text says; `moments_agree(original, mutated, said)`: whether two formulas are
             equal, by summing over all outcomes; false where neither has an expectation, or where one is not read
Assumes      pages on moments take their letters for independent, so that what is equal then may be true
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product

import mpmath
import numpy as np

from derivations.documents.syntax import Aggregate, Annotated, Call, Chain, Name, Node, Number, Power
from tests.documents.mutants.arrays import Assignment, Unread, sized
from tests.documents.mutants.functions import DIGITS, Differ, Value
from tests.documents.mutants.oracle import FAILURES, letters

__all__ = ["Moments", "moments_agree", "moments_in"]

MOST_LETTERS = 12  # random ones in one expectation: 4096 outcomes
EXPECTATION, VARIANCE = "E", "Var"
FREE = {"i": 1, "j": 2, "l": 1, "t": 2}
GREEK = frozenset("αβγδεζηθκλμνξπρστφχψω")
Outcome = tuple[tuple[mpmath.mpf, mpmath.mpf], ...]  # pairs of a value and its probability


@dataclass(frozen=True)
class Moments:
    """The letters that a text gives mean 0, and those that it gives variance 1, or mean square 1."""

    centred: frozenset[str] = frozenset()
    unit: frozenset[str] = frozenset()


@dataclass
class RandomAssignment(Assignment):
    """An assignment with random scalars: `seen`, those that an expectation met; `drawn`, those of an outcome."""

    said: Moments = field(default_factory=lambda: Moments())
    seen: dict[tuple[str, tuple[int, ...]], None] = field(default_factory=dict)
    drawn: dict[tuple[str, tuple[int, ...]], mpmath.mpf] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """Return what a formula is; an expectation over all outcomes."""
        if isinstance(node, Call) and not node.function.subscripts and len(node.arguments) == 1:
            if node.function.base == EXPECTATION:
                return self.expected(node.arguments[0], 1)
            if node.function.base == VARIANCE:
                return self.expected(node.arguments[0], 2) - self.expected(node.arguments[0], 1) ** 2
        return super().value(node)

    def array(self, key: str, places: tuple[int, ...], rank: int) -> Value:
        """Return a letter: as it is drawn, inside an expectation."""
        if rank == 0 and _may_be_random(key):
            self.seen[key, places] = None
            if (key, places) in self.drawn:
                return self.drawn[key, places]
        return super().array(key, places, rank)

    def expected(self, node: Node, power: int) -> Value:
        """Return the mean of a power of what is inside, by all outcomes of the letters that stand there."""
        if self.drawn:
            raise Unread("an expectation inside another")
        bound = dict(self.bound)
        self.seen = {}
        self.value(node)
        keys = list(self.seen)
        if len(keys) > MOST_LETTERS:
            raise Unread("many outcomes")
        total = mpmath.mpf(0)
        for outcome in product(*(_law(key, self.said) for key, _ in keys)):
            self.bound = dict(bound)
            self.drawn = {key: value for key, (value, _) in zip(keys, outcome, strict=True)}
            value = self.value(node)
            self.drawn = {}
            if isinstance(value, np.ndarray):
                raise Unread("the mean of an array")
            total += value**power * mpmath.fprod(probability for _, probability in outcome)
        self.bound = bound
        return total


def _may_be_random(key: str) -> bool:
    """Say whether a letter is no size and no constant, which Greek letters are."""
    return not sized(Name(key)) and key[:1] not in GREEK


def _law(key: str, said: Moments) -> Outcome:
    """Return two values and how probable each is, from 1/6 to 2/5: by the letter, with the mean and variance said."""
    first, second, third = hashlib.sha256(key.encode()).digest()[:3]
    share = mpmath.mpf(first + 182) / 1092
    names = {key, key.partition("_")[0]}
    mean = mpmath.mpf(0) if names & said.centred else mpmath.mpf(second + 100) / 300
    scale = mpmath.mpf(1) if names & said.unit else mpmath.mpf(third + 300) / 300
    values = (mpmath.sqrt((1 - share) / share), -mpmath.sqrt(share / (1 - share)))
    return ((mean + scale * values[0], share), (mean + scale * values[1], 1 - share))


def moments_in(chains: Iterable[Chain]) -> Moments:
    """Return the letters of which a text says `E[q_i] = 0`, and `E[q_i^2] = 1` or `Var(q_i) = 1`."""
    centred, unit = set[str](), set[str]()
    for chain in (part for each in chains for part in each.walk() if isinstance(part, Chain)):
        for left, right in pairwise(chain.sides):
            match left, _plain(right):
                case Call(function=Name(base="E"), arguments=(Name() as letter,)), Number(value=0):
                    centred.add(_family(letter))
                case Call(function=Name(base="E"), arguments=(Power(base=Name() as letter),)), Number(value=1):
                    unit.add(_family(letter))
                case Call(function=Name(base="Var"), arguments=(Name() as letter,)), Number(value=1):
                    unit.add(_family(letter))
    return Moments(frozenset(centred), frozenset(unit))


def _family(name: Name) -> str:
    """Return the letter of all members of a family, as of W_{lj}; s_1 is a letter of its own."""
    members = any(isinstance(each, Name) for part in name.subscripts for each in part.walk())
    return name.base if members else name.key


def _plain(node: Node) -> Node:
    while isinstance(node, Annotated):
        node = node.of
    return node


@mpmath.workdps(DIGITS)
def moments_agree(original: Node, mutated: Node, said: Moments) -> bool:
    """Say whether two formulas have one value, expectations and variances being what they are."""
    if not any(isinstance(each, Call) and each.function.base in (EXPECTATION, VARIANCE) for each in original.walk()):
        return False
    try:
        pairs = [
            tuple(_assignment(original, bound, said).value(node) for node in (original, mutated)) for bound in (2, 3)
        ]
    except (Differ, *FAILURES):
        return False
    return all(
        not isinstance(a, np.ndarray) and abs(a - b) <= mpmath.mpf("1e-30") * max(1, abs(a), abs(b)) for a, b in pairs
    )


def _assignment(node: Node, bound: int, said: Moments) -> RandomAssignment:
    """Return an assignment in which every sum up to a letter has so many terms, and every letter is a number."""
    ranks = {name.key: 0 for name in _names(node)}
    tops = dict.fromkeys(_tops(node), bound)
    return RandomAssignment(np.random.default_rng(0), ranks, bound=dict(FREE), bounds=tops, said=said)


def _tops(node: Node) -> Iterator[str]:
    for part in node.walk():
        if isinstance(part, Aggregate) and part.upper is not None:
            yield from (each.key for each in letters(part.upper))


def _names(node: Node) -> Iterator[Name]:
    for each in node.walk():
        if isinstance(each, Name):
            yield each
            yield Name(each.base, each.subscripts[:0], each.superscripts, each.primes, each.accent)
