"""The rules of the normal form for products, powers and functions of polynomials, one function each.

exp          exp(a + b) = exp(a) exp(b); exp(c log p) = p^c
log          log of a product is the sum of the logs of its positive factors and of its even powers; log(exp(m)) = m
power        (c a^e b^f)^r = c^r a^(er) b^(fr); a side condition is kept when r is negative or not an integer
relu         relu(c p) = c relu(p) for a factor c > 0; relu(-p) = relu(p) - p; relu(p)^2 = p relu(p)
step         [c p > 0] = [p > 0] for a factor c > 0
indicator    [c]^2 = [c]
I            I^2 = -1; cos and sin are written with exp(I x)
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import floor

from derivations.language.judge.normal_form.context import Condition, Context, Undecided
from derivations.language.judge.normal_form.signs import (
    is_nonnegative,
    is_nonzero,
    is_positive,
    is_real,
    ratio_of_exponentials,
)
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    constant,
    constant_value,
    from_terms,
    monomial,
    negate,
    scale,
    single,
    subtract,
)

__all__ = [
    "INDICATORS",
    "cosine",
    "exponential",
    "factored",
    "logarithm",
    "monomial_key",
    "multiply",
    "odd_function",
    "over",
    "positive_part",
    "power",
    "product",
    "require",
    "sine",
    "unit_step",
]

INDICATORS = ("delta", "ge", "true", "step")
IMAGINARY: Atom = ("I",)
PI: Atom = ("pi",)
_LARGEST_POWER = 12
_LARGEST_EXPONENT = 4096


def require(kind: str, p: Poly, context: Context) -> None:
    """Record the side condition on p unless it is already proved."""
    settled = {"nonnegative": is_nonnegative, "nonzero": is_nonzero, "positive": is_positive}[kind]
    if not settled(p, context):
        context.keep(kind, p)


def product(*factors: Poly, context: Context) -> Poly:
    """Return the product of several polynomials."""
    result = ONE
    for factor in factors:
        result = multiply(result, factor, context)
    return result


def multiply(p: Poly, q: Poly, context: Context) -> Poly:
    """Return the product of two polynomials."""
    context.spend(len(p) * len(q))
    if p == ONE or not q:
        return q
    if q == ONE or not p:
        return p
    terms: list[tuple[Mono, Number]] = []
    for a, c in p:
        for b, e in q:
            exponents = dict(a)
            for atom, exponent in b:
                exponents[atom] = exponents.get(atom, 0) + exponent
            terms.extend(collect(exponents, c * e, context))
    return from_terms(terms)


def over(p: Poly, exponents: Mapping[Atom, Number], context: Context) -> Poly:
    """Return p / prod_a a^e; positive whole powers of a sum are multiplied out."""
    return multiply(p, monomial(tuple(sorted((atom, -e) for atom, e in exponents.items()))), context)


def collect(exponents: dict[Atom, Number], coefficient: Number, context: Context) -> Poly:
    """Return one term, given by its exponents, as a polynomial with every rule for monomials applied."""
    powers = {atom: e for atom, e in exponents.items() if e}
    extra: list[Poly] = []
    for atom, e in list(powers.items()):
        kind = atom[0]
        # also [c]^-1 = [c]: whoever divided by [c] kept the condition [c] != 0, so it is 1
        if kind in INDICATORS:
            powers[atom] = 1
        elif kind == "I":
            coefficient *= -1 if e % 4 in (2, 3) else 1
            powers[atom] = e % 2
        elif kind == "prime":
            coefficient *= Fraction(atom[1]) ** floor(e)
            powers[atom] = e - floor(e)  # 2^(3/2) = 2 * 2^(1/2): the exponent of a root is in (0, 1)
        elif kind == "ipow" and atom[1] == ("minus",):
            powers[atom] = e % 2
        elif kind == "poly" and e > 0 and e >= 1:  # q^(5/2) = q^2 q^(1/2): the whole power is multiplied out
            powers[atom] = e - floor(e)
            extra.append(_expand(atom[1], floor(e), context))
        elif kind == "relu" and isinstance(e, int) and e >= 2:  # relu(q)^e = q^(e - 1) relu(q)
            powers[atom] = 1
            extra.append(_expand(atom[1], int(e) - 1, context))
    powers = {atom: e for atom, e in powers.items() if e}
    mono = tuple(sorted(powers.items()))
    return product(monomial(mono, coefficient), *extra, context=context) if extra else monomial(mono, coefficient)


def _expand(p: Poly, exponent: int, context: Context) -> Poly:
    if exponent > _LARGEST_POWER:
        raise Undecided(f"a sum of {len(p)} terms to the power {exponent} is too large to expand")
    result = ONE
    for _ in range(exponent):
        result = multiply(result, p, context)
    return result


def power(p: Poly, exponent: Number, context: Context) -> Poly:
    """Return p to a rational power, and record the side condition that the power needs."""
    if exponent == 0:
        return ONE
    if not p:
        if exponent > 0:
            return ()
        raise Undecided("a division by zero")
    whole = isinstance(exponent, int)
    if whole and exponent > 0 and len(p) > 1:
        return _expand(p, int(exponent), context)
    # 1 / p needs p != 0, but 1 / sqrt(p) needs p > 0
    if exponent < 0:
        require("nonzero" if whole else "positive", p, context)
    elif not whole:
        require("nonnegative", p, context)
    if len(p) == 1:
        return _power_of_term(p[0][0], p[0][1], exponent, context)
    # the common factor goes outside, so that 1 / (2 a + 2 b) and (1/2) / (a + b) have one form
    coefficient, mono, rest = _content(p, whole, context)
    if exponent < 0 and not whole:
        context.derived.append(Condition("positive", rest))  # as p is, by the condition just kept, and its content
    outside = _power_of_term(mono, coefficient, exponent, context)
    return multiply(outside, single(("poly", rest), exponent), context)


def _power_of_term(mono: Mono, coefficient: Number, exponent: Number, context: Context) -> Poly:
    exponents: dict[Atom, Number] = {}
    whole = isinstance(exponent, int)
    for atom, e in mono:
        if not whole and atom[0] == "I":
            raise Undecided("a root of an imaginary number")
        # sqrt(a b) = sqrt(a) sqrt(b) fails for a = b = -1
        if not whole and not is_positive(single(atom), context):
            require("nonnegative", single(atom), context)
        value = e * exponent
        exponents[atom] = int(value) if isinstance(value, Fraction) and value.denominator == 1 else value
    if whole and not -_LARGEST_EXPONENT <= exponent <= _LARGEST_EXPONENT and coefficient not in (1, -1):
        raise Undecided(f"the number {coefficient} to the power {exponent} is too long to write down")
    if whole:
        return collect(exponents, Fraction(coefficient) ** int(exponent), context)
    if coefficient < 0:
        raise Undecided("a root of a term with a negative coefficient")
    # Roots of numbers become roots of primes, so that sqrt(8) and 2 sqrt(2) have one form.
    for base, sign in ((Fraction(coefficient).numerator, 1), (Fraction(coefficient).denominator, -1)):
        for prime, count in _factors(base):
            exponents[("prime", prime)] = exponents.get(("prime", prime), 0) + sign * count * exponent
    return collect(exponents, 1, context)


_LARGEST_DIVISOR = 1_000  # of numbers that are too large to try all divisors


def _factors(number: int) -> list[tuple[int, int]]:
    # trial division takes at most a million steps; decimals such as 1e-12 have powers of 2 and 5
    whole, found, divisor = number, [], 2
    while divisor * divisor <= number:
        if number > 10**12 and divisor > _LARGEST_DIVISOR:
            raise Undecided(f"a root of {whole}, which is too large to factor")
        count = 0
        while number % divisor == 0:
            number, count = number // divisor, count + 1
        if count:
            found.append((divisor, count))
        divisor += 1
    return [*found, (number, 1)] if number > 1 else found


def _content(p: Poly, whole: bool, context: Context) -> tuple[Number, Mono, Poly]:
    """Return (c, m, q) with p = c m q, q without a common factor; where roots are taken, c and m are positive."""
    numbers = [Fraction(c) for _, c in p]
    common = numbers[0]
    for number in numbers[1:]:  # gcd(a / b, c / d) = gcd(a d, c b) / (b d)
        common = Fraction(_gcd(common.numerator * number.denominator, number.numerator * common.denominator)) / (
            common.denominator * number.denominator
        )
    common = abs(common)
    # one sign is chosen, so that 1 / (a - b) and -1 / (b - a) have one form
    if whole and not is_positive(p, context) and (is_positive(negate(p), context) or prefers_negative(p)):
        common = -common
    powers = [dict(mono) for mono, _ in p]
    # an indicator may be 0, so it is not divided out
    atoms = sorted({atom for own in powers for atom in own if atom[0] not in INDICATORS})
    shared = {atom: min(own.get(atom, 0) for own in powers) for atom in atoms}
    shared = {atom: e for atom, e in shared.items() if e and (whole or is_positive(single(atom), context))}
    factor = tuple(sorted(shared.items()))
    inverse = tuple((atom, -e) for atom, e in factor)
    return _tidy(common), factor, multiply(p, monomial(inverse, 1 / common), context)


def factored(p: Poly, context: Context) -> tuple[Number, Mono, Poly]:
    """Return (c, m, q) with p = c m q, q without a common factor."""
    return _content(p, True, context)


def _gcd(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def _tidy(value: Fraction) -> Number:
    return int(value) if value.denominator == 1 else value


def prefers_negative(p: Poly) -> bool:
    """Return whether -p rather than p is the canonical choice of sign.

    The choice does not depend on the names of indices: renaming the index of a sum must not change the sign inside.
    """
    return _erased(p) < _erased(negate(p))


def _erased(p: Poly) -> list[tuple[str, Number]]:
    return sorted((monomial_key(mono), c) for mono, c in p)


@lru_cache(maxsize=1 << 14)
def monomial_key(mono: Mono) -> str:
    """Return a sort key for monomials that does not depend on the names of indices."""
    return repr(sorted(((_nameless(atom), e) for atom, e in mono), key=repr))


def _nameless(part: object) -> object:
    if isinstance(part, tuple):
        if part and part[0] in ("t", "b", "c"):
            return "index"
        if part and isinstance(part[0], tuple):
            return sorted((_nameless(inner) for inner in part), key=repr)
        return tuple(_nameless(inner) for inner in part)
    return part


def exponential(p: Poly, context: Context) -> Poly:
    """Return exp(p), one factor for each term."""
    result = ONE
    for mono, c in p:
        # exp(c log p) = p^c
        if len(mono) == 1 and mono[0][0][0] == "log" and mono[0][1] == 1:
            result = multiply(result, power(mono[0][0][1], c, context), context)
        elif mono == tuple(sorted(((IMAGINARY, 1), (PI, 1)))) and (2 * Fraction(c)).denominator == 1:
            # exp(c pi I) = I^(2 c) where 2 c is an integer
            result = multiply(result, collect({IMAGINARY: int(2 * c) % 4}, 1, context), context)
        else:
            result = multiply(result, collect({("exp", mono): c}, 1, context), context)
    return result


def logarithm(p: Poly, context: Context) -> Poly:
    """Return log(p) for a positive p: one logarithm for each factor that is positive or an even power."""
    require("positive", p, context)
    if not p:
        raise Undecided("the logarithm of zero")
    if len(p) == 1:
        return _log_of_term(*p[0], context)
    coefficient, mono, rest = _content(p, False, context)
    return add(_log_of_term(mono, coefficient, context), single(("log", rest)))


def _log_of_term(mono: Mono, coefficient: Number, context: Context) -> Poly:
    """Return the log of a positive term.

    Even powers of its real factors are positive, because no factor is 0.
    """
    terms: list[Poly] = [_log_of_number(max(coefficient, -coefficient))]
    left: dict[Atom, Number] = {}
    for atom, e in mono:
        if is_positive(single(atom), context):
            terms.append(monomial(atom[1], e) if atom[0] == "exp" else scale(_log_of_atom(atom), e))
        elif isinstance(e, int) and is_real(atom):
            # x^3 = x^2 x: for x < 0 log(x^2) is defined and log(x) is not
            terms.append(scale(single(("log", single(atom, 2))), e // 2))
            left |= {atom: 1} if e % 2 else {}
        else:
            left[atom] = e
    if left or coefficient < 0:
        terms.append(single(("log", monomial(tuple(sorted(left.items())), 1 if coefficient > 0 else -1))))
    return add(*terms)


def _log_of_atom(atom: Atom) -> Poly:
    return single(("log", atom[1] if atom[0] == "poly" else single(atom)))


def _log_of_number(number: Number) -> Poly:
    value = Fraction(number)
    terms = [scale(single(("log", constant(p))), count) for p, count in _factors(value.numerator)]
    terms += [scale(single(("log", constant(p))), -count) for p, count in _factors(value.denominator)]
    return add(*terms)


def cosine(p: Poly, context: Context) -> Poly:
    """Return cos(p) = (exp(I p) + exp(-I p)) / 2."""
    angle = multiply(single(IMAGINARY), p, context)
    return scale(add(exponential(angle, context), exponential(negate(angle), context)), Fraction(1, 2))


def sine(p: Poly, context: Context) -> Poly:
    """Return sin(p) = (exp(I p) - exp(-I p)) / (2 I)."""
    angle = multiply(single(IMAGINARY), p, context)
    double = subtract(exponential(angle, context), exponential(negate(angle), context))
    return multiply(scale(double, Fraction(-1, 2)), single(IMAGINARY), context)  # 1 / (2 I) = -I / 2


def odd_function(kind: str, p: Poly) -> Poly:
    """Return erf(p) or tanh(p), with f(-p) = -f(p) and f(0) = 0."""
    if not p:
        return ()
    return negate(single((kind, negate(p)))) if prefers_negative(p) else single((kind, p))


def positive_part(p: Poly, context: Context) -> Poly:
    """Return max(0, p)."""
    value = constant_value(p)
    if value is not None:
        return constant(max(value, 0))
    if is_nonnegative(p, context):
        return p
    if is_nonnegative(negate(p), context):
        return ()
    # relu(c p) = c relu(p) for c > 0; a negative factor would turn the positive part into the negative one
    coefficient, mono, rest = _content(p, False, context)
    part = single(("relu", rest))
    if prefers_negative(rest):  # relu(q) = relu(-q) + q
        part = add(single(("relu", negate(rest))), rest)
    return multiply(monomial(mono, coefficient), part, context)


def unit_step(p: Poly, context: Context) -> Poly:
    """Return [p > 0]."""
    if is_positive(p, context):
        return ONE
    if is_nonnegative(negate(p), context):
        return ()
    ratio = ratio_of_exponentials(p, context)
    if ratio is not None:  # a > b > 0 says log(a / b) > 0: logarithms increase
        coefficient, factors = ratio
        exponents = (monomial(atom[1], e) for atom, e in factors.items())
        return unit_step(add(*exponents, _log_of_number(coefficient)), context)
    return single(("step", _content(p, False, context)[2]))
