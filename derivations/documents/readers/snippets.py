"""Code in running text that is a formula: `d_model=512`, `[batch, seq, d_ff]`, `softmax(QK^T)`.

Result       `snippet_syntax(text)` is how a snippet between backticks is to be read; names of modules, options of
             commands, file names and strings are no formulas
Assumes      the snippet is a formula as a whole, or none
"""

from __future__ import annotations

import re
from typing import Literal

from derivations.documents.readers.operands import closing_brackets, is_word, read_run, tokens_of
from derivations.documents.readers.plain import has_arrow

__all__ = ["snippet_syntax"]

_SHAPE = re.compile(r"[\[(]\s*[\w.*/ ]{1,40}(?:,\s*[\w.*/ ]{1,40}){0,8},?\s*[\])]")
_NUMBERS = re.compile(r"\[\s*-?\d[\d.eE+-]*(?:,\s*-?\d[\d.eE+-]*){1,40}\s*\]")
_IDENTIFIER = re.compile(r"[A-Za-zΑ-ω](?:\d{0,2}|_\w{1,20}|[a-z]{0,2}_\w{1,20}|\w{1,20}_\w{1,20})'?")
_CODE_ONLY = re.compile(r"[\"'\\$&;?!{}#~]|--|::|//\w|\bimport\b|\bdef\b|\.\w{1,5}$|^[./-]")


def snippet_syntax(text: str) -> Literal["plain", "code"] | None:
    """Return the syntax of a snippet of code in running text that is a formula, or None if it is not one."""
    text = text.strip()
    if not text or len(text) > 400 or _CODE_ONLY.search(text) or "\n\n" in text:
        return None
    if re.search(r"[^\x00-\x7f]|\^|\w \w|\) \w", text):
        return "plain" if _is_run(text) or has_arrow(text) else None
    if (
        _NUMBERS.fullmatch(text)
        or _IDENTIFIER.fullmatch(text)
        or (_SHAPE.fullmatch(text) and re.search(r"[\d_]|\b\w\b", text))
    ):
        return "code"
    if re.fullmatch(r"[\w.\s()\[\],:+*/@=<>-]+", text) and re.search(
        r"\w\s*(?:==?|[+*/@]|<=|>=|->| - )\s*[\w(\[-]|\w\[\w", text
    ):
        return "code" if re.search(r"[_=+*@\[]|\d", text) else None
    return None


def _is_run(text: str) -> bool:
    """Return whether a text as a whole is a call, or operands with operators between them."""
    tokens = tokens_of(text)
    run = read_run(tokens, 0, closing_brackets(tokens))
    named = [operand for operand in run.operands if operand.kind == "name"]
    if (
        not run.operands
        or run.end != len(text)
        or all(operand.kind == "name" and is_word(operand.text) for operand in run.operands)
    ):
        return False
    words = len(named) > 1 and all(is_word(operand.text) for operand in named)
    return run.operands[0].kind == "call" or (bool(run.operators) and not words)
