"""Which letter of one expression plays the role of which letter of another one.

Definition   the letters whose change has the same effect on the fingerprints are candidates for one role
Result       `is_proved_same(one, other)`: the judge proves them equal once letters, indices and sizes are renamed
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice, permutations, product
from typing import Any

from sympy import Basic, Dummy, Expr, Ge, Gt, Indexed, Ne, Pow, Sum, Symbol, log

from derivations.documents.budget import spend
from derivations.documents.canon.scalar_sampling import differ
from derivations.documents.judge.canonical.matching import free_places, positive_under_logarithms
from derivations.documents.nearest.fingerprint import Plain, responses
from derivations.documents.proving import are_equal
from derivations.language.results.derivation import Assumption, claim, derivation, step

__all__ = ["UNNAMED", "WEIGHTS", "is_proved_alike", "is_proved_same", "role_name"]

WEIGHTS = re.compile(r"(bold )?(W|w|weight)(?![a-z])")  # they are stored either way
UNNAMED = "size_"  # what an axis is called that the document gives no name
MOST = 48  # renamings that are tried
MADE = frozenset("(){},;| ")  # in the name of a letter that stands for a part of a formula
SIZES = ("d", "D", "n", "N")
LABEL = re.compile(r"_[A-Za-z]+(?=\[|$)")
INDEX = re.compile(r"(?<![A-Za-z_])[a-z](?![A-Za-z_])")


def is_proved_same(one: Plain, other: Plain) -> bool:
    """Return whether the judge proves an expression equal to another one, with letters renamed."""
    return any(_is_proved(one, other, letters) for letters in islice(_renamings(one, other), MOST))


def is_proved_alike(one: Plain, other: Plain, is_taken: Callable[[str], bool]) -> bool:
    r"""Return whether the judge proves an expression equal to another one in letters that keep their roles.

    None are exchanged: in `m_t = \beta_1 g_t + (1 - \beta_1) m_{t-1}` they have other roles; nor are rows and columns.
    """
    for letters in islice(_renamings(one, other), MOST):
        is_in_place = len(one.free) < 2 or all(letters[place] == place for place in one.free)
        if is_in_place and _keeps_roles(letters, one.free, is_taken) and _is_proved(one, other, letters):
            return True
    return False


def role_name(letter: Expr) -> str:
    """Return the name of a letter without its font, and with @ for its running index."""
    base, bracket, place = str(letter).removeprefix("bold ").partition("[")
    return base + bracket + INDEX.sub("@", place)


def _keeps_roles(letters: Mapping[Expr, Expr], places: Collection[Expr], is_taken: Callable[[str], bool]) -> bool:
    """Return whether renamed letters keep their indices, with at most one new name for each index.

    Of two new names with one index either might play either role; and a letter that is taken is no other one, nor is
    what stands for a part without a meaning of its own. A size may have another label: d_h is d where it stands alone.
    """
    sizes = [Counter(map(_unlabelled, side)) for side in (letters, letters.values())]
    strange = {}
    for letter, role in letters.items():
        if letter in places or role_name(letter) == role_name(role):
            continue
        size = _unlabelled(letter)
        if size not in SIZES or size != _unlabelled(role) or any(side[size] > 1 for side in sizes):
            strange[role_name(letter)] = role_name(role)
    if any(MADE & {*letter, *role} for letter, role in strange.items()):
        return False
    indices = [letter.partition("[")[2] for letter in strange]
    if indices != [role.partition("[")[2] for role in strange.values()] or len({*indices}) != len(indices):
        return False
    return not any(is_taken(role.partition("[")[0]) for role in strange.values())


def _unlabelled(size: Expr) -> str:
    return LABEL.sub("", role_name(size))


def _is_proved(one: Plain, other: Plain, letters: dict[Expr, Expr]) -> bool:
    """Return whether the judge proves an expression equal to another one under a given renaming of letters."""
    spend(1_000)
    renamed = _renamed(one, other, letters)
    if renamed is None or differ(renamed, other.expression):
        return False
    if renamed == _renamed(other, other, {role: role for role in letters.values()}):
        return True  # the very formula, wherever it is defined
    ranges = _ranges(renamed, other.expression)
    stated = claim(renamed, step("algebra", other.expression))
    assuming = [*positive_under_logarithms(renamed, other.expression), *_defined(renamed, other.expression)]
    whole = derivation("a formula", stated, ranges=ranges, assuming=assuming)
    return are_equal(renamed, other.expression, whole)


def _defined(*expressions: Expr) -> list[Assumption]:
    """Return the conditions of a comparison: no divisor is zero, and roots and logarithms exist."""
    bound = {symbol for each in expressions for whole in each.atoms(Sum) for symbol in whole.bound_symbols}
    powers = {power for each in expressions for power in each.atoms(Pow) if not power.base.is_positive}
    found: list[Basic] = [Ne(power.base, 0) for power in powers if power.exp.could_extract_minus_sign()]
    roots = [power.base for power in powers if not power.exp.is_integer]
    found += [Ge(base, 0, evaluate=False) for base in roots] + [Gt(base, 0, evaluate=False) for base in roots]
    found += [Gt(each.args[0], 0, evaluate=False) for whole in expressions for each in whole.atoms(log)]
    closed = {each for each in found if each.free_symbols and not each.free_symbols & bound}
    return [Assumption(each, text="both formulas are defined") for each in sorted(closed, key=str)]


def _renamings(one: Plain, other: Plain) -> Iterator[dict[Expr, Expr]]:
    """Yield the renamings that map each letter to one whose change has the same effect on the numbers."""
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
    """Return `one` in the letters of `other`, or None if the sizes of their axes conflict."""
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
    """Return whether a size may be identified with another. Two sizes with names stay distinct."""
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
