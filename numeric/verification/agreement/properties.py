"""Properties that the catalogue proves, checked on the compiled functions.

Result       rows of a softmax, of attention weights and of the model's probabilities sum to 1
             (softmax.sums_to_one, attention.weights_sum_to_one); a hidden key has weight 0, and in a row without
             visible keys all weights are 0; the gradients for a key that no row sees, for its value, and for a query
             that sees no key are 0
Units        units in the last place of 1; the bound is that of the roundings of one softmax
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from derivations.attention.attention import scaled_dot_product_attention
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Layer
from derivations.softmax.softmax import softmax
from derivations.transformer.transformer import transformer
from numeric.codegen.compile import compile_layer
from numeric.verification.agreement.cases import DTYPES, SIZES, Case, case
from numeric.verification.agreement.report import Check
from numeric.verification.agreement.rounding import rounding_bound

__all__ = ["hidden_gradients_check", "hidden_keys_check", "property_checks", "row_sums_check"]

WEIGHTS: dict[str, tuple[str, Callable[[], Layer]]] = {  # name of the weights: the case with the input, the layer
    "softmax": ("softmax", softmax),
    "attention weights": ("scaled_dot_product_attention", lambda: scaled_dot_product_attention().until("A")),
    "masked attention weights": (
        "masked_scaled_dot_product_attention", lambda: scaled_dot_product_attention(masked=True).until("A")),
    "probabilities of the next token": ("transformer", transformer),
}  # fmt: skip
HIDDEN = "masked attention weights"


def property_checks(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Check]:
    """Yield for every kind of weights the distance of its row sums from 1, and the largest hidden weight."""
    for what, (name, layer) in WEIGHTS.items():
        for chosen in sizes:
            for dtype in DTYPES:
                each = case(name, chosen, dtype, seed)
                weights = compile_layer(layer())(**each.arguments)
                if what != HIDDEN:
                    yield row_sums_check(what, weights)
                else:
                    yield row_sums_check(what, weights, each.inputs["M"].any(axis=-1))
                    yield hidden_keys_check(what, weights, each.inputs["M"])
                    yield hidden_gradients_check(each, seed=seed)


def row_sums_check(what: str, weights: Any, rows: Any = True) -> Check:
    """Return the largest distance of the row sums of weights from 1, over the rows with a visible key."""
    far = np.abs(weights.astype(np.float64).sum(axis=-1) - 1)
    error = float(np.max(far, where=np.broadcast_to(rows, far.shape), initial=0.0) / np.finfo(weights.dtype).eps)
    # a softmax over n keys rounds n + 3 times: see `rounding`
    bound = rounding_bound(weights.shape[-1] + 3)
    return Check(f"rows of {what} sum to 1", error, bound, f"ULP, {weights.dtype}, {weights.shape[-1]} columns")


def hidden_keys_check(what: str, weights: Any, visible: Any) -> Check:
    """Return the largest weight of a hidden key, which must be exactly 0."""
    largest = float(np.abs(weights).max(where=~visible, initial=0.0))
    return Check(f"{what} of hidden keys are 0", largest, 0.0, str(weights.dtype))


def hidden_gradients_check(case: Case, function: Callable[..., Any] | None = None, seed: int = 0) -> Check:
    """Return the largest gradient of queries that see no key, and of keys and values that no query sees: exactly 0.

    Definition   masked attention with its first row and its last key hidden; by default, the derived gradient
    """
    visible = case.inputs["M"].copy()
    visible[..., 0, :] = visible[..., -1] = False
    arguments = {**case.inputs, "M": visible}
    output = compile_layer(case.layer)(**arguments)
    dO = np.random.default_rng(seed).standard_normal(output.shape).astype(output.dtype)
    dQ, dK, dV = (function or compile_layer(gradient(case.layer)))(**arguments, dO=dO)
    seeing, seen = visible.any(axis=-1), visible.any(axis=-2)
    largest = max(float(np.abs(dx[~rows]).max()) for dx, rows in ((dQ, seeing), (dK, seen), (dV, seen)))
    return Check("gradients by what no weight depends on are 0", largest, 0.0, str(output.dtype))
