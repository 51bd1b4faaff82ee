"""Cases of which the fast tier runs a few, to show that the check works, and the slow tier the others."""

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["few"]


def few(cases: Iterable[Any], fast: int = 3) -> list[Any]:
    """Return the cases for `parametrize`, the first `fast` of them as they are and the others marked `slow`."""
    return [case if place < fast else pytest.param(case, marks=pytest.mark.slow) for place, case in enumerate(cases)]
