r"""The scope of a statement: what the document says, in reach of it, of the letters that stand in it.

Definition   a declaration reaches the statements of its section and of the sections inside, before it and behind it;
             what an earlier section declares reaches further as long as nothing nearer does, and is marked as far
Result       `Scopes.at(statement)` is the `Scope` of one statement
Assumes      the nearest declaration before a statement counts, then the nearest behind it; where these two differ both
             are candidates
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from sympy import Expr, Symbol

from derivations.documents.passages import Place
from derivations.documents.scope.comparing import Comparison, Distinctions, compare_sizes
from derivations.documents.scope.filing import Filed, family_of
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import is_weight
from derivations.documents.scope.lexicon import meaning_of, spelled_meaning
from derivations.documents.scope.pieces import Declaration, Mention
from derivations.documents.scope.sections import Sections
from derivations.documents.scope.sizes import fold_key, size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Chain, Name, Node, Number, Product, Space, Transpose

__all__ = ["Candidate", "Convention", "Scope", "Scopes"]

Convention = Literal["rows", "columns"]

_FARTHEST_BEHIND = 3  # blocks between a letter and a definition behind it


@dataclass(frozen=True)
class Candidate:
    """A declaration in reach; `far` where it stands in an earlier section."""

    declaration: Declaration
    far: bool = False


@dataclass
class Scopes:
    """All that a document declares."""

    sections: Sections
    blocks: Mapping[int, int]  # identity of a passage -> number of its block
    given: Convention | None = None
    shapes: Filed = field(default_factory=Filed)
    vectors: Filed = field(default_factory=Filed)
    values: Filed = field(default_factory=Filed)
    definitions: Filed = field(default_factory=Filed)
    meanings: Filed = field(default_factory=Filed)
    printed: Filed = field(default_factory=Filed)
    indices: set[tuple[str, int]] = field(default_factory=set)
    votes: dict[int, Counter[Convention]] = field(default_factory=lambda: defaultdict(Counter))
    block_votes: dict[int, Counter[Convention]] = field(default_factory=lambda: defaultdict(Counter))
    mentions: dict[int, Mention] = field(default_factory=dict)
    distinctions: Distinctions = field(default_factory=Distinctions)
    kept: list[Statement] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    defined_families: dict[str, str] = field(default_factory=dict)
    users: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[int, int] = field(default_factory=dict)  # identity of a chain -> number of its statement
    all_votes: Counter[Convention] = field(default_factory=Counter)
    sizes_declared: set[tuple[tuple[Expr | None, ...], int]] = field(default_factory=set)
    shapes_written: dict[int, list[tuple[int, tuple[Expr, ...]]]] = field(default_factory=lambda: defaultdict(list))
    numbers_set: dict[int, set[Expr]] = field(default_factory=lambda: defaultdict(set))
    in_block: dict[int, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    letters: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))  # of the shapes of a section
    blames: dict[int, tuple[object, str]] = field(default_factory=dict)  # what the judge said of a statement
    texts: list[str] = field(default_factory=list)  # the prose of each block
    headings: dict[int, str] = field(default_factory=dict)
    said_at: dict[tuple[str, Place], frozenset[str]] = field(default_factory=dict)  # by the letter and its place
    explaining: set[int] = field(default_factory=set)  # blocks that begin with "where" or the like

    @cached_property
    def model_widths(self) -> frozenset[Expr]:
        """The numbers that the document gives as the width of the model: by a letter, or as that of input or output."""
        letters = {key for key in self.distinctions.letters() if self.distinctions.is_called(key, "model width")}
        widths: set[Expr] = set()
        for each in self.shapes.declarations:
            if each.sizes and each.sizes[-1] is not None and meaning_of(each.key) & {"input", "output"}:
                last = each.sizes[-1]
                letters |= {last.name} if isinstance(last, Symbol) else set()
                widths |= {last} if last.is_number else set()
        for each in self.values.declarations:
            if each.value is not None and each.value.is_number and each.key in letters:
                widths.add(each.value)
        return frozenset(widths)

    def votes_of(self, chain: Chain) -> Counter[Convention]:
        """Count products of a weight with something that is none: x W is a vote for rows, W x one for columns."""
        votes: Counter[Convention] = Counter()
        for side in chain.sides:
            for node in side.walk():
                if isinstance(node, Product):
                    for left, right in pairwise(node.factors):
                        weights = (self.is_weight(left), self.is_weight(right))
                        if weights == (False, True) and _is_array(left):
                            votes["rows"] += 1
                        elif weights == (True, False) and _is_array(right):
                            votes["columns"] += 1
        return votes

    def is_weight(self, node: Node) -> bool:
        """Say whether a node is a matrix of weights: by its letter, or as it is declared to map widths to widths."""
        inner = node.operand if isinstance(node, Transpose) else node
        return is_weight(node) or (isinstance(inner, Name) and fold_key(inner.key) in self._mapping)

    @cached_property
    def _mapping(self) -> frozenset[str]:
        """The keys of what is declared as a matrix of which both sizes are widths, or numbers above 1."""
        known = self.distinctions
        return frozenset(
            fold_key(each.key)
            for each in self.shapes.declarations
            if each.sizes is not None
            and len(each.sizes) == 2
            and all(
                size is not None and (known.is_width(size) or (size.is_number and size != 1)) for size in each.sizes
            )
        )

    def used_in(self, name: Name, statement: Statement) -> tuple[Statement, ...]:
        """Return the statements around one, at most six, that use a name too."""
        users = self.users.get(fold_key(name.key), [])
        here = bisect_left(users, self.numbers.get(id(statement.chain), 0))
        near = sorted(
            users[max(here - 6, 0) : here + 7], key=lambda n: abs(n - self.numbers.get(id(statement.chain), 0))
        )
        return tuple(self.kept[number] for number in near if self.kept[number] is not statement)[:6]

    def at(self, statement: Statement) -> Scope:
        """Return the scope of a statement of this document."""
        block = self.blocks.get(id(statement.passage), 0)
        section = self.sections.of_block[block] if block < len(self.sections.of_block) else 0
        return Scope(self, block, section)

    def mention(self, statement: Statement) -> Mention | None:
        """Return what a statement that is a bare shape is the shape of; None for any other statement."""
        return self.mentions.get(id(statement.chain))


@dataclass
class Scope:
    """What is known where a statement stands."""

    document: Scopes
    block: int
    section: int
    _values: dict[str, Expr | None] = field(default_factory=dict)

    # --- shapes ---

    def shape(self, node: Node) -> tuple[Expr, ...] | None:
        """Return the shape of a part of a formula: () a scalar, (n,) a vector, (n, d) a matrix; None if not known."""
        return Inference(self).shape(node).complete

    def shape_candidates(self, name: Name) -> tuple[Candidate, ...]:
        """Return the declarations of a shape in reach that a name may follow, the likeliest first."""
        found = self._candidates(self.document.shapes, name.key)
        return tuple(replace(each, far=True) for each in found) if found and self._is_defined_anew(name) else found

    def _is_defined_anew(self, name: Name) -> bool:
        """Say whether this block defines a letter that is declared only in the "where ..." of another formula."""
        before, _ = self.document.definitions.nearest(name.key, self.section, self.block)
        if before is None or before[0] != self.block:
            return False
        declared = self.document.shapes.nearest(name.key, self.section, self.block)
        blocks = [each[0] for each in declared if each is not None]
        return all(block in self.document.explaining and block - 1 != self.block != block for block in blocks)

    def other_shapes(self, name: Name, sizes: tuple[Expr, ...]) -> tuple[tuple[Expr | None, ...], ...]:
        """Return what else the section declares as the shape of a name."""
        said = self._said(self.document.shapes, name.key)
        return tuple(dict.fromkeys(each.sizes for each in said if each.sizes is not None and each.sizes != sizes))[:4]

    def family_candidates(self, name: Name) -> tuple[Candidate, ...]:
        """Return those of another member of its family: what `W_1^Q` is where `W_i^Q` is declared."""
        key = self.document.families.get(family_of(name))
        return self._candidates(self.document.shapes, key) if key is not None and key != name.key else ()

    def is_vector(self, name: Name) -> bool:
        """Say whether the words in reach call a letter a vector."""
        return any(not each.far for each in self._candidates(self.document.vectors, name.key))

    def compare(self, left: Expr, right: Expr) -> Comparison:
        """Compare two sizes by what the section says of their letters."""
        return compare_sizes(left, right, self.values_of, self.document.distinctions, self._stands_in_a_shape)

    def _stands_in_a_shape(self, letter: str) -> bool:
        return any(letter in self.document.letters.get(section, ()) for section in self._reach())

    def written(self, space: Space) -> tuple[Expr, ...] | None:
        """Return the sizes of a space as it is written, or None where one of them is no size."""
        sizes = [size_of(size) for size in space.sizes]
        known = tuple(size for size in sizes if size is not None)
        return known if len(known) == len(sizes) else None

    def is_declared_shape(self, mention: Mention) -> bool:
        """Say whether something else in reach was declared to have the shape of a mention."""
        return any((mention.sizes, section) in self.document.sizes_declared for section in self._reach())

    def shapes_beside(self, statement: Statement) -> tuple[tuple[Expr, ...], ...]:
        """Return the shapes of the matrices that are named in the same block as a statement, at most eight."""
        found: dict[tuple[Expr, ...], None] = {}
        for other in self.document.in_block.get(self.document.blocks.get(id(statement.passage), -1), ())[:16]:
            for side in other.chain.sides:
                for name in (node for node in side.walk() if isinstance(node, Name)):
                    for candidate in (*self.shape_candidates(name), *self.family_candidates(name))[:1]:
                        sizes = tuple(size for size in candidate.declaration.sizes or () if size is not None)
                        if len(sizes) == 2 and not candidate.far and is_weight(name):
                            found[sizes] = None
        return tuple(found)[:8]

    def shapes_before(self) -> tuple[tuple[Expr, ...], ...]:
        """Return the shapes written in this section before here, the latest first, at most eight."""
        written = self.document.shapes_written.get(self.section, [])
        cut = bisect_left(written, self.block, key=lambda entry: entry[0])
        return tuple(sizes for _, sizes in reversed(written[max(cut - 8, 0) : cut]))

    def matrices(self) -> tuple[tuple[Expr, ...], ...]:
        """Return the shapes of matrices that are written in reach or before, the latest first, at most sixteen."""
        found: list[tuple[Expr, ...]] = []
        for section in (*self._reach(), *range(self.section - 1, max(self.section - 9, -1), -1)):
            found.extend(sizes for _, sizes in reversed(self.document.shapes_written.get(section, [])[-8:]))
        return tuple(sizes for sizes in found if len(sizes) == 2)[:16]

    def is_set(self, number: Expr) -> bool:
        """Say whether a letter in reach is set to a number."""
        return any(number in self.document.numbers_set.get(section, ()) for section in self._reach())

    # --- values ---

    def value(self, name: Name) -> Expr | None:
        """Return what a letter was set to, in numbers if it can be, else in letters; None if nothing was said."""
        return self.value_of(name.key)

    def value_of(self, key: str) -> Expr | None:
        """Return the value of a key: the first that is said, in letters before numbers."""
        if key not in self._values:
            found = [c.value for c in self._said(self.document.values, key) if c.value is not None]
            own = [value for value in found if Symbol(key) not in value.free_symbols]
            symbolic = [value for value in own if value.free_symbols]
            numbers = {value for value in own if not value.free_symbols}
            self._values[key] = symbolic[0] if symbolic else (next(iter(numbers)) if len(numbers) == 1 else None)
        return self._values[key]

    def values_of(self, key: str) -> tuple[Expr, ...]:
        """Return all that a letter is set to in reach."""
        said = self._said(self.document.values, key)
        return tuple(
            dict.fromkeys(c.value for c in said if c.value is not None and Symbol(key) not in c.value.free_symbols)
        )

    def numbers(self, name: Name) -> tuple[Number, ...]:
        """Return the numbers that the section prints for a name, up to here, the latest first."""
        before, _ = self.document.printed.around(name.key, self.section, self.block)
        return tuple(found.printed for found in before if found.printed is not None)

    # --- what the document says ---

    def near_definition(self, name: Name) -> Node | None:
        """Return the right side that defined a name, or another of its family as `head_i`, in a section in reach."""
        for key in (name.key, self.document.defined_families.get(family_of(name))):
            for section in self._reach() if key is not None else ():
                before, behind = self.document.definitions.nearest(key or "", section, self.block)
                if behind is not None and behind[0] > self.block + _FARTHEST_BEHIND:
                    behind = None
                if before is not None or behind is not None:
                    return (before or behind or (0, None))[1].definition  # type: ignore[union-attr]
        return None

    def definition(self, name: Name) -> Node | None:
        """Return the right side that defined a name: the last before here, else the first behind in the section."""
        return next((c.declaration.definition for c in self._candidates(self.document.definitions, name.key)), None)

    def definitions(self, name: Name) -> tuple[Node, ...]:
        """Return the different right sides that define a name in its section, the nearest first."""
        said = self._said(self.document.definitions, name.key)
        return tuple(dict.fromkeys(d.definition for d in said if d.definition is not None))

    def is_used(self, name: Name) -> bool:
        """Say whether a name stands in a formula of the document."""
        return bool(self.document.users.get(fold_key(name.key)))

    def is_index(self, name: Name) -> bool:
        """Say whether a letter is an index: bound by a sum, by a range, or used as a subscript."""
        return any((name.key, section) in self.document.indices for section in self._reach())

    def meaning(self, name: Name) -> frozenset[str]:
        """Return what the words call a letter, or what its own spelling says: `seq_len`, `d_model`."""
        said = [c.declaration.meaning for c in self._candidates(self.document.meanings, name.key)]
        spelled = spelled_meaning(name.key)
        return said[0] if said else frozenset({spelled} if spelled else ())

    def said_beside(self, statement: Statement, name: Name) -> frozenset[str]:
        """Return what the words beside a letter that stands alone call it."""
        return self.document.said_at.get((name.key, statement.passage.place(0)), frozenset())

    def all_meanings(self, name: Name) -> frozenset[str]:
        """Return all that the words in reach call a letter."""
        said = self._said(self.document.meanings, name.key)
        return frozenset(meaning for each in said for meaning in each.meaning)

    @property
    def convention(self) -> Convention | None:
        """Rows where products are written x W, columns where they are written W x; None where nothing tells."""
        own = self.document.block_votes.get(self.block, Counter())
        if len(own) == 1 and own.total() > 1:
            return next(iter(own))
        for section in self._reach():
            votes = self.document.votes.get(section)
            if votes:
                (first, count), *others = votes.most_common()
                return first if not others or others[0][1] < count else self.document.given
        return self.document.given

    # --- what stands around ---

    def earlier(self, statement: Statement) -> tuple[Statement, ...]:
        """Return the statements before one in its section, the nearest first, at most 40."""
        here = self.document.numbers.get(id(statement.chain), 0)
        found: list[Statement] = []
        for other in reversed(self.document.kept[max(here - 40, 0) : here]):
            block = self.document.blocks.get(id(other.passage), 0)
            if self.document.sections.of_block[block] != self.section:
                break
            found.append(other)
        return tuple(found)

    def words(self, statement: Statement) -> str:
        """Return the prose around a statement: its block, the block before it, the headings above, 600 characters."""
        blocks = self.document.texts
        block = self.document.blocks.get(id(statement.passage), 0)
        parts = [blocks[block][:200], blocks[block - 1][-200:] if block else ""]
        parts += [self.document.headings.get(section, "")[:80] for section in self._reach()]
        return "\n".join(part for part in parts if part)[:600]

    # --- looking up ---

    def _reach(self) -> tuple[int, ...]:
        return self.document.sections.reach(self.section)

    def _said(self, filed: Filed, key: str) -> list[Declaration]:
        """Return all declarations of the nearest section in reach that has some; else the last earlier one."""
        for section in self._reach():
            before, behind = filed.around(key, section, self.block)
            if before or behind:
                return [*before, *behind]
        far = filed.earlier(key, self.block)
        return [far] if far is not None else []

    def _is_explained_by(self, block: int) -> bool:
        """Say whether a block is the "where ..." of this one."""
        return block == self.block + 1 and block in self.document.explaining

    def _candidates(self, filed: Filed, key: str) -> tuple[Candidate, ...]:
        for section in self._reach():
            before, behind = filed.nearest(key, section, self.block)
            if (
                before is not None
                and behind is not None
                and self._is_explained_by(behind[0])
                and before[0] < self.block
            ):
                before, behind = behind, before
            near = [each[1] for each in (before, behind) if each is not None]
            if near:
                same = len(near) == 2 and near[0].sizes == near[1].sizes and near[0].definition == near[1].definition
                return tuple(Candidate(each) for each in (near[:1] if same else near))
        far = filed.earlier(key, self.block)
        return (Candidate(far, far=True),) if far is not None else ()


def _is_array(node: Node) -> bool:
    return not isinstance(node, Number) and not (isinstance(node, Name) and node.base in ("d", "n"))
