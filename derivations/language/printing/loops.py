"""Results as Python source with plain loops: a function of sizes, indices and nested lists.

A closed form in scalars has a shorter source (`exchange.python`). This module prints every other result with a value on
the right-hand side: sums become `sum(... for j in range(n))`, deltas and brackets comparisons, and defined arrays
functions.
"""

from __future__ import annotations

from typing import Any

from sympy import Basic, Derivative, Expr, Symbol, srepr
from sympy.printing.pycode import PythonCodePrinter

from derivations.language.arrays.binding import free_symbols, fresh_index
from derivations.language.arrays.expression import Array
from derivations.language.arrays.scalars import Expectation, Variance, without_conditions
from derivations.language.arrays.shapes import Blocks, Pair
from derivations.language.layers.layer import Equation
from derivations.language.printing.exchange import NotClosedForm, python
from derivations.language.results.derivation import Derivation

__all__ = ["python_source"]


def python_source(derivation: Derivation) -> str:
    """Return Python source for the right-hand side of the (first) claim; indices count from 0, arrays are nested lists.

    Result       a function named after the id; for a statement without a value, the statement as SymPy's `srepr`
    """
    try:
        return python(derivation)
    except NotClosedForm:
        pass
    value = derivation.rhs
    name = "".join(c if c.isalnum() else "_" for c in derivation.id or "result")
    if not isinstance(value, Expr | Array) or value.has(Derivative, Expectation, Variance):
        return f'"""{derivation.title}."""\n\n{name} = {srepr(value)!r}\n'
    printer = _Loops({e.variable.name for e in derivation.definitions})
    places, entry = _general_entry(value)
    try:
        body, helpers = printer.doprint(without_conditions(entry)), _helpers(derivation.definitions, printer)
    except NotImplementedError:  # for example, the derivative of an uninterpreted function
        return f'"""{derivation.title}."""\n\n{name} = {srepr(value)!r}\n'
    used = [text for helper, text in helpers.items() if helper in printer.called]
    arguments = sorted(printer.free | {str(place) for place in places})
    imports = sorted(printer.module_imports.get("math", ()))
    lines = [f"from math import {', '.join(imports)}", "", ""] if imports else []
    lines += [f"def {name}({', '.join(arguments)}):", f'    """{derivation.title}."""', *used, f"    return {body}", ""]
    return "\n".join(lines)


def _general_entry(value: Any) -> tuple[list[Symbol], Expr]:
    """Return a scalar unchanged, or an entry of an array with its indices."""
    if not isinstance(value, Array):
        return [], value
    taken, places = set(free_symbols(value)), []
    names: list[Symbol] = []
    for along in value.shape:
        count = 2 if isinstance(along, Blocks) else 1
        own: list[Symbol] = []
        for _ in range(count):
            own.append(fresh_index({*taken, *names, *own}))
        names += own
        places.append(Pair(own[0], own[1], along.size) if isinstance(along, Blocks) else own[0])
    return names, value.entry(*places)


def _helpers(definitions: tuple[Equation, ...], printer: _Loops) -> dict[str, str]:
    """Return the source of the defined arrays that the value needs, as functions; later ones may use earlier ones."""
    texts: dict[str, str] = {}
    for equation in reversed(definitions):  # printing a later definition shows which earlier ones it calls
        variable = equation.variable
        if variable.name not in printer.called:
            continue
        places = [Symbol(f"place_{number}", integer=True) for number in range(len(variable.shape))]
        at: list[Any] = []
        split = ""
        for place, along in zip(places, variable.shape, strict=True):
            pair = [Symbol(f"{place}_{part}", integer=True) for part in ("block", "rest")]
            blocks = isinstance(along, Blocks)
            at.append(Pair(pair[0], pair[1], along.size) if blocks else place)
            if blocks:
                # callers give one number for a place, and the formula speaks of block and rest
                split = f"(lambda {pair[0]}, {pair[1]}: %s)(*divmod({place}, {printer.doprint(along.size)}))"
        text = printer.doprint(without_conditions(equation.value_at(*at)))
        # the places of a helper are its own arguments
        printer.free = {name for name in printer.free if not name.startswith("place_")}
        body = split % text if split else text
        texts[variable.name] = f"    {variable.name} = lambda {', '.join(map(str, places))}: {body}"
    return dict(reversed(texts.items()))


class _Loops(PythonCodePrinter):
    """A printer of sums as loops, which records the free names and the defined arrays that are used."""

    def __init__(self, defined: set[str]) -> None:
        super().__init__({"fully_qualified_modules": False})
        self.defined = defined
        self.called: set[str] = set()
        self.free: set[str] = set()
        self.bound: list[str] = []

    def _print_Symbol(self, expr: Symbol) -> str:
        name = str(expr.name).replace(".", "_")
        if name in self.defined:
            self.called.add(name)
            return f"{name}()"
        # a bound index of a sum is no argument of the function
        if name not in self.bound:
            self.free.add(name)
        return name

    def _print_Indexed(self, expr: Any) -> str:
        name, places = expr.base.label.name, [self._print(place) for place in expr.indices]
        if name in self.defined:
            self.called.add(name)
            return f"{name}({', '.join(places)})"
        name = name.replace(".", "_")
        self.free.add(name)
        return name + "".join(f"[{place}]" for place in places)

    def _print_Sum(self, expr: Any) -> str:
        loops, names = [], [str(symbol) for symbol, _, _ in expr.limits]
        # Python nests the loops of a generator from the left, SymPy lists the innermost limit first
        for symbol, low, high in reversed(expr.limits):
            last = self._print(high + 1)
            last = f"int({last})" if "/" in last else last  # `range` takes integers, and n / 2 is a float in Python
            loops.append(f"for {symbol} in range({self._print(low)}, {last})")
            self.bound.append(str(symbol))
        body = self._print(expr.function)
        del self.bound[-len(names) :]
        return f"sum({body} {' '.join(loops)})"

    def _print_KroneckerDelta(self, expr: Any) -> str:
        return f"({self._print(expr.args[0])} == {self._print(expr.args[1])})"

    def _print_Iverson(self, expr: Any) -> str:
        return f"({self._print(expr.args[0])})"

    def _print_Count(self, expr: Any) -> str:
        return f"({self._print(expr.value())})"

    def _print_Rank(self, expr: Any) -> str:
        raise NotImplementedError(f"the rank of {expr}")

    def _print_Function(self, expr: Any) -> str:
        self.free.add(expr.func.__name__)
        return f"{expr.func.__name__}({', '.join(map(self._print, expr.args))})"

    def _print_Basic(self, expr: Basic) -> str:
        raise NotImplementedError(str(expr))
