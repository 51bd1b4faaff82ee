"""FLOPs and saved residuals of contractions and largest entries, against products of matrices and hand counts."""

import pytest

from derivations.language import count_flops, gradient
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import exponential
from derivations.language.counting.convention import Convention
from derivations.language.counting.memory_counts import saved_residuals
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, d_k, h, m, n
from tests.contractions import A, i, j, k, layer_of, p

NOTHING: dict[str, object] = {}


def kinds(layer: Layer) -> dict[str, object]:
    return {kind: count for kind, count in count_flops(layer).by_kind.items() if count != 0}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("batched product", {"matmul": 2 * h * n * m * d, "elementwise": h * n * m}),
        ("permuted", NOTHING),
        ("slice in steps", NOTHING),
        ("split in three", NOTHING),
        ("merged axes", NOTHING),
        ("diagonal", NOTHING),
        ("number repeated", NOTHING),
        ("placed among zeros", NOTHING),
        ("trace", {"reduction": n}),
        ("four axes", {"elementwise": h * n * m * d}),
        ("three operands", {"matmul": 3 * h * n * m * d, "elementwise": h}),
        ("convolution", {"matmul": 2 * 5 * 3}),
        ("weighted", {"elementwise": n * d}),
        ("twice", {"matmul": 2 * n * n * d}),
    ],
)
def test_flops(name: str, wanted: dict[str, object]) -> None:
    assert kinds(layer_of(name)) == wanted


@pytest.mark.parametrize("name", ["permuted", "slice in steps", "split in three", "merged axes", "diagonal"])
def test_the_gradient_of_a_move_is_free(name: str) -> None:
    assert kinds(gradient(layer_of(name))) == NOTHING


def test_the_gradient_of_a_product_costs_two_products() -> None:
    layer = layer_of("batched product")
    assert count_flops(gradient(layer)).matmul == 2 * count_flops(layer).matmul


def test_multiply_adds_are_half() -> None:
    assert count_flops(layer_of("batched product"), 1, Convention(unit="mac")).matmul == h * n * m * d


def test_largest_entries_are_a_reduction() -> None:
    let = Equations()
    assert kinds(Layer("tried", (A,), (), let, let("Y")(RowMax(A)))) == {"reduction": h * n * d}


def test_what_is_only_moved_is_stored_once() -> None:
    """Heads are a view of the queries: the product saves the queries, and no copy of them."""
    X, W, let = array("X", n, h * d_k), array("W", h, m, d_k), Equations()
    queries = let("Q")(exponential(X))
    heads = let("H")(contraction((i, j, k), (h, n, d_k), [], 1, operand_of(queries, (j, d_k * i + k))))
    output = let("S")(
        contraction((i, j, k), (h, n, m), [(p, d_k)], 1, operand_of(heads, (i, j, p)), operand_of(W, (i, k, p)))
    )
    saved = saved_residuals(Layer("scores", (X, W), (), let, output))
    assert [(each.name, each.elements) for each in saved.storages] == [("W", d_k * h * m), ("Q", d_k * h * n)]
