"""What docs/optimisation.md shows of the optimiser: its passes, the rewritings of a layer, code, the sizes of tiles."""

import inspect
import re
import sys
from collections.abc import Iterable

from derivations.catalogue import get, layer
from derivations.language.layers.layer import Equation
from derivations.language.printing.latex import LatexPrinter
from derivations.language.printing.views import delimiters
from numeric import optimize
from numeric.codegen.lowering.module import lowered
from numeric.optimize import PASSES, Rewrite
from numeric.runtime import tiles

__all__ = ["optimised", "passes", "rewrites", "theorems_of", "tile_sizes"]


def passes() -> str:
    """Return the passes in the order in which they run: what each does, and the results that permit it."""
    lines = ["| pass | what it does | by |", "| --- | --- | --- |"]
    for name, function in PASSES.items():
        does = (inspect.getdoc(function) or "").partition(";")[0].rstrip(".")
        by = "; ".join(f"`{theorem}`" for theorem in theorems_of(name)) or "nothing to prove"
        lines.append(f"| `{name}` | {does} | {by} |")
    return "\n".join(lines) + "\n"


def theorems_of(name: str) -> tuple[str, ...]:
    """Return the results that permit a pass, from the head of its module; passes of one module have one each."""
    module = sys.modules[PASSES[name].__module__]
    found = re.search(r"^Source +(.*?)$", module.__doc__ or "", re.M)
    cited = tuple(found[1].split(", ")) if found else ()
    together = [each for each, function in PASSES.items() if function.__module__ == module.__name__]
    return (cited[together.index(name)],) if len(together) > 1 and cited else cited


def rewrites(name: str) -> str:
    """Return the rewritings of a layer, as printed equations before and after."""
    return "\n".join(_rewriting(each) for each in optimize(layer(name)).every_rewrite())


def _rewriting(rewrite: Rewrite) -> str:
    title = get(rewrite.theorem).title if "." in rewrite.theorem else ""
    head = f"**`{rewrite.name}`**, by `{rewrite.theorem}` ({rewrite.evidence}): {_escaped(title)}"
    parts = [head.rstrip(": "), _display(rewrite.before), "becomes", _display(rewrite.after)]
    if rewrite.packed:
        parts += ["with the weights", _display(rewrite.packed)]
    return "\n\n".join(parts) + "\n"


def _display(equations: Iterable[Equation]) -> str:
    printer = LatexPrinter()
    lines = [line for equation in equations for line in printer.lines(equation)]
    rows = [f"{line.left} &= {line.right}" + f" && {line.ranges}" * bool(line.ranges) for line in lines]
    body = " \\\\\n".join(rows)
    return delimiters("fence")[0](f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}")


def optimised(name: str) -> str:
    """Return the code of an optimised layer: its functions, without what they import."""
    functions = lowered(optimize(layer(name)).layer).text.partition("\n\n\n")[2]
    return f"```text\n{functions.rstrip()}\n```\n"


def tile_sizes() -> str:
    """Return the sizes of tiles, with what is said of them where they are set."""
    found = re.findall(r"^([A-Z]+) = ([^#\n]*?) +# (.*)$", inspect.getsource(tiles), re.M)
    lines = ["| constant of `numeric.runtime.tiles` | value | what |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {getattr(tiles, name):,} | {what} |" for name, _, what in found)]) + "\n"


def _escaped(words: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_<>$" else c for c in words)
