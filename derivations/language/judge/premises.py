"""Checks before a step is decided: invalid definitions, and names with two declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sympy import Basic, Expr, Indexed, IndexedBase, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.arrays.binding import free_symbols
from derivations.language.arrays.declarations import PLACE, admitted, facts_of, is_size
from derivations.language.arrays.expression import OnlyEntry, Variable
from derivations.language.arrays.scalars import declared_real
from derivations.language.arrays.shapes import same_size, total
from derivations.language.judge.normal_form.context import Undecided
from derivations.language.judge.normal_form.reading import symbol_atom
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.results.derivation import Assumption, Derivation

__all__ = ["check_definitions", "check_symbol_consistency", "sizes_of"]


def check_definitions(definitions: tuple[Equation, ...]) -> None:
    """Raise `Undecided` for an invalid definition.

    A value must be real, and integer if so declared. A name is defined once, and so is every member of a family.
    """
    for equation in definitions:
        # the normal form reads every entry of an array as a real number, whatever the definition says
        if not declared_real(equation.value):
            raise Undecided(f"arrays are real, and the definition {equation} is not proved to be")
        # X_i = ... for i = 1, ..., h defines all h members, and the i on the left must be that i alone
        if equation.over and not (
            equation.target.args[1] == equation.over[0] and same_size(equation.variable.shape[0], equation.over[1])
        ):
            raise Undecided(f"the family {equation} does not define each member once")
        # SymPy uses the declaration: cos(2 pi k) becomes 1 for an integer k
        if equation.variable.kind == "integer" and equation.value.kind != "integer":
            raise Undecided(f"the definition {equation} is declared to be of integers, and need not be")
    names = [equation.variable.name for equation in definitions]
    if len(set(names)) < len(names):
        raise Undecided(f"a name is defined twice among {', '.join(names)}")


def sizes_of(statement: tuple[Basic, ...], derivation: Derivation) -> set[Expr]:
    """Return the compound sizes, such as n - 1, of those arrays in a statement that have no definition."""
    defined = {definition.variable.name for definition in derivation.definitions}
    named = ((part, name) for part in statement for _, name in _names(part) if name.shape and name.text not in defined)
    found = {(expression, size) for expression, name in named for size in name.shape or () if not _is_plain(size)}
    return {size for expression, size in found if free_symbols(size) <= free_symbols(expression)}


def _is_plain(size: Expr) -> bool:
    return bool(size.is_Integer or (size.is_Symbol and is_size(size)))


def check_symbol_consistency(
    statement: tuple[Basic, ...], derivation: Derivation, given: tuple[Assumption, ...]
) -> None:
    """Raise `Undecided` for a name with two declarations, which would be read as one, and for noncommuting symbols.

    This covers the names in the statement, and those that definitions and assumptions about these names mention.
    """
    table: dict[Any, _Name] = {}
    for expression in (*statement, *_ranges(derivation)):
        _enter(_names(expression), table)
    waiting = [_premise(definition) for definition in derivation.definitions]
    waiting += [_premise(assumption) for assumption in (*derivation.assumptions, *given)]
    while waiting:
        # an assumption counts once a name in it is in use; its own names may bring in further assumptions
        spoken_of = [premise for premise in waiting if premise.about & table.keys() or not premise.about]
        if not spoken_of:
            break
        for premise in spoken_of:
            _enter(premise.names, table)
        waiting = [premise for premise in waiting if premise not in spoken_of]
    for name in (name for pair in derivation.bijections for name in pair[:2]):
        found = table.get(("function", name))
        if found is not None and not admitted(found.declared, PLACE):
            raise Undecided(f"the permutation {name} takes the value 0, and its declaration does not admit that")


def _enter(names: Names, table: dict[Any, _Name]) -> None:
    """Add names to the table; a key with two different declarations is an error."""
    for key, name in names:
        other = table.setdefault(key, name)
        if other is not name and not _one(other, name):
            raise Undecided(f"there are two {name.kind}s {name.text} with different declarations")
        if not name.declared.get("commutative", True):
            raise Undecided(f"{name.text} does not commute, and the judge handles commuting products only")


class _Premise(NamedTuple):
    """A definition or an assumption: the keys that make it relevant (none: it always is), and its names."""

    about: frozenset[Any]
    names: Names


@lru_cache(maxsize=1 << 12)
def _premise(part: Equation | Assumption) -> _Premise:
    if isinstance(part, Equation):
        return _Premise(frozenset({_key(_array(part.variable.name, part.variable))}), _names(part))
    names = tuple(name for expression in (part.statement, *part.ranges.values()) for name in _names(expression))
    return _Premise(frozenset(key for key, _ in names if key[0] in ("array", "function")), names)


def _ranges(derivation: Derivation) -> Iterator[Basic]:
    yield from (*derivation.ranges, *derivation.ranges.values(), *(size for *_, size in derivation.bijections))


class _Name(NamedTuple):
    """A named symbol, array or function: its kind and its declaration."""

    kind: str
    text: str
    declared: Mapping[str, bool]
    shape: tuple[Expr, ...] | None = None  # of an array with declared sizes


Names = tuple[tuple[Any, _Name], ...]


def _one(first: _Name, other: _Name) -> bool:
    if first.declared != other.declared:
        return False
    if first.shape is None or other.shape is None:
        return True
    return len(first.shape) == len(other.shape) and all(map(same_size, first.shape, other.shape))


@lru_cache(maxsize=1 << 13)
def _names(expression: Basic) -> Names:
    """Return all names in an expression, each with the key that must have one declaration."""
    found: dict[Any, _Name] = {}
    for symbol in free_symbols(expression) | {s for s in expression.atoms(Symbol) if not s.is_commutative}:
        only = isinstance(symbol, OnlyEntry)
        found[symbol] = _Name("array" if only else "symbol", symbol.name, symbol.assumptions0, () if only else None)
    for node in _outside_layers(expression):
        if isinstance(node, AppliedUndef):
            found[node.func] = _Name("function", node.func.__name__, facts_of(node))
        elif isinstance(node, Indexed):
            base = node.base
            found[base] = _Name("array", base.label.name, _declared(base), base.shape and tuple(base.shape))
        elif isinstance(node, Variable):
            found[node] = _array(node.name, node)
        elif isinstance(node, Apply):
            found |= {(path, weight): _array(path, weight) for path, weight in _weights(node, "")}
    return tuple((symbol_atom(thing) if type(thing) is Symbol else _key(name), name) for thing, name in found.items())


def _key(name: _Name) -> tuple[str, ...]:
    """Return the key of a name: symbols of one name but with different kinds of numbers have different keys."""
    return symbol_atom(Symbol(name.text, **name.declared)) if name.kind == "symbol" else (name.kind, name.text)


def _array(name: str, variable: Variable) -> _Name:
    if not variable.shape:  # its only entry is the symbol of that name
        return _Name("array", name, _declared(variable.base), ())
    return _Name("array", name, _declared(variable.base), tuple(map(total, variable.shape)))


def _declared(base: IndexedBase) -> dict[str, bool]:
    """Return the declared properties of the entries: those of the label and of the indexed base."""
    return {**base.label.assumptions0, **base.assumptions0}


def _outside_layers(expression: Basic) -> set[Basic]:
    """Return an expression and all its parts, except those inside layers, whose names are local."""
    seen, waiting = {expression}, [expression]
    while waiting:
        inside = {part for part in waiting.pop().args if not isinstance(part, Layer)} - seen
        seen |= inside
        waiting += inside
    return seen


def _weights(node: Apply, path: str) -> Iterator[tuple[str, Variable]]:
    """Yield the weights of an applied layer by the names that they have outside it."""
    copies: Iterable[str] = [node.name]
    if isinstance(node, Repeat):  # the weights of each copy have its number in their names, if the count is a number
        copies = (f"{node.name}.{number}" for number in range(int(node.count) if node.count.is_Integer else 0))
    for inner in (f"{path}{copy}." for copy in copies):
        yield from ((f"{inner}{p.name}", p) for p in node.own_parameters)
        for each in node.layer.parts.values():
            yield from _weights(each, inner)
