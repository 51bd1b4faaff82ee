r"""Sizes and shapes as they are written, and what is none."""

import pytest
from sympy import Expr, Integer, symbols

from derivations.documents.formulas import read_formula
from derivations.documents.scope.comparing import Distinctions, compare_sizes
from derivations.documents.scope.lexicon import meaning_of
from derivations.documents.scope.sizes import size_of, written_shape
from derivations.documents.syntax import Name, Node, Power, Product, Sum

n, d, h, w = symbols("n d h w")


def _first(text: str) -> Node:
    return read_formula(text, "latex").statements[0].sides[0]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (r"(n \times d)", (n, d)),
        ("[n, d, 5]", (n, d, Integer(5))),
        (r"(n \times 4 d)", (n, 4 * d)),
        ("(n, h d)", (n, h * d)),
    ],
)
def test_a_shape_is_read_from_brackets(text: str, sizes: tuple[object, ...]) -> None:
    assert written_shape(_first(text)) == sizes


@pytest.mark.parametrize("text", ["[0.1, 0.9]", "(a + b)", "x", r"(\sin x, y)"])
def test_what_is_no_shape_is_none(text: str) -> None:
    assert written_shape(_first(text)) is None


def test_a_size_over_the_budget_is_none() -> None:
    assert size_of(Sum(tuple(Name(f"a{i}") for i in range(40)), (1,) * 40)) is None
    tower: Node = Name("a")
    for _ in range(8):
        tower = Power(Sum((tower, Name("b")), (1, 1)), tower)
    assert size_of(tower) is None
    assert size_of(Product((Name("a"), Name("b")), ("odot",))) is None


def test_sizes_are_compared_by_what_letters_are_set_to() -> None:
    values = {"w": (d / h,)}
    known = Distinctions()

    def compare(left: Expr, right: Expr) -> str:
        return compare_sizes(left, right, lambda key: values.get(key, ()), known).relation

    assert compare(h * w, w * h) == "equal"
    assert compare(h * w, d) == "given"
    assert compare(n, d) == "unsure"
    assert compare(Integer(5), Integer(7)) == "different"
    known.together([n, d])
    assert compare(n, d) == "different"
    assert compare(n, h) == "unsure"


def test_letters_that_are_called_differently_are_different() -> None:
    known = Distinctions()
    known.called("n", {"sequence length"})
    known.called("d", {"hidden width"})
    known.called("w", {"hidden width"})
    assert compare_sizes(n, d, lambda _: (), known).relation == "different"
    assert compare_sizes(w, d, lambda _: (), known).relation == "unsure"


@pytest.mark.parametrize(
    ("phrase", "meaning"),
    [
        ("the dimension of each key vector", "key width"),
        ("鍵向量的維度", "key width"),
        ("キーの次元", "key width"),
        ("the length of the sequence", "sequence length"),
        ("序列长度", "sequence length"),
        ("系列長", "sequence length"),
        ("the width of the feed-forward layer", "hidden width"),
    ],
)
def test_meanings_are_told_by_words(phrase: str, meaning: str) -> None:
    assert meaning_of(phrase) == {meaning}


def test_a_phrase_without_such_words_has_no_meaning() -> None:
    assert meaning_of("something else entirely") == frozenset()
