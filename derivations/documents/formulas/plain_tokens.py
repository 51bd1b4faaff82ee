"""Plain text and code as tokens: `2 × batch_size × d_model`, `QKᵀ/√d_k`, `torch.relu(x @ w1 + b1)`.

Definition   an identifier is a name: `batch_size` a word, `d_model` the letter d with a label, `W1` and `W_1` alike the
             letter W with a subscript. In plain text `QK` and `xW` are two letters side by side, in code never
Raises       Stopped at a character that is not known
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.letters import identifier, is_word
from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.tokens import MAX_TOKENS, Token, stop
from derivations.documents.syntax import Number

__all__ = ["plain_tokens"]

_LEXEME = re.compile(
    r"""(?P<space>[\s\u3000]+)
    |   (?P<number>\d{1,3}(?:[,\u2009\u202f\u00a0]\d{3}){1,12}(?![,\d]?\d)(?:\.\d+)?|\d+(?:_\d+)+
                  |(?:\d+(?:\.\d+|\.(?=\s*[],;)]))?|\.\d+)(?:[eE][-+]?\d+)?)
    |   (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.(?!T\b|mT\b|H\b)[A-Za-z_][A-Za-z0-9_]*)*)
    |   (?P<transpose>\.(?:T|mT|H)\b(?!\())
    |   (?P<method>(?<=[)\]])\.[A-Za-z_][A-Za-z0-9_]*)
    |   (?P<wide>[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+)
    |   (?P<dots>\.\.\.)
    |   (?P<string>"[^"\n]*"|(?<![\w)\]'′])'[^'\n]*')
    |   (?P<arrow>-+>|=>(?=\s*[\[\w(])|—>)
    |   (?P<pair>\*\*|//|:=|<=|>=|=<|!=|==|~=|<<|>>|\|\||<-)
    |   (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {
    "**": ("^", "**"), "//": ("op", "//"), ":=": ("rel", ":="), "<=": ("rel", "≤"), "=<": ("rel", "≤"),
    ">=": ("rel", "≥"), "!=": ("rel", "≠"), "==": ("rel", "="), "~=": ("rel", "≈"), "<<": ("rel", "≪"),
    ">>": ("rel", "≫"), "||": ("bar", "‖"), "<-": ("rel", "←"),
}  # fmt: skip
_SUFFIX = re.compile(
    rf"(?P<space>[ \u00a0]?)(?P<word>(?:{words.AMOUNT})(?<![A-Za-z])|[A-Za-z]+(?![A-Za-z0-9_(])|[%％])"
)
_NAME = re.compile(r"(?P<base>[A-Za-z]+?)(?P<digits>\d+)?(?P<rest>(?:_[A-Za-z0-9]+)*)(?P<tail>_*)\Z")
_ROW_OR_PRODUCT = re.compile(r"[A-Z]{2,3}\Z|[a-z][A-Z]\Z|[A-Z][xhyz]\Z|[A-Z]{2}[a-z]\Z")
_DIFFERENTIAL = re.compile(r"d[A-Z]\Z")
_REMAINDER = re.compile(r"\s*\d")  # behind `7%`
_FACTOR = re.compile(r"\s*[\w(]")  # behind `7 %`
_SCRIPT_SIGNS = frozenset(words.SUBSCRIPTS) | {"_"}


def plain_tokens(text: str, code: bool) -> list[Token]:
    """Return the tokens of a formula in plain text, or of an expression of code."""
    tokens: list[Token] = []
    spaced, position = False, 0
    while position < len(text):
        match = _LEXEME.match(text, position)
        assert match is not None  # the last alternative is any character
        kind, start, position = match.lastgroup, position, match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "number":
            token = _number(text, match.group(), start, position, tokens, code)
            position = token.end
            new: Iterator[Token] = iter((token._replace(spaced=spaced),))
        elif kind == "name":
            new = _name(match.group(), start, spaced, code, tokens, text[position : position + 1])
        elif match.group() == "Σ" and text[position : position + 1] in _SCRIPT_SIGNS and not code:
            new = iter((Token("big", "sum", start, position, spaced),))
        else:
            new = _other(kind or "", match.group(), start, position, spaced, code)
        tokens.extend(new)
        spaced = False
        if len(tokens) > MAX_TOKENS:
            stop(start, f"the formula has more than {MAX_TOKENS} parts")
    return tokens


def _number(text: str, written: str, start: int, end: int, tokens: list[Token], code: bool) -> Token:
    before = tokens[-1].text if tokens else ""
    if "," in written:
        after = text[end : end + 8].lstrip()[:1]
        if code or (before in ("(", "[", "{", ",") and after in tuple(")],}")):
            written, end = written.split(",")[0], start + written.index(",")  # a list
    scale, unit, percent = "", "", False
    if not code and (match := _SUFFIX.match(text, end)):
        word, near = match["word"], not match["space"]
        if word in "%％":
            if _REMAINDER.match(text, match.end()) if near else _FACTOR.match(text, match.end()):
                stop(end, "whether this is a percentage or a remainder cannot be told")
            percent = True
        elif word in words.SCALES and (
            len(word) > 1 or not word.isascii() or (near and _amount(written, tokens, text, end))
        ):
            scale = word
        elif word in words.UNITS and (len(word) > 1 or not word.isascii()):
            unit = word
        end = match.end() if percent or scale or unit else end
        if scale and (match := _SUFFIX.match(text, end)) and match["word"] in words.UNITS:
            unit, end = match["word"], match.end()
    number = printed_number(written, start, end, scale, unit, percent)
    return Token("number", number.text, start, end, False, "", number)


def _amount(written: str, tokens: list[Token], text: str, end: int) -> bool:
    """Say whether `175B` is an amount; `2k` and `2M` may be products, unless they stand alone as `7B` does."""
    if len(written) > 1:
        return True
    before = tokens[-1].kind if tokens else "rel"
    behind = text[end + 1 : end + 6].strip()
    return text[end].isupper() and before in ("rel", "arrow", "comma") and (not behind or behind[:3].isalpha())


def _integer(digits: str, start: int) -> Token:
    number: Number = printed_number(digits, start, start + len(digits))
    return Token("number", digits, start, start + len(digits), False, "", number)


def _name(name: str, start: int, spaced: bool, code: bool, tokens: list[Token], following: str) -> Iterator[Token]:
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
        yield from _name(owner, start, spaced, code, tokens, ".")
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
    """Say whether the letters of a run of plain text stand side by side."""
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


def _other(kind: str, written: str, start: int, end: int, spaced: bool, code: bool) -> Iterator[Token]:
    if kind == "transpose":
        yield Token("transpose", "T", start, end)
    elif kind == "method":
        yield Token("method", written[1:], start + 1, end)
    elif kind == "wide":
        role = "break" if written in words.CONNECTIVES else "cond" if written in words.CONDITION_WORDS else "text"
        yield Token(role, written, start, end, spaced)
    elif kind == "dots":
        yield Token("dots", "…", start, end, spaced)
    elif kind == "string":
        yield Token("text", written[1:-1], start, end, spaced)
    elif kind == "arrow":
        yield Token("arrow", "→", start, end, spaced)
    elif kind == "pair":
        yield Token(*_PAIRS[written], start, end, spaced)
    elif written in words.SUBSCRIPTS or written in words.SUPERSCRIPTS:
        lower = words.SUBSCRIPTS.get(written)
        yield Token("script", f"_{lower}" if lower else f"^{words.SUPERSCRIPTS[written]}", start, end)
    else:
        written = written if written in words.SIGNS or written in "*@%{}" else normalize("NFKC", written)
        if written == "@" or written == "*":
            yield Token("op", "at" if written == "@" else "star", start, end, spaced)
        elif written == "{" or written == "}":
            yield Token("open" if written == "{" else "close", written, start, end, spaced)
        elif written == "%" and code:
            yield Token("op", "mod", start, end, spaced)
        elif written in words.SIGNS:
            yield Token(*words.SIGNS[written], start, end, spaced)
        elif len(written) == 1 and written.isascii() and written.isalnum():
            yield Token("letter", written, start, end, spaced)  # a letter of a mathematical alphabet
        else:
            stop(start, f"the character {written!r} is not known")
