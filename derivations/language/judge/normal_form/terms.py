"""Terms of the normal form: polynomials in plain tuples.

    polynomial   ((monomial, coefficient), ...)   sorted, no zero coefficient; () is 0
    monomial     ((atom, exponent), ...)          sorted, no zero exponent; () is 1
    atom         (kind, ...), where the kinds and their arguments are

    sym name signature      a scalar symbol; its signature holds the declared assumptions
    b level number          a bound index of a sum, named by its nesting level
    t serial                a bound index while its sum is open
    x name places           an entry of an array, with polynomials as indices
    true name places        1 where an entry of an array is nonzero, else 0
    delta p                 1 where the integer p is 0, else 0
    ge p                    1 where the integer p is >= 0, else 0
    step p                  1 where the real p is > 0, else 0
    exp m                   exp(m), its exponent the coefficient of the monomial m: exp(2 m) is (exp m)^2
    prime p, pi, I          a prime under a root, the circle number, the imaginary unit
    poly p                  a sum of several terms to a power that does not expand
    log p, erf p, tanh p, relu p
    fun name order places   the derivative of that order (one number for each argument if there are several) of an
                            unknown function; of floor, atan and atan2 no more is known
    sum ranges m            a sum over bound indices of one connected monomial
    prod ranges m           a product over one bound index of an atom
    ipow atom m             the atom to the power m, an integer; also of ("minus",), which is -1
    E m                     the expectation of a monomial; the entries inside are bound and differ from those outside

Coefficients and exponents are integers or fractions, so equal terms are equal tuples and tuples of one kind compare.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

__all__ = [
    "ONE",
    "ZERO",
    "Atom",
    "Mono",
    "Number",
    "Poly",
    "add",
    "atoms_of",
    "constant",
    "constant_value",
    "contains",
    "from_terms",
    "is_random",
    "level_of",
    "monomial",
    "negate",
    "outside_expectations",
    "own_level",
    "rename_mono",
    "rename_poly",
    "scale",
    "signed",
    "single",
    "subtract",
    "walk",
]

Number = int | Fraction
Atom = tuple[Any, ...]
Mono = tuple[tuple[Atom, Number], ...]
Poly = tuple[tuple[Mono, Number], ...]

ZERO: Poly = ()
ONE: Poly = (((), 1),)


def constant(value: Number) -> Poly:
    """Return the constant polynomial."""
    return (((), _tidy(value)),) if value else ()


def single(atom: Atom, exponent: Number = 1) -> Poly:
    """Return the polynomial that is one atom to a power."""
    return ((((atom, exponent),), 1),)


def monomial(mono: Mono, coefficient: Number = 1) -> Poly:
    """Return the polynomial of one term."""
    return ((mono, _tidy(coefficient)),) if coefficient else ()


def constant_value(p: Poly) -> Number | None:
    """Return the value of a constant polynomial, or None."""
    if not p:
        return 0
    return p[0][1] if len(p) == 1 and p[0][0] == () else None


def from_terms(terms: Iterable[tuple[Mono, Number]]) -> Poly:
    """Return the polynomial with the given terms, equal monomials collected."""
    collected: dict[Mono, Number] = {}
    for mono, coefficient in terms:
        before = collected.get(mono)
        collected[mono] = coefficient if before is None else before + coefficient
    # most coefficients are integers, and this loop is run most often in the judge: they cost no call
    found = [(mono, c if type(c) is int else _tidy(c)) for mono, c in collected.items() if c]
    if len(found) > 1:
        found.sort()
    return tuple(found)


def add(*polys: Poly) -> Poly:
    """Return the sum."""
    polys = tuple(p for p in polys if p)
    if len(polys) < 2:
        return polys[0] if polys else ()
    return from_terms([term for p in polys for term in p])


def scale(p: Poly, factor: Number) -> Poly:
    """Return a number times a polynomial."""
    if factor == 1:
        return p
    return tuple((mono, _tidy(c * factor)) for mono, c in p) if factor else ()


def negate(p: Poly) -> Poly:
    """Return the negative."""
    return scale(p, -1)


def subtract(p: Poly, q: Poly) -> Poly:
    """Return the difference."""
    return add(p, negate(q))


def _tidy(value: Number) -> Number:
    # Fraction(2) == 2, but the rules ask for an int where they need a whole exponent
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


@lru_cache(maxsize=1 << 16)
def walk(part: Any) -> frozenset[Atom]:
    """Return every atom inside a term, at any depth; a term that is an atom is included."""
    found = []
    stack = [part]
    while stack:
        top = stack.pop()
        if top and type(top[0]) is str:  # only an atom starts with a text, its kind
            found.append(top)
        stack.extend([inner for inner in top if type(inner) is tuple])
    return frozenset(found)


def contains(part: Any, wanted: Atom) -> bool:
    """Return whether an atom occurs anywhere inside a term."""
    return wanted in walk(part)


def atoms_of(part: Any, kind: str) -> set[Atom]:
    """Return all atoms of a kind inside a term."""
    return {atom for atom in walk(part) if atom[0] == kind}


@lru_cache(maxsize=1 << 16)
def outside_expectations(part: Any) -> frozenset[Atom]:
    """Return every atom inside a term, at any depth, that is not inside an expectation."""
    found = []
    stack = [part]
    while stack:
        top = stack.pop()
        if top and top[0] == "E":
            continue
        if top and type(top[0]) is str:
            found.append(top)
        stack.extend([inner for inner in top if type(inner) is tuple])
    return frozenset(found)


def is_random(part: Any) -> bool:
    """Return whether a term is random: it holds an entry of an array outside expectations."""
    return any(atom[0] == "x" for atom in outside_expectations(part))


@lru_cache(maxsize=1 << 16)
def level_of(part: Any) -> int:
    """Return the highest nesting level of the bound indices inside a term, 0 without bound indices."""
    return max((atom[1] for atom in walk(part) if atom[0] == "b"), default=0)


@lru_cache(maxsize=1 << 16)
def own_level(mono: Mono) -> int:
    """Return the nesting level of the indices of a sum with this body: one above the sums inside."""
    # counted from the inside: a sum keeps its names wherever it stands, so equal sums are equal tuples
    return 1 + max((own_level(atom[2]) for atom in walk(mono) if atom[0] in ("sum", "prod")), default=0)


def rename_poly(p: Poly, names: dict[Atom, Atom]) -> Poly:
    """Return the polynomial with index atoms renamed and its terms sorted again."""
    # new names change the order, and equality of polynomials is equality of sorted tuples
    return tuple(sorted((rename_mono(mono, names), c) for mono, c in p))


def rename_mono(mono: Mono, names: dict[Atom, Atom]) -> Mono:
    """Return the monomial with index atoms renamed and its factors sorted again."""
    return tuple(sorted((_rename_atom(atom, names), e) for atom, e in mono))


def _rename_atom(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    if atom in names:
        return names[atom]
    rename = _RENAME.get(atom[0])
    return rename(atom, names) if rename else atom


def _rename_places(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    return (*atom[:-1], tuple(rename_poly(p, names) for p in atom[-1]))


def _rename_argument(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    return (atom[0], rename_poly(atom[1], names))


def _rename_difference(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    # new names change the order of the terms, and with it the sign that `signed` chooses: delta(p) = delta(-p)
    return ("delta", signed(rename_poly(atom[1], names)))


def _rename_monomial(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    return (atom[0], rename_mono(atom[1], names))


def _rename_sum(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    ranges = tuple((rename_poly(low, names), rename_poly(high, names)) for low, high in atom[1])
    return (atom[0], ranges, rename_mono(atom[2], names))


def _rename_power(atom: Atom, names: dict[Atom, Atom]) -> Atom:
    return ("ipow", _rename_atom(atom[1], names), rename_mono(atom[2], names))


def signed(p: Poly) -> Poly:
    """Return p or -p, whichever has a positive last coefficient: both have the same zeros."""
    return p if not p or p[-1][1] > 0 else negate(p)


_RENAME: dict[str, Callable[[Atom, dict[Atom, Atom]], Atom]] = {
    "x": _rename_places,
    "true": _rename_places,
    "fun": _rename_places,
    "delta": _rename_difference,
    "ge": _rename_argument,
    "step": _rename_argument,
    "poly": _rename_argument,
    "log": _rename_argument,
    "erf": _rename_argument,
    "tanh": _rename_argument,
    "relu": _rename_argument,
    "exp": _rename_monomial,
    "E": _rename_monomial,
    "sum": _rename_sum,
    "prod": _rename_sum,
    "ipow": _rename_power,
}
