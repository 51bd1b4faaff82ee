"""Cases of which the fast tier runs a few, to show that the check works, and the slow tier the others."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

__all__ = ["few"]


def few(cases: Iterable[Any], fast: int = 3) -> list[Any]:
    """Return the cases for `parametrize`, the first `fast` of them as they are and the others marked `slow`."""
    return [case if place < fast else _slow(case) for place, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(case, marks=pytest.mark.slow)
