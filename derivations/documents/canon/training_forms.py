"""Right sides of equations of training: Adam, the learning rate of the Transformer, smoothed labels, variances.

Source       Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2; Vaswani et al. (2017),
             sections 5.3 and 5.4; Szegedy et al. (2016), section 7; the variances from the catalogue
"""

from __future__ import annotations

from sympy import Expr, Integer, Min, Rational, sqrt

from derivations.documents.canon.equations import form
from derivations.documents.canon.forms import Form, right
from derivations.symbols import d_in, scalar

__all__ = [
    "adam_step",
    "adam_step_with_decay",
    "first_moment",
    "he_bound",
    "he_variance",
    "learning_rate",
    "second_moment",
    "smoothed_labels",
    "unbiased",
    "xavier_bound",
    "xavier_variance",
]

before, gradient, rate, moment, label, share = (
    scalar(name) for name in ("before", "gradient", "rate", "moment", "label", "share")
)
decay, spread, other, step, warmup, width, small, factor, count = (
    scalar(name, positive=True)
    for name in ("decay", "spread", "other", "step", "warmup", "width", "small", "factor", "count")
)
REVERSED = ("the decay rate is near 0 and weighs what is new",)
INSIDE = ("epsilon stands under the root, where the published formula has it outside",)


def _averages(new: Expr) -> tuple[Form, ...]:
    """Return the moving average of something, and the one in which the rate weighs what is new."""
    turned = (1 - decay) * before + decay * new
    return (form(decay * before + (1 - decay) * new), form(turned, assumed=REVERSED))


def first_moment() -> tuple[Form, ...]:
    """The moving average of gradients."""
    return _averages(gradient)


def second_moment() -> tuple[Form, ...]:
    """The moving average of their squares."""
    return _averages(gradient**2)


def unbiased() -> tuple[Form, ...]:
    """A moving average divided by the sum of its weights."""
    return (form(moment / (1 - decay**step)),)


def adam_step() -> tuple[Form, ...]:
    """The weights after a step."""
    return (
        form(before - rate * moment / (sqrt(spread) + small)),
        form(before - rate * moment / sqrt(spread + small), assumed=INSIDE),
        form(before - rate * moment / sqrt(spread), assumed=("epsilon is left out",)),
    )


def adam_step_with_decay() -> tuple[Form, ...]:
    """The weights after a step that makes them smaller as well, the rate and its schedule written in several ways."""
    change = moment / (sqrt(spread) + small)
    return (
        form(before - rate * (change + other * before)),
        form(before - rate * factor * (change + other * before)),
        form(before - factor * (rate * change + other * before)),
        form(before - rate * change - other * before),
    )


def learning_rate() -> tuple[Form, ...]:
    """A rate that grows linearly and then falls with the root of the step, with a factor and without."""
    slower = Min(step ** Rational(-1, 2), step * warmup ** Rational(-3, 2))
    narrow = width ** Rational(-1, 2)
    return (form(narrow * slower), form(factor * narrow * slower), form(slower))


def smoothed_labels() -> tuple[Form, ...]:
    """Targets that leave a share to all classes, to the other classes, or to a distribution."""
    return (
        form((1 - share) * label + share / count),
        form(label * (1 - share) + share / (count - 1) * (1 - label)),
        form((1 - share) * label + share * factor),
    )


def xavier_variance() -> tuple[Form, ...]:
    """The variance with which variances forward and backward change least."""
    return (form(right("initialisation.xavier", 0) / (d_in * scalar("v", positive=True)), "initialisation.xavier"),)


def xavier_bound() -> tuple[Form, ...]:
    """Half of the width of the uniform distribution that has this variance, a third of the square of it."""
    return tuple(form(sqrt(3 * each.value), each.result) for each in xavier_variance())


def he_bound() -> tuple[Form, ...]:
    """Half of the width of the uniform distribution with the variance behind ReLU, or without an activation."""
    return tuple(form(sqrt(3 * each.value), each.result, each.assumed) for each in he_variance())


def he_variance() -> tuple[Form, ...]:
    """The variance that keeps the mean square behind ReLU; half of it where there is no activation."""
    return (
        form(Integer(2) / d_in, "initialisation.he"),
        form(Integer(1) / d_in, "initialisation.fan_in_variance", ("the layer has no activation",)),
    )
