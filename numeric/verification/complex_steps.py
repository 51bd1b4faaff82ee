"""Whether complex-step differentiation works for a layer: its functions must be analytic near the real line.

Definition   the complex step Im f(x + i s) / s is the slope of a function that is given by its power series; the
             maximum takes the larger real part, so it is one off its kinks
Result       |z| and sign(z) of complex numbers are not those series: NumPy returns the length of z and z / |z|
Source       Squire and Trapp (1998); Martins, Sturdza and Alonso (2003)
"""

from functools import lru_cache

from sympy import Abs, sign

from derivations.language import Layer
from derivations.language.arrays.functions import Named

__all__ = ["takes_complex_steps"]


@lru_cache(maxsize=256)  # every slope of a check asks
def takes_complex_steps(layer: Layer) -> bool:
    """Return whether no function of a layer or of its parts has an absolute value or a sign in its formula."""
    return not any(function.formula.expr.has(Abs, sign) for function in layer.atoms(Named))
