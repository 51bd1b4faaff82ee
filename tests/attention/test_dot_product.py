"""The results about the dot product are proved; broken ones are not, and exact enumeration agrees with them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product as all_choices
from typing import Any

import pytest
from sympy import Basic, Rational, exp, sqrt

from derivations.attention.dot_product import (
    E,
    Var,
    cauchy_schwarz,
    components,
    distance,
    expected_length,
    gaussian_kernel,
    gradient,
    k,
    mean,
    mean_general,
    mu_k,
    mu_q,
    one_product,
    product,
    q,
    s,
    scaled_variance,
    sigma_k,
    sigma_q,
    square,
    standard_deviation,
    total,
    variance,
    variance_general,
    wrong_scaling,
)
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Assumption, Derivation, claim, derivation, step
from derivations.symbols import d_k, i, j
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("dot_product"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "dot_product.definition" else "proved")


# --- what must be refused -------------------------------------------------------------------------------------------

KEPT = sigma_q**2 * sigma_k**2 + sigma_q**2 * mu_k**2
WRONG = [
    ("the query in its own gradient", gradient, 0, 1, q[i]),
    ("a gradient of all components", gradient, 0, 0, total(k[j])),
    ("the product once", distance, 0, 0, square(q) + square(k) - product),
    ("the sum in the place of the difference", distance, 0, 0, square(q) + square(k) + 2 * product),
    ("half of the polarisation", distance, 1, 0, (square(q + k) - square(q - k)) / 2),
    ("a Gaussian without the lengths", gaussian_kernel, 0, 1, exp(-square(q - k) / 2)),
    ("a Gaussian of the whole distance", gaussian_kernel, 0, 0, exp(square(q) + square(k) - square(q - k))),
    ("Cauchy-Schwarz without the squares", cauchy_schwarz, 0, 0, square(q)),
    ("a cosine below 1/2", cauchy_schwarz, 1, 0, Rational(1, 2)),
    ("a mean that does not grow", mean_general, 0, 2, mu_q * mu_k),
    ("a mean of one factor", mean_general, 0, 2, d_k * mu_q),
    ("a length of 1", expected_length, 0, 1, 1),
    ("a mean of 1", mean, 0, 2, 1),
    ("a mean of squares", mean, 0, 1, total(E(q[j] ** 2) * E(k[j] ** 2))),
    ("a variance that does not grow", variance, 0, 5, 1),
    ("a variance that grows with the square", variance, 0, 5, d_k**2),
    ("a variance off by one", variance, 0, 5, d_k - 1),
    ("a wrong sign between the moments", variance, 0, 0, E(product**2) + E(product) ** 2),
    ("a product of variance 1 in spite of its means", one_product, 1, 3, 1),
    ("a product of variance 1 with one mean dropped", one_product, 1, 3, 1 + mu_q**2),
    ("general variances with a term missing", variance_general, 1, 2, d_k * KEPT),
    (
        "general variances with squared means added",
        variance_general,
        1,
        2,
        d_k * (KEPT + mu_q**2 * (sigma_k**2 + mu_k**2)),
    ),
    ("a standard deviation without its root", standard_deviation, 0, 1, d_k),
    ("sqrt(64) = 4", standard_deviation, 1, 0, 4),
    ("sqrt(512) rounded up", standard_deviation, 2, 0, Rational(227, 10)),
    ("the scaled variance without its root", scaled_variance, 0, 0, Var(product) / d_k**2),
    ("a scaled variance of d_k", scaled_variance, 0, 1, d_k),
    ("the wrong scaling called right", wrong_scaling, 0, 1, 1),
    ("the wrong scaling off by a root", wrong_scaling, 0, 1, 1 / sqrt(d_k)),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def without(right: Derivation, *words: str) -> Derivation:
    """The derivation without the assumptions whose text has one of the words."""

    def kept(assumption: Assumption) -> bool:
        return not any(word in assumption.text for word in words)

    assumptions = tuple(filter(kept, right.assumptions))
    assert len(assumptions) < len(right.assumptions)
    return replace(right, assumptions=assumptions)


@pytest.mark.parametrize(
    ("right", "words", "number"),
    [
        (variance, "uncorrelated", 1),  # products of different components may go together
        (variance, "independent", 3),
        (variance, "the variance plus", 4),
        (mean, "independent", 1),
        (scaled_variance, "uncorrelated", 1),
    ],
)
def test_a_dropped_assumption_is_missed(right: Callable[[], Derivation], words: str, number: int) -> None:
    assert is_refused(judge(without(right(), words)).claims[0][number])


def test_a_cosine_needs_vectors_other_than_0() -> None:
    """Without the assumption that the lengths are positive the quotient is not defined."""
    right = cauchy_schwarz().claims[1]
    assert is_refused(judge(replace(cauchy_schwarz(), claims=(replace(right, given=()),))).claims[0][0])


def test_cauchy_schwarz_rests_on_its_squares() -> None:
    """Half of the certificate is no difference of the two sides; without one, the judge finds the squares itself."""
    (areas,) = cauchy_schwarz().claims[0].steps[0].certificate
    assert is_refused(with_step(cauchy_schwarz(), 0, 0, certificate=(areas / 2,)))
    assert with_step(cauchy_schwarz(), 0, 0, certificate=()).level == "proved"


def test_a_variance_of_1_needs_means_of_0() -> None:
    """Unit variances alone are not enough: Var(q_i k_i) = 1 is refused when the means are kept."""
    with_means = replace(one_product().claims[0], given=tuple(components(mu_q, mu_k, 1, 1)))
    assert is_refused(judge(replace(one_product(), claims=(with_means,))).claims[0][2])


def test_a_rule_without_expectations_says_nothing_of_them() -> None:
    plain = derivation("", claim(E(product), step("algebra", total(E(q[j] * k[j])))))
    assert is_refused(judge(plain).claims[0][0])


def test_moments_are_put_in_only_where_they_are_assumed() -> None:
    """E[q_i^2] = 1 does not give E[q_i^4] = 1, nor E[s] for another array."""
    for moment in (E(q[i] ** 4), E(s[i] ** 2)):
        unknown = derivation("", claim(moment, step("moments", 1)), ranges={i: d_k}, assuming=components(0, 0, 1, 1))
        assert is_refused(judge(unknown).claims[0][0])


# --- the same by enumeration ----------------------------------------------------------------------------------------

Distribution = list[tuple[Fraction, Fraction]]  # values with their probabilities
FAIR: Distribution = [(Fraction(-1), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))]
SKEW: Distribution = [(Fraction(-1, 2), Fraction(4, 5)), (Fraction(2), Fraction(1, 5))]  # mean 0, variance 1
SHIFTED: Distribution = [(Fraction(0), Fraction(2, 3)), (Fraction(3), Fraction(1, 3))]  # mean 1, variance 2
HIGH: Distribution = [(Fraction(1), Fraction(1, 4)), (Fraction(5), Fraction(3, 4))]  # mean 4, variance 3


def moments(of: Distribution) -> tuple[Fraction, Fraction]:
    """The mean and the variance of a distribution."""
    first = sum((value * weight for value, weight in of), Fraction(0))
    second = sum((value**2 * weight for value, weight in of), Fraction(0))
    return first, second - first**2


def dot_products(queries: Distribution, keys: Distribution, width: int) -> Distribution:
    """The distribution of q . k for independent components, by going through all their values."""
    found: Distribution = []
    for choice in all_choices(*[queries] * width, *[keys] * width):
        weight = Fraction(1)
        for _, chance in choice:
            weight *= chance
        found.append((sum((choice[p][0] * choice[width + p][0] for p in range(width)), Fraction(0)), weight))
    return found


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(("queries", "keys"), [(FAIR, FAIR), (FAIR, SKEW), (SKEW, SKEW)])
def test_the_variance_of_standard_components_is_their_number(
    queries: Distribution, keys: Distribution, width: int
) -> None:
    assert moments(dot_products(queries, keys, width)) == (0, width)
    assert (mean().rhs, variance().rhs.xreplace({d_k: width})) == (0, width)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(("queries", "keys"), [(SHIFTED, SKEW), (SHIFTED, HIGH), (HIGH, HIGH)])
def test_the_general_variance_is_the_enumerated_one(queries: Distribution, keys: Distribution, width: int) -> None:
    (m_q, v_q), (m_k, v_k) = moments(queries), moments(keys)
    put: dict[Any, Any] = {d_k: width, mu_q: m_q, mu_k: m_k}
    formula = variance_general().claims[1].rhs.subs({sigma_q**2: v_q, sigma_k**2: v_k}).subs(put)
    assert moments(dot_products(queries, keys, width))[1] == Fraction(str(formula))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_mean_with_means_kept_is_the_enumerated_one(width: int) -> None:
    put = {d_k: width, mu_q: 1, mu_k: 4}
    assert moments(dot_products(SHIFTED, HIGH, width))[0] == mean_general().rhs.subs(put)


@pytest.mark.parametrize("width", [2, 3])
def test_correlated_products_do_not_have_variance_d_k(width: int) -> None:
    """One and the same component repeated: the variance is d_k^2, so the assumption of the result is needed."""
    repeated = [(width * value, chance) for value, chance in dot_products(FAIR, SKEW, 1)]
    assert moments(repeated)[1] == width**2
