"""Proof of a graph against a layer, equation by equation: the nodes for each left-hand side are lifted and proved.

Definition   an equation is proved where the nodes between its left-hand side and the arrays that it reads are lifted
             to its right-hand side, all of these arrays uninterpreted; equations without a value in the graph
             (arguments of parts) are read together with those that use them
Result       a graph whose every equation is proved computes the layer: an equation is its left-hand side's definition,
             and what it reads was proved before it
Assumes      the graph names its values after the equations, as exported graphs do; stacks have a known number of layers
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Expr, Integer
from sympy import Tuple as Sequence
from sympy.core.symbol import Str

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import ShapeError, total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import variables_in
from numeric.exchange.lifted_graph import parts_of_sizes
from numeric.exchange.onnx_source import source_of
from numeric.lifting.proving import Verdict, prove
from numeric.lifting.refusals import NotFollowed
from numeric.runtime.structure import identifier

__all__ = ["equation_proofs", "unrolled"]


def equation_proofs(model: Any, layer: Layer, sizes: Mapping[str, int] | None = None) -> dict[str, Verdict]:
    """Return the verdict about each equation of a layer, by its name; `sizes` are those of the export.

    Raises       ValueError where the output of the layer has no value in the graph
    """
    numbers = {size: Integer((sizes or {})[size.name]) for size in layer.sizes if size.name in (sizes or {})}
    flat = unrolled(layer.xreplace(numbers))
    values = {each.name for each in model.graph.input}
    values |= {name for node in model.graph.node for name in node.output}
    alias = {each.key: each.value for each in model.metadata_props}
    place = {e.variable.name: alias.get(e.variable.name, e.variable.name) for e in flat.equations}
    given = {size.name: size.xreplace(numbers) for size in layer.sizes} | {each.name: each for each in layer.scalars}
    even = parts_of_sizes(flat)
    waiting: list[Equation] = []
    done: list[Equation] = []
    verdicts: dict[str, Verdict] = {}
    for equation in flat.equations:
        if place[equation.variable.name] not in values:
            waiting.append(equation)
            continue
        verdict = _proved(model, _claim(flat, equation, waiting), place, given, even)
        if verdict.level == "unknown":  # its terms may be defined only by what it reads: a variance is not negative
            wider = [*waiting, *(e for e in done if e.variable in variables_in(equation.value))]
            with_read = _proved(model, _claim(flat, equation, wider), place, given, even)
            verdict = verdict if with_read.level == "not followed" else with_read
        verdicts[equation.variable.name] = verdict
        done.append(equation)
    if flat.equations[-1] in waiting:
        name = flat.equations[-1].variable.name
        raise ValueError(f"the graph has no value {name}: give the layer from which it was exported, not {layer.name}")
    return verdicts


def unrolled(layer: Layer) -> Layer:
    """Return a layer with parts written out, and stacks of a known number of layers as that many parts."""
    flat = inlined(layer)
    if not any(isinstance(e.value, Repeat) for e in flat.equations):
        return flat
    equations = [each for equation in flat.equations for each in _copies(equation)]
    stacks = Layer(flat.name, flat.inputs, tuple(flat.parameters), tuple(equations), flat.args[4])
    return unrolled(stacks)


def _copies(equation: Equation) -> Iterator[Equation]:
    node = equation.value
    if not isinstance(node, Repeat) or not node.count.is_Integer:
        yield equation
        return
    value, *rest = node.arguments
    last = int(node.count) - 1
    for number in range(last + 1):
        name = f"{node.name}.{number}"
        target = Variable(f"{name}.{node.layer.outputs[0].name}", equation.variable.shape)
        target = equation.target if number == last else target
        yield Equation(target, Apply(Str(name), node.layer, Sequence(value, *rest), node.args[3]))
        value = target


def _claim(flat: Layer, equation: Equation, waiting: list[Equation]) -> Layer:
    """Return a layer with one equation, and those of the earlier equations in `waiting` that it needs."""
    needed: list[Equation] = [equation]
    for before in sorted(waiting, key=flat.equations.index, reverse=True):
        if any(before.variable in variables_in(each.value) for each in needed):
            needed.append(before)
    needed.reverse()
    defined = {each.variable for each in needed}
    read = [v for each in needed for v in variables_in(each.value) if v not in defined]
    inputs = dict.fromkeys(read)
    plain = {v: Variable(v.name, tuple(map(total, v.shape)), v.kind) for v in inputs}
    name, output = identifier(equation.variable.name), equation.variable
    try:  # what an array is made of, such as pairs of sine and cosine, is not of the claim
        return Layer(name, tuple(plain.values()), (), tuple(each.xreplace(plain) for each in needed), output)
    except ShapeError:  # it is: the claim takes the array apart
        return Layer(name, tuple(inputs), (), tuple(needed), output)


def _proved(
    model: Any, claim: Layer, place: Mapping[str, str], given: Mapping[str, Expr], even: dict[Any, Expr]
) -> Verdict:
    inputs = {place.get(v.name, v.name): v for v in claim.inputs}
    output = place[claim.outputs[0].name]
    try:
        source = source_of(model, list(inputs), output)
    except NotFollowed as refusal:
        return Verdict("not followed", output, claim.name, reason=str(refusal))
    names = {argument: inputs[name].name for argument, name in source.arguments.items() if name in inputs}
    numbers = {a: given[name] for a, name in source.arguments.items() if name in given and name not in inputs}
    function, verdict = source.function(), None
    for parts in (
        parts_of_sizes(claim),
        even,
    ):  # an equation without an axis d/2 may hold for every d, or for even ones
        told = {argument: number.xreplace(parts) for argument, number in numbers.items()}
        verdict = prove(function, claim.xreplace(parts), names=names, **told)
        if verdict.level in ("proved", "refuted") or parts == even:
            break
    assert verdict is not None
    return verdict
