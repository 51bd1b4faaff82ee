r"""Words that say "is the same as" between two phrases, and what may stand around a phrase that is told so.

Definition   a copula is all that stands between two phrases: "is", "也就是", "=", or は with である behind
Result       `relation_between` says how two neighbours are related; `is_left_whole` whether the words in front of the
             first and behind the second leave them whole: "the rank of $Q$ is", "is $q$ times $k$" do not
Assumes      what is not known to leave a phrase whole is taken to change it: the statement is not read then
"""

from __future__ import annotations

import re

from derivations.documents.judge.rows.dependence import ONLY_ON
from derivations.documents.sentences.phrases import FORMULA
from derivations.documents.sentences.places import ARRAY, VECTOR

__all__ = ["is_doubted", "is_explained", "is_left_whole", "relation_between"]

FARTHEST = 60
_ARROW = r"(?:(?:→|⇒|->|=>|\\(?:long)?(?:right|Right)arrow)\s{0,3})"
_ASIDE = r"(?:(?:by|from)\s[^,，]{3,30}[,，]\s{0,2}|(?:根據|根据|依照|按照|依)[^,，]{1,16}[,，]\s{0,2})"
_HEDGE = r"(?:(?:just|simply|exactly|precisely|nothing but|also|then|therefore|thus|again)\s{1,3})?"
_ENGLISH = (
    r"(?:[,，]?\s{0,3}(?:which|this|that|it|and this)\s{1,3})?"
    rf"(?:is|are|equals?|will be|denotes?|represents?)\s{{1,3}}{_HEDGE}"
    r"(?:(?:equal to|the same as|given by|called|denoted(?: by)?|identical to)\s{1,3})?(?:the\s{1,3}|a\s{1,3})?"
    r"|[,，]\s{0,3}(?:i\.e\.|namely|that is|in other words)\s{0,2}[,，]?\s{0,3}(?:the\s{1,3})?"
)
_CHINESE = (
    r"[,，]?\s{0,3}(?:[這这它其此])?(?:[就也便亦恰正]|恰好|剛好|刚好|正好)?"
    r"(?:會是|会是|是|等於|等于|等同於|等同于|表示|代表|為|为|即是|即為|即为|即|記為|记为|稱為|称为)\s{0,3}|[,，]\s{0,3}也就是說?[,，]?\s{0,3}"
)
_BETWEEN = re.compile(rf"\s{{0,3}}{_ARROW}?{_ASIDE}?(?:{_ENGLISH}|{_CHINESE}|[=＝])\s{{0,3}}", re.IGNORECASE)
_JAPANESE = re.compile(r"\s{0,3}(?:は|が|、すなわち|、つまり)、?\s{0,3}(?:ちょうど)?\s{0,3}")
_JAPANESE_ENDS = re.compile(
    r"\s{0,3}(?:である|です|であり|で、|だ[。、]|を表す|を表し|を示す|に等しい|と等しい|となる|になる|と一致する|に一致する|と同じ|に他ならない|と呼)"
)


_ONLY_BETWEEN = re.compile(
    r"\s{0,3}(?:(?:depends?|is\s{1,3}determined)\s{1,3}(?:only|solely|exclusively)\s{1,3}(?:on|by)"
    r"|(?:only|solely)\s{1,3}depends?\s{1,3}on|is\s{1,3}(?:only|solely)\s{1,3}determined\s{1,3}by)\s{1,3}(?:the\s{1,3})?"
    r"|\s{0,3}[只僅仅](?:由|依賴於?|依赖于?|取決於|取决于|和|與|与)\s{0,3}|\s{0,3}は、?\s{0,3}",
    re.IGNORECASE,
)
_ONLY_ENDS = re.compile(
    r"\s{0,3}(?:決定|决定|有關|有关|相關|相关|のみ(?:に依存|で決ま|から計算)|だけ(?:に依存|で決ま|から計算))"
)


def relation_between(text: str, first: int, second: int) -> str | None:
    """Return "=" where words say that two neighbours are the same, `ONLY_ON` where the second makes the first."""
    if second - first - 1 > FARTHEST:
        return None
    between = text[first + 1 : second]
    if _BETWEEN.fullmatch(between) or (_JAPANESE.fullmatch(between) and _JAPANESE_ENDS.match(text, second + 1)):
        return "="
    if _ONLY_BETWEEN.fullmatch(between) and (
        _ONLY_ENDS.match(text, second + 1) or not re.search("[由和與与は]", between)
    ):
        return ONLY_ON
    return None


_OPENS = re.compile(  # what may stand in front of a phrase
    r"(?:^|[,，、:：;；(（「『“\"*\n>]|[-–—]\s|\\?(?:right|Right)arrow|→|⇒"
    r"|\b(?:and|so|then|that|thus|hence|where|here|while|but|therefore|because|since|now|again|means|recall|note|say|see"
    r"|know|whose|with|if|have|get|consequently|clearly|obviously|likewise|similarly|the|matrix|vector|product)"
    r"|其中|而|則|则|那麼|那么|因此|所以|這裡|这里|即|也就是|並且|并且|且|於是|于是|此時|此时|可知|知道|說|说|故|得到?"
    rf"|{ARRAY}|{VECTOR}"
    r"|ここで|つまり|すなわち|よって|したがって|また|なお|このとき|だから|ゆえに)\s{0,3}$",
    re.IGNORECASE,
)
_CLOSES = re.compile(  # what may stand behind one
    r"\s{0,3}(?:$|[,，、:：;；.。)）」』”\"*\n!！|]|[-–—]\s|\\?(?:right|Right)arrow|→"
    r"|\b(?:and|so|which|where|since|because|for|in|when|if|as|while|then|thus|hence"
    r"|therefore|but|by definition|here|under)\b"
    r"|因為|因为|所以|因此|而|且|並|并|其中|了|吧"
    r"|決定|决定|有關|有关|相關|相关|のみ|だけ|である|です|であり|で、|だ|を表|を示|に等しい|と等しい|となる|になる|と一致|に一致|と同じ|に他なら|と呼)",
    re.IGNORECASE,
)
_BINDS = re.compile(  # what makes a phrase in front of which it stands a part of something else
    r"(?:[的之の對对把將将與与和跟及除乘由從从到在無无非不とにでをへ]|から|以外"
    r"|\b(?:of|in|for|from|to|by|than|between|times|plus|minus|per|over|on|at|into|not|except|or|without|unlike|like|both"
    r"|every|each|any|some|no))\s{0,3}(?:the\s{0,3})?$",
    re.IGNORECASE,
)
_NEAR = 40


def is_left_whole(text: str, first: int, last: int, *, in_words: bool) -> bool:
    """Say whether the words around a chain of phrases leave the first and the last as they are.

    A phrase that is in words itself says what it is of: in front of it only what binds is refused.
    """
    before = text[max(first - _NEAR, 0) : first]
    opened = _OPENS.search(before) or (in_words and not _BINDS.search(before) and not before.strip().isascii())
    return bool(opened and _CLOSES.match(text, last + 1))


_DOUBTS = re.compile(
    r"\b(?:if|suppose|assume|assuming|unless|whether|were|would|could|might|instead of|rather than|let)\b"
    r"|\b(?:for some|some|any|certain|arbitrary|random|randomly|corresponding|chosen|selected|sampled|retrieved)\b"
    r"|某|任意|隨機|随机|對應|对应|ランダム|対応"
    r"|\b(?:permut|shuffl|sort|reorder|re-order|revers|rearrang|shift|swap|exchang|renumber)"
    r"|打亂|打乱|重排|排列|置換|置换|排序|交換|交换|移位|並べ替え|並び替え|入れ替え|シャッフル|逆順"
    r"|假設|假设|如果|假如|若|是否|倘若|設|要是|仮定|もし|ならば|とする|とすれば|かどうか|嗎|吗|[?？]",
    re.IGNORECASE,
)


_EXPLAINS = re.compile(
    r"\b(?:where|with|such that|for which|whenever|provided)\b|其中|使得|ここで|ただし", re.IGNORECASE
)


def is_explained(behind: str) -> bool:
    """Say whether what stands behind a chain tells what its letters are, so that they need not be what they seem."""
    return bool(_EXPLAINS.search(behind))


def is_doubted(text: str) -> bool:
    """Say whether a sentence asks or supposes what it says, or tells of another order, so that it need not be so."""
    return bool(_DOUBTS.search(text.replace(FORMULA, " ")))
