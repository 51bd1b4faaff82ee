"""Rewriting by assumed equations, from left to right: an atom is replaced for all values of its indices."""

from dataclasses import dataclass
from fractions import Fraction

from derivations.language.judge.normal_form.context import Context, Undecided
from derivations.language.judge.normal_form.contracting import averaged, contracted, flipped, permutes
from derivations.language.judge.normal_form.integers import fits
from derivations.language.judge.normal_form.matching import match
from derivations.language.judge.normal_form.sums import substitute, transform
from derivations.language.judge.normal_form.terms import Atom, Poly, contains, from_terms, scale, subtract

__all__ = ["Rewrite", "rewrite", "rewrite_rule", "rewrite_rules"]

_ROUNDS = 20


@dataclass(frozen=True)
class Rewrite:
    """`pattern = value` for all values of the indices in `limits`."""

    pattern: Atom
    value: Poly
    limits: tuple[tuple[Atom, tuple[Poly, Poly]], ...]


def rewrite_rule(left: Poly, right: Poly, limits: dict[Atom, tuple[Poly, Poly]]) -> Rewrite:
    """Return the rule for an assumed equation, solved for its left-hand side, a single atom."""
    if len(left) != 1 or left[0][1] != 1 or len(left[0][0]) != 1 or left[0][0][0][1] != 1:
        raise Undecided("the left-hand side of an assumed equation must be one entry, expectation or sum")
    ((atom, _),) = left[0][0]
    gap = dict(subtract(left, right))
    factor = Fraction(gap.pop(((atom, 1),), 0))
    rest = tuple(gap.items())
    if not factor or (factor != 1 and contains(rest, atom)):
        raise Undecided("an assumed equation that cannot be solved for its left-hand side")
    return Rewrite(atom, scale(from_terms(rest), -1 / factor), tuple(limits.items()))


def rewrite_rules(left: Poly, right: Poly, limits: dict[Atom, tuple[Poly, Poly]], context: Context) -> list[Rewrite]:
    """Return the rule for an assumed equation; for A B = I with square matrices, also the rule for B A = I."""
    rule = rewrite_rule(left, right, limits)
    other = flipped(rule.pattern, rule.value, rule.limits, context)
    return [rule] if other is None else [rule, Rewrite(*other, rule.limits)]


def rewrite(p: Poly, rules: list[Rewrite], context: Context) -> Poly:
    """Return p with the rules applied until no rule changes it."""
    # As a rewrite, A_ij -> A_ji would never end; both orders are averaged instead, once.
    symmetries = [rule for rule in rules if permutes(rule.pattern, rule.value, rule.limits)]
    rules = [rule for rule in rules if rule not in symmetries]
    p = _rewritten(p, rules, context)
    for rule in symmetries:
        p = _average(p, rule, context)
    return _rewritten(p, rules, context) if symmetries else p


def _average(p: Poly, rule: Rewrite, context: Context) -> Poly:
    return transform(p, lambda atom: averaged(rule.pattern, rule.value, rule.limits, atom, context), context)


def _rewritten(p: Poly, rules: list[Rewrite], context: Context) -> Poly:
    for _ in range(_ROUNDS):
        changed = transform(p, lambda atom: _apply(atom, rules, context), context)
        if changed == p:
            return p
        p = changed
    raise Undecided("rewriting with the assumed equations does not end")


def _apply(atom: Atom, rules: list[Rewrite], context: Context) -> Poly | None:
    for rule in rules:
        free = dict(rule.limits)
        for binding in match(rule.pattern, atom, free, {}):
            if fits(binding, free, context):
                return substitute(rule.value, binding, context)
        if rule.pattern[0] == "sum" and atom[0] == "sum":
            found = contracted(rule.pattern, rule.value, rule.limits, atom, context)
            if found is not None:
                return found
    return None
