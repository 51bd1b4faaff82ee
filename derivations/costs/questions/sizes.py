"""The largest size for a budget of parameters: exact values of a polynomial on both sides of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

from sympy import Expr, Integer, Poly, Rational, Symbol, expand, sqrt

from derivations.architectures.composition import build
from derivations.architectures.description import Model
from derivations.costs.questions.answer import Answer, last_for_which, number, whole
from derivations.language.counting.costs import count_parameters
from derivations.symbols import size

__all__ = ["budget", "solve_size"]

budget = size("P")


def solve_size(
    model: Model,
    unknown: Symbol | str,
    *,
    parameters: int,
    relations: Mapping[Symbol, Expr] | None = None,
    multiple_of: int | None = None,
) -> Answer:
    """Return the largest value of a size with which a model has no more than the given number of parameters.

    Definition   other sizes are those of the model, or tied by `relations` such as d_ff = 4 d_model; the size is a
                 multiple of `multiple_of`, by default of the least number that makes the tied sizes whole. Figures:
                 the total reached, the next size and its total, and bounds of the real root that are 1/1000 apart;
                 each is an exact value
    Units        parameters
    Raises       ValueError for a size that the model lacks or whose count does not grow as a polynomial, a number below
                 1, and a budget below the smallest model
    """
    symbols = {symbol.name: symbol for symbol in model.values}
    if str(unknown) not in symbols:
        raise ValueError(f"{model.name} has no size {unknown}; its sizes are {', '.join(sorted(symbols))}")
    whole("parameters", parameters)
    whole("multiple_of", 1 if multiple_of is None else multiple_of)
    x, tied = symbols[str(unknown)], dict(relations or {})
    symbolic = expand(count_parameters(build(model.architecture)).xreplace(tied))
    others = {s: Integer(v) for s, v in model.values.items() if s != x}
    counted = expand(symbolic.xreplace(others))
    if not counted.is_polynomial(x) or not all(value.is_polynomial(x) for value in tied.values()):
        raise ValueError(f"{model.name}: its number of parameters, {counted}, is not a polynomial in {x}")
    total = Poly(counted, x)
    if total.degree() < 1 or any(c < 0 for c in total.all_coeffs()[:-1]):
        raise ValueError(f"{model.name}: its number of parameters, {total.as_expr()}, does not grow with {x}")
    step = multiple_of or lcm(*(_step(value.xreplace(others), x) for value in tied.values()), 1)

    def fits(value: Rational) -> bool:
        return bool(total.eval(value) <= parameters)

    if not fits(Rational(step)):
        least = total.eval(step)
        raise ValueError(f"{model.name} has {least} parameters at {x} = {step}; {parameters} are too few")
    # all coefficients but the constant are >= 0: the count grows with x, so bisection finds the exact turn
    found, thousandths = (
        step * last_for_which(lambda k: fits(Rational(step * k))),
        last_for_which(lambda k: fits(Rational(k, 1000))),
    )
    reached, following = total.eval(found), total.eval(found + step)
    figures = {
        "total": number(reached),
        "next": found + step,
        "next total": number(following),
        "root at least": Rational(thousandths, 1000),
        "root below": Rational(thousandths + 1, 1000),
    }
    multiple = f"multiple of {step}" if step > 1 else "integer"
    words = (
        f"{x} = {found} is the largest {multiple} with at most {parameters} parameters: it has {reached}, "
        f"{x} = {found + step} would have {following}"
    )
    return Answer(_root(symbolic, x), found, words, figures)


def _step(tied: Expr, x: Symbol) -> int:
    """Return the least positive integer whose multiples, substituted for x, make the polynomial `tied` whole."""
    return lcm(*(int(Rational(c).q) for c in Poly(tied, x).all_coeffs())) if tied.has(x) else 1


def _root(total: Expr, x: Symbol) -> Expr | None:
    """Return the positive root of total = P for a total of degree 1 or 2 in x, as a closed form in the other sizes."""
    coefficients = Poly(total, x).all_coeffs()
    if len(coefficients) == 2:
        a, b = coefficients
        return (budget - b) / a
    if len(coefficients) == 3:
        a, b, c = coefficients
        return (sqrt(b**2 + 4 * a * (budget - c)) - b) / (2 * a)
    return None
