"""Layers written out as matrices, against the entry rules of the same equations, evaluated to 40 digits."""

from __future__ import annotations

import operator
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
    log,
    sqrt,
    symbols,
)
from sympy.core.relational import Relational

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layers
from derivations.language.arrays.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Plus,
    Product,
    RowBroadcast,
    Variable,
    array,
    mask_array,
    token_array,
)
from derivations.language.arrays.functions import (
    CausalMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowMean,
    RowSoftmax,
    RowSum,
    WindowMask,
    named,
    row_softmax,
)
from derivations.language.arrays.routing import TopK, TopKMask
from derivations.language.arrays.rows import (
    PlacedRows,
    RowRange,
    Stacked,
    strided_windows,
)
from derivations.language.arrays.scalars import (
    Iverson,
    Within,
)
from derivations.language.arrays.selection import (
    AddedEntries,
    AddedPicks,
    Chosen,
    Pick,
)
from derivations.language.arrays.shapes import Blocks, Place, ShapeError, total
from derivations.language.layers.layer import Layer, Repeat
from derivations.language.printing.explicit import explicit, explicit_layer, symbolic
from derivations.symbols import d, epsilon, i, m, n
from derivations.transformer.decoder import decoder
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from tests.tiers import few

SIZES = {
    **{"n": 2, "m": 3, "d_model": 4, "d": 5, "d_k": 3, "d_v": 2, "d_ff": 5, "d_in": 3, "d_out": 5, "h": 2},
    **{"vocab": 7, "g": 2, "r": 3, "w": 2, "N": 2, "frames": 4, "mel": 3, "pixels": 5, "buckets": 7},
    **{"h_I": 2, "d_P": 3, "k_I": 2, "d_E": 5, "S": 2, "r_A": 3, "w_1": 1},
    **{"r_Q": 3, "r_KV": 2, "d_r": 2, "E": 7, "K": 2, "d_expert": 2, "d_shared": 3},
    **{"d_inner": 3, "d_state": 2, "r_Delta": 2, "g_S": 2, "r_S": 2, "d_S": 3, "h_L": 2, "d_L": 3},
    **{"g_D": 2, "r_D": 2, "k_D": 3, "v_D": 2},
}
VOCABULARY = SIZES["vocab"]
COMPOSED = {
    "encoder",
    "decoder",
    "transformer",
    "transformer_loss",
}  # stacks: their unfolded entries explode, see the chains below


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
            return sum(
                number(expression.function, masks, bound | dict(zip(indices, at, strict=True)))
                for at in product(*ranges)
            )
        case Indexed():
            places = tuple(int(value(place)) for place in expression.indices)
            name = expression.base.label.name
            if expression.base.label.is_integer and name not in masks:
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
        case Within():
            return value(expression.args[0])
        case Iverson():
            return int(value(expression.args[0]))
        case Relational():
            return {"<=": operator.le, "!=": operator.ne}[expression.rel_op](*map(value, expression.args))
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
    own = {"d_k": 4} if layer.name.startswith("rotary") else {}
    return layer.at(**{s.name: (SIZES | own)[s.name] for s in layer.sizes})


# --- every layer, equation by equation


UNFOLDED_AT_LENGTH = {"encoder_layer", "decoder_layer"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in UNFOLDED_AT_LENGTH else name
        for name in sorted(set(layers()) - COMPOSED)
    ],
)
def test_every_equation_agrees_with_its_entries(name: str):
    layer = at_sizes(layers()[name])
    for equation in layer.equations:
        if equation.value.has(
            TopK, TopKMask
        ):  # places among numbers: test_explicit_gradients and test_routing have some
            continue
        index, count = equation.over or (None, Integer(1))
        for member in range(count):
            value = equation.value if index is None else equation.value.xreplace({index: Integer(member)})
            assert disagreements(value, all_masks(layer)) == [], equation


@pytest.mark.parametrize(
    "name",
    few(
        ["masked_scaled_dot_product_attention", "multi_head_attention", "feed_forward_gelu", "layer_norm", "embedding"],
        fast=1,
    ),
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
x, y, z = symbols("x y z", real=True)
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
    "function of two matrices": affine(X, Y),
    "function of a family": named("cube", x**3, x)(F),
    "sum of families": Plus(F, F / 7),
    "softmax of a vector": row_softmax(r),
    "masked softmax": row_softmax(X, M),
    "masked softmax of repeated rows": row_softmax(X, RowBroadcast(seen, 2)),
    "sum of rows": RowSum(X),
    "mean of rows": RowMean(X),
    "sum of a vector": RowSum(r),
    "mean of a family": RowMean(F),
    "both masks": MaskConjunction(CausalMask(3), RowBroadcast(seen, 3)),
    "concatenation of products": Concatenate(F[i] @ W, i, 5),
    "concatenation of vectors": Concatenate(X[i], i, 2),
    "block of columns": column_block(wide, Integer(2)),
    "interleaved columns": Interleave(X, Y),
    "interleaved vectors": Interleave(r, r / 2),
    "table of one axis": Tabulated(Lambda((x,), x**2 - x), 5),
    "table of three axes": Tabulated(Lambda((x, y, z), x + 10 * y + 100 * z), 2, 3, 5),
    "matrix of numbers": Explicit([[1, 2], [3, 5]]) @ X,
    "look-up": Lookup(array("E", VOCABULARY, 3), token_array("tokens", 5)),
    "rows of a matrix": RowRange(array("U", 7, 3), 2, 5),
    "every third row": RowRange(array("U", 7, 3), 0, 3, 3),
    "rows among zeros": PlacedRows(X, 1, 5, 2),
    "stacked rows": Stacked(X, array("U", 7, 3)) @ W,
    "windows with a stride": strided_windows(array("U", 7, 3), 3, stride=2, padding=1),
    "rows by a matrix of numbers": Chosen(array("E", VOCABULARY, 3), token_array("tokens", 2, 5)),
    "entries of rows by a matrix of numbers": Pick(array("U", 2, VOCABULARY), token_array("tokens", 2, 5)),
    "entries added in their rows": AddedPicks(F[1], token_array("tokens", *F.shape[1:]), VOCABULARY),
    "entries added by number": AddedEntries(F, token_array("tokens", 2, 3), VOCABULARY),
    "sliding window": WindowMask(5, 3),
}


@pytest.mark.parametrize("case", NODES)
def test_a_node_agrees_with_its_entries(case: str):
    assert disagreements(NODES[case], {"M", "seen"}) == []


def test_a_scalar_goes_with_every_entry():
    written = {"matrix": symbolic(X), "scalar": symbolic(s)[0]}
    assert explicit(Hadamard(s, X)) == written["matrix"] * written["scalar"]
    assert explicit(affine(X, s)) == written["matrix"].applyfunc(lambda entry: 2 * entry - written["scalar"])


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

TINY = {"n": 2, "m": 3, "d_model": 2, "d_k": 3, "d_v": 2, "d_ff": 3, "h": 2, "N": 2, "vocab": 5}


def tiny(layer: Layer) -> Layer:
    """The layer at tiny sizes, its epsilon a number."""
    return layer.at(**{s.name: TINY[s.name] for s in layer.sizes}).xreplace({epsilon: Float("0.001", 30)})


def filled(variable: Variable, name: str = "") -> Any:
    """The entries of a variable, drawn under a name, as Floats of 30 digits."""

    def numeric(value: Any) -> Any:
        return (
            tuple(map(numeric, value)) if isinstance(value, tuple) else value.applyfunc(lambda e: Float(number(e), 30))
        )

    return numeric(symbolic(Variable(name or variable.name, variable.shape, variable.kind)))


def weights(layer: Layer, path: str = "") -> dict[str, Any]:
    """Random weights for all parts of a layer, by their full names."""
    drawn_weights = {}
    for name, applied in layer.parts.items():
        copies = [f"{name}.{k}" for k in range(applied.count)] if isinstance(applied, Repeat) else [name]
        for copy in copies:
            free = [p for p in applied.layer.parameters if p.name not in applied.bound]
            drawn_weights |= {f"{path}{copy}.{p.name}": filled(p, f"{path}{copy}.{p.name}") for p in free}
            drawn_weights |= weights(applied.layer, f"{path}{copy}.")
    return drawn_weights


def under(path: str, named_weights: dict[str, Any]) -> dict[str, Any]:
    """The weights filed under a path, by what is left of their names."""
    return {name.removeprefix(path): w for name, w in named_weights.items() if name.startswith(path)}


def near(a: Any, b: Any) -> bool:
    return max(abs(entry) for entry in a - b) < Float(10) ** -20


def test_a_stack_is_its_layers_in_turn_each_with_weights_of_its_own():
    stack, single = tiny(encoder()), tiny(encoder_layer())
    start, drawn_weights = filled(single.inputs[0]), weights(stack)
    first = explicit_layer(single, {"X": start} | under("layers.0.", drawn_weights), digits=30)["Z"]
    second = explicit_layer(single, {"X": first} | under("layers.1.", drawn_weights), digits=30)["Z"]
    whole = explicit_layer(stack, {"X": start} | drawn_weights, digits=30)["Z"]
    assert near(whole, second)
    repeated = explicit_layer(single, {"X": first} | under("layers.0.", drawn_weights), digits=30)["Z"]
    assert not near(whole, repeated)


def test_the_transformer_is_the_chain_of_its_parts():
    layer = tiny(transformer())
    drawn_weights, E = weights(layer), filled(layer.parameters[0])
    tokens = {"source": [4, 0, 2], "target": [1, 3]}
    values = explicit_layer(layer, {"E": E, **tokens} | drawn_weights, digits=30)
    rows = ImmutableDenseMatrix.vstack(*(E[token, :] for token in tokens["source"])) * sqrt(2).evalf(30)
    assert near(values["X"], rows + values["P_source"])
    memory_of = tiny(encoder().xreplace({n: m}))
    assert near(
        values["memory"],
        explicit_layer(memory_of, {"X": values["X"]} | under("encoder.", drawn_weights), digits=30)["Z"],
    )
    given = {"X": values["Y"], "memory": values["memory"], "M": [[1, 0], [1, 1]]}
    decoded = explicit_layer(tiny(decoder()), given | under("decoder.", drawn_weights), digits=30)
    assert near(values["Z"], decoded["Z"])
    assert near(values["logits"], values["Z"] * E.T)
    assert all(abs(sum(values["P"].row(row)) - 1) < Float(10) ** -25 for row in range(2))


# --- what is given


def test_attention_in_numbers_by_hand():
    """Two queries, keys and values in numbers: the first row attends to both keys alike."""
    given = {"Q": [[0, 0], [1, 0]], "K": [[log(2), 5], [0, 7]], "V": [[3, 0], [0, 3]]}
    values = explicit_layer(scaled_dot_product_attention(), given, n=2, m=2, d_k=2, d_v=2)
    assert values["S"] == ImmutableDenseMatrix([[0, 0], [log(2) / sqrt(2), 0]])
    assert values["A"].row(0) == ImmutableDenseMatrix([[Rational(1, 2), Rational(1, 2)]])
    assert values["O"].row(0) == ImmutableDenseMatrix([[Rational(3, 2), Rational(3, 2)]])


def test_a_row_with_no_visible_key_is_a_row_of_zeros():
    given = {"M": [[0, 0, 0], [1, 0, 1]], "X": [[1, 2, 3], [0, 5, 0]]}
    weights_of_rows = explicit(row_softmax(X, M), given)
    assert weights_of_rows == ImmutableDenseMatrix([[0, 0, 0], [Rational(1, 2), 0, Rational(1, 2)]])


def test_inputs_are_matrices_of_their_own_entries():
    values = explicit_layer(scaled_dot_product_attention(masked=True), n=2, m=3, d_k=5, d_v=7)
    assert list(values) == ["Q", "K", "V", "M", "S", "A", "O"]
    assert values["K"][2, 4] == array("K", 3, 5).entry(2, 4)
    assert values["M"][1, 2] == mask_array("M", 2, 3).entry(1, 2)
    assert symbolic(F)[4][1, 2] == F.entry(4, 1, 2)
    assert (symbolic(r).shape, symbolic(s).shape) == ((1, 3), (1, 1))


def test_sizes_of_an_expression_are_given_by_name():
    Q, K = array("Q", n, d), array("K", m, d)
    written = explicit(Q @ K.T, n=2, m=3, d=5)
    Q, K = array("Q", 2, 5), array("K", 3, 5)
    assert written.shape == (2, 3)
    assert written[1, 2] == sum(Q.entry(1, p) * K.entry(2, p) for p in range(5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: explicit_layer(scaled_dot_product_attention(), n=2, m=3, d_k=5), "give a number for d_v"),
        (lambda: explicit(array("Q", n, d), n=2), "Q as matrices: give a number for d"),
        (lambda: explicit(X, p=2), "X has no size p"),
        (lambda: explicit(X, {"X": [[1, 2], [3, 4]]}), r"X has shape \(2, 3\), which"),
        (lambda: explicit(F[3], {"F": [[[1, 2, 3]] * 2] * 3}), r"F has shape \(5, 2, 3\), which"),
        (lambda: explicit(X, {"x": [[1, 2, 3]] * 2}), "X has no array or symbol called x"),
        (lambda: explicit(F[i]), "give a number for i"),
    ],
)
def test_what_does_not_fit_is_refused(call, message: str):
    with pytest.raises(ShapeError, match=message):
        call()


def test_a_node_without_a_rule_is_refused():
    class Mystery(Array):
        def _infer(self):
            return self.args[0].shape

    with pytest.raises(TypeError, match="no rule evaluates a Mystery"):
        explicit(Mystery(X))
