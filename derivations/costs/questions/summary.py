"""The few answers that are printed below the counts of a model."""

from __future__ import annotations

from sympy import Rational

from derivations.costs.counts import Counts
from derivations.costs.key_value_caches import cached_numbers
from derivations.costs.questions.answer import Answer, from_length, length_of, percent, source_length
from derivations.costs.questions.compute import training_compute
from derivations.costs.questions.lengths import cache_against_weights, first_crossover
from derivations.costs.questions.shares import feed_forward_share
from derivations.symbols import m, n

__all__ = ["summary"]


def summary(counts: Counts) -> list[tuple[str, str]]:
    """Return the lines that `derivations count` prints below its tables: a few words, and an answer in numbers.

    Definition   share of the feed-forward networks; lengths from which attention needs more FLOPs than they do, for
                 pairs only and with the projections, full and visible; the cache at the length and batch of the counts;
                 FLOPs of training on a token compared with 6 N
    """
    model, length = counts.model, length_of(counts.model)
    rows = [("parameters in feed-forward networks", _shares(feed_forward_share(model)))]
    beside = ", source as long" if source_length(model) == {m: n} else ""
    for causal, which in (("full", "all pairs"), ("visible", "visible pairs")):
        both = (first_crossover(model, part=part, causal=causal) for part in ("pairs", "attention"))
        alone, whole = (from_length(first, length) for first in both)
        rows.append(
            (
                f"attention takes more than the networks, {which}{beside}",
                f"{alone} by scores and sums alone, {whole} in all",
            )
        )
    if counts.cache != 0:
        held = counts.number(counts.batch * cached_numbers(model, counts.latent))
        share = Rational(held, held + counts.number(counts.total_parameters))
        larger = from_length(cache_against_weights(model, batch=counts.batch, latent=counts.latent).number, n)
        rows.append(
            (
                f"key-value cache larger than the weights, batch {counts.batch}",
                f"{larger}; at n = {counts.values[n]} it is {percent(share)} of both",
            )
        )
    if _reads_text(counts):
        found = training_compute(model, seq=counts.number(n))
        kept, without = (percent(found.figures[name]) for name in ("6 N D", "6 N D, N without embeddings"))
        rows.append(
            (
                "training, FLOPs in products for each token",
                f"{found.number:,}: {kept} of 6 N, {without} where N leaves out embedding and head",
            )
        )
    return rows


def _shares(found: Answer) -> str:
    words = f"{percent(found.number)} of all, {percent(found.figures['of attention and networks'])} of those in layers"
    active = found.figures.get("of active parameters")
    return words if active is None else f"{words}, {percent(active)} of the active ones"


def _reads_text(counts: Counts) -> bool:
    stacks = (counts.model.architecture.encoder, counts.model.architecture.decoder)
    return all(stack is None or stack.stem is None for stack in stacks)
