r"""Letters as macros, so that an author changes a letter in one place.

Definition   the base of every name is a macro, such as \dvQ for Q, \dvWQ for the W of W_{i}^{Q}, and \dvQRow for the q
             of a row q_i; scripts stay, except those of a size, which has no indices: \dvdk is d_{k}
Result       formulas that use the macros, and their definitions, which do not replace a macro that is already defined:
             \newcommand{\dvQ}{\mathbf{Q}} in front of them sets every Q in bold
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from derivations.language.layers.spelling import in_words
from derivations.language.printing.alphabet import LETTERS, SIZES
from derivations.language.printing.notation import OF_ROW, Notation, macro_of, notation

__all__ = ["definitions", "package", "with_macros"]

_OTHER = "an index, or a letter of a title"


def with_macros(using: str | Notation) -> tuple[Notation, Mapping[str, str]]:
    """Return a notation that prints letters as macros, and the macros that it has used, with what they stand for."""
    used: dict[str, str] = {}
    return replace(notation(using), macros=used), used


def definitions(used: Mapping[str, str], places: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Return the definitions of macros in alphabetical order, a line for each with what the letter stands for.

    `places` gives the names of the letters on each page, for those that the alphabet does not list.
    """
    meant = _meanings(places)
    other = _OTHER if places else ""  # of one page alone the letters are explained below
    said = {macro: f"a row of {macro.removesuffix(OF_ROW)}" for macro in used if macro.endswith(OF_ROW)} | meant
    lines = ((rf"\providecommand{{{macro}}}{{{used[macro]}}}", said.get(macro, other)) for macro in sorted(used))
    return "".join(f"{line} % {what}\n" if what else f"{line}\n" for line, what in lines)


def _meanings(places: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the explanation of each macro: our name with its meaning, or with the first page on which it occurs."""
    found: dict[str, str] = {}
    for scope, listed in LETTERS.items():
        for name, what in listed:
            stated = f"{what}, of {in_words(scope)}" if scope else what
            before = found.get(macro_of(name))
            found[macro_of(name)] = f"{before}; {stated}" if before else f"{name}: {stated}"
    for name, what in SIZES.items():
        found.setdefault(macro_of(name), f"{name}: {what}")
    for page, names in places.items():
        topic = page.removeprefix("layer-").partition(".")[0]
        for name in names:
            for scope in ("", topic):
                found.setdefault(macro_of(name, scope), f"{name}, as in {page}")
    return found


def package(used: Mapping[str, str], places: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Return a LaTeX package with the definitions of macros, which documents load after their own definitions."""
    # without \ProvidesPackage, which would warn where the folder is named as well: \usepackage{column/derivations}
    head = (r"\NeedsTeXFormat{LaTeX2e}", r"\RequirePackage{amsmath,amssymb}")
    return "\n".join([*head, definitions(used, places)])
