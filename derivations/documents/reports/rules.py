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
            "The shapes that a section declares must fit in its formulas",
            "Every array of the formula is declared in this section (X in R^{n x d}, W: [512, 2048]), and sizes fit "
            "with rows as positions no more than with columns. Turn the product round, add the missing transpose, or "
            "mend the declaration.",
        ),
        Rule(
            "arithmetic",
            "A printed number must be right to within half a unit of its last digit",
            "The value was computed anew from the numbers of the line, and from the unrounded ones before it. Print "
            "the value that is given.",
        ),
        Rule(
            "gradient",
            "A gradient must be that of the document's own formula",
            "The derivative was computed from the definition in reach. Mend the order of the product, the transpose or "
            "the layout.",
        ),
        Rule(
            "derivative",
            "Derivatives that are multiplied must cancel as the chain rule has it",
            "One of the fractions is turned round. Turn it.",
        ),
        Rule(
            "naming",
            "A name is defined",
            "A remark: nothing else in the section defines it, and nothing was decided.",
        ),
        Rule(
            "identity",
            "Both sides of the same letters must be equal",
            "The judge refuted the equation under every typing of its letters, with the document's own definitions put "
            "in. The numbers that are printed give two values; mend the place that is named.",
        ),
        Rule(
            "nearest",
            "A formula that a known name stands before must be the formula of that name",
            "The judge proved that one edit makes it the known formula, in any letters. Mend the place that is named.",
        ),
        Rule(
            "parallel",
            "A label must stand with its own letter, as in all definitions beside it",
            "Of definitions such as Q = X W_Q, K = X W_K and V = X W_V one has the label of another. Mend the label.",
        ),
    )
}


def rule_of(check: str) -> Rule:
    """Return the rule of a finding's check; one without words for an id that is not listed."""
    return RULES.get(check.partition(".")[0], Rule(check, f"The check {check}", "See the reason."))
