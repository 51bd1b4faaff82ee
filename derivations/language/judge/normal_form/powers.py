"""Powers with a symbolic integer exponent: b^n.

positive     b^e = exp(e log b) for b > 0, and exp(z)^e = exp(e z)
factors      (c a^k p)^e = c^e a^(k e) p^e
exponent     b^(e + c) = b^e b^c for a number c; b must not be 0 if an exponent may be negative or c < 0
sign         (-1)^(2 e) = 1
zero         0^e = [e = 0] for e >= 0

An atom ("ipow", b, m) to the power c is b^(c m), for an atom b, or ("minus",) for -1, and an integer c.
"""

from fractions import Fraction

from derivations.language.judge.normal_form.algebra import (
    collect,
    exponential,
    factored,
    logarithm,
    multiply,
    power,
    require,
)
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.integers import always_nonnegative, difference_indicator
from derivations.language.judge.normal_form.signs import is_positive
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Number,
    Poly,
    constant,
    constant_value,
    monomial,
    scale,
    single,
)

__all__ = ["MINUS", "integer_power"]

MINUS: Atom = ("minus",)


def integer_power(base: Poly, exponent: Poly, context: Context) -> Poly:
    """Return base^exponent for an integer exponent."""
    number = constant_value(exponent)
    if isinstance(number, int):
        return power(base, number, context)
    if not base:
        if not always_nonnegative(exponent, context):
            context.keep("nonnegative", exponent)
        # 0^0 = 1, the empty product, and 0^e = 0 for e > 0
        return difference_indicator(exponent, context)
    if is_positive(base, context):
        return exponential(multiply(exponent, logarithm(base, context), context), context)
    coefficient, mono, rest = (base[0][1], base[0][0], ONE) if len(base) == 1 else factored(base, context)
    result = _of_number(coefficient, exponent, context)
    for atom, e in mono:
        result = multiply(result, _of_atom(atom, scale(exponent, e), context), context)
    if rest != ONE:
        result = multiply(result, _of_atom(("poly", rest), exponent, context), context)
    return result


def _of_number(coefficient: Number, exponent: Poly, context: Context) -> Poly:
    size = exponential(
        multiply(exponent, logarithm(constant(max(coefficient, -coefficient)), context), context), context
    )
    # (-c)^n = (-1)^n c^n
    return multiply(size, _raised(MINUS, exponent, context), context) if coefficient < 0 else size


def _of_atom(atom: Atom, exponent: Poly, context: Context) -> Poly:
    if atom[0] == "exp":
        return exponential(multiply(monomial(atom[1]), exponent, context), context)
    base = atom[1] if atom[0] == "poly" else single(atom)
    if is_positive(base, context):
        return exponential(multiply(exponent, logarithm(base, context), context), context)
    # b^(n + 1) = b^n b for every b, but b^(n - 1) = b^n / b only for b != 0.
    if not all(c > 0 and always_nonnegative(monomial(mono), context) for mono, c in exponent):
        if always_nonnegative(exponent, context):
            with context.generically():  # both sides of such a law are continuous in the base, also where it is 0
                require("nonzero", base, context)
        else:
            require("nonzero", base, context)
    return _raised(atom, exponent, context)


def _raised(atom: Atom, exponent: Poly, context: Context) -> Poly:
    exponents: dict[Atom, Number] = {}
    sign = 1
    for mono, c in exponent:
        if Fraction(c).denominator != 1:
            # n (n + 1) / 2 is an integer, but its two terms alone give roots of b
            raise Undecided("a power whose exponent has a fraction in it")
        if mono:
            exponents[("ipow", atom, mono)] = int(c)
        elif atom == MINUS:
            sign = -1 if int(c) % 2 else 1
        else:
            exponents[atom] = exponents.get(atom, 0) + int(c)
    return collect(exponents, sign, context)
