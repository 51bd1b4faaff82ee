"""Breaks one step of a derivation on purpose, to see that the judge says no to that step."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from sympy import sympify

from derivations.catalogue import names
from derivations.language.judge.proof import StepEvidence, judge
from derivations.language.results.derivation import Derivation
from tests.tiers import few

__all__ = ["broken_steps", "is_refused", "of_topic", "with_step"]

Case = tuple[str, Callable[[], Derivation], int, int, Any]


def of_topic(topic: str) -> list[str]:
    """The ids of the results of a topic, sorted; there is at least one."""
    found = sorted(name for name in names() if name.partition(".")[0] == topic)
    assert found, f"no result of the topic {topic} is in the catalogue"
    return found


def broken_steps(cases: Iterable[Case], fast: int = 3) -> Any:
    """A parametrisation over (what is broken, result, claim, step, wrong expression), both numbers counted from 0.

    The first few of each concept are in the fast tier, fewer where each takes seconds.
    """
    return pytest.mark.parametrize(
        ("result", "claim", "step", "wrong"), few([pytest.param(*case, id=what) for what, *case in cases], fast)
    )


def with_step(right: Derivation, claim: int, step: int, expression: Any = None, **changes: Any) -> StepEvidence:
    """What the judge says of one step when its expression, or something else of it, is changed."""
    if expression is not None:
        changes["expression"] = sympify(expression, strict=True)
    one = right.claims[claim]
    steps = [*one.steps[:step], replace(one.steps[step], **changes)]
    wrong = replace(right, claims=(*right.claims[:claim], replace(one, steps=tuple(steps))))
    return judge(wrong).claims[claim][step]


def is_refused(evidence: StepEvidence) -> bool:
    """Whether a step is refuted, or undecided with a reason."""
    return evidence.level == "refuted" or (evidence.level == "unknown" and bool(evidence.reason))
