"""The base class of the printers for JAX and PyTorch: NumPy computes constants, the library computes all else.

Definition   a constant is a table, a matrix written out, or sums, products and sines of such, without an array that is
             given: its entries follow from sizes alone, which are numbers when a function is traced
Result       constants are computed once by NumPy in float64 and rounded to the number type of the layer, also by JAX
             without 64-bit numbers: the angles of positional encoding are as exact in every library
"""

from collections.abc import Callable, Iterable, Mapping

from sympy import Basic, Symbol, cos, sin
from sympy.core.function import Application

from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.expression import Array, Plus, Scaled, Transpose, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard
from derivations.language.differentiation.tape import Pulled
from derivations.language.layers.layer import Apply, Equation, Layer
from numeric.codegen.formula_printer import MODULES, CompileError
from numeric.codegen.printer import Call, NumPyLayerPrinter

__all__ = ["TracedPrinter"]

NUMPY = {
    "_modules": MODULES,
    "_arrays": MODULES["numpy"],
    "_float64": "float",
    "_int64": "int",
    "_by_numpy": True,
}


class TracedPrinter(NumPyLayerPrinter):
    """Prints equations for a library that traces arrays; a subclass names its functions."""

    scalars_are_traced = False  # whether epsilon may be anything else than a number
    special_functions: frozenset[str] = frozenset()  # of those of SciPy, which the library has
    renamed: Mapping[str, str] = {}  # functions of NumPy that have another name

    def __init__(
        self,
        layer: Layer,
        names: Mapping[Basic, str],
        call: Callable[[Apply | Pulled], Call],
        taken: Iterable[str],
        saved: Iterable[Variable] = (),
    ) -> None:
        super().__init__(layer, names, call, taken, saved)
        self._by_numpy = False  # whether the text is NumPy's
        self._inside_constant = False  # whether it stands in a constant, so that nothing is handed over yet
        self._traced_scalars: set[Symbol] = set(layer.scalars) if self.scalars_are_traced else set()
        self._constants: set[Variable] = set()
        self._place_of = self._dtype_of or next((names[v] for v in (*layer.inputs, *layer.parameters)), None)
        # what leaves the function must be an array of the library
        handed_on = {*layer.outputs, *saved}
        for equation in layer.equations:
            if not equation.over and equation.variable not in handed_on and self._is_numpys(equation.value):
                self._constants.add(equation.variable)

    def _is_numpys(self, node: Basic) -> bool:
        """Return whether an array is a constant that NumPy computes."""
        if not isinstance(node, Array) or node.kind != "real" or node.free_symbols & self._traced_scalars:
            return False
        match node:
            case Variable():
                return node in self._constants
            case Explicit():
                return True
            case Tabulated():
                formula = node.args[0]
                used = [place in formula.expr.free_symbols for place in formula.variables]
                # a table that some places leave alone is broadcast by `stretch`, which the library has to do itself
                return all(used) or not any(used)
            case Elementwise():
                function, *arrays = node.args
                expr = function.formula.expr
                known = all(isinstance(each, sin | cos) for each in expr.atoms(Application))
                depends = bool(set(function.formula.variables) & expr.free_symbols)
                return known and depends and all(map(self._is_numpys, arrays))
            case Hadamard():
                left, right = node.args
                ones = isinstance(right, Tabulated) and right.args[0].expr == 1
                return not ones and self._is_numpys(left) and self._is_numpys(right)
            case Scaled() | Plus() | Transpose():
                return all(self._is_numpys(part) for part in node.args if isinstance(part, Array))
        return False

    def _print(self, expr: object, **settings: object) -> str:
        if self._inside_constant or not isinstance(expr, Array) or not self._is_numpys(expr):
            return super()._print(expr, **settings)
        with self._with(**NUMPY, _inside_constant=True, _casting=True):
            text = super()._print(expr, **settings)
        return self._from_numpy(text)

    def _module_format(self, fqn: str, register: bool = True) -> str:
        module, _, name = fqn.rpartition(".")
        if module == "scipy.special" and name not in self.special_functions:
            raise CompileError(f"{fqn} has no counterpart in {self._arrays}: compile the layer for NumPy")
        return super()._module_format(f"{module}.{name if self._by_numpy else self.renamed.get(name, name)}", register)

    def _print_Equation(self, equation: Equation) -> str:
        if equation.variable not in self._constants:
            return super()._print_Equation(equation)
        with self._with(**NUMPY, _inside_constant=True, _casting=True):
            return super()._print_Equation(equation)

    def _print_Tabulated(self, node: Array) -> str:
        if node.free_symbols & self._traced_scalars:
            return super()._print_Tabulated(node)
        with self._with(**NUMPY):
            return super()._print_Tabulated(node)

    def _table(self, text: str, node: Array) -> str:
        here = self._inside_constant or not self._by_numpy
        return text if here else self._from_numpy(text, number_type=node.kind == "real")

    def _print_RelativeBuckets(self, node: Array) -> str:
        return self._from_numpy(super()._print_RelativeBuckets(node), number_type=False)

    def _from_numpy(self, text: str, number_type: bool = True) -> str:
        """Return the text that converts a NumPy constant to the library.

        It has the number type of the layer unless a cast follows.
        """
        raise NotImplementedError
