"""Facts about integers: sizes are at least 1 (or a stated minimum), and indices are in their ranges.

All facts follow from one rule. A polynomial in indices and sizes, of degree one in each index, takes its least value
where every index is at an end of its range. This value is a polynomial in sizes. With every size s written as its
minimum plus s', s' >= 0, it is nonnegative when no coefficient is negative.
"""

from fractions import Fraction
from math import gcd

from derivations.language.judge.normal_form.context import INTEGER, Context
from derivations.language.judge.normal_form.matching import Binding, Free, match_terms
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    constant,
    constant_value,
    contains,
    from_terms,
    monomial,
    negate,
    signed,
    single,
    subtract,
)

__all__ = [
    "always_nonnegative",
    "difference_indicator",
    "fits",
    "is_integer",
    "is_stated",
    "least_value",
    "linear_part",
    "order_indicator",
    "plain_product",
]


def plain_product(p: Poly, q: Poly) -> Poly:
    """Return the product of two polynomials whose atoms are indices and sizes only."""
    return from_terms((_join(a, b), c * e) for a, c in p for b, e in q)


def _join(a: Mono, b: Mono) -> Mono:
    exponents: dict[Atom, Number] = dict(a)
    for atom, exponent in b:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return tuple(sorted((atom, e) for atom, e in exponents.items() if e))


def linear_part(p: Poly, atom: Atom) -> tuple[Poly, Poly] | None:
    """Return (a, b) with p = a * atom + b and the atom in neither a nor b, if p is linear in the atom."""
    slope: list[tuple[Mono, Number]] = []
    rest: list[tuple[Mono, Number]] = []
    for mono, c in p:
        powers = dict(mono)
        exponent = powers.pop(atom, 0)
        if exponent not in (0, 1) or any(contains(other, atom) for other in powers):
            return None
        (slope if exponent else rest).append((tuple(sorted(powers.items())), c))
    return from_terms(slope), from_terms(rest)


def always_nonnegative(p: Poly, context: Context) -> bool:
    """Return whether an integer polynomial is proved to be >= 0 wherever its indices are in range."""
    value = constant_value(p)
    if value is not None:
        return value >= 0
    bound = least_value(p, context)
    return bound is not None and _sizes_nonnegative(bound, context)


def least_value(p: Poly, context: Context) -> Poly | None:
    """Return a lower bound of p, with every index that has a range replaced by one end of the range."""
    # each round replaces one index by an end of its range
    for _ in range(20):
        indices = [atom for atom in _atoms(p) if context.range_of(atom)]
        if not indices:
            return p
        for atom in indices:
            parts = linear_part(p, atom)
            others = (context.range_of(other) for other in indices if other != atom)
            if parts is None or any(contains(limits, atom) for limits in others):
                continue  # the ranges of other indices depend on it: those are replaced first
            # a function that is linear in the index is least at one end, and the sign of its slope tells at which
            slope, rest = parts
            low, high = context.range_of(atom) or ((), ())
            end = (
                low
                if _sizes_nonnegative(slope, context)
                else high
                if _sizes_nonnegative(negate(slope), context)
                else None
            )
            if end is not None:
                p = add(plain_product(slope, end), rest)
                break
        else:
            return None
    return None


def _sizes_nonnegative(p: Poly, context: Context) -> bool:
    shifted = constant(0)
    for mono, c in p:
        term = constant(c)
        for atom, exponent in mono:
            if atom[0] != "sym" or atom[2] != "size" or not isinstance(exponent, int) or exponent < 0:
                return False
            # s = minimum + s': the atom stands for s' >= 0 from here on
            base = add(single(atom), constant(context.minimum.get(atom[1], 1)))
            for _ in range(exponent):
                term = plain_product(term, base)
        shifted = add(shifted, term)
    return all(c > 0 for _, c in shifted)


def fits(binding: Binding, free: Free, context: Context) -> bool:
    """Return whether every free index of a pattern was bound to a value in its range."""
    ends = ((subtract(binding[i], low), subtract(high, binding[i])) for i, (low, high) in free.items() if i in binding)
    return set(binding) == set(free) and all(always_nonnegative(end, context) for pair in ends for end in pair)


def is_stated(kind: str, p: Poly, context: Context) -> bool:
    """Return whether a condition is a fact, or an assumed inequality at some values of its indices."""
    if context.knows(kind, p):
        return True
    for bound in context.bounds:
        free = dict(bound.limits)
        if bound.kind == kind and any(fits(found, free, context) for found in match_terms(bound.value, p, free, {})):
            return True
    return False


def is_integer(p: Poly, context: Context) -> bool:
    """Return whether p takes integer values only.

    Each term is an integer by its coefficient and its atoms, or by an assumption. An integer multiple of an assumed
    integer may be subtracted first.
    """
    if all(_integral_term(mono, c, context) or _multiple_of_fact(mono, c, context) for mono, c in p):
        return True
    for fact in context.facts:
        leading = dict(fact.of).keys() & dict(p).keys() if fact.kind == "integer" else set()
        for mono in leading:
            # the multiple that cancels this term; fewer terms in each call, so the recursion ends
            ratio = Fraction(dict(p)[mono]) / Fraction(dict(fact.of)[mono])
            rest = subtract(p, plain_product(constant(ratio), fact.of))
            if ratio.denominator == 1 and len(rest) < len(p) and is_integer(rest, context):
                return True
    return False


def _integral_term(mono: Mono, coefficient: Number, context: Context) -> bool:
    return isinstance(coefficient, int) and all(_integral(a, e, context) for a, e in mono)


def _multiple_of_fact(mono: Mono, coefficient: Number, context: Context) -> bool:
    """Return whether a term is an integer times a term that is assumed to be an integer."""
    for fact in context.facts:
        if fact.kind == "integer" and len(fact.of) == 1:
            ((known, c),) = fact.of
            rest = _join(mono, tuple((atom, -e) for atom, e in known))
            ratio = Fraction(coefficient) / Fraction(c)
            if ratio.denominator == 1 and all(_integral(a, e, context) for a, e in rest):
                return True
    return False


def _integral(atom: Atom, exponent: Number, context: Context) -> bool:
    if not isinstance(exponent, int) or exponent < 0:
        return False
    if atom[0] == "sym":
        return atom[2] in ("size", "index")
    if atom[0] == "sum":
        return all(_integral(factor, e, context) for factor, e in atom[2])
    if atom[0] in ("delta", "ge", "step", "true"):
        return True
    if atom[0] == "x" or (atom[0] == "fun" and atom[2] in (0, (0,) * len(atom[3]))):
        # a derivative of a function with integer values is not an integer, so it is not asked here
        return atom[1].endswith(INTEGER) or context.range_of(atom) is not None
    return atom[0] in ("t", "b") or context.range_of(atom) is not None


def difference_indicator(p: Poly, context: Context) -> Poly:
    """Return [p = 0] for an integer p: 0 or 1 if this is proved, else a delta atom or a product of them."""
    value = constant_value(p)
    if value is not None:
        return ONE if value == 0 else ()
    if always_nonnegative(subtract(p, ONE), context) or always_nonnegative(subtract(negate(p), ONE), context):
        return ()  # p >= 1 or p <= -1
    p = signed(_primitive(p))
    # the digits below count in whole units
    if any(c.denominator != 1 for _, c in p):
        return single(("delta", p))
    # a flat index such as d_k i + j is 0 only if both of its digits are
    for unit in _units(p):
        digits = _digits(p, unit, context)
        if digits:
            high, low = digits
            return plain_product(difference_indicator(high, context), difference_indicator(low, context))
    inner = _same_bijection(p, context)
    if inner is not None:
        return difference_indicator(inner, context)
    return single(("delta", p))


def order_indicator(p: Poly, context: Context) -> Poly:
    """Return [p >= 0] for an integer p; [p >= 0] and 1 - [-p - 1 >= 0] are equal and get the same form.

    A p that is not known to be an integer, such as (i - 1)/2, keeps its bracket: it may lie between -1 and 0.
    """
    if always_nonnegative(p, context) or is_stated("nonnegative", p, context):
        return ONE
    # for an integer p, not p >= 0 means -p - 1 >= 0
    complement = subtract(negate(p), ONE)
    if always_nonnegative(complement, context) or is_stated("nonnegative", complement, context):
        return ()
    # p - (-p - 1) = 2 p + 1 has an odd constant if p has integer coefficients, so it is not 0; else it may vanish.
    lead = subtract(_without_indices(p), _without_indices(complement))
    whole = all(isinstance(c, int) for _, c in p) or is_integer(p, context)
    if not (lead and whole) or lead[-1][1] > 0:
        return single(("ge", p))
    return subtract(ONE, single(("ge", complement)))


def _without_indices(p: Poly) -> Poly:
    return tuple((m, c) for m, c in p if all(atom[0] == "sym" and atom[2] == "size" for atom, _ in m))


def _primitive(p: Poly) -> Poly:
    """Return p divided by the numbers and sizes that all its terms share. They are never 0, so the zeros stay."""
    if all(isinstance(c, int) for _, c in p):
        common = gcd(*(int(c) for _, c in p))
        p = tuple((m, int(c) // common) for m, c in p)
    shared = dict(p[0][0])
    for mono, _ in p[1:]:
        powers = dict(mono)
        shared = {a: min(e, powers[a]) for a, e in shared.items() if a in powers}
    divisor = {a: -e for a, e in shared.items() if a[0] == "sym" and a[2] == "size"}
    return plain_product(p, monomial(tuple(sorted(divisor.items())))) if divisor else p


def _atoms(p: Poly) -> list[Atom]:
    return sorted({atom for mono, _ in p for atom, _ in mono})


def _units(p: Poly) -> list[Poly]:
    units = set()
    for mono, c in p:
        sizes = tuple((a, e) for a, e in mono if a[0] == "sym" and a[2] == "size")
        # d_k in d_k i + j
        if sizes and len(sizes) < len(mono):
            units.add(monomial(sizes))
        # 2 in 2 i + j
        if sizes == () and mono and not -1 <= c <= 1:
            units.add(constant(c if c > 0 else -c))
    return sorted(units)


def _digits(p: Poly, unit: Poly, context: Context) -> tuple[Poly, Poly] | None:
    """Return (high, low) with p = unit * high + low and |low| < unit proved: then p = 0 iff high = low = 0."""
    (mono, factor), *_ = unit
    powers = dict(mono)
    high, low = [], []
    for term, c in p:
        own = dict(term)
        if c % factor == 0 and all(own.get(a, 0) >= e for a, e in powers.items()):
            quotient = {a: e - powers.get(a, 0) for a, e in own.items()}
            high.append((tuple(sorted((a, e) for a, e in quotient.items() if e)), c // factor))
        else:
            low.append((term, c))
    rest = from_terms(low)
    if not high or not rest:
        return None
    # unit * high is 0 or at least one unit away from 0, and low is nearer than that
    margin = subtract(unit, ONE)
    if always_nonnegative(subtract(margin, rest), context) and always_nonnegative(add(margin, rest), context):
        return from_terms(high), rest
    return None


def _same_bijection(p: Poly, context: Context) -> Poly | None:
    """Return a - b where p = sigma(a) - sigma(b): a bijection takes no value twice."""
    if len(p) != 2 or p[0][1] + p[1][1] != 0:
        return None
    atoms = [mono[0][0] for mono, _ in p if len(mono) == 1 and mono[0][1] == 1]
    if (
        len(atoms) == 2
        and all(a[0] == "fun" and a[1] in context.inverses for a in atoms)
        and atoms[0][1] == atoms[1][1]
    ):
        return subtract(atoms[0][3][0], atoms[1][3][0])
    return None
