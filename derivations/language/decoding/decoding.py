r"""The layer at the next positions: decoding with a cache, as a rewriting of layers.

Definition   for a layer over n positions: the layer at the last n of t positions. Its inputs include the keys and
             values (all arrays that are read at all positions) of the t - n earlier positions; its outputs include
             those of the new positions
Result       the rows t - n, ..., t - 1 of the layer at t positions; the outputs for the caches are inputs of the next
             step
Assumes      the layer looks back only; otherwise `NotCausal` names an equation that does not
Source       attention.causal_prefix: output i of causal attention is the attention of query i to the first i keys and
             values; Shazeer (2019), section 2.4

The parts of the layer are written out first. A repetition is a separate link, and each of its copies has separate
caches. `Decoding.links` are in order of evaluation; `Decoding.layer` joins them into one layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sympy import Symbol

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Variable
from derivations.language.decoding.caches import Link
from derivations.language.decoding.next_rows import Rewriting
from derivations.language.decoding.text_situations import with_masks_inside
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Equation, Layer
from derivations.language.layers.names import fresh_name, variables_in

__all__ = ["THEOREM", "Decoding", "next_positions"]

POSITIONS = Symbol("n", integer=True, positive=True)
THEOREM = "attention.causal_prefix"  # the result that permits the rewriting


@dataclass(frozen=True)
class Decoding:
    """A layer at its next positions: its links in order, and the numbers of new positions and of all positions."""

    of: Layer
    links: tuple[Link, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    new: Symbol
    all: Symbol

    @property
    def read_weights(self) -> tuple[Variable, ...]:
        """The weights that repetitions read as inputs. All copies in a repetition share them."""
        known = {*self.inputs, *(v for link in self.links for v in link.writes)}
        return tuple(dict.fromkeys(v for link in self.links for v in link.reads if v not in known))

    @property
    def layer(self) -> Layer:
        """All links (groups of equations, or repetitions) as one layer.

        It takes the inputs and caches, and returns the outputs and the caches' new rows.

        Assumes      the count of each repetition is an integer; the weights of a copy are called `path.number.weight`
        """
        copies = [copy for link in self.links for copy in _copies(link)]
        past = [copy(cache.past) for copy in copies for cache in copy.link.caches]
        new = [copy(cache.new) for copy in copies for cache in copy.link.caches]
        own = (copy(p) for copy in copies for p in copy.link.layer.parameters)
        parameters = dict.fromkeys((*self.read_weights, *own))
        equations = [copy(equation) for copy in copies for equation in copy.link.layer.equations]
        outputs = (*self.outputs, *new)
        name = f"{self.of.name}_next"
        return Layer(name, (*self.inputs, *past), parameters, equations, outputs[0] if len(outputs) == 1 else outputs)


class _Copy:
    """One run of a link, with the names of its variables in the layer of all links."""

    def __init__(self, link: Link, path: str, names: dict[Array, Array]) -> None:
        own = (*link.layer.inputs, *link.layer.parameters, *(e.variable for e in link.layer.equations))
        self.link = link
        self.names = {v: Variable(f"{path}{v.name}", v.shape, v.kind) for v in own} | names

    def __call__(self, node: Any) -> Any:
        """Return a variable or an equation of the link with its outer names."""
        return replace_free(node, self.names)


def _copies(link: Link) -> Iterator[_Copy]:
    if link.count is None:
        yield _Copy(link, "", {})
        return
    inputs, chained = dict(zip(link.layer.inputs, link.reads, strict=False)), link.layer.inputs[0]
    for number in range(int(link.count)):
        path = f"{link.path}.{number}."
        out, is_last = link.layer.outputs[0], number == int(link.count) - 1
        written = link.writes[0] if is_last else Variable(f"{path}{out.name}", out.shape, out.kind)
        yield _Copy(link, path, {**inputs, out: written})
        # the output of this copy is the first input of the next
        inputs[chained] = written


@lru_cache(maxsize=64)
def next_positions(layer: Layer, positions: Symbol = POSITIONS) -> Decoding:
    """Return a layer rewritten for the next positions, where the size `positions` is its number of positions.

    Raises       NotCausal if the layer looks ahead, or if no rule gives the positions that an equation reads
    """
    flat = with_masks_inside(inlined(layer))  # masks with a formula move to the places that read them
    names = {symbol.name for symbol in (*flat.sizes, *flat.scalars)}
    together = Symbol(fresh_name("t", names), integer=True, positive=True)
    rewriting = Rewriting(flat, positions, together, frozenset(), caching=len(flat.inputs))
    rewriting.run()
    links = tuple(_grouped(rewriting))
    outputs = tuple(rewriting.variable(v, rewriting.frame.rows(v)) for v in flat.outputs)
    inputs = tuple(rewriting.given(v) for v in flat.inputs)
    return Decoding(layer, links, inputs, outputs, positions, together)


# --- links ------------------------------------------------------------------------------------------------------------


def _grouped(rewriting: Rewriting) -> Iterator[Link]:
    """Yield the links: repetitions, and between them groups of consecutive equations."""
    groups: list[list[Equation] | Link] = []
    for item in rewriting.items:
        if isinstance(item, Link):
            groups.append(item)
        elif groups and isinstance(groups[-1], list):
            groups[-1].append(item)
        else:
            groups.append([item])
    outputs = {rewriting.variable(v, rewriting.frame.rows(v)) for v in rewriting.of.outputs}
    needed = [set(outputs)]  # the variables that are read after each group, from the last group back
    for group in reversed(groups[1:]):
        reads = set(group.reads) if isinstance(group, Link) else {v for e in group for v in variables_in(e.value)}
        needed.append(needed[-1] | reads)
    for number, (group, later) in enumerate(zip(groups, reversed(needed), strict=True)):
        yield group if isinstance(group, Link) else _flat(rewriting, group, later, number)


def _flat(rewriting: Rewriting, equations: list[Equation], later: set[Variable], number: int) -> Link:
    """Return a link of equations; its outputs are the variables that later links read."""
    defined = dict.fromkeys(e.variable for e in equations)
    caches = tuple(cache for cache in rewriting.caches if cache.whole in defined)
    past = {cache.past for cache in caches}
    read = dict.fromkeys(v for e in equations for v in variables_in(e.value) if v not in defined and v not in past)
    parameters = tuple(v for v in rewriting.of.parameters if v in read)
    inputs = tuple(v for v in read if v not in parameters)
    writes = tuple(v for v in defined if v in later)
    outputs = (*writes, *(cache.new for cache in caches))
    layer = Layer(
        f"{rewriting.of.name}_next_{number}",
        (*inputs, *(cache.past for cache in caches)),
        parameters,
        equations,
        outputs[0] if len(outputs) == 1 else outputs,
    )
    changes = (change for variable in defined for change in rewriting.changes.get(variable, ()))
    return Link(layer, inputs, writes, caches, tuple(changes))
