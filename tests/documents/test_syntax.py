"""Formulas as trees: they are walked in order, and what a rule leaves alone comes back as it is."""

from fractions import Fraction
from typing import Any

from derivations.documents.syntax import Aggregate, Arrow, Chain, Name, Node, Number, Product, Sum, rebuilt

x, y, two = Name("x"), Name("y", (Name("i"),)), Number("2", Fraction(2))
TERM = Sum((Product((two, x), ("",)), y), (1, -1))
CHAIN = Chain((TERM, Aggregate("sum", y, (Name("i"),))), (Arrow(above=x),))


def renamed(node: Any) -> Any:
    return Name("z") if node == x else rebuilt(node, renamed)


def test_a_tree_is_walked_from_the_outside_inwards() -> None:
    letters = [each.key for each in CHAIN.walk() if isinstance(each, Name)]
    assert letters == ["x", "y_i", "i", "y_i", "i", "i", "x"]


def test_a_part_is_put_wherever_it_stands_and_the_rest_is_kept() -> None:
    changed: Node = renamed(CHAIN)
    keys = [each.key for each in changed.walk() if isinstance(each, Name)]
    assert keys == ["z", "y_i", "i", "y_i", "i", "i", "z"]
    assert isinstance(changed, Chain)
    assert changed.sides[1] is CHAIN.sides[1]


def test_what_does_not_change_comes_back_as_it_is() -> None:
    assert renamed(y) is y
    assert renamed((y, two)) == (y, two)
    assert rebuilt("x", renamed) == "x"
