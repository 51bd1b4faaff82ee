r"""References: the entries of `references.bib`, and the sources of results as citations of them.

Definition   a source is a list of works with a semicolon between them, such as "Vaswani et al. (2017), section 3.2.1;
             Xiong et al. (2020)": authors, year, and the place in the work. Other parts are the id of a result or the
             rules of the gradient, which are in this document
Result       the key of each work and its place; as LaTeX \citet[section 3.2.1]{vaswani2017attention}
Raises       LookupError with the nearest entries for a work that is not in the file
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from derivations.language.printing.words import word

__all__ = ["BIBLIOGRAPHY", "RULES", "Reference", "cited", "entries", "keys_of", "linked", "references_of", "source_in"]

BIBLIOGRAPHY = Path(__file__).with_name("references.bib")

_ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s+(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)
_WORK = re.compile(r"(.+?) \((\d{4})\)(?:, (.*))?")
RULES, _FROM = "the rules gradient.*", "the equations: "  # of the gradients of layers
_INSIDE = re.compile(rf"(?:{re.escape(RULES)}|[a-z_]+\.[a-z_]+)")


@dataclass(frozen=True)
class Reference:
    """One part of a source: the key of a work and the place in it; without a key, words that name no work."""

    key: str
    place: str
    text: str


@cache
def entries() -> dict[str, dict[str, str]]:
    """Return the fields of every entry of the bibliography by its key; `kind` is the type of the entry."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    return {key: {"kind": kind, **dict(_FIELD.findall(fields))} for kind, key, fields in _ENTRY.findall(text)}


@cache
def _cited_as() -> dict[str, list[str]]:
    """Return the keys by the ways in which a work is cited: all authors and the year, or the first and et al."""
    found: dict[str, list[str]] = {}
    for key, fields in entries().items():
        names = [_surname(author) for author in fields["author"].split(" and ")]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        ways = {f"{listed} ({fields['year']})", f"{names[0]} et al. ({fields['year']})"}
        for way in ways | set(filter(None, fields.get("citedas", "").split("; "))):
            found.setdefault(way, []).append(key)
    return found


def _surname(author: str) -> str:
    name = author.strip("{}").partition(",")[0]
    return re.sub(r"\\(?:['\"`^=~]|[a-z](?=\{))", "", name).replace("{", "").replace("}", "").replace("\\", "")


def references_of(source: str) -> tuple[Reference, ...]:
    """Return the works of a source, in order."""
    return tuple(_reference(part.removeprefix(_FROM)) for part in source.split("; ") if part)


def keys_of(source: str) -> tuple[str, ...]:
    """Return the keys of the works of a source that the bibliography has; a source of a user may name others."""
    try:
        return tuple(found.key for found in references_of(source) if found.key)
    except LookupError:
        return ()


def _reference(part: str) -> Reference:
    work = _WORK.fullmatch(part)
    if work is None and _INSIDE.fullmatch(part):
        return Reference("", "", part)
    way, _, place = part.partition(", ") if work is None else (f"{work[1]} ({work[2]})", "", work[3] or "")
    keys = _cited_as().get(_plain(way), [])
    for key in keys:
        name = entries()[key].get("shorttitle", "")
        # two works of one author and year are told apart by a short title before the place
        if len(keys) == 1 or (name and place.startswith(name)):
            return Reference(key, place.removeprefix(name).lstrip(", ") if name else place, part)
    near = "; ".join(get_close_matches(way, _cited_as(), 3, 0.5)) or "none is near"
    raise LookupError(f"{way} is not one work of {BIBLIOGRAPHY.name}: add an entry there, or write one of: {near}")


def _plain(way: str) -> str:
    return way.replace("é", "e").replace("ú", "u")


def source_in(source: str, lang: str) -> str:
    """Return a source in a language: works and the places in them stay as they are, other words are translated."""
    return "; ".join(_part_in(part, lang) for part in source.split("; "))


def _part_in(part: str, lang: str) -> str:
    if part == RULES:
        return word(RULES, lang)
    return word("the equations: {}", lang).format(part.removeprefix(_FROM)) if part.startswith(_FROM) else part


def linked(source: str, link: Callable[[str, str], str], escape: Callable[[str], str], lang: str = "en") -> str:
    """Return the text of a source with a link at each work. `link(words, address)` writes a link."""
    if not keys_of(source):
        return escape(source_in(source, lang))
    parts = []
    for part in source.split("; "):
        found = _reference(part.removeprefix(_FROM))
        work = found.text.removesuffix(found.place).rstrip(", ")
        shown = escape(_part_in(part, lang))
        address = _address(found.key)
        parts.append(shown.replace(escape(work), link(escape(work), address), 1) if address else shown)
    return "; ".join(parts)


def _address(key: str) -> str:
    fields = entries().get(key, {})
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    return f"https://arxiv.org/abs/{fields['eprint']}" if "eprint" in fields else fields.get("url", "")


def cited(source: str, escape: Callable[[str], str], lang: str = "en") -> str:
    """Return a source as LaTeX: a citation for each work, words for the rest."""
    parts = []
    for found in references_of(source):
        place = f"[{escape(found.place)}]" if found.place else ""
        parts.append(rf"\citet{place}{{{found.key}}}" if found.key else escape(_part_in(found.text, lang)))
    return "; ".join(parts)
