"""The code of an optimised layer as a text that runs without this package: the layer, its weights, its tiles.

Result       a module of Python that needs NumPy, and threadpoolctl where there are loops over tiles: the function of the
             layer, `packed`, which makes its weights and sizes of the old weights, and what both call
Assumes      `packed` takes what `compile_layer(layer)` takes as weights; sizes that no weight tells are left to the caller

>>> from derivations.linear import linear
>>> compile(optimised_source(linear()), "linear.py", "exec").co_name
'<module>'
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sympy import Basic, Symbol

from derivations.language.layer import Layer, Repeat
from numeric import tiles
from numeric.compile import PRIMITIVES, CompiledLayer, compile_layer
from numeric.folding import WIDTH, wrapped
from numeric.formula_printer import CompileError
from numeric.lowering.module import LoweredLayer, lowered
from numeric.optimize import Optimised, optimize
from numeric.structure import identifier, weight_tree

__all__ = ["optimised_source"]

STANDARD = {"math": "import math", "reduce": "from functools import reduce"}
LIBRARIES = {"np": "import numpy as np", "special": "from scipy import special"}


def optimised_source(layer: Layer, *, without: Iterable[str] = ()) -> str:
    """Return an optimised layer as the text of a module that runs without this package.

    Raises       CompileError where an equation has no NumPy form or a part has weights that cannot be passed on,
                 ValueError for an unknown pass
    """
    optimised = optimize(layer, without=without)
    code = lowered(optimised.layer)
    functions = _definitions(code.text)
    for name, compiled in code.plain.items():
        functions |= _renamed(compiled, name)
    weights = _Weights(optimised, code)
    functions |= weights.functions
    own = {name: text for name, text in functions.items() if name not in PRIMITIVES}
    primitives = _needed(PRIMITIVES, own)
    machinery = _needed(_definitions(inspect.getsource(tiles)), own | primitives)
    everything = (*own, *primitives, *machinery)
    twice = sorted({name for name in everything if everything.count(name) > 1})
    if twice:
        raise CompileError(f"layer {layer.name}: {twice[0]} is the name of a helper of its code; rename the layer")
    sections = ["\n\n".join(own.values()), "\n\n".join(primitives.values())]
    sections += ["# --- tiles ---\n\n" + "\n\n".join(machinery.values())] if machinery else []
    text = "\n\n".join(filter(None, sections))
    return f"{_head(layer, code, weights)}\n\n{_imports(_names([text]))}\n\n{text}"


def _head(layer: Layer, code: LoweredLayer, weights: _Weights) -> str:
    lines = [f'"""The layer `{layer.name}` over NumPy arrays, optimised; inputs may have batch axes in front.', ""]
    inputs = ", ".join(code.source.inputs)
    if weights.arguments:
        lines += [f"    weights = packed({', '.join(weights.arguments)})  # once"]
        inputs += ", **weights"
    outputs = ", ".join(identifier(v.name) for v in layer.outputs)
    return "\n".join([*lines, f"    {outputs} = {code.source.name}({inputs}, threads=2)", '"""'])


# --- pieces of text -------------------------------------------------------------------------------------------------


def _definitions(text: str) -> dict[str, str]:
    """Return the statements of a module but its imports by the name that they bind; `if` stands for what binds none."""
    lines, found = text.splitlines(keepends=True), dict[str, str]()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
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


def _needed(texts: Mapping[str, str], readers: Mapping[str, str]) -> dict[str, str]:
    """Return those of some texts, by name, that others call, and what they call in turn; and what prepares them."""
    kept, waiting = set[str](), [name for name in _names(readers.values()) if name in texts]
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += [each for each in _names([texts[name]]) if each in texts]
            waiting += [each for each in texts if each.startswith("if ") and kept & _reached(texts, each)]
    return {name: text for name, text in texts.items() if name in kept}


def _reached(texts: Mapping[str, str], name: str) -> set[str]:
    called = {each for each in _names([texts[name]]) if each in texts}
    return called | {each for one in called for each in _names([texts[one]]) if each in texts}


def _names(texts: Iterable[str]) -> set[str]:
    return {node.id for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def _renamed(compiled: CompiledLayer, name: str) -> dict[str, str]:
    """Return the functions of a layer that is evaluated whole, under names of their own."""
    texts = {old: text for old, text in _definitions(compiled.source).items() if old not in PRIMITIVES}
    main = compiled.function.__name__
    new = {old: name if old == main else f"{name}_{old}" for old in texts}
    for old, other in new.items():
        texts = {each: re.sub(rf"(?<![\w.]){old}(?=\()", other, text) for each, text in texts.items()}
    return {new[old]: text for old, text in texts.items()}


def _imports(used: set[str]) -> str:
    """Return the import lines that a text needs, out of those of compiled layers and of the tiles."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for is_standard, lines in ((True, STANDARD), (False, LIBRARIES)):
        found[is_standard] |= {line for name, line in lines.items() if name in used}
    for node in ast.parse(inspect.getsource(tiles)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias for alias in node.names if (alias.asname or alias.name) in used]
            if names:
                kept = type(node)(**{**vars(node), "names": names})
                found[_is_standard(node)].add(ast.unparse(kept))
    return "\n\n".join("\n".join(sorted(lines, key=_order)) for lines in found.values() if lines) + "\n"


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return module.partition(".")[0] not in ("numpy", "threadpoolctl")


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


# --- weights --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Weights:
    """What turns the weights of a layer into those of its optimised form."""

    optimised: Optimised
    code: LoweredLayer
    functions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        new = self._call("packing", self.optimised, None)
        entries = [f'"{name}": {text}' for name, text in (*self._stacks(), *self._sizes())]
        if not self.arguments:
            return
        doc = f'    """Return what `{self.code.source.name}` takes beside its inputs; a part is a dict of its weights."""'
        lines = [_call("def packed", self.arguments, "", ":"), doc]
        if self.code.source.parameters:
            lines.append(f"    new = {new}")
            names = [f'"{name}"' for name in self.code.source.parameters]
            lines.append(_call("    names = ", [*names, ""] if len(names) == 1 else names, "    "))
            entries.insert(0, "**dict(zip(names, new, strict=True))")
        lines.append("    return {\n" + "".join(f"        {entry},\n" for entry in entries) + "    }")
        self.functions["packed"] = "\n".join(lines) + "\n"

    @cached_property
    def arguments(self) -> list[str]:
        """The weights that the caller gives: parameters and parts."""
        tree = weight_tree(self.optimised.original)
        return [*tree.parameters, *tree.parts]

    def _stacks(self) -> Iterator[tuple[str, str]]:
        parts = {identifier(name): (name, part) for name, part in self.optimised.parts.items()}
        for name, node in self.code.source.stacks.items():
            if not node.layer.parameters:
                continue
            path, part = parts.get(name, (name, None))
            outputs = [] if part is None else list(part.packing.outputs)
            if part is None or list(node.layer.parameters) != outputs or any(map(_has_weights, part.parts.values())):
                raise CompileError(
                    f"layer {self.optimised.original.name}: {path} shares weights or has parts with weights of their "
                    "own, which the text cannot pass on yet; use prepare(layer, weights), or the plain source"
                )
            yield name, f"[{self._call(f'packing_{name}', part, 'each')} for each in {_at(path)}]"
        for path, part in self.optimised.parts.items():
            if _has_weights(part) and identifier(path) not in self.code.source.stacks:
                raise CompileError(
                    f"layer {self.optimised.original.name}: the part {path} of a family has weights of its own, which "
                    "the text cannot pass on yet; use the plain source"
                )

    def _call(self, name: str, optimised: Optimised, inside: str | None) -> str:
        """Return a call that gives the new weights as a tuple, and keep the function that it calls."""
        packing = optimised.packing
        if not packing.outputs:
            return "()"
        compiled = compile_layer(packing)
        self.functions.update(_renamed(compiled, name))
        arguments = [_at(p.name, inside) for p in packing.parameters]
        told = dict(self._told())
        arguments += [f"{identifier(s.name)}={told.get(s, identifier(s.name))}" for s in compiled.sizes]
        call = _call(name, arguments, "    ") if inside is None else f"{name}({', '.join(arguments)})"
        return f"({call},)" if len(packing.outputs) == 1 else call

    def _sizes(self) -> Iterator[tuple[str, str]]:
        told = dict(self._told())
        yield from ((name, told[size]) for name, size in self.code.source.sizes.items() if size in told)

    def _told(self) -> Iterator[tuple[Basic, str]]:
        """Yield where sizes can be read off the old weights; a later place is as good as an earlier one."""
        for path, part in self.optimised.parts.items():
            for parameter in part.packing.parameters:
                one = f"{_at(path)}[0]" if self._is_repeated(path) else _at(path)
                yield from _lengths(_at(parameter.name, one), parameter.shape)
        for parameter in self.optimised.packing.parameters:
            yield from _lengths(_at(parameter.name), parameter.shape)

    def _is_repeated(self, path: str) -> bool:
        return isinstance(self.code.source.stacks.get(identifier(path)), Repeat)


def _has_weights(part: Optimised) -> bool:
    return bool(part.packing.parameters) or any(map(_has_weights, part.parts.values()))


def _lengths(text: str, shape: tuple[Basic, ...]) -> Iterator[tuple[Basic, str]]:
    for number, along in enumerate(shape):
        if isinstance(along, Symbol):
            yield along, f"{text}.shape[{number - len(shape)}]"


def _at(path: str, inside: str | None = None) -> str:
    """Return the text of a weight, by its dotted name: an argument, or an entry of a dict."""
    names = [identifier(name) for name in path.split(".")]
    if inside is None:
        inside, *names = names
    return inside + "".join(f'["{name}"]' for name in names)


def _call(name: str, arguments: list[str], indent: str, end: str = "") -> str:
    line = f"{indent}{name}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH:
        return line.removeprefix(indent)
    return f"{name}(\n{wrapped(arguments, indent + ' ' * 4)}\n{indent}){end}"
