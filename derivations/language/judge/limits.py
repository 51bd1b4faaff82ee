"""Limits at infinity of a positive variable g: the laws of limits, and squeezing between two bounds.

constant     an expression free of g is its own limit
power        g^-a -> 0 for a > 0
exponential  exp(-c g^a) -> 0 for a, c > 0, also times a power of g; exp(c g^-a) -> 1
dominance    p^r = d^r (p/d)^r and log p = log d + log(p/d), where d is the growing factor of a term of p
laws         the limit of a sum, a product, a power, a sum over an index, log, erf, tanh, max(0, .) is taken part by
             part, if every part has a limit and the value is defined there: a denominator must not tend to 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Limit, Symbol, oo

from derivations.language.judge.certificates import nonnegative
from derivations.language.judge.goal import Goal
from derivations.language.judge.normal_form.algebra import (
    exponential,
    logarithm,
    multiply,
    odd_function,
    positive_part,
    power,
    product,
)
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.reading import symbol_atom
from derivations.language.judge.normal_form.signs import is_positive
from derivations.language.judge.normal_form.sums import close, open_sum, settle
from derivations.language.judge.normal_form.terms import (
    ONE,
    ZERO,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    contains,
    monomial,
    negate,
    scale,
    single,
    subtract,
)
from derivations.language.judge.normal_form.writing import write
from derivations.language.judge.normal_form.zero import vanishes

__all__ = ["TACTICS", "by_limit_laws", "by_squeeze"]


def by_limit_laws(goal: Goal) -> str | None:
    """Prove that a function tends to a value by the limit laws, part by part."""
    found = _limit_at_infinity(goal)
    if isinstance(found, str):
        return found
    f, variable = found
    return _not_its_limit(f, goal.step.expression, variable, goal)


def by_squeeze(goal: Goal) -> str | None:
    """Prove a limit by squeezing: lower <= f <= upper for all values, and both bounds tend to the limit."""
    found = _limit_at_infinity(goal)
    if isinstance(found, str):
        return found
    if len(goal.step.certificate) != 4:
        return "a squeeze takes four expressions: lower, upper, f - lower, upper - f"
    f, variable = found
    lower, upper, above, below = goal.step.certificate
    goal.require_real(f, *goal.step.certificate)
    goal.value(f)  # f on its own: an undefined part may cancel in a difference
    for bound, difference, certificate in ((lower, f - lower, above), (upper, upper - f, below)):
        if not goal.equal(difference, certificate):
            return "a certificate is not proved to equal the difference that it certifies"
        if not nonnegative(certificate, goal.inequalities):
            return f"the form of {certificate} does not show its sign"
        missing = _not_its_limit(bound, goal.step.expression, variable, goal)
        if missing:
            return missing
    return None


def _limit_at_infinity(goal: Goal) -> tuple[Any, Symbol] | str:
    """Return the function and the variable of the limit in a step, or a message about its form."""
    limit = goal.previous
    if not isinstance(limit, Limit) or limit.args[2] != oo or goal.step.relation != "=":
        return f"the rule {goal.rule.name} proves the value of a limit at infinity"
    f, variable = limit.args[:2]
    # powers and logarithms of g are then defined all the way to infinity
    if not isinstance(variable, Symbol) or symbol_atom(variable)[2] != "positive":
        return f"{variable} must be declared positive"
    # under an assumption such as g < 5 the limit is about no value of g
    if goal.speaks_of(variable):
        return f"an assumption mentions {variable}, which tends to infinity"
    # in the normal form, where g - g is gone
    if contains(goal.value(goal.step.expression), symbol_atom(variable)):
        return f"the limit depends on {variable}"
    return f, variable


def _not_its_limit(f: Any, limit: Any, variable: Symbol, goal: Goal) -> str | None:
    value = _limit(goal.value(f), symbol_atom(variable), goal)
    same = vanishes(subtract(value, goal.value(limit)), goal.context)
    return None if same else f"{f} tends to {write(value)}, which is not proved to be {limit}"


def _limit(p: Poly, variable: Atom, goal: Goal) -> Poly:
    """Return the limit of a polynomial; raises `Undecided` if no law applies."""
    terms = _by_dominance(p, variable, goal)
    return settle(add(*(_limit_of_term(mono, c, variable, goal) for mono, c in terms)), goal.context)


def _by_dominance(p: Poly, variable: Atom, goal: Goal) -> Poly:
    """Return p with the growing factor of every sum under a power or a logarithm moved outside."""
    terms = []
    for mono, c in p:
        factors = (_with_dominant(atom, e, variable, goal) for atom, e in mono)
        terms.append(product(monomial((), c), *factors, context=goal.context))
    return add(*terms)


def _with_dominant(atom: Atom, exponent: Number, variable: Atom, goal: Goal) -> Poly:
    kind = atom[0]
    if kind not in ("poly", "log") or not contains(atom, variable) or (kind == "log" and exponent != 1):
        return single(atom, exponent)
    factor, rest = _dominant(_by_dominance(atom[1], variable, goal), variable, goal)
    if kind == "log":
        logarithms = (monomial(a[1], e) if a[0] == "exp" else scale(single(("log", single(a))), e) for a, e in factor)
        return add(*logarithms, single(("log", rest)))
    return monomial((*((a, e * exponent) for a, e in factor), (("poly", rest), exponent)))


def _dominant(p: Poly, variable: Atom, goal: Goal) -> tuple[Mono, Poly]:
    """Return (d, p/d) for the growing factors d of the first term for which p/d has a nonzero limit."""
    for mono, _ in p:
        growing = tuple((a, e) for a, e in mono if _grows(a, e, variable, goal))
        rest = multiply(p, monomial(tuple((a, -e) for a, e in growing)), goal.context)
        try:
            if growing and _limit(rest, variable, goal) != ZERO:
                return growing, rest
        except Undecided:
            continue
    return (), p


def _grows(atom: Atom, exponent: Number, variable: Atom, goal: Goal) -> bool:
    if atom == variable:
        return exponent > 0
    return atom[0] == "exp" and _degree(atom, exponent, variable, goal) == 1


def _limit_of_term(mono: Mono, coefficient: Number, variable: Atom, goal: Goal) -> Poly:
    fixed = tuple(pair for pair in mono if not contains(pair[0], variable))
    growth = dict(mono).get(variable, 0)
    moving = [(atom, e) for atom, e in mono if contains(atom, variable) and atom != variable]
    factors = [_limit_of_factor(atom, e, variable, goal) for atom, e in moving]
    # g^a times a factor that tends to 0 has no limit by these laws, unless the factor is exponential
    decays = any(atom[0] == "exp" and f == ZERO for (atom, _), f in zip(moving, factors, strict=True))
    if growth > 0 and not decays:
        raise Undecided(f"no law gives the limit of {write(monomial(mono, coefficient))}")
    if growth:
        return ZERO  # g^-a -> 0, and exp(-c g^b) decays faster than any power of g grows
    return product(monomial(fixed, coefficient), *factors, context=goal.context)


def _limit_of_factor(atom: Atom, exponent: Number, variable: Atom, goal: Goal) -> Poly:
    """Return the limit of a power of an atom that holds the variable."""
    kind, context = atom[0], goal.context
    if kind == "exp":
        return _limit_of_exponential(atom, exponent, variable, goal)
    if kind == "poly":
        # `power` keeps the condition that the limit of a denominator is not 0
        return power(_limit(atom[1], variable, goal), exponent, context)
    # finitely many terms, as many for every g
    if kind == "sum" and not contains(atom[1], variable):
        body, indices = open_sum(atom, context)
        return power(close(_limit(body, variable, goal), indices, context), exponent, context)
    # f(p) -> f(lim p) for a continuous f
    continuous = _CONTINUOUS.get(kind)
    if continuous is None:
        raise Undecided(f"no law gives the limit of {write(single(atom, exponent))}")
    return power(continuous(_limit(atom[1], variable, goal), context), exponent, context)


def _limit_of_exponential(atom: Atom, exponent: Number, variable: Atom, goal: Goal) -> Poly:
    degree = _degree(atom, exponent, variable, goal)
    if degree == 0:
        return ONE
    if degree == -1:
        return ZERO
    if degree is None and variable not in dict(atom[1]):
        return exponential(_limit(monomial(atom[1], exponent), variable, goal), goal.context)
    raise Undecided(f"no law gives the limit of {write(single(atom, exponent))}")


def _degree(atom: Atom, exponent: Number, variable: Atom, goal: Goal) -> int | None:
    """Return 1 if exp(m)^e grows without bound, 0 if it tends to 1, -1 if it tends to 0, None if undecided."""
    powers = dict(atom[1])
    degree = powers.pop(variable, 0)
    factor = monomial(tuple(powers.items()), exponent)
    # exp(c g^a) with c free of g only
    if degree == 0 or contains(tuple(powers), variable):
        return None
    if degree < 0:
        return 0
    return 1 if is_positive(factor, goal.context) else -1 if is_positive(negate(factor), goal.context) else None


_CONTINUOUS: dict[str, Callable[[Poly, Context], Poly]] = {
    "log": logarithm,
    "erf": lambda p, context: odd_function("erf", p),
    "tanh": lambda p, context: odd_function("tanh", p),
    "relu": positive_part,
}


TACTICS = {"squeeze": by_squeeze, "limit": by_limit_laws}
