"""Counts in a section that sets the hidden width of its feed-forward networks to a multiple of the model width.

Result       `set_width(scope)`: the letter of the model width, and the hidden width in our sizes; None where the
             section does not set it, or sets it to two things
             `refuted_by_width(said, part, quantity, hidden)`: the cost that a count should be, with such a width
Assumes      a network may be one of several, or have three matrices; a layer may have fewer keys than queries, or some
             more matrices of d x d, each of 2 d^2 FLOPs for a token; else half of the pairs of positions may be counted
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Rational, Symbol, expand

from derivations.documents.judge.algebra.scalar_links import USUAL, related
from derivations.documents.judge.algebra.scalars import scalar
from derivations.documents.judge.costs.count_agreement import by_monomial, leading_terms, lengths, power_of
from derivations.documents.judge.costs.part_costs import Cost, costs
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name
from derivations.symbols import d_ff, d_model, n

__all__ = ["SetWidth", "refuted_by_width", "set_width"]

HIDDEN = Name("d", (Name("ff"),))
NETWORK, LAYER = "feed-forward network", "layer"
OF_ANOTHER_FORM = (Rational(3, 2), Rational(3, 4))  # three matrices for two, in multiply-adds too
MOST_MORE = 8  # matrices of a layer: those of another attention, and of a gate
HALF = Rational(1, 2)  # of the pairs, seen through a causal mask
SCALES = (Rational(1), Rational(1, 2))  # FLOPs, multiply-adds
MODEL_WIDTHS = ("d_model", "d", "h", "H")  # as the right side calls it


@dataclass(frozen=True)
class SetWidth:
    """The letter of the model width, with the hidden width that the section sets."""

    letter: Symbol
    hidden: Expr


def set_width(scope: Scope) -> SetWidth | None:
    """Return what a section sets the hidden width to."""
    said = {scalar(each, scope) for each in scope.definitions(HIDDEN)}
    width = said.pop() if len(said) == 1 else None
    if width is None:
        return None
    factor, letter = width.as_coeff_Mul()
    return SetWidth(letter, factor * d_model) if isinstance(letter, Symbol) and str(letter) in MODEL_WIDTHS else None


def refuted_by_width(said: Expr, part: str, quantity: str, hidden: Expr) -> Cost | None:
    """Return the cost that a count of a network or a layer should be; None where it may be of something else."""
    operations = quantity == "operations"
    if part not in (NETWORK, LAYER) or quantity not in ("operations", "parameters"):
        return None
    explained, found = _is_of_networks if part == NETWORK else _is_of_a_layer, None
    for cost in costs(part, quantity):
        value = expand(related(cost.value.xreplace({d_ff: hidden}), USUAL[:2]))
        for fewer, _ in lengths(said, value, operations=operations):
            if part == NETWORK and _differs_in_one(said, fewer):
                return Cost(fewer, cost.of, cost.result)
            first, second = (leading_terms(each) if part == NETWORK else each for each in (said, fewer))
            if by_monomial(first).keys() == by_monomial(second).keys() and _is_whole(said):
                if explained(first, second):
                    return None
                found = found or Cost(second, cost.of, cost.result)
    return found


def _is_whole(said: Expr) -> bool:
    """Say whether the coefficients of a count are no fractions, which may be rounded."""
    return all(each.is_Integer for each in by_monomial(said).values())


def _differs_in_one(said: Expr, network: Expr) -> bool:
    """Say whether the weights alone are counted otherwise, or a sign is turned: no part of a network has all biases."""
    first, second = by_monomial(said), by_monomial(network)
    changed = [each for each in second if first.get(each) != second[each]]
    if len(second) < 2 or len(changed) != 1 or first.keys() != second.keys():
        return False
    (term,) = changed
    return term in by_monomial(leading_terms(network)) or first[term] < 0


def _is_of_networks(said: Expr, network: Expr) -> bool:
    """Say whether a count may be of some networks, of a part of one, or of one with a gate."""
    ratio = (said / network).cancel()
    return not ratio.is_Rational or 1 in (ratio.p, ratio.q) or ratio in OF_ANOTHER_FORM


def _is_of_a_layer(said: Expr, layer: Expr) -> bool:
    """Say whether a count may be of a layer with fewer matrices, or with some more; of FLOPs in n d^2 and n^2 d."""
    first, second = by_monomial(said), by_monomial(layer)
    most = max(power_of(each, n) for each in second)
    pairs = [each for each in second if power_of(each, n) == most]
    others = [each for each in second if power_of(each, n) < most]
    if len(pairs) != 1 or len(others) != 1:
        return True
    (pair,), (product,) = pairs, others
    for scale in SCALES:
        more = (first[product] / scale - second[product]) / 2
        some = more < 0 or (more.is_Integer and more <= MOST_MORE)
        seen = first[pair] / (scale * second[pair])
        if (some and seen == 1) or (more == 0 and seen == HALF):
            return True
    return False
