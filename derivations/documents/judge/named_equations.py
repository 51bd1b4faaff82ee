r"""Equations between numbers, name by name: the steps of an optimiser, a learning rate, smoothed labels, running sums.

Definition   every name of the right side plays the role that its spelling tells; where a spelling tells nothing, names
             are tried in every order if the shape of the equation is that of a recurrence, or of a name with a hat
Result       holds where the judge of equality shows the right side equal to a form (proved where the catalogue has it),
             conditional where that form assumes something; wrong where one small edit, or one name for another, makes
             it equal, and words or letters of the document tell that this equation is meant
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations
from typing import Literal

from sympy import Symbol

from derivations.documents.canon.edits import edits
from derivations.documents.canon.equations import Equation
from derivations.documents.canon.forms import Form, Value
from derivations.documents.canon.letter_slips import renamed
from derivations.documents.canon.running_equations import RUNNING
from derivations.documents.canon.training_equations import TRAINING
from derivations.documents.formulas import formula_text
from derivations.documents.judge.assigning import Assignment
from derivations.documents.judge.left_sides import plain
from derivations.documents.judge.matching import Filter, Match, equal_forms, reader_of
from derivations.documents.judge.mending import letter_of
from derivations.documents.judge.spellings import left_spelling, running, spelled, step_before
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_named_equations"]

CHECK = "equation"
EQUAL = frozenset({"=", ":=", "≡", "←"})
MOST_PARTS, MOST_NAMES, MOST_ORDERS, MOST_EDITS, MOST_WORK = 60, 7, 24, 900, 4000
EQUATIONS = (*TRAINING, *RUNNING)
Meaning = dict[str, Value]


def check_named_equations(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is known of an equation between numbers."""
    if link is None or statement.chain.relations[link] not in EQUAL:
        return
    left, right = statement.chain.sides[link], plain(statement.chain.sides[link + 1])
    if len(list(islice(right.walk(), MOST_PARTS + 1))) > MOST_PARTS or isinstance(right, Name):
        return
    names = _names(right)
    if not 0 < len(names) <= MOST_NAMES:
        return
    spelling = left_spelling(left)
    called = [each for each in EQUATIONS if spelling in each.left]
    for each in called:
        match = _matched(right, _by_spelling(names, running(left), each), each, scope)
        if match is not None:
            yield _right(each.title, match)
            return
    for each in called:
        found = _mended(left, right, names, each, statement, scope)
        if found is not None:
            slip, mended = found
            text = formula_text(mended, "latex" if statement.passage.syntax == "latex" else "plain")
            shown = f"{statement.text(left.start, left.end)} = {text}"
            yield Finding("wrong", CHECK, f"this is not {each.title}: {slip}", shown, each.forms[0].result or None)
            return
    yield from _by_shape(left, right, names, scope)


def _names(right: Node) -> dict[str, Name]:
    """Return the names of a right side that are no functions, their subscripts left out, by key."""
    found: dict[str, Name] = {}
    pending = [right]
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            found.setdefault(part.key, part)
        else:
            pending.extend(reversed(part.arguments if isinstance(part, Call) else part.children))
    return {key: name for key, name in found.items() if key not in ("e", "pi")}


# --- what is right ---


def _by_spelling(names: dict[str, Name], index: Node | None, equation: Equation) -> tuple[Meaning, list[str]]:
    """Return the roles that spellings tell, and the keys of the names that they tell nothing of."""
    meaning: Meaning = {}
    untold: list[str] = []
    symbols = _symbols(equation)
    for key, name in names.items():
        own = {spelled(name, index), *(("@",) if name == index else ())}
        role = next((r for r, usual in equation.letters.items() if own & {*usual}), None)
        if role is None or (symbols[role] in meaning.values()):
            untold.append(key)
        else:
            meaning[key] = symbols[role]
    return meaning, untold


def _symbols(equation: Equation) -> dict[str, Symbol]:
    found = {name: value for form in equation.forms for name, value in form.roles.items()}
    return {role: found[role] for role in equation.letters}


def _assignment(meaning: Meaning, forms: tuple[Form, ...]) -> Assignment:
    return Assignment(tuple(meaning.items()), frozenset(), False, tuple((form, form.value) for form in forms))


def _matched(right: Node, told: tuple[Meaning, list[str]], equation: Equation, scope: Scope) -> Match | None:
    """Return the form that a right side equals where every name has a role."""
    meaning, untold = told
    if untold:
        return None
    allowed = tuple(form for form in equation.forms if _is_allowed(form, meaning, scope))
    return next((match for match in equal_forms(right, _assignment(meaning, allowed)) if match.proved), None)


def _is_allowed(form: Form, meaning: Meaning, scope: Scope) -> bool:
    """Say whether the document leaves open what a form assumes of a decay rate: that it is near 0."""
    if not any("near 0" in text for text in form.assumed):
        return True
    rates = [letter_of(key) for key, value in meaning.items() if getattr(value, "name", "") == "decay"]
    return not any(2 * printed.value > 1 for rate in rates for printed in scope.numbers(rate))


def _right(title: str, match: Match) -> Finding:
    form = match.form
    if form.assumed:
        return Finding("conditional", CHECK, f"this is {title} if {form.assumed[0]}", None, form.result or None,
                       form.assumed)  # fmt: skip
    verdict: Literal["proved", "holds"] = "proved" if form.result else "holds"
    return Finding(verdict, CHECK, f"this is {title}", result=form.result or None)


def _by_shape(left: Node, right: Node, names: dict[str, Name], scope: Scope) -> Iterator[Finding]:
    """Yield that an equation in other letters is a known one, where its shape is."""
    if not isinstance(left, Name):
        return
    index = running(left)
    spelling = spelled(left, index)
    for equation in EQUATIONS:
        first = "before" if equation.shape == "recurrence" else "moment"
        if not equation.shape or (equation.shape == "hat") is not (left.accent == "hat"):
            continue
        fixed = f"{spelling}-" if equation.shape == "recurrence" else spelling.removeprefix("hat")
        start = next((key for key, name in names.items() if spelled(name, index) == fixed), None)
        symbols = _symbols(equation)
        for form in equation.forms:
            roles = [role for role in form.roles if role in symbols and role != first]
            rest = [key for key in names if key != start]
            if start is None or len(rest) != len(roles) or form.assumed:
                continue
            for order in islice(permutations(roles), MOST_ORDERS):
                meaning: Meaning = {start: symbols[first]}
                meaning |= {key: symbols[role] for key, role in zip(rest, order, strict=True)}
                if any(match.proved for match in equal_forms(right, _assignment(meaning, (form,)))):
                    yield Finding("holds", CHECK, f"in other letters this is {equation.title}")
                    return


# --- what is wrong ---


def _mended(
    left: Node, right: Node, names: dict[str, Name], equation: Equation, statement: Statement, scope: Scope
) -> tuple[str, Node] | None:
    """Return the slip and the right side without it, where this equation is certainly meant."""
    if not names.keys() >= {*equation.own} or not _is_meant(equation, statement, scope):
        return None
    meaning, untold = _by_spelling(names, running(left), equation)
    exact = tuple(f for f in equation.forms if not f.assumed)
    if untold:
        return _renamed(left, right, names, meaning, untold, equation)
    lacking = [r for r, symbol in _symbols(equation).items() if symbol not in meaning.values()]
    extra = {usual: role for role in lacking if "@" not in (usual := equation.letters[role][0])}
    whole = meaning | {key: _symbols(equation)[role] for key, role in extra.items() if key not in meaning}
    assignment = _assignment(whole, exact)
    reader, likely = reader_of(assignment), Filter(assignment)
    letters = (*names.values(), *(letter_of(key) for key in extra))
    exponents = [key for key, symbol in whole.items() if getattr(symbol, "name", "") == "step"]
    for edited, slip in islice(edits(right, letters, exponents), MOST_EDITS):
        if reader.work > MOST_WORK:
            return None
        if likely.may_equal(edited) and any(match.proved for match in equal_forms(edited, assignment, reader)):
            return slip, edited
    return None


def _is_meant(equation: Equation, statement: Statement, scope: Scope) -> bool:
    if equation.used and all(scope.is_used(letter_of(key)) for key in equation.used):
        return True
    around = scope.words(statement).lower()
    return any(word in around for word in equation.words)


def _renamed(
    left: Node, right: Node, names: dict[str, Name], meaning: Meaning, untold: list[str], equation: Equation
) -> tuple[str, Node] | None:
    """Return a right side in which one name stands one step off, as m_t for m_{t-1}."""
    index = running(left)
    symbols = _symbols(equation)
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
            if any(match.proved for match in equal_forms(right, _assignment(whole, equation.forms))):
                return f"{meant.key} belongs where {name.key} stands", renamed(right, {name: meant})
    return None


def _at_step(name: Name, index: Node, usual: str) -> Name | None:
    """Return a name at the step that a spelling tells, if it is spelled so but for the step."""
    if not name.subscripts or spelled(replace(name, subscripts=()), index) != usual.rstrip("@-"):
        return None
    step = step_before(index) if usual.endswith("@-") else index if usual.endswith("@") else None
    return replace(name, subscripts=(*name.subscripts[:-1], step)) if step is not None else None
