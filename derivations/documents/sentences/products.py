r"""Products and sums in words and signs of running text: "the dot product of $q$ and $k$", `($w_1$ · $v_1$) + ...`.

Result       phrases that are products, sums, and things under a word: 「$Q$」, "the vector $q_i$", "權重 $W_{1,1}$"
Assumes      a sign between formulas in running text is the sign that stands in formulas
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.formulas.numbers import printed_number
from derivations.documents.sentences.phrases import FORMULA, Phrase, Words
from derivations.documents.sentences.places import ARRAY, SPACES, VECTOR
from derivations.documents.syntax import Dots, Name, Node, Product, Sum

__all__ = ["dot_phrases", "named_phrases", "sum_phrases"]

_S = SPACES
_DOTTED = r"(?:點積|点积|內積|内积|点乗积|點乘|点乘|内積|ドット積)"
_DOTS = re.compile(
    rf"(?:\bthe\s{{1,3}})?\b(?:dot|inner|scalar){_S}-?product\s{{1,3}}(?:of|between)\s{{1,3}}(?:the\s{{1,3}})?(?P<a>{FORMULA})"
    rf"\s{{1,3}}(?:and|with){_S}(?:the\s{{1,3}})?(?P<b>{FORMULA})"
    rf"|(?P<c>{FORMULA}){_S}[和與与跟及と]{_S}(?P<d>{FORMULA}){_S}(?:之間|之间|兩者|两者)?[的の]?{_S}"
    rf"(?:進行|进行|做|作|取|相)?{_S}{_DOTTED}",
    re.IGNORECASE,
)


def dot_phrases(words: Words) -> Iterator[Phrase]:
    """Yield the dot products of a sentence."""
    for found in _DOTS.finditer(words.text):
        first, second = ("a", "b") if found["a"] else ("c", "d")
        factors = words.nodes[found.start(first)], words.nodes[found.start(second)]
        yield Phrase(Product(factors, ("dot",)), found.start(), found.end())


# --- products and sums by signs ---

_DOT_SIGN = r"(?:·|⋅|×|\\cdot|\\times)"
_FACTOR = rf"(?:{FORMULA}|\d{{1,6}}(?:\.\d{{1,9}})?)"
_PRODUCT = re.compile(
    rf"(?P<open>[(（]{_S})?(?P<a>{_FACTOR}){_S}(?P<sign>{_DOT_SIGN}){_S}(?P<b>{FORMULA})(?(open){_S}[)）]|(?!{_S}{_DOT_SIGN}))"
)
_ELLIPSIS = r"(?:\.\.\.|…|⋯|\\l?c?dots)"
_SUM = re.compile(rf"{FORMULA}(?:{_S}\+{_S}(?:{FORMULA}|{_ELLIPSIS})){{1,40}}")
_TERM = re.compile(rf"{FORMULA}|{_ELLIPSIS}")


def sum_phrases(words: Words) -> Iterator[Phrase]:
    """Yield products and sums that signs in running text make of phrases."""
    for found in _PRODUCT.finditer(words.text):
        factors = _factor(words, found, "a"), words.nodes[found.start("b")]
        operator = "times" if found["sign"] in ("×", "\\times") else "dot"
        yield Phrase(Product(factors, (operator,)), found.start(), found.end())
    for found in _SUM.finditer(words.text):
        terms = tuple(
            words.nodes[each.start()] if each[0] == FORMULA else Dots()
            for each in _TERM.finditer(words.text, found.start(), found.end())
        )
        yield Phrase(Sum(terms, (1,) * len(terms)), found.start(), found.end())


def _factor(words: Words, found: re.Match[str], group: str) -> Node:
    if found[group] == FORMULA:
        return words.nodes[found.start(group)]
    return printed_number(found[group], 0, 0)


# --- one thing under two names ---

_KINDS = r"(?:row vector|column vector|vector|matrix|weights?|entry|score)"
_SIGNS = rf"(?:[行列]?{VECTOR}|{ARRAY}|權重|权重|元素|分數|分数|重み|スコア)"
_NAMED = re.compile(
    rf"[「『“\"](?P<a>{FORMULA})[」』”\"]|\bthe\s{{1,3}}{_KINDS}\s{{1,3}}(?P<b>{FORMULA})"
    rf"|(?<![\u3040-\u30ff\u4e00-\u9fff的の]){_S}{_SIGNS}{_S}(?P<c>{FORMULA})|(?P<d>{FORMULA}){_S}(?:{_SIGNS}|vector\b)",
    re.IGNORECASE,
)


def named_phrases(words: Words) -> Iterator[Phrase]:
    """Yield formulas together with the word for what they are."""
    for found in _NAMED.finditer(words.text):
        node = words.nodes[next(found.start(each) for each in "abcd" if found[each])]
        if isinstance(node, Name) or found["a"]:
            yield Phrase(node, found.start(), found.end())
