"""The syntax trees of formulas, in the order of the text, before anything is known about their letters.

Definition   every node keeps the stretch [start, end) of the text it was read from; two nodes are equal if they say
             the same, wherever they stand
Assumes      order is kept: products are not sorted, nothing is simplified; labels and powers were told apart by form
             alone (`W^Q`, `W^{(i)}` are labels, `K^T` a transpose, `x^2` a power), and a scope may read them otherwise
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from operator import is_
from typing import Any

from derivations.documents.budget import current_budget

__all__ = [
    "EQUATIONS", "Aggregate", "Annotated", "Arrow", "Call", "Cases", "Chain", "Derivative", "Dots", "Entry", "Fence",
    "List", "MatrixLiteral", "Name", "Negative", "Node", "Number", "Power", "Product", "Quotient", "Root", "Set",
    "Space", "Sum", "Transpose", "Words", "rebuilt", "replaced",
]  # fmt: skip

EQUATIONS = ("=", "≡", ":=", "←")  # the relations of a chain that make two sides alike

_WITHOUT_NODES = ("str", "int", "bool", "Fraction", "tuple[str, ...]", "tuple[int, ...]")  # the types of such fields


@dataclass(frozen=True, kw_only=True)
class Node:
    """A part of a formula."""

    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The parts of this part, in order of their fields."""
        return tuple(_nodes(getattr(self, name) for name in _parts(self)))

    def walk(self) -> Iterator[Node]:
        """Yield this part and all parts inside it, from the outside inwards.

        Each part is one step of the formula's budget.
        """
        return self._walk(())

    def walk_outside_names(self) -> Iterator[Node]:
        """Yield this part and all parts inside it but for subscripts and superscripts: x of `x_i`, and no i."""
        return self._walk(Name)

    def _walk(self, closed: type[Node] | tuple[()]) -> Iterator[Node]:
        pending: list[Node] = [self]
        spend = current_budget().spend
        while pending:
            node = pending.pop()
            spend()
            yield node
            if node.children and not isinstance(node, closed):
                pending.extend(node.children[::-1])


def rebuilt(value: Any, of: Callable[[Any], Any]) -> Any:
    """Return a node with a function applied to its fields that hold nodes, or a tuple with it applied to each member.

    A rule that changes formulas answers for the nodes it is about and leaves all else to this: what is neither a node
    nor a tuple comes back as it is, and so does what does not change.
    """
    if isinstance(value, tuple):
        members = tuple(of(each) for each in value)
        return value if all(map(is_, members, value)) else members
    if isinstance(value, Node):
        changed = {}
        for name in _parts(value):
            part = getattr(value, name)
            new = of(part)
            if new is not part:
                changed[name] = new
        return replace(value, **changed) if changed else value
    return value


def replaced(node: Any, old: Node, new: Node) -> Any:
    """Return a formula with every part that equals `old` replaced by `new`, also in subscripts."""
    return new if node == old else rebuilt(node, lambda each: replaced(each, old, new))


def _parts(node: Node) -> tuple[str, ...]:
    """Return the names of the fields that hold nodes, which are the same for all nodes of a class."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = tuple(each.name for each in fields(kind) if each.type not in _WITHOUT_NODES)
    return _PARTS[kind]


_PARTS: dict[type[Node], tuple[str, ...]] = {}


def _nodes(values: Any) -> Iterator[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _nodes(value)


# --- leaves ---


@dataclass(frozen=True)
class Number(Node):
    """A number as it is printed: its value, and half a unit of the last digit that is printed.

    `exact` says that it has no decimal point and no word for a power of ten (512, not 4.8 億, 37e9, 20%). `unit` is a
    word that follows it and is no factor: "FLOPs", "GB", "bytes".
    """

    text: str
    value: Fraction
    half_unit: Fraction = Fraction(0)
    exact: bool = True
    unit: str = ""


@dataclass(frozen=True)
class Name(Node):
    r"""A letter or a word with what is attached to it: `W_i^Q`, `d_{\text{model}}`, `\hat{x}'`, `batch_size`.

    `base` is the letter or word without fonts and colours (`\mathbf{h}` is `h` with `font` "bold"); subscripts and the
    superscripts that are labels are nodes in order, `Words` where they are words.
    """

    base: str
    subscripts: tuple[Node, ...] = ()
    superscripts: tuple[Node, ...] = ()
    primes: int = 0
    accent: str = ""
    font: str = field(default="", compare=False)

    @cached_property
    def key(self) -> str:
        """The name as one text without fonts. Names with equal keys are the same."""
        if not self.subscripts and not self.superscripts:
            return self.accent + self.base + "'" * self.primes
        lower = ",".join(_key(each) for each in self.subscripts)
        upper = ",".join(_key(each) for each in self.superscripts)
        return f"{self.accent}{self.base}" + (f"_{lower}" if lower else "") + (f"^{upper}" if upper else "") + (
            "'" * self.primes
        )  # fmt: skip


def _key(node: Node) -> str:
    match node:
        case Name():
            return node.key
        case Number() | Words():
            return node.text
        case Fence():
            return f"({_key(node.inside)})"
        case Negative():
            return f"-{_key(node.operand)}"
        case Sum(terms=terms, signs=signs):
            signed = (f"{'+-±'[(1, -1, 0).index(sign)]}{_key(term)}" for term, sign in zip(terms, signs, strict=True))
            return "".join(signed).removeprefix("+")
        case Quotient(numerator=above, denominator=below):
            return f"{_key(above)}/{_key(below)}"
        case Power(base=base, exponent=exponent):
            return f"{_key(base)}^{_key(exponent)}"
        case Chain(sides=(first, *others), relations=relations):
            written = (relation if isinstance(relation, str) else "→" for relation in relations)
            return _key(first) + "".join(f"{sign}{_key(side)}" for sign, side in zip(written, others, strict=True))
        case Set(element=element, condition=condition):
            return f"{{{_key(element)}|{_key(condition)}}}"
    return "·".join(_key(child) for child in node.children)


@dataclass(frozen=True)
class Words(Node):
    r"""Words inside a formula that name nothing: `\text{for all}`, `\text{ if }`."""

    text: str


@dataclass(frozen=True)
class Dots(Node):
    r"""An ellipsis, `\dots`."""


@dataclass(frozen=True)
class Space(Node):
    r"""A set of arrays or numbers: `\mathbb{R}^{n \times d}` has the letter R and the sizes (n, d)."""

    letter: str
    sizes: tuple[Node, ...] = ()


# --- arithmetic ---


@dataclass(frozen=True)
class Sum(Node):
    """Terms in order, with the sign in front of each: +1, -1, or 0 for plus or minus."""

    terms: tuple[Node, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True)
class Product(Node):
    r"""Factors in order, and the operators between them.

    `operators` has one entry less than there are factors: "" side by side, "dot" (`\cdot`, ·), "times" (`\times`, ×),
    "star" (*), "at" (@), "odot" (⊙), "otimes", "oplus" is none of them.
    """

    factors: tuple[Node, ...]
    operators: tuple[str, ...]

    def between(self, separators: Collection[str]) -> list[Node]:
        """Split the product at the operators in `separators`, which bind less tightly."""
        groups: list[tuple[list[Node], list[str]]] = [([self.factors[0]], [])]
        for operator, factor in zip(self.operators, self.factors[1:], strict=True):
            if operator in separators:
                groups.append(([factor], []))
            else:
                groups[-1][0].append(factor)
                groups[-1][1].append(operator)
        return [Product(tuple(factors), tuple(signs)) if signs else factors[0] for factors, signs in groups]


@dataclass(frozen=True)
class Negative(Node):
    """The negation of a node that is not a term of a sum."""

    operand: Node


@dataclass(frozen=True)
class Quotient(Node):
    """A fraction; `slashed` where it is written a / b."""

    numerator: Node
    denominator: Node
    slashed: bool = False


@dataclass(frozen=True)
class Power(Node):
    """A power; `^{-1}` and `^{1/2}` as well."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Root(Node):
    """A root, the square root where no degree is written."""

    radicand: Node
    degree: Node | None = None


@dataclass(frozen=True)
class Transpose(Node):
    r"""A transpose: `K^T`, `K^\top` or `K.T`, but not `K'`."""

    operand: Node


@dataclass(frozen=True)
class Fence(Node):
    """Something between brackets: "(", "[", "|", "||", "⌊", "⌈", "⟨"."""

    bracket: str
    inside: Node


# --- functions and sums ---


@dataclass(frozen=True)
class Call(Node):
    r"""A function of arguments: `\text{softmax}(x)`, `f(x, y)`, `\sin x`; `function` may carry subscripts (an axis).

    Keyword arguments of code (`dim=-1`) are chains `dim = -1` among the arguments.
    """

    function: Name
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Entry(Node):
    """An entry or a part of something other than a letter: `softmax(x)_i`, `(QK^T)_{ij}`, `X[i, j]`."""

    of: Node
    indices: tuple[Node, ...]


@dataclass(frozen=True)
class Aggregate(Node):
    r"""A sum, product, extremum, integral, expectation or variance, with the index and bounds that are written.

    `kind` is "sum", "product", "max", "min", "argmax", "integral", "union" ...; `index` the bound letters, `lower`
    and `upper` the bounds, `over` a set or condition where one is written instead (`j \in S`, `j \neq i`, `m \le n`).
    """

    kind: str
    body: Node
    index: tuple[Name, ...] = ()
    lower: Node | None = None
    upper: Node | None = None
    over: Node | None = None


@dataclass(frozen=True)
class Derivative(Node):
    r"""`\frac{\partial y}{\partial x}`, `\frac{d y}{d x}`, `\nabla_x y`."""

    of: Node
    by: tuple[Node, ...]


# --- collections ---


@dataclass(frozen=True)
class List(Node):
    """Things separated by commas, between brackets "(", "[", "{" or "" without brackets."""

    items: tuple[Node, ...]
    bracket: str = ""


@dataclass(frozen=True)
class Set(Node):
    r"""A set by a condition: `\{x \mid x > 0\}`."""

    element: Node
    condition: Node


@dataclass(frozen=True)
class MatrixLiteral(Node):
    """Rows of entries: bmatrix, pmatrix, array."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Cases(Node):
    """Values with the conditions under which they are taken; the condition is Words("otherwise") for the rest."""

    branches: tuple[tuple[Node, Node | None], ...]


# --- what is said ---


@dataclass(frozen=True)
class Annotated(Node):
    r"""Something with a note: `\underbrace{Q}_{n \times d}`, `\overbrace`, `\overset`; the note is a node or words."""

    of: Node
    note: Node


@dataclass(frozen=True)
class Arrow(Node):
    r"""A map between neighbours in a chain: `\xrightarrow[below]{above}`, `->`, `\to`, `→`."""

    above: Node | None = None
    below: Node | None = None


@dataclass(frozen=True)
class Chain(Node):
    r"""Sides with the relations between them: `a = b \approx c`, `x \in \mathbb{R}^n`, `a \to b`, or one side alone.

    Relations are "=", ":=", "≈", "≠", "<", "≤", ">", ">=" as "≥", "∝", "∼", "∈", "⊂", "≡", "⇒", "⇔", "O" for none, or
    an `Arrow`. `condition` is what follows: `i = 1, \dots, h`, `\text{for } i > j`.
    """

    sides: tuple[Node, ...]
    relations: tuple[str | Arrow, ...] = ()
    condition: Node | None = None
