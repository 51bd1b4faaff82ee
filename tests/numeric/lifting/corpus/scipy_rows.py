"""Rows from SciPy's special functions."""

from __future__ import annotations

import scipy.special

from derivations.softmax.softmax import softmax
from tests.numeric.lifting.corpus.rows import LAYER, Row

__all__ = ["SEEN", "UNSEEN"]

SEEN = (
    Row("scipy.special.softmax", lambda: scipy.special.softmax, LAYER["softmax"], given={"axis": -1}),
    Row("scipy.special.softmax of a vector", lambda: scipy.special.softmax, softmax),
    Row("scipy.special.expit", lambda: scipy.special.expit, LAYER["sigmoid"]),
)

UNSEEN = (
    Row("scipy.special.log_softmax", lambda: scipy.special.log_softmax, LAYER["log_softmax"], given={"axis": -1}),
    Row(
        "scipy.special.logsumexp",
        lambda: scipy.special.logsumexp,
        LAYER["log_sum_exp"],
        "not followed",
        "symbolic",
        given={"axis": -1},
    ),
    Row("scipy.special.log_expit", lambda: scipy.special.log_expit, LAYER["log_sigmoid"]),
)
