"""One function of a plan: the passes that turn its equations into a function and a readable text.

Each pass takes the results of those before it: the lines, the names they use, the sources of sizes, the signature,
the body, the function, its text.
"""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sympy import Basic, Integer, Symbol, lambdify

from derivations.language.differentiation.tape import Pulled
from derivations.language.layers.layer import Apply, Layer
from numeric.codegen.backends import BACKENDS, Backend
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.function_lines import Line, lines_of
from numeric.codegen.function_text import function_text
from numeric.codegen.naming import Names
from numeric.codegen.plan import Plan, Unit
from numeric.codegen.printer import AxisLength, Call, NumPyLayerPrinter, Verbatim
from numeric.codegen.syntax import names_in, statements
from numeric.runtime.structure import RESERVED, instance

__all__ = ["PRIMITIVES", "Function", "PrintedFunction", "printed_functions"]

PRIMITIVES = BACKENDS["numpy"].primitives
DEFAULTS = {"epsilon": "1e-5"}
Function = Callable[..., Any]


@dataclass(frozen=True)
class PrintedFunction:
    """One layer as a function: its text, and the facts that its callers need."""

    name: str
    text: str
    function: Function
    sizes: Mapping[str, Symbol]  # the sizes that are arguments
    scalars: tuple[str, ...]


@dataclass(frozen=True)
class _Signature:
    """The arguments of a function as written in its head, and which of them are sizes and scalars."""

    arguments: list[str]
    sizes: Mapping[str, Symbol]
    scalars: tuple[str, ...]


Printed = Mapping[Unit, PrintedFunction]


def printed_functions(
    plan: Plan,
    names: Names,
    backend: Backend,
    runs: bool = True,
    finish: Callable[[Layer, Function], Function] | None = None,
) -> Printed:
    """Return the functions of a plan; each can call those before it.

    Definition   `finish(layer, function)` stands for the function of a layer where it is given; without `runs` the
                 functions are there for their texts alone, and the backend need not be installed
    Raises       CompileError where an equation has no form in the backend
    """
    printed: dict[Unit, PrintedFunction] = {}
    for unit in plan.units:
        found = _printed(unit, plan, names, backend, runs, printed)
        if finish is not None and unit.role == "whole":
            found = replace(found, function=finish(unit.layer, found.function))
        printed[unit] = found
    return printed


def _printed(unit: Unit, plan: Plan, names: Names, backend: Backend, runs: bool, printed: Printed) -> PrintedFunction:
    name, local = names.functions[unit], names.local[unit]
    printer = _printer(unit, plan, names, backend, printed)
    lines = list(lines_of(unit.of, unit.role, unit.layer, unit.saved, local, printer))
    used = _used_in(lines, unit.layer, backend)
    asked, measured = _sizes(unit.layer, local, used, printer)
    signature = _signature(unit, local, asked)
    body = _with_sizes(lines, measured)
    namespace = backend.namespace(used) if runs else {}
    function = _function(signature, body, printer, {**namespace, **{p.name: p.function for p in printed.values()}})
    text = _text(name, signature, unit, function, body)
    return PrintedFunction(name, text, _called(function, name, text), signature.sizes, signature.scalars)


def _printer(unit: Unit, plan: Plan, names: Names, backend: Backend, printed: Printed) -> NumPyLayerPrinter:
    """Return the printer of a layer, which knows the names of the functions that it applies."""

    def call(node: Apply | Pulled) -> Call:
        callee = printed[plan.callee(unit, node)]
        sizes = instance(plan.general[node.layer], node.layer) or {}
        return Call(callee.name, {name: sizes.get(s, s) for name, s in callee.sizes.items()}, callee.scalars)

    taken = {*RESERVED, *backend.names, *names.functions.values(), "tape"}
    return backend.printer(unit.layer, names.local[unit], call, frozenset(taken), unit.saved)


def _used_in(lines: Sequence[Line], layer: Layer, backend: Backend) -> frozenset[str]:
    """Return the names that the lines read; raise CompileError where the backend lacks an array function."""
    used = names_in("\n".join(line.right for line in lines))
    lacking = sorted(used & PRIMITIVES.keys() - backend.primitives.keys())
    if lacking:
        raise CompileError(f"layer {layer.name}: {lacking[0]} has no form in {backend.name}; compile it for NumPy")
    return used


def _sizes(
    layer: Layer, local: Mapping[Basic, str], used: Set[str], printer: NumPyLayerPrinter
) -> tuple[dict[str, Symbol], list[Line]]:
    """Return the sizes in use that a caller must give, and the lines that read the other sizes in use from shapes."""
    lengths = _axis_lengths(layer)
    sizes = [size for size in _sizes_by_appearance(layer) if local[size] in used]
    asked = {local[size]: size for size in sizes if size not in lengths}
    return asked, [Line(local[size], printer.doprint(lengths[size])) for size in sizes if size in lengths]


def _signature(unit: Unit, local: Mapping[Basic, str], asked: Mapping[str, Symbol]) -> _Signature:
    """Return the signature: arrays, weights of parts, sizes; then scalars, those with a default last."""
    layer = unit.layer
    scalars = sorted((local[s] for s in layer.scalars), key=lambda name: (name in DEFAULTS, name))
    arguments = [local[v] for v in unit.inputs] + (["tape"] if unit.role == "backward" else [])
    arguments += [local[v] for v in layer.parameters] + [*unit.tree.parts, *asked]
    arguments += [f"{name}={DEFAULTS[name]}" if name in DEFAULTS else name for name in scalars]
    return _Signature(arguments, asked, tuple(scalars))


def _with_sizes(lines: Sequence[Line], measured: Sequence[Line]) -> list[Line]:
    """Return the lines with those that read sizes put first, but after a line that unpacks a tape."""
    unpacked = sum(line.left_is_tape for line in lines)
    return [*lines[:unpacked], *measured, *lines[unpacked:]]


def _function(
    signature: _Signature, body: Sequence[Line], printer: NumPyLayerPrinter, namespace: dict[str, Any]
) -> Function:
    """Return the compiled function; the last line holds the values that it returns."""
    *assigned, last = body
    function: Function = lambdify(
        signature.arguments,
        Verbatim(last.right),
        modules=[namespace],
        printer=printer,
        use_imps=False,
        cse=lambda output: ([(line.left, line.right) for line in assigned], output),  # every equation a line, in order
        docstring_limit=0,
    )
    return function


def _text(name: str, signature: _Signature, unit: Unit, function: Function, body: Sequence[Line]) -> str:
    lines = inspect.getsource(function).splitlines()[1:]
    return function_text(name, signature.arguments, unit, lines, [line.comment for line in body])


def _called(function: Function, name: str, text: str) -> Function:
    """Return the function after setting its name and its docstring, which is that of the text."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = ast.get_docstring(statements(text)[0], clean=False)  # type: ignore[arg-type]  # a def
    return function


# Sizes


def _axis_lengths(layer: Layer) -> dict[Symbol, AxisLength]:
    """Return where each size can be read: from the shape of an input, a parameter or, last, a mask."""
    given = sorted((*layer.inputs, *layer.parameters), key=lambda variable: variable.kind == "boolean")
    lengths: dict[Symbol, AxisLength] = {}
    for variable in given:
        for number, along in enumerate(variable.shape):
            if isinstance(along, Symbol):
                # counted from the end, because batch axes stand in front
                lengths.setdefault(along, AxisLength(variable, Integer(number - len(variable.shape))))
    return lengths


def _sizes_by_appearance(layer: Layer) -> list[Symbol]:
    axes = (along for shape in layer.shapes.values() for along in shape)
    seen = [size for along in axes for size in sorted(along.free_symbols, key=lambda s: s.name)]
    return [size for size in dict.fromkeys((*seen, *layer.sizes)) if size in layer.sizes]
