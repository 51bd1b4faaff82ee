"""Collecting the equations and the weights of a layer whose parts are optional."""

from sympy import Expr, Integer, Rational

from derivations.language.arrays.expression import Array, Variable, array
from derivations.language.arrays.functions import Named
from derivations.language.arrays.shapes import Sized
from derivations.language.layers.layer import Equations, part
from derivations.normalisation.rms_norm import rms_norm
from derivations.recurrences.causal_convolution import causal_convolution, width

__all__ = ["Writer"]


class Writer:
    """Collects equations, and weights in the order in which they are first read."""

    def __init__(self) -> None:
        self.let = Equations()
        self.weights: list[Variable] = []

    def weight(self, name: str, *shape: Sized) -> Variable:
        """Return a new weight."""
        self.weights.append(array(name, *shape))
        return self.weights[-1]

    def affine(
        self, name: str, rows: Array, columns: Sized, biased: bool = False, scale: Expr = Integer(1)
    ) -> Variable:
        """Add the product of rows with a new matrix W, plus a bias b if `biased`, all times `scale`."""
        product = rows @ self.weight(f"W_{name}", rows.shape[1], columns)
        found = product + self.weight(f"b_{name}", columns) if biased else product
        return self.let(name)(found if scale == 1 else scale * found)

    def convolved(self, name: str, rows: Array, activation: Named | None, biased: bool) -> Variable:
        """Add the causal convolution of every column, with a bias if `biased`, and then an activation, if any."""
        columns = rows.shape[1]
        weights = {"K": self.weight(f"K_{name}", width, columns)}
        if biased:
            weights["b"] = self.weight(f"b_K_{name}", columns)
        inner = part(f"{name}_convolution", causal_convolution(biased=biased))(rows, **weights)
        return self.let(name)(inner if activation is None else activation(self.let(f"{name}_in")(inner)))

    def normed(self, name: str, rows: Array, eps: Rational, scaled: bool) -> Variable:
        """Add the RMS norm of rows, with a factor for each column if `scaled`."""
        return self.let(f"{name}_normed")(part(f"{name}_norm", rms_norm(eps, scaled=scaled))(rows))
