"""Numbers with words for billions, for bytes and for what is counted, in formulas in plain characters."""

import pytest

from derivations.documents.checking import check_text


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("7B × 2 bytes = 14 GB", "holds"),
        ("7B × 2 bytes = 140 GB", "wrong"),
        ("13B × 2 bytes = 52 GB", "wrong"),
        ("70 億 × 2 バイト ＝ 140 GB", "wrong"),
        ("7×10^9×2 位元組＝14 GB", "holds"),
        ("7B×2 字节＝28 GB", "wrong"),
        ("12 層 × 708 萬 ＝ 8496 萬", "holds"),
        ("12 層 × 708 萬 ＝ 9496 萬", "wrong"),
        ("6 × 700 亿 × 1.4 万亿 ＝ 5.88×10^22", "wrong"),
        ("6 × 700 亿 × 1.4 万亿 ＝ 5.88×10^23", "holds"),
    ],
)
def test_billions_and_words_for_what_is_counted_in_plain_text(text: str, verdict: str) -> None:
    (claim,) = check_text(f"It takes {text}.", "markdown").claims
    assert claim.finding.verdict == verdict


@pytest.mark.parametrize("text", ["7B × 2 bytes = 15 GB", "7B × 2 bytes ≈ 13.5 GB", "2B × 4 bytes = 3 KB"])
def test_billions_that_were_rounded_are_left_alone(text: str) -> None:
    assert not [claim for claim in check_text(text, "markdown").claims if claim.finding.verdict == "wrong"]
