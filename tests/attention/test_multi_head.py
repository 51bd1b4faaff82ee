"""The results about multi-head attention are proved; broken ones are not, and counting loops agree with them."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Basic, Eq, Indexed, Integer, KroneckerDelta, Lambda, Sum, symbols

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import (
    W_K,
    W_O,
    W_Q,
    W_V,
    X_K,
    X_Q,
    X_V,
    Q,
    b_K,
    b_O,
    b_Q,
    b_V,
    c,
    concat_index,
    concat_index_of_width_64,
    concat_is_sum,
    concatenated,
    definition,
    effective_biases,
    fused_projection,
    head,
    head_permutation,
    heads,
    one_head,
    r,
    reads_all_of_d_model,
    sigma,
    single_head,
    split,
    sum_of_circuits,
)
from derivations.attention.multi_head_costs import (
    cost_equals_one_head,
    head_width,
    one_head_cost,
    parameters,
)
from derivations.language.arrays.arrangements import Concatenate, Explicit, SumOver, Tabulated, column_block
from derivations.language.arrays.expression import array
from derivations.language.arrays.shapes import Blocks
from derivations.language.counting.costs import Count
from derivations.language.judge.proof import StepEvidence, judge
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.symbols import d_k, d_model, d_v, h, i, j, m, n, size
from tests.broken import broken_steps, is_refused, of_topic, with_step

NAMES = sorted(
    name
    for name in of_topic("multi_head")
    if RESULTS[name].__module__ in ("derivations.attention.multi_head", "derivations.attention.multi_head_costs")
)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "multi_head.definition" else "proved")


# --- what must be refused -------------------------------------------------------------------------------------------

ATTENTION = scaled_dot_product_attention()
H_1, H_2, W_11, W_12, W_21, W_22 = symbols("h_1 h_2 w_11 w_12 w_21 w_22", real=True)
WIDE = Concatenate(W_Q[i], i, h)
BACKWARDS = Concatenate(head[h - 1 - i], i, h)
OF_HEAD = column_block(W_O.T, i).T
OF_ANOTHER_HEAD = column_block(W_O.T, h - 1 - i).T


WIDE_3, CUT = array("W", 3, d_model, size("D")), array("X", n, Blocks(h, size("q")))
NO_BIAS = X_K @ W_K[i], X_V @ W_V[i]
ONE = tuple(x @ array(w, 1, d_model, s)[0] for x, w, s in ((X_Q, "W_Q", d_k), (X_K, "W_K", d_k), (X_V, "W_V", d_v)))


def mixed(rows: Any) -> Any:
    """The sum over the heads, each times some rows of W^O."""
    return Tabulated(Lambda((r, c), Sum((head[i] @ rows)[r, c], (i, 0, h - 1))), n, d_model)


BOTH = X_K @ W_K[i] + b_K[i], X_V @ W_V[i] + b_V[i]
WRONG = [
    ("the projection of another head", fused_projection, 2, 0, array("X", n, d_model) @ W_K[0]),
    ("a head that reads its own row alone", reads_all_of_d_model, 0, 0, 0),
    ("the weights of another column", reads_all_of_d_model, 0, 0, W_Q[i, 0, j]),
    ("the weights of one block for all", fused_projection, 0, 0, array("X", n, d_model) @ WIDE_3[0]),
    ("a block that reads all of X", reads_all_of_d_model, 1, 0, CUT @ array("W", Blocks(h, size("q")), d_k)),
    ("the circuits of the wrong heads", sum_of_circuits, 0, 0, SumOver(head[i] @ OF_ANOTHER_HEAD, i, h)),
    ("one head for all in the sum", sum_of_circuits, 0, 0, SumOver(head[0] @ OF_HEAD, i, h)),
    ("only the heads moved", head_permutation, 0, 0, Concatenate(head[sigma(i)], i, h) @ W_O),
    ("no W^O", single_head, 0, 0, ATTENTION.result(*ONE) @ array("W_O", d_v, d_model) * 2),
    ("the bias of the queries dropped", effective_biases, 0, 0, ATTENTION.result(X_Q @ W_Q[i], *BOTH)),
    ("the bias of the values dropped", effective_biases, 0, 1, ATTENTION.result(X_Q @ W_Q[i] + b_Q[i], *NO_BIAS)),
    ("the bias of the values in full", effective_biases, 1, 0, concatenated @ W_O + b_O),
    ("heads in another order", definition, 0, 0, BACKWARDS @ W_O),
    ("keys for queries", one_head, 0, 0, ATTENTION.result(Q[i], Q[i], Q[i])),
    ("projections exchanged", one_head, 0, 1, ATTENTION.result(X_Q @ W_K[i], X_K @ W_Q[i], X_V @ W_V[i])),
    ("the projection of another head", one_head, 0, 1, ATTENTION.result(X_Q @ W_Q[0], X_K @ W_K[i], X_V @ W_V[i])),
    ("d_v = d_model", one_head, 1, 0, Eq(d_v, d_model)),
    ("another block", split, 0, 0, X_Q @ W_Q[0]),
    ("the keys' projection", split, 0, 0, X_Q @ W_K[i]),
    ("blocks in another order", split, 1, 0, Concatenate(Q[h - 1 - i], i, h)),
    ("the columns of another head", concat_index, 0, 0, head[0]),
    ("a column number off by one", concat_index, 1, 0, head[i, r, 0]),
    ("the head of another block", concat_index, 1, 0, head[h - 1 - i, r, j]),
    ("W^O read backwards", concat_is_sum, 0, 0, mixed(OF_ANOTHER_HEAD)),
    ("one head for all", concat_is_sum, 0, 0, Concatenate(head[0], i, h) @ W_O),
    (
        "W^O transposed",
        concat_is_sum,
        1,
        0,
        Explicit([[H_1 * W_11 + H_2 * W_12, H_1 * W_21 + H_2 * W_22]]),
    ),
    ("the second head forgotten", concat_is_sum, 1, 0, Explicit([[H_1 * W_11, H_1 * W_12]])),
    ("a width of 63", head_width, 0, 1, 63),
    ("d_v = d_model in place of h d_v", head_width, 2, 0, Eq(d_v, d_model)),
    ("W^O not counted", parameters, 0, 0, h * d_model * (2 * d_k + d_v)),
    ("one head counted", parameters, 0, 0, d_model * (2 * d_k + d_v) + d_v * d_model),
    ("three matrices", parameters, 1, 0, 3 * d_model**2),
    ("the base model off by one", parameters, 2, 0, 1048577),
    ("a bias too few", parameters, 3, 0, Count("parameters", heads) + h * (2 * d_k + d_v)),
    ("products of the projections alone", one_head_cost, 0, 0, 2 * d_model * (n * d_k + m * d_k + m * d_v)),
    ("multiply-adds for FLOPs", cost_equals_one_head, 0, 1, 2 * (n + m) * d_model**2 + 2 * n * m * d_model),
    ("softmax that costs the same", cost_equals_one_head, 1, 0, 5 * n * m),
    ("no work beyond the products", cost_equals_one_head, 2, 0, 0),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def with_lhs(right: Derivation, number: int, lhs: Any) -> StepEvidence:
    """What the judge says of the first step of a claim whose left-hand side is another one."""
    return judge(replace(right, claims=(replace(right.claims[number], lhs=lhs),))).claims[0][0]


def unit(number: Any, size: Any) -> Tabulated:
    """The column of the given number, as a vector that picks it."""
    return Tabulated(Lambda((c,), KroneckerDelta(c, number)), size)


@pytest.mark.parametrize(
    ("what", "number"),
    [("off by one", d_v * i + j + 1), ("heads within columns", h * j + i), ("the width of a key", d_k * i + j)],
)
def test_a_wrong_column_number_is_refused(what: str, number: Any) -> None:
    assert is_refused(with_lhs(concat_index(), 1, (concatenated @ unit(number, h * d_v))[r])), what


@pytest.mark.parametrize("number", [64 * i + j + 1, 63 * i + j, 8 * j + i])
def test_a_wrong_column_number_of_width_64_is_refused(number: Any) -> None:
    eight = array("head", 8, n, 64)
    left = (Concatenate(eight[i], i, 8) @ unit(number, 512))[r]
    assert is_refused(with_lhs(concat_index_of_width_64(), 0, left))


def test_a_shared_width_needs_the_assumption() -> None:
    """4 d_model^2 parameters, 1/h of the cost and equal costs are refused for any other d_k and d_v."""
    right = parameters()
    assert is_refused(judge(replace(right, claims=(replace(right.claims[1], given=()),))).claims[0][0])
    assert is_refused(judge(replace(one_head_cost(), assumptions=())).claims[0][1])
    assert is_refused(judge(replace(cost_equals_one_head(), assumptions=())).claims[0][1])


def test_a_head_does_not_cost_less_than_its_share() -> None:
    right = one_head_cost()
    assert right.rhs.has(1 / h)
    assert is_refused(with_step(right, 0, 2, right.rhs / h))


def test_a_count_is_read_only_from_its_own_layer() -> None:
    of = derivation("", claim(Count("parameters", heads), step("count", Count("FLOPs", heads))))
    assert is_refused(judge(of).claims[0][0])


# --- the same by plain loops ----------------------------------------------------------------------------------------

Matrix = list[list[Any]]


class Loops:
    """Products as loops that count their multiply-adds."""

    def __init__(self) -> None:
        self.multiply_adds = 0

    def product(self, left: Matrix, right: Matrix) -> Matrix:
        """The product of two matrices."""
        result = [[Integer(0)] * len(right[0]) for _ in left]
        for row, values in enumerate(left):
            for column in range(len(right[0])):
                for at, value in enumerate(values):
                    result[row][column] += value * right[at][column]
                    self.multiply_adds += 1
        return result


def integers(rows: int, columns: int, seed: int) -> Matrix:
    source = Random(seed)
    return [[Integer(source.randint(-5, 5)) for _ in range(columns)] for _ in range(rows)]


def multiply_adds(count: int, queries: int, keys: int, width: int, width_k: int, width_v: int) -> int:
    """The multiply-adds of `count` heads, by going through every product (the softmax, which has none, left out)."""
    loops = Loops()
    outputs: Matrix = [[] for _ in range(queries)]
    for number in range(count):
        q = loops.product(integers(queries, width, number), integers(width, width_k, number))
        k = loops.product(integers(keys, width, number), integers(width, width_k, number))
        v = loops.product(integers(keys, width, number), integers(width, width_v, number))
        scores = loops.product(q, [list(column) for column in zip(*k, strict=True)])
        for row, output in zip(outputs, loops.product(scores, v), strict=True):
            row.extend(output)
    loops.product(outputs, integers(count * width_v, width, 99))
    return loops.multiply_adds


@pytest.mark.parametrize("sizes", [(2, 3, 5, 7, 2, 3), (1, 2, 3, 5, 7, 2), (3, 5, 2, 6, 2, 2)])
def test_the_matmul_flops_are_those_of_the_loops(sizes: tuple[int, ...]) -> None:
    put = dict(zip((h, n, m, d_model, d_k, d_v), sizes, strict=True))
    assert cost_equals_one_head().steps[0].expression.xreplace(put) == 2 * multiply_adds(*sizes)


def test_four_heads_cost_the_products_of_one() -> None:
    assert multiply_adds(4, 3, 2, 20, 5, 5) == multiply_adds(1, 3, 2, 20, 20, 20)
    narrow, wide = (one_head_cost().steps[0].expression.xreplace({d_k: w, d_v: w}) for w in (d_model / h, d_model))
    assert (h * narrow - wide).expand() == 0


def test_the_parameters_are_those_of_the_matrices() -> None:
    put = {h: 3, d_model: 7, d_k: 2, d_v: 5}
    matrices = [*[(7, 2)] * 3, *[(7, 2)] * 3, *[(7, 5)] * 3, (15, 7)]
    assert parameters().steps[0].expression.xreplace(put) == sum(rows * columns for rows, columns in matrices)


def test_the_concatenation_times_w_o_is_the_sum_over_the_heads() -> None:
    """Three heads of width 2 in numbers, multiplied side by side and added up by the formula of the result."""
    outputs = [integers(2, 2, seed) for seed in (1, 2, 3)]
    w_o = integers(6, 5, 4)
    side_by_side = [[*outputs[0][row], *outputs[1][row], *outputs[2][row]] for row in range(2)]
    expected = Loops().product(side_by_side, w_o)
    formula = concat_is_sum().claims[0].rhs

    def value(e: Indexed) -> Any:
        places = [int(place) for place in e.indices]
        return outputs[places[0]][places[1]][places[2]] if len(places) == 3 else w_o[places[0]][places[1]]

    for row in range(2):
        for column in range(5):
            entry = formula.entry(Integer(row), Integer(column)).xreplace({h: 3, d_v: 2, d_model: 5, n: 2}).doit()
            assert entry.replace(lambda e: isinstance(e, Indexed), value) == expected[row][column]


def test_head_2_stands_in_the_columns_65_to_128() -> None:
    eight = array("head", 8, n, 64)
    side_by_side = Concatenate(eight[i], i, 8)
    columns = [side_by_side[r, number] for number in (0, 63, 64, 127, 511)]
    assert columns == [eight[0, r, 0], eight[0, r, 63], eight[1, r, 0], eight[1, r, 63], eight[7, r, 63]]
