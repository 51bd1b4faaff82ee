"""Attention over tiles of keys: which equations of a head are evaluated for some keys at a time.

Definition   S, the scores; E, their exponentials; l, the sums of the rows of E; U = E V. Only these equations read S, E
Result       l and U over all keys are computed tile by tile of keys, with a running maximum as reference
             (attention.tile_step): S and E exist for one tile at a time
Source       Milakov and Gimelshein (2018), "Online normalizer calculation for softmax"
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Symbol

from derivations.language.arrays.exponentials import RowExponentials
from derivations.language.arrays.expression import Array, Member, Plus, Product, Scaled, Transpose, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard, RowSum
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import subexpressions
from numeric.codegen.lowering.expressions import named, variables_of
from numeric.codegen.lowering.loop_schedule import LoopSchedule

__all__ = ["KeyTiles", "is_entrywise"]

ENTRYWISE = Plus | Scaled | Hadamard | Elementwise | Member | Variable | Product | Transpose


@dataclass(frozen=True)
class KeyTiles:
    """The equations of a head that are evaluated tile by tile of keys."""

    keys: Symbol
    scores: tuple[Equation, ...]
    powers: Equation
    sums: Equation
    mixture: Equation

    @classmethod
    def of(cls, schedule: LoopSchedule, run: list[Equation]) -> KeyTiles | None:
        """Return the equations to tile, or None.

        A run over heads can be tiled if it has one array of exponentials, which only a sum of rows and a product read.
        """
        powers = [e for e in run if isinstance(e.value, RowExponentials)]
        if len(powers) != 1 or len(powers[0].variable.shape) != 3:
            return None
        (powered,) = powers
        keys = total(powered.variable.shape[-1])
        readers = [e for e in schedule.layer.equations if powered.variable in schedule.read(e)]
        sums = [e for e in readers if isinstance(e.value, RowSum) and named(e.value.args[0]) == powered.variable]
        mixtures = [e for e in readers if isinstance(e.value, Product) and named(e.value.args[0]) == powered.variable]
        # another reader would need the exponentials of all keys at once
        if keys not in schedule.positions or len(readers) != 2 or len(sums) != 1 or len(mixtures) != 1:
            return None
        scores = tuple(e for e in run if _has_keys(e, keys) and e is not powered)
        found = cls(keys, scores, powered, sums[0], mixtures[0])
        return found if found._stands_alone(schedule, run) else None

    def _stands_alone(self, schedule: LoopSchedule, run: list[Equation]) -> bool:
        """Return whether no other equation reads the scores, and each score is computed from its own key alone."""
        own = {e.variable for e in (*self.scores, self.powers)}
        members = (*self.scores, self.powers, self.sums, self.mixture)
        if any(e.variable in schedule.stored for e in members) or any(e not in run for e in members):
            return False
        if any(own & schedule.read(e) and e not in members for e in schedule.layer.equations):
            return False
        # the values must exist before the loop over keys begins
        if variables_of(self.mixture.value.args[1]) & own:
            return False
        scores = (*(e.value for e in self.scores), self.powers.value.args[0])
        return all(is_entrywise(value, own) for value in scores)

    @property
    def equations(self) -> tuple[Equation, ...]:
        """All equations, in order."""
        return (*self.scores, self.powers, self.sums, self.mixture)


def is_entrywise(value: Array, of: set[Variable]) -> bool:
    """Return whether column j of a value reads only column j of the given arrays."""
    return all(
        isinstance(node, ENTRYWISE) and not (isinstance(node, Product | Transpose) and variables_of(node) & of)
        for node in subexpressions(value)
        if variables_of(node) & of or isinstance(node, Product)
    )


def _has_keys(equation: Equation, keys: Symbol) -> bool:
    shape = equation.variable.shape
    return len(shape) == 3 and total(shape[-1]) == keys
