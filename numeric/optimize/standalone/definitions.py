"""The texts of the definitions in a module: select those that another text needs, and rename them."""

import ast
import re
from collections.abc import Iterable, Mapping

from numeric.codegen.compile import PRIMITIVES, CompiledLayer
from numeric.codegen.syntax import names_in, statements

__all__ = ["definitions", "needed", "renamed"]


def definitions(text: str) -> dict[str, str]:
    """Return the statements of a module by the name that they bind, without imports; an `if` statement by its line."""
    lines, found = text.splitlines(keepends=True), dict[str, str]()
    for node in statements(text):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                # a function begins with its first decorator
                first = min((d.lineno for d in node.decorator_list), default=node.lineno)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                first = node.lineno
            case ast.If():
                name, first = f"if {node.lineno}", node.lineno
            case _:
                continue
        if name != "__all__":
            found[name] = "".join(lines[first - 1 : node.end_lineno]).rstrip("\n") + "\n"
    return found


def needed(texts: Mapping[str, str], readers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the texts, by name, that the readers use directly or indirectly, and the statements that prepare them."""
    kept = set[str]()
    waiting = [name for each in readers for text in each.values() for name in names_in(text) if name in texts]
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += [each for each in names_in(texts[name]) if each in texts]
            # an `if` statement runs at import, for its effect on the functions that it calls
            waiting += [each for each in texts if each.startswith("if ") and kept & _reached(texts, each)]
    return {name: text for name, text in texts.items() if name in kept}


def _reached(texts: Mapping[str, str], name: str) -> set[str]:
    called = {each for each in names_in(texts[name]) if each in texts}
    return called | {each for one in called for each in names_in(texts[one]) if each in texts}


def renamed(compiled: CompiledLayer, name: str) -> dict[str, str]:
    """Return the functions of a compiled layer under new names."""
    texts = {old: text for old, text in definitions(compiled.source).items() if old not in PRIMITIVES}
    main = compiled.function.__name__
    new = {old: name if old == main else f"{name}_{old}" for old in texts}
    for old, other in new.items():  # calls only, but no attributes of that name
        texts = {each: re.sub(rf"(?<![\w.]){old}(?=\()", other, text) for each, text in texts.items()}
    return {new[old]: text for old, text in texts.items()}
