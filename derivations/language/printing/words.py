r"""The words around formulas in each language, from one catalogue of messages for each.

Definition   a catalogue is a file `messages/TAG.toml`: the signs of a sentence and the fonts, then tables of messages,
             one for each kind of text. The key of a message is the English text as the package prints it, with the
             formulas of titles between dollar signs
Result       the message, or the English text where a catalogue has none, such as the title of a user's own result
Raises       ValueError, with the languages to choose from, for one without a catalogue

English texts are the keys, and not ids, because an id stays when its title gets another meaning: the old translation
would then be printed with it. A changed text has no message until somebody has read it, and a test says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

__all__ = ["WORDS", "Kind", "Language", "language", "languages", "said", "word"]

_FOLDER = Path(__file__).with_name("messages")

WORDS = (
    *("where", "assuming", "if", "let", "with", "assume", "then", "by {}", "otherwise", "even", "odd", "conformable"),
    "and 0 elsewhere",
    "places of the largest of each row, in order",
    "places of the largest of each column, in order",
    "1 at the largest shown of each row",
    "1 at the largest shown of each column",
    *(
        "Source",
        "Result",
        "Definition",
        "Layer",
        "Layers",
        "Proof",
        "Contents",
        "References",
        "Index of letters",
        "{} and {} more",
    ),
    *("The formulas of the Transformer", "Derivations", "{} gradient", "gradient", "Evidence", "recomputed:"),
    *("the rules gradient.*", "the rules of section {}", "the equations: {}"),
)


class Kind(StrEnum):
    """The kinds of texts, each of them a table in a catalogue of messages; `NAMES` are those of topics and layers."""

    WORDS = "words"
    NAMES = "names"
    RULES = "rules"
    EVIDENCE = "evidence"
    COUNTS = "counts"
    ASSUMPTIONS = "assumptions"
    TITLES = "titles"


@dataclass(frozen=True)
class Language:
    """A language: its punctuation, the space after the first word, the fonts of a LaTeX document, and the messages."""

    tag: str
    comma: str
    stop: str
    colon: str
    space: str
    fonts: str
    messages: Mapping[Kind, Mapping[str, str]]


_ENGLISH = Language("en", ", ", ".", ": ", " ", r"\usepackage{lmodern}", {})


@cache
def languages() -> tuple[str, ...]:
    """Return the tags of the languages, English first."""
    return (_ENGLISH.tag, *sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def language(asked: str) -> Language:
    """Return a language by its tag; a tag without a script or region, such as zh, is the first that begins with it.

    Raises `ValueError` for a language without a catalogue.
    """
    wanted = asked.strip().replace("_", "-").lower()
    # with a hyphen at the end, zh matches zh-Hans, and e does not match en
    found = [tag for tag in languages() if wanted and f"{tag}-".lower().startswith(f"{wanted}-")]
    if not found:
        raise ValueError(f"there is no language {asked!r}; choose one of {', '.join(languages())}")
    return _ENGLISH if found[0] == _ENGLISH.tag else _read(found[0])


@cache
def _read(tag: str) -> Language:
    # Read at the first use: a command without another language does not pay for its catalogue.
    tables = tomllib.loads((_FOLDER / f"{tag}.toml").read_text(encoding="utf-8"))
    return Language(tag, **tables.pop("language"), messages={Kind(name): table for name, table in tables.items()})


def said(kind: Kind, english: str, lang: str = "en") -> str:
    """Return the translation of an English text of the package, or the text itself if there is none."""
    return language(lang).messages.get(kind, {}).get(english, english)


def word(english: str, lang: str = "en") -> str:
    """Return the translation of one of `WORDS`."""
    if english not in WORDS:
        raise LookupError(f"{english!r} is not listed in WORDS of {Path(__file__).name}")
    return said(Kind.WORDS, english, lang)
