"""The tiers: what marks a file can give its tests, and cases of which the fast tier runs a few.

A run of one tier collects only the files that have tests of it: to import all takes longer than the smaller tiers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from _pytest.mark.expression import Expression

__all__ = ["COMBINATIONS", "MARKS", "few", "has_tests_for", "marks_given_in"]  # and hooks of pytest

MARKS = ("slow", "peers", "latex", "browser")
COMBINATIONS = [set(each) for each in chain.from_iterable(combinations(MARKS, size) for size in range(len(MARKS) + 1))]

CORPORA = [Path(__file__).parent / "documents"]  # rooms whose tests judge statements, some of them hundreds each
OF_EACH = 2  # statements of each such test that are judged in the fast tier

_GIVEN = {mark: rf'\bmark\.{mark}\b|add_marker\("{mark}"\)' for mark in MARKS}
_GIVEN["slow"] += r"|\b(few|broken_steps)\("  # functions that mark some of their cases


def few(cases: Iterable[Any], fast: int = 3) -> list[Any]:
    """Return the cases for `parametrize`, the first `fast` of them as they are and the others marked `slow`."""
    return [case if place < fast else _slow(case) for place, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(case, marks=pytest.mark.slow)


@cache
def marks_given_in(file: Path) -> frozenset[str]:
    """Return the marks of tiers that are written in a file, or in the conftest.py beside it."""
    texts = [path.read_text(encoding="utf-8") for path in (file, file.with_name("conftest.py")) if path.exists()]
    given = frozenset(mark for mark in MARKS if any(re.search(_GIVEN[mark], text) for text in texts))
    return given | {"slow"} if _of_a_corpus(file) else given


def _of_a_corpus(file: Path) -> bool:
    return any(folder in file.parents for folder in CORPORA)


def has_tests_for(expression: str, given: frozenset[str]) -> bool:
    """Return whether an expression such as `slow and not peers` can select a test that has some of the marks, or none.

    An expression that names another mark can select any.
    """
    asked = Expression.compile(expression)
    if set(re.findall(r"\w+", expression)) - {"and", "or", "not", *MARKS}:
        return True
    return any(asked.evaluate(lambda name, marks=marks, **_: name in marks) for marks in COMBINATIONS if marks <= given)


# --- hooks, registered by tests/conftest.py: those of a conftest.py see its own folder alone -------------------------


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file alone that has no test of the tier that is run."""
    asked = config.option.markexpr
    if not asked or collection_path.suffix != ".py" or not collection_path.is_file():
        return None
    return None if has_tests_for(asked, marks_given_in(collection_path)) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of a corpus slow; refuse a mark that is not written where it is looked for.

    A run of its tier would leave the test out.
    """
    cases = Counter[str]()
    for item in items:
        test, _, case = item.nodeid.partition("[")
        cases[test] += 1
        if case and cases[test] > OF_EACH and _of_a_corpus(item.path):
            item.add_marker(pytest.mark.slow)
        unseen = {mark.name for mark in item.iter_markers()}.intersection(MARKS) - marks_given_in(item.path)
        if unseen:
            raise pytest.UsageError(f"write pytest.mark.{min(unseen)} into {item.path}, or into its conftest.py")
