"""Where a claim stands, and what all checks together say of it.

Definition   a claim is one link of a chain with what stands on both sides of it, or a chain that has no link
Result       `claim_of` is a claim on a stretch, `stretch_of` the stretch of a link, `findings_of` what the checks find
Raises       nothing: a check that fails says so of this claim, and the rest is judged
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.decisions import DECISIONS
from derivations.documents.formulas.respelling import respelled
from derivations.documents.judge import CHECKS
from derivations.documents.passages import Passage
from derivations.documents.policy import in_policy, of_its_kind
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.verdicts import NO_CHECK, Claim, Finding, Intent, settled

__all__ = ["FAILED", "claim_of", "failed", "findings_of", "stretch_of"]

FAILED = "failed"  # the id of a check that raised; a defect, which tests look for


STEPS = 100_000  # of one decision


def failed(what: str, error: Exception) -> Finding:
    """Return the finding of an unexpected error; the rest of the document is judged."""
    return Finding("unknown", FAILED, f"{what} ({type(error).__name__}); please report it")


def findings_of(statement: Statement, link: int | None, scope: Scope) -> list[Finding]:
    """Return what the checks find; where one fails, that is said of this claim."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            findings.extend(of_its_kind(each, statement, link, scope) for each in check(statement, link, scope))
        except TooCostly:
            return [Finding("unknown", "too costly", "the formula costs more than its budget: write it as several")]
        except Exception as error:
            findings.append(failed("a check failed on this formula", error))
    for check in DECISIONS:
        try:
            with budget_of(STEPS):  # what one of them costs takes nothing from the others
                findings.extend(check(statement, link, scope))
        except TooCostly:
            continue
        except Exception as error:
            findings.append(failed("a check failed on this formula", error))
    return findings


def stretch_of(statement: Statement, link: int | None) -> tuple[int, int]:
    """Return where a claim stands: a link with its left side if it is the first, else from the side before on."""
    chain = statement.chain
    if link is None:
        return chain.start, chain.end
    first = chain.sides[0].start if link == 0 else chain.sides[link].end
    last = chain.end if link == len(chain.relations) - 1 else chain.sides[link + 1].end
    return first, last


def claim_of(
    passage: Passage, start: int, end: int, findings: Sequence[Finding], intent: Intent | None = None
) -> Claim:
    """Return a claim on a stretch of a passage, without the spaces around it and with its braces in pairs.

    What the checks found is what the policy lets them say.
    """
    if not findings and intent is not None:
        findings = (Finding("unknown", NO_CHECK, intent.undecided),)
    findings = tuple(map(in_policy, findings))
    start, end = _in_pairs(passage.text, start, end)
    text = passage.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    first, last = passage.place(start), passage.place(start + len(text))
    said = _in_the_spelling_of(text, passage, settled(findings))
    return Claim(text, first, last, said, findings, passage, intent)


def _in_the_spelling_of(text: str, passage: Passage, finding: Finding) -> Finding:
    """Return a finding whose formula is written as its author writes."""
    if finding.right is None or passage.syntax not in ("latex", "plain"):
        return finding
    return replace(finding, right=respelled(finding.right, text, passage.syntax))


def _in_pairs(text: str, start: int, end: int) -> tuple[int, int]:
    r"""Return a stretch that takes along the braces which close what it opened: `\mathbf{0.73` and the next brace."""
    start += len(text[start:end]) - len(text[start:end].lstrip("} \n"))
    missing = text.count("{", start, end) - text.count("}", start, end)
    while missing > 0 and end < len(text) and text[end] == "}":
        end, missing = end + 1, missing - 1
    return start, end
