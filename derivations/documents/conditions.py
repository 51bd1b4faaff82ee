"""Words around a formula that turn it into a condition: "this holds only if", "when b is 0", 若, のとき.

Result       `is_condition(statement)`: whether such words stand in front of a formula, or after it;
             `is_conclusion(statement)`: whether a word in front says that the formula follows: "so", 所以;
             `is_operand(statement)`: whether words apply an operation to its first side: "derivative of"
"""

from __future__ import annotations

import re

from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Name, Number

__all__ = ["SPECIAL", "is_conclusion", "is_condition", "is_operand"]

#: Words for matrices that have properties of their own, by which sides may be equal; orthogonal ones are read.
SPECIAL = re.compile(
    r"\bcommut|\bsymmetr|\bdiagonal|\borthogonal|\borthonormal|\bpermut|\bunitary|\bidempotent|\bprojection matri"
    r"|\bHermitian|\binvolut|\breflection|\bHouseholder|\bHadamard matri|\bcovariance|\bproportional"
    r"|交換|交换|可換|对称|對稱|対称|对角|對角|対角|正交|直交|置換|置换|反射|鏡映|镜像|鏡像",
    re.IGNORECASE,
)

CONDITION = re.compile(
    r"(?:\b(?:if|when|where|whenever|unless|until|suppose|assume|require|solve|only|let|for|set"
    r"|si|se|sea|soit|pour|wenn|falls|sei|für|eğer|если|пусть|при|nếu|khi|cho|만약)|条件|若|如果|假设|假設|当|當|令|要求"
    r"|もし|とき)\W{0,3}$",
    re.IGNORECASE,
)
CONDITION_BEHIND = re.compile(
    r"[^\w.!?]{0,3}(?:(?:holds?|exactly|only|just|is true|precisely)\s){0,2}"
    r"(?:if|iff|when|whenever|unless|provided|where)\b"
    r"|[^\w.。!?！？]{0,3}(?:のとき|ならば|当且仅当|當且僅當|なら|当|當|仅当|僅當|ise\b|이면|일\s?때)"
    r"|\s*(?:[→⇒⟹⟶]|[-=]>)",  # what follows from it
    re.IGNORECASE,
)
#: Words for an operation, of which the first side after them is the operand: "derivative of x^n = n x^{n-1}".
OPERATION = re.compile(
    r"\b(?:derivatives?|differential|integral|gradient|log|logarithm|square(?: root)?|root|inverse|transpose|mean"
    r"|average|norm|variance|standard deviation|expectation|exponential|dérivée|derivada|Ableitung|производная)"
    r" (?:of|de|von|от)(?: the| la| der)?\s*$",
    re.IGNORECASE,
)
CONCLUSION = re.compile(
    r"(?:\b(?:so|thus|hence|therefore|then|we (?:have|get|see|obtain)|which (?:gives|means)|donc|also|portanto|luego)\b"
    r"|所以|因此|于是|於是|故|得|つまり|よって|따라서)\W{0,3}$",
    re.IGNORECASE,
)


def is_condition(statement: Statement) -> bool:
    """Return whether the words before or after a formula turn it into a condition."""
    before, behind = _words_around(statement)
    in_front = CONDITION.search(before[-40:])
    if in_front is not None and in_front[0].lower().startswith("where") and _defines(statement.chain):
        in_front = None  # "where a = b + c" explains a
    return in_front is not None or CONDITION_BEHIND.match(behind[:40]) is not None


def is_operand(statement: Statement) -> bool:
    """Return whether words in front of a formula apply an operation to its first side."""
    return OPERATION.search(_words_around(statement)[0][-40:]) is not None


def is_conclusion(statement: Statement) -> bool:
    """Return whether a word in front of a formula says that it follows from what was said."""
    return CONCLUSION.search(_words_around(statement)[0][-40:]) is not None


def _words_around(statement: Statement) -> tuple[str, str]:
    """Return the prose before and after a formula, where there is any."""
    passages = statement.block.passages
    at = statement.block.number_of(statement.passage) or 0
    before, behind = (
        passages[number].text if 0 <= number < len(passages) and not passages[number].is_formula else ""
        for number in (at - 1, at + 1)
    )
    return before, behind


def _defines(chain: Chain) -> bool:
    """Return whether a chain begins with a name or a function, followed by a formula that defines it."""
    first, *others = chain.sides
    return isinstance(first, Name | Call) and bool(others) and not isinstance(others[0], Name | Number)
