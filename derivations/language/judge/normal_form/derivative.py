"""Derivatives in the normal form: one rule for each kind of atom, the product rule for monomials.

x_j by x_k        delta_jk                      exp(m)       exp(m) m'
sum_j f_j         sum_j f_j'                    p^r          r p^(r-1) p'
log p             p' / p                        erf p        2 exp(-p^2) p' / sqrt(pi)
tanh p            (1 - tanh(p)^2) p'            relu p       [p > 0] p', off p = 0
f(p, q)           f_1(p, q) p' + f_2(p, q) q'   [p > 0]      0, off p = 0

A derivative depends on the function in a neighbourhood of a point. Before it is taken, an assumption about the variable
may be used only if it also holds nearby: p > 0 and p != 0 for a continuous p, never p >= 0 or p = 0.
The conditions under which the function is defined must hold nearby as well: a root needs p > 0.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from derivations.language.judge.normal_form.algebra import collect, exponential, multiply, power, require, unit_step
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.integers import difference_indicator
from derivations.language.judge.normal_form.signs import is_nonnegative
from derivations.language.judge.normal_form.sums import close, open_sum, settle, times
from derivations.language.judge.normal_form.terms import (
    ONE,
    ZERO,
    Atom,
    Poly,
    add,
    constant,
    monomial,
    negate,
    scale,
    single,
    subtract,
    walk,
)
from derivations.language.judge.normal_form.writing import TOTAL

__all__ = ["around", "derivative"]

_OPEN = ("positive", "nonzero")
_JUMPS = ("step", "ge", "delta", "true")


@contextmanager
def around(variables: list[Atom], context: Context) -> Iterator[None]:
    """Inside the block, use only facts that hold in a neighbourhood of a point.

    The conditions under which the function is defined are recorded so that they hold nearby as well.
    """

    def nearby(kind: str, of: Poly) -> bool:
        # [x > 0] > 0 holds at x = 1 but jumps at 0; for a continuous p the set p > 0 is open
        continuous = not any(_moves(atom) for atom in walk(of) if atom[0] in _JUMPS)
        return not _moves(of) or (kind in _OPEN and continuous)

    def _moves(part: tuple[Any, ...]) -> bool:
        return any(_may_depend(part, variable) for variable in variables)

    with context.supposing(nearby) as conditions:
        yield
    for condition in conditions:
        # p >= 0 may hold at this point and fail beside it; p > 0 holds in a neighbourhood
        edge = condition.kind == "nonnegative" and _moves(condition.of)
        context.keep("positive" if edge else condition.kind, condition.of)


def derivative(p: Poly, variable: Atom, context: Context) -> Poly:
    """Return the derivative of p with respect to a scalar symbol or an entry of an array."""
    terms: list[Poly] = []
    for mono, c in p:
        for atom, exponent in mono:
            inner = _of_atom(atom, variable, context)
            if inner == ZERO:
                continue
            if not isinstance(exponent, int) and atom[0] not in ("exp", "prime", "pi"):
                base = atom[1] if atom[0] == "poly" else single(atom)
                if exponent < 1 or not is_nonnegative(base, context):
                    require("positive", base, context)  # at 0 the slope is infinite, or one side is undefined
            # The product rule with (a^e)' = e a^(e - 1) a'; exp(2 m) is (exp m)^2, so this covers exponentials too.
            rest = collect({**dict(mono), atom: exponent - 1}, c * exponent, context)
            terms.append(times(rest, inner, context))
    return settle(add(*terms), context)


def _of_atom(atom: Atom, variable: Atom, context: Context) -> Poly:
    """Return the derivative of one atom to the power 1."""
    kind = atom[0]
    if atom == variable:
        return ONE
    if not _may_depend(atom, variable):
        return ZERO
    if kind == "x":
        if atom[:2] != variable[:2] or any(_may_depend(inner, variable) for inner in walk(atom[2]) if inner[0] == "x"):
            raise Undecided("the derivative by an entry that numbers the entries of an array")
        result = ONE
        for own, other in zip(atom[2], variable[2], strict=True):
            result = multiply(result, difference_indicator(subtract(own, other), context), context)
        return result
    if kind == "sum":
        if _may_depend(atom[1], variable):
            raise Undecided("the derivative by a variable on which the range of a sum depends")
        # a finite sum may be differentiated term by term
        body, indices = open_sum(atom, context)
        return close(derivative(body, variable, context), indices, context)
    if kind == "exp":
        return times(single(atom), derivative(monomial(atom[1]), variable, context), context)
    if kind == "ipow":
        return _of_power(atom, variable, context)
    if kind == "fun":
        return _of_function(atom, variable, context)
    if kind == "step":
        require("nonzero", atom[1], context)  # off the jump
        return ZERO
    outer_rule = _OUTER.get(kind)
    if outer_rule is None:
        raise Undecided(f"the derivative of a term of kind {kind}")
    if kind == "relu":
        require("nonzero", atom[1], context)  # off the kink
    return times(outer_rule(atom, context), derivative(atom[1], variable, context), context)


def _of_power(atom: Atom, variable: Atom, context: Context) -> Poly:
    """Return the derivative of b^m for an integer m: m b^(m - 1) b'."""
    _, base, exponent = atom
    if _may_depend(exponent, variable) or base[0] == "minus":
        raise Undecided("the derivative by a variable on which an integer exponent depends")
    value = base[1] if base[0] == "poly" else single(base)
    # b^m / b hides the value that b^(m - 1) has at b = 0: a step that may argue by continuity needs no condition
    with context.generically():
        less = power(value, -1, context)
    return times(
        times(monomial(exponent), single(atom), context),
        times(less, derivative(value, variable, context), context),
        context,
    )


def _of_function(atom: Atom, variable: Atom, context: Context) -> Poly:
    """Return the derivative of f(p, q): f_1(p, q) p' + f_2(p, q) q'."""
    _, name, order, places = atom
    terms = []
    for number, place in enumerate(places):
        inner = derivative(place, variable, context)
        if inner == ZERO:
            continue
        if name in context.inverses:
            raise Undecided(f"the derivative of the permutation {name}")
        if name.startswith(TOTAL):
            raise Undecided(f"the derivative of {name.removeprefix(TOTAL)}")
        raised = order + 1 if len(places) == 1 else (*order[:number], order[number] + 1, *order[number + 1 :])
        terms.append(times(single(("fun", name, raised, places)), inner, context))
    return add(*terms)


def _may_depend(part: tuple[Any, ...], variable: Atom) -> bool:
    return any(inner[:2] == variable[:2] for inner in walk(part) if inner[0] == variable[0])


_HALF = Fraction(1, 2)
_OUTER: dict[str, Callable[[Atom, Context], Poly]] = {
    "poly": lambda atom, context: ONE,
    "log": lambda atom, context: power(atom[1], -1, context),
    "erf": lambda atom, context: multiply(
        scale(single(("pi",), -_HALF), 2), exponential(negate(multiply(atom[1], atom[1], context)), context), context
    ),
    "tanh": lambda atom, context: subtract(constant(1), single(atom, 2)),
    "relu": lambda atom, context: unit_step(atom[1], context),
}
