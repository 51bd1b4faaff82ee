r"""The options of a block: those of the command line, and the words on its mark, which override them.

Definition   softmax.jacobian steps set d_k=64 notation=vaswani math=fence label=eq lang=zh
             steps      the derivation, not only the result      formula    the display alone, without the sentences
             title      the title, the id and the evidence       gradient   of a layer, its gradient
             set        numbers to put in, one or several        width=     of LaTeX, the width into which lines fit
Raises       ValueError for a word that is no option, or a value that there is not
Assumes      a document names built-in notations alone: the file of a notation is named on the command line, since no
             file is read because a document says so
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from derivations.documents.choices import MATHS, size_of
from derivations.language.printing.fragments import points
from derivations.language.printing.notation import NOTATIONS, Notation
from derivations.language.printing.words import language

__all__ = ["Options", "not_imported"]

FLAGS = ("steps", "formula", "title", "gradient")
_VALUES = {"notation": tuple(NOTATIONS), "math": MATHS, "lang": None, "label": None, "width": None}


def not_imported(name: str) -> NoReturn:
    """Raise an error for a name from a user's module, as only the command line can name modules to import."""
    module = name.partition(":")[0]
    raise ValueError(f"a document alone imports nothing: name the module on the command line, --module {module}")


@dataclass(frozen=True)
class Options:
    """The options of a block. Without `math` its format decides, and without `label` it has no label."""

    notation: str | Notation = "ours"
    math: str | None = None
    label: str | None = None
    lang: str = "en"
    width: str | None = None
    steps: bool = False
    formula: bool = False
    title: bool = False
    gradient: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    own: Callable[[str], Any] = not_imported  # returns what a user's module calls by a name such as mypackage:mine

    def with_words(self, words: Sequence[str]) -> Options:
        """Return the options, changed by the words of a mark."""
        changes: dict[str, Any] = {}
        sizes: dict[str, int] | None = None  # known from the word `set` on
        for word in words:
            name, equals, value = word.partition("=")
            if word == "set":
                sizes = sizes or {}
            elif word in FLAGS:
                changes[word] = True
            elif equals and name in _VALUES:
                changes[name] = _value(name, value)
            elif equals and sizes is not None:
                sizes |= dict([size_of(word)])
            else:
                raise ValueError(_no_option(word))
        if sizes == {}:
            raise ValueError("after set there is no number: write set d_k=64")
        return replace(self, **changes, sizes=self.sizes | (sizes or {}))


def _value(name: str, value: str) -> str:
    if name == "lang":
        return language(value).tag
    if name == "width":
        points(value)  # one that is no length is refused
    known = _VALUES[name]
    if known is not None and value not in known:
        raise ValueError(f"there is no {name} {value!r} for a mark; choose one of {', '.join(known)}")
    return value


def _no_option(word: str) -> str:
    if word.partition("=")[2].isdigit():
        return f"there is no option {word!r}; a size is written set {word}"
    if word == "macros":  # their definitions stand in a file of their own, which no single block can write
        return "there is no option 'macros' of a mark: `derivations export --macros` writes letters as macros"
    known = [*FLAGS, "set", *(f"{name}=" for name in _VALUES)]
    near = get_close_matches(word, known, 1)
    return f"there is no option {word!r}; " + (
        f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    )
