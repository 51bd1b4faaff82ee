"""Numbers put into an expression: sizes, indices and scalars by symbol, arrays of NumPy by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Expr, Indexed, Rational, Symbol

__all__ = ["value"]


def value(expression: Expr, numbers: Mapping[Symbol, int | Rational], arrays: Mapping[str, np.ndarray]) -> Any:
    """The value of an expression whose sums are written out, with every entry looked up in the arrays."""
    written = expression.xreplace(dict(numbers)).doit()
    entries = {
        entry: Rational(str(arrays[entry.base.label.name][tuple(map(int, entry.indices))]))
        for entry in written.atoms(Indexed)
    }
    return written.xreplace(entries).doit()
