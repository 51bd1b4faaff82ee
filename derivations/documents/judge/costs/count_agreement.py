"""Whether a count in a document equals a cost of the equations, and under which assumptions.

Result       `agreement(said, value, ...)`: the assumptions under which both are one; None where they never are
             `in_letters(said, value, ...)`: a cost in the sizes of a count
             `visible(said)`: a count that leaves out what a causal mask hides, as one that does not
             `refutation(said, part, quantity)`: the cost that a count of the same letters should be; None where the
             count may be of something else: of one matrix, of an order of growth, of other sizes
Units        parameters, or FLOPs in products, a multiply-add being 2
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy import Expr, Integer, Poly, PolynomialError, Rational, Symbol, expand

from derivations.documents.judge.algebra.scalar_links import USUAL, related
from derivations.documents.judge.costs.part_costs import Cost, costs, matrices
from derivations.documents.judge.costs.subjects import Part
from derivations.symbols import N, batch, d_ff, d_k, d_model, d_v, h, n

__all__ = [
    "NETWORKS", "agreement", "by_monomial", "impossible", "in_letters", "leading_terms", "lengths", "power_of",
    "refutation", "visible",
]  # fmt: skip

WHOLE = frozenset(
    {"feed-forward network", "gated feed-forward network", "layer norm", "root-mean-square norm", "embedding"}
)
NETWORKS = ("feed-forward network", "gated feed-forward network")
WIDTHS = (d_model, d_ff, d_k, d_v)
NO_CACHE = (3, 5, 6, 7)  # factors that neither keys, values nor the bytes of a number explain


def agreement(said: Expr, value: Expr, quantity: str, *, training: bool) -> tuple[str, ...] | None:
    """Return the assumptions under which a count equals a cost, or None."""
    for relations in ((), ((d_v, d_k),), USUAL[:2], USUAL[2:], USUAL):
        first, second = (expand(related(each, relations)) for each in (said, value))
        if relations and second == expand(value) and first == expand(said):
            continue
        found = _same(first, second, quantity, training=training)
        if found is not None:
            present = said.free_symbols | value.free_symbols
            return (*(f"{name} = {size}" for name, size in relations if name in present), *found)
    return None


def _same(first: Expr, second: Expr, quantity: str, *, training: bool) -> tuple[str, ...] | None:
    """Return the conventions under which a count equals a cost with the same sizes, or None."""
    operations = quantity == "operations"
    for fewer, text in lengths(first, second, operations=operations):
        if first == fewer:
            return text
        if operations and expand(2 * first) == fewer:
            return (*text, "a multiply-add counts as one operation; it is 2 FLOPs")
        if operations and first == expand(3 * fewer) and training:
            return (*text, "the backward pass costs twice the forward pass")
        if quantity == "parameters" and _leading(first, fewer):
            return (*text, "biases and norms are left out")
    return None


def in_letters(said: Expr, value: Expr, *, operations: bool) -> Expr:
    """Return a cost in the sizes of a count, by the usual relations, or unchanged if that is not possible."""
    ways = ((), ((d_v, d_k),), USUAL[:2], USUAL[2:], USUAL)
    costs_of = (fewer for way in ways for fewer, _ in lengths(said, expand(related(value, way)), operations=operations))
    return next((each for each in costs_of if each.free_symbols <= said.free_symbols), value)


def lengths(said: Expr, value: Expr, *, operations: bool) -> Iterator[tuple[Expr, tuple[str, ...]]]:
    """Yield a cost, and for operations without a batch size also the cost of one sequence and of one token."""
    yield value, ()
    if operations and batch not in said.free_symbols:
        yield expand(value.xreplace({batch: Integer(1)})), ("one sequence",)
        yield expand(value / (batch * n)), ("for one token",)


def _leading(said: Expr, value: Expr) -> bool:
    """Return whether a count is a cost without some terms. None of these has the highest degree in the widths."""
    first, second = (by_monomial(each) for each in (said, value))
    if not set(first.items()) < set(second.items()):
        return False
    degrees = {monomial: _width_degree(monomial) for monomial in second}
    return all(degrees[each] < max(degrees.values()) for each in second if each not in first)


def by_monomial(expression: Expr) -> dict[Expr, Expr]:
    """Return the terms of an expression that is multiplied out, with their coefficients."""
    coefficients = expand(expression).as_coefficients_dict()
    return {monomial: value for monomial, value in coefficients.items() if value != 0}


def _width_degree(monomial: Expr) -> int:
    try:
        return int(Poly(monomial, *WIDTHS).total_degree())
    except PolynomialError:
        return 0


def visible(said: Expr) -> Expr:
    """Return a count of the pairs that a causal mask shows, half of all, as a count of all pairs.

    The pairs are in the terms with n^2; in those with n where a count for one token has other terms too.
    """
    terms = by_monomial(said)
    powers = {each: power_of(each, n) for each in terms}
    most, least = max(powers.values()), min(powers.values())
    of_pairs = most if most > 1 or most > least else None
    return expand(sum(((2 if powers[each] == of_pairs else 1) * terms[each] * each for each in terms), Integer(0)))


# --- a count that nothing gives ---


def refutation(said: Expr, part: Part, quantity: str) -> Cost | None:
    """Return the cost that a count should equal, with the same letters and other factors or exponents, or None."""
    said = expand(said)
    some = costs(part.name, quantity)
    if quantity == "activations":
        return None  # what is kept is for the author to say
    if quantity == "cache":
        return _cache_refuted(said, some)
    if impossible(said, quantity):
        return min(some, key=lambda cost: _apart(said, cost, quantity), default=None)
    if not said.is_Add and said.as_coeff_Mul()[0] == 1:
        return None  # an order of growth, its factor left out
    if any(_is_share(said, cost, _shares(part, quantity)) for cost in some):
        return None  # of one matrix, or of some of them
    for cost in some:
        whole = part.name in WHOLE and (_near(said, cost) or (part.name in NETWORKS and _foreign(said, cost)))
        if _same_terms(said, cost, quantity) or whole:
            return cost
    return next((cost for cost in some if quantity == "operations" and _attention_differs(said, cost, some)), None)


def _cache_refuted(said: Expr, some: tuple[Cost, ...]) -> Cost | None:
    """Return the cost of a cache, if a count is a multiple of it by a factor that nothing explains, or None."""
    for cost, relations in product(some, (((d_v, d_k),), USUAL[:2])):
        value = expand(related(cost.value, relations))
        letters = value.free_symbols
        complete = {N, n} <= letters and ({h, d_k} <= letters or d_model in letters) and (said / value).is_Rational
        if complete and said.as_coeff_Mul()[0] in NO_CACHE:
            return Cost(value, cost.of, cost.result)
    return None


def _shares(part: Part, quantity: str) -> frozenset[Rational]:
    """Return the fractions of a part that some of its matrices may make up, also counted in multiply-adds."""
    number = matrices(part)
    parts = {Rational(few, number) for few in range(1, number)}
    return frozenset(parts | {share / 2 for share in (*parts, 1)} if quantity == "operations" else parts)


def _is_share(said: Expr, cost: Cost, shares: frozenset[Rational]) -> bool:
    """Return whether a count is one of these fractions of the leading terms of a cost."""
    for relations in ((), USUAL[:2], USUAL[2:], USUAL):
        leading = leading_terms(expand(related(cost.value, relations)))
        if (expand(related(said, relations)) / leading).cancel() in shares:
            return True
    return False


def leading_terms(value: Expr) -> Expr:
    """Return those terms of a cost that have the highest degree in the widths."""
    terms = by_monomial(value)
    most = max((_width_degree(each) for each in terms), default=0)
    return expand(sum(factor * each for each, factor in terms.items() if _width_degree(each) == most))


def _same_terms(said: Expr, cost: Cost, quantity: str) -> bool:
    """Return whether a count and a cost have the same monomials, at least two, whatever their coefficients."""
    first = by_monomial(said)
    for fewer, _ in lengths(said, expand(related(cost.value, USUAL[:2])), operations=quantity == "operations"):
        second = by_monomial(fewer)
        if first and second and len(first) > 1 and set(first) == set(second):
            return True
    return False


def _attention_differs(said: Expr, cost: Cost, some: tuple[Cost, ...]) -> bool:
    """Return whether the pair terms of a count are not 1, 1/2 or 1/4 times those of any cost.

    The pair terms are those of `_shares_of_pairs`. The count must have the same monomials as `cost`.
    """
    shares = {share for each in some for share in _shares_of_pairs(said, each)}
    return bool(_shares_of_pairs(said, cost)) and not {1, Rational(1, 2), Rational(1, 4)} & shares


def _shares_of_pairs(said: Expr, cost: Cost) -> frozenset[Expr]:
    """Return the ratios of a count to a cost in the terms that count pairs of positions.

    These terms have the highest power of n and do not depend on d_ff. The result is empty unless both have the same
    monomials, at least two.
    """
    without = related(cost.value.xreplace({d_ff: Integer(0)}), USUAL)
    fixed = {key for each, _ in lengths(said, expand(without), operations=True) for key in by_monomial(each)}
    for fewer, _ in lengths(said, expand(related(cost.value, USUAL)), operations=True):
        first, second = by_monomial(said), by_monomial(fewer)
        if len(first) > 1 and set(first) == set(second):
            most = max(power_of(each, n) for each in second)
            return frozenset(first[each] / second[each] for each in fixed & set(second) if power_of(each, n) == most)
    return frozenset()


def impossible(said: Expr, quantity: str) -> bool:
    """Return whether a count has a term of a degree that no cost has: d^3 parameters, n^4 d operations.

    A product of two weights has three widths, but no length; tokens made one by one without a cache have three lengths.
    """
    terms = by_monomial(said)
    widths, longest = (max(of(each) for each in terms) for of in (_width_degree, lambda each: power_of(each, n)))
    if quantity == "parameters":
        return widths > 2
    return quantity == "operations" and (longest > 3 or (widths > 2 and longest > 0))


def _apart(said: Expr, cost: Cost, quantity: str) -> tuple[int, int]:
    """Return how far a count is from a cost: the letters that only one has, and the difference in number of terms."""
    value = in_letters(said, cost.value, operations=quantity == "operations")
    return len(value.free_symbols ^ said.free_symbols), abs(len(by_monomial(value)) - len(by_monomial(said)))


def power_of(monomial: Expr, letter: Symbol) -> int:
    """Return the exponent of a letter in a term, or 0 if it is not an integer."""
    power = monomial.as_powers_dict().get(letter, Integer(0))
    return int(power) if power.is_Integer else 0


def _near(said: Expr, cost: Cost) -> bool:
    """Return whether a count has all the widths of a cost and no other letters.

    Its degree in the widths is at least 2. A count without d_ff, such as 5 d^2, may be right for some ratio d_ff / d.
    """
    letters, widths = said.free_symbols, cost.value.free_symbols & set(WIDTHS)
    return widths <= letters <= cost.value.free_symbols and _degree(said) >= 2


def _foreign(said: Expr, cost: Cost) -> bool:
    """Return whether a count of a network is one term of degree 2 in the widths, with d_ff and without d_model."""
    letters, more = said.free_symbols, cost.value.free_symbols | {d_k, d_v}
    return d_ff in letters <= more and d_model not in letters and not said.is_Add and _degree(said) == 2


def _degree(expression: Expr) -> int:
    return max(map(_width_degree, by_monomial(expression)), default=0)
