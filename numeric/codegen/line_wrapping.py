"""Line wrapping of emitted source: at commas in brackets, and before the signs of a sum.

>>> print(wrapped_statement("    Y, tape = forward(X, W)", 24))
    Y, tape = forward(
        X, W
    )
"""

import ast
import re
from collections.abc import Iterator
from textwrap import TextWrapper
from typing import TypeAlias

from numeric.codegen.syntax import statements

__all__ = ["WIDTH", "wrapped_items", "wrapped_statement"]

WIDTH = 112  # of the emitted lines, without the shapes after them
Operators: TypeAlias = tuple[type[ast.operator], ...]
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//", ast.Mod: "%"}
_SUM: Operators = (ast.Add, ast.Sub)
_PRODUCT: Operators = (ast.Mult, ast.Div, ast.MatMult, ast.FloorDiv, ast.Mod)
_OF_BITS: Operators = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)  # bind looser than a sum
_LOOSER = (ast.NamedExpr, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Compare)  # operands only inside brackets


def wrapped_statement(line: str, width: int = WIDTH) -> str:
    """Return an assignment or a return statement, broken into lines of limited width where its form allows it."""
    if len(line) <= width:
        return line
    text = line.lstrip()
    indent = line[: -len(text)]
    statement = statements(text)[0]
    layouts = list(_layouts(statement, text, indent, width))
    opened = ["\n".join(_opened(each, width) for each in layout.splitlines()) for layout in layouts]
    for layout in (*layouts, *opened):
        if all(len(each) <= width for each in layout.splitlines()):
            return layout
    return line


def wrapped_items(items: list[str], indent: str, used: int = 0, width: int = WIDTH) -> str:
    """Return items separated by commas, in lines of limited width; no item is broken."""
    # a space inside an item becomes a no-break space, so that the wrapper breaks between items only
    text = ", ".join(item.replace(" ", "\xa0") for item in items)
    wrapper = TextWrapper(
        width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(wrapper.wrap(" " * used + text)).replace("\xa0", " ")


def _layouts(statement: ast.stmt, text: str, indent: str, width: int) -> Iterator[str]:
    """Yield the ways to wrap a statement, the one with the fewest breaks first."""
    match statement:
        case ast.Return(value=value) if value is not None:
            yield from (f"{indent}return {each}" for each in _wrapped_values(value, text, indent, width))
        case ast.Assign(targets=[target], value=value):
            left, right = (ast.get_source_segment(text, node) or "" for node in (target, value))
            values = list(_wrapped_values(value, text, indent, width))
            yield from (f"{indent}{left} = {each}" for each in values)
            if isinstance(target, ast.Tuple):
                names = _bracketed("(", _members(target.elts, text), ")", indent, width)
                yield from (f"{indent}{names} = {each}" for each in (right, *values))


def _wrapped_values(value: ast.expr, text: str, indent: str, width: int) -> Iterator[str]:
    whole = ast.get_source_segment(text, value) or ""
    match value:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            given = [*_segments(arguments, text), *_segments(keywords, text)]
            name = ast.get_source_segment(text, function) or ""
            yield _bracketed(f"{name}(", given, ")", indent, width)
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.BinOp):  # (a / b).astype(c)
                yield f"{_wrapped_chain(function.value, text, indent)}.{function.attr}{whole[len(name) :]}"
        case ast.Tuple(elts=[*first, ast.Tuple(elts=kept)]):
            yield _bracketed(_before(first, text) + "(", _members(kept, text), ")", indent, width)
        case ast.Tuple(elts=[*first, ast.Dict(keys=keys, values=values)]):
            names = _segments([key for key in keys if key], text)
            pairs = [f"{key}: {each}" for key, each in zip(names, _segments(values, text), strict=True)]
            yield _bracketed(_before(first, text) + "{", pairs, "}", indent, width)
        case ast.Tuple(elts=items):
            yield _bracketed("(", _members(items, text), ")", indent, width)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.BinOp(op=ast.Add() | ast.Sub()) as right):
            yield f"{_operand(left, text, _SUM)} * {_wrapped_chain(right, text, indent)}"
            yield _wrapped_chain(value, text, indent)
        case ast.BinOp():
            yield _wrapped_chain(value, text, indent)
    if not isinstance(value, ast.Name):
        yield f"(\n{indent}    {whole}\n{indent})"


def _opened(line: str, width: int) -> str:
    """Break a line that is too long at its longest pair of brackets; pieces that are too long are broken again."""
    brackets = _brackets(line)
    if len(line) <= width or not brackets:
        return line
    start, end = max(brackets, key=lambda bracket: bracket[1] - bracket[0])
    indent = line[: len(line) - len(line.lstrip())]
    inside = (f"{indent}    {piece}" for piece in _pieces(line[start + 1 : end]))
    return "\n".join(_opened(each, width) for each in (line[: start + 1], *inside, indent + line[end:]))


def _brackets(line: str) -> list[tuple[int, int]]:
    """Return the pairs of indices of the outermost brackets that open and close in a line, leaving out quoted ones."""
    found, opened, quote = [], [], ""
    for place, sign in enumerate(line):
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        elif sign in "([{":
            opened.append(place)
        elif sign in ")]}" and opened:
            start = opened.pop()
            found += [(start, place)] if not opened else []
    return found


def _pieces(inside: str) -> list[str]:
    """Split a text from inside brackets: after commas, else before signs of a sum, else before signs of a product."""
    held, quoted = list(inside), re.finditer(r"'[^']*'|\"[^\"]*\"", inside)
    for start, end in (*_brackets(inside), *((match.start(), match.end() - 1) for match in quoted)):
        held[start : end + 1] = "#" * (end + 1 - start)
    plain = "".join(held)
    for signs in (r"(?<=,) ", r" (?=[+-] )", r" (?=[*/@] )"):
        cuts = [match.span() for match in re.finditer(signs, plain)]
        if cuts:
            starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(inside)]
            return [inside[start:end] for start, end in zip(starts, ends, strict=True)]
    return [inside]


def _bracketed(opening: str, items: list[str], closing: str, indent: str, width: int) -> str:
    return f"{opening}\n{wrapped_items(items, indent + '    ', width=width)}\n{indent}{closing}"


def _before(items: list[ast.expr], text: str) -> str:
    return "".join(f"{item}, " for item in _segments(items, text))


def _wrapped_chain(value: ast.BinOp, text: str, indent: str) -> str:
    """Return a sum or a product in brackets; each term or factor after the first begins a line."""
    parts = _parts(value, text, _SUM if isinstance(value.op, _SUM) else _PRODUCT)
    lines = "\n".join(f"{indent}    {part}" for part in parts)
    return f"(\n{lines}\n{indent})"


def _parts(value: ast.expr, text: str, level: Operators) -> list[str]:
    """Return the terms of a sum or the factors of a product, each after the first with its sign in front."""
    looser = _SUM if level is _PRODUCT else ()
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, level)):
        return [_operand(value, text, looser)]
    # a - (b - c) needs its brackets, and (a - b) - c does not: operators of one level group from the left
    right = _operand(value.right, text, (*level, *looser))
    return [*_parts(value.left, text, level), f"{_SIGNS[type(value.op)]} {right}"]


def _operand(node: ast.expr, text: str, in_brackets: Operators) -> str:
    """Return an operand, in brackets where the split text would otherwise read differently."""
    whole = ast.get_source_segment(text, node) or ""
    bracketed = isinstance(node, ast.BinOp) and isinstance(node.op, (*in_brackets, *_OF_BITS))
    bracketed = bracketed or isinstance(node, _LOOSER)
    return f"({whole})" if bracketed else whole


def _members(nodes: list[ast.expr], text: str) -> list[str]:
    """Return the members of a tuple; a single one keeps its comma."""
    return [f"{each}," for each in _segments(nodes, text)] if len(nodes) == 1 else _segments(nodes, text)


def _segments(nodes: list[ast.expr] | list[ast.keyword], text: str) -> list[str]:
    return [ast.get_source_segment(text, node) or "" for node in nodes]
