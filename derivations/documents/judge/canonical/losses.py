r"""Measures of a distribution that lack the sign or the exponential: `H(p) = \sum_i p_i \log p_i`, `PPL = L`.

Definition   the logarithm of a probability is not positive, so that an entropy or a cross-entropy has a minus in front;
             perplexity is the exponential of a loss, and not the loss or a multiple of it
Result       wrong where the sign or the exponential is missing; nothing else is said
Assumes      H of one letter is the entropy of it, H of two their cross-entropy; another letter is a cross-entropy where
             the words around call it so, and speak of no likelihood and of nothing that is negative
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from derivations.documents.judge.arrays.left_sides import plain, word_of
from derivations.documents.judge.canonical.surroundings import CROSS_ENTROPY, LIKELIHOOD, NEGATIVE
from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
)
from derivations.documents.verdicts import Finding

__all__ = ["SIGN", "check_losses"]

LARGEST = ("maximi", "最大")
SHARED = ("negentropy", "neg-entropy", "boltzmann")
LOSSES = frozenset({"l", "ell", "ℓ", "loss", "j", "ce", "nll", "h"})
PERPLEXITY = frozenset({"ppl", "perplexity"})
RESULT = "softmax.cross_entropy_gradient"
MOST_TERMS = 16
EQUAL = ("=", ":=", "≡", "←")
CHECK = "canonical"
EXPONENTIAL = "perplexity is the exponential of the loss, and the exponential is missing"
SIGN = "the logarithm of a probability is not positive: the minus in front is missing"


def check_losses(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield a finding if a perplexity lacks its exponential, or an entropy its sign."""
    if link is None or statement.chain.relations[link] not in EQUAL:
        return
    left, right = statement.chain.sides[link : link + 2]
    if word_of(left) in PERPLEXITY:
        if _is_loss_itself(right, scope):
            mended = Call(function=Name("exp"), arguments=(right,))
            yield Finding("wrong", CHECK, EXPONENTIAL, link_text(left, mended, statement), RESULT)
    elif isinstance(left, Name | Call) and _lacks_sign(left, right, statement, scope):
        yield Finding("wrong", CHECK, SIGN, link_text(left, Negative(right), statement), RESULT)


def _lacks_sign(left: Name | Call, right: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether an entropy or a cross-entropy lacks its minus: its logarithms have nonnegative weights."""
    if not any(isinstance(part, Call) and _is_logarithm(part) for part in right.walk()):
        return False
    logarithms = list(islice(_weighted_logarithms(plain(right)), MOST_TERMS))
    weighed = [each for each in logarithms if each is not None]
    words = scope.words(statement).lower()
    if not weighed or len(weighed) < len(logarithms) or any(word in words for word in (*NEGATIVE, *SHARED)):
        return False
    return _is_entropy(left, weighed) or (_is_loss(left) and _is_told(words) and _is_summed(right))


def _is_loss_itself(right: Node, scope: Scope) -> bool:
    """Return whether a right side is a loss or a multiple of one, and not the exponential of one."""
    loss = plain(right)
    match loss:
        case Product(factors=(Number(), Name() as inside)) | Quotient(numerator=Name() as inside, denominator=Number()):
            loss = inside
    if not isinstance(loss, Name):
        sums = [part for part in loss.walk() if isinstance(part, Aggregate) and part.kind == "sum"]
        logarithms = [part for each in sums for part in each.walk() if isinstance(part, Call) and _is_logarithm(part)]
        return bool(logarithms) and not any(map(_is_exponential, loss.walk()))
    if loss.base.lower() not in LOSSES:
        return False
    parts = (part for defined in scope.definitions(loss) for part in defined.walk())
    return not any(map(_is_exponential, parts))  # the letter may be that of the perplexity itself


def _is_exponential(part: Node) -> bool:
    return isinstance(part, Power | Root) or (isinstance(part, Call) and word_of(part) == "exp")


def _is_loss(left: Node) -> bool:
    return isinstance(left, Name) and left.base.lower() in LOSSES


def _is_told(words: str) -> bool:
    """Return whether the words around name a cross-entropy, and no quantity to maximise."""
    return any(word in words for word in (*CROSS_ENTROPY, "crossentropy")) and not any(
        word in words for word in (*LIKELIHOOD, *LARGEST)
    )


def _is_summed(right: Node) -> bool:
    return any(isinstance(part, Aggregate) for part in right.walk())


def _is_entropy(left: Node, weighed: list[tuple[Node, Node]]) -> bool:
    """Return whether the left side is the entropy of the distribution on the right, or the cross-entropy of two."""
    if not isinstance(left, Call) or left.function.base != "H" or left.function.subscripts:
        return False
    given = [each.base for each in left.arguments if isinstance(each, Name)]
    pairs = {(_base(weight), _base(inside)) for weight, inside in weighed}
    if len(given) == len(left.arguments) == 1:
        return pairs == {(given[0], given[0])} and all(plain(weight) == plain(inside) for weight, inside in weighed)
    return len(given) == len(left.arguments) == 2 and pairs == {(given[0], given[1])}


def _base(node: Node) -> str:
    """Return the letter of a probability, in p_i, p(x) or 1 - p."""
    match plain(node):
        case Name(base=base) | Call(function=Name(base=base)):
            return base
        case Sum(terms=(Number(), Name(base=base)), signs=(1, -1)):
            return base
    return ""


def _weighted_logarithms(node: Node) -> Iterator[tuple[Node, Node] | None]:
    """Yield the weight and the argument of every logarithm in a sum, and None for every other term."""
    match node:
        case Fence(inside=inside):
            yield from _weighted_logarithms(inside)
        case Aggregate(kind="sum", body=body):
            yield from _weighted_logarithms(body)
        case Sum(terms=terms, signs=signs) if set(signs) == {1}:
            for term in terms:
                yield from _weighted_logarithms(term)
        case Product(factors=(Number() | Quotient(numerator=Number()), inside)):
            yield from _weighted_logarithms(inside)
        case Product(factors=(weight, Call(arguments=(inside,)) as call)) if _is_logarithm(call):
            yield (weight, inside) if _base(weight) and _base(inside) else None
        case Call(arguments=(Call() as inside,)) if _is_logarithm(node):
            yield (inside, inside) if _base(inside) in ("p", "P", "q") else None
        case _:
            yield None


def _is_logarithm(call: Call) -> bool:
    return call.function.base in ("log", "ln")
