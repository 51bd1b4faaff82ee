"""Letters of a formula and roles of a canonical form: who is who, and whether the two are then equal.

Definition   an assignment gives letters of the formula the meaning of roles: by the arguments on the left, by the
             indices there, by the usual letters, then in every order; the conventions (rows or columns, one row or all)
             are tried one after another
Result       `matches(formula, concept)` yields the forms that the right side equals, decided by the judge of equality;
             quick numbers merely spare it what is different
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations
from math import isclose

from sympy import Basic, Expr, Gt, Indexed, Symbol, log

from derivations.documents import syntax
from derivations.documents.canon.concepts import Concept
from derivations.documents.canon.forms import Form, Value
from derivations.documents.canon.sampling import NoNumber, Numbers, numbers
from derivations.documents.judge.arrays import NotRead, Reader, function_word, indices_of
from derivations.documents.syntax import Aggregate, Call, Name, Node
from derivations.language.derivation import Assumption, claim, derivation, step
from derivations.language.expression import Array, Member, Transpose, Variable
from derivations.language.proof import prove_equal
from derivations.language.shapes import ShapeError, total
from derivations.symbols import index, n

__all__ = ["Assignment", "Formula", "Match", "assignments", "equal_forms", "free_indices", "heads", "reader_of"]

MOST_ASSIGNMENTS = 24
SIZE_LETTERS = frozenset("dD")  # their subscripts are labels
WEIGHTS, WEIGHT_INDICES = frozenset("WbU"), frozenset("ijlmr")  # W_q, W_k, W_v, W_o are names
INDEX_LETTERS = frozenset("ijlmrstpuk")
CONSTANTS = frozenset({"e", "pi", "delta"})  # and Kronecker's delta: they play no role
ADDED = frozenset({"B", "T"})  # masks and temperatures are no part that a formula may lack
FONTS = frozenset({"", "cal", "bb", "frak"})  # accents that are mere shapes of a letter
ROW = index("row")


@dataclass(frozen=True)
class Formula:
    """A right side with what the left side tells of it: the arguments of a function, the indices."""

    right: Node
    arguments: tuple[Node, ...] = ()
    indices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """What letters mean; `columns` as `read_value` takes it. `targets` are the forms with what they are then."""

    meaning: tuple[tuple[str, Value], ...]
    indices: frozenset[str]
    columns: bool
    targets: tuple[tuple[Form, Value], ...]
    by_letters: bool = True  # no letter was assigned by trying


@dataclass(frozen=True)
class Match:
    """A form that a formula equals; not `proved` where quick numbers alone say so."""

    form: Form
    assignment: Assignment
    proved: bool = True


# --- letters ---


def _names(node: Node) -> Iterator[Name]:
    """Yield the names in a formula that are no functions, their subscripts left out."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            yield part
        elif isinstance(part, Call):
            pending.extend(reversed(_family(part) or part.arguments))
        elif isinstance(part, Aggregate):
            pending.append(part.body)
        elif not isinstance(part, syntax.Chain):
            pending.extend(reversed(part.children))


def _family(call: Call) -> tuple[Node, ...]:
    """Return the letter of the members that are put side by side, `head` in Concat(head_1, ..., head_h)."""
    if function_word(call.function) not in ("concat", "concatenate", "cat"):
        return ()
    first = next((part for each in call.arguments for part in each.walk() if isinstance(part, Name)), None)
    return () if first is None else (Name(first.base, (), first.superscripts, first.primes, first.accent),)


def free_indices(node: Node, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the letters that stand in subscripts as places and are not bound, in order; `known` are such letters."""
    bound = {key.key for part in node.walk() if isinstance(part, Aggregate) for key in part.index}
    found = dict.fromkeys(known)
    for name in _names(node):
        for letter in _subscript_letters(name):
            if letter in known or letter in INDEX_LETTERS:
                found.setdefault(letter)
    return tuple(letter for letter in found if letter not in bound)


def _subscript_letters(name: Name) -> Iterator[str]:
    if name.base in SIZE_LETTERS:
        return
    for subscript in name.subscripts:
        for part in subscript.walk():
            if isinstance(part, Name) and not part.subscripts:
                letters = part.base if len(part.base) > 1 and set(part.base) <= INDEX_LETTERS else (part.base,)
                known = WEIGHT_INDICES if name.base in WEIGHTS else None
                yield from (
                    letter
                    for letter in letters
                    if len(letter) == 1 and letter.islower() and letter in (known or letter)
                )


def index_letters(formula: Formula) -> frozenset[str]:
    """Return every letter that is a place: free or bound."""
    bound = {key.key for part in formula.right.walk() if isinstance(part, Aggregate) for key in part.index}
    return frozenset(bound) | set(free_indices(formula.right, formula.indices))


def heads(node: Node, indices: frozenset[str]) -> dict[str, Name]:
    """Return the letters of a formula without their places, in order."""
    found: dict[str, Name] = {}
    for name in _names(node):
        if name.key in indices:
            continue
        head = name if name.base in SIZE_LETTERS else indices_of(name, indices)[0]
        found.setdefault(head.key, head)
    return found


# --- assignments ---


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
        indices = indices | {letter for name in _names(formula.right) for letter in _subscript_letters(name)}
    letters = heads(formula.right, indices)
    if scalars:
        letters |= {name.key: name for name in _names(formula.right) if name.key in indices}
    known: dict[str, str] = {}
    for argument, role in zip(formula.arguments, concept.arguments, strict=False):
        name = argument if isinstance(argument, Name) else None
        if name is not None and name.key in letters and role in roles:
            known[name.key] = role
    for key in letters:
        if key not in known and said.get(key) in roles and said[key] not in known.values():
            known[key] = said[key]
    free = [] if scalars else list(free_indices(formula.right, formula.indices))
    places = dict(zip(formula.indices or free, order, strict=False))
    for role, usual in concept.letters.items():
        if role in roles and role not in known.values():
            head = next((key for each in usual for key in letters if key == each and key not in known), None)
            head = head or next((key for key in letters if _is_usual(letters[key], usual) and key not in known), None)
            if head is not None and not (head in foreign and role in ("d_k",)):
                known[head] = role
    rest = [key for key in letters if key not in known and key not in foreign and key not in CONSTANTS]
    left = [role for role in roles if role not in known.values() and role not in order]
    left.sort(key=list(concept.letters).index if set(left) <= set(concept.letters) else str)
    count = min(len(rest), len(left))
    for chosen in islice(permutations(left, count), MOST_ASSIGNMENTS):
        whole = known | dict(zip(rest, chosen, strict=False))
        meaning: dict[str, Value] = {head: roles[role] for head, role in whole.items()}
        for role in (
            each for each in left if each not in whole.values()
        ):  # the usual letter, should it be missing in the formula
            usual_letters = concept.letters.get(role, ())
            if usual_letters and usual_letters[0] not in letters and role not in ADDED:
                meaning.setdefault(usual_letters[0], roles[role])
        if not scalars:
            meaning |= {letter: roles.get(role, index(role)) for letter, role in places.items()}
            meaning |= {letter: index(letter) for letter in free if letter not in meaning}
        yield from _conventions(meaning, indices, forms, not rest)
        if not rest or not left:
            return


def _is_usual(letter: Name, usual: tuple[str, ...]) -> bool:
    """Say whether a letter is one of the usual ones but for its labels; x with a hat is another letter than x."""
    return letter.base in usual and letter.accent in FONTS


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


# --- equality ---


def equal_forms(right: Node, assignment: Assignment, reader: Reader | None = None) -> Iterator[Match]:
    """Yield the forms that a right side equals under an assignment; a reader serves several formulas."""
    reader = reader or reader_of(assignment)
    try:
        value = reader.value(right)
        found = numbers(value)
    except (NotRead, ShapeError, NoNumber, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError):
        return  # what cannot be built is nothing that is known
    for form, target in assignment.targets:
        if _alike(found, _target_numbers(target)):
            yield Match(form, assignment, _proved(value, target))


def reader_of(assignment: Assignment) -> Reader:
    """Return what reads formulas under an assignment."""
    return Reader(dict(assignment.meaning), assignment.indices, assignment.columns)


@lru_cache(maxsize=1024)
def _target_numbers(target: Value) -> Numbers | None:
    try:
        return numbers(target)
    except NoNumber:
        return None


def _alike(first: Numbers, second: Numbers | None) -> bool:
    return (
        second is not None
        and first[0] == second[0]
        and all(isclose(a, b, rel_tol=1e-7, abs_tol=1e-9) for a, b in zip(first[1], second[1], strict=True))
    )


@lru_cache(maxsize=4096)
def _proved(value: Value, target: Value) -> bool:
    """Ask the judge."""
    if value == target:
        return True
    if isinstance(value, Array) is not isinstance(target, Array):
        return False
    ranges: dict[Symbol, Expr] = {ROW: n}
    for expression in (target, value):
        for place, size in _free_places(expression, frozenset()):
            ranges.setdefault(place, size)
    logarithms = {part for each in (value, target) for log_ in each.atoms(log) for part in log_.args[0].atoms(Indexed)}
    assumed = [_positive(entry) for entry in {entry.base: entry for entry in logarithms}.values()]
    whole = derivation(
        "a formula of a document", claim(value, step("algebra", target)), ranges=ranges, assuming=assumed
    )
    return prove_equal(value, target, whole).level == "proved"


def _positive(entry: Indexed) -> Assumption:
    """Return the assumption that all entries of an array under a logarithm are positive."""
    places = tuple(index(f"place_{number}") for number in range(len(entry.indices)))
    statement = Gt(entry.base[places], 0, evaluate=False)
    sizes = dict(zip(places, entry.base.shape, strict=True))
    return Assumption(statement, sizes, "what stands under a logarithm is positive")


def _free_places(expression: Basic, bound: frozenset[Basic]) -> Iterator[tuple[Symbol, Expr]]:
    """Yield the indices that are not bound, with the sizes of the axes they stand on."""
    if isinstance(expression, Indexed):
        for place, size in zip(expression.indices, expression.base.shape, strict=True):
            if isinstance(place, Symbol) and place not in bound:
                yield place, size
        return
    if isinstance(expression, Member) and isinstance(expression.args[1], Symbol) and expression.args[1] not in bound:
        yield expression.args[1], total(expression.args[0].shape[0])
    inner = bound.union(getattr(expression, "bound_symbols", ()), getattr(expression, "variables", ()))
    for part in expression.args:
        yield from _free_places(part, inner)
