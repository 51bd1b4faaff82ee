"""A prepared layer computes what the plain compiled layer does: all layers, models of all families, in any tiles."""

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Integer, Lambda, sqrt
from sympy import Tuple as Sequence

from derivations import get
from derivations import layer as layer_called
from derivations.architectures.composition import build
from derivations.architectures.description import key_value_heads
from derivations.architectures.models import named_model
from derivations.attention.grouped_query import grouped_query_attention, query_group
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import LAYERS
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language import gradient, judge
from derivations.language.arrays.arrangements import PlacedBlock, SumOver, Tabulated, column_block
from derivations.language.arrays.expression import ColumnBroadcast, Variable, array
from derivations.language.arrays.functions import CausalMask, gelu, named, relu
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Equations, Layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d, d_k, h, i, k, m, n, pos, scalar
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.optimize import PASSES
from numeric.optimize.prepare import Prepared, prepare, prepare_gradient
from numeric.runtime import blas_threads, tiles
from numeric.runtime.checks import InputError
from tests.tiers import few

SIZES = {"d_model": 12, "h": 3, "d_k": 4, "d_v": 4, "d_ff": 7, "N": 2, "vocab": 11, "n": 9, "m": 5, "g": 3, "r": 2}
SIZES |= {"d": 6, "d_in": 4, "d_out": 5, "d_h": 6, "d_rotary": 2}
SCALARS = {"alpha": 0.7, "slope": 0.3, "rate": 0.2}
MODELS = [
    "gpt2",
    "bert-base",
    "t5-small",
    "llama-2-7b",
    "mistral-7b",
    "mixtral-8x7b",
    "gemma-2-2b",
    "qwen2.5-0.5b",
    "phi-3-mini",
    "gpt-j-6b",
    "opt-125m",
    "bloom-560m",
    "falcon-7b",
    "roberta-base",
    "bart-base",
    "deepseek-v3",
    "whisper-tiny",
]


def size(name: str) -> int:
    return SIZES.get(name, 4 if name[0] in "dhgrwEK" else 16)


def drawn(layer: Layer, batch: tuple[int, ...], dtype: type = float) -> tuple[dict, list, dict, dict]:
    """Weights, inputs, sizes that are asked for and scalars of a layer."""
    rng = np.random.default_rng(3)
    sizes = {s.name: size(s.name) for s in layer.sizes}
    weights = initialise(layer, sizes, 0, np.dtype(dtype))
    arrays = []
    for variable in layer.inputs:
        axes = (total(along).xreplace({s: size(s.name) for s in layer.sizes}) for along in variable.shape)
        shape = tuple(map(int, axes))
        draw: dict[str, Callable] = {
            "real": lambda shape: rng.standard_normal((*batch, *shape)).astype(dtype),
            "integer": lambda shape: rng.integers(0, 3, (*batch, *shape)),
            "boolean": lambda shape: rng.random(shape) < 0.6,
        }
        arrays.append(draw[variable.kind](shape))
    return weights, arrays, sizes, {s.name: SCALARS[s.name] for s in layer.scalars if s.name in SCALARS}


def agrees(layer: Layer, batch: tuple[int, ...], threads: int = 2) -> Prepared:
    weights, arrays, sizes, scalars = drawn(layer, batch)
    plain = compile_layer(layer)
    asked = {s.name: sizes[s.name] for s in plain.sizes}
    expected = plain(*arrays, **weights, **asked, **scalars, check=False)
    prepared = prepare(layer, weights, threads=threads, sizes=sizes)
    found = prepared(*arrays, **scalars)
    pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
    for one, other in pairs:
        assert other.dtype == one.dtype
        assert np.abs(np.broadcast_to(one, other.shape) - other).max() < 1e-11
    return prepared


@pytest.mark.parametrize("batch", few([(), (2, 3), (70,)], fast=1))
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_agrees_with_its_plain_code(name: str, batch: tuple[int, ...]):
    agrees(layer_called(name), batch)


@pytest.mark.parametrize("name", few(MODELS, fast=2))
def test_models_of_all_families_agree_with_their_plain_code(name: str):
    agrees(build(named_model(name).architecture), (2,))


@pytest.mark.parametrize("threads", few([1, 2, 3], fast=1))
@pytest.mark.parametrize("rows", few([256, 4, 2, 1], fast=1))
def test_tiles_of_any_size_give_the_same(rows: int, threads: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "ROWS", rows)
    monkeypatch.setattr(tiles, "FEW", rows)
    monkeypatch.setattr(tiles, "SCORES", 3 * rows)  # one head after another
    monkeypatch.setattr(tiles, "KEYS", rows)
    for layer in (encoder_layer(masked=True, biases=True), decoder_layer(), transformer(padded=True)):
        agrees(layer, (2,), threads)
    for name in ("gpt2", "mistral-7b", "t5-small", "gemma-2-2b"):
        agrees(build(named_model(name).architecture), (3,), threads)


def causal() -> Layer:
    heads = multi_head_attention(masked=True).xreplace({m: n})
    mask = next(v for v in heads.inputs if v.kind == "boolean")
    inputs = tuple(v for v in heads.inputs if v != mask)
    equations = [e.xreplace({mask: CausalMask(n)}) for e in heads.equations]
    return Layer("causal_attention", inputs, heads.parameters, equations, heads.output)


def test_tiles_of_hidden_keys_are_skipped():
    """Of causal attention, a tile of queries reads the keys up to its own last row, no more."""
    prepared = agrees(causal(), (2,))
    assert "low, high = 0, end" in prepared.source and ".mT" in prepared.source
    arrays = drawn(causal(), ())[1]
    arrays[1][-1], arrays[2][-1] = np.inf, np.nan  # the last key and value: only the last query may see them
    with np.errstate(invalid="ignore"):
        rows = prepare(causal(), drawn(causal(), ())[0], threads=1)(*arrays, check=False)
    assert np.isnan(rows[-1]).all()


def test_scores_never_exist_for_all_rows_and_all_heads_at_once():
    assert "_S_all" not in agrees(encoder_layer(), ()).source


@pytest.mark.parametrize("name", ["mistral-7b", "qwen2.5-0.5b", "falcon-7b"])
def test_a_mask_given_by_a_formula_reaches_the_layer_of_a_group_of_heads(name: str):
    """No mask of all queries and keys is made, and hidden keys are not read."""
    prepared = agrees(build(named_model(name).architecture), (2,))
    assert "hidden_keys" in {choice.name for choice in prepared.choices}
    assert "np.tri" not in prepared.source


def test_numbers_of_rows_are_rounded_once_where_they_meet_the_rows():
    """Rows (a, -a) of exact squares: the root and the quotient are rounded, half a unit each, epsilon + a^2 is not."""
    a = np.arange(1, 4096, dtype=np.float32) / 2**20
    X = np.stack([a, -a], axis=1)
    weights = {"gamma": np.ones(2, np.float32), "beta": np.zeros(2, np.float32)}
    exact = X / np.sqrt(X.astype(float) ** 2 + 1e-5)
    prepared = prepare(layer_norm(), weights)
    assert "np.sqrt(np.add(epsilon, sigma2, dtype=np.float64), out=" in prepared.source
    assert abs(prepared(X) / exact - 1).max() < 2 * 2**-24
    assert abs(compile_layer(layer_norm())(X, **weights) / exact - 1).max() > 2.2 * 2**-24  # rounded three times


@pytest.mark.parametrize("threads", [1, 2])
def test_a_number_of_rows_that_float32_loses_is_kept(threads: int):
    """sqrt(1 + v) - 1 is 0 in float32 where v is small, and v/2 in float64; a number of rows read twice as well."""
    X, v, x, y = array("X", n, d), array("v", n), scalar("x"), scalar("y")
    let = Equations()
    less = named("scaled", x * (sqrt(1 + y) - 1) + x / (sqrt(1 + y) - 1), x, y)
    layer = Layer("scaled", (X, v), (), let, let("Y")(less(X, ColumnBroadcast(v, d))))
    rows, small = np.ones((5, 3), np.float32), np.full(5, 1e-9, np.float32)
    assert np.allclose(prepare(layer, {}, threads=threads)(rows, small), 2e9, rtol=1e-6)
    with np.errstate(divide="ignore"):
        assert np.isinf(compile_layer(layer)(rows, small)).all()


def test_one_thread_is_all_that_blas_has_while_a_layer_with_one_thread_is_called():
    """What is computed outside of the loops over rows as well, such as sums over them; others leave BLAS as it is."""
    weights = {"gamma": np.ones(3), "beta": np.zeros(3)}
    for threads, expected in ((1, True), (2, False)):
        prepared = prepare(layer_norm(), weights, threads=threads)
        seen = []

        def asked(*arguments: object, seen: list = seen, **named: object) -> None:
            seen.append(bool(blas_threads._limits))

        code = replace(prepared.code, function=asked)
        replace(prepared, code=code)(np.ones((2, 3)))
        assert seen == [expected]
    assert not blas_threads._limits


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_groups_of_heads_are_worked_on_in_tiles_one_after_another(masked: bool, batch: tuple[int, ...]):
    """A family of heads inside a family of groups: what a group does is code in tiles, and nothing is copied for it."""
    source = agrees(grouped_query_attention(masked=masked), batch).source
    assert "for member in range(g_):" in source and "online_step" in source
    agrees(query_group(masked=masked), batch)


def test_a_group_may_be_given_what_is_no_member_of_a_family():
    """Then the groups are not worked on in tiles, and each gets its weights as arrays."""
    layer = grouped_query_attention()
    K, V, Z, Y = layer.equations
    (applied,) = Z.nodes(Apply)
    queries, keys, values, *rest = applied.arguments
    doubled = applied.func(applied.args[0], applied.layer, Sequence(queries, keys, 2 * values, *rest))
    equations = (K, V, Equation(Z.target, doubled, *Z.over), Y)
    changed = Layer("doubled", layer.inputs, layer.parameters, equations, layer.args[4])
    assert "for member" not in agrees(changed, (2,)).source


@pytest.mark.parametrize("members", [(2, 3), (3, 2)])
def test_families_of_different_sizes_may_share_an_index(members: tuple[int, int]):
    """Each family of a tile has as many members as its own equation says."""
    X, F, G = array("X", n, d), array("F", h, d, d_k), array("G", key_value_heads, d, d_k)
    let = Equations()
    P, R = let("P", over=(i, h))(X @ F[i]), let("R", over=(i, key_value_heads))(X @ G[i])
    layer = Layer("two", (X,), (F, G), let, let("Y")(relu(SumOver(P[i], i, h) - SumOver(R[i], i, key_value_heads))))
    rng = np.random.default_rng(3)
    rows, (first, second) = rng.normal(size=(2, 7, 5)), (rng.normal(size=(each, 5, 11)) for each in members)
    found = prepare(layer, {"F": first, "G": second}, without=PASSES)(rows)  # a pass would make one product of both
    np.testing.assert_allclose(found, np.maximum(0, rows @ first.sum(0) - rows @ second.sum(0)), rtol=0, atol=1e-12)


def test_scores_exist_for_tiles_of_keys_although_queries_are_turned_outside_the_loop_over_heads():
    rotary = {choice.name for choice in agrees(build(named_model("qwen2.5-0.5b").architecture), (2,)).choices}
    assert "key_tiles" in rotary


def test_blocks_that_fill_a_matrix_are_written_into_their_columns_and_never_added():
    """A block is added to another only where both lie in one place, or where one is missing."""
    X, Y = array("X", n, Blocks(Integer(2), d_k)), array("Y", n, Blocks(Integer(2), d_k))
    first, second = column_block(X, 0), column_block(Y, 1)
    for sums, is_added in (
        (PlacedBlock(second, 1, 2) + PlacedBlock(first, 0, 2), False),
        (PlacedBlock(second, 0, 2) + PlacedBlock(first, 1, 2), False),
        (PlacedBlock(first, 0, 2) + PlacedBlock(second, 0, 2), True),
        (PlacedBlock(first, 0, 3) + PlacedBlock(second, 2, 3), True),
    ):
        let = Equations()
        layer = Layer("blocks", (X, Y), (), let, let("Z")(sums))
        for batch in ((), (2, 70)):
            assert ("np.add(" in agrees(layer, batch).source) is is_added


def test_tables_of_positions_are_made_once_for_each_size():
    layer = layer_called("rotary_embedding_halves")
    sizes = {"d_k": 4}
    prepared = prepare(layer, {}, sizes=sizes)
    tables = prepared.code.function.__globals__[prepared.code.source.tables]
    tables.cache_clear()  # equal layers share their code, also with the tests before
    for rows, made in ((3, 1), (3, 1), (5, 2), (3, 2)):
        X = np.random.default_rng(rows).standard_normal((2, rows, 4))
        assert np.abs(prepared(X) - compile_layer(layer)(X, check=False)).max() < 1e-12
        assert tables.cache_info().misses == made
    prepared(np.ones((3, 4), np.float32))
    assert tables.cache_info().misses == 3  # those of another number type are other tables


def test_masks_and_outputs_are_not_kept():
    """A table with a column for each position would fill the memory, and an output may be written into."""
    let = Equations()
    table = let("table")(Tabulated(Lambda((pos, k), pos - k), n, n))
    X = array("X", n, d)
    layer = Layer("distances", (X,), (), let, let("Y")(table @ X))
    assert "lru_cache" not in agrees(layer, (2,)).source
    encoding = prepare(layer_called("positional_encoding"), {}, sizes={"n": 3, "d_model": 4})
    encoding()[:] = 0
    assert encoding()[0, 1] == 1


@pytest.mark.parametrize(
    "name", few(["piece_1", "loop_1", "loop_9", "X_of_items", "X_all", "X_", "rows", "online_step"], fast=2)
)
def test_names_of_a_layer_are_kept_apart_from_those_of_its_code(name: str, monkeypatch: pytest.MonkeyPatch):
    """A weight, an equation and the layer itself may have any name."""
    monkeypatch.setattr(tiles, "ROWS", 2)
    monkeypatch.setattr(tiles, "FEW", 2)
    flat = inlined(encoder_layer())
    weight = next(p for p in flat.parameters if p.name == "feed_forward.W_1")
    for variable in (weight, flat.equation("feed_forward.H").variable):
        new = {variable: Variable(name, variable.shape)}
        parameters = [new.get(p, p) for p in flat.parameters]
        equations = [e.xreplace(new) for e in flat.equations]
        assert f"{name}_" in agrees(Layer("layer", flat.inputs, parameters, equations, flat.output), (2,)).source
    agrees(Layer(name, flat.inputs, flat.parameters, flat.equations, flat.output), (2,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_type_stays(dtype: type):
    weights, arrays, sizes, _ = drawn(encoder(), (2,), dtype)
    assert prepare(encoder(), weights, sizes=sizes)(*arrays).dtype == dtype


def test_a_layer_is_compiled_once_however_often_it_is_repeated():
    deep = {s.name: 13 if s.name == "N" else size(s.name) for s in encoder().sizes}
    weights = initialise(encoder(), deep, 0, np.dtype(float))
    prepared = prepare(encoder(), weights)
    assert prepared.source.count("def encoder") == 2
    assert prepared(np.ones((4, 12))).shape == (4, 12)


def test_inputs_are_left_as_they_are():
    weights, (x,), _, _ = drawn(encoder_layer(), (2,))
    before = x.copy()
    x.flags.writeable = False
    prepare(encoder_layer(), weights)(x)
    assert (x == before).all()


def test_a_size_that_nothing_tells_is_asked_for():
    layer = build(named_model("mistral-7b").architecture)
    weights, *_ = drawn(layer, ())
    with pytest.raises(InputError, match=r"no weight tells the size .*; give it as sizes="):
        prepare(layer, weights)


def test_a_pass_may_be_left_out():
    weights, (x,), _, _ = drawn(encoder_layer(), (2,))
    plain, whole = prepare(encoder_layer(), weights, without="wide_projections"), prepare(encoder_layer(), weights)
    assert "W_QKV" not in plain.source and "W_QKV" in whole.source
    assert np.abs(plain(x) - whole(x)).max() < 1e-13


@pytest.mark.parametrize(("ratio", "has_powers_of_two"), [(0.5, True), (2.0, False)])
def test_powers_of_two_are_taken_where_they_are_faster(ratio: float, has_powers_of_two: bool, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["numeric.optimize.here"], "exp2_over_exp", lambda dtype: ratio)
    weights, (x,), _, _ = drawn(encoder_layer(), (2,))
    found = prepare(encoder_layer(), weights)
    note = "base_two: left out, since powers of two take 2.0 times as long here"
    assert ("exp2" in found.source) == has_powers_of_two
    assert (note in found.explain()) != has_powers_of_two
    assert np.abs(found(x) - compile_layer(encoder_layer())(x, **weights)).max() < 1e-13
    assert note not in prepare(layer_norm(), {"gamma": np.ones(3), "beta": np.ones(3)}).explain()
    gates = initialise(gated_feed_forward(), {"d_model": 3, "d_ff": 5}, 0)
    assert note not in prepare(gated_feed_forward(), gates).explain()  # exponentials, but no attention


# --- gradients ------------------------------------------------------------------------------------------------------


def assert_same(one: object, other: object) -> None:
    if isinstance(one, dict):
        assert isinstance(other, dict) and one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    else:
        assert np.shape(one) == np.shape(other) and np.abs(np.asarray(one) - np.asarray(other)).max() < 1e-11


@pytest.mark.parametrize("rows", [2, 256])
@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize(
    "layer",
    [
        encoder_layer(biases=True),
        encoder_layer(masked=True, activation=gelu),
        decoder_layer(),
        gated_feed_forward(biases=True),
        layer_norm(),
        causal(),
    ],
    ids=lambda layer: layer.name,
)
def test_a_prepared_gradient_agrees_with_the_plain_one(
    layer: Layer, batch: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tiles, "ROWS", rows)
    monkeypatch.setattr(tiles, "FEW", rows)
    monkeypatch.setattr(tiles, "SCORES", 3 * rows)
    monkeypatch.setattr(tiles, "KEYS", rows)
    weights, arrays, sizes, _ = drawn(layer, batch)
    output = compile_layer(layer)(*arrays, **weights)
    given = np.random.default_rng(7).standard_normal(output.shape)
    result, *of_inputs, of_weights = prepare_gradient(layer, weights, sizes=sizes)(*arrays, given)
    assert_same(output, result)
    plain = compile_layer(gradient(layer))(*arrays, given, **weights)
    plain = plain if isinstance(plain, tuple) else (plain,)
    expected = plain[: len(of_inputs)]
    for one, other in zip(expected, of_inputs, strict=True):
        assert_same(one, np.asarray(other).reshape(one.shape))
    assert_same(dict(zip(of_weights, plain[len(of_inputs) :], strict=True)), of_weights)


def test_the_gradient_of_a_repetition_keeps_its_inputs_alone():
    weights, (X,), *_ = drawn(encoder(), ())
    step = prepare_gradient(encoder(), weights)
    dZ = np.cos(np.arange(X.size)).reshape(X.shape)
    Z, dX, of_weights = step(X, dZ)
    wanted, by_layer = compile_layer(gradient(encoder()))(X, dZ, **weights)
    np.testing.assert_allclose(Z, compile_layer(encoder())(X, **weights), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dX, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        of_weights["layers"][0]["attention"]["W_Q"], by_layer[0]["attention"]["W_Q"], rtol=1e-9, atol=1e-9
    )
    assert step.source.count("layers_inputs.append(") == 1


# --- what was done, and why -----------------------------------------------------------------------------------------


def test_what_the_code_does_in_tiles_is_told_with_theorems_that_are_proved():
    prepared = agrees(causal(), ())
    told = {choice.name: choice.theorem for choice in prepared.choices}
    assert told == {
        "row_tiles": "linear.row",
        "hidden_keys": "attention.causal_independence",
        "key_tiles": "attention.tile_step",
    }
    assert {judge(get(theorem)).level for theorem in told.values()} == {"proved"}
    assert all(theorem in prepared.explain() for theorem in told.values())


def test_tiles_of_keys_and_the_cut_may_be_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "KEYS", 2)
    weights, arrays, *_ = drawn(causal(), (2,))
    whole = prepare(causal(), weights, without=("key_tiles", "hidden_keys"))
    assert {choice.name for choice in whole.choices} == {"row_tiles"}
    assert "online_step" not in whole.source and "low, high" not in whole.source
    assert np.abs(whole(*arrays) - prepare(causal(), weights)(*arrays)).max() < 1e-13


def test_scores_that_are_read_elsewhere_are_not_read_in_tiles():
    flat = inlined(causal())
    outputs = (flat.output, flat.equation("attention.S").variable)
    watched = Layer("watched", flat.inputs, flat.parameters, flat.equations, outputs)
    prepared = prepare(watched, drawn(causal(), ())[0])
    assert {choice.name for choice in prepared.choices} == {"row_tiles"}


def test_the_errors_of_a_wrong_switch_name_the_passes():
    with pytest.raises(ValueError, match="there is no pass called 'key_tile'"):
        prepare(causal(), drawn(causal(), ())[0], without=("key_tile",))
