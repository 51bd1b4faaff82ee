"""A layer while it is rewritten: its equations by variable, its present weights, and the rewrites so far.

A draft applies a proposal only when the judge proves it. A refused proposal is kept with the reason, and not retried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sympy import Basic

from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.layers.layer import Equation, Gradient, Layer
from derivations.language.layers.names import fresh_name, variables_in
from numeric.optimize.rewrite import Proposal, Rewrite, stated

__all__ = ["Draft"]


@dataclass
class Draft:
    """The equations of a layer during optimisation, in order of evaluation.

    `masks`: inputs that are known to be a certain mask; `fixed`: parameters that another layer owns, so that they
    cannot be packed.
    """

    layer: Layer
    masks: Mapping[Variable, Array] = field(default_factory=dict)
    fixed: frozenset[Variable] = frozenset()
    equations: dict[Variable, Equation] = field(default_factory=dict)
    packing: list[Equation] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    refused: set[tuple[str, frozenset[Equation]]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.equations = {equation.variable: equation for equation in self.layer.equations}
        self._names = {v.name for v in (*self.layer.inputs, *self.layer.parameters, *self.equations)}
        self._readers: dict[Variable, list[Equation]] | None = None

    # The present layer

    @property
    def rearranges(self) -> bool:
        """Return whether weights may be packed and sums rearranged: a gradient must keep its weights by name."""
        return not isinstance(self.layer, Gradient)

    def is_weight(self, node: Basic) -> bool:
        """Return whether a variable is a weight that may be packed: a parameter, old or new, that this layer owns."""
        old = node in self.layer.parameters and node not in self.fixed
        return old or any(equation.variable == node for equation in self.packing)

    def equation(self, name: Basic) -> Equation | None:
        """Return the equation of a variable, or of the family to which a member belongs, or None."""
        variable = name.args[0] if isinstance(name, Member) else name
        return self.equations.get(variable)

    def readers(self, variable: Variable) -> list[Equation]:
        """Return the equations that read a variable, one entry for each occurrence."""
        if self._readers is None:
            self._readers = {}
            for equation in self.equations.values():
                for node in variables_in(equation.value):
                    self._readers.setdefault(node, []).append(equation)
        return self._readers.get(variable, [])

    def read_once(self, variable: Variable) -> Equation | None:
        """Return the one equation that reads a variable, in one place, or None; the caller reads an output."""
        readers = self.readers(variable)
        return readers[0] if len(readers) == 1 and variable not in self.layer.outputs else None

    def mask(self, node: Array) -> Array | None:
        """Return the written-out form of a mask where equations or callers define it, else None."""
        equation = self.equation(node)
        if equation is not None and equation.over is None:
            return self.mask(equation.value)
        return self.masks.get(node) if isinstance(node, Variable) else node

    def fresh(self, wanted: str) -> str:
        """Return a new name, which no variable of the layer has."""
        return fresh_name(wanted, self._names)

    # Changes

    def propose(self, name: str, proposal: Proposal) -> bool:
        """Apply a proposal if the judge proves it; return whether it was applied."""
        # by the equations and not by the variables: once one of them has changed, the proposal is tried again
        key = (name, frozenset(self.equations[v] for v in (*proposal.opened, *proposal.replaced)))
        if key in self.refused:
            return False
        before = tuple(self.equations[v] for v in (*proposal.opened, *proposal.replaced))
        after = (*proposal.fresh, *(self._at(v, new) for v, new in proposal.replaced.items()))
        # stated before anything changes: the proof is about the old equations
        proof = stated(name, proposal, self.equations)
        level, failures = proof.evidence.level, proof.evidence.failures
        done = level in ("proved", "definition")
        reason = "" if done else "; ".join(failures)
        self.rewrites.append(Rewrite(name, proposal.theorem, before, after, proposal.packed, proof, level, reason))
        if not done:
            self.refused.add(key)
            return False
        self.packing += proposal.packed
        self._put(after, proposal.opened)
        needed = self.needed(self.layer.outputs)
        for variable in proposal.opened:  # the equations that were replaced
            if variable not in needed:
                self.equations.pop(variable, None)
        self._readers = None
        return True

    def drop(self, name: str, theorem: str, dead: Iterable[Variable]) -> None:
        """Remove equations whose variables no equation reads."""
        gone = tuple(self.equations.pop(variable) for variable in dead)
        self.rewrites.append(Rewrite(name, theorem, gone, ()))
        self._readers = None

    def define(self, name: str, variable: Variable, value: Array, fresh: Iterable[Equation]) -> None:
        """Define new variables, and write a right-hand side with them that is equal by definition."""
        after = (*fresh, self._at(variable, value))
        self.rewrites.append(Rewrite(name, "definition", (self.equations[variable],), after))
        self._put(after, (variable,))
        self._readers = None

    def substitute(self, variable: Variable, value: Array) -> None:
        """Set a right-hand side that is equal by definition, such as the application of an optimised layer."""
        self.equations[variable] = self._at(variable, value)
        self._readers = None

    def _at(self, variable: Variable, value: Array) -> Equation:
        equation = self.equations[variable]
        return Equation(equation.target, value, *(equation.over or ()))

    def _put(self, equations: Iterable[Equation], opened: Iterable[Variable]) -> None:
        """Insert or replace equations, and order them so that each follows the equations that it reads."""
        put = {equation.variable: equation for equation in equations}
        place = next((variable for variable in self.equations if variable in opened), None)
        known = self.equations
        self.equations = {}
        for variable, equation in known.items():
            if variable == place:
                self.equations |= {v: e for v, e in put.items() if v not in known}
            self.equations[variable] = put.get(variable, equation)
        self.equations |= put
        ordered: dict[Variable, Equation] = {}

        def visit(variable: Variable) -> None:
            if variable in ordered or variable not in self.equations:
                return
            for read in variables_in(self.equations[variable].value):
                visit(read)
            ordered[variable] = self.equations[variable]

        for variable in list(self.equations):
            visit(variable)
        self.equations = ordered

    # The result

    def needed(self, roots: Iterable[Variable]) -> set[Variable]:
        """Return every variable from which the given variables are computed, themselves included."""
        found: set[Variable] = set()
        waiting = list(roots)
        while waiting:
            variable = waiting.pop()
            if variable in found:
                continue
            found.add(variable)
            equation = self.equations.get(variable)
            waiting += variables_in(equation.value) if equation else []
        return found

    def finished(self) -> tuple[Layer, Layer]:
        """Return the rewritten layer, with the weights that it still reads, and the packing of those weights."""
        read = self.needed(self.layer.outputs)
        # a gradient returns a gradient for each weight, so it keeps them all
        old = [p for p in self.layer.parameters if p in read or not self.rearranges]
        by_variable = {equation.variable: equation for equation in self.packing}
        new = [variable for variable in by_variable if variable in read]
        needed: set[Variable] = set()
        waiting: list[Variable] = list(new)
        while waiting:
            variable = waiting.pop()
            if variable not in needed:
                needed.add(variable)  # a packed weight may be computed from other packed weights
                waiting += variables_in(by_variable[variable].value) if variable in by_variable else []
        layer = self.layer
        weights = tuple(p for p in (*old, *new))
        packing = [equation for equation in self.packing if equation.variable in needed]
        own = [p for p in layer.parameters if p not in self.fixed]
        packed = [p for p in weights if p not in self.fixed]
        return (
            layer.func(layer.name, layer.inputs, weights, tuple(self.equations.values()), layer.args[4]),
            Layer("packing", (), own, packing, packed),
        )
