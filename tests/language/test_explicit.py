"""Layers written out as matrices, against the entry rules of the same equations, evaluated to 40 digits."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from mpmath import mp, mpf
from sympy import (
    Add,
    Basic,
    Expr,
    Float,
    Function,
    ImmutableDenseMatrix,
    Indexed,
    Integer,
    KroneckerDelta,
    Lambda,
    Max,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    exp,
    symbols,
)
from sympy.core.relational import Relational

from derivations.catalogue import layers
from derivations.encoder import encoder, encoder_layer
from derivations.language.explicit import explicit, explicit_layer, symbolic
from derivations.language.expression import (
    Array,
    ColumnBroadcast,
    Concatenate,
    Explicit,
    Plus,
    Product,
    RowBroadcast,
    Tabulated,
    Variable,
    array,
    column_block,
    mask_array,
    token_array,
)
from derivations.language.functions import (
    Both,
    CausalMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    RowMean,
    RowSoftmax,
    RowSum,
    named,
    row_softmax,
)
from derivations.language.layer import Layer
from derivations.language.scalars import Iverson
from derivations.language.shapes import Blocks, Place, ShapeError, total
from derivations.symbols import d, h, i, m, n
from derivations.transformer import transformer

SIZES = {"n": 2, "m": 3, "d_model": 4, "d": 5, "d_k": 3, "d_v": 2, "d_ff": 5, "d_in": 3, "d_out": 5, "h": 2, "vocab": 7}
VOCABULARY = SIZES["vocab"]
COMPOSED = {"encoder", "decoder", "transformer"}  # stacks: their unfolded entries explode, see the chains below


@pytest.fixture(autouse=True)
def forty_digits():
    with mp.workdps(40):
        yield


# --- exact random numbers, and the value of an expression at them


def drawn(name: str, places: tuple[int, ...], masks: set[str]) -> Integer | Rational:
    """The same small rational for the same name and places, on every run."""
    random = Random(f"{name}{places}")
    if name.rpartition(".")[2] in masks:
        return Integer(places[-1] == 0 or random.random() < 0.5)
    return Rational(random.randint(-9, 9), random.randint(1, 7))


def number(expression: Expr, masks: set[str] = frozenset(), bound: dict[Symbol, int] | None = None) -> Any:
    """The value of an expression, by its meaning: sums are loops, entries are drawn."""
    bound = bound or {}

    def value(part: Basic) -> Any:
        return number(part, masks, bound)

    match expression:
        case Sum():
            indices = [limit[0] for limit in expression.limits]
            ranges = [range(int(value(low)), int(value(high)) + 1) for _, low, high in expression.limits]
            return sum(number(expression.function, masks, bound | dict(zip(indices, at, strict=True))) for at in product(*ranges))
        case Indexed():
            places = tuple(int(value(place)) for place in expression.indices)
            name = expression.base.label.name
            if expression.base.label.is_integer:
                return Random(f"{name}{places}").randrange(VOCABULARY)
            return mpf(drawn(name, places, masks))
        case Symbol():
            return bound[expression] if expression in bound else mpf(drawn(expression.name, (), masks)) ** 2 + 1
        case Add():
            return sum(map(value, expression.args))
        case Mul():
            return mp.fprod(map(value, expression.args))
        case Pow():
            return mp.power(*map(value, expression.args))
        case Max():
            return max(map(value, expression.args))
        case KroneckerDelta():
            return int(value(expression.args[0]) == value(expression.args[1]))
        case Iverson():
            return int(value(expression.args[0]))
        case Relational():
            return {"<=": lambda a, b: a <= b, "!=": lambda a, b: a != b}[expression.rel_op](*map(value, expression.args))
        case Function():
            return getattr(mp, type(expression).__name__)(*map(value, expression.args))
        case _:
            return mpf(expression) if expression.is_Rational else mp.mpmathify(expression.evalf(40))


def at_places(value: Any, places: tuple[int, ...]) -> Expr:
    """The entry of a written-out value: members of tuples, then rows and columns."""
    while isinstance(value, tuple):
        value, places = value[places[0]], places[1:]
    return value[(0,) * (2 - len(places)) + places]


def disagreements(node: Array, masks: set[str] = frozenset()) -> list[tuple[int, ...]]:
    """The places where an expression written out differs from the rule for its entries."""
    written = explicit(node)
    sizes = [range(int(total(along))) for along in node.shape]
    return [
        places
        for places in product(*sizes)
        if mp.chop(number(at_places(written, places), masks) - number(node.entry(*places), masks), tol=mpf(10) ** -30)
    ]


def all_masks(layer: Layer) -> set[str]:
    return {v.name for v in (*layer.inputs, *(e.variable for e in layer.equations)) if v.kind == "boolean"}


def at_sizes(layer: Layer) -> Layer:
    return layer.at(**{s.name: SIZES[s.name] for s in layer.sizes})


# --- every layer, equation by equation


@pytest.mark.parametrize("name", sorted(set(layers()) - COMPOSED))
def test_every_equation_agrees_with_its_entries(name: str):
    layer = at_sizes(layers()[name])
    for equation in layer.equations:
        index, count = equation.over or (None, Integer(1))
        for member in range(count):
            value = equation.value if index is None else equation.value.xreplace({index: Integer(member)})
            assert disagreements(value, all_masks(layer)) == [], equation


@pytest.mark.parametrize(
    "name", ["masked_scaled_dot_product_attention", "multi_head_attention", "feed_forward_gelu", "layer_norm", "embedding"]
)
def test_a_whole_layer_agrees_with_its_unfolded_result(name: str):
    layer = at_sizes(layers()[name])
    whole, result = explicit_layer(layer)[layer.output.name], layer.result(*layer.inputs)
    for places in product(*(range(int(total(along))) for along in result.shape)):
        difference = number(whole[places], all_masks(layer)) - number(result.entry(*places), all_masks(layer))
        assert mp.almosteq(difference, 0, abs_eps=mpf(10) ** -30)


# --- nodes that no layer of the catalogue uses in this way

X, Y, W = array("X", 2, 3), array("Y", 2, 3), array("W", 3, 5)
r, c, s = array("r", 3), array("c", 2), array("s")
F = array("F", 5, 2, 3)
wide = array("wide", 2, Blocks(Integer(3), Integer(2)))
x, y = symbols("x y", real=True)
affine = named("affine", 2 * x - y, x, y)
seen, M = mask_array("seen", 3), mask_array("M", 2, 3)

NODES = {
    "vector times matrix": r @ W,
    "matrix times vector": X @ r,
    "vector times vector": r @ r,
    "product of a difference": (X - Y) @ W,
    "transpose of a product": (X @ W).T,
    "row added": X + r,
    "row and column": RowBroadcast(r, 2) + ColumnBroadcast(c, 3),
    "member of a family": F[3] @ W,
    "row of a member": F[3][1],
    "row of a matrix": X[1],
    "entrywise product": Hadamard(X, Y),
    "entrywise product with a scalar": Hadamard(s, X),
    "function of a matrix and a scalar": affine(X, s),
    "function of a family": named("cube", x**3, x)(F),
    "sum of families": Plus(F, F / 7),
    "softmax of a vector": row_softmax(r),
    "masked softmax": row_softmax(X, M),
    "masked softmax of repeated rows": row_softmax(X, RowBroadcast(seen, 2)),
    "sum of rows": RowSum(X),
    "mean of rows": RowMean(X),
    "sum of a vector": RowSum(r),
    "mean of a family": RowMean(F),
    "both masks": Both(CausalMask(3), RowBroadcast(seen, 3)),
    "concatenation of products": Concatenate(F[i] @ W, i, 5),
    "concatenation of vectors": Concatenate(X[i], i, 2),
    "block of columns": column_block(wide, Integer(2)),
    "interleaved columns": Interleave(X, Y),
    "interleaved vectors": Interleave(r, r / 2),
    "table of one axis": Tabulated(Lambda((x,), x**2 - x), 5),
    "table of three axes": Tabulated(Lambda((x, y, d), x + 10 * y + 100 * d), 2, 3, 5),
    "matrix of numbers": Explicit([[1, 2], [3, 5]]) @ X,
    "look-up": Lookup(array("E", VOCABULARY, 3), token_array("tokens", 5)),
}


@pytest.mark.parametrize("case", NODES)
def test_a_node_agrees_with_its_entries(case: str):
    assert disagreements(NODES[case], {"M", "seen"}) == []


# --- the comparison says no


class ProductOfTransposes(Product):
    """Entries of B^T A^T."""

    def _entry(self, *places: Place) -> Expr:
        return super()._entry(*places[::-1])


class DropsAFactor(RowMean):
    """The mean without its division."""

    def _entry(self, *places: Place) -> Expr:
        return super()._entry(*places) * 3


class ForgetsTheMask(RowSoftmax):
    """Softmax over all keys."""

    def _entry(self, *places: Place) -> Expr:
        return row_softmax(self.args[0]).entry(*places)


class SwapsTheTurns(Interleave):
    """Odd columns first."""

    def _entry(self, *places: Place) -> Expr:
        return Interleave(*self.args[::-1]).entry(*places)


class LosesARow(RowBroadcast):
    """Row numbers in place of column numbers."""

    def _entry(self, *places: Place) -> Expr:
        return self.args[0].entry(places[0])


class WrongSign(Elementwise):
    """The function's negative."""

    def _entry(self, *places: Place) -> Expr:
        return -super()._entry(*places)


WRONG = {
    "transposed": ProductOfTransposes(array("A", 3, 3), array("B", 3, 3)),
    "unscaled": DropsAFactor(X),
    "unmasked": ForgetsTheMask(X, M),
    "swapped": SwapsTheTurns(X, Y),
    "wrong axis": LosesARow(r, 2),
    "wrong sign": WrongSign(affine, X, Y),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_corrupted_entry_rule_is_found(case: str):
    assert disagreements(WRONG[case], {"M"})


# --- whole models: the chain of their parts

TINY = {"n": 2, "m": 3, "d_model": 2, "d_k": 3, "d_v": 2, "d_ff": 3, "h": 2, "vocab": 5}


def numbers_for(layer: Layer, path: str, count: int | None = None) -> dict[str, Any]:
    """Random weights of a layer's parts under the names of a path, to 30 digits."""
    names = {}
    for name, applied in layer.parts.items():
        for copy in range(count or 1):
            inner = f"{path}{name}." if count is None else f"{path}{name}.{copy}."
            free = [p for p in applied.layer.parameters if p.name not in applied.bound]
            names |= {inner + p.name: filled(p, inner) for p in free}
            names |= numbers_for(applied.layer, inner)
    return names


def filled(variable: Variable, path: str = "") -> Any:
    """A variable's entries drawn under its full name, as Floats."""
    full = symbolic(Variable(path + variable.name, variable.shape, variable.kind))

    def numeric(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(numeric, value))
        return value.applyfunc(lambda e: Float(number(e), 30))

    return numeric(full)


def near(a: Any, b: Any) -> bool:
    return max(abs(entry) for entry in a - b) < Float(10) ** -20


def test_a_stack_is_its_layers_in_turn_each_with_weights_of_its_own():
    sizes = {key: TINY[key] for key in ("n", "d_model", "d_k", "d_v", "d_ff", "h")}
    stack, single = encoder().at(N=2, **sizes), encoder_layer().at(**sizes)
    weights = numbers_for(single, "layers.0.") | numbers_for(single, "layers.1.")
    eps = {Symbol("epsilon", positive=True): Float("0.001", 30)}
    start = filled(single.inputs[0])
    whole = explicit_layer(stack.xreplace(eps), {"X": start} | weights)["Z"].subs(eps).evalf(30)
    value = start
    for number_of_layer in range(2):
        prefix = f"layers.{number_of_layer}."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        value = explicit_layer(single, {"X": value} | own)["Z"].subs(eps).evalf(30)
    assert near(whole, value)
    assert not near(whole, explicit_layer(single, {"X": start} | own)["Z"].subs(eps).evalf(30))
