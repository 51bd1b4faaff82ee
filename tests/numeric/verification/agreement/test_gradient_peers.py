"""Derived gradients against PyTorch's automatic ones with the same weights in float64: they differ by less than 1e-10.

PyTorch stores a linear layer as y = x A^T + b and stacks the projections of all heads: its gradients are read in our
arrangement by the functions that read its weights, applied to a module that holds gradients in their place.
"""

import copy

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.functions import gelu, relu
from derivations.language.differentiation.reverse import gradient
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.cross_entropy import cross_entropy
from derivations.softmax.softmax import softmax
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer_loss
from numeric import compile_layer
from numeric.verification.agreement.gradients import gradients_by_name, leaves
from tests.numeric.verification.agreement.torch_weights import (
    array,
    attention_weights,
    decoder_layer_weights,
    decoder_weights,
    encoder_layer_weights,
    encoder_weights,
    linear_weights,
    network_weights,
    norm_weights,
)

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")]

BOUND = 1e-10
BATCH, QUERIES, KEYS = 2, 7, 5
D_MODEL, HEADS, D_K, D_FF, LAYERS, VOCABULARY = 22, 2, 11, 13, 2, 17
OPTIONS = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}
functional = torch.nn.functional


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(11)


def normal(rng, *shape):
    return torch.randn(*shape, generator=rng, dtype=torch.float64).requires_grad_()


def shaken(module, rng):
    """A PyTorch module with every parameter moved by a random number."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.1 * torch.randn(*parameter.shape, generator=rng, dtype=torch.float64)
    return module


def with_gradients(module):
    """A copy of a module whose parameters are the gradients by them."""
    holder = copy.deepcopy(module)
    with torch.no_grad():
        for parameter, of in zip(holder.parameters(), module.parameters(), strict=True):
            parameter.copy_(of.grad)
    return holder


def worst(found, expected):
    """The largest difference of nested gradients, those of one array counted in units of its largest entry or of 1."""
    found, expected = dict(leaves(found)), dict(leaves(expected))
    assert found.keys() == expected.keys()
    differences = []
    for path, dx in found.items():
        assert dx.shape == expected[path].shape, path
        differences.append(np.abs(dx - expected[path]).max() / max(1, np.abs(expected[path]).max()))
    return max(differences)


def agrees(layer, output, inputs, weights=None, module=None, given=()):
    """Compare all gradients of a layer with those of a tensor that PyTorch computed from the same numbers.

    `inputs` are the tensors differentiated by, in the order of the layer's real inputs; `given` the masks and tokens by
    name; `weights` reads the weights, or the gradients, of a module in our arrangement.
    """
    cotangent = torch.randn(output.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    output.backward(cotangent)
    real = [variable.name for variable in layer.inputs if variable.kind == "real"]
    arguments = dict(zip(real, map(array, inputs), strict=True)) | dict(given)
    arguments |= weights(module) if module is not None else {}
    differentiated = gradient(layer)
    arguments[differentiated.inputs[-1].name] = np.asarray(array(cotangent))
    found = gradients_by_name(layer, compile_layer(differentiated)(**arguments))
    expected = {name: array(tensor.grad) for name, tensor in zip(real, inputs, strict=True)}
    expected |= weights(with_gradients(module)) if module is not None else {}
    difference = worst(found, expected)
    assert difference < BOUND
    for path, dx in leaves(found):  # the comparison sees a change of one part in 10^9 in each array
        if np.abs(dx).max() > 1e-6:
            changed = {**dict(leaves(found)), path: dx + 1e-9 * max(1, np.abs(dx).max())}
            assert worst_of_paths(changed, expected) > BOUND
    return found


def worst_of_paths(found, expected):
    expected = dict(leaves(expected))
    return max(np.abs(dx - expected[path]).max() / max(1, np.abs(expected[path]).max()) for path, dx in found.items())


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding(keys):
    """The visible keys of a batch: all of the first item, all but the last two of the second."""
    visible = torch.ones(BATCH, keys, dtype=torch.bool)
    visible[1, -2:] = False
    return visible


def rows(visible, queries):
    return array(visible[:, None, :].expand(-1, queries, -1))


# Layers


def test_softmax(rng):
    x = normal(rng, BATCH, KEYS)
    agrees(softmax(), torch.softmax(x, -1), [x])


def test_linear(rng):
    module, X = shaken(torch.nn.Linear(KEYS, D_FF, dtype=torch.float64), rng), normal(rng, BATCH, QUERIES, KEYS)
    agrees(linear(), module(X), [X], linear_weights, module)


def test_layer_norm(rng):
    module = shaken(torch.nn.LayerNorm(D_MODEL, dtype=torch.float64), rng)
    X = normal(rng, BATCH, QUERIES, D_MODEL)
    agrees(layer_norm(), module(X), [X], norm_weights, module)


@pytest.mark.parametrize("masked", [False, True])
def test_scaled_dot_product_attention(rng, masked):
    inputs = [normal(rng, BATCH, *shape) for shape in ((QUERIES, 3), (KEYS, 3), (KEYS, 2))]
    M = torch.rand(BATCH, QUERIES, KEYS, generator=rng) < 0.6
    M[..., 0] = True
    output = functional.scaled_dot_product_attention(*inputs, attn_mask=M if masked else None)
    layer = scaled_dot_product_attention(masked=masked)
    agrees(layer, output, inputs, given={"M": array(M)} if masked else {})


def test_causal_attention(rng):
    inputs = [normal(rng, BATCH, QUERIES, size) for size in (3, 3, 2)]
    output = functional.scaled_dot_product_attention(*inputs, is_causal=True)
    given = {"M": array(causal(QUERIES))}
    agrees(scaled_dot_product_attention(masked=True), output, inputs, given=given)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_multi_head_attention(rng, biases, masked):
    module = shaken(torch.nn.MultiheadAttention(D_MODEL, HEADS, bias=biases, **OPTIONS), rng)
    inputs = [normal(rng, BATCH, size, D_MODEL) for size in (QUERIES, KEYS, KEYS)]
    hidden = ~padding(KEYS) if masked else None
    output, _ = module(*inputs, key_padding_mask=hidden, need_weights=False)
    given = {"M": rows(padding(KEYS), QUERIES)} if masked else {}
    layer = multi_head_attention(masked=masked, biases=biases)
    agrees(layer, output, inputs, attention_weights, module, given)


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_feed_forward(rng, name, activation):
    layer = torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, dim_feedforward=D_FF, **OPTIONS)
    module = torch.nn.ModuleDict({"linear1": shaken(layer.linear1, rng), "linear2": shaken(layer.linear2, rng)})
    X = normal(rng, BATCH, QUERIES, D_MODEL)
    output = module["linear2"](getattr(functional, name)(module["linear1"](X)))
    agrees(feed_forward(activation), output, [X], network_weights, Named(module))


class Named(torch.nn.Module):
    """The two linear layers of a feed-forward network, as attributes."""

    def __init__(self, modules):
        super().__init__()
        self.linear1, self.linear2 = modules["linear1"], modules["linear2"]


def test_embedding(rng):
    module = shaken(torch.nn.Embedding(VOCABULARY, D_MODEL, dtype=torch.float64), rng)
    tokens = torch.randint(VOCABULARY, (BATCH, QUERIES), generator=rng)
    output = module(tokens) * D_MODEL**0.5
    given = {"tokens": array(tokens)}
    agrees(embedding(), output, [], lambda m: {"E": array(m.weight)}, module, given)


def test_cross_entropy(rng):
    """PyTorch's mean is over the rows of one item; the items of a batch are compared one by one, then together."""
    X = normal(rng, QUERIES, VOCABULARY)
    tokens = torch.randint(VOCABULARY, (QUERIES,), generator=rng)
    given = {"tokens": array(tokens)}
    agrees(cross_entropy(), functional.cross_entropy(X, tokens), [X], given=given)
    X = normal(rng, BATCH, QUERIES, VOCABULARY)
    tokens = torch.randint(VOCABULARY, (BATCH, QUERIES), generator=rng)
    losses = functional.cross_entropy(X.transpose(1, 2), tokens, reduction="none").mean(dim=1)
    agrees(cross_entropy(), losses, [X], given={"tokens": array(tokens)})


def test_soft_cross_entropy(rng):
    X, T = normal(rng, QUERIES, VOCABULARY), normal(rng, QUERIES, VOCABULARY)
    agrees(cross_entropy(soft=True), functional.cross_entropy(X, T), [X, T])


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_encoder_layer(rng, name, activation):
    options = {"dim_feedforward": D_FF, "activation": name, **OPTIONS}
    module = shaken(torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, **options), rng)
    X, visible = normal(rng, BATCH, QUERIES, D_MODEL), padding(QUERIES)
    output = module(X, src_mask=~causal(QUERIES), src_key_padding_mask=~visible)
    given = {"M": array(torch.logical_and(causal(QUERIES), visible[:, None, :]))}
    layer = encoder_layer(masked=True, biases=True, activation=activation)
    agrees(layer, output, [X], encoder_layer_weights, module, given)


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_decoder_layer(rng, name, activation):
    options = {"dim_feedforward": D_FF, "activation": name, **OPTIONS}
    module = shaken(torch.nn.TransformerDecoderLayer(D_MODEL, HEADS, **options), rng)
    X, memory, visible = normal(rng, BATCH, QUERIES, D_MODEL), normal(rng, BATCH, KEYS, D_MODEL), padding(KEYS)
    output = module(X, memory, tgt_mask=~causal(QUERIES), memory_key_padding_mask=~visible)
    given = {"M": array(causal(QUERIES)), "M_memory": rows(visible, QUERIES)}
    layer = decoder_layer(masked_memory=True, biases=True, activation=activation)
    agrees(layer, output, [X, memory], decoder_layer_weights, module, given)


@pytest.mark.parametrize("final_norm", [True, False])
def test_stacks(rng, final_norm):
    options = {"dim_feedforward": D_FF, **OPTIONS}
    norms = [torch.nn.LayerNorm(D_MODEL, dtype=torch.float64) if final_norm else None for _ in range(2)]
    single = torch.nn.TransformerEncoderLayer(D_MODEL, HEADS, **options)
    module = shaken(torch.nn.TransformerEncoder(single, LAYERS, norms[0], enable_nested_tensor=False), rng)
    X = normal(rng, BATCH, QUERIES, D_MODEL)
    layer = encoder(biases=True, final_norm=final_norm)
    agrees(layer, module(X), [X], encoder_weights, module)
    single = torch.nn.TransformerDecoderLayer(D_MODEL, HEADS, **options)
    module = shaken(torch.nn.TransformerDecoder(single, LAYERS + 1, norms[1]), rng)
    X, memory = normal(rng, BATCH, QUERIES, D_MODEL), normal(rng, BATCH, KEYS, D_MODEL)
    output = module(X, memory, tgt_mask=~causal(QUERIES))
    given = {"M": array(causal(QUERIES))}
    layer = decoder(biases=True, final_norm=final_norm)
    agrees(layer, output, [X, memory], decoder_weights, module, given)


# The whole encoder-decoder with its loss


class Model(torch.nn.Module):
    """PyTorch's Transformer between a tied embedding and a cross-entropy."""

    def __init__(self):
        super().__init__()
        sizes = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "dim_feedforward": D_FF}
        self.embedding = torch.nn.Embedding(VOCABULARY, D_MODEL, dtype=torch.float64)
        self.stacks = torch.nn.Transformer(D_MODEL, HEADS, **sizes, **OPTIONS)

    def forward(self, source, target, labels, source_visible, target_visible):
        X, Y = (self.embedding(tokens) * D_MODEL**0.5 + positions(tokens.shape[1]) for tokens in (source, target))
        masks = {"src_key_padding_mask": ~source_visible, "memory_key_padding_mask": ~source_visible}
        seen = causal(target.shape[1])
        Z = self.stacks(X, Y, tgt_mask=~seen, tgt_key_padding_mask=~target_visible, **masks)
        logits = Z @ self.embedding.weight.T
        return functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none").mean(dim=1)

    def weights(self):
        stacks = {"encoder": encoder_weights(self.stacks.encoder), "decoder": decoder_weights(self.stacks.decoder)}
        return {"E": array(self.embedding.weight), **stacks}


def positions(n):
    angle = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(n, D_MODEL)


def test_the_whole_transformer_with_its_loss(rng):
    module = shaken(Model(), rng)
    source, target, labels = (
        torch.randint(VOCABULARY, (BATCH, size), generator=rng) for size in (KEYS, QUERIES, QUERIES)
    )
    seen = {"source_visible": padding(KEYS), "target_visible": padding(QUERIES)}
    losses = module(source, target, labels, **seen)
    given = {"source": source, "target": target, "labels": labels, **seen}
    layer = transformer_loss(padded=True, biases=True, final_norm=True)
    arrays = {name: array(each) for name, each in given.items()}
    np.testing.assert_allclose(compile_layer(layer)(**arrays, **module.weights()), array(losses), rtol=1e-13)
    agrees(layer, losses, [], Model.weights, module, arrays)


# The second gradient


def second_agrees(layer, function, inputs, weights=(), given=()):
    """Compare gradient(gradient(layer)) with PyTorch's; `function` takes inputs and weights."""
    leaf = [*inputs, *weights]
    output = function(*leaf)
    generator = torch.Generator().manual_seed(5)
    dY = torch.randn(output.shape, generator=generator, dtype=torch.float64).requires_grad_()
    first = torch.autograd.grad(output, leaf, dY, create_graph=True)
    cotangents = [torch.randn(each.shape, generator=generator, dtype=torch.float64) for each in first]
    order = [*inputs, dY, *weights]
    expected = torch.autograd.grad(first, order, cotangents, allow_unused=True)
    twice = gradient(gradient(layer))
    names = [variable.name for variable in twice.inputs if variable.kind == "real"]
    tensors = dict(zip(names, [*inputs, dY, *cotangents], strict=True))
    tensors |= dict(zip((p.name for p in twice.parameters), weights, strict=True))
    found = compile_layer(twice)(**{name: array(each) for name, each in tensors.items()}, **dict(given))
    wanted = [np.zeros(x.shape) if dx is None else array(dx) for x, dx in zip(order, expected, strict=True)]
    difference = worst(list(found), wanted)
    assert difference < BOUND
    assert any(np.abs(dx).max() > 1e-2 for dx in wanted)
    for number in range(len(wanted)):
        changed = [dx + 1e-9 * max(1, np.abs(dx).max()) * (k == number) for k, dx in enumerate(found)]
        assert worst(changed, wanted) > BOUND


def test_the_second_gradient_of_softmax(rng):
    second_agrees(softmax(), lambda x: torch.softmax(x, -1), [normal(rng, BATCH, KEYS)])


@pytest.mark.parametrize(("name", "activation"), [("relu", relu), ("gelu", gelu)])
def test_the_second_gradient_of_the_feed_forward_network(rng, name, activation):
    weights = [normal(rng, *shape) for shape in ((D_MODEL, D_FF), (D_FF,), (D_FF, D_MODEL), (D_MODEL,))]

    def network(X, W_1, b_1, W_2, b_2):
        return getattr(functional, name)(X @ W_1 + b_1) @ W_2 + b_2

    X = normal(rng, BATCH, QUERIES, D_MODEL)
    second_agrees(feed_forward(activation), network, [X], weights)


@pytest.mark.parametrize("masked", [False, True])
def test_the_second_gradient_of_attention(rng, masked):
    inputs = [normal(rng, BATCH, *shape) for shape in ((QUERIES, 3), (KEYS, 3), (KEYS, 2))]
    M = torch.rand(BATCH, QUERIES, KEYS, generator=rng) < 0.6
    M[..., 0] = True

    def attention(Q, K, V):
        scores = Q @ K.transpose(-1, -2) / 3**0.5
        return torch.softmax(scores.masked_fill(~M, -torch.inf) if masked else scores, -1) @ V

    given = {"M": array(M)} if masked else {}
    second_agrees(scaled_dot_product_attention(masked=masked), attention, inputs, (), given)
