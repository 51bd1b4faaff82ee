r"""Terms that algebra does not look into, with letters in their places: r(x, y), \|a - b\|, \partial L / \partial w.

Definition   a term is opaque that is a call of no elementary function, a norm, an inner product, a derivative, an
             expectation, an integral, or a product x^T y; within a sum it is an entry at the index of the sum. A sum
             over a set, of x in D, is one over the places of D; the logarithm of a product is a sum; a derivative, an
             expectation and an integral of a sum are sums
Result       `with_letters(chain)`: the chain in which equal terms are equal letters, with the terms; None if it has
             none. `opaque_letters(node)`: the letters that stand for terms in a formula
Assumes      equal terms have equal values. Of different ones nothing is known: two sides that differ may be equal
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.sampled import is_known_function
from derivations.documents.judge.algebra.scalar_letters import POSITIVE
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Chain,
    Derivative,
    Entry,
    Fence,
    List,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
    rebuilt,
)

__all__ = ["Lettered", "opaque_letters", "with_letters"]

OPAQUE = "opaque"  # the font of a letter in the place of a term
LOGARITHMS = ("log", "ln")
PROBABILITIES = ("p", "P", "q", "Q", "Pr", "pi", "π")
_FIRST = Number("1", Fraction(1))


@dataclass(frozen=True)
class Lettered:
    """A chain with letters in the place of its opaque terms, these terms, and what has to be assumed of them."""

    chain: Chain
    terms: Mapping[Name, Node]
    sums: Mapping[Name, Aggregate]  # over sets, by the index that stands for a place of the set
    assumed: tuple[str, ...]

    def restored(self, node: Any) -> Any:
        """Return a formula with the terms in place of their letters, and with sums over sets."""
        match node:
            case Name() if node in self.terms:
                return self.terms[node]
            case Name(subscripts=(*subscripts, place)) if place in self.sums:
                return self.restored(replace(node, subscripts=tuple(subscripts)))
            case Aggregate(index=(place,)) if place in self.sums:
                return replace(self.sums[place], body=self.restored(node.body))
        return rebuilt(node, self.restored)


def with_letters(chain: Chain) -> Lettered | None:
    """Return a chain with a letter for each opaque term, or None if there is none."""
    terms = _Terms()
    sides = tuple(terms.without(side, {}) for side in chain.sides)
    if not terms.letters:
        return None
    logarithms = [part for side in sides for part in side.walk() if isinstance(part, Call) and _is_logarithm(part)]
    alone = {name.base for each in logarithms if isinstance(name := bare(each.arguments[0]), Name)}
    factors = {name.base: name for each in logarithms for name in _factors(each.arguments[0])}
    guessed = [key for key, name in factors.items() if key not in alone and not _is_number(terms.written[name])]
    sides = tuple(_with_fonts(side, factors) for side in sides)
    assumed = (*(f"{text} is a number" for text in terms.unsure), *(f"{text} is positive" for text in guessed))
    return Lettered(replace(chain, sides=sides), terms.written, terms.sums, assumed)


def opaque_letters(node: Node) -> list[str]:
    """Return the letters that stand for terms in a formula, in the order of their names."""
    return sorted(part.key for part in node.walk() if isinstance(part, Name) and part.font in (OPAQUE, POSITIVE))


def _is_logarithm(call: Call) -> bool:
    return call.function.base in LOGARITHMS and len(call.arguments) == 1


def _factors(argument: Node) -> Iterator[Name]:
    """Yield the letters for terms that are factors of what a logarithm is taken of. Alone such a term is positive."""
    pending = [argument]
    while pending:
        match pending.pop():
            case Name(font="opaque") as name:
                yield name
            case Product() | Quotient() | Fence() as whole:
                pending.extend(reversed(whole.children))


def _with_fonts(node: Any, positive: Container[str]) -> Any:
    if isinstance(node, Name) and node.font == OPAQUE and node.base in positive:
        return replace(node, font=POSITIVE)
    return rebuilt(node, lambda each: _with_fonts(each, positive))


@dataclass
class _Terms:
    letters: dict[Node, Name] = field(default_factory=dict)
    written: dict[Name, Node] = field(default_factory=dict)
    sets: dict[Node, Name] = field(default_factory=dict)  # the number of members of a set that a sum runs over
    sums: dict[Name, Aggregate] = field(default_factory=dict)
    unsure: dict[str, None] = field(default_factory=dict)

    def without(self, node: Any, bound: Mapping[Name, Name], *, number: bool = False) -> Any:
        """Return a node without opaque terms. `bound` has the index for each letter that changes within a sum.

        `number` says that what stands here is a number in any case: it is the argument of a logarithm, for instance.
        """
        match node:
            case Call(function=Name(base="log" | "ln"), arguments=(Aggregate(kind="product") as whole,)):
                logarithm = replace(node, arguments=(whole.body,))
                return self.without(replace(whole, kind="sum", body=logarithm), bound)
            case Call(function=function, arguments=(inside,)) if is_known_function(function):
                return replace(node, arguments=(self.without(inside, bound, number=True),))
            case Derivative(of=body):
                parts = _linear(body, lambda each: self.letter(replace(node, of=each), bound, number=number))
                return parts or self.letter(node, bound, number=number)
            case Call() | Fence(bracket="|" | "||") | List(bracket="⟨"):
                return self.letter(node, bound, number=number)
            case Entry(of=Fence(bracket="|" | "||")):
                return self.letter(node, bound, number=True)
            case Aggregate(kind="sum", over=Chain() as over):
                return self.over_a_set(node, over, bound)
            case Aggregate(kind="sum", index=(index,), over=None):
                return replace(node, body=self.without(node.body, {**bound, index: index}, number=number))
            case Aggregate(kind="expectation" | "integral", body=body):
                parts = _linear(body, lambda each: self.letter(replace(node, body=each), bound, number=True))
                return parts or self.letter(node, bound, number=True)
            case Aggregate() | Entry(of=Call()):
                return self.letter(node, bound, number=True)
            case Name(superscripts=(_, *_)) if self.varies(node, bound):
                return self.letter(node, bound, number=number)
            case Name(subscripts=subscripts) if node in bound and bound[node] != node:
                return replace(node, subscripts=(*subscripts, bound[node]))
            case Product(factors=factors, operators=operators):
                return self.product(factors, operators, bound, number=number)
            case Quotient(numerator=above, denominator=below):
                return replace(
                    node,
                    numerator=self.without(above, bound, number=number),
                    denominator=self.without(below, bound, number=True),
                )
            case Power(base=base, exponent=exponent):
                return replace(
                    node,
                    base=self.without(base, bound, number=number),
                    exponent=self.without(exponent, bound, number=True),
                )
            case Name() | Transpose():
                return node
        return rebuilt(node, lambda each: self.without(each, bound, number=number))

    def product(
        self, factors: tuple[Node, ...], operators: tuple[str, ...], bound: Mapping[Name, Name], *, number: bool
    ) -> Node:
        """Return a product in which x^T y is one number."""
        found: list[Node] = []
        signs: list[str] = []
        at = 0
        while at < len(factors):
            if at:
                signs.append(operators[at - 1])
            is_pair = at + 1 < len(factors) and operators[at] in ("", "dot") and _is_inner(*factors[at : at + 2])
            if is_pair:
                pair = Product(factors[at : at + 2], operators[at : at + 1])
                found.append(self.letter(pair, bound, number=True))
            else:
                found.append(self.without(factors[at], bound, number=number))
            at += 1 + is_pair
        return Product(tuple(found), tuple(signs)) if len(found) > 1 else found[0]

    def over_a_set(self, node: Aggregate, over: Chain, bound: Mapping[Name, Name]) -> Node:
        """Return a sum over a set as one over the places of its members."""
        first = over.sides[0]
        members = first.items if isinstance(first, List) else (first,)
        names = [each for each in members if isinstance(each, Name)]
        if len(names) < len(members) or over.relations not in (("∈",), ("∼",)):
            return self.letter(node, bound, number=True)
        count = self.sets.setdefault(over.sides[1], Name("N", (Name(f"of {len(self.sets)}"),), font=OPAQUE))
        index = Name(f"place of {count.key} in {len(bound)}")  # another one within another sum
        self.sums.setdefault(index, node)
        body = self.without(node.body, {**bound, **dict.fromkeys(names, index)})
        return Aggregate("sum", body, (index,), _FIRST, count)

    def varies(self, node: Node, bound: Mapping[Name, Name]) -> bool:
        """Return whether a letter that changes within a sum stands inside a term."""
        return any(part in bound for part in node.walk() if isinstance(part, Name))

    def letter(self, node: Node, bound: Mapping[Name, Name], *, number: bool) -> Name:
        """Return the letter for a term, an entry at the indices that change inside of it."""
        names = dict.fromkeys(part for part in node.walk() if isinstance(part, Name) and part in bound)
        indices = tuple(dict.fromkeys(bound[each] for each in names))
        places = {each: Name("", (Number(str(at), Fraction(at)),)) for at, each in enumerate(names)}
        general = _put(node, places)
        if general not in self.letters:
            text = formula_text(node, "plain")
            self.letters[general] = Name(text, font=OPAQUE)
            if not (number or _is_number(node)):
                self.unsure[text] = None
        found = replace(self.letters[general], subscripts=indices)
        self.written.setdefault(found, node)
        return found


def _put(node: Any, places: Mapping[Name, Name]) -> Any:
    if isinstance(node, Name) and node in places:
        return places[node]
    return rebuilt(node, lambda each: _put(each, places))


def _linear(body: Node, of: Callable[[Node], Node]) -> Node | None:
    """Return the sum of what a linear operation gives for each term of a sum, or None for no sum."""
    while isinstance(body, Fence) and body.bracket in ("(", "[", "{"):
        body = body.inside
    match body:
        case Sum(terms=terms):
            return Fence("(", replace(body, terms=tuple(_linear(each, of) or of(each) for each in terms)))
        case Negative(operand=inside):
            return Fence("(", Negative(_linear(inside, of) or of(inside)))
        case Product(factors=(Number() as number, *rest), operators=(first, *others)) if first != "at":
            whole = Product(tuple(rest), tuple(others)) if others else rest[0]
            return Product((number, _linear(whole, of) or of(whole)), (first,))
    return None


def _is_inner(first: Node, second: Node) -> bool:
    """Return whether two factors are x^T y, of small letters."""
    match first, second:
        case Transpose(operand=Name(base=one)), Name(base=other):
            return one.islower() and other.islower()
    return False


def _is_number(term: Node) -> bool:
    """Return whether a term is a number by its form: a norm, a product, a probability, or a call with a condition."""
    if not isinstance(term, Call):
        return not isinstance(term, Derivative)
    given = any(isinstance(each, Chain) for each in term.arguments)
    return given or term.function.base in PROBABILITIES
