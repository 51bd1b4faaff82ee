"""What the accuracy of layers is measured on: each layer at sizes, with ordinary arguments and with hard ones.

Definition   a situation is a layer, what is done to random arguments, and how exact results come from the loops of
             `numeric.verification.reference` at 50 digits
Shapes       no batch axes; rows are long enough for sums to differ by their order
Assumes      the arguments are float32 numbers, read exactly by the loops
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp

from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import RowLogSumExp, gelu, row_softmax
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, n
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.runtime.structure import identifier
from numeric.verification import reference
from numeric.verification.agreement.cases import SCALARS, drawn, rows_to_choose_from
from numeric.verification.agreement.cases import subjects as catalogue
from numeric.verification.agreement.loops import rows_of
from numeric.verification.reference.position_wise import gelu as exact_gelu

__all__ = ["Situation", "situations"]

Change = Callable[[dict[str, Any], np.random.Generator], dict[str, Any]]
SIZES = {
    "n": 11, "m": 13, "h": 3, "N": 2, "d": 768, "d_in": 67, "d_out": 5, "d_model": 48, "d_k": 16, "d_v": 16,
    "d_ff": 96, "vocab": 29, "g": 2, "r": 3, "w": 3, "w_1": 5, "pixels": 67,
}  # fmt: skip
OWN_SIZES: Mapping[str, Mapping[str, int]] = {  # where a layer is cheap, or lives on long rows
    "softmax": {"n": 1009},
    "masked_softmax": {"d": 1009},
    "log_sum_exp": {"d": 1009},
    "gelu": {"d": 1009},
    "cross_entropy": {"vocab": 1009},
    "soft_cross_entropy": {"vocab": 1009},
    "linear": {"d_in": 769},
    "scaled_dot_product_attention": {"m": 127, "d_k": 64},
    "masked_scaled_dot_product_attention": {"m": 127, "d_k": 64},
    "alibi_attention": {"n": 31},
    "linear_attention": {"m": 127},
    "rms_norm": {"d": 127},
    "batch_norm": {"n": 509, "d": 11},
    "positional_encoding": {"n": 257, "d_model": 64},
    "rotary_embedding": {"n": 257},
    "rotary_embedding_halves": {"n": 257},
    "recurrent_step": {"d": 67},
}


@dataclass(frozen=True)
class Situation:
    """A layer with a kind of arguments."""

    layer_name: str
    name: str
    layer: Layer
    expected: Callable[..., Any]
    change: Change = field(default=lambda arguments, rng: arguments)

    def arguments(self, seed: int) -> dict[str, Any]:
        """Return the arguments of the compiled layer, the same ones for the same seed."""
        rng = np.random.default_rng([seed, *self.layer_name.encode()])
        sizes = SIZES | OWN_SIZES.get(self.layer_name, {})
        own = {size.name: sizes[size.name] for size in self.layer.sizes}
        compiled = compile_layer(self.layer)
        given, rows = dict[str, Any](), rows_to_choose_from(self.layer, own)
        for variable in self.layer.inputs:
            numbered = self.layer.at(**own).shapes[variable.name]
            shape = tuple(int(total(along)) for along in numbered)
            given[identifier(variable.name)] = drawn(variable.kind, shape, rows.get(variable, 0), rng, np.float32)
            if variable.kind == "boolean":
                given[identifier(variable.name)][..., 0] = True
        given |= _shaken(initialise(self.layer, own, seed), rng)
        given |= {size.name: own[size.name] for size in compiled.sizes}
        given |= {scalar.name: SCALARS[scalar.name] for scalar in self.layer.scalars if scalar.name in SCALARS}
        return self.change(given, rng)

    def exact(self, arguments: Mapping[str, Any]) -> Any:
        """Return the exact output, as an array of mpf."""
        given = dict(arguments)
        if "epsilon" in given:
            given["eps"] = given.pop("epsilon")
        numbers = {name: given.pop(name) for name in [*given] if isinstance(given[name], int | float)}
        with mp.workdps(50):
            return np.array(rows_of(self.expected, given, numbers), dtype=object)


def _shaken(weights: Any, rng: np.random.Generator) -> Any:
    """Return weights with every entry moved, so that no bias is 0 and no scale 1."""
    if isinstance(weights, dict):
        return {name: _shaken(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [_shaken(value, rng) for value in weights]
    return (weights + 0.1 * rng.standard_normal(weights.shape)).astype(weights.dtype)


# Layers that the catalogue holds inside others


def _one_equation(name: str, inputs: Any, value: Any) -> Layer:
    let = Equations()
    return Layer(name, inputs, (), let, let("Y")(value))


def _own_layers() -> dict[str, tuple[Layer, Callable[..., Any]]]:
    X, x, M = array("X", n, d), array("x", n, d), mask_array("M", n, d)
    return {
        "masked_softmax": (
            _one_equation("masked_softmax", (x, M), row_softmax(x, M)),
            lambda x, M: [reference.softmax(row, visible) for row, visible in zip(x, M, strict=True)],
        ),
        "log_sum_exp": (
            _one_equation("log_sum_exp", (X,), RowLogSumExp(X)),
            lambda X: [[mp.log(mp.fsum(mp.exp(float(v)) for v in row))] for row in X],
        ),
        "gelu": (
            _one_equation("gelu", (X,), gelu(X)),
            lambda X: [[exact_gelu(mp.mpf(float(v))) for v in row] for row in X],
        ),
    }


# What is done to arguments


def _times(factor: float, *names: str) -> Change:
    return lambda given, _: given | {name: given[name] * np.float32(factor) for name in names}


def _scores(size: float) -> Change:
    """Queries so long that the scores reach a size."""

    def change(given: dict[str, Any], _: Any) -> dict[str, Any]:
        scores = given["Q"] @ given["K"].T / given["Q"].shape[-1] ** 0.5
        return given | {"Q": (given["Q"] * (size / abs(scores).max())).astype(np.float32)}

    return change


def _visible(count: int) -> Change:
    def change(given: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        M = np.zeros_like(given["M"])
        for row in M if count else ():
            row[rng.integers(M.shape[-1], size=count)] = True
        return given | {"M": M}

    return change


def _first_row_hidden(given: dict[str, Any], _: Any) -> dict[str, Any]:
    M = given["M"].copy()
    M[0] = False
    return given | {"M": M}


def _offset(given: dict[str, Any], _: Any) -> dict[str, Any]:
    return given | {"X": (given["X"] * 0.1 + 1e4).astype(np.float32)}


def _constant(given: dict[str, Any], _: Any) -> dict[str, Any]:
    return given | {"X": np.broadcast_to(given["X"][:, :1], given["X"].shape).copy()}


def _small_weights(given: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    x = rng.uniform(-103, -88, given["x"].shape).astype(np.float32)  # exp is subnormal there
    x[..., 3] = 0
    return given | {"x": x}


def _epsilon(value: float) -> Change:
    return lambda given, _: given | {"epsilon": value}


def _then(*changes: Change) -> Change:
    def change(given: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        for each in changes:
            given = each(given, rng)
        return given

    return change


HARD: Mapping[str, Mapping[str, Change]] = {
    "softmax": {
        "logits up to 1e4": _times(3e3, "x"), "weights below the normal numbers": _small_weights,
        "subnormal entries": _times(1e-40, "x"),
    },
    "masked_softmax": {
        "logits up to 1e4": _times(3e3, "x"), "one visible key": _visible(1),
        "no visible key in a row": _first_row_hidden,
    },
    "log_sum_exp": {"logits up to 1e4": _times(3e3, "X"), "subnormal entries": _times(1e-40, "X")},
    "cross_entropy": {"logits up to 1e4": _times(3e3, "X")},
    "soft_cross_entropy": {"logits up to 1e4": _times(3e3, "X")},
    "gelu": {"both tails": _times(4, "X"), "subnormal entries": _times(1e-40, "X")},
    "scaled_dot_product_attention": {
        "logits up to 1e4": _scores(1e4), "logits up to 100": _scores(100), "subnormal values": _times(1e-40, "V"),
    },
    "masked_scaled_dot_product_attention": {
        "logits up to 1e4": _scores(1e4), "one visible key": _visible(1), "no visible key in a row": _first_row_hidden,
    },
    "masked_multi_head_attention": {"one visible key": _visible(1), "no visible key in a row": _first_row_hidden},
    "layer_norm": {
        "mean 1e4, variance 1e-2": _offset, "subnormal entries": _times(1e-40, "X"), "constant rows": _constant,
        "epsilon 1e-12": _epsilon(1e-12), "epsilon 1e4": _epsilon(1e4),
        "variance below epsilon 1e-12": _then(_times(1e-7, "X"), _epsilon(1e-12)),
    },
    "rms_norm": {
        "mean 1e4, variance 1e-2": _offset, "subnormal entries": _times(1e-40, "X"), "epsilon 1e-12": _epsilon(1e-12),
        "entries of 1e16": _times(1e16, "X"),
    },
    "batch_norm": {"mean 1e4, variance 1e-2": _offset},
    "encoder_layer": {"mean 1e4, variance 1e-2": _offset, "epsilon 1e-12": _epsilon(1e-12)},
    "feed_forward_gelu": {"both tails": _times(4, "X")},
    "linear": {"subnormal entries": _times(1e-40, "X")},
}  # fmt: skip


@cache
def situations(names: tuple[str, ...]) -> tuple[Situation, ...]:
    """Return the situations of the layers named."""
    layers = {**catalogue(), **_own_layers()}
    found = []
    for name in names:
        layer, expected = layers[name]
        found.append(Situation(name, "ordinary", layer, expected))
        found += [Situation(name, what, layer, expected, change) for what, change in HARD.get(name, {}).items()]
    return tuple(found)
