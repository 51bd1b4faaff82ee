r"""Functions of arrays that print by a name of ours are defined where they are printed."""

import re
from dataclasses import replace
from functools import partial

import pytest
from sympy import Integer, expand

from derivations.catalogue import layers, names
from derivations.language.arrays.deferred import Deferred
from derivations.language.arrays.expression import Transpose, array, mask_array, token_array
from derivations.language.arrays.functions import Interleave, MaskConjunction, RowSum, relu
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.rows import PlacedRows
from derivations.language.arrays.selection import OneHot, Pick, Windows
from derivations.language.differentiation.reverse import gradient
from derivations.language.printing.array_functions import definitions_of_functions
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.page import Page, layer_page, page
from derivations.language.results.derivation import RESULTS
from derivations.symbols import d, m, n

X, B, L = array("X", n, d), array("B", n, d), array("L", n, d)
t = token_array("t", n)
NAMES = {
    *("rowmean", "rowsum", "logsumexp", "recurrence", "Interleave", "place", "onehot", "windows"),
    *("Causal", "Window", "Band", "pick", "top", "outer", "add"),
}


def defined(expr, notation="ours", taken=()):
    printer = LatexPrinter(notation)
    printer.doprint(expr)
    return [*definitions_of_functions(printer, taken)]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Pick(X, t), [r"\mathrm{pick}(X, t)_{i} = X_{i,t_{i}}"]),
        (RowSum(X), [r"\mathrm{rowsum}(X)_{i} = \sum_{j=1}^{d} X_{ij}"]),
        (OneHot(t, m), [r"\mathrm{onehot}(t)_{ij} = \delta_{j,t_{i}}"]),
        (Windows(X, m), [r"\mathrm{windows}_{m}(X)_{i,(j_{1} - 1) d + j_{2}} = X_{i + j_{1} - 1,j_{2}}"]),
        (
            Interleave(X, X),
            [
                r"[\mathrm{Interleave}(U, V)]_{\text{odd}} = U",
                r"[\mathrm{Interleave}(U, V)]_{\text{even}} = V",
            ],
        ),
        (
            PlacedRows(X, 2, n + 3),
            [r"[\mathrm{place}_{3:n + 2}(X)]_{3:n + 2} = X \ \text{and 0 elsewhere}"],
        ),
        (MaskConjunction(mask_array("D", n, d), mask_array("M", n, d)), [r"(D \wedge M)_{ij} = D_{ij} M_{ij}"]),
        (
            TopK(X, m),
            [r"\mathrm{top}_{m}(X) : \text{places of the largest of each row, in order}"],
        ),
    ],
)
def test_definition(expr, expected):
    assert defined(expr) == expected


def test_rows_are_columns_in_a_notation_with_column_vectors():
    assert defined(RowSum(X), "columns") == [r"\mathrm{rowsum}(X)_{i} = \sum_{j=1}^{d} X_{ji}"]
    (said,) = defined(TopK(X, m), "columns")
    assert "of each column" in said


def test_arguments_that_are_formulas_get_letters_that_the_page_does_not_use():
    assert defined(RowSum(relu(X)), taken={"U"}) == [r"\mathrm{rowsum}(V)_{i} = \sum_{j=1}^{d} V_{ij}"]


def test_nothing_is_defined_where_nothing_is_printed_by_such_a_name():
    assert defined(relu(X) @ Transpose(X)) == []


def test_a_part_without_a_page_is_defined_by_its_inputs():
    shown = layer_page(layers()["grouped_query_attention"], LatexPrinter, "ours")
    formulas = [formula for note in shown.notes for formula, _ in note.items]
    attended = r"\mathrm{Attention}(X_{Q} W_{%s}^{Q}, K, V)"
    group = rf"\mathrm{{Concat}}({attended % 1}, \ldots, {attended % 'r'}) W^{{O}}"
    assert rf"\mathrm{{QueryGroup}}(X_{{Q}}, K, V, W^{{Q}}, W^{{O}}) = {group}" in formulas
    assert not any("Attention}(Q" in formula for formula in formulas)  # which has a page


def test_contractions_are_no_short_form_of_a_part():
    shown = layer_page(layers()["kimi_delta_attention"], LatexPrinter, "ours")
    assert not any("UnitLength" in formula for note in shown.notes for formula, _ in note.items)


@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("of_rank_one", [False, True])
def test_the_printed_law_gives_the_entries(backwards, of_rank_one):
    added, logarithms, w, r = array("B", 3, 2), array("L", 3), array("w", 3, 2), array("r", 3, 2)
    states = Recurrence(logarithms, added, backwards, *((w, r) if of_rank_one else ()))
    for at in (0, 1) if backwards else (1, 2):
        for place in (0, 1):
            law = states.entry_by_law(partial(Deferred, states), Integer(at), Integer(place)).doit()
            entries = {each: states.entry(*each.places) for each in law.atoms(Deferred)}
            assert expand((law.xreplace(entries) - states.entry(Integer(at), Integer(place))).doit()) == 0


def test_recurrences_in_both_directions_are_defined():
    added, logarithms = array("B", 3, 2), array("L", 3)
    printer = LatexPrinter("ours")
    both = [printer.doprint(Recurrence(logarithms, added, backwards)) for backwards in (0, 1)]
    found = " ".join(definitions_of_functions(printer))
    assert both == [r"\mathrm{recurrence}(L, B)", r"\mathrm{recurrence}_{\leftarrow}(L, B)"]
    assert all(f"{head}_{{" in found for head in both)


def undefined(shown: Page) -> set[str]:
    """The functions that a page prints by a name of ours and does not define."""
    display = " ".join(f"{row.left} {row.right}" for row in shown.rows)
    written = r"\\mathrm\{((\w+)\}(?:_\{\\leftarrow\})?)[_(^]"  # \leftarrow: from the last place on
    used = {whole for whole, name in re.findall(written, display) if name in NAMES}
    notes = " ".join(formula for note in shown.notes for formula, _ in note.items)
    return {each.partition("}")[0] for each in used if rf"\mathrm{{{each}" not in notes}


@pytest.mark.parametrize("name", sorted(layers()))
def test_each_page_of_a_layer_and_of_its_gradient_defines_what_it_prints(name):
    for layer in (layers()[name], gradient(layers()[name])):
        assert undefined(layer_page(layer, LatexPrinter, "ours")) == set()


@pytest.mark.slow  # prints every result
@pytest.mark.parametrize("steps", [True, False])
def test_each_page_of_a_result_defines_what_it_prints(steps):
    built = ((name, replace(RESULTS[name](), id=name)) for name in names())
    pages = {name: page(result, LatexPrinter, "ours", steps=steps) for name, result in built}
    assert {name: found for name, shown in pages.items() if (found := undefined(shown))} == {}


def test_a_function_without_a_definition_is_noticed():
    shown = layer_page(layers()["linear_recurrence"], LatexPrinter, "ours")
    assert undefined(replace(shown, notes=shown.notes[:0])) == {"recurrence"}
