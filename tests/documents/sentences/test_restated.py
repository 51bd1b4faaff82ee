"""A number that is said again in words, right behind the formula that ends in it."""

import pytest

from derivations.documents.checking import check_text

PRODUCT = r"$12 \times 12 \times 768^2 = 84{,}934{,}656$"


def said(text: str) -> list[tuple[str, str, str | None]]:
    """Return text, verdict and repair of the claims behind the first formula."""
    claims = check_text(text, "markdown").claims[1:]
    return [(claim.text, claim.finding.verdict, claim.finding.right) for claim in claims]


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
