"""The position of a claim in its document, and the findings of all checks about it.

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
    """Return the finding that reports an unexpected error. The rest of the document is still judged."""
    return Finding("unknown", FAILED, f"{what} ({type(error).__name__}); please report it")


def findings_of(statement: Statement, link: int | None, scope: Scope) -> list[Finding]:
    """Return the findings of all checks. A check that raises an error gives a finding that reports it."""
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
                findings.extend(of_its_kind(each, statement, link, scope) for each in check(statement, link, scope))
        except TooCostly:
            continue
        except Exception as error:
            findings.append(failed("a check failed on this formula", error))
    return findings


def stretch_of(statement: Statement, link: int | None) -> tuple[int, int]:
    """Return the start and the end of a claim. Only the first link of a chain includes its left side."""
    chain = statement.chain
    if link is None:
        return chain.start, chain.end
    first = chain.sides[0].start if link == 0 else chain.sides[link].end
    last = chain.end if link == len(chain.relations) - 1 else chain.sides[link + 1].end
    return first, last


def claim_of(
    passage: Passage, start: int, end: int, findings: Sequence[Finding], intent: Intent | None = None
) -> Claim:
    """Return a claim about a range of a passage, without the spaces around it and with balanced braces.

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
    """Return a finding with its corrected formula in the author's spelling."""
    if finding.right is None or passage.syntax not in ("latex", "plain"):
        return finding
    return replace(finding, right=respelled(finding.right, text, passage.syntax))


def _in_pairs(text: str, start: int, end: int) -> tuple[int, int]:
    r"""Return the range, extended to the braces that close those opened in it: `\mathbf{0.73` and the next brace."""
    start += len(text[start:end]) - len(text[start:end].lstrip("} \n"))
    missing = text.count("{", start, end) - text.count("}", start, end)
    while missing > 0 and end < len(text) and text[end] == "}":
        end, missing = end + 1, missing - 1
    return start, end
