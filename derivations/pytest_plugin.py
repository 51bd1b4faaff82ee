"""The pytest plugin: the fixtures `derivation` and `prove`, and formulas of documents as tests (`--check-formulas`).

When pytest starts, this module imports only pytest; SymPy is imported at the first use of the fixture or of a document.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from derivations.documents.passages import Place
    from derivations.language.results.derivation import Derivation
    from numeric.lifting import Verdict

__all__ = ["derivation", "prove"]


@pytest.fixture(scope="session")
def derivation() -> "Callable[[str], Derivation]":
    """Return the function that gives a result by its id: `derivation("softmax.jacobian")`.

    The function raises `LookupError` with the nearest ids when no result has this id.
    """
    from derivations.catalogue import get  # deferred: SymPy is not wanted by every test run

    return get


# --- functions that are proved ---------------------------------------------------------------------------------------

LEVEL = "derivations level"  # under this name a report tells the level of a verdict


@pytest.fixture
def prove(request: pytest.FixtureRequest) -> "Callable[..., Verdict]":
    """Return `assert_proved`, whose verdicts are counted in the last lines of the run."""
    from derivations.testing import assert_proved  # deferred, as above

    def proved(*given: Any, **options: Any) -> "Verdict":
        __tracebackhide__ = True
        try:
            verdict = assert_proved(*given, **options)
        except AssertionError:
            request.node.user_properties.append((LEVEL, "not proved"))
            raise
        request.node.user_properties.append((LEVEL, verdict.level))
        return verdict

    return proved


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many verdicts of each level the run had: `derivations: 5 proved, 1 tested`."""
    reports = [each for kind in terminalreporter.stats.values() for each in kind if getattr(each, "when", "") == "call"]
    levels = Counter(level for each in reports for name, level in each.user_properties if name == LEVEL)
    if levels:
        terminalreporter.write_line("derivations: " + ", ".join(f"{n} {level}" for level, n in levels.most_common()))


# --- the formulas of documents --------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--check-formulas`."""
    parser.getgroup("derivations").addoption(
        "--check-formulas",
        action="store_true",
        help="collect every formula of Markdown, notebooks, reStructuredText, LaTeX and docstrings as a test",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "FormulaFile | None":
    """Collect a document if `--check-formulas` is given."""
    if not parent.config.getoption("--check-formulas"):
        return None
    from derivations.documents.readers import SUFFIXES  # deferred, as above
    from derivations.documents.settings import settings_near

    named = file_path in (Path(argument).absolute() for argument in parent.config.args)
    if file_path.suffix.lower() not in SUFFIXES or (not named and settings_near(file_path.parent).excludes(file_path)):
        return None
    collected: FormulaFile = FormulaFile.from_parent(parent, path=file_path)
    return collected


class FormulaFile(pytest.File):
    """A document whose formulas are tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Judge the document; yield an item for each formula, and one for each passage that could not be read."""
        from derivations.documents.reports.judging import judge_file
        from derivations.documents.reports.plain import visible
        from derivations.documents.settings import settings_near

        report = judge_file(self.path, settings_near(self.path.parent)).report
        for problem in report.problems:
            yield FormulaItem.from_parent(self, place=problem.place, what="not read", failure=problem.message)
        for claim in report.claims:
            said = f"{claim.finding.reason}  [{claim.finding.check}]"
            right = f"\nright: {claim.finding.right}" if claim.finding.right else ""
            failure = f"{said}{right}" if claim.finding.verdict == "wrong" else ""
            item: FormulaItem = FormulaItem.from_parent(self, place=claim.start, what=claim.text, failure=failure)
            if claim.finding.verdict == "unknown":
                item.add_marker(pytest.mark.skip(f"not decided: {visible(said)}"))
            yield item


class FormulaItem(pytest.Item):
    """A formula as a test: it fails if the formula is wrong, and is skipped if it is not decided."""

    def __init__(self, place: "Place", what: str, failure: str, **options: Any) -> None:
        cell = "" if place.cell is None else f"cell {place.cell}:"
        super().__init__(name=f"{cell}{place.line}:{place.column}", **options)
        self.place, self.what, self.failure = place, what, failure

    def runtest(self) -> None:
        """Raise `FormulaError` if the formula is wrong."""
        from derivations.documents.reports.plain import one_line, visible

        if self.failure:
            raise FormulaError(f"{self.name}: {one_line(self.what)}\n{visible(self.failure)}")

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, the line counted from 0, and the name."""
        return self.path, self.place.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """Return only the reason for a formula, without a Python traceback."""
        return str(excinfo.value if isinstance(excinfo.value, FormulaError) else super().repr_failure(excinfo))


class FormulaError(Exception):
    """A formula is wrong, or could not be read; the message says why."""
