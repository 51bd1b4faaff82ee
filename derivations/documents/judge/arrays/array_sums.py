"""Sums of array entries over an index, which runs along the axis where it is used."""

from __future__ import annotations

from sympy import Expr, Indexed, Lambda, Sum, Symbol

from derivations.documents import syntax
from derivations.documents.judge.arrays.array_functions import largest
from derivations.documents.judge.arrays.array_reading import NotRead, Reading, Value
from derivations.documents.syntax import Name, Number
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import RowSum
from derivations.symbols import index

__all__ = ["aggregate", "shortage"]


def aggregate(reader: Reading, node: syntax.Aggregate) -> Value:
    """Return a sum. A maximum or a minimum over an index becomes an unknown number."""
    if node.kind in ("max", "min"):
        return largest()
    if node.kind != "sum" or len(node.index) > 1 or node.over is not None:
        raise NotRead(f"{node.kind} over what is not read")
    if not node.index:
        value = reader.value(node.body)
        if isinstance(value, Array) and len(value.shape) == 1:
            return RowSum(value).entry()
        raise NotRead("a sum without an index")
    key = node.index[0].key
    before = reader.bound.get(key)
    reader.bound[key] = index(f"{key}_{len(reader.bound)}")
    try:
        body, place = reader.value(node.body), reader.bound[key]
        return _summed(reader, body, place, node)
    finally:
        del reader.bound[key]
        if before is not None:
            reader.bound[key] = before


def _summed(reader: Reading, body: Value, place: Symbol, node: syntax.Aggregate) -> Value:
    size = _range_of(body, place)
    short = shortage(node)
    if isinstance(body, Array) and body.shape:
        if len(body.shape) != 1:
            raise NotRead("a sum of matrices")
        a = index("a_sum")
        return Tabulated(Lambda((a,), Sum(body.entry(a), (place, 0, size - 1 - short))), body.shape[0])
    return Sum(body.entry() if isinstance(body, Array) else body, (place, 0, size - 1 - short))


def _range_of(body: Value, place: Symbol) -> Expr:
    """Return the size of the axis that an index runs along, taken from the arrays in the body."""
    entries = body.entry(*(index(f"at_{a}") for a in range(len(body.shape)))) if isinstance(body, Array) else body
    for entry in sorted(entries.atoms(Indexed), key=str):
        for along, at in zip(entry.base.shape, entry.indices, strict=True):
            if at == place:
                return along
    raise NotRead("a sum whose index has no axis")


def shortage(node: syntax.Aggregate) -> int:
    """Return how many terms the bounds of a sum leave out at the end of the axis."""
    first = 1 if node.lower is None else node.lower.value if isinstance(node.lower, Number) else None
    if first not in (0, 1):
        raise NotRead("a sum that does not begin with the first entry")
    match node.upper:
        case syntax.Sum(terms=(Name(), Number(value=less)), signs=(1, -1)):
            return int(less) - (1 - int(first))
        case None | Name():
            return 0
        case syntax.Quotient() | syntax.Product() | Number() | syntax.Fence():
            return 0
    raise NotRead("bounds that are not read")
