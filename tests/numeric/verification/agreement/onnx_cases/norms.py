"""Norms of the ONNX cases: layers of the package, or the same equations with other axes in the place of rows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from sympy import Float, sqrt

from derivations.language.arrays.expression import Array, ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, named, square
from derivations.language.layers.layer import Equations, Layer
from derivations.normalisation.batch_norm import batch_norm, batch_norm_inference
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d, n, scalar
from tests.numeric.verification.agreement.onnx_cases.case import Given, Written

__all__ = ["NORMS"]

x, mean, variance = scalar("x"), scalar("m"), scalar("v")


def epsilon(given: Given) -> Float:
    """Return the attribute epsilon."""
    return Float(given.number("epsilon", 1e-5))


def _flat(value: np.ndarray, axis: int) -> np.ndarray:
    """Return an array whose axes from one on are one axis."""
    return value.reshape(*value.shape[:axis], -1)


def _rows(value: np.ndarray) -> np.ndarray:
    return value.reshape(1, -1) if value.ndim == 1 else value


def of_layers(given: Given) -> Written:
    """Write layer normalisation with its statistics, or root mean square normalisation; trailing axes are one."""
    names = list(given.inputs)
    X = given.real(names[0])
    axis = int(given.number("axis", -1)) % X.ndim
    is_layer = given.operator == "LayerNormalization"
    whole = layer_norm(epsilon(given)) if is_layer else rms_norm(epsilon(given))
    weights = {name: given.real(of).reshape(-1) for name, of in zip(("gamma", "beta"), names[1:], strict=False)}
    wanted = {name: given.real(name) for name in given.outputs}
    if is_layer:
        let = Equations()
        inverse = let("inv")(named("inverse", 1 / sqrt(variance + epsilon(given)), variance)(array("sigma2", n)))
        outputs = (*whole.outputs, array("mu", n), inverse)[: len(wanted)]
        whole = Layer(whole.name, whole.inputs, whole.parameters, (*whole.equations, *let), outputs)
    laid = [_rows(_flat(value, axis)) if number == 0 else value.reshape(_rows(_flat(X, axis)).shape[:-1])
            for number, value in enumerate(wanted.values())]  # fmt: skip
    return Written(whole, [_rows(_flat(X, axis))], laid, weights)


def of_batches(given: Given) -> Written:
    """Write batch normalisation: with fixed statistics, or with those of the batch and the running ones."""
    names = list(given.inputs)

    def laid(value: np.ndarray) -> np.ndarray:
        return value if value.ndim == 1 else np.moveaxis(value, 1, -1).reshape(-1, value.shape[1])

    weights = {name: given.real(of) for name, of in zip(("gamma", "beta", "m", "v"), names[1:], strict=True)}
    wanted = [laid(given.real(name)) for name in given.outputs]
    if not given.attributes.get("training_mode", 0):
        return Written(batch_norm_inference(epsilon(given)), [laid(given.real(names[0]))], wanted, weights)
    whole, momentum = batch_norm(epsilon(given)), Float(given.number("momentum", 0.9))
    old = (array("m", d), array("v", d))
    let = Equations()
    running = [
        let(f"running_{before.name}")(before * momentum + now * (1 - momentum))
        for before, now in zip(old, (array("mu", d), array("sigma2", d)), strict=True)
    ]
    layer = Layer(
        whole.name, whole.inputs, (*whole.parameters, *old), (*whole.equations, *let), (whole.output, *running)
    )
    return Written(layer, [laid(given.real(names[0]))], wanted, weights)


def of_groups(given: Given) -> Written:
    """Write normalisation over all entries of a group of channels; with as many groups as channels, of an instance."""
    X, scale, shift = map(given.real, given.inputs)
    groups = int(given.number("num_groups", X.shape[1]))
    rows = X.shape[1] // groups
    shape = (X.shape[0], groups, rows, prod(X.shape[2:]))
    whole, gamma, beta = array("X", n, d), array("gamma", n), array("beta", n)
    let = Equations()
    mu = let("mu")(RowMean(RowMean(whole)))
    centred = let("X_c")(named("less", x - mean, x, mean)(whole, mu))
    sigma2 = let("sigma2")(RowMean(RowMean(square(centred))))
    normed = let("X_hat")(named("standardise", x / sqrt(variance + epsilon(given)), x, variance)(centred, sigma2))
    Y = let("Y")(Hadamard(ColumnBroadcast(gamma, d), normed) + ColumnBroadcast(beta, d))
    inputs = [X.reshape(shape), scale.reshape(groups, rows), shift.reshape(groups, rows)]
    (wanted,) = map(given.real, given.outputs)
    return Written(Layer("group_norm", (whole, gamma, beta), (), let, Y), inputs, [wanted.reshape(shape)])


def of_means(given: Given) -> Written:
    """Write the normalisation of each channel to mean 0 and variance 1 over batch and places."""
    axes = tuple(given.attributes.get("axes", (0, 2, 3)))
    kept = [k for k in range(given.real(next(iter(given.inputs))).ndim) if k not in axes]

    def laid(name: str) -> np.ndarray:
        value = np.transpose(given.real(name), (*kept, *axes))
        return value.reshape(-1, prod(value.shape[len(kept) :]))

    X: Array = array("X", n, d)
    let = Equations()
    centred = let("X_c")(X - ColumnBroadcast(RowMean(X), d))
    share = named("share", x / (sqrt(variance) + Float(1e-9)), x, variance)
    Y = let("Y")(share(centred, ColumnBroadcast(RowMean(square(centred)), d)))
    return Written(
        Layer("mean_variance_norm", (X,), (), let, Y), [*map(laid, given.inputs)], [*map(laid, given.outputs)]
    )


NORMS: dict[str, Callable[[Given], Written]] = {
    "LayerNormalization": of_layers,
    "RMSNormalization": of_layers,
    "BatchNormalization": of_batches,
    "InstanceNormalization": of_groups,
    "GroupNormalization": of_groups,
    "MeanVarianceNormalization": of_means,
}
