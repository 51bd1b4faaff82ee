"""What a formula means as an expression of the language, once every letter in it has a meaning.

Definition   letters mean arrays, scalars or indices (`meaning`); products, sums, fractions, functions and sums over an
             index are read as what they are in the language, with its shapes; one letter may mean an expression, such
             as the transpose of an array
Assumes      vectors have no direction of their own: with `columns`, v^T w is a number and v w^T a matrix, without it
             the other way round; a function of one argument that has no entry in the table is one of which nothing is
             known, applied entry by entry
Raises       NotRead where the formula has something that is no array and no number, `ShapeError` where shapes do not
             fit
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sympy import (
    E,
    Expr,
    Indexed,
    Integer,
    KroneckerDelta,
    Lambda,
    Max,
    Min,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    log,
    nan,
    oo,
    pi,
    sin,
    sqrt,
    tanh,
    zoo,
)

from derivations.attention import scaled_dot_product_attention
from derivations.documents import syntax
from derivations.documents.syntax import Call, Name, Node, Number
from derivations.gelu import normal_distribution
from derivations.language.arrangements import Concatenate, Tabulated
from derivations.language.expression import Array, Plus, Product, Scaled, Transpose
from derivations.language.functions import Elementwise, Hadamard, RowMean, RowSum, gelu, named, opaque, row_softmax
from derivations.language.shapes import ShapeError
from derivations.sigmoid import sigmoid, silu, softplus
from derivations.symbols import index, scalar

__all__ = ["FUNCTIONS", "NotRead", "Reader", "Value", "function_word", "indices_of", "read_value"]

Value: TypeAlias = Expr | Array
MOST_NODES = 400
LARGEST_EXPONENT = 10**6
_x = scalar("x")

FUNCTIONS: dict[str, Lambda] = {
    word: Lambda((_x,), formula)
    for words, formula in (
        ("exp", exp(_x)),
        ("log ln", log(_x)),
        ("sin", sin(_x)),
        ("cos", cos(_x)),
        ("tanh", tanh(_x)),
        ("erf", erf(_x)),
        ("sqrt", sqrt(_x)),
        ("relu", Max(0, _x)),
        ("gelu", gelu.formula.expr.xreplace({gelu.formula.variables[0]: _x})),
        ("sigmoid logistic sigma", sigmoid.formula(_x)),
        ("silu swish", silu.formula(_x)),
        ("softplus", softplus.formula(_x)),
        ("Phi", normal_distribution(_x)),
    )
    for word in words.split()
}
CONSTANTS: dict[str, Expr] = {"e": E, "pi": pi, "π": pi}
ENTRYWISE = frozenset({"odot", "star", "circ", "otimes"})


class NotRead(Exception):
    """A formula, or a part of it, that is not read as an array or a number."""


def function_word(name: Name) -> str:
    """Return the word of a function, in small letters without spaces and hyphens."""
    if name.base == "Phi":  # a distribution, where phi is a density or any function
        return name.base
    return "".join(letter for letter in name.base.lower() if letter.isalnum())


def indices_of(name: Name, indices: frozenset[str]) -> tuple[Name, tuple[Node, ...]]:
    """Return a name without the subscripts at its end that are places, and those places.

    A place is a letter of `indices`, a number behind such a letter, or an expression in such letters.
    """
    places: list[Node] = []
    rest = [part for each in name.subscripts for part in _parts(each)]
    while rest and _is_place(rest[-1], indices):
        places.insert(0, rest.pop())
    return Name(name.base, tuple(rest), name.superscripts, name.primes, name.accent), tuple(places)


def _parts(subscript: Node) -> tuple[Node, ...]:
    match subscript:
        case syntax.List(items=items) | syntax.Fence(inside=syntax.List(items=items)):
            return items
        case syntax.Product(factors=factors) if all(isinstance(f, Name) and len(f.base) == 1 for f in factors):
            return factors
    return (subscript,)


def _is_place(node: Node, indices: frozenset[str]) -> bool:
    letters = [each.key for each in node.walk() if isinstance(each, Name)]
    return bool(letters) and all(letter in indices for letter in letters)


def read_value(
    node: Node, meaning: Mapping[str, Value], indices: frozenset[str] = frozenset(), *, columns: bool = False
) -> Value:
    """Return what a formula means; raises `NotRead` or `ShapeError`."""
    count = sum(1 for _ in node.walk())
    if count > MOST_NODES:
        raise NotRead(f"the formula has {count} parts")
    return Reader(meaning, indices, columns).value(node)


@dataclass
class Reader:
    """Reads formulas in which letters mean the same; parts that several formulas share are read once."""

    meaning: Mapping[str, Value]
    indices: frozenset[str]
    columns: bool
    bound: dict[str, Symbol] = field(default_factory=dict)
    depth: int = 0
    work: int = 0  # parts that were read and not merely looked up
    known: dict[tuple[int, tuple[Symbol, ...]], tuple[Node, Value | Exception]] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """Return what a formula means; raises `NotRead` or `ShapeError`."""
        rule = _RULES.get(type(node))
        if rule is None or self.depth > 60:
            raise NotRead(f"{type(node).__name__} is no array and no number")
        key = id(node), tuple(self.bound.values())
        if key not in self.known:
            self.depth += 1
            self.work += 1
            try:
                self.known[key] = node, rule(self, node)  # the node is kept, so that no other gets its number
            except (NotRead, ShapeError) as error:
                self.known[key] = node, error
            finally:
                self.depth -= 1
        found = self.known[key][1]
        if isinstance(found, Exception):
            raise found
        return found

    def _scalar(self, node: Node) -> Expr:
        value = self.value(node)
        if isinstance(value, Array):
            if value.shape:
                raise NotRead("a number is needed where an array stands")
            return value.entry()
        return value

    # --- leaves ---

    def _number(self, node: Number) -> Expr:
        return Rational(node.value.numerator, node.value.denominator)

    def _name(self, node: Name) -> Value:
        if node.key in self.bound:
            return self.bound[node.key]
        if node.key in self.meaning:
            return self.meaning[node.key]
        head, places = indices_of(node, self.indices)
        if places and head.key in self.meaning:
            return self._member(self.meaning[head.key], places)
        if node.base in CONSTANTS and not node.subscripts:
            return CONSTANTS[node.base]
        if node.base in ("δ", "delta") and len(places) == 2:
            return KroneckerDelta(*(self._place(each) for each in places))
        raise NotRead(f"{node.key} has no meaning")

    def _member(self, of: Value, places: tuple[Node, ...]) -> Value:
        if not isinstance(of, Array):
            if any(isinstance(value, Array) for value in self.meaning.values()):
                raise NotRead("an entry of a number")
            return of  # all letters are numbers: one entry stands for all of them
        for number, place in enumerate(places):
            if not isinstance(of, Array) or not of.shape:
                raise NotRead(f"{len(places)} places are too many")
            if len(of.shape) == 2 and len(places) - number == 2:
                return of.entry(self._place(place), self._place(places[number + 1]))
            of = of.entry(self._place(place)) if len(of.shape) == 1 else of[self._place(place)]
        return of

    def _place(self, node: Node) -> Expr:
        if isinstance(node, Number):
            return self._number(node) - 1  # printed places count from 1
        return self._scalar(node)

    def _entry(self, node: syntax.Entry) -> Value:
        return self._member(self.value(node.of), node.indices)

    # --- arithmetic ---

    def _sum(self, node: syntax.Sum) -> Value:
        whole: Value | None = None
        for sign, term in zip(node.signs, node.terms, strict=True):
            if sign == 0:
                raise NotRead("plus or minus is two formulas")
            value = self.value(term)
            value = value if sign > 0 else _negative(value)
            whole = value if whole is None else _added(whole, value)
        if whole is None:
            raise NotRead("an empty sum")
        return whole

    def _product(self, node: syntax.Product) -> Value:
        node = self._applied(node)
        groups = _between(node, ENTRYWISE)
        if len(groups) > 1 and any(isinstance(group, syntax.Product) for group in groups):
            operators = tuple(each for each in node.operators if each in ENTRYWISE)
            return self._product(syntax.Product(tuple(syntax.Fence("(", group) for group in groups), operators))
        whole, raised = self._factor(node.factors[0])
        for operator, part in zip(node.operators, node.factors[1:], strict=True):
            other, other_raised = self._factor(part)
            self._check_direction(whole, raised, other, other_raised)
            made = self._multiplied(whole, raised, operator, other, other_raised)
            raised = other_raised if _rank(whole) == 2 else raised
            whole = made
        return whole

    def _applied(self, node: syntax.Product) -> syntax.Product:
        """Return a product in which the letter of a function in front of brackets is applied to them."""
        factors, operators = list(node.factors), list(node.operators)
        for at in range(len(factors) - 2, -1, -1):
            name, behind = factors[at], factors[at + 1]
            if not isinstance(name, Name) or not isinstance(behind, syntax.Fence) or operators[at]:
                continue
            if function_word(name) in FUNCTIONS and name.key not in self.meaning:
                factors[at : at + 2] = [Call(name, (behind.inside,))]
                del operators[at]
        return syntax.Product(tuple(factors), tuple(operators))

    def _check_direction(self, left: Value, raised: bool, right: Value, right_raised: bool) -> None:
        """Refuse a column in front of a matrix and a row behind one."""
        if _rank(left) == 1 and _rank(right) == 2 and raised is not self.columns:
            raise NotRead("a column vector in front of a matrix")
        if _rank(left) == 2 and _rank(right) == 1 and right_raised is self.columns:
            raise NotRead("a row vector behind a matrix")

    def _factor(self, node: Node) -> tuple[Value, bool]:
        """Return a factor, and whether it is a transposed vector."""
        while isinstance(node, syntax.Fence) and node.bracket in ("(", "["):
            node = node.inside
        if isinstance(node, syntax.Annotated):
            return self._factor(node.of)
        if isinstance(node, syntax.Transpose):
            value = self.value(node.operand)
            if isinstance(value, Array) and len(value.shape) == 1:
                return value, True
            return (Transpose(value) if isinstance(value, Array) else value), False
        return self.value(node), False

    def _multiplied(self, left: Value, raised: bool, operator: str, right: Value, right_raised: bool) -> Value:
        if not isinstance(left, Array) or not isinstance(right, Array):
            if not isinstance(left, Array) and not isinstance(right, Array):
                return left * right
            return Scaled(left, right) if isinstance(right, Array) else Scaled(right, left)
        if operator == "oplus":
            raise NotRead("a direct sum")
        if operator in ENTRYWISE:
            return Hadamard(left, right)
        if len(left.shape) == len(right.shape) == 1:
            if raised and right_raised:
                raise NotRead("two transposed vectors side by side")
            if (right_raised if self.columns else raised) and operator != "dot":
                a, b = index("a_outer"), index("b_outer")
                return Tabulated(Lambda((a, b), left.entry(a) * right.entry(b)), left.shape[0], right.shape[0])
            if operator in ("dot", "at") or raised or right_raised:
                return Product(left, right).entry()
            raise NotRead("two vectors side by side")
        made = Product(left, right)
        return made if made.shape else made.entry()

    def _negative(self, node: syntax.Negative) -> Value:
        return _negative(self.value(node.operand))

    def _quotient(self, node: syntax.Quotient) -> Value:
        above, below = self.value(node.numerator), self.value(node.denominator)
        if isinstance(below, Array):
            if not isinstance(above, Array):
                raise NotRead("a number divided by an array")
            y = scalar("y")
            return Elementwise(named("quotient", _x / y, _x, y), above, below)
        return above / below if isinstance(above, Array) else _checked(above / below)

    def _power(self, node: syntax.Power) -> Value:
        base, exponent = self.value(node.base), self._scalar(node.exponent)
        if isinstance(exponent, Rational) and abs(exponent) > 64:
            raise NotRead("a large exponent")
        if isinstance(base, Array):
            return Elementwise(named("power", _x**exponent, _x), base) if base.shape else base.entry() ** exponent
        if isinstance(base, Rational) and isinstance(exponent, Rational) and abs(base) > LARGEST_EXPONENT:
            raise NotRead("a large power")
        return _checked(base**exponent)

    def _root(self, node: syntax.Root) -> Value:
        degree = self._scalar(node.degree) if node.degree is not None else Integer(2)
        value = self.value(node.radicand)
        if isinstance(value, Array):
            return Elementwise(named("root", _x ** (1 / degree), _x), value)
        return value ** (1 / degree)

    def _transpose(self, node: syntax.Transpose) -> Value:
        value = self.value(node.operand)
        return Transpose(value) if isinstance(value, Array) and len(value.shape) == 2 else value

    def _fence(self, node: syntax.Fence) -> Value:
        if node.bracket in ("(", "[", "{"):
            return self.value(node.inside)
        value = self.value(node.inside)
        if node.bracket == "||" and isinstance(value, Array) and len(value.shape) == 1:
            return sqrt(Product(value, value).entry())
        raise NotRead(f"brackets {node.bracket}")

    # --- functions and sums ---

    def _call(self, node: Call) -> Value:
        word = function_word(node.function)
        arguments = [each for each in node.arguments if not isinstance(each, syntax.Chain)]
        special = _SPECIAL.get(word)
        if special is not None:
            return special(self, node, arguments)
        if len(arguments) != 1:
            raise NotRead(f"{word} of {len(arguments)} arguments")
        value = self.value(arguments[0])
        formula = FUNCTIONS.get(word)
        if formula is None:
            formula = opaque("act").formula
        if isinstance(value, Array) and value.shape:
            return Elementwise(named(f"{word or 'f'}_", formula.expr, *formula.variables), value)
        return formula(value.entry() if isinstance(value, Array) else value)

    def _softmax(self, node: Call, arguments: list[Node]) -> Value:
        value = self.value(arguments[0]) if len(arguments) == 1 else None
        if not isinstance(value, Array) or not value.shape:
            raise NotRead("softmax of a number")
        along = self._axis(node)
        columns = self.columns if along is None else along in (0, -2)
        return Transpose(row_softmax(Transpose(value))) if columns and len(value.shape) == 2 else row_softmax(value)

    def _axis(self, node: Call) -> int | None:
        """Return the axis that a keyword names: `dim=-1`, `axis=0`."""
        for each in node.arguments:
            if isinstance(each, syntax.Chain) and len(each.sides) == 2 and isinstance(each.sides[0], Name):
                value = self._scalar(each.sides[1]) if each.sides[0].key in ("dim", "axis") else None
                return int(value) if isinstance(value, Integer) else None
        return None

    def _attention(self, node: Call, arguments: list[Node]) -> Value:
        values = [self.value(each) for each in arguments]
        if len(values) != 3 or not all(isinstance(each, Array) for each in values):
            raise NotRead("attention of other than three arrays")
        return scaled_dot_product_attention().result(*values)

    def _concatenation(self, node: Call, arguments: list[Node]) -> Value:
        """Read `Concat(head_1, ..., head_h)`: all members of one family side by side."""
        while len(arguments) == 1 and isinstance(arguments[0], syntax.List | syntax.Fence):
            inside = arguments[0].items if isinstance(arguments[0], syntax.List) else (arguments[0].inside,)
            arguments = list(inside)
        first = arguments[0] if arguments else None
        family = None
        if isinstance(first, Name) and first.subscripts:
            family = self.meaning.get(Name(first.base, (), first.superscripts, first.primes, first.accent).key)
        if not isinstance(family, Array) or len(family.shape) != 3:
            raise NotRead("a concatenation of what is no family")
        if not any(isinstance(each, syntax.Dots) for each in arguments):
            raise NotRead("a concatenation of members that are counted")
        member = index("member")
        whole = Concatenate(family[member], member, family.shape[0])
        return Transpose(whole) if self.columns else whole

    def _extreme(self, node: Call, arguments: list[Node]) -> Value:
        if len(arguments) == 1 and isinstance(arguments[0], syntax.List):
            arguments = list(arguments[0].items)
        pick = Max if function_word(node.function) == "max" else Min
        if len(arguments) == 1:
            return self._largest(node)
        values = [self.value(each) for each in arguments]
        arrays = [each for each in values if isinstance(each, Array) and each.shape]
        if not arrays:
            return pick(*(each.entry() if isinstance(each, Array) else each for each in values))
        if len(arrays) > 1:
            raise NotRead("a maximum of several arrays")
        return Elementwise(named("extreme", pick(_x, *(v for v in values if not isinstance(v, Array))), _x), arrays[0])

    def _largest(self, node: Node) -> Expr:
        """Return a number of which nothing is known: the largest entry of an array."""
        return scalar("largest")

    def _diagonal(self, node: Call, arguments: list[Node]) -> Value:
        value = self.value(arguments[0]) if len(arguments) == 1 else None
        if not isinstance(value, Array) or len(value.shape) != 1:
            raise NotRead("diag of no vector")
        a, b = index("a_diagonal"), index("b_diagonal")
        return Tabulated(Lambda((a, b), KroneckerDelta(a, b) * value.entry(a)), value.shape[0], value.shape[0])

    def _average(self, node: Call, arguments: list[Node]) -> Value:
        value = self.value(arguments[0]) if len(arguments) == 1 else None
        if not isinstance(value, Array) or len(value.shape) != 1:
            raise NotRead("the mean of no vector")
        return RowMean(value).entry()

    def _aggregate(self, node: syntax.Aggregate) -> Value:
        if node.kind in ("max", "min"):
            return self._largest(node)
        if node.kind != "sum" or len(node.index) > 1 or node.over is not None:
            raise NotRead(f"{node.kind} over what is not read")
        if not node.index:
            value = self.value(node.body)
            if isinstance(value, Array) and len(value.shape) == 1:
                return RowSum(value).entry()
            raise NotRead("a sum without an index")
        key = node.index[0].key
        before = self.bound.get(key)
        self.bound[key] = index(f"{key}_{len(self.bound)}")
        try:
            body, place = self.value(node.body), self.bound[key]
            return self._summed(body, place, node)
        finally:
            del self.bound[key]
            if before is not None:
                self.bound[key] = before

    def _summed(self, body: Value, place: Symbol, node: syntax.Aggregate) -> Value:
        size = _range_of(body, place)
        short = _shortage(node)
        if isinstance(body, Array) and body.shape:
            if len(body.shape) != 1:
                raise NotRead("a sum of matrices")
            a = index("a_sum")
            return Tabulated(Lambda((a,), Sum(body.entry(a), (place, 0, size - 1 - short))), body.shape[0])
        return Sum(body.entry() if isinstance(body, Array) else body, (place, 0, size - 1 - short))


def _range_of(body: Value, place: Symbol) -> Expr:
    """Return the size of the axis that an index runs along, as the arrays in the body have it."""
    entries = body.entry(*(index(f"at_{a}") for a in range(len(body.shape)))) if isinstance(body, Array) else body
    for entry in sorted(entries.atoms(Indexed), key=str):
        for along, at in zip(entry.base.shape, entry.indices, strict=True):
            if at == place:
                return along
    raise NotRead("a sum whose index has no axis")


def _shortage(node: syntax.Aggregate) -> int:
    """Return how many terms are left out at the end of the range, seen from the bounds alone."""
    first = node.lower.value if isinstance(node.lower, Number) else 1
    match node.upper:
        case syntax.Sum(terms=(Name(), Number(value=less)), signs=(1, -1)):
            return int(less) - (1 - int(first)) if first in (0, 1) else 0
        case None | Name():
            return 0
        case syntax.Quotient() | syntax.Product() | Number() | syntax.Fence():
            return 0
    raise NotRead("bounds that are not read")


def _between(node: syntax.Product, separators: frozenset[str]) -> list[Node]:
    """Return what stands between the separating operators of a product, which hold less tightly."""
    groups: list[tuple[list[Node], list[str]]] = [([node.factors[0]], [])]
    for operator, factor in zip(node.operators, node.factors[1:], strict=True):
        if operator in separators:
            groups.append(([factor], []))
        else:
            groups[-1][0].append(factor)
            groups[-1][1].append(operator)
    return [syntax.Product(tuple(f), tuple(o)) if o else f[0] for f, o in groups]


def _rank(value: Value) -> int:
    return len(value.shape) if isinstance(value, Array) else 0


def _negative(value: Value) -> Value:
    return Scaled(Integer(-1), value) if isinstance(value, Array) else -value


def _added(left: Value, right: Value) -> Value:
    if isinstance(left, Array) and isinstance(right, Array):
        if len(left.shape) == 1 and len(right.shape) == 2:
            return right + left
        return left + right if len(left.shape) == 2 and len(right.shape) == 1 else Plus(left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        array, number = (left, right) if isinstance(left, Array) else (right, left)
        return Elementwise(named("shift", _x + number, _x), array)
    return left + right


def _checked(value: Expr) -> Expr:
    if value.has(nan, zoo, oo, -oo):
        raise NotRead("a division by zero")
    return value


_Special = Callable[["Reader", Call, list[Node]], Value]
_SPECIAL: dict[str, _Special] = {
    "softmax": Reader._softmax, "max": Reader._extreme, "min": Reader._extreme, "diag": Reader._diagonal,
    "mean": Reader._average, "avg": Reader._average, "attention": Reader._attention, "attn": Reader._attention,
    "concat": Reader._concatenation, "concatenate": Reader._concatenation, "cat": Reader._concatenation,
}  # fmt: skip
_RULES: dict[type[Node], Callable[[Reader, Any], Value]] = {
    Number: Reader._number, Name: Reader._name, syntax.Entry: Reader._entry, syntax.Sum: Reader._sum,
    syntax.Product: Reader._product, syntax.Negative: Reader._negative, syntax.Quotient: Reader._quotient,
    syntax.Power: Reader._power, syntax.Root: Reader._root, syntax.Transpose: Reader._transpose,
    syntax.Fence: Reader._fence, Call: Reader._call, syntax.Aggregate: Reader._aggregate,
    syntax.Annotated: lambda reader, node: reader.value(node.of),
}  # fmt: skip
