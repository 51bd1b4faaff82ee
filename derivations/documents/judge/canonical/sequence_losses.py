r"""The loss of a language model: `L = -\frac{1}{T} \sum_{t=1}^T \log p(x_t \mid x_{<t})`.

Definition   minus the logarithm of the probability of a sequence, or its mean over the tokens: a sum over the tokens,
             each given those before it
Result       holds for the sum and for the mean; wrong where the minus is missing, the probabilities have no logarithm,
             or a token is given itself
Assumes      L, J and words such as loss and NLL are losses where the words around do not speak of what is to be large
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.judge.arrays.left_sides import word_of
from derivations.documents.judge.canonical.losses import SIGN
from derivations.documents.judge.canonical.sequence_probabilities import (
    GIVEN_ITSELF,
    probability_of,
    reach_behind,
    unsigned,
)
from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Name, Negative, Node, Number, Product, Quotient
from derivations.documents.verdicts import Finding

__all__ = ["check_sequence_losses"]

CHECK = "probability"
LOSSES = frozenset({"l", "loss", "ell", "ℓ", "j", "nll", "ce"})
LARGE = ("likelihood", "maximi", "objective", "reward", "似然", "最大化", "目标函数", "目標函數", "尤度", "目的関数")
NAMED = frozenset({"loss", "nll", "ce"})
END_OF_SENTENCE = re.compile(r"[.。!?；;]\s*")
NEGATIVE = ("negative", "minus", "minimi", "loss", "nll", "负", "負", "最小化", "损失", "損失")


def check_sequence_losses(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether a loss is minus the logarithm of the probability of a sequence."""
    if link is None or statement.chain.relations[link] not in ("=", ":=") or statement.is_equivalent:
        return
    left, right = statement.chain.sides[link : link + 2]
    sign, inner = unsigned(right)
    total = _total(inner)
    if total is None or not _is_loss(left):
        return
    outer, whole = total
    token = probability_of(whole.body)
    ahead = reach_behind(token, whole.index[0]) if token is not None else None
    if token is None or ahead not in (0, 1):
        return
    if ahead == 0:
        yield Finding("wrong", CHECK, GIVEN_ITSELF)
    elif token.logged and sign * outer * token.sign < 0:
        yield Finding(
            "holds", CHECK, "minus the logarithms of the probabilities of the tokens, each given those before"
        )
    elif token.logged and _is_small(left, statement, scope):
        yield Finding("wrong", CHECK, SIGN, link_text(left, Negative(right), statement))
    elif not token.logged and sign * outer * token.sign < 0 and _is_small(left, statement, scope):
        yield Finding("wrong", CHECK, "a loss adds the logarithms of the probabilities: the logarithm is missing")


def _is_loss(left: Node) -> bool:
    """Say whether a left side is a loss, or the loss of parameters."""
    name = left.function if isinstance(left, Call) else left
    return isinstance(name, Name) and (name.base.lower() in LOSSES or word_of(name) in LOSSES)


def _is_small(left: Node, statement: Statement, scope: Scope) -> bool:
    """Say whether the sentence in front calls a loss so, or its name does, and nothing around is to be large."""
    texts = scope.document.texts
    around = " ".join((*texts[max(scope.block - 2, 0) : scope.block + 2], scope.words(statement))).lower()
    if any(word in around for word in LARGE):
        return False
    name = left.function if isinstance(left, Call) else left
    before = texts[scope.block - 1] if scope.block else ""
    sentence = END_OF_SENTENCE.split(before.strip())[-1] + texts[scope.block]
    return word_of(name) in NAMED or any(word in sentence.lower() for word in NEGATIVE)


def _total(node: Node) -> tuple[int, Aggregate] | None:
    """Return a sum over tokens with the sign of what is in front of it, 1 or one part in their number."""
    match node:
        case Aggregate(kind="sum", index=(_,)):
            return 1, node
        case Product(factors=(Quotient(numerator=Number(value=one), denominator=count), rest)) if one == 1:
            return _mean(count, rest)
        case Quotient(numerator=rest, denominator=count):
            return _mean(count, rest)
    return None


def _mean(count: Node, rest: Node) -> tuple[int, Aggregate] | None:
    """Return a sum that is divided by the number of its terms, as far as the sum tells it."""
    sign, whole = unsigned(rest)
    if not isinstance(whole, Aggregate) or whole.kind != "sum" or len(whole.index) != 1:
        return None
    return (sign, whole) if whole.upper in (None, count) and isinstance(count, Name) else None
