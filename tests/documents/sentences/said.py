"""What `derivations check` says of a text, as pairs of a verdict and the text of the claim."""

from derivations.documents.checking import check_text
from derivations.documents.verdicts import Claim

__all__ = ["claims", "only", "verdicts"]


def claims(text: str) -> list[Claim]:
    """Return the claims of a Markdown text."""
    return list(check_text(text, "markdown").claims)


def verdicts(text: str) -> list[str]:
    """Return the verdicts on a text in order."""
    return [claim.finding.verdict for claim in claims(text)]


def only(text: str) -> Claim:
    """Return the one claim of a text."""
    (claim,) = claims(text)
    return claim
