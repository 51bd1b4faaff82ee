"""One slip in a published formula of cost: an exponent, a sign, a letter, a coefficient.

Definition   two sums of monomials are one slip apart if one is the other times a monomial, if one term stands for
             another, or if some coefficients have one ratio to those that are published
Result       `slip_of(said, published, ...)`: what differs, in words; None where it is more than one slip, or where a
             convention may explain it
Assumes      a count may be for one text, one token, one layer or one head, of the visible half of the pairs, of one
             pass or of several, in other bytes: nothing of that squares a letter, turns the sign of a term, or goes by
             a width; that a coefficient differs is certain only of a formula that is cited, or by its prime factors
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sympy import Expr, Rational, Symbol, primefactors

from derivations.documents.scope.lexicon import spelled_meaning
from derivations.published.formula import Published

__all__ = ["slip_of"]

POSITIONS = "positions"
COUNTED = frozenset({"texts", POSITIONS, "layers", "heads", "devices"})  # a cost may be for one of them, or for all
WIDTHS: Mapping[str, str] = {
    "width of the model": "model width",
    "hidden width of the feed-forward network": "hidden width",
}
OTHER_WIDTHS = frozenset({"model width", "hidden width", "key width", "value width", "head width"})
MOST_OF_A_RATIO = 9  # 1/2, 4/3, 2/9: parts of a pass or of the bytes; 73/72 and 10 are none
OF_SOME_TERMS = (Rational(1, 2), Rational(2), Rational(2, 3), Rational(4, 3))  # half of the pairs; one pass repeated
Terms = Mapping[Expr, Expr]
Powers = Mapping[Symbol, int]


def slip_of(said: Expr, published: Expr, formula: Published, *, cited: bool) -> str | None:
    """Return what differs between two expanded counts, if it is one slip; `cited` says that the place is named."""
    first, second = (each.as_coefficients_dict() for each in (said, published))
    if len(first) != len(second) or not _known(said, published, formula):
        return None
    if first.keys() == second.keys():
        return _other_factor(first, second, formula, cited=cited)
    kept = [each for each in second if first.get(each) == second[each]]
    if len(second) > 1 and len(kept) == len(second) - 1:
        return _other_term(first, second, same_letters=said.free_symbols == published.free_symbols)
    if len(second) > 1 or cited:
        return _all_terms_differ(first, second, formula)
    return None


def _known(said: Expr, published: Expr, formula: Published) -> bool:
    """Say whether a letter that the formula has not is the name of a width that surely is another one."""
    meanings = _meanings(formula)
    lost = {WIDTHS.get(meanings.get(str(each), "")) for each in published.free_symbols - said.free_symbols}
    return all(
        lost - {None, meaning} and meaning in OTHER_WIDTHS
        for meaning in (spelled_meaning(str(each)) for each in said.free_symbols - published.free_symbols)
    )


def _meanings(formula: Published) -> Mapping[str, str]:
    return {str(each.symbol): each.meaning for each in formula.letters}


# --- coefficients ---


def _other_factor(first: Terms, second: Terms, formula: Published, *, cited: bool) -> str | None:
    """Return what differs where the terms are the same."""
    changed = [each for each in second if first[each] != second[each]]
    ratios = {Rational(first[each] / second[each]) for each in changed}
    if len(ratios) != 1:
        return None
    (ratio,) = ratios
    if ratio < 0:
        return "a sign is turned" if ratio == -1 else None
    whole = len(changed) == len(second)
    unusual = max(ratio.p, ratio.q) > MOST_OF_A_RATIO and "bytes" not in formula.units
    if (whole or len(changed) == 1) and unusual:
        return "a factor differs"
    if cited and not (_whole_explained(ratio, formula) if whole else _explained(ratio, changed, second, formula)):
        return "a factor differs"
    return None


def _whole_explained(ratio: Rational, formula: Published) -> bool:
    """Say whether a count may be so many times another: by its passes, or the bytes of each number."""
    few, many = sorted((ratio.p, ratio.q))
    if "FLOPs" not in formula.units and (few > 1 or ("bytes" not in formula.units and many % 2)):
        return False
    return set(primefactors(few)) | set(primefactors(many)) <= {2, 3}


def _explained(ratio: Rational, changed: Collection[Expr], terms: Terms, formula: Published) -> bool:
    """Say whether terms may be so many times others; of FLOPs only those of the pairs of positions."""
    if "FLOPs" not in formula.units:
        return ratio in OF_SOME_TERMS
    length = next((each.symbol.name for each in formula.letters if each.meaning == POSITIONS), "")
    lengths = {each: dict(_powers(each)).get(Symbol(length), 0) for each in terms}
    return ratio in OF_SOME_TERMS and all(lengths[each] == max(lengths.values()) for each in changed)


# --- letters and exponents ---


def _other_term(first: Terms, second: Terms, *, same_letters: bool) -> str | None:
    """Return what differs where one term stands for another."""
    (old,), (new,) = second.keys() - first.keys(), first.keys() - second.keys()
    ranges = _ranges(second)
    beyond = any(not ranges[each][0] <= power <= ranges[each][1] for each, power in _powers(new) if each in ranges)
    same = same_letters and first[new] == second[old]
    return "a term differs" if beyond or same else None


def _all_terms_differ(first: Terms, second: Terms, formula: Published) -> str | None:
    """Return what differs where all terms have one monomial more, which is no convention."""
    new = next(iter(first))
    ratios = (new / old for old in second if second[old] == first[new])
    ratio = next((each for each in ratios if {each * old: second[old] for old in second} == first), None)
    if ratio is None:
        return None
    ranges, meanings = _ranges(second), _meanings(formula)
    for letter, power in _powers(ratio):
        meaning = meanings.get(str(letter))
        if meaning not in COUNTED or (power > 0 and ranges[letter][0 if meaning == POSITIONS else 1] > 0):
            return f"the power of {letter} differs"
    return None


def _ranges(terms: Terms) -> Mapping[Symbol, tuple[int, int]]:
    """Return the lowest and the highest power of each letter."""
    powers = [dict(_powers(each)) for each in terms]
    letters = {letter for each in powers for letter in each}
    return {
        letter: (min(each.get(letter, 0) for each in powers), max(each.get(letter, 0) for each in powers))
        for letter in letters
    }


def _powers(monomial: Expr) -> Iterator[tuple[Symbol, int]]:
    """Yield the letters of a monomial with their powers."""
    for base, power in monomial.as_powers_dict().items():
        if isinstance(base, Symbol) and power.is_Integer:
            yield base, int(power)
