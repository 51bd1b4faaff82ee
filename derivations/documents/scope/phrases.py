r"""What the words around a letter say of it: "where d_k is the dimension of the keys", "the vector x", "h heads".

Assumes      words come from the lexicon, none of them is a sentence
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sympy import Integer

from derivations.documents.passages import Block
from derivations.documents.scope.lexicon import COPULAS, LEADS, VECTOR_WORDS, VERBS, meaning_of, starts_with_word
from derivations.documents.scope.pieces import (
    FARTHEST,
    PHRASE_END,
    Declaration,
    Piece,
    subjects,
)
from derivations.documents.syntax import (
    Name,
)

__all__ = ["said_in_words"]

_LONGEST_PHRASE = 80
COMMAS = (",", "，", "、")
_SETTING = re.compile(r"\b([A-Za-z_]\w{0,40})\s*=\s*([0-9]{1,12})\b(?!\s*\.)")


def said_in_words(block: Block, pieces: Sequence[Piece], number: int) -> Iterator[Declaration]:
    """Yield declarations of values, meanings and vectors from the words around a piece."""
    piece = pieces[number]
    if block.kind == "code" and piece.text:
        for setting in _SETTING.finditer(piece.text):
            yield Declaration(
                setting.group(1), piece.place, Name(setting.group(1)), value=Integer(int(setting.group(2)))
            )
    names = subjects(piece.alone) if piece.alone is not None else _named(piece)
    if not names:
        return
    after, before = _text_after(pieces, number), _text_before(pieces, number)
    told = _said_before(before), _said_after(after)
    meaning = told[0] or told[1] if _leads_to_it(before, after) else told[1] or told[0]
    stated = bool(_said_after(after)) and starts_with_word(after, VERBS)
    for name in names:
        if meaning:
            yield Declaration(name.key, piece.place, name, meaning=meaning, stated=stated)
        if name.base.islower() and len(name.base) == 1 and _is_vector(name, before, after):
            yield Declaration(name.key, piece.place, name, vector=True)


def _named(piece: Piece) -> tuple[Name, ...]:
    """Return the name that a piece declares, as h in "h = 8 heads", which words may explain further."""
    if len(piece.statements) == 1 and piece.statements[0].chain.relations[:1] in (("=",), ("∈",)):
        side = piece.statements[0].chain.sides[0]
        return (side,) if isinstance(side, Name) and side.base else ()
    return ()


def _text_after(pieces: Sequence[Piece], number: int) -> str:
    text = ""
    for piece in pieces[number + 1 : number + 4]:
        if piece.statements or (piece.cell != pieces[number].cell and text.strip()):
            break
        text += piece.text if piece.cell == pieces[number].cell else f": {piece.text}"
    return text[: _LONGEST_PHRASE + FARTHEST].replace("\n", " ")


def _text_before(pieces: Sequence[Piece], number: int) -> str:
    before = pieces[number - 1] if number else None
    return before.text[-_LONGEST_PHRASE:] if before is not None and before.cell == pieces[number].cell else ""


def _said_after(text: str) -> frozenset[str]:
    """Return the meaning of "$d_k$ is the dimension of the keys": a copula, and the phrase after it.

    A phrase that leads to the next letter belongs to that one: "層數為 $L$，模型維度為 $d$".
    """
    words = text.lstrip("*_` \u3000")
    copula = next((word for word in COPULAS if _starts(words.lower(), word)), None)
    if copula is None:
        return frozenset()
    rest = words[len(copula) :].lstrip(" ,，:：")
    ending = PHRASE_END.search(rest)
    phrase = rest[: ending.start() if ending else _LONGEST_PHRASE]
    leads_on = copula in ",，、" and ending is None and phrase.rstrip("*_` \u3000").endswith(LEADS)
    return frozenset() if leads_on else meaning_of(phrase)


def _leads_to_it(before: str, after: str) -> bool:
    """Return whether the words before a letter introduce it, and a comma ends the phrase after it: 維度為 $d$，."""
    return before.rstrip("*_` \u3000").endswith(LEADS) and after.lstrip("*_` \u3000").startswith(COMMAS)


def _starts(text: str, word: str) -> bool:
    return text.startswith(word) and not (
        word.isascii() and word.isalpha() and text[len(word) : len(word) + 1].isalpha()
    )


def _said_before(text: str) -> frozenset[str]:
    """Return the meaning of "the sequence length $n$": the last words before the formula."""
    parts = re.split(r"[。！？!?\n，,;；:：(（、)）]|\.\s|\b(?:and|with|by|of the)\b|[和與与及]", text)
    last = parts[-1].strip()
    return meaning_of(last[-24:] if not last.isascii() else " ".join(last.split()[-4:])) if last else frozenset()


def _is_vector(name: Name, before: str, after: str) -> bool:
    if name.base in "dnhlt" and not name.font:
        return False
    left = before.rstrip("* \u3000(（").lower()[-10:]
    right = after.lstrip("* \u3000").lower()[:10]
    return any(left.endswith(word) or right.startswith(word) for word in VECTOR_WORDS[:5] if word)
