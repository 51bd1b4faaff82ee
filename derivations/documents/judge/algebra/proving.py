r"""What the judge of equality says of two scalars of a document: the only place where a finding becomes `proved`.

Definition   both sides are given to the judge as they stand (`literal_scalars`), with no other assumption than that
             letters are real numbers, and those that the document makes sizes whole numbers of at least 1
Result       `proved(left, right, scope, ...)` is a finding with the evidence of the judge, or None. `provisos(left,
             right, scope)` are the conditions under which both sides are defined, as far as the judge does not settle
             them: an equation that holds by rules which ignore them is conditional on them
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Basic, Expr, Integer, Mul, Pow, Rational, exp, log

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.literal_scalars import Condition, Kind, Literally, literal
from derivations.documents.scope import Scope
from derivations.documents.syntax import Node
from derivations.documents.verdicts import Finding
from derivations.language.derivation import Derivation
from derivations.language.proof import prove_equal

__all__ = ["are_equal", "proved", "proved_if", "provisos", "undefined_at", "weighed"]

CHECK = "chain"
_SAID: Mapping[Kind, str] = {"nonzero": "is not 0", "positive": "is positive", "nonnegative": "is not negative"}


# --- what the judge says of expressions ---


def are_equal(first: Basic, second: Basic, source: Derivation | None = None, rule: str = "algebra") -> bool:
    """Say whether the judge proves two expressions equal, which SymPy built: it may have cancelled in them before."""
    return weighed(first, second, source, rule)[0] == "proved"


def weighed(first: Basic, second: Basic, source: Derivation | None = None, rule: str = "algebra") -> tuple[str, str]:
    """Return the level that the judge gives to an equation of two such expressions, and its reason."""
    found = prove_equal(first, second, source, rule)
    return found.level, found.reason


# --- what the judge says of a document ---


def proved(
    left: Node,
    right: Node,
    scope: Scope,
    reason: str = "both sides are equal by algebra",
    values: Mapping[str, Expr] | None = None,
    assumptions: tuple[str, ...] = (),
) -> Finding | None:
    """Return the finding that two sides are equal, where the judge proves it of them as they stand; else None."""
    sides = literal(left, right, scope, values)
    if sides is None:
        return None
    evidence = prove_equal(sides.left, sides.right)
    return Finding(evidence, CHECK, reason, assumptions=assumptions) if evidence.level == "proved" else None


def proved_if(left: Node, right: Node, scope: Scope, reason: str, assumptions: tuple[str, ...] = ()) -> Finding:
    """Return what is said of two sides that rules make equal which ignore where a side is defined.

    Conditional with the conditions that are open; unknown where the section gives a letter a value at which one of
    them fails; holds where none is open, and the judge does not see it
    """
    open_ones = provisos(left, right, scope)
    if undefined_at(left, right, scope):
        return Finding("unknown", CHECK, "a side is not defined at the numbers that the section sets")
    assumptions = (*assumptions, *open_ones)
    where = "wherever both are defined" if open_ones else "as far as they were cancelled"
    return Finding("conditional" if assumptions else "holds", CHECK, f"{reason}, {where}", assumptions=assumptions)


def provisos(left: Node, right: Node, scope: Scope) -> tuple[str, ...]:
    """Return what must hold of letters so that both sides are defined, without what the judge knows."""
    sides = literal(left, right, scope, guessed=True)
    if sides is None:
        return ("both sides are defined",)
    said = (f"{formula_text(each.node, 'plain')} {_SAID[each.kind]}" for each in sides.conditions if not _settled(each))
    return (*dict.fromkeys(said), *_sizes(sides))


def undefined_at(left: Node, right: Node, scope: Scope) -> bool:
    """Say whether a side is not defined at the numbers that the section gives to its letters."""
    sides = literal(left, right, scope)
    for each in sides.conditions if sides is not None else ():
        values = {letter: _number(str(letter), scope) for letter in each.value.free_symbols}
        if not values or None in values.values():
            continue
        number = each.value.xreplace(values).doit()
        fails = {"nonzero": number.is_zero, "positive": number.is_nonpositive, "nonnegative": number.is_negative}
        if fails[each.kind]:
            return True
    return False


def _number(key: str, scope: Scope) -> Expr | None:
    numbers = [value for value in scope.values_of(key) if value.is_Rational]
    return numbers[0] if len(numbers) == 1 else None


def _sizes(sides: Literally) -> tuple[str, ...]:
    return tuple(f"{key} is a whole number of at least 1" for key in sides.guessed)


def _settled(condition: Condition) -> bool:
    """Say whether the judge knows a condition: it then proves what is right under that condition alone."""
    value = condition.value
    match condition.kind:
        case "nonzero":
            first, second = Mul(value, Pow(value, -1, evaluate=False), evaluate=False), Integer(1)
        case "positive":
            first, second = exp(log(value, evaluate=False), evaluate=False), value
        case _:
            first, second = Pow(Pow(value, Rational(1, 2), evaluate=False), 2, evaluate=False), value
    return are_equal(first, second)
