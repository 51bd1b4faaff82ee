r"""Functions in words: "the transpose of $K$", "softmax of $S$", "$QK^T$ (after softmax)", "$K$ 的轉置".

Result       phrases that are calls and transposes
Assumes      softmax is taken over rows, as everywhere where no axis is named
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.sentences.phrases import FORMULA, Phrase, Words
from derivations.documents.sentences.places import ARRAY, SPACES
from derivations.documents.syntax import Call, Fence, Name, Transpose

__all__ = ["softmax_phrases", "transpose_phrases"]

_S = SPACES
_OF = rf"(?P<of>{FORMULA})"
_TRANSPOSES = re.compile(
    rf"(?:\bthe\s{{1,3}})?\btranspose\s{{1,3}}of\s{{1,3}}(?:the\s{{1,3}})?(?:matrix\s{{1,3}})?{_OF}"
    rf"|(?P<ours>{FORMULA}){_S}[的の]{_S}(?:(?:轉置|转置|転置){ARRAY}?)(?!後|后)",
    re.IGNORECASE,
)
_APPLIED = r"(?:經過?|经过?|通過|通过|套用|做完?|取)"
_SOFTMAXES = re.compile(
    rf"\bsoftmax\s{{1,3}}of\s{{1,3}}{_OF}"
    rf"|(?P<a>{FORMULA}){_S}(?:[(（]{_S})?(?:after|through|followed by|passed through)\s{{1,3}}"
    rf"(?:(?:the|a|applying)\s{{1,3}})?softmax(?:{_S}[)）])?"
    rf"|(?P<b>{FORMULA}){_S}(?:[(（]{_S})?{_APPLIED}{_S}softmax{_S}(?:函數|函数)?(?:之後|之后|後|后)?(?:{_S}[)）])?"
    rf"|(?P<c>{FORMULA}){_S}[にの]{_S}softmax{_S}(?:関数)?(?:を(?:適用し|通し|かけ)(?:た(?:もの|結果|値|重み)?)|適用後)",
    re.IGNORECASE,
)


def transpose_phrases(words: Words) -> Iterator[Phrase]:
    """Yield the transposes of a sentence."""
    for found in _TRANSPOSES.finditer(words.text):
        node = words.nodes[next(found.start(each) for each in ("of", "ours") if found[each])]
        inner = node.inside if isinstance(node, Fence) and node.bracket == "(" else node
        yield Phrase(Transpose(inner, start=node.start, end=node.end), found.start(), found.end())


def softmax_phrases(words: Words) -> Iterator[Phrase]:
    """Yield what a softmax is said to be taken of."""
    for found in _SOFTMAXES.finditer(words.text):
        node = words.nodes[next(found.start(each) for each in ("of", "a", "b", "c") if found[each])]
        yield Phrase(Call(Name("softmax"), (node,)), found.start(), found.end())
