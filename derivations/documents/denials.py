"""What a document itself calls mistaken: a formula that its sentence denies is no claim of the author.

Definition   the sentence is what stands before the formula since the last full stop, and behind it up to the next
Assumes      words, not sentences: a small lexicon in English, Chinese and Japanese; it errs towards silence, since a
             false alarm is worse than a miss
"""

from __future__ import annotations

import re

from derivations.documents.passages import Block, Passage

__all__ = ["denies", "is_denied"]

_DENIALS = re.compile(
    r"\b(not true|untrue|false|incorrect(ly)?|wrong(ly)?|mistake[ns]?|mistakenly|erroneous(ly)?|invalid|"
    r"claimed|do(es)? not (hold|fit|work)|doesn['’]t (hold|fit|work)|is not equal|never equals|contradiction|absurd)\b"
    r"|不成立|不正確|不正确|錯誤|错误|並非|并非|誤り|間違|正しくない|成り立たない|ではない",
    re.IGNORECASE,
)
_END = re.compile(r"[。！？!?]|\.(?=\s|$)")


def denies(sentence: str) -> bool:
    """Say whether a sentence calls something mistaken."""
    return bool(_DENIALS.search(sentence))


def is_denied(passage: Passage, block: Block) -> bool:
    """Say whether the sentence around a formula says that it does not hold."""
    place = next(number for number, each in enumerate(block.passages) if each is passage)
    return denies(_before(block, place)) or denies(_behind(block, place))


def _before(block: Block, place: int) -> str:
    """Return the prose of the sentence in front of a passage."""
    pieces: list[str] = []
    for passage in reversed(block.passages[:place]):
        if passage.is_formula:
            continue
        ends = [found.end() for found in _END.finditer(passage.text)]
        pieces.append(passage.text[ends[-1] :] if ends else passage.text)
        if ends:
            break
    return " ".join(reversed(pieces))


def _behind(block: Block, place: int) -> str:
    """Return the prose of the sentence behind a passage."""
    pieces: list[str] = []
    for passage in block.passages[place + 1 :]:
        if passage.is_formula:
            continue
        end = _END.search(passage.text)
        pieces.append(passage.text[: end.start()] if end else passage.text)
        if end:
            break
    return " ".join(pieces)
