"""Which letter of one expression plays the role of which letter of another one.

Definition   the letters whose change has the same effect on the fingerprints are candidates for one role
Result       `is_proved_same(one, other)`: the judge proves them equal once letters, indices and sizes are renamed
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import Any

from sympy import Basic, Dummy, Expr, Ge, Gt, Indexed, Ne, Pow, Sum, Symbol, log

from derivations.documents.budget import spend
from derivations.documents.canon.scalar_sampling import differ
from derivations.documents.judge.canonical.matching import free_places, positive_under_logarithms
from derivations.documents.nearest.fingerprint import Plain, responses
from derivations.documents.proving import are_equal
from derivations.language.results.derivation import Assumption, claim, derivation, step

__all__ = ["UNNAMED", "is_proved_same"]

UNNAMED = "size_"  # what an axis is called that the document gives no name
MOST = 48  # renamings that are tried


def is_proved_same(one: Plain, other: Plain) -> bool:
    """Say whether the judge proves an expression equal to another one, with letters renamed."""
    for letters in islice(_renamings(one, other), MOST):
        spend(1_000)
        renamed = _renamed(one, other, letters)
        if renamed is None or differ(renamed, other.expression):
            continue
        ranges = _ranges(renamed, other.expression)
        stated = claim(renamed, step("algebra", other.expression))
        assuming = [*positive_under_logarithms(renamed, other.expression), *_defined(renamed, other.expression)]
        whole = derivation("a formula", stated, ranges=ranges, assuming=assuming)
        if are_equal(renamed, other.expression, whole):
            return True
    return False


def _defined(*expressions: Expr) -> list[Assumption]:
    """Return that no divisor is zero, and that roots and logarithms exist: formulas are compared where defined."""
    bound = {symbol for each in expressions for whole in each.atoms(Sum) for symbol in whole.bound_symbols}
    powers = {power for each in expressions for power in each.atoms(Pow) if not power.base.is_positive}
    found: list[Basic] = [Ne(power.base, 0) for power in powers if power.exp.could_extract_minus_sign()]
    roots = [power.base for power in powers if not power.exp.is_integer]
    found += [Ge(base, 0, evaluate=False) for base in roots] + [Gt(base, 0, evaluate=False) for base in roots]
    found += [Gt(each.args[0], 0, evaluate=False) for whole in expressions for each in whole.atoms(log)]
    closed = {each for each in found if each.free_symbols and not each.free_symbols & bound}
    return [Assumption(each, text="both formulas are defined") for each in sorted(closed, key=str)]


def _renamings(one: Plain, other: Plain) -> Iterator[dict[Expr, Expr]]:
    """Yield one letter of the other for each letter of the one, where both answer alike to a change."""
    here, there = _by_response(one), _by_response(other)
    if here.keys() != there.keys() or any(len(here[key]) != len(there[key]) for key in here):
        return
    groups = [[dict(zip(here[key], order, strict=True)) for order in permutations(there[key])] for key in here]
    indices: list[dict[Expr, Expr]] = [dict(zip(one.free, order, strict=True)) for order in permutations(other.free)]
    for chosen in product(*groups, indices):
        yield {letter: role for each in chosen for letter, role in each.items()}


def _by_response(of: Plain) -> dict[Any, list[Expr]]:
    groups: dict[Any, list[Expr]] = defaultdict(list)
    for letter, response in responses(of):
        groups[response].append(letter)
    return groups


def _renamed(one: Plain, other: Plain, letters: dict[Expr, Expr]) -> Expr | None:
    """Return the one in the letters of the other; None where the sizes of axes do not go together."""
    roles: dict[Any, Any] = {entry.base.label: entry for entry in sorted(other.expression.atoms(Indexed), key=str)}
    put: dict[Any, Any] = {letter: role for letter, role in letters.items() if letter not in one.kept}
    for entry in one.expression.atoms(Indexed):
        label = entry.base.label
        if label not in one.kept:
            continue
        for mine, its in zip(one.kept[label], other.kept[letters[label]], strict=True):
            size, known = entry.base.shape[mine], roles[letters[label]].base.shape[its]
            if not isinstance(size, Symbol):
                continue
            if put.setdefault(size, known) != known or not _is_free_to_be(size, known, put):
                return None
    bound = {place for whole in one.expression.atoms(Sum) for place in whole.bound_symbols}
    put |= {place: Dummy(place.name, integer=True) for place in bound}

    def of(node: Any) -> Any:
        if node in put:
            return put[node]
        if isinstance(node, Indexed):
            role, label = roles[letters[node.base.label]], node.base.label
            places = list(role.indices)
            for mine, its in zip(one.kept[label], other.kept[letters[label]], strict=True):
                places[its] = of(node.indices[mine])
            return role.base[tuple(places)]
        return node.func(*map(of, node.args)) if node.args else node

    return of(one.expression)


def _is_free_to_be(size: Symbol, known: Any, put: dict[Any, Any]) -> bool:
    """Say whether a size may be another one: two names that the document tells apart are not one."""
    return size.name.startswith(UNNAMED) or all(
        other == size for other, role in put.items() if role == known and _is_a_number(other)
    )


def _is_a_number(symbol: Any) -> bool:
    return isinstance(symbol, Symbol) and not symbol.name.startswith(UNNAMED)


def _ranges(*expressions: Expr) -> dict[Symbol, Expr]:
    ranges: dict[Symbol, Expr] = {}
    for each in expressions:
        for place, size in free_places(each, frozenset()):
            ranges.setdefault(place, size)
    return ranges
