"""The concepts that a link is about, recognised by its left side or by the marks of its right side.

Definition   marks are what is met in a right side: functions by name, "sum", "quotient", "transpose", "product" ...
Result       `is_about(concept, left, right)`; `formula_of(left, right)`: the right side with what the left tells of it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from derivations.documents import syntax
from derivations.documents.canon.concept import Concept
from derivations.documents.judge.arrays.arrays import function_word, indices_of
from derivations.documents.judge.arrays.formula_letters import Formula, subscript_letters
from derivations.documents.judge.arrays.left_sides import (
    left_fits,
    left_indices,
    pair_of,
    parity,
    places_of,
    plain,
    product_of,
    word_of,
)
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Derivative,
    Entry,
    Name,
    Node,
    Power,
    Product,
    Quotient,
    rebuilt,
)

__all__ = [
    "ELEMENTARY",
    "formula_of",
    "is_about",
    "is_one_formula",
    "marks_of",
    "of_the_same_entry",
    "softmax_of_a_score",
    "without_parameter",
    "words_of",
]


OF_ALL = ("max", "min", "sum", "mean")  # functions of all entries of an array
ELEMENTARY = frozenset({"exp", "log", "ln", "sin", "cos", "tanh", "erf", "sqrt", "max", "min"})


def is_one_formula(right: Node) -> bool:
    """Return whether a right side contains no relation, except in keyword arguments of code."""
    keywords = {id(each) for part in right.walk() if isinstance(part, Call) for each in part.arguments}
    return not any(isinstance(part, syntax.Chain) and id(part) not in keywords for part in right.walk())


def formula_of(left: Node, right: Node) -> Formula:
    """Return the right side with the arguments and indices of the left side."""
    arguments: tuple[Node, ...] = ()
    call = left.of if isinstance(left, Entry) else left
    if parity(left):
        places = places_of(left)
        letter = (
            next((part for part in places[-1].walk() if isinstance(part, Name)), None) if len(places) == 2 else None
        )
        arguments = (places[0], letter) if letter is not None else ()
    elif pair_of(left) or product_of(left):
        arguments = pair_of(left) or product_of(left)
    elif isinstance(call, Call):
        arguments = tuple(part for each in call.arguments for part in _arguments_of(each))
    indices = tuple(dict.fromkeys(left_indices(left)))
    return Formula(right, arguments, indices, tuple(_places(left, frozenset(indices))))


def without_parameter(left: Node, right: Node) -> Node:
    r"""Return p_i for a left side `p_i(\tau)` whose parameter occurs on the right, or the left side unchanged."""
    match left:
        case Call(function=Name(base=base, subscripts=(_,)) as entry, arguments=(Name(subscripts=()) as parameter,)):
            return entry if len(base) == 1 and parameter in right.walk() else left
    return left


def _places(left: Node, indices: frozenset[str]) -> Iterator[Node]:
    """Yield the indices of the entry on the left side: of a letter, a variable of a derivative, or an argument."""
    match left:
        case Name():
            yield from indices_of(left, indices)[1]
        case Entry(of=of, indices=places):
            yield from _places(of, indices)
            yield from places
        case Derivative(by=(by,)):
            yield from _places(by, indices)
        case Call(arguments=(Name() as argument,)):
            yield from indices_of(argument, frozenset(subscript_letters(argument)))[1]


def _arguments_of(node: Node) -> tuple[Node, ...]:
    """Return the arguments in a list, or in a pair such as p || q."""
    match node:
        case syntax.List(items=items):
            return items
        case syntax.Chain(sides=sides, relations=("|" | "∥" | "||",)):
            return sides
    return (node,)


def words_of(left: Node) -> frozenset[str]:
    """Return the words on the left, subscripts as well: FFN with the subscript SwiGLU, `ce` of L_{ce}."""
    node = left.of if isinstance(left, Entry) else left
    name = node.function if isinstance(node, Call) else node
    if not isinstance(name, Name):
        return frozenset()
    parts = (part for each in name.subscripts for part in each.walk() if isinstance(part, syntax.Words | Name))
    texts = [part.text if isinstance(part, syntax.Words) else part.base for part in parts]
    return frozenset({word_of(left), "".join(texts).lower(), *(text.lower() for text in texts)})


def is_about(concept: Concept, left: Node, right: Node) -> bool:
    """Return whether a link is about a concept."""
    word = word_of(left)
    if not left_fits(concept, left, right):
        return False
    if concept.words and word in concept.words:
        return True
    if concept.left in ("product entry", "dot", "score", "low rank"):
        return concept.marks <= marks_of(right)
    if concept.left == "any" and not isinstance(left, Name | Entry | Call):
        return False  # an expression on the left is no name of anything
    if concept.left == "any" and isinstance(left, Call) and word in ELEMENTARY:
        return False  # nor is the logarithm of a name
    if concept.left == "word" or (not concept.marks and concept.left == "any"):
        return False
    return concept.marks <= marks_of(right)


def of_the_same_entry(left: Node, right: Node) -> Node | None:
    """Return the right side with the index of the left side, where it has another: ReLU(z_j) = max(0, z_i), or None."""
    if not isinstance(left, Call) or len(left.arguments) != 1:
        return None
    argument = left.arguments[0]
    if not isinstance(argument, Name) or not argument.subscripts:
        return None

    def with_entry(node: Any) -> Any:
        if isinstance(node, Name):
            return argument if node.base == argument.base else node
        if isinstance(node, Aggregate) or _is_of_all(node):
            return node  # the entries under a sum are all of them
        if isinstance(node, Call):
            return replace(node, arguments=tuple(map(with_entry, node.arguments)))
        return rebuilt(node, with_entry)

    mended: Node = with_entry(right)
    return mended if mended != right else None


def _is_of_all(node: Any) -> bool:
    """Return whether a function is taken of all entries of one array: max(x)."""
    return isinstance(node, Call) and node.function.base in OF_ALL and len(node.arguments) == 1


@lru_cache(maxsize=4096)
def marks_of(right: Node) -> frozenset[str]:
    """Return the marks of a right side: the names of the functions and operations in it."""
    found = set()
    for part in right.walk():
        match part:
            case Call(function=function):
                word = function_word(function)
                found.add({"ln": "log"}.get(word, word))
                if word in ("sin", "cos"):
                    found.add("wave")
                if word in ("relu", "gelu", "silu", "swish", "sigmoid", "tanh", "act", "activation", "phi", "max"):
                    found.add("activation")
            case Power(base=Name(base="e")):
                found.add("exp")
            case Power():
                found.add("power")
            case Aggregate(kind="sum"):
                found.add("sum")
            case Quotient():
                found.add("quotient")
            case syntax.Transpose():
                found.add("transpose")
            case syntax.Negative():
                found.add("negative")
            case syntax.Sum(signs=signs):
                found |= {"difference"} if -1 in signs else {"plus"}
            case Product(operators=operators, factors=factors):
                found.add("product")
                if {"odot", "star", "otimes", "circ"} & set(operators):
                    found.add("odot")
                if len(factors) > 1 and any(isinstance(each, Call) for each in factors):
                    found.add("weighted")
            case Name(base="mu"):
                found.add("mu")
            case Name(base="sigma"):
                found.add("sigma")
    if isinstance(right, Aggregate) and right.kind == "sum" and isinstance(right.body, Product):
        found.add("weighted-sum")
    if "concatenate" in found or "cat" in found:
        found.add("concat")
    return frozenset(found)


def softmax_of_a_score(right: Node) -> Node | None:
    """Return a right side that is softmax of one query times one key, without the index it is taken over, or None."""
    if not (isinstance(right, Call) and function_word(right.function) == "softmax" and len(right.arguments) == 1):
        return None
    if right.function.subscripts:
        return None
    inside = plain(right.arguments[0])
    while isinstance(inside, Quotient):
        inside = plain(inside.numerator)
    if not isinstance(inside, Product) or len(inside.factors) != 2 or "at" in inside.operators:
        return None
    factors = [each.operand if isinstance(each, syntax.Transpose) else each for each in inside.factors]
    single = all(
        isinstance(each, Name) and each.base.islower() and len(each.base) == 1 and each.subscripts for each in factors
    )
    return right if single else None
