"""The checks by their ids, as a reader of a report meets them: a line on each, and what to do.

Definition   the id of a finding is that of its check, or stands below it after a dot ("shapes.product")
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "Rule", "rule_of"]


@dataclass(frozen=True)
class Rule:
    """What a check looks for, and how its findings are settled."""

    id: str
    title: str
    help: str


RULES = {
    rule.id: rule
    for rule in (
        Rule(
            "shapes",
            "Products must be conformable, and what is added or equated must have one shape",
            "The shapes are those that the section declares (X in R^{n x d}, W: [512, 2048]) or that its other "
            "formulas imply. Turn the product round, add the missing transpose, or mend the declaration.",
        ),
        Rule(
            "consistency",
            "A formula must agree with what its own section says",
            "A number, a size or a definition contradicts another line of the section. Mend the one that is wrong; "
            "where one letter stands for two things, take another letter for one of them.",
        ),
        Rule(
            "arithmetic",
            "A printed number must be right to within half a unit of its last digit",
            "The value was computed anew from the numbers of the line, and from the unrounded ones before it. Print "
            "the value that is given.",
        ),
        Rule(
            "chain",
            "Every link of a chain of equations must hold",
            "The link that is named does not follow by exact algebra. Mend one of its two sides.",
        ),
        Rule(
            "counting",
            "Parameters, FLOPs and bytes must be those of the layer that is described",
            "The count was read off the equations of the layer. Mind the factor 2 between multiply-adds and FLOPs, the "
            "biases and norms, and the factor 3 between a forward pass and a step of training.",
        ),
        Rule(
            "canonical",
            "A known formula must be the known formula",
            "The formula was matched with a result of the catalogue up to letters and convention. `derivations show ID "
            "--steps` prints the result with its derivation.",
        ),
    )
}


def rule_of(check: str) -> Rule:
    """Return the rule of a finding's check; one without words for an id that is not listed."""
    return RULES.get(check.partition(".")[0], Rule(check, f"The check {check}", "See the reason."))
