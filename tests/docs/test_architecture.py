"""The page about the architecture names every room, and no room that is not there."""

import re
from pathlib import Path

import pytest

PACKAGES = ("derivations", "derivations/language", "numeric")
UNDRAWN = {"former_names", "former_paths"}  # modules that go after one release


def rooms(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_has_its_words(repository: Path, page: str, package: str):
    named = set(re.findall(r"\*\*`(\w+)`\*\*", page))
    assert rooms(repository / package) and rooms(repository / package) <= named


def test_no_room_is_named_that_is_not_there(repository: Path, page: str):
    named = set(re.findall(r"\*\*`(\w+)`\*\*", page))
    known = {
        room for package in ("derivations", "derivations/language", "numeric") for room in rooms(repository / package)
    }
    modules = {path.stem for path in (repository / "derivations").glob("*.py")}
    assert named <= known | modules


def test_the_picture_has_the_layers_of_the_contract(repository: Path, page: str):
    """A room that is drawn above another is above it in the contract of pyproject.toml too."""
    drawn = [set(re.findall(r"[a-z_]+", line)) for line in page.splitlines() if line.startswith("    ")]
    contract = (repository / "pyproject.toml").read_text(encoding="utf-8")
    for name in ("layers", "language"):
        listed = re.search(rf'id = "{name}"\n.*?layers = \[(.*?)\]', contract, re.S)
        assert listed
        lines = [set(re.findall(r"[a-z_]+", line)) for line in re.findall(r'"([^"]+)"', listed[1])]
        lines = [shown for line in lines if (shown := line - UNDRAWN)]
        places = [next(place for place, words in enumerate(drawn) if line <= words) for line in lines]
        assert places == sorted(places)
