"""The shares of the parameters of a model."""

from __future__ import annotations

from sympy import Rational, expand

from derivations.architectures.components import active_parameters, parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import Model
from derivations.architectures.kinds import by_kind
from derivations.costs.questions.answer import Answer, Number, percent, put
from derivations.costs.questions.purposes import parameters_by_purpose

__all__ = ["embedding_share", "feed_forward_share", "holds_most"]

HALF = Rational(1, 2)


def feed_forward_share(model: Model) -> Answer:
    """Return the share of the feed-forward networks in the parameters of a model.

    Definition   networks, experts and router over all parameters; figures: their share of attention and networks, and
                 their share of the parameters that one token uses ("active", only for a mixture of experts)
    Units        parameters
    """
    model = by_kind(model)
    layer = build(model.architecture)
    by = parameters_by_purpose(parameters_by_component(layer))
    network, attention, total = by["feed-forward"], by["attention"], expand(sum(by.values()))
    both = put(model, attention + network)
    of_all, of_layers = Rational(put(model, network), put(model, total)), Rational(put(model, network), both or 1)
    figures: dict[str, Number] = {"of attention and networks": of_layers}
    used = put(model, active_parameters(model.architecture, layer))
    if used != put(model, total):
        idle = put(model, total) - used  # of experts, hence of the networks
        figures["of active parameters"] = Rational(put(model, network) - idle, used)
    most = "most" if of_all > HALF else "not most"
    words = (
        f"feed-forward networks hold {percent(of_all)} of all parameters ({most} of them), "
        f"{percent(of_layers)} of those of attention and networks"
    )
    if "of active parameters" in figures:
        words += f", {percent(figures['of active parameters'])} of those that one token uses"
    return Answer(network / total, of_all, words, figures)


def holds_most(share: Answer) -> bool:
    """Return whether a share is more than a half."""
    return bool(share.number is not None and share.number > HALF)


def embedding_share(model: Model) -> Answer:
    """Return the share of the parameters before and after the layers: tables, stem and head.

    Units        parameters
    """
    model = by_kind(model)
    by = parameters_by_purpose(parameters_by_component(build(model.architecture)))
    ends, total = by["embedding and head"], expand(sum(by.values()))
    share = Rational(put(model, ends), put(model, total))
    return Answer(ends / total, share, f"embedding and head hold {percent(share)} of all parameters")
