"""One slip in a published formula of cost: an exponent, a sign, a letter, a coefficient.

Definition   two sums of monomials are one slip apart if one is the other times a monomial, if one term stands for
             another, or if some coefficients have one ratio to those that are published
Result       `slip_of(said, published, ...)`: what differs, in words; None where it is more than one slip, or where a
             convention may explain it; `is_explained(said, published, ...)` says the latter
Assumes      a count may be for one text, one token, one layer or one head, of the visible half of the pairs, of one
             pass or of several, in other bytes: nothing of that squares a letter, turns the sign of a term, or goes by
             a width; that a coefficient differs is certain only of a formula that is cited, or by its prime factors;
             parameters are counted in bytes where memory is spoken of, a table of tokens once or twice
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from sympy import Expr, Rational, Symbol, primefactors

from derivations.costs.published.formula import Published
from derivations.documents.judge.costs.bytes_of_training import MEMORY
from derivations.documents.scope.lexicon import spelled_meaning

__all__ = ["is_explained", "slip_of"]

POSITIONS, TOKENS = "positions", "tokens that there are"
COUNTED = frozenset({"texts", POSITIONS, "layers", "heads", "devices"})  # a cost may be for one of them, or for all
WIDTHS: Mapping[str, str] = {
    "width of the model": "model width",
    "hidden width of the feed-forward network": "hidden width",
}
OTHER_WIDTHS = frozenset({"model width", "hidden width", "key width", "value width", "head width"})
MOST_OF_A_RATIO = 9  # 1/2, 4/3, 2/9: parts of a pass or of the bytes; 73/72 and 10 are none
OF_SOME_TERMS = (Rational(1, 2), Rational(2), Rational(2, 3), Rational(4, 3))  # half of the pairs; one pass repeated
REPEATED = "second forward pass"  # what a formula that counts it already is held against
OF_OTHER_BYTES = (2, 4)  # 1, 2, 4 or 8 bytes for a number
_TWO_BYTES = re.compile(
    r"(?<![\d.,])(?:2|two)[ -]bytes?|(?<!\d)16[ -]?bit|fp16|bf16|float16|half[ -]precision|半精度"
    r"|(?<!\d)2 ?(?:字[节節]|バイト)"
)
_MORE_BYTES = re.compile(
    r"(?<![\d.,])(?:4|8|four|eight)[ -]bytes?|(?<!\d)(?:32|64)[ -]?bit|(?:fp|float)(?:32|64)|(?:single|double|full)[ -]"
    r"precision|[单單単双雙倍]精度|(?<!\d)[48] ?(?:字[节節]|バイト)"
)
OTHER_ATTENTION = (  # words by which a layer may have two attentions, or fewer keys than queries
    "cross", "encoder", "decoder", "gqa", "mqa", "group", "multi-query", "交叉", "编码", "編碼", "解码", "解碼", "分组",
    "分組", "エンコーダ", "デコーダ", "クロス", "グループ",
)  # fmt: skip
ALL_PAIRS = ("every pair", "all pairs", "每一对", "每一對", "所有位置对", "所有位置對", "すべての対", "全ての対")
MASKED = ("mask", "causal", "visible", "half", "掩码", "掩碼", "遮罩", "因果", "マスク", "一半", "半分")
HALVES = ("context", "half of the diagonal")  # what a formula leaves out that counts half of the pairs
Terms = Mapping[Expr, Expr]
Powers = Mapping[Symbol, int]


def slip_of(said: Expr, published: Expr, formula: Published, *, cited: bool, near: str = "") -> str | None:
    """Return what differs between two expanded counts, if it is one slip.

    `cited` says that the place is named, `near` are the words around.
    """
    first, second = (each.as_coefficients_dict() for each in (said, published))
    if len(first) != len(second) or not _known(said, published, formula):
        return None
    if first.keys() == second.keys():
        return _other_factor(first, second, formula, cited=cited, near=near.lower())
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


def is_explained(said: Expr, published: Expr, formula: Published, near: str) -> bool:
    """Say whether a convention explains one ratio between some coefficients of two expanded counts."""
    first, second = (each.as_coefficients_dict() for each in (said, published))
    changed, ratio = _change(first, second) if first.keys() == second.keys() else ([], None)
    return ratio is not None and ratio > 0 and _explained(ratio, changed, second, formula, near.lower())


def _other_factor(first: Terms, second: Terms, formula: Published, *, cited: bool, near: str) -> str | None:
    """Return what differs where the terms are the same."""
    changed, ratio = _change(first, second)
    if ratio is None:
        return None
    if ratio < 0:
        return "a sign is turned" if ratio == -1 else None
    unusual = max(ratio.p, ratio.q) > MOST_OF_A_RATIO and "bytes" not in formula.units
    if len(changed) in (1, len(second)) and unusual:
        return "a factor differs"
    return "a factor differs" if cited and not _explained(ratio, changed, second, formula, near) else None


def _change(first: Terms, second: Terms) -> tuple[list[Expr], Rational | None]:
    """Return the terms with other coefficients, and their ratio; None where they have several, or none."""
    changed = [each for each in second if first[each] != second[each]]
    ratios = {Rational(first[each] / second[each]) for each in changed}
    return changed, ratios.pop() if len(ratios) == 1 else None


def _whole_explained(ratio: Rational, formula: Published, near: str) -> bool:
    """Say whether a count may be so many times another: by its passes, or the bytes of each number."""
    few, many = sorted((ratio.p, ratio.q))
    if "FLOPs" in formula.units:
        return set(primefactors(few)) | set(primefactors(many)) <= {2, 3}
    if "bytes" in formula.units:
        told = _TWO_BYTES.search(near) and not _MORE_BYTES.search(near)
        return few == 1 and many in (OF_OTHER_BYTES[:1] if told else OF_OTHER_BYTES)
    in_bytes = any(word in near for word in MEMORY)
    return few == 1 and many % 2 == 0 and set(primefactors(many)) <= {2, 3} and (many == 2 or in_bytes)


def _explained(ratio: Rational, changed: Collection[Expr], terms: Terms, formula: Published, near: str) -> bool:
    """Say whether terms may be so many times others: all; a table of tokens; of FLOPs only those of the pairs."""
    if len(changed) == len(terms):
        return _whole_explained(ratio, formula, near)
    repeated = REPEATED in formula.against
    if ratio not in (OF_SOME_TERMS[:2] if repeated else OF_SOME_TERMS):
        return False
    if formula.units == "parameters":
        of_tables = all(_power_of(TOKENS, each, formula) for each in changed)
        return of_tables or any(word in near for word in OTHER_ATTENTION)
    if "FLOPs" not in formula.units:
        return True
    lengths = {each: _power_of(POSITIONS, each, formula) for each in terms}
    of_pairs = all(lengths[each] == max(lengths.values()) for each in changed)
    if ratio == Rational(1, 2) and any(word in near for word in ALL_PAIRS):
        return any(word in near for word in MASKED)
    return of_pairs and (ratio != 2 or any(each.cost in HALVES for each in formula.departures))


def _power_of(meaning: str, term: Expr, formula: Published) -> int:
    """Return the power of the letter with a meaning in a term."""
    letter = next((each.symbol.name for each in formula.letters if each.meaning == meaning), "")
    return dict(_powers(term)).get(Symbol(letter), 0)


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
