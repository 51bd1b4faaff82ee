"""What a count in a document may be of: parts of a Transformer with their words, and the costs that the equations give.

Definition   a part is named by words (English, Chinese in both scripts, Japanese); its costs are counted from the layer
             of the package, in the sizes of the package; a quantity is parameters, operations or the key-value cache
Result       `costs(part, quantity)` are the costs that a document may mean, with the result of the catalogue
Units        parameters; FLOPs in products, a multiply-add being 2; numbers of the cache
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from sympy import Expr, Symbol, expand

from derivations.attention import scaled_dot_product_attention
from derivations.decoder import decoder_layer
from derivations.documents.syntax import Name, Node, Words
from derivations.embedding import embedding
from derivations.encoder import encoder_layer
from derivations.feed_forward import feed_forward
from derivations.gated_feed_forward import gated_feed_forward
from derivations.grouped_query_attention import cache as cached
from derivations.grouped_query_attention import grouped_query_attention
from derivations.language.costs import Count
from derivations.language.layer import Layer
from derivations.layer_norm import layer_norm
from derivations.multi_head import multi_head_attention
from derivations.rms_norm import rms_norm
from derivations.symbols import N, batch, d, d_ff, d_k, d_model, d_v, h, m, n, vocab

__all__ = [
    "MEANINGS",
    "PARTS",
    "PLAIN_LETTERS",
    "QUANTITIES",
    "Cost",
    "Part",
    "costs",
    "parts_named",
    "quantity_named",
    "words_of",
]


@dataclass(frozen=True)
class Cost:
    """A cost of a part: the expression, what it is, and the result that proves it."""

    value: Expr
    of: str
    result: str | None = None


@dataclass(frozen=True)
class Part:
    """A part of a Transformer: its name, its words, its layers, with the results for parameters and for operations."""

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


def _counted(what: str, layer: Layer) -> Expr:
    value = Count(what, layer, batch) if what != "parameters" else Count(what, layer)
    return expand(value.value().xreplace({m: n, d: d_model}))


@cache
def costs(part: str, quantity: str) -> tuple[Cost, ...]:
    """Return what a document may mean by a quantity of a part: for one layer, and for all N of them."""
    (found,) = (each for each in PARTS if each.name == part)
    if quantity == "cache":
        return _caches()
    what = "parameters" if quantity == "parameters" else "matmul FLOPs"
    result = found.parameters if quantity == "parameters" else found.operations
    one = [(name, _counted(what, layer())) for name, layer in found.layers]
    some = [Cost(value, f"{found.name} ({name})", result) for name, value in one if value != 0]
    return (*some, *(Cost(expand(N * each.value), f"{each.of}, in N layers", each.result) for each in some))


@cache
def _caches() -> tuple[Cost, ...]:
    """Return the numbers of the cache of a layer, and its bytes at 2 and 4 for a number."""
    heads = expand(cached(multi_head_attention()) / m)
    groups = expand(cached(grouped_query_attention()) / m)
    ways = (("heads", heads), ("groups", groups))
    return tuple(
        Cost(expand(size * layers * length * value), f"key-value cache of all {name}{suffix}", "memory.key_value_cache")
        for name, value in ways
        for size, suffix in ((1, ""), (2, ", 2 bytes for a number"), (4, ", 4 bytes for a number"))
        for layers in (1, N)
        for length in (1, n, n * batch)
    )


def quantity_named(text: str) -> str | None:
    """Return the quantity that a text names, the cache before the others; None for none or for several."""
    text = text.lower()
    found = [name for name, words in QUANTITIES.items() if any(word in text for word in words)]
    return "cache" if "cache" in found else found[0] if len(found) == 1 else None


def parts_named(text: str) -> tuple[Part, ...]:
    """Return the parts that a text names, without those whose words are only part of other words."""
    text = text.lower()
    found: list[Part] = []
    for part in PARTS:
        if any(word in text for word in part.words):
            found.append(part)
            for word in sorted(part.words, key=len, reverse=True):
                text = text.replace(word, " ")
    if any(part.name in PARTS_OF_A_LAYER for part in found):
        found = [part for part in found if part.name != "layer"]  # "the FFN layer"
    return tuple(found)


def words_of(node: Node) -> str:
    """Return the words in a name, apart from letters."""
    found = (
        part.base if isinstance(part, Name) else part.text for part in node.walk() if isinstance(part, Name | Words)
    )
    return " ".join(word.replace("_", " ") for word in found if len(word) > 1 or not word.isascii())
