"""Formulas of exponentials in a form that cannot overflow: logarithms of sums, and ratios of exponentials.

Definition   logaddexp(a, b) = log(e^a + e^b) = max(a, b) + log(1 + e^-|a - b|);   expit(u) = 1 / (1 + e^-u)
Result       log(1 + e^x) -> logaddexp(0, x);   e^x / (1 + e^x) -> expit(x);   e^x / (1 + e^x)^2 -> expit(x) expit(-x);
             e^a / (e^a + e^b + e^c) -> expit(a - logaddexp(b, c)); for any other numerator, e^v / s
             -> exp(v - log s)
Assumes      the arguments of the exponentials are real

In float32 e^89 is infinite already, so that log(1 + e^x) would be infinite from there, and its slope infinity times 0.
Such a formula is equal to one of logarithms alone: a product adds them, a power multiplies them by its exponent, a sum
is a logaddexp. That holds for whatever is built from exponentials and positive numbers.
"""

from collections.abc import Iterable
from functools import reduce
from itertools import combinations_with_replacement, islice
from typing import Any

from sympy import Add, Expr, Function, Mul, Number, NumberSymbol, Pow, Symbol, cosh, exp, expand, log, sinh, tanh

__all__ = ["Expit", "LogAddExp", "without_overflow"]

MOST_CHOICES = 100  # of terms whose shares are multiplied


class LogAddExp(Function):
    """log(e^a + e^b)."""

    nargs = 2


class Expit(Function):
    """1 / (1 + e^-u)."""

    nargs = 1


def without_overflow(formula: Any, variables: Iterable[Symbol]) -> Any:
    """Return an equal formula whose logarithms and ratios of exponentials of the variables do not overflow."""
    arrays = frozenset(variables)
    return _stable(formula, arrays) if formula.has(exp, cosh) else formula


def _stable(expr: Any, arrays: frozenset[Symbol]) -> Any:
    if not (expr.args and expr.free_symbols & arrays):
        return expr
    if isinstance(expr, log):
        found = _logarithm(expr.args[0])
        if found is not None:
            return _stable(found, arrays)
    if isinstance(expr, Mul | Pow):
        found = _ratio(expr)
        if found is not None:
            return _stable(found, arrays)
    parts = [_stable(part, arrays) for part in expr.args]
    # only what has changed is built anew: SymPy would evaluate products that are written out on purpose
    return expr if all(map(lambda new, old: new is old, parts, expr.args)) else expr.func(*parts)


def _logarithm(expr: Expr) -> Expr | None:
    """Return the logarithm of an expression built from exponentials and positive numbers; None for anything else."""
    if isinstance(expr, exp):
        return expr.args[0]
    if isinstance(expr, Number | NumberSymbol):
        return log(expr) if expr.is_positive else None
    if isinstance(expr, cosh):
        # cosh(u) = (e^u + e^-u) / 2
        return LogAddExp(expr.args[0], -expr.args[0]) - log(2)
    if isinstance(expr, Pow) and expr.exp.is_Number:
        base = _logarithm(expr.base)
        return None if base is None else expr.exp * base
    if not isinstance(expr, Mul | Add):
        return None
    logarithms = [_logarithm(part) for part in expr.args]
    known = [each for each in logarithms if each is not None]
    # one part without a logarithm, such as a plain variable, leaves the whole without one
    if len(known) < len(logarithms):
        return None
    return Add(*known) if isinstance(expr, Mul) else _log_of_sum(known)


def _log_of_sum(logarithms: list[Expr]) -> Expr:
    # numbers first, and in a fixed order, so that the source of a layer is the same in every run
    return reduce(LogAddExp, sorted(logarithms, key=lambda each: (not each.is_number, each.sort_key())))


def _ratio(expr: Expr) -> Expr | None:
    """Rewrite a product of exponentials over sums of exponentials so that it cannot overflow; None for any other."""
    factors = Mul.make_args(expr)
    below = [(factor, terms) for factor in factors if (terms := _sum_below(factor)) is not None]
    if not below:
        return _hyperbolic(factors)
    above = [factor for factor in factors if isinstance(factor, exp)]
    sums = [factor for factor in factors if isinstance(factor, Add) and _is_linear_in_exponentials(factor)]
    if sums:
        others = [factor for factor in factors if factor is not sums[0]]
        # (e^a - e^b) / s is split into e^a / s - e^b / s, which are ratios by themselves
        return Add(*(Mul(term, *others) for term in sums[0].args))
    others = [factor for factor in factors if factor not in above and all(factor is not each for each, _ in below)]
    exponent = Add(*(factor.args[0] for factor in above))
    remainder, shares = exponent, []
    for factor, terms in below:
        remainder, taken = _divided(remainder, terms, -int(factor.exp))
        shares += taken
    if remainder.is_number:
        return Mul(*others, exp(remainder), *shares)
    if not above:
        return None  # 1 / (e^a + e^b) overflows to 1 / infinity = 0, as it should
    return Mul(*others, exp(exponent + Add(*(factor.exp * _log_of_sum(terms) for factor, terms in below))))


def _sum_below(factor: Expr) -> list[Expr] | None:
    """Return the logarithms of the terms of a factor such as (1 + e^u)^-2; None for any other factor."""
    if not (isinstance(factor, Pow) and factor.exp.is_Integer and factor.exp < 0 and isinstance(factor.base, Add)):
        return None
    if not factor.base.has(exp):
        return None
    logarithms = [_logarithm(term) for term in factor.base.args]
    found = [each for each in logarithms if each is not None]
    return found if len(found) == len(logarithms) else None


def _is_linear_in_exponentials(expr: Expr) -> bool:
    factors = [factor for term in expr.args for factor in Mul.make_args(term)]
    return any(isinstance(each, exp) for each in factors) and all(isinstance(each, exp | Number) for each in factors)


def _divided(exponent: Expr, terms: list[Expr], power: int) -> tuple[Expr, list[Expr]]:
    """Split e^exponent / (e^a + e^b + ...)^power into e^v, with v as simple as possible, and factors s; return v and s.

    Each s is the share of one term in the sum: e^a / (e^a + e^b + ...) = expit(a - log(e^b + ...)).
    """
    found = []
    for chosen in islice(combinations_with_replacement(range(len(terms)), power), MOST_CHOICES):
        left = expand(exponent - Add(*(terms[k] for k in chosen)))
        found.append((not left.is_number, left.count_ops(), chosen, left))
    # the choice whose remaining exponent is a number or, failing that, the shortest
    *_, chosen, left = min(found, key=lambda each: each[:3])
    return left, [Expit(expand(terms[k] - _log_of_sum(terms[:k] + terms[k + 1 :]))) for k in chosen]


def _hyperbolic(factors: tuple[Expr, ...]) -> Expr | None:
    """Rewrite sinh(u) / cosh(u) in a product as tanh(u), because both can overflow; None for any other product."""
    powers = dict(factor.as_base_exp() for factor in factors)
    for base, power in powers.items():
        below = powers.get(cosh(base.args[0])) if isinstance(base, sinh) else None
        if below is not None and below.is_Integer and power.is_Integer and below < 0 < power:
            # sinh^p / cosh^q = tanh^min(p, q) times what is left of one of them
            shared = min(power, -below)
            rest = {**powers, base: power - shared, cosh(base.args[0]): below + shared}
            return Mul(tanh(base.args[0]) ** shared, *(each**exponent for each, exponent in rest.items()))
    return None
