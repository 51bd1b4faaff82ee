"""The proof of the gradient of a layer, from the claims of the module `claims`.

Definition   `gradient(layer)` is right if each of its outputs dX is the derivative of <dY, Y> by X
Result       `prove_gradient(layer)` is a derivation that says so, and whose every step is proved
"""

from __future__ import annotations

from derivations.language.arrays.recurrence import Recurrence
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.differentiation.reverse import required_gradient
from derivations.language.layers.layer import Layer, require_layer
from derivations.language.results.derivation import Derivation, FalseStepError

__all__ = ["prove_gradient"]

UNFOLDED = 8  # equations; each further matrix product and function doubles the time of the whole


def prove_gradient(layer: Layer) -> Derivation:
    """Return a proved derivation which states that `gradient(layer)` is the derivative of the layer.

    Result       one claim for each real input and parameter, with everything unfolded; for a layer with parts or of
                 many equations, claims for each equation, to which the chain rule adds the rest. Parts are proved too,
                 each by itself; where a layer has no claim beside those of its parts, the last part's are returned
    Assumes      what the derivation lists, such as that a kink is avoided
    Raises       FalseStepError, naming the step, where one is refuted or not decided; ValueError for a layer without
                 real arrays; TypeError for an object that is not a layer
    """
    required_gradient(require_layer(layer))
    by_law = any(isinstance(each.value, Recurrence) and each.value.is_by_law for each in layer.equations)
    if not layer.parts and not by_law and len(layer.equations) <= UNFOLDED:  # a law alone cannot be unfolded
        whole = whole_claims(layer)
        if whole.evidence.level in ("proved", "refuted"):
            return _proved(whole)
    parts = [prove_gradient(applied.layer) for applied in layer.parts.values() if _is_real(applied.layer)]
    own = local_claims(layer)
    return _proved(own) if own.claims or not parts else parts[-1]


def _is_real(layer: Layer) -> bool:
    return bool(layer.parts) or any(v.kind == "real" for v in (*layer.inputs, *layer.parameters))


def _proved(found: Derivation) -> Derivation:
    if found.evidence.level != "proved":
        raise FalseStepError(found, found.evidence)
    return found
