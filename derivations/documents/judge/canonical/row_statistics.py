r"""Mean, variance and root mean square of a row that are written as functions: `\text{E}[x]`, `RMS(x)`.

Definition   in the formula of a norm E[x] is \mu, Var[x] is \sigma^2, and RMS(x) the root of the mean of the squares
Result       `in_letters(node)` is the formula in letters, with the functions that these stand for; `as_written(node,
             functions)` puts the functions back
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derivations.documents.judge.arrays.arrays import function_word
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, Power, Product, Quotient, Root, rebuilt

__all__ = ["as_written", "in_letters"]

_MEANS = frozenset({"e", "mean", "mu", "avg"})
_VARIANCES = frozenset({"var", "variance"})
_DEVIATIONS = frozenset({"std", "sigma", "stddev"})
_TWO = Number("2", Fraction(2))
_PLACE = Name("u")


def in_letters(node: Node) -> tuple[Node, Mapping[Node, Node]]:
    """Return a formula with its statistics replaced by letters, and a map from these to the functions."""
    functions: dict[Node, Node] = {}
    has_mean = any(isinstance(part, Call) and function_word(part.function) in _MEANS for part in node.walk())

    def lettered(part: Node) -> Node:
        match part:
            case Call(function=function, arguments=(Name() as row,)):
                word = function_word(function)
                new = _letter(word, row)
                if new is not None and (has_mean or word != "sigma"):  # by itself \sigma(x) is the sigmoid
                    functions[new] = part
                    return new
        return part

    changed: Node = _changed(node, lettered)
    return changed, functions


def as_written(node: Node, functions: Mapping[Node, Node]) -> Node:
    """Return a formula with the functions put back for the letters."""
    changed: Node = _changed(node, lambda part: functions.get(part, part))
    return changed


def _letter(word: str, row: Name) -> Node | None:
    if word in _MEANS:
        return Name("mu")
    if word in _VARIANCES:
        return Power(Name("sigma"), _TWO)
    if word in _DEVIATIONS:
        return Name("sigma")
    if word == "rms" and not row.subscripts:
        entry = Power(replace(row, subscripts=(_PLACE,)), _TWO)
        mean = Product((Quotient(Number("1", Fraction(1)), Name("d")), Aggregate("sum", entry, (_PLACE,))), ("",))
        return Root(mean)
    return None


def _changed(value: Any, rule: Callable[[Node], Node]) -> Any:
    new = rule(value) if isinstance(value, Node) else value
    if new is not value or isinstance(value, Name):
        return new
    return rebuilt(value, lambda each: _changed(each, rule))
