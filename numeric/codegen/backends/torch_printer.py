"""The printer of equations for PyTorch: it handles calls that differ from NumPy's in more than the function's name."""

from collections.abc import Mapping

from sympy import Expr, oo

from derivations.language.arrays.expression import Array
from derivations.language.arrays.masks import BandMask
from derivations.language.arrays.shapes import total
from numeric.codegen.backends.traced_printer import TracedPrinter

__all__ = ["TorchLayerPrinter"]


class TorchLayerPrinter(TracedPrinter):
    """Prints the right-hand sides of one layer's equations for PyTorch; constants go to the device of the arrays."""

    _modules: Mapping[str, str] = {"numpy": "torch", "scipy.special": "torch.special", "math": "math"}
    _arrays = "torch"
    _float64 = "torch.float64"
    _int64 = "torch.int64"
    special_functions = frozenset({"erf", "erfc", "expit", "gammaln", "polygamma"})
    renamed: Mapping[str, str] = {"mod": "remainder"}

    @property
    def _device(self) -> str:
        return f", device={self._place_of}.device" if self._place_of else ""

    def _from_numpy(self, text: str, number_type: bool = True) -> str:
        dtype = f", dtype={self._dtype_of}.dtype" if number_type and not self._casting else ""
        return f"torch.as_tensor({text}{dtype}{self._device})"

    def _cast(self, text: str, dtype: str) -> str:
        return super()._cast(text, dtype) if self._by_numpy else f"{text}.to({dtype})"

    def _cast_like(self, text: str, array: str) -> str:
        return f"{text}.to({array})"

    def _number(self, text: str) -> str:
        return text if self._by_numpy else f"torch.as_tensor({text}, dtype={self._dtype})"

    def _arange(self, count: str) -> str:
        return super()._arange(count) if self._by_numpy else f"torch.arange({count}{self._device})"

    def _print_BandMask(self, node: BandMask) -> str:
        rows, columns = (self._scalar.whole(total(along)) for along in node.sides)
        upper, lower = ("" if bound == 0 else self._scalar.whole(bound) for bound in (node.upper, node.lower))
        cut = ("" if node.upper == oo else f".tril({upper})") + ("" if node.lower == -oo else f".triu({lower})")
        return f"torch.ones({rows}, {columns}, dtype=torch.bool{self._device}){cut}"

    _print_CausalMask = _print_WindowMask = _print_BandMask

    def _print_RowMax(self, node: Array) -> str:
        if len(node.args) == 2:
            return super()._print_RowMax(node)
        return f"{self._exact(node.args[0])}.amax(-1)"  # PyTorch's `max` along an axis returns the places too

    def _print_LogAddExp(self, expr: Expr) -> str:
        if self._by_numpy:
            return super()._print_LogAddExp(expr)
        # PyTorch's takes arrays only; one without axes takes the number type of the other
        texts = [self._print(each) for each in expr.args]
        arrays = [bool(each.free_symbols & self._bindings.keys()) for each in expr.args]
        given = [text if array else f"torch.as_tensor({text})" for text, array in zip(texts, arrays, strict=True)]
        return f"torch.logaddexp({', '.join(given)})"

    def _extremum(self, function: str, expr: Expr) -> str:
        """Print a maximum or minimum; a number becomes a bound of `clamp`, and max(x, 0) becomes `relu`.

        The derivative of `relu` at 0 is 0.
        """
        if self._by_numpy:
            return super()._extremum(function, expr)
        numbers = [each for each in expr.args if not each.free_symbols & self._bindings.keys()]
        arrays = [each for each in expr.args if each not in numbers]
        first, *rest = map(self._print, arrays)
        for text in rest:
            first = f"torch.{function}({first}, {text})"
        for number in numbers:
            bound = f"min={self._print(number)}" if function == "maximum" else f"max={self._print(number)}"
            relu = function == "maximum" and number == 0
            first = f"torch.relu({first})" if relu else f"torch.clamp({first}, {bound})"
        return first
