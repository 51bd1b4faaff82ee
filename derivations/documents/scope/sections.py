"""The sections of a document: a heading opens one inside the last heading of a lower level.

Definition   section 0 is the document before its first heading, and the parent of all sections of the first level
Result       `section_numbers` gives the section of every block, `Sections` the parents
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.documents.passages import Document

__all__ = ["Sections", "read_sections", "section_numbers"]


@dataclass(frozen=True)
class Sections:
    """The section of every block, and the parent of every section (that of section 0 is itself)."""

    of_block: tuple[int, ...]
    parents: tuple[int, ...]

    def reach(self, section: int) -> tuple[int, ...]:
        """Return a section and those it lies in, from the inside outwards."""
        found = [section]
        while section:
            section = self.parents[section]
            found.append(section)
        return tuple(found)


def read_sections(document: Document) -> Sections:
    """Return the sections of a document, nested by the levels of its headings."""
    of_block: list[int] = []
    parents = [0]
    open_sections: list[tuple[int, int]] = []  # level and number, from the outside inwards
    for block in document.blocks:
        if block.kind == "heading":
            while open_sections and open_sections[-1][0] >= block.level:
                open_sections.pop()
            parents.append(open_sections[-1][1] if open_sections else 0)
            open_sections.append((block.level, len(parents) - 1))
        of_block.append(open_sections[-1][1] if open_sections else 0)
    return Sections(tuple(of_block), tuple(parents))


def section_numbers(document: Document) -> tuple[int, ...]:
    """Return the number of the section that each block stands in."""
    return read_sections(document).of_block
