"""The compute of training, `C = 6 N D`, by the passes: 2 forward, 4 backward for each parameter and token.

Units        FLOPs, a multiply-add being 2
Source       Kaplan et al. (2020), as `derivations.costs.published.kaplan` holds it, with what it leaves out
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from sympy import Expr, Mul

from derivations.costs.published.formulas import published
from derivations.documents.judge.costs.count_words import Said
from derivations.documents.judge.costs.subjects import QUANTITIES
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_training"]

CHECK = "counting"
TOKENS = ("token", "词元", "詞元", "トークン")
TRAINING = (  # and the laws of scaling, which are about it
    "train", "训练", "訓練", "学習", "chinchilla", "scaling law", "compute-optimal", "缩放定律", "縮放定律",
    "スケーリング則",
)  # fmt: skip
ONE_PASS = (
    "forward", "backward", "pass", "infer", "generat", "decod", "前向", "反向", "正向", "推理", "推論", "推断", "生成",
    "前傳", "前传", "順伝播", "逆伝播",
)  # fmt: skip
NO_PASS = re.compile(  # words with those of a pass in them, and both passes together
    r"feed[ -]?forward|forward (?:pass )?(?:and|plus|\+) (?:the |a )?backward pass(?:es)?|順伝播と逆伝播"
    r"|前向(?:传播|傳播|传递|傳遞)?[和与與及]反向(?:传播|傳播|传递|傳遞)?"
    r"|(?:two|three|[23])(?: times|x| ?×)(?: (?:as much as|that of|the cost of))?(?: (?:the|a|one))? forward(?: pass)?"
)
NO_TRAINING = re.compile(
    r"train\w* (?:token|data|set|corp|text|sequence|example|sample)|(?:训练|訓練)(?:数据|資料|集|语料)|学習データ"
)
PARAMETERS, TOKEN_LETTERS = ("N", "P"), ("D", "T")  # as Kaplan et al. (2020) and others call them


def check_training(left: Node, counted: Expr, said: Said, near: str, scope: Scope) -> Iterator[Finding]:
    """Decide `C = 6 N D` for N parameters and D tokens, which the texts `near` may say too."""
    factor, rest = counted.as_coeff_Mul()
    names = sorted(str(symbol) for symbol in rest.free_symbols)
    if rest.is_Pow and rest.exp == 2 and left == Name("C"):
        others = [other for other in (*PARAMETERS, *TOKEN_LETTERS) if scope.is_used(Name(other))]
        yield from _squared(factor, names[0], others, said, near)
        return
    if rest != Mul(*rest.free_symbols) or names not in [sorted(pair) for pair in product(PARAMETERS, TOKEN_LETTERS)]:
        return
    words = said.left if left != Name("") else said.beside
    if not isinstance(left, Name) or (left.base != "C" and not _named(QUANTITIES["operations"], (words,))):
        return
    formula = published("kaplan.six_n_d")
    whole, forward = _whole(), published("kaplan.two_n").expression.as_coeff_Mul()[0]
    passes = {whole: "", forward: "the forward pass alone", whole - forward: "the backward pass alone"}
    of_passes = [text for text in passes.values() if text and text.split()[1] in words.lower()]
    of_one_pass = of_passes if len(of_passes) == 1 else []  # a forward and a backward pass are the whole
    left_out = tuple(f"{each.cost} {each.why}" for each in formula.departures)
    expected = next((key for key, text in passes.items() if text in of_one_pass), whole)
    other_pass = not of_one_pass and factor in passes and not _is_of_training(said, near)
    if factor == expected or other_pass:
        assumptions = tuple(filter(None, (passes[factor] if not of_one_pass else "", *left_out)))
        reason = f"{factor} FLOPs for each parameter and token"
        yield Finding("conditional", CHECK, reason, result="flops.published_kaplan", assumptions=assumptions)
    elif factor not in (expected / 2, whole + forward, 1) and _counts_tokens(said, near):
        right = str(expected * rest).replace("*", " ")
        what = passes[expected] if of_one_pass else "a forward and a backward pass"
        reason = f"{what}: {expected} FLOPs for each parameter and token"
        yield Finding("wrong", CHECK, reason, right=right, result="flops.published_kaplan")


def _squared(factor: Expr, letter: str, used: Sequence[str], said: Said, near: str) -> Iterator[Finding]:
    """Say no to `C = 6 D D` in a text on training that uses one letter for the other number as well."""
    others = PARAMETERS if letter in TOKEN_LETTERS else TOKEN_LETTERS if letter in PARAMETERS else ()
    told = [each for each in others if each in used]
    is_training = _named(TRAINING, (*said.texts, near)) and _counts_tokens(said, near)
    if factor == _whole() and len(told) == 1 and is_training:
        reason = f"every token takes part with every parameter: {told[0]} belongs beside {letter}"
        yield Finding("wrong", CHECK, reason, right=f"{factor} {told[0]} {letter}", result="flops.published_kaplan")


def _whole() -> Expr:
    """Return the FLOPs of training for each parameter and token."""
    return published("kaplan.six_n_d").expression.as_coeff_Mul()[0]


def _is_of_training(said: Said, near: str) -> bool:
    """Say whether training is spoken of, and no pass by itself: in the clause or the sentence, or anywhere around."""
    texts = [NO_PASS.sub(" ", text.lower()) for text in (*said.texts, near)]
    for each in (said.clause, said.sentence):
        told = NO_TRAINING.sub(" ", NO_PASS.sub(" ", each.lower()))
        if _named(TRAINING, (told,)) and not _named(ONE_PASS, (told,)):
            return True
    return _named(TRAINING, said.texts) and not _named(ONE_PASS, texts)


def _counts_tokens(said: Said, near: str) -> bool:
    """Say whether tokens are spoken of, farther away beside operations alone."""
    return _named(TOKENS, said.texts) or (_named(TOKENS, (near,)) and _named(QUANTITIES["operations"], (near,)))


def _named(words: tuple[str, ...], texts: Sequence[str]) -> bool:
    return any(word in text.lower() for text in texts for word in words)
