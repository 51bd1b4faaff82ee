"""Published formulas of cost in their own letters: `s b h L (10 + 24 / t + 5 a s / (h t))`, `12 l h^2 (1 + ...)`.

Definition   a count is a published formula if it has the same letters, three or more, and is equal to it by algebra;
             what is said of a layer may be said of L of them
Result       conditional  under the convention of the paper, with what it takes for given
             wrong        where the words around name the paper, and a count in its letters differs from its formula by
                          a factor or a term that no other convention explains
Assumes      so many letters with these factors come together in no other way; a count may be of the visible half, of
             the forward pass or of a pass more, so that a ratio of small numbers refutes nothing
Source       the formulas of `derivations.published`, each with its paper
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from sympy import Expr, Symbol, expand

from derivations.documents.judge.count_words import Said
from derivations.documents.judge.subjects import quantity_named
from derivations.documents.verdicts import Finding
from derivations.published.formula import Published
from derivations.published.formulas import FORMULAS

__all__ = ["check_published"]

CHECK = "counting"
FEWEST = 3  # letters
LAYERS = ("L", "l")
MOST_OF_A_RATIO = 9  # 1/2, 4/3, 2/9: parts of a pass or of the bytes; 73/72 and 10 are none


def check_published(counted: Expr, said: Said, near: str) -> Iterator[Finding]:
    """Yield the published formula that a count is, or should be; `near` are the texts that may name a paper."""
    letters = frozenset(map(str, counted.free_symbols))
    some = _by_letters().get(letters, ())
    if not some or not any(map(quantity_named, said.texts)):
        return
    value = expand(counted.xreplace({symbol: Symbol(str(symbol)) for symbol in counted.free_symbols}))
    for expression, formula, times in some:
        if expression == value:
            given = tuple(f"{size} = {value}" for size, value in formula.relations)
            yield Finding("conditional", CHECK, _called(formula, times), assumptions=(formula.convention, *given))
            return
    for expression, formula, times in some:
        if _is_named(formula, near) and _is_slip(value, expression, in_bytes="bytes" in formula.units):
            right = str(expression).replace("**", "^").replace("*", " ")
            yield Finding("wrong", CHECK, f"it is {right}: {_called(formula, times)}", right=right)
            return


def _called(formula: Published, times: str) -> str:
    return f"{formula.title[:1].lower()}{formula.title[1:]}, as {formula.source} has it, in {formula.units}{times}"


def _is_named(formula: Published, text: str) -> bool:
    """Say whether a text names the paper of a formula: its first author, or what its model is called."""
    names = (formula.source.split()[0], formula.id.partition(".")[0])
    return any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in names)


def _is_slip(said: Expr, published: Expr, *, in_bytes: bool) -> bool:
    """Say whether a count differs from a published one by a factor or by a term, as no other convention does.

    How many bytes are kept is for an author to choose: 32 for 34 leaves the masks of dropout out.
    """
    first, second = (each.as_coefficients_dict() for each in (said, published))
    if first.keys() != second.keys():
        lost, new = second.keys() - first.keys(), first.keys() - second.keys()
        alike = all(first[each] == second[each] for each in first.keys() & second.keys())
        return alike and len(second) > 1 and len(lost) == len(new) == 1 and first[new.pop()] == second[lost.pop()]
    ratios = [first[each] / second[each] for each in second if first[each] != second[each]]
    if len(ratios) != 1 and (len(ratios) != len(second) or len(set(ratios)) != 1):
        return False
    return bool(ratios[0] < 0 or (not in_bytes and max(ratios[0].p, ratios[0].q) > MOST_OF_A_RATIO))


@cache
def _by_letters() -> Mapping[frozenset[str], tuple[tuple[Expr, Published, str], ...]]:
    """Return the published formulas with their expressions, by the letters in them."""
    found: dict[frozenset[str], tuple[tuple[Expr, Published, str], ...]] = {}
    for formula in FORMULAS:
        plain = formula.expression.xreplace({each: Symbol(str(each)) for each in formula.expression.free_symbols})
        of_layers = [(Symbol(each) * plain, f", {each} layers") for each in LAYERS if "each layer" in formula.units]
        for expression, times in ((plain, ""), *of_layers):
            letters = frozenset(map(str, expression.free_symbols))
            if len(letters) >= FEWEST:
                found[letters] = (*found.get(letters, ()), (expand(expression), formula, times))
    return found
