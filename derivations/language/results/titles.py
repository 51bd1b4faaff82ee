"""Titles of results: words, with formulas between dollar signs, and their plain text."""

import re

__all__ = ["plain_title", "title_parts"]

_SCRIPT = re.compile(r"([_^])\{([^{}]*)\}")


def title_parts(typed: str) -> list[str]:
    """Return the words and formulas of a title, alternating, words first.

    Raises `ValueError` for a formula without an end.
    """
    parts = typed.split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"a formula in the title {typed!r} has no end: write $ on both sides of it")
    return parts


def plain_title(typed: str) -> str:
    """Return a title as plain text: without its dollar signs, and without braces around short scripts."""
    parts = title_parts(typed)
    return "".join(_SCRIPT.sub(_script, part) if number % 2 else part for number, part in enumerate(parts))


def _script(found: re.Match[str]) -> str:
    sign, inside = found.groups()
    return sign + (inside if re.fullmatch(r"-?\w+|\w+(,\w+)+", inside) else f"({inside})")
