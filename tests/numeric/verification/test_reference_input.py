"""What the reference reads and refuses, the precision it works at, and what it imports."""

import ast
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp

from numeric.verification import reference
from numeric.verification.reference import scalars

# Numbers


def test_the_precision_is_fifty_digits_follows_a_higher_one_and_is_put_back():
    """One result at two precisions: they agree to 1e-47 and not to 1e-60."""
    x = [0.1, 0.7, -0.3]
    before = mp.dps
    y = reference.softmax(x)
    assert mp.dps == before < 50
    with mp.workdps(80):
        finer = reference.softmax(x)
        difference = max(abs(a - b) for a, b in zip(y, finer, strict=True))
    assert 1e-60 < difference < 1e-47


def test_a_failure_puts_the_precision_back():
    before = mp.dps
    with pytest.raises(ValueError, match="nan"):
        reference.softmax([float("nan")])
    assert mp.dps == before


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_of_every_width_are_read_exactly(dtype):
    x = np.array([0.1, -0.7], dtype=dtype)
    (read,) = scalars.read("test", x=(x, "n"))
    assert [value.__class__ for value in read] == [mp.mpf, mp.mpf]
    for value, number in zip(read, x, strict=True):
        numerator, denominator = number.as_integer_ratio()
        assert value * denominator == numerator  # denominators are powers of two: the product is exact
    assert (read[0] == mp.mpf(0.1)) == (dtype == np.float64)


def test_integers_beyond_float64_are_read_exactly():
    with mp.workdps(50):
        assert reference.linear([[np.int64(2**53 + 1)]], [[1]])[0][0] - 2**53 == 1


def test_arrays_and_lists_give_the_same():
    rng = np.random.default_rng(41)
    Q, K, V = rng.normal(size=(2, 5)), rng.normal(size=(3, 5)), rng.normal(size=(3, 7))
    lists = reference.scaled_dot_product_attention(Q.tolist(), K.tolist(), V.tolist())
    assert reference.scaled_dot_product_attention(Q, K, V) == lists


# Refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.linear([[1, 2]], [[1], [2], [3]], [0]), r"linear: W .*\(3, 1\).* d_in, which is 2 in X"),
        (lambda: reference.linear([[1, 2], [3]], [[1], [2]], [0]), r"linear: X .* length 1 along d_in"),
        (lambda: reference.linear([1, 2], [[1], [2]], [0]), r"linear: X has shape \(2,\), too few axes.*\(n, d_in\)"),
        (lambda: reference.linear(np.array(1.0), [[1]]), r"linear: X has shape \(\), too few axes"),
        (lambda: reference.linear(["12"], [[1], [2]]), r"linear: X has shape \(1,\), too few axes"),
        (lambda: reference.linear(np.ones((2, 2, 2)), np.ones((2, 3))), r"linear: X has the entry .*finite numbers"),
        (lambda: reference.softmax([]), r"softmax: x of shape \(0,\) .* at least 1"),
        (lambda: reference.softmax([0.0, float("nan")]), r"softmax: x has the entry nan"),
        (lambda: reference.softmax([mp.inf]), r"softmax: x has the entry mpf\('\+inf'\)"),
        (lambda: reference.softmax([np.longdouble(1) / 3]), r"softmax: x has the entry .*float64 holds exactly"),
        (lambda: reference.softmax(["1"]), r"softmax: x has the entry '1'"),
        (lambda: reference.softmax([1, 2], [1, 0]), r"softmax: mask M has the entry 1; pass True"),
        (lambda: reference.softmax([1, 2], [True]), r"softmax: the mask has shape \(1,\), wanted \(2,\)"),
        (lambda: reference.attention_weights([[1]], [[1], [2]], [[True], [True]]), r"shape \(2, 1\), wanted \(1, 2\)"),
        (
            lambda: reference.multi_head_attention([[1]], [[1]], [[1]], *[[[[1]], [[1]]]] * 3, W_O=[[1], [1], [1]]),
            r"multi_head_attention: W_O of shape \(3, 1\) has length 3 along h\*d_v, which is 2",
        ),
        (lambda: reference.feed_forward([[1]], [[1]], [0], [[1]], [0], "swish"), r"activation 'swish' is unknown"),
        (lambda: reference.layer_norm([[2, 2]], [1, 1], [0, 0], eps=0), r"layer_norm: .*variance 0\.0 and eps is 0"),
        (lambda: reference.positional_encoding(3, 5), r"positional_encoding: n is 3 and d_model is 5; .*even"),
        (lambda: reference.embedding([0, 7], np.ones((5, 2))), r"token 7 at position 1 .*size 5.*0 to 4"),
        (lambda: reference.embedding([-1], np.ones((5, 2))), r"token -1 at position 0"),
        (lambda: reference.embedding([1.0], np.ones((5, 2))), r"token 1\.0 at position 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Independence


def imported_modules(source):
    """Return the first two parts of the name of every module that a source imports."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {".".join(name.split(".")[:2]) for name in names}


def test_the_reference_shares_no_code_with_the_equations():
    allowed = {"collections.abc", "functools", "math", "numbers", "operator", "typing", "mpmath", "numpy"}
    sources = sorted(Path(reference.__file__).parent.glob("*.py"))
    assert len(sources) >= 7
    for source in sources:
        assert imported_modules(source.read_text(encoding="utf-8")) <= allowed | {"numeric.verification.reference"}, (
            source
        )


def test_a_shared_import_is_seen():
    sample = "def f():\n    from derivations.softmax import softmax\n    import numeric.codegen.compile as c, sympy\n"
    assert imported_modules(sample) == {"derivations.softmax", "numeric.codegen.compile", "sympy"}
