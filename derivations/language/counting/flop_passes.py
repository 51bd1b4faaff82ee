"""Operations of the equations of a layer, forward and backward, separately for each part.

Equations are counted as written, by one rule for each kind of node; a family counts once for each of its members, a
repetition once for each of its layers. The backward pass is that of the gradient of the layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Expr, Integer, Rational

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Array, Product, Variable
from derivations.language.arrays.functions import Lookup, RowMean, RowSum
from derivations.language.arrays.selection import ScatterRows
from derivations.language.arrays.shapes import same_size, total
from derivations.language.counting.convention import Convention
from derivations.language.counting.mask_sparsity import (
    Known,
    MaskSparsity,
    Visible,
    operands,
    sparsity_of_equations,
    sparsity_of_layer,
)
from derivations.language.counting.operations import (
    Flops,
    entries,
    is_outer_product,
    node_operations,
    product_flops,
    summed_entries,
    visible_operations,
)
from derivations.language.differentiation.preparation import has_weights, prepared
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import passes
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat

__all__ = ["Parts", "add_part", "backward_parts", "forward_parts", "nodes_of"]

Parts = Mapping[str, Flops]  # by the dotted name of a part, "" for the equations of the layer itself


def add_part(parts: dict[str, Flops], path: str, flops: Flops) -> None:
    """Add the operations of a part to the count of its path."""
    parts[path] = parts[path] + flops if path in parts else flops


def nodes_of(node: Array) -> Iterator[Array]:
    """Yield a node and all nodes that it is computed from, without the inside of layers."""
    yield node
    for operand in operands(node):
        yield from nodes_of(operand)


# --- one layer ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def forward_parts(
    layer: Layer, batched: frozenset[Variable], known: Known, batch: Expr, convention: Convention
) -> Parts:
    """Return the operations of one forward pass; `batched` are the inputs that differ from example to example."""
    sparsity = MaskSparsity() if convention.causal == "full" else sparsity_of_layer(layer, known)
    count = _Counting(batch, convention, sparsity, set(batched))
    for equation in layer.equations:
        count.equation(equation)
    count.pull_back()
    return _filed(layer, count.parts)


@lru_cache(maxsize=1024)
def backward_parts(layer: Layer, wanted: frozenset[str], known: Known, batch: Expr, convention: Convention) -> Parts:
    """Return the operations of the backward pass: the gradients for the wanted arrays and all weights of parts.

    The values of the forward pass that it reads were saved for each example of the batch.
    """
    both = passes(layer)
    equations = (*both.forward, *both.backward)
    sparsity = MaskSparsity() if convention.causal == "full" else sparsity_of_equations(equations, known, both.outputs)
    count = _Counting(batch, convention, sparsity, {*both.given, *layer.inputs})
    for equation in both.forward:
        count.follow(equation)
    reals = (v.name for v in (*layer.inputs, *layer.parameters) if v.kind == "real")
    # Only equations that the wanted gradients need are counted: `live` are the variables read so far, from the end.
    live = {output for name, output in zip(reals, both.outputs, strict=True) if name in wanted}
    kept = []
    for equation in reversed(both.backward):
        if equation.variable in live:
            kept.append(equation)
            live |= _read(equation.value)
            continue
        for node, times in _pullbacks(equation.value, _members(equation)):
            if has_weights(node.applied):  # not needed for the inputs, but for the weights of the part
                live |= _read(node.cotangent)
                count.called(node, times)
    for equation in reversed(kept):
        count.equation(equation)
    pulled = {applied for applied, _, _ in count.pulled}
    needed = _needed(prepared(layer))
    for equation in prepared(layer).equations:  # parts with weights and only integer inputs, such as tokens
        if equation.variable not in needed:  # what nothing reads has no gradient
            continue
        if isinstance(equation.value, Apply) and equation.value not in pulled and has_weights(equation.value):
            count.pulled[equation.value, equation.variable, _members(equation)] = set()
    count.pull_back()
    return _filed(layer, count.parts)


def _needed(layer: Layer) -> set[Variable]:
    """Return the variables of a layer that need a gradient. Booleans and integers, such as masks, have none."""
    needed = {*layer.outputs}
    for equation in reversed(layer.equations):
        if equation.variable in needed:
            needed.update(_with_slope(equation.value))
    return needed


def _with_slope(node: Array) -> Iterator[Variable]:
    """Yield the variables that a node is computed from, except by way of booleans and integers."""
    if isinstance(node, Variable):
        yield node
    elif node.kind == "real":
        for operand in operands(node):
            yield from _with_slope(operand)


def _read(node: Array) -> set[Variable]:
    """Return the variables of the backward pass that a node is computed from."""
    return {node} if isinstance(node, Variable) else {v for operand in operands(node) for v in _read(operand)}


def _members(equation: Equation) -> Expr:
    return total(equation.over[1]) if equation.over else Integer(1)


def _filed(layer: Layer, parts: dict[str, Flops]) -> Parts:
    """Return the counts of a layer; in a normalising layer all operations except products have the kind `norm`."""
    if not _normalises(layer):
        return parts
    return {path: Flops(matmul=f.matmul, norm=f.total - f.matmul) for path, f in parts.items()}


def _normalises(layer: Layer) -> bool:
    """Return whether a layer, outside its parts, takes row means and returns an array of its first input's shape."""
    means = (isinstance(node, RowMean) for equation in layer.equations for node in nodes_of(equation.value))
    if not layer.inputs or not any(means):
        return False
    # The shapes tell layer norm and RMS norm from a loss that ends with a mean.
    given, returned = layer.inputs[0].shape, layer.outputs[0].shape
    return len(given) == len(returned) and all(map(same_size, given, returned))


@dataclass
class _Counting:
    """Counts the operations of equations one after the other, by part; pullbacks are counted once, at the end."""

    batch: Expr
    convention: Convention
    sparsity: MaskSparsity
    batched: set[Variable]

    def __post_init__(self) -> None:
        self.parts: dict[str, Flops] = {}
        self.pulled: dict[tuple[Apply, Array, Expr], set[str]] = {}

    def equation(self, equation: Equation) -> None:
        """Count one equation."""
        self.node(equation.value, self.sparsity.asked.get(equation.variable), _members(equation))
        self.follow(equation)

    def follow(self, equation: Equation) -> None:
        """Record whether the variable of an equation differs from example to example."""
        if self.depends(equation.value):
            self.batched.add(equation.variable)

    def depends(self, node: Array) -> bool:
        """Return whether a value differs from example to example."""
        return node in self.batched or any(map(self.depends, operands(node)))

    def node(self, node: Array, asked: Visible | None, times: Expr) -> None:
        """Count a node and the nodes that it is computed from, `times` times."""
        if isinstance(node, Pullback):
            self.called(node, times).add(node.name)
        elif isinstance(node, Apply):
            self.applied(node, asked, times)
        else:
            own = self.own(node, asked)
            if self.depends(node):
                own = own.times(self.batch)
            elif own.activation != 0:  # a function of positions, not of the example, is not an activation
                own = replace(own, activation=Integer(0), elementwise=own.activation)
            add_part(self.parts, "", own.times(times))
        # the body of a family is computed once for each member
        inner = times * total(node.args[2]) if isinstance(node, Concatenate | SumOver) else times
        for operand, at in self.sparsity.reads(node, asked):
            self.node(operand, at, inner)

    def called(self, node: Pullback, times: Expr) -> set[str]:
        """Return the set of names whose gradients one backward pass of an applied layer computes together."""
        # one backward pass gives the gradients with respect to all inputs of a part, so its pullbacks share one entry
        return self.pulled.setdefault((node.applied, node.cotangent, times), set())

    def applied(self, node: Apply, asked: Visible | None, times: Expr) -> None:
        """Count an applied layer under its name. A repetition counts once for each of its layers."""
        layer, bound = node.layer, node.bound
        given = [
            *zip(layer.inputs, node.arguments, strict=True),
            *((p, bound[p.name]) for p in layer.parameters if p.name in bound),
        ]
        inputs = frozenset(variable for variable, value in given if self.depends(value))
        if isinstance(node, Repeat):
            inputs |= inputs and {layer.inputs[0]}  # the output of each layer is the first input of the next
            times *= node.count
        self.file(node, forward_parts(layer, inputs, self.known(node, asked), self.batch, self.convention), times)

    def pull_back(self) -> None:
        """Count the backward pass of each layer that is pulled back, once."""
        for (node, _, times), asked in self.pulled.items():
            layer, known = node.layer, self.known(node, None)
            own = {p.name for p in node.own_parameters}
            wanted = frozenset({*asked, *own})
            if isinstance(node, Repeat):  # every layer except the first also needs the gradient for its first input
                through = backward_parts(layer, wanted | {layer.inputs[0].name}, known, self.batch, self.convention)
                self.file(node, through, times * (node.count - 1))
            self.file(node, backward_parts(layer, wanted, known, self.batch, self.convention), times)

    def known(self, node: Apply, asked: Visible | None) -> Known:
        """Return the known masks and zeros of an applied layer, if the convention needs them."""
        return Known() if self.convention.causal == "full" else self.sparsity.known(node, asked)

    def file(self, node: Apply, parts: Parts, times: Expr) -> None:
        """Add the counts of an applied layer under its name."""
        for path, flops in parts.items():
            add_part(self.parts, f"{node.name}.{path}" if path else node.name, flops.times(times))

    # --- nodes ---

    def own(self, node: Array, asked: Visible | None) -> Flops:
        """Return the operations of one node for one example."""
        counted = self.by_rule(node, asked)
        return Flops(matmul=counted.matmul) if self.convention.unit == "mac" else counted

    def by_rule(self, node: Array, asked: Visible | None) -> Flops:
        """Return the operations of a node by the first rule that applies."""
        if isinstance(node, Product) or is_outer_product(node):
            return self.product(node, asked)
        if self.convention.lookups == "counted" and isinstance(node, Lookup | ScatterRows):
            moved = entries(node.args[0].shape if isinstance(node, ScatterRows) else node.shape)
            table = node if isinstance(node, ScatterRows) else node.args[0]
            return product_flops(total(table.shape[0]) * moved, entries(node.shape), self.convention)
        counted, sums = node_operations(node), summed_entries(node)
        if self.convention.causal != "full":
            # the sum of a masked row adds only its visible entries
            seen = (
                self.sparsity.visible(node.args[0])
                if isinstance(node, RowSum)
                else asked or self.sparsity.visible(node)
            )
            shown = seen and visible_operations(node, seen.pairs)
            if seen and shown and self.convention.causal == "visible":
                counted, sums = shown, seen.pairs
            elif shown:
                counted, sums = replace(counted, matmul=counted.matmul / 2), sums / 2
        if counted.matmul != 0:  # other products; the rules count 2 FLOPs for each multiply-add
            products = product_flops(counted.matmul / 2, sums, self.convention)
            counted = replace(counted, matmul=products.matmul)
        return counted

    def product(self, node: Array, asked: Visible | None) -> Flops:
        """Return the operations of a product: in full, halved, or at the visible pairs of the result or an operand."""
        left, right = node.args
        inner = total(left.shape[-1]) if isinstance(node, Product) else Integer(1)  # v w^T: one product for each entry
        sums = entries(node.shape)
        multiply_adds = inner * sums
        by_left, by_right = self.sparsity.visible(left), self.sparsity.visible(right)
        if self.convention.causal == "full" or not (asked or by_left or by_right):
            return product_flops(multiply_adds, sums, self.convention)
        if self.convention.causal == "halved":
            return product_flops(multiply_adds, sums, self.convention).times(Rational(1, 2))
        if asked:
            # only the visible entries of the result are computed, each a sum of `inner` products
            multiply_adds, sums = asked.pairs * inner, asked.pairs
        elif by_left:  # the other entries of the left factor are 0: each visible one meets a row of the right factor
            multiply_adds = by_left.pairs * entries(right.shape[1:])
        # likewise, each visible entry of the right factor meets a column of the left one
        elif by_right:
            multiply_adds = by_right.pairs * entries(left.shape[:-1])
        return product_flops(multiply_adds, sums, self.convention)


def _pullbacks(node: Array, times: Expr) -> Iterator[tuple[Pullback, Expr]]:
    """Yield the pullbacks in an expression, each with the number of times it is evaluated."""
    if isinstance(node, Pullback):
        yield node, times
    inner = times * total(node.args[2]) if isinstance(node, Concatenate | SumOver) else times
    for operand in operands(node):
        yield from _pullbacks(operand, inner)
