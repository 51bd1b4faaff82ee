r"""Causal masks by cases: which keys are shown, and in which convention."""

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

ROWS = r"$O = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)V$"
COLUMNS = r"$O = V\,\mathrm{softmax}\left(\frac{K^\top Q}{\sqrt{d_k}} + M\right)$"
TURNED = r"$$M_{ij} = \begin{cases}0 & j \ge i\\ -\infty & j < i\end{cases}$$"
RIGHT = r"$$M_{ij} = \begin{cases}0 & j \le i\\ -\infty & j > i\end{cases}$$"


def last(text: str) -> Claim:
    return check_text(text, "markdown").claims[-1]


@pytest.mark.parametrize(
    "words", ["The causal mask is", "因果掩码为", "因果遮罩為", "因果マスクは", "An autoregressive mask:"]
)
def test_a_turned_inequality_is_wrong_where_queries_are_rows(words: str) -> None:
    assert last(f"{ROWS}\n\n{words}\n\n{RIGHT}").finding.verdict == "holds"
    found = last(f"{ROWS}\n\n{words}\n\n{TURNED}").finding
    assert found.verdict == "wrong"
    assert "turned" in found.reason


@pytest.mark.parametrize(
    "mask",
    [
        r"$$M_{ts} = \begin{cases}0 & \text{if } t \le s\\ -\infty & \text{otherwise}\end{cases}$$",
        r"$$M_{ij} = \begin{cases}-\infty & j < i\\ 0 & j \ge i\end{cases}$$",
    ],
)
def test_other_spellings_of_it(mask: str) -> None:
    assert last(f"{ROWS}\n\nThe causal mask is\n\n{mask}").finding.verdict == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        f"{COLUMNS}\n\nThe causal mask is\n\n{TURNED}",  # queries are columns
        f"The causal mask is\n\n{TURNED}",  # nothing tells
        f"{ROWS}\n\n{COLUMNS}\n\nThe causal mask is\n\n{TURNED}",
        f"{ROWS}\n\nThe backward model has the mask\n\n{TURNED}",
        f"{ROWS}\n\nA model that reads from the right, which is not causal but anti-causal, has\n\n{TURNED}",
    ],
)
def test_where_columns_are_queries_or_time_runs_backwards_nothing_is_wrong(text: str) -> None:
    assert last(text).finding.verdict == "unknown"
