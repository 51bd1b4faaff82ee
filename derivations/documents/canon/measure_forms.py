"""Right sides of measures and schedules: a cosine schedule, descent, binary cross-entropy, F-measures, quantisation.

Source       Loshchilov and Hutter (2017), equation 5; van Rijsbergen (1979), chapter 7; Jacob et al. (2018), section 2
"""

from __future__ import annotations

from sympy import Expr, Integer, cos, log, pi

from derivations.documents.canon.equations import form
from derivations.documents.canon.forms import Form
from derivations.symbols import scalar

__all__ = ["binary_cross_entropy", "code_step", "cosine_schedule", "descent", "f_measure", "weighted_f_measure"]

low, largest_rate, before, gradient, label, chance, lowest, highest = (
    scalar(name) for name in ("low", "high", "before", "gradient", "label", "chance", "lowest", "highest")
)
step, total, warmup, rate, precision, recall, weight, bits = (
    scalar(name, positive=True) for name in ("step", "total", "warmup", "rate", "precision", "recall", "weight", "bits")
)
WHOLE_PERIOD = ("the schedule falls and rises again within its steps",)
FROM_ONE, FROM_ZERO = ("steps are counted from 1",), ("the last step is T - 1",)
LIKELIHOOD = ("it is the likelihood, which is to be large",)
ONE_LESS = ("the smallest code is not used",)
MULTIPLIED = ("a number is multiplied by it",)
ONE_MORE = ("the largest number has no code of its own",)


def _between(wave: Expr, *, assumed: tuple[str, ...] = ()) -> tuple[Form, ...]:
    """Return a rate that moves between its ends, and one that moves between its largest value and 0."""
    whole = low + (largest_rate - low) * (1 + wave) / 2
    return (form(whole, assumed=assumed), form(largest_rate * (1 + wave) / 2, assumed=assumed))


def cosine_schedule() -> tuple[Form, ...]:
    """A rate that falls along half a wave."""
    return (
        *_between(cos(pi * step / total)),
        *_between(cos(pi * (step - warmup) / (total - warmup))),
        *_between(cos(pi * (step - warmup) / total)),
        *_between(cos(pi * (step - 1) / total), assumed=FROM_ONE),
        *_between(cos(pi * (step - 1) / (total - 1)), assumed=FROM_ONE),
        *_between(cos(pi * step / (total - 1)), assumed=FROM_ZERO),
        *_between(cos(2 * pi * step / total), assumed=WHOLE_PERIOD),
    )


def descent() -> tuple[Form, ...]:
    """The weights after a step against the gradient."""
    return (form(before - rate * gradient),)


def binary_cross_entropy() -> tuple[Form, ...]:
    """The negative logarithm of the probability of one of two labels."""
    likelihood = label * log(chance) + (1 - label) * log(1 - chance)
    return (form(-likelihood), form(likelihood, assumed=LIKELIHOOD))


def f_measure() -> tuple[Form, ...]:
    """The harmonic mean of precision and recall."""
    return (form(2 * precision * recall / (precision + recall)),)


def weighted_f_measure() -> tuple[Form, ...]:
    """The harmonic mean in which recall has a weight."""
    return (form((1 + weight**2) * precision * recall / (weight**2 * precision + recall)),)


def code_step() -> tuple[Form, ...]:
    """How far apart the numbers are that codes of some bits stand for, between two ends or around 0."""
    codes, half = Integer(2) ** bits, Integer(2) ** (bits - 1)
    steps: tuple[tuple[Expr, tuple[str, ...]], ...] = (
        ((highest - lowest) / (codes - 1), ()),
        (highest / (half - 1), ()),
        (2 * highest / (codes - 1), ()),
        ((highest - lowest) / (codes - 2), ONE_LESS),
        (2 * highest / (codes - 2), ONE_LESS),
        ((highest - lowest) / codes, ONE_MORE),
        (highest / half, ONE_MORE),
    )
    plain = tuple(form(value, assumed=assumed) for value, assumed in steps)
    return (*plain, *(form(1 / value, assumed=(*MULTIPLIED, *assumed)) for value, assumed in steps))
