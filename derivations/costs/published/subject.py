"""The subject that published formulas are compared with: a model with named costs.

Definition   a subject is a decoder with its sizes; each cost is computed from its equations. `norms`, `biases`, tables
             and matrices are parameters; `projections`, `context`, `network`, `logits` are matrix products of one
             forward pass; `look_ups` are the products that a convention may count for reading rows of tables
Units        parameters; FLOPs of one text of n positions, one multiply-add being 2; bytes
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Integer, expand

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import Attention, Model
from derivations.costs.key_value_caches import key_value_cache
from derivations.language.counting.convention import Convention
from derivations.language.counting.costs import (
    count_flops,
    count_parameters,
    count_training_flops,
    flops_by_part,
    weight_shapes,
)
from derivations.language.counting.operations import Flops, entries
from derivations.language.layers.layer import Layer

__all__ = ["Subject"]

NORMS = ("norm", "norm_after", "inner_norms")  # endings of the names of parts that normalise
MATRICES = ("layers.self_attention_weights", "layers.ffn_weights")


@dataclass(frozen=True)
class Subject:
    """The costs of a model with a decoder, as expressions in its sizes."""

    model: Model

    @cached_property
    def layer(self) -> Layer:
        """The equations of the model."""
        return build(self.model.architecture)

    @property
    def attention(self) -> Attention:
        """The attention of its first layer."""
        stack = self.model.architecture.decoder
        if stack is None:
            raise ValueError(f"{self.model.name}: published formulas are about decoders; this model has none")
        attention = stack.runs[0].blocks[0].attention
        if not isinstance(attention, Attention):
            raise ValueError(f"{self.model.name}: published formulas are about attention; its first layer has none")
        return attention

    @property
    def layers(self) -> Expr:
        """The number of layers."""
        stack = self.model.architecture.decoder
        return sum((run.count * len(run.blocks) for run in stack.runs), Integer(0)) if stack else Integer(0)

    @property
    def heads(self) -> Expr:
        """The number of heads in all groups together."""
        return self.attention.heads * (self.attention.groups or 1)

    @property
    def key_value_heads(self) -> Expr:
        """The number of heads with separate keys and values."""
        return self.attention.groups or self.attention.heads

    # --- parameters ---

    @cached_property
    def components(self) -> dict[str, Expr]:
        """The number of parameters of every component."""
        return parameters_by_component(self.layer)

    @property
    def parameters(self) -> Expr:
        """The number of all parameters."""
        return count_parameters(self.layer)

    @property
    def matrices(self) -> Expr:
        """The number of weights in the matrices of all layers."""
        return self._sum(MATRICES)

    @property
    def token_table(self) -> Expr:
        """The number of entries of the table of tokens."""
        return self._sum(("token_embedding",))

    @property
    def position_table(self) -> Expr:
        """The number of entries of the table of positions, if it is learned."""
        return self._sum(("position_embedding",))

    @property
    def looked_up(self) -> Expr:
        """The number of entries of tables that no product reads: positions, and tokens of an untied head."""
        tied = self.model.architecture.head.tied
        return expand(self.position_table + (Integer(0) if tied else self.token_table))

    @cached_property
    def norms(self) -> Expr:
        """The parameters of the norms."""
        return self._weights(norm=True)

    @cached_property
    def biases(self) -> Expr:
        """The biases of the matrices."""
        return self._weights(norm=False)

    @property
    def final_norm(self) -> Expr:
        """The parameters of the norm after the last layer."""
        return self._sum(("final_norm",))

    def weights(self, name: str) -> Expr:
        """Return the number of weights of all parts under a name, such as "feed_forward.b_2"."""
        found = (k * entries(shape) for path, (shape, k) in weight_shapes(self.layer).items() if path.endswith(name))
        return expand(sum(found, Integer(0)))

    def _sum(self, names: tuple[str, ...]) -> Expr:
        return expand(sum((self.components.get(name, Integer(0)) for name in names), Integer(0)))

    def _weights(self, *, norm: bool) -> Expr:
        """Return the number of parameters of the norms if `norm`, else of the biases."""
        total = Integer(0)
        for path, (shape, copies) in weight_shapes(self.layer).items():
            owner, _, name = path.rpartition(".")
            of_norm = owner.endswith(NORMS)
            if of_norm == norm and (of_norm or name.startswith("b")):
                total += copies * entries(shape)
        return expand(total)

    # --- FLOPs of one text ---

    @cached_property
    def _parts(self) -> dict[str, Flops]:
        return flops_by_part(self.layer)

    def _products(self, ends: tuple[str, ...]) -> Expr:
        found = [flops.matmul for path, flops in self._parts.items() if path.split(".")[-1] in ends]
        return expand(sum(found, Integer(0)))

    @cached_property
    def forward(self) -> Expr:
        """The matrix products of a forward pass."""
        return count_flops(self.layer).matmul

    @cached_property
    def training(self) -> Expr:
        """The matrix products of a forward pass and its backward pass."""
        return count_training_flops(self.layer).matmul

    @property
    def logits(self) -> Expr:
        """The FLOPs of the product that computes the scores of all tokens."""
        return self._parts[""].matmul

    @property
    def network(self) -> Expr:
        """The products of the feed-forward networks."""
        return self._products(("feed_forward", "experts", "shared_experts"))

    @property
    def context(self) -> Expr:
        """The products of queries with keys and of weights with values, for all pairs of positions."""
        return self._products(("attention",))

    @property
    def projections(self) -> Expr:
        """The other products of the layers: those for queries, keys, values and the output of the attention."""
        return expand(self.forward - self.logits - self.network - self.context)

    @cached_property
    def visible_context(self) -> Expr:
        """The context products of only the pairs that the causal mask shows."""
        visible = count_flops(self.layer, 1, Convention(causal="visible")).matmul
        return expand(self.context - self.forward + visible)

    @property
    def diagonal(self) -> Expr:
        """Half of the FLOPs of each position with itself: visible pairs exceed half of all pairs by it."""
        return expand(self.visible_context - self.context / 2)

    @cached_property
    def softmax(self) -> Expr:
        """The operations of the softmax of the scores, five for each entry."""
        return count_flops(self.layer).softmax

    @cached_property
    def look_ups(self) -> Expr:
        """The FLOPs of the look-up of tokens as the product of a one-hot matrix with the table."""
        return expand(count_flops(self.layer, 1, Convention(lookups="counted")).matmul - self.forward)

    @property
    def sums_of_rows(self) -> Expr:
        """The additions that compute the input of the first layer."""
        return self._parts[""].elementwise

    # --- memory ---

    @property
    def cache(self) -> Expr:
        """The number of entries in the cache of keys and values for each position."""
        return key_value_cache(self.model)
