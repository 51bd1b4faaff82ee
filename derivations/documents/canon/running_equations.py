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
ROTATION = "rotary|rope|rotation|旋轉|旋转|回転"

RUNNING: tuple[Equation, ...] = (
    equation("the running maximum of softmax in one pass", "m@ M@ m_new m^new m_{new}", running_maximum),
    equation(
        "the running sum of softmax in one pass",
        "d@ l@ ell@ Z@ s@ L@ S@",
        running_sum,
        words="online|one pass|flash|streaming|tile",
    ),
    equation(FIRST, "x_1' q_1' tildex_1 x_2i' x_{2i}' q_2i' x_1^new y_1 hatx_1", turned_first, words=ROTATION),
    equation(SECOND, "x_2' q_2' tildex_2 x_2i+1' q_2i+1' x_2^new y_2 hatx_2", turned_second, words=ROTATION),
    equation(
        "the frequency of a pair",
        "theta@ omega@ Theta@ w@ freq@ f@ theta_i omega_k lambda@",
        frequency,
        words=f"{ROTATION}|position|frequen|sinusoid|位置|频率|頻率|周波数",
    ),
    equation("the slope of a head of ALiBi", "m@ m_h m_i slope@ slope s@ m", alibi_slope, words="alibi"),
    equation(
        "dropout of an entry",
        "tildex@ tildeh@ x@' h@' y@ hatx@ tildex_i Dropout(x@) Dropout(x) y",
        dropped_entry,
        words="dropout|ドロップアウト|隨機失活|随机失活|丟棄",
    ),
)
