"""Products of matrices as words: letters in order, transposed or not, with the numbers that multiply them.

Definition   a word is a product of letters and of gradients by letters; vectors are matrices of one row or one column
Result       `word_of_product(node)` reads one; `derived(by, of, word)` is the gradient by a letter of a word, by the
             rule that Y = P A R has dA = P^T dY R^T, and Y = P A^T R has dA = R dY^T P
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from derivations.documents.scope import Scope
from derivations.documents.scope.filing import family_of
from derivations.documents.scope.sizes import fold_key
from derivations.documents.syntax import (
    Annotated,
    Derivative,
    Fence,
    Name,
    Node,
    Number,
    Product,
    Quotient,
    Root,
    Transpose,
)

__all__ = ["LOSSES", "Factor", "Word", "derived", "gradient_of", "in_other_layout", "word_of_product"]

LOSSES = frozenset({"L", "l", "ell", "J", "E", "C", "loss", "Loss", "cost"})
_MOST_FACTORS = 8


@dataclass(frozen=True)
class Factor:
    """A matrix in a product: a letter or the gradient by it, transposed or not."""

    name: Name
    gradient: bool = False
    transposed: bool = False

    @property
    def flipped(self) -> Factor:
        """The transpose."""
        return replace(self, transposed=not self.transposed)


@dataclass(frozen=True)
class Word:
    """A product of matrices in order, with what multiplies it as a number."""

    factors: tuple[Factor, ...]
    numbers: Counter[str]

    @property
    def flipped(self) -> Word:
        """The transpose: the transposes in the other order."""
        return Word(tuple(each.flipped for each in reversed(self.factors)), self.numbers)


def in_other_layout(word: Word) -> Word:
    """Return a product in the other layout, in which every gradient is the transpose of what it is here."""
    turned = word.flipped
    return Word(tuple(each.flipped if each.gradient else each for each in turned.factors), turned.numbers)


def derived(by: Name, of: Name, word: Word) -> Word | None:
    """Return the gradient of a product by one of its factors."""
    places = [at for at, each in enumerate(word.factors) if each.name == by]
    if len(places) != 1:
        return None
    at = places[0]
    before, behind = (Word(part, Counter()).flipped.factors for part in (word.factors[:at], word.factors[at + 1 :]))
    found = Word((*before, Factor(of, gradient=True), *behind), word.numbers)
    return found.flipped if word.factors[at].transposed else found


def word_of_product(node: Node, scope: Scope) -> Word | None:
    """Return a formula as a product of letters and gradients, or None where it is something else."""
    match node:
        case Fence(bracket="(" | "[", inside=inside) | Annotated(of=inside):
            return word_of_product(inside, scope)
        case Transpose(operand=inside):
            inner = word_of_product(inside, scope)
            return inner.flipped if inner is not None else None
        case Quotient(numerator=above, denominator=below):
            inner = word_of_product(above, scope)
            if inner is None or not _is_number(below):
                return None
            return Word(inner.factors, inner.numbers + Counter({f"/{_text(below)}": 1}))
        case Product(factors=factors, operators=operators):
            if len(factors) > _MOST_FACTORS or {*operators} & {"odot", "otimes", "oplus", "circ", "star"}:
                return None
            return _together(factors, scope)
    if (name := gradient_of(node, scope)) is not None:
        return Word((Factor(name, gradient=True),), Counter())
    return Word((Factor(node),), Counter()) if isinstance(node, Name) and node.base != "d" else None


def _together(factors: tuple[Node, ...], scope: Scope) -> Word | None:
    """Return the product of factors; `d y` in two letters is the gradient by y."""
    found = Word((), Counter())
    marked = False
    for factor in factors:
        if isinstance(factor, Name) and factor == Name("d"):
            marked = True
            continue
        match factor:
            case Quotient(numerator=Number(value=one), denominator=below) if one == 1 and _is_number(below):
                inner: Word | None = Word((), Counter({f"/{_text(below)}": 1}))
            case _:
                inner = word_of_product(factor, scope)
        if inner is None or (marked and len(inner.factors) != 1):
            return None
        made = tuple(replace(each, gradient=True) for each in inner.factors) if marked else inner.factors
        found, marked = Word((*found.factors, *made), found.numbers + inner.numbers), False
    return found if not marked else None


def _is_number(node: Node) -> bool:
    """Say whether a divisor is a number by its form: the root of a size, a size, digits."""
    inner = node.radicand if isinstance(node, Root) else node
    return isinstance(inner, Number) or (isinstance(inner, Name) and inner.base in ("d", "n", "N", "m", "B"))


def _text(node: Node) -> str:
    return f"√{_text(node.radicand)}" if isinstance(node, Root) else getattr(node, "key", getattr(node, "text", "?"))


def gradient_of(node: Node, scope: Scope) -> Name | None:
    """Return the letter by which a gradient is taken: W of dL/dW, of dW, of grad_W; None for anything else."""
    match node:
        case Fence(inside=inside):
            return gradient_of(inside, scope)
        case Derivative(of=Name(base=loss), by=(Name() as name,)) if loss in LOSSES:
            return name
        case Name(accent="d"):
            return replace(node, accent="")
        case Product(factors=(Name(base="d", subscripts=()), Name() as name), operators=("",)):
            return name
        case Name(base="grad" | "∇", subscripts=(Name() as name,), superscripts=(), accent=""):
            return name
        case Name(base=base) if len(base) > 1 and base[0] == "d" and base[1].isupper():
            inner = replace(node, base=base[1:])
            known = scope.document.users.get(fold_key(inner.key)) or scope.document.defined_families.get(
                family_of(inner)
            )
            return inner if known else None
    return None
