"""The softmax of a matrix, entry by entry: over which index it is taken, and what the lines around say of that."""

import pytest

from tests.documents.judge.claims import last


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        (r"A_{ij} = \frac{\exp(S_{ij})}{\sum_{k=1}^{n} \exp(S_{ik})}", "holds"),
        (r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_{l} e^{s_{il}}}", "holds"),
        (r"A_{ts} = \frac{\exp(S_{ts})}{\sum_{u=1}^{T} \exp(S_{tu})}", "holds"),
        (r"p_{ti} = \frac{\exp(z_{ti}/\tau)}{\sum_{v} \exp(z_{tv}/\tau)}", "holds"),
        (r"A_{ij} = \frac{\exp(S_{ij})}{\sum_{k} \exp(S_{kj})}", "conditional"),
        (r"p_{ij} = \frac{\exp(s_{ij})}{\sum_{k,l} \exp(s_{kl})}", "unknown"),
        (r"A_{ij} = \frac{S_{ij}}{\sum_{k} \exp(S_{ik})}", "wrong"),
        (r"A_{ij} = \frac{\exp(S_{ij})}{\sum_{k=1}^{n-1} \exp(S_{ik})}", "wrong"),
        (r"A_{ij} = \frac{\exp(S_{ij})}{\sum_{k} \exp(S_{jk})}", "wrong"),
    ],
)
def test_entries_of_a_softmax_of_rows(formula: str, verdict: str) -> None:
    assert last(formula).verdict == verdict


COLUMNS = r"A_{ij} = \frac{\exp(S_{ij})}{\sum_{k} \exp(S_{kj})}"


@pytest.mark.parametrize(
    ("before", "verdict"),
    [
        (r"$o_i = \sum_j A_{ij} v_j$", "wrong"),
        (r"$o_j = \sum_i A_{ij} v_i$", "conditional"),
        (r"$S_{ij} = q_i^\top k_j / \sqrt{d}$", "wrong"),
        (r"$S_{ij} = k_i^\top q_j / \sqrt{d}$", "conditional"),
        (r"$o_i = \sum_j B_{ij} v_j$", "conditional"),
        (r"$S = Q K^T / \sqrt{d_k}$", "wrong"),
        (r"$O = A V$", "wrong"),
        (r"$S = K^T Q$, $O = V A$", "conditional"),
        (r"$S = K Q^T$, $O = A^T V$", "conditional"),
        (r"$S = Q K^T$, and attention is normalised over the queries:", "conditional"),
        ("# Before\n\n$O = A V$\n\n# Then", "conditional"),
        (r"$o_i = \sum_j A_{ij} v_j$ and $u_j = \sum_i A_{ij} w_i$", "conditional"),
    ],
)
def test_what_the_second_index_counts(before: str, verdict: str) -> None:
    assert last(COLUMNS, before).verdict == verdict


def test_a_softmax_of_columns_is_not_said_to_be_one_of_rows() -> None:
    assert "columns here stand for its rows: it is taken over the first index" in last(COLUMNS).reason
