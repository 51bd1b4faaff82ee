"""Widths that come back: where a shape before has them, and nothing where none has."""

import pytest

from derivations.documents.checking import check_text

WORDS = (
    "back to the original dimension",
    "restores the original width",
    "回到原始维度",
    "還原成原來的維度",
    "元の次元に戻す",
)


def said(*lines: str) -> list[str]:
    claims = check_text("\n".join(("```", *lines, "```")), "markdown").claims
    return [each.finding.verdict for each in claims if each.finding.reason.startswith("a shape before it")]


@pytest.mark.parametrize("words", WORDS)
def test_a_width_that_a_shape_before_has_holds(words: str) -> None:
    assert said("x: [7, 96]", "widen → [7, 384]", f"narrow → [7, 96]  # {words}") == ["holds"]


@pytest.mark.parametrize("words", WORDS)
def test_a_width_that_none_has_gives_no_claim(words: str) -> None:
    assert said("x: [7, 96]", "widen → [7, 384]", f"narrow → [7, 48]  # {words}") == []
    assert said(f"narrow → [7, 96]  # {words}") == []


def test_other_words_give_no_claim() -> None:
    assert said("x: [7, 96]", "widen → [7, 384]", "narrow → [7, 96]  # the original idea") == []
