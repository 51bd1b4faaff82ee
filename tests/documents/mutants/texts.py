"""The texts that are judged, and what is right in them.

Definition   a text is a document, a section of it, or a section with those above it; a target is a claim that is right,
             or seen to fit, in the smallest text in which it has the verdict that it has in the document
Assumes      an expression that stands alone claims nothing that a mistake in it would make false, but for counts and
             shapes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain as chain_of
from itertools import combinations, pairwise
from pathlib import Path

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.passages import Passage, Place
from derivations.documents.readers import read_text
from derivations.documents.syntax import Chain, Name, Node, Number
from derivations.documents.verdicts import Claim
from tests.documents.mutants.oracle import Declared, declared_in
from tests.documents.mutants.random_letters import Moments, moments_in
from tests.documents.said import DECIDED, in_a_word

__all__ = ["SHARED", "Target", "Text", "documents", "targets"]

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "documents"
LINKED = ("arithmetic", "chain", "matrices")  # checks to which both sides of a link belong
RIGHT = (*DECIDED, "fits")
HEADING = re.compile(r"^(#{1,6}) ", re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """A document, or a section of one, as it is judged."""

    name: str
    text: str

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        return check_text(self.text, "markdown").claims

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """All that is written in formulas."""
        blocks = read_text(self.text, "markdown").blocks
        return tuple(
            chain
            for block in blocks
            for passage in block.formulas
            if passage.syntax != "prose"
            for chain in read_formula(passage.text, passage.syntax).statements
        )

    @cached_property
    def letters(self) -> frozenset[str]:
        """The letters of all formulas."""
        return frozenset(node.key for chain in self.chains for node in chain.walk() if isinstance(node, Name))

    @cached_property
    def declared(self) -> Declared:
        """The shapes that are declared by membership."""
        return declared_in(self.chains)

    @cached_property
    def moments(self) -> Moments:
        """The letters that have mean 0, or variance 1."""
        return moments_in(self.chains)

    @cached_property
    def given(self) -> Mapping[str, Fraction]:
        """The letters that are set to one number."""
        found: dict[str, set[Fraction]] = {}
        for chain in self.chains:
            match chain:
                case Chain(sides=(Name() as name, Number(value=value, unit="")), relations=("=",)):
                    found.setdefault(name.key, set()).add(value)
        return {key: values.pop() for key, values in found.items() if len(values) == 1}

    @cached_property
    def alike(self) -> frozenset[frozenset[str]]:
        """Pairs of letters that are set to one thing: `d_k = d_v`, `d_k = d / h` and `d_v = d / h`."""
        groups: dict[Node, set[str]] = {}
        for chain in self.chains:
            if chain.relations and set(chain.relations) == {"="}:
                names = {side.key for side in chain.sides if isinstance(side, Name)}
                groups.setdefault(chain.sides[-1], set()).update(names)
        return frozenset(
            map(frozenset, chain_of.from_iterable(combinations(sorted(names), 2) for names in groups.values()))
        )

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where the lines begin."""
        return [0, *(at + 1 for at, letter in enumerate(self.text) if letter == "\n")]

    def offset(self, place: Place) -> int:
        """Return where a place is in the text."""
        return self.starts[place.line - 1] + place.column - 1


@dataclass(frozen=True)
class Target:
    """A claim that is right: the link of a chain that it is, in the text in which it is judged, and in the document."""

    text: Text
    claim: Claim
    document: Text
    original: Claim  # in the document
    passage: Passage
    statement: int
    link: int | None

    @cached_property
    def chain(self) -> Chain:
        assert self.passage.syntax != "prose"
        return read_formula(self.passage.text, self.passage.syntax).statements[self.statement]

    @property
    def sides(self) -> tuple[int, ...]:
        """The sides of which a mistake would be one of this claim."""
        if self.link is None:
            return (0,)
        return (0, 1) if self.link == 0 and self.claim.finding.check in LINKED else (self.link + 1,)


def documents() -> list[Text]:
    """Return the documents that are there: the five, where they are, and the pages of the project."""
    paths = [*sorted(SHARED.glob("*.txt")), *sorted((ROOT / "docs").glob("*.md"))]
    return [Text(path.name, path.read_text(encoding="utf-8")) for path in paths]


def targets(document: Text) -> Iterator[Target]:
    """Yield the claims of a document that are right, each in the smallest text in which it is."""
    sections = list(_sections(document.text))
    known: dict[tuple[int, ...], Text] = {}
    for claim in document.claims:
        if in_a_word(claim.finding) not in RIGHT or claim.passage is None:
            continue  # what is not understood, or wrong as it is
        here = max(number for number, each in enumerate(sections) if each.line < claim.start.line)
        above = _above(sections, here)
        for group in dict.fromkeys([(here,), (*above, here)]):
            if group not in known:
                known[group] = Text(document.name, "".join(sections[number].text for number in group))
            text = known[group]
            shift = sum(sections[number].text.count("\n") for number in group[:-1]) - sections[here].line
            place = Place(claim.start.line + shift, claim.start.column)
            same = next((each for each in text.claims if each.start == place and each.text == claim.text), None)
            if same is not None and _said(same) == _said(claim):
                yield from _located(text, same, document, claim)
                break
        else:
            yield from _located(document, claim, document, claim)


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it up to the next; `line` counts the lines before it."""

    text: str
    level: int
    line: int


def _sections(text: str) -> Iterator[Section]:
    headings = [(match.start(), len(match[1])) for match in HEADING.finditer(text)]
    for (start, level), (end, _) in pairwise([(0, 0), *headings, (len(text), 0)]):
        if start < end:
            yield Section(text[start:end], level, text.count("\n", 0, start))


def _above(sections: Sequence[Section], here: int) -> tuple[int, ...]:
    """Return the sections inside which one stands."""
    found, level = [], sections[here].level
    for number in range(here - 1, -1, -1):
        if sections[number].level < level:
            found.append(number)
            level = sections[number].level
    return tuple(reversed(found))


def _said(claim: Claim) -> tuple[str, str, str | None]:
    return claim.finding.verdict, claim.finding.check, claim.finding.result


def _located(text: Text, claim: Claim, document: Text, original: Claim) -> Iterator[Target]:
    """Find the link that a claim is."""
    passage = claim.passage
    if passage is None or passage.syntax == "prose":
        return
    for number, chain in enumerate(read_formula(passage.text, passage.syntax).statements):
        for link in range(len(chain.relations)) or (None,):
            start = chain.start if link in (None, 0) else chain.sides[link].end
            end = chain.end if link is None or link == len(chain.relations) - 1 else chain.sides[link + 1].end
            stretch = passage.text[start:end].strip(" }\n")
            alone = link is None and claim.finding.check in ("canonical", "shapes.fit")
            if claim.text.strip(" }\n") == stretch and claim.start >= passage.place(start) and not alone:
                yield Target(text, claim, document, original, passage, number, link)
                return
