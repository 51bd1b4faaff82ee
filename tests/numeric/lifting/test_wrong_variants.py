"""One realistic bug in a right function: none is proved, and a run of the function itself refutes it."""

import pytest

from numeric.lifting.differential import disagreement
from numeric.lifting.proving import Verdict, prove
from tests.numeric.lifting.wrong_variants import RIGHT, Right, variants
from tests.tiers import few

NUMPY = [right for right in RIGHT if right.library == "numpy"]
TORCH = [right for right in RIGHT if right.library == "torch"]


def verdict_of(right: Right, number: int | None = None) -> Verdict:
    return prove(right.made(number), right.target())


def refuted(verdict: Verdict) -> bool:
    """Whether a verdict has a counterexample; whatever it is, it is no proof."""
    assert verdict.level != "proved"
    return verdict.level == "refuted" and verdict.counterexample is not None


@pytest.mark.parametrize("right", few(NUMPY, fast=2), ids=lambda right: right.name)
def test_what_is_right_is_proved(right: Right) -> None:
    assert verdict_of(right).level == "proved"


@pytest.mark.peers
@pytest.mark.parametrize("right", TORCH, ids=lambda right: right.name)
def test_what_is_right_over_torch_is_proved(right: Right) -> None:
    assert verdict_of(right).level == "proved"


@pytest.mark.parametrize("right", few(NUMPY, fast=2), ids=lambda right: right.name)
def test_the_first_wrong_variant_of_each_is_refuted(right: Right) -> None:
    assert refuted(verdict_of(right, 0))


@pytest.mark.slow
def test_wrong_variants_are_refuted_and_none_is_proved() -> None:
    found = [refuted(verdict_of(right, number)) for right, number in variants("numpy")]
    assert len(found) >= 110
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.peers
def test_wrong_variants_over_torch_are_refuted_and_none_is_proved() -> None:
    found = [refuted(verdict_of(right, number)) for right, number in variants("torch")]
    assert len(found) >= 40
    assert sum(found) >= 0.9 * len(found)


def test_the_counterexample_is_one_of_the_function_itself() -> None:
    """The numbers of the verdict are those that the function and the layer give, and they differ."""
    found = verdict_of(RIGHT[0], 0).counterexample
    assert found is not None
    assert disagreement(found.left, found.right, found.run) is not None


def test_a_replacement_that_does_not_apply_is_noticed() -> None:
    with pytest.raises(ValueError, match="not in the source"):
        Right("f", RIGHT[0].target, "def f(x): return x", (("absent", "present"),)).text(0)
