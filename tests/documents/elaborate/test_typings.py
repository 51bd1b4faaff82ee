"""Statements get every typing under which all of their operations fit, the likeliest first, and no other."""

import pytest
from sympy import Integer, Sum

from derivations.documents.elaborate import NotElaborated, elaborated
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
