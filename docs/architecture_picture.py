"""The picture of the rooms: `python -m docs.architecture_picture` draws docs/architecture.svg from the imports.

A room stands one floor above the highest room that it imports, so every arrow goes down; imports for types count. An
arrow that follows from others is not drawn: where A imports B and B imports C, that A imports C as well.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path

from grimp import build_graph

__all__ = ["PICTURE", "drawn", "floors", "imports_of_rooms", "plain"]

PICTURE = Path(__file__).with_name("architecture.svg")
PACKAGES = ("derivations", "numeric")
FACES = (
    "derivations",
    "derivations.__main__",
    "numeric",
    "derivations.language",
    "derivations.former_names",
    "derivations.former_paths",
)  # they only hand on names
COLOURS = {"derivations.language": "#dbe9f6", "numeric": "#fde8cf", "derivations": "#e3f1de"}
WIDTH, HEIGHT, GAP, FLOOR = 146, 34, 12, 78
Rooms = Mapping[str, frozenset[str]]


def imports_of_rooms() -> dict[str, frozenset[str]]:
    """Return the rooms that each room imports; a room is a package, or a module at the root of one."""
    graph = build_graph(*PACKAGES, include_external_packages=False, exclude_type_checking_imports=False)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        room = _room(module)
        found.setdefault(room, set()).update(map(_room, graph.find_modules_directly_imported_by(module)))
    return {room: frozenset(others - {room, *FACES}) for room, others in sorted(found.items()) if room not in FACES}


def floors(rooms: Rooms) -> dict[str, int]:
    """Return the floor of each room, 0 for those that import none.

    Raises       graphlib.CycleError where rooms import one another in a circle
    """
    found: dict[str, int] = {}
    for room in TopologicalSorter(rooms).static_order():
        found[room] = 1 + max((found[other] for other in rooms[room]), default=-1)
    return found


def plain(rooms: Rooms) -> dict[str, frozenset[str]]:
    """Return the imports that do not follow from others."""
    below: dict[str, frozenset[str]] = {}
    for room in TopologicalSorter(rooms).static_order():
        below[room] = rooms[room].union(*(below[other] for other in rooms[room]))
    return {room: others - frozenset().union(*(below[other] for other in others)) for room, others in rooms.items()}


def drawn(rooms: Rooms) -> str:
    """Return the picture: a row for each floor, the roof above."""
    level = floors(rooms)
    rows = [sorted(room for room in rooms if level[room] == floor) for floor in range(max(level.values()) + 1)]
    width = max(map(len, rows)) * (WIDTH + GAP) + GAP
    height = len(rows) * FLOOR + GAP
    place = {}
    for floor, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        for number, room in enumerate(row):
            place[room] = (left + number * (WIDTH + GAP), height - (floor + 1) * FLOOR + GAP)
    arrows = [_arrow(place[room], place[other]) for room, others in plain(rooms).items() for other in sorted(others)]
    boxes = [_box(room, *place[room]) for room in rooms]
    return "\n".join([_HEAD.format(width=f"{width:g}", height=f"{height:g}"), *arrows, *boxes, "</svg>", ""])


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"
 font-size="11">
<title>The rooms: each imports only rooms below it</title>
<defs><marker id="end" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">\
<path d="M0 0 L6 3 L0 6 z" fill="#888"/></marker></defs>
<rect width="100%" height="100%" fill="white"/>"""


def _room(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[:2] == ["derivations", "language"] else 2])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    x, y = start[0] + WIDTH / 2, start[1] + HEIGHT
    to_x, to_y = end[0] + WIDTH / 2, end[1]
    bend = (to_y - y) / 2
    path = f"M{x:g} {y:g} C{x:g} {y + bend:g} {to_x:g} {to_y - bend:g} {to_x:g} {to_y:g}"
    return f'<path d="{path}" fill="none" stroke="#888" stroke-width="0.8" marker-end="url(#end)"/>'


def _box(room: str, x: float, y: float) -> str:
    colour = next(colour for package, colour in COLOURS.items() if f"{room}.".startswith(f"{package}."))
    box = f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{colour}" stroke="#555"/>'
    name = room.removeprefix("derivations.")
    return f'{box}<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 4:g}" text-anchor="middle">{name}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(imports_of_rooms()), encoding="utf-8")
