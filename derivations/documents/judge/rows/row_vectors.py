r"""Rows of matrices and their dot products in one form, so that two ways of writing them can be compared.

Definition   a line is row i of a matrix, or of its transpose, which is column i of the matrix; `q_i` is row i of Q by
             the custom that a small letter with one index is a row of the matrix with that letter; a dot product is two
             lines without order; entry (i, j) of A B is the dot product of row i of A with column j of B
Result       `line_of` and `dot_of`; None for anything else
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from derivations.documents.scope import Scope
from derivations.documents.syntax import Entry, Fence, Name, Node, Number, Product, Transpose

__all__ = ["INPUT", "OUTPUT", "OUTPUTS", "TOKENS", "Line", "are_exchanged", "dot_of", "index_text", "line_of"]

#: The vectors of the tokens, and what attention makes of them, where words alone speak of them.
TOKENS, OUTPUTS = Name("Tokens"), Name("Outputs")

#: The arrays that go in and come out, where words alone speak of them.
INPUT, OUTPUT = Name("Input"), Name("Output")

_SIDE_BY_SIDE = frozenset({"", "dot", "at", "times"})


@dataclass(frozen=True)
class Line:
    """Row `index` of a matrix, or of its transpose; `by_custom` where a small letter is read so."""

    matrix: Name
    transposed: bool
    index: Node
    by_custom: bool = False
    twice: bool = False  # a column of a transpose, which is said to be a row

    @property
    def kind(self) -> tuple[str, bool]:
        """The matrix and its direction, whatever the index."""
        return self.matrix.key, self.transposed

    @property
    def place(self) -> str:
        """The index as it is written."""
        return index_text(self.index)

    @property
    def text(self) -> str:
        """The line in words."""
        return f"{'column' if self.transposed else 'row'} {self.place} of {self.matrix.key}"

    def letter(self, index: Node) -> str:
        """The small letter that names such a line by custom."""
        return f"{self.matrix.base.lower()}_{index_text(index)}"


def index_text(index: Node) -> str:
    """Return an index as a reader writes it."""
    return index.key if isinstance(index, Name) else index.text if isinstance(index, Number) else "..."


def line_of(node: Node) -> Line | None:
    """Return the line that a node is."""
    node = _bare(node)
    if isinstance(node, Transpose):  # a vector that lies
        return line_of(node.operand)
    if isinstance(node, Entry) and len(node.indices) == 1 and _is_index(node.indices[0]):
        matrix = _matrix(node.of)
        if matrix is None:
            return None
        twice = isinstance(node.of, Transpose) and not matrix[1]
        return Line(*matrix, node.indices[0], twice=twice)
    if isinstance(node, Name) and len(node.base) == 1 and node.base.islower() and len(node.subscripts) == 1:
        if not _is_index(node.subscripts[0]) or node.primes or node.accent:
            return None
        return Line(Name(node.base.upper(), (), node.superscripts), False, node.subscripts[0], by_custom=True)
    return None


def dot_of(node: Node, scope: Scope) -> tuple[Line, Line] | None:
    """Return the two lines of which a node is the dot product."""
    node = _bare(node)
    if isinstance(node, Entry) and len(node.indices) == 2 and all(map(_is_index, node.indices)):
        product = _bare(node.of)
        if isinstance(product, Name):
            product = _bare(scope.definition(product) or product)
        factors = _factors(product)
        if len(factors) != 2:
            return None
        left, right = map(_matrix, factors)
        if left is None or right is None:
            return None
        row, column = node.indices
        return Line(*left, row), Line(right[0], not right[1], column)
    factors = _factors(node)
    if len(factors) != 2:
        return None
    first, second = map(line_of, factors)
    if first is None or second is None or (first.by_custom and second.by_custom and not _is_dotted(node)):
        return None
    return first, second


def _is_dotted(node: Node) -> bool:
    """Say whether a product is one of vectors by its signs: side by side, letters with an index may be numbers."""
    assert isinstance(node, Product)
    return node.operators[0] in ("dot", "at") or any(isinstance(each, Transpose) for each in node.factors)


def are_exchanged(pairs: Sequence[tuple[Line, Line]]) -> bool:
    """Say whether indices are surely others: letters that differ, or the same numbers at other places.

    Other numbers may count from 0, or the rows of a part of the matrix.
    """
    first, second = ([each.place for each in side] for side in zip(*pairs, strict=True))
    letters = all(isinstance(each.index, Name) for pair in pairs for each in pair)
    return first != second and (letters or sorted(first) == sorted(second))


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) and _SIDE_BY_SIDE.issuperset(node.operators) else ()


def _matrix(node: Node) -> tuple[Name, bool] | None:
    """Return the letter of a matrix, and whether it is transposed."""
    transposed = False
    node = _bare(node)
    while isinstance(node, Transpose):
        transposed = not transposed
        node = _bare(node.operand)
    return (node, transposed) if isinstance(node, Name) and node.base[:1].isupper() else None


def _is_index(node: Node) -> bool:
    return (isinstance(node, Name) and len(node.base) == 1 and not node.subscripts) or (
        isinstance(node, Number) and node.exact
    )


def _bare(node: Node) -> Node:
    while isinstance(node, Fence) and node.bracket in ("(", "["):
        node = node.inside
    return node
