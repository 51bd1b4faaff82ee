"""What a document itself calls mistaken: the author does not claim a formula that the sentence denies.

Definition   the sentence is what stands before the formula since the last full stop, and after it up to the next; it
             runs into a displayed formula from the block before, and goes on in the block after with a small letter
Assumes      words, not sentences: a small lexicon in English, Chinese and Japanese; it errs towards silence, since a
             false alarm is worse than a miss
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from derivations.documents.passages import Block, Passage

__all__ = ["denies", "is_denied"]

_DENIALS = re.compile(
    r"\b(not true|untrue|false|incorrect(ly)?|wrong(ly)?|mistake[ns]?|mistakenly|erroneous(ly)?|invalid|"
    r"claimed|do(es)? not (hold|fit|work)|doesn['’]t (hold|fit|work)|is not equal|never equals|contradiction|absurd)\b"
    r"|不成立|不正確|不正确|錯誤|错误|[誤误][寫写記记認认作]|[寫写弄記记搞][錯错]|[錯错][寫写]|並非|并非|誤り|誤っ|間違|まちが|正しくない|成り立たない|ではない",
    re.IGNORECASE,
)
#: Words right before a formula, or right after it, that deny it alone: 應為 $a$ 而不是 $b$; $b$ ではなく $a$.
_NOT = re.compile(
    r"(?:\b(?:not|rather than|typo(?: in the \w+)?)|[❌✗✘]|不是|而非|(?<![所可得足])以[為为]|"
    r"(?<![沒没])[錯错]|(?:不要|不能|不可|不[應应]|不[該该]|勿|[别別]|若|如果)(?:[把將将])?[寫写記记][成作為为]?)"
    r"\s*[:：(（]?\s*\Z",
    re.IGNORECASE,
)
_NOT_SO = re.compile(
    r"\s*(?:[,;，；。、]\s*)?(?:[❌✗✘]|(?:(?:but |and )?(?:that|it|this|which) )?(?:should (?:be|read)|is a typo)\b|"
    r"(?:←|<-+|-+>|→|//|#)?\s*[❌✗✘]?\s*(?-i:ERROR|WRONG|Error!|Wrong!)|"
    r"(?:其[實实])?[應应](?:[該该當当])?(?:是|[為为])|有[筆笔][誤误]|[寫写](?:反|[錯错])|ではな[くい]|でなく|じゃな|"
    r"と(?:思|勘違|書いては|書かない|してはな))",
    re.IGNORECASE,
)
_NEAR = 64  # passages on both sides, among which the ends of the sentence are looked for
_GOES_ON = re.compile(r"\s*(?:[a-z,;]|[，；是這这那此並并のはがと]|不成立)")
_END = re.compile(r"[。！？!?]|\.(?=\s|$)")


def denies(sentence: str) -> bool:
    """Return whether a sentence calls something mistaken."""
    return bool(_DENIALS.search(sentence))


def is_denied(passage: Passage, block: Block, previous: Block | None = None, following: Block | None = None) -> bool:
    """Return whether the sentence around a formula says that it does not hold.

    The sentence may begin in the block before, or continue in the block after.
    """
    place = block.number_of(passage) or 0
    before, behind = block.passages[max(place - _NEAR, 0) : place], block.passages[place + 1 : place + 1 + _NEAR]
    if passage.display and previous is not None and previous.kind != "heading" and all(e.is_formula for e in before):
        before = (*previous.passages, *before)
    if passage.display and following is not None and all(each.is_formula for each in behind):
        goes_on = bool(following.passages) and _GOES_ON.match(following.passages[0].text)
        behind = (*behind, *following.passages) if goes_on else behind
    return denies(_before(before)) or denies(_behind(behind)) or _is_denied_alone(before, behind)


def _is_denied_alone(before: Sequence[Passage], behind: Sequence[Passage]) -> bool:
    """Return whether the words directly before or after a formula deny it, whatever the rest of the sentence says."""
    last_words = before[-1].text[-_NEAR:] if before and not before[-1].is_formula else ""
    next_words = behind[0].text[:_NEAR] if behind and not behind[0].is_formula else ""
    return bool(_NOT.search(last_words) or _NOT_SO.match(next_words))


def _before(passages: Sequence[Passage]) -> str:
    """Return the prose of the unfinished sentence at the end of these passages."""
    pieces: list[str] = []
    for passage in reversed(passages):
        if passage.is_formula:
            continue
        ends = [found.end() for found in _END.finditer(passage.text)]
        pieces.append(passage.text[ends[-1] :] if ends else passage.text)
        if ends:
            break
    return " ".join(reversed(pieces))


def _behind(passages: Sequence[Passage]) -> str:
    """Return the prose at the start of these passages, up to the end of the sentence."""
    pieces: list[str] = []
    for passage in passages:
        if passage.is_formula:
            continue
        end = _END.search(passage.text)
        pieces.append(passage.text[: end.start()] if end else passage.text)
        if end:
            break
    return " ".join(pieces)
