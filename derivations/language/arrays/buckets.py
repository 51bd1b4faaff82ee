"""Bucket numbers of distances: one bucket for each short distance, logarithmically wider ones for long distances.

`RelativeBuckets` numbers the distances of queries and keys as T5 does, in one or both directions, `SignedBuckets` as
DeBERTa does, on both sides of 0. A number is found in integers, since a rounded quotient of logarithms could miss where
a bucket begins; as terms, `BucketNumber` and `SignedBucketNumber` are sums of brackets.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import count
from typing import Any

from sympy import Add, Basic, Expr, Function, Ge, Gt, Integer, Max, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Place, Sized, axis, flat, total

__all__ = [
    "BucketNumber",
    "RelativeBuckets",
    "SignedBucketNumber",
    "SignedBuckets",
    "bucket",
    "signed_bucket",
]


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
    """The function `bucket` as a SymPy expression. It is a number if all arguments are integers, else unevaluated.

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
        """Return the bucket number as a sum of Iverson brackets, or None for symbolic sizes.

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
    """Table rows for the distances i - j from query i to key j: entry (i, j) is `signed_bucket(i - j, ...)`.

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
    """The function `signed_bucket` as a SymPy expression: a number if all arguments are integers, else unevaluated."""

    nargs = 3

    @classmethod
    def eval(cls, *numbers: Any) -> Expr | None:
        """Evaluate only if all arguments are integers."""
        return Integer(signed_bucket(*map(int, numbers))) if all(number.is_Integer for number in numbers) else None

    def steps(self) -> Expr | None:
        """Return the table row as a sum of Iverson brackets, or None for symbolic sizes.

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
    """Return the table row (of 2 * buckets rows) for the distance i - j from query i to key j, in exact integers.

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
    # bucket own + k + 1 begins after the distance where (far/own)^(own - 1) is (longest/own)^k
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
