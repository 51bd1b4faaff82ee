"""Normalisation: layer norm, root mean square norm and batch norm, their Jacobians and symmetries."""

from derivations.normalisation.batch_norm import batch_norm, batch_norm_inference
from derivations.normalisation.layer_norm import layer_norm, standardise
from derivations.normalisation.rms_norm import rms_norm

__all__ = [
    "batch_norm",
    "batch_norm_inference",
    "layer_norm",
    "rms_norm",
    "standardise",
]
