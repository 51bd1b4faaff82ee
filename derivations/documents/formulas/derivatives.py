r"""Parsing of derivatives: fractions, `\partial y`, gradients, and differentials `dy`.

Definition   `\frac{\partial y}{\partial x}`, `\frac{dy}{dx}` and `\mathrm{d}y / \mathrm{d}x` are derivatives; in
             `\frac{\partial}{\partial x} y` the operand comes after
"""

from __future__ import annotations

import re
from dataclasses import replace

from derivations.documents.formulas import applications, building, scripts
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import Call, Derivative, Name, Node, Number, Power, Product, Quotient

__all__ = ["fraction", "is_derivative", "read_differential", "read_gradient", "read_operand"]

_MARKED = re.compile(r"d[A-Zfxyz]\Z")  # a differential of plain text is one word: `dL`, `dy`; `dk` is a size


def fraction(above: Node, below: Node, start: int, end: int, slashed: bool = False) -> Node:
    """Return a fraction, or the derivative that it denotes.

    If the operand of the derivative comes after the fraction, `of` is an empty name.
    """
    by = _differentials(below)
    of = _differential(above)
    if by and of is not None:
        return Derivative(of, by, start=start, end=end)
    of, variable = _total(above), _total(below)
    if (not slashed or is_derivative(above, below)) and of is not None and isinstance(variable, Name) and variable.base:
        return Derivative(of, (variable,), start=start, end=end)
    return Quotient(above, below, slashed, start=start, end=end)


def is_derivative(above: Node, below: Node) -> bool:
    """Return whether both sides of a slash are certainly differentials: `∂L / ∂W`, `dL / dW`, but not `d x / d y`."""
    if isinstance(above, Call) and above.function.base == "∂":
        return True
    return all(isinstance(each, Name) and (each.accent == "d" or _MARKED.match(each.base)) for each in (above, below))


def _differential(node: Node) -> Node | None:
    """Return y for `∂y`, an empty name for `∂` alone, and None for anything else."""
    match node:
        case Call(function=Name(base="∂"), arguments=(operand,)):
            return operand
        case Product(factors=(Call(function=Name(base="∂"), arguments=(operand,)), *others)):
            if any(isinstance(part, Name) and part.base == "∂" for each in others for part in each.walk()):
                return None
            return replace(node, factors=(operand, *others))  # all of the numerator is differentiated
        case Name(base="∂"):
            return Name("", start=node.end, end=node.end)
    return None


def _differentials(node: Node) -> tuple[Node, ...]:
    """Return the variables of `∂x ∂y`, twice x for `∂x^2`."""
    parts = node.factors if isinstance(node, Product) else (node,)
    by: list[Node] = []
    for part in parts:
        match part:
            case Call(function=Name(base="∂"), arguments=(Power(base=Name() as name, exponent=Number() as times),)):
                if times.value not in (2, 3, 4):
                    return ()
                by += [name] * int(times.value)
            case Call(function=Name(base="∂"), arguments=(operand,)):
                by.append(operand)
            case _:
                return ()
    return tuple(by)


def _total(node: Node) -> Node | None:
    """Return y for `d y`, an empty name for `d` alone, and None for anything else."""
    match node:
        case Name(accent="d"):
            return replace(node, accent="")
        case Name(base=base) if _MARKED.match(base):
            return replace(node, base=base[1:])
        case Call(function=Name(accent="d") as function):
            return replace(node, function=replace(function, accent=""))
        case Name(base="d") if node == Name("d"):
            return Name("", start=node.end, end=node.end)
        case Product(factors=(Name(base="d") as first, operand), operators=("",)) if first == Name("d"):
            return operand
    return None


# --- reading ---


def read_operand(reader: Grammar) -> Node:
    """Read the operand of a derivative: one factor, with an optional number in front of it.

    Brackets after a letter hold its arguments.
    """
    reader.deeper()
    node = _operand(reader)
    if _is_number(node) and reader.factor_next():
        node = Product((node, _operand(reader)), ("",), start=node.start, end=reader.end)
    reader.depth -= 1
    return node


def _operand(reader: Grammar) -> Node:
    return reader.postfix(applications.read_name(reader, forced=True)) if reader.at("letter") else reader.factor()


def _is_number(node: Node) -> bool:
    match node:
        case Number():
            return True
        case Quotient(numerator=Number(), denominator=Number()):
            return True
    return False


def read_differential(reader: Grammar) -> Node:
    r"""Read `\partial y`. An exponent after the sign is dropped, because the fraction around it gives the order."""
    token = reader.take()
    function = Name("∂", start=token.start, end=token.end)
    if reader.accept("_"):
        by = scripts.read_subscript(reader)
        return Derivative(building.unfenced(read_operand(reader)), by, start=token.start, end=reader.end)
    if reader.accept("^"):
        scripts.read_superscript(reader)
    if not reader.factor_next() or reader.at("text"):
        return function
    return Call(function, (building.unfenced(read_operand(reader)),), start=token.start, end=reader.end)


def read_gradient(reader: Grammar) -> Node:
    r"""Read `\nabla_x y`."""
    token = reader.take()
    by, above, primes = scripts.read_scripts(reader)
    if above is not None or primes:
        if not isinstance(above, Number) or primes:
            stop(token.start, "what stands over a gradient is not known")
        # Hessian or Laplacian: which one is meant only the author knows, so that it is one function of its own
        function = Name("∇", by, (above,), start=token.start, end=reader.end)
        if not reader.factor_next() or reader.at("text"):
            return function
        return Call(function, (building.unfenced(read_operand(reader)),), start=token.start, end=reader.end)
    if not reader.factor_next() or reader.at("text"):
        return Name("∇", by, start=token.start, end=reader.end)
    return Derivative(building.unfenced(read_operand(reader)), by, start=token.start, end=reader.end)
