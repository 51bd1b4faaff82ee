"""Judging a document: every formula is read, placed in its scope, and given to the checks, claim by claim.

Definition   a claim is one link of a chain (`a = b` in `a = b = c`), or a chain without links of which a check says
             something; what was not understood is a claim as well, and unknown. A mention of a letter claims nothing
Result       `check_file(path)` is a `Report`: claims in the order of the document, at most one for a stretch of it
Raises       nothing for what stands in a document: what cannot be read is a problem of the report, or unknown
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from derivations.documents.denials import is_denied
from derivations.documents.formulas import Reading, Stop, read_formula
from derivations.documents.judge import CHECKS
from derivations.documents.passages import Block, Document, Passage, Problem
from derivations.documents.readers import read_document, read_text
from derivations.documents.scope import Scope, read_scopes, section_numbers
from derivations.documents.settings import Settings
from derivations.documents.statements import Check, Statement
from derivations.documents.verdicts import Claim, Finding, settled

__all__ = ["FAILED", "Report", "check_file", "check_text"]

FAILED = "failed"  # the id of a check that raised; a defect, which tests look for
MOST_LINKS = 100  # of a chain: every link is held against the sides before it


@dataclass(frozen=True)
class Report:
    """What is said of a file."""

    file: str
    claims: tuple[Claim, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Read:
    """A formula of a block with what was read of it."""

    passage: Passage
    statements: tuple[Statement, ...]
    stop: Stop | None


def check_file(path: Path, settings: Settings | None = None) -> Report:
    """Judge the formulas of a file; OSError where it cannot be opened."""
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
    given = {id(passage) for block in preamble for passage in block.passages}
    claims = [
        claim
        for each in read
        if id(each.passage) not in given
        for claim in _claims(each, ((statement, scopes.at(statement)) for statement in each.statements))
    ]
    return Report(document.file, tuple(claims), document.problems)


def _readings(document: Document, functions: frozenset[str]) -> Iterator[_Read]:
    """Read every formula of a document, in order."""
    number = 0
    for block, section in zip(document.blocks, section_numbers(document), strict=True):
        for passage in block.formulas:
            if passage.syntax == "prose":
                continue
            reading = read_formula(passage.text, passage.syntax, functions)
            yield _Read(passage, _statements(reading, passage, block, section, number), reading.stopped)
            number += len(reading.statements)


def _statements(reading: Reading, passage: Passage, block: Block, section: int, number: int) -> tuple[Statement, ...]:
    chains = enumerate(reading.statements, number)
    return tuple(Statement(chain, passage, block, section, each) for each, chain in chains)


def _claims(read: _Read, placed: Iterable[tuple[Statement, Scope]]) -> Iterator[Claim]:
    """Yield the claims of one formula; what was not understood comes last."""
    for statement, scope in placed:
        if len(statement.links) > MOST_LINKS:
            chain, reason = statement.chain, f"a chain of more than {MOST_LINKS} links is not judged: take it apart"
            yield _claim(statement.passage, chain.start, chain.end, [Finding("unknown", "too long", reason)])
            continue
        for link in statement.links or (None,):
            findings = [finding for check in CHECKS for finding in _found(check, statement, link, scope)]
            if any(finding.verdict == "wrong" for finding in findings) and is_denied(read.passage, statement.block):
                findings = [Finding("unknown", "denied", "the sentence around it says that it does not hold")]
            if findings or link is not None:
                yield _claim(statement.passage, *_stretch(statement, link), findings)
    if read.stop is not None:
        passage, stop = read.passage, read.stop
        start = max((statement.chain.end for statement in read.statements), default=0)
        yield _claim(passage, start, len(passage.text), [Finding("unknown", "not understood", stop.reason)])


def _found(check: Check, statement: Statement, link: int | None, scope: Scope) -> Sequence[Finding]:
    """Return what a check finds; where it fails, that is said of this claim, and the rest is judged."""
    try:
        return tuple(check(statement, link, scope))
    except Exception as error:
        reason = f"a check failed on this formula ({type(error).__name__}); please report it"
        return (Finding("unknown", FAILED, reason),)


def _stretch(statement: Statement, link: int | None) -> tuple[int, int]:
    """Return where a claim stands: a link with its left side if it is the first, else from the side before on."""
    chain = statement.chain
    if link is None:
        return chain.start, chain.end
    first = chain.sides[0].start if link == 0 else chain.sides[link].end
    last = chain.end if link == len(chain.relations) - 1 else chain.sides[link + 1].end
    return first, last


def _claim(passage: Passage, start: int, end: int, findings: Sequence[Finding]) -> Claim:
    """Return a claim on a stretch of a passage, without the spaces around it and with its braces in pairs."""
    start, end = _in_pairs(passage.text, start, end)
    text = passage.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    first, last = passage.place(start), passage.place(start + len(text))
    return Claim(text, first, last, settled(findings), tuple(findings), passage)


def _in_pairs(text: str, start: int, end: int) -> tuple[int, int]:
    r"""Return a stretch that takes along the braces which close what it opened: `\mathbf{0.73` and the brace behind."""
    start += len(text[start:end]) - len(text[start:end].lstrip("} \n"))
    missing = text.count("{", start, end) - text.count("}", start, end)
    while missing > 0 and end < len(text) and text[end] == "}":
        end, missing = end + 1, missing - 1
    return start, end
