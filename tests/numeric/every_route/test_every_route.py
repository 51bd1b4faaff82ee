"""Every route from a layer to its values and gradients gives what the plain compiled layer gives, whatever is given.

Layers of the catalogue, the same with weights as inputs, and layers drawn at random; inputs with and without batch
axes, sizes of 0 and 1, tiles of a few rows. A case is a seed: `compared(drawn_layer(12), 12)` sees it again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest

from derivations.catalogue import LAYERS
from derivations.catalogue import layer as layer_called
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Layer
from numeric import InputError
from numeric.codegen.formula_printer import CompileError
from numeric.optimize.standalone import optimised_source
from numeric.runtime import tiles
from numeric.verification.conformance.drawing import leaves
from tests.numeric.every_route.arguments import Call, drawn_call, with_more_inputs
from tests.numeric.every_route.drawn_layers import drawn_layer
from tests.numeric.every_route.routes import GRADIENTS, PEERS, VALUES, cotangents, plain, plain_gradient

TOLERANCE = 1e-9  # of the largest entry, or of 1, in float64
FEW_ROWS = {"ROWS": 3, "FEW": 3, "SCORES": 20, "KEYS": 2}
PREPARED = [name for name in (*VALUES, *GRADIENTS) if name.startswith("prepared")]


def difference(found: Sequence[Any], expected: Sequence[Any]) -> str:
    """What tells results from those expected, or nothing."""
    if len(found) != len(expected):
        return f"{len(found)} results for {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            return f"{one.shape} of {one.dtype} for {other.shape} of {other.dtype}"
        if one.size and not np.abs(one - other).max() <= TOLERANCE * (1 + np.abs(other).max()):
            return f"off by {np.abs(one - other).max()}, the largest entry is {np.abs(other).max()}"
    return ""


def share_memory(results: Sequence[Any], call: Call) -> bool:
    given = [*call.inputs, *leaves(call.weights).values()]
    return any(np.shares_memory(one, other) for one in results for other in given)


def differences(call: Call, peers: Mapping[str, Any], seed: int) -> Iterator[str]:
    """Yield what differs, route by route."""
    values, gradients = (peers, peers) if peers else (VALUES, GRADIENTS)
    expected = plain(call)
    if not all(np.isfinite(each).all() for each in expected):
        return
    assert not share_memory(expected, call)
    for name, found in in_tiles_of_both_sizes(values, call):
        yield f"{name}: {what}" if (what := difference(found, expected)) else ""
        assert "prepared" not in name or not share_memory(found, call), name
    try:
        given = cotangents(call, expected, seed)
        slopes = plain_gradient(call, given)
    except (GradientError, InputError):
        return
    for name, found in in_tiles_of_both_sizes(gradients, call, given):
        yield f"{name}: {what}" if (what := difference(found, slopes)) else ""


def in_tiles_of_both_sizes(routes: Mapping[str, Any], *arguments: Any) -> list[tuple[str, Sequence[Any]]]:
    """Return what each route gives, and once more in tiles of a few rows what runs in tiles of this process.

    A layer is compiled once for both, which takes longer than to run it.
    """
    found = [(name, route(*arguments)) for name, route in routes.items()]
    with pytest.MonkeyPatch.context() as patch:
        for constant, number in FEW_ROWS.items():
            patch.setattr(tiles, constant, number)
        prepared = [name for name in routes if name in PREPARED]
        return [*found, *((f"{name}, in tiles of a few rows", routes[name](*arguments)) for name in prepared)]


def compared(layer: Layer, seed: int, peers: Mapping[str, Any] | None = None) -> bool:
    """Compare the routes of one call; say whether the plain layer accepts it."""
    with np.errstate(all="ignore"):
        try:
            call = drawn_call(layer, seed)
            plain(call)
        except (InputError, CompileError, ValueError):
            return False
        found = [each for each in differences(call, peers or {}, seed) if each]
    assert not found, "\n".join([*found, call.text()])
    return True


@pytest.mark.parametrize("name", ["softmax", "cross_entropy", "masked_scaled_dot_product_attention", "layer_norm"])
def test_a_few_layers_of_the_catalogue(name: str) -> None:
    assert sum(compared(layer_called(name), seed) for seed in range(3))


@pytest.mark.slow
def test_the_optimised_source_of_every_gradient() -> None:
    """What `code LAYER --optimized --gradient` prints, for every layer of the catalogue, at distinct primes."""
    run, compared_with, without_gradient = GRADIENTS["optimised source of the gradient"], 0, []
    for name in LAYERS:
        call = drawn_call(layer_called(name), 3, batch=False, odd=False)
        assert len({*call.sizes.values()}) == len(call.sizes) or {"N", "w", "K", "g", "buckets"} & {*call.sizes}
        given = cotangents(call, plain(call), 3)
        try:
            slopes = plain_gradient(call, given)
        except GradientError:
            without_gradient.append(name)
            continue
        assert not difference(run(call, given), slopes), name
        compared_with += 1
    assert compared_with > 40 and not without_gradient


@pytest.mark.parametrize("name", ["masked_grouped_query_attention", "encoder", "decoder"])
def test_gradients_of_what_is_repeated_are_those_of_differences(name: str) -> None:
    """<dY, f(w + t u) - f(w - t u)> / 2t is <dw, u>, u being random for all inputs and weights at once."""
    call, step = drawn_call(layer_called(name), 5, batch=False, odd=False), 1e-6
    rng = np.random.default_rng(5)
    (slope,) = cotangents(call, plain(call), 5)

    def moved(tree: Any, way: Any, by: float) -> Any:
        if isinstance(tree, dict):
            return {each: moved(value, way[each], by) for each, value in tree.items()}
        if isinstance(tree, list):
            return [moved(*both, by) for both in zip(tree, way, strict=True)]
        return tree + by * way if tree.dtype.kind == "f" else tree

    def drawn(tree: Any) -> Any:
        if isinstance(tree, dict | list):
            return {k: drawn(v) for k, v in tree.items()} if isinstance(tree, dict) else [drawn(v) for v in tree]
        return rng.standard_normal(tree.shape)

    ways = drawn(call.inputs), drawn(call.weights)
    sides = (
        replace(call, inputs=moved(call.inputs, ways[0], by), weights=moved(call.weights, ways[1], by))
        for by in (step, -step)
    )
    above, below = (plain(side)[0] for side in sides)
    expected = float(((above - below) * slope).sum() / (2 * step))
    real = [way for x, way in zip(call.inputs, ways[0], strict=True) if x.dtype.kind == "f"]
    found = GRADIENTS["optimised source of the gradient"](call, [slope])
    total = sum(float((a * b).sum()) for a, b in zip(found, [*real, *leaves(ways[1]).values()], strict=True))
    assert total == pytest.approx(expected, rel=1e-6)


def test_a_gradient_that_has_no_form_in_code_is_refused_in_a_sentence() -> None:
    with pytest.raises(CompileError, match="asks for weights that belong to a part; take the gradient of inlined"):
        optimised_source(gradient(layer_called("encoder_layer")))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 100))
def test_many_drawn_layers(first: int) -> None:
    assert sum(compared(drawn_layer(seed), seed) for seed in range(first, first + 100)) > 80


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_of_the_catalogue(name: str) -> None:
    assert sum(compared(layer_called(name), seed) for seed in range(6))


@pytest.mark.peers
@pytest.mark.slow
@pytest.mark.parametrize("library", PEERS)
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_in_another_library(name: str, library: str) -> None:
    """JAX compiles a layer anew for every shape, which takes a second, so a layer has one call there, in turns."""
    pytest.importorskip(library)
    turn = list(LAYERS).index(name) % 3
    accepted = (seed for seed in (turn, *range(3)) if compared(layer_called(name), seed, {library: PEERS[library]}))
    assert sum(1 for _ in islice(accepted, 1 if library == "jax" else 4))


def test_a_wrong_route_is_seen() -> None:
    """The comparison says no: of values that are off, of a missing batch axis, of a result too many."""
    call = drawn_call(layer_called("softmax"), 1)
    (right,) = plain(call)
    assert not difference([right], [right])
    assert difference([right + 1e-6], [right]).startswith("off by")
    assert difference([right[None]], [right])
    assert difference([right, right], [right]) == "2 results for 1"
    assert share_memory([call.inputs[0][..., :1]], call)


def test_weights_as_inputs_are_read_by_the_same_equations() -> None:
    layer = with_more_inputs(layer_called("feed_forward"), Random(1))
    assert len(layer.inputs) > 1
    assert sum(compared(layer, seed) for seed in range(3))
