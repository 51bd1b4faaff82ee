"""Signs read off a normal form: sums of positive terms, even powers, facts that the context states.

The answer "no" means "not seen here", never "negative".
"""

from derivations.language.normal_form.context import Condition, Context
from derivations.language.normal_form.integers import always_nonnegative, linear_part, plain_product
from derivations.language.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Number,
    Poly,
    add,
    contains,
    negate,
    own_level,
    rename_mono,
    single,
    subtract,
    walk,
)

__all__ = ["COMPLEX", "is_nonnegative", "is_nonzero", "is_positive"]

COMPLEX = " (complex)"  # ends the names of arrays and functions that were not declared real
_POSITIVE_SYMBOLS = ("size", "positive")
_POSITIVE_KINDS = ("prime", "pi")
_INDICATORS = ("delta", "ge", "true", "step")
_NONNEGATIVE_KINDS = (*_INDICATORS, "relu")


def is_positive(p: Poly, context: Context) -> bool:
    """Say whether p is seen to be > 0: all terms nonnegative, one of them positive, or a stated fact."""
    if Condition("positive", p) in context.facts:
        return True
    seen = [_term(mono, c, context) for mono, c in p]
    if bool(seen) and None not in seen and "positive" in seen:
        return True
    return all(_integer_term(mono) for mono, _ in p) and bool(p) and always_nonnegative(subtract(p, ONE), context)


def is_nonnegative(p: Poly, context: Context) -> bool:
    """Say whether p is seen to be >= 0."""
    if not p or any(Condition(kind, p) in context.facts for kind in ("positive", "nonnegative")):
        return True
    if None not in [_term(mono, c, context) for mono, c in p]:
        return True
    return all(_integer_term(mono) for mono, _ in p) and always_nonnegative(p, context)


def _integer_term(mono: Mono) -> bool:
    return all(atom[0] in ("t", "b") or (atom[0] == "sym" and atom[2] in ("size", "index")) for atom, _ in mono)


def is_nonzero(p: Poly, context: Context) -> bool:
    """Say whether p is seen to be nonzero: it has a sign, or is one term of factors that are never 0."""
    if is_positive(p, context) or is_positive(negate(p), context) or Condition("nonzero", p) in context.facts:
        return True
    return len(p) == 1 and all(a[0] == "exp" or _atom(a, context) == "positive" for a, _ in p[0][0])


def _term(mono: Mono, coefficient: Number, context: Context) -> str | None:
    if coefficient < 0:
        return None
    sign = "positive"
    for atom, exponent in mono:
        own = _atom(atom, context)
        if own == "positive":
            continue
        if (own == "nonnegative" and exponent > 0) or (isinstance(exponent, int) and exponent % 2 == 0 and _real(atom)):
            sign = "nonnegative"
        else:
            return None
    return sign


def _real(atom: Atom) -> bool:
    return not contains(atom, ("I",)) and not any(_complex(a) for a in walk(atom))


def _complex(atom: Atom) -> bool:
    return (atom[0] == "sym" and atom[2] == "complex") or (atom[0] in ("x", "fun") and atom[1].endswith(COMPLEX))


def _atom(atom: Atom, context: Context) -> str | None:
    kind = atom[0]
    if Condition("positive", single(atom)) in context.facts:
        return "positive"
    if kind == "sym":
        return "positive" if atom[2] in _POSITIVE_SYMBOLS else "nonnegative" if atom[2] == "nonnegative" else None
    if kind == "exp":
        return "positive" if _real(atom) else None
    if kind in _POSITIVE_KINDS:
        return "positive"
    if kind in _NONNEGATIVE_KINDS:
        return "nonnegative"
    if kind == "poly":
        return (
            "positive" if is_positive(atom[1], context) else "nonnegative" if is_nonnegative(atom[1], context) else None
        )
    if kind == "sum":
        return _sum(atom, context)
    if kind == "E":
        even = all(isinstance(e, int) and e % 2 == 0 and _real(a) for a, e in atom[1])
        return "nonnegative" if even else None
    return "nonnegative" if Condition("nonnegative", single(atom)) in context.facts else None


def _sum(atom: Atom, context: Context) -> str | None:
    """A sum of nonnegative terms is nonnegative; of positive terms over a range that is never empty, positive.

    Where indicators hide some of the terms, one term that is surely shown makes it positive: the first, the one at a
    free index of the same range, or any where the sum of the indicators alone is a stated positive fact.
    """
    _, ranges, mono = atom
    sign = _term(mono, 1, context)
    if sign == "positive" and all(always_nonnegative(subtract(high, low), context) for low, high in ranges):
        return "positive"
    if sign and len(ranges) == 1 and _shown(ranges[0], mono, context):
        return "positive"
    return "nonnegative" if sign else None


def _shown(limits: tuple[Poly, Poly], mono: Mono, context: Context) -> bool:
    indicators = tuple((a, e) for a, e in mono if a[0] in _INDICATORS)
    rest = tuple(pair for pair in mono if pair not in indicators)
    if not indicators or _term(rest, 1, context) != "positive":
        return False
    bound = ("b", own_level(mono), 0)
    alone = ("sum", (limits,), rename_mono(indicators, {bound: ("b", 1, 0)}))
    if Condition("positive", single(alone)) in context.facts:
        return True
    first = [limits[0]] if always_nonnegative(subtract(limits[1], limits[0]), context) else []
    places = [*first, *(single(a) for a, own in context.ranges.items() if own == limits and a[0] == "sym")]
    return any(_all_shown(indicators, bound, place, context) for place in places)


def _all_shown(indicators: Mono, bound: Atom, place: Poly, context: Context) -> bool:
    """Say whether every indicator, an order of integers, holds at the given place."""
    for atom, _ in indicators:
        parts = linear_part(atom[1], bound) if atom[0] == "ge" else None
        if parts is None or not always_nonnegative(add(plain_product(parts[0], place), parts[1]), context):
            return False
    return True
