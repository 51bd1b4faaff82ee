r"""Working memory of a forward pass: the arrays that are live while an equation is evaluated.

Definition   a value is live from the equation that makes it to the last one that reads it; the working memory of a
             layer is the largest number of live entries over its equations, those of its parts included. An argument
             that nothing reads later belongs to the part that it is given to; each layer of a repetition works in the
             place of the one before. A fused layer makes only its output: normalisations, attention from scores to
             weighted sums, and layers without products, such as rotations. Members of a family that are only added up
             are added as they are made
Assumes      an array is allocated for every named value and for nothing else; masks and integers are not counted
Units        entries
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer, expand

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.expression import Array, Member, Product, Transpose, Variable
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.counting.memory_counts import is_attention
from derivations.language.counting.operations import entries
from derivations.language.counting.saved_residuals import is_normalisation
from derivations.language.layers.layer import Apply, Equation, Layer

__all__ = ["is_fused", "live_entries"]

ZERO = Integer(0)


def is_fused(layer: Layer) -> bool:
    """Return whether a layer is one kernel: a normalisation, attention without weights, or a layer without products."""
    return is_normalisation(layer) or is_attention(layer) or not _has_products(layer)


@lru_cache(maxsize=512)
def _has_products(layer: Layer) -> bool:
    own = any(equation.nodes(Product, RoutedProduct) for equation in layer.equations)
    return own or any(_has_products(part.layer) for part in layer.parts.values())


@lru_cache(maxsize=256)
def live_entries(layer: Layer, fused: Callable[[Layer], bool] = is_fused) -> tuple[Expr, ...]:
    """Return the distinct numbers of live entries at the equations of a layer. The largest is the working memory.

    Definition   inputs of the layer count as long as they are read; parameters do not count
    Units        entries; which is the largest depends on the sizes
    """
    moments = _moments(layer, frozenset(v.name for v in layer.inputs), fused)
    return tuple(dict.fromkeys(expand(each.inside + each.output) for each in moments))


@dataclass(frozen=True)
class _Moment:
    """The numbers of live entries at an equation of a layer: of inner arrays, and of the outputs."""

    inside: Expr
    output: Expr


@lru_cache(maxsize=512)
def _moments(layer: Layer, given: frozenset[str], fused: Callable[[Layer], bool]) -> tuple[_Moment, ...]:
    """Return the live entries at every equation. `given` names the inputs that nothing outside reads later."""
    equations = layer.equations
    last = _last_reads(layer)
    sizes = {v.name: entries(v.shape) for v in layer.inputs if v.name in given and v.kind == "real"}
    sizes |= {e.variable.name: _size(e, layer) for e in equations}
    outputs = {v.name for v in layer.outputs}
    found = []
    for number, equation in enumerate(equations):
        own = equation.variable.name
        made = {v.name for v in layer.inputs} | {e.variable.name for e in equations[:number]}
        live = {name for name in made if last.get(name, -1) >= number}
        for applied in _applications(equation.value):
            if fused(applied.layer):
                continue
            # an argument that all members of a family read is not in the hands of one
            spent = _spent(applied, last, number) if equation.over is None else {}
            around = sum((sizes.get(name, ZERO) for name in live - spent.keys() - outputs), ZERO)
            copies = Integer(1) if equation.over is None else equation.over[1]
            for inner in _moments(applied.layer, frozenset(spent.values()), fused):
                # members of a family that are only added up share one output
                output = ZERO if inner.output == 0 else sizes[own]
                is_output = own in outputs
                inside = around + copies * inner.inside + (ZERO if is_output else output)
                found.append(_Moment(inside, output if is_output else ZERO))
        inside = sum((sizes.get(name, ZERO) for name in (live | {own}) - outputs), ZERO)
        found.append(_Moment(inside, sum((sizes[name] for name in (live | {own}) & outputs), ZERO)))
    return tuple(dict.fromkeys(found))


def _size(equation: Equation, layer: Layer) -> Expr:
    """Return the number of entries that an equation allocates. A view of another array allocates none."""
    variable = equation.variable
    if variable.kind != "real" or _viewed(equation.value) is not None:
        return ZERO
    members = Integer(1) if equation.over is None else equation.over[1]
    return entries(variable.shape) / (members if _only_added(variable, layer) else 1)


def _only_added(variable: Variable, layer: Layer) -> bool:
    """Return whether a family is read by sums over all its members and nothing else."""
    readers = [e.value for e in layer.equations if variable in e.nodes(Variable)]
    return bool(readers) and all(isinstance(value, SumOver) for value in readers)


def _viewed(node: Array) -> Variable | None:
    """Return the array whose entries a node only rearranges, or None. Concatenation counts as writing in place."""
    while isinstance(node, Transpose | Concatenate | Member):
        node = node.args[0]
    return node if isinstance(node, Variable) else None


def _last_reads(layer: Layer) -> dict[str, int]:
    """Return, by name, the number of the last equation that reads an array or a view of it; outputs are read last."""
    last: dict[str, int] = {v.name: len(layer.equations) for v in layer.outputs}
    for number, equation in reversed(tuple(enumerate(layer.equations))):
        viewed = _viewed(equation.value)
        until = max(number, last.get(equation.variable.name, -1)) if viewed is not None else number
        for variable in equation.nodes(Variable):
            last[variable.name] = max(last.get(variable.name, -1), until)
    return last


def _spent(applied: Apply, last: dict[str, int], number: int) -> dict[str, str]:
    """Return the arguments of a part that nothing reads later, each with the name of its input in the part.

    The first input of a repetition is that of its first layer; the later ones work in its place.
    """
    pairs = zip(applied.arguments, applied.layer.inputs, strict=True)
    return {
        argument.name: inner.name
        for argument, inner in pairs
        if isinstance(argument, Variable) and argument.kind == "real" and last.get(argument.name, -1) <= number
    }


def _applications(node: Array) -> Iterator[Apply]:
    if isinstance(node, Apply):
        yield node
    operands = node.arguments if isinstance(node, Apply) else node.args
    for operand in operands:
        if isinstance(operand, Array):
            yield from _applications(operand)
