r"""How often gradients stand in a term of a gradient: dX is linear in those it is made of, and is divided by none.

Definition   the degree of a term is the number of gradients among its factors, less those among its divisors
Result       wrong where a term of dX has a degree below 0: `dX = d / (dv \odot 2 X)`, where `dv \odot 2 X / d` is meant
Assumes      dX is written with a capital, since dt may be a width of steps, dk the width of a key; nothing is said of
             the norms, powers and functions of gradients by which rules of training divide
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.matrices.gradient_letters import gradients_in, is_gradient, marked
from derivations.documents.judge.matrices.matrix_words import gradient_of
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import source
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_gradient_degrees"]

CHECK = "gradient.degree"


def check_gradient_degrees(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the first term of a gradient that is divided by a gradient."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    by = gradient_of(statement.chain.sides[link], scope)
    if by is None or not by.base[:1].isupper():
        return
    right = statement.chain.sides[link + 1]
    for term in right.terms if isinstance(right, Sum) else (right,):
        degree = _degree(marked(term, scope))
        if degree is not None and degree < 0:
            reason = f"a gradient is linear in those it follows from, and {source((term,), statement)} divides by one"
            yield Finding("wrong", CHECK, reason)
            return


def _degree(node: Node) -> int | None:
    """Return the degree of a marked formula in its gradients; None where it has none."""
    match node:
        case Name() if is_gradient(node):
            return 1
        case Power(base=Name(base="sigma") as deviation, exponent=Number(value=two)) if two == 2:
            return _degree(deviation)  # the variance is one letter that is written as a square
        case Product(factors=factors):
            return _added([_degree(each) for each in factors])
        case Quotient(numerator=above, denominator=below):
            lower = _degree(below)
            return None if lower is None else _added([_degree(above), -lower])
        case Sum(terms=terms):
            degrees = {_degree(each) for each in terms}
            return degrees.pop() if len(degrees) == 1 else None
        case Fence(bracket="(" | "[", inside=inner) | Transpose(operand=inner) | Negative(operand=inner):
            return _degree(inner)
        case Aggregate(kind="sum", body=inner):
            return _degree(inner)
    return None if any(gradients_in(node)) else 0


def _added(degrees: list[int | None]) -> int | None:
    known = [each for each in degrees if each is not None]
    return sum(known) if len(known) == len(degrees) else None
