"""Answers for known models, printed as a page.

python -m derivations.costs.questions.page docs/questions.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sympy import Rational

from derivations.architectures.models import named_model
from derivations.costs.questions.answer import Number, from_length, length_of, percent
from derivations.costs.questions.compute import decode_intensity, training_compute
from derivations.costs.questions.heads import Effect, effect_of_heads
from derivations.costs.questions.lengths import cache_against_weights, crossover
from derivations.costs.questions.shares import embedding_share, feed_forward_share, holds_most
from derivations.costs.questions.sizes import solve_size
from derivations.language.printing.latex import latex_of
from derivations.symbols import d_ff, d_k, d_model, d_v, h, n

__all__ = ["MODELS", "page"]

MODELS = (
    "transformer-base", "bert-base", "gpt2", "gpt2-xl", "gpt3-175b", "t5-small", "t5-base", "bart-base", "opt-125m",
    "bloom-560m", "pythia-1.4b", "llama-2-7b", "llama-3-8b", "llama-3-70b", "mistral-7b", "mixtral-8x7b", "qwen3-0.6b",
    "qwen3-8b", "gemma-2-2b", "gemma-2-9b", "phi-3-mini", "deepseek-v3", "vit-b-16", "whisper-small",
)  # fmt: skip
PICTURES_AND_SOUND = ("vit-b-16", "whisper-small")
WIDTHS = {d_k: d_model / h, d_v: d_model / h, d_ff: 4 * d_model}
DECODING = ("gpt2-xl", "llama-3-8b", "llama-3-70b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3")
BATCHES = (1, 8, 64)
BUDGETS = (10**8, 10**9, 10**10, 10**11)

_HEAD = """# Questions people ask

Answers read off the equations of a model, exact: a closed form in its sizes where there is one, and a number.
`derivations count MODEL` prints some of them below its tables.

```python
>>> from derivations.architectures.models import named_model
>>> from derivations.costs.questions import crossover, feed_forward_share, solve_size
>>> gpt2 = named_model("gpt2")
>>> print(crossover(gpt2))
scores and weighted sums take more FLOPs in products than the feed-forward networks from n = 3,073 on
>>> crossover(gpt2).expression
2*d_ff*d_model/(d_k*h + d_v*h)
>>> print(feed_forward_share(gpt2))
feed-forward networks hold 45.5% of all parameters (not most of them), 66.7% of those of attention and networks
>>> solve_size(gpt2, "N", parameters=10**9).number
135

```

This page is printed by `python -m derivations.costs.questions.page docs/questions.md`.
"""

_SHARES = """
## Are most parameters in the feed-forward networks?

Two thirds are the rule for one layer with d_ff = 4 d_model (`parameters.feed_forward_share`), without what stands
before and after the layers. Of a whole model of N such layers with one table of embeddings, feed-forward networks hold
most weights exactly when 4 N d_model > vocab (`parameters.most_in_networks`): so they do in large models, and not in
small ones with large vocabularies, nor where cross-attention adds to what attention holds. Networks include experts and
their router; layers are attention and networks.
"""

_CROSSOVER = """
## From which length on does attention cost more?

FLOPs in products of a forward pass, attention against the feed-forward networks: scores and weighted sums alone, and
with the projections. Of one layer with d_k = d_v = d_model / h that is n > d_ff, and n > d_ff - 2 d_model
(`flops.attention_overtakes`). "All pairs" counts what a mask hides, as most kernels and most formulas do; "visible"
leaves it out: half of the pairs under a causal mask, and about w for each position in a window of w, so that windows
may keep attention the cheaper one at every length. Lengths are those of the formula, whether or not the model goes so
far. A source of text is as long as the target.
"""

_SIZES = """
## How wide for a budget?

The largest d_model with which GPT-2's architecture, 12 layers and 12 heads, has at most P parameters, d_k = d_v =
d_model / h and d_ff = 4 d_model; both the total reached and the next one are exact.
"""

_HEADS = """
## What does the number of heads change?

With the width of all heads held fixed, h d_k = D_k and h d_v = D_v (`flops.heads_of_other_width`): the terms of each
count in which h, or the number g of groups that share keys and values, is left.
"""

_CACHE = """
## When is the cache larger than the weights?

Keys and values against weights, both in numbers of one type; in a layer with a window the cache stops growing there.
"""

_TRAINING = """
## What does training take for each token?

FLOPs in products, forward and backward, all pairs, in sequences of 1024 tokens or as many as the model takes, against
6 N for each token: N all parameters that a token uses, or those of the layers alone. 6 N leaves out scores and weighted
sums, and counts tables that are only looked up. In an encoder-decoder a token of the source and
one of the target count together as one.
"""

_DECODING = """
## How much work does a step of decoding do for each byte?

FLOPs in products for each byte read: the weights once, and the keys and values of the batch, all in bfloat16, after
1024 positions. A mixture of experts reads the experts that its tokens choose: a single token reads exactly what it
computes with, and a batch reads E (1 - (1 - K/E)^batch) of E experts on average, if each token chooses K at random. The
brackets hold the bounds for every router: all tokens choose the same experts, or no two tokens share one. Latent
attention decodes with absorbed maps.
"""


def page() -> str:
    """Return the page of answers as Markdown."""
    return "\n".join((_HEAD.rstrip("\n"), *_sections())).rstrip("\n") + "\n"


def _sections() -> Iterator[str]:
    yield _SHARES
    yield from _table(
        ("model", "networks of all", "networks of layers", "embedding and head", "most"), map(_share, MODELS)
    )
    yield _CROSSOVER
    what = ("scores and sums", "attention")
    lengths = (f"{part}, {pairs}" for pairs in ("all pairs", "visible pairs") for part in what)
    yield from _table(("model", *lengths), map(_lengths, MODELS))
    yield _SIZES
    yield from _table(("P", "d_model", "parameters", "next d_model", "parameters"), map(_size, BUDGETS))
    yield _HEADS
    for name in ("gpt2", "llama-3-8b"):
        effects = effect_of_heads(named_model(name))
        yield from _table((name, "changes with", "terms"), map(_effect, effects))
        yield ""
    yield _CACHE.lstrip("\n")
    decoders = [name for name in MODELS if named_model(name).architecture.decoder is not None]
    yield from _table(("model", "one sequence", "64 sequences"), map(_cache, decoders))
    yield _TRAINING
    texts = (name for name in MODELS if name not in PICTURES_AND_SOUND)
    columns = ("model", "sequence", "FLOPs for each token", "of 6 N", "of 6 N, N in layers alone")
    yield from _table(columns, map(_training, texts))
    yield _DECODING
    yield from _table(("model", *(f"batch {batch}" for batch in BATCHES)), map(_intensity, DECODING))


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = tuple(columns)
    for row in (columns, ("---",) * len(columns), *rows):
        yield f"| {' | '.join(row)} |"


# --- rows -----------------------------------------------------------------------------------------------------------


def _share(name: str) -> Iterator[str]:
    model = named_model(name)
    found = feed_forward_share(model)
    yield name
    yield percent(found.number)
    yield percent(found.figures["of attention and networks"])
    yield percent(embedding_share(model).number)
    active = found.figures.get("of active parameters")
    most = "yes" if holds_most(found) else "no"
    yield most if active is None else f"{most}, {percent(active)} of the active ones"


def _lengths(name: str) -> Iterator[str]:
    model = named_model(name)
    yield name
    for causal in ("full", "visible"):
        for part in ("pairs", "attention"):
            yield from_length(crossover(model, part=part, causal=causal).number, length_of(model))


def _size(parameters: int) -> Iterator[str]:
    found = solve_size(named_model("gpt2"), d_model, parameters=parameters, relations=WIDTHS)
    for number in (parameters, found.number, *(found.figures[name] for name in ("total", "next", "next total"))):
        yield f"{number:,}"


def _effect(effect: Effect) -> Iterator[str]:
    yield effect.quantity
    yield ", ".join(effect.changes) or "neither"
    yield f"$`{latex_of(effect.terms)}`$" if effect.changes else ""


def _cache(name: str) -> Iterator[str]:
    yield name
    for sequences in (1, 64):
        yield from_length(cache_against_weights(named_model(name), batch=sequences).number, n)


def _training(name: str) -> Iterator[str]:
    found = training_compute(named_model(name))
    ratios: tuple[Number, ...] = tuple(found.figures[k] for k in ("6 N D", "6 N D, N without embeddings"))
    yield from (name, f"{found.figures['seq']}", f"{found.number:,}", *map(percent, ratios))


def _intensity(name: str) -> Iterator[str]:
    yield name
    for batch in BATCHES:
        found = decode_intensity(named_model(name), batch=batch)
        numbers = (found.number or 0, *sorted(found.figures.values()))
        usual, *bounds = (percent(Rational(each) / 100)[:-1] for each in numbers)
        yield f"{usual} ({' to '.join(bounds)})" if bounds and batch > 1 else usual


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
