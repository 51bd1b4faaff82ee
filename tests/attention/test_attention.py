"""The results about attention are proved; broken ones are not, and plain loops agree with them."""

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Basic, Eq, Indexed, Integer, KroneckerDelta, Lambda, Lt, Rational, Sum, exp, sqrt

from derivations.attention.attention import (
    W_K,
    W_Q,
    W_V,
    A,
    K,
    O,
    Q,
    S,
    V,
    X,
    Y,
    attention,
    bilinear_form,
    c,
    convex_hull,
    cross_attention,
    definition,
    dot,
    keys,
    linear_in_values,
    masked_attention,
    over_keys,
    queries,
    scalar_softmax_is_one,
    scores,
    swap_query_key,
    values,
    weighted_sum,
    weights,
    weights_between_0_and_1,
    weights_sum_to_one,
)
from derivations.attention.causal import causal_attention, causal_independence, causal_weights
from derivations.attention.masks import masked, weights_of_hidden_keys
from derivations.attention.symmetries import (
    key_value_permutation,
    permutation,
    permutation_equivariance,
)
from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import CausalMask, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import StepEvidence, judge
from derivations.language.results.derivation import RESULTS, Claim, Derivation, Step, claim, derivation, step
from derivations.symbols import d_k, d_v, i, index, j, l, m, n, scalar
from tests.broken import broken_steps, is_refused, of_topic, with_step

NAMES = sorted(
    name
    for name in of_topic("attention")
    if RESULTS[name].__module__ in ("derivations.attention.attention", "derivations.attention.symmetries")
)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "attention.definition" else "proved")


# --- what must be refused -------------------------------------------------------------------------------------------

P = array("P", n, n)
PAIR = array("V", 2, d_v)
U, a, b = array("U", m, d_v), scalar("a"), scalar("b")
LATER = Tabulated(Lambda((j, l), Iverson(Lt(j, i, evaluate=False)) * keys[j, l]), n, d_k)

WRONG = [
    ("the root dropped", definition, 0, 2, row_softmax(Q @ K.T / d_k) @ V),
    ("the scale dropped", definition, 0, 2, row_softmax(Q @ K.T) @ V),
    ("the softmax dropped", definition, 0, 2, (Q @ K.T / sqrt(d_k)) @ V),
    ("softmax over the queries", definition, 0, 2, row_softmax(K @ Q.T / sqrt(d_k)).T @ V),
    ("weights of another query", definition, 1, 0, Sum(A[0, j] * V[j, c], (j, 0, m - 1))),
    ("a key too few", definition, 1, 0, Sum(A[i, j] * V[j, c], (j, 0, m - 2))),
    ("the product the other way round", scores, 0, 0, Tabulated(Lambda((i, j), dot(j, i)), n, m)),
    ("the score not scaled", scores, 2, 0, dot(i, j)),
    ("the transpose forgotten", swap_query_key, 0, 0, Q @ K.T),
    ("d_k = n", swap_query_key, 1, 0, Eq(d_k, n)),
    ("Q^T K transposed", swap_query_key, 2, 0, (queries.T @ keys).T),
    ("projections exchanged", bilinear_form, 0, 1, X @ (W_K @ W_Q.T) @ X.T),
    ("the projection transposed", bilinear_form, 0, 1, X @ (W_Q @ W_K.T).T @ X.T),
    ("the projections dropped", bilinear_form, 0, 1, X @ X.T),
    ("a rank bound that is off by one", bilinear_form, 2, 0, d_k - 1),
    ("weights without the root", weights, 0, 1, exp(dot(i, j) / d_k) / over_keys(exp(dot(i, l) / d_k))),
    (
        "the index of the sum clashing",
        weights,
        0,
        1,
        exp(dot(i, j) / sqrt(d_k)) / over_keys(exp(dot(i, j) / sqrt(d_k))),
    ),
    ("the sum over all other keys", weights, 0, 0, exp(S[i, j]) / (over_keys(exp(S[i, l])) - exp(S[i, j]))),
    ("one softmax weight alone", scalar_softmax_is_one, 0, 1, Tabulated(Lambda((l,), S[i, j]), 1)),
    ("weights below 1/2", weights_between_0_and_1, 2, 0, Rational(1, 2)),
    ("weights that sum to m", weights_sum_to_one, 0, 2, m),
    ("the output of another row", weighted_sum, 0, 0, A[0] @ V),
    ("weights that sum to 2", weighted_sum, 1, 0, Tabulated(Lambda((c,), 2), 2)),
    ("the weights exchanged", weighted_sum, 3, 0, Rational(9, 10) * PAIR[0] + Rational(1, 10) * PAIR[1]),
    ("a term too few", weighted_sum, 4, 0, Rational(1, 2) * PAIR[0]),
    ("values without weights", convex_hull, 0, 0, Sum(V[j, c], (j, 0, m - 1))),
    ("weights that sum to m", convex_hull, 2, 0, m),
    ("a bound of half the size", convex_hull, 3, 0, scalar("u") / 2),
    ("a term missing", linear_in_values, 0, 1, a * (A @ V)),
    ("a sum instead of a combination", linear_in_values, 0, 1, (A @ V) + (A @ U)),
    ("the derivative without its delta", linear_in_values, 1, 0, A[i, j]),
    ("the derivative by another key", linear_in_values, 1, 0, A[i, 0] * KroneckerDelta(c, l)),
    ("invariance instead of equivariance", permutation_equivariance, 0, 1, attention.result(queries, keys, values)),
    ("the inverse permutation", permutation_equivariance, 2, 0, P.T @ mask_array("M", n, n) @ P),
    ("P M instead of P M P^T", permutation_equivariance, 2, 0, P @ mask_array("M", n, n)),
    ("keys permuted alone", key_value_permutation, 0, 0, attention.result(Q, K, array("P", m, m) @ V)),
    ("a mask that hides nothing", masked, 0, 0, exp(S[i, j]) / over_keys(exp(S[i, l]))),
    ("a mask above the line alone", masked, 0, 0, mask_array("M", n, m)[i, j] * exp(S[i, j]) / over_keys(exp(S[i, l]))),
    ("a hidden key with a weight", weights_of_hidden_keys, 0, 1, 1),
    ("weights for later positions", causal_weights, 0, 0, array("A", n, n)[i, j]),
    (
        "no weight for the position itself",
        causal_weights,
        1,
        0,
        Iverson(Lt(j, i, evaluate=False)) * array("A", n, n)[i, j],
    ),
    ("the output of position 0", causal_independence, 0, 0, O[0]),
    (
        "keys and values exchanged",
        cross_attention,
        0,
        0,
        row_softmax((X @ W_Q) @ (Y @ W_K).T / sqrt(d_k)) @ (Y @ W_V) * 2,
    ),
    ("the weights of another key", cross_attention, 1, 0, exp(dot(i, 0)) / over_keys(exp(dot(i, l)))),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def about_weights(one: Claim, *, masked: bool = False) -> StepEvidence:
    """What the judge says of the last step of a claim about A = softmax(S) or A = softmax(S; M), for any scores."""
    layer = masked_attention if masked else attention
    return judge(derivation("", one, about=[layer.equation("A")], ranges={i: n, j: m})).claims[0][-1]


def test_a_weight_below_1_needs_a_second_key() -> None:
    rest = over_keys((1 - KroneckerDelta(j, l)) * A[i, l])
    assert is_refused(about_weights(claim(A[i, j], step("bound", 1, "<", rest))))


def test_an_output_may_leave_a_half_space_that_does_not_hold_the_values() -> None:
    right = convex_hull()
    bare = replace(right, claims=(replace(right.claims[3], given=()),))
    assert is_refused(judge(bare).claims[0][0])


def test_masked_weights_need_a_visible_key_to_sum_to_one() -> None:
    total = claim(over_keys(A[i, j], j), step("algebra", 1))
    assert about_weights(total).level == "proved"
    assert is_refused(about_weights(total, masked=True))


def test_a_weight_is_zero_only_where_the_key_is_hidden() -> None:
    visible = tuple(a for a in weights_of_hidden_keys().assumptions if not isinstance(a.statement, Eq))
    assert is_refused(judge(replace(weights_of_hidden_keys(), assumptions=visible)).claims[0][1])


def test_an_assumed_identity_needs_the_assumption() -> None:
    right = bilinear_form()
    bare = replace(right, claims=(replace(right.claims[1], given=()),))
    assert is_refused(judge(bare).claims[0][0])


def test_a_permutation_needs_a_bijection() -> None:
    """Without it sigma may take one value twice, and the sum over the keys is another one."""
    assert is_refused(judge(replace(key_value_permutation(), bijections=())).claims[0][0])


@pytest.mark.slow
def test_a_causal_mask_breaks_the_symmetry() -> None:
    """SelfAttention(P X) = P SelfAttention(X) is refused when a causal mask stays where it is."""
    mask = CausalMask(n)
    left = masked_attention.result(P @ queries, P @ keys, P @ values, mask)
    right = P @ masked_attention.result(queries, keys, values, mask)
    of = derivation(
        "",
        claim(left, step("reindexing", right)),
        about=(permutation(n),),
        bijections=[("sigma", "sigma_inverse", n)],
    )
    assert is_refused(judge(of).claims[0][0])


def test_causal_outputs_depend_on_their_own_position() -> None:
    """With the key at position i itself changed, the output is another one."""
    changed = masked_attention.result(queries, LATER, values, CausalMask(n))[i]
    of = derivation("", claim(changed, step("indicator", O[i])), about=list(causal_attention()), ranges={i: n})
    assert is_refused(judge(of).claims[0][0])


def test_unmasked_outputs_depend_on_later_positions() -> None:
    later = next(e.value for e in causal_independence().definitions if e.target.name == "K_tilde")
    here = attention.result(queries, keys, values)[i]
    of = derivation("", claim(attention.result(queries, later, values)[i], step("indicator", here)), ranges={i: n})
    assert is_refused(judge(of).claims[0][0])


def test_a_relation_between_sizes_is_no_equation() -> None:
    """Under the rule for inner sizes "=" proves nothing; the relation is "iff"."""
    of = derivation("", Claim(swap_query_key().claims[1].lhs, (Step("shape", Eq(d_k, m), "="),)))
    assert is_refused(judge(of).claims[0][0])


# --- the same by plain loops ----------------------------------------------------------------------------------------

Matrix = list[list[float]]


def random_matrix(rows: int, columns: int, seed: int) -> Matrix:
    source = Random(seed)
    return [[source.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]


def plain_attention(query: Matrix, key: Matrix, value: Matrix, shown: Callable[[int, int], bool]) -> Matrix:
    """Attention as four loops; `shown` says which key a query sees."""
    output = []
    for r, q in enumerate(query):
        powers = [
            math.exp(sum(x * y for x, y in zip(q, v, strict=True)) / math.sqrt(len(q))) if shown(r, s) else 0.0
            for s, v in enumerate(key)
        ]
        output.append(
            [sum(p * v[at] for p, v in zip(powers, value, strict=True)) / sum(powers) for at in range(len(value[0]))]
        )
    return output


def everything(query: int, key: int) -> bool:
    return True


def number(expression: Basic, arrays: dict[str, Matrix], sizes: dict[Any, int], **places: int) -> float:
    """The value of an expression in the entries of some arrays."""
    put = {size: Integer(value) for size, value in sizes.items()}
    put |= {index(name): Integer(at) for name, at in places.items()}

    def entry(e: Indexed) -> float:
        row, column = map(int, e.indices)
        return arrays[e.base.label.name][row][column]

    return float(expression.xreplace(put).doit().replace(lambda e: isinstance(e, Indexed), entry))


SIZES = {n: 2, m: 3, d_k: 5, d_v: 7}
GIVEN = {"Q": random_matrix(2, 5, 1), "K": random_matrix(3, 5, 2), "V": random_matrix(3, 7, 3)}


def test_the_entry_formula_is_the_plain_loop() -> None:
    plain = plain_attention(GIVEN["Q"], GIVEN["K"], GIVEN["V"], everything)
    for row in range(2):
        shares = [number(weights().rhs, GIVEN, SIZES, i=row, j=column) for column in range(3)]
        assert sum(shares) == pytest.approx(1, rel=1e-12)
        mixed = [sum(p * v[at] for p, v in zip(shares, GIVEN["V"], strict=True)) for at in range(7)]
        assert mixed == pytest.approx(plain[row], rel=1e-12)


def test_the_scores_are_dot_products() -> None:
    for row in range(2):
        for column in range(3):
            q, key = GIVEN["Q"][row], GIVEN["K"][column]
            exact = sum(x * y for x, y in zip(q, key, strict=True)) / math.sqrt(5)
            assert number(scores().claims[2].rhs, GIVEN, SIZES, i=row, j=column) == pytest.approx(exact, rel=1e-12)


def test_permuted_rows_come_out_permuted() -> None:
    x = random_matrix(5, 3, 4)
    order = [3, 0, 4, 1, 2]
    moved = [x[at] for at in order]
    plain, permuted = (plain_attention(rows, rows, rows, everything) for rows in (x, moved))
    assert permuted == [pytest.approx(plain[at], rel=1e-12) for at in order]


def test_later_positions_change_nothing_under_the_causal_mask() -> None:
    query, key, value = (random_matrix(5, 3, seed) for seed in (5, 6, 7))
    before = plain_attention(query, key, value, lambda r, s: s <= r)
    key[3:], value[3:] = random_matrix(2, 3, 8), random_matrix(2, 3, 9)
    after = plain_attention(query, key, value, lambda r, s: s <= r)
    assert after[:3] == before[:3]
    assert after[3] != pytest.approx(before[3], rel=1e-3)


def test_the_documents_example_in_numbers() -> None:
    values_here = Explicit([[Integer(2), Integer(3)], [Integer(5), Integer(7)]])
    mixed = Explicit([[Rational(1, 10), Rational(9, 10)], [Rational(1, 2), Rational(1, 2)]]) @ values_here
    expected = [[Rational(47, 10), Rational(66, 10)], [Rational(7, 2), Rational(5)]]
    assert [[mixed.entry(row, column).doit() for column in range(2)] for row in range(2)] == expected
