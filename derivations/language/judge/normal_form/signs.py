"""Signs of normal forms, from sums of positive terms, even powers and stated facts.

The answer "no" means "not proved here", never "negative".
"""

from fractions import Fraction

from derivations.language.judge.normal_form.context import COMPLEX, NONNEGATIVE, POSITIVE, Context
from derivations.language.judge.normal_form.integers import (
    always_nonnegative,
    fits,
    is_stated,
    linear_part,
    plain_product,
)
from derivations.language.judge.normal_form.matching import match_terms
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    constant_value,
    contains,
    from_terms,
    negate,
    own_level,
    rename_mono,
    single,
    subtract,
    walk,
)

__all__ = ["is_nonnegative", "is_nonzero", "is_positive", "is_real", "ratio_of_exponentials", "term_sign"]

_POSITIVE_SYMBOLS = ("size", "positive")
_POSITIVE_KINDS = ("prime", "pi")
_INDICATORS = ("delta", "ge", "true", "step")
_MOST_CASES = 3
_UNPLAIN = (*_INDICATORS, "prime", "poly")  # atoms with their own rules for powers
_NONNEGATIVE_KINDS = (*_INDICATORS, "relu")


def is_positive(p: Poly, context: Context) -> bool:
    """Return whether p is proved to be > 0, for example because no term is negative and one is positive."""
    if _stated("positive", p, context):
        return True
    if _sign(p, context) == "positive" or _sign_by_cases(p, context) == "positive":
        return True
    # an integer > 0 is >= 1
    if all(_integer_term(mono) for mono, _ in p) and bool(p) and always_nonnegative(subtract(p, ONE), context):
        return True
    return context.consult is not None and context.consult(p, True, context)


def is_nonnegative(p: Poly, context: Context) -> bool:
    """Return whether p is proved to be >= 0."""
    if not p or any(_stated(kind, p, context) for kind in ("positive", "nonnegative")):
        return True
    if _sign(p, context) or _sign_by_cases(p, context):
        return True
    if all(_integer_term(mono) for mono, _ in p) and always_nonnegative(p, context):
        return True
    return context.consult is not None and context.consult(p, False, context)


def _sign(p: Poly, context: Context) -> str | None:
    """Return "positive" or "nonnegative" if all terms are nonnegative; "positive" if one term is positive."""
    seen = [term_sign(mono, c, context) for mono, c in p]
    if None not in seen:
        return "positive" if "positive" in seen else "nonnegative"
    return "positive" if _first_outweighs(p, context) else None


def ratio_of_exponentials(p: Poly, context: Context) -> tuple[Fraction, dict[Atom, Number]] | None:
    """Return c / d and the factors of e^x where p = c m e^x - d m is a difference of two positive terms, else None."""
    if len(p) != 2:
        return None
    (larger, c), (smaller, d) = sorted(p, key=lambda term: term[1], reverse=True)
    if d >= 0 or any(term_sign(mono, size, context) != "positive" for mono, size in ((larger, c), (smaller, -d))):
        return None
    powers = dict(larger)
    for atom, exponent in smaller:
        powers[atom] = powers.get(atom, 0) - exponent
    factors = {atom: exponent for atom, exponent in powers.items() if exponent}
    if not factors or any(atom[0] != "exp" for atom in factors):
        return None
    return Fraction(c) / -Fraction(d), factors


def _first_outweighs(p: Poly, context: Context) -> bool:
    """Return whether p = c m e^x - d m with c >= d, and the exponent x is positive.

    So 1 - b^t is positive for 0 < b < 1 and t > 0, where b^t is a product of powers of primes, exp(t log p).
    """
    found = ratio_of_exponentials(p, context)
    if found is None or found[0] < 1:
        return False
    bases: dict[Mono, Fraction] = {}  # b of all b^x, by x
    rises = []  # whether each factor of e^x is above 1
    for atom, exponent in found[1].items():
        prime, power = _power_of_a_prime(atom[1])
        if prime and isinstance(exponent, int):
            bases[power] = bases.get(power, Fraction(1)) * Fraction(prime) ** exponent
        else:
            rises.append(term_sign(atom[1], exponent, context) == "positive")
    rises += [base > 1 and term_sign(power, 1, context) == "positive" for power, base in bases.items() if base != 1]
    return bool(rises) and all(rises)


def _power_of_a_prime(exponent: Mono) -> tuple[Number, Mono]:
    """Return p and x such that exp(exponent) = p^x; p is 0 if there is no such power."""
    for atom, power in exponent:
        value = constant_value(atom[1]) if atom[0] == "log" and power == 1 else None
        if value is not None:
            return value, tuple(pair for pair in exponent if pair[0] != atom)
    return 0, exponent


def _sign_by_cases(p: Poly, context: Context) -> str | None:
    """Return the sign that p has for all values 0 or 1 of its indicators; sums over one range are joined first."""
    if all(c > 0 for _, c in p) or not any(c > 0 for _, c in p):
        return None
    signs = []
    for limits, body in _joined_by_range(p).items():
        filled = limits is None or always_nonnegative(subtract(limits[1], limits[0]), context)
        signs.append(_sign_in_cases(from_terms(body), filled, context))
    return None if None in signs else "positive" if "positive" in signs else "nonnegative"


def _sign_in_cases(p: Poly, filled: bool, context: Context) -> str | None:
    """Return the sign of the sum of p over a range in all cases of its indicators; `filled`: the range is not empty."""
    indicators = sorted({atom for mono, _ in p for atom, _ in mono if atom[0] in _INDICATORS})
    if len(indicators) > _MOST_CASES:
        return None
    cases = [p]
    for indicator in indicators:
        cases = [case for each in cases for case in _both(each, indicator)]
    signs = [_sign(case, context) for case in cases]
    if None in signs:
        return None
    # an empty sum is 0, whatever the sign of its terms
    return "positive" if filled and set(signs) == {"positive"} else "nonnegative"


def _both(p: Poly, indicator: Atom) -> tuple[Poly, Poly]:
    """Return p with an indicator replaced by 1, and p with it replaced by 0."""
    shown = from_terms((tuple(pair for pair in mono if pair[0] != indicator), c) for mono, c in p)
    return shown, tuple((mono, c) for mono, c in p if all(atom != indicator for atom, _ in mono))


def _joined_by_range(p: Poly) -> dict[tuple[Poly, Poly] | None, list[tuple[Mono, Number]]]:
    """Return the terms of p grouped by the range of their sum (None: no sum), with outer factors moved inside."""
    bodies: dict[tuple[Poly, Poly] | None, list[tuple[Mono, Number]]] = {}
    for mono, c in p:
        sums = [(atom, e) for atom, e in mono if atom[0] == "sum"]
        # only here does the bound index have the same name in all bodies, so that they can be added
        if len(sums) == 1 and sums[0][1] == 1 and len(sums[0][0][1]) == 1 and own_level(sums[0][0][2]) == 1:
            _, (limits,), inner = sums[0][0]
            outside = tuple(pair for pair in mono if pair[0] != sums[0][0])
            bodies.setdefault(limits, []).extend(plain_product(((outside, 1),), ((inner, c),)))
        else:
            bodies.setdefault(None, []).append((mono, c))
    return bodies


def _integer_term(mono: Mono) -> bool:
    return all(atom[0] in ("t", "b") or (atom[0] == "sym" and atom[2] in ("size", "index")) for atom, _ in mono)


def is_nonzero(p: Poly, context: Context) -> bool:
    """Return whether p is proved to be nonzero: it has a sign, or it is one term whose factors are never 0."""
    if is_positive(p, context) or is_positive(negate(p), context) or _stated("nonzero", p, context):
        return True
    return context.is_generic(p) or (len(p) == 1 and all(_never_0(atom, context) for atom, _ in p[0][0]))


def _never_0(atom: Atom, context: Context) -> bool:
    if atom[0] == "ipow":
        # b^m = 0 only where b = 0
        return atom[1] == ("minus",) or _never_0(atom[1], context)
    known = atom[1] if atom[0] == "poly" else single(atom)
    stated = is_stated("nonzero", known, context) or context.is_generic(known)
    return atom[0] == "exp" or _atom(atom, context) == "positive" or stated


def _stated(kind: str, p: Poly, context: Context) -> bool:
    """Return whether a fact of this kind is stated about p, or about p times a positive monomial."""
    if is_stated(kind, p, context):
        return True
    alike = [fact.of for fact in context.known() if fact.kind == kind and len(fact.of) == len(p) > 1]
    assumed = [bound for bound in context.bounds if bound.kind == kind and len(bound.value) == len(p) > 1]
    if not alike and not assumed:
        return False
    # 2 a + 2 b > 0 and a + b > 0 state the same
    wanted = _primitive(p, context)
    if wanted in [_primitive(other, context) for other in alike]:
        return True
    for bound in assumed:
        free = dict(bound.limits)
        found = match_terms(_primitive(bound.value, context), wanted, free, {})
        if any(fits(binding, free, context) for binding in found):
            return True
    return False


def _primitive(p: Poly, context: Context) -> Poly:
    """Return p divided by the positive atoms that all its terms share, and by its first coefficient without sign."""
    powers = [dict(mono) for mono, _ in p]
    atoms = {atom for own in powers for atom in own if atom[0] not in _UNPLAIN and _atom(atom, context) == "positive"}
    least = {atom: min(own.get(atom, 0) for own in powers) for atom in atoms}
    terms = []
    for own, (_, c) in zip(powers, p, strict=True):
        rest = {atom: own.get(atom, 0) - least.get(atom, 0) for atom in {*own, *least}}
        terms.append((tuple(sorted((atom, e) for atom, e in rest.items() if e)), c))
    terms.sort()
    size = Fraction(abs(Fraction(terms[0][1])))
    return tuple((mono, Fraction(c) / size) for mono, c in terms)


def term_sign(mono: Mono, coefficient: Number, context: Context) -> str | None:
    """Return "positive" or "nonnegative" if this is proved of a term."""
    if coefficient < 0:
        return None
    sign = "positive"
    for atom, exponent in mono:
        own = _atom(atom, context)
        if own == "positive" or _even_power_of_nonzero(atom, exponent, context):
            continue
        # an even power of a real number is >= 0; of a complex number it may be -1
        square = isinstance(exponent, int) and exponent % 2 == 0 and is_real(atom)
        if square or (own == "nonnegative" and exponent > 0):
            sign = "nonnegative"
        else:
            return None
    return sign


def _even_power_of_nonzero(atom: Atom, exponent: Number, context: Context) -> bool:
    even = isinstance(exponent, int) and exponent % 2 == 0
    return even and is_stated("nonzero", single(atom), context) and is_real(atom)


def is_real(atom: Atom) -> bool:
    """Return whether an atom is real: it holds neither I nor a symbol, array or function that was not declared real."""
    return not contains(atom, ("I",)) and not any(_complex(a) for a in walk(atom))


def _complex(atom: Atom) -> bool:
    return (atom[0] == "sym" and atom[2] == "complex") or (atom[0] in ("x", "fun") and atom[1].endswith(COMPLEX))


def _atom(atom: Atom, context: Context) -> str | None:
    kind = atom[0]
    if is_stated("positive", single(atom), context):
        return "positive"
    if kind == "sym" and atom[2] in (*_POSITIVE_SYMBOLS, "nonnegative"):
        return "positive" if atom[2] in _POSITIVE_SYMBOLS else "nonnegative"
    if kind == "exp":
        return "positive" if is_real(atom) else None
    if kind in _POSITIVE_KINDS:
        return "positive"
    if kind == "ipow" and atom[1] != ("minus",) and _atom(atom[1], context) == "positive":
        return "positive"
    if kind in _NONNEGATIVE_KINDS:
        return "nonnegative"
    if kind == "poly":
        return (
            "positive" if is_positive(atom[1], context) else "nonnegative" if is_nonnegative(atom[1], context) else None
        )
    if kind == "sum":
        return _sum(atom, context)
    if kind == "E":  # the expectation of a square is nonnegative
        even = all(isinstance(e, int) and e % 2 == 0 and is_real(a) for a, e in atom[1])
        return "nonnegative" if even else None
    declared = _declared(atom)
    if declared is not None:
        return declared
    if is_stated("nonnegative", single(atom), context):
        return "nonnegative"
    if context.consult is None or kind not in ("sym", "x", "fun"):
        return None
    strict = context.consult(single(atom), True, context)
    return "positive" if strict else "nonnegative" if context.consult(single(atom), False, context) else None


def _declared(atom: Atom) -> str | None:
    """Return the declared sign of an array entry or a function value, but not of a derivative of the function."""
    if atom[0] == "x" or (atom[0] == "fun" and atom[2] in (0, (0,) * len(atom[3]))):
        return "positive" if POSITIVE in atom[1] else "nonnegative" if NONNEGATIVE in atom[1] else None
    return None


def _sum(atom: Atom, context: Context) -> str | None:
    """Return the sign of a sum: nonnegative for nonnegative terms, positive for positive terms over a nonempty range.

    If indicators make some terms 0, one term whose indicators are 1 makes the sum positive: the first, the last, or the
    one at a free index of the same range. A stated fact that the sum of the indicators is positive also suffices.
    """
    _, ranges, mono = atom
    sign = term_sign(mono, 1, context)
    if sign == "positive" and all(always_nonnegative(subtract(high, low), context) for low, high in ranges):
        return "positive"
    if sign and _shown(ranges, mono, context):
        return "positive"
    return "nonnegative" if sign else None


def _shown(ranges: tuple[tuple[Poly, Poly], ...], mono: Mono, context: Context) -> bool:
    indicators = tuple((a, e) for a, e in mono if a[0] in _INDICATORS)
    rest = tuple(pair for pair in mono if pair not in indicators)
    if not indicators or term_sign(rest, 1, context) != "positive":
        return False
    level = own_level(mono)
    bound: list[Atom] = [("b", level, number) for number in range(len(ranges))]
    alone = ("sum", ranges, rename_mono(indicators, {index: ("b", 1, index[2]) for index in bound}))
    if is_stated("positive", single(alone), context):
        return True
    places: list[list[Poly]] = []
    if all(always_nonnegative(subtract(high, low), context) for low, high in ranges):
        # in a nonempty range the first and the last term exist
        places += [[low for low, _ in ranges], [high for _, high in ranges]]
    if len(ranges) == 1:
        places += [[single(a)] for a, own in context.ranges.items() if own == ranges[0] and a[0] == "sym"]
    return any(_all_shown(indicators, dict(zip(bound, place, strict=True)), context) for place in places)


def _all_shown(indicators: Mono, places: dict[Atom, Poly], context: Context) -> bool:
    """Return whether every indicator has the form [q >= 0] and is 1 at the given values of the bound indices."""
    for atom, _ in indicators:
        if atom[0] != "ge":
            return False
        value = atom[1]
        for bound, place in places.items():
            # the place is put in by hand: `substitute` belongs to `sums`, which is built on this module
            parts = linear_part(value, bound)
            if parts is None:
                return False
            value = add(plain_product(parts[0], place), parts[1])
        if not always_nonnegative(value, context):
            return False
    return True
