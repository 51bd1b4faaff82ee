r"""Functions of one number in numbers: `\sigma(1)`, `\text{GELU}(2)`, and functions that the section defines.

Definition   a function is what the activation of its name, else what the document writes for it before, `f(x) = 2 x`;
             a prime is its derivative
Result       `Functions.number(node, letters)`: an enclosure of what a formula comes to when its functions are known
Assumes      an activation of a name is known to forty digits; derivatives are taken by differences, to thirty
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sympy import Expr, Lambda, Rational

from derivations.activations.gelu import gelu_sigmoid, gelu_tanh
from derivations.documents.budget import spend
from derivations.documents.judge.arrays.array_functions import FUNCTIONS
from derivations.documents.judge.numbers.letters import put
from derivations.documents.judge.numbers.values import Enclosure, Letters, enclose
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import folded
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Derivative, Fence, Name, Node, Number, rebuilt

__all__ = ["Functions", "is_named"]

_DIGITS = 40
_STEP = Fraction(1, 1 << 50)  # of a difference; its square is what a derivative is off by
_LARGEST = 1_000  # argument
_DEEPEST = 4  # definition inside a definition
_MOST_STATEMENTS = 200
_BITS = 256
_PLAIN = frozenset({"exp", "sqrt", "sin", "cos", "tanh", "sigmoid", "abs", "relu", "log", "ln", "lg", "max", "min"})
_SETS = ("=", ":=", "≡")
_OTHER_FORMS: Mapping[str, tuple[Lambda, ...]] = {"gelu": (gelu_tanh.formula, gelu_sigmoid.formula)}


def _is_activation(function: Name) -> bool:
    """Say whether a name is that of a function in the table, which has neither labels nor indices."""
    return folded(function) in FUNCTIONS and not (function.subscripts or function.superscripts or function.accent)


def is_named(function: Name) -> bool:
    """Say whether a function is known by its name: an activation, or one like exp and tanh."""
    return _is_activation(function) or _is_plain(function)


def _is_plain(function: Name) -> bool:
    """Say whether a function is one that `enclose` knows."""
    return function.base.lower() in _PLAIN and not function.primes


class _NotKnown(Exception):
    """A function or a letter that has no number here."""


@lru_cache(maxsize=512)
def _activation(word: str, form: int, at: Fraction) -> Fraction | None:
    """Return the number of an activation to forty digits."""
    formula = (FUNCTIONS[word], *_OTHER_FORMS.get(word, ()))[form]
    body: Expr = formula.expr.xreplace({formula.variables[0]: Rational(at.numerator, at.denominator)})
    number = body.evalf(_DIGITS)
    return Fraction(*number.as_numer_denom()) if number.is_Rational else _of_float(number)


def _of_float(number: Expr) -> Fraction | None:
    rational = Rational(number) if number.is_Float and number.is_finite else None
    return Fraction(rational.p, rational.q) if rational is not None else None


def _bracketed(value: Fraction) -> Fence:
    """Return a number in brackets, so that it stands as a factor beside another."""
    return Fence("(", Number(str(value), value, exact=False))


@dataclass
class Functions:
    """The functions of a section; `form` picks one of the usual forms of an activation."""

    statement: Statement
    scope: Scope
    form: int = 0
    called: set[str] = field(default_factory=set)  # functions that took part
    used: set[str] = field(default_factory=set)  # activations among them, which nothing defines
    depth: int = 0

    def number(self, node: Node, letters: Letters) -> Enclosure | None:
        """Return what a formula comes to; None where a function or a letter is not known."""
        try:
            return enclose(self._worked_out(node, letters), letters, bits=_BITS)
        except _NotKnown:
            return None

    def _worked_out(self, node: Any, letters: Letters) -> Any:
        """Return a formula, or a tuple of parts, with the calls of known functions replaced by their numbers."""
        spend()
        if isinstance(node, Derivative):
            return _bracketed(self._slope(node, letters))
        if isinstance(node, Call) and len(node.arguments) == 1 and not _is_plain(node.function):
            inside = self.number(node.arguments[0], letters)
            if inside is None or abs(inside.middle) > _LARGEST:
                raise _NotKnown
            self.called.add(node.function.key)
            value = self._called(node.function, inside.middle)
            return _bracketed(value)
        return rebuilt(node, lambda each: self._worked_out(each, letters))

    def _slope(self, node: Derivative, letters: Letters) -> Fraction:
        """Return the derivative of a formula by a letter, at the number that the letter has."""
        by = node.by[0]
        if not isinstance(by, Name) or len(node.by) > 1:
            raise _NotKnown
        at = letters(by)
        if not isinstance(at, Fraction):
            raise _NotKnown
        ends = [self.number(put(node.of, {by.key: _bracketed(at + step)}), letters) for step in (_STEP, -_STEP)]
        above, below = ends
        if above is None or below is None:
            raise _NotKnown
        return (above.middle - below.middle) / (2 * _STEP)

    def _called(self, function: Name, at: Fraction) -> Fraction:
        if function.primes == 1:
            whole = replace(function, primes=0)
            return (self._called(whole, at + _STEP) - self._called(whole, at - _STEP)) / (2 * _STEP)
        if function.primes:
            raise _NotKnown
        own = None if _is_activation(function) and folded(function) != "sigma" else self._defined(function)
        value = self._by_name(function, at) if own is None else self._by_definition(*own, at)
        if value is None:
            raise _NotKnown
        return value

    def _by_name(self, function: Name, at: Fraction) -> Fraction | None:
        if not _is_activation(function):
            return None
        word = folded(function)
        self.used.add(word)
        return _activation(word, self.form if word in _OTHER_FORMS else 0, at)

    def _by_definition(self, letter: Name, body: Node, at: Fraction) -> Fraction | None:
        if self.depth >= _DEEPEST:
            return None
        self.depth += 1
        try:
            inside = put(body, {letter.key: _bracketed(at)})
            value = self.number(inside, lambda name: None)
        finally:
            self.depth -= 1
        return value.middle if value is not None else None

    def _defined(self, function: Name) -> tuple[Name, Node] | None:
        """Return the letter and the formula by which what is in reach defines a function before, if it is one."""
        found: dict[tuple[Name, Node], None] = {}
        sections = set(self.scope.reach.sections)
        for statement in self._before():
            if statement.section not in sections:
                continue
            left, *others = statement.chain.sides
            if (
                isinstance(left, Call)
                and left.function == function
                and others
                and statement.chain.relations[0] in _SETS
            ):
                letter = left.arguments[0] if len(left.arguments) == 1 else None
                if isinstance(letter, Name):
                    found[letter, others[0]] = None
        if len(found) > 1:
            raise _NotKnown
        return next(iter(found), None)

    def _before(self) -> list[Statement]:
        return self.scope.document.around(self.statement, _MOST_STATEMENTS)
