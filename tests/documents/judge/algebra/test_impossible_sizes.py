r"""Equations between sizes that no sizes satisfy are wrong; those that some satisfy may be conditions."""

from __future__ import annotations

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    "formula",
    [
        r"m d_v = m (d_k + d_v)",
        r"\frac{h m d_v}{m d_c + m r} = \frac{h (d_k + d_v + d_c)}{d_c + r}",
        r"\frac{d_{\text{in}}}{d_{\text{out}}} + \frac{d_{\text{out}}}{d_{\text{in}} + d_{\text{out}}} = 1",
        r"\frac{d_a + \frac{d_{\text{out}}}{d_a + d_{\text{out}}}}{d_a + d_{\text{out}}} = 1",
    ],
)
def test_what_no_sizes_satisfy_is_wrong(formula: str) -> None:
    assert last(formula).verdict == "wrong"


@pytest.mark.parametrize(
    "formula",
    [
        r"h d_k = d_{\text{model}}",
        r"d_{\text{in}} + d_{\text{out}} = 2 d_{\text{model}}",
        r"\frac{d_k}{d_{\text{model}}} = 1",
        r"d_k^2 = d_k",  # at d_k = 1
        r"d_1 + d_2 = 2 d_1 + 3 d_2",  # differences, for all that is known
        r"d_i + d_j = 2 d_i + 3 d_j",
        r"h_t + h_s = 2 h_t + 3 h_s",
        r"m + n = 2 m + 3 n",  # letters that need not be sizes
        r"m d_{\text{model}} = 0.5",  # millions
    ],
)
def test_what_some_sizes_satisfy_may_be_a_condition(formula: str) -> None:
    assert last(formula).verdict != "wrong"


def test_lower_terms_may_be_left_out() -> None:
    formula = r"12 d_{\text{model}}^2 + 13 d_{\text{model}} + 7 d_{\text{in}} = 12 d_{\text{model}}^2"
    assert last(formula).verdict == "unknown"


def test_a_condition_is_left_alone() -> None:
    assert last(r"m d_v = m (d_k + d_v)", "It holds only if").verdict != "proved"


@pytest.mark.parametrize(
    ("before", "formula", "verdict"),
    [
        ("", r"\sum_{i=1}^{d_k} 1 = d_k", "proved"),
        ("", r"\sum_{i=1}^{d_k} 1 = d_{\text{ff}}", "wrong"),
        ("There are $h$ heads.", r"\sum_{i=1}^{d_k} 1 = d_{\text{model}}", "wrong"),
        ("One head has all.", r"\sum_{i=1}^{d_k} 1 = d_{\text{model}}", "unknown"),
        (r"Of $h$ heads let $d_k = d_{\text{model}}$.", r"\sum_{i=1}^{d_k} 1 = d_{\text{model}}", "unknown"),
        ("", r"\sum_{i=1}^{d_k} 1 = d_v", "unknown"),
        ("", r"\sum_{i=1}^{n} 1 = m", "unknown"),
    ],
)
def test_a_sum_of_ones_is_no_other_width(before: str, formula: str, verdict: str) -> None:
    assert last(formula, before).verdict in (verdict, "conditional" if verdict == "unknown" else verdict)
