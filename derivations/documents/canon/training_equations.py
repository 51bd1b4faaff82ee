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

GRADIENT, EPSILON = "g@ g g@-", "epsilon eps ε"
RATE = "eta alpha lr gamma eta@ alpha@ lr@ gamma@ learning_rate step_size"
WEIGHTS, WEIGHTS_BEFORE = "theta@ theta w@ w x@ x W@ W", "theta@- theta w@- w x@- x W@- W"
MEAN, SPREAD = "hatm@ hatm m_hat mhat hatm@-", "hatv@ hatv v_hat vhat hatv@-"
VARIANCES = "Var(W) Var(w) Var(w@) Var(W@) sigma^2 sigma_w^2 sigma_W^2"
BOUNDS = "a bound limit"
FAN_IN, FAN_OUT = "n_in fan_in d_in n_{in} n_l n_i", "n_out fan_out d_out n_{out} n_(l+1) n_l+1 n_o"
XAVIER, HE = "xavier|glorot", "kaiming|he initiali|he init|he et al"
ADAM, BETAS = "adam|kingma", "beta_1 beta_2"

TRAINING: tuple[Equation, ...] = (
    equation(
        "the first moment of Adam", "m@ m", first_moment, "recurrence", ADAM, BETAS, "beta_1",
        before="m@- m", decay="beta_1 beta_2 beta b_1 mu", gradient=GRADIENT,
    ),
    equation(
        "the second moment of Adam", "v@ v s@ s", second_moment, "recurrence", ADAM, BETAS, "beta_2",
        before="v@- v s@- s", decay="beta_2 beta b_2 rho", gradient=GRADIENT,
    ),
    equation(
        "the first moment of Adam without its bias", f"{MEAN} m_{{hat}}", unbiased, "hat", ADAM, BETAS, "beta_1",
        moment="m@ m", decay="beta_1 beta b_1", step="t k step n @",
    ),
    equation(
        "the second moment of Adam without its bias", f"{SPREAD} v_{{hat}} hats@ hats", unbiased, "hat", ADAM, BETAS,
        "beta_2", moment="v@ v s@ s", decay="beta_2 beta b_2", step="t k step n @",
    ),
    equation(
        "the step of Adam", WEIGHTS, adam_step, "recurrence", ADAM, BETAS,
        before=WEIGHTS_BEFORE, rate=RATE, moment=MEAN, spread=SPREAD, small=EPSILON,
    ),
    equation(
        "the step of AdamW", WEIGHTS, adam_step_with_decay, "recurrence", "adamw|decoupled|loshchilov", BETAS,
        before=WEIGHTS_BEFORE, rate=RATE, moment=MEAN, spread=SPREAD, small=EPSILON,
        other="lambda lambda@ wd weight_decay", factor="eta@ eta",
    ),
    equation(
        "the learning rate of the Transformer", "lrate lr eta alpha eta@ alpha@ lr@ rate learning_rate lrate@",
        learning_rate, "", "warmup|warm-up|warm up|預熱|预热|ウォームアップ", "warmup",
        width="d_model d model_size d_{model}", step="step_num step t steps s n step_{num} @",
        warmup="warmup_steps warmup n_warmup T_warmup w warmup_{steps} warm_up t_warmup warmup_step",
        factor="factor k c scale",
    ),
    equation(
        "a smoothed label", "y'@ y_k' q@ tildey@ y@^LS y_LS q'@ y@' y@^smooth y_smooth haty@ tildey y'",
        smoothed_labels, "", "smooth|平滑|スムージング",
        label="y@ y p@ q@ t@ delta@ onehot y_onehot delta@_y delta@_c delta@_t delta_y@ delta_c@ delta_t@",
        share="epsilon eps alpha varepsilon ls ε",
        count="K C V n N vocab_size num_classes V_size", factor="u@ u",
    ),
    equation(
        "the variance of weights after Xavier", VARIANCES, xavier_variance, "", XAVIER, d_in=FAN_IN, d_out=FAN_OUT,
    ),
    equation(
        "the bound of uniform weights after Xavier", BOUNDS, xavier_bound, "", XAVIER, d_in=FAN_IN, d_out=FAN_OUT,
    ),
    equation(
        "the variance of weights after He", VARIANCES, he_variance, "", HE, d_in=f"{FAN_IN} n",
    ),
    equation("the bound of uniform weights after He", BOUNDS, he_bound, "", HE, d_in=f"{FAN_IN} n"),
)  # fmt: skip
