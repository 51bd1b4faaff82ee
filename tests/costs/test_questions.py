"""Answers agree with loops over pairs, layers and sizes that know of no closed form; wrong questions are refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Expr, Integer, Rational, expand

from derivations.architectures.description import (
    Architecture,
    Attention,
    AudioStem,
    Block,
    Embedding,
    Experts,
    FeedForward,
    Head,
    Model,
    Norm,
    Patches,
    Run,
    Stack,
    heads_of_groups,
    key_value_heads,
)
from derivations.architectures.hugging_face import model_of
from derivations.architectures.models import named_model
from derivations.costs.counts import count
from derivations.costs.questions import (
    cache_against_weights,
    cached_numbers,
    crossover,
    decode_intensity,
    effect_of_heads,
    embedding_share,
    feed_forward_share,
    solve_size,
    summary,
    tokens_for_budget,
    training_compute,
)
from derivations.costs.questions.answer import first_above, first_above_for_good, from_length, last_for_which, percent
from derivations.costs.questions.page import page
from derivations.costs.questions.purposes import flops_by_purpose, parameters_by_purpose, purpose_of_component
from derivations.language.arrays.functions import gelu
from derivations.language.counting.costs import count_flops, count_parameters, flops_by_part
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, n, size, vocab

SIZES = {N: 3, d_model: 13, h: 2, d_k: 5, d_v: 7, d_ff: 31, vocab: 37}
WINDOW, FRAMES, MEL = size("window"), size("frames"), size("mel")
RMS = Norm("rms")
TIED = {d_k: d_model / h, d_v: d_model / h, d_ff: 4 * d_model}


def decoder(window: int | None = None, *, grouped: bool = False, **sizes: int) -> Model:
    """A causal decoder over one table of tokens, without biases and with a tied head."""
    heads = (heads_of_groups, key_value_heads) if grouped else (h, None)
    attention = Attention(*heads, window=None if window is None else WINDOW)
    stack = Stack((Run((Block(attention, FeedForward(biases=False), RMS),), N),), Embedding(), True, RMS)
    values = {symbol: sizes.get(symbol.name, value) for symbol, value in SIZES.items()}
    if grouped:
        values |= {heads_of_groups: 2, key_value_heads: 3}
    if window is not None:
        values[WINDOW] = window
    return Model(Architecture("small_decoder", Head(), decoder=stack), values)


def encoder_decoder(*, sound: bool = False) -> Model:
    """An encoder and a decoder of N layers each, the decoder attending to the rows of the encoder."""
    attention, network = Attention(h), FeedForward(biases=False)
    frames = (Embedding(FRAMES), AudioStem(MEL)) if sound else (Embedding(), None)
    encoder = Stack((Run((Block(attention, network, RMS),), N),), frames[0], stem=frames[1])
    block = Block(attention, network, RMS, cross_attention=attention)
    target = Stack((Run((block,), N),), Embedding(), True)
    values = {**SIZES, FRAMES: 17, MEL: 11} if sound else SIZES
    return Model(Architecture("small_pair", Head(), encoder=encoder, decoder=target), values)


def experts() -> Model:
    """A decoder whose tokens go through 2 of 5 experts."""
    model = decoder()
    network = Experts(size("experts"), size("chosen"), size("d_expert"), gelu)
    run = Run((Block(Attention(h), network, RMS),), N)
    stack = replace(model.architecture.decoder, runs=(run,))
    values = {**SIZES, size("experts"): 5, size("chosen"): 2, size("d_expert"): 11}
    return Model(replace(model.architecture, decoder=stack), values)


# --- lengths --------------------------------------------------------------------------------------------------------

PROJECTED = 2 * 13 * (5 + 5 + 7 + 7)  # multiply-adds of the four projections of 2 heads, for one position
NETWORK = 2 * 13 * 31
PAIR = 2 * (5 + 7)  # of one score and one weighted value, in 2 heads


def pairs(length: int, causal: str, window: int | None) -> int:
    """How many pairs of a query and a key are counted, gone through one by one."""
    near = window or length
    return sum(1 for query in range(length) for key in range(length) if causal == "full" or 0 <= query - key < near)


@pytest.mark.parametrize("part", ["pairs", "attention"])
@pytest.mark.parametrize("window", [None, 3, 23, 43])
@pytest.mark.parametrize("causal", ["full", "visible"])
def test_the_crossover_is_where_a_scan_of_all_lengths_finds_it(part: str, window: int | None, causal: str) -> None:
    found = crossover(decoder(window), part=part, causal=causal).number
    beside = 0 if part == "pairs" else PROJECTED
    lengths = range(1, 130)
    more = [k for k in lengths if PAIR * pairs(k, causal, window) + beside * k > NETWORK * k]
    assert more == ([] if found is None else list(range(found, 130)))


def test_the_crossover_of_an_encoder_decoder_counts_both_sides_and_the_attention_between_them() -> None:
    found = crossover(encoder_decoder())
    more = [k for k in range(1, 130) if 3 * PAIR * k * k > 2 * NETWORK * k]  # encoder, decoder, and between them
    assert more == list(range(found.number, 130))
    assert found.words.endswith("the source having n positions")


def test_the_crossover_behind_a_source_of_fixed_length() -> None:
    found = crossover(encoder_decoder(sound=True))
    more = [k for k in range(1, 130) if PAIR * (17 * 17 + k * k + 17 * k) > NETWORK * (17 + k)]
    assert found.expression is None
    assert more == list(range(found.number, 130))


def test_the_closed_form_of_the_crossover_is_that_of_one_layer() -> None:
    found = crossover(decoder()).expression
    assert expand(found.xreplace(TIED) - 4 * d_model) == 0
    whole = crossover(decoder(), part="attention").expression
    assert expand(whole.xreplace(TIED) - 2 * d_model) == 0


def test_patches_count_where_there_are_no_tokens() -> None:
    patches = Patches(size("patch"), size("channels"), size("patches"))
    stack = Stack((Run((Block(Attention(h), FeedForward(biases=False), RMS),), N),), Embedding(), stem=patches)
    values = {**SIZES, patches.size: 5, patches.channels: 3, patches.count: 11}
    model = Model(Architecture("small_pictures", Head("none"), encoder=stack), values)
    more = [k for k in range(1, 130) if PAIR * (k + 1) ** 2 > NETWORK * (k + 1)]  # one more for the class token
    assert crossover(model).number == more[0]
    assert cache_against_weights(model).number is None
    with pytest.raises(ValueError, match="its input is not text"):
        training_compute(model)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("window", [None, 3, 400])
def test_the_cache_grows_position_by_position(batch: int, window: int | None) -> None:
    model = decoder(window)
    weights = 3 * (PROJECTED + NETWORK) + 7 * 13 + 37 * 13
    assert count_parameters(count(model).layer).xreplace(count(model).values) == weights
    held = [3 * 2 * (5 + 7) * sum(1 for k in range(length) if window is None or k < window) for length in range(2000)]
    larger = [k for k, numbers in enumerate(held) if batch * numbers > weights]
    found = cache_against_weights(model, batch=batch).number
    assert larger == ([] if found is None else list(range(found, 2000)))
    for length in (1, 5, 7):
        assert count(model, seq=length).number(cached_numbers(model)) == held[length]


def test_the_turning_point_of_functions_among_the_integers() -> None:
    assert first_above_for_good(lambda k: Integer(k * k - 7 * k + 10)) == 6  # positive at 1, then not from 2 to 5
    assert first_above_for_good(lambda k: Integer(k * k - 3 * k + 3)) == 1
    assert first_above_for_good(lambda k: Integer(-k)) is None
    assert first_above(lambda k: Integer(min(k, 5) - 4)) == 5
    assert first_above(lambda k: Integer(min(k, 5) - 5)) is None
    assert first_above(lambda k: Integer(k)) == 1
    assert [last_for_which(lambda k, last=last: k <= last) for last in range(1, 40)] == list(range(1, 40))
    assert [from_length(first, n) for first in (None, 1, 1024)] == [
        "at no length",
        "at every length",
        "from n = 1,024 on",
    ]


# --- sizes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1000, 4321, 65537])
def test_a_size_is_the_largest_that_a_scan_finds(budget: int) -> None:
    model = decoder()
    symbolic = count_parameters(count(model).layer).xreplace(TIED)

    def total(width: int) -> Expr:
        return symbolic.xreplace({**{s: Integer(v) for s, v in SIZES.items()}, d_model: Integer(width)})

    found = solve_size(model, d_model, parameters=budget, relations=TIED)
    fitting = [width for width in range(2, 200, 2) if total(width) <= budget]  # 2 heads divide the width
    assert found.number == fitting[-1]
    assert (found.figures["total"], found.figures["next total"]) == (total(fitting[-1]), total(fitting[-1] + 2))
    low, high = (found.figures[name] for name in ("root at least", "root below"))
    root = found.expression.xreplace({size("P"): Integer(budget), **{s: Integer(v) for s, v in SIZES.items()}})
    assert high - low == Rational(1, 1000)
    assert bool(low <= root) and bool(root < high)


def test_a_multiple_is_asked_for_or_follows_from_the_relations() -> None:
    budgets = {"parameters": 65537, "relations": TIED}
    assert solve_size(decoder(h=7), d_model, **budgets).number % 7 == 0
    assert solve_size(decoder(), "d_model", **budgets, multiple_of=11).number % 11 == 0
    assert solve_size(decoder(), N, parameters=65537).figures["total"] <= 65537


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (lambda: solve_size(decoder(), "d_mode", parameters=10**6), "has no size d_mode; its sizes are N, d_ff"),
        (lambda: solve_size(decoder(), d_model, parameters=10), "10 are too few"),
        (lambda: solve_size(decoder(), d_model, parameters=1e6), "parameters must be an integer >= 1, not 1000000.0"),
        (lambda: solve_size(decoder(), d_model, parameters=10**6, multiple_of=0), "multiple_of must be an integer"),
        (lambda: solve_size(decoder(3), "window", parameters=10**6), "does not grow with window"),
        (lambda: solve_size(decoder(), h, parameters=10**6, relations=TIED), "not a polynomial in h"),
        (lambda: crossover(decoder(), part="scores"), "the part is 'pairs' or 'attention', not 'scores'"),
        (lambda: crossover(decoder(), causal="half"), "causal is 'half'; choose"),
        (lambda: cache_against_weights(decoder(), batch=True), "batch must be an integer >= 1, not True"),
        (lambda: training_compute(decoder(), tokens=0), "tokens must be an integer >= 1, not 0"),
        (lambda: tokens_for_budget(decoder(), flops=-1), "flops must be an integer >= 1, not -1"),
        (lambda: training_compute(named_model("gpt2"), seq=1025), "its table of positions has 1024"),
        (lambda: decode_intensity(experts(), latent="expended"), "the machine 'expended' of latent attention"),
        (lambda: decode_intensity(encoder_decoder()), "has an encoder"),
        (lambda: decode_intensity(decoder(), dtype="int3"), "the number type 'int3' is unknown"),
        (lambda: effect_of_heads(_with_width(d_model / h)), "are not sizes of their own"),
    ],
)
def test_a_question_that_has_no_answer_is_refused(question: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        question()


def _with_width(width: Expr) -> Model:
    model = decoder()
    run = Run((Block(Attention(h, d_k=width), FeedForward(biases=False), RMS),), N)
    return replace(model, architecture=replace(model.architecture, decoder=Stack((run,), Embedding(), True)))


# --- shares ---------------------------------------------------------------------------------------------------------


def test_shares_are_those_of_the_weights_listed_by_hand() -> None:
    network, attention, table = 3 * 2 * 13 * 31, 3 * PROJECTED, 37 * 13
    total = network + attention + table + 7 * 13
    found = feed_forward_share(decoder())
    assert found.number == Rational(network, total)
    assert found.figures == {"of attention and networks": Rational(network, network + attention)}
    assert "(not most of them)" in found.words
    assert embedding_share(decoder()).number == Rational(table, total)


def test_a_mixture_of_experts_has_a_share_in_what_a_token_uses() -> None:
    each, router, rest = 3 * 13 * 11, 13 * 5, 3 * PROJECTED + 7 * 13 + 37 * 13
    found = feed_forward_share(experts())
    assert found.number == Rational(3 * (5 * each + router), 3 * (5 * each + router) + rest)
    active = 3 * (2 * each + router)
    assert found.figures["of active parameters"] == Rational(active, active + rest)


def test_most_parameters_are_in_the_networks_of_large_models_alone() -> None:
    most = {
        name: feed_forward_share(named_model(name)).number > Rational(1, 2) for name in ("gpt2", "gpt2-xl", "t5-small")
    }
    assert most == {"gpt2": False, "gpt2-xl": True, "t5-small": False}


@pytest.mark.parametrize("model", [decoder(), encoder_decoder(), experts(), encoder_decoder(sound=True)])
def test_purposes_add_up_to_the_whole(model: Model) -> None:
    counts = count(model)
    assert expand(sum(parameters_by_purpose(counts.components).values()) - counts.total_parameters) == 0
    whole = count_flops(counts.layer)
    parts = flops_by_part(counts.layer)
    assert expand(sum(flops_by_purpose(parts).values()) - whole.total) == 0
    assert expand(sum(flops_by_purpose(parts, products=True).values()) - whole.matmul) == 0


def test_rounding_is_exact() -> None:
    shares = [Rational(1, 3), Rational(2, 3), Rational(1, 2000), Rational(4999, 10**7), Rational(1)]
    assert [percent(share) for share in shares] == ["33.3%", "66.7%", "0.1%", "0.0%", "100.0%"]


# --- heads ----------------------------------------------------------------------------------------------------------


def test_the_effect_of_heads_is_that_of_a_model_with_other_heads() -> None:
    """Six heads of width 5 and 7, or three of width 10 and 14: one closed form gives the counts of both."""
    effects = {effect.quantity: effect for effect in effect_of_heads(decoder())}
    fixed = {size("D_k"): Integer(30), size("D_v"): Integer(42), n: Integer(17)}
    for heads, widths in ((6, (5, 7)), (3, (10, 14)), (2, (15, 21))):
        counts = count(decoder(h=heads, d_k=widths[0], d_v=widths[1]), seq=17)
        found = {
            "parameters": counts.total_parameters,
            "FLOPs in products": counts.flops.matmul,
            "FLOPs in softmax": counts.flops.softmax,
            "bytes of saved residuals": counts.activation_bytes,
            "numbers in the cache": counts.cache * n,
        }
        for quantity, expression in found.items():
            put = {**{s: Integer(v) for s, v in SIZES.items()}, **fixed, h: Integer(heads)}
            assert effects[quantity].expression.xreplace(put) == counts.number(expression)
    changing = [quantity for quantity, effect in effects.items() if effect.changes]
    assert changing == ["FLOPs in softmax", "bytes of saved residuals"]


def test_groups_change_the_cache() -> None:
    effects = {effect.quantity: effect for effect in effect_of_heads(decoder(grouped=True))}
    cache = effects["numbers in the cache"]
    assert cache.changes == ("g", "h")
    assert expand(cache.terms - N * n * key_value_heads / h * (size("D_k") + size("D_v"))) == 0
    assert effects["FLOPs in softmax"].changes == ("h",)


# --- training and decoding ------------------------------------------------------------------------------------------


def test_training_takes_three_times_the_products_of_a_forward_pass() -> None:
    length = 11
    forward = 2 * (3 * (length * (PROJECTED + NETWORK) + PAIR * length**2) + length * 13 * 37)
    found = training_compute(decoder(), tokens=5, seq=length)
    assert found.number == Rational(3 * forward * 5, length)
    parameters = 3 * (PROJECTED + NETWORK) + 7 * 13 + 37 * 13
    assert found.figures["6 N D"] == Rational(found.number, 6 * 5 * parameters)
    assert found.figures["6 N D, N without embeddings"] == Rational(found.number, 6 * 5 * (parameters - 37 * 13))
    most = tokens_for_budget(decoder(), flops=3 * forward * 4 - 1, seq=length)
    assert most.number == 3 * length
    assert tokens_for_budget(decoder(), flops=3 * forward * 4, seq=length).number == 4 * length


def test_decoding_does_more_work_for_each_byte_in_larger_batches() -> None:
    length, weights = 11, 3 * (PROJECTED + NETWORK) + 7 * 13 + 37 * 13
    for batch in (1, 5):
        work = 2 * batch * (3 * (PROJECTED + NETWORK + PAIR * (length + 1)) + 13 * 37)
        read = 2 * (weights + batch * 3 * PAIR * length)
        assert decode_intensity(decoder(), batch=batch, length=length).number == Rational(work, read)


def test_decoding_reads_the_experts_that_tokens_are_sent_to() -> None:
    """Two of five experts for each token: in a batch of two, 2 to 4 of them, 16/5 expected."""
    length, expert, batch = 11, 3 * 13 * 11, 2
    rest = 3 * (PROJECTED + 13 * 5) + 7 * 13 + 37 * 13
    work = 2 * batch * (3 * (PROJECTED + 13 * 5 + 2 * expert + PAIR * (length + 1)) + 13 * 37)

    def intensity(read: Rational) -> Rational:
        return Rational(work) / (2 * (rest + 3 * expert * read + batch * 3 * PAIR * length))

    found = decode_intensity(experts(), batch=batch, length=length)
    assert found.number == intensity(Rational(16, 5))
    assert found.figures == {"same experts": intensity(Rational(2)), "other experts": intensity(Rational(4))}
    alone = decode_intensity(experts(), length=length)
    assert set(alone.figures.values()) == {alone.number}  # one token reads the experts that it is sent to


# --- what is shown --------------------------------------------------------------------------------------------------


def test_the_summary_of_a_model() -> None:
    assert summary(count(named_model("gpt2"), seq=1024)) == [
        ("parameters in feed-forward networks", "45.5% of all, 66.7% of those in layers"),
        (
            "attention takes more than the networks, all pairs",
            "from n = 3,073 on by scores and sums alone, from n = 1,537 on in all",
        ),
        (
            "attention takes more than the networks, visible pairs",
            "from n = 6,144 on by scores and sums alone, from n = 3,072 on in all",
        ),
        ("key-value cache larger than the weights, batch 1", "from n = 6,752 on; at n = 1024 it is 13.2% of both"),
        (
            "training, FLOPs in products for each token",
            "854,438,400: 114.4% of 6 N, 167.4% where N leaves out embedding and head",
        ),
    ]


@pytest.mark.slow
def test_the_summary_of_what_reads_no_text_or_caches_nothing() -> None:
    assert len(summary(count(named_model("whisper-small")))) == 4
    assert len(summary(count(named_model("bert-base")))) == 4
    assert len(summary(count(named_model("vit-b-16")))) == 3
    questions = [question for question, _ in summary(count(named_model("t5-small"), seq=7, source=11))]
    assert questions[1] == "attention takes more than the networks, all pairs, source as long"


@pytest.mark.slow
def test_the_page_is_up_to_date(repository: Path) -> None:
    """Run `python -m derivations.costs.questions.page docs/questions.md` when this fails."""
    assert (repository / "docs" / "questions.md").read_text(encoding="utf-8") == page()


def test_layers_without_attention_and_networks_have_no_share_of_them() -> None:
    config = {"model_type": "rwkv", "hidden_size": 6, "num_hidden_layers": 3, "vocab_size": 23}
    found = feed_forward_share(model_of(config, "rwkv"))
    assert (found.number, found.figures["of attention and networks"]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("pictures.layers.ffn_weights", "feed-forward"),
        ("pictures.layers.self_attention_biases", "attention"),
        ("pictures.patch_or_conv_stem", "embedding and head"),
        ("projector_weights", "embedding and head"),
        ("pictures.layers.norm_weights", "norms and the rest"),
    ],
)
def test_a_tower_of_pictures_has_the_purposes_of_a_stack(name: str, purpose: str) -> None:
    assert purpose_of_component(name) == purpose
