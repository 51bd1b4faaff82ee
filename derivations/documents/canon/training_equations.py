"""The equations of training, as data: how they are spelled, and where they are certainly meant."""

from __future__ import annotations

from derivations.documents.canon.equations import Equation, equation
from derivations.documents.canon.training_forms import (
    adam_step,
    adam_step_with_decay,
    first_moment,
    he_bound,
    he_variance,
    learning_rate,
    second_moment,
    smoothed_labels,
    unbiased,
    xavier_bound,
    xavier_variance,
)

__all__ = ["TRAINING"]

WEIGHTS = "theta@ theta w@ w x@ x W@ W"
VARIANCES = "Var(W) Var(w) Var(w@) Var(W@) sigma^2 sigma_w^2 sigma_W^2"
BOUNDS = "a bound limit"

TRAINING: tuple[Equation, ...] = (
    equation("the first moment of Adam", "m@ m", first_moment),
    equation("the second moment of Adam", "v@ v s@ s", second_moment),
    equation("the first moment of Adam without its bias", "hatm@ hatm m_hat mhat hatm@- m_{hat}", unbiased),
    equation("the second moment of Adam without its bias", "hatv@ hatv v_hat vhat hatv@- v_{hat} hats@ hats", unbiased),
    equation("the step of Adam", WEIGHTS, adam_step),
    equation("the step of AdamW", WEIGHTS, adam_step_with_decay),
    equation(
        "the learning rate of the Transformer",
        "lrate lr eta alpha eta@ alpha@ lr@ rate learning_rate lrate@",
        learning_rate,
    ),
    equation(
        "a smoothed label", "y'@ y_k' q@ tildey@ y@^LS y_LS q'@ y@' y@^smooth y_smooth haty@ tildey y'", smoothed_labels
    ),
    equation("the variance of weights after Xavier", VARIANCES, xavier_variance),
    equation("the bound of uniform weights after Xavier", BOUNDS, xavier_bound),
    equation("the variance of weights after He", VARIANCES, he_variance),
    equation("the bound of uniform weights after He", BOUNDS, he_bound),
)
