"""`assert_implements` over PyTorch and JAX: values and gradients, and wrong gradients under right values."""

import math
import re

import numpy as np
import pytest

from derivations.testing import assert_implements
from numeric.verification.conformance.frameworks import FRAMEWORKS, framework_of

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
F = torch.nn.functional

pytestmark = pytest.mark.peers


def attention(Q, K, V, M=None):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=M)


def heads(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    Q, K, V = (x[..., None, :, :] @ w for x, w in ((X_Q, W_Q), (X_K, W_K), (X_V, W_V)))
    return attention(Q, K, V).transpose(-3, -2).flatten(-2) @ W_O


def network(X, W_1, b_1, W_2, b_2, activation=F.relu):
    return F.linear(activation(F.linear(X, W_1.mT, b_1)), W_2.mT, b_2)


TORCH = {
    "softmax": lambda x: torch.softmax(x, -1),
    "linear": lambda X, W, b: F.linear(X, W.mT, b),
    "scaled_dot_product_attention": attention,
    "masked_scaled_dot_product_attention": attention,
    "multi_head_attention": heads,
    "feed_forward": network,
    "feed_forward_gelu": lambda *arguments: network(*arguments, activation=F.gelu),
    "layer_norm": lambda X, gamma, beta: F.layer_norm(X, X.shape[-1:], gamma, beta),
    "embedding": lambda tokens, E: F.embedding(tokens, E) * math.sqrt(E.shape[-1]),
    "dropout": lambda X, D, rate: X * D / (1 - rate),
}


@pytest.mark.parametrize("name", TORCH)
def test_pytorch_agrees_with_its_gradients(name):
    found = assert_implements(TORCH[name], name, arrays="torch")
    assert re.fullmatch(rf"{name}: values and gradients agree in \d+ cases \(torch\)", str(found))
    assert found.gradients


def test_a_layer_without_arrays_has_no_gradient():
    def encoding(n, d_model):
        angle = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)

    found = assert_implements(encoding, "positional_encoding", arrays="torch")
    assert not found.gradients and str(found).startswith("positional_encoding: values agree in ")


class HalfTheGradient(torch.autograd.Function):
    """The identity forward; backward, half of what comes."""

    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, cotangent):
        return cotangent / 2


@pytest.mark.parametrize(
    ("name", "function", "words"),
    [
        ("softmax", lambda x: torch.softmax(HalfTheGradient.apply(x), -1), "its gradient by x: it returned"),
        ("linear", lambda X, W, b: X @ HalfTheGradient.apply(W) + b, "its gradient by W: it returned"),
        ("linear", lambda X, W, b: X @ W + b.detach(), "its gradient by b: it returned 0 at [0]"),
        (
            "linear",
            lambda X, W, b: (X @ W + b).detach(),
            "it gives no gradient: the output does not require a gradient",
        ),
    ],
)
def test_a_wrong_gradient_under_right_values_is_refused(name, function, words):
    with pytest.raises(AssertionError, match=re.escape(words)) as caught:
        assert_implements(function, name, arrays="torch")
    assert re.search(r"n = [12]; float64", str(caught.value))
    assert not assert_implements(function, name, arrays="torch", gradients=False).gradients


def test_a_gradient_that_is_not_a_number_behind_a_mask_is_refused():
    """Clearing NaN forward leaves it in the gradient: 0 times NaN."""

    def function(Q, K, V, M):
        weights = torch.softmax((Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(~M, -math.inf), -1)
        return torch.where(M.any(-1, keepdim=True), weights @ V, 0.0)

    with pytest.raises(AssertionError, match=r"its gradient by [QKV]: it returned nan"):
        assert_implements(function, "masked_scaled_dot_product_attention", arrays="torch")
    assert_implements(function, "masked_scaled_dot_product_attention", arrays="torch", gradients=False)
    assert_implements(function, "masked_scaled_dot_product_attention", arrays="torch", fully_masked_rows=False)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: None, "it returned None"),
        (lambda x: torch.softmax(x, -1).sum(), "it returned the shape (), where (1,) is needed"),
        (lambda x: torch.softmax(x, -1).detach().numpy(), "it returned a ndarray, where a torch.Tensor is needed"),
        (lambda x: torch.softmax(x, -1).bfloat16(), "it returned bfloat16 for arguments of float64"),
        (lambda x: torch.softmax(x, 7), "it raised IndexError: Dimension out of range"),
    ],
)
def test_an_output_that_is_none_is_reported_in_words(function, words):
    for gradients in (True, False):
        with pytest.raises(AssertionError, match=re.escape(words)):
            assert_implements(function, "softmax", arrays="torch", gradients=gradients)


def test_a_module_is_adapted_by_call():
    def functional(module, X, W, b):
        return torch.func.functional_call(module, {"weight": W.mT, "bias": b}, (X,))

    assert framework_of(torch.nn.Linear(3, 5)) == framework_of(torch.softmax) == "torch"
    found = assert_implements(torch.nn.Linear(3, 5), "linear", call=functional)
    assert found.framework == "torch" and found.gradients


def test_pytorchs_own_multi_head_attention():
    module = torch.nn.MultiheadAttention(6, 2, bias=False, batch_first=True, dtype=torch.float64)

    def call(module, X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
        stacked = torch.cat([weight.mT.flatten(0, 1) for weight in (W_Q, W_K, W_V)])
        weights = {"in_proj_weight": stacked, "out_proj.weight": W_O.mT}
        return torch.func.functional_call(module, weights, (X_Q, X_K, X_V))[0]

    sizes = {"d_model": 6, "h": 2, "d_k": 3, "d_v": 3}
    assert assert_implements(module, "multi_head_attention", call=call, batch=False, **sizes).gradients
    with pytest.raises(AssertionError, match=r"it returned a tuple, where a torch\.Tensor is needed; choose the array"):
        assert_implements(lambda *arguments: (heads(*arguments), None), "multi_head_attention", arrays="torch")


# --- JAX ------------------------------------------------------------------------------------------------------------

jax = pytest.importorskip("jax", reason="the peers tests compare with JAX")


def jax_attention(Q, K, V, M):
    scores = jax.numpy.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), -1e9)
    return jax.nn.softmax(scores) * M.any(axis=-1, keepdims=True) @ V


def unscaled(Q, K, V):
    return jax.nn.softmax(Q @ K.mT) @ V


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("softmax", jax.jit(jax.nn.softmax)),
        ("masked_scaled_dot_product_attention", jax.jit(jax_attention)),
        ("embedding", lambda tokens, E: E[tokens] * math.sqrt(E.shape[-1])),
    ],
)
def test_jax_agrees_with_its_gradients(name, function):
    found = assert_implements(function, name, arrays="jax")
    assert str(found).startswith(f"{name}: values and gradients agree in")
    assert jax.numpy.asarray(1.0).dtype == "float32"  # the precision is as it was before


def test_a_wrong_jax_function_is_refused():
    with pytest.raises(AssertionError, match=r"off by 0\.061"):
        assert_implements(unscaled, "scaled_dot_product_attention", arrays="jax", batch=False, dtypes=["float64"])


def test_a_jax_function_without_a_gradient_is_refused():
    with pytest.raises(AssertionError, match=re.escape("its gradient by x: it returned 0 at [")):
        assert_implements(lambda x: jax.nn.softmax(jax.lax.stop_gradient(x)), "softmax", arrays="jax", batch=False)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: None, "it returned None"),
        (lambda x: "text", "it returned a str, where a jax.Array is needed"),
        (lambda x: jax.nn.softmax(x).sum(), "it returned the shape ()"),
        (lambda x: jax.nn.softmax(x).astype("float16"), "it returned float16 for arguments of float64"),
        (lambda x: np.asarray(x), "it returned a ndarray, where a jax.Array is needed"),
    ],
)
def test_a_jax_output_that_is_none_is_reported_in_words(function, words):
    with pytest.raises(AssertionError, match=re.escape(words)):
        assert_implements(function, "softmax", arrays="jax", batch=False)


def test_frameworks_are_known_by_their_functions():
    assert framework_of(jax.jit(jax.nn.softmax)) == framework_of(jax.nn.softmax) == "jax"
    assert framework_of(np.exp) == framework_of(lambda x: x) == "numpy"
    assert set(FRAMEWORKS) == {"numpy", "torch", "jax"}
