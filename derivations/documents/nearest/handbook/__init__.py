"""The handbook: formulas that many texts quote, parsed in the same way as a document.

Definition   the tables beside this module have each as people write it, with its other forms, and the words that stand
             near it: `is`, the usual form first (or the first `usual` ones), then others that are right as well;
             `words`, one of which is near where it is meant (without words, the left side tells); `left`, other
             spellings of the left side, @ for its running index; `family`, letters that tell it from others of the
             same form, or the gates of a cell; `source`, where it is from; `terms` has words in other languages
Result       `handbook()` are equations like those of the catalogue, with the entries of their right sides as forms
Raises       ValueError where a formula of the handbook is not read or not typed
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from derivations.documents.canon.equations import Equation
from derivations.documents.canon.forms import Form
from derivations.documents.elaborate import NotElaborated, elaborated
from derivations.documents.formulas import formula_text, read_formula
from derivations.documents.judge.canonical.spellings import left_spelling, running, spelled
from derivations.documents.readers import read_text
from derivations.documents.scope import Scope, read_scopes
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Name, Node

__all__ = ["HEAVY", "entries", "handbook", "is_heavy", "place_of", "spellings", "told_in"]

HEAVY = 3  # functions, sums and roots by which a formula is told from its right side alone
WEIGHTY = re.compile(r"\\(?:exp|log|ln|sum|prod|sqrt|tanh|sin|cos|max|min|mathrm\{erf\})(?![a-z])|e\^|\\mathbb\{E\}")

LETTER = re.compile(r"[A-Za-z]")
SCRIPT = re.compile(r"^cal(?=[A-Z])")
LABEL = re.compile(r"(?:_[A-Za-z](?![A-Za-z])){2,}")  # L_{DPO}, letter by letter
SIGMOID = "The sigmoid function.\n\n"  # where a text speaks of it, sigma is the sigmoid


@cache
def handbook() -> tuple[Equation, ...]:
    """Return the formulas of the handbook."""
    terms = {word: others.split("|") for table in _tables() for word, others in table.get("terms", {}).items()}
    return tuple(_equation(entry, terms) for entry in entries())


@cache
def _tables() -> tuple[dict[str, Any], ...]:
    paths = sorted(Path(__file__).parent.glob("*.toml"))
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in paths)


def entries() -> Iterator[Mapping[str, Any]]:
    """Yield the entries of the handbook's TOML tables, unparsed."""
    return (entry for table in _tables() for entry in table.get("formula", ()))


@lru_cache(maxsize=512)
def told_in(text: str) -> frozenset[Equation]:
    """Return the handbook formulas that a word of the text names, and those that need no word."""
    return frozenset(each for each in handbook() if any(word in text for word in each.words) and each.is_told_by(text))


def is_heavy(equation: Equation) -> bool:
    """Return whether a handbook formula has enough functions, sums and roots to be recognised by its right side."""
    return equation.title in _heavy()


@cache
def _heavy() -> frozenset[str]:
    texts = {entry["title"]: entry["is"] for entry in entries()}
    return frozenset(title for title, forms in texts.items() if any(len(WEIGHTY.findall(f)) >= HEAVY for f in forms))


def spellings(left: Node) -> frozenset[str]:
    """Return the spellings of a left side: in full, and for a function without arguments and without labels.

    BLEU and Bleu are one, F_1 and f_1 are two; a script L is an L.
    """
    whole = left_spelling(left)
    parts = (spelled(left.function, None), left.function.base) if isinstance(left, Call) else ()
    return frozenset({whole, *map(_in_one_spelling, (whole, *parts))}) - {""}


def place_of(left: Node) -> str:
    """Return the running index of a left side with @ for its letter, `@ + 1` for m_{t+1}, or "" if it has none."""
    index = running(left)
    return LETTER.sub("@", formula_text(index, "plain")) if index is not None else ""


def _in_one_spelling(left: str) -> str:
    joined = LABEL.sub(lambda found: "_" + found[0].replace("_", ""), SCRIPT.sub("", left))
    return joined.lower() if sum(map(str.isalpha, joined)) > 2 else joined


def _equation(entry: Mapping[str, Any], terms: Mapping[str, list[str]]) -> Equation:
    named = {text.partition(" = ")[0] for text in entry["is"]}  # the right sides are read when they are asked for
    lefts = {spelling for text in sorted(named) for spelling in spellings(_side(text))}
    lefts |= set(map(_in_one_spelling, entry.get("left", "").split()))
    english = entry.get("words", "").split("|")  # what has none is told by its left side
    words = tuple(dict.fromkeys(other for word in english for other in (word, *terms.get(word, ()))))
    return Equation(
        entry["title"],
        frozenset(lefts),
        partial(_forms, tuple(entry["is"]), entry.get("usual", 1)),
        words=words,
        family=tuple(map(_name, entry.get("family", "").split())),
    )


@cache
def _side(text: str) -> Node:
    reading = read_formula(text, "latex")
    if reading.stopped is not None or len(reading.statements) != 1 or reading.statements[0].relations:
        raise ValueError(f"no side of a formula of the handbook: {text}")
    return reading.statements[0].sides[0]


def _name(text: str) -> Name:
    if not isinstance(name := _side(text), Name):
        raise ValueError(f"no letter of the handbook: {text}")
    return name


def _chain(text: str) -> Chain:
    reading = read_formula(text, "latex")
    if reading.stopped is not None or len(reading.statements) != 1 or len(reading.statements[0].sides) != 2:
        raise ValueError(f"no equation of two sides in the handbook: {text}")
    return reading.statements[0]


def _forms(texts: tuple[str, ...], usual: int) -> tuple[Form, ...]:
    return tuple(dict.fromkeys(form for at, text in enumerate(texts) for form in _typed(text, usual=at < usual)))


def _typed(text: str, *, usual: bool) -> Iterator[Form]:
    """Yield the forms of a formula, one for each possible typing of its letters."""
    chain = _chain(text)
    sigma = any(isinstance(part, Call) and part.function.base == "sigma" for part in chain.walk())
    found: dict[Any, None] = {}
    for before in ("", SIGMOID) if sigma else ("",):
        right, scope = chain.sides[1], _alone(chain, f"{before}$${text}$$")
        try:
            typings = elaborated((right,), scope, chain.sides, uninterpreted=True)
        except NotElaborated as error:
            raise ValueError(f"not typed in the handbook: {text}: {error}") from error
        found.update(dict.fromkeys(typing.sides[0] for typing in typings))
    place = place_of(chain.sides[0])
    return (Form("", value, (place,), usual=usual) for value in found)


def _alone(chain: Chain, text: str) -> Scope:
    """Return the scope of a formula that stands alone in a text."""
    document = read_text(text, "markdown", "")
    block, passage = next((b, p) for b in document.blocks for p in b.passages if p.syntax == "latex")
    statement = Statement(chain, passage, block)
    return read_scopes(document, [statement]).at(statement)
