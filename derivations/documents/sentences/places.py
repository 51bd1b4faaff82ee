r"""Places of an array in words: `$i$`, "3", "third", `$(i, j)$`, "(i, j)" as the nodes that index it.

Definition   `PLACE` and `PAIR` are the expressions, each in one group that the caller names; `place_of` and `pair_of`
             read what they found
Result       None where what stands there is no place: a matrix, a formula of several letters
"""

from __future__ import annotations

from dataclasses import replace

from derivations.documents.formulas.building import subscripts
from derivations.documents.formulas.numbers import printed_number
from derivations.documents.judge.rows.row_vectors import INPUT, OUTPUT
from derivations.documents.sentences.phrases import FORMULA
from derivations.documents.sentences.phrases import Words as Sentence
from derivations.documents.syntax import Fence, Name, Node, Number, Power, Product, Sum, Words
from derivations.documents.syntax import List as Listed

__all__ = [
    "ARRAY", "MATRIX", "NUMERALS", "ORDINALS", "PAIR", "PLACE", "SPACES", "VECTOR", "matrix_of", "number_of_word",
    "pair_of", "place_of",
]  # fmt: skip

SPACES = r"\s{0,3}"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ENDINGS = ("st", "nd", "rd", "th", "番目")
NUMERALS = "一二三四五六七八九十"
_LETTER = r"(?<![A-Za-z0-9_])[A-Za-z](?![A-Za-z0-9_])"
PLACE = rf"(?:{FORMULA}|\d{{1,5}}|{_LETTER}|[{NUMERALS}](?![{NUMERALS}])|\b(?:{'|'.join(ORDINALS)})\b)"
PAIR = rf"(?:{FORMULA}|[(（]{SPACES}{PLACE}{SPACES}[,，]{SPACES}{PLACE}{SPACES}[)）])"
ARRAY = r"(?:矩陣|矩阵|陣列|阵列|数组|行列|配列)"  # what is called an array, and a vector
VECTOR = r"(?:向量|矢量|ベクトル)"
_INPUTS = ("input", "輸入", "输入", "入力")
MATRIX = (
    rf"(?:{FORMULA}|(?-i:(?<![A-Za-z])[A-Z](?![A-Za-z]))"
    rf"|(?:\b(?:output|result|input)\b|輸出|输出|結果|结果|出力|輸入|输入|入力)(?:\s?matrix\b|{ARRAY})?)"
)


def place_of(words: Sentence, start: int, end: int) -> Node | None:
    """Return the index that a stretch names: a letter, a number, or a sum of both."""
    text = words.text[start:end]
    if text == FORMULA:
        node = _without_ordinal(words.nodes[start])
        while isinstance(node, Fence) and node.bracket == "(":
            node = _without_ordinal(node.inside)
        return node if isinstance(node, Number | Sum) or (isinstance(node, Name) and not node.subscripts) else None
    if text.isdecimal():
        return printed_number(text, 0, 0)
    number = number_of_word(text)
    return Name(text) if number is None else printed_number(str(number), 0, 0)


def number_of_word(word: str) -> int | None:
    """Return 3 of "third" and of 三; None for any other word."""
    for words in (ORDINALS, NUMERALS):
        if word.lower() in words:
            return words.index(word.lower()) + 1
    return None


def pair_of(words: Sentence, start: int, end: int) -> tuple[Node, Node] | None:
    """Return the two indices that a stretch names: `(i, j)` as a formula or in words, or `ij`."""
    text = words.text[start:end]
    if text != FORMULA:
        inner, comma = text.strip("()（） "), max(text.find(","), text.find("，"))
        first = start + text.index(inner[0])
        cut = start + comma
        second = cut + 1 + len(words.text[cut + 1 : end]) - len(words.text[cut + 1 : end].lstrip())
        one = place_of(words, first, first + len(words.text[first:cut].rstrip()))
        two = place_of(words, second, second + len(words.text[second:end].rstrip(")） ")))
        return (one, two) if one is not None and two is not None else None
    node = _without_ordinal(words.nodes[start])
    if isinstance(node, Listed):
        items = node.items
    elif isinstance(node, Product):
        items = subscripts((node,))
    else:
        return None
    if len(items) != 2 or not all(isinstance(each, Name | Number | Sum) for each in items):
        return None
    return items[0], items[1]


def _without_ordinal(node: Node) -> Node:
    r"""Return i of `i^{\text{th}}` and of `i\text{-th}`."""
    match node:
        case Name(superscripts=(*rest, last)) if _spelled(last) in _ENDINGS:
            return replace(node, superscripts=tuple(rest))
        case Power(base=base, exponent=exponent) if _spelled(exponent) in _ENDINGS:
            return base
        case Product(factors=(first, last), operators=("",)) if _spelled(last) in _ENDINGS:
            return first
    return node


def _spelled(node: Node) -> str:
    """Return the letters of a node, `th` of the product of t and h."""
    if sum(1 for _ in node.walk()) > 3:
        return ""
    spelled = (each for each in node.walk() if isinstance(each, Name | Words))
    parts = (each.text if isinstance(each, Words) else each.base for each in spelled)
    return "".join(parts).strip(" -").lower()


def matrix_of(words: Sentence, start: int, end: int) -> Node:
    """Return the array that a formula, a capital letter, or a word for what goes in and comes out names."""
    if words.text[start] == FORMULA:
        return words.nodes[start]
    text = words.text[start:end]
    if len(text) == 1:
        return Name(text)
    return INPUT if text.lower().startswith(_INPUTS) else OUTPUT
