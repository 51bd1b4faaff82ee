r"""Adam, and the learning rate of the Transformer: how gradients change weights.

Definition   m_t = beta_1 m_{t-1} + (1 - beta_1) g_t,   v_t = beta_2 v_{t-1} + (1 - beta_2) g_t^2,
             w_t = w_{t-1} - alpha_t (m_t / (1 - beta_1^t)) / (sqrt(v_t / (1 - beta_2^t)) + epsilon),   m_0 = v_0 = 0
             with warm-up, alpha_t = alpha d_model^(-1/2) min(t^(-1/2), t w^(-3/2)), w the number of warm-up steps
Shapes       m and v those of the weights, entry by entry
Assumes      t = 1, 2, ... counts the steps
Source       Kingma and Ba (2015), algorithm 1; Vaswani et al. (2017), section 5.3

>>> import numpy as np
>>> weights = {"w": np.array([1.0, 2.0])}
>>> Adam(rate=0.1).step(weights, {"w": np.array([0.5, -3.0])})
>>> weights["w"].round(6).tolist()
[0.9, 2.1]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from numeric.runtime.checks import InputError

__all__ = ["Adam", "leaves", "warm_up"]


def leaves(nested: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of nested weights in order, each with its path: `encoder.layers.0.attention.W_Q`."""
    if isinstance(nested, Mapping | Sequence):
        pairs = nested.items() if isinstance(nested, Mapping) else enumerate(nested)
        for name, value in pairs:
            yield from leaves(value, f"{path}.{name}" if path else str(name))
    else:
        yield path, nested


def warm_up(step: int, steps: int, d_model: int) -> float:
    """Return the factor of the learning rate at a step: it grows for `steps` steps, then falls as step^(-1/2).

    Definition   d_model^(-1/2) min(step^(-1/2), step steps^(-3/2))
    Assumes      step >= 1 and steps >= 1
    Source       Vaswani et al. (2017), section 5.3, equation 3
    """
    return float(d_model**-0.5 * min(step**-0.5, step * steps**-1.5))


@dataclass
class Adam:
    """Adam over nested weights, which it changes in place; its moments start at 0.

    Definition   as in the module, with a constant rate unless `step` receives a factor
    Source       Kingma and Ba (2015), algorithm 1, whose recommended values are the defaults
    Raises       InputError where a value is out of its range
    """

    rate: float = 1e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    steps: int = 0
    moments: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("rate", "epsilon"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise InputError(f"Adam: {name} must be a number > 0, not {value!r}")
        for name in ("beta_1", "beta_2"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InputError(f"Adam: {name} must be in [0, 1), not {value!r}")

    def step(self, weights: Any, gradients: Any, factor: float = 1.0) -> None:
        """Change the weights by one step; `factor` is the factor of a learning-rate schedule.

        Shapes       gradients are nested as the weights, with equal shapes
        Raises       InputError where the shapes differ, or where a gradient is not finite
        """
        pairs = _paired(weights, gradients)
        self.steps += 1
        # the bias correction of m is part of the step size; the correction of v divides its root below
        alpha = self.rate * factor / (1 - self.beta_1**self.steps)
        root = (1 - self.beta_2**self.steps) ** 0.5
        for path, w, g in pairs:
            m, v = self.moments.setdefault(path, (np.zeros_like(w), np.zeros_like(w)))
            # beta m + (1 - beta) g, in place
            m += (1 - self.beta_1) * (g - m)
            v += (1 - self.beta_2) * (g * g - v)
            w -= alpha * m / (np.sqrt(v) / root + self.epsilon)


def _paired(weights: Any, gradients: Any) -> list[tuple[str, Any, Any]]:
    of_weights, of_gradients = dict(leaves(weights)), dict(leaves(gradients))
    if of_weights.keys() != of_gradients.keys():
        path = min(of_weights.keys() ^ of_gradients.keys())
        which = "gradient" if path in of_weights else "weight"
        raise InputError(f"Adam: {path} has no {which}; nest the gradients as the weights are")
    for path, w in of_weights.items():
        g = of_gradients[path]
        if np.shape(g) != w.shape:
            raise InputError(f"Adam: the gradient of {path} has shape {np.shape(g)}, the weight has {w.shape}")
        if not np.isfinite(g).all():
            raise InputError(f"Adam: the gradient of {path} is not finite; lower the learning rate or warm up longer")
    return [(path, w, of_gradients[path]) for path, w in of_weights.items()]
