"""Formulas of entries as operations that work in place: `x / sqrt(v + epsilon)` becomes three ufuncs.

The printer of formulas prints the formula as Python, and the syntax tree of that text is split: an operation whose
result has as many columns as its operand may overwrite it. An expression that is not a ufunc, such as a choice between
cases, stays one expression. A number per row is computed in float64 and rounded once, when it is combined with the
rows: v + epsilon is not rounded before its root is taken. One such number serves a row of many entries, which would
all share its error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from numeric.codegen.lowering.operands import InDouble, Operand
from numeric.codegen.lowering.registers import Layout, Register
from numeric.codegen.syntax import expression_tree, tidied

__all__ = ["FormulaWriter"]

UFUNCS = {ast.Add: "np.add", ast.Sub: "np.subtract", ast.Mult: "np.multiply", ast.Div: "np.divide", ast.Pow: "np.power"}
CALLED = {
    *(
        f"np.{name}"
        for name in ("exp", "exp2", "log", "sqrt", "tanh", "sin", "cos", "maximum", "minimum", "abs", "logaddexp")
    ),
    *(f"special.{name}" for name in ("erf", "expit")),
}

NUMBERS = (Layout.NUMBERS, Layout.HEAD_NUMBERS)

Emit = Callable[..., Register]  # (ufunc, operands, last=whether its result is the value of the formula)


class FormulaWriter:
    """Writes the operations of one formula; `emit` takes a ufunc and its operands and returns the result's register."""

    def __init__(
        self, operands: Mapping[str, Register], emit: Emit, uninterpreted: Callable[[str, list[Register]], Register]
    ):
        self.operands = dict(operands)
        self.emit, self.uninterpreted = emit, uninterpreted
        self.known: dict[str, Operand] = {}
        self.rounded: dict[InDouble, Register] = {}
        self.last: ast.expr | None = None

    def write(self, text: str) -> Register | str:
        """Return the register of a formula's value, or its text if it contains no array of the tile."""
        body = expression_tree(text)
        self.last = body
        return self._held(self._value(body), last=True)

    def _value(self, node: ast.expr) -> Operand:
        if isinstance(node, ast.NamedExpr):
            value = self._held(self._value(node.value))
            if isinstance(value, str):
                raise ValueError(f"{ast.unparse(node)}: a name for what is not an array")
            self.operands[node.target.id] = value
            return value
        if not self._arrays(node):
            return ast.unparse(node)
        if isinstance(node, ast.Name):
            return self.operands[node.id]
        # equal parts of a formula are computed once
        key = ast.dump(node)
        if key not in self.known:
            self.known[key] = self._operation(node)
        return self.known[key]

    def _operation(self, node: ast.expr) -> Operand:
        last = node is self.last
        match node:
            case ast.BinOp(_, ast.Mult() | ast.Div(), _) if self._is_scaled(node):
                return self._scaled(node, last)
            case ast.BinOp(left, ast.Pow(), ast.Constant(2)):
                # products instead of np.power, which is many times slower
                return self._ufunc("np.square", (self._value(left),), last=last)
            case ast.BinOp(left, ast.Pow(), ast.Constant(3)):
                base = self._value(left)
                return self._ufunc("np.multiply", (self._ufunc("np.square", (base,)), base), last=last)
            case ast.BinOp(left, operator, right) if type(operator) in UFUNCS:
                operands = (self._value(left), self._value(right))
                return self._ufunc(UFUNCS[type(operator)], operands, last=last)
            case ast.UnaryOp(ast.USub(), operand):
                return self._ufunc("np.negative", (self._value(operand),), last=last)
            case ast.Call(function, arguments, []) if ast.unparse(function) in CALLED:
                return self._ufunc(ast.unparse(function), tuple(self._value(a) for a in arguments), last=last)
        return self._uninterpreted(node)

    def _ufunc(self, name: str, operands: tuple[Operand, ...], last: bool = False) -> Operand:
        """Write one operation, or postpone it where its result is at most one number for each row."""
        if all(isinstance(o, str | InDouble) or o.layout in NUMBERS for o in operands):
            return InDouble(name, operands)
        return self.emit(name, tuple(self._held(o) for o in operands), last=last)

    def _held(self, value: Operand, last: bool = False) -> Register | str:
        """Return the register of a value; a postponed operation is written now."""
        if not isinstance(value, InDouble):
            return value
        if value not in self.rounded:
            self.rounded[value] = self.emit(value.ufunc, value.operands, last=last)
        return self.rounded[value]

    def _is_scaled(self, node: ast.expr) -> bool:
        """Return whether a product has several numbers among its factors, which one number can replace."""
        above, below = _factors(node)
        numbers = [factor for factor in (*above, *below) if not self._arrays(factor)]
        return len(numbers) > 1 and any(self._arrays(factor) for factor in above)

    def _scaled(self, node: ast.expr, last: bool) -> Operand:
        """Write a product after combining its plain numbers into a single number."""
        above, below = _factors(node)
        numbers = [" * ".join(f"({ast.unparse(f)})" for f in side if not self._arrays(f)) for side in (above, below)]
        # one number is multiplied once into all entries, in place of one pass for each number
        number = f"{numbers[0] or '1'} / ({numbers[1]})" if numbers[1] else numbers[0]
        first, *arrays = (factor for factor in above if self._arrays(factor))
        value = self._value(first)
        for factor in arrays:
            value = self._ufunc("np.multiply", (value, self._value(factor)))
        for factor in (factor for factor in below if self._arrays(factor)):
            value = self._ufunc("np.divide", (value, self._value(factor)))
        return self._ufunc("np.multiply", (value, tidied(number)), last=last)

    def _uninterpreted(self, node: ast.expr) -> Register:
        names = [name for name in dict.fromkeys(self._arrays(node)) if not self._is_bound_inside(node, name)]
        registers = [self.operands[name] for name in names]
        text = ast.unparse(node)
        for name, register in zip(names, registers, strict=True):
            text = ast.unparse(_Renamed(name, register.name).visit(expression_tree(text)))
        return self.uninterpreted(text, registers)

    def _is_bound_inside(self, node: ast.expr, name: str) -> bool:
        return any(isinstance(each, ast.NamedExpr) and each.target.id == name for each in ast.walk(node))

    def _arrays(self, node: ast.expr) -> list[str]:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return [name for name in names if name in self.operands and self.operands[name].layout != Layout.FIXED]


def _factors(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return the factors in the numerator and those in the denominator of a product."""
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            (a, b), (c, d) = _factors(left), _factors(right)
            return a + c, b + d
        case ast.BinOp(left, ast.Div(), right):
            (a, b), (c, d) = _factors(left), _factors(right)
            return a + d, b + c
    return [node], []


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str):
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return expression_tree(self.new) if node.id == self.old else node
