"""The index calculus of the normal form: sums over indices, substitution and indicators.

linearity      the sum of a polynomial is taken term by term; factors without the index are moved outside
dependence     sum_{j=0}^{i} f_j = sum_{j=0}^{n-1} [j <= i] f_j where i <= n - 1: ranges depend on no other index
count          sum_{j=a}^{b} 1 = b - a + 1, and sums of brackets and powers (`counting`)
delta          sum_j delta_{j,v} f(j) = f(v) [a <= v <= b]
bijection      sum_j f(sigma(j)) = sum_j f(j) for a bijection sigma of the range
numbers        a sum over at most 32 numbers is written out, except where a delta names the place by an entry
blocks         sum_{j=0}^{k p - 1} f(j) = sum_{a=0}^{k-1} sum_{b=0}^{p-1} f(p a + b), for one p that the context names
nesting        sums inside a sum are joined to it; a product of sums over different indices is split
naming         bound indices are named by nesting level, then canonically (colours, then individualisation)
indicator      in a monomial, delta_ij f(j) = delta_ij f(i), and an indicator factor is 1 inside the other factors;
               elsewhere f([c]) = [c] f(1) + (1 - [c]) f(0)
expectation    E binds the entries inside it: they are not replaced by values from outside, no entry from outside is
               substituted inside, and no assumption about them is used; only an identity may rewrite them
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from derivations.language.judge.normal_form.algebra import (
    INDICATORS,
    collect,
    exponential,
    factored,
    logarithm,
    monomial_key,
    multiply,
    odd_function,
    positive_part,
    power,
    product,
    unit_step,
)
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.counting import counted, shown_part
from derivations.language.judge.normal_form.integers import (
    always_nonnegative,
    difference_indicator,
    least_value,
    linear_part,
    order_indicator,
)
from derivations.language.judge.normal_form.naming import named_sum
from derivations.language.judge.normal_form.powers import MINUS, integer_power
from derivations.language.judge.normal_form.signs import is_positive
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
    is_random,
    monomial,
    negate,
    outside_expectations,
    own_level,
    rename_mono,
    rename_poly,
    scale,
    single,
    subtract,
    walk,
)

__all__ = ["expectation_of", "open_sum", "product_over", "settle", "substitute", "times", "transform"]

_WRITTEN_OUT = 32
_PLAIN = ("sym", "prime", "pi", "I", "t", "b")  # hold no indicator inside
Visit = Callable[[Atom], Poly | None]


def times(p: Poly, q: Poly, context: Context) -> Poly:
    """Return the product, with its indicators applied to the other factors."""
    return settle(multiply(p, q, context), context)


def settle(p: Poly, context: Context) -> Poly:
    """Apply the indicators of every monomial to its other factors, until no factor changes."""
    done: list[Poly] = []
    for mono, c in p:
        changed = _use_indicator(mono, c, context)
        done.append(monomial(mono, c) if changed is None else settle(changed, context))
    return add(*done)


def _use_indicator(mono: Mono, coefficient: Number, context: Context) -> Poly | None:
    for atom, _ in mono:
        if atom[0] not in INDICATORS:
            continue
        # the indicator may be used in the other factors, because the term is 0 where the indicator is 0
        others = [pair for pair in mono if pair[0] != atom]
        key, value = _pivot(atom[1], context) or (None, ()) if atom[0] == "delta" else (atom, ONE)
        if key is not None and any(_may_enter(key, value, other) for other, _ in others):
            context.spend(1)
            result = scale(single(atom), coefficient)
            for other, exponent in others:
                if not _may_enter(key, value, other):
                    result = multiply(result, single(other, exponent), context)
                    continue
                result = multiply(
                    result, power(substitute(single(other), {key: value}, context), exponent, context), context
                )
            return result
    for atom, _ in mono:
        # only an indicator inside another atom is left, as in exp(x [c]) or [[c] > 0]: the two values need two terms
        inner = None if atom[0] in _PLAIN else _inner_indicator(atom)
        if inner is not None:
            return _two_cases(mono, coefficient, inner, context)
    return None


def _may_enter(key: Atom, value: Poly, other: Atom) -> bool:
    """Return whether a factor contains the key in a place where the value may replace it.

    Inside an expectation neither of the two may be random.
    """
    if is_random(key):
        return key in outside_expectations(other)
    return contains(other, key) and not _would_enter_expectation(key, value, other)


def _would_enter_expectation(key: Atom, value: Poly, part: Any) -> bool:
    """Return whether a random value would replace a key inside an expectation."""
    return is_random(value) and any(contains(atom, key) for atom in atoms_of(part, "E"))


@lru_cache(maxsize=1 << 16)
def _inner_indicator(atom: Atom) -> Atom | None:
    """Return the first indicator inside an atom that contains no index bound there, if there is one."""
    # an indicator inside an expectation may be random: it is not 0 or 1 for the whole expectation
    if atom[0] == "E" or atoms_of(atom, "E"):
        return None
    inside = walk(atom) - {atom}
    found = (a for a in inside if a[0] in INDICATORS and not any(index[0] == "b" for index in walk(a)))
    return min(found, default=None)


def _two_cases(mono: Mono, coefficient: Number, inner: Atom, context: Context) -> Poly | None:
    """Return f([c]) as [c] f(1) + (1 - [c]) f(0)."""
    context.spend(1)
    try:
        shown, hidden = (
            substitute(monomial(mono, coefficient), {inner: value}, context) for value in (ONE, constant(0))
        )
    except Undecided:  # one of the cases has no value, such as 1 / [c] at [c] = 0: the term stays as it is
        return None
    indicator = single(inner)
    return add(multiply(indicator, shown, context), multiply(subtract(ONE, indicator), hidden, context))


def _pivot(p: Poly, context: Context) -> tuple[Atom, Poly] | None:
    """Return (index, value) with p = 0 exactly when index = value: the last index that p holds with factor 1 or -1."""
    indices = {atom for mono, _ in p for atom, _ in mono if atom[0] in ("sym", "t", "b") and context.range_of(atom)}
    for atom in sorted(indices, key=lambda a: (a[0] == "t", a), reverse=True):
        parts = linear_part(p, atom)
        slope = constant_value(parts[0]) if parts else None
        # 2 i = q does not say i = q / 2: for an odd q no index solves it
        if parts and slope in (1, -1):
            return atom, scale(parts[1], -slope)
    return None


def substitute(p: Poly, values: dict[Atom, Poly], context: Context) -> Poly:
    """Return p with atoms replaced by polynomials; every term is built anew."""
    return transform(p, values.get, context)


def transform(p: Poly, visit: Visit, context: Context, identity: bool = False) -> Poly:
    """Return p built anew, with every atom replaced by `visit(atom)` if that is a polynomial.

    `identity` says that an atom and its replacement are equal for all values. Only then may random atoms inside an
    expectation be replaced.
    """
    result: list[Poly] = []
    for mono, c in p:
        term = constant(c)
        for atom, exponent in mono:
            context.spend(1)
            new = _transform_atom(atom, visit, context, identity)
            if new == single(atom):
                term = multiply(term, single(atom, exponent), context)
            # the exponent goes inside: exp(m)^(1/2) is exp(m / 2) also for complex m, where a root would need a sign
            elif atom[0] == "exp" and visit(atom) is None:
                inner = transform(monomial(atom[1]), visit, context, identity)
                term = multiply(term, exponential(scale(inner, exponent), context), context)
            else:
                term = multiply(term, power(new, exponent, context), context)
        result.append(term)
    return settle(add(*result), context)


def _transform_atom(atom: Atom, visit: Visit, context: Context, identity: bool) -> Poly:
    def inner(p: Poly) -> Poly:
        return transform(p, visit, context, identity)

    new = visit(atom)
    if new is not None:
        return new
    kind = atom[0]
    if kind in ("x", "true"):
        return single((kind, atom[1], tuple(map(inner, atom[2]))))
    if kind == "fun":
        return function(atom[1], atom[2], tuple(map(inner, atom[3])), context)
    if kind == "exp":
        return exponential(inner(monomial(atom[1])), context)
    if kind == "E":
        inside = visit if identity else _for_constants(visit)
        return expectation_of(lambda: transform(monomial(atom[1]), inside, context, identity), context)
    if kind == "sum":
        body, indices = open_sum(atom, context, inner)
        return close(inner(body), indices, context)
    if kind == "prod":
        body, (index,) = open_sum(atom, context, inner)
        return product_over(inner(body), index, context)
    if kind == "ipow":
        base = single(atom[1]) if atom[1] != MINUS else constant(-1)
        return integer_power(inner(base), inner(monomial(atom[2])), context)
    build = _BUILD.get(kind)
    return build(inner(atom[1]), context) if build else single(atom)


def _for_constants(visit: Visit) -> Visit:
    """Return the replacement function to use inside an expectation: it replaces constants by constants only."""

    def inside(atom: Atom) -> Poly | None:
        new = None if is_random(atom) else visit(atom)
        if new is not None and is_random(new):
            raise Undecided("what is random would enter an expectation")
        return new

    return inside


_BUILD: dict[str, Callable[[Poly, Context], Poly]] = {
    "delta": difference_indicator,
    "ge": order_indicator,
    "step": unit_step,
    "poly": lambda p, context: p,
    "log": logarithm,
    "erf": lambda p, context: odd_function("erf", p),
    "tanh": lambda p, context: odd_function("tanh", p),
    "relu": positive_part,
}


def function(name: str, order: int | tuple[int, ...], places: tuple[Poly, ...], context: Context) -> Poly:
    """Return the value of an unknown function, or of a bijection of an index range, at the given arguments."""
    inverse = context.inverses.get(name)
    if inverse and len(places[0]) == 1:
        ((mono, c),) = places[0]
        if c == 1 and len(mono) == 1 and mono[0][1] == 1 and mono[0][0][:2] == ("fun", inverse):
            return mono[0][0][3][0]  # sigma(sigma^-1(j)) = j
    return single(("fun", name, order, places))


def open_sum(atom: Atom, context: Context, change: Callable[[Poly], Poly] | None = None) -> tuple[Poly, list[Atom]]:
    """Return the body of a sum with new open indices, and these indices, outermost first."""
    _, ranges, mono = atom
    level = own_level(mono)
    names: dict[Atom, Atom] = {}
    indices = []
    for number, (low, high) in enumerate(ranges):
        # ranges are listed outermost first, so an end may hold only indices that have a new name by now
        low, high = rename_poly(low, names), rename_poly(high, names)
        if change is not None:
            low, high = change(low), change(high)
        names[("b", level, number)] = index = context.open_index(low, high)
        indices.append(index)
    return monomial(rename_mono(mono, names)), indices


def close(p: Poly, indices: list[Atom], context: Context) -> Poly:
    """Return the sum of p over open indices, outermost first; short ranges of numbers are written out."""
    p, indices = _in_blocks(p, indices, context)
    for position, index in enumerate(indices):
        inside = indices[position + 1 :]
        dependent = any(contains(context.ranges[other], index) for other in inside)
        number = constant_value(subtract(context.ranges[index][1], context.ranges[index][0]))
        # sum_{i=0}^{2} sum_{j=0}^{i}: every value of i gives the inner range an end of its own
        if dependent and number is not None and 0 <= number < _WRITTEN_OUT:
            return _written_out(p, indices[:position], index, inside, context)
    for index in reversed(indices):
        low, high = context.ranges[index]
        length = add(subtract(high, low), ONE)
        if not always_nonnegative(length, context):
            context.keep("nonnegative", length)
        p = _made_independent(p, index, context)
        low, high = context.ranges[index]
        number = constant_value(add(subtract(high, low), ONE))
        others = [other for other in indices if other != index]
        alone = not any(contains(context.ranges[other], index) for other in others)
        if not alone or number is None or not 0 <= number <= _WRITTEN_OUT:
            continue
        if not any(_is_digit(mono, other, index, context) for mono, _ in p for other in others):
            p, named = _with_deltas(p, index, context)
            places = (add(low, constant(step)) for step in range(int(number)))
            p = add(named, *(substitute(p, {index: place}, context) for place in places))
            indices = others
    return _sum(indices, settle(p, context), context) if indices else p


def _with_deltas(p: Poly, index: Atom, context: Context) -> tuple[Poly, Poly]:
    """Return the terms of a short sum to write out, and the sum of the others, in which a delta fixes the index.

    sum_{j=0}^{2} delta_{j,v} f(j) is f(v) as in a long sum, for a v that is an entry of an array.
    """
    rest: list[Poly] = []
    named: list[Poly] = []
    for mono, coefficient in p:
        value = _sum_with_delta(mono, index, context) if any(_at_entry(atom, index) for atom, _ in mono) else None
        if value is None:
            rest.append(monomial(mono, coefficient))
        else:
            named.append(scale(value, coefficient))
    return add(*rest), add(*named)


def _at_entry(atom: Atom, index: Atom) -> bool:
    """Return whether an atom is a Kronecker delta of an index and an array entry."""
    return atom[0] == "delta" and contains(atom, index) and any(inner[0] == "x" for inner in walk(atom))


def _in_blocks(p: Poly, indices: list[Atom], context: Context) -> tuple[Poly, list[Atom]]:
    """Return a sum with each range of k q values cut into k blocks of q = `context.inner`: j = low + q a + b.

    A range that depends on an index, or on which another one depends, stays whole.
    """
    found: list[Atom] = []
    for index in indices:
        low, high = context.ranges[index]
        # every rule below needs b >= a - 1: at b = a - 2 the rule for counts would find -1 terms
        length = add(subtract(high, low), ONE)
        sizes = () if any(contains(context.ranges[other], index) for other in indices) else _inner_sizes(length)
        context.inners += [size for size in sizes if size not in context.inners]
        if context.inner is None or context.inner not in sizes:
            found.append(index)
            continue
        count = multiply(length, power(context.inner, -1, context), context)
        # division with remainder: every j - low below k q is q a + b for exactly one a < k and one b < q
        block, place = (context.open_index((), subtract(number, ONE)) for number in (count, context.inner))
        at = add(low, multiply(context.inner, single(block), context), single(place))
        p = substitute(p, {index: at}, context)
        if not always_nonnegative(length, context):
            context.keep("nonnegative", length)
        found += [block, place]
    return p, found


def _inner_sizes(length: Poly) -> list[Poly]:
    """Return the factors s_1, s_2, ... and c > 1 of a length c s_1 s_2 ... with sizes s, if it has two or more."""
    if len(length) != 1:
        return []
    ((mono, c),) = length
    sizes = [single(atom) for atom, e in mono if atom[0] == "sym" and atom[2] == "size" and e == 1]
    if c < 1 or c != int(c) or len(sizes) < len(mono) or len(sizes) + (c > 1) < 2:
        return []
    return [*sizes, *([constant(int(c))] if c > 1 else [])]


def product_over(p: Poly, index: Atom, context: Context) -> Poly:
    """Return prod_j p over an open index: prod_j c a_j^e = c^n (prod_j a_j)^e; exp(sum_j log a_j) for a_j > 0."""
    low, high = context.ranges[index]
    length = add(subtract(high, low), ONE)
    number = constant_value(length)
    if number is not None and 0 <= number <= _WRITTEN_OUT:
        places = (add(low, constant(step)) for step in range(int(number)))
        return product(*(substitute(p, {index: place}, context) for place in places), context=context)
    if not always_nonnegative(length, context):
        context.keep("nonnegative", length)
    if not contains(p, index):
        return settle(integer_power(p, length, context), context)
    if is_positive(p, context):
        return exponential(close(logarithm(p, context), [index], context), context)
    coefficient, mono, rest = (p[0][1], p[0][0], ONE) if len(p) == 1 else factored(p, context)
    result = integer_power(constant(coefficient), length, context)
    for atom, e in (*mono, *(((("poly", rest), 1),) if rest != ONE else ())):
        base = atom[1] if atom[0] == "poly" and e == 1 else single(atom)
        if not contains(atom, index):
            result = multiply(result, integer_power(single(atom, e), length, context), context)
        elif is_positive(base, context):
            result = multiply(
                result, exponential(scale(close(logarithm(base, context), [index], context), e), context), context
            )
        elif isinstance(e, int):
            # a product takes the canonical names of a sum: equal products are then equal tuples
            _, ranges, inner = named_sum([index], ((atom, 1),), context)
            result = multiply(result, single(("prod", ranges, inner), e), context)
        else:
            raise Undecided("a product of roots that are not proved to be positive")
    return settle(result, context)


def _made_independent(p: Poly, index: Atom, context: Context) -> Poly:
    """Widen the range of an index until it depends on no other index; Iverson brackets restrict p to the old range.

    Sums over independent ranges can be exchanged and split.
    """
    low, high = context.ranges[index]
    if not any(context.range_of(atom) for limit in (low, high) for mono, _ in limit for atom, _ in mono):
        return p
    # the greatest value of `high` is minus the least value of -high
    first, last = least_value(low, context), least_value(negate(high), context)
    if first is None or last is None or not always_nonnegative(subtract(ONE, add(first, last)), context):
        return p  # the widened range must not have negative length, even where the ranges of other indices are empty
    context.ranges[index] = (first, negate(last))
    ends = (subtract(single(index), low), subtract(high, single(index)))
    return product(p, *(order_indicator(end, context) for end in ends), context=context)


def _written_out(p: Poly, outside: list[Atom], index: Atom, inside: list[Atom], context: Context) -> Poly:
    """Return a sum written out over one index of a numeric range, because the inner ranges depend on it."""
    low, high = context.ranges[index]
    terms = []
    for step in range(int(constant_value(subtract(high, low)) or 0) + 1):
        values = {index: add(low, constant(step))}
        copies = []
        for other in inside:
            limits = (substitute(limit, values, context) for limit in context.ranges[other])
            copies.append(context.open_index(*limits))
            values[other] = single(copies[-1])
        terms.append(close(substitute(p, values, context), copies, context))
    return close(add(*terms), outside, context)


def _sum(indices: list[Atom], p: Poly, context: Context) -> Poly:
    return add(*(_sum_of_term(indices, mono, c, context) for mono, c in p))


def _sum_of_term(indices: list[Atom], mono: Mono, coefficient: Number, context: Context) -> Poly:
    """Return the sum of one term over open indices: each rule removes one index or opens one nested sum."""
    context.spend(1)
    if not indices:
        return monomial(mono, coefficient)
    held, ends = walk(mono), walk(tuple(context.ranges[index] for index in indices))
    for index in _in_turn(indices, mono, context):
        if index in ends:
            continue  # the ranges inside still depend on it
        others = [other for other in indices if other != index]
        low, high = context.ranges[index]
        if index not in held:
            length = add(subtract(high, low), ONE)
            return _sum(others, times(monomial(mono, coefficient), length, context), context)
        count = counted(mono, index, context)
        if count is not None:
            return _sum(others, times(monomial(count[0], coefficient), count[1], context), context)
        cut = _cut(mono, index, context)
        if cut is not None:
            rest, place = cut
            return close(monomial(rest, coefficient), [place if each == index else each for each in indices], context)
        if any(_is_digit(mono, index, other, context) for other in others):
            continue
        value = _sum_with_delta(_undo_bijection(mono, index, context), index, context)
        if value is not None:
            # digits of a number that is given now may be written out
            return close(scale(value, coefficient), others, context)
    mono = _undo_bijections(mono, indices, context)
    for atom, exponent in mono:
        nested = atom[0] == "sum" and isinstance(exponent, int) and exponent > 0
        if nested and any(contains(atom, index) for index in indices):
            body, inner = open_sum(atom, context)
            # (sum_k f_k)^2 needs two indices: one factor is opened, and the other one in the next call
            rest = collect({**dict(mono), atom: exponent - 1}, coefficient, context)
            return _sum([*indices, *inner], times(rest, body, context), context)
    return _split(indices, mono, coefficient, context)


def _in_turn(indices: list[Atom], mono: Mono, context: Context) -> list[Atom]:
    """Return the indices; if a delta links several, in an order that does not depend on how the sums are written."""
    if not any(atom[0] == "delta" and sum(contains(atom, index) for index in indices) > 1 for atom, _ in mono):
        return indices
    marked: Atom = ("sym", "", "index")
    return sorted(
        indices,
        # an index that is given by others wherever they are in range leaves no brackets
        key=lambda i: (
            not any(atom[0] == "delta" and contains(atom, i) and _is_given(atom[1], i, context) for atom, _ in mono),
            context.ranges[i],
            monomial_key(rename_mono(mono, {i: marked})),
        ),
    )


def _is_given(p: Poly, index: Atom, context: Context) -> bool:
    """Return whether p = 0 gives an index a value that is in its range for all values of the other indices."""
    low, high = context.range_of(index) or ((), ())
    place, value = _solution(p, index, context) or ((), None)
    ends = (subtract(place, low), subtract(high, place))
    return value is not None and not contains(value, index) and all(always_nonnegative(end, context) for end in ends)


def _is_digit(mono: Mono, index: Atom, higher: Atom, context: Context) -> bool:
    """Return whether a delta gives a row-major number, of which one index is the last digit and another the one before.

    Such a delta stays: a sum over the number itself, which both digits give, leaves no brackets.
    """
    low, high = context.ranges[index]
    length = add(subtract(high, low), ONE)
    for atom, _ in mono:
        last, before = (linear_part(atom[1], each) if atom[0] == "delta" else None for each in (index, higher))
        if last and before and last[0] and before[0] == times(length, last[0], context):
            return True
    return False


def _cut(mono: Mono, index: Atom, context: Context) -> tuple[Mono, Atom] | None:
    """Return a term without its brackets [j <= v], and a new index with the smaller range.

    sum_{j=a}^{b} [j <= v] f_j = sum_{j=a}^{v} f_j, where v is free of other indices.
    """
    brackets = [
        atom
        for atom, _ in mono
        if atom[0] == "ge"
        and contains(atom, index)
        # an end at another index would make the ranges depend on one another again
        and not any(other != index and context.range_of(other) for other in walk(atom))
    ]
    limits = shown_part(brackets, index, context) if brackets else None
    if limits is None:
        return None
    place = context.open_index(*limits)
    rest = tuple(pair for pair in mono if pair[0] not in brackets)
    return rename_mono(rest, {index: place}), place


def _undo_bijections(mono: Mono, indices: list[Atom], context: Context) -> Mono:
    for index in indices:
        if not any(contains(context.ranges[other], index) for other in indices if other != index):
            mono = _undo_bijection(mono, index, context)
    return mono


def _undo_bijection(mono: Mono, index: Atom, context: Context) -> Mono:
    """Return f(j) for f(sigma(j)), if j occurs only as sigma(j) and sigma is a bijection of the range of j."""
    for name in sorted(context.inverses):
        image: Atom = ("fun", name, 0, (single(index),))
        if not contains(mono, image) or context.range_of(image) != context.ranges[index]:
            continue
        # serial numbers start at 1, so the marker is no open index
        marker: Atom = ("t", 0)
        hidden = rename_mono(mono, {image: marker})
        if not contains(hidden, index):
            return rename_mono(hidden, {marker: index})
    return mono


def _sum_with_delta(mono: Mono, index: Atom, context: Context) -> Poly | None:
    """Return f(v) [a <= v <= b] for sum_j delta_{j,v} f(j), if the term has such a delta."""
    low, high = context.ranges[index]
    for atom, _ in mono:
        if atom[0] != "delta" or not contains(atom, index):
            continue
        place, value = _solution(atom[1], index, context) or ((), None)
        # delta_{j, sigma(j)} has no solution free of j: it marks the fixed points of sigma
        if value is None or contains(value, index) or _would_enter_expectation(index, value, mono):
            continue
        others = tuple(pair for pair in mono if pair[0] != atom)
        shown = multiply(
            order_indicator(subtract(place, low), context), order_indicator(subtract(high, place), context), context
        )
        return times(shown, substitute(monomial(others), {index: value}, context), context)
    return None


def _solution(p: Poly, index: Atom, context: Context) -> tuple[Poly, Poly] | None:
    """Return (w, v) with p = 0 exactly when w is in range and index = v.

    Either p = index - v and w = v, or p = sigma(index) - w with a bijection sigma of the range of the index.
    """
    images = [(index, "")] + [(("fun", name, 0, (single(index),)), name) for name in sorted(context.inverses)]
    for image, name in images:
        parts = linear_part(p, image)
        slope = constant_value(parts[0]) if parts else None
        if parts and slope in (1, -1):
            value = scale(parts[1], -slope)
            if not name:
                return value, value
            if context.ranges.get(("fun", name)) == context.ranges[index]:
                return value, function(context.inverses[name], 0, (value,), context)
    return None


def _split(indices: list[Atom], mono: Mono, coefficient: Number, context: Context) -> Poly:
    """Write the sum of a term as a product of sums, one for each connected part of the term."""
    wanted = frozenset(indices)
    held = [(pair, walk(pair[0]) & wanted) for pair in mono]
    links = [own for _, own in held] + [(walk(context.ranges[index]) & wanted) | {index} for index in indices]
    result = monomial(tuple(pair for pair, own in held if not own), coefficient)
    left = list(indices)
    while left:
        group = frozenset({left[0]})
        while True:
            grown = group.union(*(link for link in links if link & group))
            if grown == group:
                break
            group = grown
        part = tuple(pair for pair, own in held if own & group)
        result = multiply(result, single(named_sum([i for i in left if i in group], part, context)), context)
        left = [i for i in left if i not in group]
    return result


def expectation_of(build: Callable[[], Poly], context: Context) -> Poly:
    """Return E[p] for a polynomial p that is built without assumptions about random values.

    An assumption about an entry holds for one outcome, not for all outcomes that the expectation runs over.
    """
    with context.supposing(lambda kind, of: not is_random(of)) as conditions:
        value = _expectation(build(), context)
    for condition in conditions:
        if is_random(condition.of):
            raise Undecided(f"inside an expectation a value is used that is not proved to be {condition.kind}")
        context.keep(condition.kind, condition.of)
    return value


def _expectation(p: Poly, context: Context) -> Poly:
    """Return E[p] by linearity: array entries are random, other atoms are constant; random ranges stay inside."""
    terms: list[Poly] = []
    for mono, c in p:
        # E[c X] = c E[X] for a constant c
        constants = tuple(pair for pair in mono if not is_random(pair[0]))
        random = tuple(pair for pair in mono if is_random(pair[0]))
        opened = next((pair for pair in random if _opens(*pair)), None)
        if opened is None:
            value = single(("E", random)) if random else ONE
        else:
            body, indices = open_sum(opened[0], context)
            rest = collect({**dict(random), opened[0]: opened[1] - 1}, 1, context)
            value = close(_expectation(times(rest, body, context), context), indices, context)
        terms.append(multiply(monomial(constants, c), value, context))
    return settle(add(*terms), context)


def _opens(atom: Atom, exponent: Number) -> bool:
    return atom[0] == "sum" and isinstance(exponent, int) and exponent > 0 and not is_random(atom[1])
