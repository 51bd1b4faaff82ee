"""The printers, against print written by hand; and what must never appear in print."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Add, Dummy, Integer, KroneckerDelta, Mul, Rational, Symbol, exp, srepr

from derivations.catalogue import get, layers
from derivations.language import ColumnBroadcast, Hadamard, RowBroadcast, array
from derivations.language.arrays.expression import Array
from derivations.language.printing.counting import Letter, printed_sum
from derivations.language.printing.latex import LatexPrinter, latex_of
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.text import TextPrinter
from derivations.language.printing.views import latex
from derivations.symbols import d_k, h, i, j, n
from tests.language.printing.printed import ARRAYS, COUNTING, SCALARS, K, Q, W, X, a, b_1, c, x, y


def ids(cases: list) -> list[str]:
    return [str(case[1]) for case in cases]


@pytest.mark.parametrize(("expr", "expected", "_"), SCALARS + COUNTING, ids=ids(SCALARS + COUNTING))
def test_scalars_print_as_a_textbook_writes_them(expr, expected, _):
    assert latex_of(expr) == expected


@pytest.mark.parametrize(("expr", "expected", "_text", "_columns"), ARRAYS, ids=ids(ARRAYS))
def test_arrays_print_as_a_paper_writes_them(expr, expected, _text, _columns):
    assert latex_of(expr) == expected


@pytest.mark.parametrize("case", [c for c in [*SCALARS, *COUNTING, *ARRAYS] if c[2]], ids=lambda case: case[2])
def test_text_has_the_layout_of_latex_on_one_line(case):
    assert TextPrinter().doprint(case[0]) == case[2]


@pytest.mark.parametrize("case", [c for c in ARRAYS if c[3]], ids=lambda case: case[3])
def test_column_vectors_reverse_products_and_transpose_leaves(case):
    assert latex_of(case[0], "columns") == case[3]


def test_entries_of_column_notation_have_their_places_reversed():
    assert latex_of(X[i, j], "columns") == "X_{ji}"
    assert latex_of(y[i], "columns") == "y_{i}"


def test_the_printed_places_say_no_to_a_wrong_shift():
    """The expectations are no tautology: counted from 0, the same expressions print otherwise."""
    for expr in (x[0], j, KroneckerDelta(i, 0)):
        assert latex_of(expr, first=0) != latex_of(expr)


places = st.recursive(
    st.sampled_from([i, j, c, n, h, d_k]) | st.integers(-3, 3).map(Integer),
    lambda inner: st.builds(Add, inner, inner) | st.builds(Mul, inner, inner),
    max_leaves=6,
)


@given(places, st.lists(st.integers(0, 11), min_size=6, max_size=6))
def test_a_printed_place_is_the_place_plus_one(place, values):
    """Read back: with every letter one more than its index, the printed place is one more than the place."""
    given_values = dict(zip((i, j, c, n, h, d_k), map(Integer, values), strict=True))
    printed = printed_sum(place, 1, 1)
    letters = {letter: given_values[letter.args[0]] + 1 for letter in printed.atoms(Letter)}
    assert printed.xreplace(letters).xreplace(given_values) == place.xreplace(given_values) + 1


def test_zero_based_symbols_stop_the_renumbering_only_where_they_occur():
    pos = Symbol("pos", integer=True)
    assert latex_of(X[pos, 0]) == r"X_{\mathrm{pos},0}"
    assert latex_of(X[i, 0]) == "X_{i1}"


FORBIDDEN = ("Indexed", "Kronecker", "Iverson", "Symbol", "Tuple", "Lambda(", "Str(", "Array", "Rounded", "IndexedBase")


def test_a_letter_e_is_an_index_or_the_number_of_euler_and_never_both():
    e = Symbol("e", integer=True)
    assert latex_of(exp(x[i])) == "e^{x_{i}}"
    assert latex_of(exp(x[e])) == r"\exp(x_{e})"
    together = LatexPrinter().together(x[e], exp(x[i]))
    assert together.doprint(exp(x[i])) == r"\exp(x_{i})"
    assert latex(get("mixture_of_experts.definition"), steps=True).count("e^{") == 0


@pytest.mark.parametrize("notation", NOTATIONS)
def test_no_repr_of_sympy_and_no_bare_underscore_leaks(notation):
    formulas = [latex_of(case[0], notation) for case in [*SCALARS, *COUNTING, *ARRAYS]]
    formulas += [latex(layer, notation) for layer in layers().values()]
    for formula in formulas:
        assert not [word for word in FORBIDDEN if word in formula]
        assert formula.count("{") == formula.count("}")
        for before, after in pairwise(formula):
            assert after != "_" or before not in " ({&"  # every subscript has a base
            assert before != "_" or after == "{" or formula.count(r"\_")  # and is a group


def test_an_unknown_node_prints_as_a_function_of_its_operands():
    class Trace(Array):
        def _infer(self):
            return ()

    assert latex_of(Trace(Q @ K.T)) == r"\mathrm{Trace}(Q K^{\top})"


def test_minus_signs_and_parentheses_survive_nesting():
    assert latex_of(-(1 - a) * y[i]) == "y_{i} (a - 1)"
    assert latex_of((-1 - a) * y[i]) == "-y_{i} (a + 1)"
    assert latex_of(exp(-(a - x[i]))) == "e^{x_{i} - a}"
    assert latex_of((a + 1) ** -2) == r"\frac{1}{(a + 1)^{2}}"
    assert latex_of(Dummy("t", real=True) ** 2) == "t^{2}"


def test_the_bias_is_not_what_is_written_when_it_is_left_out():
    assert latex_of(X @ W) != latex_of(X @ W + b_1)


PROGRAM = """
import json
from derivations.catalogue import layers
from derivations.language.printing.latex import latex_of
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.views import latex, text
from tests.language.printing.printed import ARRAYS, COUNTING, SCALARS

formulas = [latex_of(case[0], name) for case in [*SCALARS, *COUNTING, *ARRAYS] for name in NOTATIONS]
formulas += [view(layer) for layer in layers().values() for view in (latex, text)]
print(json.dumps(formulas))
"""


@pytest.mark.slow
def test_print_is_the_same_under_every_hash_seed(repository: Path):
    outputs = []
    for seed in ("0", "1", "2305"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(repository)}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1] == outputs[2]


def test_the_printer_leaves_no_state_behind():
    printer = LatexPrinter()
    pos = Symbol("pos", integer=True)
    assert [printer.doprint(e) for e in (x[0], X[pos, 0], x[0])] == ["x_{1}", r"X_{\mathrm{pos},0}", "x_{1}"]


def test_expressions_of_entries_keep_their_repr():
    """Printing reads expressions and changes none."""
    before = [srepr(case[0]) for case in SCALARS]
    for case in SCALARS:
        latex_of(case[0])
    assert [srepr(case[0]) for case in SCALARS] == before


def test_deep_expressions_are_printed_part_by_part_once():
    """The order of terms is found by printing them; that must not print a part again for every level above it."""

    class Counting(LatexPrinter):
        count = 0

        def _print_Add(self, expr, order=None):
            self.count += 1
            return super()._print_Add(expr, order)

    deep = x[i]
    for _ in range(20):
        deep = a / (2 + deep * y[j])
    printer = Counting()
    assert printer.doprint(deep).count(r"\frac") == 20
    assert printer.count <= 60


def test_a_column_times_a_row_is_an_outer_product():
    """A vector beside a factor prints alone, and u o v would be an entrywise product of vectors of two lengths."""
    column, row = ColumnBroadcast(array("u", n), d_k), RowBroadcast(array("v", d_k), n)
    for product in (Hadamard(column, row), Hadamard(row, column)):
        assert latex_of(product) == r"u v^{\top}"
        assert latex_of(product, "columns") == r"v u^{\top}"
    assert latex_of(Hadamard(array("A", n, d_k), Hadamard(column, row))) == r"A \odot (u v^{\top})"
    assert latex_of(Hadamard(column, column)) == r"(u \odot u) \mathbf{1}^{\top}"


def test_a_number_that_was_a_decimal_prints_as_one():
    x = Symbol("x", real=True)
    assert latex_of(1 + Rational("0.044715") * x**2) == "0.044715 x^{2} + 1"
    assert latex_of(Rational("-1.702") * x) == "-1.702 x"
    assert latex_of(Rational("0.0204")) == "0.0204"
    for fraction, printed in ((Rational(1, 10**6), "1000000"), (Rational(3, 128), "128"), (Rational(7, 300), "300")):
        assert latex_of(fraction) == rf"\frac{{{fraction.p}}}{{{printed}}}"
