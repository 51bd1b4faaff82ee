"""Construction of syntax nodes from their parts: products, brackets, subscripts and sums with bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from derivations.documents.formulas.tokens import stop
from derivations.documents.formulas.vocabulary import UNITS
from derivations.documents.syntax import (
    Aggregate,
    Cases,
    Chain,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Node,
    Number,
    Power,
    Product,
    Set,
    Words,
)

__all__ = [
    "aggregate",
    "bracketed",
    "branch",
    "conditional",
    "flat",
    "listed",
    "phrase",
    "product",
    "subscripts",
    "unfenced",
]

PRECISIONS = frozenset({"int", "uint", "fp", "bf", "nf"})


def product(factors: Sequence[Node], operators: Sequence[str]) -> Node:
    """Return the product of factors, or the factor itself if there is only one."""
    if len(factors) == 1:
        return factors[0]
    if any(isinstance(factor, Product) for factor in factors):  # braces in between: `a {b c}`
        pairs = [_parts(factor) for factor in factors]
        operators = [
            *pairs[0][1],
            *(each for op, (_, ops) in zip(operators, pairs[1:], strict=True) for each in (op, *ops)),
        ]
        factors = [factor for inner, _ in pairs for factor in inner]
    measured = _measured(factors, operators)
    if measured is not None:
        return measured
    return Product(tuple(factors), tuple(operators), start=factors[0].start, end=factors[-1].end)


def _measured(factors: Sequence[Node], operators: Sequence[str]) -> Node | None:
    r"""Return a product that ends with a power of ten and a unit, `7 \times 10^9 \text{ bytes}`, as an amount.

    The unit is attached to the number in front. The result is None for any other product.
    """
    match factors[-2:]:
        case [Power(base=Number(value=10, unit="") as ten) as power, Words(text=unit) | Name(base=unit) as last]:
            if operators[-1] or unit not in UNITS or (isinstance(last, Name) and last.font != "upright"):
                return None
            match factors[-3:-2], operators[-2:-1]:
                case [Number(unit="") as digits], ["times" | "dot"]:
                    factors = [*factors[:-3], replace(digits, unit=unit), power]
                case _:
                    factors = [*factors[:-2], replace(power, base=replace(ten, unit=unit))]
            return replace(product(factors, operators[:-1]), end=last.end)
    return None


def _parts(node: Node) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    return (node.factors, node.operators) if isinstance(node, Product) else ((node,), ())


def phrase(factors: list[Node], operators: list[str]) -> tuple[list[Node], list[str]]:
    """Join adjacent words, such as `number of heads`: into one name if nothing else remains, else into words."""
    if not any(_is_word(each) and _is_word(after) for each, after in pairwise(factors)):
        return factors, operators
    joined: list[Node] = [factors[0]]
    between: list[str] = []
    for operator, factor in zip(operators, factors[1:], strict=True):
        last = joined[-1]
        if not operator and _is_word(last) and _is_word(factor):
            joined[-1] = Words(f"{_spelled(last)} {_spelled(factor)}", start=last.start, end=factor.end)
        else:
            joined.append(factor)
            between.append(operator)
    if len(joined) == 1:
        only = joined[0]
        joined = [Name(_spelled(only), start=only.start, end=only.end)]
    return joined, between


def _is_word(node: Node) -> bool:
    return isinstance(node, Words) or (isinstance(node, Name) and len(node.base) > 1 and node == Name(node.base))


def _spelled(node: Node) -> str:
    return node.text if isinstance(node, Words) else node.base if isinstance(node, Name) else ""


def unfenced(node: Node) -> Node:
    """Return a node without the round brackets around it, however many there are."""
    while isinstance(node, Fence) and node.bracket == "(":
        node = node.inside
    return node


# --- brackets ---


def bracketed(opening: str, closing: str, items: list[Node], separators: list[str], start: int, end: int) -> Node:
    """Return the node for a pair of brackets: cases, a list, a set, a matrix, or one item in brackets."""
    pair = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|": "|", "‖": "‖"}
    first = items[0] if items else None
    if opening == "{" and closing == "." and isinstance(first, MatrixLiteral) and len(items) == 1:
        return Cases(tuple(branch(row, start) for row in first.rows), start=start, end=end)
    if pair[opening] != closing and not (opening in "([" and closing in ")]" and len(items) == 2):
        stop(end - 1, f"the bracket {opening} is closed by {closing}")
    if isinstance(first, MatrixLiteral) and len(items) == 1 and opening in "([":
        return first
    if opening == "{" and len(items) == 1 and isinstance(first, Chain) and first.relations[:1] in ((":",), ("|",)):
        rest = replace(first, sides=first.sides[1:], relations=first.relations[1:])
        condition = rest if rest.relations else first.sides[1]
        return Set(first.sides[0], condition, start=start, end=end)
    if "semicolon" in separators and "comma" in separators and opening == "[":
        return MatrixLiteral(tuple(_split(items, separators)), start=start, end=end)
    if len(items) != 1 or separators or opening == "{":
        bracket = opening if pair[opening] == closing else opening + closing
        return List(tuple(items), bracket, start=start, end=end)
    return Fence("||" if opening == "‖" else opening, items[0], start=start, end=end)


def _split(items: list[Node], separators: list[str]) -> list[tuple[Node, ...]]:
    rows: list[list[Node]] = [[]]
    for item, separator in zip(items, [*separators, ""], strict=False):
        rows[-1].append(item)
        if separator == "semicolon":
            rows.append([])
    return [tuple(row) for row in rows if row]


def branch(row: tuple[Node, ...], start: int) -> tuple[Node, Node | None]:
    """Return a value and its condition from a row of cases."""
    if len(row) > 2:
        stop(start, "a case has more than a value and a condition")
    return row[0], row[1] if len(row) == 2 else None


def conditional(before: list[Node], behind: list[Node], start: int, end: int) -> Chain:
    """Return `y | x`, as in p(y | x)."""
    return Chain((listed(before), listed(behind)), ("|",), start=start, end=end)


def listed(items: Sequence[Node]) -> Node:
    """Return the only item, or a list of all items without brackets."""
    return items[0] if len(items) == 1 else List(tuple(items), start=items[0].start, end=items[-1].end)


# --- subscripts and bounds ---


def subscripts(items: Sequence[Node]) -> tuple[Node, ...]:
    """Return the subscripts one by one: `ij` and `(i, j)` give i and j, `2i` stays whole, and words become labels."""
    single: list[Node] = []
    for item in items:
        if isinstance(item, List) and item.bracket in ("(", ""):
            single += item.items
        elif isinstance(item, Fence) and item.bracket == "(" and len(items) == 1 and isinstance(item.inside, Name):
            single.append(item)
        elif isinstance(item, Product) and not any(item.operators) and _indices(item.factors):
            single += _precision(item) or item.factors
        else:
            single.append(item)
    return tuple(flat(each) for each in single)


def _indices(factors: tuple[Node, ...]) -> bool:
    return isinstance(factors[0], Name) and all(isinstance(each, Name | Number) for each in factors)


def _precision(item: Product) -> list[Node]:
    """Return the number format in `W_{int8}` or `W_{fp16}` as one word, or an empty list."""
    *letters, last = item.factors
    word = "".join(each.base for each in letters if isinstance(each, Name))
    is_one = word in PRECISIONS and isinstance(last, Number)
    return [Words(f"{word}{last.text}", start=item.start, end=item.end)] if is_one and isinstance(last, Number) else []


def flat(node: Node) -> Node:
    """Return a name of several letters as words, because it is a label: `d_{model}`. Other nodes are unchanged."""
    if isinstance(node, Name) and len(node.base) > 1 and node == Name(node.base) and node.font != "Greek":
        return Words(node.base, start=node.start, end=node.end)
    return node


def aggregate(kind: str, below: tuple[Node, ...], above: Node | None, body: Node, start: int) -> Aggregate:
    r"""Return a sum, a maximum ... with its index and bounds, `\sum_{j=1}^{n}`, or with a condition."""
    index: tuple[Name, ...] = tuple(each for each in below if isinstance(each, Name))
    lower: Node | None = None
    over: Node | None = None
    if len(index) < len(below):
        first = below[0]
        if isinstance(first, Chain) and first.relations == ("=",) and isinstance(first.sides[0], Name):
            index, lower = (first.sides[0],), first.sides[1]
            over = listed(below[1:]) if len(below) > 1 else None
        else:
            index, over = _bound(first), listed(below)
    return Aggregate(kind, body, index, lower, above, over, start=start, end=body.end)


def _bound(condition: Node) -> tuple[Name, ...]:
    if isinstance(condition, Chain):
        sides = condition.sides[1:-1] if len(condition.sides) > 2 else condition.sides[:1]
        return tuple(side for side in sides if isinstance(side, Name) and side.base)
    return (condition,) if isinstance(condition, Name) else ()
