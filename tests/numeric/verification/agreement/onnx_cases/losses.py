"""Losses of the ONNX cases: the cross-entropy of the package, and the same of logarithms that are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.layers.layer import Equations, Layer
from derivations.softmax.cross_entropy import cross_entropy, negative_log_likelihood
from derivations.symbols import n, vocab
from tests.numeric.verification.agreement.onnx_cases.case import Given, Written

__all__ = ["LOSSES", "loss"]

LOSSES = {"SoftmaxCrossEntropyLoss": cross_entropy, "NegativeLogLikelihoodLoss": negative_log_likelihood}


def loss(given: Given) -> Written:
    """Write a loss of all positions of all examples, which are the rows of one matrix."""
    names, attributes = list(given.inputs), given.attributes
    X, labels = given.real(names[0]), np.asarray(given.inputs[names[1]])
    inputs = [_rows(X), labels.reshape(-1)] + [given.real(name) for name in names[2:]]
    layer = LOSSES[given.operator](
        ignore_index=attributes.get("ignore_index"),
        weighted=len(names) == 3,
        reduction=attributes.get("reduction", b"mean").decode(),
    )
    first, *others = (given.real(name) for name in given.outputs)
    wanted = [first.reshape(-1) if first.ndim else first, *map(_rows, others)]
    return Written(_with_logarithms(layer) if others else layer, inputs, wanted)


def _rows(value: Any) -> Any:
    """Return an array whose second axis is that of classes as a matrix with a row for each other place."""
    return np.moveaxis(value, 1, -1).reshape(-1, value.shape[1])


def _with_logarithms(layer: Layer) -> Layer:
    let = Equations()
    log_p = let("log_p")(array("X", n, vocab) - ColumnBroadcast(array("z", n), vocab))
    return Layer(layer.name, layer.inputs, (), (*layer.equations, *let), (layer.output, log_p))
