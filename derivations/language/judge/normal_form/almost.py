"""Continuity: a law that holds almost everywhere holds everywhere, when both sides are continuous.

Law          two functions of real variables that are continuous on a set, and equal on a dense part of it, are equal
Dense        an open set, or a box with an interior, without the zeros of a polynomial in variables and exponentials
             of them that is not the polynomial 0: such zeros fill no open set
Continuous   sums, products, powers with an exponent free of the variables, exp, log, sin, cos, tanh, erf, max, min
             and absolute values, wherever they are defined; the derivative of a smooth function

The variables are real scalar symbols. The conditions under which the sides are defined are kept as side conditions,
which are settled without this law.
"""

from collections.abc import Iterable

import sympy
from sympy import Basic, Derivative, Ge, Gt, Le, Lt, Ne, Product, Sum, Symbol

from derivations.language.judge.normal_form.terms import Atom, Poly, walk

__all__ = ["extends_everywhere", "variables_of"]

_SMOOTH = (sympy.Add, sympy.Mul, sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.tanh, sympy.erf)
_KINKED = (sympy.Max, sympy.Min, sympy.Abs)


def variables_of(polys: Iterable[Poly]) -> frozenset[Atom] | None:
    """Return the variables of some polynomials, or None if the zeros of one of them may fill an open set.

    A polynomial in the number e alone has no variables and is not 0, because e is transcendental.
    """
    found: set[Atom] = set()
    for p in polys:
        own = walk(p)
        variables = {atom for atom in own if atom[0] == "sym"}
        # an integer variable runs through no open set
        real = all(atom[2] in ("real", "positive", "nonnegative") for atom in variables)
        inside = [mono for atom in own if atom[0] == "exp" for mono in (atom[1],)]
        whole = all(isinstance(e, int) for mono, _ in p for _, e in mono)
        plain = all(atom[0] in ("sym", "exp") for atom in own) and all(
            atom[0] == "sym" and isinstance(e, int) and e > 0 for mono in inside for atom, e in mono
        )
        number = not variables and own == {("exp", ())}  # a polynomial in e, which is transcendental
        if not (p and (variables or number) and real and whole and plain):
            return None
        found |= variables
    return frozenset(found)


def extends_everywhere(
    sides: Iterable[Basic], variables: frozenset[Symbol], statements: Iterable[Basic], others: Iterable[Basic]
) -> bool:
    """Return whether an equality that holds for almost all values of the variables extends to all values.

    `statements` are the assumptions. `others` are expressions in which the variables must not occur.
    """
    if any(part.free_symbols & variables for part in others):
        return False
    limits: dict[Symbol, list[tuple[type, Basic]]] = {}
    for statement in statements:
        if not statement.free_symbols & variables:
            continue
        if isinstance(statement, (Gt, Lt, Ne)):  # between continuous sides, these hold on an open set
            if not all(_continuous(side, variables, False) for side in statement.args):
                return False
            continue
        left, right = statement.args
        if not isinstance(statement, (Ge, Le)) or not isinstance(left, Symbol) or not right.is_Rational:
            return False
        limits.setdefault(left, []).append((type(statement), right))
    for symbol, own in limits.items():
        lows = [value for kind, value in own if kind is Ge] + ([sympy.Integer(0)] if symbol.is_nonnegative else [])
        highs = [value for kind, value in own if kind is Le]
        if any(low >= high for low in lows for high in highs):
            return False  # a box without an interior: the zeros may fill it
    return all(_continuous(side, variables, False) for side in sides)


def _continuous(expression: Basic, variables: frozenset[Symbol], smooth: bool) -> bool:
    if not expression.free_symbols & variables or isinstance(expression, Symbol):
        return True
    if isinstance(expression, sympy.Pow):
        base, exponent = expression.args
        plain = exponent.is_integer or (exponent.is_Rational and not smooth)  # sqrt(x) is not smooth at 0
        return bool(plain) and not exponent.free_symbols & variables and _continuous(base, variables, smooth)
    if isinstance(expression, (Sum, Product)):
        inside = not any(end.free_symbols & variables for limit in expression.limits for end in limit)
        return inside and _continuous(expression.function, variables, smooth)
    if isinstance(expression, Derivative):
        return _continuous(expression.expr, variables, True)
    allowed = _SMOOTH if smooth else (*_SMOOTH, *_KINKED)
    return isinstance(expression, allowed) and all(_continuous(part, variables, smooth) for part in expression.args)
