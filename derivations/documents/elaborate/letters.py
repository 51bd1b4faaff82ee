r"""Names, split into a letter and the indices of the entry that they denote.

Definition   a place is an index among the subscripts: j of `v_j`, (i, j) of `a_{ij}`, t - 1 of `h_{t-1}`; a label is a
             word or a letter that says which: Q of `W^Q`, model of `d_{\text{model}}`
Assumes      a subscript is a place where the statement binds its letter, writes it on the left, or where it is one of
             the letters that count; a number is a place where the same letter has a place elsewhere in the statement
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from derivations.documents.scope.letters import flat
from derivations.documents.syntax import Aggregate, Entry, Fence, Name, Negative, Node, Number, Product, Sum

__all__ = ["Letter", "Letters", "is_kronecker", "letters_of"]

COUNTING = frozenset("ijklmnpqrstuv") | {"pos"}


@dataclass(frozen=True)
class Letter:
    """A letter without its indices, and the number of those indices."""

    name: Name
    places: int

    @property
    def key(self) -> str:
        """The letter as a string, which differs for bold and plain letters."""
        return ("bold " if self.name.font.startswith("bold") else "") + self.name.key


@dataclass(frozen=True)
class Letters:
    """Which subscripts of a statement are indices, and not labels."""

    indices: frozenset[str]
    families: frozenset[str]  # the letters that have a place somewhere

    def split(self, name: Name) -> tuple[Letter, tuple[Node, ...]]:
        """Split a name into its letter and its indices."""
        labels, places = self._split(name)
        whole = Name(name.base, labels, name.superscripts, name.primes, name.accent, name.font)
        if not places and len(name.subscripts) == 1 and isinstance(name.subscripts[0], Name):
            family = Name(name.base, (), name.superscripts, name.primes, name.accent, name.font)
            if family.key in self.families and len(name.subscripts[0].key) == 1:  # c of z_c, where z_j has a place
                return Letter(family, 1), name.subscripts
        if places and all(isinstance(place, Number) for place in places) and whole.key not in self.families:
            return Letter(name, 0), ()
        return Letter(whole, len(places)), places

    def _split(self, name: Name) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        parts = [part for each in name.subscripts for part in flat((each,))]
        cut = len(parts)
        while cut and self._is_place(parts[cut - 1]):
            cut -= 1
        if cut and len(parts) > cut and parts[:cut] != parts[: len(name.subscripts)]:  # labels and places in one script
            bound = any(isinstance(each, Name) and each.key in self.indices for each in parts[cut:])
            return ((), tuple(parts)) if bound and all(map(_is_single, parts)) else (name.subscripts, ())
        return tuple(parts[:cut]), tuple(parts[cut:])

    def _is_place(self, node: Node) -> bool:
        match node:
            case Number(exact=exact):
                return exact
            case Name(base=base, subscripts=()):
                return node.key in self.indices or (base in COUNTING and not node.superscripts)
            case Sum(terms=parts) | Product(factors=parts):
                return all(map(self._is_place, parts))
            case Negative(operand=inner) | Fence(inside=inner):
                return self._is_place(inner)
        return False


def _is_single(node: Node) -> bool:
    return isinstance(node, Name) and node.key == node.base and len(node.base) == 1


def is_kronecker(name: Name) -> bool:
    r"""Return whether a name is written like Kronecker's delta: `\delta_{ij}`, two indices and nothing else."""
    places = [part for each in name.subscripts for part in flat((each,))]
    alone = not (name.superscripts or name.primes or name.accent)
    return name.base in ("delta", "δ") and alone and len(places) == 2 and all(isinstance(p, Name) for p in places)


def letters_of(sides: Iterable[Node]) -> Letters:
    """Return which subscripts in a statement are indices."""
    sides = tuple(sides)
    indices = frozenset(_indices(sides))
    reading = Letters(indices, frozenset())
    families, counted = set(), set(indices)
    for name in (part for side in sides for part in side.walk() if isinstance(part, Name)):
        labels, places = reading._split(name)
        if any(not isinstance(place, Number) for place in places):
            families.add(Name(name.base, labels, name.superscripts, name.primes, name.accent).key)
            counted |= {part.key for place in places for part in place.walk() if isinstance(part, Name)}
    return Letters(frozenset(counted), frozenset(families))


def _indices(sides: Iterable[Node]) -> Iterator[str]:
    for part in (part for side in sides for part in side.walk()):
        match part:
            case Aggregate(index=index):
                yield from (each.key for each in index if isinstance(each, Name))
            case Entry(indices=indices):
                yield from (each.key for each in flat(indices) if isinstance(each, Name))
