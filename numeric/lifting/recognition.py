"""Named functions in a lifted layer: a softmax that was written by hand is found, proved, and written by its name.

Definition   an array v of the layer is f(u), for a named function f and an array u that v depends on
Result       the layer with f(u) in the place of v, which counts FLOPs as the catalogue's f does
Assumes      what the judge needed to prove v = f(u), which is added to the conditions

Numbers only choose what is tried: a replacement is made where the judge proves the equality, and nowhere else. Arrays
between u and v that other steps read are kept, and count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sympy import Expr, Number, Symbol

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.contraction import contraction, indices_of, operand_of
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.functions import Elementwise, RowLogSumExp, RowSoftmax
from derivations.language.arrays.shapes import Sized, same_size
from derivations.language.counting.convention import CONVENTION, Convention
from derivations.language.counting.costs import Flops, count_flops
from derivations.language.judge.proof import prove_equal
from derivations.language.layers.layer import Apply, Equation, Layer, part
from derivations.language.results.derivation import Assumption, Derivation
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from numeric.lifting.conditions import assumable
from numeric.lifting.differential import Run, all_values, assignments, compiled_value, disagreement, draw
from numeric.lifting.lift import Lifted
from numeric.lifting.refusals import NotFollowed

__all__ = ["Counted", "count_lifted", "recognise"]

_MOST = 20  # replacements in one layer
_CONDITIONS = 2
_EPSILON = 1e-5  # the number that stands for a scalar while candidates are chosen
Values = Mapping[Array, Any]


@dataclass(frozen=True)
class Counted:
    """The operations of a lifted function, and which of its arrays were counted as a named function."""

    flops: Flops
    recognised: tuple[str, ...] = ()
    conditions: tuple[Assumption, ...] = ()

    @property
    def notes(self) -> list[str]:
        """What was counted by name, and under which conditions."""
        named = [f"counting {each}, which is proved" for each in self.recognised]
        return [*named, *(f"where {condition.text}" for condition in self.conditions)]

    def __str__(self) -> str:
        """Return the total, and the notes."""
        return "; ".join([f"{self.flops.total} {self.flops.convention.unit}", *self.notes])


def count_lifted(lifted: Lifted, batch: Sized = 1, convention: Convention = CONVENTION) -> Counted:
    """Return the operation count of a lifted function. Arrays proved to be a named function count as that function.

    Units        FLOPs or multiply-adds, as the convention says
    Raises       the errors of `count_flops`
    """
    named = recognise(lifted)
    return Counted(count_flops(named.layer, batch, convention), named.recognised, named.conditions)


def recognise(lifted: Lifted) -> Lifted:
    """Return a lifted function with its named functions written by their names, where the judge proves them."""
    with np.errstate(all="ignore"):
        for _ in range(_MOST):
            found = _one(lifted)
            if found is None:
                break
            lifted = found
    return lifted


# --- one replacement -------------------------------------------------------------------------------------------------


def _one(lifted: Lifted) -> Lifted | None:
    """Return the function with one array replaced by a named function, the last array with a proof, or None."""
    parts = _Parts(lifted.layer)
    try:
        sizes = next(assignments(lifted, general=True))
        run = draw(lifted, sizes)
        values = _values(parts, run)
    except (Exception, NotFollowed):  # the search is an aid: without numbers nothing is tried
        return None
    for target in reversed(list(parts.equations)):
        if target.kind != "real" or not target.shape or parts.is_named_function(target):
            continue
        for source in (u for u in parts.before(target) if u.kind == "real" and u.shape):
            for text, value in _candidates(target, source, values, lifted.layer):
                new = _replaced(lifted, parts, target, source, text, value, run)
                if new is not None:
                    return new
    return None


def _replaced(
    lifted: Lifted, parts: _Parts, target: Variable, source: Variable, text: str, value: Array, run: Run
) -> Lifted | None:
    if not _same_shape(value, target):
        return None
    nested = {v: parts.written[v] for v in value.atoms(Variable) if parts.written.get(v, v) != v}
    written = value.xreplace(nested)
    note = f"{parts.written[target]} as {text.format(parts.written[source])}"
    layer = _with(lifted.layer, parts.written[target], written)
    if layer == lifted.layer or note in lifted.recognised:  # it is written so already
        return None
    conditions = _proved(lifted, target, value, parts.between(source, target))
    if conditions is None:
        return None
    numbers = {s.name: _EPSILON for s in layer.scalars}
    if disagreement(compiled_value(lifted.layer, run, numbers), compiled_value(layer, run, numbers), run) is not None:
        return None
    return replace(
        lifted,
        layer=layer,
        recognised=(*lifted.recognised, note),
        conditions=(*lifted.conditions, *(each for each in conditions if each not in lifted.conditions)),
    )


def _proved(
    lifted: Lifted, target: Variable, value: Array, definitions: tuple[Equation, ...]
) -> tuple[Assumption, ...] | None:
    """Return the conditions added to prove that an array equals an expression, or None without a proof."""
    known = (*(Assumption(relation) for relation in lifted.assumed), *lifted.conditions)
    added: tuple[Assumption, ...] = ()
    for _ in range(1 + _CONDITIONS):
        goal = Derivation("recognised", "", (), definitions, {}, (*known, *added))
        evidence = prove_equal(target, value, goal, "definition", refute=False)
        if evidence.level == "proved":
            return added
        new = [each for each in assumable(evidence, lifted) if each not in (*known, *added)]
        if not new:
            return None
        added = (*added, *new)
    return None


def _with(layer: Layer, old: Array, new: Array) -> Layer:
    """Return a layer with one array replaced by an expression, without equations that are no longer read."""
    equations = [
        Equation(e.variable, new if e.variable == old else e.value.xreplace({old: new})) for e in layer.equations
    ]
    needed = set(layer.outputs)
    for equation in reversed(equations):
        if equation.variable in needed:
            needed |= equation.value.atoms(Variable)
    kept = [equation for equation in equations if equation.variable in needed]
    return Layer(layer.name, layer.inputs, layer.parameters, kept, layer.output)


# --- the arrays of a layer, one by one -------------------------------------------------------------------------------


class _Parts:
    """The equations of a layer split into single operations, so that every intermediate array has a name."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.equations: dict[Variable, Array] = {}
        self.written: dict[Array, Array] = {v: v for v in (*layer.inputs, *layer.parameters)}
        self._names: dict[Array, Variable] = {}
        for equation in layer.equations:
            self.equations[equation.variable] = self._taken_apart(equation.value)
            self.written[equation.variable] = equation.variable

    def _taken_apart(self, node: Array) -> Array:
        if isinstance(node, Concatenate | SumOver | Apply | Variable):
            return node
        taken: Array = node.func(*(self._named(part) if isinstance(part, Array) else part for part in node.args))
        return taken

    def _named(self, node: Array) -> Array:
        if isinstance(node, Variable):
            return node
        if node not in self._names:
            value = self._taken_apart(node)
            variable = Variable(f"part_{len(self._names)}", value.shape, value.kind)
            self._names[node], self.equations[variable], self.written[variable] = variable, value, node
        return self._names[node]

    def is_named_function(self, variable: Variable) -> bool:
        """Return whether the equation of an array is a named function already."""
        return isinstance(self.equations[variable], RowSoftmax | RowLogSumExp | Apply)

    def before(self, variable: Variable) -> list[Variable]:
        """Return the arrays that an array depends on, in order of evaluation.

        So softmax(x - max x) is found as softmax(x), because x comes first.
        """
        needed = self._needed(variable, frozenset())
        order = [*self.layer.inputs, *self.layer.parameters, *self.equations]
        return [each for each in order if each in needed and each != variable]

    def between(self, source: Variable, target: Variable) -> tuple[Equation, ...]:
        """Return the equations that compute the target from the source, without the equation of the source itself."""
        needed = self._needed(target, frozenset({source}))
        return tuple(Equation(v, value) for v, value in self.equations.items() if v in needed and v != source)

    def _needed(self, variable: Variable, ends: frozenset[Variable]) -> set[Variable]:
        found: set[Variable] = set()
        left = [variable]
        while left:
            current = left.pop()
            if current not in found:
                found.add(current)
                left += (
                    [] if current in ends or current not in self.equations else self.equations[current].atoms(Variable)
                )
        return found


def _values(parts: _Parts, run: Run) -> Values:
    layer = parts.layer
    whole = Layer(
        layer.name, layer.inputs, layer.parameters, [Equation(*each) for each in parts.equations.items()], layer.output
    )
    named = all_values(whole, run, {s.name: _EPSILON for s in layer.scalars})
    return {
        variable: np.asarray(named[variable.name] if variable.name in named else run.arrays[variable.name])
        for variable in (*layer.inputs, *layer.parameters, *parts.equations)
    }


# --- what is tried ---------------------------------------------------------------------------------------------------


def _candidates(target: Variable, source: Variable, values: Values, layer: Layer) -> Iterator[tuple[str, Array]]:
    """Yield named functions of the source array whose values agree with the target array, each with its text."""
    for each in (_softmax, _log_sum_exp, _norms):
        yield from each(target, source, values, layer)


def _near(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))


def _same_shape(one: Array, other: Array) -> bool:
    return len(one.shape) == len(other.shape) and all(map(same_size, one.shape, other.shape))


def _softmax(target: Variable, source: Variable, values: Values, layer: Layer) -> Iterator[tuple[str, Array]]:
    """The softmax of rows, with any of the masks, and its logarithm."""
    if not _same_shape(target, source):
        return
    x, y = values[source], values[target]
    powers = np.exp(x - x.max(-1, keepdims=True))
    if _near(powers / powers.sum(-1, keepdims=True), y):
        yield "softmax({})", RowSoftmax(source)
    if _near(x - x.max(-1, keepdims=True) - np.log(powers.sum(-1, keepdims=True)), y):
        yield "log softmax({})", source - _along_rows(RowLogSumExp(source), source)
    for mask in (v for v in values if v.kind == "boolean" and v.shape and same_size(v.shape[-1], source.shape[-1])):
        if len(mask.shape) > len(source.shape):
            continue
        visible = np.where(values[mask], powers, 0.0)
        found = visible / visible.sum(-1, keepdims=True)
        if _near(found, y):
            shown = _repeated(mask, source)
            if shown is not None:
                yield f"softmax({{}}, {mask})", RowSoftmax(source, shown)


def _log_sum_exp(target: Variable, source: Variable, values: Values, layer: Layer) -> Iterator[tuple[str, Array]]:
    if len(target.shape) != len(source.shape) - 1:
        return
    x = values[source]
    largest = x.max(-1, keepdims=True)
    if _near((largest + np.log(np.exp(x - largest).sum(-1, keepdims=True)))[..., 0], values[target]):
        yield "log-sum-exp({})", RowLogSumExp(source)


def _norms(target: Variable, source: Variable, values: Values, layer: Layer) -> Iterator[tuple[str, Array]]:
    """Normalisations of the catalogue, with a gain and a bias among the vectors of the layer."""
    if len(target.shape) != 2 or not _same_shape(target, source):
        return
    x, y = values[source], values[target]
    vectors = [
        v for v in (*layer.inputs, *layer.parameters) if len(v.shape) == 1 and same_size(v.shape[0], source.shape[-1])
    ]
    for eps in _small_numbers(layer):
        small = _EPSILON if isinstance(eps, Symbol) else float(eps)
        root_mean_square = x / np.sqrt((x * x).mean(-1, keepdims=True) + small)
        centred = x - x.mean(-1, keepdims=True)
        standard = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + small)
        for gain in vectors:
            if _near(root_mean_square * values[gain], y):
                yield f"rms_norm({{}}, {gain})", _applied(rms_norm(eps), source, gain)
            for bias in vectors:
                if _near(standard * values[gain] + values[bias], y):
                    yield f"layer_norm({{}}, {gain}, {bias})", _applied(layer_norm(eps), source, gain, bias)


def _applied(layer: Layer, *arrays: Array) -> Array:
    """Return a layer applied to arrays, with the layer's inputs and its weights all passed as inputs."""
    inputs = (*layer.inputs, *layer.parameters)
    return part(layer.name, Layer(layer.name, inputs, (), layer.equations, layer.output))(*arrays)


def _small_numbers(layer: Layer) -> list[Expr]:
    """Return the candidates for epsilon: numbers between 0 and 1 in a layer, its positive scalars, and 0."""
    numbers = {number for e in layer.equations for number in _numbers_in(e.value) if 0 < number < 1}
    return [*sorted(numbers, key=float), *(s for s in layer.scalars if s.is_positive), Number(0)]


def _numbers_in(value: Array) -> set[Any]:
    inside = set().union(*(node.args[0].formula.expr.atoms(Number) for node in value.atoms(Elementwise)), set())
    return {*inside, *value.atoms(Number)}


def _along_rows(numbers: Array, like: Array) -> Array:
    """Return one number for each row as an array with equal entries in each row."""
    read = indices_of(like.shape)
    return contraction(read, like.shape, (), 1, operand_of(numbers, read[:-1]))


def _repeated(mask: Array, like: Array) -> Array | None:
    """Return a mask of the last axes, repeated along the first ones."""
    if not all(map(same_size, mask.shape, like.shape[len(like.shape) - len(mask.shape) :])):
        return None
    if len(mask.shape) == len(like.shape):
        return mask
    read = indices_of(like.shape)
    return contraction(read, like.shape, (), 1, operand_of(mask, read[len(read) - len(mask.shape) :]))
