"""All that a document declares, filed by sections and blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sympy import Expr, Symbol

from derivations.documents.passages import Place
from derivations.documents.scope.comparing import Distinctions
from derivations.documents.scope.conventions import Convention, Votes, votes_of
from derivations.documents.scope.filing import Filed, family_of
from derivations.documents.scope.letters import is_weight
from derivations.documents.scope.lexicon import meaning_of
from derivations.documents.scope.pieces import Mention
from derivations.documents.scope.sections import Sections
from derivations.documents.scope.sizes import fold_key
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Name, Node, Product, Transpose

__all__ = ["Contractions", "Declared"]

Contractions = dict[tuple[str, ...], dict[Any, set[tuple[Node, ...]]]]  # by letters and axes, the sides that have them


@dataclass
class Declared:
    """All that a document declares."""

    sections: Sections
    blocks: dict[int, int]  # identity of a passage -> number of its block
    given: Convention | None = None
    shapes: Filed = field(default_factory=Filed)
    vectors: Filed = field(default_factory=Filed)
    values: Filed = field(default_factory=Filed)
    definitions: Filed = field(default_factory=Filed)
    meanings: Filed = field(default_factory=Filed)
    called: dict[str, dict[str, Name]] = field(default_factory=lambda: defaultdict(dict))  # letters by what they are
    printed: Filed = field(default_factory=Filed)
    indices: set[tuple[str, int]] = field(default_factory=set)
    votes: Votes = field(default_factory=Votes)
    mentions: dict[int, Mention] = field(default_factory=dict)
    distinctions: Distinctions = field(default_factory=Distinctions)
    kept: list[Statement] = field(default_factory=list)
    admitted: list[Statement] = field(default_factory=list)
    families: dict[str, Name] = field(default_factory=dict)
    defined_families: dict[str, Name] = field(default_factory=dict)
    users: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[int, int] = field(default_factory=dict)  # identity of a chain -> number of its statement
    sizes_declared: set[tuple[tuple[Expr | None, ...], int]] = field(default_factory=set)
    shapes_written: dict[int, list[tuple[int, tuple[Expr, ...]]]] = field(default_factory=lambda: defaultdict(list))
    in_block: dict[int, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    letters: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))  # of the shapes of a section
    blames: dict[int, tuple[object, str]] = field(default_factory=dict)  # what the judge said of a statement
    patterns: Counter[object] = field(default_factory=Counter)  # of the equations, once they are asked for
    stated: dict[Any, frozenset[str]] = field(default_factory=dict)  # the known formulas that sides of equations are
    contractions: Contractions = field(default_factory=lambda: defaultdict(dict))  # of all formulas, as above
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

    @cached_property
    def prose(self) -> str:
        """All prose of the document in lower case, for searching words."""
        return "\n".join(self.texts).lower()

    @cached_property
    def arrays(self) -> Mapping[int, frozenset[Name]]:
        """The names in each section that are certainly arrays, as they are transposed or a factor beside @."""
        found: dict[int, set[Name]] = defaultdict(set)
        for statement in self.kept:
            for part in (part for side in statement.chain.sides for part in side.walk()):
                match part:
                    case Transpose(operand=Name() as name):
                        found[statement.section].add(name)
                    case Product(factors=factors, operators=operators) if "at" in operators:
                        found[statement.section].update(each for each in factors if isinstance(each, Name))
        return {section: frozenset(names) for section, names in found.items()}

    @cached_property
    def formulas_of(self) -> Mapping[str, Mapping[int, Sequence[tuple[Name, Node]]]]:
        """The definitions of names, by their letter and by section."""
        found: dict[str, dict[int, list[tuple[Name, Node]]]] = defaultdict(lambda: defaultdict(list))
        for (_, section), entries in self.definitions.by_section.items():
            for _, number in entries:
                said = self.definitions.declarations[number]
                if said.name is not None and said.definition is not None:
                    found[said.name.base][section].append((said.name, said.definition))
        return {base: dict(each) for base, each in found.items()}

    @cached_property
    def functions(self) -> Mapping[tuple[str, int], tuple[tuple[tuple[Name, ...], Node], ...]]:
        """The functions that equations define, `f(x) = x^2`, by name and section: their arguments and right sides."""
        found: dict[tuple[str, int], dict[tuple[tuple[Name, ...], Node], None]] = defaultdict(dict)
        for statement in self.kept:
            match statement.chain:
                case Chain(
                    sides=(Call(function=function, arguments=arguments), right, *_),
                    relations=("=" | ":=" | "≡", *_),
                    condition=None,
                ):
                    names = tuple(each for each in arguments if isinstance(each, Name))
                    if len({each.key for each in names}) == len(arguments) and not function.primes:
                        found[function.key, statement.section][names, right] = None
        return {key: tuple(each) for key, each in found.items()}

    @cached_property
    def equations_of(self) -> Mapping[str, Sequence[Statement]]:
        """The equations that define a letter, by its family: those of `o_i` and of `o_j` define one letter."""
        found: dict[str, list[Statement]] = defaultdict(list)
        for statement in self.kept:
            match statement.chain:
                case Chain(sides=(Name() as name, _, *_), relations=("=" | ":=" | "≡", *_), condition=None):
                    found[family_of(name) or name.key].append(statement)
        return found

    def votes_of(self, chain: Chain) -> Counter[Convention]:
        """Return the votes of the products of a chain for rows and for columns."""
        return votes_of(chain, self.is_weight)

    def is_weight(self, node: Node) -> bool:
        """Return whether a node is a matrix of weights, by its letter or by a declared shape of two widths."""
        inner = node.operand if isinstance(node, Transpose) else node
        return is_weight(node) or (isinstance(inner, Name) and fold_key(inner.key) in self._mapping)

    @cached_property
    def _mapping(self) -> frozenset[str]:
        """The keys of the names declared as matrices whose sizes are both widths or numbers other than 1."""
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
        """Return at most six statements near a given one that also use a name."""
        users = self.users.get(fold_key(name.key), [])
        here = bisect_left(users, self.numbers.get(id(statement.chain), 0))
        near = sorted(
            users[max(here - 6, 0) : here + 7], key=lambda n: abs(n - self.numbers.get(id(statement.chain), 0))
        )
        return tuple(self.kept[number] for number in near if self.kept[number] is not statement)[:6]

    def around(self, statement: Statement, before: int, behind: int = 0) -> list[Statement]:
        """Return `before` statements before a given one, and `behind` statements that begin with it."""
        here = self.numbers.get(id(statement.chain), 0)
        return self.kept[max(here - before, 0) : here + behind]

    def place_of(self, statement: Statement) -> tuple[int, int]:
        """Return the block and the section in which a statement stands."""
        block = self.blocks.get(id(statement.passage), 0)
        return block, self.sections.of_block[block] if block < len(self.sections.of_block) else 0

    def take(self, statement: Statement, block: int) -> None:
        """Register a statement that was read from the words of a block, after all others."""
        self.admitted.append(statement)  # so that its identity stays its own
        self.blocks[id(statement.passage)] = block
        self.numbers[id(statement.chain)] = statement.number

    def mention(self, statement: Statement) -> Mention | None:
        """Return the mention of a statement that is a bare shape, or None for any other statement."""
        return self.mentions.get(id(statement.chain))
