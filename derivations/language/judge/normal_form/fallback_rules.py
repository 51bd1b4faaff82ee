"""Fallback rules: the zero test tries them only where the two sides are not equal yet.

ends         sum_{j=a}^{b} f_j = sum_{j=0}^{b} f_j - f_0 - ... - f_{a-1}, and likewise at the upper end;
             sum_{j=m}^{m+n-1} f_j = sum_{j=0}^{n-1} f_{j+m}
parts        sum_{j=0}^{m+n-1} f_j = sum_{j=0}^{m-1} f_j + sum_{j=0}^{n-1} f_{j+m}
reindexing   sum_j f(sigma(j), j) = sum_j f(j, sigma^-1(j)), sigma a bijection of the range, such as j -> a + b - j
neighbours   [q + c >= 0] = [q >= 0] + [q = -1] + ... + [q = -c], and likewise for c < 0; [q >= 0] = 1 - [-q - 1 >= 0]
relu         relu(p) = p [p > 0]
complement   M [-q > 0] = M (1 - [q > 0]) where M is 0 at q = 0, or q is assumed not to be 0
tanh         tanh(p) = 1 - 2 / (1 + exp(2 p)) for real p
division     under a sum, M / (M + r) = 1 - r / (M + r)
antidifference   sum_{j=a}^{b} f_j = F_{b+1} - F_a (`telescoping`)

Each rule yields rewritten polynomials: none if it does not apply, several if it has a choice.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

from derivations.language.judge.normal_form.algebra import exponential, monomial_key, multiply, power
from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.integers import always_nonnegative, difference_indicator, is_stated
from derivations.language.judge.normal_form.signs import is_real
from derivations.language.judge.normal_form.sums import close, function, open_sum, substitute, times, transform
from derivations.language.judge.normal_form.telescoping import telescoped
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    atoms_of,
    constant,
    constant_value,
    contains,
    from_terms,
    monomial,
    negate,
    scale,
    signed,
    single,
    subtract,
    walk,
)

__all__ = ["FALLBACK_RULES"]

_MOST_ENDS = 8
_MOST_DIVISIONS = 24
SumRule = Callable[[Poly, list[Atom], Context], Poly | None]


def _in_sums(p: Poly, rule: SumRule, context: Context) -> Poly:
    """Return p with the rule applied to every sum, given its body and its open indices."""

    def visit(atom: Atom) -> Poly | None:
        return rule(*open_sum(atom, context), context) if atom[0] == "sum" else None

    return transform(p, visit, context, identity=True)


def _free_of_others(index: Atom, indices: list[Atom], context: Context) -> bool:
    limits = context.ranges[index]
    return not any(
        contains(limits, other) or contains(context.ranges[other], index) for other in indices if other != index
    )


def ends(p: Poly, context: Context) -> Iterator[Poly]:
    """Rewrite every sum so that its range starts at 0 and its length has no constant term."""
    yield _in_sums(p, _ends_of_sum, context)


def _ends_of_sum(body: Poly, indices: list[Atom], context: Context) -> Poly | None:
    for index in indices:
        if not _free_of_others(index, indices, context):
            continue
        # x_{j-1} and x_{j+1} under two sums compare only if both start at the same entry
        shift = constant(_least_offset(body, index))
        low, high = (add(limit, shift) for limit in context.ranges[index])
        if not shift and not low and not _number_in(add(high, ONE)):
            continue
        body = substitute(body, {index: subtract(single(index), shift)}, context)
        first = _number_in(low)
        start = subtract(low, constant(first))
        if start:  # the lower end without its constant term: the index is shifted by it
            high = subtract(high, start)
            body = substitute(body, {index: add(single(index), start)}, context)
        tail = _number_in(add(high, ONE))
        length = subtract(add(high, ONE), constant(tail))
        if not isinstance(first, int) or not isinstance(tail, int) or abs(first) + abs(tail) > _MOST_ENDS:
            return None
        # the identity needs b >= a - 1: a range that ends earlier is empty, but the difference of its parts is not 0
        if not always_nonnegative(length, context) or (first < 0 and not always_nonnegative(add(high, ONE), context)):
            return None
        others = [other for other in indices if other != index]
        whole = context.open_index((), subtract(length, ONE))
        values = [(-1, constant(j)) for j in range(first)] + [(1, constant(j)) for j in range(first, 0)]
        values += [(1, add(length, constant(j))) for j in range(tail)]
        values += [(-1, add(length, constant(j))) for j in range(tail, 0)]
        at_ends = add(*(scale(substitute(body, {index: value}, context), sign) for sign, value in values))
        inside = substitute(body, {index: single(whole)}, context)
        rest = close(at_ends, others, context) if others else at_ends
        return add(close(inside, [whole if each == index else each for each in indices], context), rest)
    return None


def _least_offset(body: Poly, index: Atom) -> int:
    """Return the least number c for which an array is indexed by j + c."""
    places = {place for mono, _ in body for atom, _ in mono for a in walk(atom) if a[0] == "x" for place in a[2]}
    offsets = {constant_value(subtract(place, single(index))) for place in places}
    return min((c for c in offsets if isinstance(c, int)), default=0)


def _number_in(p: Poly) -> Number:
    return dict(p).get((), 0)


def parts(p: Poly, context: Context) -> Iterator[Poly]:
    """Split every range of length m + n into two, in both orders."""
    yield _in_sums(p, partial(_parts_of_sum, order=1), context)
    yield _in_sums(p, partial(_parts_of_sum, order=-1), context)


def _parts_of_sum(body: Poly, indices: list[Atom], context: Context, order: int) -> Poly | None:
    for index in indices:
        low, high = context.ranges[index]
        lengths = [monomial(mono, c) for mono, c in add(high, ONE)][::order]
        # `ends` has moved ranges to start at 0 before this rule is tried
        if low or len(lengths) < 2 or not _free_of_others(index, indices, context):
            continue
        # each part must be a range: with a negative length among them the parts do not add up to the whole
        if not all(always_nonnegative(length, context) for length in lengths):
            continue
        terms, before = [], constant(0)
        for length in lengths:
            place = context.open_index((), subtract(length, ONE))
            moved = substitute(body, {index: add(single(place), before)}, context)
            terms.append(close(moved, [place if each == index else each for each in indices], context))
            before = add(before, length)
        return add(*terms)
    return None


def reindexing(p: Poly, context: Context) -> Iterator[Poly]:
    """Reindex every sum by the bijection of its range that gives the simplest term."""
    yield _in_sums(p, _reindexed_sum, context)


def _reindexed_sum(body: Poly, indices: list[Atom], context: Context) -> Poly | None:
    best, changed = body, False
    for index in indices:
        if not _free_of_others(index, indices, context):
            continue
        low, high = context.ranges[index]
        # j -> a + b - j runs through the range backwards
        images = [subtract(add(low, high), single(index))]
        for name in sorted(context.inverses):
            if context.ranges.get(("fun", name)) == (low, high):
                images.append(function(name, 0, (single(index),), context))
        for image in images:
            candidate = substitute(best, {index: image}, context)
            # the key must fall, so that repeated use of the rule ends
            if _simplicity(candidate) < _simplicity(best):
                best, changed = candidate, True
    return close(best, indices, context) if changed else None


def _simplicity(p: Poly) -> tuple[int, int, list[tuple[str, Number]]]:
    functions = sum(atom[0] == "fun" for mono, _ in p for factor, _ in mono for atom in walk(factor))
    keys = sorted((monomial_key(mono), c) for mono, c in p)
    return functions, sum(len(key) for key, _ in keys), keys


def neighbours(p: Poly, context: Context) -> Iterator[Poly]:
    """Write every [q + c >= 0] of integers as [q >= 0] and terms [q = k], with one choice of sign for q."""

    def visit(atom: Atom) -> Poly | None:
        return _neighbour(atom[1], context) if atom[0] == "ge" else None

    if atoms_of(p, "ge"):
        yield transform(p, visit, context, identity=True)


def _neighbour(p: Poly, context: Context) -> Poly | None:
    number = _number_in(p)
    q = subtract(p, constant(number))
    # [q >= 0] and [-q - 1 >= 0] are complements: with one sign of q both become brackets of the same q
    if q != signed(q):
        other = _neighbour(subtract(negate(p), ONE), context)
        return None if other is None else subtract(ONE, other)
    if not isinstance(number, int) or abs(number) > _MOST_ENDS:
        return None
    places = range(1, number + 1) if number > 0 else range(number + 1, 1)
    equal = (difference_indicator(add(q, constant(place)), context) for place in places)
    return add(single(("ge", q)), scale(add(*equal), 1 if number > 0 else -1))


def relu_by_step(p: Poly, context: Context) -> Iterator[Poly]:
    """Write relu(q) as q [q > 0] if p has brackets [r > 0] too."""

    def visit(atom: Atom) -> Poly | None:
        return times(atom[1], single(("step", atom[1])), context) if atom[0] == "relu" else None

    # relu(q) alone is shorter; only beside [r > 0] do the two have to cancel
    if atoms_of(p, "relu") and atoms_of(p, "step"):
        yield transform(p, visit, context, identity=True)


def complement(p: Poly, context: Context) -> Iterator[Poly]:
    """Write B [-q > 0] as B (1 - [q > 0]), inside and outside sums, if q is not 0 or B is 0 at q = 0."""
    brackets = {atom[1] for atom in atoms_of(p, "step")}
    both = [q for q in sorted(brackets) if negate(q) in brackets and q == signed(q)]
    for q in both:
        if all(map(is_real, walk(q))):
            inside = _in_sums(p, partial(_complement_in_sum, q), context)
            outside = _complemented(inside, q, context)
            yield inside if outside is None else outside


def _complement_in_sum(q: Poly, body: Poly, indices: list[Atom], context: Context) -> Poly | None:
    found = _complemented(body, q, context)
    return None if found is None else close(found, indices, context)


def _complemented(p: Poly, q: Poly, context: Context) -> Poly | None:
    """Return B [-q > 0] + C as B (1 - [q > 0]) + C if q is not 0 or B is 0 at q = 0, else None."""
    bracket = ("step", negate(q))
    factor = from_terms(
        (tuple(each for each in mono if each[0] != bracket), c) for mono, c in p if bracket in dict(mono)
    )
    rest = from_terms((mono, c) for mono, c in p if bracket not in dict(mono))
    never_zero = any(is_stated("nonzero", each, context) for each in (q, negate(q)))
    if not factor or not (never_zero or _vanishes(factor, q, context)):
        return None
    return add(rest, times(factor, subtract(ONE, single(("step", q))), context))


def _vanishes(p: Poly, q: Poly, context: Context) -> bool:
    """Return whether p is 0 at q = 0, for q = c a + r and a polynomial p in the atom a: p is 0 at a = -r/c."""
    for mono, c in q:
        if len(mono) != 1 or mono[0][1] != 1:
            continue
        atom = mono[0][0]
        r = from_terms(term for term in q if term != (mono, c))
        if contains(r, atom):
            continue
        value = scale(r, -1 / Fraction(c))
        powers = [(dict(own).get(atom, 0), tuple(each for each in own if each[0] != atom), k) for own, k in p]
        if any(not isinstance(e, int) or e < 0 or contains(left, atom) for e, left, _ in powers):
            continue
        if not add(
            *(times(monomial(left, k), power(value, e, context) if e else ONE, context) for e, left, k in powers)
        ):
            return True
    return False


def tanh_by_exponentials(p: Poly, context: Context) -> Iterator[Poly]:
    """Write tanh(q) as 1 - 2 / (1 + exp(2 q))."""

    def visit(atom: Atom) -> Poly | None:
        if atom[0] != "tanh" or not is_real(atom):
            return None
        below = add(ONE, exponential(scale(atom[1], 2), context))
        return subtract(ONE, scale(power(below, -1, context), 2))

    if atoms_of(p, "tanh"):
        yield transform(p, visit, context, identity=True)


def division(p: Poly, context: Context) -> Iterator[Poly]:
    """Divide with remainder, inside every sum, by the denominators that have several terms."""
    if any(_denominators(atom[2]) for atom in atoms_of(p, "sum")):
        yield _in_sums(p, _divided_sum, context)


def _denominators(mono: Mono) -> list[tuple[Atom, int]]:
    return [(atom, e) for atom, e in mono if atom[0] == "poly" and isinstance(e, int) and e < 0]


def _divided_sum(body: Poly, indices: list[Atom], context: Context) -> Poly | None:
    done, todo = [], list(body)
    for _ in range(_MOST_DIVISIONS):
        if not todo:
            break
        mono, c = todo.pop()
        quotient = _divided(mono, c, indices, context)
        if quotient is None:
            done.append((mono, c))
        else:
            todo = list(from_terms([*todo, *quotient]))
    if todo or from_terms(done) == body:
        return None
    return close(from_terms(done), indices, context)


def _divided(mono: Mono, coefficient: Number, indices: list[Atom], context: Context) -> Poly | None:
    """Return M R / (M + r)^k as R / (M + r)^(k-1) - r R / (M + r)^k, for the largest M if it divides the numerator."""
    for atom, _ in _denominators(mono):
        # a denominator free of the indices is outside the sum already
        moving = [(m, c) for m, c in atom[1] if any(contains(m, index) for index in indices)]
        if not moving:
            continue
        # the leading term, as in polynomial division, in an order that the names of indices do not change
        lead, c = max(moving, key=lambda term: (sum(e for _, e in term[0]), monomial_key(term[0])))
        own = dict(mono)
        if any(e <= 0 or own.get(factor, 0) < e for factor, e in lead):
            continue
        ratio = monomial(tuple((factor, -e) for factor, e in lead), coefficient)
        left = scale(multiply(monomial(mono), ratio, context), 1 / Fraction(c))
        rest = subtract(atom[1], monomial(lead, c))
        return subtract(multiply(left, single(("poly", atom[1])), context), times(left, rest, context))
    return None


FALLBACK_RULES: tuple[Callable[[Poly, Context], Iterator[Poly]], ...] = (
    ends,
    reindexing,
    neighbours,
    relu_by_step,
    complement,
    tanh_by_exponentials,
    division,
    telescoped,
    parts,
)
