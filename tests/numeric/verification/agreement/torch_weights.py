"""The weights of PyTorch's modules in the arrangement of our layers.

PyTorch stores a linear layer as y = x A^T + b and stacks the projections of all heads into one matrix whose row
i d_k + c is column c of head i.
"""

__all__ = [
    "array",
    "attention_weights",
    "decoder_layer_weights",
    "decoder_weights",
    "encoder_layer_weights",
    "encoder_weights",
    "linear_weights",
    "network_weights",
    "norm_weights",
]


def array(tensor):
    return tensor.detach().numpy()


def linear_weights(module):
    return {"W": array(module.weight.T), "b": array(module.bias)}


def attention_weights(module):
    h, d_k = module.num_heads, module.head_dim
    stacked = module.in_proj_weight.reshape(3, h, d_k, module.embed_dim).transpose(-1, -2)
    weights = {f"W_{name}": array(stacked[place]) for place, name in enumerate("QKV")}
    weights["W_O"] = array(module.out_proj.weight.T)
    if module.in_proj_bias is not None:
        biases = module.in_proj_bias.reshape(3, h, d_k)
        weights |= {f"b_{name}": array(biases[place]) for place, name in enumerate("QKV")}
        weights["b_O"] = array(module.out_proj.bias)
    return weights


def norm_weights(module):
    return {"gamma": array(module.weight), "beta": array(module.bias)}


def network_weights(layer):
    weights = {}
    for number, each in (("1", layer.linear1), ("2", layer.linear2)):
        weights |= {f"W_{number}": array(each.weight.T), f"b_{number}": array(each.bias)}
    return weights


def encoder_layer_weights(layer):
    return {
        "attention": attention_weights(layer.self_attn),
        "attention_norm": norm_weights(layer.norm1),
        "feed_forward": network_weights(layer),
        "feed_forward_norm": norm_weights(layer.norm2),
    }


def decoder_layer_weights(layer):
    return {
        "self_attention": attention_weights(layer.self_attn),
        "self_attention_norm": norm_weights(layer.norm1),
        "cross_attention": attention_weights(layer.multihead_attn),
        "cross_attention_norm": norm_weights(layer.norm2),
        "feed_forward": network_weights(layer),
        "feed_forward_norm": norm_weights(layer.norm3),
    }


def encoder_weights(module):
    final = {} if module.norm is None else {"final_norm": norm_weights(module.norm)}
    return {"layers": [encoder_layer_weights(layer) for layer in module.layers], **final}


def decoder_weights(module):
    final = {} if module.norm is None else {"final_norm": norm_weights(module.norm)}
    return {"layers": [decoder_layer_weights(layer) for layer in module.layers], **final}
