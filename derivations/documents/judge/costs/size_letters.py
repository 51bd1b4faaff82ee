"""The sizes that the letters of a count may stand for, by the words of the document, by spelling, or by custom."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product

from sympy import Expr, Symbol

from derivations.documents.judge.costs.subjects import MEANINGS, PLAIN_LETTERS
from derivations.documents.scope import Scope
from derivations.documents.scope.lexicon import spelled_meaning
from derivations.documents.syntax import Name, Node

__all__ = ["readings_of_letters"]

MOST_READINGS = 32


def readings_of_letters(node: Node, counted: Expr, scope: Scope) -> list[Mapping[Symbol, Symbol]] | None:
    """Return the possible assignments of sizes to the letters of a count, the most certain first.

    The result is None if a letter has no possible size, or if no assignment is left.
    """
    names = {part.key: part for part in node.walk() if isinstance(part, Name)}
    symbols = sorted(counted.free_symbols, key=str)
    choices: list[tuple[Symbol, ...]] = []
    for each in symbols:
        name = names.get(str(each))
        found = _sizes(name, scope) if name is not None else ()
        if not found:
            return None
        choices.append(found)
    readings = (dict(zip(symbols, each, strict=True)) for each in product(*choices) if len(set(each)) == len(each))
    return list(islice(readings, MOST_READINGS)) or None


def _sizes(name: Name, scope: Scope) -> tuple[Symbol, ...]:
    spelled = spelled_meaning(name.key)
    meanings = {spelled} if spelled else scope.meaning(name)
    found = tuple(size for meaning in sorted(meanings) for size in MEANINGS.get(meaning, ()))
    return found or PLAIN_LETTERS.get(name.key, ())
