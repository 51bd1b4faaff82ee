r"""Words in `\text{...}`: names, conditions, connectives, or mere words.

Definition   `\text{head}` is a name, `\text{if }` begins a condition, `\text{and}` separates, `\text{ 的第 }` is none
             of them: words with a space at their ends are mere words
"""

from __future__ import annotations

import re

from derivations.documents.formulas.vocabulary import CONDITION_WORDS, CONNECTIVES, FUNCTIONS, SIGNS

__all__ = ["ESCAPED", "NAME", "role"]

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_ /.][A-Za-z0-9]+)*\Z")
ESCAPED = re.compile(r"\\([_&%#${} ])")
_CIRCUMFLEX = re.compile(r"\\textasciicircum(?:\{\}| |(?![A-Za-z]))")


def role(content: str) -> tuple[str, str]:
    """Return the kind of token that a text is, and its words; "space", "command", "sign" and "name" are none yet."""
    clean = ESCAPED.sub(r"\1", _CIRCUMFLEX.sub("^", content)).replace("~", " ").replace("\\,", " ")
    bare = " ".join(clean.split())
    lower = bare.lower().strip(" ,:;")
    outer = clean != clean.strip()
    if not bare:
        return "space", ""
    if "\\" in bare or "{" in bare:
        return "command", bare
    if bare in ("T", "top"):
        return "letter", "T"
    if lower in CONNECTIVES or lower.rstrip(".") in CONNECTIVES:
        return "break", bare
    if lower == "mod":
        return "op", "mod"
    if not lower.strip("."):
        return SIGNS.get(bare[0], ("text", bare))
    if _begins_condition(lower):
        return "cond", bare
    if NAME.match(bare) and (not outer or bare in FUNCTIONS or len(bare) == 1):
        return "name", bare
    if not outer and not bare.isascii() and bare.isalnum():
        return "word", bare
    return ("sign", bare) if bare in SIGNS else ("text", bare)


def _begins_condition(lower: str) -> bool:
    """Say whether a text begins with a whole condition word; one of a single character must be the whole text."""
    for word in CONDITION_WORDS:
        if lower.startswith(word):
            behind = lower[len(word) : len(word) + 1]
            if not behind or (not behind.isalnum() if word.isascii() else len(word) > 1):
                return True
    return False
