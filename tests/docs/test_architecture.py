"""The page about the rooms: its picture is what the imports are, every path that it names exists."""

import re
from graphlib import CycleError
from pathlib import Path

import pytest

pytest.importorskip("grimp", reason="the imports are read by the package that import-linter brings")

from docs.architecture_picture import PICTURE, drawn, floors, imports_of_rooms, plain


def test_the_picture_is_what_the_imports_are():
    """Run `python -m docs.architecture_picture` when this fails."""
    assert PICTURE.read_text(encoding="utf-8") == drawn(imports_of_rooms())


def test_every_arrow_goes_down():
    rooms = imports_of_rooms()
    level = floors(rooms)
    assert len(rooms) > 20
    assert [(room, other) for room, others in rooms.items() for other in others if level[other] >= level[room]] == []


def test_a_circle_of_rooms_has_no_floors():
    """The check is checked: two rooms that import one another."""
    with pytest.raises(CycleError):
        floors({"derivations.a": frozenset({"derivations.b"}), "derivations.b": frozenset({"derivations.a"})})


def test_what_follows_from_others_is_not_drawn():
    rooms = {"a": frozenset({"b", "c"}), "b": frozenset({"c"}), "c": frozenset[str]()}
    assert plain(rooms) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_every_path_of_the_page_exists(repository: Path):
    page = (repository / "docs/architecture.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:derivations|numeric|tests|docs)/[\w/.]*)`", page))
    assert len(paths) > 30
    assert [path for path in sorted(paths) if not (repository / path).exists()] == []


def test_every_room_has_a_paragraph(repository: Path):
    page = (repository / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:derivations|numeric)/[\w/]*?)/?`", page))
    rooms = {room.replace(".", "/") for room in imports_of_rooms()}
    assert [room for room in sorted(rooms) if room not in named and f"`{room}.py`" not in page] == []
