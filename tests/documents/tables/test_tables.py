"""Numbers of tables: each mistake is told where the rest of the table agrees, and left alone where it may be meant."""

from __future__ import annotations

import pytest

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

SHAPES = """
| matrix | shape | parameters |
|---|---|---|
| query | 1024 × 1024 | {query} |
| key | 1024 × 128 | 131,072 |
| up | 1024 × 2816 | 2,883,584 |
"""
LETTERS = """
Let $d = 96$ and $V = 1009$.

| part | formula | parameters |
|---|---|---|
| table | $V d$ | 96,864 |
| attention | $4 d^2$ | {attention} |
| network | $8 d^2 + 5 d$ | 74,208 |
"""
SHARES = """
| part | parameters | share |
|---|---|---|
| table | 39,424 | {share} |
| layers | 110,592 | 73.3% |
| norms | 768 | 0.5% |
| total | {total} | 100% |
"""
HEAD = r"""
| $x$ | $e^x$ |
|---|---|
| 0 | 1 |
| 1 | 2.718 |
| 3 | {power} |
"""


def wrong(text: str) -> list[Claim]:
    return [each for each in check_text(text, "markdown").claims if each.finding.verdict == "wrong"]


@pytest.mark.parametrize(
    ("table", "place", "right", "mistake"),
    [
        (SHAPES, "query", "1,048,576", "1,084,576"),
        (SHAPES, "query", "1,048,576", "131,584"),
        (LETTERS, "attention", "36,864", "38,664"),
        (SHARES, "share", "26.1%", "21.6%"),
        (HEAD, "power", "20.086", "28.006"),
    ],
)
def test_the_one_number_that_its_row_does_not_give_is_wrong(table: str, place: str, right: str, mistake: str) -> None:
    rest = {"share": "26.1%", "total": "150,784"}
    assert not wrong(table.format(**{**rest, place: right}))
    (found,) = wrong(table.format(**{**rest, place: mistake}))
    assert found.text == mistake
    assert found.finding.right == right


@pytest.mark.parametrize("total", ["150,748", "151,784"])
def test_a_total_that_is_added_up_wrongly_is_wrong(total: str) -> None:
    (found,) = wrong(SHARES.format(share="26.1%", total=total))
    assert (found.text, found.finding.right) == (total, "150,784")


def test_what_a_table_gives_is_held_to_be_so() -> None:
    claims = check_text(SHARES.format(share="26.1%", total="150,784"), "markdown").claims
    assert {each.text: each.finding.verdict for each in claims} == dict.fromkeys(
        ("26.1%", "73.3%", "0.5%", "150,784", "100%"), "holds"
    )


@pytest.mark.parametrize(
    "text",
    [
        SHAPES.format(query="12,582,912"),  # of twelve layers
        SHAPES.format(query="1,049,600"),  # with its biases
        SHAPES.format(query="1.05M"),
        SHAPES.format(query="4 MB"),
        "| part | number |\n|---|---|\n| a | 12 |\n| b | 30 |\n| total | 45 |\n",  # something may be left out
        "| model | score |\n|---|---|\n| a | 27.3 |\n| b | 28.4 |\n| average | 27.9 |\n",
        "| | base | big |\n|---|---|---|\n| $d$ | 512 | 1024 |\n| $4d$ | 2048 | 4096 |\n| $d/8$ | 64 | 128 |\n",
        "Let $d = 512$, $V = 1000$, $n = 700$.\n\n| | small | large |\n|---|---|---|\n| $V d$ | 512,000 | 768,000 |\n"
        "| $n V$ | 700,000 | 700,000 |\n| $n + V$ | 1700 | 1700 |\n",  # the large model has another d
        "| $n$ | $n^2$ |\n|---|---|\n| 10 | 100 |\n| 20 | 500 |\n",  # one row is too few
        "| a | time | total |\n|---|---|---|\n| x | 3 | 10 |\n| y | 4 | 20 |\n| total | 7 | 20 |\n",  # the largest
    ],
)
def test_a_table_that_may_mean_something_else_is_left_alone(text: str) -> None:
    assert not wrong(text)


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1/0 | 3 |\n| 0 | 0 |\n| total | 0 |\n",
        "| a | b |\n|---|---|\n| $10^{10^{10}}$ | 3 |\n| $x$ | 5% |\n| total | 0% |\n",
        "| total | 1 |\n|---|---|\n| total | 0% |\n| total | 0% |\n| total | 0% |\n",
    ],
)
def test_odd_tables_are_no_failure(text: str) -> None:
    assert all(each.finding.check != "failed" for each in check_text(text, "markdown").claims)


FORMULAS = """
Let $d = 512$.

| part | formula | parameters |
|---|---|---|
| attention | ${attention}$ | 1,048,576 |
| network | $8 d^2$ | 2,097,152 |
| total | ${total}$ | 3,145,728 |
"""
COSTS = """
| 層 | 參數量 | FLOPs |
|---|---|---|
| 注意力 | $4 d^2$ | $8 n d^2 + 4 n^2 d$ |
| 前饋網路 | $8 d^2 + 5 d$ | $16 n d^2$ |
| 合計 | ${parameters}$ | ${operations}$ |
"""


@pytest.mark.parametrize(
    ("table", "mistaken"),
    [
        (FORMULAS.format(attention="4 d^2", total="12 d^2"), None),
        (FORMULAS.format(attention="4 d^2", total="13 d^2"), "13 d^2"),
        (FORMULAS.format(attention="5 d^2", total="12 d^2"), "1,048,576"),  # the total is right in its row
        (COSTS.format(parameters="12 d^2 + 5 d", operations="24 n d^2 + 4 n^2 d"), None),
        (COSTS.format(parameters="12 d^2 + 5 d", operations="24 n d^2 + 5 n^2 d"), "24 n d^2 + 5 n^2 d"),
        (COSTS.format(parameters="12 d^2 + 5 d", operations="24 n d^2"), None),  # without what is small
        (COSTS.format(parameters="12 d^2", operations="24 n d^2 + 5 n^2 d"), None),  # nothing else is added up
    ],
)
def test_formulas_are_added_up(table: str, mistaken: str | None) -> None:
    assert [each.text for each in wrong(table)] == ([mistaken] if mistaken is not None else [])


def test_a_total_of_formulas_holds() -> None:
    text = COSTS.format(parameters="12 d^2 + 5 d", operations="24 n d^2 + 4 n^2 d")
    said = {each.text: each.finding.reason for each in check_text(text, "markdown").claims}
    assert said["12 d^2 + 5 d"] == "the formulas above sum to 12 d^2 + 5 d"
