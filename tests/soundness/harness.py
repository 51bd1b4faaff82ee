"""The mutation harness: breaks the steps of every derivation, and asks the judge.

A mutant is one link of a derivation, `left relation right` under its rule, with one side broken by an operator of
`mutations` (two, where one is not enough), or with an assumption left out. It is labelled false by the cross-check,
which shares no code with the judge: at a point inside the assumptions the relation fails, or one side alone has no
value. What is not shown false is discarded. None of the others may come out `proved`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import localcontext
from itertools import islice
from typing import Any
from unittest.mock import patch

from sympy import Basic

from derivations.language.cross_check.assignment import CONTEXT, Hole, NotCovered
from derivations.language.cross_check.comparison import compare, points_of
from derivations.language.judge import proof
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.results.derivation import Claim, Derivation, Step
from tests.soundness.mutations import Scope, mutants

__all__ = ["WANTED", "Mutant", "Outcome", "judged", "mutants_of", "shown_false"]

WANTED = 20  # false mutants of a derivation
_BATCH, _CANDIDATES = 36, 240
_RELATIONS = {"<=": ("<", ">="), "<": (">=",), ">=": (">", "<="), ">": ("<=",)}


@dataclass(frozen=True)
class Mutant:
    """One broken link: what was done, and the derivation and claim in which it stands."""

    operator: str
    derivation: Derivation
    claim: int
    link: int
    left: Basic
    step: Step

    @property
    def alone(self) -> Derivation:
        """The derivation with this link as its only claim."""
        given = self.derivation.claims[self.claim].given
        return replace(self.derivation, claims=(Claim(self.left, (self.step,), given),))

    def __str__(self) -> str:
        """The broken link as one line."""
        return (
            f"{self.derivation.id}, claim {self.claim + 1}, step {self.link + 1} ({self.step.rule}), "
            f"{self.operator}: {self.left} {self.step.relation} {self.step.expression}"
        )


@dataclass(frozen=True)
class Outcome:
    """What became of the candidates of one derivation: the false mutants, and how many were discarded and why."""

    false: tuple[Mutant, ...]
    not_shown_false: int
    duplicates: int


# --- candidates ------------------------------------------------------------------------------------------------------


def _links(derivation: Derivation) -> list[tuple[int, int, Basic, Step]]:
    found = []
    for c, claim in enumerate(derivation.claims):
        lefts = [claim.lhs, *(step.expression for step in claim.steps)]
        found += [(c, k, left, step) for k, (left, step) in enumerate(zip(lefts, claim.steps, strict=False))]
    return found


def _without_an_assumption(derivation: Derivation) -> Iterator[Mutant]:
    for number in range(len(derivation.assumptions)):
        rest = derivation.assumptions[:number] + derivation.assumptions[number + 1 :]
        poorer = replace(derivation, assumptions=rest)
        yield from (Mutant("lost condition", poorer, c, k, left, step) for c, k, left, step in _links(derivation))
    for c, claim in enumerate(derivation.claims):
        for number in range(len(claim.given)):
            given = claim.given[:number] + claim.given[number + 1 :]
            claims = (*derivation.claims[:c], replace(claim, given=given), *derivation.claims[c + 1 :])
            poorer = replace(derivation, claims=claims)
            yield from (
                Mutant("lost condition", poorer, c, k, left, step) for b, k, left, step in _links(derivation) if b == c
            )


def _broken_sides(derivation: Derivation, source: random.Random, twice: bool) -> Iterator[Mutant]:
    """Yield mutants of all links in turn, both sides; with `twice`, two operators one after the other."""
    queues = []
    for c, k, left, step in _links(derivation):
        scope = Scope.of(derivation, left, step.expression)
        right = step.expression
        rights = _wrong(right, scope, source, twice)
        lefts = _wrong(left, scope, source, twice)
        queues.append(_as_right(rights, derivation, c, k, left, step))
        queues.append(_as_left(lefts, derivation, c, k, step))
        if step.relation in _RELATIONS and not twice:
            wrong = (
                Mutant("wrong relation", derivation, c, k, left, replace(step, relation=r))
                for r in _RELATIONS[step.relation]
            )
            queues.append(wrong)
    source.shuffle(queues)
    while queues:
        for queue in list(queues):
            mutant = next(queue, None)
            if mutant is None:
                queues.remove(queue)
            else:
                yield mutant


def _as_right(wrong: Any, derivation: Derivation, c: int, k: int, left: Basic, step: Step) -> Iterator[Mutant]:
    return (Mutant(name, derivation, c, k, left, replace(step, expression=right)) for name, right in wrong)


def _as_left(wrong: Any, derivation: Derivation, c: int, k: int, step: Step) -> Iterator[Mutant]:
    return (Mutant(name, derivation, c, k, left, step) for name, left in wrong)


def _wrong(expression: Basic, scope: Scope, source: random.Random, twice: bool) -> Iterator[tuple[str, Basic]]:
    if not twice:
        yield from mutants(expression, scope, source)
        return
    for first, once in mutants(expression, scope, source):
        for second, broken in islice(mutants(once, scope, source), 3):
            yield f"{first} + {second}", broken


# --- labels ----------------------------------------------------------------------------------------------------------


def shown_false(candidates: list[Mutant], attempts: int = 4, places: int = 3) -> list[bool]:
    """Say of each mutant whether the cross-check finds it false at a point inside the assumptions."""
    return [found is not None for found in _values_where_false(candidates, attempts, places)]


def _values_where_false(candidates: list[Mutant], attempts: int = 4, places: int = 3) -> list[Any]:
    """Return of each mutant the values of its sides at the first point where it is false, or None.

    Mutants of one link with the same values are one: their sides are written in two ways.
    """
    values: list[Any] = [None] * len(candidates)
    groups: dict[Any, list[int]] = {}
    for number, mutant in enumerate(candidates):
        groups.setdefault((id(mutant.derivation), mutant.claim), []).append(number)
    for numbers in groups.values():
        first = candidates[numbers[0]]
        claim = first.derivation.claims[first.claim]
        statement = replace(claim, steps=(*claim.steps, *(candidates[n].step for n in numbers)))
        statement = replace(statement, steps=(*statement.steps, *(Step("", candidates[n].left) for n in numbers)))
        try:
            for point, assignment in enumerate(points_of(first.derivation, statement, attempts, places)):
                with localcontext(CONTEXT):
                    kept: dict[Basic, Any] = {}
                    for n in (n for n in numbers if values[n] is None):
                        m = candidates[n]
                        verdict = compare(m.left, m.step.relation, m.step.expression, assignment, kept).verdict
                        if verdict in ("differ", "undefined"):
                            values[n] = point, _key(kept[m.left]), _key(kept[m.step.expression])
                if all(values[n] is not None for n in numbers):
                    break
        except NotCovered:
            continue
    return values


def _key(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_key, value))
    return str(value.reason if isinstance(value, Hole) else value)


def mutants_of(derivation: Derivation, wanted: int = WANTED) -> Outcome:
    """Return false mutants of a derivation, at least `wanted` of them where so many are found."""
    source = random.Random(f"mutants {derivation.id}")
    found: dict[Any, Mutant] = {}
    discarded = duplicates = tried = 0
    batch_size = min(_BATCH, 2 * wanted)
    for candidates in (
        _without_an_assumption(derivation),
        _broken_sides(derivation, source, twice=False),
        _broken_sides(derivation, source, twice=True),
    ):
        first = True
        while len(found) < wanted and tried < _CANDIDATES:
            batch = list(islice(candidates, batch_size if first else batch_size // 2))
            first = False
            if not batch:
                break
            tried += len(batch)
            for mutant, values in zip(batch, _values_where_false(batch), strict=True):
                key = mutant.claim, mutant.link, mutant.step.relation, len(mutant.derivation.assumptions), values
                if values is None:
                    discarded += 1
                elif key in found:
                    duplicates += 1
                elif len(found) < wanted + wanted // 5:
                    found[key] = mutant
    return Outcome(tuple(found.values()), discarded, duplicates)


# --- the judge -------------------------------------------------------------------------------------------------------


def judged(mutant: Mutant, most: int = 1_000_000) -> str:
    """Return the level that the judge gives to a mutant; no counterexample is looked for, which only costs time.

    A decision that writes down more terms of normal forms than `most` ends there, and proves nothing.
    """
    spend, spent = Context.spend, 0

    def counted(context: Context, terms: int) -> None:
        nonlocal spent
        spent += terms
        if spent > most:
            raise Undecided("more terms than a mutant gets")
        spend(context, terms)

    with patch.object(proof, "find_counterexample", lambda *arguments: None), patch.object(Context, "spend", counted):
        return str(proof.judge(mutant.alone).level)
