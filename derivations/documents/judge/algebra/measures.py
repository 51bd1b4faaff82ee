r"""Norms, entropies and divergences: `H(p, q) = H(p) + D_{KL}(p \| q)`, `\|x\|_2 = \sqrt{\sum_i x_i^2}`.

Definition   each measure stands for its sum: H(p) for -sum_i p_i log p_i, H(p, q) for -sum_i p_i log q_i, D_KL(p || q)
             for sum_i p_i log(p_i / q_i), a norm for the root of the sum of squares, with 1 below for the sum of what
             is positive. Letters of distributions have entries that add up to 1
Result       holds where both sides have the same numbers in every draw; wrong where they have others in every draw
Assumes      letters are H and D_KL or KL, as usual; one measure alone on a left side is judged with its definition
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import nan
from typing import Any

from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.sampled import POSITIVE, Bound, Sampler, ends_of, reaching
from derivations.documents.judge.arrays.formula_letters import names_in
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Chain,
    Entry,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Transpose,
    Words,
    rebuilt,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_measures"]

CHECK = "measure"
CLOSE, APART = 1e-9, 1e-4
PLACE = Name("the place of an entry")
PLACES = (1, 2, 3)  # of sums without bounds
DIVERGENCES = ("D", "KL")
TINY = 1e-12
ORDER = 2  # of a norm that tells none
OF_DISTRIBUTIONS = frozenset({"p", "q", "P", "Q", "y", "π", "pi"})  # H(X, Y) is the entropy of both together
FEWEST = 2  # measures, which are related


def check_measures(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether two formulas of measures have the same numbers."""
    if link is None or statement.chain.relations[link] not in ("=", ":=", "≡"):
        return
    sides = statement.chain.sides[link : link + 2]
    found = [measure for side in sides for part in side.walk() if (measure := _measure(part)) is not None]
    is_norm = any(isinstance(part, Fence) and part.bracket == "||" for part in sides[0].walk())
    if (len(found) < FEWEST and not is_norm) or not found or not _is_of_entries(*sides, scope=scope):
        return
    left, right = (reaching(_written(side), PLACE, *ends_of(*sides)) for side in sides)
    letters = frozenset(name.key for side in sides for part in side.walk() for name in _distributions(part))
    sampler = _Shares(letters, left, right)
    apart = [_apart(sampler.number(left, draw), sampler.number(right, draw)) for draw in POSITIVE]
    if all(each < CLOSE for each in apart):
        yield Finding("holds", CHECK, "both sides have the same numbers in every draw of the letters")
    elif all(each > APART for each in apart) and _is_about_one(*sides) and not is_condition(statement):
        yield Finding("wrong", CHECK, "the two sides have other numbers in every draw of the letters")


def _apart(first: float | None, second: float | None) -> float:
    """Return how far two numbers are apart, in parts of the larger one; nan where one of them is not known."""
    return nan if first is None or second is None else abs(first - second) / max(abs(first), abs(second), TINY)


def _is_of_entries(*sides: Node, scope: Scope) -> bool:
    """Say whether all that stands outside of measures are numbers and entries, and no norm of something else."""
    parts = [part for side in sides for part in side.walk()]
    inside = {id(part): part for each in parts if _measure(each) is not None for part in each.walk()}
    measured = {part.key for part in inside.values() if isinstance(part, Name)}
    outside = [part for part in parts if id(part) not in inside]
    names = [part for part in outside if isinstance(part, Name)]
    is_other = any(isinstance(part, Fence | Transpose) and getattr(part, "bracket", "||") == "||" for part in outside)
    return not is_other and not any(
        name.base[:1].isupper() or name.key in measured or scope.shape(name) not in ((), None) for name in names
    )


def _is_about_one(left: Node, right: Node) -> bool:
    """Say whether both sides are about the same letters, and every norm tells which it is, or a sum of squares does."""
    sides = left, right
    about = [{_whole(name).key for name in names_in(_written(side)) if name.subscripts} for side in sides]
    if about[0] != about[1]:
        return False  # two norms may be equal
    parts = [part for side in sides for part in side.walk()]
    below = {id(part.of) for part in parts if isinstance(part, Entry)}
    is_plain = any(isinstance(part, Fence) and part.bracket == "||" and id(part) not in below for part in parts)
    sums = (part for part in parts if isinstance(part, Aggregate))
    powers = (each.exponent for part in sums for each in part.walk() if isinstance(each, Power))
    return not is_plain or any(isinstance(each, Number) and each.value == ORDER for each in powers)


# --- measures ---


def _measure(node: Node) -> Node | None:
    """Return the sum that a measure stands for."""
    match node:
        case Call(function=Name(base="H", subscripts=(), superscripts=()), arguments=(Name() as first,)):
            return _entropy(first, first)
        case Call(
            function=Name(base="H", subscripts=(), superscripts=()), arguments=(Name() as first, Name() as second)
        ) if first.base in OF_DISTRIBUTIONS and second.base in OF_DISTRIBUTIONS:
            return _entropy(first, second)
        case Call(function=function, arguments=(Chain(sides=(Name() as first, Name() as second), relations=("|",)),)):
            return _divergence(first, second) if _is_divergence(function) else None
        case Entry(of=Fence(bracket="||", inside=Name() as inside), indices=(Number(value=order),)) if (
            order in (1, 2) and inside.base.islower()
        ):
            return _norm(inside, int(order))
        case Fence(bracket="||", inside=Name() as inside) if inside.base.islower():
            return _norm(inside, ORDER)
    return None


def _is_divergence(function: Name) -> bool:
    below = [each.text if isinstance(each, Words) else getattr(each, "key", "") for each in function.subscripts]
    return function.base in DIVERGENCES and below in ([], ["KL"]) and not (function.base == "D" and not below)


def _entropy(first: Name, second: Name) -> Node:
    terms = Product((_entry(first), Call(Name("log"), (_entry(second),))), ("",))
    return Negative(Aggregate("sum", terms, (PLACE,)))


def _divergence(first: Name, second: Name) -> Node:
    ratio = Call(Name("log"), (Quotient(_entry(first), _entry(second)),))
    return Aggregate("sum", Product((_entry(first), ratio), ("",)), (PLACE,))


def _norm(of: Name, order: int) -> Node:
    if order == 1:
        return Aggregate("sum", Fence("|", _entry(of)), (PLACE,))
    return Root(Aggregate("sum", Power(_entry(of), Number("2", Fraction(2))), (PLACE,)))


def _entry(of: Name) -> Name:
    return replace(of, subscripts=(*of.subscripts, PLACE))


def _written(node: Any) -> Any:
    """Return a formula with its measures written as sums, in brackets."""
    found = _measure(node) if isinstance(node, Node) else None
    return Fence("(", found) if found is not None else rebuilt(node, _written)


def _distributions(node: Node) -> Iterator[Name]:
    """Yield the letters of which a measure is an entropy or a divergence."""
    match node:
        case Call(arguments=(Chain(sides=sides),)) if _measure(node) is not None:
            yield from (each for each in sides if isinstance(each, Name))
        case Call(arguments=arguments) if _measure(node) is not None:
            yield from (each for each in arguments if isinstance(each, Name))


class _Shares(Sampler):
    """Numbers of formulas of which some letters have entries that add up to 1."""

    def __init__(self, letters: frozenset[str], *formulas: Node) -> None:
        super().__init__(*formulas)
        self.letters, self.ends = letters, ends_of(*formulas)

    def _letter(self, name: Name, bound: Bound) -> float:
        if not name.subscripts or _whole(name).key not in self.letters:
            return super()._letter(name, bound)
        places = (Number(str(at), Fraction(at)) for at in self._places(bound))
        entries = (replace(name, subscripts=(*name.subscripts[:-1], place)) for place in places)
        return super()._letter(name, bound) / sum(super(_Shares, self)._letter(each, bound) for each in entries)

    def _places(self, bound: Bound) -> Iterable[int]:
        """Return the places of the entries that add up to 1."""
        lower, upper = self.ends
        if lower is None or upper is None:
            return PLACES
        return range(int(self._value(lower, bound)), int(self._value(upper, bound)) + 1)


def _whole(name: Name) -> Name:
    return replace(name, subscripts=name.subscripts[:-1])
