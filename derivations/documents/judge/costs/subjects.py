"""The words that tell what a count in a document is about: parts of a Transformer, quantities and sizes.

Definition   a part is named by words (English, Chinese in both scripts, Japanese) and has layers of the package, from
             which its costs are counted; a quantity is parameters, operations, the key-value cache or activations
Result       `parts_named(text)`, `quantity_named(text)`; `MEANINGS` and `PLAIN_LETTERS` say which sizes letters are
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sympy import Symbol

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.grouped_query import grouped_query_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.documents.syntax import Name, Node, Words
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language.layers.layer import Layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import N, batch, d_ff, d_k, d_model, d_v, h, n, vocab
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder_layer

__all__ = [
    "MEANINGS",
    "PARTS",
    "PLAIN_LETTERS",
    "QUANTITIES",
    "Part",
    "parts_named",
    "quantity_named",
    "words_of",
]


@dataclass(frozen=True)
class Part:
    """A part of a Transformer: its name, the words for it, its layers, and the ids of the results on its costs."""

    name: str
    words: tuple[str, ...]
    layers: tuple[tuple[str, Callable[[], Layer]], ...]
    parameters: str | None = None
    operations: str | None = None


PARTS: tuple[Part, ...] = (
    Part(
        "gated feed-forward network",
        ("swiglu", "geglu", "reglu", "gated", "glu", "gate_proj", "门控", "門控", "ゲート付き"),
        (("three matrices", gated_feed_forward), ("with biases", lambda: gated_feed_forward(biases=True))),
        "feed_forward.swiglu_parameters",
        "feed_forward.swiglu_parameters",
    ),
    Part(
        "feed-forward network",
        ("feed-forward", "feed forward", "feedforward", "ffn", "mlp", "前馈", "前饋", "前向传递", "前向傳遞", "全连接",
         "全連接", "フィードフォワード", "順伝播"),
        (("two matrices", feed_forward),),
        "feed_forward.parameters",
        "feed_forward.flops",
    ),
    Part(
        "multi-head attention",
        ("attention", "mha", "多头", "多頭", "注意力", "アテンション", "注意機構", "マルチヘッド"),
        (("four matrices", multi_head_attention), ("with biases", lambda: multi_head_attention(biases=True)),
         ("scores and weighted sums", scaled_dot_product_attention), ("in groups", grouped_query_attention)),
        "multi_head.parameters",
        "multi_head.cost_equals_one_head",
    ),
    Part(
        "layer norm",
        ("layernorm", "layer norm", "layer normalization", "layer normalisation", "层归一化", "層歸一化", "层正则化",
         "層正則化", "層正規化", "レイヤー正規化"),
        (("gamma and beta", layer_norm),),
        "rms_norm.cost",
        None,
    ),
    Part("root-mean-square norm", ("rmsnorm", "rms norm"), (("gamma", rms_norm),), "rms_norm.cost", None),
    Part(
        "embedding",
        ("embedding", "嵌入", "词表", "詞表", "埋め込み"),
        (("a row for each token", embedding),),
        None,
        None,
    ),
    Part(
        "layer",
        ("layer", "block", "每层", "每層", "一层", "一層", "层", "層", "レイヤー", "ブロック"),
        (("an encoder layer", encoder_layer), ("a decoder layer", decoder_layer)),
        "parameters.encoder_layer",
        "flops.encoder_layer",
    ),
)  # fmt: skip

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "parameters": ("parameter", "params", "number of weights", "参数", "參數", "权重数", "權重數", "パラメータ"),
    "operations": (
        "flop", "mac", "multiply-add", "multiply-accumulate", "multiplication", "operation", "compute", "computation",
        "cost", "complexity", "计算量", "計算量", "运算", "運算", "浮点", "浮點", "乘加", "演算",
    ),
    "cache": (
        "kv cache", "kv-cache", "key-value cache", "kv 缓存", "kv缓存", "kv 快取", "kv快取", "kvキャッシュ",
        "kv キャッシュ",
    ),
}  # fmt: skip

#: Words for what the forward pass keeps, where no other quantity is named.
ACTIVATIONS = (
    "activation memory", "activations", "激活值", "激活内存", "激活記憶體", "激活显存", "激活顯存", "中间激活",
    "中間激活", "活性値", "アクティベーション",
)  # fmt: skip

#: Our sizes by what a scope calls a letter.
MEANINGS: Mapping[str, tuple[Symbol, ...]] = {
    "model width": (d_model,),
    "hidden width": (d_ff,),
    "key width": (d_k,),
    "value width": (d_v,),
    "head width": (d_k,),
    "width": (d_model, d_k),
    "number of heads": (h,),
    "number of layers": (N,),
    "sequence length": (n,),
    "batch size": (batch,),
    "vocabulary size": (vocab,),
}
#: What letters usually are where nothing is said of them.
PLAIN_LETTERS: Mapping[str, tuple[Symbol, ...]] = {
    "d": (d_model, d_k),
    "n": (n,),
    "L": (n, N),
    "T": (n,),
    "S": (n,),
    "s": (n,),
    "N": (n, N),
    "l": (N,),
    "h": (h, d_model),
    "H": (h, d_model),
    "a": (h,),
    "B": (batch,),
    "b": (batch,),
    "V": (vocab,),
}
PARTS_OF_A_LAYER = {part.name for part in PARTS} - {"layer", "embedding"}
_TAKEN = "\0"  # where the words of a part of a layer stood


def quantity_named(text: str) -> str | None:
    """Return the quantity that a text names, or None if it names none.

    Of several quantities it is the cache if the text names it, else None.
    """
    text = text.lower()
    found = [name for name, words in QUANTITIES.items() if any(word in text for word in words)]
    if not found and any(word in text for word in ACTIVATIONS):
        return "activations"
    return "cache" if "cache" in found else found[0] if len(found) == 1 else None


#: Words with those of a layer in them: layers of a network, and the layer that a part of it belongs to.
_NO_LAYER = re.compile(
    r"(?:linear|dense|hidden|two|fully[ -]connected)[ -]layers?"
    r"|(?:线性|線性|隐藏|隱藏|两|兩|全连接|全連接|線形|隠れ|中間)[层層]"
)
_OF_A_LAYER = re.compile(
    r"(?:in|of|for) (?:each|every|a|one) layer|per[ -]layer|each layer's|[每各][层層][的の]|各層では"
)


def parts_named(text: str) -> tuple[Part, ...]:
    """Return the parts that a text names. The words "the FFN layer" name the network, not the layer."""
    text = _NO_LAYER.sub(" ", text.lower())
    found: list[Part] = []
    for part in PARTS:
        words = sorted(part.words, key=len, reverse=True)
        if part.name == "layer":
            layers = f"(?:{'|'.join(words)})"
            text = _OF_A_LAYER.sub(" ", text) if _TAKEN in text else text
            text = re.sub(rf"{_TAKEN}\s?{layers}|{layers}[ -]?{_TAKEN}", " ", text)
        if any(word in text for word in words):
            found.append(part)
            for word in words:
                text = text.replace(word, _TAKEN if part.name in PARTS_OF_A_LAYER else " ")
    return tuple(found)


def words_of(node: Node) -> str:
    """Return the words in a formula as one text, without single ASCII letters."""
    found = (
        part.base if isinstance(part, Name) else part.text for part in node.walk() if isinstance(part, Name | Words)
    )
    return " ".join(word.replace("_", " ") for word in found if len(word) > 1 or not word.isascii())
