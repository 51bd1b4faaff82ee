"""The page of published formulas is what the formulas print today."""

import re
from pathlib import Path

import pytest

from derivations.costs.published.formulas import FORMULAS
from derivations.costs.published.page import LENGTHS, page
from derivations.costs.published.totals import stated

pytestmark = pytest.mark.slow  # a page of all models is printed again


@pytest.fixture(scope="module")
def printed() -> str:
    return page()


def test_the_page_is_up_to_date(printed: str, repository: Path) -> None:
    """Run `python -m derivations.costs.published.page docs/published.md` when this fails."""
    assert (repository / "docs" / "published.md").read_text(encoding="utf-8") == printed


def test_every_formula_and_every_total_has_its_place(printed: str) -> None:
    headings = re.findall(r"^### .* \(`(.*)`\)$", printed, re.M)
    assert headings == [formula.id for formula in FORMULAS]
    assert all(f"\n| {each.name} | {each.as_stated} | {each.counted:,} |" in printed for each in stated())
    assert all(f"| {name} | {length} |" in printed for name, length in LENGTHS.items())


def test_what_is_unexplained_is_shown(printed: str) -> None:
    assert printed.count("**unexplained**") == 1
    assert printed.count("**Exact.**") == sum("| exact |" in line for line in printed.splitlines() if "`" in line)


def test_the_tables_are_whole(printed: str) -> None:
    """Each row has as many cells as the head of its table; mathematics is closed."""
    for block in re.findall(r"(?:^\|.*\n)+", printed, re.M):
        assert len({line.count(" | ") for line in block.splitlines()}) == 1, block
    assert all(line.count("$") % 2 == 0 for line in printed.splitlines())
