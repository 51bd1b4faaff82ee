"""Values of rank, null space, span, spectral norm, supremum and conformability under an assignment.

A space is represented by the reduced echelon form of a basis, which is the same for every basis. A spectral norm is
computed from the eigenvalues of A^T A by Jacobi's rotations, a supremum on a grid that is refined around its largest
value.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from derivations.language.arrays.shapes import total
from derivations.language.cross_check.arrays import bound_to
from derivations.language.cross_check.assignment import Assignment, Meaning, NotCovered, Undefined, meaning, rule, whole
from derivations.language.cross_check.real_functions import number
from derivations.language.results.statements import Conformable, NullSpace, Rank, Span, SpectralNorm, Supremum

__all__: list[str] = []

_ZERO = Decimal(10) ** -30  # smaller pivots count as 0 in elimination
_END, _GRID, _ROUNDS = Decimal(12), 240, 80  # an infinite end of a domain is replaced by 12 or -12
Rows = list[list[Decimal]]


@rule.register
def _(node: Conformable) -> Meaning:
    left, right = (meaning(total(axis)) for axis in (node.args[0].shape[-1], node.args[1].shape[0]))
    return lambda assignment: int(whole(left(assignment)) == whole(right(assignment)))


def _matrix(value: Any) -> Rows:
    return [[number(entry) for entry in row] for row in value]


def _echelon(rows: Rows) -> tuple[Rows, list[int]]:
    """Return the reduced echelon form without its rows of zeros, and the columns of its pivots."""
    rows, pivots = [list(row) for row in rows], list[int]()
    for column in range(len(rows[0]) if rows else 0):
        done = len(pivots)
        # Partial pivoting: the largest entry keeps rounding errors small.
        place = max(range(done, len(rows)), key=lambda k: abs(rows[k][column]), default=None)
        if place is None or abs(rows[place][column]) < _ZERO:
            continue
        rows[done], rows[place] = rows[place], rows[done]
        rows[done] = [entry / rows[done][column] for entry in rows[done]]
        for k in range(len(rows)):
            # above the pivot as well: the reduced form is the same for every basis of a space
            if k != done:
                factor = rows[k][column]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[done], strict=True)]
        pivots.append(column)
    return rows[: len(pivots)], pivots


@rule.register
def _(node: Rank) -> Meaning:
    inner = meaning(node.args[0])
    return lambda assignment: len(_echelon(_matrix(inner(assignment)))[1])


@rule.register
def _(node: NullSpace) -> Meaning:
    inner = meaning(node.args[0])

    def value(assignment: Assignment) -> Rows:
        matrix = _matrix(inner(assignment))
        reduced, pivots = _echelon(matrix)
        basis = []
        for free in (c for c in range(len(matrix[0])) if c not in pivots):
            # One free unknown is 1, the others are 0; the pivot unknowns follow from the reduced rows.
            vector = [Decimal(int(c == free)) for c in range(len(matrix[0]))]
            for row, pivot in zip(reduced, pivots, strict=True):
                vector[pivot] = -row[free]
            basis.append(vector)
        return _echelon(basis)[0]

    return value


@rule.register
def _(node: Span) -> Meaning:
    parts = [(meaning(array), len(array.shape)) for array in node.args]

    def value(assignment: Assignment) -> Rows:
        vectors: Rows = []
        for inner, rank in parts:
            array = inner(assignment)
            vectors += _matrix([array] if rank == 1 else zip(*array, strict=True))
        return _echelon(vectors)[0]

    return value


@rule.register
def _(node: SpectralNorm) -> Meaning:
    inner = meaning(node.args[0])

    def value(assignment: Assignment) -> Decimal:
        columns = list(zip(*_matrix(inner(assignment)), strict=True))
        # ||A||^2 is the largest eigenvalue of A^T A
        square = [[sum((a * b for a, b in zip(x, y, strict=True)), Decimal(0)) for y in columns] for x in columns]
        return max(_eigenvalues(square)).sqrt()

    return value


def _eigenvalues(matrix: Rows) -> list[Decimal]:
    """Return the eigenvalues of a positive semidefinite matrix, by Jacobi rotations that each set one entry to 0."""
    size = len(matrix)
    for _ in range(30):
        off = [(abs(matrix[p][q]), p, q) for p in range(size) for q in range(p)]
        if not off or max(off)[0] < _ZERO * _ZERO:
            return [max(matrix[k][k], Decimal(0)) for k in range(size)]
        for _, p, q in off:
            if matrix[p][q] != 0:
                _rotate(matrix, p, q)
    raise Undefined("the rotations do not settle")


def _rotate(matrix: Rows, p: int, q: int) -> None:
    theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q])  # cot(2 phi); of both roots t = tan(phi), the smaller
    tangent = (1 if theta >= 0 else -1) / (abs(theta) + (theta * theta + 1).sqrt())
    cosine = 1 / (tangent * tangent + 1).sqrt()
    sine = tangent * cosine
    for row in matrix:
        row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]
    matrix[p], matrix[q] = (
        [cosine * a - sine * b for a, b in zip(matrix[p], matrix[q], strict=True)],
        [sine * a + cosine * b for a, b in zip(matrix[p], matrix[q], strict=True)],
    )


@rule.register
def _(node: Supremum) -> Meaning:
    inner, low, high = meaning(node.formula), node.low, node.high
    if node.free_symbols:
        raise NotCovered("a supremum with parameters")
    ends = [meaning(end) if end.is_finite else None for end in (low, high)]

    def value(assignment: Assignment) -> Any:
        first, last = (number(end(assignment)) if end else sign * _END for end, sign in zip(ends, (-1, 1), strict=True))
        with bound_to(assignment, (node.variable,)) as values:

            def at(t: Decimal) -> Any:
                values[node.variable] = t
                return inner(assignment)

            grid = [first + (last - first) * k / _GRID for k in range(_GRID + 1)]
            heights = [at(t) for t in grid]
            best = max(range(_GRID + 1), key=lambda k: heights[k])
            # between its neighbours the function is taken to have one peak; a finer one may be missed
            left, right = grid[max(best - 1, 0)], grid[min(best + 1, _GRID)]
            for _ in range(_ROUNDS):  # ternary search between the neighbours of the best grid point
                third = (right - left) / 3
                if at(left + third) < at(right - third):
                    left += third
                else:
                    right -= third
            return max(heights[best], at((left + right) / 2))

    return value
