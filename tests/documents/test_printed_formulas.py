r"""What the printer writes is read back by the formula reader of documents, and has the same value.

The reader shares no code with the printer. Random expressions are printed as LaTeX, the tree that the reader makes of
that is evaluated here with floating-point numbers, and compared with the expression written out and evaluated exactly.
Wrong prints are noticed: dropped parentheses, a transposed product, shifted indices.
"""

import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy import Abs, Expr, Indexed, Integer, Max, N, Rational, Sum, Symbol, exp, sqrt

from derivations.activations.sigmoid import sigmoid
from derivations.catalogue import layers, names
from derivations.documents.formulas import read_formula
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Transpose,
)
from derivations.documents.syntax import Sum as Terms
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowSum, named, relu, row_softmax, square
from derivations.language.differentiation.reverse import gradient
from derivations.language.printing.explicit import explicit
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.page import layer_page, page
from derivations.language.printing.text import TextPrinter
from derivations.language.results.derivation import RESULTS
from derivations.symbols import d, i, j, k, m, n, scalar

SIZES = {"n": 2, "m": 3, "d": 5}
draws = np.random.default_rng(11)
VALUES: dict[str, Any] = {
    name: draws.integers(1, 9, shape) / 8 * draws.choice([1, 1, -1], shape)
    for name, shape in {"X": (2, 3), "Y": (2, 3), "A": (2, 5), "B": (5, 3), "C": (3, 2), "u": (3,), "v": (2,)}.items()
} | {"a": 0.625, "b": -1.375, **SIZES}
X, Y, A, B, C = array("X", n, m), array("Y", n, m), array("A", n, d), array("B", d, m), array("C", m, n)
u, v, a, b = array("u", m), array("v", n), scalar("a"), scalar("b")
t, s = Symbol("t", real=True), Symbol("s", real=True)


# --- the value of a tree --------------------------------------------------------------------------------------------


class Row:
    """The transpose of a vector, which stands at the right of an outer product, or at the left of a matrix."""

    def __init__(self, vector: Any) -> None:
        self.vector = vector


ONES = object()  # a vector of ones, as long as what it multiplies


def softmax(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "softmax": softmax,
    "ReLU": lambda x: np.maximum(x, 0),
    "sigma": lambda x: 1 / (1 + np.exp(-x)),
    "exp": np.exp,
    "max": lambda *x: reduce(np.maximum, x),
    "rowsum": lambda x: x.sum(-1),
    "diag": np.diag,
}


def value(node: Node, of: Mapping[str, Any]) -> Any:
    """The value of a tree, where juxtaposition is the product that the shapes of its factors have."""
    match node:
        case Number(value=number):
            return float(number)
        case Name(base="1"):
            return ONES
        case Name(base="e", subscripts=()):
            return np.e
        case Name(base=base, subscripts=places) if places:
            return of[base][tuple(round(value(place, of)) - 1 for place in places)]
        case Name(base=base):
            return of[base]
        case Terms(terms=terms, signs=signs):
            return sum(sign * value(term, of) for term, sign in zip(terms, signs, strict=True))
        case Negative(operand=operand):
            return -value(operand, of)
        case Quotient(numerator=above, denominator=below):
            return value(above, of) / value(below, of)
        case Power(base=base, exponent=exponent):
            return value(base, of) ** value(exponent, of)
        case Root(radicand=radicand, degree=None):
            return np.emath.sqrt(value(radicand, of))
        case Root(radicand=radicand, degree=degree) if degree is not None:
            return value(radicand, of) ** (1 / value(degree, of))
        case Fence(bracket="(", inside=inside):
            return value(inside, of)
        case Fence(bracket="|", inside=inside):
            return abs(value(inside, of))
        case Transpose(operand=operand):
            inside = value(operand, of)
            return inside.T if getattr(inside, "ndim", 0) == 2 else Row(inside)
        case Call(function=function, arguments=(argument,)) if function.key in of:
            return times(of[function.key], value(argument, of))  # a (b + c): the context says that a is a number
        case Call(function=function, arguments=arguments):
            return FUNCTIONS[function.base](*(value(each, of) for each in arguments))
        case Aggregate(kind="sum", body=body, index=(index,), lower=lower, upper=upper):
            places = range(round(value(lower, of)), round(value(upper, of)) + 1)
            return sum(value(body, {**of, index.base: place}) for place in places)
        case Product(factors=(first, *others), operators=operators):
            result = value(first, of)
            for sign, other in zip(operators, others, strict=True):
                right = value(other, of)
                result = result * right if sign == "odot" else times(result, right)
            return result
    raise AssertionError(f"no value for {node}")


def times(left: Any, right: Any) -> Any:
    """The product of two factors side by side."""
    if isinstance(left, Row) and left.vector is ONES:
        return right.sum(0)
    if isinstance(right, Row):
        return left[:, None] if right.vector is ONES else np.multiply.outer(left, right.vector)
    if np.ndim(left) and np.ndim(right):
        return left @ right
    return left * right


def read_back(latex: str, of: Mapping[str, Any]) -> Any:
    reading = read_formula(latex, "latex")
    assert reading.stopped is None, (latex, reading.stopped)
    (statement,) = reading.statements
    (tree,) = statement.sides
    return value(tree, of)


# --- random expressions ---------------------------------------------------------------------------------------------


ENTRIES = [v[i], v[j], X[i, k], X[j, 0], Y[i, k + 1], u[0], A[j, k]]
POWERS = [2, 3, -1, -2, Rational(1, 2), Rational(-1, 2)]


def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] / p[1] if p[1] != 0 else p[0]),
        st.tuples(inner, st.sampled_from(POWERS)).map(lambda p: p[0] ** p[1] if p[0] != 0 else p[0]),
        inner.map(exp),
        inner.map(Abs),
        pairs.map(lambda p: Max(*p, evaluate=False) if p[0] != p[1] and all(e.is_real for e in p) else p[0]),
        inner.map(lambda body: Sum(body * u[k], (k, 0, 1))),
        inner.map(lambda body: Sum(body, (j, 0, n - 1))),
    )


SCALARS = st.recursive(
    st.one_of(st.sampled_from([a, b, *ENTRIES]), st.integers(-3, 5).map(Integer), st.just(Rational(2, 3))),
    larger,
    max_leaves=7,
)

_FORMULAS = [square, relu, sigmoid, named("gate", t * (1 - t), t), named("bell", t * exp(-(t**2) / 2), t)]
_OF_TWO = [named("ratio", t / (1 + s**2), t, s), named("difference", -t * s + 1, t, s)]


@st.composite
def matrices(draw: Callable[..., Any], depth: int = 3) -> Array:
    """A matrix of n rows and m columns."""
    if depth == 0:
        return draw(st.sampled_from([X, Y, A @ B, C.T]))
    inner, vectors = matrices(depth - 1), rows(depth - 1)
    choice = draw(st.integers(0, 10))
    match choice:
        case 0:
            return draw(inner) + draw(inner)
        case 1:
            return draw(inner) - draw(inner)
        case 2:
            return draw(st.sampled_from([a, -b, 1 - a, Integer(2), 1 / sqrt(d), Rational(-1, 2)])) * draw(inner)
        case 3:
            return draw(inner) @ (C @ draw(inner))
        case 4:
            return draw(inner) @ (C @ draw(inner)).T if draw(st.booleans()) else draw(inner) @ C @ draw(inner)
        case 5:
            return Hadamard(draw(inner), draw(inner))
        case 6:
            return row_softmax(draw(inner))
        case 7:
            return draw(st.sampled_from(_FORMULAS))(draw(inner))
        case 8:
            return draw(st.sampled_from(_OF_TWO))(draw(inner), draw(inner))
        case 9:
            return draw(inner) + RowBroadcast(draw(vectors), n)
        case _:
            column = ColumnBroadcast(RowSum(draw(inner)), m)
            return draw(inner) - column if draw(st.booleans()) else Hadamard(draw(inner), column)


@st.composite
def rows(draw: Callable[..., Any], depth: int) -> Array:
    """A vector of m entries."""
    return draw(st.sampled_from([u, v @ X, RowSum(draw(matrices(depth)).T), C @ v]))


def exact(expr: Expr, places: Mapping[Symbol, int]) -> complex:
    """The value of a scalar expression: indices in place, sums added up, entries looked up."""
    sized = expr.subs({Symbol(name, integer=True, positive=True): size for name, size in SIZES.items()})
    # a bound index is not replaced: SymPy's `subs` leaves the variable of a sum alone
    added = sized.subs(places).doit()
    entries = {e: Rational(VALUES[str(e.base.label)][tuple(map(int, e.indices))]) for e in added.atoms(Indexed)}
    return complex(N(added.xreplace({**entries, a: Rational(VALUES["a"]), b: Rational(VALUES["b"])})))


def same(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.broadcast_to(found, np.shape(wanted)), wanted, rtol=1e-9, atol=1e-9))


PLACES = {i: 1, j: 0, k: 1}


def scalar_agrees(expr: Expr, printed: str) -> bool:
    letters = {symbol.name: place + 1 for symbol, place in PLACES.items()}
    with np.errstate(all="ignore"):
        return same(read_back(printed, {**VALUES, **letters}), exact(expr, PLACES).real)


def matrix_agrees(expr: Array, printed: str) -> bool:
    given = {name: VALUES[name] for name in ("X", "Y", "A", "B", "C", "u", "v") if re.search(rf"\b{name}\b", str(expr))}
    listed = {name: [[Rational(e) for e in row] for row in np.atleast_2d(w)] for name, w in given.items()}
    listed |= {name: listed[name][0] for name in ("u", "v") if name in listed}
    numbers = {a: Rational(VALUES["a"]), b: Rational(VALUES["b"])}
    sizes = {name: size for name, size in SIZES.items() if name in {str(s) for s in expr.free_symbols}}
    wanted = np.array(N(explicit(expr, listed, **sizes).subs(numbers), 20).tolist(), dtype=float)
    return same(read_back(printed, VALUES), wanted)


@pytest.mark.slow
@settings(max_examples=300)
@given(SCALARS)
def test_a_printed_scalar_is_read_back_with_its_value(expr: Expr):
    wanted = exact(expr, PLACES)
    assume(np.isfinite(wanted) and abs(wanted) < 1e12 and not wanted.imag)
    assert scalar_agrees(expr, latex_of(expr))


@pytest.mark.slow
@settings(max_examples=250)
@given(matrices())
def test_a_printed_matrix_is_read_back_with_its_value(expr: Array):
    assert matrix_agrees(expr, latex_of(expr))


# --- nesting --------------------------------------------------------------------------------------------------------


_SIGNS = re.compile(r"\\left\\?[([{|.]|\\right\\?[)\]}|.]|\\begin\{\w+\}|\\end\{\w+\}|\\.|[()\[\]{}]")
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def misnested(printed: str) -> str:
    """What is closed by another bracket than it was opened by, or not closed; empty where all brackets match."""
    opened: list[str] = []
    for sign in _SIGNS.findall(re.sub(r"\\text\{(?:[^{}]|\\.)*\}", "", printed)):
        if sign.startswith((r"\left", r"\begin")):
            opened.append(sign)
        elif sign.startswith((r"\right", r"\end")):
            partner = opened.pop() if opened else ""
            if partner[6:] != (sign[4:] if sign.startswith(r"\end") else partner[6:]) or partner[:1] != "\\":
                return f"{partner} ... {sign}"
        elif sign in _CLOSED_BY:
            opened.append(sign)
        elif sign in _CLOSED_BY.values() and (not opened or _CLOSED_BY.get(opened.pop()) != sign):
            return f"... {sign}"
    return " ".join(opened)


@pytest.mark.parametrize(
    ("printed", "right"),
    [
        (r"e^{(b - g_{1,j})}", True),
        (r"e^{(b - g_{1,j}})", False),
        (r"\left(\frac{1}{2}\right) [x]_{i}", True),
        (r"\left(\frac{1}{2}\right", False),
        (r"(x]", False),
        (r"\begin{cases} 1 \end{cases}", True),
        (r"\begin{cases} 1 \end{aligned}", False),
        (r"\text{a )} + \{0\}", True),
        ("x_{i", False),
        ("x)", False),
    ],
)
def test_misnested_brackets_are_noticed(printed: str, right: bool):
    assert (misnested(printed) == "") == right


@pytest.mark.slow
@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("printer", [LatexPrinter, TextPrinter])
def test_brackets_match_in_every_layer_gradient_and_result(notation: str, printer: type[LatexPrinter]):
    built = layers().values()
    pages = [layer_page(layer, printer, notation) for layer in (*built, *map(gradient, built))]
    if notation == "ours":  # another notation gives other names, which the layers have too
        pages += [page(RESULTS[name](), printer, notation, steps=True) for name in names()]
    for shown in pages:
        formulas = [part for row in shown.rows for part in (row.left, row.right, row.beside)]
        for formula in (*formulas, *(formula for note in shown.notes for formula, _ in note.items)):
            assert misnested(formula) == "", (shown.title, formula)


# --- the checks say no ----------------------------------------------------------------------------------------------


def test_what_is_right_agrees():
    assert scalar_agrees(a * (v[i] - b) ** 2, r"a (v_{i} - b)^{2}")
    assert scalar_agrees(Sum(v[j] * X[j, 0], (j, 0, n - 1)), r"\sum_{j=1}^{n} v_{j} X_{j1}")
    assert matrix_agrees(X - (X + Y), "X - (X + Y)")
    assert matrix_agrees(Hadamard(X, ColumnBroadcast(v, m)), r"\mathrm{diag}(v) X")


@pytest.mark.parametrize(
    ("expr", "printed"),
    [
        (a * (v[i] - b), r"a v_{i} - b"),
        ((a + b) ** 2, r"a + b^{2}"),
        (v[i], "v_{j}"),
        (X[j, 0], r"X_{j2}"),
        (Sum(v[j], (j, 0, n - 1)), r"\sum_{j=1}^{n - 1} v_{j}"),
        (exp(-a), "e^{a}"),
        (1 / (a + b), r"\frac{1}{a} + b"),
    ],
)
def test_a_wrong_print_of_a_scalar_is_noticed(expr: Expr, printed: str):
    assert not scalar_agrees(expr, printed)


@pytest.mark.parametrize(
    ("expr", "printed"),
    [
        (X - (X + Y), "X - X + Y"),
        (A @ B, r"(A B) C A B"),
        (Hadamard(X, Y) @ (C @ X), r"X \odot (Y (C X))"),
        (Hadamard(X, ColumnBroadcast(v, m)), r"X"),
        (C.T, r"X \odot C^{\top}"),
        (row_softmax(X / 2), r"\frac{\mathrm{softmax}(X)}{2}"),
    ],
)
def test_a_wrong_print_of_a_matrix_is_noticed(expr: Array, printed: str):
    assert not matrix_agrees(expr, printed)
