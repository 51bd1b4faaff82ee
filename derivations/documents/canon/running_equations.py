"""The equations of running sums, turned pairs, slopes and dropout, as data."""

from __future__ import annotations

from derivations.documents.canon.equations import Equation, equation
from derivations.documents.canon.running_forms import (
    alibi_slope,
    dropped_entry,
    frequency,
    running_maximum,
    running_sum,
    turned_first,
    turned_second,
)

__all__ = ["FIRST", "RUNNING", "SECOND"]

FIRST, SECOND = "the first entry of a pair that is turned", "the second entry of a pair that is turned"
ENTRIES = "x@ s@ z@ a@ x s"
ROTATION = "rotary|rope|rotation|旋轉|旋转|回転"
PAIR = {
    "first": "x_1 q_1 x_0 q_0 q_{2i} x_{2i} x_2i x@ q_2i",
    "second": "x_2 q_2 x_{2i+1} x_2i+1 q_2i+1",
    "theta": "theta theta_i theta@ mtheta phi alpha",
    "position": "m p pos t n",
}

RUNNING: tuple[Equation, ...] = (
    equation(
        "the running maximum of softmax in one pass", "m@ M@ m_new m^new m_{new}", running_maximum,
        before="m@- M@- m m_old m^old", entry=f"{ENTRIES} tildem m_tile",
    ),
    equation(
        "the running sum of softmax in one pass", "d@ l@ ell@ Z@ s@ L@ S@", running_sum,
        words="online|one pass|flash|streaming|tile",
        total="d@- l@- ell@- Z@- s@- L@- S@-", last="m@- M@-", largest="m@ M@", entry=ENTRIES,
    ),
    equation(
        FIRST, "x_1' q_1' tildex_1 x_2i' x_{2i}' q_2i' x_1^new y_1 hatx_1",
        turned_first, words=ROTATION, **PAIR,
    ),
    equation(
        SECOND, "x_2' q_2' tildex_2 x_2i+1' q_2i+1' x_2^new y_2 hatx_2",
        turned_second, words=ROTATION, **PAIR,
    ),
    equation(
        "the frequency of a pair", "theta@ omega@ Theta@ w@ freq@ f@ theta_i omega_k lambda@", frequency,
        words=f"{ROTATION}|position|frequen|sinusoid|位置|频率|頻率|周波数",
        slips="upside down|changed places|the division by",
        pair="@ i k j", width="d d_model d_k d_h d_head dim D head_dim d_r d_rope",
        scale="b base B Theta theta rope_theta",
    ),
    equation(
        "the slope of a head of ALiBi", "m@ m_h m_i slope@ slope s@ m", alibi_slope, words="alibi",
        head="@ h i k j", heads="n H n_heads num_heads h N n_h",
    ),
    equation(
        "dropout of an entry", "tildex@ tildeh@ x@' h@' y@ hatx@ tildex_i Dropout(x@) Dropout(x) y", dropped_entry,
        words="dropout|ドロップアウト|隨機失活|随机失活|丟棄",
        mask="m@ d@ r@ z@ m d r b@ M", entry="x@ h@ x h X", rate="p rate q p_drop p_{drop}",
    ),
)  # fmt: skip
