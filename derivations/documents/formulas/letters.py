"""Runs of letters: whether a run is one word, or several letters side by side.

Definition   `Attention`, `pos` and `softmax` are words; `QK`, `xW` and `ij` are letters side by side
Assumes      a run that is no known word is one if it looks like one: four letters or more with a vowel, no capitals
             but the first, and not a stretch of the alphabet as indices are (`ijkl`)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from derivations.documents.formulas.signs import COMBINING
from derivations.documents.formulas.tokens import Token
from derivations.documents.formulas.vocabulary import GREEK, LABELS, WORDS

__all__ = ["accented_letter", "identifier", "is_label", "is_word", "pieces"]

_IDENTIFIER = re.compile(r"([A-Za-z]+)((?:_[A-Za-z0-9]+)+)\Z")
_WORD = re.compile(r"[A-Za-z]?[a-z]{3,}\Z|[A-Z][a-z]+(?:[A-Z][a-z]+)+[A-Z]?\Z")
_INDICES = re.compile(r"[i-n]+\Z|[p-t]+\Z|[a-d]+\Z")
_APPLIED = re.compile(r"(log|ln|exp|sin|cos|tanh)([A-Za-z])\Z")
_PIECE = re.compile(r"[A-Za-z]")


def is_word(run: str) -> bool:
    """Return whether a run of letters in mathematics is one word."""
    return len(run) > 1 and (run in WORDS or _looks_like_word(run))


def _looks_like_word(run: str) -> bool:
    """Return whether an unknown run of letters has the form of a word."""
    return bool(_WORD.match(run)) and not run.islower() * (sorted(run) == list(run)) and any(c in "aeiouy" for c in run)


def is_label(run: str) -> bool:
    """Return whether a run of letters in a script is one word: `d_{ff}`, `d_{model}`, not `y_{ij}`."""
    return (
        run in LABELS or is_word(run) or (len(run) >= 3 and not _INDICES.match(run) and any(c in "aeiou" for c in run))
    )


def pieces(run: str) -> Iterator[tuple[int, str]]:
    """Yield the words or letters of a run with their offsets in it. In `logy` a function stands before a letter."""
    applied = _APPLIED.match(run) if run not in WORDS else None
    if applied:
        yield from ((applied.start(part), applied[part]) for part in (1, 2))
    elif is_word(run):
        yield 0, run
    else:
        yield from ((match.start(), match.group()) for match in _PIECE.finditer(run))


def identifier(name: str) -> tuple[str, list[str]]:
    """Split an identifier into a name and its labels: d and model, head and i, but `batch_size` is one word."""
    match = _IDENTIFIER.match(name)
    if not match:
        return name, []
    base, labels = match[1], match[2][1:].split("_")
    short = len(labels) == 1 and (len(labels[0]) == 1 or labels[0].isdigit())
    return (base, labels) if len(base) == 1 or base in GREEK or short else (name, [])


def accented_letter(character: str, start: int, end: int, tokens: list[Token]) -> list[Token]:
    """Return the tokens of a letter with an accent, such as `ŷ`, or an empty list.

    A combining accent takes the letter before it away from `tokens`.
    """
    parts = normalize("NFD", character)
    base, mark = ("", character) if character in COMBINING else (parts[0], parts[1:])
    if mark not in COMBINING or not (base or (tokens and tokens[-1].kind == "letter" and tokens[-1].end == start)):
        return []
    letter = Token("letter", base, start, end) if base else tokens.pop()
    return [Token("accent", COMBINING[mark], letter.start, letter.start, letter.spaced), letter._replace(spaced=False)]
