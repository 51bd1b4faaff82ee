"""Entries, rows and columns selected by numbers, and the adjoints of these selections.

`EveryOther` takes the even or the odd columns. `Pick` takes one entry of each row, or several; `OneHot` puts a 1 at the
one, and `AddedPicks` adds what the several give.
`ScatterRows` adds rows into the rows of a table that tokens select; it is the adjoint of a look-up. `Windows` are the
stretches of rows that a convolution reads, `AddedWindows` is their adjoint. `Chosen` reads a table at a matrix of
numbers, such as `RelativeBuckets` and `SignedBuckets`; its adjoint `AddedEntries` sums entries by such numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import count
from typing import Any

from sympy import Add, Basic, Expr, Function, Ge, Gt, Indexed, Integer, KroneckerDelta, Max, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Member, Shape, Variable, avoiding, require
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import (
    Blocks,
    Pair,
    Place,
    Sized,
    axis,
    flat,
    pair,
    same_size,
    shape_text,
    sum_along,
    total,
)

__all__ = [
    "AddedEntries",
    "AddedPicks",
    "AddedWindows",
    "BucketNumber",
    "Chosen",
    "EveryOther",
    "OneHot",
    "Pick",
    "RelativeBuckets",
    "ScatterRows",
    "SignedBucketNumber",
    "SignedBuckets",
    "Windows",
    "bucket",
    "signed_bucket",
]


def _require_tokens(what: str, tokens: Array, rank: int = 1) -> None:
    require(tokens.kind == "integer", lambda: f"{what}: {tokens} must hold integers")
    require(
        len(tokens.shape) == rank,
        lambda: f"{what}: a vector of numbers is needed, {tokens} has shape {shape_text(tokens.shape)}",
    )


class Pick(Array):
    """Entries of each row, chosen by numbers: entry i is X[i, tokens[i]], or entry (i, j) is X[i, numbers[i, j]].

    Shapes       X (n, v); tokens and result (n,), or numbers and result (n, m)
    Assumes      0 <= numbers[i, j] < v
    """

    def _infer(self) -> Shape:
        matrix, tokens = self.args
        what = f"picking from {matrix}"
        _require_tokens(what, tokens, 2 if len(tokens.shape) == 2 else 1)
        require(
            len(matrix.shape) == 2 and same_size(matrix.shape[0], tokens.shape[0]),
            lambda: (
                f"{what}: {matrix} {shape_text(matrix.shape)} needs numbers for each row, {tokens} has shape "
                f"{shape_text(tokens.shape)}"
            ),
        )
        return tokens.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"pick({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        matrix, tokens = self.args
        number = tokens.entry(*places)
        named, *member = matrix.args if isinstance(matrix, Member) else (matrix,)
        if isinstance(named, Variable):
            return Indexed(named.base, *member, flat(places[0]), number)
        return sum_along(
            matrix.shape[1],
            lambda p: KroneckerDelta(number, flat(p)) * matrix.entry(places[0], p),
            avoiding(self, places),
        )


class AddedPicks(Array):
    """Entries added up in the rows they came from: entry (i, v) is the sum of the G[i, j] with numbers[i, j] = v.

    Shapes       G and numbers (n, m), result (n, size)
    """

    def __new__(cls, picked: Array, numbers: Array, size: Sized) -> Array:
        """Build the matrix with `size` columns."""
        return super().__new__(cls, picked, numbers, axis(size))

    def _infer(self) -> Shape:
        picked, numbers, size = self.args
        what = f"entries of {picked} added in their rows"
        _require_tokens(what, numbers, 2)
        require(
            len(picked.shape) == 2 and all(map(same_size, picked.shape, numbers.shape)),
            lambda: f"{what}: {shape_text(picked.shape)} needs one number each, not {shape_text(numbers.shape)}",
        )
        return (picked.shape[0], size)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"added({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        picked, numbers, _ = self.args
        row, column = places
        return sum_along(
            numbers.shape[1],
            lambda p: KroneckerDelta(numbers.entry(row, p), flat(column)) * picked.entry(row, p),
            avoiding(self, places),
        )


class OneHot(Array):
    """The rows of an identity matrix of `size` columns chosen by numbers: a 1 in column tokens[i] of row i."""

    def __new__(cls, tokens: Array, size: Sized) -> Array:
        """Build the matrix with one row for each token and `size` columns."""
        return super().__new__(cls, tokens, axis(size))

    def _infer(self) -> Shape:
        _require_tokens("one-hot rows", self.args[0])
        return (*self.args[0].shape, self.args[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"onehot({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        return KroneckerDelta(self.args[0].entry(places[0]), flat(places[1]))


class ScatterRows(Array):
    """A table of `size` rows, where row v is the sum of the given rows i with tokens[i] = v."""

    def __new__(cls, rows: Array, tokens: Array, size: Sized) -> Array:
        """Build the table with `size` rows."""
        return super().__new__(cls, rows, tokens, axis(size))

    def _infer(self) -> Shape:
        rows, tokens, size = self.args
        what = f"rows of {rows} added by number"
        _require_tokens(what, tokens)
        require(
            len(rows.shape) == 2 and same_size(rows.shape[0], tokens.shape[0]),
            lambda: f"{what}: {shape_text(rows.shape)} needs one number for each row, not {shape_text(tokens.shape)}",
        )
        return (size, rows.shape[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"scatter({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Any) -> Expr:
        rows, tokens, _ = self.args
        return sum_along(
            rows.shape[0],
            lambda p: KroneckerDelta(tokens.entry(p), flat(places[0])) * rows.entry(p, places[1]),
            avoiding(self, places),
        )


class EveryOther(Array):
    """Every other column of a matrix: the even columns for place 0, the odd columns for place 1."""

    def __new__(cls, wide: Array, place: int | Expr) -> Array:
        """Build the matrix of the columns place, place + 2, ..."""
        return super().__new__(cls, wide, sympify(place, strict=True))

    def _infer(self) -> Shape:
        wide, place = self.args
        require(
            len(wide.shape) == 2 and isinstance(wide.shape[1], Blocks) and wide.shape[1].size == 2,
            lambda: f"every other column of {wide}: columns in pairs are needed, not {shape_text(wide.shape)}",
        )
        require(place in (0, 1), lambda: f"every other column of {wide}: from column 0 or 1, not {place}")
        return (wide.shape[0], wide.shape[1].count)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[:, {self.args[1]}::2]"

    def _entry(self, *places: Place) -> Expr:
        wide, place = self.args
        return wide.entry(places[0], Pair(flat(places[1]), place, wide.shape[1].size))


class Windows(Array):
    """All windows of `width` rows of a matrix: row i is the rows i, ..., i + width - 1 concatenated."""

    def __new__(cls, rows: Array, width: Sized) -> Array:
        """Build the matrix of all windows of `width` rows."""
        return super().__new__(cls, rows, axis(width))

    def _infer(self) -> Shape:
        rows, width = self.args
        require(len(rows.shape) == 2, lambda: f"windows of {rows}: a matrix is needed, not {shape_text(rows.shape)}")
        require(not isinstance(rows.shape[1], Blocks), lambda: f"windows of {rows}: its columns are blocks already")
        return (total(rows.shape[0]) - total(width) + 1, Blocks(width, rows.shape[1]))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"windows({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        column = pair(places[1], self.shape[1])
        return self.args[0].entry(flat(places[0]) + column.block, column.place)


class AddedWindows(Array):
    """Windows added up at the rows they cover: row r is the sum of the copies of row r in all windows."""

    def __new__(cls, windows: Array, rows: Sized) -> Array:
        """Build the matrix of `rows` rows."""
        return super().__new__(cls, windows, axis(rows))

    def _infer(self) -> Shape:
        windows, rows = self.args
        require(
            len(windows.shape) == 2
            and isinstance(windows.shape[1], Blocks)
            and same_size(windows.shape[0], total(rows) - windows.shape[1].count + 1),
            lambda: f"stretches {windows} of shape {shape_text(windows.shape)} are not those of {total(rows)} rows",
        )
        return (rows, windows.shape[1].size)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"addwindows({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        windows, _ = self.args
        starts, columns = windows.shape
        avoid = avoiding(self, places)

        def held(start: Place, offset: Place) -> Expr:
            here = KroneckerDelta(flat(start) + flat(offset), flat(places[0]))
            return here * windows.entry(start, Pair(flat(offset), flat(places[1]), columns.size))

        # window p holds row r at place q where p + q = r
        return sum_along(starts, lambda p: sum_along(columns.count, lambda q: held(p, q), avoid), avoid)


# --- rows of a table, chosen by a matrix of numbers -----------------------------------------------------------------


class Chosen(Array):
    """One matrix for each column of a table, its entries selected by number: table[numbers[i, j], t] at (t, i, j).

    Assumes      0 <= numbers[i, j] < number of rows of the table
    """

    def _infer(self) -> Shape:
        table, numbers = self.args
        what = f"entries of {table} by number"
        _require_tokens(what, numbers, 2)
        require(len(table.shape) == 2, lambda: f"{what}: a table of rank 2 is needed, not {shape_text(table.shape)}")
        return (table.shape[1], *numbers.shape)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[{self.args[1]}]"

    def _entry(self, *places: Place) -> Expr:
        table, numbers = self.args
        return table.entry(numbers.entry(*places[1:]), places[0])


class AddedEntries(Array):
    """A table with a column for each matrix: entry (v, t) is the sum of the G[t, i, j] with numbers[i, j] = v."""

    def __new__(cls, matrices: Array, numbers: Array, size: Sized) -> Array:
        """Build the table with `size` rows."""
        return super().__new__(cls, matrices, numbers, axis(size))

    def _infer(self) -> Shape:
        matrices, numbers, size = self.args
        what = f"entries of {matrices} added by number"
        _require_tokens(what, numbers, 2)
        require(
            len(matrices.shape) == 3 and all(map(same_size, matrices.shape[1:], numbers.shape)),
            lambda: f"{what}: {shape_text(matrices.shape)} needs one number each, not {shape_text(numbers.shape)}",
        )
        return (size, matrices.shape[0])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"added({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        matrices, numbers, _ = self.args
        avoid = avoiding(self, places)

        def held(row: Place, column: Place) -> Expr:
            return KroneckerDelta(numbers.entry(row, column), flat(places[0])) * matrices.entry(places[1], row, column)

        rows, columns = numbers.shape
        return sum_along(rows, lambda r: sum_along(columns, lambda c: held(r, c), avoid), avoid)


class RelativeBuckets(Array):
    """The bucket number of the distance j - i from query i to key j: entry (i, j) is `bucket(j - i, ...)`.

    Source       Raffel et al. (2020), section 2.1
    """

    def __new__(
        cls, queries: Sized, keys: Sized, buckets: Sized, max_distance: Sized, bidirectional: bool | Basic
    ) -> Array:
        """Build the matrix for the given numbers of queries and keys."""
        sizes = map(axis, (queries, keys, buckets, max_distance))
        return super().__new__(cls, *sizes, sympify(bidirectional, strict=True))

    def _infer(self) -> Shape:
        buckets, max_distance, both = self.args[2:]
        if buckets.is_number and max_distance.is_number:
            _require_buckets(int(buckets), int(max_distance), bool(both))
        return self.args[:2]

    @property
    def kind(self) -> str:
        """The kind of the entries: "integer"."""
        return "integer"

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"buckets({', '.join(map(str, self.args[:2]))})"

    def _entry(self, *places: Place) -> Expr:
        row, column = map(flat, places)
        return BucketNumber(column - row, *map(total, self.args[2:4]), Integer(bool(self.args[4])))


class BucketNumber(Function):
    """`bucket` as a term: a number if all arguments are integers, else unevaluated.

    Proofs know it by `steps`, for numbers of buckets and a largest distance that are numbers.
    """

    nargs = 4

    @classmethod
    def eval(cls, *numbers: Any) -> Expr | None:
        """Evaluate only if all arguments are integers."""
        if all(number.is_Integer for number in numbers):
            distance, buckets, max_distance, both = map(int, numbers)
            return Integer(bucket(distance, buckets, max_distance, bool(both)))
        return None

    def _eval_is_integer(self) -> bool:
        return True

    def steps(self) -> Expr | None:
        """Return the number as a sum of brackets, one for the first distance of each bucket; None for symbolic sizes.

        Definition   with the distance a to one side, sum_{b >= 1} [a >= t_b], t_b the least a of a bucket number >= b;
                     in both directions a = |distance|, and half of the buckets are added for a later key
        """
        distance, *sizes = self.args
        if not all(size.is_Integer for size in sizes):
            return None
        buckets, max_distance, both = map(int, sizes)
        _require_buckets(buckets, max_distance, bool(both))
        half = buckets // 2
        far, own = (Max(distance, -distance), half) if both else (Max(-distance, 0), buckets)
        # the bucket number grows with the distance, and reaches the last one within the largest distance
        begins = (
            bisect_left(range(max_distance), b, key=lambda a: _bucket_of(a, own, max_distance)) for b in range(1, own)
        )
        found = Add(*(Iverson(Ge(far, first)) for first in begins))
        return found + half * Iverson(Gt(distance, 0)) if both else found


def bucket(distance: int, buckets: int, max_distance: int, bidirectional: bool) -> int:
    """Return the bucket number of the distance j - i from query i to key j, in exact integers.

    Definition   looking back only (a later key counts as distance 0), with e = floor(buckets/2) and a = max(-distance,
                 0): a for a < e, else min(buckets - 1, e + floor(log(a/e)/log(max_distance/e) (buckets - e)));
                 in both directions, half of the buckets for a = |distance| each way, the second half for later keys
    Source       Raffel et al. (2020), section 2.1: buckets for distances that grow logarithmically up to
                 max_distance, beyond which all distances share the last one
    Raises       ValueError unless each half has a bucket for distance 0, and max_distance is larger than the distances
                 that have a separate bucket
    """
    _require_buckets(buckets, max_distance, bidirectional)
    if bidirectional:
        half = buckets // 2
        return _bucket_of(abs(distance), half, max_distance) + (half if distance > 0 else 0)
    return _bucket_of(max(-distance, 0), buckets, max_distance)


class SignedBuckets(RelativeBuckets):
    """The row of a table for the distance i - j from query i to key j: entry (i, j) is `signed_bucket(i - j, ...)`.

    Source       He, Liu, Gao and Chen (2021), DeBERTa, in the released code of version 2
    """

    def __new__(cls, queries: Sized, keys: Sized, buckets: Sized, max_distance: Sized) -> Array:
        """Build the matrix for the given numbers of queries and keys."""
        return Array.__new__(cls, *map(axis, (queries, keys, buckets, max_distance)))

    def _infer(self) -> Shape:
        if all(size.is_number for size in self.args[2:]):
            _require_signed_buckets(*map(int, self.args[2:]))
        return self.args[:2]

    def _entry(self, *places: Place) -> Expr:
        row, column = map(flat, places)
        return SignedBucketNumber(row - column, *map(total, self.args[2:]))


class SignedBucketNumber(BucketNumber):
    """`signed_bucket` as a term: a number if all arguments are integers, else unevaluated."""

    nargs = 3

    @classmethod
    def eval(cls, *numbers: Any) -> Expr | None:
        """Evaluate only if all arguments are integers."""
        return Integer(signed_bucket(*map(int, numbers))) if all(number.is_Integer for number in numbers) else None

    def steps(self) -> Expr | None:
        """Return the number as a sum of brackets; None for symbolic sizes.

        Definition   buckets + sum_{1 <= b < buckets} [d >= t_b] - sum_{1 <= b <= buckets} [-d >= t_b], t_b the least
                     distance of a bucket number >= b
        """
        distance, *sizes = self.args
        if not all(size.is_Integer for size in sizes):
            return None
        buckets, max_distance = map(int, sizes)
        _require_signed_buckets(buckets, max_distance)
        first: list[int] = []
        for far in count(1):
            first += [far] * (_signed_bucket_of(far, buckets, max_distance) - len(first))
            if len(first) == buckets:
                break
        ahead, behind = [Iverson(Ge(distance, a)) for a in first[:-1]], [Iverson(Ge(-distance, a)) for a in first]
        return buckets + Add(*ahead) - Add(*behind)


def signed_bucket(distance: int, buckets: int, max_distance: int) -> int:
    """Return the row of a table of 2 buckets rows for the distance i - j from query i to key j, in exact integers.

    Definition   buckets + the signed bucket, at most 2 buckets - 1; with e = floor(buckets/2) and a = |distance| the
                 bucket is a for a <= e, else min(buckets, e + ceil(log(a/e)/log((max_distance - 1)/e) (e - 1)))
    Source       He, Liu, Gao and Chen (2021), DeBERTa, in the released code of version 2: distances up to
                 max_distance - 1 in buckets that grow logarithmically
    Raises       ValueError unless there are 4 buckets, and distances beyond half of them
    """
    _require_signed_buckets(buckets, max_distance)
    found = _signed_bucket_of(abs(distance), buckets, max_distance)
    return min(2 * buckets - 1, buckets + (found if distance > 0 else -found))


def _signed_bucket_of(far: int, buckets: int, max_distance: int) -> int:
    own, longest = buckets // 2, max_distance - 1
    if far <= own:
        return far
    # bucket own + k + 1 begins behind the distance where (far/own)^(own - 1) is (longest/own)^k
    passed = (far ** (own - 1) * own**k > longest**k * own ** (own - 1) for k in range(buckets - own))
    return own + sum(passed)


def _require_signed_buckets(buckets: int, max_distance: int) -> None:
    if buckets < 4 or max_distance - 1 <= buckets // 2:
        raise ValueError(
            f"{buckets} signed buckets up to distance {max_distance}: each direction needs at least 4 buckets, and a "
            "largest distance beyond half of its buckets"
        )


def _bucket_of(far: int, buckets: int, max_distance: int) -> int:
    own = buckets // 2
    if far < own:
        return far
    # Bucket own + k begins where (far/own)^rest reaches (max_distance/own)^k. Integers, since a rounded quotient of
    # logarithms could miss the boundary.
    rest = buckets - own
    reached = (far**rest * own**k >= max_distance**k * own**rest for k in range(1, rest))
    return own + sum(reached)


def _require_buckets(buckets: int, max_distance: int, bidirectional: bool) -> None:
    one_way = buckets // 2 if bidirectional else buckets
    if one_way < 2 or max_distance <= one_way // 2:
        raise ValueError(
            f"{buckets} buckets up to distance {max_distance}{' in both directions' if bidirectional else ''}: each "
            "direction needs at least 2 buckets, and a largest distance beyond half of its buckets"
        )
