"""Verdicts: right functions are proved, wrong ones refuted by a run, and nothing is proved without the judge."""

import gc
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sympy import Eq, Ge, Lt, Ne, Rational, Symbol, cosh, exp

from derivations import layer
from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d, m, n, size
from derivations.testing import assert_proved, assert_same
from numeric.lifting import NotFollowed, Verdict, lift, prove, prove_same

p, q = size("p"), size("q")


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(-1, keepdims=True))
    return P @ V / P.sum(-1, keepdims=True)


def layer_norm(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) + beta


RIGHT = {
    "scaled_dot_product_attention": attention,
    "layer_norm": layer_norm,
    "rms_norm": lambda X, g, eps=1e-6: X / np.sqrt((X * X).mean(-1, keepdims=True) + eps) * g,
    "feed_forward": lambda x, w1, b1, w2, b2: np.maximum(x @ w1.T + b1, 0) @ w2.T + b2,
    "gated_feed_forward": lambda x, gate, up, down: ((x @ gate) / (1 + np.exp(-(x @ gate))) * (x @ up)) @ down,
    "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
}


@pytest.mark.parametrize(("name", "function"), RIGHT.items(), ids=RIGHT)
def test_right_functions_are_proved(name, function):
    verdict = assert_proved(function, name)
    assert verdict.level == "proved"
    assert all(evidence.level == "proved" for evidence in verdict.evidence)


WRONG = {
    "no scale": ("scaled_dot_product_attention", lambda Q, K, V: _weights(Q @ K.T) @ V),
    "scale by the length": (
        "scaled_dot_product_attention",
        lambda Q, K, V: _weights(Q @ K.T / np.sqrt(K.shape[0])) @ V,
    ),
    "epsilon outside of the root": (
        "layer_norm",
        lambda X, gamma, beta, eps=1e-2: (
            gamma * (X - X.mean(-1, keepdims=True)) / (X.std(-1, keepdims=True) + eps) + beta
        ),
    ),
    "variance over n - 1": (
        "layer_norm",
        lambda X, gamma, beta, eps=1e-5: (
            gamma * (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True, ddof=1) + eps) + beta
        ),
    ),
    "no bias": ("feed_forward", lambda x, w1, b1, w2, b2: np.maximum(x @ w1 + b1, 0) @ w2 + 0 * b2),
    "one plus the gain": (
        "rms_norm",
        lambda X, g, eps=1e-6: X / np.sqrt((X * X).mean(-1, keepdims=True) + eps) * (1 + g),
    ),
}


def _weights(S):
    P = np.exp(S - S.max(-1, keepdims=True))
    return P / P.sum(-1, keepdims=True)


@pytest.mark.parametrize(("name", "function"), WRONG.values(), ids=WRONG)
def test_wrong_functions_are_refuted_by_a_run_of_their_own(name, function):
    verdict = prove(function, layer(name))
    assert verdict.level == "refuted"
    assert verdict.counterexample is not None
    with pytest.raises(AssertionError, match=rf"where {name} (gives|has)"):
        assert_proved(function, name)


def test_a_verdict_is_proved_by_evidence_alone():
    with pytest.raises(ValueError, match="evidence"):
        Verdict("proved", "f", "softmax")
    found = prove(WRONG["no scale"][1], layer("scaled_dot_product_attention"))
    with pytest.raises(ValueError, match="evidence"):
        replace(found, level="proved")


def test_what_is_not_followed_names_the_line_and_the_test_that_is_left():
    def sorted_first(x):
        return np.exp(x) / np.exp(np.sort(x)).sum()

    with pytest.raises(AssertionError, match=r"numpy.sort has no rule .*in sorted_first.*assert_implements"):
        assert_proved(sorted_first, "softmax")


def test_an_error_of_the_function_names_its_line_and_offers_no_test():
    def misspelt(x):
        return np.exp(x) / np.exp(y).sum()  # noqa: F821

    with pytest.raises(AssertionError, match=r"it raises NameError: .* \(line \d+ of test_proving.py, in misspelt\)$"):
        assert_proved(misspelt, "softmax")


def test_a_shape_that_is_missing_is_asked_for_by_name():
    with pytest.raises(TypeError, match=r"missing .* 'x'; its arguments are given as shapes, by name: x=\(n, d\)"):
        lift(lambda x: x, shapes={"x": (3,)})


def test_what_is_tested_is_called_that():
    def by_columns(x):
        return np.apply_along_axis(lambda row: np.exp(row - max(row)) / math.fsum(np.exp(row - max(row))), -1, x)

    verdict = assert_proved(by_columns, "softmax", or_tested=True)
    assert verdict.level == "tested"
    assert verdict.qualified == "tested"
    assert not verdict.evidence


def test_what_is_tested_may_fail():
    with pytest.raises(AssertionError):
        assert_proved(lambda x: np.apply_along_axis(np.exp, -1, x), "softmax", or_tested=True)


def test_a_refuted_function_is_not_tested_into_a_pass():
    with pytest.raises(AssertionError, match="where scaled_dot_product_attention gives"):
        assert_proved(WRONG["no scale"][1], "scaled_dot_product_attention", or_tested=True)


def test_names_say_which_array_is_which():
    def turned(values, queries, keys):
        return attention(queries, keys, values)

    assert prove(turned, layer("scaled_dot_product_attention")).level != "proved"
    names = {"values": "V", "queries": "Q", "keys": "K"}
    assert assert_proved(turned, "scaled_dot_product_attention", names=names).level == "proved"


def test_a_refactoring_is_proved():
    def before(X, W):
        return (X @ W) * 2

    assert assert_same(before, lambda X, W: X @ (W + W), X=(n, d), W=(d, m)).level == "proved"
    with pytest.raises(AssertionError, match="where lambda_ gives"):
        assert_same(before, lambda X, W: X @ W, X=(n, d), W=(d, m))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: np.sqrt(x) ** 2, lambda x: x),
        (lambda x: np.exp(np.log(x)), lambda x: x),
        (lambda x: x / x, lambda x: np.ones_like(x)),
        (lambda x: np.log(x**2), lambda x: 2 * np.log(x)),
        (lambda x: (x**3) ** (1 / 3), lambda x: x),
        (lambda x: np.sqrt(x * x), lambda x: x),
        (lambda x: x * 0.7978845608, lambda x: x * math.sqrt(2 / math.pi)),
        (lambda x: x * (0.1 + 0.2), lambda x: x * 0.3),
        (lambda x: ((x > 9) + (x > 9)) * x, lambda x: 2 * (x > 9) * x),
        (lambda x: x.astype(np.float16) + 1e-6, lambda x: x + 1e-6),
    ],
    ids=[
        "a root of what may be negative",
        "a logarithm of what may be negative",
        "a quotient by what may be 0",
        "a logarithm of a square",
        "a third root",
        "an absolute value",
        "a literal near a constant",
        "a literal that is rounded",
        "entries that no draw shows",
        "a cast that shows",
    ],
)
def test_equal_almost_everywhere_is_not_proved(one, other):
    assert prove_same(one, other, x=(n,)).level != "proved"


def test_two_answers_that_are_both_right_leave_no_assumption():
    def either(x, y):
        return (x[:, None] * 2 + y).sum(1) if x.shape == y.shape else (2 * x[:, None] + y).sum(axis=-1)

    verdict = prove_same(either, lambda x, y: (x[:, None] + x[:, None] + y[None, :]).sum(1), x=(n,), y=(m,))
    assert verdict.level == "proved"
    assert not verdict.assumed


def test_an_answer_that_is_wrong_stays_an_assumption():
    def either(x, y):
        return x * 3 + 0 * y.sum() if x.shape == y.shape else x * 2 + 0 * y.sum()

    verdict = prove_same(either, lambda x, y: 2 * x + y.sum() * 0, x=(n,), y=(m,))
    assert verdict.level == "proved"
    assert verdict.assumed == (Ne(n, m),)
    assert "if Ne(n, m)" in verdict.qualified


def test_eight_right_answers_of_more_are_not_all():
    """The tree of answers has nine leaves, and the ninth is wrong: it may not be left out in silence."""

    def deep(x, y, z, w):
        sizes = [each.shape[0] for each in (x, y, z, w)]
        equal = [one == other for one, other in itertools.pairwise(sizes)]
        factor = 3 if all(equal) and sizes[0] == 6 else 2
        return x * factor + 0 * (y.sum() + z.sum() + w.sum())

    shapes = {"x": (n,), "y": (m,), "z": (p,), "w": (q,)}
    verdict = prove_same(deep, lambda x, y, z, w: 2 * x + 0 * (y.sum() + z.sum() + w.sum()), **shapes)
    assert verdict.level == "proved"
    assert verdict.assumed


def test_a_size_that_no_run_reaches_is_an_assumption():
    verdict = prove_same(lambda x: x * 2 if x.shape[0] < 1000 else x * 3, lambda x: x * 2, x=(n,))
    assert verdict.assumed == (Lt(n, 1000),)


def test_a_slice_that_may_be_empty_is_proved_for_sizes_where_it_is_not():
    verdict = prove_same(lambda x: x[: x.shape[0] - 5] * 2, lambda x: x[:-5] * 2, x=(n,))
    assert verdict.assumed[-1] == Ge(n - 5, 1)


def test_a_type_that_is_asked_for_is_found_by_the_run():
    verdict = prove_same(lambda x: x * 2 if type(x) is np.ndarray else x * 3, lambda x: x * 3, x=(n,))
    assert verdict.level == "refuted"
    assert "not what the function does" in verdict.reason


def test_an_error_of_the_other_function_is_told():
    verdict = prove_same(lambda x: x, lambda x: x.nothing, x=(n,))
    assert verdict.level == "not followed"
    assert "nothing" in verdict.reason


def test_formulas():
    x = Symbol("x", real=True)
    assert assert_proved(lambda x: x / (1 + np.exp(-x)), x / (1 + exp(-x))).level == "proved"
    assert assert_proved(lambda x: x / (1 + math.exp(-x)), x / (1 + exp(-x))).level == "proved"
    with pytest.raises(AssertionError):
        assert_proved(lambda x: x / (1 + math.exp(x)), x / (1 + exp(-x)))


def test_a_mask_of_the_caller_is_a_condition():
    def masked(Q, K, V, M):
        S = np.where(M, Q @ K.T / np.sqrt(Q.shape[-1]), -np.inf)
        return _weights(S) @ V

    verdict = assert_proved(masked, "masked_scaled_dot_product_attention")
    assert [condition.text for condition in verdict.conditions] == ["every row of M shows an entry"]


def test_a_finite_filler_is_a_reading():
    def masked(Q, K, V, M):
        return _weights(np.where(M, Q @ K.T / np.sqrt(Q.shape[-1]), -1e9)) @ V

    assert assert_proved(masked, "masked_scaled_dot_product_attention").readings == ("-1e+09 as minus infinity",)


def test_shapes_may_be_given():
    verdict = prove_same(lambda x: x.sum(0), lambda x: x.T.sum(1), x=Variable("x", (n, 3)))
    assert verdict.level == "proved"
    assert lift(lambda x: x if x.shape[0] == 4 else -x, x=(n,)).assumed == (~Eq(n, 4),)


def test_the_sizes_of_a_layer_may_be_given():
    """The halves of a row of 2 p entries, turned twice."""

    def turned(x):
        half = x.shape[1] // 2
        return np.concatenate([-x[:, half:], x[:, :half]], axis=1)

    x, y = Variable("x", (n, d)), Variable("y", (n, d))
    negative = Layer("negative", (x,), (), [Equation(y, -x)], y)
    assert prove(lambda x: turned(turned(x)), negative, x=(n, 2 * p)).level == "proved"
    assert prove(turned, negative, x=(n, 2 * p)).level == "refuted"


def test_an_epsilon_shows_beside_small_numbers():
    def norm(X, gamma):
        return X / np.sqrt((X * X).mean(-1, keepdims=True) + 1e-5) * gamma

    assert prove(norm, rms_norm(Rational(1, 10**5))).level == "proved"
    assert prove(norm, rms_norm(0)).level == "refuted"
    assert prove(norm, rms_norm()).level == "proved"
    assert prove(lambda X, gamma: X / np.sqrt((X * X).mean(-1, keepdims=True)) * gamma, rms_norm()).level == "refuted"


def test_an_argument_may_have_the_name_of_a_result():
    x, z, y = Variable("x", (n, d)), Variable("z", (n, d)), Variable("y", (n, d))
    added = Layer("added", (x, z), (), [Equation(y, x + z)], y)
    assert prove(lambda x, y: x + y, added).level == "proved"
    assert prove(lambda x, y: x + 2 * y, added).level == "refuted"


def test_hyperbolic_functions_are_exponentials():
    x = Symbol("x", real=True)
    assert assert_proved(lambda x: np.cosh(x) + np.sinh(x), exp(x)).level == "proved"
    assert assert_proved(lambda x: (np.exp(x) + np.exp(-x)) / 2, cosh(x)).level == "proved"
    with pytest.raises(AssertionError):
        assert_proved(lambda x: np.cosh(x) - np.sinh(x), exp(x))


def test_a_size_in_a_table_is_refused_or_goes_the_way_without_the_table():
    table = {3: 2}

    def looked_up(x):
        return x * table.get(x.shape[0], 1)

    def without(x):
        try:
            return x * table.get(x.shape[0], 1)
        except TypeError:
            return x * 1

    with pytest.raises(NotFollowed, match="a look-up of n"):
        lift(looked_up, x=(n,))
    assert prove_same(without, lambda x: x * 1, x=(n,)).level != "proved"  # a run with n = 3 goes the other way


def two_norms(X, gamma, eps):
    for _ in range(2):
        X = X / np.sqrt((X * X).mean(-1, keepdims=True) + eps) * gamma
    return X


def test_no_function_is_refuted_for_its_own_epsilon():
    """The layer's epsilon has no value: a run under another one than the function's is no refutation."""
    X, gamma, Y = Variable("X", (n, d)), Variable("gamma", (d,)), Variable("Y", (n, d))
    equations = Equations()
    first = equations("N")(part("first", rms_norm())(X, gamma=gamma))
    equations("Y")(part("second", rms_norm())(first, gamma=gamma))
    target = Layer("two_norms", (X,), (gamma,), equations, Y)
    verdict = prove(lambda X, gamma: two_norms(X, gamma, 1e-2), target)
    assert verdict.level != "refuted", str(verdict)
    assert prove(lambda X, gamma: two_norms(X, gamma, 1e-2) * 1.01, target).level == "refuted"


COUNT = [0]


def counting(x):
    COUNT[0] += 1
    return x * (1.0 if COUNT[0] < 1000 else 2.0)


def test_a_function_that_counts_its_calls_is_not_followed() -> None:
    verdict = prove_same(counting, lambda x: np.multiply(x, 1.0), x=(n, d))
    assert verdict.level == "not followed"
    assert "changes COUNT at each call" in str(verdict)


def without_value(x):
    return np.log(-1 - x * x)


def test_a_function_without_a_value_is_not_compared() -> None:
    verdict = prove_same(without_value, without_value, x=(n, d))
    assert "no value for random numbers" in str(verdict)


def narrow_differs(x):
    return x if x.dtype == np.float64 else 2 * x


def test_another_way_for_arrays_of_fewer_digits_is_found() -> None:
    verdict = prove_same(narrow_differs, lambda x: np.multiply(x, 1.0), x=(n, d))
    assert "with arrays of float32" in str(verdict)


def test_entries_of_a_logarithm_are_assumed_to_be_positive() -> None:
    verdict = prove_same(lambda x, y: y * (np.log(y) - x), lambda x, y: y * np.log(y) - y * x, x=(n, d), y=(n, d))
    assert verdict.level == "proved"
    assert "where all entries of y are positive" in verdict.qualified


@pytest.mark.parametrize("on", [True, False])
def test_the_collection_of_garbage_is_left_as_it_was(on: bool) -> None:
    """Also where the function raises."""

    def raising(x):
        raise KeyError(x)

    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        prove(raising, layer("softmax"))
        assert gc.isenabled() == on
    finally:
        (gc.enable if before else gc.disable)()


def test_what_fits_for_equal_sizes_alone_is_told_by_its_sizes():
    """The runs need 4 positions of width 4, and say nothing of the product or of the shape."""

    def without_transpose(Q, K, V):
        return _weights(Q @ K / np.sqrt(Q.shape[-1])) @ V

    def turned(Q, K, V):
        return attention(Q, K, V).T

    for function, said in (
        (without_transpose, r"axes of a product have the sizes d_k and m \(line \d+ of test_proving.py"),
        (turned, r"the result has the shape \(d_v, n\), and not \(n, d_v\)"),
    ):
        with pytest.raises(
            AssertionError, match=f"is not scaled_dot_product_attention: .*; with symbolic sizes, {said}"
        ):
            assert_proved(function, "scaled_dot_product_attention")


def test_what_is_not_decided_does_not_read_as_a_yes():
    with pytest.raises(AssertionError, match=r"^it is not decided whether \S+ is \S+: not followed; "):
        assert_same(lambda X: X @ X.T, lambda X: X @ X, X=(n, d))
