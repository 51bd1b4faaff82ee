"""Compiled layers against PyTorch with the same weights: 1e-5 in float32, 1e-12 in float64.

PyTorch stores a linear layer as y = x A^T + b, stacks the projections of all heads into one matrix whose row i d_k + c
is column c of head i, and its masks are True where a key is hidden (those of `scaled_dot_product_attention`: visible).
"""

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.language.arrays.functions import gelu, relu
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from numeric import compile_layer
from tests.numeric.verification.agreement.torch_weights import (
    array,
    attention_weights,
    decoder_layer_weights,
    encoder_layer_weights,
    norm_weights,
)

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")]

BOUNDS = {torch.float32: 1e-5, torch.float64: 1e-12}
BATCH, QUERIES, KEYS = 2, 7, 5
D_MODEL, HEADS, D_K, D_FF, LAYERS = 33, 3, 11, 13, 2


@pytest.fixture(params=BOUNDS, ids=str)
def dtype(request):
    return request.param


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(11)


def normal(rng, dtype, *shape):
    return torch.randn(*shape, generator=rng, dtype=torch.float64).to(dtype)


def built(kind, *arguments, rng, dtype, **options):
    """A PyTorch module without dropout, in evaluation, every parameter moved by a random number."""
    module = kind(*arguments, dropout=0.0, batch_first=True, dtype=dtype, **options).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.1 * normal(rng, dtype, *parameter.shape)
    return module


def agree(found, tensor, dtype):
    expected = array(tensor)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < BOUNDS[dtype]


def differ(found, tensor):
    assert np.abs(found - array(tensor)).max() > 1e-2


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding(keys):
    """The visible keys of a batch: all of the first item, all but the last two of the second."""
    visible = torch.ones(BATCH, keys, dtype=torch.bool)
    visible[1, -2:] = False
    return visible


def rows(visible, queries):
    """The same visible keys in the row of every query."""
    return array(visible[:, None, :].expand(-1, queries, -1))


# Attention


def test_scaled_dot_product_attention(rng, dtype):
    Q, K, V = (normal(rng, dtype, BATCH, *shape) for shape in ((QUERIES, 3), (KEYS, 3), (KEYS, 2)))
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V)
    agree(compile_layer(scaled_dot_product_attention())(*map(array, (Q, K, V))), expected, dtype)


def test_masked_scaled_dot_product_attention(rng, dtype):
    Q, K, V = (normal(rng, dtype, BATCH, *shape) for shape in ((QUERIES, 3), (KEYS, 3), (KEYS, 2)))
    visible = torch.rand(BATCH, QUERIES, KEYS, generator=rng) < 0.6
    visible[..., 0] = True
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=visible)
    masked = compile_layer(scaled_dot_product_attention(masked=True))
    agree(masked(*map(array, (Q, K, V, visible))), expected, dtype)
    differ(masked(*map(array, (Q, K, V, ~visible))), expected)


def test_causal_scaled_dot_product_attention(rng, dtype):
    Q, K, V = (normal(rng, dtype, BATCH, *shape) for shape in ((QUERIES, 3), (QUERIES, 3), (QUERIES, 2)))
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
    masked = compile_layer(scaled_dot_product_attention(masked=True))
    agree(masked(*map(array, (Q, K, V)), array(causal(QUERIES))), expected, dtype)


@pytest.mark.parametrize("biases", [True, False])
def test_multi_head_attention(rng, dtype, biases):
    module = built(torch.nn.MultiheadAttention, D_MODEL, HEADS, bias=biases, rng=rng, dtype=dtype)
    X_Q, X_K, X_V = (normal(rng, dtype, BATCH, size, D_MODEL) for size in (QUERIES, KEYS, KEYS))
    visible = padding(KEYS)
    given = [array(each) for each in (X_Q, X_K, X_V)]
    weights = attention_weights(module)

    expected, _ = module(X_Q, X_K, X_V, need_weights=False)
    agree(compile_layer(multi_head_attention(biases=biases))(*given, **weights), expected, dtype)
    expected, _ = module(X_Q, X_K, X_V, key_padding_mask=~visible, need_weights=False)
    masked = compile_layer(multi_head_attention(masked=True, biases=biases))
    agree(masked(*given, rows(visible, QUERIES), **weights), expected, dtype)
    swapped = {**weights, "W_Q": weights["W_K"], "W_K": weights["W_Q"]}
    differ(masked(*given, rows(visible, QUERIES), **swapped), expected)


# Layers, stacks and the whole model


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_encoder_layer(rng, dtype, name, activation):
    options = {"dim_feedforward": D_FF, "activation": name, "rng": rng, "dtype": dtype}
    module = built(torch.nn.TransformerEncoderLayer, D_MODEL, HEADS, **options)
    X, visible = normal(rng, dtype, BATCH, QUERIES, D_MODEL), padding(QUERIES)
    weights = encoder_layer_weights(module)
    plain = compile_layer(encoder_layer(biases=True, activation=activation))
    agree(plain(array(X), **weights), module(X), dtype)
    masked = compile_layer(encoder_layer(masked=True, biases=True, activation=activation))
    M = torch.logical_and(causal(QUERIES), visible[:, None, :])
    expected = module(X, src_mask=~causal(QUERIES), src_key_padding_mask=~visible)
    agree(masked(array(X), array(M), **weights), expected, dtype)
    differ(plain(array(X), **weights), expected)


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_decoder_layer(rng, dtype, name, activation):
    options = {"dim_feedforward": D_FF, "activation": name, "rng": rng, "dtype": dtype}
    module = built(torch.nn.TransformerDecoderLayer, D_MODEL, HEADS, **options)
    X, memory = normal(rng, dtype, BATCH, QUERIES, D_MODEL), normal(rng, dtype, BATCH, KEYS, D_MODEL)
    weights, M, visible = decoder_layer_weights(module), array(causal(QUERIES)), padding(KEYS)
    plain = compile_layer(decoder_layer(biases=True, activation=activation))
    expected = module(X, memory, tgt_mask=~causal(QUERIES))
    agree(plain(array(X), array(memory), M, **weights), expected, dtype)
    differ(plain(array(X), array(memory), np.ones_like(M), **weights), expected)
    masked = compile_layer(decoder_layer(masked_memory=True, biases=True, activation=activation))
    expected = module(X, memory, tgt_mask=~causal(QUERIES), memory_key_padding_mask=~visible)
    agree(masked(array(X), array(memory), M, rows(visible, QUERIES), **weights), expected, dtype)


def test_the_whole_transformer_has_a_last_norm_in_each_stack(rng, dtype):
    """PyTorch's model takes embedded sequences and gives the decoder's output: encoder and decoder, final norms on."""
    sizes = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS + 1, "dim_feedforward": D_FF}
    module = built(torch.nn.Transformer, D_MODEL, HEADS, **sizes, rng=rng, dtype=dtype)
    X, Y = normal(rng, dtype, BATCH, KEYS, D_MODEL), normal(rng, dtype, BATCH, QUERIES, D_MODEL)
    visible, M = padding(KEYS), causal(QUERIES)
    masks = {"src_key_padding_mask": ~visible, "memory_key_padding_mask": ~visible}
    expected = module(X, Y, tgt_mask=~M, **masks)

    encoding = {"layers": [encoder_layer_weights(layer) for layer in module.encoder.layers]}
    decoding = {"layers": [decoder_layer_weights(layer) for layer in module.decoder.layers]}
    last, last_decoded = norm_weights(module.encoder.norm), norm_weights(module.decoder.norm)
    options = {"biases": True, "final_norm": True}
    encode = compile_layer(encoder(masked=True, **options))
    decode = compile_layer(decoder(masked_memory=True, **options))
    memory = encode(array(X), rows(visible, KEYS), **encoding, final_norm=last)
    agree(
        decode(array(Y), memory, array(M), rows(visible, QUERIES), **decoding, final_norm=last_decoded), expected, dtype
    )

    without = compile_layer(encoder(masked=True, biases=True))(array(X), rows(visible, KEYS), **encoding)
    differ(decode(array(Y), without, array(M), rows(visible, QUERIES), **decoding, final_norm=last_decoded), expected)
