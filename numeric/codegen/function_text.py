"""The text around the lines of a function: its head, its docstring, the shapes after its lines."""

from collections.abc import Sequence

from sympy import Expr

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text
from numeric.codegen.line_wrapping import WIDTH, wrapped_items, wrapped_statement
from numeric.codegen.plan import Unit
from numeric.runtime.structure import applications, identifier

__all__ = ["function_text"]


def function_text(name: str, arguments: list[str], unit: Unit, lines: Sequence[str], comments: Sequence[str]) -> str:
    """Return the source of a function; `lines` are the lines of its body, `comments` the comments that follow them."""
    body = [_commented(text, comment) for text, comment in zip(lines, comments, strict=True)]
    return "\n".join([_head(name, arguments), *_docstring(unit), *body]) + "\n"


def _head(name: str, arguments: list[str]) -> str:
    line = f"def {name}({', '.join(arguments)}):"
    return line if len(line) <= WIDTH else f"def {name}(\n{wrapped_items(arguments, ' ' * 4)}\n):"


def _commented(text: str, comment: str) -> str:
    """Return a line, wrapped if long, followed by its shape; several shapes only if they fit."""
    lines = wrapped_statement(text)
    several = comment.count("(") > 1 and len(lines.splitlines()[-1] + comment) > WIDTH
    return lines if several else lines + comment


def _docstring(unit: Unit) -> list[str]:
    """Return the docstring: the shapes of the arrays, and for each part the layer to which its weights belong."""
    arrays = [_described(variable) for variable in (*unit.inputs, *unit.layer.parameters)]
    arrays += ["tape, the saved residuals"] if unit.role == "backward" else []
    results = ", ".join(_described(output) for output in unit.layer.outputs)
    text = f"{wrapped_items(arrays, ' ' * 4, used=3).strip()} -> {results}.".strip()
    if len(text) > WIDTH - 10:
        behind = wrapped_items([_described(output) for output in unit.layer.outputs], " " * 4, used=3).strip()
        text = f"{wrapped_items(arrays, ' ' * 4, used=3).strip()}\n    -> {behind}."
    parts = _weights_of_parts(unit)
    lines = [""] if parts else []
    for part, (function, count) in parts.items():
        lines.append(f"    {part}: the weights of {function}" + (f", in a list of {count}" if count else ""))
    if not lines and "\n" not in text and len(text) <= WIDTH - 2:
        return [f'    """{text}"""']
    return [f'    """{text}', *lines, '    """']


def _described(variable: Variable) -> str:
    kind = {"real": "", "boolean": " bool", "integer": " int"}[variable.kind]
    return f"{identifier(variable.name)} {shape_text(variable.shape)}{kind}"


def _weights_of_parts(unit: Unit) -> dict[str, tuple[str, Expr | None]]:
    """Return for each part the function of its layer, and how often it is repeated."""
    layers = {identifier(n.name): identifier(n.layer.name) for n in applications(unit.of)}
    return {part: (layers[part], tree.count) for part, tree in unit.tree.parts.items()}
