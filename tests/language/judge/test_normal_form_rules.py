"""The rules of the normal form where they must say no: near-misses of each, and conditions that nothing covers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from sympy import (
    Derivative,
    Dummy,
    Function,
    Gt,
    KroneckerDelta,
    Le,
    Lt,
    Max,
    Ne,
    Subs,
    Sum,
    exp,
    log,
    sqrt,
    tanh,
)

from derivations.language.arrays.binding import fresh_index
from derivations.language.arrays.deferred import Deferred, deferring
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.integers import order_indicator
from derivations.language.judge.normal_form.reading import read, symbol_atom
from derivations.language.judge.normal_form.signs import is_positive
from derivations.language.judge.normal_form.terms import ONE, ZERO, add, scale, single, subtract
from derivations.language.judge.normal_form.zero import vanishes
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import d, i, index, j, k, m, n, scalar

a, b, c, t, u, v = map(scalar, "abctuv")
g, r = scalar("g", positive=True), scalar("r", positive=True)
p = index("p")
x, y, w, s = array("x", n), array("y", n), array("w", n + 1), array("s", n + m)
A, Q, K, M = array("A", n, n), array("Q", n, d), array("K", m, d), mask_array("M", n, n)
f = Function("f", real=True)
sigma, inverse = Function("sigma", integer=True), Function("sigma_inverse", integer=True)


def total(of: Any, last: Any = n - 1, first: Any = 0) -> Sum:
    return Sum(of, (j, first, last))


def says(left: Any, right: Any, rule: str = "algebra", **setting: Any) -> str:
    """Return the level that the judge gives to an equality."""
    return judge(derivation("", claim(left, step(rule, right)), **setting)).level


shuffled = {"bijections": [("sigma", "sigma_inverse", n)]}
at_i = {"ranges": {i: n}}
FALSE: dict[str, Callable[[], str]] = {
    "relu(b a) = b relu(a), b of any sign": lambda: says(Max(0, b * a), b * Max(0, a)),
    "relu(c_j x_j), c positive elsewhere": lambda: says(
        total(Max(0, w[j + 1] * x[j])),
        total(w[j + 1] * Max(0, x[j])),
        assuming=[Assumption(Gt(w[p], 0), {p: n})],
    ),
    "relu(a) = a [-a > 0]": lambda: says(Max(0, a), a * Iverson(Gt(-a, 0))),
    "relu(a - b) = a [a > b]": lambda: says(Max(0, a - b), a * Iverson(Gt(a, b))),
    "log(a^2) = 2 log(a)": lambda: says(log(a**2), 2 * log(a), assuming=[Assumption(Ne(a, 0))]),
    "log(a^2) where a may be 0": lambda: says(log(a**2 * g), log(a**2) + log(g)),
    "log(a b) = log(a) + log(b)": lambda: says(log(a * b), log(a) + log(b), assuming=[Assumption(Gt(a * b, 0))]),
    "a count off by one": lambda: says(total(Iverson(Le(j, i))), i, **at_i),
    "a count up to a size of its own": lambda: says(total(Iverson(Le(j, m - 1))), m),
    "the triangle number of n + 1": lambda: says(total(j), n * (n + 1) / 2),
    "a triangle, the wrong side": lambda: says(total(Sum(x[j], (k, 0, j))), total((n - j) * x[j])),
    "a bracket that hides the last": lambda: says(Sum(x[j], (j, 0, i)), total(x[j] * Iverson(Lt(j, i))), **at_i),
    "the wrong entry apart": lambda: says(total(x[j]), x[1] + total(x[j], first=1)),
    "the first of an empty range apart": lambda: says(total(x[j], n - 2), x[0] + total(x[j], n - 2, 1)),
    "a telescope that ends early": lambda: says(total(w[j + 1] - w[j]), w[n - 1] - w[0]),
    "two ranges that overlap": lambda: says(
        total(s[j], n + m - 1), total(s[j], m - 1) + Sum(s[m - 1 + j], (j, 0, n - 1))
    ),
    "backwards in one factor alone": lambda: says(total(x[n - 1 - j] * y[j]), total(x[j] * y[j])),
    "sigma for its inverse": lambda: says(total(x[sigma(j)] * y[j]), total(x[j] * y[sigma(j)]), **shuffled),
    "tanh with exp(a) for exp(2 a)": lambda: says(tanh(a), 1 - 2 / (1 + exp(a))),
    "a fraction is not its complement": lambda: says(2 * total(1 / (1 + exp(x[j]))), n),
    "division where the denominator may be 0": lambda: says(
        total(x[j] / (x[j] + y[j])), n - total(y[j] / (x[j] + y[j]))
    ),
    "neighbouring brackets are not equal": lambda: says(total(x[j] * A[i, j], i), total(x[j] * A[i, j], i - 1), **at_i),
    "a delta that is used on the wrong index": lambda: says(
        Sum(KroneckerDelta(j + p, i) * A[j, p], (j, 0, n - 1), (p, 0, n - 1)),
        Sum(A[j, i - j], (j, 0, n - 1)),
        **at_i,
    ),
    "partial derivatives swapped": lambda: says(
        Derivative(f(a**2, a), a),
        2 * a * Subs(Derivative(f(a**2, v), v), v, a) + Subs(Derivative(f(u, a), u), u, a**2),
        "derivative",
    ),
    "a function is not symmetric": lambda: says(f(a, b), f(b, a)),
    "the slope of relu at its kink": lambda: says(Derivative(Max(0, a), (a, 2)), 0, "derivative"),
    "a root that its own condition covers": lambda: says(c / sqrt(2 * a + 2 * b), c / sqrt(a + b) / sqrt(2)),
    "three roots": lambda: says((a * (a + b) + b * (a + b)) / sqrt(a + b) ** 3, sqrt(a + b)),
    "a quotient by what may be 0": lambda: says(c * (a - b) / (a - b) ** 2, c / (a - b)),
    "a denominator of no sign": lambda: says(
        exp(x[i]) / (total(M[i, j] * exp(x[j])) - total(exp(x[j]))),
        exp(x[i]) / -total((1 - M[i, j]) * exp(x[j])),
        **at_i,
    ),
    "the keys before i, of which there may be none": lambda: says(
        y[i] * g / total(exp(x[j]), i - 1), y[i] / (total(exp(x[j]), i - 1) / g), **at_i
    ),
    "a positive array at an index out of its range": lambda: says(
        log(w[n] * g), log(w[n]) + log(g), assuming=[Assumption(Gt(w[p], 0), {p: n})]
    ),
}


@pytest.mark.parametrize("statement", FALSE.values(), ids=FALSE)
def test_a_near_miss_is_not_proved(statement: Callable[[], str]):
    assert statement() in ("refuted", "unknown")


def test_the_same_with_its_condition_is_proved():
    """The conditions above are the only thing that is missing."""
    positive = [Assumption(Gt(a + b, 0))]
    assert says(c / sqrt(2 * a + 2 * b), c / sqrt(a + b) / sqrt(2), assuming=positive) == "proved"
    assert says(log(a**2 * g), log(a**2) + log(g), assuming=[Assumption(Ne(a, 0))]) == "proved"
    assert says(Derivative(Max(0, a), (a, 2)), 0, "derivative", assuming=[Assumption(Ne(a, 0))]) == "proved"
    assert says(log(w[n] * g), log(w[n]) + log(g), assuming=[Assumption(Gt(w[p], 0), {p: n + 1})]) == "proved"
    everywhere = [Assumption(Gt(w[p], 0), {p: n + 1})]
    assert says(total(Max(0, w[j] * x[j])), total(w[j] * Max(0, x[j])), assuming=everywhere) == "proved"


def test_what_follows_from_a_condition_does_not_settle_it():
    context = Context()
    root = read(1 / sqrt(a + b), context)
    (condition,) = context.conditions
    assert not is_positive(condition.of, context)
    with context.derivation():
        assert is_positive(condition.of, context)
    assert root == read(1 / sqrt(b + a), context)


def test_what_was_read_is_forgotten_with_its_conditions():
    """An entry that is read again after its condition was dropped keeps the condition again."""
    context = Context(definitions={"q": lambda place: 1 / x[place]})
    context.ranges[symbol_atom(i)] = (ZERO, subtract(read(n, context), ONE))
    q = array("q", n)
    for drop in (lambda: context.conditions.clear(), lambda: setattr(context, "conditions", [])):
        read(q[i], context)
        assert [condition.kind for condition in context.conditions] == ["nonzero"]
        drop()
        assert not context.conditions
    with context.aside():
        read(q[i], context)
    assert not context.conditions
    read(q[i], context)
    assert [condition.kind for condition in context.conditions] == ["nonzero"]


def test_an_entry_that_waits_means_what_it_stands_for():
    """Deferred entries are read as the entries themselves, at plain places, bound ones and pairs."""
    attention = row_softmax(Q @ K.T / sqrt(d))
    places = {symbol_atom(i): n, symbol_atom(k): m}
    for build in (lambda: attention.entry(i, k), lambda: (attention @ K).entry(i, j), lambda: (Q @ K.T).T.entry(k, i)):
        context = Context()
        for atom, size in {**places, symbol_atom(j): d}.items():
            context.ranges[atom] = (ZERO, subtract(read(size, context), ONE))
        with deferring():
            waiting = build()
        assert isinstance(waiting, Deferred) and not isinstance(build(), Deferred)
        assert vanishes(subtract(read(waiting, context), read(build(), context)), context)
        assert not vanishes(add(read(waiting, context), ONE), context)


def test_an_entry_that_waits_captures_no_index():
    """The bound index of an entry that is read inside a sum is another one."""
    with deferring():
        inner = (A @ A).entry(i, j)
        outer = Sum(inner * x[j], (j, 0, n - 1))
    assert fresh_index({i, j}) not in outer.free_symbols
    context = Context()
    context.ranges[symbol_atom(i)] = (ZERO, subtract(read(n, context), ONE))
    written = Sum(A[i, p] * A[p, j] * x[j], (p, 0, n - 1), (j, 0, n - 1))
    assert read(outer, context) == read(written, context)


def test_a_symbol_without_a_name_of_its_own_is_refused():
    """Two dummies print alike and are not the same: neither is read."""
    with pytest.raises(Undecided, match="no name of its own"):
        read(Dummy("q", real=True) + 1, Context())


def test_a_fact_is_matched_at_a_place_in_its_range():
    assumed = {"assuming": [Assumption(Gt(x[p], 0), {p: n})]}
    assert says(log(x[0] * g), log(x[0]) + log(g), "exponent", **assumed) == "proved"
    assert says(log(x[n - 1] * g), log(x[n - 1]) + log(g), "exponent", **assumed) == "proved"
    assert says(log(w[0] * g), log(w[0]) + log(g), "exponent", **assumed) == "unknown"


def test_a_bracket_of_halves_keeps_its_form():
    """[(i - 1)/2 >= 0] is not 1 - [-(i + 1)/2 >= 0]: at i = 0 neither number is at least 0."""
    context = Context()
    half = scale(subtract(single(symbol_atom(i)), ONE), Fraction(1, 2))
    assert order_indicator(half, context) == single(("ge", half))
    place = single(symbol_atom(i))
    negative = order_indicator(subtract(ZERO, place), context)
    assert order_indicator(subtract(place, ONE), context) == subtract(ONE, negative)
