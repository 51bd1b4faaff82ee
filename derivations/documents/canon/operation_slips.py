"""Edits for mistakes in operations: roots, exponents, numbers, functions, factors and grouping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from derivations.documents.canon.letter_slips import text_of
from derivations.documents.canon.places import Edit, places
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Entry,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
)

__all__ = ["SIGMOID_RATE", "factors_changed", "functions", "groups", "numbers", "powers"]

TURNED: dict[str, tuple[str, ...]] = {
    "sin": ("cos",), "cos": ("sin",), "max": ("min",), "min": ("max",), "tanh": ("erf", "sigmoid"), "erf": ("tanh",),
    "exp": ("log",), "log": ("exp",), "ln": ("exp",), "sigmoid": ("tanh",), "sigma": ("tanh",), "argmax": ("max",),
}  # fmt: skip
SIGMOID_RATE = Fraction(1702, 1000)  # of the sigmoid that comes near the normal distribution
NUMBERS: tuple[int | Fraction, ...] = (1, 2, 3, 4, 10000, Fraction(1, 2), Fraction(44715, 10**6), SIGMOID_RATE)
E_LETTER = Name("e")


def powers(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that add, remove or change a root, an exponent, an exponential or a logarithm."""
    if isinstance(node, Root):
        yield node.radicand, "there must be no root"
        if isinstance(node.radicand, Power):
            yield node.radicand.base, "there must be no root of a square"
        if isinstance(node.radicand, Sum) and len(node.radicand.terms) == 2:
            first, second = node.radicand.terms
            for one, other in ((Root(first), second), (first, Root(second))):
                yield replace(node.radicand, terms=(one, other)), "the root goes too far"
    elif isinstance(node, Power):
        if isinstance(node.base, Name) and node.base.base == "e" and not node.base.subscripts:
            yield node.exponent, "there must be no exponential"
        else:
            yield node.base, "the exponent must be 1"
        for inner, put in places(node.exponent):
            if isinstance(inner, Sum) and len(inner.terms) == 2 and isinstance(inner.terms[1], Number):
                yield replace(node, exponent=put(inner.terms[0])), f"the summand {inner.terms[1].text} is too many"
        for value in (2, 3, Fraction(1, 2), -1):
            yield replace(node, exponent=_number(Fraction(value))), "the exponent is wrong"
        match node.base:
            case Fence(inside=Sum(terms=(first, last)) as total) if isinstance(last, Name):
                raised = replace(total, terms=(first, replace(node, base=last)))
                yield Fence("(", raised), f"the exponent belongs to {text_of(last)}"
    elif isinstance(node, Call) and node.function.base == "exp" and len(node.arguments) == 1:
        yield node.arguments[0], "there must be no exponential"
    if isinstance(node, Product) and len(node.factors) == 2 and all(isinstance(each, Name) for each in node.factors):
        yield Power(node.factors[0], node.factors[1]), f"{text_of(node.factors[1])} must be an exponent"
    if isinstance(node, Name):
        for index in (each.subscripts[0] for each in letters if each.subscripts and not each.base):
            yield Power(node, index), f"the exponent {text_of(index)} is missing"
    if isinstance(node, Name | Number | Sum | Fence | Entry | Product | Aggregate | Quotient | Call):
        yield Root(node), "the root is missing"
        if not isinstance(node, Number):  # nobody loses the square of 0.1: another number was chosen
            base = Fence("(", node) if isinstance(node, Sum | Product) else node
            yield Power(E_LETTER, node), "the exponential is missing"
            yield Power(E_LETTER, Negative(node)), "the exponential is missing"
            yield Power(base, _number(Fraction(2))), "the square is missing"
            yield Power(base, _number(Fraction(3))), "the exponent is missing"
            yield Call(Name("log"), (node,)), "the logarithm is missing"


def _number(value: Fraction) -> Number:
    text = str(float(value)) if value.denominator != 1 else str(value.numerator)
    return Number(text, value)


def numbers(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that change a number, or insert the factor 2 or 1/2 or the summand 1."""
    if isinstance(node, Number):
        near = (node.value * 2, node.value / 2, node.value + 1, node.value - 1)
        for value in dict.fromkeys((*map(Fraction, NUMBERS), *near)):
            if value not in (node.value, 0):
                new = _number(value)
                yield new, f"the number must be {new.text}, not {node.text}"
    if isinstance(node, Name | Product | Quotient | Number):
        factors = node.factors if isinstance(node, Product) else (node,)
        operators = node.operators if isinstance(node, Product) else ()
        yield Product((_number(Fraction(2)), *factors), ("", *operators)), "the factor 2 is missing"
        yield Quotient(node, _number(Fraction(2))), "the factor 1/2 is missing"
    if isinstance(node, Name | Call | Power | Aggregate):
        yield Fence("(", Sum((_number(Fraction(1)), node), (1, 1))), "the summand 1 is missing"
        yield Fence("(", Sum((_number(Fraction(1)), node), (1, -1))), "1 minus it is needed"


def _function(call: Call) -> str:
    base = call.function.base
    return base if base.isupper() and len(base) < 3 else base.lower()  # LN is no ln


def functions(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that replace or remove a function, or exchange it with a sum."""
    if isinstance(node, Call):
        for other in TURNED.get(_function(node), ()):
            yield replace(node, function=Name(other)), f"the function must be {other}, not {node.function.base}"
        for at, each in enumerate(node.arguments):
            if isinstance(each, Number) and each.value and _function(node) in ("max", "min"):
                arguments = (*node.arguments[:at], _number(Fraction(0)), *node.arguments[at + 1 :])
                yield replace(node, arguments=arguments), f"the number must be 0, not {each.text}"
        if len(node.arguments) == 1 and _function(node) in TURNED:
            yield node.arguments[0], f"there must be no {node.function.base}"
    if isinstance(node, Aggregate) and node.kind in ("max", "min"):
        other = TURNED[node.kind][0]
        yield replace(node, kind=other), f"it must be the {other}"
    match node:
        case Aggregate(kind="sum", body=Call(arguments=(inside,)) as call):
            yield replace(call, arguments=(replace(node, body=inside),)), "the sum belongs inside the function"
        case Call(arguments=(Aggregate(kind="sum", body=body) as whole,)):
            yield replace(whole, body=replace(node, arguments=(body,))), "the function belongs inside the sum"


def _fenced(node: Node) -> Node:
    return Fence("(", node) if isinstance(node, Sum) else node


def _unfenced(node: Node) -> Node:
    return node.inside if isinstance(node, Fence) else node


def groups(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that move a factor, a term or a division into or out of a function, a fraction or a sum.

    Other edits turn a fraction upside down, or turn sums, products and quotients into one another.
    """
    match node:
        case Quotient(numerator=Call(arguments=(inside,)) as call, denominator=below):
            yield replace(call, arguments=(Quotient(inside, below),)), "the division belongs inside the function"
            if isinstance(inside, Sum):
                terms = (Quotient(_fenced(inside.terms[0]), below), *inside.terms[1:])
                inner = replace(call, arguments=(replace(inside, terms=terms),))
                yield inner, "the division belongs inside the function, below the first summand"
        case Call(arguments=(Quotient(numerator=top, denominator=below),)):
            yield Quotient(replace(node, arguments=(top,)), below), "the division belongs outside the function"
        case Call(arguments=(Product(factors=factors, operators=operators),)) if len(factors) > 1:
            first = Product(factors[:-1], operators[:-1]) if len(factors) > 2 else factors[0]
            yield (
                Product((replace(node, arguments=(first,)), factors[-1]), ("",)),
                (f"{text_of(factors[-1])} belongs outside the function"),
            )
        case Product(factors=(Call(arguments=(inside,)) as call, last)):
            yield replace(call, arguments=(Product((inside, last), ("",)),)), "the factor belongs inside the function"
    above = _unfenced(node.numerator) if isinstance(node, Quotient) else None
    if isinstance(node, Quotient) and isinstance(above, Sum) and len(above.terms) == 2:
        left, right = above.terms
        for one, other in ((Quotient(left, node.denominator), right), (left, Quotient(right, node.denominator))):
            yield replace(above, terms=(one, other)), "the division goes too far"
    if isinstance(node, Sum):
        yield Quotient(_number(Fraction(1)), node), "the fraction is upside down"
    if isinstance(node, Sum) and len(node.terms) == 2:
        if not any(isinstance(each, Number) for each in node.terms):
            yield Product(tuple(map(_fenced, node.terms)), ("",)), "it must be a product"
            yield Product(tuple(map(_fenced, node.terms)), ("odot",)), "it must be a product"
        for at, term in enumerate(node.terms):
            if isinstance(term, Call) and len(term.arguments) == 1:
                inner_terms = (*node.terms[:at], term.arguments[0], *node.terms[at + 1 :])
                yield (
                    replace(term, arguments=(replace(node, terms=inner_terms),)),
                    "the summand belongs inside the function",
                )
            if isinstance(term, Quotient):
                terms = (*node.terms[:at], term.numerator, *node.terms[at + 1 :])
                yield Quotient(replace(node, terms=terms), term.denominator), "all of the sum must be divided"
            if isinstance(term, Product) and isinstance(term.factors[-1], Name | Fence):
                rest = Product(term.factors[:-1], term.operators[:-1]) if len(term.factors) > 2 else term.factors[0]
                terms = (*node.terms[:at], rest, *node.terms[at + 1 :])
                yield (
                    Product((Fence("(", replace(node, terms=terms)), term.factors[-1]), ("",)),
                    ("the factor belongs to all of the sum"),
                )
    if isinstance(node, Quotient):
        yield Quotient(node.denominator, node.numerator), "the fraction is upside down"
        yield Product((node.numerator, node.denominator), ("",)), "it must be a product"
        yield node.numerator, "there must be no division"
    if isinstance(node, Product):
        for at, factor in enumerate(node.factors if len(node.factors) > 2 else ()):
            kept, operators = (*node.factors[:at], *node.factors[at + 1 :]), node.operators[1:]
            yield Quotient(Product(kept, operators), factor), f"it must be divided by {text_of(factor)}"
        for at in range(1, len(node.factors)):
            above = Product(node.factors[:at], node.operators[: at - 1]) if at > 1 else node.factors[0]
            below = Product(node.factors[at:], node.operators[at:]) if len(node.factors) - at > 1 else node.factors[at]
            yield Quotient(above, below), "it must be a quotient"
            if len(node.factors) == 2:
                yield Quotient(below, above), "it must be a quotient"


def factors_changed(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that remove a factor, or insert a factor or a divisor."""
    if isinstance(node, Product):
        for at in range(len(node.factors)):
            kept = (*node.factors[:at], *node.factors[at + 1 :])
            operators = (*node.operators[:at], *node.operators[at + 1 :])[: len(kept) - 1]
            yield (
                (Product(kept, operators) if len(kept) > 1 else kept[0]),
                f"the factor {text_of(node.factors[at])} is too many",
            )
    if isinstance(node, Sum | Product | Name | Quotient | Aggregate | Power | Call | Root):
        for letter in (each for each in letters if each.base):
            factors = (
                node.factors if isinstance(node, Product) else (Fence("(", node) if isinstance(node, Sum) else node,)
            )
            operators = node.operators if isinstance(node, Product) else ()
            yield Product((letter, *factors), ("", *operators)), f"the factor {letter.key} is missing"
            yield Product((*factors, letter), (*operators, "")), f"the factor {letter.key} is missing"
            yield Quotient(node, letter), f"the division by {letter.key} is missing"
            yield Quotient(node, Root(letter)), f"the division by the root of {letter.key} is missing"
