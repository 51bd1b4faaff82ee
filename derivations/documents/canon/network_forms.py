"""Canonical right sides of feed-forward networks and activations."""

from __future__ import annotations

from functools import cache

from sympy import Max, tanh

from derivations.activations.gelu import gelu_sigmoid, gelu_tanh
from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.documents.canon.forms import Form
from derivations.feed_forward.feed_forward import W_1, W_2, X, b_1, b_2, feed_forward
from derivations.feed_forward.gated import GATES, W_down, W_gate, W_up, gated_feed_forward
from derivations.language.arrays.functions import Hadamard, Named, gelu, named, relu, uninterpreted_function
from derivations.linear.linear import linear
from derivations.symbols import scalar

__all__ = ["activation_forms", "feed_forward_forms", "gated_forms", "linear_forms"]

ACTIVATIONS: dict[str, Named] = {
    "": uninterpreted_function("act"), "relu": relu, "gelu": gelu, "silu": silu, "sigmoid": sigmoid,
    "tanh": named("tanh", tanh(scalar("x")), scalar("x")),
    "squared relu": named("squared_relu", Max(0, scalar("x")) ** 2, scalar("x")),
}  # fmt: skip


@cache
def feed_forward_forms() -> tuple[Form, ...]:
    """The feed-forward network with any activation, with biases and without."""
    forms = []
    for word, activation in ACTIVATIONS.items():
        name = {"relu": "with_relu", "gelu": "with_gelu"}.get(word, "definition")
        weights = {"W_1": W_1, "W_2": W_2}
        forms.append(
            Form(
                f"feed_forward.{name}",
                feed_forward(activation).result(X, **weights, b_1=b_1, b_2=b_2),
                rows=("X",),
            )
        )
        forms.append(
            Form(f"feed_forward.{name}", feed_forward(activation, biases=False).result(X, **weights), rows=("X",))
        )
    return tuple(forms)


@cache
def gated_forms() -> tuple[Form, ...]:
    """The gated network with each known activation and with any other one, with and without biases."""
    forms = []
    for word, activation in (*GATES.items(), ("", uninterpreted_function("act"))):
        name = "feed_forward.swiglu" if word == "SwiGLU" else "feed_forward.gated_variants"
        plain = gated_feed_forward(activation).result(X, W_gate=W_gate, W_up=W_up, W_down=W_down)
        biased = gated_feed_forward(activation, biases=True)
        given = {each.name: each for each in biased.parameters}
        for value in (plain, biased.result(X, **given)):
            gate = next(iter(value.atoms(Hadamard)))  # what stands before the last product, a layer by itself
            forms += [Form(name, each, rows=("X",), title=word.lower()) for each in (value, gate)]
    return tuple(forms)


@cache
def linear_forms() -> tuple[Form, ...]:
    """The affine map."""
    layer = linear()
    return (
        Form("linear.definition", layer.result(*layer.inputs, **{p.name: p for p in layer.parameters}), rows=("X",)),
    )


@cache
def activation_forms(word: str) -> tuple[Form, ...]:
    """The formula of an activation, with its usual approximations."""
    known: dict[str, tuple[tuple[str, Named, tuple[str, ...]], ...]] = {
        "relu": (("activation.relu_definition", relu, ()),),
        "gelu": (
            ("activation.gelu_definition", gelu, ()),
            ("activation.gelu_tanh_is_a_gate", gelu_tanh, ("the approximation with tanh",)),
            ("activation.gelu_sigmoid_error", gelu_sigmoid, ("the approximation with the sigmoid",)),
        ),
        "sigmoid": (("activation.sigmoid_derivative", sigmoid, ()),),
        "silu": (("activation.silu_derivative", silu, ()),),
        "softplus": (("activation.softplus_derivative", softplus, ()),),
    }
    point, slope = scalar("x"), scalar("b")
    forms = [
        Form(name, function.formula(point), scalars=True, assumed=assumed, condition=True)
        for name, function, assumed in known[word]
    ]
    if word == "silu":
        forms.append(Form("activation.swish_derivative", point * sigmoid.formula(slope * point), scalars=True))
    if word == "relu":
        forms.append(Form("activation.leaky_relu", Max(slope * point, point), scalars=True))
    return tuple(forms)
