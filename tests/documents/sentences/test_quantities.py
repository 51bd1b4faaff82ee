"""Ratios, shares, near numbers, ranges and sizes of named models in words: right, wrong, and ordinary prose."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

SIZES = "Let $d_{model} = 512$ and $d_{ff} = 2048$.\n\n"
ROW = "The attention weights are `[0.1, 0.0, 0.7, 0.2]`.\n\n"


def _said(text: str) -> list[Claim]:
    """Return the claims of a text that stand in its last paragraph and hold words."""
    claims = check_text(text, "markdown").claims
    line = text.rstrip().count("\n") + 1
    return [each for each in claims if each.start.line == line and "→" not in each.text[:4]]


def _only(text: str) -> Claim:
    (claim,) = _said(text)
    return claim


# --- ratios ---


@pytest.mark.parametrize(
    "text",
    [
        SIZES + "The inner layer $d_{ff}$ is 4 times $d_{model}$.",
        SIZES + "Here $d_{ff}$ is four times larger than $d_{model}$.",
        SIZES + "$d_{ff}$ 比 $d_{model}$ 大很多（一般是 4 倍）。",
        SIZES + "$d_{ff}$ 是 $d_{model}$ 的四倍。",
        SIZES + "$d_{ff}$ は $d_{model}$ の 4 倍である。",
        "The width is expanded by a factor of 4, from 512 to 2048.",
        "放大倍数通常是4倍（如从512维放大到2048）。",
        "次元を 512 から 2048 へ 4 倍に拡大する。",
    ],
)
def test_a_ratio_of_two_sizes_holds(text: str) -> None:
    assert _only(text).finding.verdict == "holds"


def test_a_ratio_of_a_map_beside_it_holds() -> None:
    text = "```\ninput: [1, 10, 512]\n\nwiden -> [1, 10, 2048]   # usually expanded 4x\n```"
    claims = [each for each in check_text(text, "markdown").claims if each.text == "4x"]
    assert [each.finding.verdict for each in claims] == ["holds"]


def test_the_usual_ratio_is_an_assumption() -> None:
    finding = _only("通常 $d_{ff}$ 是 $d_{model}$ 的 4 倍。").finding
    assert (finding.verdict, finding.assumptions) == ("conditional", ("d_ff = 4 d_model, as is usual",))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (SIZES + "$d_{ff}$ is 8 times $d_{model}$.", "4 times"),
        (SIZES + "$d_{ff}$ 是 $d_{model}$ 的 2 倍。", "4 times"),
        (SIZES + "$d_{ff}$ は $d_{model}$ の 3 倍である。", "4 times"),
        ("It widens the dimension by a factor of 4 (from 512 to 1024).", "2 times"),
        ("放大倍數是 8 倍（從 512 到 2048）。", "4 times"),
    ],
)
def test_another_ratio_of_the_sizes_that_are_named_is_wrong(text: str, right: str) -> None:
    finding = _only(text).finding
    assert (finding.verdict, finding.right) == ("wrong", right)


@pytest.mark.parametrize(
    "text",
    [
        SIZES + "We ran it 4 times, and it was 3 times faster.",
        SIZES + "Usually $d_{ff}$ is 2 times $d_{model}$ in small models.",
        SIZES + "If $d_{ff}$ is 8 times $d_{model}$, memory grows.",
        SIZES + "$d_{ff}$ needs 8 times the memory of $d_{model}$.",
        SIZES + "$d_{ff}$ is five times larger than the width.",
        "The batch grew from 512 to 2048 and took 3 times longer.",
        "訓練重複了 4 倍的時間。",
    ],
)
def test_other_times_give_no_claim(text: str) -> None:
    assert _said(text) == []


# --- shares ---


@pytest.mark.parametrize(
    "text",
    [
        "It puts 10% on the first word, 0% on the second, 70% on the third and 20% on the fourth.",
        "70% of the attention is on token 3, 20% on token 4.",
        "應該放 10% 的注意力在第 1 個字，0% 在第 2 個字，70% 在第 3 個字，20% 在第 4 個字。",
        "10% 放在第 1 个词，70% 放在第三个词。",
        "1番目の単語に 10%、3番目の単語に 70% の注意を向ける。",
    ],
)
def test_shares_that_are_the_weights_before_hold(text: str) -> None:
    assert _only(ROW + text).finding.verdict == "holds"


def test_a_share_without_a_place_is_one_that_is_left() -> None:
    text = "它 70% 像第 3 個字，20% 像第 4 個字，10% 像它自己。"
    assert _only(ROW + text).finding.verdict == "conditional"
    assert _said(ROW + text.replace("10%", "30%")) == []


def test_weights_of_another_section_are_an_assumption() -> None:
    finding = _only(ROW + "# Later\n\n70% of the attention is on token 3, 20% on token 4.").finding
    assert finding.assumptions == ("the weights are those of line 1",)


@pytest.mark.parametrize(
    "text",
    [
        "It puts 10% on the first word, 0% on the second, 60% on the third and 20% on the fourth.",
        "放 10% 的注意力在第 1 個字，60% 在第 3 個字，20% 在第 4 個字。",
        "1番目の単語に 10%、3番目の単語に 60%、4番目の単語に 20% の注意を向ける。",
    ],
)
def test_the_one_share_that_contradicts_the_weights_is_wrong(text: str) -> None:
    finding = _only(ROW + text).finding
    assert (finding.verdict, finding.right) == ("wrong", "70%")


@pytest.mark.parametrize(
    "text",
    [
        "10% of the readers stop at the first page and 70% at the third.",
        "It puts 50% on the first word and 50% on the second.",
        "For the next word, 10% of the attention is on the first and 30% on the second.",
        "We train on 10% of the data, then on 70%.",
    ],
)
def test_other_percents_give_no_claim(text: str) -> None:
    assert _said(ROW + text) == []
    assert _said("# Without weights\n\n" + text) == []


# --- near numbers ---


@pytest.mark.parametrize(
    "text",
    [
        "So $y_1$ takes almost 100% of it.",
        "$y_1$ 拿走了幾乎 100% 的權重",
        "$y_1$ 接近 1。",
        "$y_1$ はほぼ 100% になる。",
    ],
)
def test_what_rounds_to_a_number_is_almost_that(text: str) -> None:
    assert _only("$y_1 \\approx 0.99995$\n\n" + text).finding.verdict == "holds"
    assert _said("$y_1 \\approx 0.73$\n\n" + text) == []
    assert _said("$y_2 \\approx 0.99995$\n\n" + text) == []


# --- ranges ---


@pytest.mark.parametrize(
    "text",
    [
        "Head 1 has coordinates 1-64, head 2 has 65-128.",
        "Head 1 has coordinates 1--64, head 2 has 65--128.",
        "Head 1 的資訊在第 1\\~64 位，Head 2 的資訊在第 65\\~128 位。",
        "第一个头占第 1~64 维，第二个头占第 65~128 维。",
        "ヘッド 1 は 1〜64 次元、ヘッド 2 は 65〜128 次元を使う。".replace("〜", "～"),
    ],
)
def test_blocks_as_wide_as_a_head_hold(text: str) -> None:
    assert "holds" in [each.finding.verdict for each in _said("Let $d_k = 64$.\n\n" + text)]
    assert _said("Let $d_k = 32$.\n\n" + text) == []
    assert "holds" in [
        each.finding.verdict for each in _said("Let $c = 64$, where $c$ is the dimension of a head.\n\n" + text)
    ]
    assert "holds" not in [
        each.finding.verdict for each in _said("Let $c = 64$, where $c$ is the number of layers.\n\n" + text)
    ]


@pytest.mark.parametrize("text", ["Pages 1-64 and 65-128.", "Head 1 has 1-64, head 2 has 64-128."])
def test_other_ranges_give_no_claim(text: str) -> None:
    assert _said("Let $d_k = 64$.\n\n" + text) == []


# --- named models ---


@pytest.mark.parametrize(
    "text",
    [
        "In the base Transformer $d_k$ is 64.",
        "$d_k$ is the width of a key (64 in the base Transformer).",
        "$d_k$ 是 Query 和 Key 向量的維度（例如在基礎的 Transformer 中是 64）。",
        "基础的 Transformer 中 $d_{model}$ 是512。",
        "BERT-base has 12 layers.",
        "BERT-large の層は多い。BERT-large は 24 層である。",
        "GPT-3 175B uses 96 attention heads.",
        "BERT base 的隱藏維度是 768。",
    ],
)
def test_the_size_of_a_named_model_holds(text: str) -> None:
    assert _only(text).finding.verdict == "holds"


def test_a_size_of_one_model_of_a_family_is_an_assumption() -> None:
    finding = _only("GPT-3 has 96 layers.").finding
    assert (finding.verdict, finding.assumptions) == ("conditional", ("gpt3-175b is meant",))
    assert _said("GPT-3 has 95 layers.") == []


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("In the base Transformer $d_k$ is 128.", "64"),
        ("基礎的 Transformer 中 $d_k$ 是 512。", "64"),
        ("BERT-base has 24 layers.", "12"),
        ("BERT-large 有 12 层。", "24"),
        ("BERT-base は 24 層です。", "12"),
        ("GPT-3 175B uses 128 attention heads.", "96"),
    ],
)
def test_another_size_of_the_one_model_is_wrong(text: str, right: str) -> None:
    finding = _only(text).finding
    assert (finding.verdict, finding.right) == ("wrong", right)


@pytest.mark.parametrize(
    "text",
    [
        "We fine-tune the last 4 layers of BERT-base.",
        "BERT-base has 4 layers more than the small model.",
        "Unlike BERT-base, where $d_k$ is 64, we take another.",
        "Our base Transformer has 4 layers.",
        "In the base Transformer $d_{model}$ is 768.",
        "If BERT-base had 4 layers, it would be small.",
        "BERT-base was trained for 4 days on 16 chips.",
        "We opt for 3 layers in the option of section 2.",
        "LLaMA-2 7B has 32 layers, and BERT-large has 23.",
    ],
)
def test_what_is_no_size_of_a_model_gives_no_claim(text: str) -> None:
    assert _said(text) == []


def test_a_check_that_fails_says_so_of_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("derivations.documents.sentences.remarks.check_coordinates", failing)
    claims = check_text("Some words.\n\nHere $d_k = 2$.", "markdown").claims
    assert "failed" in [each.finding.check for each in claims]
    assert "holds" in [each.finding.verdict for each in claims]
