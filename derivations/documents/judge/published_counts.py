"""Published formulas of cost in their own letters: `s b h L (10 + 24 / t + 5 a s / (h t))`, `12 l h^2 (1 + ...)`.

Definition   a count is a published formula if it has the same letters, three or more, and is equal to it by algebra;
             what is said of a layer may be said of L of them
Result       conditional  under the convention of the paper, with what it takes for given
Assumes      so many letters with these factors come together in no other way
Source       the formulas of `derivations.published`, each with its paper
"""

from __future__ import annotations

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


def check_published(counted: Expr, said: Said) -> Iterator[Finding]:
    """Yield the published formula that a count is."""
    letters = frozenset(map(str, counted.free_symbols))
    some = _by_letters().get(letters, ())
    if not some or not any(map(quantity_named, said.texts)):
        return
    value = expand(counted.xreplace({symbol: Symbol(str(symbol)) for symbol in counted.free_symbols}))
    for expression, formula, times in some:
        if expression != value:
            continue
        given = tuple(f"{size} = {value}" for size, value in formula.relations)
        reason = (
            f"{formula.title[:1].lower()}{formula.title[1:]}, as {formula.source} has it, in {formula.units}{times}"
        )
        yield Finding("conditional", CHECK, reason, assumptions=(formula.convention, *given))
        return


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
