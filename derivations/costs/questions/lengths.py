"""The lengths at which attention costs more than feed-forward networks, and a cache more than the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from sympy import Expr, Integer, Min, Poly, Symbol, cancel, expand

from derivations.architectures.composition import build
from derivations.architectures.description import Architecture, Model
from derivations.architectures.kinds import by_kind
from derivations.costs.key_value_caches import cached_numbers
from derivations.costs.questions.answer import (
    Answer,
    first_above,
    first_above_for_good,
    from_length,
    length_of,
    put,
    source_length,
    whole,
)
from derivations.costs.questions.purposes import flops_by_purpose
from derivations.language.counting.convention import Convention
from derivations.language.counting.costs import count_parameters, flops_by_part
from derivations.symbols import n

__all__ = ["cache_against_weights", "crossover", "first_crossover"]


def crossover(model: Model, *, part: str = "pairs", causal: str = "full") -> Answer:
    """Return the length from which on attention needs more FLOPs in products than the feed-forward networks.

    Definition   `part`: "pairs", only scores and weighted sums, or "attention", with projections; `causal` as in the
                 convention: "full" counts pairs that a mask hides, "visible" does not. A source has as many positions
                 as its table of frames, else n; for images, patches count as positions. The number is the first
                 length from which on the statement always holds, or None if it never does
    Assumes      forward pass; pairs grow no slower with every further position (convex), all else in proportion to n
    Raises       ValueError for an unknown part or convention
    """
    model, length = by_kind(model), length_of(model)
    excess, first = _excess(model, part, causal), first_crossover(model, part=part, causal=causal)
    what = "scores and weighted sums take" if part == "pairs" else "attention takes"
    shown = " of visible pairs" if causal == "visible" else ""
    source = "".join(f", the source having {put(model, value)} positions" for value in source_length(model).values())
    words = f"{what} more FLOPs in products{shown} than the feed-forward networks {from_length(first, length)}{source}"
    return Answer(_balance(expand(excess), length), first, words)


def first_crossover(model: Model, *, part: str = "pairs", causal: str = "full") -> int | None:
    """Return only the number of the answer of `crossover`, which is quicker to find."""
    model, length = by_kind(model), length_of(model)
    fixed = {symbol: value for symbol, value in model.values.items() if symbol != length}
    excess = put(replace(model, values=fixed), _excess(model, part, causal))
    return first_above_for_good(lambda k: excess.xreplace({length: Integer(k)}))


def _excess(model: Model, part: str, causal: str) -> Expr:
    """Return the FLOPs in products of attention, or of a part of it, less those of the feed-forward networks."""
    if part not in ("pairs", "attention"):
        raise ValueError(f"crossover: the part is 'pairs' or 'attention', not {part!r}")
    counts = _products(model.architecture, causal)
    of_attention = ["attention pairs", *(["attention projections"] if part == "attention" else [])]
    excess = sum(counts[purpose] for purpose in of_attention) - counts["feed-forward"]
    return excess.xreplace(source_length(model))


@lru_cache(maxsize=8)
def _products(architecture: Architecture, causal: str) -> Mapping[str, Expr]:
    """Return the FLOPs in products by purpose."""
    return flops_by_purpose(flops_by_part(build(architecture), convention=Convention(causal=causal)), products=True)


def _balance(excess: Expr, length: Symbol) -> Expr | None:
    """Return in closed form the length at which an excess a n^2 - b n is 0, or None for other excesses."""
    if excess.has(Min):
        return None
    found = Poly(excess, length)
    if found.degree() != 2 or found.eval(0) != 0:
        return None
    a, b = found.all_coeffs()[:2]
    return cancel(-b / a)


def cache_against_weights(model: Model, *, batch: int = 1, latent: str = "absorbed") -> Answer:
    """Return the length from which on the keys and values of `batch` sequences need more memory than the weights.

    Definition   both in numbers of one type; `latent` is the form of latent attention; None if windows keep the cache
                 smaller, or the model has no cache
    Raises       ValueError for a batch below 1
    """
    whole("batch", batch)
    model = by_kind(model)
    weights, cache = count_parameters(build(model.architecture)), batch * cached_numbers(model, latent)
    excess = put(model, cache - weights)
    first = first_above(lambda k: excess.xreplace({n: Integer(k)})) if cache != 0 else None
    sequences = "one sequence" if batch == 1 else f"{batch} sequences"
    closed = None if cache == 0 or cache.has(Min) else cancel(weights * n / cache)
    words = f"the key-value cache of {sequences} is larger than the weights {from_length(first, n)}"
    return Answer(closed, first, words)
