"""Edits for mistakes in operations: roots, exponents, numbers, functions, factors and grouping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from derivations.documents.canon.letter_slips import text_of
from derivations.documents.canon.places import Edit, places
from derivations.documents.canon.slips import SlipKind
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
        yield node.radicand, SlipKind.NO_ROOT()
        if isinstance(node.radicand, Power):
            yield node.radicand.base, SlipKind.NO_ROOT_OF_SQUARE()
        if isinstance(node.radicand, Sum) and len(node.radicand.terms) == 2:
            first, second = node.radicand.terms
            for one, other in ((Root(first), second), (first, Root(second))):
                yield replace(node.radicand, terms=(one, other)), SlipKind.ROOT_TOO_FAR()
    elif isinstance(node, Power):
        if isinstance(node.base, Name) and node.base.base == "e" and not node.base.subscripts:
            yield node.exponent, SlipKind.NO_EXPONENTIAL()
        else:
            yield node.base, SlipKind.NO_EXPONENT()
        for inner, put in places(node.exponent):
            if isinstance(inner, Sum) and len(inner.terms) == 2 and isinstance(inner.terms[1], Number):
                yield replace(node, exponent=put(inner.terms[0])), SlipKind.SUMMAND_TOO_MANY(inner.terms[1].text)
        for value in (2, 3, Fraction(1, 2), -1):
            yield replace(node, exponent=_number(Fraction(value))), SlipKind.EXPONENT()
        match node.base:
            case Fence(inside=Sum(terms=(first, last)) as total) if isinstance(last, Name):
                raised = replace(total, terms=(first, replace(node, base=last)))
                yield Fence("(", raised), SlipKind.EXPONENT_OF(text_of(last))
    elif isinstance(node, Call) and node.function.base == "exp" and len(node.arguments) == 1:
        yield node.arguments[0], SlipKind.NO_EXPONENTIAL()
    if isinstance(node, Product) and len(node.factors) == 2 and all(isinstance(each, Name) for each in node.factors):
        yield Power(node.factors[0], node.factors[1]), SlipKind.AS_EXPONENT(text_of(node.factors[1]))
    if isinstance(node, Name):
        for index in (each.subscripts[0] for each in letters if each.subscripts and not each.base):
            yield Power(node, index), SlipKind.INDEX_AS_EXPONENT(text_of(index))
    if isinstance(node, Name | Number | Sum | Fence | Entry | Product | Aggregate | Quotient | Call):
        yield Root(node), SlipKind.ROOT()
        if not isinstance(node, Number):  # nobody loses the square of 0.1: another number was chosen
            base = Fence("(", node) if isinstance(node, Sum | Product) else node
            yield Power(E_LETTER, node), SlipKind.EXPONENTIAL()
            yield Power(E_LETTER, Negative(node)), SlipKind.EXPONENTIAL()
            yield Power(base, _number(Fraction(2))), SlipKind.SQUARE()
            yield Power(base, _number(Fraction(3))), SlipKind.POWER()
            yield Call(Name("log"), (node,)), SlipKind.LOGARITHM()


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
                yield new, SlipKind.NUMBER(new.text, node.text)
    if isinstance(node, Name | Product | Quotient | Number):
        factors = node.factors if isinstance(node, Product) else (node,)
        operators = node.operators if isinstance(node, Product) else ()
        yield Product((_number(Fraction(2)), *factors), ("", *operators)), SlipKind.FACTOR("2")
        yield Quotient(node, _number(Fraction(2))), SlipKind.FACTOR("1/2")
    if isinstance(node, Name | Call | Power | Aggregate):
        yield Fence("(", Sum((_number(Fraction(1)), node), (1, 1))), SlipKind.SUMMAND("1")
        yield Fence("(", Sum((_number(Fraction(1)), node), (1, -1))), SlipKind.ONE_MINUS()


def _function(call: Call) -> str:
    base = call.function.base
    return base if base.isupper() and len(base) < 3 else base.lower()  # LN is no ln


def functions(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that replace or remove a function, or exchange it with a sum."""
    if isinstance(node, Call):
        for other in TURNED.get(_function(node), ()):
            yield replace(node, function=Name(other)), SlipKind.FUNCTION(other, node.function.base)
        for at, each in enumerate(node.arguments):
            if isinstance(each, Number) and each.value and _function(node) in ("max", "min"):
                arguments = (*node.arguments[:at], _number(Fraction(0)), *node.arguments[at + 1 :])
                yield replace(node, arguments=arguments), SlipKind.NUMBER("0", each.text)
        if len(node.arguments) == 1 and _function(node) in TURNED:
            yield node.arguments[0], SlipKind.NO_FUNCTION(node.function.base)
    if isinstance(node, Aggregate) and node.kind in ("max", "min"):
        other = TURNED[node.kind][0]
        yield replace(node, kind=other), SlipKind.AGGREGATE(other)
    match node:
        case Aggregate(kind="sum", body=Call(arguments=(inside,)) as call):
            yield replace(call, arguments=(replace(node, body=inside),)), SlipKind.SUM_INSIDE()
        case Call(arguments=(Aggregate(kind="sum", body=body) as whole,)):
            yield replace(whole, body=replace(node, arguments=(body,))), SlipKind.FUNCTION_INSIDE()


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
            yield replace(call, arguments=(Quotient(inside, below),)), SlipKind.DIVISION_INSIDE()
            if isinstance(inside, Sum):
                terms = (Quotient(_fenced(inside.terms[0]), below), *inside.terms[1:])
                inner = replace(call, arguments=(replace(inside, terms=terms),))
                yield inner, SlipKind.DIVISION_OF_FIRST()
        case Call(arguments=(Quotient(numerator=top, denominator=below),)):
            yield Quotient(replace(node, arguments=(top,)), below), SlipKind.DIVISION_OUTSIDE()
        case Call(arguments=(Product(factors=factors, operators=operators),)) if len(factors) > 1:
            first = Product(factors[:-1], operators[:-1]) if len(factors) > 2 else factors[0]
            yield (
                Product((replace(node, arguments=(first,)), factors[-1]), ("",)),
                SlipKind.OUTSIDE(text_of(factors[-1])),
            )
        case Product(factors=(Call(arguments=(inside,)) as call, last)):
            yield replace(call, arguments=(Product((inside, last), ("",)),)), SlipKind.FACTOR_INSIDE()
    above = _unfenced(node.numerator) if isinstance(node, Quotient) else None
    if isinstance(node, Quotient) and isinstance(above, Sum) and len(above.terms) == 2:
        left, right = above.terms
        for one, other in ((Quotient(left, node.denominator), right), (left, Quotient(right, node.denominator))):
            yield replace(above, terms=(one, other)), SlipKind.DIVISION_TOO_FAR()
    if isinstance(node, Sum):
        yield Quotient(_number(Fraction(1)), node), SlipKind.UPSIDE_DOWN()
    if isinstance(node, Sum) and len(node.terms) == 2:
        if not any(isinstance(each, Number) for each in node.terms):
            yield Product(tuple(map(_fenced, node.terms)), ("",)), SlipKind.A_PRODUCT()
            yield Product(tuple(map(_fenced, node.terms)), ("odot",)), SlipKind.A_PRODUCT()
        for at, term in enumerate(node.terms):
            if isinstance(term, Call) and len(term.arguments) == 1:
                inner_terms = (*node.terms[:at], term.arguments[0], *node.terms[at + 1 :])
                yield (
                    replace(term, arguments=(replace(node, terms=inner_terms),)),
                    SlipKind.SUMMAND_INSIDE(),
                )
            if isinstance(term, Quotient):
                terms = (*node.terms[:at], term.numerator, *node.terms[at + 1 :])
                yield Quotient(replace(node, terms=terms), term.denominator), SlipKind.ALL_DIVIDED()
            if isinstance(term, Product) and isinstance(term.factors[-1], Name | Fence):
                rest = Product(term.factors[:-1], term.operators[:-1]) if len(term.factors) > 2 else term.factors[0]
                terms = (*node.terms[:at], rest, *node.terms[at + 1 :])
                yield (
                    Product((Fence("(", replace(node, terms=terms)), term.factors[-1]), ("",)),
                    SlipKind.FACTOR_OF_ALL(),
                )
    if isinstance(node, Quotient):
        yield Quotient(node.denominator, node.numerator), SlipKind.UPSIDE_DOWN()
        yield Product((node.numerator, node.denominator), ("",)), SlipKind.A_PRODUCT()
        yield node.numerator, SlipKind.NO_DIVISION()
    if isinstance(node, Product):
        for at, factor in enumerate(node.factors if len(node.factors) > 2 else ()):
            kept, operators = (*node.factors[:at], *node.factors[at + 1 :]), node.operators[1:]
            yield Quotient(Product(kept, operators), factor), SlipKind.DIVIDED(text_of(factor))
        for at in range(1, len(node.factors)):
            above = Product(node.factors[:at], node.operators[: at - 1]) if at > 1 else node.factors[0]
            below = Product(node.factors[at:], node.operators[at:]) if len(node.factors) - at > 1 else node.factors[at]
            yield Quotient(above, below), SlipKind.A_QUOTIENT()
            if len(node.factors) == 2:
                yield Quotient(below, above), SlipKind.A_QUOTIENT()


def factors_changed(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that remove a factor, or insert a factor or a divisor."""
    if isinstance(node, Product):
        for at in range(len(node.factors)):
            kept = (*node.factors[:at], *node.factors[at + 1 :])
            operators = (*node.operators[:at], *node.operators[at + 1 :])[: len(kept) - 1]
            yield (
                (Product(kept, operators) if len(kept) > 1 else kept[0]),
                SlipKind.FACTOR_TOO_MANY(text_of(node.factors[at])),
            )
    if isinstance(node, Sum | Product | Name | Quotient | Aggregate | Power | Call | Root):
        for letter in (each for each in letters if each.base):
            factors = (
                node.factors if isinstance(node, Product) else (Fence("(", node) if isinstance(node, Sum) else node,)
            )
            operators = node.operators if isinstance(node, Product) else ()
            yield Product((letter, *factors), ("", *operators)), SlipKind.FACTOR(letter.key)
            yield Product((*factors, letter), (*operators, "")), SlipKind.FACTOR(letter.key)
            yield Quotient(node, letter), SlipKind.DIVISION(letter.key)
            yield Quotient(node, Root(letter)), SlipKind.ROOT_DIVISION(letter.key)
