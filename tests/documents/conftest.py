"""What formulas are found to be does not hang on the clock of the machine: only what is tested for its time has one."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest

from derivations.documents import budget, claims


@pytest.fixture(autouse=True, scope="module")
def no_clock(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave a formula its steps, which are the same everywhere, and take its seconds away but in modules of `CLOCK`."""
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "CLOCK", False):
            patch.setattr(budget, "MOST_SECONDS", inf)
        yield


@pytest.fixture
def before_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let claims say what the checks found, before `derivations.documents.policy`, which has tests of its own."""
    monkeypatch.setattr(claims, "in_policy", lambda finding: finding)
    monkeypatch.setattr(claims, "of_its_kind", lambda finding, *_: finding)
