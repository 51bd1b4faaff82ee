r"""The shapes of the parts of a formula, from those of its letters.

Definition   a shape is the sizes of the axes: () a scalar, (d,) a vector, (n, d) a matrix, more for batches; a size may
             be unknown, and an open shape may have further axes in front: of X W with W of d x m it is known that the
             last axis has m
Result       `Inference.shape(node)`; what does not fit is collected in `clashes`, what must be assumed in `notes` (a
             bias is added to every row) and `conditions` (two sizes that nothing tells to be the same)
Assumes      where a reading makes the formula fit, that reading is meant: a vector is a row or a column as its
             neighbour asks, a vector is added to every row of a matrix
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sympy import Dummy, Expr, Integer, cancel

from derivations.documents.scope.functions import ATTENTION, CONCATENATION, KEEPS_SHAPE, SOFTMAX, folded
from derivations.documents.scope.letters import (
    flat,
    is_bias,
    is_gain,
    is_index,
    is_scalar_letter,
    is_weight,
    label_of,
    last_index,
    of_entries,
)
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Clash, ClashKind, Shape, turned
from derivations.documents.scope.sizes import written_shape
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Cases,
    Chain,
    Dots,
    Entry,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)

if TYPE_CHECKING:
    from derivations.documents.scope.scopes import Scope

__all__ = ["Inference", "Reading"]

Reading = Literal["vectors", "rows", "columns"]

_DEEPEST = 90
_MOST_DEFINITIONS = 5


@dataclass
class Inference:
    """One reading of the letters of a formula; `choice` gives shapes to keys in place of what is declared."""

    scope: Scope
    choice: Mapping[str, Shape] = field(default_factory=dict)
    code: bool = False
    unknown_as: Reading | None = None
    alike: Set[frozenset[Expr]] = frozenset()  # pairs of sizes that the formula itself takes to be the same
    clashes: list[Clash] = field(default_factory=list)
    conditions: dict[tuple[Expr, Expr], None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    equations: dict[tuple[str, Expr], None] = field(default_factory=dict)
    met: dict[str, Name] = field(default_factory=dict)
    scalars_under_softmax: list[Call] = field(default_factory=list)
    compared: int = 0  # how often two sizes met that are both declared
    counts: set[Expr] = field(default_factory=set)  # how many parts are joined, which is more than one
    assumed: dict[str, Shape] = field(default_factory=dict)  # shapes of letters of which nothing is declared
    _bound: dict[Expr, Expr] = field(default_factory=dict)
    _free: dict[Expr, bool] = field(default_factory=dict)  # sizes to be found, and whether they count positions
    _known: dict[int, Shape] = field(default_factory=dict)
    _unfolding: list[str] = field(default_factory=list)
    _depth: int = 0

    def shape(self, node: Node) -> Shape:
        """Return the shape of a part, as far as it is known."""
        known = self._known.get(id(node))
        if known is None:
            self._depth += 1
            known = UNKNOWN if self._depth > _DEEPEST else self._shape(node)
            self._depth -= 1
            self._known[id(node)] = known
        return known

    def _shape(self, node: Node) -> Shape:
        match node:
            case Number():
                return SCALAR
            case Name():
                return self._name(node)
            case Product():
                return self._product(node)
            case Sum(terms=terms):
                return self._sum(node, terms)
            case Negative(operand=inner) | Root(radicand=inner):
                return self.shape(inner)
            case Fence(bracket=bracket, inside=inside):
                return SCALAR if bracket in ("|", "||", "‖", "⟨") else self.shape(inside)
            case Quotient(numerator=above, denominator=below):
                return self._quotient(above, below)
            case Power(base=base, exponent=exponent):
                return self._power(base, exponent)
            case Transpose(operand=operand):
                return turned(self.shape(operand))
            case Call():
                return self._call(node)
            case Entry(of=Fence(bracket="["), indices=(_,)):
                return UNKNOWN  # [Z]_i is as often the i-th block of Z
            case Entry(of=of, indices=indices):
                return self._entry(self.shape(of), flat(indices))
            case Aggregate(kind=kind, body=body):
                return self.shape(body) if kind in ("sum", "product", "max", "min") else UNKNOWN
            case List(items=items, bracket="[" | "("):
                return self._list(items)
            case MatrixLiteral(rows=rows):
                return self._matrix(rows)
            case Cases(branches=branches):
                shapes = {self.shape(value) for value, _ in branches}
                return shapes.pop() if len(shapes) == 1 else UNKNOWN
            case Annotated(of=of, note=note):
                return self._noted(node, self.shape(of), note)
        return UNKNOWN

    # --- letters ---

    def _name(self, name: Name) -> Shape:
        if name.key in self.choice:
            self.met.setdefault(name.key, name)
            return self.choice[name.key]
        candidates = self.scope.shape_candidates(name)
        if candidates:
            self.met.setdefault(name.key, name)
            sizes = candidates[0].declaration.sizes
            return UNKNOWN if sizes is None else Shape(sizes)
        family = self.scope.family_candidates(name)
        if family and family[0].declaration.sizes is not None:
            return Shape(family[0].declaration.sizes)
        part = self._part(name)
        if part is not None and not (name.base.isupper() and self.scope.near_definition(name) is not None):
            return part
        found = self._defined(name)
        if found == UNKNOWN and (self.scope.document.distinctions.is_size(name.key) or self.scope.is_index(name)):
            return SCALAR
        if found == UNKNOWN and self.scope.is_vector(name):
            return Shape((self._new() if self.unknown_as is not None else None,))
        return self._supposed(name) if found == UNKNOWN and self.unknown_as is not None else found

    def _supposed(self, name: Name) -> Shape:
        """Return the shape of a letter of which nothing is declared, in one reading for the whole formula."""
        if name.key not in self.assumed:
            shape = UNKNOWN
            if is_weight(name) or (self.unknown_as == "vectors" and name.base.isupper()):
                shape = Shape((self._new(), self._new()))
            elif is_bias(name) or (self.unknown_as == "vectors" and not is_scalar_letter(name)):
                shape = Shape((self._new(),))
            elif not is_scalar_letter(name):
                sizes = (self._new(positions=True), self._new())
                shape = Shape(sizes if self.unknown_as == "rows" else sizes[::-1])
            self.assumed[name.key] = shape
        return self.assumed[name.key]

    def _new(self, positions: bool = False) -> Expr:
        size = Dummy()
        self._free[size] = positions
        return size

    def found(self, size: Expr | None) -> Expr | None:
        """Return what a size was found to be; None if it may be anything."""
        while size in self._bound:
            size = self._bound[size]
        return None if size is None or size.has(Dummy) else size

    def settled(self, shape: Shape) -> Shape:
        """Return a shape with the sizes that were found."""
        return Shape(tuple(map(self.found, shape.sizes)), shape.open, shape.turned)

    def _part(self, name: Name) -> Shape | None:
        """Return the shape of x_i where x or X is declared: an entry or a row."""
        indices = flat(name.subscripts)
        if not indices or not all(map(is_index, indices)):
            return None
        whole = Name(name.base, (), name.superscripts, name.primes, name.accent)
        capital = Name(name.base.upper(), (), name.superscripts, name.primes, name.accent)
        found = [s for s in (self._declared(whole), self._declared(capital) if capital != whole else None) if s]
        if len(found) == 1 and name.base.isupper() and len(indices) == 1 and found[0].rank == 2:
            return UNKNOWN  # X_2 is as often another matrix as the second row of X
        return self._entry(found[0], indices) if len(found) == 1 else (UNKNOWN if found else None)

    def _declared(self, name: Name) -> Shape | None:
        if name.key in self.choice:
            return self.choice[name.key]
        candidates = self.scope.shape_candidates(name)
        sizes = candidates[0].declaration.sizes if candidates and not candidates[0].far else None
        return None if sizes is None else Shape(sizes)

    def _defined(self, name: Name) -> Shape:
        if name.key in self._unfolding or len(self._unfolding) >= _MOST_DEFINITIONS:
            return UNKNOWN
        right = self.scope.near_definition(name)
        if right is None:
            return UNKNOWN
        self._unfolding.append(name.key)
        aside = Inference(self.scope, self.choice, self.code, _unfolding=self._unfolding, _depth=self._depth)
        found = aside.shape(right)
        self._unfolding.pop()
        return UNKNOWN if aside.clashes else found

    def _entry(self, shape: Shape, indices: Sequence[Node]) -> Shape:
        if shape.open or not all(map(is_index, indices)):
            return UNKNOWN
        if len(indices) == len(shape.sizes):
            return SCALAR
        if len(indices) == 1 and len(shape.sizes) == 2:
            by_columns = self.scope.convention == "columns"
            return Shape((shape.sizes[0] if by_columns else shape.sizes[1],))
        return Shape(shape.sizes[len(indices) :]) if len(indices) < len(shape.sizes) else UNKNOWN

    # --- products ---

    def _product(self, node: Product) -> Shape:
        """Return the shape of a product; side by side binds closer than a product of entries, except in code."""
        total, left, pending = self.shape(node.factors[0]), node.factors[0], None
        for operator, right in zip(node.operators, node.factors[1:], strict=True):
            shape = self.shape(right)
            if operator == "odot" and not self.code:
                pending = (left, total) if pending is None else (left, self._entrywise(node, pending, left, total))
                total = shape
            elif operator == "odot" or (operator == "star" and self.code):
                total = self._alike(node, left, right, total, shape, "sum")
            elif operator in ("otimes", "oplus", "circ", "cup", "cap", "concat", "mod"):
                return UNKNOWN
            else:
                total = self._times(node, left, right, total, shape, operator)
            left = right
        return total if pending is None else self._entrywise(node, pending, left, total)

    def _entrywise(self, node: Node, before: tuple[Node, Shape], right: Node, shape: Shape) -> Shape:
        return self._alike(node, before[0], right, before[1], shape, "sum")

    def _times(self, node: Node, left: Node, right: Node, a: Shape, b: Shape, operator: str) -> Shape:
        if a.is_scalar or b.is_scalar:
            return b if a.is_scalar else a
        if not a.sizes or not b.sizes:
            return Shape((b.sizes[-1],), open=True) if len(b.sizes) >= 2 else UNKNOWN
        if a.rank == 1 and b.rank == 1:
            return self._of_vectors(node, left, right, a, b, operator)
        inner = b.sizes[-2] if len(b.sizes) >= 2 else b.sizes[-1]
        if b.open and len(b.sizes) == 1:
            return Shape((b.sizes[-1],), open=True)  # whether b is a vector or a matrix is not known
        scaled = self._scaled(left, right, a, b, inner)
        if scaled is not None:
            return scaled
        if a.last is not None and inner is not None and self._is_turned(left, right, a, b):
            self.clashes.append(Clash("product", node, left, right, a.last, inner, a, b))
            return UNKNOWN
        if not self.same("product", node, left, right, a, b, a.last, inner):
            return UNKNOWN
        if a.rank == 1 and not a.turned and isinstance(left, Name):
            self.notes[f"{left.key} is a row vector"] = None
        if len(b.sizes) == 1:
            return Shape(a.sizes[:-1], open=a.open)
        if len(a.sizes) == 1:
            return Shape((*b.sizes[:-2], b.sizes[-1]), open=a.open or b.open)
        front = a.sizes[:-2] if len(a.sizes) >= len(b.sizes) else b.sizes[:-2]
        return Shape((*front, a.sizes[-2], b.sizes[-1]), open=a.open or b.open)

    def _scaled(self, left: Node, right: Node, a: Shape, b: Shape, inner: Expr | None) -> Shape | None:
        """Return the shape of a product side by side that is one of entries; None where it is that of matrices.

        Result       a vector of gains beside rows scales every row; of two arrays of one shape that cannot be
                     multiplied, one of them a formula of entries as `1 - f(P)`, the entries are multiplied
        """
        for gain, rows, small, large in ((left, right, a, b), (right, left, b, a)):
            if is_gain(gain) and small.rank == 1 and large.rank != 1 and self._is_same(small.last, large.last):
                self.notes[f"{label_of(gain)} multiplies every row of {label_of(rows)}"] = None
                return large
        if a.complete is None or b.complete is None or len(a.sizes) != len(b.sizes) or self._is_same(a.last, inner):
            return None
        if (of_entries(left) or of_entries(right)) and all(map(self._is_same, a.sizes, b.sizes)):
            self.notes["the product is taken entry by entry"] = None
            return a
        return None

    def _is_turned(self, left: Node, right: Node, a: Shape, b: Shape) -> bool:
        """Say whether weights are declared transposed: their outer size is the inner one of the other factor.

        Assumes      of d_model x h d_v beside n x h d_v nobody means h d_v = d_model where nothing says it
        """
        if self.code or a.last is None or len(b.sizes) < 2 or b.sizes[-2] is None or b.last is None:
            return False
        if self.scope.compare(a.last, b.sizes[-2]).relation != "unsure":
            return False
        weights = self.scope.document.is_weight
        by_rows = weights(right) and not weights(left) and a.last == b.last and len(b.sizes) == 2
        return by_rows or (weights(left) and not weights(right) and len(a.sizes) == 2 and a.sizes[0] == b.sizes[-2])

    def _of_vectors(self, node: Node, left: Node, right: Node, a: Shape, b: Shape, operator: str) -> Shape:
        """Return the shape of a product of two vectors: a dot product, or the outer one."""
        inner = not a.turned and not b.turned and operator in ("dot", "at")
        inner |= b.turned and not a.turned and (self.scope.convention != "columns" or operator == "dot")
        inner |= a.turned and not b.turned and self.scope.convention != "rows"
        if not inner:
            return UNKNOWN
        self.same("product", node, left, right, a, b, a.last, b.last)
        return SCALAR

    def same(
        self,
        kind: ClashKind,
        node: Node, left: Node, right: Node, a: Shape, b: Shape, first: Expr | None, second: Expr | None,
    ) -> bool:  # fmt: skip
        """Say whether two sizes may be the same; note a clash, or the condition that they are."""
        if first is None or second is None:
            return True
        while first in self._bound:
            first = self._bound[first]
        while second in self._bound:
            second = self._bound[second]
        first, second = self._divided(first, second)
        if first in self._free or second in self._free:
            if self._bind(first, second):
                return True
            self.clashes.append(Clash(kind, node, left, right, first, second, a, b))
            return False
        comparison = self.scope.compare(first, second)
        apart = comparison.relation == "different" or (
            comparison.relation == "unsure" and bool({cancel(first / second), cancel(second / first)} & self.counts)
        )
        if apart and frozenset((first, second)) not in self.alike:
            self.clashes.append(Clash(kind, node, left, right, first, second, a, b))
            return False
        if comparison.relation in ("unsure", "different"):
            self.conditions[first, second] = None
        else:
            self.compared += 1
        self.equations.update(dict.fromkeys(comparison.equations))
        return True

    def _divided(self, first: Expr, second: Expr) -> tuple[Expr, Expr]:
        """Return w and d for h w and h d, where w is a size to be found."""
        for size in (first, second):
            for free in size.free_symbols & self._free.keys():
                factor = size.coeff(free)
                if size == factor * free and factor != 1:
                    other = cancel((second if size is first else first) / factor)
                    return (free, other) if not other.as_numer_denom()[1].free_symbols else (first, second)
        return first, second

    def _is_same(self, first: Expr | None, second: Expr | None) -> bool:
        """Say whether two sizes are surely the same."""
        known = first is not None and second is not None and not {first, second} & self._free.keys()
        return known and self.scope.compare(first, second).relation in ("equal", "given")

    def _bind(self, first: Expr, second: Expr) -> bool:
        """Find a free size to be another; a number of positions is no width."""
        if first == second:
            return True
        if first not in self._free or (second in self._free and self._free[first]):
            first, second = second, first
        if self._free[first] and self.scope.document.distinctions.is_width(second):
            return False
        if not second.has(first):
            self._bound[first] = second
        return True

    # --- sums ---

    def _sum(self, node: Node, terms: Sequence[Node]) -> Shape:
        total, left = self.shape(terms[0]), terms[0]
        for right in terms[1:]:
            total = self._alike(node, left, right, total, self.shape(right), "sum")
            left = right if self.shape(left).is_scalar else left
        return total

    def _alike(self, node: Node, left: Node, right: Node, a: Shape, b: Shape, kind: ClashKind) -> Shape:
        """Return the shape of a sum; a vector is added to every row of a matrix, a scalar to everything."""
        if a.is_scalar or b.is_scalar:
            return b if a.is_scalar else a
        longer, shorter = (a, b) if len(a.sizes) >= len(b.sizes) else (b, a)
        if not a.open and not b.open and len(a.sizes) != len(b.sizes):
            return self._broadcast(node, left, right, a, b, kind)
        sizes: list[Expr | None] = list(longer.sizes)
        for back in range(1, len(shorter.sizes) + 1):
            first, second = a.sizes[-back], b.sizes[-back]
            if first == 1 or second == 1:
                sizes[-back] = second if first == 1 else first
                continue
            if back > 1 and self._counts_differently(first, second):
                continue
            if not self.same(kind, node, left, right, a, b, first, second):
                return UNKNOWN
            sizes[-back] = first if first is not None else second
        return Shape(tuple(sizes), open=longer.open)

    def _counts_differently(self, first: Expr | None, second: Expr | None) -> bool:
        """Say whether two letters count rows: a table of positions is longer than the rows it is added to."""
        if first is None or second is None or not (first.free_symbols and second.free_symbols):
            return False
        if {first, second} & (self._free.keys() | self._bound.keys()):
            return False
        if self.scope.compare(first, second).relation != "different" or any(
            map(self.scope.document.distinctions.is_width, (first, second))
        ):
            return False
        self.conditions[first, second] = None
        return True

    def _broadcast(self, node: Node, left: Node, right: Node, a: Shape, b: Shape, kind: ClashKind) -> Shape:
        longer, shorter = (a, b) if len(a.sizes) > len(b.sizes) else (b, a)
        small, large = (right, left) if shorter is b else (left, right)
        pairs = list(zip(reversed(longer.sizes), reversed(shorter.sizes), strict=False))
        relations = [
            self.scope.compare(x, y).relation for x, y in pairs if x is not None and y is not None and 1 not in (x, y)
        ]
        if "different" in relations:
            heights = (longer.sizes[0], shorter.sizes[0])
            if len(shorter.sizes) == 1 and len(longer.sizes) == 2 and self._is_same(*heights):
                self.notes[f"{label_of(small)} is added to every column of {label_of(large)}"] = None
                return longer
            for x, y in pairs:
                first, second = (x, y) if longer is a else (y, x)
                if 1 not in (x, y) and not self.same(kind, node, left, right, a, b, first, second):
                    break
            return UNKNOWN
        for x, y in pairs:
            if 1 not in (x, y):
                self.same(kind, node, left, right, a, b, x, y)
        if len(shorter.sizes) == 1:
            self.notes[f"{label_of(small)} is added to every row of {label_of(large)}"] = None
        else:
            self.notes[f"{label_of(small)} is added along the axes in front of {label_of(large)}"] = None
        return longer

    # --- functions ---

    def _quotient(self, above: Node, below: Node) -> Shape:
        a, b = self.shape(above), self.shape(below)
        return a if b.is_scalar or not a.is_scalar else (a if b == UNKNOWN else b)

    def _power(self, base: Node, exponent: Node) -> Shape:
        a, b = self.shape(base), self.shape(exponent)
        if (isinstance(base, Name) and base.base == "e") or a.is_scalar:
            return b
        return a if b.is_scalar else UNKNOWN

    def _call(self, node: Call) -> Shape:
        name = folded(node.function)
        arguments = tuple(each for each in node.arguments if not isinstance(each, Chain))
        shapes = [self.shape(each) for each in arguments]
        if name in CONCATENATION:
            return self._concatenated(node, arguments)
        if name in ATTENTION and len(shapes) == 3:
            return self._attention(node, arguments, shapes)
        if name in ("max", "min", "maximum", "minimum", "where") and shapes:
            arrays = [shape for shape in shapes if not shape.is_scalar]
            return arrays[0] if len(arrays) == 1 and len(shapes) == 2 else (UNKNOWN if arrays or self.code else SCALAR)
        if name in KEEPS_SHAPE and len(shapes) == 1:
            if name in SOFTMAX and shapes[0].is_scalar and not node.function.subscripts:
                self.scalars_under_softmax.append(node)
            return UNKNOWN if name in SOFTMAX and shapes[0].is_scalar else shapes[0]
        return UNKNOWN

    def _attention(self, node: Call, arguments: Sequence[Node], shapes: Sequence[Shape]) -> Shape:
        if self.scope.convention == "columns":
            columns = self._attention_of(node, arguments, [turned(each) if each.rank == 2 else each for each in shapes])
            return turned(columns) if columns.rank == 2 else columns
        return self._attention_of(node, arguments, shapes)

    def _attention_of(self, node: Call, arguments: Sequence[Node], shapes: Sequence[Shape]) -> Shape:
        q, k, v = shapes
        self.same("keys", node, arguments[0], arguments[1], q, k, q.last, k.last)
        if len(k.sizes) >= 2 and len(v.sizes) >= 2:
            self.same("values", node, arguments[1], arguments[2], k, v, k.sizes[-2], v.sizes[-2])
        if v.last is None:
            return UNKNOWN
        return Shape((*q.sizes[:-1], v.last), open=q.open or not q.sizes)

    def _concatenated(self, node: Call, arguments: Sequence[Node]) -> Shape:
        items = arguments
        if len(items) == 1 and isinstance(items[0], List):
            items = items[0].items
        if any(isinstance(each, Chain) for each in node.arguments) or not items:
            return UNKNOWN
        shapes = [self.shape(each) for each in items if not isinstance(each, Dots)]
        columns = self.scope.convention == "columns" and not self.code and all(each.rank == 2 for each in shapes)
        if columns:
            shapes = list(map(turned, shapes))
        first = shapes[0]
        if first.last is None or any(shape.last is None for shape in shapes):
            return UNKNOWN
        if any(isinstance(each, Dots) for each in items):
            count = last_index(items[-1])
            width = None if count is None else first.last * count
            self.counts |= set() if count is None or count.is_number else {count}
        else:
            width = sum((shape.last for shape in shapes if shape.last is not None), Integer(0))
        joined = UNKNOWN if width is None else Shape((*first.sizes[:-1], width), open=first.open)
        return turned(joined) if columns else joined

    # --- arrays written out ---

    def _list(self, items: Sequence[Node]) -> Shape:
        if items and all(self._number(each).is_scalar for each in items if not isinstance(each, Dots)):
            if not any(isinstance(each, Dots) for each in items):
                return Shape((Integer(len(items)),))
            return Shape((last_index(items[-1]),))
        return UNKNOWN

    def _matrix(self, rows: Sequence[Sequence[Node]]) -> Shape:
        entries = [entry for row in rows for entry in row]
        if not entries:
            return UNKNOWN
        if any(isinstance(entry, Dots) for entry in entries):
            count = last_index(rows[-1][0]) if all(len(row) == 1 for row in rows) else None
            return UNKNOWN if count is None else Shape((count, None))
        shapes = [self._number(entry) for entry in entries]
        if all(shape.is_scalar for shape in shapes):
            return Shape((Integer(len(rows)), Integer(len(rows[0]))))
        if all(len(row) == 1 for row in rows) and all(shape.rank == 1 for shape in shapes):
            return Shape((Integer(len(rows)), shapes[0].last))
        return UNKNOWN

    def _number(self, entry: Node) -> Shape:
        """Return the shape of an entry of an array: a letter of which nothing is known is a number."""
        shape = self.shape(entry)
        if shape == UNKNOWN and isinstance(entry, Name) and entry.base.islower() and entry.subscripts:
            self.notes["the letters in brackets are numbers"] = None
            return SCALAR
        return shape

    def _noted(self, node: Node, shape: Shape, note: Node) -> Shape:
        sizes = written_shape(note, bare=True)
        if sizes is None or len(sizes) < 2:
            return shape
        said = Shape(sizes)
        complete = shape.complete
        if complete is not None and len(complete) == len(sizes):
            for first, second in zip(complete, sizes, strict=True):
                if not (first.is_number and second.free_symbols):  # an example may be smaller than what it stands for
                    self.same("note", node, node, note, shape, said, first, second)
        return said if complete is None or len(complete) == len(sizes) else shape
