"""A formula that is one edit away from the known formula of what is named there.

Definition   an edit changes one place of the formula and keeps its letters. A formula of the handbook is named by its
             left side and by a word somewhere in the document; one of the catalogue by its left side
Result       wrong where an edit makes the formula the one that is named, and it is none itself, or where the letters of
             a formula of the handbook have changed places; conditional where only the words around name it
Assumes      a sum of three letters is one edit away from any other: such a formula is known by its letters as well
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Symbol

from derivations.documents.budget import spend
from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.equations import Equation
from derivations.documents.canon.scalar_sampling import NoNumber, differ
from derivations.documents.conditions import is_condition
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated, letters_for
from derivations.documents.elaborate.typings import again
from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.left_sides import left_fits
from derivations.documents.judge.canonical.recognition import is_about, marks_of, words_of
from derivations.documents.nearest.fingerprint import plain
from derivations.documents.nearest.handbook import handbook, spellings
from derivations.documents.nearest.known import EQUATIONS, Known, distinct, is_of_a_known_size, known_as
from derivations.documents.nearest.matching import UNNAMED
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
MOST_NODES = 100  # the known formulas are shorter
FREE = re.compile(  # edits that change which letters stand there, or what an author may choose
    r"the factor \D|the division by|there must be no (?:division|factor|sigma|tanh)|it must be a (?:product|quotient)"
    r"|the logarithm is missing|the function must be|\S+ must be (?:added|subtracted)"
)
QUOTED = re.compile(r"the function must be|(\S+) belongs where")  # what nobody chooses in a formula of the handbook
DIVISION = re.compile(r"the division by (\S+) is missing")
EXCHANGED = re.compile(r"(\S+) belongs where (\S+) stands")
NUMBER = re.compile(r"the (?:factor|summand) \d|the square is missing|the (?:number|exponent) must be")
NO_ROOT = "the root is missing"
WEIGHT = re.compile("[WUV](_|$)")
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
        typings = distinct(elaborated((right,), scope, statement.chain.sides, opaque=True))
    except NotElaborated:
        return
    said = Said(lefts, right, scope, scope.words(statement).lower(), statement)
    by_typing = [known_as(typing.sides[0], said.quoted) for typing in typings]
    found = [known for each in by_typing for known in each]
    if said.quoted and (exchanged := _exchanged(typings, found)) is not None:
        reason = f"this has the letters of the formula of {exchanged.title}, in other places"
        yield Finding("wrong", CHECK, reason)
        return
    if any(map(said.means, found)):
        return
    if found and not any(map(_names_a_measure, lefts)) and (all(by_typing) or not said.restated):
        return
    if not said.may_mean and not any(isinstance(part, Aggregate) for part in right.walk()):
        return
    if not any(is_of_a_known_size(typing.sides[0], said.quoted) for typing in typings[:MOST_TYPINGS]):
        return
    spoken: Finding | None = None
    for new, slip, known in _edited(right, typings, said):
        named = said.means(known, new)
        text, result = formula_text(new, statement.notation), known.form.result or None
        if "sign" in slip and _is_subtracted_elsewhere(lefts[-1], statement, scope):
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


def _exchanged(typings: Sequence[Elaborated], found: Sequence[Known]) -> Known | None:
    """Return the formula of the handbook whose very letters stand there, each in another place; None if one is it."""
    quoted = [known for known in found if isinstance(known.concept, Equation) and known.concept.quoted]
    for typing in typings if quoted else ():
        with suppress(NoNumber):
            here = plain(typing.sides[0]).expression
            alike = [known for known in quoted if _letters(known.plain.expression) == _letters(here)]
            several = sum(1 for name in _letters(here) if WEIGHT.match(name)) > 1  # which authors call as they like
            if alike and not several and all(differ(here, known.plain.expression) for known in alike):
                return alike[0]
    return None


def _has_its_letters(expression: Expr, known: Known) -> bool:
    """Say whether an expression has the very letters that a formula of the handbook has."""
    with suppress(NoNumber):
        return _letters(plain(expression).expression) == _letters(known.plain.expression)
    return False


def _letters(expression: Expr) -> frozenset[str]:
    """Return the names of the letters of an expression, indices included; sizes that have no name are none."""
    return frozenset(symbol.name for symbol in expression.atoms(Symbol) if not symbol.name.startswith(UNNAMED))


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
    opaque = letters_for(right, typings[0].letters)
    for new, slip in edits_among(right, (right,)):
        if tempered and slip == NO_ROOT:
            continue  # a temperature may be the root itself
        if not said.may_mean and not slip.startswith(IDLE):
            continue
        free = _is_free(slip, right) or _renames(right, new, slip, typings[0].counts)
        if free and not (said.quoted and QUOTED.match(slip)):
            continue
        spend(20)
        if letters_for(new, typings[0].letters) - opaque:
            continue  # what has no meaning of its own has no slip either
        for typing in typings if said.restated or said.quoted else typings[:MOST_TYPINGS]:
            try:
                found = again((new,), typing, said.scope)
            except NotElaborated:
                continue
            sides = found.sides
            if not found.ranges.keys() <= typing.ranges.keys():
                continue  # an index that a sum binds stands outside of it
            for known in known_as(sides[0], said.quoted):
                equation = known.concept if isinstance(known.concept, Equation) else None
                if free and not (equation and equation.quoted):
                    continue
                if equation and equation.quoted and not known.weight and not _has_its_letters(sides[0], known):
                    continue  # a sum of three letters is one edit away from any other
                if equation and equation.slips and not any(words in slip for words in equation.slips):
                    continue
                if equation and not equation.quoted and (NUMBER.match(slip) or EXCHANGED.match(slip)):
                    continue  # frequencies and rates are counted in more ways than one
                if NUMBER.match(slip) and said.gives_a_value:
                    continue  # a width may be given as half of another
                if (known.weight >= LIGHT and not equation) or said.means(known, new):
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

    @cached_property
    def quoted(self) -> tuple[Equation, ...]:
        """The formulas of the handbook that may be meant."""
        return tuple(each for each in handbook() if any(self._tells(each, left) for left in self.lefts))

    @cached_property
    def may_mean(self) -> bool:
        """Say whether some known formula may be meant, whatever stands on the right."""
        if self.quoted or self.restated:
            return True
        known: tuple[Concept | Equation, ...] = (*CONCEPTS, *EQUATIONS)
        return any(self._may_be(each, left) for left in self.lefts for each in known)

    def _may_be(self, concept: Concept | Equation, left: Node) -> bool:
        if isinstance(concept, Equation):
            return self._tells(concept, left)
        if words_of(left) & set(concept.words):
            return True
        if concept.left in ("any", "word", "low rank") or not left_fits(concept, left, self.right):
            return False
        return 2 * len(concept.marks - marks_of(self.right)) <= len(concept.marks)  # an edit may add what is missing

    def _tells(self, equation: Equation, left: Node) -> bool:
        """Say whether the left side and the words around are those of an equation."""
        return bool(spellings(left) & equation.left) and equation.is_told_by(self.scope.document.prose)

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
            return self._tells(concept, left)
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
