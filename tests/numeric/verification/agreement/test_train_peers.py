"""Training against PyTorch: after 20 steps of Adam in float64 on the same batches, the same parameters to 1e-8.

Twice: the default model, written out in tensors, and `torch.nn.Transformer`, which has biases and final norms. The
moments of Adam, the gradients and the loss are PyTorch's own.
"""

import math
from functools import lru_cache

import numpy as np
import pytest

from numeric import Transformer
from numeric.models.optimiser import Adam, leaves, warm_up
from numeric.models.tasks import Task

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")]

BOUND, STEPS, BATCH = 1e-8, 20, 5
RATE, EPSILON = 1e-2, 1e-8  # the gradient by b_K is 0 (softmax.shift_invariance): epsilon keeps its rounding small
TASK = Task("reverse", alphabet=11, shortest=2, longest=7)
SIZES = {"d_model": 12, "h": 3, "d_ff": 17, "N": 2, "vocab": TASK.vocab}
functional = torch.nn.functional


def batches():
    return [example for _, example in zip(range(STEPS), TASK.batches(BATCH, seed=3), strict=False)]


def tensors(nested, make):
    """The same nesting with every array replaced."""
    if isinstance(nested, dict):
        return {name: tensors(value, make) for name, value in nested.items()}
    return [tensors(value, make) for value in nested] if isinstance(nested, list) else make(nested)


def leaf(array):
    return torch.tensor(array, requires_grad=True)


def embedded(E, tokens):
    """Rows of the table times sqrt(d_model), and sines and cosines in turn: section 3.5, entry by entry."""
    n, d_model = tokens.shape[-1], E.shape[-1]
    angles = [[pos / 10000 ** (2 * pair / d_model) for pair in range(d_model // 2)] for pos in range(n)]
    code = [[wave(angle) for angle in row for wave in (math.sin, math.cos)] for row in angles]
    return E[torch.tensor(tokens.copy())] * d_model**0.5 + torch.tensor(code, dtype=E.dtype)


def attention(w, x, memory, causal=False):
    Q, K, V = (
        torch.einsum("bnd,hdk->bhnk", rows, w[f"W_{name}"])
        for rows, name in zip((x, memory, memory), "QKV", strict=True)
    )
    heads = functional.scaled_dot_product_attention(Q, K, V, is_causal=causal)
    return heads.transpose(1, 2).flatten(2) @ w["W_O"]


def norm(w, x):
    return functional.layer_norm(x, x.shape[-1:], w["gamma"], w["beta"])


def network(w, x):
    return functional.linear(functional.relu(functional.linear(x, w["W_1"].T, w["b_1"])), w["W_2"].T, w["b_2"])


def default_logits(w, source, target):
    memory = embedded(w["E"], source)
    for own in w["encoder"]["layers"]:
        memory = norm(own["attention_norm"], memory + attention(own["attention"], memory, memory))
        memory = norm(own["feed_forward_norm"], memory + network(own["feed_forward"], memory))
    Z = embedded(w["E"], target)
    for own in w["decoder"]["layers"]:
        Z = norm(own["self_attention_norm"], Z + attention(own["self_attention"], Z, Z, causal=True))
        Z = norm(own["cross_attention_norm"], Z + attention(own["cross_attention"], Z, memory))
        Z = norm(own["feed_forward_norm"], Z + network(own["feed_forward"], Z))
    return Z @ w["E"].T


def attention_weights(module):
    h, d_k = module.num_heads, module.head_dim
    stacked = module.in_proj_weight.detach().reshape(3, h, d_k, module.embed_dim).transpose(-1, -2)
    biases = module.in_proj_bias.detach().reshape(3, h, d_k)
    weights = {f"W_{name}": stacked[place] for place, name in enumerate("QKV")}
    weights |= {"W_O": module.out_proj.weight.detach().T}
    weights |= {f"b_{name}": biases[place] for place, name in enumerate("QKV")}
    return weights | {"b_O": module.out_proj.bias.detach()}


def norm_weights(module):
    return {"gamma": module.weight.detach(), "beta": module.bias.detach()}


def network_weights(layer):
    return {
        "W_1": layer.linear1.weight.detach().T,
        "b_1": layer.linear1.bias.detach(),
        "W_2": layer.linear2.weight.detach().T,
        "b_2": layer.linear2.bias.detach(),
    }


def module_weights(E, module):
    """What a `torch.nn.Transformer` and an embedding hold, as our weights are nested."""
    encoding = [
        {
            "attention": attention_weights(layer.self_attn),
            "attention_norm": norm_weights(layer.norm1),
            "feed_forward": network_weights(layer),
            "feed_forward_norm": norm_weights(layer.norm2),
        }
        for layer in module.encoder.layers
    ]
    decoding = [
        {
            "self_attention": attention_weights(layer.self_attn),
            "self_attention_norm": norm_weights(layer.norm1),
            "cross_attention": attention_weights(layer.multihead_attn),
            "cross_attention_norm": norm_weights(layer.norm2),
            "feed_forward": network_weights(layer),
            "feed_forward_norm": norm_weights(layer.norm3),
        }
        for layer in module.decoder.layers
    ]
    nested = {
        "E": E.detach(),
        "encoder": {"layers": encoding, "final_norm": norm_weights(module.encoder.norm)},
        "decoder": {"layers": decoding, "final_norm": norm_weights(module.decoder.norm)},
    }
    return tensors(nested, lambda tensor: tensor.numpy().copy())


def trained_by_torch(parameters, logits, schedule):
    """Twenty steps of PyTorch's Adam on the parameters, in place."""
    optimiser = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.98), eps=EPSILON)
    for step, (source, target, labels) in enumerate(batches(), 1):
        for group in optimiser.param_groups:
            group["lr"] = RATE * schedule(step)
        optimiser.zero_grad()
        scores = logits(source, target).flatten(0, 1)
        functional.cross_entropy(scores, torch.tensor(labels.copy()).flatten()).backward()
        optimiser.step()


def trained_by_us(model, schedule, spoil=lambda gradients, step: None):
    optimiser = Adam(RATE, 0.9, 0.98, EPSILON)
    for step, example in enumerate(batches(), 1):
        gradients = model.gradient(*example, check=step == 1)
        spoil(gradients, step)
        optimiser.step(model.weights, gradients, schedule(step))
    return dict(leaves(model.weights))


def worst(ours, theirs):
    assert ours.keys() == theirs.keys()
    assert all(array.shape == theirs[path].shape for path, array in ours.items())
    return max(float(np.abs(array - theirs[path]).max()) for path, array in ours.items())


def constant(step):
    return 1.0


def schedule(step):
    return warm_up(step, 7, SIZES["d_model"])


def default_model():
    return Transformer(**SIZES, dtype=np.float64, seed=2)


@lru_cache
def reached_by_torch(factor):
    """The parameters that PyTorch reaches from the weights of the default model."""
    theirs = tensors(default_model().weights, leaf)
    trained_by_torch([parameter for _, parameter in leaves(theirs)], lambda *t: default_logits(theirs, *t), factor)
    return {path: parameter.detach().numpy() for path, parameter in leaves(theirs)}


@pytest.mark.parametrize("factor", [constant, schedule])
def test_the_default_model(factor):
    model, theirs = default_model(), reached_by_torch(factor)
    before = {path: array.copy() for path, array in leaves(model.weights)}
    ours = trained_by_us(model, factor)
    assert min(np.abs(ours[path] - before[path]).max() for path in ours) > 1e-2 * factor(STEPS)  # every weight moved
    assert worst(ours, theirs) < BOUND


def test_the_transformer_of_pytorch():
    """The table, its scale and the positions around it are written here; the stacks and norms are PyTorch's."""
    torch.manual_seed(5)
    module = torch.nn.Transformer(
        SIZES["d_model"], SIZES["h"], SIZES["N"], SIZES["N"], SIZES["d_ff"], 0.0, batch_first=True, dtype=torch.float64
    )
    E = torch.randn(SIZES["vocab"], SIZES["d_model"], dtype=torch.float64, requires_grad=True)
    model = Transformer(**SIZES, biases=True, final_norm=True, weights=module_weights(E, module))

    def logits(source, target):
        hidden = torch.ones(target.shape[-1], target.shape[-1], dtype=torch.bool).triu(1)
        return module(embedded(E, source), embedded(E, target), tgt_mask=hidden) @ E.T

    trained_by_torch([E, *module.parameters()], logits, constant)
    theirs = dict(leaves(module_weights(E, module)))
    assert worst(trained_by_us(model, constant), theirs) < BOUND


@pytest.mark.parametrize("weight", ["W_K", "gamma", "b_2"])
def test_a_wrong_sign_is_noticed(weight):
    """The check is checked: the gradient of one weight of one layer has its sign flipped."""
    model, theirs = default_model(), reached_by_torch(constant)

    def flip(gradients, step):
        layer = gradients["decoder"]["layers"][1]
        part = {"W_K": "cross_attention", "gamma": "self_attention_norm", "b_2": "feed_forward"}[weight]
        layer[part][weight] *= -1

    assert worst(trained_by_us(model, constant, flip), theirs) > 1e-2


def test_one_wrong_step_is_noticed():
    """A gradient that is off by a tenth in one of the twenty steps is seen in the parameters."""
    model, theirs = default_model(), reached_by_torch(constant)

    def spoil(gradients, step):
        if step == STEPS // 2:
            gradients["E"] *= 1.1

    assert worst(trained_by_us(model, constant, spoil), theirs) > 1e-5
