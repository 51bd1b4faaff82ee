"""The files below folders: which are judged, and in which order."""

from pathlib import Path

import pytest

from derivations.documents.reports.files import files_of
from derivations.documents.settings import Settings, configuration

SUFFIXES = (".md", ".py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with documents and other files."""
    for name in ("b.md", "a.md", "A.MD", "z.png", "sub/c.py", ".git/d.md", "node_modules/e.md", "drafts/f.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def names(folder: Path, *asked: str, settings: Settings | None = None) -> list[str]:
    """The files by their paths in the folder."""
    found = files_of([str(folder / each) for each in asked], SUFFIXES, lambda _: settings or Settings())
    return [path.relative_to(folder).as_posix() for path in found]


def test_a_folder_stands_for_the_documents_below_it_in_order(folder: Path):
    assert names(folder, "") == ["A.MD", "a.md", "b.md", "drafts/f.md", "sub/c.py"]


def test_a_file_that_is_named_is_taken_once_whatever_its_suffix(folder: Path):
    assert names(folder, "z.png", "sub", "sub/c.py", "b.md", "") == [
        "z.png", "sub/c.py", "b.md", "A.MD", "a.md", "drafts/f.md",
    ]  # fmt: skip


def test_what_the_settings_exclude_is_passed_over_in_folders_alone(folder: Path):
    (folder / "pyproject.toml").write_text("[tool.derivations.check]\nexclude = ['drafts/*']\n", encoding="utf-8")
    found = files_of([str(folder)], SUFFIXES, configuration())
    assert "f.md" not in [path.name for path in found]
    assert files_of([str(folder / "drafts" / "f.md")], SUFFIXES, configuration()) == (folder / "drafts" / "f.md",)


def test_where_there_is_nothing_it_is_said(folder: Path):
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder called '.*none\.md'"):
        names(folder, "none.md")
