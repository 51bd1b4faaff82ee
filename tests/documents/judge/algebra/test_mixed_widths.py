"""One width for another between sizes is wrong; what holds with the usual sizes is conditional."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text


def verdict(formula: str, before: str = "So") -> str:
    """Return what is said of a formula behind some words."""
    return check_text(f"{before} ${formula}$ here.", "markdown").claims[-1].finding.verdict


@pytest.mark.parametrize(
    "formula",
    [
        r"m d_v g + m d_v g = \frac{m d_k g r + m d_v g r}{r}",
        r"m d_k + m d_k = \frac{m d_k r + m d_v r}{r}",
        r"\frac{h m d_{ff} + h m d_v}{m} = 2 h d_k",
        r"\frac{h m d_{\text{model}} + h m d_v}{m} = 2 h d_k",
        r"\frac{m d_k + m d_v}{m} = 2 d_{\text{ff}}",
        r"\frac{h m (d_v + d_r) + h m d_v}{m d_r} = \frac{h (d_k + d_v + d_r)}{d_r}",
        r"\frac{h m (d_k + d_r) + h m d_k}{m d_r} = \frac{h (d_k + d_v + d_r)}{d_r}",
    ],
)
def test_one_width_for_another_is_wrong(formula: str) -> None:
    assert verdict(formula) == "wrong"


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (r"m d_k g + m d_v g = \frac{m d_k g r + m d_v g r}{r}", "conditional"),  # r is not 0
        (r"2 m d_v g = \frac{m d_k g r + m d_v g r}{r}", "conditional"),
        (r"\frac{h m d_k + h m d_v}{m} = 2 h d_k", "conditional"),
        (r"\frac{m d_{\text{model}} + m d_v}{m} = 2 d_k", "unknown"),
    ],
)
def test_what_may_hold_for_usual_sizes_is_not_refuted(formula: str, said: str) -> None:
    assert verdict(formula) == said


def test_a_chain_may_go_on_with_widths_that_are_alike() -> None:
    assert verdict("m d_k + m d_v = m d_v + m d_v = 2 m d_v") == "proved"


def test_what_the_section_sets_is_respected() -> None:
    assert verdict(r"m d_v + m d_v = \frac{m d_k r + m d_v r}{r}", "Let $d_v = d_k$. Then") == "conditional"
    assert verdict(r"\frac{m d_k + m d_v}{m} = 2 d_{\text{ff}}", r"Let $d_v = 2 d_{\text{ff}} - d_k$. Then") != "wrong"
