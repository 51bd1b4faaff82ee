"""The normal form keeps the meaning: 5,000 random expressions against brute force at the sizes 2 and 3.

Each expression is read into the normal form, written back, and both are evaluated by plain loops in interval
arithmetic at every place. Intervals that do not meet would be a proof that a rule of the normal form is wrong.
"""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from sympy import Derivative, Expr, Gt, Integer, KroneckerDelta, Le, Max, Rational, Sum, Symbol, exp, log, sqrt, tanh

from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.evaluate import NotEvaluable, Sample, evaluate
from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.fallback_rules import FALLBACK_RULES
from derivations.language.judge.normal_form.reading import read, symbol_atom
from derivations.language.judge.normal_form.terms import ONE, ZERO, subtract
from derivations.language.judge.normal_form.writing import write
from derivations.symbols import i, k, m, n, scalar
from tests.tiers import few

u, x, A, M = array("u", n + m), array("x", n), array("A", n, n), mask_array("M", n, n)
t = scalar("t")
NARROW = 1e-6  # an interval wider than this tells too little to count as a comparison
BOUND = [Symbol(name, integer=True) for name in ("j", "l", "p", "i", "k")]  # two of them shadow the free indices


class Generator:
    """Random expressions in the language of the judge, always real and defined."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def place(self, scope: list[Symbol]) -> Symbol:
        """Return one of the indices in scope."""
        return self.random.choice(scope)

    def expression(self, depth: int, scope: list[Symbol]) -> Expr:
        """Return a random expression of at most the given depth."""
        if depth == 0:
            return self.leaf(scope)
        kind = self.random.randrange(11)
        if kind <= 2:
            return self.expression(depth - 1, scope) + self.expression(depth - 1, scope)
        if kind <= 5:
            return self.expression(depth - 1, scope) * self.expression(depth - 1, scope)
        if kind <= 7:
            bound = self.random.choice(BOUND)
            a = self.place([index for index in scope if index != bound] or [n])
            low, high = self.random.choice([(0, n - 1), (0, n - 1), (0, 1), (1, n - 1), (0, a), (a, n - 1)])
            return Sum(self.expression(depth - 1, [*scope, bound, bound]), (bound, low, high))
        return self.function(kind, depth, scope)

    def function(self, kind: int, depth: int, scope: list[Symbol]) -> Expr:
        """Return a function of a random expression."""
        inner = self.expression(depth - 1, scope)
        if kind == 8:
            return self.random.choice([exp(inner), exp(-inner), exp(inner / sqrt(n))])
        if kind == 9:
            return self.random.choice([1 / (1 + inner**2), 1 / sqrt(2 + inner**2), 1 / exp(inner), log(1 + inner**2)])
        return self.random.choice(
            [
                inner**2,
                Max(0, inner),
                Max(inner, -inner),
                Max(0, n * inner),
                Iverson(Gt(inner, 0)),
                tanh(inner),
                log(inner**2 + 1) + inner,
                inner * t,
            ]
        )

    def leaf(self, scope: list[Symbol]) -> Expr:
        """Return an entry, a delta, a bracket, or a number."""
        a, b = self.place(scope), self.place(scope)
        return self.random.choice(
            [
                x[a],
                x[n - 1 - a],
                A[a, b],
                A[b, a],
                KroneckerDelta(a, b),
                t,
                n,
                a,
                Integer(2),
                Rational(-1, 3),
                Iverson(Le(a, b, evaluate=False)),
                M[a, b],
            ]
        )


def context() -> Context:
    """Return a context in which i and k run over n places."""
    c = Context(features=frozenset({"derivative"}))
    limits = (ZERO, subtract(read(n, c), ONE))
    c.ranges = {symbol_atom(i): limits, symbol_atom(k): limits}
    return c


def meet(left: Expr, right: Expr, seed: int) -> int:
    """Assert that two expressions agree at the sizes 2 and 3; return how many places could be compared."""
    compared = 0
    source = random.Random(seed)
    for size in (2, 3):
        scalars = {"t": source.choice([Fraction(3, 2), Fraction(-5, 3)])}
        for a, b in source.sample(list(product(range(size), repeat=2)), 3):
            sample = Sample({"n": size, "m": 2, "i": a, "k": b}, scalars, seed)
            try:
                first, second = evaluate(left, sample), evaluate(right, sample)
            except NotEvaluable:
                continue
            assert not (first < second or second < first), f"{left} is not {right} at n = {size}, i = {a}, k = {b}"
            compared += first.delta < NARROW and second.delta < NARROW
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("block", few(range(20), fast=1))
def test_the_normal_form_agrees_with_brute_force(block):
    """250 expressions in each of 20 blocks; nearly all of them must be decided and compared."""
    decided = compared = 0
    for number in range(250):
        seed = 1000 * block + number
        expression = Generator(seed).expression(3, [i, k])
        if seed % 5 == 0:
            expression = Derivative(expression, x[k])
        try:
            normal = write(read(expression, context()))
        except Undecided:
            continue
        decided += 1
        compared += meet(expression, normal, seed) > 0
    assert decided >= 225
    assert compared >= 200


@pytest.mark.slow
@pytest.mark.parametrize("rule", FALLBACK_RULES, ids=lambda rule: rule.__name__)
def test_a_rule_held_in_reserve_keeps_the_meaning(rule):
    """Expressions of the same kind, with what the rule is about on top, until it changed 40 that could be compared."""
    changed = 0
    for seed in range(700):
        expression = RICH[rule.__name__](Generator(seed))
        c = context()
        try:
            p = read(expression, c)
            others = [q for q in rule(p, c) if q != p]
        except Undecided:
            continue
        compared = [meet(expression, write(q), seed) for q in others]
        changed += bool(compared) and min(compared) > 0
        if changed >= 40:
            return
    raise AssertionError(f"only {changed} expressions were changed and compared")


def summed(of: Expr, low: Expr, high: Expr) -> Expr:
    return Sum(of, (BOUND[0], low, high))


def rich(build: Callable[[Generator, Expr], Expr], scope: Sequence[Symbol] = (i, k)) -> Callable[[Generator], Expr]:
    return lambda generator: build(generator, generator.expression(2, list(scope)))


inside = [i, k, BOUND[0], BOUND[0]]
RICH = {
    "ends": rich(
        lambda g, e: summed(e, *g.random.choice([(1, n - 1), (0, n), (2, n), (1, n + 1), (-1, n - 2)])), inside
    ),
    "parts": rich(lambda g, e: summed(e * exp(u[BOUND[0]]) * Iverson(Le(i, BOUND[0])), 0, n + m - 1)),
    "reindexing": rich(lambda g, e: summed(e * x[n - 1 - BOUND[0]], 0, n - 1), inside),
    "neighbours": rich(
        lambda g, e: e + summed(x[BOUND[0]] * Iverson(Le(BOUND[0], i - g.random.choice([-1, 1, 2]))), 0, n - 1)
    ),
    "relu_by_step": rich(lambda g, e: Max(0, e) * Iverson(Gt(e, 0)) + Max(-e, x[i])),
    "complement": rich(
        lambda g, e: (
            (e + x[i]) * (x[i] - t) * Iverson(Gt(t, x[i]))
            + x[k] * Iverson(Gt(x[i], t))
            + summed(e * (x[BOUND[0]] - x[k]) * Iverson(Gt(x[k], x[BOUND[0]])), 0, n - 1)
            + summed(Iverson(Gt(x[BOUND[0]], x[k])), 0, n - 1)
        )
    ),
    "tanh_by_exponentials": rich(lambda g, e: tanh(e) * x[i] + tanh(e / 2) ** 2),
    "division": rich(lambda g, e: summed((x[BOUND[0]] + e) ** 2 / (1 + (e + x[BOUND[0]]) ** 2), 0, n - 1), inside),
    "telescoped": rich(
        lambda g, e: summed(
            e
            * BOUND[0] ** g.random.choice([0, 1, 2])
            * g.random.choice([Integer(2), Rational(-1, 3), t, exp(x[k])])
            ** g.random.choice([BOUND[0], 2 * BOUND[0] + 1, n - BOUND[0]]),
            *g.random.choice([(0, n - 1), (1, n), (m, n + m)]),
        )
    ),
}


def test_a_wrong_normal_form_is_noticed():
    """The check is checked: a lost term, a wrong sign and a swapped index are told apart."""
    right = Sum(A[i, j] * x[j], (j, 0, n - 1)) if (j := BOUND[0]) else None
    for wrong in (right + x[k], -right, Sum(A[j, i] * x[j], (j, 0, n - 1))):
        with pytest.raises(AssertionError):
            meet(right, wrong, 1)
