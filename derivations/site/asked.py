r"""The functions that pages call in the browser without NumPy: judge a document or equation, read a configuration.

Result       JSON as text: the report of `derivations check --json`, the level and the reason of an equation,
             or the row of a model in the calculator
Raises       ValueError in one sentence for what cannot be read
Assumes      nothing of what was pasted: it is read, and never evaluated

>>> import json
>>> json.loads(equation(r"(A B)^\top", r"B^\top A^\top", "A: n x d\nB: d x m"))["level"]
'proved'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial

from derivations.architectures.hugging_face import model_of
from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.checking import check_text
from derivations.documents.decide.identities import decided
from derivations.documents.elaborate import Elaborated, NotElaborated, elaborated
from derivations.documents.formulas import read_formula
from derivations.documents.passages import Document
from derivations.documents.policy import FROM_THE_USUAL
from derivations.documents.readers import read_text
from derivations.documents.readers.source import decoded
from derivations.documents.reports.json_report import json_report
from derivations.documents.reports.judging import judge_text
from derivations.documents.scope import read_scopes
from derivations.documents.settings import Settings
from derivations.documents.statements import Statement
from derivations.site.calculator import row_of
from derivations.site.questions import Questions, answer, lines_of_shapes

__all__ = ["QUESTIONS", "answered", "document", "equation", "model", "warm"]

CONFIGURATION = "config.json"
KINDS = ("number", "vector", "matrix")
MISFIT = "shapes.clash"
NAME = "pasted"  # of the document in its report
_OF_THE_PREAMBLE = re.compile(r" \(line \d+\)")  # the lines that declare shapes are written by us, and not seen


def document(text: str, form: str) -> str:
    """Return the report on a document in a format, `markdown` or `latex`, as `derivations check --json` prints it."""
    known, problems = decoded(text.encode("utf-8", "replace"))
    return json_report([judge_text(known, form, NAME, Settings(), problems).report])


def equation(left: str, right: str, shapes: str = "") -> str:
    """Return the judge's level for `left = right`, its reason, and the kinds of the letters, such as vector or matrix.

    `shapes` has a line `letter: sizes` for each letter whose shape is known, such as `A: n x d`. An equation is proved,
    or refuted, if it is under all shapes that fit; it is refuted as well if the shapes that are given do not fit.

    Raises       ValueError, one sentence, for what is not one side of an equation, and for a line without a shape
    """
    settings = Settings(symbols=_symbols(shapes))
    for name, side in (("left", left), ("right", right)):
        _refuse_no_side(name, side)
    text = f"$$\n{left.strip()} = {right.strip()}\n$$\n"
    claims = check_text(text, "markdown", settings=settings).claims
    known = [each for claim in claims for each in claim.findings if each.verdict != "unknown"]
    misfits = [each for each in known if each.check == MISFIT]  # of shapes that are given for these letters alone
    if misfits:
        reason = _OF_THE_PREAMBLE.sub("", misfits[0].reason.removeprefix(FROM_THE_USUAL))
        found: tuple[str, str, Sequence[str]] = "refuted", reason, ()
    else:
        found = _by_typings(text, settings)
    level, reason, read = found
    return json.dumps({"level": level, "reason": reason, "read": read}, ensure_ascii=False)


def _refuse_no_side(name: str, text: str) -> None:
    """Refuse a text that is not one side of an equation: it is empty, not understood, or itself a relation."""
    if not text.strip():
        raise ValueError(f"the {name} side is empty: write LaTeX in it, such as A B")
    if "$" in text:
        raise ValueError(f"the {name} side has a dollar sign: write the formula alone")
    reading = read_formula(text.strip(), "latex")
    if reading.stopped is not None:
        raise ValueError(f"the {name} side is not understood: {reading.stopped.reason}")
    if len(reading.statements) != 1:
        raise ValueError(f"the {name} side is not one formula: write one in each box")
    if reading.statements[0].relations:
        raise ValueError(f"the {name} side is an equation or inequality itself: write one side in each box")


def model(text: str) -> str:
    """Return the calculator's data for the model of a `config.json`, with its closed forms.

    Raises       ValueError, the sentence of `derivations count`, for a configuration that is not understood
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ValueError("a config.json holds one object, with a field model_type")
    return json.dumps(row_of(model_of(fields, CONFIGURATION)), ensure_ascii=False)


def _symbols(shapes: str) -> tuple[tuple[str, str], ...]:
    """Return the letters with their sizes."""
    return tuple(lines_of_shapes(shapes, "write a letter and its sizes, such as A: n x d"))


def _by_typings(text: str, settings: Settings) -> tuple[str, str, Sequence[str]]:
    """Return the judge's level for the one equation of a text, the reason, and the kinds of the letters."""
    asked = read_text(text, "markdown").blocks
    whole = Document(NAME, (*read_text(settings.preamble(), "markdown").blocks, *asked))
    try:
        with budget_of():
            statements = list(_statements(whole))
            own = [each for each in statements if each.block in asked]
            if len(own) != 1 or own[0].chain.relations != ("=",):
                return "unknown", "these are not the two sides of one equation", ()
            typings = elaborated(own[0].chain.sides, read_scopes(whole, statements).at(own[0]))
            return _decided(typings)
    except (NotElaborated, TooCostly, RecursionError) as error:
        return "unknown", f"not decided: {error}", ()


def _statements(whole: Document) -> Iterator[Statement]:
    """Yield the statements of the formulas in a document that are understood."""
    for block in whole.blocks:
        for passage in block.passages:
            if passage.syntax != "prose":
                reading = read_formula(passage.text, passage.syntax)
                yield from (Statement(chain, passage, block) for chain in reading.statements if not reading.stopped)


def _decided(typings: Sequence[Elaborated]) -> tuple[str, str, Sequence[str]]:
    """Return the judge's level and reason for all typings together, and the kinds of the letters in each typing."""
    found = [decided(typing) for typing in typings]
    levels = {each.level for each in found}
    kinds = (", ".join(f"{letter.key}: {KINDS[kind]}" for letter, kind in typing.kinds) for typing in typings)
    read = tuple(dict.fromkeys(kinds))
    if len(levels) > 1:
        return "unknown", "it depends on which letters are numbers, vectors or matrices: give their shapes", read
    if not all(typing.complete for typing in typings):
        return "unknown", "a way to read it was not understood", read
    if levels == {"proved"}:
        return "proved", "both sides are equal for all sizes and all values of their letters", read
    return ("refuted" if levels == {"refuted"} else "unknown"), found[0].reason, read


QUESTIONS: Questions = {each.__name__: each for each in (document, equation, model)}
answered = partial(answer, QUESTIONS)


def warm() -> None:
    """Judge a first formula, so that caches are filled before a reader asks."""
    document("$a = a$", "markdown")
    equation("a", "a")
