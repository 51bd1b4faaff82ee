"""Calls from several threads give what serial calls give; errors, interrupts and forks leave everything in order."""

import _thread
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import gradient
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import relu
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, n
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from numeric import compile_layer, initialise
from numeric.optimize.prepare import prepare
from numeric.runtime.tiles import each_tile
from numeric.verification.agreement.ulp import errors_in_ulp
from tests.numeric.routes import ROUTES
from tests.tiers import few

SIZES = {"d_model": 22, "h": 3, "d_k": 11, "d_v": 13, "d_ff": 31, "N": 2}
LONG = 1201  # rows, enough for several tiles
PATIENCE = 120  # seconds after which something hangs
routes = pytest.mark.parametrize("route", ROUTES)


def function(route, layer, **options):
    names = {size.name for size in layer.sizes}
    sizes = {name: size for name, size in SIZES.items() if name in names}
    return ROUTES[route](layer, initialise(layer, sizes, seed=3), {}, **options)


def inputs(layer, count, n=7, seed=0):
    """Several lists of inputs: rows of length d_model, masks with one visible key at least."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        given = []
        for variable in layer.inputs:
            if variable.kind == "boolean":
                M = rng.random((n, n)) < 0.7
                M[:, 0] = True
                given.append(M)
            else:
                given.append(rng.standard_normal((n, SIZES["d_model"])).astype(np.float32))
        found.append(given)
    return found


def at_once(calls, workers=8):
    """Return the results of calls made from several threads, all of which start together."""
    together = threading.Barrier(workers)

    def run(each):
        if each < workers:
            together.wait(PATIENCE)
        return calls[each]()

    with ThreadPoolExecutor(workers) as pool:
        return [future.result(PATIENCE) for future in [pool.submit(run, each) for each in range(len(calls))]]


def same(found, expected):
    """Bit for bit."""
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@routes
@pytest.mark.parametrize("rows", few([7, LONG], fast=1))
@pytest.mark.parametrize("layer", [encoder_layer(biases=True), encoder(masked=True)], ids=["layer", "stack"])
def test_one_layer_from_several_threads(route, layer, rows):
    run, given = function(route, layer), inputs(layer, 8 if rows == LONG else 32, rows)
    expected = [run(*each) for each in given]
    same(at_once([lambda each=each: run(*each) for each in given]), expected)


@routes
def test_different_layers_from_several_threads(route):
    layers = [encoder_layer(), feed_forward(), decoder_layer(), scaled_dot_product_attention(masked=True)]
    runs = [(function(route, layer), each) for layer in layers for each in inputs(layer, 6, 301)]
    expected = [run(*given) for run, given in runs]
    same(at_once([lambda run=run, given=given: run(*given) for run, given in runs]), expected)


def test_gradients_from_several_threads():
    layer = gradient(encoder_layer())
    run, given = compile_layer(layer), inputs(layer, 16)
    weights = initialise(encoder_layer(), {name: SIZES[name] for name in ("d_model", "h", "d_k", "d_v", "d_ff")})
    expected = [run(*each, **weights)[0] for each in given]
    same([found[0] for found in at_once([lambda each=each: run(*each, **weights) for each in given])], expected)


@routes
def test_a_layer_that_is_new_to_all_threads(route):
    """Compiled, checked and run for the first time by eight threads together."""
    X, W, let = array("X", n, d), array("W", d, d), Equations()
    layer = Layer(f"new_to_{route}", (X,), (W,), let, let("Y")(relu(X @ W)))
    x, w = np.eye(5, 3, dtype=np.float32), np.arange(9, dtype=np.float32).reshape(3, 3)
    found = at_once([lambda: ROUTES[route](layer, {"W": w}, {})(x) for _ in range(8)])
    same(found, [np.vstack([w, np.zeros((2, 3), np.float32)])] * 8)


@routes
def test_a_result_is_not_the_memory_of_the_next_one(route):
    layer = encoder_layer()
    run, (first, second) = function(route, layer), inputs(layer, 2, LONG)
    kept = run(*first)
    copy = kept.copy()
    assert not np.shares_memory(kept, run(*second))
    np.testing.assert_array_equal(kept, copy)


@pytest.mark.parametrize("rows", [7, LONG])
def test_the_number_of_threads_changes_rounding_alone(rows):
    """Tiles are cut to suit the threads, and a product of other rows may be added up in another order."""
    layer = encoder_layer(biases=True)
    (given,) = inputs(layer, 1, rows)
    alone = function("prepared", layer, threads=1)(*given)
    for threads in (2, 3):
        found = function("prepared", layer, threads=threads)(*given)
        assert errors_in_ulp(found, alone).largest_by_row < 32
        same([function("prepared", layer, threads=threads)(*given)], [found])


def test_tiles_inside_the_threads_of_a_user_do_not_wait_for_one_another():
    """More callers than threads that help: each can finish alone."""
    layer = encoder_layer()
    run, given = function("prepared", layer, threads=3), inputs(layer, 24, LONG)
    expected = [run(*each) for each in given[:3]]
    with ThreadPoolExecutor(12) as pool:
        futures = [pool.submit(lambda each=each: pool.submit(run, *each)) for each in given[:3]]
        same([future.result(PATIENCE).result(PATIENCE) for future in futures], expected)
    assert len(at_once([lambda each=each: run(*each) for each in given], workers=12)) == 24


# Errors and interrupts, in the loop over tiles that all prepared layers use


def marked(threads, count=LONG):
    """How often each row was worked on."""
    seen = np.zeros(count, int)

    def part(tile):
        _, _, begin, end = tile.place
        seen[begin:end] += 1

    each_tile([part], 1, count, threads)
    return seen


def test_every_row_is_worked_on_once():
    for threads in (1, 2, 3):
        assert (marked(threads) == 1).all()


def test_an_error_in_a_helping_thread_reaches_the_caller():
    caller, helped = threading.current_thread(), threading.Event()

    def part(tile):
        if threading.current_thread() is caller:
            assert helped.wait(PATIENCE)
        else:
            helped.set()
            raise ZeroDivisionError("in a tile")

    with pytest.raises(ZeroDivisionError, match="in a tile"):
        each_tile([part], 1, LONG, 2)
    assert (marked(2) == 1).all()


def test_an_error_in_the_calling_thread_stops_the_others():
    caller, helped, left = threading.current_thread(), threading.Event(), []

    def part(tile):
        if threading.current_thread() is caller:
            assert helped.wait(PATIENCE)
            raise ZeroDivisionError("in a tile")
        helped.set()
        left.append(tile)
        time.sleep(0.01)

    with pytest.raises(ZeroDivisionError, match="in a tile"):
        each_tile([part], 1, 100 * LONG, 2)
    assert len(left) < 50
    assert (marked(2) == 1).all()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_leaves_the_threads_and_blas_in_order(threads):
    layer = encoder_layer()
    (given,), run = inputs(layer, 1, LONG), function("prepared", layer, threads=threads)
    expected = run(*given)
    caller, interrupted = threading.current_thread(), []

    def part(tile):
        if threading.current_thread() is caller and not interrupted:
            interrupted.append(True)
            _thread.interrupt_main()
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        each_tile([part], 1, 100 * LONG, threads)
    same([run(*given)], [expected])
    assert (marked(threads) == 1).all()


# Processes


def _agrees(run, given, expected):
    sys.exit(0 if np.array_equal(run(*given), expected) else 1)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning")  # where JAX was imported before
@routes
def test_a_forked_process_computes_the_same(route):
    """The threads that help are not copied by a fork: the child makes its own."""
    layer = encoder_layer()
    options = {"threads": 2} if route == "prepared" else {}
    run, (given,) = function(route, layer, **options), inputs(layer, 1, LONG)
    child = multiprocessing.get_context("fork").Process(target=_agrees, args=(run, given, run(*given)))
    child.start()
    child.join(PATIENCE)
    assert child.exitcode == 0
    same([run(*given)], [run(*given)])


def test_prepared_layers_share_nothing_that_a_call_changes():
    """Two prepared layers of the same equations, with other weights, keep to their own."""
    layer = feed_forward()
    sizes = {name: SIZES[name] for name in ("d_model", "d_ff")}
    (given,) = inputs(layer, 1)
    runs = [prepare(layer, initialise(layer, sizes, seed=seed)) for seed in (3, 5)]
    first, second = (run(*given) for run in runs)
    assert (first != second).any()
    same([runs[0](*given), runs[1](*given)], [first, second])
