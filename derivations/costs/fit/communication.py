r"""The bytes that a rank sends to others in one step of training.

Definition   an all-reduce of x bytes over k ranks in a ring sends 2 x (k - 1) / k from each, an all-gather or a
             reduce-scatter half of that. Tensor parallel: one all-reduce of the rows for each sub-layer, forward and
             backward, which sequence parallel ranks split into a reduce-scatter and an all-gather. Data parallel: the
             gradients once a step; fully sharded, the weights twice for each micro-batch too. Pipeline: rows forward
             and their gradients backward. Experts: rows to the experts and back, forward and backward
Assumes      rings; the micro-batches of a step add up their gradients before these are sent
Units        bytes that one rank sends in one step
Source       Patarasuk and Yuan (2009); Shoeybi et al. (2019), section 3; Narayanan et al. (2021), section 3;
             Rajbhandari et al. (2020), section 7
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Integer, expand

from derivations.architectures.description import Block, Experts
from derivations.costs.fit.mesh import EXPERT, TENSOR, Mesh
from derivations.costs.parameters import equal
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import n, scalar, size

__all__ = ["data_bytes", "expert_bytes", "pipeline_bytes", "ring", "tensor_bytes"]

x, k = scalar("x", positive=True), size("k")
A_ROW = 2  # bytes of a number of the rows that are sent


def ring(sent: Expr, ranks: Expr) -> Expr:
    """Return the bytes that each rank sends in a ring all-reduce.

    Definition   2 (k - 1) messages of x / k bytes: k - 1 to add up a part at each rank, k - 1 to hand the sums round
    """
    return 2 * (ranks - 1) * (sent / ranks)


def tensor_bytes(rows: Expr, layers: Iterator[tuple[Block, Expr]], mesh: Mesh, again: bool) -> Expr:
    """Return the bytes that a tensor parallel rank sends for the sub-layers of a stage in one micro-batch.

    With `again` the layers are computed twice.
    """
    if mesh.tensor == 1:
        return Integer(0)
    passes = 3 if again else 2
    reductions = sum((count * _sub_layers(block) for block, count in layers), Integer(0))
    return passes * reductions * ring(A_ROW * rows, TENSOR)


def _sub_layers(block: Block) -> int:
    """Return the number of all-reduces in a block: one for each sub-layer, or one for two in parallel."""
    branches = 1 if block.order == "parallel" else 2
    return branches + (block.cross_attention is not None)


def expert_bytes(rows: Expr, layers: Iterator[tuple[Block, Expr]], mesh: Mesh) -> Expr:
    """Return the bytes that a rank sends for the experts of a stage in one micro-batch, with a balanced router.

    Definition   of the rows of a rank, each goes to `chosen` experts, (e - 1) / e of them on other ranks
    """
    if mesh.expert == 1:
        return Integer(0)
    chosen = sum(
        (count * block.feed_forward.chosen for block, count in layers if isinstance(block.feed_forward, Experts)),
        Integer(0),
    )
    return 4 * A_ROW * chosen * (rows / TENSOR) * (EXPERT - 1) / EXPERT


def pipeline_bytes(rows: Expr, mesh: Mesh) -> Expr:
    """Return the bytes that a rank of a middle stage sends in one micro-batch: rows and gradients."""
    if mesh.pipeline == 1:
        return Integer(0)
    return 2 * A_ROW * mesh.chunks * rows / (TENSOR if mesh.sequence else 1)


def data_bytes(gradients: Expr, weights: Expr, mesh: Mesh, ranks: Expr, micro_batches: Expr) -> Expr:
    """Return the bytes that a data parallel rank sends: gradients, and weights if these are sharded."""
    if mesh.sharded < 3:
        return ring(gradients, ranks)
    gathered = (ranks - 1) / ranks * weights
    return 2 * micro_batches * gathered + ring(gradients, ranks) / 2


@result(topic="memory", name="ring_all_reduce")
def ring_all_reduce() -> Derivation:
    """A sum over k ranks in a ring costs each rank less than twice the bytes of the array, for any number of ranks."""
    return derivation(
        "Each of $k$ ranks sends $2 x (k - 1) / k$ bytes for the sum of arrays of $x$ bytes, less than $2 x$",
        claim(ring(x, k), step("algebra", 2 * x * (k - 1) / k), step("bound", 2 * x, "<", 2 * x / k)),
        claim(ring(x, k), step("assumption", x), given=(equal(k, Integer(2)),)),
        source="Patarasuk and Yuan (2009), section 3",
    )


def rows_of(texts: Expr, width: Expr) -> Expr:
    """Return the number of entries in the rows of a micro-batch."""
    return expand(texts * n * width)
