r"""The causal convolution with a separate kernel for each channel, over a position and those just before it.

Definition   Y_tc = sum_{u=0}^{w-1} X_{t-w+1+u,c} K_uc + b_c, where rows before the first are zeros
Result       w multiply-adds for each entry; no entry depends on a later position
Shapes       X and Y (n, d), K (w, d), b (d,)
Source       Gu and Dao (2023), section 3.4; Goodfellow, Bengio and Courville (2016), section 9.1
"""

from sympy import Tuple as Places

from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.rows import PlacedRows
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import total
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, index, n, size

__all__ = ["causal_convolution", "convolved", "width"]

TOPIC = "recurrence"

width = size("w")
t, u, c = index("t"), index("u"), index("c")


def convolved(rows: Array, kernel: Array) -> Array:
    """Return every column convolved with its column of the kernel, with zeros before the first row.

    Definition   Y_tc = sum_{u=0}^{w-1} X_{t-w+1+u,c} K_uc
    Shapes       rows (n, d), kernel (w, d), result (n, d)
    """
    (length, columns), span = rows.shape, total(kernel.shape[0])
    before = Windows(PlacedRows(rows, span - 1, total(length) + span - 1), span)
    read = operand_of(before, (t, Places(u, c)))
    return contraction((t, c), (length, columns), [(u, span)], 1, read, operand_of(kernel, (u, c)))


@catalogued
def causal_convolution(*, biased: bool = True) -> Layer:
    """Return the causal convolution with a separate kernel for each channel.

    Definition   Y_tc = sum_{u=0}^{w-1} X_{t-w+1+u,c} K_uc + b_c, where rows before the first are zeros
    Shapes       X (n, d), K (w, d), b (d,), Y (n, d)
    Source       Gu and Dao (2023), section 3.4
    """
    X, K, b = array("X", n, d), array("K", width, d), array("b", d)
    let = Equations()
    Y = convolved(X, K)
    let_Y = let("Y")(Y + b if biased else Y)
    return Layer("causal_convolution", (X,), (K, b) if biased else (K,), let, let_Y)
