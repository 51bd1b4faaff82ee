"""The verdict about a function and a layer: its level, and everything that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sympy.core.relational import Relational

from derivations.language.judge.proof import StepEvidence
from derivations.language.results.derivation import Assumption
from numeric.lifting.conditions import unequal_text
from numeric.lifting.differential import (
    Disagreement,
    OtherShape,
)
from numeric.lifting.lift import Lifted

__all__ = ["LEVELS", "Verdict"]

LEVELS = ("proved", "equal up to a literal", "tested", "unknown", "not followed", "refuted")  # the strongest first
_BY_EVIDENCE = ("proved", "equal up to a literal")
_SIZES = "real arithmetic, all sizes >= 1"


@dataclass(frozen=True)
class Verdict:
    """What is known about a function and a target, with everything that this verdict rests on."""

    level: str  # "proved", "equal up to a literal", "tested", "refuted", "unknown", "not followed"
    function: str
    target: str
    evidence: tuple[StepEvidence, ...] = ()
    readings: tuple[str, ...] = ()
    conditions: tuple[Assumption, ...] = ()
    assumed: tuple[Relational, ...] = ()
    reason: str = ""
    counterexample: Disagreement | OtherShape | None = None
    lifted: Lifted | None = field(default=None, compare=False, repr=False)
    arrays: tuple[str, ...] = ()  # how the layer's arrays follow from the function's
    literals: tuple[str, ...] = ()  # decimals that were read as constants near them
    where: str = ""  # of a refutation: shapes or a product of symbolic sizes, or the array that is not computed
    provided: tuple[Relational, ...] = ()  # of the sizes: at others one of the two sides has no value
    raised: bool = False  # the function raised an error of its own

    def __post_init__(self) -> None:
        """Refuse a proof without the judge's evidence."""
        if self.level in _BY_EVIDENCE and not (self.evidence and all(e.level == "proved" for e in self.evidence)):
            raise ValueError("a verdict is proved by the judge's evidence alone")

    @property
    def qualified(self) -> str:
        """The level as it is printed, with the assumptions, readings and conditions that it rests on."""
        if self.level not in _BY_EVIDENCE:
            return self.level
        parts = [_SIZES, *self.literals]
        parts += [f"reading {reading}" for reading in self.readings]
        parts += [f"if {relation}" for relation in self.assumed]
        parts += [f"if {unequal_text(relation)}" for relation in self.provided]
        parts += dict.fromkeys(f"where {condition.text}" for condition in self.conditions)
        return f"{self.level} ({'; '.join(parts)})"

    def explain(self) -> str:
        """Return the verdict, the equations between the layer's arrays and the function's, and the lifted equations."""
        arrays = [f"with {equation}" for equation in self.arrays]
        return "\n".join([str(self), *arrays, *([] if self.lifted is None else [self.lifted.layer.text()])])

    def json(self) -> dict[str, Any]:
        """Return the verdict as a dict for JSON. `counterexample` has sizes, an index and both values, or is None."""
        failing = self.counterexample
        found = failing and {
            "sizes": dict(failing.run.sizes),
            "entry": list(failing.place),
            "found": failing.left,
            "expected": failing.right,
        }
        return {
            "level": self.level,
            "function": self.function,
            "target": self.target,
            "assumed": list(map(str, self.assumed)),
            "readings": list(self.readings),
            "conditions": [condition.text for condition in self.conditions],
            "reason": self.reason,
            "counterexample": found,
            "equations": [] if self.lifted is None else list(map(str, self.lifted.layer.equations)),
        }

    def __str__(self) -> str:
        """Return the verdict as one paragraph."""
        if self.level == "refuted":
            found = self.reason if self.counterexample is None else self.counterexample.beside(self.target)
            told = f"{self.function} is not {self.target}: {found}"
            return f"{told}; {self.where}" if self.where else told
        # "f is g: not followed" would read as a yes
        undecided = "" if self.level in (*_BY_EVIDENCE, "tested") else "it is not decided whether "
        text = f"{undecided}{self.function} is {self.target}: {self.qualified}"
        return f"{text}; {self.reason}" if self.reason else text
