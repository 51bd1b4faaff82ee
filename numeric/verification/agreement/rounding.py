r"""A bound for the rounding error of a layer, from the number of roundings on its longest path of operations.

Definition   a product over k columns rounds k times for each entry (k products, k - 1 sums, in any order), a
             sum of k members k times, a softmax over n keys n + 3 times, its log-sum-exp n + 4, a mean of n entries
             n + 1, an elementwise function once for each operation
Result       error <= 8 sqrt(roundings + 1) units in the last place of the row's largest value
Assumes      a rounding changes a value by at most u times the value, which is at most one unit in its last place;
             roundings err independently and as often up as down, so that r of them exceed lambda sqrt(r) u with
             probability below 2 exp(-lambda^2 / 2), for lambda = 8 below 3e-14; rows have unit size, weights keep
             them so, and an error passes through them with a gain near 1
Source       Higham and Mary (2019), "A new approach to probabilistic rounding error analysis", theorem 2.4

The bound grows only with the sizes of the reductions. It is fixed here, before any measurement.
"""

from collections.abc import Mapping
from functools import singledispatch
from itertools import product
from math import prod, sqrt

from sympy import Basic, Integer

from derivations.language.arrays.arrangements import SumOver, Tabulated
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import Array, Plus, Product, Scaled, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard, RowLogSumExp, RowMean, RowSoftmax, RowSum
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.arrays.shapes import total
from derivations.language.counting.operations import count_operations
from derivations.language.layers.layer import Apply, Layer, Repeat

__all__ = ["LAMBDA", "rounding_bound", "roundings"]

LAMBDA = 8


def rounding_bound(count: int) -> float:
    """Return the bound for a path with the given number of roundings.

    Units        units in the last place of the largest value of the row
    """
    return LAMBDA * sqrt(count + 1)


def roundings(layer: Layer, sizes: Mapping[str, int]) -> int:
    """Return the number of roundings on the longest path from an input or a weight to the output.

    Definition   the longest path through the equations at the given sizes; see the head of this module
    """
    names = {symbol.name for symbol in layer.sizes}
    numbered = layer.at(**{name: value for name, value in sizes.items() if name in names})
    return _through(numbered, [0] * len(numbered.inputs))


def _through(layer: Layer, inputs: list[int]) -> int:
    paths: dict[Basic, int] = dict.fromkeys(layer.parameters, 0) | dict(zip(layer.inputs, inputs, strict=True))
    for equation in layer.equations:
        paths[equation.variable] = _path(equation.value, paths)
    return paths[layer.output]


def _path(node: Array, paths: Mapping[Basic, int]) -> int:
    """Return the roundings on the longest path to an expression, given those to the variables in it."""
    if isinstance(node, Variable):
        return paths[node]
    if isinstance(node, Apply):
        inputs = [_path(argument, paths) for argument in node.arguments]
        for _ in range(int(node.count) if isinstance(node, Repeat) else 1):
            inputs[:1] = [_through(node.layer, inputs)]
        return inputs[0]
    return own(node) + max((_path(operand, paths) for operand in node.args if isinstance(operand, Array)), default=0)


@singledispatch
def own(node: Array) -> int:
    """Return the roundings of one node for one entry: 0 where entries are only moved."""
    return 0


own.register(Product, lambda node: int(total(node.args[0].shape[-1])))
own.register(RoutedProduct, lambda node: int(total(node.args[0].shape[-1])))
own.register(SumOver, lambda node: int(total(node.args[2])))
own.register(Plus, lambda node: 1)
own.register(Hadamard, lambda node: 1)
own.register(Scaled, lambda node: 0 if node.args[0] in (1, -1) else 2)  # the scalar may be rounded, as sqrt(d_k) is
own.register(RowSoftmax, lambda node: int(total(node.shape[-1])) + 3)
own.register(RowLogSumExp, lambda node: int(total(node.args[0].shape[-1])) + 4)
own.register(RowSum, lambda node: int(total(node.args[0].shape[-1])))
own.register(RowMean, lambda node: int(total(node.args[0].shape[-1])) + 1)
own.register(Elementwise, lambda node: count_operations(node.args[0].formula.expr))


@own.register
def _(node: Contraction) -> int:
    """Return the number of terms in the sum of an entry, plus the number of products in a term."""
    terms = prod((int(count) for symbol, count in node.counts.items() if symbol not in node.indices), start=1)
    return (terms if node.sums else 0) + len(node.operands) - 1


@own.register
def _(node: Recurrence) -> int:
    """Return the roundings of a recurrence: three for each position, plus those of a product with the state, if any."""
    read = int(total(node.shape[len(node.factors[0].shape) - 1])) + 2 if node.factors else 0
    return (3 + read) * int(total(node.shape[0]))


@own.register
def _(node: Tabulated) -> int:
    """Return the error of a table of angles. Their sines and cosines have the same absolute error.

    The tables of layers grow or fall along each axis, so that the largest entry is at a corner; scalars count as 1.
    """
    corners = product(*({Integer(0), total(along) - 1} for along in node.shape))
    scalars = dict.fromkeys(node.free_symbols, Integer(1))
    largest = max(abs(float(node.entry(*corner).xreplace(scalars))) for corner in corners)
    return round(max(1.0, largest) * (count_operations(node.args[0].expr) + 1))
