"""Views for machines: a result as Python source, a result or layer as JSON with SymPy's `srepr`."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any

from sympy import (
    Abs,
    Add,
    Basic,
    Expr,
    Max,
    Min,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Symbol,
    cos,
    erf,
    exp,
    log,
    sin,
    srepr,
    tan,
    tanh,
)
from sympy.printing.pycode import PythonCodePrinter

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.scalars import without_conditions
from derivations.language.arrays.shown import view
from derivations.language.layers.layer import Layer
from derivations.language.printing.order import natural
from derivations.language.printing.text import TextPrinter
from derivations.language.results.derivation import Assumption, Claim, Derivation, Step

__all__ = ["NotClosedForm", "python", "statement_json"]

_CLOSED = (Add, Mul, Pow, Number, NumberSymbol, Symbol, exp, log, sin, cos, tan, tanh, erf, Abs, Max, Min)


class NotClosedForm(ValueError):
    """The right-hand side of a result is not a closed form in scalars: it has entries, sums or arrays."""


@view("python")
def python(derivation: Derivation | Layer) -> str:
    """Return Python source of a function that computes the right-hand side.

    Result       the text of a module: imports from `math`, and one function named after the id, whose arguments are
                 the symbols of the right-hand side of the (first) claim in the order of their names
    Raises       `NotClosedForm` when that is not a closed form in scalars, and for a layer, which works on arrays
    """
    if isinstance(derivation, Layer):
        raise NotClosedForm(f"{derivation.name} is a layer: `derivations code {derivation.name}` prints its source")
    value = without_conditions(derivation.rhs)
    outside = next((node for node in _nodes(value) if not _is_closed(node)), None)
    if outside is not None:
        kind = outside.func.__name__
        raise NotClosedForm(f"{derivation.called}: {kind} in {value} is not part of a closed form in scalars")
    # by name, so that the order of arguments does not depend on SymPy's internal order
    symbols = sorted(value.free_symbols, key=lambda s: natural(s.name))
    renamed = {s: Symbol(_identifier(s.name), **s.assumptions0) for s in symbols}
    printer = PythonCodePrinter({"fully_qualified_modules": False})
    body = printer.doprint(value.xreplace(renamed))
    imports = sorted(printer.module_imports.get("math", ()))
    head = f"from math import {', '.join(imports)}\n\n\n" if imports else ""
    name, arguments = _identifier(derivation.id or "result"), ", ".join(renamed[s].name for s in symbols)
    return f'{head}def {name}({arguments}):\n    """{_summary(derivation)}"""\n    return {body}\n'


def _summary(derivation: Derivation) -> str:
    printer = TextPrinter("ours", derivation.topic)
    statement = f"{printer.doprint(derivation.lhs)} {derivation.relation} {printer.doprint(derivation.rhs)}"
    # This text becomes a docstring, where a backslash or a quotation mark could end or change it.
    return f"{derivation.title}: {statement}.".replace("\\", "/").replace('"', "'")


def _nodes(expr: Basic) -> Iterable[Basic]:
    yield expr
    for child in expr.args:
        yield from _nodes(child)


def _is_closed(node: Basic) -> bool:
    if not isinstance(node, Expr) or not isinstance(node, _CLOSED):
        return False
    return not node.is_infinite and node.is_real is not False


def _identifier(name: str) -> str:
    text = "".join(c if c.isalnum() else "_" for c in name)
    return f"{text}_" if keyword.iskeyword(text) else text


@view("json")
def statement_json(derivation: Derivation | Layer) -> dict[str, Any]:
    """Return a result or layer as plain data for JSON; expressions as SymPy's `srepr`, indices counting from 0.

    Result       id, title, topic, claims (lhs, relation, rhs, steps, given), definitions, ranges, assumptions, source;
                 of a layer id, inputs, parameters (name, kind, shape), equations, output
    """
    if isinstance(derivation, Layer):
        return _layer(derivation)
    return {
        "id": derivation.id,
        "title": derivation.title,
        "topic": derivation.topic,
        "evidence": derivation.evidence.level,
        "lhs": _srepr(derivation.lhs),
        "relation": derivation.relation,
        "rhs": _srepr(derivation.rhs),
        "steps": [_step(step) for step in derivation.steps],
        "claims": [_claim(claim) for claim in derivation.claims],
        "definitions": [_srepr(equation) for equation in derivation.definitions],
        "ranges": _ranges(derivation.ranges),
        "assumptions": [_assumption(assumption) for assumption in derivation.assumptions],
        "source": derivation.source,
    }


def _srepr(expression: Any) -> str:
    return str(srepr(without_conditions(expression)))


def _layer(layer: Layer) -> dict[str, Any]:
    return {
        "id": layer.name,
        "inputs": [_variable(variable) for variable in layer.inputs],
        "parameters": [_variable(variable) for variable in layer.parameters],
        "equations": [_srepr(equation) for equation in layer.equations],
        "output": layer.outputs[0].name,
        "outputs": [variable.name for variable in layer.outputs],
    }


def _variable(variable: Variable) -> dict[str, Any]:
    return {"name": variable.name, "kind": variable.kind, "shape": [_srepr(along) for along in variable.shape]}


def _step(step: Step) -> dict[str, str]:
    return {"rule": step.rule, "relation": step.relation, "expression": _srepr(step.expression)}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "lhs": _srepr(claim.lhs),
        "relation": claim.relation,
        "rhs": _srepr(claim.rhs),
        "steps": [_step(step) for step in claim.steps],
        "given": [_assumption(assumption) for assumption in claim.given],
    }


def _assumption(assumption: Assumption) -> dict[str, Any]:
    return {"statement": _srepr(assumption.statement), "ranges": _ranges(assumption.ranges), "text": assumption.text}


def _ranges(ranges: Any) -> dict[str, str]:
    return {index.name: _srepr(size) for index, size in ranges.items()}
