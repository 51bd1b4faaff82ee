"""Results that share no memory with what a function was given, so that writing into one does not change the other."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["own_memory"]


def own_memory(results: Any, arguments: Iterable[Any]) -> Any:
    """Return results in the same nesting, with a copy of each array that is an argument or a view of one.

    Assumes      a result that has memory of its own is not a view, so that nothing is compared for most results
    """
    if isinstance(results, tuple | list):
        given = list(arguments)
        return type(results)(own_memory(each, given) for each in results)
    if isinstance(results, dict):
        given = list(arguments)
        return {name: own_memory(each, given) for name, each in results.items()}
    if isinstance(results, np.ndarray) and _may_be_given(results, arguments):
        return results.copy()
    return results


def _may_be_given(result: Any, arguments: Iterable[Any]) -> bool:
    if result.base is None:
        return any(result is each for each in _arrays(arguments))
    # a broadcast view is read-only: writing into it would raise
    return not result.flags.writeable or any(np.may_share_memory(result, each) for each in _arrays(arguments))


def _arrays(nested: Iterable[Any]) -> Iterator[Any]:
    for each in nested:
        if isinstance(each, np.ndarray):
            yield each
        elif isinstance(each, Mapping):
            yield from _arrays(each.values())
        elif isinstance(each, tuple | list):
            yield from _arrays(each)
