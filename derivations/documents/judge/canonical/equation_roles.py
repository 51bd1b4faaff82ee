r"""The roles that names play in an equation between numbers, and the form that its right side then is.

Definition   a name plays the role that its spelling tells, `m@-` for m_{t-1} where the left side is at t
Result       `by_spelling(names, index, equation)`; `matched(right, told, equation, scope)`, decided by the judge of
             equality where every name has a role
"""

from __future__ import annotations

from fractions import Fraction

from sympy import Integer, Symbol

from derivations.documents.canon.equations import Equation
from derivations.documents.canon.forms import Form, Value
from derivations.documents.judge.canonical.assigning import Assignment
from derivations.documents.judge.canonical.matching import Match, equal_forms
from derivations.documents.judge.canonical.mending import letter_of
from derivations.documents.judge.canonical.spellings import spelled
from derivations.documents.scope import Scope
from derivations.documents.syntax import Call, Name, Node, Number

__all__ = ["Meaning", "assignment_of", "by_spelling", "matched", "names_of", "symbols_of"]

Meaning = dict[str, Value]
LEAST_BASE = 1000  # of the numbers of a form


def names_of(right: Node) -> dict[str, Name]:
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


def by_spelling(names: dict[str, Name], index: Node | None, equation: Equation) -> tuple[Meaning, list[str]]:
    """Return the roles that spellings tell, and the keys of the names that they tell nothing of."""
    meaning: Meaning = {}
    untold: list[str] = []
    symbols = symbols_of(equation)
    for key, name in names.items():
        own = {spelled(name, index), *(("@",) if name == index else ())}
        role = next((r for r, usual in equation.letters.items() if own & {*usual}), None)
        if role is None or (symbols[role] in meaning.values()):
            untold.append(key)
        else:
            meaning[key] = symbols[role]
    return meaning, untold


def symbols_of(equation: Equation) -> dict[str, Symbol]:
    """Return the symbol of every role."""
    found = {name: value for form in equation.forms for name, value in form.roles.items()}
    return {role: found[role] for role in equation.letters}


def assignment_of(meaning: Meaning, forms: tuple[Form, ...]) -> Assignment:
    """Return what the names mean, with the forms as they stand."""
    return Assignment(tuple(meaning.items()), frozenset(), False, tuple((form, form.value) for form in forms))


def matched(right: Node, told: tuple[Meaning, list[str]], equation: Equation, scope: Scope) -> Match | None:
    """Return the form that a right side equals where every name has a role."""
    meaning, untold = told
    if untold:
        return None
    printed = {part.value for part in right.walk() if isinstance(part, Number)}
    allowed = tuple(form for form in equation.forms if _is_allowed(form, meaning, scope) and _is_printed(form, printed))
    return next((match for match in equal_forms(right, assignment_of(meaning, allowed)) if match.same), None)


def _is_printed(form: Form, printed: set[Fraction]) -> bool:
    """Say whether a formula has the base of a form: 10000^{3 i / d} has not the base 1000000."""
    bases = {Fraction(int(each)) for each in form.value.atoms(Integer) if each >= LEAST_BASE}
    return bases <= printed or Fraction(10) in printed


def _is_allowed(form: Form, meaning: Meaning, scope: Scope) -> bool:
    """Say whether the document leaves open what a form assumes of a decay rate: that it is near 0."""
    if not any("near 0" in text for text in form.assumed):
        return True
    rates = [letter_of(key) for key, value in meaning.items() if getattr(value, "name", "") == "decay"]
    return not any(2 * printed.value > 1 for rate in rates for printed in scope.numbers(rate))
