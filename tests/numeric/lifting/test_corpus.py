"""Functions and modules that were written elsewhere: what they are proved to be, and in what they differ."""

from typing import Any

import pytest

from numeric.lifting.proving import Verdict, prove

pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
pytest.importorskip("transformers", reason="the peers tests compare with transformers")

from tests.numeric.lifting.corpus import scipy_rows, torch_rows, transformers_rows
from tests.numeric.lifting.corpus.rows import Row

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
MODULES: tuple[Any, ...] = (transformers_rows, torch_rows, scipy_rows)
SEEN = [row for module in MODULES for row in module.SEEN]  # the lifting was developed on these
UNSEEN = [row for module in MODULES for row in module.UNSEEN]
ROWS = [*SEEN, *UNSEEN]


def verdict_of(row: Row) -> Verdict:
    return prove(row.made(), row.target(), **row.given)


@pytest.mark.parametrize("row", [row for row in ROWS if row.outcome == "proved"], ids=lambda row: row.name)
def test_what_is_the_layer_is_proved(row: Row) -> None:
    verdict = verdict_of(row)
    assert verdict.level == "proved", str(verdict)
    assert all(part in verdict.qualified for part in row.readings)


@pytest.mark.parametrize("row", [row for row in ROWS if "literal" in row.outcome], ids=lambda row: row.name)
def test_what_is_equal_up_to_a_literal_says_which(row: Row) -> None:
    verdict = verdict_of(row)
    assert verdict.level == row.outcome, str(verdict)
    assert row.because in str(verdict)


@pytest.mark.parametrize("row", [row for row in ROWS if row.outcome == "different"], ids=lambda row: row.name)
def test_a_real_difference_is_found(row: Row) -> None:
    """The counterexample is a run of the function itself."""
    verdict = verdict_of(row)
    assert verdict.level == "refuted", str(verdict)
    assert verdict.counterexample is not None
    assert verdict.counterexample.left != verdict.counterexample.right


@pytest.mark.parametrize("row", [row for row in ROWS if row.outcome == "not followed"], ids=lambda row: row.name)
def test_what_cannot_be_followed_says_why(row: Row) -> None:
    verdict = verdict_of(row)
    assert verdict.level in ("not followed", "unknown"), str(verdict)
    assert row.because in str(verdict)


def test_the_corpus_is_large_and_most_of_it_is_proved() -> None:
    functions = {row.name for row in ROWS if row.outcome != "different"}
    assert len(functions) >= 60
    assert sum(row.outcome == "proved" for row in ROWS) >= 0.85 * len(functions)
    assert len(ROWS) == len({row.name for row in ROWS})
