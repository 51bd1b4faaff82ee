"""Suprema of functions of one real variable.

upper        f <= c on a bounded part of the domain, split into pieces on each of which an interval encloses f;
             on the rest, t >= b, f <= h by a certificate, and an interval encloses h over all t >= b
lower        f(t) >= c at one point t of the domain
even         an even function over all real numbers is bounded for t >= 0 only
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath import inf, iv
from sympy import Abs, Expr, Rational, Symbol, oo

from derivations.language.arrays.binding import replace_free
from derivations.language.judge.certificates import nonnegative
from derivations.language.judge.enclosure import enclose, interval, number, tight
from derivations.language.judge.evaluate import NotEvaluable
from derivations.language.judge.goal import Goal
from derivations.language.judge.normal_form.context import Condition
from derivations.language.judge.normal_form.reading import read, symbol_atom
from derivations.language.results.statements import Supremum

__all__ = ["TACTICS", "by_supremum"]

_PIECES = 20_000


def by_supremum(goal: Goal) -> str | None:
    """Prove sup f <= c by interval enclosures and a majorant, or sup f >= c by a point of the domain."""
    supremum, bound = goal.previous, goal.step.expression
    if not isinstance(supremum, Supremum) or goal.step.relation not in ("<=", ">="):
        return "this rule states that a supremum is <= or >= a number"
    variable = supremum.variable
    # a positive t would shrink the domain without the statement saying so
    if symbol_atom(variable)[2] != "real":
        return f"{variable} must be declared real and nothing more"
    if goal.speaks_of(variable):
        return f"{variable} must be free, but an assumption or a definition mentions it"
    try:
        value = number(bound)
        if goal.step.relation == ">=":
            return _reached(supremum, value, goal)
        return _never_exceeded(supremum, value, goal)
    except NotEvaluable as error:
        return str(error)


def _reached(supremum: Supremum, value: Any, goal: Goal) -> str | None:
    if len(goal.step.certificate) != 1 or not isinstance(goal.step.certificate[0], Rational):
        return "a lower bound of a supremum takes one rational place of the domain"
    (place,) = goal.step.certificate
    if not supremum.low <= place <= supremum.high:
        return f"{place} lies outside the domain"
    found = number(replace_free(supremum.formula, {supremum.variable: place}))
    return None if found >= value else f"at {place} the function is {found}, not proved to be >= the bound"


def _never_exceeded(supremum: Supremum, value: Any, goal: Goal) -> str | None:
    f, t, low, high = supremum.formula, supremum.variable, supremum.low, supremum.high
    if low == -oo and high == oo:
        if not goal.equal(replace_free(f, {t: -t}), f):
            return f"over all real numbers the function must be even, and {f} is not proved to be"
        missing = goal.uncovered()  # before facts about t are added: evenness is a statement for all t
        if missing:
            return missing
        # f(-t) = f(t): what holds for t >= 0 holds for all t
        low = Rational(0)
    last = high
    if high == oo:
        if len(goal.step.certificate) < 2 or not isinstance(goal.step.certificate[0], Rational):
            return "a domain without end takes a rational b and a majorant h for t >= b, and the forms of h - f"
        last = goal.step.certificate[0]
        missing = _beyond(f, t, value, goal)
        if missing:
            return missing
    if not (isinstance(low, Rational) and isinstance(last, Rational) and low <= last):
        return f"the ends of the domain must be rational or infinite, not {low} and {last}"
    return _within(f, t, _fraction(low), _fraction(last), value)


def _sides(f: Expr) -> list[Expr]:
    """Return functions whose common upper bounds are those of f: c |g| <= h when c g <= h and -c g <= h."""
    number_part, rest = f.as_coeff_Mul()
    if isinstance(rest, Abs) and number_part > 0:
        return [number_part * rest.args[0], -number_part * rest.args[0]]
    return [f]


def _within(f: Expr, t: Symbol, low: Fraction, high: Fraction, value: Any) -> str | None:
    """Bisect until an interval around f is below the bound on every piece."""
    (side, *other), pieces = _sides(f), [(low, high)]
    for _ in range(_PIECES):
        if not pieces:
            return None
        a, b = pieces.pop()
        found, point = tight(side, t, a, b)
        if found <= value and (not other or -found <= value):
            continue
        middle = (a + b) / 2
        if point > value or (other and -point > value):
            return f"at {t} = {middle} the function is {point}, which exceeds the bound"
        pieces += [(a, middle), (middle, b)]
    return f"the function is not enclosed below the bound by {_PIECES} pieces"


def _beyond(f: Expr, t: Symbol, value: Any, goal: Goal) -> str | None:
    """Prove f <= h for all t >= b by forms that show the sign of h - f, and h <= c by one interval."""
    b, majorant, *forms = goal.step.certificate
    # from here on t stands for the numbers t >= b only
    beyond = Condition("nonnegative", read(t - b, goal.context))
    goal.context.facts += [beyond, *([Condition("positive", read(t, goal.context))] if b > 0 else [])]
    goal.value(majorant)
    for side in _sides(f):
        goal.value(side)  # the side on its own: an undefined part may cancel in a difference
        form = next((form for form in forms if goal.equal(majorant - side, form)), None)
        if form is None:
            return f"no certificate is proved to equal {majorant - side}"
        if not nonnegative(form, goal.inequalities):
            return f"the form of {form} does not show its sign"
    found = enclose(majorant, t, iv.mpf([interval(_fraction(b), _fraction(b)).a, inf])).value
    return None if found <= value else f"for {t} >= {b} the majorant lies in {found}, not proved to be below the bound"


def _fraction(value: Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))


TACTICS = {"supremum": by_supremum}
