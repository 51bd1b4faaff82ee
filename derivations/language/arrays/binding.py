"""Substitution that respects bound indices.

`sum_j f(j, i)` with i replaced by j is `sum_l f(l, j)`: a bound index is renamed before it can capture a symbol of the
new value. SymPy's `xreplace` does not do this.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from sympy import Add, Basic, Lambda, Max, Min, Pow, Product, Subs, Sum, Symbol, preorder_traversal

__all__ = ["free_symbols", "fresh_index", "replace_free"]

_LETTERS = ("j", "l", "p", "q", "r", "s", "t", "u", "v", "w")


def fresh_index(avoid: Iterable[Symbol]) -> Symbol:
    """Return an integer symbol named by the first index letter that no symbol in `avoid` uses."""
    taken = {symbol.name for symbol in avoid}
    numbered = (f"{letter}_{number}" for number in range(1, 1000) for letter in _LETTERS)
    return Symbol(next(name for name in chain(_LETTERS, numbered) if name not in taken), integer=True)


def replace_free(node: Any, values: Mapping[Any, Any]) -> Any:
    """Return the expression with its free symbols and arrays replaced; bound indices are renamed to avoid capture."""
    if node in values:
        return values[node]
    # an untouched part stays the same object: rebuilding would let SymPy evaluate what was left unevaluated
    if not node.args or not any(part in values for part in preorder_traversal(node)):
        return node
    if getattr(node, "closed", False):  # a layer: its names are local
        return node.xreplace(dict(values))
    incoming = {symbol for value in values.values() for symbol in value.free_symbols}
    if isinstance(node, (Sum, Product)):
        return _in_sum(node, dict(values), incoming)
    if isinstance(node, Subs):
        return _in_subs(node, dict(values), incoming)
    bound = list(getattr(node, "bound_symbols", ()))
    values = {key: value for key, value in values.items() if key not in bound}
    # sum_j f(j, i) with i replaced by j: the bound j moves aside
    aside = {b: fresh_index(incoming | node.atoms(Symbol)) for b in bound if b in incoming}
    if len(aside) > 1:
        # Each new name above was chosen without the others, so they are all the same one.
        aside = _apart(list(aside), incoming | node.atoms(Symbol))
    parts = [replace_free(part, {**values, **aside}) for part in node.args]
    if isinstance(node, (Max, Min)):  # evaluation would ask for the sign of every argument, which is slow
        return node.func(*parts, evaluate=False)
    if isinstance(node, Pow) and isinstance(parts[0], Add):  # evaluation would ask whether the sum is infinite
        return Pow(*parts, evaluate=False)
    return node.func(*parts)


@lru_cache(maxsize=4096)
def free_symbols(node: Any) -> frozenset[Symbol]:
    """Return the free symbols of an expression; bound indices and the symbols inside a layer are not free."""
    if isinstance(node, Symbol):
        return frozenset({node})
    if getattr(node, "closed", False):
        return frozenset()
    if isinstance(node, (Sum, Product)):
        found = free_symbols(node.function)
        for symbol, low, high in node.limits:
            # SymPy lists the innermost limit first; the ends of a sum lie outside its own index
            found = (found - {symbol}) | free_symbols(low) | free_symbols(high)
        return found
    if isinstance(node, Lambda):
        return free_symbols(node.expr) - set(node.variables)
    if isinstance(node, Subs):
        inner, variables, points = node.args
        return (free_symbols(inner) - set(variables)) | free_symbols(points)
    found = frozenset(symbol for part in node.args for symbol in free_symbols(part))
    return found - set(getattr(node, "bound_symbols", ()))


def _in_subs(node: Subs, values: dict[Any, Any], incoming: set[Any]) -> Basic:
    """Replace the free symbols of a SymPy `Subs`. Its bound variables are renamed where a value would be captured."""
    inner, variables, points = node.args
    taken = {symbol.name for symbol in {*incoming, *node.atoms(Symbol)} if isinstance(symbol, Symbol)}
    names = {}
    for variable in variables:
        names[variable] = variable
        if variable in incoming:
            fresh = next(f"{variable.name}_{n}" for n in range(1, 1000) if f"{variable.name}_{n}" not in taken)
            names[variable] = Symbol(fresh, **variable.assumptions0)
            taken.add(fresh)
    inside = {key: value for key, value in values.items() if key not in names}
    moved = {old: new for old, new in names.items() if old != new}
    return Subs(replace_free(inner, {**inside, **moved}), tuple(names.values()), replace_free(points, values))


def _apart(bound: list[Symbol], avoid: set[Basic]) -> dict[Symbol, Symbol]:
    names: dict[Symbol, Symbol] = {}
    for symbol in bound:
        names[symbol] = fresh_index({s for s in avoid if isinstance(s, Symbol)} | set(names.values()))
    return names


def _in_sum(node: Any, values: dict[Any, Any], incoming: set[Any]) -> Basic:
    limits = []
    taken = {s for s in incoming if isinstance(s, Symbol)} | node.atoms(Symbol)
    for symbol, low, high in reversed(node.limits):  # outermost first: inner bounds may mention outer indices
        bounds = (replace_free(low, values), replace_free(high, values))
        # inside the sum the index is bound, so a value for a free symbol of that name does not reach it
        values = {key: value for key, value in values.items() if key != symbol}
        name = symbol
        if symbol in incoming:
            name = fresh_index(taken)
            taken.add(name)
            values[symbol] = name
        limits.append((name, *bounds))
    return node.func(replace_free(node.function, values), *reversed(limits))
