"""Near-misses written by hand: each is false, most are shown false by the cross-check, none is proved."""

from dataclasses import replace
from importlib import import_module

import pytest

from derivations.language.judge.proof import judge
from tests.soundness.harness import Mutant, shown_false
from tests.soundness.table import Statement
from tests.tiers import few

MODULES = ("sizes", "places", "domains", "arrays")
NEAR_MISSES: list[Statement] = [
    entry for name in MODULES for entry in import_module(f"tests.soundness.near_misses_{name}").NEAR_MISSES
]
named = pytest.mark.parametrize("entry", few(NEAR_MISSES), ids=lambda entry: f"{entry.group}: {entry.why}")


@named
def test_a_near_miss_is_not_proved(entry: Statement) -> None:
    assert judge(entry.derivation).level in ("refuted", "unknown")


@named
def test_the_cross_check_sees_that_it_is_false(entry: Statement) -> None:
    made = entry.derivation
    at_points = replace(made, assumptions=(*made.assumptions, *entry.where))
    step = made.claims[0].steps[0]
    assert shown_false([Mutant("", at_points, 0, 0, made.lhs, step)], attempts=15, places=6) == [entry.seen]


def test_there_are_two_hundred_and_no_two_are_the_same() -> None:
    assert len(NEAR_MISSES) >= 200
    assert len({(entry.group, entry.why) for entry in NEAR_MISSES}) == len(NEAR_MISSES)
    assert sum(entry.seen for entry in NEAR_MISSES) >= 190
