"""A race: contestants that agree, timed in turn, as a record that JSON can hold."""

from collections.abc import Sequence
from typing import Any

from tests.benchmarks.agreement import require_agreement
from tests.benchmarks.timing import Contestant, progress, timed

__all__ = ["race", "rounded"]

Record = dict[str, Any]


def race(
    label: str,
    contestants: Sequence[Contestant],
    rounds: int,
    *,
    expected: Any = None,
    warm: bool = True,
    bound: float = 1e-4,
    **more: Any,
) -> Record:
    """Return the record of one race: seconds by contestant and round, roles, largest differences from `expected`.

    Raises       Disagreement where a contestant's result differs by more than rounding
    """
    progress(f"  {label}")
    differences = {}
    for each in contestants:
        result = each.call()  # a first call that is not timed, also of what is not compared
        if expected is not None and result is not None:
            found = result() if callable(result) else result
            differences[each.name] = rounded(require_agreement(each.name, found, expected, bound))
    seconds = timed(contestants, rounds, warm=warm)
    return {
        "label": label,
        "roles": {each.name: each.role for each in contestants},
        "seconds": {name: [rounded(each) for each in column] for name, column in seconds.items()},
        "differences": differences,
        **more,
    }


def rounded(figure: float) -> float:
    """Return a figure with four digits."""
    return float(f"{figure:.4g}")
