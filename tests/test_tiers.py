"""The tiers of the tests: each test is in one of them, and the continuous integration runs them all."""

import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests import tiers
from tests.tiers import COMBINATIONS, MARKS, few, has_tests_for, marks_given_in


def selections(default: str, script: str) -> list[str]:
    """What the commands of a script select: the default for the README's command, else what follows `-m`."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("#")]
    found = [default for line in lines if line == 'run_readme_command "tests"']
    for line in lines:
        words = shlex.split(line) if "-m pytest" in line else []
        if "pytest" in words:
            rest = words[words.index("pytest") + 1 :]
            found.append(rest[rest.index("-m") + 1] if "-m" in rest else default)
    return found


def runs_of_each(expressions: Iterable[str]) -> Counter[str]:
    """How often a test of each combination of marks is run."""
    runs: Counter[str] = Counter()
    for expression in map(Expression.compile, expressions):
        for marks in COMBINATIONS:
            runs[" ".join(sorted(marks))] += expression.evaluate(lambda name, marks=marks, **_: name in marks)
    return runs


def test_each_test_is_in_one_tier(repository: Path, request: pytest.FixtureRequest) -> None:
    (default,) = (each.removeprefix("-m=") for each in request.config.getini("addopts") if each.startswith("-m="))
    script = (repository / ".ci" / "run").read_text(encoding="utf-8")
    found = selections(default, script)
    assert len(found) == 4
    assert runs_of_each(found) == dict.fromkeys((" ".join(sorted(marks)) for marks in COMBINATIONS), 1)


def test_a_tier_that_nobody_runs_is_noticed() -> None:
    assert runs_of_each(["not slow and not peers", "peers"])["slow"] == 0
    assert runs_of_each(["not slow", "peers"])["peers"] == 2
    assert selections("fast", '# -m pytest\nrun_readme_command "tests"\npython -m pytest -m "a and b"\n') == [
        "fast",
        "a and b",
    ]


def test_a_few_cases_are_fast_and_the_others_slow() -> None:
    first, second = few("ab", fast=1)
    assert first == "a"
    assert second.values == ("b",) and [mark.name for mark in second.marks] == ["slow"]


@pytest.mark.parametrize(("folder", "slow"), [(tiers.CORPORA[0] / "judge", [4, 5, 6]), (Path("elsewhere"), [])])
def test_a_few_statements_of_each_test_of_a_corpus_are_fast(
    folder: Path, slow: list[int], request: pytest.FixtureRequest
) -> None:
    names = [
        "test_alone",
        "test_other[a]",
        *(f"test_many[{number}]" for number in range(tiers.OF_EACH + len(slow))),
    ]
    items = [pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None) for name in names]
    for item in items:
        item.path = folder / "test_some.py"
    tiers.pytest_collection_modifyitems(items)
    assert [place for place, item in enumerate(items) if item.get_closest_marker("slow")] == slow


def test_a_run_of_one_tier_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    plain, marked, told = (tmp_path / name / "test_some.py" for name in ("plain", "marked", "told"))
    for file in (plain, marked, told):
        file.parent.mkdir()
        file.write_text("def test_one(): pass\n", encoding="utf-8")
    marked.write_text("@pytest.mark.peers\n@parametrize('n', few([1]))\ndef test_one(): pass\n", encoding="utf-8")
    told.with_name("conftest.py").write_text('item.add_marker("latex")\n', encoding="utf-8")
    assert [sorted(marks_given_in(file)) for file in (plain, marked, told)] == [[], ["peers", "slow"], ["latex"]]
    for asked, selected in {
        "not slow and not peers": [True, True, True],
        "peers": [False, True, False],
        "latex and not peers": [False, False, True],
        "slow or latex": [False, True, True],
        "of_somebody": [True, True, True],
    }.items():
        assert [has_tests_for(asked, marks_given_in(file)) for file in (plain, marked, told)] == selected


def test_a_mark_that_is_not_seen_in_its_file_is_refused(request: pytest.FixtureRequest) -> None:
    unseen = pytest.Function.from_parent(request.node.parent, name="test_each_test_is_in_one_tier")
    tiers.pytest_collection_modifyitems([unseen])
    unseen.add_marker(MARKS[-1])
    with pytest.raises(pytest.UsageError, match=r"write pytest\.mark\.browser into .*test_tiers\.py"):
        tiers.pytest_collection_modifyitems([unseen])
