"""A language model of GPT-2 small's sizes with random weights: ours against Hugging Face transformers on PyTorch eager.

Definition   forward: the logits of n tokens. Decoding: the tokens after a context, the most probable one each time,
             with a cache of keys and values; the steps alone are the time for all tokens less that for the first
Assumes      float32, batch 1; `transformers` with its own attention and with that of PyTorch (`eager`, `sdpa`)
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from numeric import LoadedModel, load
from tests.benchmarks.agreement import Disagreement
from tests.benchmarks.race import race, rounded
from tests.benchmarks.timing import Contestant, progress, timed
from tests.benchmarks.verdicts import OURS

__all__ = ["SMALL", "ModelSizes", "decoding", "first_difference", "forward"]

WAYS = ("eager", "sdpa")
UNDECIDED = 1e-4  # logits closer than this are told apart by rounding alone


@dataclass(frozen=True)
class ModelSizes:
    """The sizes of a model, the lengths of the texts it is given, and how many tokens it adds."""

    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_positions: int = 1024
    vocab_size: int = 50257
    n: int = 1024
    context: int = 512
    new: int = 64


SMALL = ModelSizes()


def forward(rounds: int, sizes: ModelSizes = SMALL) -> list[dict[str, Any]]:
    """Return the race for the logits of n tokens.

    Raises       Disagreement where logits differ by more than rounding
    """
    import torch

    with _models(sizes) as (ours, theirs):
        tokens = _tokens(sizes, sizes.n)
        given = torch.from_numpy(tokens[None])

        def logits_of(module: Any) -> Callable[[], Any]:
            def run() -> Any:
                with torch.no_grad():
                    return module(given, use_cache=False).logits[0].numpy()

            return run

        contestants = [Contestant(f"transformers, {way}", logits_of(module)) for way, module in theirs.items()]
        contestants.append(Contestant("ours", lambda: ours.logits(tokens), OURS))
        expected = contestants[0].call()
        return [race(f"n = {sizes.n}", contestants, rounds, expected=expected, warm=False)]


def decoding(rounds: int, sizes: ModelSizes = SMALL) -> list[dict[str, Any]]:
    """Return the races for decoding, whole and the steps alone; `tokens` says how many a figure is for.

    Raises       Disagreement where tokens differ, unless the logits of both tokens are closer than rounding takes them
    """
    import torch

    with _models(sizes) as (ours, theirs):
        tokens = _tokens(sizes, sizes.context)
        given = torch.from_numpy(tokens[None])

        def generated_by(module: Any, count: int) -> Callable[[], Any]:
            options = {"max_new_tokens": count, "min_new_tokens": count, "do_sample": False, "use_cache": True}
            options |= {"attention_mask": torch.ones_like(given), "pad_token_id": 0, "eos_token_id": None}

            def run() -> Any:
                with torch.no_grad():
                    return module.generate(given, **options)[0, sizes.context :].numpy()

            return run

        def contestants(count: int) -> list[Contestant]:
            peers = [Contestant(f"transformers, {way}", generated_by(module, count)) for way, module in theirs.items()]
            return [*peers, Contestant("ours", lambda: ours.generate(tokens, count, end=()), OURS)]

        progress(f"  {sizes.new} tokens after {sizes.context}")
        whole, first = contestants(sizes.new), contestants(1)
        results = {each.name: each.call() for each in whole}
        said = [_same_tokens(ours, tokens, results["ours"], results[f"transformers, {way}"]) for way in theirs]
        both = [Contestant(f"{each.name} 1", each.call, each.role) for each in first] + whole
        seconds = timed(both, rounds, warm=False)
    roles = {each.name: each.role for each in whole}
    alone = {name: [a - b for a, b in zip(seconds[name], seconds[f"{name} 1"], strict=True)] for name in roles}
    label = f"{sizes.new} after {sizes.context}"
    records = [
        (label, {name: seconds[name] for name in roles}, sizes.new),
        (f"{label}, the steps alone", alone, sizes.new - 1),
    ]
    return [
        {
            "label": label,
            "tokens": count,
            "roles": roles,
            "seconds": {name: [rounded(each) for each in column] for name, column in columns.items()},
            "said": sorted(set(said)),
        }
        for label, columns, count in records
    ]


@contextmanager
def _models(sizes: ModelSizes) -> Iterator[tuple[LoadedModel, dict[str, Any]]]:
    """Give one model with random weights, as ours and as theirs in each of their ways."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    fields = {name: getattr(sizes, name) for name in ("n_embd", "n_layer", "n_head", "n_positions", "vocab_size")}
    torch.manual_seed(0)
    made = transformers.GPT2LMHeadModel(transformers.GPT2Config(**fields, bos_token_id=0, eos_token_id=0))
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        theirs = {
            way: transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation=way).eval() for way in WAYS
        }
        yield load(Path(folder)), theirs


def _tokens(sizes: ModelSizes, length: int) -> Any:
    return np.random.default_rng(0).integers(sizes.vocab_size, size=length)


def first_difference(one: Any, other: Any) -> int | None:
    """Return the first place where two texts differ, or None."""
    places = np.flatnonzero(np.asarray(one) != np.asarray(other))
    return int(places[0]) if places.size else None


def _same_tokens(model: LoadedModel, context: Any, ours: Any, theirs: Any) -> str:
    """Return what is to be said of two generated texts.

    Raises       Disagreement where they differ at a place at which the logits are further apart than rounding
    """
    place = first_difference(ours, theirs)
    if place is None:
        return "the same tokens"
    logits = model.logits(np.concatenate([context, ours[:place]]))[-1]
    gap = float(abs(logits[ours[place]] - logits[theirs[place]]))
    if gap > UNDECIDED:
        raise Disagreement(f"new token {place} is {ours[place]} here and {theirs[place]} there, logits {gap:.1e} apart")
    return f"the same {place} tokens, then two whose logits are {gap:.0e} apart"
