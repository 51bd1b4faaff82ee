r"""The plausible mistakes, one function for each kind: where it applies to a spot, what stands there instead.

Definition   a kind takes a spot and yields what may stand in place of its node; whether that is a mistake is asked of
             the oracle, not here
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from derivations.documents.syntax import (
    Aggregate,
    Call,
    Chain,
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
    Root,
    Space,
    Sum,
    Transpose,
    Words,
)
from tests.documents.mutants.places import Spot, swapped

__all__ = ["KINDS", "Kind", "changes"]

Kind = Callable[[Spot], Iterator[Node]]
ARRAY_OPERATORS = ("", "dot", "at")
SUFFIXES = ("k", "v", "model", "ff")
FACTORS = (2, 4, 6, 8)
UNITS = {
    "億": "萬",
    "萬": "億",
    "亿": "万",
    "万": "亿",
    "GB": "MB",
    "MB": "GB",
    "M": "B",
    "B": "M",
    "million": "billion",
}
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}


def number(value: int) -> Number:
    """Return a whole number."""
    return Number(str(value), Fraction(value))


def bracketed(node: Node) -> Node:
    """Return a sum in brackets, all else as it is."""
    return Fence("(", node) if isinstance(node, Sum | Negative) else node


def is_letter(node: Node) -> bool:
    """Say whether a node is a name of one capital, as arrays have."""
    return isinstance(node, Name) and len(node.base) == 1 and node.base.isupper()


def is_array(node: Node) -> bool:
    """Say whether a factor may be an array: no number, no fraction, no size."""
    inner = node.operand if isinstance(node, Transpose) else node
    if isinstance(inner, Name):
        return not inner.base.startswith("d") and inner.base not in ("n", "h", "m", "L", "N")
    return isinstance(inner, Fence | Call | Name)


# --- attention ---


def scaling_dropped(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Quotient(numerator=above, denominator=Root()):
            yield bracketed(above)


def root_of_the_scaling_dropped(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Root(radicand=inside):
            yield bracketed(inside)


def multiplied_by_the_scaling(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Quotient(numerator=above, denominator=Root() as root):
            yield Product((bracketed(above), root), ("dot",))


def other_width(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Name(base="d", subscripts=(Words(text=suffix) | Name(base=suffix, subscripts=()),)) if suffix in SUFFIXES:
            for other in SUFFIXES:
                if other != suffix:
                    yield Name("d", (Words(other) if len(other) > 1 else Name(other),))


def transpose_on_the_left(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Product(factors=(*before, first, Transpose(operand=second)), operators=operators) if is_array(first):
            yield Product((*before, Transpose(first), second), operators)


def transpose_dropped(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Transpose(operand=inside):
            yield inside


def transposed_factors_exchanged(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Product(factors=(*before, first, Transpose(operand=second)), operators=operators) if is_array(first):
            yield Product((*before, second, Transpose(first)), operators)


def order_turned(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Product(factors=factors, operators=operators):
            for at, (first, second) in enumerate(pairwise(factors)):
                if operators[at] in ARRAY_OPERATORS and is_array(first) and is_array(second):
                    yield replace(spot.node, factors=(*factors[:at], second, first, *factors[at + 2 :]))


def mask_inside_the_scale(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Sum(terms=(Quotient(numerator=above, denominator=below), mask), signs=(1, 1)):
            yield Quotient(Sum((above, mask), (1, 1)), below)


def letter_exchanged(spot: Spot) -> Iterator[Node]:
    """One capital for another of the formula: K for V."""
    applied = {id(each.function) for each in spot.whole.walk() if isinstance(each, Call)}  # the E of E[x] is no array
    arrays = [each for each in spot.whole.walk() if is_letter(each) and id(each) not in applied]
    if any(isinstance(each, Name) for each in spot.around) or all(each is not spot.node for each in arrays):
        return
    others = {each.key: each for each in arrays if isinstance(each, Name)}
    for key, other in others.items():
        if isinstance(spot.node, Name) and key != spot.node.key:
            yield other


# --- softmax and sums ---


def softmax_over_the_other_axis(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Call(arguments=(*before, Chain(sides=(Name(base="dim" | "axis") as word, _)) as axis)):
            yield replace(spot.node, arguments=(*before, Chain((word, number(0)), axis.relations)))


def softmax_of_one_scalar(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Entry(of=Call(function=function, arguments=(Name() as vector,)), indices=indices):
            yield Call(function, (replace(vector, subscripts=(*vector.subscripts, *indices)),))


def index_in_the_denominator(spot: Spot) -> Iterator[Node]:
    """The index outside for the one that is summed over."""
    match spot.node:
        case Aggregate(body=body, index=(bound,)):
            inside = {id(each) for each in spot.node.walk()}
            free = {each.key: each for each in _indices(spot.whole) if id(each) not in inside and each.key != bound.key}
            used = [each for each in _indices(body) if each.key == bound.key]
            for outer in tuple(free.values())[:1]:
                changed = body
                for each in used:
                    changed = swapped(changed, each, outer)
                if used:
                    yield replace(spot.node, body=changed)


def index_changed(spot: Spot) -> Iterator[Node]:
    """Another index of the formula: y_i (1 - y_j) for y_i (1 - y_i)."""
    if isinstance(spot.node, Name) and any(spot.node is each for each in _indices(spot.whole)):
        others = {each.key: each for each in _indices(spot.whole) if each.key != spot.node.key}
        yield from tuple(others.values())[:1] or (Name("j" if spot.node.base != "j" else "l"),)


def _indices(root: Node) -> Iterator[Name]:
    """Yield the letters that stand as places, not those that are part of a size (d_k)."""
    for node in root.walk():
        if isinstance(node, Name) and node.base == "d":
            continue
        parts = node.subscripts if isinstance(node, Name) else node.indices if isinstance(node, Entry) else ()
        for part in parts:
            for each in part.walk():
                if isinstance(each, Name) and each.base in ("i", "j", "k", "l", "t") and not each.subscripts:
                    yield each


def exp_dropped(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Power(base=Name(base="e"), exponent=inside) | Call(function=Name(base="exp"), arguments=(inside,)):
            has_sum = any(isinstance(each, Aggregate) for each in inside.walk())  # which would take in what follows it
            yield Fence("(", inside) if has_sum else bracketed(inside)


def last_term_left_out(spot: Spot) -> Iterator[Node]:
    """The bound n - 1."""
    match spot.node:
        case Aggregate(upper=Name() as upper):
            yield replace(spot.node, upper=Sum((upper, number(1)), (1, -1)))


# --- signs, powers, functions ---


def sign_turned(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Sum(terms=terms, signs=signs):
            for at in range(1, len(terms)):
                yield replace(spot.node, signs=(*signs[:at], -signs[at], *signs[at + 1 :]))
        case Negative(operand=inside):
            yield inside


def factor_of_two_dropped(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Product(factors=(Number(value=Fraction(numerator=2, denominator=1)), *rest), operators=(_, *operators)):
            yield rest[0] if len(rest) == 1 else Product(tuple(rest), tuple(operators))


def base_a_thousand(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Number() as base if base.value == 10_000 and base.exact:
            yield number(1000)


def sine_for_cosine(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Call(function=Name(base="sin" | "cos" as word)):
            yield replace(spot.node, function=Name("cos" if word == "sin" else "sin"))


def smallest_for_largest(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Call(function=Name(base="max" | "min" as word)):
            yield replace(spot.node, function=Name("min" if word == "max" else "max"))


def exponent_lost(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Power(base=base) if not (isinstance(base, Name) and base.base == "e"):
            yield base


def exponent_doubled(spot: Spot) -> Iterator[Node]:
    """sigma^4 for sigma^2."""
    match spot.node:
        case Power(base=base, exponent=Number() as exponent) if exponent.value == 2:
            yield Power(base, number(4))


def fraction_turned(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Quotient(numerator=above, denominator=below):
            yield Quotient(below, above)


# --- sizes and counts ---


def sizes_exchanged(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Space(sizes=(*before, first, second)):
            yield replace(spot.node, sizes=(*before, second, first))
        case Fence(inside=Product(factors=(first, second), operators=("times",))):
            yield Fence("(", Product((second, first), ("times",)))
        case List(items=(*before, first, second), bracket="["):
            yield replace(spot.node, items=(*before, second, first))


def factor_of_the_count(spot: Spot) -> Iterator[Node]:
    """Another of the factors 2, 4, 6, 8 by which operations and parameters are counted."""
    match spot.node:
        case Product(factors=(Number() as first, *rest)) if first.exact and first.value in FACTORS:
            for other in FACTORS:
                if other != first.value:
                    yield replace(spot.node, factors=(number(other), *rest))


def term_forgotten(spot: Spot) -> Iterator[Node]:
    """A bias or a norm that is not counted."""
    match spot.node:
        case Sum(terms=terms, signs=signs):
            for at in range(len(terms) if _is_count(spot.node) else 0):
                kept = [pair for position, pair in enumerate(zip(terms, signs, strict=True)) if position != at]
                if len(kept) == 1 and kept[0][1] == 1:
                    yield kept[0][0]
                elif kept[0][1] == 1:
                    yield Sum(tuple(term for term, _ in kept), tuple(sign for _, sign in kept))


def _is_count(node: Node) -> bool:
    """Say whether a formula is made of sizes and numbers alone."""
    if isinstance(node, Name):
        return not is_array(node) or len(node.base) > 1
    return isinstance(node, Sum | Product | Number | Fence | Power) and all(map(_is_count, node.children))


def weights_exchanged(spot: Spot) -> Iterator[Node]:
    """W_1 where W_2 belongs, b_2 where b_1 does: another member of the family that stands in the formula."""
    if isinstance(spot.node, Name) and spot.node.subscripts and not any(isinstance(each, Name) for each in spot.around):
        for other in spot.whole.walk():
            if isinstance(other, Name) and other.base == spot.node.base != "d" and _numbered(other, spot.node):
                yield other


def _numbered(first: Name, second: Name) -> bool:
    both = all(each.subscripts and isinstance(each.subscripts[-1], Number) for each in (first, second))
    return both and first.key != second.key


# --- numbers ---


def whole_number_off_by_one(spot: Spot) -> Iterator[Node]:
    """Coefficients that were added up wrongly."""
    match spot.node:
        case Number(value=value, exact=True, unit="", text=text) if text.isdigit() and value > 1 and _counts(spot):
            yield number(int(value) + 1)


def _counts(spot: Spot) -> bool:
    """Say whether a number is none of a label: the 1 of W_1."""
    return not any(isinstance(each, Name) for each in spot.around)


def last_digit(spot: Spot) -> Iterator[Node]:
    """Truncated or perturbed: one less or one more in the last place that is printed."""
    match spot.node:
        case Number(text=text) if "." in text and text.replace(".", "").isdigit():
            places = len(text.partition(".")[2])
            units = int(text.replace(".", ""))
            for changed in (units - 1, units + 1):
                if changed >= 0:
                    digits = str(changed).rjust(places + 1, "0")
                    shown = f"{digits[:-places]}.{digits[-places:]}"
                    yield Number(shown, Fraction(changed, 10**places), Fraction(1, 2 * 10**places), exact=False)


def unit_slip(spot: Spot) -> Iterator[Node]:
    """A power of ten lost or gained, a decimal point in the wrong place."""
    match spot.node:
        case Number(text=text) if text.isdigit() and len(text) > 1 and _counts(spot):
            yield number(int(text) * 10)
        case Number(text=text) if "." in text and text.replace(".", "").isdigit():
            whole, part = text.split(".")
            shown = f"{whole}{part[0]}.{part[1:] or '0'}".lstrip("0")
            shown = "0" + shown if shown.startswith(".") else shown
            yield Number(shown, Fraction(shown), exact=False)
        case Number(text=text):
            for unit, other in UNITS.items():
                if text.endswith(unit) and text.removesuffix(unit).strip()[-1:].isdigit():
                    yield replace(spot.node, text=text.removesuffix(unit) + other)
                    return


def inequality_turned(spot: Spot) -> Iterator[Node]:
    match spot.node:
        case Chain(relations=relations):
            for at, relation in enumerate(relations):
                if isinstance(relation, str) and relation in TURNED:
                    yield replace(spot.node, relations=(*relations[:at], TURNED[relation], *relations[at + 1 :]))


KINDS: Mapping[str, Kind] = {
    kind.__name__.replace("_", " "): kind
    for kind in (
        scaling_dropped,
        root_of_the_scaling_dropped,
        multiplied_by_the_scaling,
        other_width,
        transpose_on_the_left,
        transpose_dropped,
        transposed_factors_exchanged,
        order_turned,
        mask_inside_the_scale,
        letter_exchanged,
        weights_exchanged,
        softmax_over_the_other_axis,
        softmax_of_one_scalar,
        index_in_the_denominator,
        index_changed,
        exp_dropped,
        last_term_left_out,
        sign_turned,
        factor_of_two_dropped,
        base_a_thousand,
        sine_for_cosine,
        smallest_for_largest,
        exponent_lost,
        exponent_doubled,
        fraction_turned,
        sizes_exchanged,
        factor_of_the_count,
        term_forgotten,
        whole_number_off_by_one,
        last_digit,
        unit_slip,
        inequality_turned,
    )
}


def changes(spot: Spot) -> Iterator[tuple[str, Node]]:
    """Yield every mistake that may be made at a spot, with its kind."""
    for kind, change in KINDS.items():
        for new in change(spot):
            yield kind, new
