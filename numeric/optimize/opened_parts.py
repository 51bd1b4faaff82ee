"""Products at the borders of a layer in a family leave it, so that one product can serve all members.

Definition   Z_a = P(X, K_a; W_a, V_a), where P begins with Q = X W and ends with H V, becomes Q_a = X W_a,
             H_a = P'(Q_a, K_a), Z_a = H_a V_a, where P' is what P computes between the two
Result       equal by definition; `wide_projections` and `summed_products` make one product of those of all members
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sympy import Tuple as Sequence
from sympy.core.symbol import Str

from derivations.language.arrays.expression import Array, Product, Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import fresh_name, variables_in
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, affine, biased, defined, is_weight

__all__ = ["opened_parts"]


def opened_parts(draft: Draft) -> bool:
    """Move first and last products out of layers in families. Return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        node = equation.value
        if equation.over is not None and isinstance(node, Apply) and not isinstance(node, Repeat):
            # a part with weights of its own packs them itself
            done |= not node.own_parameters and _opened(draft, equation, node)
    return done


def _opened(draft: Draft, equation: Equation, node: Apply) -> bool:
    layer, bound = node.layer, node.bound
    given: dict[Array, Array] = dict(zip(layer.inputs, node.arguments, strict=True))
    own = [p for p in layer.parameters if is_weight(bound[p.name], draft, equation)]
    first = _first_products(layer, own, [v for v, value in given.items() if not _varies(value, equation)])
    last = _last_product(layer, own)
    if not first and last is None:
        return False
    path = "".join(node.name.rpartition(".")[:2])
    fresh: list[Equation] = []
    for product in first:
        bias = None if product.bias is None else bound[product.bias.name]
        value = biased(given[product.rows] @ bound[product.weight.name], bias)
        moved, given[product.variable] = defined(draft.fresh(f"{path}{product.variable}"), value, equation)
        fresh.append(moved)
    between = _between(layer, first, last)
    pairs = (Sequence(Str(p.name), bound[p.name]) for p in between.parameters)
    value = Apply(node.args[0], between, Sequence(*(given[v] for v in between.inputs)), Sequence(*pairs))
    if last is not None:
        moved, rows = defined(draft.fresh(f"{path}{between.output}"), value, equation)
        fresh.append(moved)
        value = rows @ bound[last.args[1].name]
    draft.define("opened_parts", equation.variable, value, fresh)
    return True


def _varies(value: Array, equation: Equation) -> bool:
    """Return whether an argument differs between the members of a family."""
    return equation.over is not None and equation.over[0] in value.free_symbols


def _first_products(layer: Layer, own: Collection[Variable], shared: Collection[Array]) -> list[Affine]:
    """Return the products of shared rows with weights that are not an output of the layer."""
    inside = Draft(layer, fixed=frozenset(layer.parameters) - frozenset(own))
    found = (affine(e, inside) for e in layer.equations if e.over is None and e.variable not in layer.outputs)
    return [product for product in found if product is not None and product.rows in shared]


def _last_product(layer: Layer, own: Collection[Variable]) -> Any:
    """Return the output of a layer if it is a product with a weight, else None."""
    last = layer.equations[-1]
    is_product = isinstance(last.value, Product) and len(last.value.shape) == 2
    if not is_product or (last.variable,) != layer.outputs or last.value.args[0] in layer.inputs:
        return None
    return last.value if last.value.args[1] in own else None


def _between(layer: Layer, first: Collection[Affine], last: Any) -> Layer:
    """Return a layer without its first products, whose results are inputs, and without the last one."""
    moved = [product.variable for product in first]
    equations, output = [e for e in layer.equations if e.variable not in moved], layer.args[4]
    if last is not None:
        rows = last.args[0]
        # numbered columns, of which those of all members can lie side by side
        shape = tuple(map(total, rows.shape))
        output = Variable(fresh_name(f"{layer.output}_rows", set(layer.shapes)), shape)
        equations[-1] = Equation(output, rows)
    read = {v for e in equations for v in variables_in(e.value)}
    inputs = [v for v in (*layer.inputs, *moved) if v in read]
    return Layer(layer.name, inputs, [p for p in layer.parameters if p in read], equations, output)
