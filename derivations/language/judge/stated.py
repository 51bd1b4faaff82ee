"""Assumptions and definitions in the form that the judge uses.

An equation of two arrays becomes an equation of their entries. Floating-point numbers become the decimals that were
written (`decimals`).
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Eq, Expr, Symbol

from derivations.language.arrays.binding import fresh_index
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import Blocks, same_size, total
from derivations.language.judge.decimals import exact
from derivations.language.results.derivation import Assumption, Claim, Derivation

__all__ = ["as_stated"]


def as_stated(derivation: Derivation, claim: Claim) -> tuple[Derivation, Claim]:
    """Return a derivation and a claim whose numbers are exact, and whose array equations are equations of entries."""
    assumed, given = (tuple(map(_stated, each)) for each in (derivation.assumptions, claim.given))
    definitions = tuple(map(exact, derivation.definitions))
    if assumed != derivation.assumptions or definitions != derivation.definitions:
        derivation = replace(derivation, assumptions=assumed, definitions=definitions)
    return derivation, claim if given == claim.given else replace(claim, given=given)


def _stated(assumption: Assumption) -> Assumption:
    statement = exact(assumption.statement)
    sides = getattr(statement, "args", ())
    if isinstance(statement, Eq) and all(isinstance(side, Array) for side in sides):
        return _entrywise(assumption, *sides)
    return assumption if statement == assumption.statement else replace(assumption, statement=statement)


def _entrywise(assumption: Assumption, left: Array, right: Array) -> Assumption:
    """Return the equation of two arrays of one shape as an equation of their entries; other equations are unchanged."""
    same = len(left.shape) == len(right.shape) and all(map(same_size, left.shape, right.shape))
    # an axis of blocks has pairs as indices, for which an assumption has no range
    if not same or any(isinstance(axis, Blocks) for axis in (*left.shape, *right.shape)):
        return assumption
    taken = {*left.atoms(Symbol), *right.atoms(Symbol), *assumption.ranges}
    ranges: dict[Symbol, Expr] = dict(assumption.ranges)
    places = []
    for axis in left.shape:
        places.append(fresh_index(taken))
        taken.add(places[-1])
        ranges[places[-1]] = total(axis)
    return replace(assumption, statement=Eq(left.entry(*places), right.entry(*places), evaluate=False), ranges=ranges)
