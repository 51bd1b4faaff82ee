"""Formulas for the tests of the judge, built from a few Python characters: `tree("e**2 / (e**2 + e)")`.

Numbers keep their text (`7.39`, `485_165_195` for 485,165,195), `a_i` has a subscript, `total(x_i, i, 1, n)` is a sum
with bounds, `number("4.8 億", ...)` is built by hand.
"""

import ast
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from derivations.documents.passages import Block, Document, Passage, Place
from derivations.documents.scope import Scope, read_scopes
from derivations.documents.scope.shape_rules import inferred_shape
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Chain,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)  # fmt: skip

AT = ((0, Place(1, 1)),)


def number(text: str, *, scale: int = 1, exact: bool | None = None, unit: str = "") -> Number:
    """A printed number; `scale` is the value of the word behind its digits."""
    digits = "".join(each for each in text if each.isdigit() or each == ".").strip(".")
    places = len(digits.partition(".")[2])
    whole = places == 0 and scale == 1
    value, half = Fraction(digits) * scale, Fraction(scale, 2 * 10**places)
    return Number(text, value, half if not whole else Fraction(1, 2), whole if exact is None else exact, unit)


def name(text: str) -> Name:
    base, _, below = text.partition("_")
    return Name(base, (Number(below, Fraction(below)) if below.isdigit() else Name(below),) if below else ())


def tree(text: str) -> Node:
    return _node(ast.parse(text, mode="eval").body, text)


def _node(part: ast.expr, text: str) -> Node:
    match part:
        case ast.Constant():
            source = ast.get_source_segment(text, part) or ""
            return number(source.replace("_", ","))
        case ast.Name():
            return name(part.id)
        case ast.UnaryOp():
            return Negative(_node(part.operand, text))
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            first, second = _node(part.left, text), _node(part.right, text)
            sign = 1 if isinstance(part.op, ast.Add) else -1
            if isinstance(first, Sum):
                return Sum((*first.terms, second), (*first.signs, sign))
            return Sum((first, second), (1, sign))
        case ast.BinOp(op=ast.Mult()):
            return Product(tuple(_node(each, text) for each in (part.left, part.right)), ("times",))
        case ast.BinOp(op=ast.MatMult()):
            return Product(tuple(_node(each, text) for each in (part.left, part.right)), ("",))
        case ast.BinOp(op=ast.Div()):
            return Quotient(_node(part.left, text), _node(part.right, text))
        case ast.BinOp(op=ast.Pow()):
            return Power(_node(part.left, text), _node(part.right, text))
        case ast.List():
            return List(tuple(_node(each, text) for each in part.elts), "[")
        case ast.Attribute(attr="T"):
            return Transpose(_node(part.value, text))
        case ast.Call(func=ast.Name(id="total")):
            body, index, low, high = (_node(each, text) for each in part.args)
            assert isinstance(index, Name)
            return Aggregate("sum", body, (index,), low, high)
        case ast.Call(func=ast.Name(id="sqrt")):
            return Root(_node(part.args[0], text))
        case ast.Call(func=ast.Name(id="fence")):
            return Fence("(", _node(part.args[0], text))
        case ast.Call(func=ast.Name()):
            return Call(Name(part.func.id), tuple(_node(each, text) for each in part.args))
    raise ValueError(text)


def statement(*sides: Node | str, relations: str | Sequence[str] = "=", prose: str = "", text: str = "") -> Statement:
    """A statement in a block of its own, behind some prose."""
    nodes = tuple(tree(each) if isinstance(each, str) else each for each in sides)
    between = (relations,) * (len(nodes) - 1) if isinstance(relations, str) else tuple(relations)
    written = text or " ".join(each.text for node in nodes for each in node.walk() if isinstance(each, Number))
    passage = Passage("latex", written, AT)
    return Statement(Chain(nodes, between), passage, Block("paragraph", (Passage("prose", prose, AT), passage)))


class FakeScope(Scope):
    """The scope of an empty document, in which some things are known: they are given by hand."""

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        definitions: Mapping[str, Node] | None = None,
        meanings: Mapping[str, str] | None = None,
        before: Sequence[Statement] = (),
        around: str = "",
        shapes: Mapping[str, tuple[Any, ...]] | None = None,
        convention: str | None = None,
    ) -> None:
        super().__init__(read_scopes(Document("", (Block("paragraph", ()),)), ()), 0, 0, inferred_shape)
        self.known_values, self.known_definitions = dict(values or {}), dict(definitions or {})
        self.known_meanings, self.known_shapes = dict(meanings or {}), dict(shapes or {})
        self.before, self.around, self.given = before, around, convention

    @property
    def convention(self) -> Any:
        return self.given

    def is_given_near(self, key: str) -> bool:
        return key in self.known_values

    def value(self, name: Name) -> Any:
        return self.known_values.get(name.key)

    def definition(self, name: Name) -> Node | None:
        return self.known_definitions.get(name.key)

    def meaning(self, name: Name) -> frozenset[str]:
        found = self.known_meanings.get(name.key)
        return frozenset({found} if found else ())

    def shape(self, node: Node) -> tuple[Any, ...] | None:
        return self.known_shapes.get(node.key) if isinstance(node, Name) else None

    def earlier(self, statement: Statement) -> Sequence[Statement]:
        return self.before

    def words(self, statement: Statement) -> str:
        return self.around
