r"""The words by which documents speak of moments: "the variance of", 變異數, 分散, "dot product", "divided by".

Definition   a sentence becomes a row of tokens; every token has a kind, one of those in `KINDS`, and words that are in
             no list are kept as tokens of the kind "word", a run of them as one
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from derivations.documents.sentences.joined import FORMULAS, Sentence

__all__ = ["DOT", "Token", "tokens_of"]


def _any(latin: str, others: str) -> str:
    """Return an expression for Latin words as whole words, and for words of other scripts anywhere."""
    return rf"\b(?:{latin})\b|{others}"


DOT = "(?:點積|点积|內積|内积|内積|ドット積|點乘|点乘)"
_NO_ATTENTION = r"(?!\s*(?:attention|注意|アテンション))"

#: What each kind is called, in English, Chinese (both scripts) and Japanese; what stands first is looked for first.
KINDS = {
    "formula": FORMULAS,
    "gloss": r"[(（]\s*(?:variance|standard deviation|std\.?|sd|mean|expectation|(?:dot|inner) product|normali[sz]e)"
    r"\s*[)）]",
    "deviation": _any(r"standard\s+deviations?|std(?:\.?\s?dev)?", "標準差|标准差|標準偏差|标准偏差"),
    "variance": _any("variances?", "變異數|变异数|方差|分散"),
    "mean": _any(r"mean|expectation|expected\s+value", "平均值|平均値|均值|期望值|期望|期待値|平均"),
    "scaled": rf"(?:\bscaled\s+(?:dot|inner)[\s-]products?\b|[縮缩]放[後后]?的?{DOT}|スケール(?:された|後の){DOT})"
    rf"{_NO_ATTENTION}",
    "dot": rf"(?:\b(?:dot|inner)[\s-]products?\b|{DOT}){_NO_ATTENTION}",
    "scores": _any(r"(?:attention\s+)?(?:scores?|logits?)", "注意力分[數数]|スコア"),
    "softmax input": _any("inputs?", "(?:的|の)?(?:輸入|输入|入力)"),
    "component": _any("components?|entries|entry|elements?|coordinates?", "元素|分量|成分|要素|各[項项]|每一[項项]"),
    "unit": _any(r"unit|one(?!\s+of)", "單位|单位|単位"),
    "zero": _any("zero", "零"),
    "number": r"(?<![\w.,])\d{1,9}(?:\.\d{1,9})?(?![\w%.,]*\d)(?!\s*[%％倍])",
    "negation": r"n['’]t\b|"
    + _any("not|never|no|without|before|neither", "不|沒|没|未|無|无|非|ない|なし|なく|なけれ|前"),
    "condition": _any(r"if|suppose|assum\w+|when|unless|were|whether", "如果|假如|假設|假设|若|もし|仮定|ならば"),
    "reason": _any("because|since", "因為|因为|由於|由于|ので|ため|から"),
    "after": _any("after|once", "之後|之后|以後|以后|後|后"),
    "hedge": _any(
        r"proportional|order|at\s+(?:most|least)|\w+er\s+than|times|about|roughly|approximately|grow\w*|increas\w+|up|from"
        r"|decreas\w+|depend\w*|relat\w+|linear\w*|large\w*|small\w*|high\w*",
        "正比|反比|比例|隨|随|越|倍|超過|超过|小於|小于|大於|大于|低於|低于|高於|高于|以下|以上|約|约|左右|從|从|より"
        "|のオーダー|[×*·+/^<>≤≥∝~≈]",
    ),
    "between": r"\bbetween\b",
    "divide": _any("divid(?:e|ed|es|ing)|division", "除以|除|割(?:る|った|って|れば|り)?|÷"),
    "multiply": _any("multipl(?:y|ied|ies|ying|ication)", "乘以|乘上|乘|(?:掛|か)け(?:る|た|て|れば)"),
    "scale": _any("(?:re)?scal(?:e|ed|es|ing)", "縮放|缩放|スケーリング|スケール"),
    "of": r"['’]s\b|" + _any("of", "的|之|の"),
    "has": _any("has|have|having|with", "具有|擁有|拥有|有|を持(?:つ|ち|って)"),
    "back": _any(r"(?:back\s+)?to|at", "回到|回|至|到|成|に戻(?:る|り|す|して)?|へ|に"),
    "copula": _any(
        "is|are|was|be|becomes?|being|equals?|equal|as|stays?|remains?|ma(?:kes?|king)|keep(?:s|ing)?|giv(?:es?|ing)"
        "|yields?|bring(?:s|ing)?|restores?|normali[sz]es?|sets?|leaves?",
        "=|會是|会是|就是|即是|變為|变为|變成|变成|等於|等于|恰好|也|會|会|是|為|为|は|が|を|だ|です|と",
    ),
    "and": _any("and", "及|和|且|與|与|かつ|、"),
    "determiner": _any(
        r"the|a|an|its|their|this|that|these|those|so|then|hence|thus|therefore|also|which|will|would|again|exactly"
        "|just|precisely|both|each|every|by|we",
        "其|它們|它们|它|這個|这个|這|这|使得|使|讓|让|令|將|将|把|那麼|那么|所以|因此|因而|於是|于是|故|則|则|該|该"
        "|每一?[個个]|その|この|よって|したがって|つまり|で",
    ),
    "quote": r"[「」『』\"'“”‘’`*_]",
    "comma": r"[,，:：()（）]",
    "space": r"[\s\u3000]+",
}
_TOKEN = re.compile(
    "|".join(f"(?P<k{number}>{each})" for number, each in enumerate(KINDS.values())), re.ASCII | re.IGNORECASE
)
_NAMED = re.compile(
    "|".join(KINDS[each] for each in ("deviation", "variance", "mean", "scaled", "dot")), re.ASCII | re.IGNORECASE
)
_NAMES = tuple(KINDS)
_DROPPED = ("gloss", "quote", "space")


@dataclass(frozen=True)
class Token:
    """Words of a kind, with their place in the sentence."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(sentence: Sentence) -> tuple[Token, ...]:
    """Return the tokens of a sentence, without spaces, quotes and repetitions of a word in brackets.

    Result       none where neither a moment nor a dot product is named
    """
    return tuple(_tokens(sentence.text)) if _NAMED.search(sentence.text) else ()


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            yield Token("word", text[at : match.start()], at, match.start())
        at = match.end()
        kind = _NAMES[int((match.lastgroup or "k0")[1:])]
        if kind not in _DROPPED:
            yield Token(kind, match.group(), match.start(), match.end())
    if at < len(text):
        yield Token("word", text[at:], at, len(text))
