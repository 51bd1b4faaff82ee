"""One block of a model as a layer with symbolic sizes: the reference for code that implements the block.

Definition   block number k of the decoder, or of the encoder where there is no decoder, with its norms and positions
Shapes       X and the output (n, d_model), mask M (n, n) where `masked`, bias B (h, n, n) where scores have one
Source       that of the model
"""

from __future__ import annotations

from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.description import Model
from derivations.architectures.models import named_model
from derivations.language.layers.layer import Layer

__all__ = ["block_of"]


def block_of(model: Model | str, number: int = 0, *, masked: bool = False) -> Layer:
    """Return one block of a model with symbolic sizes.

    `model` may be the name of a built-in model.

    Raises       LookupError for an unknown name, IndexError where the model has no such block in its description
    """
    model = named_model(model) if isinstance(model, str) else model
    stack = model.architecture.decoder or model.architecture.encoder
    assert stack is not None
    block = stack.blocks[number]
    around = Around(block.cross_attention is not None, masked, stack.relative_bias is not None)
    return block_layer(block, around)
