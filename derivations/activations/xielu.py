r"""xIELU, an activation with two learned numbers: a parabola for positive numbers, an exponential for the others.

Definition   xielu(x, p, q) = p x^2 + x/2 for x > 0, else q (exp(min(x, -10^-6)) - 1 - x) + x/2; p = softplus(alpha_p)
             and q = 1/2 + softplus(alpha_n) for learned alpha_p and alpha_n
Result       near 0 both sides are x/2 up to terms of second order, so that value and slope go on
Assumes      x real, p and q positive
Source       Huang and Schlag (2025), Deriving activation functions using integration, section 3
"""

from sympy import Gt, Min, Piecewise, Rational, exp, log

from derivations.language.arrays.functions import named
from derivations.symbols import scalar

__all__ = ["above_half", "xielu"]

t, p, q = scalar("t"), scalar("p"), scalar("q")
SLOPE, LAST = Rational(1, 2), Rational(-1, 10**6)

above_half = named("above_half", SLOPE + log(1 + exp(t)), t)
xielu = named("xielu", Piecewise((p * t**2, Gt(t, 0)), (q * (exp(Min(t, LAST)) - 1 - t), True)) + SLOPE * t, t, p, q)
