"""Counts of small models: arithmetic written here by hand, what each option changes, what is refused."""

import ast
import operator
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import pytest
from sympy import Rational

from derivations.architectures.description import Model
from derivations.architectures.hugging_face import model_of
from derivations.architectures.models import named_model
from derivations.costs.count_report import count_derivation, sections
from derivations.costs.counts import BYTES, PHASES, RECOMPUTED, Counts, count, key_value_cache
from derivations.language.counting.convention import Convention
from derivations.language.judge.proof import judge
from derivations.symbols import d_v
from tests.broken import is_refused, with_step

B, n, m = 2, 5, 7  # sequences, positions, positions of an encoder's input
WIDTH, HIDDEN, VOCAB, LAYERS, ROWS = 15, 7, 11, 3, 13
GPT2 = {
    **{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": WIDTH, "n_head": 5, "n_inner": HIDDEN},
    **{"n_layer": LAYERS, "n_positions": ROWS, "vocab_size": VOCAB},
}
LLAMA = {
    **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH, "intermediate_size": HIDDEN},
    **{"num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10, "num_hidden_layers": LAYERS},
    **{"vocab_size": VOCAB, "max_position_embeddings": 64, "tie_word_embeddings": False},
}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"]} | {
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
}
T5 = {
    **{"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": WIDTH, "d_ff": HIDDEN},
    **{"d_kv": 5, "num_heads": 3, "num_layers": 2, "num_decoder_layers": LAYERS, "vocab_size": VOCAB},
    "relative_attention_num_buckets": 32,
}
VIT = {
    **{"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": WIDTH, "num_labels": VOCAB},
    **{"num_attention_heads": 5, "num_hidden_layers": LAYERS, "intermediate_size": HIDDEN, "image_size": 14},
    **{"patch_size": 7, "num_channels": 5},
}
CONFIGS = {"gpt2": GPT2, "llama": LLAMA, "mixtral": MIXTRAL, "t5": T5, "vit": VIT}
WRITERS = ["gpt2", "llama", "mixtral", "t5"]  # of text, token by token


def small(name: str) -> Model:
    return model_of(CONFIGS[name], name)


def counted(name: str, **asked: Any) -> Counts:
    return count(small(name), **{"batch": B, "seq": n, **asked})


def matmul(name: str, **asked: Any) -> int:
    counts = counted(name, **asked)
    return counts.number(counts.flops.matmul)


# --- arithmetic by hand ---------------------------------------------------------------------------------------------

GPT2_PRODUCTS = LAYERS * (2 * n * (4 * WIDTH**2 + 2 * WIDTH * HIDDEN) + 4 * n * n * WIDTH) + 2 * n * WIDTH * VOCAB
LLAMA_PRODUCTS = (
    LAYERS * (2 * n * (2 * WIDTH * 60 + 2 * WIDTH * 30 + 3 * WIDTH * HIDDEN) + 4 * n * n * 60) + 2 * n * WIDTH * VOCAB
)
MIXTRAL_PRODUCTS = LLAMA_PRODUCTS + LAYERS * 2 * n * (WIDTH * 5 + 3 * WIDTH * HIDDEN)  # a router, a second expert
PATCHES, PIXELS = 4, 5 * 7 * 7
VIT_PRODUCTS = (
    2 * PATCHES * PIXELS * WIDTH
    + LAYERS * (2 * (PATCHES + 1) * (4 * WIDTH**2 + 2 * WIDTH * HIDDEN) + 4 * (PATCHES + 1) ** 2 * WIDTH)
    + 2 * WIDTH * VOCAB
)
T5_ENCODER = 2 * (2 * m * (4 * WIDTH**2 + 2 * WIDTH * HIDDEN) + 4 * m * m * WIDTH)
T5_DECODER = LAYERS * (
    2 * n * (6 * WIDTH**2 + 2 * WIDTH * HIDDEN) + 2 * m * 2 * WIDTH**2 + 4 * n * n * WIDTH + 4 * n * m * WIDTH
)
T5_PRODUCTS = T5_ENCODER + T5_DECODER + 2 * n * WIDTH * VOCAB
PRODUCTS = {
    "gpt2": GPT2_PRODUCTS,
    "llama": LLAMA_PRODUCTS,
    "mixtral": MIXTRAL_PRODUCTS,
    "t5": T5_PRODUCTS,
    "vit": VIT_PRODUCTS,
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_a_forward_pass(name: str) -> None:
    assert matmul(name, source=m) == B * PRODUCTS[name]


def test_parameters() -> None:
    counts = counted("gpt2")
    block = 4 * (WIDTH**2 + WIDTH) + 2 * WIDTH * HIDDEN + HIDDEN + WIDTH + 4 * WIDTH
    assert counts.number(counts.total_parameters) == LAYERS * block + (VOCAB + ROWS) * WIDTH + 2 * WIDTH
    experts = counted("mixtral")
    network, router = 3 * WIDTH * HIDDEN, WIDTH * 5
    shared = LAYERS * (2 * WIDTH * 60 + 2 * WIDTH * 30 + 2 * WIDTH + router) + 2 * VOCAB * WIDTH + WIDTH
    assert experts.number(experts.total_parameters) == shared + LAYERS * 5 * network
    assert experts.number(experts.active) == shared + LAYERS * 2 * network


@pytest.mark.parametrize(("name", "numbers"), [("gpt2", 2 * WIDTH), ("llama", 2 * 3 * 10), ("t5", 2 * 15), ("vit", 0)])
def test_the_cache_grows_by_keys_and_values_of_every_layer(name: str, numbers: int) -> None:
    counts = counted(name, dtype="float32")
    assert counts.number(counts.cache_bytes_per_token) == 4 * LAYERS * numbers
    assert counts.number(key_value_cache(small(name))) == LAYERS * numbers


# --- phases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
def test_training_takes_two_products_more_for_each(name: str) -> None:
    """By each of the two factors; that of an input that is no array of tokens can be left out."""
    assert matmul(name, phase="training") == 3 * matmul(name)
    fewer = matmul(name, phase="training", convention=Convention(input_gradient=False))
    assert fewer == 3 * matmul(name) - (B * 2 * PATCHES * PIXELS * WIDTH if name == "vit" else 0)


@pytest.mark.parametrize("name", CONFIGS)
def test_training_is_a_forward_pass_and_more(name: str) -> None:
    forward, training = counted(name).flops.by_kind, counted(name, phase="training").flops.by_kind
    number = counted(name).number
    assert all(number(training[kind]) >= number(forward[kind]) for kind in forward)
    assert number(training["reduction"]) > number(forward["reduction"])  # gradients of biases and norms add up rows


@pytest.mark.parametrize("name", WRITERS)
def test_decoding_is_what_one_position_adds(name: str) -> None:
    visible = Convention(causal="visible")
    step, before, after = (
        counted(name, phase=phase, seq=seq, source=m, convention=visible).json()["flops"]["terms"]
        for phase, seq in (("decode", n), ("forward", n), ("forward", n + 1))
    )
    assert step == {kind: after[kind] - before[kind] for kind in after}
    assert step["matmul"] > 0


def test_prefill_is_a_forward_pass_that_says_so() -> None:
    forward, prefill = counted("gpt2"), counted("gpt2", phase="prefill")
    assert prefill.json()["flops"] == {**forward.json()["flops"], "phase": "prefill"}
    assert [text for text in prefill.assumptions if "prefill" in text]
    assert not [text for text in forward.assumptions if "prefill" in text]


# --- conventions ----------------------------------------------------------------------------------------------------

ENTRIES = LAYERS * (3 * n * WIDTH + 5 * n * n + 3 * n * WIDTH + n * HIDDEN) + n * VOCAB  # of all products of GPT2
PAIRS = LAYERS * 4 * n * n * WIDTH  # products of scores and weighted sums


@pytest.mark.parametrize(
    ("convention", "products"),
    [
        ({"unit": "mac"}, GPT2_PRODUCTS // 2),
        ({"products": "2k-1"}, GPT2_PRODUCTS - ENTRIES),
        ({"causal": "halved"}, GPT2_PRODUCTS - PAIRS // 2),
        ({"causal": "visible"}, GPT2_PRODUCTS - PAIRS + PAIRS * (n + 1) // (2 * n)),
        ({"lookups": "counted"}, GPT2_PRODUCTS + 2 * n * VOCAB * WIDTH),
    ],
)
def test_a_convention_changes_what_it_says(convention: dict[str, Any], products: int) -> None:
    changed = Convention(**convention)
    assert matmul("gpt2", convention=changed) == B * products != B * GPT2_PRODUCTS
    assert counted("gpt2", convention=changed).json()["convention"] == {**asdict(changed), "text": changed.describe()}


def test_multiply_adds_are_those_of_products_alone() -> None:
    terms = counted("gpt2", convention=Convention(unit="mac")).json()["flops"]["terms"]
    assert {kind for kind, value in terms.items() if value} == {"matmul"}


def test_every_convention_is_printed_with_the_numbers() -> None:
    for convention in (
        Convention(unit="mac"),
        Convention(products="2k-1"),
        Convention(causal="halved"),
        Convention(causal="visible"),
    ):
        assert convention.describe() in counted("gpt2", convention=convention).assumptions
        assert convention.describe() not in counted("gpt2").assumptions


# --- memory ---------------------------------------------------------------------------------------------------------


def test_attention_computed_again_keeps_no_weights_of_attention() -> None:
    kept = {again: counted("gpt2", recomputed=again).json()["memory"]["activation_bytes"] for again in RECOMPUTED}
    assert kept["nothing"] - kept["attention"] == BYTES["bfloat16"] * B * LAYERS * 5 * n * n
    assert kept["blocks"] < kept["attention"]


def test_blocks_computed_again_keep_their_input() -> None:
    """A block more is one array of rows more to keep."""
    deeper = model_of({**GPT2, "n_layer": LAYERS + 1}, "deeper")
    more = count(deeper, batch=B, seq=n, recomputed="blocks").json()["memory"]["activation_bytes"]
    fewer = counted("gpt2", recomputed="blocks").json()["memory"]["activation_bytes"]
    assert more - fewer == BYTES["bfloat16"] * B * n * WIDTH


@pytest.mark.parametrize("dtype", BYTES)
def test_bytes_of_a_number(dtype: str) -> None:
    memory, single = counted("llama", dtype=dtype).json()["memory"], counted("llama", dtype="int8").json()["memory"]
    assert memory["weights_bytes"] == BYTES[dtype] * single["weights_bytes"]
    assert memory["kv_cache_bytes_per_token"] == BYTES[dtype] * single["kv_cache_bytes_per_token"]


# --- closed forms ---------------------------------------------------------------------------------------------------

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value(text: str, sizes: dict[str, int]) -> Any:
    """The value of arithmetic written as text, without anything of the package."""

    def walk(node: Any) -> Any:
        if isinstance(node, ast.BinOp):
            left, right = walk(node.left), walk(node.right)
            return left ** int(right) if isinstance(node.op, ast.Pow) else OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.op, ast.USub)
            return -walk(node.operand)
        return Rational(node.value) if isinstance(node, ast.Constant) else Rational(sizes[node.id])

    return walk(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(("name", "phase"), [*product(WRITERS, PHASES), ("vit", "forward"), ("vit", "training")])
def test_closed_forms_have_the_values_of_the_numbers(name: str, phase: str) -> None:
    found = counted(name, phase=phase).json(symbolic=True)
    forms, sizes = found["symbolic"], found["symbolic"]["sizes"]
    for path in (
        *(("parameters", each) for each in ("total", "active")),
        *(("parameters", "components", each) for each in found["parameters"]["components"]),
        ("flops", "total"),
        *(("flops", "terms", each) for each in found["flops"]["terms"]),
        *(("memory", each) for each in ("weights_bytes", "kv_cache_bytes_per_token", "activation_bytes")),
    ):
        form, number = forms, found
        for key in path:
            form, number = form[key], number[key]
        assert value(form, sizes) == number, path


@pytest.mark.parametrize("name", CONFIGS)
def test_closed_forms_are_proved(name: str) -> None:
    assert judge(count_derivation(counted(name))).level == "proved"


@pytest.mark.parametrize(("claim", "step"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_wrong_closed_form_is_not_proved(claim: int, step: int) -> None:
    found = count_derivation(counted("gpt2"))
    assert is_refused(with_step(found, claim, step, found.claims[claim].steps[step].expression + d_v))


# --- what stands together, and what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
def test_parts_add_up(name: str) -> None:
    found = counted(name, phase="training").json()
    assert sum(found["parameters"]["components"].values()) == found["parameters"]["total"]
    assert sum(found["flops"]["terms"].values()) == found["flops"]["total"]
    counts = counted(name, phase="training")
    assert sum(counts.number(each.total) for each in counts.parts.values()) == found["flops"]["total"]


def test_tables_hold_the_numbers_of_the_counts() -> None:
    counts = counted("mixtral")
    tables = {section.title: section for section in sections(counts, symbolic=True)}
    for section in tables.values():
        assert all(len(row) == len(section.columns) for row in section.rows)
    rows = {row[0]: row[2] for row in tables["parameters"].rows}
    assert rows["total"] == f"{counts.number(counts.total_parameters):,}"
    assert rows["active for one token"] == f"{counts.number(counts.active):,}"
    assert "active for one token" not in {row[0] for section in sections(counted("gpt2")) for row in section.rows}


def test_lengths_are_as_long_as_the_table_without_a_wish() -> None:
    assert count(small("gpt2")).json()["flops"]["seq"] == ROWS
    assert count(small("llama")).json()["flops"]["seq"] == 1024
    assert count(small("vit")).json()["flops"]["seq"] == PATCHES + 1


def test_half_of_an_odd_number_is_refused() -> None:
    """One head with a key of 1 and a value of 2 columns: 3 * 25 multiply-adds for 5 positions."""
    odd = model_of({**GPT2, "n_embd": 1, "n_head": 1, "n_layer": 1}, "odd")
    odd = replace(odd, values={**odd.values, d_v: 2})
    halved = Convention(unit="mac", causal="halved")
    assert count(odd, seq=4, convention=halved).json()["flops"]["total"] > 0
    with pytest.raises(ValueError, match=r"odd: .* is not a whole number; count the visible pairs instead of halves"):
        count(odd, seq=5, convention=halved).json()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"phase": "backwards"}, "the phase 'backwards' is unknown; choose forward, training, prefill, decode"),
        ({"dtype": "int4"}, "the number type 'int4' is unknown; choose float64"),
        ({"recomputed": "all"}, "nothing is recomputed under the name 'all'; choose nothing, attention, blocks"),
        ({"batch": 0}, "batch must be an integer >= 1, not 0"),
        ({"seq": -3}, "seq must be an integer >= 1, not -3"),
        ({"seq": 2.0}, "seq must be an integer >= 1, not 2.0"),
        ({"seq": True}, "seq must be an integer >= 1, not True"),
        ({"source": "5"}, "source must be an integer >= 1, not '5'"),
        ({"seq": 14}, "gpt2: 14 positions are asked for, its table of positions has 13; ask for fewer"),
    ],
)
def test_what_cannot_be_counted_is_refused(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        count(small("gpt2"), **asked)


def test_a_named_model_is_counted_like_its_configuration() -> None:
    found = count(named_model("gpt2"), seq=1024).json()
    assert found["parameters"]["total"] == 124439808
    assert found["flops"]["terms"]["matmul"] == 12 * (24 * 1024 * 768**2 + 4 * 1024**2 * 768) + 2 * 1024 * 768 * 50257
