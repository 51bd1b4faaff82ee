"""The zero test: a polynomial vanishes when its normal form is 0.

Denominators of several terms are cleared. Then the fallback rules are tried, one at a time.

A nonzero normal form refutes nothing: the answer "not proved to vanish" is `unknown` until a counterexample is found.
"""

from collections.abc import Iterator

from derivations.language.judge.normal_form.algebra import over
from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.fallback_rules import FALLBACK_RULES
from derivations.language.judge.normal_form.sums import settle, transform
from derivations.language.judge.normal_form.terms import Atom, Number, Poly

__all__ = ["vanishes"]

_ROUNDS = 8


def vanishes(p: Poly, context: Context, rounds: int = _ROUNDS) -> bool:
    """Return whether p is proved to be 0 for all values that satisfy the conditions kept in the context."""
    # what follows from the kept conditions may be used: they are settled elsewhere, without it
    if not context.deriving:
        with context.derivation():
            return vanishes(p, context, rounds)
    for left in range(rounds, 0, -1):
        p = settle(p, context)
        if not p:
            return True
        rebuilt = transform(p, lambda atom: None, context)
        if not rebuilt:
            return True
        denominators = _denominators(rebuilt)
        if not denominators:
            return any(vanishes(other, context, left - 1) for other in _further(rebuilt, context))
        p = over(rebuilt, denominators, context)  # each is nonzero by a condition already kept
    return False


def _further(p: Poly, context: Context) -> Iterator[Poly]:
    """Yield the results of the first fallback rule that changes p."""
    for rule in FALLBACK_RULES:
        others = [other for other in rule(p, context) if other != p]
        if others:
            # one rule at a time: the next round reads the result, and may then need another rule
            yield from others
            return


def _denominators(p: Poly) -> dict[Atom, Number]:
    """Return the sums of several terms in denominators, with the most negative exponent of each."""
    lowest: dict[Atom, Number] = {}
    for mono, _ in p:
        for atom, exponent in mono:
            if atom[0] == "poly" and exponent < 0:
                lowest[atom] = min(exponent, lowest.get(atom, 0))
    return lowest
