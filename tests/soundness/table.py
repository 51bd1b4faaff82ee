"""Statements written by hand: what each says, why it is there, and how it is put to the judge and to the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Basic, Function, Lambda, Mul, Pow, Sum, Symbol

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, mask_array, token_array
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, step
from derivations.symbols import index, j, m, n, scalar

__all__ = [
    "A", "B", "M", "Statement", "Table", "W", "a", "b", "c", "f", "g", "let", "over", "p", "q", "r", "s", "t",
    "table", "tokens", "total", "u", "v", "w", "x", "y", "z",
]  # fmt: skip

p, q, u, v = map(index, "pquv")
a, b, c, t = map(scalar, "abct")
g, r, s = (scalar(name, positive=True) for name in "grs")
x, y, z, w = array("x", n), array("y", n), array("z", n), array("w", m)
A, B, W = array("A", n, m), array("B", m, n), array("W", n, n)
M = mask_array("M", n, m)
tokens = token_array("tokens", n)
f = Function("f", real=True)


@dataclass(frozen=True)
class Statement:
    """One statement: its sides and setting; `where` narrows the points at which the oracle looks."""

    group: str
    why: str
    sides: Callable[[], tuple[Any, Any]]
    rule: str = "algebra"
    relation: str = "="
    certificate: Callable[[], tuple[Any, ...]] = tuple
    seen: bool = True  # whether the oracle can show it
    where: tuple[Assumption, ...] = ()
    setting: dict[str, Any] = field(default_factory=dict)

    @property
    def derivation(self) -> Derivation:
        """The statement as a derivation of one step."""
        left, right = self.sides()
        link = step(self.rule, right, self.relation, *self.certificate())
        return replace(derivation(self.why, claim(left, link), **self.setting), id=f"{self.group}: {self.why}")


class Table(list[Statement]):
    """The statements of one module, entered group by group."""

    group = ""

    def enter(
        self, why: str, sides: Callable[[], tuple[Any, Any]], rule: str = "algebra", relation: str = "=", **more: Any
    ) -> None:
        """Enter a statement under the current group."""
        parts = {name: more.pop(name) for name in ("certificate", "seen", "where") if name in more}
        self.append(Statement(self.group, why, sides, rule, relation, setting=more, **parts))


def total(of: Basic | int, over: Symbol = j, last: Any = n - 1, first: Any = 0) -> Sum:
    """Return the sum of an expression over an index."""
    return Sum(of, (over, first, last))


def let(name: str, value: Any, over: Any = None) -> tuple[Equation, ...]:
    """Return the one equation `name = value`."""
    equations = Equations()
    equations(name, over)(value)
    return tuple(equations)


def table(formula: Basic | int, *indices: Symbol, size: tuple[Any, ...]) -> Tabulated:
    """Return the array with the given formula for its entries."""
    return Tabulated(Lambda(indices, formula), *size)


def over(above: Any, below: Any) -> Mul:
    """Return a quotient that SymPy does not cancel."""
    return Mul(above, Pow(below, -1, evaluate=False), evaluate=False)
