"""A number that is said again in words, right behind the formula that ends in it."""

import pytest

from derivations.documents.checking import check_text

PRODUCT = r"$12 \times 12 \times 768^2 = 84{,}934{,}656$"


def said(text: str) -> list[tuple[str, str, str | None]]:
    """Return text, verdict and repair of the claims behind the first formula."""
    claims = [claim for claim in check_text(text, "markdown").claims if "=" not in claim.text]
    return [(claim.text, claim.finding.verdict, claim.finding.right) for claim in claims]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"训练词元共 1.4 万亿，即 $1.4\times10^{12}$。", r"训练词元共 1.4 万亿，即 $1.4\times10^{11}$。"),
        (r"1.75 兆個のパラメータ（$1.75\times10^{12}$）", r"1.75 兆個のパラメータ（$1.75\times10^{11}$）"),
        (r"3000 億個のトークン、つまり $3\times10^{11}$ 個", r"3000 億個のトークン、つまり $3\times10^{10}$ 個"),
        (r"参数量 $N=7\times10^9$，即 70 亿。", r"参数量 $N=7\times10^9$，即 700 亿。"),
        (r"It has $N=7\times10^9$ parameters, i.e. 7 billion.", r"It has $N=7\times10^9$ parameters, i.e. 70 billion."),
    ],
)
def test_a_number_in_words_and_a_formula_are_one(right: str, wrong: str) -> None:
    assert [claim.finding.verdict for claim in check_text(right, "markdown").claims][-1] == "holds"
    assert [claim.finding.verdict for claim in check_text(wrong, "markdown").claims][-1] == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        r"训练词元 3000 亿，即 $20$ 倍。",
        r"1750 億個のパラメータ（$96$ 層）。",
        r"参数量 $N=7\times10^9$，即每层 2 亿。",
        r"It has $N=7\times10^9$ parameters, i.e. 140 billion tokens.",
        "詞表有 32000 個，約 3.2 億參數。",
        "詞表有 32000 個，約 1.3 億。",
        "編號 32000，約 3.2 億。",
        "A vocabulary of 50,257, about 38.6 million parameters.",
    ],
)
def test_what_is_counted_behind_a_number_may_be_something_else(text: str) -> None:
    assert not [claim for claim in check_text(text, "markdown").claims if claim.finding.verdict == "wrong"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"共 {PRODUCT}，約為 0.85 億。", ("0.85 億", "holds", None)),
        (f"共 {PRODUCT}(约 8500 万)。", ("8500 万", "conditional", "8493 万")),
        (f"共 {PRODUCT} 個參數，約 8.49 億個。", ("8.49 億", "wrong", "0.85 億")),
        (f"パラメータ数は {PRODUCT}、約 8493 万である。", ("8493 万", "holds", None)),
        (f"パラメータ数は {PRODUCT}、およそ 850 万である。", ("850 万", "wrong", "8493 万")),
        (f"That is {PRODUCT} parameters, about 85 million.", ("85 million", "holds", None)),
        (f"That is {PRODUCT}, or roughly 850 million parameters.", ("850 million", "wrong", "85 million")),
        (f"That is {PRODUCT}, about 80 million.", ("80 million", "conditional", "85 million")),
        (r"約 $1.34 \times 10^8 \times 12 = 1.61 \times 10^9$ 回，約 1.61 億回。", ("1.61 億", "wrong", "16.10 億")),
        ("每層共 452,984,832 個，約 4.53 億。", ("4.53 億", "holds", None)),
        ("每層共 452984832 個，約 45.3 億。", ("45.3 億", "wrong", "4.5 億")),
        ("They have 452,984,832 parameters, about 45 million.", ("45 million", "wrong", "453 million")),
    ],
)
def test_a_number_is_said_again(text: str, expected: tuple[str, str, str | None]) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        r"With $N = 7 \times 10^9$, about 140 billion.",
        r"It has $2 \times 3.5 \times 10^9 = 7 \times 10^9$ parameters, about 140 billion tokens.",
        r"每層 $12 \times 768^2 = 7{,}077{,}888$，12 層約 0.85 億。",
        r"需 $2 \times 3 = 6$ 次，約 3 億美元。",
        r"需 $2 \times 3 = 6$ 次，約 3 億倍。",
        f"並非 {PRODUCT}，約 8.49 億。",
    ],
)
def test_another_number_is_none_of_it(text: str) -> None:
    assert said(text) == []


def test_what_is_right_after_a_slip_is_no_second_mistake() -> None:
    claims = check_text(r"共 $20 \times 1.3 \times 10^{10} = 2.6 \times 10^{12}$，即 2600 亿。", "markdown").claims
    assert [claim.finding.verdict for claim in claims] == ["wrong"]
