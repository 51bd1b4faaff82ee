"""Counts the operations of a formula by running it on labels instead of numbers.

A letter of the formula has a column of labels. Equal labels in a column stand for equal values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sympy import Add, Basic, Expr, Function, Max, Min, Mul, Piecewise, Pow, Rational, Symbol
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import BooleanFunction

from derivations.language.cross_check.assignment import NotCovered

__all__ = ["Formula"]


class Formula:
    """Counts the operations of a formula over columns of labels, one for each new tuple of operands."""

    def __init__(self, columns: dict[Symbol, list[Any]], names: Iterator[int]) -> None:
        self.columns, self.names = columns, names

    def column(self, node: Basic) -> tuple[list[Any] | None, int]:
        """Return the labels of a part of the formula (None for a constant), and its number of operations."""
        if node in self.columns:
            return self.columns[node], 0
        if not node.free_symbols & self.columns.keys():
            return None, 0
        if isinstance(node, Mul | Pow):
            return self.product(node)
        if isinstance(node, Add | Max | Min):
            parts = [self.column(part) for part in node.args]
            varying = [column for column, _ in parts if column is not None]
            column, work = self.join(varying, len(varying) < len(parts))
            return column, work + sum(inner for _, inner in parts)
        if isinstance(node, Function | Relational | Piecewise | ExprCondPair | BooleanFunction):
            parts = [self.column(part) for part in node.args]
            columns = [column for column, _ in parts if column is not None]
            free = isinstance(node, Piecewise | ExprCondPair | BooleanFunction) or type(node).__name__ == "Iverson"
            column, distinct = self.operation(columns)
            return column, (0 if free else distinct) + sum(inner for _, inner in parts)
        raise NotCovered(f"no rule counts {type(node).__name__} in a formula")

    def operation(self, columns: list[list[Any]]) -> tuple[list[Any], int]:
        """Return the labels that result from one operation on columns, and the number of distinct operand tuples."""
        rows = list(zip(*columns, strict=True))
        new = {row: next(self.names) for row in set(rows)}
        return [new[row] for row in rows], len(new)

    def join(self, columns: list[list[Any]], with_constant: bool) -> tuple[list[Any], int]:
        """Combine operands two by two, those with the fewest distinct labels first. Return the labels and the count."""
        # Operands with few distinct tokens first: their combinations are counted once for all their repetitions.
        ordered = sorted(columns, key=lambda column: len(set(column)))
        joined, work = ordered[0], 0
        if with_constant:
            joined, work = self.operation([joined])
        for column in ordered[1:]:
            joined, more = self.operation([joined, column])
            work += more
        return joined, work

    def product(self, node: Basic) -> tuple[list[Any], int]:
        """Return the labels and the operation count of a product. A sign is free, and a division counts."""
        factors = Mul.make_args(node)
        columns, work, constant, inverted = [], 0, Rational(1), True
        for factor in factors:
            base, power = factor.as_base_exp() if isinstance(factor, Pow) else (factor, Rational(1))
            if not factor.free_symbols & self.columns.keys():
                constant = constant * factor
                continue
            column, inner = self.column(base)
            exponent, more = self.column(power)
            work += inner + more
            # 1/(x y) needs one division more than x y; x/y is a division in place of a product
            inverted &= power.could_extract_minus_sign()
            operands = [c for c in (column, exponent) if c is not None]
            for _ in range(_steps(power)):
                column, distinct = self.operation(operands)
                operands, work = [column], work + distinct
            columns.append(column if column is not None else operands[0])
        joined, more = self.join(columns, inverted or constant not in (1, -1))
        return joined, work + more


def _steps(power: Expr) -> int:
    """Return the number of operations of a power: |p| - 1 for x^p, |p| for x^(p/2) with odd p, else 1."""
    if isinstance(power, Rational) and power.q in (1, 2):
        return abs(int(power.p)) - 1 + (int(power.q) - 1)
    return 1
