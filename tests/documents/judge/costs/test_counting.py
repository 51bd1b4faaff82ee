"""Counts in documents against the equations: right ones under named assumptions, mutants wrong, the rest left alone."""

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from derivations.documents.checking import check_text
from derivations.documents.judge.costs.counting import check_counting
from derivations.documents.judge.costs.part_costs import matrices
from derivations.documents.judge.costs.subjects import PARTS, parts_named
from derivations.documents.passages import Block, Passage
from derivations.documents.statements import Statement
from derivations.documents.syntax import Chain, Name, Words
from tests.documents.judge.trees import AT, FakeScope, statement, tree

NETWORK = "Parameters of the feed-forward network"
RIGHT = [  # the words, the count, what has to be assumed
    (NETWORK, "2 * d_model * d_ff + d_ff + d_model", ""),
    (NETWORK, "2 * d_model * d_ff", "biases"),
    ("Parameters of the FFN with d_ff = 4 d_model", "8 * d_model**2", "d_ff = 4*d_model"),
    ("前馈网络的参数量", "2 * d_model * d_ff", "biases"),
    ("フィードフォワード層のパラメータ数", "2 * d_model * d_ff", "biases"),
    ("FLOPs of the feed-forward network", "4 * batch_size * seq_len * d_model * d_ff", ""),
    ("前馈网络的计算量主要来自矩阵乘法", "2 * batch_size * seq_len * d_model * d_ff", "multiply-add"),
    ("FLOPs of the FFN, forward and backward", "12 * batch_size * seq_len * d_model * d_ff", "backward"),
    ("FLOPs of the FFN for one token", "4 * d_model * d_ff", "for one token"),
    ("SwiGLU: its parameters", "3 * d_model * d_ff", ""),
    ("Multi-head attention: number of parameters", "4 * d_model**2", "d_k = d_model/h"),
    ("Multi-head attention: number of parameters", "2 * h * d_model * d_k + 2 * h * d_model * d_v", ""),
    ("FLOPs of self-attention", "8 * n * d_model**2 + 4 * n**2 * d_model", "d_k = d_model/h"),
    ("FLOPs of attention, scores and sums", "4 * n**2 * d_k", ""),
    ("Parameters in each layer", "12 * d_model**2", "d_ff = 4*d_model"),
    ("Parameters in each layer", "4 * d_model**2 + 2 * d_model * d_ff", "biases and norms"),
    ("Parameters of all layers", "12 * n_layer * d_model**2", "biases and norms"),
    ("FLOPs of an encoder layer", "8 * n * d_model**2 + 4 * n**2 * d_model + 16 * n * d_model**2", "d_ff"),
    ("LayerNorm: parameters", "2 * d_model", ""),
    ("Parameters of the embedding", "vocab_size * d_model", ""),
    ("KV cache, numbers for each token", "2 * n_layers * n_heads * d_head", ""),
    ("KV cache in bytes", "2 * 2 * n_layers * n_heads * d_head", "bytes"),
    ("KV cache in bytes", "2 * 2 * n_layers * n_heads * d_head * seq_len * batch_size", "bytes"),
    ("Activation memory of a layer in bytes", "batch_size * n * d_model * (34 + 5 * n_heads * n / d_model)", "d_ff"),
    ("Activation memory without dropout", "32 * batch_size * n * d_model + 2 * batch_size * n_heads * n**2", "d_ff"),
    ("激活值占用的内存", "34 * batch_size * n * d_model", "d_ff"),
    ("FLOPs of a layer", "24 * batch_size * n * d_model**2 * (1 + n / (6 * d_model))", "d_ff"),
    ("FLOPs of a decoder layer without cross-attention", "24 * n * d_model**2 + 2 * n**2 * d_model", "mask"),
    ("FLOPs of causal self-attention", "8 * n * d_model**2 + 2 * n**2 * d_model", "mask"),
]
WRONG = [
    (NETWORK, "3 * d_model * d_ff"), (NETWORK, "2 * d_model * d_ff + 2 * d_ff + d_model"),
    ("FLOPs of the feed-forward network", "8 * batch_size * seq_len * d_model * d_ff"),
    ("FLOPs of the two-layer FFN", "6 * batch_size * seq_len * d_model * d_ff"),
    ("前馈网络的计算量", "6 * batch_size * seq_len * d_model * d_ff"),
    ("FLOPs of the FFN", "4 * seq_len * d_model**2 * d_ff"), ("FLOPs of the FFN", "3 * seq_len * d_model * d_ff"),
    ("FLOPs of the FFN", "2 * seq_len * d_ff * d_ff"), ("FLOPs of the FFN", "2 * seq_len * d_k * d_ff"),
    ("FLOPs of a layer", "24 * batch_size * n * d_model**2 * (1 + n / (4 * d_model))"),
    ("KV cache in numbers", "3 * n_layers * n_heads * d_head * seq_len"),
    ("FLOPs of self-attention", "8 * n * d_model**2 + 2 * n**2 * d_model"),
    ("FLOPs of self-attention", "6 * n * d_model**2 + 4 * n**2 * d_model"),
    ("FLOPs of an encoder layer", "8 * n * d_model**2 + 4 * n**2 * d_model + 8 * n * d_model * d_ff"),
]  # fmt: skip
ALONE = [
    ("Parameters of the FFN", "5 * d_model**2"), ("Parameters of the first matrix of the FFN", "1 * d_model * d_ff"),
    ("Parameters of attention, of which queries", "3 * d_model**2"), ("Parameters of the FFN", "4 * d_model**2"),
    ("The hidden width", "4 * d_model"), ("FLOPs", "3 * n * d_model"), ("The cost", "n**2 * d_model"),
    ("Attention scores", "n**2"), ("The FFN grows with", "n * d_model**2"), ("Parameters of the FFN", "3 * A * B_1"),
    ("Parameters", "2 * d_model * d_ff"), ("Memory of the optimizer", "16 * N"),
    ("FLOPs of the FFN while training", "8 * n * d_model * d_ff"),
    ("FLOPs in LLaMA's FFN, gated", "6 * n * d_model * d_ff"), ("FLOPs of the FFN", "2 * seq_len * d_model**2"),
    ("Activation memory", "30 * batch_size * n * d_model"),
    ("FLOPs of a layer", "20 * n * d_model**2 + 4 * n**2 * d_model"),  # with d_ff = 3 d_model
    ("FLOPs of one matrix of the FFN", "1 * seq_len * d_model * d_ff"), ("FLOPs of the FFN", "2 * n * d_model * d_ff"),
    ("KV cache", "96 * n_heads * d_head * seq_len"), ("KV cache in 8 bytes", "16 * n_layers * n_heads * d_head * n"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "count", "assumed"), RIGHT)
def test_a_right_count_is_found_with_its_assumptions(words: str, count: str, assumed: str) -> None:
    quantity = "C" if "D tokens" in words else "FLOPs"
    one = statement(
        Name(quantity) if quantity == "C" or "LOP" in words or "计算" in words else Name("P"), count, prose=words
    )
    (found,) = check_counting(one, 0, FakeScope())
    assert found.verdict == ("conditional" if found.assumptions else "holds")
    assert assumed in "; ".join(found.assumptions) + found.reason


@pytest.mark.parametrize(("words", "count"), WRONG)
def test_a_wrong_count_is_wrong(words: str, count: str) -> None:
    one = statement(Name("C"), count, prose=words)
    (found,) = check_counting(one, 0, FakeScope())
    assert found.verdict == "wrong"
    assert found.right


@pytest.mark.parametrize(("words", "count"), ALONE)
def test_what_is_not_clear_is_left_alone(words: str, count: str) -> None:
    one = statement(Name("C"), count, prose=words)
    found = tuple(check_counting(one, 0, FakeScope()))
    assert not [each for each in found if each.verdict == "wrong"]


def test_a_mention_is_judged_only_beside_its_quantity() -> None:
    for before, count, after, wrong in (
        ("The feed-forward network has ", "3 * d_model * d_ff", " parameters", True),
        ("前馈网络的参数量为 ", "3 * d_model * d_ff", "", True),
        (
            "The feed-forward network, whose weights are learned from the data that we have, ",
            "3 * d_model * d_ff",
            "",
            False,
        ),
        ("The FFN has fewer parameters than others. Write ", "3 * d_model * d_ff", " for what we shall need", False),
    ):
        passages = [Passage("prose", before, AT), Passage("latex", count, AT), Passage("prose", after, AT)]
        one = Statement(Chain((tree(count),)), passages[1], Block("paragraph", tuple(passages)))
        found = tuple(check_counting(one, None, FakeScope()))
        assert [each.verdict for each in found] == ["wrong"] * wrong, before


def test_a_size_that_is_defined_is_no_count() -> None:
    one = statement(Name("d", (Words("ff"),)), "4 * d_model", prose="The parameters of the feed-forward network")
    assert not tuple(check_counting(one, 0, FakeScope()))


def test_what_is_counted_is_found_in_the_words_around_and_letters_in_the_scope() -> None:
    scope = FakeScope(
        meanings={"w": "model width", "u": "hidden width", "t": "sequence length"},
        around="Its cost\nThe feed-forward network costs most FLOPs",
    )
    (found,) = check_counting(statement(Name("C"), "4 * t * w * u"), 0, scope)
    assert found.verdict == "conditional"  # one sequence
    (wrong,) = check_counting(statement(Name("C"), "5 * t * w * u"), 0, scope)
    assert wrong.verdict == "wrong"
    assert "u" in (wrong.right or "")


def mutants(count: str, source: random.Random) -> Iterator[str]:
    """Yield counts with another factor, a factor dropped, or another exponent."""
    terms = count.split(" + ")
    k = source.randrange(len(terms))
    first, *others = terms[k].split(" * ")
    if first.isdigit():
        number = int(first)
        for other in {number + 1, number + 3, 3 * number + 2, number * 5}:
            yield " + ".join((*terms[:k], " * ".join((str(other), *others)), *terms[k + 1 :]))
    yield count.replace("d_ff", "d_ff**2", 1) if "d_ff" in count else count.replace("d_model**2", "d_model**3", 1)


def oracle(count: str, sizes: dict[str, int]) -> Fraction:
    """The value of a count at sizes, by Python's own arithmetic on the tests' own text."""
    return Fraction(eval(count, {"__builtins__": {}}, sizes))  # noqa: S307, text of this file


#: What the tests hold to be readings of the same counts: multiply-adds, forward and backward, one token.
FACTORS = (Fraction(1, 2), Fraction(1), Fraction(3), Fraction(3, 2))


@pytest.mark.slow
def test_mutants_of_counts_are_wrong_or_left_alone() -> None:
    source = random.Random("mutants of counts")
    sizes = {"d_model": 13, "d_ff": 29, "batch_size": 3, "seq_len": 17, "n": 17, "h": 1, "d_k": 13, "d_v": 13}
    caught = differ = 0
    missed = []
    whole = [row for row in RIGHT if row[0] in {NETWORK, "FLOPs of the feed-forward network", "FLOPs of self-attention",
                                               "前馈网络的参数量", "前馈网络的计算量主要来自矩阵乘法"}]  # fmt: skip
    for words, count, _ in whole:
        right = oracle(count, sizes)
        for mutant in mutants(count, source):
            ratio = oracle(mutant, sizes) / right
            if ratio in FACTORS:
                continue
            differ += 1
            found = tuple(check_counting(statement(Name("C"), mutant, prose=words), 0, FakeScope()))
            caught += bool(found) and found[0].verdict == "wrong"
            missed += [(words, mutant, found)] if not found or found[0].verdict != "wrong" else []
            assert not found or found[0].verdict not in ("proved", "holds")
    print(f"{caught} of {differ} mutants of counts called wrong")
    assert caught >= 0.95 * differ, missed


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("The KV cache takes $4 b L n d$ bytes in fp16.", ["conditional"]),
        ("The KV cache takes $5 b L n d$ bytes in fp16.", ["wrong"]),
        ("The KV cache takes $8 b L n d$ bytes.", ["conditional"]),
        ("The KV cache takes $16 b L n d$ bytes.", []),
    ],
)
def test_a_cache_in_the_model_width(text: str, verdicts: list[str]) -> None:
    sizes = "Let $d$ be the model width, $L$ the number of layers, $n$ the sequence length and $b$ the batch size."
    claims = check_text(f"# A\n\n{sizes}\n\n{text}\n", "markdown").claims
    assert [claim.finding.verdict for claim in claims if "b L" in claim.text] == verdicts


def test_no_size_is_too_strange() -> None:
    for count in ("d_model**(10**9)", "2 / d_model", "d_model**h", "d_model", "3", "x_1 + y_2", "total(i, i, 1, n)"):
        assert not tuple(check_counting(statement(Name("C"), count, prose=NETWORK), 0, FakeScope()))
    assert tree("2 * d_model")


def test_a_layer_beside_embeddings_is_a_part_of_its_own() -> None:
    words = "Parameters in each layer, embeddings, the last norm"
    found = tuple(check_counting(statement(Name("P"), "12 * d_model**2 + 13 * d_model", prose=words), 0, FakeScope()))
    assert all(each.verdict != "wrong" for each in found)
    assert [part.name for part in parts_named("the FFN layer")] == ["feed-forward network"]
    assert [part.name for part in parts_named("每层的自注意力")] == ["multi-head attention"]
    assert [part.name for part in parts_named("the MLP of each layer, with two linear layers")] == [
        "feed-forward network"
    ]
    assert [part.name for part in parts_named("of each layer")] == ["layer"]
    assert [part.name for part in parts_named("attention, layer")] == ["multi-head attention", "layer"]


def test_the_sentence_tells_before_the_block_what_is_counted() -> None:
    passages = [
        Passage("prose", "The feed-forward network has ", AT),
        Passage("latex", "2 * d_model * d_ff", AT),
        Passage("prose", " parameters. Each layer has ", AT),
        Passage("latex", "12 * d_model**2", AT),
        Passage("prose", " parameters. Its norms have few.", AT),
    ]
    block = Block("paragraph", tuple(passages))
    for passage, of in ((passages[1], "feed-forward"), (passages[3], "layer")):
        one = Statement(Chain((tree(passage.text),)), passage, block)
        (found,) = check_counting(one, None, FakeScope())
        assert of in found.reason


def test_shares_are_of_the_matrices_of_a_part() -> None:
    parts = {part.name: matrices(part) for part in PARTS}
    assert parts["feed-forward network"] == 2
    assert parts["gated feed-forward network"] == 3
    assert parts["multi-head attention"] == 4
    assert parts["layer"] == 6
    assert parts["layer norm"] == 1


def test_a_clause_tells_before_its_sentence() -> None:
    passages = [
        Passage("prose", "前馈网络有两个矩阵，参数量为 ", AT),
        Passage("latex", "2 * d_model * d_ff", AT),
        Passage("prose", "，注意力的参数量为 ", AT),
        Passage("latex", "4 * d_model**2", AT),
        Passage("prose", "。", AT),
    ]
    block = Block("paragraph", tuple(passages))
    for passage, of in ((passages[1], "feed-forward"), (passages[3], "attention")):
        one = Statement(Chain((tree(passage.text),)), passage, block)
        (found,) = check_counting(one, None, FakeScope())
        assert found.verdict == "conditional" and of in found.reason


def test_three_matrices_are_no_mistake_where_the_document_speaks_of_gates() -> None:
    network = "The feed-forward network has $3 d_{model} d_{ff}$ parameters."
    for start, wrong in (("", 1), ("We use SwiGLU.\n\n", 0)):
        text = f"{start}{'Nothing is said here.' * 40}\n\n# Parameters\n\n{network}\n"
        claims = check_text(text, "markdown").claims
        assert sum(claim.finding.verdict == "wrong" for claim in claims) == wrong


@pytest.mark.parametrize(
    ("head", "row", "verdicts"),
    [
        ("parameters", "feed-forward network | $2 d_{model} d_{ff}$", ["conditional"]),
        ("parameters", "feed-forward network | $3 d_{model} d_{ff}$", ["wrong"]),
        ("パラメータ数", "フィードフォワード層 | $3 d_{model} d_{ff}$", ["wrong"]),
        ("shape", "feed-forward network | $3 d_{model} d_{ff}$", []),
        ("formula", "feed-forward network | $3 d_{model} d_{ff}$", []),
        ("formula | parameters", "feed-forward network | $2 d d_{ff} + d_{ff} + d$ | 4722432", ["holds"]),
        ("formula | parameters", "feed-forward network | $3 d d_{ff} + d_{ff} + d$ | 4722432", ["wrong"]),
        ("公式 | 参数量", "前馈网络 | $3 d d_{ff} + d_{ff} + d$ | 4722432", ["wrong"]),
        ("formula | parameters | FLOPs", "feed-forward network | $3 d d_{ff} + d_{ff} + d$ | 1 | 2", []),
        ("shape | parameters", "feed-forward network | $3 d d_{ff} + d_{ff} + d$ | 4722432", []),
        ("parameters", "SwiGLU feed-forward network | $3 d_{model} d_{ff}$", ["holds"]),
        ("parameters", "feed-forward network | $d_{model} \\times d_{ff}$", []),
        ("parameters", "feed-forward network | matrices of $5 d_{model} d_{ff}$", []),
    ],
)
def test_the_head_of_a_column_says_what_its_cells_count(head: str, row: str, verdicts: list[str]) -> None:
    rule = " | ".join("---" for _ in row.split(" | "))
    text = f"# A\n\n| part | {head} |\n| {rule} |\n| {row} |\n"
    claims = check_text(text, "markdown").claims
    assert [claim.finding.verdict for claim in claims] == verdicts


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("The feed-forward network has $4 d d_{ff}$ parameters.", ["wrong"]),
        ("Both feed-forward networks together have $4 d d_{ff}$ parameters.", []),
        ("Both feed-forward networks together have $5 d d_{ff}$ parameters.", ["wrong"]),
        ("With 8 experts the feed-forward network has $16 d_{model} d_{ff}$ parameters.", []),
        ("The feed-forward networks of 12 layers have $24 d_{model} d_{ff}$ parameters.", []),
        ("With checkpointing the feed-forward network costs $8 n d_{model} d_{ff}$ FLOPs.", []),
        ("The feed-forward network costs $8 n d d_{ff}$ FLOPs.", ["wrong"]),
    ],
)
def test_a_network_may_be_one_of_several(text: str, verdicts: list[str]) -> None:
    """What is plainly called d is the width of the model where no head is spoken of."""
    claims = check_text(f"# A\n\n{text}\n", "markdown").claims
    assert [claim.finding.verdict for claim in claims if "ff" in claim.text] == verdicts
