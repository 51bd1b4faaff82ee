r"""Text from a document, made fit for a terminal or a file: nothing in it can move a cursor or hide other text.

Definition   controls, marks of writing direction, invisible characters and halves of surrogate pairs are written as
             Python writes them (`\x1b`, `\u202e`); stretches of white space are one space
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["encodable", "one_line", "visible"]

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # categories of Unicode
_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """Return a text with its invisible characters escaped, except line ends and tabs."""
    return text if text.isprintable() else "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in "\n\t" or character.isprintable() or unicodedata.category(character) not in UNSEEN:
        return character
    return character.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    """Return a text on one line, its unseen characters written as escapes."""
    return visible(" ".join(text.split()))


def encodable(text: str) -> str:
    r"""Return a text with lone surrogates escaped as in `\ud83d`, which is valid in JSON and in UTF-8."""
    return _SURROGATE.sub(lambda found: rf"\u{ord(found.group()):04x}", text)
