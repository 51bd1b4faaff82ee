"""Bytes for each parameter, `16 P`: weights, gradients, the state of Adam, and all of them together.

Result       conditional  what a weight, a gradient or the state of the optimiser takes in some precision: named
             wrong        weights alone, in a precision that is named, with another number of bytes
             nothing      for anything else: what is kept and in which precision is for the author to say
Units        bytes
Source       Rajbhandari, Rasley, Ruwase and He (2020), section 3.1, as `derivations.costs.memory` holds it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Expr, Symbol

from derivations.costs.counts import BYTES
from derivations.documents.judge.costs.count_words import Said
from derivations.documents.syntax import Node
from derivations.documents.verdicts import Finding
from derivations.language.counting.memory_counts import training_state_bytes

__all__ = ["MEMORY", "check_bytes"]

CHECK = "counting"
LETTERS = frozenset({"P", "N", "Psi", "Phi", "params", "n_params", "num_params", "parameters"})
MEMORY = ("byte", "memory", "字节", "字節", "显存", "顯存", "内存", "內存", "記憶體", "メモリ", "バイト")
PARAMETERS = ("parameter", "params", "参数", "參數", "パラメータ")
WEIGHTS = ("weight", "parameter", "params", "model", "权重", "權重", "参数", "參數", "重み", "パラメータ")
GRADIENTS = ("gradient", "梯度", "勾配")
OPTIMISER = ("optimi", "adam", "moment", "优化器", "優化器", "最適化")
TRAINING = ("train", "total", "训练", "訓練", "总", "總", "共", "学習", "合計")
PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "float32": ("fp32", "float32", "single precision", "single-precision", "单精度", "單精度", "単精度"),
    "float16": ("fp16", "float16", "half precision", "half-precision", "半精度"),
    "bfloat16": ("bf16", "bfloat16"),
    "int8": ("int8",),
}  # fmt: skip
OTHERS = ("mixed", "混合", "int4", "4-bit", "4bit", "8-bit", "8bit", "nf4", "fp8")
SHARED = (  # words by which it may be a part, or a multiple, of the weights
    "gpu", "device", "shard", "split", "half of", "each", "every", "twice", "double", "times", "copies", "more", "less",
    "save", "每", "分", "倍", "副本", "台",
)  # fmt: skip

#: What of a parameter takes how many bytes: all of training, and what is left of it without weight and gradient.
_STATES = {
    "in mixed precision": int(training_state_bytes(1)),
    "in mixed precision, with gradients of 4 bytes": int(training_state_bytes(1, gradients=4)),
    "in full precision": int(training_state_bytes(1, mixed=False)),
}
_ADAM = {
    "with a copy of the weight": int(training_state_bytes(1)) - 2 * BYTES["float16"],
    "two moments": int(training_state_bytes(1, mixed=False)) - 2 * BYTES["float32"],
}


def check_bytes(left: Node, counted: Expr, said: Said) -> Iterator[Finding]:
    """Yield what is found of bytes for each parameter."""
    number, letter = counted.as_coeff_Mul()
    near = f"{said.left} {said.sentence} {said.headers}".lower()
    if not isinstance(letter, Symbol) or str(letter) not in LETTERS or not _named(MEMORY, near):
        return
    if not _named(PARAMETERS, " ".join(said.texts).lower()):
        return
    precisions = {name for name, words in PRECISIONS.items() if _named(words, near)}
    what = next(_readings(near, int(number) if number.is_Integer else 0, precisions), None)
    if what is not None:
        reason = f"{number} bytes for each parameter: {what}"
        yield Finding("conditional", CHECK, reason, result="memory.training_state", assumptions=(what,))
        return
    alone = not _named((*GRADIENTS, *OPTIMISER, *TRAINING, *OTHERS, *SHARED), near)
    sizes = {BYTES[name] for name in precisions}
    if alone and len(sizes) == 1 and _named(WEIGHTS, near):
        (size,) = sizes
        reason = f"a weight in {' or '.join(sorted(precisions))} takes {size} bytes, not {number}"
        yield Finding("wrong", CHECK, reason, right=f"{size} {letter}", result="memory.training_state")


def _readings(near: str, number: int, precisions: set[str]) -> Iterator[str]:
    """Yield what so many bytes for each parameter may be, by the words around."""
    if _named(OPTIMISER, near) or _named(TRAINING, near):
        yield from (f"training by Adam {how}" for how, size in _STATES.items() if size == number)
    if _named(OPTIMISER, near):
        yield from (f"the state of Adam in single precision, {how}" for how, size in _ADAM.items() if size == number)
    else:
        named = precisions or set(BYTES)
        what = "gradients" if _named(GRADIENTS, near) else "weights"
        if _named((*GRADIENTS, *WEIGHTS), near):
            yield from (f"{what} in {name}" for name in PRECISIONS if name in named and BYTES[name] == number)


def _named(words: tuple[str, ...], text: str) -> bool:
    return any(word in text for word in words)
