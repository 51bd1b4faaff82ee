"""Mutants in their documents: what the oracle says is different is called wrong or to differ, and is never proved.

The whole table is printed by `python -m tests.documents.mutants`; here a seeded sample of it is judged.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.documents.mutants.harness import CAUGHT, Judged, Mutant, all_mutants, judged, table
from tests.documents.mutants.texts import SHARED, Text, documents

SEED, SAMPLE = 6, 40
FLOOR = 0.92
OWN = Text(
    "own.md",
    r"""# A layer

Let $X \in \mathbb{R}^{n \times d_{model}}$, $W_1 \in \mathbb{R}^{d_{model} \times d_{ff}}$ and
$W_2 \in \mathbb{R}^{d_{ff} \times d_{model}}$, with $b_1 \in \mathbb{R}^{d_{ff}}$ and $b_2 \in \mathbb{R}^{d_{model}}$.

$$\text{FFN}(X) = \max(0, X W_1 + b_1) W_2 + b_2$$

# Attention

$$\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right) V$$

The weights are $\text{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}$, and

$$\frac{\partial y_i}{\partial x_i} = y_i (1 - y_i)$$

$$1 - \frac{1}{1 + e^{-t}} = \frac{1}{1 + e^{t}}$$

# Positions

$$PE_{(pos, 2i)} = \sin\left(\frac{pos}{10000^{2i/d}}\right)$$

# Numbers

We have $e^2 \approx 7.39$ and $e^1 \approx 2.72$, so that $\frac{7.39}{10.11} \approx 0.731$.

With $d_{model} = 512$ and $h = 8$ heads, $d_k = d_{model} / h = 512 / 8 = 64$ and $0.73 \times 0.27 \approx 0.197$.
""",
)


def sampled(texts: Iterable[Text]) -> list[Mutant]:
    """Return some of the mutants that differ, always the same."""
    found = [mutant for mutant in all_mutants(texts) if mutant.answer == "different"]
    return random.Random(SEED).sample(found, min(SAMPLE, len(found)))


def share(rows: list[Judged]) -> float:
    """Return the share that is called wrong or said to differ from the usual, and print the table."""
    print(table(rows))
    counts = Counter(row.verdict for row in rows)
    return sum(counts[each] for each in CAUGHT) / len(rows)


@pytest.mark.slow
def test_mistakes_in_an_own_document_are_called_wrong() -> None:
    rows = [judged(mutant) for mutant in sampled([OWN])]
    assert len(rows) > SAMPLE // 2
    assert not [row for row in rows if row.verdict == "proved"]
    assert share(rows) >= FLOOR


def test_the_document_as_it_is_has_no_mistake() -> None:
    assert {claim.finding.verdict for claim in OWN.claims} <= {"proved", "holds", "conditional", "unknown"}


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the five documents are not there")
def test_mistakes_in_the_five_documents_are_called_wrong() -> None:
    rows = [judged(mutant) for mutant in sampled(text for text in documents() if text.name.endswith(".txt"))]
    assert not [row for row in rows if row.verdict == "proved"]
    assert share(rows) >= FLOOR
