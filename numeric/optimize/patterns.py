"""Patterns that the passes match: products with weights, sums of terms, scores; and names derived from others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from sympy import Basic, Expr

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array, Member, Plus, Product, RowBroadcast, Variable
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name
from numeric.optimize.draft import Draft

__all__ = [
    "Affine",
    "added",
    "affine",
    "at_index",
    "bias_with",
    "biased",
    "defined",
    "flat_columns",
    "joined_name",
    "named_variable",
    "of_sizes",
    "renamed",
    "terms",
]

_VARIANT = re.compile(r"(_(plain|scaled|gained|shifted|wide))+$")  # suffixes that passes add to names


@dataclass(frozen=True)
class Affine:
    """An equation Y = X W, or Y = X W + b with b in every row; W and b are weights, or their members in a family."""

    equation: Equation
    rows: Array
    weight: Array
    bias: Array | None

    @property
    def variable(self) -> Variable:
        """The variable that the equation defines."""
        return self.equation.variable


def affine(equation: Equation | None, draft: Draft) -> Affine | None:
    """Return an equation as rows times weight plus bias, or None if it has another form."""
    if equation is None:
        return None
    value, bias = equation.value, None
    if isinstance(value, Plus) and isinstance(value.args[1], RowBroadcast):
        value, bias = value.args[0], value.args[1].args[0]
    if not isinstance(value, Product) or len(value.shape) != 2:
        return None
    rows, weight = value.args
    # only what is known before a call can be packed
    if not (is_name(rows) and is_weight(weight, draft, equation)):
        return None
    if bias is not None and not is_weight(bias, draft, equation):
        return None
    return Affine(equation, rows, weight, bias)


def named_variable(name: Array) -> Variable:
    """Return the variable that a name denotes, or to which it belongs as a member."""
    variable: Variable = name.args[0] if isinstance(name, Member) else name
    return variable


def flat_columns(node: Array) -> Array:
    """Return an expression whose columns are numbered, and not in blocks."""
    along = node.shape[-1]
    return ColumnRange(node, 0, total(along)) if isinstance(along, Blocks) else node


def terms(node: Array) -> Iterator[Array]:
    """Yield the terms of a sum, for any bracketing; an expression that is not a sum is one term."""
    if isinstance(node, Plus):
        for part in node.args:
            yield from terms(part)
    else:
        yield node


def added(terms: Iterable[Array]) -> Array:
    """Return the sum of some terms, added from left to right."""
    return reduce(Plus, terms)


def is_weight(node: Basic, draft: Draft, equation: Equation) -> bool:
    """Return whether an expression is a weight that may be packed, or its member at the index of the family."""
    if isinstance(node, Member):
        return equation.over is not None and node.args[1] == equation.over[0] and draft.is_weight(node.args[0])
    return draft.is_weight(node)


def biased(product: Array, bias: Array | None) -> Array:
    """Return a product plus a bias in every row, or the product itself where the bias is None."""
    return product if bias is None else product + bias


def bias_with(row: Array, product: Affine, draft: Draft) -> Equation:
    """Return the equation of the bias of a product, after a fixed row has moved from its rows into the bias."""
    # (X + 1 r^T) W + 1 b^T = X W + 1 (r W + b)^T
    moved, name = row @ product.weight, f"{product.variable}_bias"
    if product.bias is not None:
        moved, name = Plus(moved, product.bias), f"{named_variable(product.bias)}_shifted"
    return defined(draft.fresh(name), moved, product.equation)[0]


def of_sizes(factor: Expr) -> bool:
    """Return whether a factor is known when weights are packed: sizes and numbers, no scalar that a caller passes."""
    return all(symbol.is_integer and symbol.is_positive for symbol in factor.free_symbols)


def at_index(equation: Equation, name: Array) -> Array:
    """Return the right-hand side of an equation for the member that a name denotes."""
    if equation.over is None:
        return equation.value
    value: Array = replace_free(equation.value, {equation.over[0]: name.args[1]})
    return value


def defined(name: str, value: Array, like: Equation) -> tuple[Equation, Array]:
    """Return the equation of a new variable, in the family of another equation, and the variable's name there."""
    # a value without the index is the same for all members, so it is computed once
    over = like.over if like.over is not None and like.over[0] in value.free_symbols else None
    if over is None:
        variable = Variable(name, value.shape, value.kind)
        return Equation(variable, value), variable
    member = Member(Variable(name, (over[1], *value.shape), value.kind), over[0])
    return Equation(member, value, *over), member


def renamed(equation: Equation, value: Array, names: Mapping[Variable, Variable]) -> Equation:
    """Return an equation that defines a new name, with another right-hand side."""
    return Equation(replace_free(equation.target, names), value, *(equation.over or ()))


def joined_name(names: Iterable[str]) -> str:
    """Return one name for several: the path and the letter that they share, then the rest of each.

    >>> joined_name(["a.W_Q", "a.W_K_scaled", "a.W_V"]), joined_name(["W_gate", "W_up"]), joined_name(["Q", "Q_r", "K"])
    ('a.W_QKV', 'W_gate_up', 'QK')
    """
    split = [_VARIANT.sub("", name).rpartition(".") for name in names]
    paths = {path for path, _, _ in split}
    path = f"{paths.pop()}." if len(paths) == 1 and split[0][0] else ""
    ends = [end for _, _, end in split]
    if len(ends) == 1:
        return path + ends[0]
    letter = f"{ends[0].partition('_')[0]}_"
    if not all(end.startswith(letter) for end in ends):
        letter = ""
    ends = [end.removeprefix(letter) for end in ends]
    initials = list(dict.fromkeys(end.partition("_")[0] for end in ends))
    # W_Q, W_K and W_V become W_QKV, but W_gate and W_up keep their words
    compact = all(len(each) == 1 for each in initials) and any(map(str.isalpha, initials))
    return path + letter + ("".join(initials) if compact else "_".join(ends))
