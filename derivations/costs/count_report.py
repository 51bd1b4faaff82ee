"""The counts of a model as tables, and their closed forms as a derivation that the judge decides.

A row has a name, the closed form if requested, and the exact integer with its share of the total.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sympy import Add, Expr, Integer, factor

from derivations.attention.multi_head_costs import renamed
from derivations.costs.counts import Counts
from derivations.language.arrays.shapes import shape_text
from derivations.language.counting.costs import Count, flops_by_part, weight_shapes
from derivations.language.counting.operations import entries
from derivations.language.results.derivation import Derivation, claim, derivation, step
from derivations.symbols import m, n

__all__ = ["Section", "count_derivation", "sections"]

Row = tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A table of counts: its title, the names of its columns, its rows."""

    title: str
    columns: Row
    rows: tuple[Row, ...]


def sections(counts: Counts, *, symbolic: bool = False) -> Iterator[Section]:
    """Yield the tables of a model's counts; when `symbolic`, with sizes, closed forms and their origin."""
    if symbolic:
        sizes = sorted(counts.values.items(), key=lambda item: item[0].name)
        yield Section("sizes", ("size", "value"), tuple((str(s), f"{int(value):,}") for s, value in sizes))
    yield _parameters(counts, symbolic)
    yield _layers(counts, symbolic)
    if symbolic:
        yield _weights(counts)
    yield _flops(counts, symbolic)
    if symbolic and counts.phase != "decode":
        yield _flops_by_part(counts)
    yield _memory(counts, symbolic)


def _section(title: str, columns: Row, rows: list[tuple[str, Expr]], counts: Counts, symbolic: bool) -> Section:
    """Return a table with the numbers, and with closed forms if requested."""
    form = ("closed form",) if symbolic else ()
    written = ((name, *([str(factor(value))] if symbolic else []), f"{counts.number(value):,}") for name, value in rows)
    return Section(title, (columns[0], *form, *columns[1:]), tuple(written))


def _parameters(counts: Counts, symbolic: bool) -> Section:
    total = f"total of {counts.model.part}" if counts.model.part else "total"
    rows = [*counts.components.items(), (total, counts.total_parameters)]
    if counts.number(counts.active) != counts.number(counts.total_parameters):
        rows.append(("active for one token", counts.active))
    section = _section("parameters", ("component", "parameters"), rows, counts, symbolic)
    whole = counts.number(counts.total_parameters)
    shares = [f"{counts.number(value) / whole:.1%}" for _, value in rows]
    with_shares = tuple((*row, share) for row, share in zip(section.rows, shares, strict=True))
    return Section(section.title, (*section.columns, "share"), with_shares)


def _layers(counts: Counts, symbolic: bool) -> Section:
    """Return the parameters of one layer of every kind; kinds with equal counts share a row."""
    kinds: dict[tuple[str, Expr], Expr] = {}
    for kind in counts.kinds_of_layers:
        key = (kind.stack, kind.parameters)
        kinds[key] = kinds.get(key, Integer(0)) + kind.count
    rows = tuple(
        (stack, f"{counts.number(many):,}", *([str(factor(one))] if symbolic else []), f"{counts.number(one):,}")
        for (stack, one), many in kinds.items()
    )
    form = ("closed form",) if symbolic else ()
    return Section("one layer", ("stack", "layers", *form, "parameters"), rows)


def _weights(counts: Counts) -> Section:
    """Return the table of weights with their shapes, from which the closed forms of the parameters follow."""
    rows = (
        (path, shape_text(shape), str(copies), str(copies * entries(shape)))
        for path, (shape, copies) in weight_shapes(counts.layer).items()
    )
    return Section("weights", ("weight", "shape", "copies", "parameters"), tuple(rows))


def _flops(counts: Counts, symbolic: bool) -> Section:
    unit = "FLOPs" if counts.convention.unit == "flop" else "multiply-adds"
    length = ", ".join(f"{symbol} = {int(counts.values[symbol]):,}" for symbol in counts.lengths)
    title = f"{unit}: {counts.phase}, batch = {counts.batch}" + (f", {length}" if length else "")
    rows = [(kind, value) for kind, value in counts.flops.by_kind.items() if value != 0]
    return _section(title, ("term", unit), [*rows, ("total", counts.flops.total)], counts, symbolic)


def _flops_by_part(counts: Counts) -> Section:
    """Return the operations of every part of the model, which the closed forms add up."""
    rows = []
    for path, flops in counts.parts.items():
        for kind, value in flops.by_kind.items():
            if value != 0:
                rows.append((path or counts.model.name, kind, str(value), f"{counts.number(value):,}"))
    return Section("operations by part", ("part", "term", "closed form", "number"), tuple(rows))


def _memory(counts: Counts, symbolic: bool) -> Section:
    again = "" if counts.recomputed == "nothing" else f", computing {counts.recomputed} again"
    rows = [
        *([] if isinstance(counts.stored, str) else [("weights", counts.weights_bytes)]),
        ("weights, gradients and Adam states, 16 for each parameter", counts.training_state_bytes),
        ("cache of keys and values, for each position", counts.cache_bytes_per_token),
        *_caches(counts),
        (f"saved residuals (activations for the backward pass){again}", counts.activation_bytes),
    ]
    if counts.recomputed == "nothing":
        rows.append(("the same, attention computed again", counts.activation_bytes_with_recomputation))
    return _section(f"bytes ({counts.dtype})", ("what", "bytes"), rows, counts, symbolic)


def _caches(counts: Counts) -> Iterator[tuple[str, Expr]]:
    """Yield the total bytes of the caches, if there are any."""
    if counts.cache_bytes != 0:
        yield f"the same in all, batch {counts.batch}, {int(counts.values[n]):,} positions", counts.cache_bytes
    if counts.source_cache_bytes != 0:
        yield f"keys and values of the source, {int(counts.values[m]):,} positions", counts.source_cache_bytes


# --- the closed forms, proved ---------------------------------------------------------------------------------------


def count_derivation(counts: Counts) -> Derivation:
    """Return the closed forms of the parameters and of the products of a forward pass as a derivation.

    Definition   the count of the layer is the sum over its components, or its parts, and that sum in closed form
    """
    layer = renamed(counts.layer, _identifier(counts.model.name))
    parts = [flops.matmul for flops in flops_by_part(counts.layer).values() if flops.matmul != 0]
    products = Add(*map(factor, parts), evaluate=False)
    found = derivation(
        f"Parameters of {counts.model.name}, and FLOPs of the products of a forward pass, pairs in full",
        claim(
            Count("parameters", layer),
            step("count", Add(*map(factor, counts.components.values()), evaluate=False)),
            step("algebra", counts.total_parameters),
        ),
        claim(Count("matmul FLOPs", layer), step("count", products), step("algebra", sum(parts, Integer(0)))),
    )
    return replace(found, id=f"{layer.name}.counts")


def _identifier(name: str) -> str:
    return "".join(each if each.isalnum() else "_" for each in name)
