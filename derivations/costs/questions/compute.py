"""The cost of training, the tokens for a budget, and the work of a decoding step for each byte that it reads."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, Min, Rational, expand

from derivations.architectures.components import experts_of, parameters_with_experts
from derivations.architectures.composition import build
from derivations.architectures.description import Experts, Model
from derivations.architectures.kinds import by_kind
from derivations.costs.counts import BYTES, count
from derivations.costs.key_value_caches import cached_numbers, with_absorbed_maps
from derivations.costs.questions.answer import Answer, number, percent, put, source_length, whole
from derivations.costs.questions.purposes import parameters_by_purpose
from derivations.language.counting.costs import count_decode_flops
from derivations.symbols import n

__all__ = ["decode_intensity", "tokens_for_budget", "training_compute"]


def training_compute(model: Model, *, tokens: int = 1, seq: int | None = None) -> Answer:
    """Return the FLOPs of matrix products when `tokens` are trained on in sequences of `seq`, compared with 6 N D.

    Definition   forward and backward pass, all pairs; in an encoder-decoder a token of the source and one of the target
                 count together as one. Figures: the ratio to 6 N D with N all parameters that one token uses, and with
                 those of the stacks alone ("6 N D, N without embeddings")
    Units        FLOPs, one multiply-add being 2
    Source       6 N D: Kaplan et al. (2020), section 2.1
    Raises       ValueError for numbers below 1, lengths that the model does not accept, and input that is not text
    """
    whole("tokens", tokens)
    stacks = (model.architecture.encoder, model.architecture.decoder)
    if any(stack is not None and stack.stem is not None for stack in stacks):
        raise ValueError(f"{model.name}: its input is not text, so that it has no cost for each token")
    counts = count(model, seq=seq, phase="training")
    length = counts.number(n)
    each = expand(counts.flops.matmul.xreplace(source_length(model)) / n)
    exact = tokens * Rational(put(model, each, {n: length}))
    ends = parameters_by_purpose(counts.components)["embedding and head"]
    ratio, without = (exact / (6 * tokens * counts.number(used)) for used in (counts.active, counts.active - ends))
    these = "token" if tokens == 1 else "tokens"
    words = (
        f"training takes {number(exact)} FLOPs in products for {tokens} {these} in sequences of {length}: "
        f"{percent(ratio)} of 6 N D, {percent(without)} where N leaves out embedding and head"
    )
    figures = {
        "seq": length,
        "FLOPs of a sequence": counts.number(counts.flops.matmul),
        "6 N D": ratio,
        "6 N D, N without embeddings": without,
    }
    return Answer(tokens * each, number(exact), words, figures)


def tokens_for_budget(model: Model, *, flops: int, seq: int | None = None) -> Answer:
    """Return the number of tokens, in whole sequences of `seq`, that a model can be trained on with some FLOPs.

    Units        tokens; FLOPs in products, one multiply-add being 2
    Raises       ValueError as `training_compute`
    """
    whole("flops", flops)
    each = training_compute(model, seq=seq)
    length = each.figures["seq"]
    tokens = int(length * (flops // each.figures["FLOPs of a sequence"]))
    words = f"{flops} FLOPs in products train on {tokens} tokens in sequences of {length}"
    return Answer(each.expression, tokens, words)


def decode_intensity(
    model: Model, *, batch: int = 1, length: int = 1024, dtype: str = "bfloat16", latent: str = "absorbed"
) -> Answer:
    """Return the FLOPs in products for each byte read in a step of decoding after `length` positions.

    Definition   bytes: the weights once, and the keys and values of `batch` sequences. Of a mixture, each expert that
                 some token uses is read once: E (1 - (1 - K/E)^batch) of E are expected if every token uses K of them
                 at random. Figures: the intensity if all tokens choose the same experts ("same experts") and if they
                 share none ("other experts"), which bound it for every router. `latent` is the form of latent
                 attention, for FLOPs and bytes
    Assumes      the tokens of a batch choose their experts independently and uniformly; numbers of one type
    Raises       ValueError for a model with an encoder, an unknown type of numbers or form of latent attention
    """
    if model.architecture.encoder is not None:
        raise ValueError(f"{model.name} has an encoder, which a step of decoding does not read; ask of a decoder")
    if dtype not in BYTES:
        raise ValueError(f"the number type {dtype!r} is unknown; choose {', '.join(BYTES)}")
    whole("batch", batch)
    whole("length", length)
    model = by_kind(model)
    numbers = batch * cached_numbers(model, latent)
    architecture = with_absorbed_maps(model.architecture) if latent == "absorbed" else model.architecture
    work = count_decode_flops(build(architecture), n, batch).matmul
    layer = build(model.architecture)
    experts = experts_of(model.architecture)

    def read(used: Callable[[Experts], Expr]) -> Expr:
        return BYTES[dtype] * (parameters_with_experts(layer, {e.experts: used(e) for e in experts}) + numbers)

    def intensity(used: Callable[[Experts], Expr]) -> Rational:
        return Rational(put(model, work, {n: length}), put(model, read(used), {n: length}))

    def expected(e: Experts) -> Expr:
        # all tokens of the batch miss an expert with probability (1 - K/E)^batch
        return e.experts * (1 - (1 - e.chosen / e.experts) ** batch)

    value = intensity(expected)
    words = f"a step of decoding takes {percent(value / 100)[:-1]} FLOPs for each byte read"
    if not experts:
        return Answer(work / read(expected), value, words)
    figures = {
        "same experts": intensity(lambda e: e.chosen),
        "other experts": intensity(lambda e: Min(e.experts, batch * e.chosen)),
    }
    few, many = (percent(figures[name] / 100)[:-1] for name in ("other experts", "same experts"))
    at_random = f"{words} where every token chooses its experts at random, {few} to {many} whatever they choose"
    return Answer(work / read(expected), value, words if batch == 1 else at_random, figures)
