"""Operations under every convention, against loops that run them, figures measured elsewhere, and sums by hand."""

from __future__ import annotations

from itertools import product

import pytest
from sympy import Expr, Integer, Min, Symbol, expand

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.grouped_query import g, grouped_query_attention, r
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, ColumnBroadcast, array, mask_array, token_array
from derivations.language.arrays.functions import (
    CausalMask,
    Hadamard,
    MaskConjunction,
    WindowMask,
    named,
    relu,
    row_softmax,
)
from derivations.language.arrays.routing import RoutedProduct, TopKMask
from derivations.language.arrays.shapes import ShapeError
from derivations.language.counting.convention import CONVENTION, Convention
from derivations.language.counting.costs import (
    Flops,
    count_decode_flops,
    count_flops,
    count_training_flops,
    flops_by_part,
)
from derivations.language.counting.mask_sparsity import visible_pairs
from derivations.language.layers.layer import Equations, Layer, part
from derivations.normalisation.batch_norm import batch_norm
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import N, batch, d_ff, d_k, d_model, d_v, h, index, m, n, size, vocab
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer, transformer_loss
from tests.tiers import few

w = size("w")
X = array("X", n, d_model)
VISIBLE, HALVED = Convention(causal="visible"), Convention(causal="halved")
CHOICES = [
    Convention(unit, products, causal, lookups, input_gradient)
    for unit, products, causal, lookups, input_gradient in product(
        ("flop", "mac"), ("2k", "2k-1"), ("full", "halved", "visible"), ("free", "counted"), (True, False)
    )
    if (unit, products) != ("mac", "2k-1")
]


def self_attention(attention: Layer | None = None, mask: Array | None = None) -> Layer:
    """One matrix given three times, with a mask as an equation of its own where there is one."""
    let = Equations()
    given = [] if mask is None else [let("M")(mask)]
    attention = attention or multi_head_attention(masked=mask is not None)
    Y = let("Y")(part("attention", attention)(X, X, X, *given))
    return Layer("self_attention", (X,), (), let, Y)


def language_model(mask: Array) -> Layer:
    """A stack of layers in which every position sees what the mask shows."""
    let = Equations()
    Y = let("Y")(part("layers", encoder_layer(masked=True), count=N)(X, mask))
    return Layer("language_model", (X,), (), let, Y)


# --- the convention


@pytest.mark.parametrize(
    ("field", "value"),
    [("unit", "flops"), ("products", "2k+1"), ("causal", True), ("lookups", ""), ("input_gradient", 1)],
)
def test_what_is_no_convention_is_refused(field: str, value: object):
    with pytest.raises(ValueError, match=f"^convention: {field} is .*; choose .* or "):
        Convention(**{field: value})


def test_multiply_adds_are_not_counted_apart():
    with pytest.raises(ValueError, match="products = '2k-1' counts additions apart, unit = 'mac' does not"):
        Convention(unit="mac", products="2k-1")


def test_every_convention_says_what_it_is():
    texts = {convention.describe() for convention in CHOICES}
    assert len(texts) == len(CHOICES) == 36
    assert str(CONVENTION) == Convention().describe()
    assert CONVENTION.describe().startswith(
        "One multiply-add is 2 FLOPs: a product of (n, k) and (k, m) counts 2 n k m."
    )


@pytest.mark.slow
def test_a_count_carries_its_convention():
    layer = language_model(CausalMask(n))
    for convention in CHOICES:
        assert count_flops(layer, 2, convention).convention == convention
        assert count_training_flops(layer, 2, convention).convention == convention
        assert {f.convention for f in flops_by_part(layer, 2, convention).values()} == {convention}
    assert count_decode_flops(layer, n, 2, Convention(unit="mac")).convention == Convention(
        unit="mac", causal="visible"
    )


# --- training, against measured products

MEASURED = [  # layer, sizes, batch, products counted by torch.utils.flop_counter.FlopCounterMode of torch 2.13.0:
    # forward; forward and backward; the same where the input needs no gradient (where that was measured)
    (self_attention(), {"d_model": 64, "h": 4, "n": 16}, 1, (589824, 1769472, 1376256)),
    (self_attention(), {"d_model": 128, "h": 8, "n": 32}, 2, (9437184, 28311552, 22020096)),
    (self_attention(), {"d_model": 768, "h": 12, "n": 512}, 2, (6442450944, 19327352832, 15703474176)),
    (feed_forward(), {"d_model": 64, "d_ff": 256, "n": 16}, 1, (1048576, 3145728, 2621440)),
    (feed_forward(), {"d_model": 768, "d_ff": 3072, "n": 512}, 2, (9663676416, 28991029248, 24159191040)),
    (encoder_layer(), {"d_model": 64, "h": 4, "d_ff": 256, "n": 16}, 1, (1638400, 4915200, None)),
    (encoder_layer(), {"d_model": 512, "h": 8, "d_ff": 2048, "n": 128}, 4, (3355443200, 10066329600, None)),
    (decoder_layer(), {"d_model": 64, "h": 4, "d_ff": 256, "n": 8, "m": 16}, 1, (1228800, 3686400, None)),
    (
        decoder_layer(),
        {"d_model": 768, "h": 12, "d_ff": 3072, "n": 256, "m": 512},
        2,
        (12079595520, 36238786560, None),
    ),
]


@pytest.mark.parametrize(("layer", "sizes", "examples", "measured"), MEASURED)
def test_training_agrees_with_products_measured_while_running(layer: Layer, sizes, examples: int, measured):
    width = sizes["d_model"] // sizes["h"] if "h" in sizes else 0
    numbers = layer.at(**sizes, **({"d_k": width, "d_v": width} if width else {}))
    forward, trained, without = measured
    assert count_flops(numbers, examples).matmul == forward
    assert count_training_flops(numbers, examples).matmul == trained
    counted = count_training_flops(numbers, examples, Convention(input_gradient=False)).matmul
    assert counted < trained
    assert without is None or counted == without


def test_only_the_first_layer_of_a_stack_is_spared_the_gradient_by_the_input():
    """Three products with the transposed projections; the residual connection takes none."""
    with_input = count_training_flops(encoder()).matmul
    without = count_training_flops(encoder(), 1, Convention(input_gradient=False)).matmul
    assert expand(with_input - without - 2 * n * d_model * h * (2 * d_k + d_v)) == 0


def test_weights_of_a_part_that_takes_tokens_have_a_gradient():
    """Nothing is pulled back to the tokens, but each row of the gradient is added into the table, which is scaled."""
    tokens, let = token_array("tokens", n), Equations()
    Y = let("Y")(part("embedding", embedding())(tokens))
    layer = Layer("embedded", (tokens,), (), let, Y)
    backward = count_training_flops(layer) - count_flops(layer)
    assert backward == Flops(reduction=n * d_model, elementwise=vocab * d_model)


# --- products of k terms


class Work:
    """Counts what loops do: multiplications and additions, or pairs of both."""

    def __init__(self) -> None:
        self.flops = self.macs = 0

    def dot(self, terms: int) -> None:
        """One entry of a product."""
        self.macs += terms
        self.flops += terms + (terms - 1)

    def product(self, rows: int, inner: int, columns: int) -> None:
        """All entries of a product."""
        for _ in range(rows * columns):
            self.dot(inner)


def test_products_without_the_first_addition_are_what_loops_execute():
    work = Work()
    work.product(3, 5, 7)
    work.product(3, 7, 5)
    layer = feed_forward().at(n=3, d_model=5, d_ff=7)
    assert count_flops(layer, 1, Convention(products="2k-1")).matmul == work.flops
    assert count_flops(layer, 11, Convention(products="2k-1")).matmul == 11 * work.flops
    assert count_flops(layer, 1, Convention(unit="mac")) == Flops(
        matmul=Integer(work.macs), convention=Convention(unit="mac")
    )


def test_rows_that_go_through_matrices_of_their_own():
    """Each row meets one of the matrices; its products by the gradient are added into that matrix, all of them."""
    rows, matrices, numbers = array("R", n, m), array("W", N, m, d_v), token_array("numbers", n)
    let = Equations()
    layer = Layer("routed", (rows, numbers), (matrices,), let, let("Y")(RoutedProduct(rows, matrices, numbers)))
    sizes, work = {n: Integer(5), m: Integer(3), d_v: Integer(7), N: Integer(11)}, Work()
    work.product(5, 3, 7)
    less = Convention(products="2k-1")
    assert count_flops(layer, 1, less).matmul.xreplace(sizes) == work.flops
    assert count_flops(layer, 1, Convention(unit="mac")).matmul.xreplace(sizes) == work.macs
    work.product(5, 7, 3)  # of the rows
    added = 2 * 5 * 3 * 7  # of the matrices: a multiplication and an addition for each entry of a row's matrix
    assert count_training_flops(layer, 1, less).matmul.xreplace(sizes) == work.flops + added


# --- causal masks


def visible_work(rows: int, width: int, d_k: int, d_v: int) -> tuple[Work, Work]:
    """Attention of one head over visible keys alone, entry by entry, and its backward pass."""
    seen = {i: [j for j in range(rows) if i - width < j <= i] for i in range(rows)}
    readers = {j: [i for i in range(rows) if j in seen[i]] for j in range(rows)}
    forward, backward = Work(), Work()
    for i in range(rows):
        for _ in seen[i]:
            forward.dot(d_k)  # S_ij = q_i k_j
            backward.dot(d_v)  # dA_ij = dO_i v_j
        for _ in range(d_v):
            forward.dot(len(seen[i]))  # O_ic = sum_j A_ij V_jc
        for _ in range(d_k):
            backward.dot(len(seen[i]))  # dQ_ic = sum_j dS_ij K_jc
    for j in range(rows):
        for _ in range(d_k + d_v):
            backward.dot(len(readers[j]))  # dK_jc = sum_i dS_ij Q_ic, dV_jc = sum_i A_ij dO_ic
    return forward, backward


@pytest.mark.parametrize(("rows", "width"), [(7, 7), (7, 11), (7, 3), (11, 2), (5, 1)])
def test_visible_pairs_are_what_loops_over_visible_keys_execute(rows: int, width: int):
    """The products of both passes of one head, a window wider than the positions being the causal mask."""
    Q, K, V, let = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v), Equations()
    M = let("M")(WindowMask(n, w))
    Y = let("Y")(part("attention", scaled_dot_product_attention(masked=True))(Q, K, V, M))
    layer = Layer("windowed", (Q, K, V), (), let, Y).at(n=rows, w=width, d_k=2, d_v=3)
    forward, backward = visible_work(rows, width, 2, 3)
    for chosen, of in (
        ({"products": "2k-1"}, lambda work: work.flops),
        ({"products": "2k"}, lambda work: 2 * work.macs),
        ({"unit": "mac"}, lambda work: work.macs),
    ):
        convention = Convention(causal="visible", **chosen)
        assert count_flops(layer, 1, convention).matmul == of(forward)
        assert count_training_flops(layer, 1, convention).matmul == of(forward) + of(backward)


@pytest.mark.parametrize(("positions", "width"), [(1, 1), (2, 5), (5, 2), (7, 7), (11, 3)])
def test_pairs_by_counting_them(positions: int, width: int):
    window = [(i, j) for i in range(positions) for j in range(positions) if i - width < j <= i]
    causal = [(i, j) for i in range(positions) for j in range(positions) if j <= i]
    numbers = {n: Integer(positions), w: Integer(width)}
    assert visible_pairs(WindowMask(n, w)).xreplace(numbers) == len(window)
    assert visible_pairs(CausalMask(n)).xreplace(numbers) == len(causal)
    assert visible_pairs(MaskConjunction(CausalMask(n), WindowMask(n, w))).xreplace(numbers) == len(window)
    assert visible_pairs(mask_array("M", n, n)) is None


def hidden_by(layer: Layer, convention: Convention = VISIBLE) -> Expr:
    """The FLOPs of products that a convention leaves out."""
    return expand(count_flops(layer).matmul - count_flops(layer, 1, convention).matmul)


HIDDEN = h * (d_k + d_v) * n * (n - 1)  # 2 (d_k + d_v) for each of the n (n - 1) / 2 hidden pairs, in h heads


@pytest.mark.parametrize(
    ("layer", "hidden"),
    [
        (self_attention(mask=CausalMask(n)), HIDDEN),
        (self_attention(grouped_query_attention(masked=True), CausalMask(n)), HIDDEN.xreplace({h: g * r})),
        (language_model(CausalMask(n)), N * HIDDEN),
        (transformer(), N * HIDDEN),
        (transformer(padded=True), N * HIDDEN),
        (transformer_loss(), N * HIDDEN),
        (self_attention(), 0),
        (decoder(), 0),  # nothing is known of the mask that a caller would give
    ],
    ids=[
        "an equation", "groups", "a repetition", "decoder", "padded", "loss", "no mask", "unknown mask",
    ],
)  # fmt: skip
def test_a_mask_is_followed_to_where_it_is_used(layer: Layer, hidden: Expr):
    """Each of three passes over the pairs spares the same; halving spares (n^2 - n (n - 1)) / n^2 more."""
    assert expand(hidden_by(layer) - hidden) == 0
    assert expand(hidden_by(layer, HALVED) * (n - 1) - hidden * n) == 0
    trained = count_training_flops(layer).matmul - count_training_flops(layer, 1, VISIBLE).matmul
    assert expand(trained - 3 * hidden) == 0


def test_softmax_and_scaling_are_done_at_visible_pairs():
    full, visible = (count_flops(self_attention(mask=CausalMask(n)), 1, c) for c in (CONVENTION, VISIBLE))
    assert (full.softmax, full.elementwise) == (5 * h * n**2, h * n**2)
    assert expand(visible.softmax - 5 * h * n * (n + 1) / 2) == 0
    assert expand(visible.elementwise - h * n * (n + 1) / 2) == 0
    halved = count_flops(self_attention(mask=CausalMask(n)), 1, HALVED)
    assert (halved.softmax, halved.elementwise) == (full.softmax, full.elementwise)


def test_what_is_done_with_pairs_one_by_one_is_done_at_visible_pairs():
    """Forward the scaling; backward dA o A, its sums, their difference from dA, its product with A; dQ and dK scaled.

    The temperature of a row is squared once for the row, and multiplies the scores that are read.
    """
    Q, K, V, t, let = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v), array("t", n), Equations()
    M = let("M")(CausalMask(n))
    Y = let("Y")(part("attention", scaled_dot_product_attention(masked=True))(Q, K, V, M))
    counted, pairs = count_training_flops(Layer("causal", (Q, K, V), (), let, Y), 1, VISIBLE), n * (n + 1) / 2
    assert expand(counted.reduction - pairs) == 0
    assert expand(counted.elementwise - 4 * pairs - 2 * n * d_k) == 0
    x, v, let = Symbol("x", real=True), Symbol("v", real=True), Equations()
    S = let("S")(named("heated", x * v**2, x, v)(Q @ K.T, ColumnBroadcast(t, n)))
    layer = Layer("heated", (Q, K, t), (), let, let("A")(row_softmax(S, CausalMask(n))))
    assert expand(count_flops(layer, 1, VISIBLE).activation - n - pairs) == 0


def test_scores_that_choose_visible_keys_are_computed_at_visible_pairs():
    """Products of w columns, sums over h heads, and the choice itself is free; half of each where half is counted."""
    Q, K, v, M, let = array("Q", h, n, w), array("K", n, w), array("v", n, h), CausalMask(n), Equations()
    a, p, q = map(index, "apq")
    S = let("S", over=(a, h))(Q[a] @ K.T)
    R = let("R", over=(a, h))(relu(S[a]))
    read = operand_of(v, (p, a)), operand_of(R, (a, p, q))
    I = let("I")(contraction((p, q), (n, n), [(a, h)], 1, *read))
    layer = Layer("choice", (Q, K, v), (), let, let("C")(TopKMask(I, M, 3)))
    assert expand(count_flops(layer).matmul - 2 * h * (w + 1) * n**2) == 0
    assert expand(count_flops(layer, 1, VISIBLE).matmul - h * (w + 1) * n * (n + 1)) == 0
    assert expand(count_flops(layer, 1, HALVED).matmul - h * (w + 1) * n**2) == 0
    assert count_training_flops(layer) == count_flops(layer)  # a choice has no slope


def test_weights_may_stand_on_either_side():
    """O^T = V^T A^T: the pairs are the same in the transpose."""
    S, V, let = array("S", n, n), array("V", n, d_v), Equations()
    A = let("A")(row_softmax(S, CausalMask(n)))
    layer = Layer("columns", (S, V), (), let, let("O")(V.T @ A.T))
    assert expand(hidden_by(layer) - d_v * n * (n - 1)) == 0


def test_a_mask_written_where_it_is_used_hides_nothing_in_full():
    Q, K, let = array("Q", n, d_k), array("K", n, d_k), Equations()
    layer = Layer("written", (Q, K), (), let, let("A")(row_softmax(Q @ K.T, CausalMask(n))))
    assert count_flops(layer) == Flops(matmul=2 * n**2 * d_k, softmax=5 * n**2)
    assert expand(count_flops(layer, 1, VISIBLE).total - (2 * d_k + 5) * n * (n + 1) / 2) == 0
    assert count_flops(layer, 1, HALVED).matmul == n**2 * d_k


def test_scores_that_something_else_reads_are_needed_everywhere():
    """The product of the scores counts in full, that of the weights does not."""
    Q, K, V, let = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v), Equations()
    S = let("S")(Q @ K.T)
    A = let("A")(row_softmax(S, CausalMask(n)))
    O = let("O")(A @ V)
    layer = Layer("shown", (Q, K, V), (), let, (O, S))
    assert expand(hidden_by(layer) - d_v * n * (n - 1)) == 0
    changed, let = Equations(), Equations()
    S = changed("S")(Q @ K.T)
    A = changed("A")(row_softmax(S, CausalMask(n)) + S)
    layer = Layer("mixed", (Q, K, V), (), changed, changed("O")(A @ V))
    assert hidden_by(layer) == 0


def test_weights_dropped_in_a_part_are_still_0_where_they_were():
    Q, K, V, D, let = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v), mask_array("D", n, n), Equations()
    A = let("A")(row_softmax(Q @ K.T, CausalMask(n)))
    rows, kept, inside = array("X", n, m), mask_array("D", n, m), Equations()
    dropped = part("dropout", Layer("dropped", (rows, kept), (), inside, inside("Y")(Hadamard(rows, kept) / 2)))
    O = let("O")(dropped(A, D) @ V)
    layer = Layer("dropping", (Q, K, V, D), (), let, O)
    assert expand(hidden_by(layer) - (d_k + d_v) * n * (n - 1)) == 0


# --- look-ups


def test_look_ups_counted_as_products():
    """Of source and target in the table of all tokens, forward and, into the table, backward."""
    counted = Convention(lookups="counted")
    work = 2 * (n + m) * vocab * d_model
    free, once = count_flops(transformer_loss()), count_flops(transformer_loss(), 1, counted)
    assert expand(once.matmul - free.matmul - work) == 0
    free, twice = count_training_flops(transformer_loss()), count_training_flops(transformer_loss(), 1, counted)
    assert expand(twice.matmul - free.matmul - 2 * work) == 0
    assert expand(free.reduction - twice.reduction - (n + m) * d_model) == 0  # no rows are added up besides


# --- decoding


def one_step(cache: int, width: int, sizes: dict[str, int]) -> Work:
    """One position through one layer, entry by entry: projections, cached keys and values, network."""
    work, seen = Work(), min(cache + 1, width)
    heads = sizes["h"]
    for columns in (sizes["d_k"], sizes["d_k"], sizes["d_v"]):
        work.product(1, sizes["d_model"], heads * columns)
    for _ in range(heads):
        work.product(1, sizes["d_k"], seen)
        work.product(1, seen, sizes["d_v"])
    work.product(1, heads * sizes["d_v"], sizes["d_model"])
    work.product(1, sizes["d_model"], sizes["d_ff"])
    work.product(1, sizes["d_ff"], sizes["d_model"])
    return work


@pytest.mark.parametrize("cache", [1, 2, 5, 11])
@pytest.mark.parametrize("width", [1, 3, 100])
def test_a_step_of_decoding_is_what_loops_execute(cache: int, width: int):
    sizes = {"h": 2, "d_k": 3, "d_v": 5, "d_model": 7, "d_ff": 11}
    layer = language_model(WindowMask(n, width)).at(**sizes, N=13)
    step, work = count_decode_flops(layer, "n"), one_step(cache, width, sizes)
    assert step.matmul.xreplace({n: Integer(cache)}) == 13 * 2 * work.macs
    less = count_decode_flops(layer, n, 1, Convention(products="2k-1")).matmul
    assert less.xreplace({n: Integer(cache)}) == 13 * work.flops
    several = count_decode_flops(layer, n, 17, Convention(unit="mac")).total
    assert several.xreplace({n: Integer(cache)}) == 17 * 13 * work.macs


def test_a_step_of_decoding_does_not_encode_again():
    """Of the source its keys and values are read, n + m + 1 in all; of the target one row of everything is new."""
    step = count_decode_flops(transformer(), n)
    projections = 2 * d_model * h * (3 * d_k + 3 * d_v)
    pairs = 2 * h * (d_k + d_v) * (n + 1 + m)
    assert expand(step.matmul - N * (projections + pairs + 4 * d_model * d_ff) - 2 * d_model * vocab) == 0
    assert expand(step.softmax - 5 * N * h * (n + 1 + m) - 5 * vocab) == 0
    assert not (step.norm + step.activation + step.bias).has(n)


def test_what_is_no_decoding_is_refused():
    with pytest.raises(ValueError, match=r"decoding: in scaled_dot_product_attention a position sees later ones; give"):
        count_decode_flops(encoder(), n)
    with pytest.raises(ValueError, match="in masked_scaled_dot_product_attention a position sees later ones"):
        count_decode_flops(decoder(), "n")
    with pytest.raises(ValueError, match=r"layer feed_forward has no size N that grows in decoding; it has d_ff, d_m"):
        count_decode_flops(feed_forward(), N)


# --- kinds and parts


def test_a_norm_is_one_kind_in_both_passes():
    for layer in (layer_norm(), rms_norm(), batch_norm()):
        for flops in (count_flops(layer), count_training_flops(layer)):
            assert {kind for kind, count in flops.by_kind.items() if count} == {"norm"}
    assert count_flops(encoder_layer()).norm == 2 * (7 * n * d_model + 4 * n)
    assert count_flops(encoder_layer()).activation == n * d_ff
    assert count_flops(cross_entropy()).norm == 0  # a mean of losses is no norm


def test_positions_activate_nothing():
    flops = count_flops(positional_encoding())
    assert flops.activation == 0
    assert flops.elementwise == flops.total


def summed(parts: dict[str, Flops]) -> Expr:
    return expand(sum((flops.total for flops in parts.values()), Integer(0)))


@pytest.mark.parametrize("name", few(sorted(layers()), fast=5))
def test_parts_add_up_to_the_whole(name: str):
    layer = layers()[name]
    for convention in (CONVENTION, Convention(causal="visible", lookups="counted", input_gradient=False)):
        forward, trained = count_flops(layer, batch, convention), count_training_flops(layer, batch, convention)
        for depth in (None, 0, 1, 2):
            assert expand(summed(flops_by_part(layer, batch, convention, depth=depth)) - forward.total) == 0
        assert expand(summed(flops_by_part(layer, batch, convention, training=True)) - trained.total) == 0
    assert set(flops_by_part(layer, depth=0)) <= {""}


def test_parts_by_their_dotted_names():
    """The sum of the two looked-up rows and positions, and the output, belong to the Transformer itself."""
    parts = flops_by_part(transformer())
    assert set(flops_by_part(transformer(), depth=1)) == {"", "embedding", "positions", "encoder", "decoder"}
    assert parts["decoder.layers.feed_forward"].matmul == 4 * N * n * d_model * d_ff
    assert parts["decoder.layers.cross_attention.attention"].matmul == expand(2 * N * h * n * m * (d_k + d_v))
    assert parts[""].matmul == 2 * n * d_model * vocab
    assert expand(parts["encoder.layers"].total - 2 * N * m * d_model) == 0  # two residual sums in each layer
    folded = flops_by_part(transformer(), depth=3)["encoder.layers.attention"]
    inside = parts["encoder.layers.attention"] + parts["encoder.layers.attention.attention"]
    assert folded == inside


def test_a_negative_depth_is_refused():
    with pytest.raises(ValueError, match="flops_by_part: depth is -1; give 0 for the layer as a whole"):
        flops_by_part(encoder(), depth=-1)


def test_a_batch_must_be_a_size():
    for count in (count_flops, count_training_flops, flops_by_part):
        with pytest.raises(ShapeError, match="a size must be an integer >= 1, not 0"):
            count(encoder(), 0)


def test_numbers_may_come_before_or_after():
    layer, numbers = language_model(WindowMask(n, w)), {"n": 7, "w": 3, "h": 2, "d_k": 5, "d_v": 11, "d_model": 13}
    rule = {s: Integer(numbers[s.name]) for s in layer.sizes if s.name in numbers}
    for count in (count_flops, count_training_flops):
        assert count(layer, 1, VISIBLE).total.has(Min)
        later = count(layer, 1, VISIBLE).xreplace(rule).total
        assert expand(count(layer.at(**numbers), 1, VISIBLE).total - later) == 0
