"""Statements get every typing under which all of their operations fit, the likeliest first, and no other."""

import pytest
from sympy import Integer, Mul, Rational, Sum, log

from derivations.documents.elaborate import NotElaborated, elaborated, typings
from tests.documents.elaborated import statements


def kinds(text):
    """The kinds of the letters of the last formula of a text, under each of its typings."""
    *_, (statement, scope) = statements(text)
    return [{letter.key: kind for letter, kind in each.kinds} for each in elaborated(statement.chain.sides, scope)]


def test_a_product_of_a_matrix_and_a_vector_comes_first_for_bold_letters():
    assert kinds(r"$$\mathbf{y} = \mathbf{W} \mathbf{x}$$") == [{"bold y": 1, "bold W": 2, "bold x": 1}]


def test_what_is_transposed_is_no_number():
    assert all(each["V"] for each in kinds("$$O = P V^T$$"))
    assert any(not each["V"] for each in kinds("$$O = P V$$"))
    assert all(each["V"] for each in kinds("Let $Z = V^T$.\n\n$$O = P V$$"))  # another line of the section says so


def test_sums_bind_their_index_and_count_from_where_they_begin():
    ((statement, scope),) = statements(r"$$y = \sum_{i=1}^{n} i x_i$$")
    first = elaborated(statement.chain.sides, scope)[0]
    (whole,) = first.sides[1].atoms(Sum)
    place, low, high = whole.limits[0]
    assert low == 0
    assert whole.function.subs(place, 0).coeff(whole.function.atoms(type(whole.function.args[-1])).pop()) is not None
    assert {str(symbol) for symbol in high.free_symbols} == {"n"}


def test_the_axes_of_two_terms_are_one():
    ((statement, scope),) = statements(r"$$\mathbf{z} = \mathbf{W} \mathbf{x} + \mathbf{b}$$")
    (typing,) = elaborated(statement.chain.sides, scope)
    (size,) = set(typing.ranges.values())
    assert all(base.shape[0] == size for base in _bases(typing.sides[1], ("bold W", "bold b")))


def _bases(expression, names):
    from sympy import Indexed

    return [each.base for each in expression.atoms(Indexed) if str(each.base.label) in names]


@pytest.mark.parametrize(
    "formula",
    [
        r"\mathbf{x} \mathbf{y} = 1",  # two columns have no product
        r"y = \frac{1}{\mathbf{X}}",  # nothing is divided by a matrix
        r"y = \mathbf{A} @ 2",
        r"y = \operatorname{foo}(x)",
        r"y = \begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases}",
    ],
)
def test_what_does_not_fit_or_has_no_meaning_is_not_elaborated(formula):
    ((statement, scope),) = statements(f"$${formula}$$")
    with pytest.raises(NotElaborated):
        elaborated(statement.chain.sides, scope)


def test_an_empty_fraction_is_kept_as_it_is_written():
    ((statement, scope),) = statements(r"$$y = \frac{x^2 - 4}{x - 2}$$")
    (number, *_) = elaborated(statement.chain.sides, scope)
    assert number.sides[1] != number.sides[1].simplify()  # nothing is cancelled
    assert number.sides[1].subs({s: Integer(3) for s in number.sides[1].free_symbols}) == 5


def first(text):
    """The sides of the last formula of a text under its first typing."""
    *_, (statement, scope) = statements(text)
    return elaborated(statement.chain.sides, scope)[0].sides


def test_a_layer_norm_is_no_logarithm():
    *_, (statement, scope) = statements(r"$$y = \text{LN}(x)$$")
    with pytest.raises(NotElaborated):
        elaborated(statement.chain.sides, scope)
    assert first(r"$$y = \ln(x)$$")[1].func == log


@pytest.mark.parametrize("sign", [r"\odot", r"\otimes"])
def test_what_is_multiplied_entry_by_entry_is_worked_out_first(sign):
    """An activation times x W is no product of two activations with W; a cross without an activation is another one."""
    gate = first(rf"$$\mathbf{{y}} = \text{{ReLU}}(\mathbf{{x}} \mathbf{{V}}) {sign} \mathbf{{x}} \mathbf{{W}}$$")[1]
    assert gate.func == Mul and len(gate.atoms(Sum)) == 2
    for factor in (r"\mathbf{x}", r"\exp(\mathbf{x})"):
        *_, (statement, scope) = statements(rf"$$\mathbf{{Y}} = {factor} {sign} \mathbf{{z}}$$")
        if sign == r"\otimes":  # an outer product may be meant
            with pytest.raises(NotElaborated):
                elaborated(statement.chain.sides, scope)


def test_a_sum_to_a_letter_has_as_many_terms():
    """One to n has n terms, and so has one without a beginning; e may be such a number."""
    for text, size in ((r"\sum_{i=1}^{n} x_i", "n"), (r"\sum_i^n x_i", "n"), (r"\sum_{i=1}^{e} x_i", "e")):
        (whole,) = first(f"$$y = {text}$$")[1].atoms(Sum)
        assert str(whole.limits[0][2] - whole.limits[0][1] + 1) == size


def test_kinds_that_did_not_fit_are_not_tried_again_and_nothing_is_lost(monkeypatch):
    """With and without what was learnt from misfits the typings are the same; with it fewer are read."""
    texts = (r"$$O = \text{softmax}(Q K^T) V + b$$", r"$$h = W_2 (W_1 x + b_1) + b_2$$")
    read, reads = typings._read, []
    monkeypatch.setattr(typings, "_read", lambda *arguments: reads.append(1) or read(*arguments))
    learnt = [kinds(text) for text in texts]
    few = len(reads)
    monkeypatch.setattr(typings, "_is_known_misfit", lambda *_: False)
    assert [kinds(text) for text in texts] == learnt
    assert few < len(reads) - few


@pytest.mark.parametrize(("exponent", "value"), [("1-3", -2), (r"2 \cdot 3", 6), (r"-\frac{1}{2}", Rational(-1, 2))])
def test_an_exponent_without_letters_is_a_number(exponent, value):
    assert first(rf"$$y = x^{{{exponent}}}$$")[1].exp == value


def test_a_large_exponent_is_not_worked_out():
    *_, (statement, scope) = statements(r"$$y = 3^{10 \cdot 100}$$")
    with pytest.raises(NotElaborated):
        elaborated(statement.chain.sides, scope)
