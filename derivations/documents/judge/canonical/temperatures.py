r"""Temperatures, which must divide an exponent, `\exp(z_i / T)`, and not multiply it.

Result       `multiplies(node)`: the letter of a temperature by which an exponent is multiplied, if there is one
Assumes      T and tau are temperatures; beta is the reciprocal of one
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.syntax import Call, Name, Node, Power, Product

__all__ = ["multiplies"]

TEMPERATURES = frozenset({"T", "τ", "tau", "temperature", "temp"})
EXPONENTIALS = frozenset({"exp", "softmax"})


def multiplies(node: Node) -> Name | None:
    """Return the temperature by which an exponent is multiplied."""
    for exponent in _exponents(node):
        factors = exponent.factors if isinstance(exponent, Product) else ()
        for factor in map(bare, factors):
            if isinstance(factor, Name) and factor.base in TEMPERATURES and not factor.subscripts:
                return factor
    return None


def _exponents(node: Node) -> Iterator[Node]:
    for part in node.walk():
        match part:
            case Power(base=Name(base="e"), exponent=exponent):
                yield bare(exponent)
            case Call(function=function, arguments=(argument,)) if function_word(function) in EXPONENTIALS:
                yield bare(argument)
