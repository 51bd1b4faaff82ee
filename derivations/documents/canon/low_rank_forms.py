"""Canonical right sides of low-rank adaptation: the adapted matrix, and the layer that applies it."""

from __future__ import annotations

from functools import cache

from derivations.documents.canon.forms import Form, result
from derivations.language.arrays.expression import Scaled
from derivations.linear.low_rank_adaptation import A, B, W, X, adapted
from derivations.symbols import scalar

__all__ = ["low_rank_forms"]

LAYER, MERGED = "low_rank_adaptation.definition", "low_rank_adaptation.merges"
RANK = "the product goes through the rank: A has as many columns as B has rows"
ONE = (RANK, "the factor in front of the product is 1")


@cache
def low_rank_forms() -> tuple[Form, ...]:
    """The matrix and the layer, scaled by alpha / r, scaled by one letter, and unscaled."""
    layer, letter = result(LAYER).claims[0].steps[-1].expression, scalar("s", positive=True)
    scale = next(iter(adapted.atoms(Scaled))).args[0]
    change, changed = A @ B, X @ A @ B
    return (
        Form(MERGED, adapted, assumed=(RANK,)),
        Form(LAYER, layer, rows=("X",), assumed=(RANK,)),
        Form(LAYER, X @ W + scale * changed, rows=("X",), assumed=(RANK,)),
        Form(MERGED, W + letter * change, assumed=(RANK,)),
        Form(LAYER, X @ W + letter * changed, rows=("X",), assumed=(RANK,)),
        Form(MERGED, W + change, assumed=ONE),
        Form(LAYER, X @ W + changed, rows=("X",), assumed=ONE),
    )
