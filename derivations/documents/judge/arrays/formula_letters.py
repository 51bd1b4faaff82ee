"""The letters of a formula: which are indices, and which are arrays or numbers.

Definition   a place is a letter in a subscript that says which entry is meant, free or bound by a sum; labels are none
Assumes      the subscripts of d are labels, and those of weights as well but for a few letters
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from derivations.documents import syntax
from derivations.documents.judge.arrays.arrays import function_word, indices_of
from derivations.documents.syntax import Aggregate, Call, Name, Node

__all__ = ["Formula", "free_indices", "heads", "index_letters", "names_in", "subscript_letters"]

SIZE_LETTERS = frozenset("dD")  # their subscripts are labels
WEIGHTS, WEIGHT_INDICES = frozenset("WbU"), frozenset("ijlmr")  # W_q, W_k, W_v, W_o are names
INDEX_LETTERS = frozenset("ijlmrstpuk")


@dataclass(frozen=True)
class Formula:
    """A right side, with the arguments, the index letters and the entry indices that the left side gives."""

    right: Node
    arguments: tuple[Node, ...] = ()
    indices: tuple[str, ...] = ()
    places: tuple[Node, ...] = ()


def names_in(node: Node) -> Iterator[Name]:
    """Yield the names in a formula, without functions and without the names in subscripts."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            yield part
        elif isinstance(part, Call):
            pending.extend(reversed(_family(part) or part.arguments))
        elif isinstance(part, Aggregate):
            pending.append(part.body)
        elif not isinstance(part, syntax.Chain):
            pending.extend(reversed(part.children))


def _family(call: Call) -> tuple[Node, ...]:
    """Return the letter of the members of a concatenation, `head` in Concat(head_1, ..., head_h)."""
    if function_word(call.function) not in ("concat", "concatenate", "cat"):
        return ()
    first = next((part for each in call.arguments for part in each.walk() if isinstance(part, Name)), None)
    return () if first is None else (Name(first.base, (), first.superscripts, first.primes, first.accent),)


def free_indices(node: Node, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the index letters in the subscripts of a formula that no sum binds, in order, after the `known` ones."""
    bound = {key.key for part in node.walk() if isinstance(part, Aggregate) for key in part.index}
    found = dict.fromkeys(known)
    for name in names_in(node):
        for letter in subscript_letters(name):
            if letter in known or letter in INDEX_LETTERS:
                found.setdefault(letter)
    return tuple(letter for letter in found if letter not in bound)


def subscript_letters(name: Name) -> Iterator[str]:
    """Yield the index letters in the subscripts of a name."""
    if name.base in SIZE_LETTERS:
        return
    for subscript in name.subscripts:
        for part in subscript.walk():
            if isinstance(part, Name) and not part.subscripts:
                letters = part.base if len(part.base) > 1 and set(part.base) <= INDEX_LETTERS else (part.base,)
                known = WEIGHT_INDICES if name.base in WEIGHTS else None
                yield from (
                    letter
                    for letter in letters
                    if len(letter) == 1 and letter.islower() and letter in (known or letter)
                )


def index_letters(formula: Formula) -> frozenset[str]:
    """Return every index letter, free or bound."""
    bound = {key.key for part in formula.right.walk() if isinstance(part, Aggregate) for key in part.index}
    return frozenset(bound) | set(free_indices(formula.right, formula.indices))


def heads(node: Node, indices: frozenset[str]) -> dict[str, Name]:
    """Return the letters of a formula without their indices, by key and in order."""
    found: dict[str, Name] = {}
    for name in names_in(node):
        if name.key in indices:
            continue
        head = name if name.base in SIZE_LETTERS else indices_of(name, indices)[0]
        found.setdefault(head.key, head)
    return found
