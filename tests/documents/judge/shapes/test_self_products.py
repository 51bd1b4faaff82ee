"""Queries, keys and values: none of them is the input times itself, where another one is the input times a weight."""

import pytest

from tests.documents.judge.claims import verdicts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$Q = Z Z$, $K = Z W_K$, $V = Z W_V$", True),
        ("$K_i = Z W^K_i$, $V_i = Z Z$", True),
        ("$Q = Z Z$", False),  # nothing stands beside it
        ("$Q = Z Z^T$, $K = Z W_K$", False),
        ("$Q = z z$, $K = z W_K$", False),  # a number
        ("$Q = M Z$, $K = Z W_K$", False),
        ("$Z \\in \\mathbb{R}^{n \\times n}$: $Q = Z Z$, $K = Z W_K$", False),
        ("$G = Z Z$, $H = Z W$", False),  # two steps of a walk, and a map of its features
    ],
)
def test_an_input_is_not_multiplied_by_itself(text: str, expected: bool) -> None:
    assert ("wrong" in verdicts(f"# Heads\n\n{text}\n")) is expected
