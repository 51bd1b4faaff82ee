"""An optimised layer as a module of Python that runs without this package: the layer, its weights, its tiles.

Result       a text that needs NumPy, and threadpoolctl where it has loops over tiles: the function of the layer;
             `packed`, which computes its weights and sizes from the weights that `compile_layer(layer)` takes; and the
             helpers of both
Assumes      the caller gives the sizes that are not an axis of a weight

>>> from derivations.linear import linear
>>> compile(optimised_source(linear()), "linear.py", "exec").co_name
'<module>'
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Set
from functools import cache
from itertools import groupby

from derivations.language.layers.layer import Layer
from numeric.codegen.compile import PRIMITIVES
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.lowering.module import LoweredLayer, lowered
from numeric.codegen.syntax import names_in, statements
from numeric.optimize import optimize
from numeric.optimize.standalone.definitions import definitions, needed, renamed
from numeric.optimize.standalone.weights import WeightsSource
from numeric.runtime import blas_threads, few_rows, measured, teams, tiles
from numeric.runtime.structure import identifier

__all__ = ["optimised_source"]

STANDARD = {"math": "import math", "reduce": "from functools import reduce"}
MACHINERY = (few_rows, measured, tiles, teams, blas_threads)
LIBRARIES = {"np": "import numpy as np", "special": "from scipy import special"}


def optimised_source(layer: Layer, *, without: Iterable[str] = ()) -> str:
    """Return an optimised layer as the text of a module that runs without this package.

    Raises       CompileError where an equation has no NumPy form or a part has weights that cannot be passed on,
                 ValueError for an unknown pass
    """
    optimised = optimize(layer, without=without)
    code = lowered(optimised.layer, pulled=optimised.pulled)
    weights = WeightsSource(optimised, code)
    whole = [renamed(compiled, name) for name, compiled in code.plain.items()]
    own = [definitions(code.text), *whole, weights.functions]
    primitives = needed(PRIMITIVES, own)
    machinery = needed(_machinery(), [*own, primitives])
    names = [name for part in (*own, primitives, machinery) for name in part]
    # in one module the second definition would silently replace the first
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CompileError(f"layer {layer.name}: {twice[0]} is the name of a helper of its code; rename the layer")
    sections = [*(text for part in (*own, primitives) for text in part.values()), *_grouped(machinery)]
    text = "\n\n".join(sections)
    return f"{_head(layer, code, weights)}\n\n{_imports(names_in(text))}\n\n{text}"


@cache
def _machinery() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for module in MACHINERY:
        for name, text in definitions(inspect.getsource(module)).items():
            # `if` statements are named by their line, which another module has as well
            found[f"{name} of {module.__name__}" if name.startswith("if ") else name] = text
    return found


@cache
def _machinery_statements() -> list[ast.stmt]:
    return [each for module in MACHINERY for each in statements(inspect.getsource(module))]


def _grouped(machinery: Mapping[str, str]) -> list[str]:
    """Return the texts of the helpers for tiles, with consecutive assignments joined into one text."""
    groups = groupby(machinery.values(), lambda text: not text.startswith(("def ", "class ", "@", "if ")))
    texts = [text for together, each in groups for text in (["".join(each)] if together else each)]
    return ["# --- tiles ---\n\n" + texts[0], *texts[1:]] if texts else []


def _head(layer: Layer, code: LoweredLayer, weights: WeightsSource) -> str:
    lines = [f'"""The layer `{layer.name}` over NumPy arrays, optimised; inputs may have batch axes in front.', ""]
    inputs = ", ".join(code.source.inputs)
    if weights.arguments:
        lines += [f"    weights = packed({', '.join(weights.arguments)})  # once"]
        inputs += ", **weights"
    stacks = [f"{name}_gradient" for name in code.source.pulled_stacks]
    outputs = ", ".join([*(identifier(v.name) for v in layer.outputs), *stacks])
    return "\n".join([*lines, f"    {outputs} = {code.source.name}({inputs}, threads=2)", '"""'])


def _imports(used: Set[str]) -> str:
    """Return the import lines that a text needs, of those of compiled layers and of the tiles."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for is_standard, lines in ((True, STANDARD), (False, LIBRARIES)):
        found[is_standard] |= {line for name, line in lines.items() if name in used}
    members: dict[str, set[str]] = {}
    for node in _machinery_statements():
        match node:
            case ast.Import(names=names):
                kept = [each for each in names if (each.asname or each.name) in used]
                found[_is_standard(names[0].name)] |= {ast.unparse(ast.Import([each])) for each in kept}
            case ast.ImportFrom(module=str(module), names=names) if not module.startswith("numeric."):
                members.setdefault(module, set()).update(each.name for each in names if each.name in used)
    for module, kept_names in members.items():
        if kept_names:
            found[_is_standard(module)].add(f"from {module} import {', '.join(sorted(kept_names))}")
    return "\n\n".join("\n".join(sorted(lines, key=_order)) for lines in found.values() if lines) + "\n"


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] not in ("numpy", "threadpoolctl")


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line
