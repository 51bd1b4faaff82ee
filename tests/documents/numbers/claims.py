"""The claims of a Markdown text that is written in a test, as all checks together see them."""

from __future__ import annotations

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim, Finding

__all__ = ["last", "last_claim", "verdicts"]


def last(formula: str, before: str = "", heading: str = "") -> Finding:
    """Return what is said of a formula behind others in a section."""
    return last_claim(formula, before, heading).finding


def last_claim(formula: str, before: str = "", heading: str = "") -> Claim:
    """Return the claim of a formula behind others in a section."""
    return check_text(f"# {heading or 'A section'}\n\n{before}\n\n${formula}$\n", "markdown").claims[-1]


def verdicts(text: str) -> list[str]:
    """Return what is said of the claims of a text, in order."""
    return [claim.finding.verdict for claim in check_text(text, "markdown").claims]
