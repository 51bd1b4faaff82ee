"""Titles and advice for the checks by their ids, for the readers of a report.

Definition   the id of a finding is that of its check, or stands below it after a dot ("shapes.product")
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "Rule", "rule_of"]


@dataclass(frozen=True)
class Rule:
    """What a check looks for, and what to do about its findings."""

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
        Rule(
            "gradient",
            "A gradient must be that of the document's own formula",
            "The derivative was computed from the definition in reach. Mend the order of the product, the transpose or "
            "the layout.",
        ),
        Rule(
            "derivative",
            "A derivative that is written out must have the numbers of the derivative",
            "The judge compared it with the derivative of the formula on the left. Mend the factor, the sign, the "
            "index or the transpose.",
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
        Rule(
            "pattern",
            "What a document writes several times in one way must be written so",
            "Two other formulas or more are the same up to the names of letters, but for one sign, transpose or order. "
            "Mend the place that is named.",
        ),
        Rule(
            "contraction",
            "Two arrays must be multiplied along the same axes in all of a document",
            "Two other formulas or more sum over the same axes of two arrays, the columns in Q K^T, and this one over "
            "others. Mend the transpose or the order that is named.",
        ),
        Rule(
            "index",
            "A sum must run over an index that stands in it",
            "Every term of the sum is the same, and has an index that nothing binds. Sum over that index.",
        ),
    )
}


def rule_of(check: str) -> Rule:
    """Return the rule of a finding's check, or a general one for an id that is not listed."""
    return RULES.get(check.partition(".")[0], Rule(check, f"The check {check}", "See the reason."))
