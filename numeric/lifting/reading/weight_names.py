"""The names that modules give to weights: words in their paths for each word in the layers' names.

Names only order the search for the reading of a module. A run, and then the judge, decides about each reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sympy import Symbol

__all__ = ["SIZES", "alike", "joined_parts", "size_word", "stands_first"]

SIZES: Mapping[str, tuple[str, ...]] = {  # attributes of modules and configurations that hold a size
    "h": ("num_attention_heads", "num_heads", "n_heads", "n_head", "nhead", "heads", "encoder_attention_heads"),
    "g": ("num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_local_heads", "kv_heads"),
    "r": ("num_key_value_groups", "n_rep", "num_queries_per_kv"),
    "d_k": ("head_dim", "attention_head_size", "head_size", "d_kv", "dim_head", "d_head"),
}

_STACKS = ("encoder", "decoder")

_PARTS: Mapping[str, tuple[str, ...]] = {  # of a layer
    "attention": ("attn", "attention", "self", "selfattention"),
    "feed": ("mlp", "ffn", "ff", "feed", "linear", "fc", "dense", "intermediate"),
    "cross": ("cross", "encdec", "encoder"),
    "query": ("q", "query"),
    "key": ("k", "key"),
}
_WEIGHTS: Mapping[str, tuple[str, ...]] = {  # of a part
    "gate": ("gate", "w1"),
    "up": ("up", "w3"),
    "down": ("down", "w2"),
    "Q": ("q", "query", "wq", "in", "qkv", "c"),
    "K": ("k", "key", "wk", "in", "qkv", "c"),
    "V": ("v", "value", "wv", "in", "qkv", "c"),
    "O": ("o", "out", "output", "wo", "dense", "proj"),
    "1": ("1", "linear1", "fc1", "fc", "in", "wi", "intermediate", "h"),
    "2": ("2", "linear2", "fc2", "proj", "out", "output", "wo", "4h"),
    "router": ("gate", "router"),
}
_NORMS = ("norm", "ln", "layernorm", "rmsnorm")


def size_word(symbol: Symbol) -> str:
    """Return the name of a size without the stack that it belongs to: h of h_decoder."""
    name = str(symbol)
    word, _, stack = name.rpartition("_")
    return word if stack in _STACKS else name


@lru_cache(maxsize=8192)
def alike(path: str, name: str) -> int:
    """Return a score of how well the path of a module's weight matches the name of a layer's weight.

    Norms are told from other weights, and from one another by the part that they belong to. A path with `post` leaves
    that open: `post_attention_layernorm` may stand after the attention or in front of the network. Such norms are
    tried in the order in which they are used.
    """
    words, wanted = _words(path), name.replace(".", "_").split("_")
    norm = _is_norm(words)
    stored_bias, bias = "bias" in words, bool({"b", "beta"} & set(wanted))
    known = 4 * (stored_bias == bias)
    if norm != bool({"gamma", "beta"} & set(wanted)):
        return known - 8
    if norm:
        words |= {"attention"} if "input" in words else set()  # the norm of what a block is given
        told = ("query", "key") if "post" in words else ("query", "key", "attention", "feed")
        return known + sum(bool(words & set(_PARTS[word])) for word in wanted if word in told)
    known += sum(bool(words & set(_PARTS[word])) for word in wanted if word in _PARTS)
    return known + 2 * _letter_fits(words, name)


_EITHER_FIRST = ({"gate", "up"},)  # timm's SwiGLUPacked stores the gate first, its GluMlp last


def stands_first(one: str, other: str, path: str) -> bool | None:
    """Return whether the first of two weights in the layer's order is the first part of the array that stores both.

    None where implementations differ, and the path does not say it, as `gate_up_proj` does.
    """
    roles = [name.rpartition("_")[2] for name in (one, other)]
    if set(roles) not in _EITHER_FIRST:
        return True
    places = [path.lower().find(role) for role in roles]
    return None if -1 in places else places[0] < places[1]


_JOINED = {3: ("qkv", "wqkv", "query_key_value", "c_attn", "in_proj"), 2: ("gate_up", "gate_and_up")}


def joined_parts(path: str) -> int:
    """Guess from a path how many weights of a layer it holds, such as three for `qkv_proj`."""
    return next((parts for parts, words in _JOINED.items() if any(word in path.lower() for word in words)), 1)


def _letter_fits(words: frozenset[str], name: str) -> bool:
    """Return whether the words of a path include one that modules use for this weight, such as `wq` for `W_Q`."""
    letter = name.rpartition(".")[2].rpartition("_")[2]
    return bool(words & set(_WEIGHTS.get(letter, ())))


def _is_norm(words: frozenset[str]) -> bool:
    return any(word.startswith(kind) or word.endswith(kind) for word in words for kind in _NORMS)


@lru_cache(maxsize=4096)
def _words(path: str) -> frozenset[str]:
    """Return the words of a path, split at dots, at underscores and where lower case changes to upper case."""
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path).lower().split(".")
    return frozenset(word for part in parts for word in (part, *part.split("_")) if word)
