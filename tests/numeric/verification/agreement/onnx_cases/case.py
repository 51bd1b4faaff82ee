"""One ONNX case as it is given: attributes, inputs and outputs by name, and the layer that is written for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from derivations.language.layers.layer import Layer
from tests.numeric.every_route.arguments import Call

__all__ = ["Given", "NotWritten", "Written"]


class NotWritten(Exception):
    """A case that no layer of the language states: says what is missing."""


@dataclass(frozen=True)
class Given:
    """A case: its attributes, its inputs and the outputs that are wanted, those that are left out not among them."""

    name: str
    operator: str
    attributes: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    def number(self, name: str, default: float) -> float:
        """Return an attribute that is a number."""
        return float(self.attributes.get(name, default))

    def real(self, name: str) -> Any:
        """Return an input or an output as float64, which holds every number type of the cases."""
        return np.asarray({**self.inputs, **self.outputs}[name]).astype(np.float64)


@dataclass(frozen=True)
class Written:
    """A layer with what it is called with, and the outputs that are wanted, in the layout of the layer."""

    layer: Layer
    inputs: list[Any]
    wanted: list[Any]
    weights: dict[str, Any] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)

    @property
    def call(self) -> Call:
        """The call, whose sizes the shapes of the inputs and weights tell."""
        sizes: dict[str, int] = {}
        weights = [(p, self.weights[p.name]) for p in self.layer.parameters]
        for variable, value in [*zip(self.layer.inputs, self.inputs, strict=True), *weights]:
            rank = len(variable.shape)
            for along, length in zip(variable.shape, value.shape[value.ndim - rank :], strict=True):
                if getattr(along, "is_Symbol", False):
                    sizes[along.name] = length
        return Call(self.layer, self.inputs, self.weights, sizes, self.scalars)
