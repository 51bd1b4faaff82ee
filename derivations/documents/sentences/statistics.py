r"""Moments in words: "the variance of $q \cdot k$ is $d_k$", 點積的標準差就是 $\sqrt{d_k}$, 内積の分散は 1 に戻る.

Definition   a word for a moment with what it is of, named behind it ("of ..."), before it, or in the sentence before,
             and the value that is given to it: by a copula, by "has", or right behind it. Divided by $\sqrt{d_k}$, a
             dot product is the quotient
Result       `said_moments(sentence, subject)` yields the two sides, `Var(q . k)` and $d_k$; what is of anything but a
             dot product, is denied, compared, or a condition, is left out
Assumes      whoever speaks of scores does not say whether they were scaled: of them nothing is refuted
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.statistics_formulas import dot_product_of, value_of
from derivations.documents.sentences.statistics_subjects import MOST_WORDS, VALUES, Subject, subject_at
from derivations.documents.sentences.statistics_words import Token
from derivations.documents.syntax import Call, Name, Node, Number, Quotient

__all__ = ["SaidMoment", "said_moments", "says_unit_variance", "subject_of"]

MOMENTS = {"variance": "Var", "deviation": "Std", "mean": "E"}
LINKS = ("copula", "back", "has", "of", "determiner")


@dataclass(frozen=True)
class SaidMoment:
    """A moment with the value that is given to it, and where the sentence says so; `sure` of what it is a moment of."""

    left: Call
    right: Node
    start: int
    end: int
    sure: bool


def said_moments(sentence: Sentence, tokens: Sequence[Token], before: Subject | None = None) -> Iterator[SaidMoment]:
    """Yield the moments that a sentence gives values to; `before` is the dot product that was spoken of before."""
    said = 0
    for place, token in enumerate(tokens):
        found = subject_at(sentence, tokens, place, before) if token.kind in MOMENTS else None
        if found is None:
            continue
        subject, behind = found
        value = _value(tokens, behind)
        if value is None and place and tokens[place - 1].kind in ("unit", "zero"):
            value = place - 1
        if value is None or _is_hedged(tokens, min(place, value), max(place, value)):
            continue
        divided = _divided(sentence, tokens, place, max(place, value), subject)
        if divided is not None:
            first = min(subject.start, token.start, tokens[value].start)
            named = first >= said and any(each.start == first and each.kind != "comma" for each in tokens)
            start = first if named else _next(tokens, max(first, said), token)
            said = max(token.end, tokens[value].end)
            left = Call(Name(MOMENTS[token.kind]), (divided.node,))
            yield SaidMoment(left, value_of(sentence, tokens[value]), start, said, divided.sure)


def _next(tokens: Sequence[Token], said: int, token: Token) -> int:
    """Return where words go on behind what was said, commas and the like left out."""
    following = (each for each in tokens if each.start >= said and each.kind not in ("comma", "and", "determiner"))
    return min(next(following, token).start, token.start)


def subject_of(sentence: Sentence, tokens: Sequence[Token], before: Subject | None) -> Subject | None:
    """Return the dot product that the next sentence may go on with; None where it was divided, or is not the subject.

    Assumes      it is sure where this sentence gives a moment of it
    """
    if any(token.kind in ("divide", "multiply", "scale", "scaled") for token in tokens):
        return None
    said = list(said_moments(sentence, tokens, before))
    if said:
        (node,) = said[-1].left.arguments
        return Subject(node, said[-1].sure)
    dots = [token for token in tokens if token.kind == "dot"]
    return Subject(dot_product_of(sentence, dots[-1]), sure=False) if dots else None


def says_unit_variance(tokens: Sequence[Token]) -> bool:
    """Say whether a sentence gives variance 1 to the components of vectors."""
    for place, token in enumerate(tokens):
        if token.kind == "variance":
            near = (*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 3])
            if any(each.kind == "unit" or (each.kind == "number" and each.text == "1") for each in near):
                return any(each.kind == "component" for each in tokens[:place])
    return False


# --- its value ---


def _value(tokens: Sequence[Token], at: int) -> int | None:
    """Return the place of the value that follows a moment."""
    words, linked = 0, False
    for place in range(at, min(at + 8, len(tokens))):
        token = tokens[place]
        if token.kind in VALUES:
            following = tokens[place + 1 : place + 2]
            if (words or token.kind in ("unit", "zero")) and not linked:
                return None
            whole = not following or following[0].kind not in ("value", "number", "formula", "array", "dot")
            return place if whole else None
        if token.kind in LINKS:
            linked = linked or token.kind in ("copula", "back")
            continue
        if token.kind in ("divide", "multiply"):
            words = 0
            return _value(tokens, place + 3) if _operand(tokens, place) is not None else None
        words += 1
        if token.kind != "word" or words > MOST_WORDS:
            return None
    return None


def _is_hedged(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Say whether the clause around denies, compares or supposes what is said."""
    while first > 0 and not _ends_clause(tokens[first - 1]):
        first -= 1
    while last + 1 < len(tokens) and not _ends_clause(tokens[last + 1]):
        last += 1
    return any(token.kind in ("hedge", "negation", "condition") for token in tokens[first : last + 1])


def _ends_clause(token: Token) -> bool:
    return token.kind == "comma" or token.text == "、"


# --- divided by what ---


def _divided(sentence: Sentence, tokens: Sequence[Token], place: int, last: int, subject: Subject) -> Subject | None:
    """Return a dot product divided as the sentence says; None where it does not say whether it is, or by what.

    Assumes      "scaled by a root" may mean divided by it: it is not sure
    """
    for at, token in enumerate(tokens):
        if token.kind not in ("divide", "multiply", "scale"):
            continue
        if at > last and not any(each.kind == "after" for each in tokens[last + 1 : at]):
            continue  # "the variance is d_k, so we divide"
        around = tokens[max(min(at - 2, place), 0) : max(at, place)]
        operand = _operand(tokens, at)
        doubtful = any(each.kind in ("reason", "negation", "condition") for each in around)
        if operand is None or doubtful or isinstance(subject.node, Quotient):
            return None
        by = value_of(sentence, tokens[operand])
        if token.kind == "multiply" or (token.kind == "scale" and isinstance(by, Quotient)):
            by = Quotient(Number("1", Fraction(1)), by)
        return replace(subject, node=Quotient(subject.node, by), sure=subject.sure and token.kind != "scale")
    return subject


def _operand(tokens: Sequence[Token], at: int) -> int | None:
    """Return the place of what is divided by: "divide ... by V", 除以 V, V で割る."""
    for place in range(at + 1, min(at + 8, len(tokens))):
        if tokens[place].kind in ("value", "number"):
            return place
        if tokens[place].kind in ("comma", "variance", "deviation", "mean", "array", "formula"):
            break
    if tokens[at].text[:1] in "割掛か":
        for place in range(at - 1, max(at - 4, -1), -1):
            if tokens[place].kind in ("value", "number"):
                return place
    return None
