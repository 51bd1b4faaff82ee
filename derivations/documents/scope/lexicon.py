r"""The words by which documents say what a letter is, in English, Chinese (both scripts) and Japanese.

Definition   a meaning is recognised by its groups: a phrase has the meaning if it holds a word of every group, so that
             "the dimension of each key vector" and "鍵向量的維度" are both the key width. Words, no sentences
Assumes      phrases in lower case; the first meaning of the list that fits is taken
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = [
    "COPULAS", "IF", "LEADS", "LENGTHS", "SHAPE_WORDS", "SIZES", "VECTOR_WORDS", "VERBS", "WHERE", "WIDTHS",
    "ends_with_word", "has_word",
    "meaning_of", "spelled_meaning", "starts_with_word",
]  # fmt: skip

Group = tuple[str, ...]

_WIDTH: Group = (
    "dimension", "dimensions", "dimensionality", "width", "size", "dim", "features", "units", "channels",
    "維度", "维度", "維數", "维数", "寬度", "宽度", "大小", "次元", "次元数", "次元數", "幅", "サイズ", "ユニット数",
)  # fmt: skip
_NUMBER: Group = ("number", "count", "數量", "数量", "個數", "个数", "數目", "数目", "數", "数", "個", "个")
_LENGTH: Group = ("length", "長度", "长度", "長さ", "長", "long")
_KEY: Group = ("key", "keys", "query", "queries", "鍵", "键", "查詢", "查询", "キー", "クエリ")
_VALUE: Group = ("value", "values", "值", "バリュー", "値")
_FEED_FORWARD: Group = (
    "feed-forward", "feedforward", "ffn", "inner", "intermediate", "hidden layer", "mlp", "前饋", "前馈", "隱藏層",
    "隐藏层", "中間", "中间", "中間層", "フィードフォワード", "順伝播",
)  # fmt: skip
_MODEL: Group = (
    "model", "embedding", "embeddings", "hidden", "feature", "input", "token", "word", "residual", "representation",
    "模型", "嵌入", "詞向量", "词向量", "特徵", "特征", "輸入", "输入", "隱藏", "隐藏", "モデル", "埋め込み", "隠れ",
    "特徴", "入力",
)  # fmt: skip
_SEQUENCE: Group = (
    "sequence", "token", "tokens", "context", "sentence", "positions", "words", "序列", "句子", "文本", "詞元", "词元",
    "系列", "シーケンス", "文", "トークン", "入力列",
)  # fmt: skip
_HEADS: Group = ("head", "heads", "頭", "头", "ヘッド")

#: Meanings of a size, with the groups that tell them; what is more special stands before what is more general.
SIZES: tuple[tuple[str, tuple[Group, ...]], ...] = (
    ("number of heads", (_HEADS, _NUMBER)),
    ("head width", (_HEADS, _WIDTH)),
    ("key width", (_KEY, _WIDTH)),
    ("value width", (_VALUE, _WIDTH)),
    ("hidden width", (_FEED_FORWARD, _WIDTH)),
    ("vocabulary size", (("vocabulary", "vocab", "詞彙", "词汇", "詞表", "词表", "字典", "語彙", "ボキャブラリ"),)),
    ("batch size", (("batch", "批次", "批量", "批", "バッチ"),)),
    ("number of layers", (("layers", "blocks", "層", "层"), _NUMBER)),
    ("sequence length", (_SEQUENCE, _LENGTH)),
    ("sequence length", (_SEQUENCE, _NUMBER)),
    ("model width", (_MODEL, _WIDTH)),
    ("width", (_WIDTH,)),
    ("sequence length", (_LENGTH,)),
    ("number of heads", (("heads", "ヘッド", "注意力頭", "注意力头"),)),
)

#: Meanings of arrays.
ARRAYS: tuple[tuple[str, tuple[Group, ...]], ...] = (
    ("bias", (("bias", "偏置", "偏差項", "バイアス"),)),
    ("weight", (("weight", "weights", "projection matrix", "權重", "权重", "重み"),)),
    ("query", (("query", "queries", "查詢", "查询", "クエリ"),)),
    ("key", (("key", "keys", "鍵", "键", "キー"),)),
    ("value", (("value", "values", "值", "バリュー"),)),
    ("output", (("output", "outputs", "輸出", "输出", "出力"),)),
    ("input", (("input", "inputs", "輸入", "输入", "入力", "token", "tokens", "embedding", "詞向量", "词向量"),)),
    ("position", (("position", "positions", "位置"),)),
    ("index", (("index", "索引", "添字"),)),
)

#: Words that stand between a letter and what it is.
COPULAS: Group = (
    "is", "are", "be", "denotes", "denote", "represents", "represent", "means", "stands for", ":", "：", "=", "—", "–",
    "-", "是", "為", "为", "表示", "代表", "指", "即", "は", "が", "を", "（", "(", ",", "，", "、", "the", "a", "an",
)  # fmt: skip

#: Words right before a letter that give it what stands before them: 層數為 $L$, 層数を $L$.
LEADS: Group = ("為", "为", "是", "記為", "记为", "記作", "记作", "を")

#: Words by which a sentence states what a letter is.
VERBS: Group = (
    "is", "are", "denotes", "denote", "represents", "represent", "means", "stands for", "是", "為", "为", "表示",
    "代表", "指", "は",
)  # fmt: skip

#: Words that open an explanation of the letters of the formula before.
WHERE: Group = (
    "where", "with", "here", "in which", "其中", "這裡", "这里", "式中", "ここで", "ただし",
)  # fmt: skip

#: Words before an equation that is a condition and says nothing by itself.
IF: Group = (
    "if", "iff", "when", "unless", "whenever", "only if", "如果", "若", "當", "当", "只有", "もし",
)  # fmt: skip

SHAPE_WORDS: Group = (
    "shape", "shapes", "size", "dimension", "dimensions", "dimensionality", "matrix", "matrices", "tensor", "array",
    "維度", "维度", "維", "维", "形狀", "形状", "大小", "尺寸", "矩陣", "矩阵", "張量", "张量", "次元", "行列",
    "サイズ", "テンソル", "配列",
)  # fmt: skip

VECTOR_WORDS: Group = ("vector", "vectors", "向量", "矢量", "ベクトル", "嵌入", "embedding")

#: Sizes that code and papers spell out, by their name without underscores and in lower case.
SPELLED: Mapping[str, str] = {
    **dict.fromkeys(("dmodel", "hiddensize", "nembd", "embeddim", "embdim", "dembed", "demb", "dm"), "model width"),
    **dict.fromkeys(("dff", "dffn", "dhidden", "dmlp", "intermediatesize", "ffndim", "dimff"), "hidden width"),
    **dict.fromkeys(("seqlen", "seqlength", "sequencelength", "numtokens", "ntokens", "contextlength", "nctx"),
                    "sequence length"),
    **dict.fromkeys(("batchsize", "batch", "bsz", "nbatch"), "batch size"),
    **dict.fromkeys(("nheads", "numheads", "nhead", "numattentionheads"), "number of heads"),
    **dict.fromkeys(("nlayers", "nlayer", "numlayers", "numhiddenlayers"), "number of layers"),
    **dict.fromkeys(("vocabsize", "nvocab", "dvocab"), "vocabulary size"),
    **dict.fromkeys(("dk", "dq", "dqk", "dkey"), "key width"),
    **dict.fromkeys(("dv", "dvalue"), "value width"),
    **dict.fromkeys(("dhead", "headdim", "dh", "headsize"), "head width"),
}  # fmt: skip

LENGTHS = frozenset({"sequence length", "batch size", "number of layers", "number of heads", "vocabulary size"})
WIDTHS = frozenset({"model width", "hidden width", "key width", "value width", "head width", "width"})

_LATIN = re.compile(r"[a-z][a-z-]*")


def has_word(phrase: str, words: Group) -> bool:
    """Return whether a phrase in lower case holds one of the words: Latin ones as whole words, others anywhere."""
    latin: set[str] | None = None
    for word in words:
        if word[0].isascii() and word.isalpha():
            latin = set(_LATIN.findall(phrase)) if latin is None else latin
            if word in latin:
                return True
        elif word in phrase:
            return True
    return False


def starts_with_word(text: str, words: Group) -> bool:
    """Return whether a text begins with one of the words, Latin ones as whole words, whatever their case."""
    text = text.lstrip(" \n\t*_(（,，").lower()
    if not text.startswith(words):
        return False
    return any(text.startswith(word) and not (word.isascii() and text[len(word) :][:1].isalpha()) for word in words)


def ends_with_word(text: str, words: Group) -> bool:
    """Return whether a text ends with one of the words, Latin ones as whole words, whatever their case."""
    text = text.rstrip(" \n\t*_`(（").lower()
    return any(text.endswith(word) and not (word.isascii() and text[: -len(word)][-1:].isalpha()) for word in words)


def meaning_of(phrase: str) -> frozenset[str]:
    """Return the meanings in a phrase: one meaning of a size, or else all meanings of arrays."""
    phrase = phrase.lower()
    sizes = next((name for name, groups in SIZES if all(has_word(phrase, group) for group in groups)), None)
    if sizes is not None:
        return frozenset({sizes})
    return frozenset(name for name, groups in ARRAYS if all(has_word(phrase, group) for group in groups))


def spelled_meaning(key: str) -> str | None:
    """Return the meaning of a size by the spelling of its name, such as `d_model` or `seq_len`, or None."""
    return SPELLED.get(key.replace("_", "").lower())
