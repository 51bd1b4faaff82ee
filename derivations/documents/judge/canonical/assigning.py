"""Assignments of the letters of a formula to the roles of a canonical form.

Definition   an assignment gives letters of the formula the meaning of roles: by the arguments on the left, by the
             indices there, by the usual letters, then in every order; the conventions (rows or columns, one row or all)
             are tried one after another
Result       `assignments(formula, concept)` yields the assignments, the likeliest first
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations

from sympy import Symbol

from derivations.documents.canon.concept import Concept
from derivations.documents.canon.forms import Form, Value
from derivations.documents.judge.arrays.formula_letters import (
    Formula,
    free_indices,
    heads,
    index_letters,
    names_in,
    subscript_letters,
)
from derivations.documents.syntax import Aggregate, Name, Node, Root
from derivations.language.arrays.expression import Array, Transpose, Variable
from derivations.symbols import index

__all__ = ["ROW", "Assignment", "assignments"]

MOST_ASSIGNMENTS = 24
CONSTANTS = frozenset({"e", "pi", "delta"})  # and Kronecker's delta: they play no role
ADDED = frozenset({"B", "T"})  # masks and temperatures are no part that a formula may lack
FONTS = frozenset({"", "cal", "bb", "frak"})  # accents that are mere shapes of a letter
PLACES = frozenset({"even", "odd"})  # concepts whose letters on the left are places, and no others
WIDTHS = frozenset({"d_k", "d_v", "d_ff"})  # letters that never mean the width of the model
TARGET_AND_PREDICTION = ("t", "y")
BEHIND_THE_GATE = ("W_up", "W_down")
EITHER = frozenset({"p", "q"})  # letters of both
STATISTICS = frozenset({"variance", "rms"})  # concepts that are told by what stands on the left
ROW = index("row")


@dataclass(frozen=True)
class Assignment:
    """The meaning of each letter, and the forms to compare a formula with.

    `columns` is true if positions are columns. `targets` are the forms with their values in that convention.
    """

    meaning: tuple[tuple[str, Value], ...]
    indices: frozenset[str]
    columns: bool
    targets: tuple[tuple[Form, Value], ...]
    by_letters: bool = True  # no letter was assigned by trying
    places: tuple[Node, ...] = ()  # those of the entry on the left


def assignments(
    formula: Formula,
    concept: Concept,
    foreign: frozenset[str] = frozenset(),
    said: frozenset[tuple[str, str]] = frozenset(),
) -> Iterator[Assignment]:
    """Yield assignments, the likeliest first.

    `foreign` are letters that mean another size; `said` are the roles that the prose gives to letters.
    """
    forms = concept.forms()
    for scalars in (False, True):
        group = tuple(form for form in forms if form.scalars is scalars)
        if group:
            yield from _assignments(formula, concept, group, foreign, dict(sorted(said)), scalars)


def _assignments(
    formula: Formula,
    concept: Concept,
    forms: tuple[Form, ...],
    foreign: frozenset[str],
    said: Mapping[str, str],
    scalars: bool,
) -> Iterator[Assignment]:
    roles = {name: value for form in forms for name, value in form.roles.items()}
    order = max((form.indices for form in forms), key=len)
    indices = index_letters(formula)
    if scalars:
        indices = indices | {letter for name in names_in(formula.right) for letter in subscript_letters(name)}
    letters = heads(formula.right, indices)
    if scalars:
        letters |= {name.key: name for name in names_in(formula.right) if name.key in indices}
    known: dict[str, str] = {}
    for argument, role in zip(formula.arguments, concept.arguments, strict=False):
        name = argument if isinstance(argument, Name) else None
        if name is not None and role in roles and (name.key in letters or concept.left in PLACES):
            known[name.key] = role
    if {*TARGET_AND_PREDICTION} <= roles.keys():
        known |= {key: role for key, role in _as_given(formula).items() if key in letters}
    for key in letters:
        if key not in known and said.get(key) in roles and said[key] not in known.values():
            known[key] = said[key]
    free = [] if scalars else list(free_indices(formula.right, formula.indices))
    places = dict(zip(formula.indices or free, order, strict=False))
    rooted = {part.key for root in formula.right.walk() if isinstance(root, Root) for part in names_in(root)}
    if concept.left in STATISTICS:
        known |= {key: role for key, role in _summed(formula.right, letters) if role in roles and key not in known}
    for role, usual in concept.letters.items():
        if role in roles and role not in known.values():
            left = [key for key in letters if key not in known and not (role in ADDED and key in rooted)]
            head = next((key for each in usual for key in left if key == each), None)
            head = head or next((key for key in left if _is_usual(letters[key], usual)), None)
            if head is not None and not (head in foreign and role == "d_k") and not _is_other_width(head, role):
                known[head] = role
    constants = CONSTANTS - {*_counts(formula.right)}
    for given in (known, *_exchanged(known, formula), *_renumbered(known), *_in_another_order(known, concept)):
        for whole, is_told in _completed(
            given, letters, concept, [each for each in roles if each not in order], foreign, constants
        ):
            meaning: dict[str, Value] = {head: roles[role] for head, role in whole.items()}
            for role in (each for each in roles if each not in order and each not in whole.values()):
                usual_letters = concept.letters.get(role, ())  # the usual letter, should it be missing in the formula
                if usual_letters and usual_letters[0] not in letters and role not in ADDED:
                    meaning.setdefault(usual_letters[0], roles[role])
            if not scalars:
                meaning |= {letter: roles.get(role, index(role)) for letter, role in places.items()}
                meaning |= {letter: _other_index(letter, order) for letter in free if letter not in meaning}
            for assignment in _conventions(meaning, indices, forms, is_told):
                yield replace(assignment, places=formula.places)


def _completed(
    known: dict[str, str],
    letters: Mapping[str, Name],
    concept: Concept,
    roles: Sequence[str],
    foreign: frozenset[str],
    constants: frozenset[str],
) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield complete assignments of roles to letters, and whether every role was known.

    Letters that nothing identifies get the remaining roles in every order.

    The usual letter of a role that no form has, a mean in what subtracts none, plays none.
    """
    rest = [key for key in letters if key not in known and key not in foreign and key not in constants]
    left = [role for role in roles if role not in known.values()]
    left.sort(key=list(concept.letters).index if set(left) <= set(concept.letters) else str)
    idle = {key for role, usual in concept.letters.items() if role not in roles for key in usual[:1]}
    is_told = idle.issuperset(rest) or (not left and concept.left in PLACES)
    for chosen in islice(permutations(left, min(len(rest), len(left))), MOST_ASSIGNMENTS):
        if any(_is_other_width(key, role) for key, role in zip(rest, chosen, strict=False)):
            continue
        yield known | dict(zip(rest, chosen, strict=False)), is_told


def _summed(node: Node, letters: Mapping[str, Name]) -> Iterator[tuple[str, str]]:
    """Yield pairs (letter, role) for a formula with one sum: summed entries have the role x, an upper bound has d."""
    sums = [part for part in node.walk() if isinstance(part, Aggregate) and len(part.index) == 1]
    if len(sums) != 1:
        return
    bound = sums[0].index[0].key
    entries = {key for key in letters if key != bound and any(_is_at(part, key, bound) for part in sums[0].walk())}
    if len(entries) == 1:
        yield entries.pop(), "x"
    if isinstance(sums[0].upper, Name) and sums[0].upper.key in letters:
        yield sums[0].upper.key, "d"


def _is_at(part: Node, key: str, bound: str) -> bool:
    """Return whether a part is the entry of a letter at a given index."""
    return isinstance(part, Name) and part.base == key and [*subscript_letters(part)] == [bound]


def _counts(node: Node) -> Iterator[str]:
    """Yield the upper bounds of sums that are letters. Among them, e is a number of terms, not the constant."""
    for part in node.walk():
        match part:
            case Aggregate(upper=Name(key=key)):
                yield key


def _exchanged(known: dict[str, str], formula: Formula) -> Iterator[dict[str, str]]:
    """Yield the roles with targets and predictions exchanged, if p and q stand for them in an unknown order."""
    by_role = {role: key for key, role in known.items()}
    pair = tuple(by_role.get(role, "") for role in TARGET_AND_PREDICTION)
    if {key.lower() for key in pair} == EITHER and not _as_given(formula):
        yield {**known, **dict(zip(pair, TARGET_AND_PREDICTION[::-1], strict=True))}


def _in_another_order(known: dict[str, str], concept: Concept) -> Iterator[dict[str, str]]:
    """Yield the usual roles of the usual letters where the left side lists them in another order: f(K, Q, V)."""
    usual = {key: role for key in known for role, letters in concept.letters.items() if key in letters}
    if usual != known and set(usual) == set(known) and {*usual.values()} == {*known.values()}:
        yield usual


def _renumbered(known: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the roles with the second and third matrix of a gated network exchanged. Both orders are usual."""
    pair = [key for key, role in known.items() if role in BEHIND_THE_GATE]
    if {key.lower().replace("_", "") for key in pair} == {"w2", "w3"}:
        yield {**known, **dict(zip(pair, (known[key] for key in reversed(pair)), strict=True))}


def _as_given(formula: Formula) -> dict[str, str]:
    """Return the roles that the left side gives to p and q: H(p, q) has its targets first."""
    keys = [each.key for each in formula.arguments if isinstance(each, Name)]
    return dict(zip(keys, TARGET_AND_PREDICTION, strict=True)) if {*map(str.lower, keys)} == EITHER else {}


def _other_index(letter: str, roles: tuple[str, ...]) -> Symbol:
    """Return an index symbol that has no role, whatever its letter is."""
    return index(f"{letter}'" if letter in roles else letter)


def _is_other_width(key: str, role: str) -> bool:
    """Return whether a letter that would get the role of the model width usually denotes another width."""
    return role == "d_model" and key in WIDTHS


def _is_usual(letter: Name, usual: tuple[str, ...]) -> bool:
    """Return whether a letter without labels is one of the usual ones. With a hat, x is another letter."""
    words = letter.base.lower().replace(" ", "")  # `Attention Weight` is spelled in one word among the usual letters
    return (letter.base in usual or words in usual) and letter.accent in FONTS


def _conventions(
    meaning: Mapping[str, Value], indices: frozenset[str], forms: tuple[Form, ...], by_letters: bool
) -> Iterator[Assignment]:
    """Yield the assignment under each convention."""
    rows = frozenset(name for form in forms for name in form.rows)

    single = any(isinstance(v, Variable) and v.name in rows and key[:1].islower() for key, v in meaning.items())

    def turned(value: Value, *, one: bool, columns: bool) -> Value:
        if not isinstance(value, Variable) or len(value.shape) != 2:
            return value
        if one and value.name in rows:
            return value[ROW]
        return Transpose(value) if columns else value

    for one, columns in ((False, False), (True, True), (False, True)):
        if one and not single:
            continue  # a capital letter is a matrix
        matrices = any(isinstance(form.value, Array) for form in forms)
        targets: list[tuple[Form, Value]] = []
        for form in forms:
            value = form.value
            if isinstance(value, Array) and len(value.shape) == 2:
                value = value[ROW] if one else Transpose(value) if columns else value
            targets.append((form, value))
        turn = matrices or one
        changed = {key: turned(value, one=one, columns=columns) if turn else value for key, value in meaning.items()}
        yield Assignment(tuple(changed.items()), indices, columns, tuple(targets), by_letters)
