"""Adopt a user's expressions: symbols of the same name become one symbol, with its assumptions.

A symbol without assumptions becomes our symbol of that name (`derivations.symbols`) if that is positive, as sizes are.
Otherwise it is a size if it bounds a sum or a shape, an index if it is used as an index, and real elsewhere. The
entries of an array are real. All these assumptions are returned in words. A symbol with assumptions keeps them. Scalars
and arrays have separate names: an assumption about a scalar x does not apply to the entries x_i.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sympy import Basic, Dummy, Expr, Function, Indexed, IndexedBase, KroneckerDelta, Sum, Symbol, Tuple, Wild
from sympy.core.function import AppliedUndef

from derivations import symbols
from derivations.symbols import index, size

__all__ = ["Adopted", "adopt"]

OURS = {name: getattr(symbols, name) for name in symbols.__all__ if isinstance(getattr(symbols, name), Symbol)}


@dataclass(frozen=True)
class Adopted:
    """The adopted expressions, the number of values of each free index, and the assumptions made, in words."""

    expressions: tuple[Basic, ...]
    ranges: Mapping[Symbol, Expr]
    assumed: tuple[str, ...]
    table: Mapping[Basic, Basic]  # the adopted form of each scalar and array


def adopt(
    expressions: Iterable[Basic],
    bound: Collection[Basic] = (),
    positive: Collection[str] = (),
    nonnegative: Collection[str] = (),
) -> Adopted:
    """Return expressions in which each name is one symbol; some scalars are known to be positive or nonnegative.

    `bound` are the indices that are bound elsewhere, so that the arrays they index give them no range.
    Raises `ValueError` for two symbols of one name with different assumptions, and for a `Dummy` or a `Wild`.
    """
    given = tuple(expressions)
    signs = {name: {"positive": True} for name in positive} | {name: {"nonnegative": True} for name in nonnegative}
    places, bounds = _places(given), _bounds(given)
    table: dict[Basic, Basic] = {}
    assumed: list[str] = []
    for name, variants in _named(symbol for each in given for symbol in _scalars(each)):
        wanted = _target(name, variants, variants & places, variants & bounds)
        if name in signs and wanted.is_real and not wanted.is_integer and wanted.is_nonnegative is None:
            wanted = Symbol(name, **signs[name])
        table |= dict.fromkeys(variants - {wanted}, wanted)
        if variants - {wanted}:
            assumed.append(f"{name} is {_kind(wanted)}")
    bases = set().union(*(each.atoms(IndexedBase) for each in given))
    for name, labels in _named(base.label for base in bases):
        label = _strongest(name, labels) or Symbol(name, real=True)
        if labels - {label}:
            assumed.append(f"the entries of {name} are {_kind(label)}")
        table |= {base: _renamed(base, label, table) for base in bases if base.label in labels}
    functions = _undeclared_functions(given)
    assumed += [f"{name} is a real function" for name in functions]
    adopted = tuple(_with_real_functions(each.xreplace(table), functions) for each in given)
    ranges = _ranges(adopted, {table.get(index, index) for index in bound})
    assumed += [f"0 <= {place} < {count}" for place, count in ranges.items()]
    return Adopted(adopted, ranges, tuple(dict.fromkeys(assumed)), table)


def _scalars(expression: Basic) -> Iterator[Symbol]:
    """Yield the symbols of an expression, except those that name arrays."""
    if isinstance(expression, Dummy | Wild):
        raise ValueError(f"{expression} is told apart from its namesakes by no name: use a Symbol")
    if isinstance(expression, Symbol):
        yield expression
    elif isinstance(expression, IndexedBase):
        if isinstance(expression.shape, Tuple):
            yield from _scalars(expression.shape)
    else:
        for part in expression.args:
            yield from _scalars(part)


def _named(found: Iterable[Symbol]) -> list[tuple[str, set[Symbol]]]:
    """Return symbols by their names, sorted."""
    named: dict[str, set[Symbol]] = {}
    for symbol in found:
        named.setdefault(symbol.name, set()).add(symbol)
    return sorted(named.items())


def _renamed(base: IndexedBase, label: Symbol, table: Mapping[Basic, Basic]) -> IndexedBase:
    shape = base.shape.xreplace(table) if isinstance(base.shape, Tuple) else None
    return IndexedBase(label, shape=shape)


def _target(name: str, variants: set[Symbol], place: set[Symbol], bound: set[Symbol]) -> Symbol:
    """Return the symbol for all symbols of a name: the one with most assumptions, or one that fits its use."""
    strongest = _strongest(name, variants)
    if strongest is not None:
        return strongest
    ours = OURS.get(name)
    if bound or (ours is not None and ours.is_positive):
        return ours if ours is not None and ours.is_positive else size(name)
    return index(name) if place else Symbol(name, real=True)


def _strongest(name: str, variants: set[Symbol]) -> Symbol | None:
    """Return the symbol with most assumptions, or None if no symbol has any."""
    declared = {symbol for symbol in variants if set(symbol._assumptions_orig) - {"commutative"}}
    if not declared:
        return None
    strongest = max(declared, key=lambda symbol: (len(symbol.assumptions0), sorted(symbol.assumptions0)))
    if any(not symbol.assumptions0.items() <= strongest.assumptions0.items() for symbol in declared):
        raise ValueError(f"two symbols are called {name} and declare different things: declare it once")
    return strongest


def _kind(symbol: Symbol) -> str:
    if symbol.is_integer:
        return "an integer >= 1" if symbol.is_positive else "an integer"
    for sign in ("positive", "nonnegative", "negative", "nonpositive"):
        if getattr(symbol, f"is_{sign}"):
            return sign
    return "real" if symbol.is_real else "as it was declared"


def _places(expressions: tuple[Basic, ...]) -> set[Symbol]:
    """Return the symbols that are used as indices: bound by a sum, written as an index, or compared in a delta."""
    found: set[Symbol] = set()
    for each in expressions:
        found |= {limit[0] for total in each.atoms(Sum) for limit in total.limits}
        for node in each.atoms(Indexed, KroneckerDelta):
            places = node.indices if isinstance(node, Indexed) else node.args
            found |= set().union(*(place.free_symbols for place in places))
    return found


def _bounds(expressions: tuple[Basic, ...]) -> set[Symbol]:
    """Return the symbols in the limits of sums and in the shapes of arrays, except those that a sum binds."""
    found: set[Symbol] = set()
    for each in expressions:
        limits = [limit for total in each.atoms(Sum) for limit in total.limits]
        found |= set().union(*(part.free_symbols for limit in limits for part in limit[1:]))
        shapes = [base.shape for base in each.atoms(IndexedBase) if isinstance(base.shape, Tuple)]
        found |= set().union(*(shape.free_symbols for shape in shapes))
    return found - {limit[0] for each in expressions for total in each.atoms(Sum) for limit in total.limits}


def _undeclared_functions(expressions: tuple[Basic, ...]) -> list[str]:
    calls = set().union(*(each.atoms(AppliedUndef) for each in expressions))
    return sorted({call.func.__name__ for call in calls if not call.func._kwargs})


def _with_real_functions(expression: Basic, names: Collection[str]) -> Basic:
    if not names:
        return expression
    return expression.replace(
        lambda node: isinstance(node, AppliedUndef) and node.func.__name__ in names,
        lambda node: Function(node.func.__name__, real=True)(*node.args),
    )


def _ranges(expressions: tuple[Basic, ...], bound: set[Basic]) -> dict[Symbol, Expr]:
    """Return the number of values of each free index that is itself an index of an array of known shape."""
    free = {symbol for each in expressions for symbol in each.free_symbols if _is_index(symbol)} - bound
    ranges: dict[Symbol, Expr] = {}
    for entry in sorted(set().union(*(each.atoms(Indexed) for each in expressions)), key=str):
        for place, length in zip(entry.indices, entry.base.shape or (), strict=False):
            if place in free:
                ranges.setdefault(place, length)
    return ranges


def _is_index(symbol: Basic) -> bool:
    return isinstance(symbol, Symbol) and bool(symbol.is_integer) and not symbol.is_positive
