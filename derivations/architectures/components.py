"""The weights of a model by component, read off its equations.

A component is the purpose of a weight: attention, feed-forward network, norms, embeddings, head. The table
`COMPONENTS` finds it from the names of the weight and of the parts that contain it. An unknown weight keeps its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Integer, expand

from derivations.architectures.description import Architecture, Experts, Stack
from derivations.language.counting.costs import weight_shapes
from derivations.language.counting.operations import entries
from derivations.language.layers.layer import Layer

__all__ = [
    "COMPONENTS",
    "active_parameters",
    "component",
    "experts_of",
    "parameters_by_component",
    "parameters_with_experts",
]

# the innermost known part names the component; {} becomes "weights" or "biases"
COMPONENTS: Mapping[str, str] = {
    "E": "token_embedding",
    "W_in": "embedding_projection",
    "W_out": "embedding_projection",
    "P": "position_embedding",
    "P_encoder": "position_embedding",
    "P_decoder": "position_embedding",
    "T": "cls_token_or_segment_embedding",
    "distillation_token": "cls_token_or_segment_embedding",
    "mask_token": "cls_token_or_segment_embedding",
    "registers": "cls_token_or_segment_embedding",
    "class_token": "cls_token_or_segment_embedding",
    "W_head": "lm_head_weights",
    "b_head": "lm_head_biases",
    "W_router": "layers.router_weights",
    "b_router": "layers.router_biases",
    "b_correction": "layers.router_biases",
    "sinks": "layers.attention_sinks",
    "W_shared_gate": "layers.ffn_shared_expert_gate",
    "stem": "patch_or_conv_stem",
    "positions": "position_embedding",
    "embedding_norm": "embedding_norm",
    "encoder_embedding_norm": "embedding_norm",
    "decoder_embedding_norm": "embedding_norm",
    "embedding_projection": "embedding_projection",
    "final_norm": "final_norm",
    "transform": "lm_head_{}",
    "transform_norm": "lm_head_norm",
    "projector": "projector_{}",
    "W_embedded": "projector_weights",
    "comparison": "comparison_{}",
    "pooler": "pooler_and_nsp",
    "pooler_norm": "pooler_and_nsp",
    "pooler_attention": "pooler_and_nsp",
    "pooler_network": "pooler_and_nsp",
    "probe": "pooler_and_nsp",
    "next_sentence": "pooler_and_nsp",
    "classifier": "classifier_{}",
    "relative_position_bias": "layers.relative_position_bias",
    "R": "layers.relative_position_bias",
    "distance_norm": "layers.relative_position_bias",
    "query_norm": "layers.attention_inner_norms",
    "key_norm": "layers.attention_inner_norms",
    "key_value_norm": "layers.attention_inner_norms",
    "self_attention": "layers.self_attention_{}",
    "cross_attention": "layers.cross_attention_{}",
    "mixer": "layers.mixer_{}",
    "channel_mixer": "layers.mixer_{}",
    **{f"{name}_norm": "layers.mixer_inner_norms" for name in "PBCG"},
    "feed_forward": "layers.ffn_{}",
    "shared_experts": "layers.ffn_shared_expert_{}",
    "experts": "layers.ffn_routed_expert_{}",
    "E_L": "layers.per_layer_embedding",
    "per_layer_input": "layers.per_layer_input_{}",
    "gamma_E": "layers.per_layer_input_norm",
    "per_layer_input_norm_after": "layers.norm_{}",
    "kappa": "layers.layer_scale",
    "stream_router": "layers.streams_{}",
    "stream_prediction": "layers.streams_{}",
    "stream_correction": "layers.streams_{}",
    "stream_scale": "layers.streams_scale",
    "unread_scale": "layers.streams_scale",
    "router_norm": "layers.norm_{}",
    "new_streams": "streams_projection",
    "joined_streams": "streams_projection",
    "residual_branch": "layers.residual_branch_{}",
    "branch_norm": "layers.norm_{}",
    "self_attention_scale": "layers.layer_scale",
    "feed_forward_scale": "layers.layer_scale",
    "self_attention_norm": "layers.norm_{}",
    "mixer_norm": "layers.norm_{}",
    "cross_attention_norm": "layers.norm_{}",
    "feed_forward_norm": "layers.norm_{}",
    "self_attention_norm_after": "layers.norm_{}",
    "feed_forward_norm_after": "layers.norm_{}",
}


def component(path: str) -> str:
    """Return the component of the weight at a dotted path, such as "decoder.layers.feed_forward.W_1".

    Those of a tower of pictures have its name before them.
    """
    if path.startswith("pictures."):
        return f"pictures.{component(path.removeprefix('pictures.'))}"
    kind = "biases" if path.rpartition(".")[2].startswith("b") else "weights"  # b, b_1, beta
    for name in reversed(path.split(".")):
        if name in COMPONENTS:
            return COMPONENTS[name].format(kind)
    return path


def parameters_by_component(layer: Layer) -> dict[str, Expr]:
    """Return the number of parameters of every component, by name in alphabetical order.

    Units        parameters; the values add up to `count_parameters(layer)`
    """
    counts: dict[str, Expr] = {}
    for path, (shape, copies) in weight_shapes(layer).items():
        name = component(path)
        counts[name] = expand(counts.get(name, Integer(0)) + copies * entries(shape))
    return dict(sorted(counts.items()))


def active_parameters(architecture: Architecture, layer: Layer) -> Expr:
    """Return the number of parameters that one token uses: of the routed experts only the chosen ones.

    Definition   all parameters, but of the weights of routed experts only those of the chosen number of experts;
                 embedding and head are counted
    Units        parameters
    """
    return parameters_with_experts(layer, {e.experts: e.chosen for e in experts_of(architecture)})


def parameters_with_experts(layer: Layer, used: Mapping[Expr, Expr]) -> Expr:
    """Return the number of parameters if only some experts count.

    `used` maps the size symbol of the experts to the number that counts.

    Units        parameters
    """
    total = Integer(0)
    for path, (shape, copies) in weight_shapes(layer).items():
        routed = component(path).startswith("layers.ffn_routed_expert")
        total += copies * (used[shape[0]] * entries(shape[1:]) if routed else entries(shape))
    return expand(total)


def experts_of(architecture: Architecture) -> tuple[Experts, ...]:
    """Return the mixtures of experts of an architecture."""
    stacks: tuple[Stack | None, ...] = (architecture.encoder, architecture.decoder)
    networks = (block.feed_forward for stack in stacks if stack for block in stack.blocks)
    return tuple(network for network in networks if isinstance(network, Experts))
