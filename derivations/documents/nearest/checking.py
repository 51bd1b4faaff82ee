"""A formula that is one edit away from the known formula of what is named there.

Definition   an edit changes one place of the formula and keeps its letters
Result       holds where the formula is a known one; wrong where an edit makes it the one that the left side names, and
             it is none itself; conditional where only the words around name it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from derivations.documents.budget import spend
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.equations import Equation
from derivations.documents.conditions import is_condition
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated
from derivations.documents.elaborate.typings import again
from derivations.documents.formulas import formula_text
from derivations.documents.judge.canonical.recognition import is_about, words_of
from derivations.documents.judge.canonical.spellings import left_spelling
from derivations.documents.nearest.known import Known, is_of_a_known_size, known_as
from derivations.documents.nearest.restated import restated_as
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Name, Negative, Node, Number, Power, Root, Sum
from derivations.documents.verdicts import Finding

__all__ = ["check_nearest"]

CHECK = "nearest"
OF_SLOPES = ("derivative", "matrix derivative", "same place", "slope")
NEAR = 20  # statements before and behind
LIGHT = 2  # a formula of less weight is one edit away from too much
MOST_TYPINGS = 1  # whose edits are tried
MOST_NODES = 60  # the known formulas are shorter
FREE = re.compile(  # edits that change which letters stand there, or what an author may choose
    r"the factor \D|the division by|there must be no (?:division|factor)|it must be a (?:product|quotient)"
    r"|the logarithm is missing|the function must be|\S+ must be (?:added|subtracted)"
)
DIVISION = re.compile(r"the division by (\S+) is missing")
EXCHANGED = re.compile(r"(\S+) belongs where (\S+) stands")
NUMBER = re.compile(r"the (?:factor|summand) \d|the square is missing|the (?:number|exponent) must be")
NO_ROOT = "the root is missing"
ONE_MORE = "the summand 1 is missing"
IDLE = "the sum must be over"  # every term of the sum is the same


def check_nearest(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the right side of a link with the known formulas."""
    if link is None or statement.chain.relations[link] not in ("=", "≡", ":=") or is_condition(statement):
        return
    right = statement.chain.sides[link + 1]
    lefts = tuple(dict.fromkeys((statement.chain.sides[link], statement.chain.sides[0])))
    if sum(1 for _ in right.walk()) > MOST_NODES or any(_are_one_function(left, right) for left in lefts):
        return
    try:
        typings = elaborated((right,), scope, statement.chain.sides)
    except NotElaborated:
        return
    said = Said(lefts, right, scope, scope.words(statement).lower(), statement)
    by_typing = [known_as(typing.sides[0]) for typing in typings]
    found = [known for each in by_typing for known in each]
    if any(map(said.means, found)):
        return
    if found and not any(map(_names_a_measure, lefts)) and (all(by_typing) or not said.restated):
        return
    if not any(is_of_a_known_size(typing.sides[0]) for typing in typings[:MOST_TYPINGS]):
        return
    spoken: Finding | None = None
    for new, slip, known in _edited(right, typings, said):
        named = said.means(known, new)
        text, result = formula_text(new, statement.notation), known.form.result or None
        if _is_subtracted_elsewhere(lefts[-1], statement, scope):
            continue  # which makes good its sign
        if slip == NO_ROOT and _is_rooted_elsewhere(lefts[-1], statement, scope):
            continue  # sigma may be the variance
        if not known.form.assumed and (named or (not found and slip.startswith(IDLE) and known.weight > LIGHT)):
            elsewhere = ", which the document states elsewhere" if said.is_restated_as(known) else ""
            reason = f"one edit away from the formula of {known.title}{elsewhere}: {slip}"
            yield Finding("wrong", CHECK, reason, text, result)
            return
        if spoken is None and not found and said.speaks_of(known):
            assumed = ("another formula is meant than the usual one",)
            spoken = Finding("conditional", CHECK, f"one edit away from {known.title}: {slip}", text, result, assumed)
    if spoken is not None:
        yield spoken


def _are_one_function(left: Node, right: Node) -> bool:
    """Say whether a function is equated with itself elsewhere: `softmax(z) = softmax(z + c)` defines no softmax."""
    return isinstance(left, Call) and any(
        isinstance(part, Call) and part.function == left.function for part in right.walk()
    )


def _renames(right: Node, new: Node, slip: str, counts: frozenset[str]) -> bool:
    """Say whether an edit changes what a letter stands for, its square or another count, or the ends of a sum."""
    exchanged = EXCHANGED.match(slip)
    if exchanged:
        one, other = exchanged.groups()
        return one in counts or other in counts or one.partition("_")[0] == other.partition("_")[0]
    if _bounds(right) != _bounds(new):
        return True
    before, after = (
        {part.base for part in each.walk() if isinstance(part, Power) and isinstance(part.base, Name)}
        for each in (right, new)
    )
    return any(isinstance(base, Name) and not base.subscripts for base in before ^ after)


def _is_subtracted_elsewhere(left: Node, statement: Statement, scope: Scope) -> bool:
    """Say whether another line takes minus what this one defines: the loss of `L = -KL(p, q)`."""
    word = left.function.key if isinstance(left, Call) else None
    return word is not None and any(
        isinstance(part, Negative)
        and any(isinstance(inner, Call) and inner.function.key == word for inner in part.operand.walk())
        for part in _parts_elsewhere(statement, scope)
    )


def _is_rooted_elsewhere(left: Node, statement: Statement, scope: Scope) -> bool:
    """Say whether another line takes a root of what this one defines."""
    parts = _parts_elsewhere(statement, scope)
    return any(isinstance(part, Root) and left in part.radicand.walk() for part in parts)


def _parts_elsewhere(statement: Statement, scope: Scope) -> Iterator[Node]:
    """Yield the parts of the statements around one."""
    others = (each for each in scope.document.around(statement, NEAR, NEAR) if each is not statement)
    return (part for other in others for side in other.chain.sides for part in side.walk())


def _bounds(node: Node) -> list[tuple[Node | None, Node | None]]:
    return [(part.lower, part.upper) for part in node.walk() if isinstance(part, Aggregate)]


def _is_free(slip: str, right: Node) -> bool:
    """Say whether an author may choose so; the division by the number of terms of a sum is what makes a mean."""
    counts = {part.upper.key for part in right.walk() if isinstance(part, Aggregate) and isinstance(part.upper, Name)}
    if slip == ONE_MORE:  # the variance of a sample is divided by one less than its size
        return any(_is_one_less(part, counts) for part in right.walk())
    division = DIVISION.match(slip)
    return bool(FREE.match(slip)) and not (division and division[1] in counts)


def _is_one_less(part: Node, counts: set[str]) -> bool:
    """Say whether a part is n - 1, of one of some counts n."""
    if not isinstance(part, Sum) or part.signs != (1, -1):
        return False
    first, second = part.terms
    return isinstance(first, Name) and first.key in counts and isinstance(second, Number) and second.value == 1


def _edited(right: Node, typings: list[Elaborated], said: Said) -> Iterator[tuple[Node, str, Known]]:
    tempered = any(isinstance(part, Name) and part.base in ("tau", "τ", "T") for part in right.walk())
    for new, slip in edits_among(right, (right,)):
        if tempered and slip == NO_ROOT:
            continue  # a temperature may be the root itself
        if _is_free(slip, right) or _renames(right, new, slip, typings[0].counts):
            continue
        spend(20)
        for typing in typings if said.restated else typings[:MOST_TYPINGS]:
            try:
                found = again((new,), typing, said.scope)
            except NotElaborated:
                continue
            sides = found.sides
            if not found.ranges.keys() <= typing.ranges.keys():
                continue  # an index that a sum binds stands outside of it
            for known in known_as(sides[0]):
                if isinstance(known.concept, Equation) and (known.weight < LIGHT or NUMBER.match(slip)):
                    continue  # frequencies and rates are counted in more ways than one
                if NUMBER.match(slip) and said.gives_a_value:
                    continue  # a width may be given as half of another
                if known.weight >= LIGHT or said.means(known, new):
                    yield new, slip, known


@dataclass(frozen=True)
class Said:
    """What stands on the left of a formula, and in the words around it."""

    lefts: tuple[Node, ...]
    right: Node
    scope: Scope
    words: str
    statement: Statement

    @cached_property
    def restated(self) -> frozenset[str]:
        """The titles of the known formulas that other equations of the document give for the same letter."""
        return frozenset().union(*(restated_as(left, self.statement, self.scope) for left in self.lefts))

    def is_restated_as(self, known: Known) -> bool:
        """Say whether the document states a known formula for the same letter elsewhere."""
        return known.title in self.restated

    def means(self, known: Known, right: Node | None = None) -> bool:
        """Say whether a known formula is meant by the left side, or by another equation for the same letter."""
        return self.names(known, right or self.right) or self.is_restated_as(known)

    @property
    def gives_a_value(self) -> bool:
        """Say whether the section sets a letter of the formula."""
        names = (part for part in self.right.walk() if isinstance(part, Name))
        return any(self.scope.value(name) is not None or self.scope.definition(name) is not None for name in names)

    def names(self, known: Known, right: Node) -> bool:
        """Say whether the left side names what a known formula is of, which stands on the right."""
        return any(self._names(known, left, right) for left in self.lefts)

    def _names(self, known: Known, left: Node, right: Node) -> bool:
        concept = known.concept
        if isinstance(concept, Equation):
            return left_spelling(left) in concept.left and any(word in self.words for word in concept.words)
        if concept.left == "low rank":
            return False
        if words_of(left) & set(concept.words):
            return True
        if concept.left in OF_SLOPES and known.weight < LIGHT:
            return False  # a slope of anything
        return concept.left not in ("any", "word") and is_about(concept, left, right)

    def speaks_of(self, known: Known) -> bool:
        """Say whether the words around name it."""
        return any(word in self.words for word in known.title.lower().split() if len(word) > 6)


def _names_a_measure(left: Node) -> bool:
    """Say whether the left side is a letter that stands for a mean, a variance or a deviation."""
    return any(isinstance(part, Name) and part.base in ("mu", "sigma") for part in (left, *left.children))
