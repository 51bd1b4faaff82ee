"""A formula that is one edit away from the known formula that its context names.

Definition   an edit changes one place of the formula and keeps its letters. A formula of the handbook is named by its
             left side and by a word somewhere in the document; one of the catalogue by its left side
Result       wrong where an edit makes the formula the one that is named in words, or that the document gives elsewhere,
             and it is none itself; conditional where a letter alone or the words around name it; holds as the usual
             formula of the handbook, where letters have their roles
Assumes      a sum of three letters is one edit away from any other: such a formula is known by its letters as well
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from sympy import Expr, Indexed, Symbol

from derivations.documents.budget import spend
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.equations import Equation
from derivations.documents.canon.scalar_sampling import NoNumber
from derivations.documents.canon.slips import Slip, SlipKind
from derivations.documents.conditions import is_condition
from derivations.documents.elaborate import Elaborated, NotElaborated, letters_for
from derivations.documents.elaborate.typings import again
from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.sampled import is_known_function
from derivations.documents.judge.canonical.likeness import usual_formula
from derivations.documents.nearest.fingerprint import plain
from derivations.documents.nearest.handbook import place_of
from derivations.documents.nearest.known import (
    Known,
    is_of_a_known_size,
    known_under,
    strange_letters,
    typings_of,
)
from derivations.documents.nearest.matching import UNNAMED, is_proved_alike, role_name
from derivations.documents.nearest.quick import QUICK, Quick
from derivations.documents.nearest.said import LIGHT, Said
from derivations.documents.nearest.slips import is_free, is_of_a_number, is_of_the_index, renames
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import fold_key
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    EQUATIONS,
    Aggregate,
    Call,
    Entry,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Quotient,
    Root,
    Sum,
)
from derivations.documents.verdicts import Finding, Unproved

__all__ = ["check_nearest"]

CHECK = "nearest"
NEAR = 20  # statements before and after
MOST_TYPINGS = 1  # whose edits are tried
MOST_NODES = 100  # the known formulas are shorter
SIGNS = (SlipKind.SIGN, SlipKind.A_SIGN)
QUOTED = (SlipKind.FUNCTION, SlipKind.LOGARITHM, SlipKind.LETTER)  # what nobody chooses in a formula of the handbook
LOGARITHMS = ("log", "ln")
LOSSES = ("L", "ℓ", "ell", "J", "loss", "Loss")
LEAST_SIZE = 3
OUTER = ("row", "column")  # the places of an entry of a matrix
ANOTHER = ("another formula is meant than the usual one",)


def check_nearest(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the right side of a link, or a formula that stands alone, with the known formulas."""
    if is_condition(statement) or (link is not None and statement.chain.relations[link] not in EQUATIONS):
        return
    sides = statement.chain.sides
    right = sides[0 if link is None else link + 1]
    lefts = () if link is None else tuple(dict.fromkeys((sides[link], sides[0])))
    if sum(1 for _ in right.walk()) > MOST_NODES or any(_are_one_function(left, right) for left in lefts):
        return
    typings = typings_of(right, scope, sides)
    if not typings:
        return
    said = Said(lefts, right, scope, scope.words(statement).lower(), statement)
    alike = [each for typing in typings for each in _known(right, typing, said)]
    found = [each for each in alike if not each.strange]
    if any(said.means(each.known) for each in found):
        yield from _usual([each for each in found if each.typing is typings[0]], said)
        return
    for each in alike:
        if each.strange and said.means(each.known) and said.is_told(each.known):
            reason = f"this is not the formula of {each.known.title}: {each.strange}"
            yield Finding("wrong", CHECK, reason, None, each.known.form.result or None)
            return
    covers = len({id(each.typing) for each in found}) == len(typings)
    if found and not any(map(_names_a_measure, lefts)) and (covers or not said.restated):
        return
    if not said.may_mean and not any(isinstance(part, Aggregate) for part in right.walk()):
        return
    if not any(is_of_a_known_size(Quick(typing.sides[0]), said.quoted) for typing in typings[:MOST_TYPINGS]):
        return
    spoken: Finding | None = None
    for new, slip, known in _edited(right, typings, said):
        named = said.means(known, new)
        text, result = formula_text(new, statement.notation), known.form.result or None
        if slip.kind is not SlipKind.ROOT and any(
            _is_subtracted_elsewhere(left, statement, scope) for left in lefts[-1:]
        ):
            continue  # which makes good its sign
        if slip.kind is SlipKind.ROOT and any(_is_rooted_elsewhere(left, statement, scope) for left in lefts[-1:]):
            continue  # sigma may be the variance
        idle = not found and is_of_the_index(slip) and known.weight > LIGHT
        if not known.form.assumed and (named or idle):
            elsewhere = ", which the document states elsewhere" if said.is_restated_as(known) else ""
            reason = f"one edit away from the formula of {known.title}{elsewhere}: {slip}"
            in_calls = slip.kind is SlipKind.FACTOR and slip.of_number and any(map(_is_of_its_own, right.walk()))
            certain = idle or (said.names_in_words(known) and not in_calls)
            said_so: Unproved = "wrong" if certain else "conditional"
            yield Finding(said_so, CHECK, reason, text, result, () if certain else ANOTHER)
            return
        if spoken is None and not found and said.speaks_of(known):
            spoken = Finding("conditional", CHECK, f"one edit away from {known.title}: {slip}", text, result, ANOTHER)
    if spoken is not None:
        yield spoken


@dataclass(frozen=True)
class _Alike:
    """A known formula that a side equals under a typing, with a note on letters in the wrong role."""

    known: Known
    expression: Expr
    typing: Elaborated
    strange: str


def _known(side: Node, typing: Elaborated, said: Said) -> Iterator[_Alike]:
    for known, expression in known_under(typing, side, said.quoted):
        strange = strange_letters(expression, known)
        is_another = strange and (not said.has_its_family(known) or known.title in said.own_elsewhere)
        yield _Alike(known, expression, typing, "" if is_another else strange)


def _usual(alike: Sequence[_Alike], said: Said) -> Iterator[Finding]:
    """Yield a finding if a side is the usual form of the handbook formula that the left side names.

    Its letters are what they most likely are: of vectors X^T Y and Y^T X are one number.
    """
    for equation in dict.fromkeys(each.known.concept for each in alike if isinstance(each.known.concept, Equation)):
        if said.tells(equation) and _is_usual(alike[0].expression, equation, said):
            yield Finding("holds", CHECK, usual_formula(equation.title))
            return


def _is_usual(expression: Expr, equation: Equation, said: Said) -> bool:
    """Return whether an expression is a usual form at the running index of the left side, as in m_t or m_{t+1}.

    A form of little weight, a step w - eta g, has its very letters.
    """
    places, users = {place_of(left) for left in said.lefts}, said.scope.document.users
    here, read = plain(expression), _rows_and_columns(expression)

    def is_used(name: str) -> bool:
        return bool(users.get(fold_key(name)))

    return any(
        is_proved_alike(here, known.plain, is_used if known.weight else lambda _: True)
        for known in _known_forms(equation)
        if known.form.usual and {*known.form.indices} & places and _rows_and_columns(known.form.value) == read
    )


@cache
def _known_forms(equation: Equation) -> tuple[Known, ...]:
    found = []
    for form in equation.forms:
        with suppress(NoNumber):
            found.append(Known(equation, form, plain(form.value)))
    return tuple(found)


def _rows_and_columns(expression: Expr) -> frozenset[tuple[str, tuple[str, ...]]]:
    """Return the axes that the row and the column of the result index in each array. X^T Y and Y^T X differ there."""
    entries = expression.atoms(Indexed)
    found = ((str(each.base.label), tuple(str(at) for at in each.indices if str(at) in OUTER)) for each in entries)
    read = {(label, at) for label, at in found if at}
    outer = {at for _, each in read for at in each}
    return frozenset(read) if len(outer) > 1 else frozenset()


def _has_its_letters(expression: Expr, equation: Equation) -> bool:
    """Return whether an expression has exactly the letters of a form of a handbook formula."""
    with suppress(NoNumber):
        return _letters(plain(expression).expression) in _letters_of(equation)
    return False


@cache
def _letters_of(equation: Equation) -> frozenset[frozenset[str]]:
    return frozenset(_letters(known.plain.expression) for known in _known_forms(equation))


def _letters(expression: Expr) -> frozenset[str]:
    """Return the names of the letters of an expression, indices included; sizes without a name are left out."""
    return frozenset(role_name(letter) for letter in expression.atoms(Symbol) if not letter.name.startswith(UNNAMED))


def _are_one_function(left: Node, right: Node) -> bool:
    """Return whether a function occurs on both sides: `softmax(z) = softmax(z + c)` does not define softmax."""
    call = left.of if isinstance(left, Entry) else left
    return isinstance(call, Call) and any(
        isinstance(part, Call) and part.function == call.function for part in right.walk()
    )


def _is_subtracted_elsewhere(left: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether a nearby statement negates the function that this one defines: `L = -KL(p, q)`."""
    word = left.function.key if isinstance(left, Call) else None
    return word is not None and any(
        isinstance(part, Negative)
        and any(isinstance(inner, Call) and inner.function.key == word for inner in part.operand.walk())
        for part in _parts_elsewhere(statement, scope)
    )


def _is_rooted_elsewhere(left: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether a nearby statement takes a root of what this one defines."""
    parts = _parts_elsewhere(statement, scope)
    return any(isinstance(part, Root) and left in part.radicand.walk() for part in parts)


def _parts_elsewhere(statement: Statement, scope: Scope) -> Iterator[Node]:
    """Yield the parts of all statements near a given one."""
    others = (each for each in scope.document.around(statement, NEAR, NEAR) if each is not statement)
    return (part for other in others for side in other.chain.sides for part in side.walk())


def _edited(right: Node, typings: list[Elaborated], said: Said) -> Iterator[tuple[Node, Slip, Known]]:
    tempered = any(isinstance(part, Name) and part.base in ("tau", "τ", "T") for part in right.walk())
    uninterpreted = letters_for(right, typings[0].letters)
    bound = {name for part in right.walk() if isinstance(part, Aggregate) for name in part.index}
    letters, diagonals, idle = _names_in(right) - bound, _diagonals(right), _has_an_idle_index(right)
    for new, slip in edits_among(right, (right,)):
        if tempered and slip.kind is SlipKind.ROOT:
            continue  # a temperature may be the root itself
        if slip.kind is SlipKind.LOGARITHM and (not _sums_a_logarithm(new) or _has_logarithm_of_a_loss(new)):
            continue  # the sum itself may be meant
        if slip.kind in SIGNS and (said.may_be_maximised or said.restated):
            continue  # the same with the other sign may be meant where it is not called a loss
        if is_of_the_index(slip) and not idle:
            continue
        if not said.may_mean and not is_of_the_index(slip):
            continue
        free = is_free(slip, right) or renames(right, new, slip, typings[0].counts)
        if free and not (said.quoted and slip.kind in QUOTED):
            continue
        if slip.kind is SlipKind.ONE_MINUS or _is_taken_from_one(slip) or _undoes_a_square(new):
            continue  # alpha may be 1 - beta, and a loss may be squared
        if _loses_letters(letters, _names_in(new) - bound) or _diagonals(new) > diagonals or _vanishes(new):
            continue
        spend(20)
        if letters_for(new, typings[0].letters) != uninterpreted:
            continue  # what has no meaning of its own has no slip either
        for typing in typings if said.restated or said.is_quoted else typings[:MOST_TYPINGS]:
            for known in _reached(new, slip, typing, free=free, said=said):
                yield new, slip, known


def _reached(new: Node, slip: Slip, typing: Elaborated, *, free: bool, said: Said) -> Iterator[Known]:
    """Yield the known formulas that an edited side equals under the typing of the unedited side."""
    try:
        found = again((new,), typing, QUICK)
    except (NotElaborated, NoNumber):
        return
    if not found.ranges.keys() <= typing.ranges.keys():
        return  # an index that a sum binds stands outside of it
    for each in _known(new, found, said):
        known, side = each.known, each.expression
        equation = known.concept if isinstance(known.concept, Equation) else None
        if each.strange or (free and not equation):
            continue
        light = known.weight < (LIGHT if said.is_of_a_letter else 1)
        if equation and light and not _has_its_letters(side, equation):
            continue  # a sum of three letters is one edit away from any other
        if not equation and slip.kind is SlipKind.LETTER and not said.names(known, new):
            continue  # what is restated may be so of other letters
        if is_of_a_number(slip) and (said.gives_a_value or _has_a_size(new)):
            continue  # a width may be given as half of another, and an example has 4 for d_k
        if (known.weight >= LIGHT and not equation) or said.means(known, new):
            yield known


def _has_a_size(node: Node) -> bool:
    """Return whether a root is taken of a number that may stand for a size."""
    roots = (part.radicand for part in node.walk() if isinstance(part, Root))
    return any(isinstance(each, Number) and each.value >= LEAST_SIZE for each in roots)


def _sums_a_logarithm(node: Node) -> bool:
    """Return whether a logarithm stands inside of a sum."""
    sums = (part for part in node.walk() if isinstance(part, Aggregate))
    return any(
        isinstance(part, Call) and part.function.base in LOGARITHMS for each in sums for part in each.body.walk()
    )


def _diagonals(node: Node) -> int:
    """Return the number of entries of a diagonal, m_{t,t}."""
    return sum(map(_is_diagonal, node.walk()))


def _is_diagonal(node: Node) -> bool:
    below = node.subscripts if isinstance(node, Name) else node.indices if isinstance(node, Entry) else ()
    places = [place for each in below for place in (each.items if isinstance(each, List) else (each,))]
    return len(places) > 1 and len({*places}) < len(places)


def _has_logarithm_of_a_loss(node: Node) -> bool:
    """Return whether a logarithm is taken of a loss, which is that of a probability already."""
    logs = (part for part in node.walk() if isinstance(part, Call) and part.function.base in LOGARITHMS)
    return any(
        isinstance(part, Name) and part.base in LOSSES for log in logs for each in log.arguments for part in each.walk()
    )


def _is_taken_from_one(slip: Slip) -> bool:
    return slip.kind is SlipKind.NO_DIFFERENCE and slip.about[1] == "1"


def _undoes_a_square(node: Node) -> bool:
    """Return whether a root is squared, or an exponent divided."""
    powers = [part for part in node.walk() if isinstance(part, Power)]
    bases = (part.base.inside if isinstance(part.base, Fence) else part.base for part in powers)
    halves = (part.exponent for part in powers if isinstance(part.exponent, Quotient))
    return any(isinstance(each, Root) for each in bases) or any(isinstance(each.numerator, Number) for each in halves)


def _has_an_idle_index(node: Node) -> bool:
    """Return whether the terms of a sum lack its index, also as a superscript: z^{(j)}."""
    sums = (part for part in node.walk() if isinstance(part, Aggregate))
    return any(index not in part.body.walk() for part in sums for index in part.index)


def _vanishes(node: Node) -> bool:
    """Return whether a difference is one of a term and itself: |j - j|."""
    sums = (part for part in node.walk() if isinstance(part, Sum) and part.signs == (1, -1))
    return any(part.terms[0] == part.terms[1] for part in sums)


def _is_of_its_own(part: Node) -> bool:
    """Return whether a part is a value of a function that the document defines, with whatever factor."""
    return isinstance(part, Call) and not is_known_function(part.function)


def _names_in(node: Node) -> set[Name]:
    return {part for part in node.walk() if isinstance(part, Name)}


def _loses_letters(before: set[Name], after: set[Name]) -> bool:
    """Return whether an edit only takes letters away: H W / P^2 is no slip for H H / P^2, but has a letter more.

    A letter beside one of the same base may be a slip: beta beside beta_1.
    """
    bases = {name.base for name in after}
    return after < before and all(name.base not in bases for name in before - after)


def _names_a_measure(left: Node) -> bool:
    """Return whether the left side is a letter that stands for a mean, a variance or a deviation."""
    return any(isinstance(part, Name) and part.base in ("mu", "sigma") for part in (left, *left.children))
