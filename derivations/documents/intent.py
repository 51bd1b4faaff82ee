r"""What an author does with a formula: asserts it, defines or declares something, gives a number, or supposes it.

Definition   the first link of a chain defines where a name, or a function of names, stands on its left and nothing
             before defines that otherwise; a membership declares a name that has no definition; a name beside a number
             is given; words make a condition, and so does an inequality of two letters, `k \neq i`
Result       `intent_of(statement, link, scope)`: what is no assertion has nothing that could be decided by itself
Assumes      whoever defines a letter anew in one section equates both definitions
"""

from __future__ import annotations

from derivations.documents.conditions import is_condition
from derivations.documents.scope import Scope
from derivations.documents.scope.pieces import is_empty, subjects
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    EQUATIONS,
    Call,
    Entry,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Space,
)
from derivations.documents.verdicts import Intent

__all__ = ["intent_of"]

INEQUALITIES = ("<", ">", "≤", "≥", "≠", "≪", "≫")
OPERATIONS = frozenset(  # of which nobody gives a definition by the way: what they are equated with is said of them
    {"exp", "log", "ln", "sin", "cos", "tan", "sqrt", "max", "min", "sum", "det", "tr", "trace", "rank", "dim"}
    | {"E", "mean", "Var", "var", "std", "Cov", "cov"}
)


def intent_of(statement: Statement, link: int | None, scope: Scope) -> Intent:
    """Return what the author does with one link of a chain, or with a formula that stands alone."""
    chain = statement.chain
    if link is None:
        mention = scope.document.mention(statement)
        is_of_a_name = mention is not None and (mention.subject is None or isinstance(mention.subject, Name))
        return Intent.DECLARES if is_of_a_name else Intent.ASSERTS
    left, right, relation = chain.sides[link], chain.sides[link + 1], chain.relations[link]
    if relation == "∈":
        names = subjects(left)
        is_new = (names or is_empty(left)) and not any(scope.near_definition(name) for name in names)
        return Intent.DECLARES if is_new or not isinstance(right, Space) else Intent.ASSERTS
    if relation in INEQUALITIES:
        atoms = all(isinstance(side, Name | Number) for side in (left, right))
        of_a_letter = atoms and any(isinstance(side, Name) for side in (left, right))
        return Intent.SUPPOSES if of_a_letter or is_condition(statement) else Intent.ASSERTS
    may_define = relation in EQUATIONS and link == 0 and _may_be_defined(left)
    if may_define and not _is_given(right) and _is_first(left, right, statement, scope):
        return Intent.DEFINES
    if is_condition(statement):
        return Intent.SUPPOSES
    return Intent.GIVES if may_define and _is_given(right) else Intent.ASSERTS


def _may_be_defined(left: Node) -> bool:
    """Return whether a side is a name, several names, or a function of names."""
    match left:
        case Name(base=base):
            return bool(base)
        case List(items=items):
            return all(isinstance(each, Name) for each in items)
        case Entry(of=of):
            return _may_be_defined(of)
        case Call(function=function, arguments=arguments):
            return function.base not in OPERATIONS and all(isinstance(each, Name | Entry) for each in arguments)
    return False


def _is_given(right: Node) -> bool:
    """Return whether a side is a number, or an array of numbers."""
    match right:
        case Number():
            return True
        case Negative(operand=inner):
            return _is_given(inner)
        case List(items=items):
            return all(map(_is_given, items))
        case MatrixLiteral(rows=rows):
            return all(_is_given(entry) for row in rows for entry in row)
    return False


def _is_first(left: Node, right: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether the section has no earlier, different definition of a letter. In code this is always true."""
    if left in right.walk() and statement.passage.syntax != "code":
        return left != right and isinstance(left, Name)
    if not isinstance(left, Name) or statement.passage.syntax == "code":
        return True
    before, _ = scope.document.definitions.around(left.key, scope.section, scope.block)
    here = statement.passage.place(statement.chain.start)
    return all(each.definition == right for each in before if each.place != here)
