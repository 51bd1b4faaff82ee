"""Elimination: equations solved for one unknown after another by inverse functions.

The root for an unknown is substituted into all other relations. The conditions of the inverse (an argument of log > 0,
a nonzero divisor, the declaration of the unknown) become relations too. So every solution of the remaining relations
gives a solution of all relations. The converse holds where every root is the only one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sympy import Abs, Expr, Integer, Max, Mod, Pow, Rational, Symbol, acos, asin, cos, exp, expand, log, sin, tanh

from derivations.language.arrays.internal import Internal
from derivations.language.judge.constraints import Constraint, holds

__all__ = ["Replaced", "isolated", "systems"]

_LARGEST = 300  # operations in the root that replaces an unknown
Replaced = list[tuple[Symbol, Expr]]  # unknowns that equations were solved for, and their roots


def systems(constraints: list[Constraint]) -> Iterator[tuple[list[Constraint], Replaced]]:
    """Yield the remaining relations and the roots: first with single-root equations solved, then with the others."""
    equal = {c.gap for c in constraints if c.kind == "="}
    if any(c.kind in (">", "!=") and (c.gap in equal or -c.gap in equal) for c in constraints):
        return  # gap = 0 contradicts gap > 0 and gap != 0
    found = _eliminated(constraints, [], several=False)
    if found is not None:
        yield found
        if any(c.kind == "=" for c in found[0]):
            further = _eliminated(*found, several=True)
            yield from () if further is None else (further,)


def _eliminated(
    constraints: list[Constraint], replaced: Replaced, *, several: bool
) -> tuple[list[Constraint], Replaced] | None:
    """Return the remaining relations and the roots after solving equations, or None if a relation of numbers fails."""
    while True:
        if not all(holds(c, c.gap) for c in constraints if not c.gap.free_symbols):
            return None
        constraints = [c for c in constraints if c.gap.free_symbols]
        equations = [c for c in constraints if c.kind == "="]
        # short equations first, so that the roots put into the others stay short
        equations.sort(key=lambda c: (len(c.gap.free_symbols), len(c.gap.args)))
        for equation in equations:
            found = _solved(equation.gap, several=several)
            if found is not None:
                break
        else:
            return constraints, replaced
        unknown, root = found
        put = {unknown: root.value}
        replaced = [*replaced, (unknown, root.value)]
        constraints = [_put(c, put) for c in (*constraints, *root.conditions) if c is not equation]
        # the root must have the declared properties of the unknown that it replaces
        constraints.append(Constraint("declared", root.value, unknown))


def _put(constraint: Constraint, put: dict[Symbol, Expr]) -> Constraint:
    gap = constraint.gap.xreplace(put)
    if gap is constraint.gap or gap == constraint.gap:
        return constraint
    return constraint._replace(gap=expand(gap) if constraint.kind == "=" else gap)


class Root(NamedTuple):
    """A root: the value of an unknown, the conditions for it, and whether it is the only root."""

    value: Expr
    conditions: tuple[Constraint, ...] = ()
    only: bool = True


def _solved(gap: Expr, *, several: bool) -> tuple[Symbol, Root] | None:
    """Return the unknown that is easiest to isolate in gap = 0, with its root."""
    best: tuple[Any, Symbol, Root] | None = None
    for unknown in sorted(gap.free_symbols, key=str):
        root = isolated(gap, unknown)
        if root is None or not (root.only or several) or root.value.count_ops() > _LARGEST:
            continue
        parts = [*root.value.atoms(Rational), *(power.exp for power in root.value.atoms(Pow))]
        whole = unknown.is_integer and not all(symbol.is_integer for symbol in root.value.free_symbols)
        fraction = unknown.is_integer and any(c.is_Rational and (c.q != 1 or c < 0) for c in parts)
        # Prefer roots that are integers for integer unknowns, then roots with few conditions.
        rank = (bool(whole), bool(fraction), len(root.conditions))
        if best is None or rank < best[0]:
            best = (rank, unknown, root)
            if rank == (False, False, 0):
                break
    return None if best is None else best[1:]


def isolated(gap: Expr, unknown: Symbol) -> Root | None:
    """Return a root of gap = 0 in an unknown, if one is found."""
    # gap = rest + factor * part, so part = -rest / factor
    rest, part = gap.as_independent(unknown, as_Add=True)
    if part.is_Add:
        return _by_degree(gap, unknown)
    factor, part = part.as_independent(unknown, as_Add=False)
    divides = () if factor.is_number else (Constraint("!=", factor),)
    value = -rest / factor
    if part == unknown:
        return Root(value, divides, not divides)
    inner = next((each for each in part.args if each.has(unknown)), None)
    outer = None if inner is None else _inverse(part, inner, value)
    if outer is None:
        return _by_degree(gap, unknown)
    root = isolated(inner - outer.value, unknown)
    if root is None:
        return None
    only = root.only and outer.only and not divides
    return Root(root.value, (*divides, *outer.conditions, *root.conditions), only)


def _by_degree(gap: Expr, unknown: Symbol) -> Root | None:
    """Return a root of an equation that is linear or quadratic in the unknown."""
    if not gap.is_polynomial(unknown):
        return None
    slope = expand(gap.diff(unknown))
    bend = expand(slope.diff(unknown)) / 2
    # of degree three or more
    if bend.has(unknown):
        return None
    zero = {unknown: Integer(0)}
    rest, first = gap.xreplace(zero), slope.xreplace(zero)
    if bend == 0:
        return Root(-rest / first, (Constraint("!=", first),), bool(first.is_number))
    inside = expand(first**2 - 4 * bend * rest)  # the discriminant of bend x^2 + first x + rest
    value = (inside ** Rational(1, 2) - first) / (2 * bend)
    return Root(value, (Constraint("!=", bend), Constraint(">=", inside)), only=False)


def _inverse(part: Expr, inner: Expr, y: Expr) -> Root | None:
    """Return the argument of a function at which the function equals y."""
    if part.is_Pow and inner is part.base and part.exp.is_Rational:
        # x^2 = y has the root sqrt(y) for y >= 0, x^-2 = y for y > 0, x^-1 = y for y != 0
        kind = "!=" if part.exp == -1 else ">" if part.exp < 0 else ">="
        return Root(y ** (1 / part.exp), (Constraint(kind, y),), part.exp == -1 or not part.exp.is_Integer)
    if isinstance(part, exp):
        return Root(log(y), (Constraint(">", y),))
    if isinstance(part, log):
        return Root(exp(y))
    if isinstance(part, tanh):  # artanh(y) = log((1 + y) / (1 - y)) / 2 for -1 < y < 1
        return Root(log((1 + y) / (1 - y)) / 2, (Constraint(">", 1 - y), Constraint(">", 1 + y)))
    if isinstance(part, sin | cos):
        turned = (asin if isinstance(part, sin) else acos)(y)
        return Root(turned, (Constraint(">=", 1 - y), Constraint(">=", 1 + y)), only=False)
    if isinstance(part, Abs):
        return Root(y, (Constraint(">=", y),), only=False)
    if isinstance(part, Max):
        return Root(y, tuple(Constraint(">=", y - each) for each in part.args if each is not inner), only=False)
    if isinstance(part, Mod) and part.args[1].is_Integer:  # x mod m = y for x = m k + y, 0 <= y < m
        times = Internal(f"quotient {part}", integer=True, nonnegative=True)
        return Root(part.args[1] * times + y, (Constraint(">=", y), Constraint(">", part.args[1] - y)))
    return None
