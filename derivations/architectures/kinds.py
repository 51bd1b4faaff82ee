"""Layers of one kind in one run: a sum over the layers of a stack does not depend on their order.

Result       parameters, operations and bytes of a stack are sums over its layers; a kind of layer is counted once and
             multiplied by the number of layers of that kind, in any order
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sympy import Symbol

from derivations.architectures.description import Block, Experts, Model, Run, Stack
from derivations.symbols import size

__all__ = ["by_kind", "kind_of", "without_tower"]


def kind_of(block: Block, sparse: bool) -> str:
    """Return the kind of a layer: dense or experts if `sparse`, else network, recurrent, window or full."""
    if sparse:
        return "experts" if isinstance(block.feed_forward, Experts) else "dense"
    if block.attention is None:
        return "network"
    if block.recurrent:
        return "recurrent"
    near = block.attention.kept or block.reach
    return "full" if near is None else "window"


def by_kind(model: Model) -> Model:
    """Return a model with the same layers, in one run for each kind: its counts are equal, but its function is not.

    A stack that lists every kind of layer once does not change, nor one to whose rows others are added between layers.
    The number of layers of each kind is a new size.
    """
    architecture, values = model.architecture, dict(model.values)
    for side in ("encoder", "decoder"):
        stack: Stack | None = getattr(architecture, side)
        if stack is not None and not stack.added and len(stack.blocks) > len(set(stack.blocks)):
            for run in stack.runs:
                values.pop(run.count, None)
            runs, numbers = _together(stack, model, {symbol.name for symbol in values})
            changed = replace(stack, runs=runs)
            encodes = side == "encoder"
            architecture = replace(architecture, encoder=changed) if encodes else replace(architecture, decoder=changed)
            values |= numbers
    return model if architecture is model.architecture else replace(model, architecture=architecture, values=values)


def without_tower(model: Model) -> Model:
    """Return the language model alone of a model that also reads pictures."""
    whole = model.architecture
    if whole.tower is None:
        return model
    decoder = None if whole.decoder is None else replace(whole.decoder, added=0)
    return replace(model, architecture=replace(whole, tower=None, decoder=decoder))


def _together(stack: Stack, model: Model, taken: set[str]) -> tuple[tuple[Run, ...], dict[Symbol, int]]:
    """Return one run for each kind of layer, in order of first appearance, and the numbers of layers."""
    numbers: Counter[Block] = Counter()
    for run in stack.runs:
        times = int(run.count.xreplace(model.values))
        for block in run.blocks:
            numbers[block] += times
    sparse = any(isinstance(block.feed_forward, Experts) for block in numbers)
    names = [f"N_{kind_of(block, sparse)}" for block in numbers]
    if len(set(names)) < len(names) or not taken.isdisjoint(names):
        names = [f"N_kind_{number}" for number, _ in enumerate(names, len(taken))]
    symbols = [size(name) for name in names]
    runs = tuple(Run((block,), symbol) for block, symbol in zip(numbers, symbols, strict=True))
    return runs, dict(zip(symbols, numbers.values(), strict=True))
