"""Facts for linear arithmetic: inequalities between the monomials of a polynomial, besides the assumptions.

hypotheses   the assumptions at the indices that the polynomial mentions; products of two of them
multiple     f >= 0 and a monomial m >= 0 give m f >= 0; an equation e = 0 gives m e = 0 for every m
monomial     a product of nonnegative factors is nonnegative
function     relu(q) >= q; [c] <= 1; -1 < tanh(q), erf(q) < 1
exponential  exp(u) >= 1 + u; exp(u) >= 1 where u >= 0
logarithm    log(u) <= u - 1, also of a quotient; log(u) >= 0 where u >= 1
square       (c u + d v)^2 >= 0 for real u, v, and the squares of Gauss's reduction of a quadratic form
sum          sum_j f_j >= f_k and sum_j f_j >= 0 where every f_j >= 0
Lagrange     sum_i sum_j (u_i v_j - u_j v_i)^2 >= 0

A fact that needs a side condition of its own is not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, islice
from math import isqrt

from derivations.language.judge.normal_form.algebra import INDICATORS, exponential, multiply
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.integers import always_nonnegative
from derivations.language.judge.normal_form.linear import Fact, follows
from derivations.language.judge.normal_form.signs import is_positive, is_real, term_sign
from derivations.language.judge.normal_form.sums import close, open_sum, settle, substitute, times
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    atoms_of,
    constant,
    contains,
    monomial,
    negate,
    scale,
    single,
    subtract,
    walk,
)

__all__ = ["facts_about", "hypotheses", "stated_equations"]

_MOST = 40  # of each kind
# ranges and bases add facts about pairs, so the linear program would grow with their square
_MOST_RANGES = 3
_MOST_BASES = 6
Scope = frozenset[Atom]


def hypotheses(p: Poly, context: Context) -> list[Fact]:
    """Return the assumed inequalities at the indices in p, and at the first index of every range that is not empty."""
    found = [Fact(f.of, f.kind == "positive") for f in context.facts if f.kind in ("positive", "nonnegative")]
    for bound in context.bounds:
        if bound.kind in ("positive", "nonnegative"):
            found += [
                Fact(value, bound.kind == "positive") for value in _instances(bound.value, bound.limits, p, context)
            ]
    return list(dict.fromkeys(found))


def stated_equations(p: Poly, context: Context) -> list[Poly]:
    """Return the assumed equations at the indices in p, and at the first index of every range that is not empty."""
    return [value for gap, limits in context.equations for value in _instances(gap, limits, p, context)]


def _instances(
    value: Poly, limits: tuple[tuple[Atom, tuple[Poly, Poly]], ...], p: Poly, context: Context
) -> list[Poly]:
    if not limits:
        return [value]
    (index, ends), *rest = limits
    filled = always_nonnegative(subtract(ends[1], ends[0]), context)
    places = [single(a) for a in sorted(walk(p)) if a[0] in ("t", "sym") and context.ranges.get(a) == ends]
    places += [ends[0]] if filled else []
    if not contains(value, index) and not filled:
        places = []  # "for all j in an empty range" holds always, so it implies nothing
    found = (substitute(value, {index: place}, context) for place in places)
    return [each for one in found for each in _instances(one, tuple(rest), p, context)]


def facts_about(p: Poly, context: Context, depth: int = 1) -> list[Fact]:
    """Return facts about the monomials of p; `depth` is the number of nested sums that are opened."""
    assumed = hypotheses(p, context)
    equations = stated_equations(p, context)
    found = list(assumed)
    # a combination must cancel every monomial of the assumptions, so facts about these are needed as well
    mentioned = add_all([p, *(fact.value for fact in assumed), *equations])
    for kind in (
        _products(assumed, context),
        islice(_of_atoms(mentioned, context), _MOST),
        _of_exponentials(mentioned, assumed, context),
        _of_logarithms(mentioned, assumed, context),
        _squares(p, context),
        _of_sums(p, mentioned, context, depth) if depth else iter(()),
    ):
        found += _unconditional(kind, context)
    found = [fact for fact in dict.fromkeys(found) if fact.value]
    # m f is of use only if it shares a monomial with p: nothing else can cancel
    found += _unconditional(islice(_multiples(found, p, context), 4 * _MOST), context)
    found += _unconditional(_equal_to_0(equations, p, context), context)
    monos = {mono for fact in found for mono, _ in fact.value} | {mono for mono, _ in p}
    signs = ((monomial(mono), term_sign(mono, 1, context)) for mono in sorted(monos))
    return found + [Fact(value, sign == "positive") for value, sign in signs if sign]


def _unconditional(found: Iterator[Fact], context: Context) -> list[Fact]:
    """Return the facts whose derivation adds no side condition."""
    kept: list[Fact] = []
    before, derived = len(context.conditions), len(context.derived)
    while True:
        try:
            fact = next(found, None)
        # the generator ends with its exception; what it found before holds
        except Undecided:
            if context.budget < 0:
                raise
            fact = None
        if fact is None:
            return kept
        # its condition would become one of the whole step, only because the fact was tried
        if len(context.conditions) == before:
            kept.append(fact)
        del context.conditions[before:], context.derived[derived:]


def _equal_to_0(equations: list[Poly], p: Poly, context: Context) -> Iterator[Fact]:
    for gap in equations:
        for factor in [ONE, *_quotients(gap, p, context)]:
            value = times(gap, factor, context)
            yield Fact(value)  # an equation is two inequalities
            yield Fact(negate(value))


def add_all(polys: list[Poly]) -> Poly:
    """Return a polynomial with every monomial that occurs in the given polynomials, each with the coefficient 1."""
    # all coefficients are 1, so no monomial cancels another
    return tuple((mono, 1) for mono in sorted({mono for p in polys for mono, _ in p}))


def _products(assumed: list[Fact], context: Context) -> Iterator[Fact]:
    for f, g in islice(combinations(assumed, 2), _MOST):
        if len(f.value) * len(g.value) <= 16:
            # a product is > 0 only if both factors are
            yield Fact(times(f.value, g.value, context), f.strict and g.strict)


def _quotients(f: Poly, p: Poly, context: Context) -> list[Poly]:
    """Return the monomials m other than 1 for which m f has a term of p; the denominators of m are positive."""
    found = {_over(t, s) for t, _ in p for s, _ in f}
    return [monomial(mono) for mono in sorted(found) if mono and _defined(mono, context)]


def _defined(mono: Mono, context: Context) -> bool:
    return all(e > 0 or term_sign(((atom, 1),), 1, context) == "positive" for atom, e in mono)


def _over(t: Mono, s: Mono) -> Mono:
    exponents: dict[Atom, Number] = dict(t)
    for atom, e in s:
        exponents[atom] = exponents.get(atom, 0) - e
    return tuple(sorted((atom, e) for atom, e in exponents.items() if e))


def _multiples(found: list[Fact], p: Poly, context: Context) -> Iterator[Fact]:
    for f in found:
        if len(f.value) > 8:
            continue
        for factor in _quotients(f.value, p, context):
            sign = term_sign(factor[0][0], 1, context)
            if sign:
                yield Fact(times(f.value, factor, context), f.strict and sign == "positive")


def _of_atoms(p: Poly, context: Context) -> Iterator[Fact]:
    for atom in sorted({atom for mono, _ in p for atom, _ in mono}):
        here = single(atom)
        # relu(q) >= 0 is not listed here: it is the sign of the atom, which `facts_about` adds for every monomial
        if atom[0] == "relu":
            yield Fact(subtract(here, atom[1]))
        elif atom[0] in INDICATORS:
            yield Fact(subtract(ONE, here))
        elif atom[0] in ("tanh", "erf") and is_real(atom):
            yield Fact(subtract(ONE, here), True)
            yield Fact(add(ONE, here), True)
        elif atom[0] == "sym" and atom[2] == "size":
            yield Fact(subtract(here, constant(context.minimum.get(atom[1], 1))))
        ends = context.ranges.get(atom)
        if ends is not None and atom[0] in ("sym", "t"):
            yield Fact(subtract(here, ends[0]))
            yield Fact(subtract(ends[1], here))


def _exponents(mono: Mono) -> Poly:
    """Return u, where a monomial is exp(u) times factors other than exponentials."""
    return add(*(monomial(atom[1], e) for atom, e in mono if atom[0] == "exp" and is_real(atom)))


def _of_exponentials(p: Poly, assumed: list[Fact], context: Context) -> Iterator[Fact]:
    """Yield exp(v) >= exp(w) (1 + v - w) for pairs of exponents, and exp(v) >= exp(w) where v >= w."""
    exponents = sorted({_exponents(mono) for mono, _ in p} | {()})
    exponents += [inner for inner in sorted({_body_exponent(a) for a in atoms_of(p, "sum")}) if inner not in exponents]
    for v, w in islice(combinations(exponents, 2), _MOST):
        for high, low in ((v, w), (w, v)):
            gap = subtract(high, low)
            above, below = exponential(high, context), exponential(low, context)
            # exp(t) >= 1 + t, the tangent at 0, for t = v - w, times exp(w) > 0
            yield Fact(subtract(above, times(below, add(ONE, gap), context)))
            if assumed and follows(gap, False, _relevant(gap, assumed, context), context):
                strict = follows(gap, True, _relevant(gap, assumed, context), context)
                yield Fact(subtract(above, below), strict)


def _body_exponent(atom: Atom) -> Poly:
    exponent = _exponents(atom[2])
    # a bound index has no meaning outside its sum
    return () if any(inner[0] == "b" for inner in walk(exponent)) else exponent


def _relevant(p: Poly, assumed: list[Fact], context: Context) -> list[Fact]:
    signs = ((monomial(mono), term_sign(mono, 1, context)) for mono, _ in add_all([p, *(f.value for f in assumed)]))
    return [*assumed, *_of_atoms(p, context), *(Fact(value, sign == "positive") for value, sign in signs if sign)]


def _of_logarithms(p: Poly, assumed: list[Fact], context: Context) -> Iterator[Fact]:
    """Yield v (log u - log v) <= u - v for pairs of arguments, 1 among them, and log u <= log v where u <= v."""
    logs = sorted({atom for mono, _ in p for atom, _ in mono if atom[0] == "log" and is_real(atom)})
    # a log(u) says that u > 0, but this must not settle the very condition u > 0 that the log keeps
    logs = [atom for atom in logs if context.deriving or is_positive(atom[1], context)]
    arguments = [(ONE, ())] + [(atom[1], single(atom)) for atom in logs]
    for first, second in islice(combinations(arguments, 2), _MOST):
        for (u, log_u), (v, log_v) in ((first, second), (second, first)):
            gap = subtract(log_v, log_u)
            # log(t) <= t - 1 for t = u / v, times v > 0
            yield Fact(subtract(add(u, times(gap, v, context)), v)) if v == ONE or _plain(v) else Fact(())
            if follows(subtract(v, u), False, _relevant(subtract(v, u), assumed, context), context):
                yield Fact(gap)


def _plain(p: Poly) -> bool:
    return len(p) == 1


def _half(mono: Mono, context: Context) -> Mono | None:
    """Return the square root of a monomial, or None if the monomial is not proved to be a real square."""
    parts: list[tuple[Atom, Number]] = []
    for atom, e in mono:
        half = Fraction(e) / 2
        if half.denominator == 1 and is_real(atom):
            parts.append((atom, int(half)))
        elif term_sign(((atom, 1),), 1, context) == "positive":
            parts.append((atom, half))
        else:
            return None
    return tuple(parts)


def _joined(a: Mono, b: Mono) -> Mono:
    exponents: dict[Atom, Number] = dict(a)
    for atom, e in b:
        total = Fraction(exponents.get(atom, 0)) + e
        exponents[atom] = int(total) if total.denominator == 1 else total
    return tuple(sorted((atom, e) for atom, e in exponents.items() if e))


def _square_of(parts: list[tuple[Mono, Fraction]], context: Context) -> Poly:
    """Return (sum of c u)^2."""
    terms = [monomial(_joined(u, v), c * d) for u, c in parts for v, d in parts]
    return settle(multiply(add(*terms), ONE, context), context)


def _squares(p: Poly, context: Context) -> Iterator[Fact]:
    halves = [(half, Fraction(c)) for mono, c in p if (half := _half(mono, context)) is not None and half != mono]
    halves = halves[:_MOST_BASES]
    products = {mono for mono, _ in p}
    for (u, c), (v, d) in combinations(halves, 2):
        if _joined(u, v) in products:
            # c u^2 + d v^2 +- 2 sqrt(c d) u v = c (u +- sqrt(d / c) v)^2
            ratio = _root(d / c) if c > 0 and d > 0 else None
            for factor in {Fraction(1), ratio or Fraction(1)}:
                yield Fact(_square_of([(u, Fraction(1)), (v, factor)], context))
                yield Fact(_square_of([(u, Fraction(1)), (v, -factor)], context))
    yield from _reduced([half for half, _ in halves], p, context)


def _root(value: Fraction) -> Fraction | None:
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def _reduced(bases: list[Mono], p: Poly, context: Context) -> Iterator[Fact]:
    """Yield the squares of Gauss's reduction of the quadratic form of p in some monomials, for positive pivots."""
    coefficients = dict(p)
    form = {(u, v): Fraction(coefficients.get(_joined(u, v), 0)) / (1 if u == v else 2) for u in bases for v in bases}
    left = list(bases)
    while left:
        u = left.pop(0)
        pivot = form[u, u]
        # minus a square is no lower bound; the rest of the form may still have positive pivots
        if pivot <= 0:
            continue
        row = [(v, form[u, v] / pivot) for v in left]
        yield Fact(_square_of([(u, Fraction(1)), *row], context))
        for v, c in row:
            for w in left:
                form[v, w] -= c * form[u, w]


def _of_sums(p: Poly, mentioned: Poly, context: Context, depth: int) -> Iterator[Fact]:
    sums = sorted({atom for mono, _ in mentioned for atom, _ in mono if atom[0] == "sum" and len(atom[1]) == 1})
    ranges = list(dict.fromkeys(atom[1][0] for atom in sums))[:_MOST_RANGES]
    for ends in ranges:
        own = [atom for atom in sums if atom[1][0] == ends]
        yield from _of_range(ends, own, p, context, depth)


def _of_range(ends: tuple[Poly, Poly], sums: list[Atom], p: Poly, context: Context, depth: int) -> Iterator[Fact]:
    index = context.open_index(*ends)
    # all sums over one range get the same index, so that facts about one body may cancel terms of another
    bodies = [_at(atom, single(index), context) for atom in sums]
    outside = [monomial(_free(mono)) for mono, _ in p]
    body = add_all([*bodies, *outside])
    filled = always_nonnegative(subtract(ends[1], ends[0]), context)
    for fact in facts_about(body, context, depth - 1):
        if contains(fact.value, index):  # f_j >= 0 for every j gives sum_j f_j >= 0; > 0 only over a nonempty range
            yield Fact(close(fact.value, [index], context), fact.strict and filled)
    for atom, inner in zip(sums, bodies, strict=True):
        # A sum of nonnegative terms is at least each of its terms.
        if len(inner) == 1 and inner[0][1] > 0 and term_sign(inner[0][0], 1, context):
            for place in _known_places(p, ends, context):
                yield Fact(subtract(single(atom), substitute(inner, {index: place}, context)))
    halves = [half for q in bodies for mono, _ in q if (half := _half(mono, context)) is not None]
    for u, v in combinations(list(dict.fromkeys([*halves, ()]))[:_MOST_BASES], 2):
        yield Fact(_lagrange(u, v, index, ends, context))  # the Cauchy-Schwarz inequality


def _free(mono: Mono) -> Mono:
    return tuple((atom, e) for atom, e in mono if atom[0] == "exp")


def _at(atom: Atom, place: Poly, context: Context) -> Poly:
    body, (index,) = open_sum(atom, context)
    return substitute(body, {index: place}, context)


def _known_places(p: Poly, ends: tuple[Poly, Poly], context: Context) -> list[Poly]:
    known = [single(a) for a in sorted(walk(p)) if a[0] in ("sym", "t") and context.ranges.get(a) == ends]
    return known + ([ends[0], ends[1]] if always_nonnegative(subtract(ends[1], ends[0]), context) else [])


def _lagrange(u: Mono, v: Mono, index: Atom, ends: tuple[Poly, Poly], context: Context) -> Poly:
    """Return sum_i sum_j (u_i v_j - u_j v_i)^2 = 2 (sum u^2 sum v^2 - (sum u v)^2)."""
    squares = [close(monomial(_joined(a, b)), [index], context) for a, b in ((u, u), (v, v), (u, v))]
    # Lagrange's identity; that its left side is >= 0 is the Cauchy-Schwarz inequality
    both = multiply(squares[0], squares[1], context)
    return scale(settle(subtract(both, multiply(squares[2], squares[2], context)), context), 2)
