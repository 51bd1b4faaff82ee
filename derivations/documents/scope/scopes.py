r"""The scope of a statement: what the document says about its letters within reach.

Definition   `Scope` is what the judge asks: shapes, values, meanings, definitions of letters, and what stands around
Assumes      see `derivations.documents.scope.reach` for what is in reach
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from sympy import Expr, Symbol

from derivations.documents.scope.comparing import Comparison, compare_sizes
from derivations.documents.scope.conventions import Convention
from derivations.documents.scope.declared import Declared
from derivations.documents.scope.filing import family_of, stands_for
from derivations.documents.scope.lexicon import spelled_meaning
from derivations.documents.scope.pieces import Mention
from derivations.documents.scope.reach import Candidate, Reach
from derivations.documents.scope.shape import Shape
from derivations.documents.scope.sizes import fold_key, size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Space

__all__ = ["Scope"]

_MOST_NAMES = 8
_FEW = 8  # blocks, as many as a paragraph with its formulas may be before
_FARTHEST_BEHIND = 3  # blocks between a letter and a definition after it

_LONGEST_EXPLANATION = 8  # blocks of a "where ..." with its list


@dataclass
class Scope:
    """What a document says about the letters of one statement."""

    document: Declared
    block: int
    section: int
    inferred: Callable[[Scope, Node], Shape]  # the rules of shapes, which ask the scope of letters
    _values: dict[str, Expr | None] = field(default_factory=dict)

    @cached_property
    def reach(self) -> Reach:
        """The sections whose declarations count here."""
        sections = self.document.sections
        return Reach(sections.reach(self.section), self.block, sections, self.document.explaining)

    def at(self, statement: Statement) -> Scope:
        """Return the scope of another statement of the document."""
        return Scope(self.document, *self.document.place_of(statement), self.inferred)

    # --- shapes ---

    def shape(self, node: Node) -> tuple[Expr, ...] | None:
        """Return the shape of a part of a formula: () a scalar, (n,) a vector, (n, d) a matrix; None if not known."""
        return self.inferred(self, node).complete

    def shape_candidates(self, name: Name) -> tuple[Candidate, ...]:
        """Return the declarations of a shape in reach that a name may follow, the likeliest first."""
        found = self.reach.candidates(self.document.shapes, name.key)
        return tuple(replace(each, far=True) for each in found) if found and self._is_defined_anew(name) else found

    def _is_defined_anew(self, name: Name) -> bool:
        """Return whether this block defines a letter that is declared only in the "where ..." of another formula."""
        before, _ = self.document.definitions.nearest(name.key, self.section, self.block)
        if before is None or before[0] != self.block:
            return False
        declared = self.document.shapes.nearest(name.key, self.section, self.block)
        blocks = [each[0] for each in declared if each is not None]
        return all(block in self.document.explaining and block - 1 != self.block != block for block in blocks)

    def other_shapes(self, name: Name, sizes: tuple[Expr, ...]) -> tuple[tuple[Expr | None, ...], ...]:
        """Return the other shapes that the section declares for a name."""
        said = self.reach.said(self.document.shapes, name.key)
        return tuple(dict.fromkeys(each.sizes for each in said if each.sizes is not None and each.sizes != sizes))[:4]

    def family_candidates(self, name: Name) -> tuple[Candidate, ...]:
        """Return the declarations for another member of a name's family, such as those of `W_i^Q` for `W_1^Q`."""
        other = self.document.families.get(family_of(name))
        known = other is not None and other.key != name.key and stands_for(other, name)
        return self.reach.candidates(self.document.shapes, other.key) if other is not None and known else ()

    def is_vector(self, name: Name) -> bool:
        """Return whether the words in reach call a letter a vector."""
        return any(not each.far for each in self.reach.candidates(self.document.vectors, name.key))

    def compare(self, left: Expr, right: Expr) -> Comparison:
        """Compare two sizes by what the section says of their letters."""
        return compare_sizes(left, right, self.values_of, self.document.distinctions, self.is_declared_size)

    def is_declared_size(self, letter: str) -> bool:
        """Return whether a letter stands in a shape that is declared in reach."""
        return any(letter in self.document.letters.get(section, ()) for section in self.reach.sections)

    def written(self, space: Space) -> tuple[Expr, ...] | None:
        """Return the sizes of a space as it is written, or None if one of them is not a size."""
        sizes = [size_of(size) for size in space.sizes]
        known = tuple(size for size in sizes if size is not None)
        return known if len(known) == len(sizes) else None

    def is_declared_shape(self, mention: Mention) -> bool:
        """Return whether something else in reach was declared to have the shape of a mention."""
        return any((mention.sizes, section) in self.document.sizes_declared for section in self.reach.sections)

    def matrices(self) -> tuple[tuple[Expr, ...], ...]:
        """Return up to sixteen shapes of matrices: from the sections in scope first, then from the eight before."""
        found: list[tuple[Expr, ...]] = []
        for section in (*self.reach.sections, *range(self.section - 1, max(self.section - 9, -1), -1)):
            found.extend(sizes for _, sizes in reversed(self.document.shapes_written.get(section, [])[-8:]))
        return tuple(sizes for sizes in found if len(sizes) == 2)[:16]

    def rows_of(self, meaning: str) -> tuple[Expr, ...]:
        """Return the numbers of rows of the matrices that words of this section call by a meaning, such as "query"."""
        found: dict[Expr, None] = {}
        for name in islice(self.document.called.get(meaning, {}).values(), _MOST_NAMES):
            for candidate in self.shape_candidates(name)[:1]:
                sizes = candidate.declaration.sizes or ()
                if len(sizes) == 2 and not candidate.far and sizes[0] is not None:
                    found[sizes[0]] = None
        return tuple(found)

    # --- values ---

    def value(self, name: Name) -> Expr | None:
        """Return the value of a letter as `value_of` finds it, or None if it has none."""
        return self.value_of(name.key)

    def value_of(self, key: str) -> Expr | None:
        """Return the value of a key: its first expression in letters, else its only number, else None.

        A single letter, as in `G = H`, does not count if there are numbers.
        """
        if key not in self._values:
            found = [c.value for c in self.reach.said(self.document.values, key) if c.value is not None]
            own = [value for value in found if Symbol(key) not in value.free_symbols]
            numbers = {value for value in own if not value.free_symbols}
            symbolic = [value for value in own if value.free_symbols and not (value.is_Symbol and numbers)]
            self._values[key] = symbolic[0] if symbolic else (next(iter(numbers)) if len(numbers) == 1 else None)
        return self._values[key]

    def values_of(self, key: str) -> tuple[Expr, ...]:
        """Return all values that a letter is set to in reach."""
        said = self.reach.said(self.document.values, key)
        return tuple(
            dict.fromkeys(c.value for c in said if c.value is not None and Symbol(key) not in c.value.free_symbols)
        )

    def numbers(self, name: Name) -> tuple[Number, ...]:
        """Return the numbers that the section prints for a name, up to here, the latest first."""
        before, _ = self.document.printed.around(name.key, self.section, self.block)
        return tuple(found.printed for found in before if found.printed is not None)

    def numbers_in_reach(self, key: str, *, far: bool = False) -> tuple[Number, ...]:
        """Return the numbers that are printed for a letter before here and after, the nearest first.

        With `far`, also what is printed last in a section before those in reach.
        """
        near = any(each for section in self.reach.sections for each in self.document.printed.around(key, section, 0))
        if not (near or far):
            return ()
        said = (found.printed for found in self.reach.said(self.document.printed, key))
        return tuple({number.value: number for number in reversed([*filter(None, said)])}.values())[::-1]

    def is_given_near(self, key: str) -> bool:
        """Return whether a letter is given a value in this section, a few blocks before or right after."""
        kinds = (self.document.values, self.document.printed)
        found = (each for kind in kinds for each in kind.nearest(key, self.section, self.block) if each is not None)
        return any(self.block - _FEW <= place <= self.block + _FARTHEST_BEHIND for place, _ in found)

    # --- what the document says ---

    def near_definition(self, name: Name) -> Node | None:
        """Return the right side that defined a name, or another of its family as `head_i`, in a section in reach."""
        other = self.document.defined_families.get(family_of(name))
        for key in (name.key, *((other.key,) if other is not None and stands_for(other, name) else ())):
            for section in self.reach.sections:
                before, behind = self.document.definitions.nearest(key, section, self.block)
                if behind is not None and behind[0] > self.block + _FARTHEST_BEHIND:
                    behind = None
                if before is not None or behind is not None:
                    return (before or behind or (0, None))[1].definition  # type: ignore[union-attr]
        return None

    def definition(self, name: Name) -> Node | None:
        """Return the right side that defined a name: the last before here, else the first after in the section."""
        return next(
            (c.declaration.definition for c in self.reach.candidates(self.document.definitions, name.key)), None
        )

    def definitions(self, name: Name) -> tuple[Node, ...]:
        """Return the different right sides that define a name in its section, the nearest first."""
        said = self.reach.said(self.document.definitions, name.key)
        return tuple(dict.fromkeys(d.definition for d in said if d.definition is not None))

    def is_used(self, name: Name) -> bool:
        """Return whether a name stands in a formula of the document."""
        return bool(self.document.users.get(fold_key(name.key)))

    def is_index(self, name: Name) -> bool:
        """Return whether a letter is an index: bound by a sum, by a range, or used as a subscript."""
        return any((name.key, section) in self.document.indices for section in self.reach.sections)

    def meaning(self, name: Name) -> frozenset[str]:
        """Return the meaning of a letter by the words of the document, or by its spelling: `seq_len`, `d_model`."""
        said = [c.declaration.meaning for c in self.reach.candidates(self.document.meanings, name.key)]
        spelled = spelled_meaning(name.key)
        return said[0] if said else frozenset({spelled} if spelled else ())

    def is_explained_behind(self, name: Name) -> bool:
        """Return whether the "where ..." right after this block says what a letter is."""
        _, behind = self.document.meanings.nearest(name.key, self.section, self.block)
        explains = self.block + 1 in self.document.explaining
        return behind is not None and explains and behind[0] <= self.block + _LONGEST_EXPLANATION

    @property
    def convention(self) -> Convention | None:
        """The convention "rows" (products x W) or "columns" (products W x), or None if neither is known."""
        return self.document.votes.convention(self.block, self.reach.sections) or self.document.given

    # --- what stands around ---

    def earlier(self, statement: Statement) -> tuple[Statement, ...]:
        """Return the statements before one in its section, the nearest first, at most 40."""
        found: list[Statement] = []
        for other in reversed(self.document.around(statement, 40)):
            block = self.document.blocks.get(id(other.passage), 0)
            if self.document.sections.of_block[block] != self.section:
                break
            found.append(other)
        return tuple(found)

    def is_told(self, words: re.Pattern[str]) -> bool:
        """Return whether the prose of the document tells words up to here."""
        return any(words.search(text) for text in self.document.texts[: self.block + 1])

    def words(self, statement: Statement) -> str:
        """Return the prose around a statement: its block, that before it, the headings above, at most 600 characters.

        Assumes      what ends with a colon speaks of the next two blocks
        """
        blocks = self.document.texts
        block = self.document.blocks.get(id(statement.passage), 0)
        parts = [blocks[block][:200], blocks[block - 1][-200:] if block else ""]
        if block > 1 and blocks[block - 2].rstrip().endswith((":", "：")):
            parts.append(blocks[block - 2][-200:])
        parts += [self.document.headings.get(section, "")[:80] for section in self.reach.sections]
        return "\n".join(part for part in parts if part)[:600]
