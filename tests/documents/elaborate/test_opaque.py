"""Parts without a meaning of their own are letters, at the places that their indices tell."""

from __future__ import annotations

import pytest

from derivations.documents.elaborate.letters import letters_of
from derivations.documents.elaborate.opaque import with_letters
from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.syntax import Name


def opaque(text: str) -> list[Name]:
    chain = read_formula(text, "latex").statements[0]
    (right,) = with_letters(chain.sides[1:], letters_of(chain.sides))
    return [part for part in right.walk() if isinstance(part, Name) and part.font == "opaque"]


def test_a_function_under_a_sum_is_an_entry() -> None:
    (letter,) = opaque(r"L = -\sum_{t=1}^{T} \log p(x_t \mid x_{<t})")
    assert [formula_text(place) for place in letter.subscripts] == ["t"]


def test_what_is_written_alike_is_one_letter() -> None:
    one, other = opaque(r"y = g(x) + g(x)")
    assert one == other


def test_what_is_written_otherwise_is_another_letter() -> None:
    one, other = opaque(r"y = g(x) + g(z)")
    assert one.key != other.key


@pytest.mark.parametrize("text", [r"y = \tanh(x)", r"y = \mathrm{softmax}(x)", r"y = \max(0, x)", r"y = \log_2(x)"])
def test_a_known_function_stays(text: str) -> None:
    assert not opaque(text)


def test_a_list_is_one_letter() -> None:
    (letter,) = opaque(r"f_t = W [h_{t-1}, x_t]")
    assert [formula_text(place) for place in letter.subscripts] == ["t - 1", "t"]
