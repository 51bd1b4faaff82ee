"""The printer of equations for JAX: it handles calls that differ from NumPy's in more than the function's name."""

from collections.abc import Mapping

from sympy import Expr

from derivations.language.arrays.expression import Array
from numeric.codegen.backends.traced_printer import TracedPrinter

__all__ = ["JaxLayerPrinter"]


class JaxLayerPrinter(TracedPrinter):
    """Prints the right-hand sides of one layer's equations for JAX."""

    _modules: Mapping[str, str] = {"numpy": "jnp", "scipy.special": "special", "math": "math"}
    _arrays = "jnp"
    scalars_are_traced = True
    special_functions = frozenset({"erf", "erfc", "expit", "gamma", "gammaln", "polygamma"})

    def _from_numpy(self, text: str, number_type: bool = True) -> str:
        return f"jnp.asarray({text}{f', {self._dtype_of}.dtype' if number_type and not self._casting else ''})"

    def _extremum(self, function: str, expr: Expr) -> str:
        """Print max(x, 0) as `jax.nn.relu`, whose derivative at 0 is 0; that of `jnp.maximum` would be 1/2 there."""
        others = [each for each in expr.args if each != 0]
        if function == "maximum" and len(expr.args) == 2 and len(others) == 1 and not self._by_numpy:
            return f"jax.nn.relu({self._print(others[0])})"
        return super()._extremum(function, expr)

    def _print_Lookup(self, node: Array) -> str:
        table, tokens = node.args
        if self._each_has_own(table):
            return super()._print_Lookup(node)
        return f"jnp.take({self._exact(table)}, {self._print(tokens)}, axis=0)"
