"""Evidence is decided once in a run and shared by its workers; what is not the catalogue's own is decided anew."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from derivations.catalogue import names
from derivations.language.judge import proof
from derivations.language.judge.proof import StepEvidence, judge
from derivations.language.results.derivation import RESULTS, Claim, Derivation
from tests.conftest import RUN
from tests.evidence import shared

JACOBIAN = "softmax.jacobian"


@pytest.fixture
def asked() -> Counter[str]:
    """How often the judge was asked for each statement."""
    return Counter()


@pytest.fixture
def worker(asked: Counter[str], tmp_path: Path) -> Callable[[], Callable[..., tuple[StepEvidence, ...]]]:
    """A function that makes what one more worker of a run asks."""

    def decide(claim: Claim, derivation: Derivation) -> tuple[StepEvidence, ...]:
        asked[derivation.id] += 1
        return tuple(proof._decide(claim.lhs, step, claim, derivation) for step in claim.steps[:1])

    return lambda: shared(decide, {JACOBIAN: RESULTS[JACOBIAN]}, tmp_path)


def test_a_second_worker_reads_what_the_first_has_decided(worker, asked: Counter[str]) -> None:
    result = RESULTS[JACOBIAN]()
    first, second = (worker()(result.claims[0], result) for _ in range(2))
    assert first == second and first[0].level == "proved"
    assert asked == {JACOBIAN: 1}


def test_a_changed_result_is_decided_anew(worker, asked: Counter[str]) -> None:
    right = RESULTS[JACOBIAN]()
    worker()(right.claims[0], right)
    broken = replace(right.claims[0], lhs=2 * right.lhs)
    wrong = replace(right, claims=(broken,))
    assert wrong.id == right.id
    assert worker()(broken, wrong)[0].level == "refuted"
    assert asked == {JACOBIAN: 2}


def test_a_result_put_in_the_place_of_another_is_decided_anew(
    worker, asked: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided, right = worker(), RESULTS[JACOBIAN]()
    decided(right.claims[0], right)
    wrong = replace(right, claims=(replace(right.claims[0], lhs=2 * right.lhs),))
    monkeypatch.setitem(RESULTS, JACOBIAN, lambda: wrong)
    assert decided(wrong.claims[0], RESULTS[JACOBIAN]())[0].level == "refuted"
    assert asked == {JACOBIAN: 2}


def test_the_folder_is_that_of_this_run_alone(request: pytest.FixtureRequest) -> None:
    folder = request.config.stash[RUN]
    told = getattr(request.config, "workerinput", {"run": str(folder)})
    assert folder.is_dir() and str(folder) == told["run"]
    judge(replace(RESULTS[JACOBIAN]()))  # a copy: nothing of it is kept
    judge(RESULTS["softmax.definition"]())
    assert {path.name.rpartition(".")[0] for path in (folder / "evidence").iterdir()} <= set(names())
