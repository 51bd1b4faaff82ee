"""The left side of a formula and the words around it, which show what known formula may be meant.

Definition   a formula of the handbook is named by its left side and by a word somewhere in the document, one that is
             long by a word nearby; one of the catalogue by its left side, or by what is met in its right side; either
             by another equation for one letter
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from derivations.documents.canon.concept import Concept
from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.canon.equations import Equation
from derivations.documents.formulas.vocabulary import GREEK
from derivations.documents.judge.arrays.left_sides import left_fits
from derivations.documents.judge.canonical.recognition import is_about, marks_of, words_of
from derivations.documents.nearest.handbook import HEAVY, handbook, is_heavy, spellings, told_in
from derivations.documents.nearest.known import Known, strange_letters
from derivations.documents.nearest.restated import known_in, others, restated_as
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Name, Node, Power, Root

__all__ = ["LIGHT", "Said"]

OF_SLOPES = ("derivative", "matrix derivative", "same place", "slope")
MAXIMISED = re.compile(
    r"maximi[sz]|likelihood|objective|reward|最大|似然|目标函数|目標函數|尤度|우도|vraisemblance|verosimil|правдопод",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")
LIGHT = 2  # a formula of less weight is one edit away from too much


@dataclass(frozen=True)
class Said:
    """The left sides of a formula, the words around it, and the known formulas that they may name."""

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
        """Return whether other equations give the same letter a known formula of a weight above 0.

        y is many things: of y = g x + b nothing follows for y = g x.
        """
        return known.weight > 0 and known.title in self.restated

    def means(self, known: Known, right: Node | None = None) -> bool:
        """Return whether a known formula is meant by the left side, or by another equation for the same letter."""
        return self.names(known, right or self.right) or self.is_restated_as(known)

    @cached_property
    def is_quoted(self) -> bool:
        """Whether the left side is that of a formula of the handbook."""
        return any(self.tells(each) for each in self.quoted)

    @cached_property
    def quoted(self) -> tuple[Equation, ...]:
        """The formulas of the handbook that may be meant."""
        told, near = told_in(self.scope.document.prose), told_in(self.words) if self._is_heavy else frozenset()
        return tuple(
            each
            for each in handbook()
            if ((each in told or each.family) and self.tells(each))
            or (each in near and all(each.words) and is_heavy(each))
        )

    @property
    def _is_heavy(self) -> bool:
        """Whether the right side has at least HEAVY - 1 functions, sums, roots and powers."""
        parts = (part for part in self.right.walk() if isinstance(part, Aggregate | Call | Root | Power))
        return sum(1 for _ in parts) >= HEAVY - 1

    @cached_property
    def may_mean(self) -> bool:
        """Whether some known formula may be meant, even if the right side has a slip."""
        if self.quoted or self.restated:
            return True
        return any(self._may_be(each, left) for left in self.lefts for each in CONCEPTS)

    def _may_be(self, concept: Concept, left: Node) -> bool:
        if words_of(left) & set(concept.words):
            return True
        if concept.left in ("any", "word", "low rank") or not left_fits(concept, left, self.right):
            return False
        return 2 * len(concept.marks - marks_of(self.right)) <= len(concept.marks)  # an edit may add what is missing

    @cached_property
    def _spelled(self) -> frozenset[str]:
        return frozenset().union(*map(spellings, self.lefts))

    def tells(self, equation: Equation) -> bool:
        """Return whether the left side and a word of the document name a handbook formula.

        Of a letter alone it is a word nearby. Where all letters of its family are used, TP and FN, no word is needed.
        """
        named = self._spelled & equation.left
        if not named:
            return False
        is_word = any(sum(map(str.isalpha, each)) > 1 for each in named)
        family = equation.family
        if family and not any(map(_is_single, family)) and all(map(self.scope.is_used, family)):
            return True
        return equation.is_told_by(self.scope.document.prose if is_word else self.words)

    def names_in_words(self, known: Known) -> bool:
        """Return whether a known formula is named by more than a letter, which is the name of many things.

        It is named by a word, as KL or ce, or by the letters of its family. Another equation for the same letter does
        not name it: of a letter there are several formulas.
        """
        concept = known.concept
        if not isinstance(concept, Equation):
            return not self.is_restated_as(known) or any(words_of(left) & set(concept.words) for left in self.lefts)
        named = (word for name in self._spelled & concept.left for word in _WORD.findall(name))
        if any(len(word) > 1 and word not in GREEK for word in named):
            return True
        return bool(concept.family) and self.has_its_family(known)

    def is_told(self, known: Known) -> bool:
        """Return whether a word of the document names a handbook formula. Its letters alone may belong to another."""
        return isinstance(known.concept, Equation) and known.concept.is_told_by(self.scope.document.prose)

    def has_its_family(self, known: Known) -> bool:
        """Return whether the document uses all single letters of a formula's family.

        A document without r may call another gate z.
        """
        family = known.concept.family if isinstance(known.concept, Equation) else ()
        return self._letters_used.issuperset(name.key for name in family if _is_single(name))

    @cached_property
    def _letters_used(self) -> frozenset[str]:
        users = self.scope.document.users
        return frozenset(key.partition("_")[0] for key, found in users.items() if found)

    @cached_property
    def own_elsewhere(self) -> frozenset[str]:
        """The titles of the known formulas, in their own letters, that other equations give for the same letter."""
        return frozenset(
            known.title
            for left in self.lefts
            for other, side in others(left, self.statement, self.scope)
            for known, expression in known_in(side, other, self.scope.at(other), self.quoted)
            if not strange_letters(expression, known)
        )

    @property
    def is_of_a_letter(self) -> bool:
        """Whether the left side is only a letter."""
        return all(sum(map(str.isalpha, each)) < 2 for each in self._spelled)

    def _is_spoken_of(self, equation: Equation) -> bool:
        """Return whether a word of a handbook formula is nearby. It is False for a formula without words."""
        return all(equation.words) and equation.is_told_by(self.words)

    @cached_property
    def may_be_maximised(self) -> bool:
        """Whether words nearby tell of a likelihood or an objective, which has the sign of a loss or the other."""
        return MAXIMISED.search(self.words) is not None

    @property
    def gives_a_value(self) -> bool:
        """Whether the section gives a value or a definition to a letter of the right side."""
        names = (part for part in self.right.walk() if isinstance(part, Name))
        return any(self.scope.value(name) is not None or self.scope.definition(name) is not None for name in names)

    def names(self, known: Known, right: Node) -> bool:
        """Return whether the left side or a word nearby names the known formula on the right."""
        return self._is_named_nearby(known) or any(self._names(known, left, right) for left in self.lefts)

    def _is_named_nearby(self, known: Known) -> bool:
        concept = known.concept
        return isinstance(concept, Equation) and known.weight >= HEAVY and self._is_spoken_of(concept)

    def _names(self, known: Known, left: Node, right: Node) -> bool:
        concept = known.concept
        if isinstance(concept, Equation):
            return self.tells(concept)
        if concept.left == "low rank" or concept.lenient:
            return False
        if words_of(left) & set(concept.words):
            return True
        if concept.left in OF_SLOPES and known.weight < LIGHT:
            return False  # a slope of anything
        return concept.left not in ("any", "word") and is_about(concept, left, right)

    def speaks_of(self, known: Known) -> bool:
        """Return whether the words around contain a long word from the title of a known formula."""
        return any(word in self.words for word in known.title.lower().split() if len(word) > 6)


def _is_single(name: Name) -> bool:
    """Return whether a name is one letter without a subscript, which other subjects may use as well."""
    return len(name.base) == 1 and not name.subscripts
