"""A flat layer as a Python module: a function for the layer, and one for each layer that it repeats or maps.

Result       text that imports NumPy and the tiles of this package; Python's own loader makes it a module, so that
             errors show its lines
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from types import CodeType, ModuleType
from typing import Any

from derivations.language.differentiation.tape import is_gradient
from derivations.language.layers.layer import Layer, Repeat
from derivations.language.layers.names import fresh_name
from derivations.language.layers.passing import with_arrays_passed
from numeric.codegen.compile import PRIMITIVES, CompiledLayer, compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.lowering.expressions import applied_to_members
from numeric.codegen.lowering.names import HELPERS, beside_own
from numeric.codegen.lowering.pullbacks import pullbacks_of
from numeric.codegen.lowering.source import FunctionSource
from numeric.codegen.printer import Call
from numeric.runtime.structure import applications, identifier, weight_tree

__all__ = ["LoweredLayer", "lowered"]

_numbers = count(1)


@dataclass(frozen=True)
class LoweredLayer:
    """The code of a flat layer: its text, its function, its `FunctionSource`, and the layers compiled without tiles."""

    text: str
    function: Any
    source: FunctionSource
    plain: Mapping[str, CompiledLayer]  # layers applied in families, compiled without tiles


@lru_cache(maxsize=256)
def lowered(
    layer: Layer, without: frozenset[str] = frozenset(), pulled: tuple[tuple[Layer, Layer], ...] = ()
) -> LoweredLayer:
    """Return the code of a flat layer; `without` names the switches of `choices.SWITCHES` to turn off.

    `pulled` maps each layer that is pulled back through to its gradient.

    Raises       CompileError where an equation has no NumPy form
    """
    blocks: dict[Layer, FunctionSource] = {}
    plain: dict[str, CompiledLayer] = {}
    main = _function(layer, blocks, plain, without, dict(pulled))
    sources = [*blocks.values(), main]
    text = _text(sources, plain)
    return LoweredLayer(text, getattr(_module(layer.name, text, plain), main.name), main, plain)


def _function(
    layer: Layer,
    blocks: dict[Layer, FunctionSource],
    plain: dict[str, CompiledLayer],
    without: frozenset[str],
    pulled: Mapping[Layer, Layer],
) -> FunctionSource:
    layer = layer if is_gradient(layer) else with_arrays_passed(layer, keep=applied_to_members)
    of_members = [applied_to_members(equation) for equation in layer.equations]
    slopes = {node.applied.layer: pulled[node.applied.layer] for node in pullbacks_of(layer)}
    for each in slopes.values():
        if each not in blocks:
            blocks[each] = _function(each, blocks, plain, without, pulled)
    for node in applications(layer):
        if (isinstance(node, Repeat) or node in of_members) and node.layer not in blocks:
            blocks[node.layer] = _function(node.layer, blocks, plain, without, pulled)

    def call(node: Any) -> Call:
        if weight_tree(node.layer, frozenset(node.bound)):
            raise CompileError(
                f"layer {layer.name}: the part {node.name}, inside a family, has weights of its own, which has no form "
                "in tiles yet; use compile_layer"
            )
        name = f"plain_{identifier(node.layer.name)}"
        while name in plain and plain[name].layer != node.layer:
            name += "_"
        plain.setdefault(name, compile_layer(node.layer))
        compiled = plain[name]
        sizes = {identifier(s.name): s for s in compiled.sizes}
        scalars = tuple(identifier(s.name) for s in node.layer.scalars)
        return Call(name, sizes, scalars)

    taken = {name for block in blocks.values() for name in (block.name, block.tables)}
    name = fresh_name(beside_own(identifier(layer.name)), taken)
    return FunctionSource(name, layer, blocks, call, frozenset(taken), without, slopes)


def _text(sources: list[FunctionSource], plain: dict[str, CompiledLayer]) -> str:
    functions = "\n\n".join(source.text for source in sources)
    primitives = [name for name in PRIMITIVES if f"{name}(" in functions]
    imports = [
        "import math",
        *([f"from functools import {', '.join(names)}"] if (names := _of_functools(functions)) else []),
        "",
        "import numpy as np",
    ]
    imports += ["from numeric.runtime.special import special"] if "special." in functions else []
    imports += ["", *([f"from numeric.runtime.primitives import {', '.join(primitives)}"] if primitives else [])]
    for module, helpers in HELPERS.items():
        called = [name for name in helpers if f"{name}(" in functions]
        imports += [f"from {module} import {', '.join(called)}"] if called else []
    name = sources[-1].layer.name
    head = f'"""The layer `{name}` over NumPy arrays, in tiles of rows; inputs may have batch axes in front."""'
    return "\n".join([head, "", *imports]).rstrip("\n") + "\n\n\n" + functions


def _of_functools(functions: str) -> list[str]:
    return [name for name in ("lru_cache", "reduce") if f"{name}(" in functions]


class _Loader(importlib.abc.InspectLoader):
    """Loads a module from a text."""

    def __init__(self, text: str, names: dict[str, Any]):
        self.text, self.names = text, names

    def get_source(self, fullname: str) -> str:
        """Return the text."""
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled text."""
        return self.source_to_code(self.text, f"<{fullname}>")

    def exec_module(self, module: ModuleType) -> None:
        """Define the given names in the module, then run it."""
        module.__dict__.update(self.names)
        super().exec_module(module)


def _module(name: str, text: str, plain: dict[str, CompiledLayer]) -> ModuleType:
    name = f"{identifier(name)}_{next(_numbers)}"
    loader = _Loader(text, {each: compiled.function for each, compiled in plain.items()})
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    # tracebacks and inspect.getsource read the lines of a file from this cache
    linecache.cache[f"<{name}>"] = len(text), None, text.splitlines(keepends=True), f"<{name}>"
    return module
