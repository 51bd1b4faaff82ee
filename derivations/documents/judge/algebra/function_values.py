r"""What functions come to: `\sigma(1) = 0.731`, `\text{GELU}(2) = 1.954`, `\sigma'(x) = \sigma(x)(1 - \sigma(x))`.

Definition   a link whose left side applies a function of one number, the section's own or an activation of that name,
             to a number, or its derivative to a letter
Result       holds        the number rounds to what is printed; two formulas of one letter agree at every point tried
             conditional  so for another usual form of GELU, or where nothing says that \sigma is the sigmoid
             wrong        a number that no usual form has; a derivative that differs at every point; an equation that
                          is right but for one slip: `\sigma(-x) = 1 + \sigma(x)`
Assumes      formulas of one letter that agree to twenty digits at four points are the same
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.equation_edits import tried
from derivations.documents.judge.algebra.known_functions import Functions, is_named
from derivations.documents.judge.numbers.letters import bare, letters_of, put
from derivations.documents.judge.numbers.number_links import CHECK, NumberLink
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.rounding import repair_of
from derivations.documents.judge.numbers.values import Enclosure, Letters, enclose
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Derivative, Fence, Name, Negative, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_function_values"]

EQUALITIES = ("=", "≈", ":=")
FORMS = ("", "GELU is its tanh form", "GELU is its sigmoid form")
SIGMOID = "sigma is the logistic sigmoid"
POINTS = (Fraction(7, 10), Fraction(-13, 10), Fraction(12, 5), Fraction(-2, 5))
SAME = Fraction(1, 10**20)
OTHER = Fraction(1, 10**6)
MOST_EDITS = 600
SAYS_SIGMOID = ("sigmoid", "logistic", "シグモイド", "逻辑函数", "邏輯函數", "s型", "s 型")
CONSTANTS = ("e", "π", "pi")


def check_function_values(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is found of a link between a function of a number or of a letter, and what it is said to be."""
    if link is None or statement.chain.relations[link] not in EQUALITIES or statement.is_equivalent:
        return
    left, right = statement.chain.sides[link : link + 2]
    left, right = _with_function_written(left, right, scope)
    kinds = {type(part) for side in (left, right) for part in side.walk()}
    if not kinds & {Call, Derivative}:
        return
    if Aggregate in kinds:  # the index of a sum is no letter that a point could be put for
        return
    shown, letters = printed(right), _letters(left) | _letters(right)
    if shown is not None and not shown.rough and not shown.unit and not _letters(left):
        yield from _of_number(NumberLink(statement, left, right, str(statement.chain.relations[link]), scope), shown)
    elif len(letters) == 1 and letters == _letters(left) == _letters(right):
        approximate = statement.chain.relations[link] == "≈"
        yield from _of_letter(statement, left, right, letters.pop(), scope, approximate=approximate)


def _with_function_written(left: Node, right: Node, scope: Scope) -> tuple[Node, Node]:
    r"""Return the sides with what defines a letter of which they take the derivative: `\frac{ds}{dx} = s(1 - s)`."""
    if not isinstance(left, Derivative) or not isinstance(left.of, Name) or len(left.by) != 1:
        return left, right
    found = scope.definitions(left.of)
    if len(found) != 1 or _letters(found[0]) != _letters(left.by[0]):
        return left, right
    written = {left.of.key: Fence("(", found[0])}
    return replace(left, of=put(left.of, written)), put(right, written)


def _letters(node: Node) -> set[str]:
    """Return the letters that stand for numbers, not those of functions."""
    functions = {id(part.function) for part in node.walk() if isinstance(part, Call)}
    names = (part for part in node.walk() if isinstance(part, Name) and id(part) not in functions)
    return {name.key for name in names} - set(CONSTANTS)


# --- at a number ---


def _of_number(question: NumberLink, shown: Printed) -> Iterator[Finding]:
    first: Enclosure | None = None
    for form, assumption in enumerate(FORMS):
        functions = Functions(question.statement, question.scope, form)
        value = functions.number(question.left, letters_of(question.scope))
        if value is None or not functions.called or (first is not None and "gelu" not in functions.used):
            break  # what has no other functions is arithmetic
        first = first or value
        if abs(value.middle - shown.value) <= (0 if shown.exact and not question.loose else shown.half_unit):
            yield _right(functions, question.scope, f"the value is {decimal(value)}", assumption)
            return
    if first is None or shown.exact or _is_any_function(functions, question.scope):
        return
    repair = repair_of(question, shown, first)
    right = repair.text if repair else rounded(first, shown)
    yield Finding("wrong", CHECK, f"the value is {decimal(first)}, not {shown.number.text}", right, repair=repair)


def _right(functions: Functions, scope: Scope, reason: str, assumption: str = "") -> Finding:
    is_told = functions.used != {"sigma"} or not _is_any_function(functions, scope)  # SiLU has the sigmoid in it
    assumptions = tuple(each for each in (assumption, "" if is_told else SIGMOID) if each)
    return Finding("conditional" if assumptions else "holds", CHECK, reason, assumptions=assumptions)


def _is_any_function(functions: Functions, scope: Scope) -> bool:
    r"""Say whether a \sigma takes part that nothing calls the sigmoid."""
    if "sigma" not in functions.used:
        return False
    words = scope.words(functions.statement).lower()
    return not any(word in words for word in SAYS_SIGMOID)


# --- of a letter ---


def _of_letter(
    statement: Statement, left: Node, right: Node, letter: str, scope: Scope, *, approximate: bool
) -> Iterator[Finding]:
    """Compare two formulas of one letter at some points: of a derivative, what differs at all of them is wrong."""
    if scope.value_of(letter) is not None:
        return
    off: list[Fraction] = []
    for point in POINTS:
        functions, letters = Functions(statement, scope), _at(letter, point)
        here, there = (functions.number(each, letters) for each in (left, right))
        if here is not None and there is not None:
            off.append(abs(here.middle - there.middle))
        elif point > 0:  # a root or a logarithm has no negative points
            return
    if all(each < SAME for each in off):
        yield _right(functions, scope, "both sides agree at every point that was tried")
    elif approximate or "gelu" in functions.used or _is_any_function(functions, scope) or _is_to_any_base(left, right):
        return  # another form of it, perhaps
    elif all(each > OTHER for each in off) and _is_derivative(left):
        yield Finding("wrong", CHECK, "the derivative of this function has other numbers")
    elif all(each > OTHER for each in off) and not is_condition(statement):
        yield from _mended(statement, left, right, letter, scope)


def _mended(statement: Statement, left: Node, right: Node, letter: str, scope: Scope) -> Iterator[Finding]:
    """Tell the slip without which two formulas of known functions are the same; none where one side is defined."""
    for side in (left, right):
        if _is_defined(side, letter) or not (_has_calls(side) or _is_reflected(left, right, letter)):
            return
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        names = tuple(part for part in side.walk() if isinstance(part, Name) and part.key == letter)[:1]
        for edit, slip in tried(side, names, (), most=MOST_EDITS):
            if letter in _letters(edit) and _agree(statement, edit, other, letter, scope):
                reason = f"the two sides differ, and agree at every point if mended: {slip}, on the {where}"
                yield Finding("wrong", CHECK, reason, right=formula_text(edit))
                return


def _has_calls(side: Node) -> bool:
    return any(isinstance(part, Call) for part in side.walk())


def _is_reflected(left: Node, right: Node, letter: str) -> bool:
    """Say whether a known function is taken of a letter and of minus it; one of the letter alone may be a condition."""
    calls = [part for side in (left, right) for part in side.walk() if isinstance(part, Call)]
    applied = [(call.function, *map(bare, call.arguments)) for call in calls]
    known = [call.function for call in calls if is_named(call.function) and _is_of(call, letter)]
    return any((function, Negative(Name(letter))) in applied for function in known)


def _is_defined(side: Node, letter: str) -> bool:
    """Say whether a side is a function of the letter alone, which the equation may define: `f(x)`, but not `f(-x)`."""
    return isinstance(side, Call) and not is_named(side.function) and _is_of(side, letter)


def _is_of(call: Call, letter: str) -> bool:
    return [bare(each) for each in call.arguments] == [Name(letter)]


def _agree(statement: Statement, left: Node, right: Node, letter: str, scope: Scope) -> bool:
    """Say whether two formulas of one letter have the same number at every point, and not for any function at all."""
    for point in POINTS:
        functions, letters = Functions(statement, scope), _at(letter, point)
        here, there = (functions.number(each, letters) for each in (left, right))
        if here is None or there is None or abs(here.middle - there.middle) >= SAME:
            return False
    return _applied(left, letters) != _applied(right, letters)


def _applied(side: Node, letters: Letters) -> set[tuple[str, Fraction | None]]:
    """Return what functions are applied to in a formula, as numbers."""
    calls = [part for part in side.walk() if isinstance(part, Call) and len(part.arguments) == 1]
    inside = [(part.function.key, enclose(part.arguments[0], letters)) for part in calls]
    return {(key, value.middle if value is not None else None) for key, value in inside}


def _is_to_any_base(left: Node, right: Node) -> bool:
    r"""Say whether `\log` and `\ln` stand in one formula, so that the first may be to the base 10 or 2."""
    functions = {part.function.base for side in (left, right) for part in side.walk() if isinstance(part, Call)}
    return {"log", "ln"} <= functions


def _is_derivative(node: Node) -> bool:
    return isinstance(node, Derivative) or (isinstance(node, Call) and node.function.primes == 1)


def _at(letter: str, point: Fraction) -> Letters:
    """Return that one letter is a number, and no other is."""
    return lambda name: point if name.key == letter else None
