"""The readings of a module for one assignment of its weights, with all sizes distinct or with some identified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

from sympy import Expr, Integer, Symbol

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation
from numeric.lifting.computed import in_sizes
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import Binding, front_axes, member, own_array, stored_shape
from numeric.lifting.reading.fitting import Fitting
from numeric.lifting.reading.layouts import Layout, Piece
from numeric.lifting.reading.weight_search import told_parts

__all__ = ["Assigned", "bindings_of_weights"]

Assigned = tuple[tuple[Variable, Piece, Layout], ...]


def bindings_of_weights(
    module: Any, fitting: Fitting, sizes: Mapping[Symbol, int], assigned: Assigned
) -> Iterator[Binding]:
    """Yield the bindings of one assignment of weights: with all sizes distinct, and with equal sizes identified."""
    halves = {s: 2 * Symbol(f"{s.name}_half", integer=True, positive=True) for s in sizes if fitting.layer.has(s / 2)}
    if _of_equal_parts(assigned):
        found = _with_sizes(module, fitting, sizes, assigned, {}, halves)
        if found is not None:
            yield found
    ordered = sorted(sizes.items(), key=lambda each: str(each[0]))
    same: dict[Symbol, Expr] = {}
    for (one, v), (other, w) in combinations(ordered, 2):
        if v == w and one not in same:
            same.setdefault(other, one)
    apart = [(s, v) for s, v in ordered if s not in same]
    for length in (2, 3):
        for factors in combinations(apart, length):
            for whole, value in apart:
                if value == prod(v for _, v in factors) and whole not in same and whole not in dict(factors):
                    same[whole] = prod(s for s, _ in factors)
    if not same:
        return
    found = _with_sizes(module, fitting, sizes, assigned, same, halves)
    if found is not None:
        yield found


def _of_equal_parts(assigned: Assigned) -> bool:
    """Return whether the parts of each weight have equal symbolic shapes."""
    shapes: dict[str, list[Expr]] = {}
    for variable, piece, layout in assigned:
        if piece.lengths:
            continue
        shape = stored_shape(variable, layout, piece.parts, piece.axis)
        if shapes.setdefault(piece.path, shape) != shape:
            return False
    return True


def _with_sizes(
    module: Any,
    fitting: Fitting,
    sizes: Mapping[Symbol, int],
    assigned: Assigned,
    same: Mapping[Symbol, Expr],
    halves: Mapping[Symbol, Expr],
) -> Binding | None:
    """Return the binding with the sizes in `same` replaced. A size that the layer halves is 2 times a new symbol."""
    whole = {s: product.xreplace(dict(halves)) for s, product in same.items()}
    whole |= {s: double for s, double in halves.items() if s not in whole}
    moved = tuple((v.xreplace(whole), piece, layout) for v, piece, layout in assigned)
    left = {s: v for s, v in sizes.items() if s not in whole}
    left |= {double / 2: sizes[s] // 2 for s, double in halves.items() if s not in same}
    values = {**left, **{product: sizes[s] for s, product in whole.items()}}
    found = _module_binding(module, _in_sizes(fitting, whole), left, moved, values)
    told = (f"{s} as {product}" for s, product in (*same.items(), *halves.items()))
    return None if found is None else replace(found, readings=(*found.readings, *told))


def _in_sizes(fitting: Fitting, same: Mapping[Symbol, Expr]) -> Fitting:
    """Return a fitting with some of its sizes replaced by other sizes."""
    constants = {name: in_sizes(value, same) for name, value in fitting.constants.items()}
    inputs = [v.xreplace(same) for v in fitting.inputs]
    return replace(fitting, layer=fitting.layer.xreplace(same), inputs=inputs, constants=constants)


def _module_binding(
    module: Any,
    fitting: Fitting,
    sizes: Mapping[Symbol, int],
    assigned: Assigned,
    values: Mapping[Expr, int],
) -> Binding | None:
    """Return the binding of one assignment of weights. `values` gives the numbers of sizes and of products of sizes."""
    changed, equations, readings = fitting.layer, fitting.equations, fitting.readings
    front = front_axes(fitting.batch)
    arguments: dict[str, Any] = dict(fitting.constants)
    stated: list[Equation] = []
    for name, variable in zip(fitting.needed, fitting.inputs, strict=True):
        before = () if name in fitting.given else front
        own = own_array(name, (*(s for _, s in before), *map(total, variable.shape)), variable, changed)
        arguments[name] = fitting.argument(name, own)
        stated.append(Equation(variable, member(own, before)))
    weights: dict[str, Variable] = {}
    for variable, piece, layout in assigned:
        start, whole = _place_of_part(piece, assigned)
        shape = stored_shape(variable, layout, piece.parts, piece.axis)
        if piece.lengths:
            shape[piece.axis] = whole
        weights[piece.path] = Variable(piece.path, shape)
        stated.append(Equation(variable, layout.reads(variable, weights[piece.path], piece, start)))
    all_paths = door_of(module).weights(module)
    held = {variable for variable, _, _ in assigned}
    absent = [v for v in changed.parameters if v not in held]
    others = {path: Variable(path, shape) for path, shape in all_paths.items() if path not in weights}
    others |= {f"no weight for {v.name}": v for v in absent}  # the layer has it, with any entries
    found = Binding(
        changed,
        arguments,
        tuple(e for e in stated if e.variable != e.value),
        (
            *readings,
            *_less_one(assigned),
            *_out_of_order(assigned, list(all_paths)),
            *(f"{v.name} as any entries" for v in absent),
        ),
        {**{path: weights[path] for path in all_paths if path in weights}, **others},
        _known(values, assigned, weights),
        dict(sizes),
        front,
    )
    return replace(found, equations=(*found.equations, *equations(found)))


def _place_of_part(piece: Piece, assigned: Assigned) -> tuple[Expr, Expr]:
    """Return the start of a part along the cut axis, and the length of that axis, both in symbolic sizes."""
    ends = {0: Integer(0)}
    parts = sorted(((p.part, v, layout) for v, p, layout in assigned if p.path == piece.path), key=lambda each: each[0])
    for number, variable, layout in parts:
        ends[number + 1] = ends[number] + stored_shape(variable, layout)[piece.axis]
    return ends[piece.part], ends[piece.parts]


def _less_one(assigned: Assigned) -> Iterator[str]:
    """Yield a text for each weight that the module stores with a number subtracted, such as a gain less 1."""
    for variable, piece, layout in assigned:
        if layout.less:
            yield f"{variable.name} as {layout.less} + {piece.path}"


def _out_of_order(assigned: Assigned, paths: Sequence[str]) -> Iterator[str]:
    """Yield which stored weight each weight is read from, where weights of equal shape are not in the module's order.

    Of parts whose order differs between implementations it is always said.
    """
    alike: dict[Any, list[tuple[Variable, Piece]]] = {}
    for variable, piece, _ in assigned:
        alike.setdefault((piece.shape, piece.parts), []).append((variable, piece))
    for group in alike.values():
        order = [(paths.index(piece.path), piece.part) for _, piece in group]
        told = any(told_parts(v, w, p, q) for (v, p), (w, q) in combinations(group, 2))
        if told or order != sorted(order):
            for variable, piece in group:
                part = f"part {piece.part + 1} of {piece.parts} of " if piece.parts > 1 else ""
                yield f"{variable.name} as {part}{piece.path}"


def _known(sizes: Mapping[Expr, int], assigned: Assigned, weights: Mapping[str, Variable]) -> dict[int, Expr]:
    """Return the size that each number of a module stands for. A number that could be two sizes is left out."""
    known: dict[int, Expr] = {}
    double: set[int] = set()
    shaped = [(piece.shape, weights[piece.path].shape) for _, piece, _ in assigned]
    dims = [(n, total(s)) for concrete, symbolic in shaped for n, s in zip(concrete, symbolic, strict=True)]
    counts = {prod(map(total, variable.shape[:-2]), start=Integer(1)) for variable, _, _ in assigned}
    heads = [(int(count.xreplace(dict(sizes))), count) for count in counts if len(count.free_symbols) > 1]
    for number, size in [*dims, *((number, symbol) for symbol, number in sizes.items()), *heads]:
        if known.setdefault(number, size) != size:
            double.add(number)
    return {n: s for n, s in known.items() if n not in double}
