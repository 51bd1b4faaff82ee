r"""Equations between numbers, name by name: the steps of an optimiser, a learning rate, smoothed labels, running sums.

Definition   every name of the right side plays the role that its spelling tells; where a spelling tells nothing, names
             are tried in every order if the shape of the equation is that of a recurrence, or of a name with a hat
Result       holds where the judge of equality shows the right side equal to a form,
             conditional where that form assumes something; wrong where one small edit, or one name for another, makes
             it equal, and words or letters of the document tell that this equation is meant
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations

from derivations.documents.canon.edits import edits
from derivations.documents.canon.equations import SAID_ELSEWHERE, Equation
from derivations.documents.canon.letter_slips import renamed
from derivations.documents.canon.measure_equations import MEASURES
from derivations.documents.canon.norm_equations import NORMS
from derivations.documents.canon.running_equations import RUNNING
from derivations.documents.canon.running_forms import ROTARY
from derivations.documents.canon.training_equations import TRAINING
from derivations.documents.judge.arrays.left_sides import plain
from derivations.documents.judge.canonical.entries_of_norms import doubled_entry, is_told_apart
from derivations.documents.judge.canonical.equation_roles import (
    Meaning,
    assignment_of,
    by_spelling,
    matched,
    names_of,
    symbols_of,
)
from derivations.documents.judge.canonical.likeness import usual_formula
from derivations.documents.judge.canonical.matching import Filter, Match, equal_forms, reader_of
from derivations.documents.judge.canonical.mending import letter_of
from derivations.documents.judge.canonical.spellings import left_spelling, running, spelled, step_before
from derivations.documents.judge.canonical.turned_pairs import first_before, is_turned_apart
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_named_equations"]

CHECK = "equation"
UNNAMED = "equation.unnamed"  # no letter stands there that this equation alone has
MOST_PARTS, MOST_NAMES, MOST_ORDERS, MOST_EDITS, MOST_WORK = 60, 7, 24, 900, 4000
EQUATIONS = (*TRAINING, *RUNNING, *MEASURES, *NORMS)


def check_named_equations(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of an equation between numbers."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    left, right = statement.chain.sides[link], plain(statement.chain.sides[link + 1])
    if len(list(islice(right.walk(), MOST_PARTS + 1))) > MOST_PARTS or isinstance(right, Name):
        return
    names = names_of(right)
    if not 0 < len(names) <= MOST_NAMES:
        return
    spelling = left_spelling(left)
    called = [each for each in EQUATIONS if spelling in each.left]
    for each in called:
        match = matched(right, by_spelling(names, running(left), each), each, scope)
        if match is not None:
            if is_turned_apart(each, match, names, statement, scope):
                reason = "the two entries of this pair are turned in opposite ways"
                yield Finding("wrong", UNNAMED, reason, result=ROTARY)
            elif match.form.title != SAID_ELSEWHERE:
                yield _right(each.title, match)
            return
    for each in called:
        found = _mended(left, right, names, each, statement, scope)
        if found is not None:
            slip, mended = found
            shown = link_text(left, mended, statement)
            check = CHECK if each.own else UNNAMED
            yield Finding("wrong", check, f"this is not {each.title}: {slip}", shown, each.forms[0].result or None)
            return
    if not any(({*each.used} - {*each.own}) & names.keys() for each in called if each.own):
        yield from _by_shape(left, right, names, scope)


# --- what is right ---


def _right(title: str, match: Match) -> Finding:
    form = match.form
    if form.assumed:
        return Finding("conditional", CHECK, f"{usual_formula(title)} if {form.assumed[0]}", None, form.result or None,
                       form.assumed)  # fmt: skip
    return Finding("holds", CHECK, usual_formula(title), result=form.result or None)


def _by_shape(left: Node, right: Node, names: dict[str, Name], scope: Scope) -> Iterator[Finding]:
    """Yield that an equation in other letters is a known one, where its shape is."""
    if not isinstance(left, Name) or left.key in names:
        return  # nothing is defined by itself
    index = running(left)
    spelling = spelled(left, index)
    if index is not None and any(running(name) and "@" not in spelled(name, index) for name in names.values()):
        return  # an entry at another place is another number
    for equation in EQUATIONS:
        first = "before" if equation.shape == "recurrence" else "moment"
        if not equation.shape or (equation.shape == "hat") is not (left.accent == "hat"):
            continue
        fixed = f"{spelling}-" if equation.shape == "recurrence" else spelling.removeprefix("hat")
        start = next((key for key, name in names.items() if spelled(name, index) == fixed), None)
        symbols = symbols_of(equation)
        for form in equation.forms:
            roles = [role for role in form.roles if role in symbols and role != first]
            rest = [key for key in names if key != start]
            if start is None or len(rest) != len(roles) or form.assumed:
                continue
            for order in islice(permutations(roles), MOST_ORDERS):
                meaning: Meaning = {start: symbols[first]}
                meaning |= {key: symbols[role] for key, role in zip(rest, order, strict=True)}
                if any(match.same for match in equal_forms(right, assignment_of(meaning, (form,)))):
                    yield Finding("holds", CHECK, f"in other letters {usual_formula(equation.title)}")
                    return


# --- what is wrong ---


def _mended(
    left: Node, right: Node, names: dict[str, Name], equation: Equation, statement: Statement, scope: Scope
) -> tuple[str, Node] | None:
    """Return the slip and the right side without it, where this equation is certainly meant."""
    if not _is_meant(equation, names, statement, scope):
        return None
    if not names.keys() >= {*equation.own}:
        return _of_the_other(left, right, names, equation, scope)
    meaning, untold = by_spelling(names, running(left), equation)
    exact = tuple(f for f in equation.forms if not f.assumed)
    if untold:
        mixed = _of_both(left, right, names, untold, equation, scope)
        mixed = mixed or doubled_entry(left, right, names, untold, equation, scope)
        mixed = mixed or _renamed(left, right, names, meaning, untold, equation)
        return mixed if equation not in NORMS or is_told_apart(left, names, untold, statement, scope) else None
    lacking = [r for r, symbol in symbols_of(equation).items() if symbol not in meaning.values()]
    extra = {usual: role for role in lacking if "@" not in (usual := equation.letters[role][0])}
    whole = meaning | {key: symbols_of(equation)[role] for key, role in extra.items() if key not in meaning}
    assignment = assignment_of(whole, exact)
    reader, likely = reader_of(assignment), Filter(assignment)
    letters = (*names.values(), *(letter_of(key) for key in extra))
    exponents = [key for key, symbol in whole.items() if getattr(symbol, "name", "") == "step"]
    for edited, slip in islice(edits(right, letters, exponents), MOST_EDITS):
        if reader.work > MOST_WORK:
            return None
        if slip == "the summand 1 is too many":
            continue  # steps that are counted from 0
        if equation.slips and not any(words in slip for words in equation.slips):
            continue
        if likely.may_equal(edited) and any(match.same for match in equal_forms(edited, assignment, reader)):
            return slip, edited
    return None


def _is_meant(equation: Equation, names: dict[str, Name], statement: Statement, scope: Scope) -> bool:
    """Say whether letters of the document, a name in the equation or the words around tell that it is this one."""
    if equation.used and all(scope.is_used(letter_of(key)) for key in equation.used):
        return True
    if any(len(word) > 4 and word in key.lower() for word in equation.words for key in names):
        return True
    first = first_before(equation, names, statement, scope)
    if (
        first is not None and not first.form.assumed
    ):  # of the other way, a second entry of another sign mirrors the pair
        return True
    return equation.is_told_by(scope.words(statement).lower())


def _renamed(
    left: Node, right: Node, names: dict[str, Name], meaning: Meaning, untold: list[str], equation: Equation
) -> tuple[str, Node] | None:
    """Return a right side in which one name stands one step off, as m_t for m_{t-1}."""
    index = running(left)
    symbols = symbols_of(equation)
    lacking = [role for role, symbol in symbols.items() if symbol not in meaning.values()]
    if len(untold) != 1 or index is None:
        return None
    name = names[untold[0]]
    for role in lacking:
        for usual in equation.letters[role]:
            meant = _at_step(name, index, usual)
            if meant is None:
                continue
            whole = meaning | {untold[0]: symbols[role]}
            if any(match.same for match in equal_forms(right, assignment_of(whole, equation.forms))):
                return f"{meant.key} belongs where {name.key} stands", renamed(right, {name: meant})
    return None


def _of_the_other(
    left: Node, right: Node, names: dict[str, Name], equation: Equation, scope: Scope
) -> tuple[str, Node] | None:
    """Return a right side in which a letter of the sister equation stands for its own, as beta_1 for beta_2.

    The letter of the sister must be met as well: in other texts v is the first moment, and s the second.
    """
    strange = [name for key, name in names.items() if key in equation.used]
    if len(strange) != 1 or len(equation.own) != 1:
        return None
    sister = next((e for e in EQUATIONS if e.shape == equation.shape and e.own == (strange[0].key,)), None)
    if sister is None or not _is_met(sister, names, equation, running(left), scope):
        return None
    own = letter_of(equation.own[0])
    mended = renamed(right, {strange[0]: own})
    if matched(mended, by_spelling(names_of(mended), running(left), equation), equation, scope) is None:
        return None
    return f"{own.key} belongs where {strange[0].key} stands", mended


def _of_both(
    left: Node, right: Node, names: dict[str, Name], untold: list[str], equation: Equation, scope: Scope
) -> tuple[str, Node] | None:
    """Return a right side with the own letter where that of the sister equation stands beside it, 1 - beta_1."""
    if len(untold) != 1 or untold[0] not in equation.used or len(equation.own) != 1:
        return None
    own, strange = letter_of(equation.own[0]), names[untold[0]]
    mended = renamed(right, {strange: own})
    if matched(mended, by_spelling(names_of(mended), running(left), equation), equation, scope) is None:
        return None
    return f"{own.key} belongs where {strange.key} stands", mended


def _is_met(sister: Equation, names: dict[str, Name], equation: Equation, index: Node | None, scope: Scope) -> bool:
    """Say whether the document has the letter of a sister equation at the place where this one has its own."""
    role = "before" if equation.shape == "recurrence" else "moment"
    bases = {usual.rstrip("@-") for usual in sister.letters[role]}
    own = [name for name in names.values() if spelled(name, index) in equation.letters[role]]
    return any(scope.is_used(replace(name, base=base)) for name in own for base in bases)


def _at_step(name: Name, index: Node, usual: str) -> Name | None:
    """Return a name at the step that a spelling tells, if it is spelled so but for the step."""
    if len(name.subscripts) != 1 or spelled(replace(name, subscripts=()), index) != usual.rstrip("@-"):
        return None
    step = step_before(index) if usual.endswith("@-") else index if usual.endswith("@") else None
    return replace(name, subscripts=(*name.subscripts[:-1], step)) if step is not None else None
