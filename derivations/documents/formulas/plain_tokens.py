"""Plain text and code as tokens: `2 × batch_size × d_model`, `QKᵀ/√d_k`, `torch.relu(x @ w1 + b1)`.

Definition   an identifier is a name: `batch_size` a word, `d_model` the letter d with a label, `W1` and `W_1` alike the
             letter W with a subscript. In plain text `QK` and `xW` are two letters side by side, in code never
Raises       Stopped at a character that is not known
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from derivations.documents.formulas import signs
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.letters import accented_letter
from derivations.documents.formulas.numbers import printed_number, vulgar_fraction
from derivations.documents.formulas.plain_names import identifier_tokens
from derivations.documents.formulas.tokens import MAX_TOKENS, Token, stop

__all__ = ["plain_tokens"]

_LEXEME = re.compile(
    r"""(?P<space>[\s\u3000]+)
    |   (?P<number>\d{1,3}(?:[,\u2009\u202f\u00a0\ ']\d{3}){1,12}(?![,\d]?\d)(?:\.\d+)?|\d+(?:_\d+)+
                  |(?:\d+(?:\.\d+|\.(?=\s*[],;)]))?|\.\d+)(?:[eE][-+]?\d+)?)
    |   (?P<cross>(?<=\d)[xX](?=\d))
    |   (?P<wide>(?=[A-Za-z]*[À-ÖØ-öø-ÿ])[A-Za-zÀ-ÖØ-öø-ÿ]{4,}
                |[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3々]+)
    |   (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.(?!T\b|mT\b|H\b)[A-Za-z_][A-Za-z0-9_]*)*)
    |   (?P<transpose>\.(?:T|mT|H)\b(?!\())
    |   (?P<method>(?:(?<=[)\]])|(?<=\.T))\.[A-Za-z_][A-Za-z0-9_]*)
    |   (?P<dots>\.\.+|\.(?:[ ]\.){2,})
    |   (?P<string>"[^"\n]*"|(?<![\w)\]'′])'[^'\n]*')
    |   (?P<arrow>[-─━]+[>→▶]|=>(?=\s*[\[\w(])|—>)
    |   (?P<pair>\*\*|//|:=|<=|>=|=<|<>|!=|==|~=|<<|>>|\|\||<-)
    |   (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {
    "**": ("^", "**"), "<>": ("rel", "≠"),
    "//": ("op", "//"), ":=": ("rel", ":="), "<=": ("rel", "≤"), "=<": ("rel", "≤"),
    ">=": ("rel", "≥"), "!=": ("rel", "≠"), "==": ("rel", "="), "~=": ("rel", "≈"), "<<": ("rel", "≪"),
    ">>": ("rel", "≫"), "||": ("bar", "‖"), "<-": ("rel", "←"),
}  # fmt: skip
_TIMES, _OF_NUMBERS = ("s", "h"), ("number", "op", "rel", "open", "close")
_SUFFIX = re.compile(
    rf"(?P<space>[ \u00a0]?)(?P<word>(?:{words.AMOUNT})(?<![A-Za-z])|[A-Za-z]+(?![A-Za-z0-9_(])|[%％])"
)
_COUNTED = re.compile(r"(?:[词詞]元|トークン|[层層个個头頭次回枚])\s*[×*/÷·]")  # words, and no units: `12 層 × 64`
_IN_BYTES = re.compile(r"[=≈＝]\s?[\d.,]+\s?[MGT]i?B\b")
_REMAINDER = re.compile(r"\s*\d")  # after `7%`
_FACTOR = re.compile(r"\s*[\w(]")  # after `7 %`
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_COMPUTED = re.compile(r"\d\s*[*/]|[*/]\s*\d")
_SCRIPT_SIGNS = frozenset(signs.SUBSCRIPTS) | {"_"}


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
        if tokens and spaced and match.group() in signs.MARKS:  # `50000 ✅ fits`: what follows is a remark
            break
        if kind == "number":
            token = _number(text, match.group(), start, position, tokens, code)
            position = token.end
            new: Iterator[Token] = iter((token._replace(spaced=spaced),))
        elif kind == "cross":
            new = iter((_cross(match.group(), start, position, tokens, code),))
        elif kind == "name":
            new = identifier_tokens(match.group(), start, spaced, code, tokens, text[position : position + 1])
        elif accented := accented_letter(match.group(), start, position, tokens):
            new = iter(accented)
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
    if code and (" " in written or "'" in written):
        stop(start, "two numbers stand side by side in code")
    if "," in written:
        after = text[end : end + 8].lstrip()[:1]
        if (code and not _is_amount(text, tokens)) or (before in ("(", "[", "{", ",") and after in tuple(")],}")):
            written, end = written.split(",")[0], start + written.index(",")  # a list
    scale, unit, percent = "", "", False
    match = _SUFFIX.match(text, end)
    if (
        code and match and match["word"] in words.UNITS and len(match["word"]) > 1
    ):  # two expressions side by side are no code: `= 160kB`
        unit, end = match["word"], match.end()
    elif not code and match:
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
            unit = "" if _COUNTED.match(text, match.start("word")) else word
            end = match.end()
        elif word in _TIMES and not near and _is_time(tokens, text, match.end()):
            unit = word
        end = match.end() if percent or scale or unit else end
        if scale and (match := _SUFFIX.match(text, end)) and match["word"] in words.UNITS:
            unit, end = "" if _COUNTED.match(text, match.start("word")) else match["word"], match.end()
    number = printed_number(written, start, end, scale, unit, percent)
    return Token("number", number.text, start, end, False, "", number)


def _is_amount(text: str, tokens: list[Token]) -> bool:
    """Return whether `28,672` in code is one number: outside brackets, in a product or a quotient of numbers."""
    depth = sum(token.text in _OPENING for token in tokens) - sum(token.text in _CLOSING for token in tokens)
    return depth == 0 and _COMPUTED.search(text) is not None


def _is_time(tokens: list[Token], text: str, end: int) -> bool:
    """Return whether a letter after a number is a unit, `7.4e18 / 1.5e14 = 49,600 s`: no letter comes before it."""
    alone = bool(tokens) and tokens[-1].kind == "rel" and not text[end : end + 3].strip().isalnum()
    return alone and all(token.kind in _OF_NUMBERS for token in tokens)


def _cross(written: str, start: int, end: int, tokens: list[Token], code: bool) -> Token:
    """Return the letter x between digits as a times sign: `512x2048`, but not `0x10`."""
    if code or not tokens or tokens[-1].text == "0":
        stop(start, "a hexadecimal number is not known")
    return Token("op", "times", start, end)


def _amount(written: str, tokens: list[Token], text: str, end: int) -> bool:
    """Return whether a number with a letter, such as `175B`, is an amount.

    One digit with a letter, such as `2k` or `2M`, may be a product unless it stands alone, as in `7B`.
    """
    if len(written) > 1:
        return True
    before = tokens[-1].kind if tokens else "rel"
    behind = text[end + 1 : end + 6].strip()
    if before == "rel" and behind[:1] in ("×", "*") and _IN_BYTES.search(text, end):
        return text.count(text[end : end + 1]) - len(_IN_BYTES.findall(text, end)) == 1  # `7B × 2 bytes = 14 GB`
    return text[end].isupper() and before in ("rel", "arrow", "comma") and (not behind or behind[:3].isalpha())


def _other(kind: str, written: str, start: int, end: int, spaced: bool, code: bool) -> Iterator[Token]:
    if kind == "transpose":
        yield Token("transpose", "T", start, end)
    elif kind == "method":
        yield Token("method", written[1:], start + 1, end)
    elif kind == "wide":
        yield Token(words.role_of(written), written, start, end, spaced)
    elif kind == "dots":
        yield Token("dots", "…", start, end, spaced)
    elif kind == "string":
        yield Token("text", written[1:-1], start, end, spaced)
    elif kind == "arrow":
        yield Token("arrow", "→", start, end, spaced)
    elif kind == "pair":
        yield Token(*_PAIRS[written], start, end, spaced)
    elif written in signs.SUBSCRIPTS or written in signs.SUPERSCRIPTS:
        lower = signs.SUBSCRIPTS.get(written)
        yield Token("script", f"_{lower}" if lower else f"^{signs.SUPERSCRIPTS[written]}", start, end)
    elif fraction := vulgar_fraction(written, start, end):
        yield Token("number", written, start, end, spaced, "", fraction)
    else:
        written = written if written in signs.SIGNS or written in "*@%{}" else normalize("NFKC", written)
        if written == "@" or written == "*":
            yield Token("op", "at" if written == "@" else "star", start, end, spaced)
        elif written == "{" or written == "}":
            yield Token("open" if written == "{" else "close", written, start, end, spaced)
        elif written == "%" and code:
            yield Token("op", "mod", start, end, spaced)
        elif written in signs.SIGNS:
            yield Token(*signs.SIGNS[written], start, end, spaced)
        elif len(written) == 1 and written.isascii() and written.isalnum():
            yield Token("letter", written, start, end, spaced)  # a letter of a mathematical alphabet
        else:
            stop(start, f"the character {written!r} is not known")
