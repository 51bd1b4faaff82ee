r"""Of what a moment is: "the variance of the dot product", 「$QK^T$ 的每一個元素的變異數」, "it has variance".

Definition   the subject stands behind the moment with "of", or before it: the last that is named, where nothing else is
             named between; it may be that of the sentence before where this one names none
Result       `subject_at` is the dot product that a moment is of, and where words go on behind it; None for all else
Assumes      whoever speaks of scores does not say whether they were scaled: it is not sure
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.statistics_formulas import dot_product_of
from derivations.documents.sentences.statistics_words import Token
from derivations.documents.syntax import Node

__all__ = ["MOST_WORDS", "VALUES", "Subject", "subject_at"]

VALUES = ("value", "number", "unit", "zero")
DOTS = ("dot", "scaled", "scores")
COMPLEMENTS = ("of", "between", "array", "and", "determiner", "word", "component")
MOST_WORDS = 4  # of no list between a moment and its subject, or its value


@dataclass(frozen=True)
class Subject:
    """A dot product that is spoken of, `sure` if nothing else can be meant, and where in the sentence it is named."""

    node: Node
    sure: bool
    start: int = 0


def subject_at(
    sentence: Sentence, tokens: Sequence[Token], place: int, before: Subject | None
) -> tuple[Subject, int] | None:
    """Return what a moment is of, and where words go on behind it."""
    behind = place + 1
    if behind < len(tokens) and tokens[behind].kind == "of":
        at = _skip(tokens, behind + 1, ("determiner", "word", "and"), 3)
        if at < len(tokens) and tokens[at].kind == "component":
            at = _of_array(tokens, at)
        if at < len(tokens) and tokens[at].kind in DOTS:
            end = _last_dot(tokens, at)
            return _named(sentence, tokens[end]), _complement(tokens, end + 1)
        if at >= len(tokens) or tokens[at].kind not in VALUES:
            return None
    subject = _subject_before(sentence, tokens, place, before)
    return (subject, behind) if subject is not None else None


def _of_array(tokens: Sequence[Token], at: int) -> int:
    """Return the place of the array whose entries are named: `entries of $QK^T$`."""
    behind = _skip(tokens, at + 1, ("of", "determiner"), 0)
    return behind if behind < len(tokens) and tokens[behind].kind == "dot" else at


def _last_dot(tokens: Sequence[Token], at: int) -> int:
    r"""Return the last of the names of one dot product: "the dot product $q \cdot k$", "(QK^T)"."""
    end = at
    for next_one in range(at + 1, min(at + 4, len(tokens))):
        if tokens[next_one].kind == "dot":
            end = next_one
        elif tokens[next_one].kind not in ("comma", "of"):
            break
    return end


def _complement(tokens: Sequence[Token], at: int) -> int:
    """Return the place behind "of $q$ and $k$", "between both vectors"."""
    if at < len(tokens) and tokens[at].kind in ("of", "between"):
        return _skip(tokens, at + 1, COMPLEMENTS, MOST_WORDS)
    return at


def _skip(tokens: Sequence[Token], at: int, kinds: Sequence[str], most_words: int) -> int:
    """Return the place of the first token that is of none of these kinds, over a few words of no list."""
    words = 0
    while at < len(tokens) and tokens[at].kind in kinds:
        words += tokens[at].kind == "word"
        if words > most_words:
            break
        at += 1
    return at


def _named(sentence: Sentence, token: Token) -> Subject:
    """Return the dot product that a token names; a chain is a claim of its own, behind which the remark starts."""
    chain = token.kind == "dot" and token.start in sentence.statements and token.start not in sentence.nodes
    return Subject(dot_product_of(sentence, token), token.kind != "scores", token.end if chain else token.start)


def _subject_before(sentence: Sentence, tokens: Sequence[Token], place: int, before: Subject | None) -> Subject | None:
    """Return the last subject that stands before a moment, where nothing else is the subject in between."""
    words, verb, complement = 0, False, False
    of_something = place > 0 and tokens[place - 1].kind == "of"
    for at in range(place - 1, -1, -1):
        kind = tokens[at].kind
        if kind in DOTS:
            near = tokens[at + 1].kind in ("of", "between") if complement else verb or of_something or not words
            return _named(sentence, tokens[at]) if near else None
        if kind == "component":
            array = _of_array(tokens, at)
            array = _array_before(tokens, at) if array == at else array
            return _named(sentence, tokens[array]) if array != at else None
        words += kind == "word"
        if kind in ("unit", "zero") and tokens[at + 1].kind not in ("mean", "variance", "deviation"):
            return None  # of unit vectors
        if kind in ("formula", "softmax") or words > MOST_WORDS or (complement and kind not in COMPLEMENTS):
            return None
        if kind == "array":
            if not verb:
                return None
            complement = True
        verb = verb or kind in ("has", "copula")
    return None if words or of_something or complement or before is None else replace(before, start=tokens[place].start)


def _array_before(tokens: Sequence[Token], at: int) -> int:
    """Return the place of the array before the word for its entries: 「$QK^T$ 的每一個元素」."""
    for back in range(at - 1, max(at - 4, -1), -1):
        if tokens[back].kind == "dot":
            return back
        if tokens[back].kind not in ("of", "determiner", "word") or tokens[back].text.isascii():
            break
    return at
