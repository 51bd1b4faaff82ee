"""Identifiers of plain text and code as tokens: `batch_size` is a word, `d_model` the letter d with a label.

Definition   `W1` and `W_1` alike are the letter W with a subscript; in plain text `QK` and `xW` are two letters side by
             side, in code never; `torch.relu` is `relu`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.letters import identifier, is_word
from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.tokens import Token
from derivations.documents.syntax import Number

__all__ = ["identifier_tokens"]

_NAME = re.compile(r"(?P<base>[A-Za-z]+?)(?P<digits>\d+)?(?P<rest>(?:_[A-Za-z0-9]+)*)(?P<tail>_*)\Z")
_ROW_OR_PRODUCT = re.compile(r"[A-Z]{2,3}\Z|[a-z][A-Z]\Z|[A-Z][xhyz]\Z|[A-Z]{2}[a-z]\Z")
_DIFFERENTIAL = re.compile(r"d[A-Z]\Z")


def _integer(digits: str, start: int) -> Token:
    number: Number = printed_number(digits, start, start + len(digits))
    return Token("number", digits, start, start + len(digits), False, "", number)


def identifier_tokens(
    name: str, start: int, spaced: bool, code: bool, tokens: list[Token], following: str
) -> Iterator[Token]:
    """Yield the tokens of an identifier: its letters, words and subscripts."""
    end = start + len(name)
    while "." in name and name.partition(".")[0] in words.MODULES:  # the module says nothing of the formula
        dropped = name.index(".") + 1
        name, start = name[dropped:], start + dropped
    if name.startswith("_") and name.strip("_") and tokens and not spaced:  # `softmax(x)_i`
        yield from _labels([label for label in name.split("_") if label], start + 1)
        return
    if "." in name:
        owner, _, method = name.rpartition(".")
        yield from identifier_tokens(owner, start, spaced, code, tokens, ".")
        yield Token("method", method, end - len(method), end)
        return
    bare = name.removesuffix("_")
    if bare in words.BIG and bare != "inf" and (following == "^" or bare != name):
        yield Token("big", words.BIG[bare], start, start + len(bare), spaced)
        if bare != name:
            yield Token("_", "_", end - 1, end)
        return
    if name.strip("_") == "" or not (match := _NAME.match(name)):
        if set(name) == {"_"} and tokens and not spaced:
            yield Token("_", "_", start, end)
            return
        yield Token("word", name, start, end, spaced)
        return
    base, digits, labels, tail = match["base"], match["digits"], match["rest"][1:].split("_"), match["tail"]
    labels = [label for label in labels if label]
    if base in words.BIG and base not in ("inf",) and labels and not digits and not code:
        yield Token("big", words.BIG[base], start, start + len(base), spaced)
        yield from _labels(labels, start + len(base) + 1)
        return
    differential = bool(_DIFFERENTIAL.match(base))  # `dW1` is dW with a subscript
    letters = base in words.GREEK or len(base) == 1 or differential
    word = not letters and not _splits(base, code)
    if word and (digits or (labels and not identifier(name.rstrip("_"))[1])):
        yield Token("word", name.rstrip("_"), start, end - len(tail), spaced)
        if tail:
            yield Token("_", "_", end - 1, end)
        return
    if letters or not _splits(base, code):
        kind = "word" if differential or not letters else "letter"
        yield Token(kind, base, start, start + len(base), spaced)
    else:
        for offset, letter in enumerate(base):
            yield Token("letter", letter, start + offset, start + offset + 1, spaced and not offset)
    place = start + len(base)
    if digits:
        yield Token("_", "_", place, place)
        if labels:
            yield Token("{", "_", place, place, False, "argument")
        yield _integer(digits, place)
        place += len(digits)
        for label in labels:
            yield Token("comma", ",", place, place + 1)
            yield from _label(label, place + 1)
            place += len(label) + 1
        if labels:
            yield Token("}", "}", place, place)
    elif labels:
        yield from _labels(labels, place + 1)
    if tail:
        yield Token("_", "_", end - 1, end)


def _splits(base: str, code: bool) -> bool:
    """Return whether a run of letters in plain text is several letters side by side, and not a word."""
    if code or len(base) == 1 or is_word(base):
        return False
    return bool(_ROW_OR_PRODUCT.match(base)) and not base.startswith("d") and base not in words.WORDS


def _labels(labels: list[str], start: int) -> Iterator[Token]:
    """Yield a subscript: one label, or labels between commas as in `W_{i,q}`."""
    yield Token("_", "_", start - 1, start)
    if len(labels) == 1:
        yield from _label(labels[0], start)
        return
    yield Token("{", "_", start, start, False, "argument")
    for number, label in enumerate(labels):
        if number:
            yield Token("comma", ",", start - 1, start)
        yield from _label(label, start)
        start += len(label) + 1
    yield Token("}", "}", start - 1, start - 1)


def _label(label: str, start: int) -> Iterator[Token]:
    if label.isdigit():
        yield _integer(label, start)
    else:
        yield Token("letter" if len(label) == 1 else "word", label, start, start + len(label))
