"""The second look: cases, linear arithmetic, antidifferences, products, decimals, matrices, stacks; what it refuses."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from sympy import (
    Abs,
    Basic,
    Derivative,
    Eq,
    Expr,
    Float,
    Ge,
    Gt,
    KroneckerDelta,
    Le,
    Lt,
    Max,
    Min,
    Ne,
    Product,
    Rational,
    Sum,
    exp,
    log,
    sqrt,
    sympify,
)

from derivations.language.arrays.expression import array
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import N, d, i, j, k, m, n, scalar

a, b, c = map(scalar, "abc")
x, p, q = (array(name, n) for name in "xpq")
X, Q, K, R, P = array("X", n, d), array("Q", n, d), array("K", m, d), array("R", d, d), array("P", d, d)


def total(term: Any) -> Sum:
    return Sum(term, (j, 0, n - 1))


def given(*statements: Basic, **ranges: Any) -> list[Assumption]:
    places = {symbol: ranges[symbol.name] for symbol in (i, j) if symbol.name in ranges}
    return [Assumption(s, {key: v for key, v in places.items() if key in s.free_symbols}) for s in statements]


def stack(sign: int = 1, swapped: bool = False, count: Any = N) -> Any:
    W, inner = array("W", d, d), array("Y", n, d)
    let = Equations()
    output = let("Z")(inner + inner @ W if swapped else inner @ W + inner if sign > 0 else inner @ W - inner)
    return part("layers", Layer("layer", [inner], [W], let, output), count)(X)


orthogonal = given(Eq((R @ R.T)[i, j], KroneckerDelta(i, j), evaluate=False), i=d, j=d)
idempotent = given(Eq((P @ P)[i, j], P[i, j], evaluate=False), i=d, j=d)
distributions = [
    *given(Gt(p[j], 0), Gt(q[j], 0), j=n),
    *given(Eq(total(p[j]), 1, evaluate=False), Eq(total(q[j]), 1, evaluate=False)),
]
Case = tuple[Callable[[], tuple[Any, Any]], str, str, dict[str, Any]]
PROVED: dict[str, Case] = {
    "a geometric sum, also at 0 and 1": (lambda: (total(a**j) * (1 - a), 1 - a**n), "algebra", "=", {}),
    "its quotient off 1": (lambda: (total(a**j), (1 - a**n) / (1 - a)), "algebra", "=", {"assuming": given(Ne(a, 1))}),
    "weights of a moving average": (lambda: ((1 - a) * total(a ** (n - 1 - j)) + a**n, 1), "algebra", "=", {}),
    "arithmetic and geometric": (
        lambda: (total(j * a**j) * (1 - a) ** 2, a - n * a**n + (n - 1) * a ** (n + 1)),
        "algebra",
        "=",
        {},
    ),
    "a product of exponentials": (lambda: (Product(exp(x[j]), (j, 0, n - 1)), exp(total(x[j]))), "algebra", "=", {}),
    "decimals": (lambda: (Float(0.1) * a + Float(0.2) * a, Float(0.3) * a), "algebra", "=", {}),
    "absorption": (lambda: (Max(a, Min(a, b)), a), "algebra", "=", {}),
    "log of a sum of two": (
        lambda: (log(exp(a) + exp(b)), Max(a, b) + log(1 + exp(-Abs(a - b)))),
        "algebra",
        "=",
        {},
    ),
    "a maximum by two inequalities": (
        lambda: (Max(0, a), a),
        "algebra",
        "=",
        {"assuming": given(Gt(a, b), Gt(b, 0))},
    ),
    "a root by an inequality": (lambda: (sqrt(a**2), a), "algebra", "=", {"assuming": given(Gt(a, Rational(1, 2)))}),
    "the triangle": (lambda: (Abs(a + b), Abs(a) + Abs(b)), "bound", "<=", {}),
    "the triangle of sums": (lambda: (Abs(total(x[j])), total(Abs(x[j]))), "bound", "<=", {}),
    "a Lipschitz maximum": (lambda: (Abs(Max(0, a) - Max(0, b)), Abs(a - b)), "bound", "<=", {}),
    "log-sum-exp and an entry": (lambda: (log(total(exp(x[j]))), x[k]), "bound", ">=", {"ranges": {k: n}}),
    "log-sum-exp and the greatest": (
        lambda: (log(total(exp(x[j]))), c + log(n)),
        "bound",
        "<=",
        {"assuming": given(Le(x[j], c), j=n)},
    ),
    "Gibbs": (lambda: (total(p[j] * log(p[j] / q[j])), 0), "bound", ">=", {"assuming": distributions}),
    "a variance": (lambda: (total(x[j] ** 2) / n, (total(x[j]) / n) ** 2), "bound", ">=", {}),
    "Cauchy and Schwarz": (
        lambda: (total(x[j] * p[j]) ** 2, total(x[j] ** 2) * total(p[j] ** 2)),
        "bound",
        "<=",
        {},
    ),
    "rotated queries and keys": (
        lambda: ((Q @ R) @ (K @ R).T, Q @ K.T),
        "assumption",
        "=",
        {"assuming": orthogonal},
    ),
    "the other order of an inverse": (lambda: ((R.T @ R) @ P, P), "assumption", "=", {"assuming": orthogonal}),
    "an idempotent matrix": (lambda: (P @ P @ P, P), "assumption", "=", {"assuming": idempotent}),
    "a symmetric matrix": (
        lambda: ((Q @ P).T, P @ Q.T),
        "assumption",
        "=",
        {"assuming": given(Eq(P[i, j], P[j, i], evaluate=False), i=d, j=d)},
    ),
    "a stack and itself": (lambda: (stack(), stack()), "algebra", "=", {}),
    "stacks of equal layers": (lambda: (stack(), stack(swapped=True)), "algebra", "=", {}),
}
far = Abs(x[j] - p[j])
near = Iverson(Lt(far, 1))


def _clipped(ratio: Expr) -> Expr:
    return Min(Max(ratio, Rational(4, 5)), Rational(6, 5))


def _one_sided(ratio: Expr, advantage: Expr) -> Expr:
    """The least of both products: only one end of the range matters, by the sign of the advantage."""
    above = Iverson(Gt(advantage, 0))
    return above * advantage * Min(ratio, Rational(6, 5)) + (1 - above) * advantage * Max(ratio, Rational(4, 5))


PROVED |= {
    "a sum of cases": (lambda: (total(Max(x[j], 0) * Max(-x[j], 0)), 0), "algebra", "=", {}),
    "a loss in two pieces": (
        lambda: (
            total(Min(far, 1) ** 2 / 2 + far - Min(far, 1)) / n,
            total(near * far**2 / 2 + (1 - near) * (far - Rational(1, 2))) / n,
        ),
        "algebra",
        "=",
        {},
    ),
    "a clipped objective": (
        lambda: (total(Min(x[j] * p[j], _clipped(x[j]) * p[j])) / n, total(_one_sided(x[j], p[j])) / n),
        "algebra",
        "=",
        {},
    ),
    "a number for each term": (
        lambda: (total(Max(x[j], 1) + Min(x[j], 1)), total(x[j]) + n),
        "algebra",
        "=",
        {},
    ),
}
REFUSED: dict[str, Case] = {
    "a sum of other cases": (lambda: (total(Max(x[j], 0) * Max(-x[j], 0)), total(x[j])), "algebra", "=", {}),
    "a maximum of a sum": (lambda: (total(Max(x[j], 0)), Max(total(x[j]), 0)), "algebra", "=", {}),
    "an objective clipped on the other side": (
        lambda: (total(Max(x[j] * p[j], _clipped(x[j]) * p[j])) / n, total(_one_sided(x[j], p[j])) / n),
        "algebra",
        "=",
        {},
    ),
    "a loss that jumps": (
        lambda: (
            total(Min(far, 1) ** 2 / 2 + far - Min(far, 1)) / n,
            total(near * far**2 / 2 + (1 - near) * far) / n,
        ),
        "algebra",
        "=",
        {},
    ),
    "a product of sums is no sum of products": (
        lambda: (total(Max(x[j], 0)) * Max(total(x[j]), 0), n * total(Max(x[j], 0) ** 2)),
        "algebra",
        "=",
        {},
    ),
    "the index of a sum inside of a factor": (
        lambda: (total(Max(x[j], 0)) * exp(total(x[j])), total(Max(x[j], 0) * exp(n * x[j]))),
        "algebra",
        "=",
        {},
    ),
    "a number for each term but one": (
        lambda: (Sum(Max(x[j], 1) + Min(x[j], 1), (j, 0, n - 2)), Sum(x[j], (j, 0, n - 2)) + n),
        "algebra",
        "=",
        {},
    ),
    "a sum over another range": (
        lambda: (Sum(Abs(x[j]), (j, 0, n - 2)), total(Max(x[j], 0) + Max(-x[j], 0))),
        "algebra",
        "=",
        {},
    ),
    "the quotient at 1": (lambda: (total(a**j), (1 - a**n) / (1 - a)), "algebra", "=", {}),
    "1 / a at 0": (lambda: ((a**n + a) / a, a ** (n - 1) + 1), "algebra", "=", {}),
    "an odd power is no square": (lambda: (a**n, 0), "bound", ">=", {}),
    "log of a power of a negative number": (lambda: (log(a**n), n * log(a)), "algebra", "=", {}),
    "a sum of powers at its end": (lambda: (total(a**j) * (1 - a), 1 - a ** (n + 1)), "algebra", "=", {}),
    "log of a product of what may be negative": (
        lambda: (log(Product(x[j], (j, 0, n - 1))), total(log(x[j]))),
        "algebra",
        "=",
        {},
    ),
    "a third is no decimal": (lambda: (Float(0.3333333333333333) * a, a / 3), "algebra", "=", {}),
    "a maximum below zero": (lambda: (Max(0, a), a), "algebra", "=", {"assuming": given(Gt(a, b), Gt(b, -1))}),
    "a strict triangle": (lambda: (Abs(a + b), Abs(a) + Abs(b)), "bound", "<", {}),
    "log-sum-exp strictly": (lambda: (log(total(exp(x[j]))), x[k]), "bound", ">", {"ranges": {k: n}}),
    "an entry that need not exist": (lambda: (log(total(exp(x[j]))), x[k]), "bound", ">=", {}),
    "Gibbs without sums of 1": (
        lambda: (total(p[j] * log(p[j] / q[j])), 0),
        "bound",
        ">=",
        {"assuming": distributions[:2]},
    ),
    "a multiple by what may be 0": (
        lambda: (b, c),
        "bound",
        ">=",
        {"assuming": given(Ge(a**2 * b, a**2 * c))},
    ),
    "an equation divided by what may be 0": (
        lambda: (b, c),
        "bound",
        ">=",
        {"assuming": given(Eq(a * b, a * c, evaluate=False))},
    ),
    "a variance strictly": (lambda: (total(x[j] ** 2) / n, (total(x[j]) / n) ** 2), "bound", ">", {}),
    "orthogonal rows of a matrix that is not square": (
        lambda: ((Q @ array("S", d, m)) @ (K @ array("S", d, m)).T, Q @ K.T),
        "assumption",
        "=",
        {
            "assuming": given(
                Eq((array("S", d, m).T @ array("S", d, m))[i, j], KroneckerDelta(i, j), evaluate=False), i=m, j=m
            )
        },
    ),
    "an idempotent matrix is not the identity": (lambda: (Q @ P, Q), "assumption", "=", {"assuming": idempotent}),
    "stacks of other layers": (lambda: (stack(), stack(-1)), "algebra", "=", {}),
    "stacks of other counts": (lambda: (stack(), stack(count=N + 1)), "algebra", "=", {}),
    "a slope at an edge": (lambda: (Derivative(Max(0, a), a), 1), "derivative", "=", {"assuming": given(Gt(a, -1))}),
}


def level(entry: Case) -> str:
    sides, rule, relation, setting = entry
    left, right = map(sympify, sides())
    return judge(derivation("a statement", claim(left, step(rule, right, relation)), **setting)).level


@pytest.mark.parametrize("name", PROVED)
def test_what_the_second_look_proves(name: str) -> None:
    assert level(PROVED[name]) == "proved"


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_second_look_refuses(name: str) -> None:
    assert level(REFUSED[name]) in ("unknown", "refuted")


def test_what_is_proved_of_sums_of_cases_holds_for_numbers() -> None:
    """Random sums of maxima and brackets, equal or not: no two that differ at some numbers are proved equal."""
    rng = random.Random(5)
    terms = [Max(x[j], 0), Max(-x[j], 0), x[j], Abs(x[j]), Iverson(x[j] > 0) * x[j], Max(x[j], p[j]), Min(x[j], p[j])]
    terms += [p[j], sympify(1)]
    values = [(one, other) for one in (-2, 0, 3) for other in (-1, 0, 3)]
    for _ in range(30):
        f = sum(rng.choice((-1, 0, 0, 1)) * term for term in terms)
        holds = all(term_at(f, *each) == 0 for each in values)
        if level((lambda f=f: (total(f), 0), "algebra", "=", {})) == "proved":
            assert holds, f
    equal = [terms[0] - terms[1] - terms[2], terms[3] - terms[0] - terms[1], terms[5] + terms[6] - terms[2] - terms[7]]
    assert all(level((lambda f=f: (total(f), 0), "algebra", "=", {})) == "proved" for f in equal)


def term_at(f: Any, one: int, other: int) -> Any:
    return f.xreplace({x[j]: sympify(one), p[j]: sympify(other)}).replace(
        Iverson, lambda relation: sympify(int(bool(relation)))
    )
