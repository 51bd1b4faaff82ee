r"""What the formulas and tokens of a sentence about moments are: dot products, values, arrays.

Definition   a dot product is one of two vectors, `q \cdot k`, `q^T k`, their sum of products, an entry of `QK^T`, or
             one of these divided by a value; a value is made of numbers and sizes
Result       `kinds_of(sentence)` are its tokens, each formula with what it is; `value_of` and `dot_product_of` are the
             nodes of such tokens
Assumes      what "the dot product" alone is of is called q and k
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from derivations.documents.judge.algebra.dot_products import vectors_of
from derivations.documents.judge.algebra.moments import LENGTH
from derivations.documents.judge.algebra.scalars import is_size
from derivations.documents.scope import Scope
from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.statistics_words import Token, tokens_of
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Entry,
    Fence,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Transpose,
    Words,
)

__all__ = ["dot_product", "dot_product_of", "kinds_of", "value_of"]

DOT = Product((Name("q"), Name("k")), ("dot",))
SCALED = Quotient(DOT, Root(LENGTH))


def kinds_of(sentence: Sentence, scope: Scope) -> tuple[Token, ...]:
    """Return the tokens of a sentence, formulas told apart by what they are."""
    found: list[Token] = []
    for token in tokens_of(sentence):
        match token.kind:
            case "formula":
                found.append(replace(token, kind=_kind_of_formula(sentence, token.start, scope)))
            case "softmax input" if found and found[-1].kind == "softmax":
                found[-1] = Token("scores", token.text, found[-1].start, token.end)
            case "softmax input":
                found.append(replace(token, kind="word"))
            case _:
                found.append(token)
    return tuple(found)


def _kind_of_formula(sentence: Sentence, at: int, scope: Scope) -> str:
    node = _formula(sentence, at)
    if node is None:
        return "formula"
    if isinstance(node, Name | Words) and (node.base if isinstance(node, Name) else node.text).lower() == "softmax":
        return "softmax"
    if dot_product(node) is not None:
        return "dot"
    if _is_value(node, scope):
        return "value"
    return "array" if isinstance(node, Name) else "formula"


def _formula(sentence: Sentence, at: int) -> Node | None:
    r"""Return the node of a formula, or of `q \cdot k = ...` its first side."""
    first = sentence.statements.get(at, ())
    if at in sentence.nodes or len(first) != 1 or first[0].chain.relations[:1] != ("=",):
        return sentence.nodes.get(at)
    side = first[0].chain.sides[0]
    return side if dot_product(side) is not None else None


def dot_product(node: Node) -> Node | None:
    r"""Return a node as a dot product of two vectors, or as one divided by a value: `QK^T` is one entry by entry."""
    match node:
        case Fence(inside=inside, bracket="(" | "["):
            return dot_product(inside)
        case Annotated(of=of):
            return dot_product(of)
        case Entry(of=of):
            return dot_product(of)
        case Quotient(numerator=above, denominator=below):
            whole = dot_product(above)
            return Quotient(whole, below) if whole is not None and _is_value(below) else None
        case Aggregate(kind="sum", body=body) if vectors_of(body) is not None:
            return node
        case Product(factors=(first, second), operators=(operator,)) if vectors_of(node) is not None:
            numbered = getattr(first, "subscripts", ()) == getattr(second, "subscripts", ()) != ()
            return node if (operator == "dot" and not numbered) or isinstance(first, Transpose) else None
        case Product(factors=(Name(base=one), Transpose(operand=Name(base=other)))):
            return DOT if one.isupper() and other.isupper() and one != other else None
        case Product(factors=(Transpose(operand=Name(base=one)), Name(base=other))):
            return DOT if one.isupper() and other.isupper() and one != other else None
    return None


def _is_value(node: Node, scope: Scope | None = None) -> bool:
    """Say whether a node is made of numbers and sizes; `scope` says what else is a size."""
    match node:
        case Number(unit=unit):
            return not unit
        case Name():
            return is_size(node, scope)
        case Root(radicand=radicand, degree=None):
            return _is_value(radicand, scope)
        case Power(base=base, exponent=Number()):
            return _is_value(base, scope)
        case Power(base=base, exponent=Quotient(numerator=Number(), denominator=Number())):
            return _is_value(base, scope)
        case Quotient(numerator=above, denominator=below):
            return _is_value(above, scope) and _is_value(below, scope)
        case Product(factors=factors):
            return all(_is_value(each, scope) for each in factors)
        case Fence(inside=inside, bracket="("):
            return _is_value(inside, scope)
    return False


def value_of(sentence: Sentence, token: Token) -> Node:
    """Return the value that a token is: a formula, a number, or a word for 0 or 1."""
    if token.kind == "value":
        return sentence.nodes[token.start]
    text = {"unit": "1", "zero": "0"}.get(token.kind, token.text)
    return Number(text, Fraction(text))


def dot_product_of(sentence: Sentence, token: Token) -> Node:
    """Return the dot product that a token is."""
    node = _formula(sentence, token.start)
    found = dot_product(node) if node is not None else None
    return found if found is not None else SCALED if token.kind == "scaled" else DOT
