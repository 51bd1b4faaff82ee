"""The glossary is sorted, names modules that exist, and is linked; a wrong row is found."""

import re
from pathlib import Path

import pytest

PAGE = Path("docs/glossary.md")
ROW = re.compile(r"\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<where>[^`|]+)` \|")


def rows(text: str) -> list[tuple[str, str, str]]:
    """The rows of the table: term, meaning, path."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    found = [ROW.fullmatch(line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    return [(match["term"], match["meaning"], match["where"]) for match in found if match]


def faults(text: str, root: Path) -> list[str]:
    """What is wrong with a glossary: its order, a term that stands twice, a meaning, a path."""
    table = rows(text)
    terms = [term for term, _, _ in table]
    wrong = [f"{term} is out of order" for term, other in zip(terms, sorted(terms), strict=True) if term != other]
    wrong += [f"{term} stands twice" for term in {*terms} if terms.count(term) > 1]
    wrong += [f"{term}: not one sentence" for term, meaning, _ in table if not re.fullmatch(r"[A-Z][^.]*\.", meaning)]
    return wrong + [f"{term}: there is no {where}" for term, _, where in table if not (root / where).is_file()]


def test_the_glossary_is_right(repository: Path) -> None:
    text = (repository / PAGE).read_text(encoding="utf-8")
    assert len(rows(text)) > 40
    assert faults(text, repository) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("judge/goal.py", "judge/gaol.py", "goal: there is no derivations/language/judge/gaol.py"),
        ("| goal |", "| zeal |", "zeal is out of order"),
        ("| goal |", "| judge |", "judge stands twice"),
        ("| The step to decide:", "| the step to decide:", "goal: not one sentence"),
    ],
)
def test_a_wrong_row_is_found(repository: Path, old: str, new: str, fault: str) -> None:
    text = (repository / PAGE).read_text(encoding="utf-8")
    assert old in text
    assert fault in faults(text.replace(old, new), repository)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/architecture.md"])
def test_the_glossary_is_linked(repository: Path, page: str) -> None:
    link = "docs/glossary.md" if page == "README.md" else "glossary.md"
    assert f"]({link})" in (repository / page).read_text(encoding="utf-8")
