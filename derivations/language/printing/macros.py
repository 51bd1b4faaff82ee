r"""Letters as macros, so that an author changes a letter in one place.

Definition   the base of every name is a macro, such as \dvQ for Q and \dvWQ for the W of W_{i}^{Q}; scripts stay
Result       formulas that use the macros, and their definitions, which do not replace a macro that is already defined:
             \newcommand{\dvQ}{\mathbf{Q}} in front of them sets every Q in bold
"""

from collections.abc import Mapping
from dataclasses import replace

from derivations.language.printing.notation import Notation, notation

__all__ = ["definitions", "package", "with_macros"]


def with_macros(using: str | Notation) -> tuple[Notation, Mapping[str, str]]:
    """Return a notation that prints letters as macros, and the macros that it has used, with what they stand for."""
    used: dict[str, str] = {}
    return replace(notation(using), macros=used), used


def definitions(used: Mapping[str, str]) -> str:
    """Return the definitions of macros, a line for each in alphabetical order."""
    return "".join(rf"\providecommand{{{macro}}}{{{letter}}}" + "\n" for macro, letter in sorted(used.items()))


def package(used: Mapping[str, str]) -> str:
    """Return a LaTeX package with the definitions of macros, which documents load behind their own definitions."""
    head = (r"\NeedsTeXFormat{LaTeX2e}", r"\ProvidesPackage{derivations}", r"\RequirePackage{amsmath,amssymb}")
    return "\n".join([*head, definitions(used)])
