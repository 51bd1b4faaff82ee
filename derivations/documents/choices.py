"""Choices shared by the commands and the marks in documents: delimiters of formulas, and values of sizes."""

from __future__ import annotations

__all__ = ["MATHS", "size_of"]

MATHS = ("dollars", "brackets", "fence", "equation")


def size_of(setting: str) -> tuple[str, int]:
    """Return the name and the number from a setting such as d_k=64. Raises ValueError for anything else."""
    name, equals, value = (part.strip() for part in setting.partition("="))
    if not name or not equals or not (value.isascii() and value.isdecimal()) or len(value) > 18 or int(value) < 1:
        raise ValueError(f"set {setting}: write a size and an integer >= 1, such as set d_k=64")
    return name, int(value)
