"""Vectors of tokens in words: "the content of word 1", "第 $i$ 個字的新向量", "the output vector of token $i$".

Result       phrases that are rows of `TOKENS`, or of `OUTPUTS` where the words speak of what comes out
Assumes      a word, a token and a position are the same: a row of the sequence
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.judge.rows.row_vectors import OUTPUTS, TOKENS
from derivations.documents.sentences.phrases import Phrase, Words
from derivations.documents.sentences.places import PLACE, SPACES, VECTOR, place_of
from derivations.documents.syntax import Entry

__all__ = ["token_phrases"]

_S = SPACES
_TOKEN = r"(?:word|token|position)"
_THING = r"(?:content|value|information|embedding|representation|vector)s?(?:\s{1,3}vector)?"
_NEW = r"(?:new|updated|output|resulting|contextual)\s{1,3}"
_SIGN = r"(?:字|詞|词|單字|单词|token|位置|単語|トークン|語)"
_KIND = rf"(?:內容|内容|資訊|信息|情報|值|{VECTOR}|表示|嵌入){VECTOR}?"
_FRESH = r"(?:新的?|輸出的?|输出的?|結果的?|结果的?|更新後的?|新しい|出力の?|出力)"
_TOKENS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\bthe\s{{1,3}})?(?P<new>{_NEW})?\b{_THING}\s{{1,3}}of\s{{1,3}}(?:the\s{{1,3}})?{_TOKEN}{_S}(?P<place>{PLACE})",
        rf"(?:\bthe\s{{1,3}})?(?P<new>{_NEW})?\b{_THING}\s{{1,3}}of\s{{1,3}}the\s{{1,3}}(?P<place>{PLACE})"
        rf"(?:{_S}-?{_S}(?:st|nd|rd|th))?\s{{1,3}}{_TOKEN}\b",
        rf"第{_S}(?P<place>{PLACE}){_S}(?:個|个)?{_S}{_SIGN}{_S}[的の]{_S}(?P<new>{_FRESH})?{_S}{_KIND}",
        rf"(?P<place>{PLACE}){_S}番目の{_S}{_SIGN}{_S}の{_S}(?P<new>{_FRESH})?{_S}{_KIND}",
    )
)


def token_phrases(words: Words) -> Iterator[Phrase]:
    """Yield the vectors of tokens in a sentence."""
    for pattern in _TOKENS:
        for found in pattern.finditer(words.text):
            place = place_of(words, *found.span("place"))
            if place is not None:
                yield Phrase(Entry(OUTPUTS if found["new"] else TOKENS, (place,)), found.start(), found.end())
