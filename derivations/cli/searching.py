"""Search over the rows of `list`: by words of ids, titles and aliases, and by letters of formulas."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from derivations.cli.stored_evidence import Row
from derivations.topics import aliases_of

__all__ = ["found_by", "is_in"]

MOST_SHOWN = 5
SHORTEST_BEGINNING = 3  # letters of a word that may be the beginning of another; `he` does not find `head`


def found_by(words: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows in which every word of a search is found.

    A word is found where a word of the id, the title or an alias starts with it, or where it is a letter of the
    formula, such as d_k. Raises `ValueError` if nothing is found, with the rows that have most of the words, or else
    with near words.
    """
    sought = re.findall(r"\w+", words)
    found = [row for row in rows if sought and all(is_in(word, row) for word in sought)]
    if not found:
        told = {
            row.id: [word for word in sought if len(word) >= SHORTEST_BEGINNING and is_in(word, row)] for row in rows
        }
        most = max(map(len, told.values()), default=0)
        nearest = [name for name, own in told.items() if own and len(own) == most][:MOST_SHOWN]
        if nearest:
            raise ValueError(f"nothing has all of {words!r}; {' and '.join(told[nearest[0]])}: {', '.join(nearest)}")
        known = sorted({word for row in rows for word in _words(row) if len(word) >= SHORTEST_BEGINNING})
        near = [each for word in sought for each in get_close_matches(word.casefold(), known, n=2)]
        advice = f"did you mean {' or '.join(near)}?" if near else "`derivations list` shows the topics"
        raise ValueError(f"nothing is found for {words!r}; {advice}")
    return found


def is_in(word: str, row: Row) -> bool:
    """Return whether a word is found in a row, as described for `found_by`."""
    sought, words = word.casefold(), _words(row)
    begins = len(sought) >= SHORTEST_BEGINNING and any(each.startswith(sought) for each in words)
    return begins or sought in words or word in row.letters


def _words(row: Row) -> set[str]:
    """Return the words of the id, the title and the aliases: `layer_norm` whole and in parts."""
    text = " ".join((row.id.replace(".", " "), row.title, *aliases_of(row.id))).casefold()
    return {word for parts in (r"\W+", r"[\W_]+") for word in re.split(parts, text) if word}
