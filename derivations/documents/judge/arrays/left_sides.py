"""Facts about the left side of a link: its word, its indices, its two letters, and the concepts that fit it.

Definition   the left side names a function (`softmax(x)_i`), an entry (`a_{ij}`), a derivative, or a product of two
             letters; a concept says which of them it defines
Result       `left_fits(concept, left, right)`; the word, the indices, the places and the parity of a column
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents import syntax
from derivations.documents.canon.concept import Concept
from derivations.documents.judge.arrays.arrays import function_word
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
)

__all__ = [
    "is_deviation",
    "left_fits",
    "left_indices",
    "pair_of",
    "parity",
    "places_of",
    "plain",
    "product_of",
    "word_of",
]

PROBABILITIES = frozenset({"p", "P", "y", "q", "pi", "a", "alpha", "s"})  # a may be a weight
SCORES = frozenset({"s", "e", "a", "l", "score", "scores", "z"})


def plain(node: Node) -> Node:
    """Return a formula without notes, without outer brackets, and without a condition in brackets after it."""
    while True:
        match node:
            case syntax.Annotated(of=inside) | syntax.Fence(bracket="(" | "[", inside=inside):
                node = inside
            case Product(factors=(*rest, syntax.Fence(inside=inside)), operators=(*_, "")) if _is_condition(inside):
                node = Product(tuple(rest), node.operators[:-1]) if len(rest) > 1 else rest[0]
            case _:
                return node


def _is_condition(node: Node) -> bool:
    """Return whether the content of brackets is a condition: it has a relation and no entrywise product."""
    if any(isinstance(part, Product) and "odot" in part.operators for part in node.walk()):
        return False
    return any(isinstance(part, syntax.Chain) and part.relations for part in node.walk())


def is_deviation(left: Node) -> bool:
    """Return whether the left side is named like a standard deviation."""
    return (isinstance(left, Name) and left.base == "sigma") or word_of(left) == "std"


def left_indices(left: Node) -> Iterator[str]:
    """Yield the index letters on the left side, in order."""
    match left:
        case Entry(of=of, indices=indices):
            yield from left_indices(of)
            yield from (part.key for each in indices for part in each.walk() if isinstance(part, Name))
        case Name(subscripts=subscripts):
            for each in subscripts:
                for part in each.walk():
                    if isinstance(part, Name) and len(part.base) <= 2 and part.base.islower():
                        yield from part.base
        case Derivative(of=of, by=by):
            yield from left_indices(of)
            for each in by:
                yield from left_indices(each)


def word_of(left: Node) -> str:
    """Return the word on the left side: the name of a function, or a name of several letters, or an empty string."""
    node = left.of if isinstance(left, Entry) else left
    if isinstance(node, Call):
        if node.function.base == "ln" and _is_share(node):  # of other arguments it may be a layer norm
            return "log"
        return _label_word(node.function) or function_word(node.function)
    return _label_word(node) or (function_word(node) if isinstance(node, Name) and len(node.base) > 1 else "")


def _label_word(node: Node) -> str:
    """Return the word that a letter and its label make: "dkl" for D with the subscript KL."""
    match node:
        case Name(base=base, subscripts=(syntax.Words(text=label),)) if len(base) == 1 and label.isalpha():
            return (base + label).lower()
    return ""


def left_fits(concept: Concept, left: Node, right: Node) -> bool:
    """Return whether a left side fits a concept."""
    kind = concept.left
    if kind in ("derivative", "same place", "slope"):
        if not isinstance(left, Derivative) or len(left.by) != 1:
            return False
        above, below = list(left_indices(left.of)), list(left_indices(left.by[0]))
        if kind == "slope":
            return not above and not below
        names = {part.base for part in right.walk() if isinstance(part, Name)}
        of = left.of.base if isinstance(left.of, Name) else None
        if concept.title.startswith("the gradient"):
            return not above and of in ("L", "l", "ell", "J", "E", "C", "H", "Loss", "loss", "CE")
        return of in names and bool(above) and bool(below) and (above == below) is (kind == "same place")
    if isinstance(left, Derivative):
        return kind == "matrix derivative" and not list(left_indices(left))
    match kind:
        case "even" | "odd":
            return parity(left) == kind
        case "matrix derivative":
            return isinstance(left, Name) and left.base in ("J", "Jacobian", "Jac")
        case "width":
            return isinstance(left, Name) and left.key in ("d_k", "d_v", "d_h", "d_head", "d_q", "head_dim")
        case "mean":
            return isinstance(left, Name) and (left.base in ("mu", "mean") or left.accent == "bar")
        case "variance":
            squared = isinstance(left, Power) and isinstance(left.base, Name) and left.base.base in ("sigma", "s")
            return squared or (isinstance(left, Name) and left.base.lower() in ("var", "variance"))
        case "deviation":
            return is_deviation(left)
        case "head":
            return isinstance(left, Name) and left.base.lower() in ("head", "h", "z", "o")
        case "dot":
            pair = pair_of(left)
            return len({name.base for name in pair}) == 2 and _bases(right) <= {name.base for name in pair}
        case "product entry":
            pair = product_of(left)
            return len({name.base for name in pair}) == 2 and _lower(right) <= {name.base.lower() for name in pair}
        case "score":
            named = isinstance(left, Name) and left.base.lower() in SCORES and len(left.subscripts) == 2
            return named and _lower(right) <= {"q", "k"}
        case "low rank":
            return isinstance(left, Name) and _bases(right) >= {"A", "B"} and bool(_bases(right) & {"W"})
        case "log entry":
            return isinstance(left, Call) and function_word(left.function) in ("log", "ln") and _is_share(left)
        case "one query":
            return isinstance(left, Name) and any(base.islower() for base in _vectors(right))
        case "rms":
            return word_of(left) == "rms" or (isinstance(left, Name) and left.base == "RMS")
    return True


def _is_share(logarithm: Call) -> bool:
    """Return whether a logarithm is taken of a probability: p_i, softmax(z)_i, p(y = i)."""
    match logarithm.arguments:
        case (Name(base=base, subscripts=(_,)),):
            return base in PROBABILITIES
        case (Entry(of=Call(function=function)) | Call(function=function),):
            return function_word(function) == "softmax" or function.base in PROBABILITIES
    return False


def _vectors(right: Node) -> frozenset[str]:
    """Return the letters that a matrix multiplies from the left: q of K q."""
    products = (part for part in right.walk() if isinstance(part, Product) and len(part.factors) > 1)
    last = (part.factors[-1] for part in products if isinstance(part.factors[-2], Name | syntax.Transpose))
    return frozenset(each.base for each in last if isinstance(each, Name))


def pair_of(left: Node) -> tuple[Name, ...]:
    """Return the two letters of a product of two vectors, q . k or q^T k."""
    if not isinstance(left, Product) or len(left.factors) != 2:
        return ()
    parts = (each.operand if isinstance(each, syntax.Transpose) else each for each in left.factors)
    pair = tuple(part for part in parts if isinstance(part, Name) and not part.subscripts)
    turned = isinstance(left.factors[0], syntax.Transpose) or left.operators[0] == "dot"
    return pair if len(pair) == 2 and turned and not isinstance(left.factors[1], syntax.Transpose) else ()


def product_of(left: Node) -> tuple[Name, ...]:
    """Return the letters Q and K of an entry of Q K^T."""
    inside = plain(left.of) if isinstance(left, Entry) and len(places_of(left)) == 2 else None
    if not isinstance(inside, Product) or len(inside.factors) != 2:
        return ()
    first, second = inside.factors
    if isinstance(first, Name) and isinstance(second, syntax.Transpose) and isinstance(second.operand, Name):
        return first, second.operand
    return ()


def _bases(node: Node) -> frozenset[str]:
    """Return the letters in a formula, without those in subscripts, bounds and roots."""
    found = set()
    pending = [node]
    while pending:
        part = pending.pop()
        match part:
            case Name():
                found.add(part.base)
            case Aggregate():
                pending.append(part.body)
            case syntax.Root():
                pass
            case _:
                pending.extend(part.children)
    return frozenset(found)


def _lower(node: Node) -> frozenset[str]:
    return frozenset(base.lower() for base in _bases(node))


def places_of(left: Node) -> tuple[Node, ...]:
    """Return the indices of an entry: the arguments, the indices in brackets, or the subscripts."""
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


def parity(left: Node) -> str:
    """Return "even" for a column 2i on the left side, "odd" for 2i + 1, and an empty string for any other."""
    for place in reversed(places_of(left)):
        for part in place.walk():
            if isinstance(part, syntax.Sum) and any(isinstance(term, Product) for term in part.terms):
                return "odd"
            if isinstance(part, Product) and isinstance(part.factors[0], Number) and part.factors[0].value == 2:
                return "even"
    return ""
