"""Contractions and largest entries as LaTeX, text and matrices: printed indices count from 1."""

import pytest
from sympy import Lambda, Rational, Symbol, exp, sqrt

from derivations.language import gradient
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import named
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.explicit import explicit
from derivations.language.printing.latex import latex_of
from derivations.language.printing.letters import spelled
from derivations.symbols import d_k, h, m, n
from tests.contractions import i, j, k, layer_of, p


def line(layer: Layer) -> str:
    """Return the LaTeX of the first equation of a layer, without the ranges of its indices."""
    return layer.latex().split(r", \qquad")[0].split(" &&")[0]


def test_scores_of_heads_print_as_a_sum() -> None:
    Q, K, let = array("Q", h, n, d_k), array("K", h, m, d_k), Equations()
    value = contraction((i, j, k), (h, n, m), [(p, d_k)], 1, operand_of(Q, (i, j, p)), operand_of(K, (i, k, p)))
    layer = Layer("scores", (Q, K), (), let, let("S")(value / sqrt(d_k)))
    assert line(layer) == r"S_{ijk} = \frac{1}{\sqrt{d_{k}}} \sum_{l=1}^{d_{k}} Q_{ijl} K_{ikl}"
    assert r"i = 1, \ldots, h" in layer.latex()
    assert latex_of(value) == r"\left[\sum_{l=1}^{d_{k}} Q_{ijl} K_{ikl}\right]_{ijk}"


@pytest.mark.parametrize(
    ("name", "forward", "backward"),
    [
        ("permuted", "C_ijk = A_jki", "dA_ijk = dC_kij"),
        ("slice in steps", "C_ij = X_{i,2 j}", "dX_ij = sum_{l=1}^3 dC_il delta_{2 l,j}"),
        ("one column", "C_i = X_i1", "dX_ij = dC_i delta_j1"),
        ("reversed", "C_ij = X_{i,8 - j}", "dX_ij = sum_{l=1}^7 dC_il delta_{8 - l,j}"),
        ("split axis", "C_ijk = W_{(i - 1) d_k + j,k}", "dW_{(i - 1) d_k + j,k} = dC_ijk"),
        ("merged axes", "C_{i,(j - 1) d + k} = A_jik", "dA_ijk = dC_{j,(i - 1) d + k}"),
        ("trace", "C = sum_{j=1}^n S_jj", "dS_ij = dC delta_ij"),
        ("number repeated", "C_ij = t", "dt = sum_{j=1}^n sum_{p=1}^m dC_jp"),
        ("four axes", "C_ijkl = Y_ijkl v_j", "dv_i = sum_{j=1}^h sum_{p=1}^m sum_{r=1}^d Y_jipr dC_jipr"),
        (
            "convolution",
            "C_i = sum_{j=1}^3 w_j z_{i + j - 1}",
            "dz_i = sum_{j=1}^5 sum_{p=1}^3 dC_j w_p delta_{i,j + p - 1}",
        ),
        ("placed among zeros", "C_ij = sum_{l=1}^d X_il delta_{j,m + l}", "dX_ij = dC_{i,m + j}"),
        ("weighted", "C_ij = (2 j + i - 2) X_ij", "dX_ij = (2 j + i - 2) dC_ij"),
    ],
)
def test_moves_print_as_entries_counted_from_1(name: str, forward: str, backward: str) -> None:
    layer = layer_of(name)
    for one, wanted in ((layer, forward), (gradient(layer), backward)):
        assert one.text().splitlines()[1].split("    ")[1] == wanted


def _layer(value: Array, *inputs: Array) -> Layer:
    let = Equations()
    return Layer("tried", inputs, (), let, let("y")(value))


def test_largest_entries_print_as_a_maximum() -> None:
    A, S, M = array("A", h, n, m), array("S", n, m), mask_array("M", n, m)
    assert line(_layer(RowMax(S), S)) == r"y_{i} = \max_{j} S_{ij}"
    assert line(_layer(RowMax(S, M), S, M)) == r"y_{i} = \max_{j : M_{ij} = 1} S_{ij}"
    assert _layer(RowMax(A), A).text().splitlines()[1].startswith("    y_ij = max_l A_{i,jl}")
    assert latex_of(RowMax(S)) == r"\mathrm{rowmax}(S)"


def test_an_array_of_equal_numbers_prints_as_the_number() -> None:
    S, x = array("S", n, m), Symbol("x", real=True)
    small = Tabulated(Lambda((i, j), Rational(1, 100000)), n, m)
    root = named("root", sqrt(x), x)
    assert latex_of(root(S + small)) == r"\sqrt{S + \frac{1}{100000}}"
    assert "_{i,j}" in latex_of(S + Tabulated(Lambda((i, j), exp(i)), n, m))


@pytest.mark.parametrize(
    ("name", "latex"),
    [("Wq", "W_{q}"), ("dWq", r"\mathrm{d}W_{q}"), ("Wq_2", "W_{q,2}"), ("Pi", r"\Pi"), ("Mask", r"\mathrm{Mask}"),
     ("WQ", r"\mathrm{WQ}"), ("t_6", "t_{6}"), ("wq", r"\mathrm{wq}")],
)  # fmt: skip
def test_one_capital_and_one_small_letter_print_as_a_subscript(name: str, latex: str) -> None:
    assert spelled(name).latex() == latex


def test_contractions_are_written_out() -> None:
    A, B = array("A", 2, 2, 3), array("B", 2, 1, 3)
    value = contraction((i, j, k), (2, 2, 1), [(p, 3)], 1, operand_of(A, (i, j, p)), operand_of(B, (i, k, p)))
    given = {"A": [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [0, 1, 2]]], "B": [[[1, 0, 2]], [[3, 1, 0]]]}
    assert [matrix.tolist() for matrix in explicit(value, given)] == [[[7], [16]], [[29], [1]]]
    wide = array("W", 2, 6)
    heads = contraction((i, j, k), (2, 2, 3), [], 1, operand_of(wide, (j, 3 * i + k)))
    (first, second) = explicit(heads, {"W": [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]})
    assert (first.tolist(), second.tolist()) == ([[1, 2, 3], [7, 8, 9]], [[4, 5, 6], [10, 11, 12]])


def test_largest_entries_are_written_out() -> None:
    S = array("S", 2, 3)
    assert explicit(RowMax(S), {"S": [[1, 5, 2], [-3, -1, -7]]}).tolist() == [[5, -1]]
    masked = explicit(RowMax(S, mask_array("M", 2, 3)), {"S": [[1, 5, 2], [-3, -1, -7]], "M": [[1, 0, 1], [1, 0, 0]]})
    assert masked.tolist() == [[2, -3]]
