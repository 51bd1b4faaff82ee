"""The incremental form of a layer in pieces that run one after another; the caches are written between them.

Definition   a piece has the equations that can be computed before new rows are appended to some caches; the next piece
             has those that read these caches, and so on; before all, once for a text, run the equations that
             depend on no new position
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from derivations.language.arrays.expression import Variable
from derivations.language.decoding.caches import Cache, Link
from derivations.language.decoding.decoding import Decoding
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.names import variables_in

__all__ = ["Piece", "Run", "runs"]


@dataclass(frozen=True)
class Piece:
    """Equations of a link that run together, after the new rows of some caches are written."""

    layer: Layer
    appends: tuple[Cache, ...] = ()


@dataclass(frozen=True)
class Run:
    """A link in its pieces: those that run once for a text, and those that run at each step.

    The caches of `after` are read by later links alone: their new rows are written after the last piece.
    """

    link: Link
    once: tuple[Piece, ...]
    each: tuple[Piece, ...]
    after: tuple[Cache, ...] = ()


@lru_cache(maxsize=64)
def runs(decoding: Decoding) -> tuple[Run, ...]:
    """Return the pieces of all links, in order of evaluation."""
    moving: set[Variable] = {v for v in decoding.inputs if any(along == decoding.new for along in v.shape)}
    result = []
    for link in decoding.links:
        inside = {own for own, outer in zip(link.layer.inputs, link.reads, strict=False) if outer in moving}
        inside |= {cache.past for cache in link.caches}
        run = _run(link, inside, decoding)
        defined = {v for piece in run.each for v in piece.layer.outputs} | inside
        written = zip(link.layer.outputs, link.writes, strict=False)
        moving |= {outer for own, outer in written if own in defined}
        result.append(run)
    return tuple(result)


def _run(link: Link, moving: set[Variable], decoding: Decoding) -> Run:
    """Group the equations of a link by the time when they run: at the start, or after a number of cache updates."""
    caches = {cache.whole: cache for cache in link.caches}
    level: dict[Variable, int] = dict.fromkeys(moving, 0)
    once: list[Equation] = []
    each: dict[int, list[Equation]] = {}
    appends: dict[int, list[Cache]] = {}
    for equation in link.layer.equations:
        if equation.variable in caches:
            cache = caches[equation.variable]
            # a whole cache is known one level after its new rows: they must be appended before it is read
            level[equation.variable] = 1 + level[cache.new]
            appends.setdefault(1 + level[cache.new], []).append(cache)
            continue
        found = [level[v] for v in variables_in(equation.value) if v in level]
        if not found and not equation.has(decoding.new, decoding.all):
            once.append(equation)
            continue
        level[equation.variable] = max(found, default=0)
        each.setdefault(level[equation.variable], []).append(equation)
    groups = [once, *(each[number] for number in sorted(each))]
    layers = _layers(link, groups)
    first = (Piece(layers[0]),) if once else ()
    steps = (
        Piece(layer, tuple(appends.get(number, ()))) for number, layer in zip(sorted(each), layers[1:], strict=True)
    )
    after = (cache for number, group in appends.items() if number not in each for cache in group)
    return Run(link, first, tuple(steps), tuple(after))


def _layers(link: Link, groups: list[list[Equation]]) -> list[Layer]:
    """Return the layer of each group of equations: its outputs are read by later groups or are outputs of the link."""
    later = [set(link.layer.outputs)]
    for group in reversed(groups[1:]):
        later.append(later[-1] | {v for equation in group for v in variables_in(equation.value)})
    result = []
    for number, (group, wanted) in enumerate(zip(groups, reversed(later), strict=True)):
        defined = dict.fromkeys(equation.variable for equation in group)
        read = dict.fromkeys(v for e in group for v in variables_in(e.value) if v not in defined)
        parameters = tuple(v for v in link.layer.parameters if v in read)
        inputs = tuple(v for v in read if v not in parameters)
        outputs = tuple(v for v in defined if v in wanted)
        name = f"{link.layer.name}_{number}"
        if group:
            result.append(Layer(name, inputs, parameters, group, outputs[0] if len(outputs) == 1 else outputs))
        else:
            result.append(link.layer)
    return result
