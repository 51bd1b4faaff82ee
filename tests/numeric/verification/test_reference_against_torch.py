"""The reference at 50 digits against PyTorch in float64, with the same weights: they differ by less than 1e-12.

PyTorch keeps a linear layer as y = x A^T + b, stacks the query, key and value projections into one matrix whose row
i d_k + c is column c of head i, and masks with True where a key is hidden (its functional form: where it is visible).
"""

import pytest
from mpmath import mp

from numeric.verification import reference

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")

pytestmark = pytest.mark.peers

BOUND = 1e-12
D_MODEL, HEADS, D_K, D_FF, VOCABULARY = 10, 2, 5, 7, 11  # D_MODEL = HEADS D_K
OPTIONS = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(2)


def uniform(generator, *shape):
    return 2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1


def randomised(module, generator):
    """Give every parameter, norms and biases included, a seeded random value."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(uniform(generator, *parameter.shape))
    return module


def largest_difference(matrix, tensor):
    rows = tensor.detach().tolist()
    assert [len(row) for row in matrix] == [len(row) for row in rows]
    with mp.workdps(50):
        return max(abs(a - b) for row, other in zip(matrix, rows, strict=True) for a, b in zip(row, other, strict=True))


def arrays(**tensors):
    return {name: tensor.detach().numpy() for name, tensor in tensors.items()}


def attention_weights(module):
    """Return the weights of a torch.nn.MultiheadAttention, head by head."""
    by_head = 3, module.num_heads, module.head_dim
    W_Q, W_K, W_V = module.in_proj_weight.reshape(*by_head, module.embed_dim).transpose(-1, -2)
    b_Q, b_K, b_V = module.in_proj_bias.reshape(*by_head)
    return arrays(
        W_Q=W_Q,
        W_K=W_K,
        W_V=W_V,
        b_Q=b_Q,
        b_K=b_K,
        b_V=b_V,
        W_O=module.out_proj.weight.T,
        b_O=module.out_proj.bias,
    )


def norm_weights(module):
    return arrays(gamma=module.weight, beta=module.bias)


def feed_forward_weights(layer):
    return arrays(
        W_1=layer.linear1.weight.T, b_1=layer.linear1.bias, W_2=layer.linear2.weight.T, b_2=layer.linear2.bias
    )


def encoder_layer_weights(layer):
    return {
        "attention": attention_weights(layer.self_attn),
        "attention_norm": norm_weights(layer.norm1),
        "feed_forward": feed_forward_weights(layer),
        "feed_forward_norm": norm_weights(layer.norm2),
    }


def decoder_layer_weights(layer):
    return {
        "self_attention": attention_weights(layer.self_attn),
        "self_attention_norm": norm_weights(layer.norm1),
        "cross_attention": attention_weights(layer.multihead_attn),
        "cross_attention_norm": norm_weights(layer.norm2),
        "feed_forward": feed_forward_weights(layer),
        "feed_forward_norm": norm_weights(layer.norm3),
    }


def hidden(mask):
    """Return PyTorch's module mask, True where a key is hidden."""
    return ~torch.tensor(mask)


def test_softmax(generator):
    x = 10 * uniform(generator, 7)
    assert largest_difference([reference.softmax(x.tolist())], torch.softmax(x, 0)[None]) < BOUND


@pytest.mark.parametrize("masked", [False, True])
def test_scaled_dot_product_attention(generator, masked):
    """Also told apart from attention without sqrt(d_k), by more than 1e-3."""
    Q, K, V = uniform(generator, 3, 5), uniform(generator, 7, 5), uniform(generator, 7, 2)
    M = torch.rand(3, 7, generator=generator) > 0.4 if masked else None
    expected = torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=M)[0]
    M = None if M is None else M.numpy()
    assert M is None or (not M.all() and M.any(axis=1).all())
    computed = reference.scaled_dot_product_attention(Q.numpy(), K.numpy(), V.numpy(), M)
    assert largest_difference(computed, expected) < BOUND
    unscaled = reference.scaled_dot_product_attention((5**0.5 * Q).numpy(), K.numpy(), V.numpy(), M)
    assert largest_difference(unscaled, expected) > 1e-3


def test_layer_norm(generator):
    """Also told apart from the epsilon 1e-6."""
    X, gamma, beta = uniform(generator, 3, 7), uniform(generator, 7), uniform(generator, 7)
    Y = torch.nn.functional.layer_norm(X, (7,), gamma, beta, eps=1e-5)
    weights = arrays(gamma=gamma, beta=beta)
    assert largest_difference(reference.layer_norm(X.numpy(), **weights), Y) < BOUND
    assert largest_difference(reference.layer_norm(X.numpy(), **weights, eps=1e-6), Y) > 1e-6


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_feed_forward(generator, activation):
    """Also told apart from the other activation."""
    layer = randomised(torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, **OPTIONS), generator)
    X = uniform(generator, 2, D_MODEL)
    act = getattr(torch.nn.functional, activation)
    Y = layer.linear2(act(layer.linear1(X)))
    weights = feed_forward_weights(layer)
    assert largest_difference(reference.feed_forward(X.numpy(), **weights, activation=activation), Y) < BOUND
    (other,) = {"relu", "gelu"} - {activation}
    assert largest_difference(reference.feed_forward(X.numpy(), **weights, activation=other), Y) > 1e-3


def test_multi_head_attention(generator):
    """Query, key and value differ, so no two can be exchanged; told apart from W^O with its heads in another order."""
    module = randomised(torch.nn.MultiheadAttention(D_MODEL, HEADS, **OPTIONS), generator)
    X_Q, X_K, X_V = (uniform(generator, n, D_MODEL) for n in (2, 7, 7))
    mask = [[True, False, True, True, False, True, True], [False, True, True, False, True, True, False]]
    Y = module(X_Q[None], X_K[None], X_V[None], attn_mask=hidden(mask), need_weights=False)[0][0]
    weights = attention_weights(module)
    inputs = X_Q.numpy(), X_K.numpy(), X_V.numpy()
    assert largest_difference(reference.multi_head_attention(*inputs, **weights, M=mask), Y) < BOUND
    corrupted = weights | {"W_O": weights["W_O"].reshape(HEADS, D_K, D_MODEL)[::-1].reshape(D_MODEL, D_MODEL)}
    assert largest_difference(reference.multi_head_attention(*inputs, **corrupted, M=mask), Y) > 1e-3


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer(generator, activation):
    """Also told apart from the layer with the norms first."""
    layer = torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, activation=activation, **OPTIONS)
    randomised(layer, generator)
    X = uniform(generator, 3, D_MODEL)
    mask = reference.padding_mask([True, False, True], 3)
    weights = encoder_layer_weights(layer)
    Z = layer(X[None], src_mask=hidden(mask))[0]
    computed = reference.encoder_layer(X.numpy(), **weights, M=mask, activation=activation)
    assert largest_difference(computed, Z) < BOUND
    layer.norm_first = True
    assert largest_difference(computed, layer(X[None], src_mask=hidden(mask))[0]) > 1e-3


def test_decoder_layer(generator):
    """Also told apart from the layer without its memory mask."""
    layer = randomised(torch.nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF, **OPTIONS), generator)
    X, memory = uniform(generator, 3, D_MODEL), uniform(generator, 2, D_MODEL)
    M, M_memory = reference.causal_mask(3), [[True, False], [True, True], [False, True]]
    Z = layer(X[None], memory[None], tgt_mask=hidden(M), memory_mask=hidden(M_memory))[0]
    computed = reference.decoder_layer(
        X.numpy(), memory.numpy(), **decoder_layer_weights(layer), M=M, M_memory=M_memory
    )
    assert largest_difference(computed, Z) < BOUND
    assert largest_difference(computed, layer(X[None], memory[None], tgt_mask=hidden(M))[0]) > 1e-3


def test_encoder_and_decoder_stacks(generator):
    """torch.nn.Transformer ends each stack with a norm: `final_norm`; without it the stacks differ."""
    model = randomised(torch.nn.Transformer(D_MODEL, HEADS, 2, 2, D_FF, **OPTIONS), generator)
    X, Y = uniform(generator, 2, D_MODEL), uniform(generator, 3, D_MODEL)
    Z = model(X[None], Y[None], tgt_mask=hidden(reference.causal_mask(3)))[0]
    encoder = {"layers": [encoder_layer_weights(layer) for layer in model.encoder.layers]}
    decoder = {"layers": [decoder_layer_weights(layer) for layer in model.decoder.layers]}
    encoder_norm, decoder_norm = norm_weights(model.encoder.norm), norm_weights(model.decoder.norm)
    memory = reference.encoder(X.numpy(), **encoder, final_norm=encoder_norm)
    M = reference.causal_mask(3)
    computed = reference.decoder(Y.numpy(), memory, **decoder, final_norm=decoder_norm, M=M)
    assert largest_difference(computed, Z) < BOUND
    assert largest_difference(reference.decoder(Y.numpy(), memory, **decoder, M=M), Z) > 1e-3


def test_the_whole_model(generator):
    """Tokens, scaled embedding, positions, padding, stacks, tied output; told apart from the model without padding."""
    model = randomised(torch.nn.Transformer(D_MODEL, HEADS, 2, 2, D_FF, **OPTIONS), generator)
    E = uniform(generator, VOCABULARY, D_MODEL)
    source, target = torch.tensor([1, 10, 0, 4, 4]), torch.tensor([3, 7, 2])
    source_mask = torch.tensor([True, True, False, True, True])

    def rows(tokens):
        frequencies = 10000.0 ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
        angles = torch.arange(len(tokens))[:, None] * frequencies
        return D_MODEL**0.5 * E[tokens] + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)

    Z = model(
        rows(source)[None],
        rows(target)[None],
        tgt_mask=hidden(reference.causal_mask(3)),
        src_key_padding_mask=~source_mask[None],
        memory_key_padding_mask=~source_mask[None],
    )[0]
    weights = {
        "embedding": arrays(E=E),
        "encoder": {
            "layers": [encoder_layer_weights(layer) for layer in model.encoder.layers],
            "final_norm": norm_weights(model.encoder.norm),
        },
        "decoder": {
            "layers": [decoder_layer_weights(layer) for layer in model.decoder.layers],
            "final_norm": norm_weights(model.decoder.norm),
        },
    }
    inputs = source.numpy(), target.numpy()
    logits, probabilities = reference.transformer(*inputs, **weights, source_mask=source_mask.numpy())
    assert largest_difference(logits, Z @ E.T) < BOUND
    assert largest_difference(probabilities, torch.softmax(Z @ E.T, -1)) < BOUND
    unmasked, _ = reference.transformer(*inputs, **weights)
    assert largest_difference(unmasked, Z @ E.T) > 1e-3
