"""What a link of a formula is about: the concepts that its left side names or the marks of its right side tell.

Definition   marks are what is met in a right side: functions by name, "sum", "quotient", "transpose", "product" ...
Result       `is_about(concept, left, right)`; `formula_of(left, right)`: the right side with what the left tells of it
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from derivations.documents import syntax
from derivations.documents.canon.concepts import Concept
from derivations.documents.judge.arrays import function_word
from derivations.documents.judge.matching import Formula
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Derivative,
    Entry,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
)

__all__ = ["formula_of", "is_about", "is_one_formula", "plain", "softmax_of_a_score", "word_of", "words_of"]


def plain(node: Node) -> Node:
    """Return a formula without notes, needless brackets around all of it, and a condition behind it."""
    while True:
        match node:
            case syntax.Annotated(of=inside) | syntax.Fence(bracket="(" | "[", inside=inside):
                node = inside
            case Product(factors=(first, syntax.Fence(inside=condition))) if _is_condition(condition):
                node = first
            case Product(factors=(*rest, syntax.Fence(inside=condition))) if _is_condition(condition):
                node = Product(tuple(rest), node.operators[:-1])
            case _:
                return node


def _is_condition(node: Node) -> bool:
    return any(isinstance(part, syntax.Chain) and part.relations for part in node.walk())


def is_one_formula(right: Node) -> bool:
    """Say whether no relation stands inside a right side but in the keywords of code."""
    keywords = {id(each) for part in right.walk() if isinstance(part, Call) for each in part.arguments}
    return not any(isinstance(part, syntax.Chain) and id(part) not in keywords for part in right.walk())


def formula_of(left: Node, right: Node) -> Formula:
    """Return the right side with the arguments and indices of the left side."""
    arguments: tuple[Node, ...] = ()
    call = left.of if isinstance(left, Entry) else left
    if _parity(left):
        places = _places(left)
        letter = (
            next((part for part in places[-1].walk() if isinstance(part, Name)), None) if len(places) == 2 else None
        )
        arguments = (places[0], letter) if letter is not None else ()
    elif isinstance(call, Call):
        arguments = tuple(
            part for each in call.arguments for part in (each.items if isinstance(each, syntax.List) else (each,))
        )
    return Formula(right, arguments, tuple(dict.fromkeys(_left_indices(left))))


def _left_indices(left: Node) -> Iterator[str]:
    match left:
        case Entry(of=of, indices=indices):
            yield from _left_indices(of)
            yield from (part.key for each in indices for part in each.walk() if isinstance(part, Name))
        case Name(subscripts=subscripts):
            for each in subscripts:
                for part in each.walk():
                    if isinstance(part, Name) and len(part.base) <= 2 and part.base.islower():
                        yield from part.base
        case Derivative(of=of, by=by):
            yield from _left_indices(of)
            for each in by:
                yield from _left_indices(each)


def word_of(left: Node) -> str:
    """Return the word on the left: the name of a function, or of more than one letter; else nothing."""
    node = left.of if isinstance(left, Entry) else left
    if isinstance(node, Call):
        return function_word(node.function)
    return function_word(node) if isinstance(node, Name) and len(node.base) > 1 else ""


def words_of(left: Node) -> frozenset[str]:
    """Return the words on the left, subscripts as well: FFN with the subscript SwiGLU."""
    node = left.of if isinstance(left, Entry) else left
    name = node.function if isinstance(node, Call) else node
    if not isinstance(name, Name):
        return frozenset()
    parts = (part for each in name.subscripts for part in each.walk() if isinstance(part, syntax.Words | Name))
    texts = (part.text if isinstance(part, syntax.Words) else part.base for part in parts)
    return frozenset({word_of(left), *(text.lower() for text in texts)})


def is_about(concept: Concept, left: Node, right: Node) -> bool:
    """Say whether a link is about a concept."""
    word = word_of(left)
    if not _left_fits(concept, left, right):
        return False
    if concept.words and word in concept.words:
        return True
    if concept.left == "word" or (not concept.marks and concept.left == "any"):
        return False
    return concept.marks <= _marks(right)


def _left_fits(concept: Concept, left: Node, right: Node) -> bool:
    kind = concept.left
    if kind in ("derivative", "same place", "slope"):
        if not isinstance(left, Derivative) or len(left.by) != 1:
            return False
        above, below = list(_left_indices(left.of)), list(_left_indices(left.by[0]))
        if kind == "slope":
            return not above and not below
        names = {part.base for part in right.walk() if isinstance(part, Name)}
        of = left.of.base if isinstance(left.of, Name) else None
        if concept.title.startswith("the gradient"):
            return not above and of in ("L", "l", "ell", "J", "E", "C", "H", "Loss", "loss", "CE")
        return of in names and bool(above) and bool(below) and (above == below) is (kind == "same place")
    if isinstance(left, Derivative):
        return False
    match kind:
        case "even" | "odd":
            return _parity(left) == kind
        case "width":
            return isinstance(left, Name) and left.key in ("d_k", "d_v", "d_h", "d_head", "d_q", "head_dim")
        case "mean":
            return isinstance(left, Name) and (left.base in ("mu", "mean") or left.accent == "bar")
        case "variance":
            squared = isinstance(left, Power) and isinstance(left.base, Name) and left.base.base in ("sigma", "s")
            return squared or (isinstance(left, Name) and left.base.lower() in ("var", "variance"))
        case "head":
            return isinstance(left, Name) and left.base.lower() in ("head", "h", "z", "o")
        case "rms":
            return word_of(left) == "rms" or (isinstance(left, Name) and left.base == "RMS")
    return True


def _places(left: Node) -> tuple[Node, ...]:
    """Return the two places of an entry: the arguments, the indices or the subscripts."""
    found: tuple[Node, ...] = ()
    match left:
        case Call(arguments=arguments):
            found = arguments
        case Entry(indices=indices):
            found = indices
        case Name(subscripts=subscripts):
            found = subscripts
    if len(found) == 1 and isinstance(found[0], syntax.Fence):
        found = (found[0].inside,)
    return found[0].items if len(found) == 1 and isinstance(found[0], syntax.List) else found


def _parity(left: Node) -> str:
    """Say whether the column on the left is even or odd: 2i or 2i + 1."""
    for place in reversed(_places(left)):
        for part in place.walk():
            if isinstance(part, syntax.Sum) and any(isinstance(term, Product) for term in part.terms):
                return "odd"
            if isinstance(part, Product) and isinstance(part.factors[0], Number) and part.factors[0].value == 2:
                return "even"
    return ""


@lru_cache(maxsize=4096)
def _marks(right: Node) -> frozenset[str]:
    """Return what is met in a right side."""
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
    """Return softmax of the product of one query and one key, where no subscript says over what it is taken."""
    if not (isinstance(right, Call) and function_word(right.function) == "softmax" and len(right.arguments) == 1):
        return None
    if right.function.subscripts:
        return None
    inside = plain(right.arguments[0])
    while isinstance(inside, Quotient):
        inside = plain(inside.numerator)
    if not isinstance(inside, Product) or len(inside.factors) != 2:
        return None
    factors = [each.operand if isinstance(each, syntax.Transpose) else each for each in inside.factors]
    single = all(
        isinstance(each, Name) and each.base.islower() and len(each.base) == 1 and each.subscripts for each in factors
    )
    return right if single else None
