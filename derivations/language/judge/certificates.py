"""Inequalities proved by certificates, which are expressions whose form shows their sign.

sum            a sum of nonnegative terms is nonnegative; with one positive term, positive
product        a product of nonnegative factors is nonnegative; of positive factors, positive
square         an even power of a real expression is nonnegative
exponential    exp of a real expression is positive
sizes          sizes are at least 1 (or their stated minimum)
bracket        [condition], delta_ij, 1 - [condition] and 1 - delta_ij are 0 or 1
others         the sum over j != i of positive terms is positive when j takes at least two values
increasing     w (exp(a) - exp(b)) >= 0 when w (a - b) >= 0, w being 0 or 1
known          exp(a) >= 1 + a; max(a, b) >= a; log(1 + u) >= 0 for u >= 0; -1 < erf(a), tanh(a) < 1;
               1 - tanh(a) <= 2 exp(-2 a); 1 - erf(a) <= exp(-a^2) for a >= 0
assumption     an assumed inequality, at any indices in range
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from sympy import Add, Basic, Expr, Indexed, KroneckerDelta, Max, Mul, Pow, Sum, Symbol, erf, exp, log, tanh
from sympy.core.function import AppliedUndef

from derivations.language.arrays.deferred import Deferred
from derivations.language.arrays.scalars import Iverson, Within, declared_real
from derivations.language.judge.normal_form.context import Condition, Context, Undecided
from derivations.language.judge.normal_form.integers import always_nonnegative
from derivations.language.judge.normal_form.reading import read
from derivations.language.judge.normal_form.signs import is_nonnegative, is_positive
from derivations.language.judge.normal_form.sums import substitute
from derivations.language.judge.normal_form.terms import ONE, Atom, Poly, contains, scale, single, subtract

__all__ = ["Bound", "Inequalities", "nonnegative", "positive"]


@dataclass(frozen=True)
class Bound:
    """An assumption that `value` is "nonnegative", "positive" or "nonzero", at all indices within `limits`."""

    kind: str
    value: Poly
    limits: tuple[tuple[Atom, tuple[Poly, Poly]], ...]

    def instances(self, context: Context) -> list[Condition]:
        """Return the assumed condition for every choice of known indices in its ranges.

        Over an empty range the assumption is vacuous. A value without the index is used only if the range is not empty.
        """
        if not self.limits:
            return [Condition(self.kind, self.value)]
        (index, limits), *rest = self.limits
        # "a > 0 for all j" says nothing of a when there is no j
        if not contains(self.value, index):
            filled = always_nonnegative(subtract(limits[1], limits[0]), context)
            return Bound(self.kind, self.value, tuple(rest)).instances(context) if filled else []
        found: list[Condition] = []
        for place in _places(limits, context):
            value = substitute(self.value, {index: place}, context)
            found += Bound(self.kind, value, tuple(rest)).instances(context)
        return found


def _places(limits: tuple[Poly, Poly], context: Context) -> list[Poly]:
    """Return the known indices of a range: its first if it is not empty, symbols, and their images under bijections."""
    first = [limits[0]] if always_nonnegative(subtract(limits[1], limits[0]), context) else []
    known = first + [single(atom) for atom, own in context.ranges.items() if own == limits and atom[0] in ("t", "sym")]
    names = [name for name in context.inverses if context.ranges.get(("fun", name)) == limits]
    return known + [single(("fun", name, 0, (place,))) for name in names for place in known]


@dataclass
class Inequalities:
    """The context and the assumed inequalities that a certificate may use."""

    context: Context
    bounds: list[Bound] = field(default_factory=list)


def nonnegative(expression: Basic, use: Inequalities) -> bool:
    """Return whether the form of an expression shows that it is >= 0."""
    if isinstance(expression, Deferred):
        return nonnegative(expression.now(), use)
    if positive(expression, use) or _zero_or_one(expression):
        return True
    if isinstance(expression, Within):
        return nonnegative(expression.args[0], use)
    if isinstance(expression, log):
        # log u >= 0 where u >= 1
        return _above_1(expression.args[0], use, nonnegative)
    if isinstance(expression, Add):
        termwise = all(nonnegative(term, use) for term in expression.args)
        return termwise or _increasing(expression, None, use) or _known(expression, use) or _assumed(expression, use)
    if isinstance(expression, Mul):
        return all(nonnegative(factor, use) for factor in expression.args) or _weighted(expression, use)
    if isinstance(expression, Pow) and expression.exp.is_Integer:
        even = expression.exp % 2 == 0 and expression.exp > 0 and declared_real(expression)
        return bool(even) or nonnegative(expression.base, use)
    if isinstance(expression, Sum):
        return _inside(expression, use, nonnegative)
    if isinstance(expression, Indexed) and expression.base.label.name in use.context.definitions:
        return nonnegative(use.context.definitions[expression.base.label.name](*expression.indices), use)
    return _assumed(expression, use)


def positive(expression: Basic, use: Inequalities) -> bool:
    """Return whether the form of an expression shows that it is > 0."""
    if isinstance(expression, Deferred):
        return positive(expression.now(), use)
    # exp of a complex number may be negative, as exp(I pi) = -1
    if isinstance(expression, exp):
        return declared_real(expression)
    if isinstance(expression, Within):
        return positive(expression.args[0], use)
    if isinstance(expression, log):
        return _above_1(expression.args[0], use, positive)
    if isinstance(expression, Add):
        return _sum_positive(expression, use)
    if isinstance(expression, Mul):
        return all(positive(factor, use) for factor in expression.args)
    if isinstance(expression, Pow):
        return bool(expression.exp.is_Rational) and positive(expression.base, use)
    if isinstance(expression, Sum):
        # positive terms are not enough: an empty sum is 0
        return _sum_over_places_positive(expression, use)
    if isinstance(expression, Indexed) and expression.base.label.name in use.context.definitions:
        return positive(use.context.definitions[expression.base.label.name](*expression.indices), use)
    if isinstance(expression, (Indexed, Symbol, AppliedUndef)) or expression.is_Rational:
        return _assumed(expression, use, strict=True)
    return False


def _above_1(expression: Expr, use: Inequalities, test: Any) -> bool:
    """Return whether expression - 1 has the sign that `test` tests. Its logarithm then has the same sign."""
    if not test(expression - 1, use):
        return False
    # The normal form can then read log(expression) without a side condition.
    use.context.facts.append(Condition("positive", read(expression, use.context)))
    return True


def _sum_positive(expression: Add, use: Inequalities) -> bool:
    # The form of n - 1 shows no sign; the normal form decides it by the least value of n.
    if all(term.is_Rational or isinstance(term, (Symbol, Mul)) for term in expression.args):
        try:
            if is_positive(read(expression, use.context), use.context):
                return True
        except Undecided:
            return False
    parts = expression.args
    if _increasing(expression, None, use, positive) or _known(expression, use, strict=True):
        return True
    # one positive term lifts the sum above 0 if no other term is negative
    return any(positive(term, use) for term in parts) and all(
        positive(term, use) or nonnegative(term, use) for term in parts
    )


def _zero_or_one(expression: Basic) -> bool:
    if isinstance(expression, Within):
        return _zero_or_one(expression.args[0])
    if isinstance(expression, (KroneckerDelta, Iverson)):
        return True
    if isinstance(expression, Add) and len(expression.args) == 2 and expression.args[0] == 1:
        return isinstance(-expression.args[1], (KroneckerDelta, Iverson))
    return isinstance(expression, Mul) and all(_zero_or_one(factor) for factor in expression.args)


def _inside(expression: Sum, use: Inequalities, test: Any) -> bool:
    names: dict[Any, Atom] = {}
    for symbol, low, high in reversed(expression.limits):
        with use.context.naming(use.context.symbols | names):
            names[symbol] = use.context.open_index(read(low, use.context), read(high, use.context))
    with use.context.naming(use.context.symbols | names):
        return bool(test(expression.function, use))


def _sum_over_places_positive(expression: Sum, use: Inequalities) -> bool:
    nonempty, names = True, dict(use.context.symbols)
    for symbol, low, high in reversed(expression.limits):
        with use.context.naming(names):
            limits = (read(low, use.context), read(high, use.context))
        nonempty &= always_nonnegative(subtract(limits[1], limits[0]), use.context)
        names[symbol] = use.context.open_index(*limits)
    if nonempty and _inside(expression, use, positive):
        return True
    return len(expression.limits) == 1 and _positive_elsewhere(expression, use)


def _positive_elsewhere(expression: Sum, use: Inequalities) -> bool:
    """Return whether sum_j (1 - delta_ij) p_j > 0: every p_j > 0, i is in range, and j takes at least two values."""
    (symbol, low, high), body = expression.limits[0], expression.function
    factors = body.args if isinstance(body, Mul) else (body,)
    for factor in factors:
        if not (isinstance(factor, Add) and len(factor.args) == 2 and factor.args[0] == 1):
            continue
        if not isinstance(-factor.args[1], KroneckerDelta):
            continue
        others = [place for place in (-factor.args[1]).args[:2] if place != symbol]
        if len(others) != 1 or others[0].has(symbol):
            continue
        first, last, place = (read(part, use.context) for part in (low, high, others[0]))
        # with two values or more, at least one j differs from i, and its term is positive
        places = (subtract(subtract(last, first), ONE), subtract(place, first), subtract(last, place))
        rest = Mul(*(other for other in factors if other is not factor))
        if all(always_nonnegative(part, use.context) for part in places):
            return _inside(Sum(rest, (symbol, low, high)), use, positive)
    return False


def _weighted(expression: Mul, use: Inequalities) -> bool:
    """Return whether a product is w (exp(a) - exp(b)) >= 0 times factors >= 0, or equals an assumed bound."""
    weights = [factor for factor in expression.args if _zero_or_one(factor)]
    others = [factor for factor in expression.args if factor not in weights]
    for other in others:
        if isinstance(other, Add) and _increasing(other, Mul(*weights), use):
            return all(nonnegative(rest, use) for rest in others if rest is not other)
    return _assumed(expression, use)


def _increasing(expression: Add, weight: Expr | None, use: Inequalities, test: Any = None) -> bool:
    """Return whether w (exp(a) - exp(b)) >= 0 because w (a - b) >= 0. Without w, `test` may require > 0."""
    terms, test = expression.args, test or nonnegative
    if len(terms) != 2 or not declared_real(expression):
        return False
    for upper, lower in (terms, terms[::-1]):
        if isinstance(upper, exp) and isinstance(-lower, exp):
            gap = upper.args[0] - (-lower).args[0]
            assumed = test is nonnegative and _assumed(gap if weight is None else weight * gap, use)
            return assumed or (weight is None and test(gap, use))
        if upper == 1 and isinstance(-lower, exp):
            return bool(test(-(-lower).args[0], use))
    return False


def _known(expression: Add, use: Inequalities, strict: bool = False) -> bool:
    """Return whether a known inequality for exp, erf, tanh or max shows the sign of an expression."""
    # a fact about a term inside a sum would speak of an index that is bound there
    bound = {limit[0] for inner in expression.atoms(Sum) for limit in inner.limits}
    for term in sorted(expression.atoms(*_KNOWN), key=str):
        if not declared_real(term) or term.free_symbols & bound:
            continue
        for fact in _KNOWN[type(term)](*term.args):
            fits = (fact.strict or not strict) and _same(fact.value, expression, use)
            if fits and (fact.where is None or nonnegative(fact.where, use)):
                return True
    return False


class _Fact(NamedTuple):
    """A known inequality: value >= 0, or > 0 when strict, for all reals or where `where` >= 0."""

    value: Expr
    strict: bool = False
    where: Expr | None = None


_KNOWN: dict[Any, Callable[..., tuple[_Fact, ...]]] = {
    exp: lambda a: (_Fact(exp(a) - a, strict=True), _Fact(exp(a) - a - 1)),
    erf: lambda a: (
        _Fact(1 - erf(a), strict=True),
        _Fact(1 + erf(a), strict=True),
        _Fact(exp(-(a**2)) - 1 + erf(a), where=a),
    ),
    tanh: lambda a: (
        _Fact(1 - tanh(a), strict=True),
        _Fact(1 + tanh(a), strict=True),
        _Fact(2 * exp(-2 * a) - 1 + tanh(a)),  # 1 - tanh(a) = 2 / (1 + exp(2 a)) <= 2 exp(-2 a)
    ),
    Max: lambda *each: tuple(_Fact(Max(*each) - a) for a in each),
}


def _same(fact: Basic, expression: Basic, use: Inequalities) -> bool:
    """Return whether an expression is a positive multiple of a fact. If so, keep the side conditions of the fact."""
    try:
        with use.context.aside():
            p, q = read(fact, use.context), read(expression, use.context)
        # a negative multiple of a fact has the opposite sign
        if not p or len(p) != len(q) or q[0][1] / p[0][1] < 0 or scale(p, Fraction(q[0][1]) / Fraction(p[0][1])) != q:
            return False
        read(fact, use.context)  # read again, this time to keep its conditions
    except Undecided:
        return False
    return True


def _assumed(expression: Basic, use: Inequalities, strict: bool = False) -> bool:
    """Return whether the normal form of an expression shows its sign, or equals an assumed bound at known indices."""
    try:
        value = read(expression, use.context)
    except Undecided:
        return False
    if (is_positive if strict else is_nonnegative)(value, use.context):
        return True
    kinds = ("positive",) if strict else ("positive", "nonnegative")
    signs = (bound for bound in use.bounds if bound.kind in kinds)
    return any(condition.of == value for bound in signs for condition in bound.instances(use.context))
