"""The layers from their scalar definitions: loops at 50 digits, slow, independent, trusted.

Definition   every entry of every layer is computed separately, by the formula of the paper that defines it, in mpmath
Shapes       nested lists of numbers (or any nested sequences, such as NumPy arrays) in, nested lists of mpf out;
             no batch axes: the caller loops
Assumes      finite numbers; each is read exactly as its binary value (0.1 is the float64 0.1), eps included
Source       Vaswani et al. (2017), "Attention Is All You Need"; Ba et al. (2016), "Layer Normalization";
             Hendrycks & Gimpel (2016), "Gaussian Error Linear Units"

This implementation shares no code with the equations: nothing here is vectorised, shifted, fused or derived.
Results have 50 digits; compare them under `mpmath.mp.workdps(50)`, since mpmath rounds an operation to the precision
that is active where it is written. Under a higher working precision the layers use that precision.

>>> from numeric.verification.reference import layer_norm
>>> layer_norm([[1.0, 2.0, 3.0, 4.0, 5.0]], gamma=[1] * 5, beta=[0] * 5, eps=2)      # the variance is 2
[[mpf('-1.0'), mpf('-0.5'), mpf('0.0'), mpf('0.5'), mpf('1.0')]]
"""

from numeric.verification.reference.attention import (
    attention_weights,
    causal_mask,
    multi_head_attention,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)
from numeric.verification.reference.attention_variants import (
    alibi_attention,
    disentangled_attention,
    grouped_query_attention,
    latent_attention,
    lightning_indexer,
    linear_attention,
    sparse_latent_attention,
)
from numeric.verification.reference.delta import gated_delta_net, gated_delta_rule, kimi_delta_attention
from numeric.verification.reference.experts import mixture_of_experts
from numeric.verification.reference.lightning import decaying_heads, lightning_attention
from numeric.verification.reference.loss import cross_entropy, soft_cross_entropy
from numeric.verification.reference.model import transformer
from numeric.verification.reference.position_wise import (
    augmented_residual,
    batch_norm,
    batch_norm_inference,
    feed_forward,
    gated_feed_forward,
    layer_norm,
    linear,
    low_rank_adaptation,
    rms_norm,
    sparse_gated_feed_forward,
)
from numeric.verification.reference.recurrences import (
    causal_convolution,
    gated_recurrence,
    head_states,
    linear_recurrence,
    selective_state_space,
    selective_states,
    short_convolution,
    state_space_heads,
)
from numeric.verification.reference.sequence import (
    audio_stem,
    class_token,
    convolution,
    grouped_convolution,
    learned_positions,
    recurrent_step,
    relative_position_bias,
    rotary_embedding,
)
from numeric.verification.reference.stacks import decoder, decoder_layer, encoder, encoder_layer, pre_norm_layer
from numeric.verification.reference.streams import (
    corrected_streams,
    joined_streams,
    new_streams,
    predicted_streams,
    stream_router,
)
from numeric.verification.reference.time_mixing import channel_mixing, time_mixing
from numeric.verification.reference.tokens import embedding, per_layer_embedding, positional_encoding

__all__ = [
    "alibi_attention",
    "attention_weights",
    "audio_stem",
    "augmented_residual",
    "batch_norm",
    "batch_norm_inference",
    "causal_convolution",
    "causal_mask",
    "channel_mixing",
    "class_token",
    "convolution",
    "corrected_streams",
    "cross_entropy",
    "decaying_heads",
    "decoder",
    "decoder_layer",
    "disentangled_attention",
    "embedding",
    "encoder",
    "encoder_layer",
    "feed_forward",
    "gated_delta_net",
    "gated_delta_rule",
    "gated_feed_forward",
    "gated_recurrence",
    "grouped_convolution",
    "grouped_query_attention",
    "head_states",
    "joined_streams",
    "kimi_delta_attention",
    "latent_attention",
    "layer_norm",
    "learned_positions",
    "lightning_attention",
    "lightning_indexer",
    "linear",
    "linear_attention",
    "linear_recurrence",
    "low_rank_adaptation",
    "mixture_of_experts",
    "multi_head_attention",
    "new_streams",
    "padding_mask",
    "per_layer_embedding",
    "positional_encoding",
    "pre_norm_layer",
    "predicted_streams",
    "recurrent_step",
    "relative_position_bias",
    "rms_norm",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "selective_state_space",
    "selective_states",
    "short_convolution",
    "soft_cross_entropy",
    "softmax",
    "sparse_gated_feed_forward",
    "sparse_latent_attention",
    "state_space_heads",
    "stream_router",
    "time_mixing",
    "transformer",
]
