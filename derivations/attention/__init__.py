"""Attention: scores and weights, masks, heads, its symmetries, costs and other forms."""

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.disentangled import disentangled_attention
from derivations.attention.grouped_query import grouped_query_attention, query_group
from derivations.attention.kernels import linear_attention
from derivations.attention.latent import SCALE, d_r, latent_attention, latent_head, r_KV, r_Q
from derivations.attention.lightning_indexer import lightning_indexer
from derivations.attention.multi_head import multi_head_attention

__all__ = [
    "SCALE",
    "d_r",
    "disentangled_attention",
    "grouped_query_attention",
    "latent_attention",
    "latent_head",
    "lightning_indexer",
    "linear_attention",
    "multi_head_attention",
    "query_group",
    "r_KV",
    "r_Q",
    "scaled_dot_product_attention",
]
