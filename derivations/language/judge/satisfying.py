"""Satisfiability of the assumptions of a claim: contradictory assumptions would imply every statement.

The search uses small sizes. It first finds numbers for the sizes and free indices, from the assumptions about these
alone, and then for the entries of arrays and all other reals (`instances`, `constraints`). Every sample found is
rigorous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from sympy import (
    Abs,
    Basic,
    Expr,
    Max,
    Min,
    Mod,
    Number,
    NumberSymbol,
    Symbol,
    exp,
    false,
    log,
    preorder_traversal,
    true,
)

from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.judge.constraints import Constraint, unknowns
from derivations.language.judge.instances import LAWS, Instances, NoInstance
from derivations.language.judge.normal_form.relations import RELATIONS
from derivations.language.judge.solutions import Budget, Draws, solutions
from derivations.language.results.derivation import Claim, Derivation

__all__ = ["satisfiable"]

_DEFAULTS = (1, 2, 3, 5, 2, 4)  # for sizes without assumptions, one for each attempt
_PLAIN = (Symbol, Number, NumberSymbol, exp, log, Mod, Abs, Max, Min)
_MOST_RELATIONS = 300
Stated = tuple[Basic, tuple[tuple[Symbol, Expr], ...]]


def satisfiable(derivation: Derivation, claim: Claim) -> bool:
    """Return whether the search finds values that satisfy the assumptions of a claim."""
    stated = tuple((a.statement, tuple(a.ranges.items())) for a in (*derivation.assumptions, *claim.given))
    ranges = tuple(derivation.ranges.items())
    return not stated or _found(stated, ranges, derivation.definitions, derivation.bijections)


@lru_cache(maxsize=1 << 10)
def _found(
    stated: tuple[Stated, ...],
    ranges: tuple[tuple[Symbol, Expr], ...],
    definitions: tuple[Any, ...],
    bijections: tuple[tuple[str, str, Expr], ...],
) -> bool:
    if any(statement == false for statement, _ in stated):
        return False
    stated = tuple(each for each in stated if each[0] != true)
    values = {e.variable.name: e.value_at for e in definitions}
    plain = [statement for statement, over in stated if not over and _is_plain(statement, values)]
    search = _Search(stated, bijections, values, Budget())
    if search.finds(plain, ranges):
        return True
    # the sizes were small enough to write everything out, and nothing was found
    if search.outcomes != {"too large"}:
        return False
    small = tuple(each for each in stated if each[0] not in plain or not any(map(_is_whole, each[0].free_symbols)))
    return _Search(small, bijections, values, Budget()).finds([each for each, _ in small if each in plain], ranges)


def _is_whole(symbol: Basic) -> bool:
    return symbol.is_integer is True


@dataclass
class _Search:
    """The search: the assumptions, and the outcomes of its attempts, "none found", "nowhere" or "too large".

    If sizes are assumed to be large, `_found` checks them on their own and the other assumptions at small sizes.
    """

    stated: tuple[Stated, ...]
    bijections: tuple[tuple[str, str, Expr], ...]
    definitions: Mapping[str, Any]
    budget: Budget
    outcomes: set[str] = field(default_factory=set)

    def finds(self, plain: list[Basic], ranges: tuple[tuple[Symbol, Expr], ...]) -> bool:
        """Return whether reals satisfy the assumptions, for some values of all sizes and indices."""
        random = any(statement.has(Expectation, Variance) for statement, _ in self.stated)
        # without expectations no entry is random, and the law makes no difference
        for law in LAWS if random else ("signs",):
            for number, integers in enumerate(_integers(plain, ranges, self.budget)):
                default = _DEFAULTS[number % len(_DEFAULTS)]
                sample = Instances(integers, self.definitions, {}, default, random, law)
                if self.fulfilled(sample, reverse=number % 2 == 1):
                    return True
                if self.outcomes == {"too large"}:
                    return False
        return False

    def fulfilled(self, sample: Instances, *, reverse: bool) -> bool:
        """Return whether reals satisfy the assumptions at the given sizes."""
        try:
            for name, inverse, size in self.bijections:
                # the identity or the reversal of the range, each of which is its own inverse
                order = range(sample.whole(size, {}))
                sample.bijections |= dict.fromkeys((name, inverse), tuple(order[::-1] if reverse else order))
            relations: list[Constraint] = []
            for statement, ranges in self.stated:
                relations += islice(sample.constraints(statement, dict(ranges)), _MOST_RELATIONS + 1)
                if len(relations) > _MOST_RELATIONS:
                    raise NoInstance("too many relations", too_large=True)
        except NoInstance as error:
            self.outcomes.add("too large" if error.too_large else "nowhere")
            return False
        self.outcomes.add("none found")
        return any(map(sample.consistent, solutions([*relations, *sample.declared], sample.starts, self.budget)))


def _integers(
    plain: Iterable[Basic], ranges: tuple[tuple[Symbol, Expr], ...], budget: Budget
) -> Iterator[dict[str, int]]:
    """Yield numbers for sizes and free indices that satisfy the assumptions about scalars only."""
    relations = []
    starts: dict[Symbol, Draws] = {}
    for number, (index, size) in enumerate(ranges):
        starts[index] = (0, number, len(ranges) - 1 - number, number + 1)
        relations += [Constraint(">=", index), Constraint(">=", size - 1 - index)]
    for statement in plain:
        kind, factor = RELATIONS[type(statement)]
        relations.append(Constraint(kind, factor * (statement.args[0] - statement.args[1])))
    linked = set(filter(_is_whole, unknowns(relations)))
    if not linked:
        yield from ({} for _ in _DEFAULTS)
        return
    starts |= dict.fromkeys(linked - starts.keys(), (1, 2, 3))
    for _ in relations:  # reals are included where a relation links them with an integer
        linked |= {s for c in relations if c.gap.free_symbols & linked for s in c.gap.free_symbols}
    relations = [c for c in relations if c.gap.free_symbols <= linked]
    for values in islice(solutions(relations, starts, budget), len(_DEFAULTS)):
        yield {s.name: int(value) for s, value in values.items() if s.is_integer}


def _is_plain(statement: Basic, defined: Collection[str]) -> bool:
    """Return whether a relation is between undefined scalars, without arrays, sums and unknown functions."""
    nodes = list(preorder_traversal(statement))[1:]
    return all(n.is_Add or n.is_Mul or n.is_Pow or isinstance(n, _PLAIN) for n in nodes) and not any(
        n.is_Symbol and n.name in defined for n in nodes
    )
