r"""What the words say a letter is: "where $d_k$ is the dimension of the keys", "句長 $n$", "h heads".

Definition   a letter that stands alone, with words of the lexicon beside it that name a size or a position
Result       holds where the letter's own spelling, what else is said of it, and the shapes it stands in agree; nothing
             where they do not, since words may be meant in more ways than the lexicon knows
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.scope import Scope
from derivations.documents.scope.lexicon import LENGTHS, WIDTHS, spelled_meaning
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding

__all__ = ["check_meanings"]

_CHECK = "meaning"
_LENGTH_LETTERS = "nmLTNSBhHlbst"


def check_meanings(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a letter is what the words beside it say."""
    name = statement.chain.sides[0]
    if link is not None or not isinstance(name, Name) or len(statement.chain.sides) > 1:
        return
    said = scope.said_beside(statement, name)
    meaning = next(iter(said), "width")
    if len(said) != 1 or meaning == "width" or not _is_usual(name, meaning, statement, scope):
        return
    spelled = spelled_meaning(name.key)
    others = {other for other in (*scope.all_meanings(name), spelled) if other is not None}
    if not scope.shape_candidates(name) and not scope.is_vector(name) and all(_agree(meaning, each) for each in others):
        yield Finding("holds", _CHECK, f"{name.key} is the {meaning}, and nothing contradicts it")


def _is_usual(name: Name, meaning: str, statement: Statement, scope: Scope) -> bool:
    """Say whether a letter is one by which such a thing is called, stands in a shape, or is a width that is used."""
    if meaning == "position":
        return name.base in ("pos", "p", "t", "m", "n", "i")
    if scope.document.distinctions.neighbours.get(name.key) or spelled_meaning(name.key) is not None:
        return meaning in LENGTHS | WIDTHS
    if meaning in WIDTHS:
        used = not scope.is_index(name) and bool(scope.document.used_in(name, statement))
        return not name.primes and (name.base == "d" or used)
    return meaning in LENGTHS and name.base in _LENGTH_LETTERS


def _agree(first: str, second: str) -> bool:
    """Say whether two meanings may be of one size: the same, a width in general, or that of a head and of its keys."""
    pair = {first, second}
    heads = {"head width", "key width", "value width"}
    return first == second or ("width" in pair and pair <= WIDTHS) or ("head width" in pair and pair <= heads)
