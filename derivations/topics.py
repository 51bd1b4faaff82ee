"""The topics of the results in the order in which they build on one another, and the words by which people seek them.

An alias is a word or a phrase that users type, such as "kv cache", with the parts of ids that it stands for. The ids
of results and layers are found by the same parts, so that a new result with "rotary" in its id is found by "rope".
"""

from collections.abc import Mapping, Sequence

__all__ = ["ALIASES", "TOPICS", "aliases_of", "nearest_are"]

TOPICS: Mapping[str, str] = {
    "softmax": "entries, Jacobian, limits; log-sum-exp, cross-entropy",
    "dot_product": "mean and variance; why scores are divided by sqrt(d_k)",
    "attention": "scores, weights, masks, symmetries, kernels, tiles",
    "multi_head": "splitting and joining; grouped queries, latent keys",
    "linear": "affine maps, their Jacobian, parameters and FLOPs",
    "convolution": "windows, receptive field, parameters",
    "recurrent": "one step, its Jacobian, parameters",
    "recurrence": "linear recurrences, state spaces, delta rules, short convolutions",
    "low_rank_adaptation": "weights plus a product of two narrow matrices",
    "activation": "sigmoid, softplus, SiLU, GELU, ReLU: slopes, limits",
    "feed_forward": "the network of every position; gates, symmetries",
    "layer_norm": "mean, variance, Jacobian; before or after a branch",
    "rms_norm": "mean square, Jacobian; beside layer norm",
    "scale_norm": "rows divided by their length, times one number",
    "batch_norm": "columns standardised; training and inference",
    "residual": "sums with the input, and their Jacobian",
    "dropout": "mean, variance, the mask",
    "positional_encoding": "sines and cosines, rotary embedding, ALiBi",
    "embedding": "rows of a table, tied output",
    "initialisation": "how large things are when weights are random",
    "encoder": "two sub-layers; parameters, FLOPs, gradient",
    "decoder": "three sub-layers; causality",
    "transformer": "the whole model and its loss",
    "gradient": "one rule for each operation of the language",
    "mixture_of_experts": "routing, shared experts, costs",
    "patches": "images and audio as rows; class token",
    "relative_position_bias": "a learned number for each bucket of distances",
    "parameters": "of layers and of named models",
    "flops": "of layers and of named models",
    "memory": "saved residuals, caches, the state of training",
}

ALIASES: Mapping[str, tuple[str, ...]] = {  # what people type: parts of the ids that are meant
    "adapter peft lora": ("low_rank_adaptation",),
    "autoregressive": ("causal",),
    "backpropagation backward pass vjp": ("gradient",),
    "batchnorm bn": ("batch_norm",),
    "bmm matmul gemm": ("gradient.product", "linear.composition"),
    "checkpointing rematerialisation": ("recomput", "memory.checkpoints"),
    "cls": ("class_token",),
    "cnn conv1d": ("convolution",),
    "deepseek mla": ("latent",),
    "elman rnn": ("recurrent",),
    "mamba ssm s4 s6": ("recurrence.", "selective", "state_space"),
    "deltanet kda gdn": ("gated_delta", "kimi_delta", "recurrence.delta"),
    "griffin hawk rg-lru": ("gated_recurrence",),
    "ffn mlp": ("feed_forward",),
    "flash attention flashattention": ("tiling", "tile_step", "online_", "merged_outputs", "deferred_normalisation"),
    "fully connected dense": ("linear.", "layer:linear"),
    "gaussian error linear unit": ("gelu",),
    "glorot": ("xavier",),
    "glu swiglu geglu reglu": ("gated", "swiglu"),
    "gqa": ("grouped_query",),
    "hessian curvature": ("hessian", "second_derivative"),
    "kaiming": ("initialisation.he",),
    "kv cache": ("key_value_cache", "_cache", "cache_", "decoding", "grouped_query", "multi_query", "causal_prefix"),
    "layernorm ln": ("layer_norm",),
    "logsumexp lse": ("log_sum_exp",),
    "loss nll negative log likelihood": ("cross_entropy", "transformer_loss"),
    "mha": ("multi_head.", "multi_head_attention"),
    "moe router expert": ("mixture",),
    "mqa": ("multi_query",),
    "numerical stability max trick": ("shift_invariance", "online_", "log_sum_exp_bounds"),
    "performer kernel attention": ("linear_attention", "kernel_smoother"),
    "position interpolation ntk yarn": ("rotary_interpolation",),
    "rmsnorm": ("rms_norm",),
    "rope rotary position embedding": ("rotary", "gradient.rotation"),
    "sdpa": ("attention.definition", "scaled_dot_product_attention"),
    "sinusoidal": ("positional_encoding.definition", "layer:positional_encoding"),
    "skip connection resnet": ("residual",),
    "swish": ("silu", "swish"),
    "t5 bias": ("relative_position_bias", "relative_bias"),
    "tensor parallelism megatron": ("parallel",),
    "tied embeddings weight sharing": ("weight_tying", "tied_"),
    "vision transformer vit": ("patch", "class_token"),
    "whisper": ("audio_stem", "stem_costs"),
    "zero fsdp optimizer state": ("partitioned_state", "training_state"),
}


def aliases_of(name: str) -> list[str]:
    """Return the aliases of a result or layer. A pattern in `ALIASES` that begins with `layer:` matches layers only."""
    sought = name if "." in name else f"layer:{name}"
    return [alias for alias, parts in ALIASES.items() if any(part in sought for part in parts)]


def nearest_are(names: Sequence[str]) -> str:
    """Return a phrase that suggests the nearest names in place of one that does not exist."""
    return f"the nearest {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
