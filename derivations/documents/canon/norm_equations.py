r"""The two steps of a norm by entries, as data: an entry normalised, and the scale and shift of what is normalised.

Definition   \hat x_i = (x_i - \mu) / \sqrt{\sigma^2 + \epsilon}, then y_i = \gamma_i \hat x_i + \beta_i; entries of a
             matrix have the index of their row in front, the last index runs
Source       Ba, Kiros and Hinton (2016), section 3; Ioffe and Szegedy (2015), algorithm 1
"""

from __future__ import annotations

from sympy import sqrt

from derivations.documents.canon.equations import SAID_ELSEWHERE, Equation, equation, form
from derivations.documents.canon.forms import Form
from derivations.symbols import scalar

__all__ = ["NORMS"]

entry, mean, gain, shift = map(scalar, ["entry", "mean", "gain", "shift"])
spread, small = (scalar(name, positive=True) for name in ["spread", "small"])

NO_SHIFT = ("there is no shift",)
TURNED = ("beta is the scale and gamma the shift",)
RESULT = "layer_norm.definition"
WORDS = (
    "layer norm|layernorm|layer-norm|batch norm|batchnorm|batch-norm|normalise|normalize|"
    "归一化|歸一化|標準化|标准化|正規化|规范化|規範化"
)
RMS_WORDS = "rmsnorm|rms norm|rms-norm|root mean square norm|root-mean-square norm|均方根"
ROWS = ("", "_i", "_b", "_t", "_n", "_m", "_r", "_s")


def _entries(letters: str) -> str:
    """Return how entries of vectors and of rows of matrices are spelled."""
    return " ".join(f"{letter}{row}{running}" for letter in letters.split() for row in ROWS for running in ("@", ""))


def normalised() -> tuple[Form, ...]:
    """An entry less the mean, over the standard deviation; with epsilon, without, and with one beside the deviation."""
    below = (sqrt(spread**2 + small), spread, spread + small)
    return tuple(form((entry - mean) / each, RESULT, title=SAID_ELSEWHERE) for each in below)


def scaled_and_shifted() -> tuple[Form, ...]:
    """What is normalised, with the gain and the shift that are learnt."""
    return (
        form(gain * entry + shift, RESULT),
        form(shift * entry + gain, RESULT, TURNED),
        form(gain * entry, RESULT, NO_SHIFT),
    )


NORMS: tuple[Equation, ...] = (
    equation("an entry normalised", _entries("hatx hatX hatz hata hath"), normalised, words=WORDS),
    equation(
        "the scale and shift of what is normalised",
        _entries("y Y o O"),
        scaled_and_shifted,
        words=f"{WORDS}|{RMS_WORDS}",
    ),
)
