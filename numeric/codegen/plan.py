"""The functions to which a layer is compiled: one for each distinct layer in it, each after those that it calls."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from derivations.language.arrays.expression import Variable
from derivations.language.differentiation.preparation import prepared
from derivations.language.differentiation.tape import (
    Pulled,
    Tape,
    backward_pass,
    forward_pass,
    is_gradient,
    pulled,
    with_tapes,
)
from derivations.language.layers.layer import Apply, Layer
from derivations.language.layers.passing import with_arrays_passed
from numeric.runtime.structure import WeightTree, applications, applied_in, instance, weight_tree

__all__ = ["Plan", "Unit", "plan_of"]


@dataclass(frozen=True)
class Unit:
    """A function to print: a layer, or the forward or backward pass of a layer applied in another."""

    of: Layer
    role: str = "whole"  # or "forward", "backward"

    @property
    def layer(self) -> Layer:
        """The layer whose equations are printed."""
        return self._halves[0]

    @property
    def saved(self) -> tuple[Variable, ...]:
        """The variables that the forward pass saves for the backward pass."""
        return self._halves[1]

    @cached_property
    def _halves(self) -> tuple[Layer, tuple[Variable, ...]]:
        if self.role == "whole":
            return (with_tapes(self.of) if is_gradient(self.of) else with_arrays_passed(self.of)), ()
        return forward_pass(self.of) if self.role == "forward" else backward_pass(self.of)

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The arrays that a caller passes one by one."""
        saved = set(self.saved) if self.role == "backward" else set()
        return tuple(v for v in self.layer.inputs if v not in saved)

    @property
    def tree(self) -> WeightTree:
        """The weights that a caller passes."""
        return weight_tree(self.of)

    @cached_property
    def taped(self) -> set[Apply]:
        """The applied layers whose forward pass is called, because a gradient through them is needed."""
        return {e.value.applied for e in self.layer.equations if isinstance(e.value, Tape)}


@dataclass(frozen=True)
class Plan:
    """The functions to print, each after those that it calls; for each applied layer, the layer that is printed for it.

    Layers that differ only in their sizes are printed once, as the most general of them.
    """

    units: tuple[Unit, ...]
    general: Mapping[Layer, Layer]

    def callee(self, caller: Unit, node: Apply | Pulled) -> Unit:
        """Return the function for a layer that is applied, or for its backward pass if it is pulled back."""
        role = "backward" if isinstance(node, Pulled) else "forward" if node in caller.taped else "whole"
        return Unit(self.general[node.layer], role)

    def callees(self, caller: Unit) -> list[Unit]:
        """Return the functions that a function calls."""
        found: list[Unit] = []
        for equation in caller.layer.equations:
            roots = [] if isinstance(equation.value, Tape) else applied_in(equation.value)
            found += [self.callee(caller, node) for node in (*roots, *(node for node, _ in pulled(equation.value)))]
        return list(dict.fromkeys(found))


def plan_of(layer: Layer) -> Plan:
    """Return the functions to print for a layer; its own is the last."""
    plan = Plan((), _most_general(list(dict.fromkeys(_applied(layer)))))
    order: dict[Unit, None] = {}

    # depth first: each function is added after those that it calls
    def visit(unit: Unit) -> None:
        for callee in plan.callees(unit):
            visit(callee)
        order[unit] = None

    visit(Unit(layer))
    return Plan(tuple(order), plan.general)


def _most_general(applied: list[Layer]) -> dict[Layer, Layer]:
    """Return for each layer the most general layer of which it is an instance, differing in sizes only."""
    kept: list[Layer] = []
    for each in applied:
        if any(instance(other, each) is not None and instance(each, other) is None for other in kept):
            continue
        # of two layers that differ only in the names of sizes, the later one stays
        kept = [*(other for other in kept if instance(each, other) is None), each]
    return {each: next(other for other in kept if instance(other, each) is not None) for each in applied}


def _applied(layer: Layer) -> Iterator[Layer]:
    for node in applications(layer if is_gradient(layer) else with_arrays_passed(layer)):
        yield from _applied(node.layer)
        yield from _applied(prepared(node.layer)) if is_gradient(layer) else ()
        yield node.layer
