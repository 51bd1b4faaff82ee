"""Counts are those of what is allocated and executed; a wrong count and a wasteful function are told apart."""

import numpy as np
import pytest

from derivations.language.counting.costs import count_flops, count_parameters
from numeric import compile_layer
from numeric.verification.agreement.cases import DTYPES, SIZES, case, subjects
from numeric.verification.agreement.counts import at, executed_flops, flops_check, parameters_check
from numeric.verification.agreement.recording import Recorded, recorded

NAMES = list(subjects())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", SIZES)
def test_parameters_are_those_allocated(name, sizes):
    each = case(name, sizes, DTYPES[0])
    check = parameters_check(name, count_parameters(each.layer), each.sizes, each.weights)
    assert check.passed, check


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", SIZES)
def test_flops_are_those_executed(name, sizes):
    check = flops_check(case(name, sizes, DTYPES[0]))
    assert check.passed, check


def test_products_are_really_recorded():
    each = case("scaled_dot_product_attention", SIZES[0], DTYPES[1])
    n, m, d_k, d_v = (each.sizes[name] for name in ("n", "m", "d_k", "d_v"))
    assert executed_flops(compile_layer(each.layer), each.arguments) == 2 * (2 * n * m * d_k + 2 * n * m * d_v)


def test_one_parameter_too_many_or_too_few_is_refused():
    each = case("encoder", SIZES[0], DTYPES[0])
    counted = count_parameters(each.layer)
    for wrong in (counted + 1, counted - 1, counted / 2):
        assert not parameters_check("encoder", wrong, each.sizes, each.weights).passed
    fewer = {"layers": each.weights["layers"][:-1]}
    assert not parameters_check("encoder", counted, each.sizes, fewer).passed


def test_a_product_too_many_is_refused():
    each = case("feed_forward", SIZES[0], DTYPES[0])
    compiled = compile_layer(each.layer)

    def wasteful(X, W_1, **weights):
        return compiled(X=X, W_1=W_1, **weights) + 0 * (X @ W_1).sum()

    assert not flops_check(each, wasteful).passed
    assert flops_check(each, compiled).passed


def test_a_causal_product_counted_by_half_is_refused():
    each = case("decoder", SIZES[0], DTYPES[0])
    counted = count_flops(each.layer, 2).matmul / 2
    assert at(counted, each.sizes) < executed_flops(compile_layer(each.layer), each.arguments)


# The recording type


def logged(function, *arrays):
    log = []
    result = function(*(recorded(array, log) for array in arrays))
    return log, result


A, B, C = np.ones((2, 3)), np.ones((3, 5)), np.ones((7, 2, 3))


@pytest.mark.parametrize(
    ("function", "arrays", "flops"),
    [
        (lambda a, b: a @ b, (A, B), 2 * 2 * 3 * 5),
        (np.matmul, (C, B), 2 * 7 * 2 * 3 * 5),
        (lambda a, b: np.matmul(a, b, out=np.empty((2, 5))), (A, B), 2 * 2 * 3 * 5),
        (np.dot, (A, B), 2 * 2 * 3 * 5),
        (lambda a, b: a.dot(b), (A, B), 2 * 2 * 3 * 5),
        (np.dot, (A, B[:, 0]), 2 * 2 * 3),
        (np.inner, (A, B.T), 2 * 2 * 3 * 5),
        (lambda a, b: np.tensordot(a, b, axes=1), (C, B), 2 * 7 * 2 * 3 * 5),
        (lambda a, b: np.einsum("nk,km->nm", a, b), (A, B), 2 * 2 * 3 * 5),
        (lambda a, b: np.einsum("bnk,km->bnm", a, b, optimize=True), (C, B), 2 * 7 * 2 * 3 * 5),
        (np.vecdot, (A, A), 2 * 2 * 3),
        (np.matvec, (A, B[:, 0]), 2 * 2 * 3),
        (np.vecmat, (B[:, 0], B), 2 * 3 * 5),
        (lambda a, b: (a @ b) @ b.T, (A, B), 2 * 2 * 3 * 5 * 2),
        (lambda a, b: np.where(a > 0, a, -np.inf) @ b, (A, B), 2 * 2 * 3 * 5),
        (lambda a, b: np.concatenate([a, a]) @ b, (A, B), 2 * 4 * 3 * 5),
        (lambda a, b: np.exp(a.reshape(3, 2).mT[..., None, :]) @ b, (A, B), 2 * 2 * 3 * 5),
        (lambda a, b: a * 2 + b[:2, :3], (A, B), 0),
    ],
)
def test_every_product_enters_the_log(function, arrays, flops):
    log, result = logged(function, *arrays)
    assert sum(count for _, count in log) == flops
    np.testing.assert_array_equal(np.asarray(result), function(*arrays))


def test_what_is_computed_from_recorded_arrays_is_recorded():
    _, result = logged(lambda a: np.where(a > 0, a, 0).sum(axis=0), A)
    assert isinstance(result, Recorded)


def test_an_einsum_that_cannot_be_counted_is_refused():
    with pytest.raises(NotImplementedError, match="write it with two operands"):
        logged(lambda a, b: np.einsum("nk,km,ml->nl", a, b, np.ones((5, 2))), A, B)


def test_masks_and_tokens_stay_plain():
    tokens, mask = np.arange(3), np.ones(3, bool)
    given = recorded({"tokens": tokens, "M": [mask], "W": A}, [])
    assert given["tokens"] is tokens
    assert given["M"][0] is mask
    assert isinstance(given["W"], Recorded)
