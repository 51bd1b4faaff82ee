"""Judging a document: every formula is read, placed in its scope, and given to the checks, claim by claim.

Definition   a claim is one link of a chain (`a = b` in `a = b = c`), or a chain without links of which a check says
             something; what was not understood is a claim as well, and unknown. A mention of a letter claims nothing
Result       `check_file(path)` is a `Report`: claims in the order of the document, at most one for a stretch of it
Raises       nothing for what stands in a document: what cannot be read is a problem of the report, or unknown
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from derivations.documents.budget import budget_of
from derivations.documents.claims import FAILED, claim_of, findings_of, stretch_of
from derivations.documents.conditions import is_condition, is_operand
from derivations.documents.denials import is_denied
from derivations.documents.formulas import Reading, Stop, read_formula, with_amount
from derivations.documents.intent import intent_of
from derivations.documents.passages import Block, Document, Passage, Problem
from derivations.documents.readers import read_document, read_text
from derivations.documents.scope import Scopes, read_scopes, section_numbers
from derivations.documents.settings import Settings
from derivations.documents.statements import Statement
from derivations.documents.syntax import Arrow
from derivations.documents.verdicts import NOT_UNDERSTOOD, Claim, Finding, Intent

__all__ = ["FAILED", "Report", "check_file", "check_text"]

INEQUALITIES = frozenset("<>≤≥≠")
_GOES_ON = re.compile(  # what may stand between a formula and `= 3`, which goes on with it
    r"(?:\b(?:and|which|that|this|is|so|thus|hence|then|therefore|or|also|i\.?e)\b|也就是|所以|因此|于是|於是|从而|從而|即|故"
    r"|つまり|すなわち|[\W_])*",
    re.IGNORECASE,
)
FORMULAS = ("identity", "chain", "derivative", "gradient", "index", "nearest", "canonical")  # checks of letters
MOST_LINKS = 100  # of a chain: every link is held against the sides before it


@dataclass(frozen=True)
class Report:
    """The claims in one file, and the problems met while reading it."""

    file: str
    claims: tuple[Claim, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Read:
    """A formula with its parsed statements. `beside` are the blocks before and after its own block."""

    passage: Passage
    block: Block
    beside: tuple[Block | None, Block | None]
    statements: tuple[Statement, ...]
    stop: Stop | None


def check_file(path: Path, settings: Settings | None = None) -> Report:
    """Judge the formulas of a file. Raises OSError if it cannot be opened."""
    return _report(read_document(path), settings or Settings())


def check_text(text: str, form: str, file: str = "", settings: Settings | None = None) -> Report:
    """Judge the formulas of a text in a format, `markdown` for instance."""
    return _report(read_text(text, form, file), settings or Settings())


def _report(document: Document, settings: Settings) -> Report:
    preamble = read_text(settings.preamble(), "markdown", "").blocks
    whole = Document(document.file, (*preamble, *document.blocks))
    read = list(_readings(whole, settings.functions))
    statements = [statement for each in read for statement in each.statements]
    scopes = read_scopes(whole, statements, settings.convention)
    given = {id(block) for block in preamble}
    claims = [claim for each in read if id(each.block) not in given for claim in _written(each, scopes)]
    return Report(document.file, tuple(claims), document.problems)


def _readings(document: Document, functions: frozenset[str]) -> Iterator[_Read]:
    """Read every formula of a document, in order."""
    number = 0
    last: Statement | None = None  # of the formula before, where it was read to its end
    beside = zip((None, *document.blocks), (*document.blocks, None)[1:], strict=False)
    for block, around, section in zip(document.blocks, beside, section_numbers(document), strict=True):
        for place, passage in enumerate(block.passages):
            if passage.syntax == "prose":
                continue
            reading = with_amount(read_formula(passage.text, passage.syntax, functions), block.behind(place))
            here = _statements(reading, passage, block, section, number)
            goes_on = last is not None and (passage.display or last.block is block or last.block is around[0])
            if here and last is not None and goes_on and last.section == section and not _is_of_another(place, block):
                chain = last.continued_by(here[0].chain)
                if chain is not None:
                    here = (replace(here[0], chain=chain, continues=True), *here[1:])
            yield _Read(passage, block, around, here, reading.stopped)
            last = here[-1] if here and reading.stopped is None else None
            number += len(reading.statements)


def _is_of_another(place: int, block: Block) -> bool:
    """Return whether words in front of `= 3` say what is 3: the ratio in `a = 4, ratio = 3`, and not a."""
    passage = block.passages[place]
    before = block.passages[place - 1] if place else passage
    return not passage.display and not before.is_formula and _GOES_ON.fullmatch(before.text) is None


def _statements(reading: Reading, passage: Passage, block: Block, section: int, number: int) -> tuple[Statement, ...]:
    chains = enumerate(reading.statements, number)
    return tuple(Statement(chain, passage, block, section, each) for each, chain in chains)


def _written(read: _Read, scopes: Scopes) -> list[Claim]:
    """Return the claims of one formula, which has one budget."""
    with budget_of():
        return list(_claims(read, scopes))


def _claims(read: _Read, scopes: Scopes) -> Iterator[Claim]:
    """Yield the claims of one formula. The part that could not be parsed comes last."""
    for statement in read.statements:
        if len(statement.links) > MOST_LINKS:
            chain, reason = statement.chain, f"a chain of more than {MOST_LINKS} links is not judged: take it apart"
            yield claim_of(read.passage, chain.start, chain.end, [Finding("unknown", "too long", reason)])
            continue
        scope = scopes.at(statement)
        for link in statement.links or (None,):
            findings, intent = findings_of(statement, link, scope), intent_of(statement, link, scope)
            wrong = any(finding.verdict == "wrong" for finding in findings)
            if wrong and is_denied(read.passage, read.block, *read.beside):
                intent = Intent.DENIES
                findings = [Finding("unknown", "denied", intent.undecided)]
            elif wrong and (
                (_is_inequality(statement, link) and is_condition(statement))
                or (link == 0 and is_operand(statement))
                or _follows(statement, link, findings)
            ):
                findings = [Finding("unknown", "condition", intent.undecided)]
            if findings or link is not None:
                yield claim_of(read.passage, *stretch_of(statement, link), findings, intent)
    if read.stop is not None:
        start = max((statement.chain.end for statement in read.statements), default=0)
        findings = [Finding("unknown", NOT_UNDERSTOOD, read.stop.reason)]
        yield claim_of(read.passage, start, len(read.passage.text), findings)


def _follows(statement: Statement, link: int | None, findings: Iterable[Finding]) -> bool:
    r"""Return whether a link in letters follows from one before it, `x^2 + z^2 = 1 \to z' = -x / z`."""
    before = statement.chain.relations[: link or 0]
    first = next((number for number, each in enumerate(before) if isinstance(each, Arrow)), None)
    supposed = first is not None and any(not isinstance(each, Arrow) for each in before[:first])
    return supposed and all(each.check in FORMULAS for each in findings if each.verdict == "wrong")


def _is_inequality(statement: Statement, link: int | None) -> bool:
    return link is not None and statement.chain.relations[link] in INEQUALITIES
