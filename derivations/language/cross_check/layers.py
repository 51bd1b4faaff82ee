"""Values of an applied layer under an assignment: its equations are run in order, with its own weights.

The weights of a part are named `part.weight`, those of a repetition `part.0.weight`, `part.1.weight`, ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derivations.language.cross_check.arrays import deep, sizes_of
from derivations.language.cross_check.assignment import STEP, Assignment, Meaning, NotCovered, meaning, rule, whole
from derivations.language.differentiation.pullback import Pullback
from derivations.language.layers.layer import Apply, Layer, Repeat

__all__: list[str] = []


@rule.register
def _(node: Apply) -> Meaning:
    run = _layer(node)
    return lambda assignment: run(assignment, f"{assignment.path}{node.name}.", _given(node, assignment))


@rule.register
def _(node: Repeat) -> Meaning:
    run, count, first = _layer(node), meaning(node.count), node.layer.inputs[0].name

    def value(assignment: Assignment) -> Any:
        given = _given(node, assignment)
        for copy in range(whole(count(assignment))):
            given = {**given, first: run(assignment, f"{assignment.path}{node.name}.{copy}.", given)}
        return given[first]

    return value


def _given(node: Apply, assignment: Assignment) -> dict[str, Any]:
    inputs = zip(node.layer.inputs, node.arguments, strict=True)
    known = {variable.name: meaning(array)(assignment) for variable, array in inputs}
    return known | {name: meaning(array)(assignment) for name, array in node.bound.items()}


def _layer(node: Apply) -> Callable[[Assignment, str, dict[str, Any]], Any]:
    layer: Layer = node.layer
    weights = [(p.name, sizes_of(p.shape), p.kind) for p in node.own_parameters]

    def run(assignment: Assignment, path: str, given: dict[str, Any]) -> Any:
        local = dict(given)
        for name, sizes, kind in weights:
            local[name] = assignment.drawn(path + name, sizes, kind)
        outside = (assignment.local, assignment.path)
        # names inside a layer are local; its weights are known outside by their path
        assignment.local, assignment.path = local, path
        try:
            for equation in layer.equations:
                local[equation.variable.name] = meaning(equation)(assignment)
        finally:
            assignment.local, assignment.path = outside
        return local[layer.output.name]

    return run


@rule.register
def _(node: Pullback) -> Meaning:
    """Central differences for each entry of the input: the differences of the output, weighted by the cotangent."""
    run, cotangent, name = _layer(node.applied), meaning(node.cotangent), node.name
    sizes, rank = sizes_of(node.shape), len(node.applied.shape)

    def value(assignment: Assignment) -> Any:
        if isinstance(node.applied, Repeat):
            raise NotCovered("the pullback of a repetition")
        given, weights, path = (
            _given(node.applied, assignment),
            cotangent(assignment),
            f"{assignment.path}{node.applied.name}.",
        )
        if name not in given:
            raise NotCovered(f"the pullback to {name}, which is not given")

        def slope(places: tuple[int, ...]) -> Any:  # sum_k g_k dy_k / dx for one entry x of the input
            ends = [run(assignment, path, {**given, name: _moved(given[name], places, step)}) for step in (STEP, -STEP)]
            parts = deep(rank, lambda g, up, down: g * (up - down) / (2 * STEP), weights, *ends)
            return _added(parts)

        return _table_of(sizes(assignment), slope)

    return value


def _moved(array: Any, places: tuple[int, ...], step: Any) -> Any:
    if not places:
        return array + step
    return [_moved(inner, places[1:], step) if k == places[0] else inner for k, inner in enumerate(array)]


def _added(array: Any) -> Any:
    return sum(map(_added, array)) if isinstance(array, list) else array


def _table_of(sizes: tuple[int, ...], entry: Callable[[tuple[int, ...]], Any], *places: int) -> Any:
    if len(places) == len(sizes):
        return entry(places)
    return [_table_of(sizes, entry, *places, place) for place in range(sizes[len(places)])]


@rule.register
def _(node: Layer) -> Meaning:
    raise NotCovered(f"the layer {node.name} is not a value")
