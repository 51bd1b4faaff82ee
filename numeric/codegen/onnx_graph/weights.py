"""Nested weights of a layer by dotted names, such as `layers.0.attention.W_Q`, and the sizes that they determine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol, solve

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from numeric.runtime.structure import WeightTree

__all__ = ["flat_weights", "nested_values", "shape_at", "sizes_of_weights", "solved_sizes"]

Known = Mapping[Symbol, Integer]


def shape_at(variable: Variable, known: Known) -> list[Expr]:
    """Return the shape of an array, with known sizes replaced by their numbers."""
    return [total(along).xreplace(dict(known)) for along in variable.shape]


def flat_weights(tree: WeightTree, weights: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested weights by their names in a graph."""
    for name, variable in tree.parameters.items():
        yield f"{path}{variable.name}", np.asarray(weights[name])
    for name, part in tree.parts.items():
        if part.count is None:
            yield from flat_weights(part, weights[name], f"{path}{name}.")
            continue
        for number, each in enumerate(weights[name]):
            yield from flat_weights(part, each, f"{path}{name}.{number}.")


def nested_values(
    tree: WeightTree,
    weights: Mapping[str, Any] | None,
    known: Known,
    leaf: Callable[[str, Variable, Any], Any],
    stack: Callable[[str, WeightTree], Any],
    path: str = "",
) -> dict[str, Any]:
    """Return nested weights with each array replaced by `leaf(path, variable, array)`; without weights `array` is None.

    Definition   `stack(path, part)` stands for the weights of a stack whose number of layers is not known
    """
    found: dict[str, Any] = {}
    for name, variable in tree.parameters.items():
        array = None if weights is None else np.asarray(weights[name])
        found[name] = leaf(f"{path}{variable.name}", variable, array)
    for name, part in tree.parts.items():
        below = None if weights is None else weights[name]
        if part.count is None:
            found[name] = nested_values(part, below, known, leaf, stack, f"{path}{name}.")
            continue
        count = part.count.xreplace(dict(known)) if below is None else Integer(len(below))
        if not count.is_Integer:
            found[name] = stack(f"{path}{name}", part)
            continue
        found[name] = [
            nested_values(part, None if below is None else below[k], known, leaf, stack, f"{path}{name}.{k}.")
            for k in range(int(count))
        ]
    return found


def solved_sizes(tree: WeightTree, weights: Any, known: Known) -> dict[Symbol, Integer]:
    """Return the known sizes and those that an axis of a weight determines, such as `mel` from a length 3 mel."""
    found = dict(known)
    for name, variable in tree.parameters.items():
        for length, number in zip(shape_at(variable, found), np.shape(weights[name]), strict=True):
            if len(length.free_symbols) == 1:
                (size,) = length.free_symbols
                solutions = solve(length - number, size)
                found |= {size: solutions[0]} if len(solutions) == 1 and solutions[0].is_Integer else {}
    for name, part in tree.parts.items():
        copies = [weights[name]] if part.count is None else weights[name]
        if isinstance(part.count, Symbol):
            found[part.count] = Integer(len(copies))
        for each in copies[:1]:  # all copies have the same shapes
            found = solved_sizes(part, each, found)
    return found


def sizes_of_weights(tree: WeightTree, weights: Any) -> dict[str, int]:
    """Return the sizes that weights determine, by name."""
    return {size.name: int(number) for size, number in solved_sizes(tree, weights, {}).items()}
