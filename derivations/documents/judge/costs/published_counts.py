"""Published formulas of cost, in their letters or in others: `s b h L (10 + 24 / t + 5 a s / (h t))`.

Definition   a count is a published formula if it has the same letters, three or more, and is equal to it by algebra,
             or has other letters that the text calls the same; what is said of a layer may be said of L of them
Result       conditional  under the convention of the paper, with what it takes for given
             wrong        where the words around name the paper, or cite the place at which it has the formula, and a
                          count in its letters is one slip off that no other convention explains
Assumes      so many letters with these factors come together in no other way
Source       the formulas of `derivations.costs.published`, each with its paper
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property

from sympy import Expr, Symbol, expand

from derivations.costs.published.formula import Published
from derivations.costs.published.formulas import FORMULAS
from derivations.documents.judge.costs.citations import Ascription
from derivations.documents.judge.costs.count_words import Said
from derivations.documents.judge.costs.published_slips import is_explained, slip_of
from derivations.documents.judge.costs.subjects import quantity_named
from derivations.documents.verdicts import Finding

__all__ = ["Row", "check_published", "published_rows", "shown"]

CHECK = "counting"
FEWEST = 3  # letters
LAYERS = ("L", "l")
NOTHING: frozenset[str] = frozenset()
MEANT: Mapping[str, frozenset[str]] = {  # what a text calls a letter that a paper calls so
    "layers": frozenset({"number of layers"}),
    "heads": frozenset({"number of heads"}),
    "texts": frozenset({"batch size"}),
    "positions": frozenset({"sequence length"}),
    "rows of the table of positions": frozenset({"sequence length"}),
    "tokens that there are": frozenset({"vocabulary size"}),
    "width of the model": frozenset({"model width"}),
    "hidden width of the feed-forward network": frozenset({"hidden width"}),
    "width of a head": frozenset({"head width", "key width"}),
    "width of a key": frozenset({"head width", "key width"}),
}


def check_published(
    counted: Expr, said: Said, ascribed: Ascription, meanings: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    """Yield the published formula that a count is, or should be; `meanings` is what the text calls its letters."""
    if len(counted.free_symbols) < FEWEST - 1 or not any(map(quantity_named, said.texts)):
        return
    value = expand(counted.xreplace({symbol: Symbol(str(symbol)) for symbol in counted.free_symbols}))
    letters = frozenset(map(str, value.free_symbols))
    readings = list(_spellings(letters, meanings))
    for row, names in readings:
        if row.letters == {names.get(each, each) for each in letters} and row.expression == _renamed(value, names):
            given = tuple(f"{size} = {value}" for size, value in row.formula.relations)
            yield Finding("conditional", CHECK, row.called, assumptions=(row.formula.convention, *given))
            return
    slips = list(_slips(value, readings, ascribed))
    if slips and all(slip for *_, slip in slips):
        row, names, slip = slips[0]
        right = shown(_renamed(row.expression, {new: old for old, new in names.items()}))
        yield Finding("wrong", CHECK, f"{slip}; it is {right}: {row.called}", right=right)


def _slips(
    value: Expr, readings: Iterable[tuple[Row, Mapping[str, str]]], ascribed: Ascription
) -> Iterator[tuple[Row, Mapping[str, str], str | None]]:
    """Yield what a count differs by from formulas that are named; None for a cited one if a convention explains it."""
    near = f"{ascribed.near}\n{ascribed.farther}"
    for row, names in readings:
        if ascribed.names(row.formula):
            spelled, cited = _renamed(value, names), ascribed.cites(row.formula)
            slip = slip_of(spelled, row.expression, row.formula, cited=False)
            slip = slip or (slip_of(spelled, row.expression, row.formula, cited=True, near=near) if cited else None)
            if slip is not None or (cited and is_explained(spelled, row.expression, row.formula, near)):
                yield row, names, slip


def _spellings(
    letters: frozenset[str], meanings: Mapping[str, frozenset[str]]
) -> Iterator[tuple[Row, Mapping[str, str]]]:
    """Yield the formulas of which a count has all letters but one at most, and what its letters are there."""
    for said in (meanings, {}) if any(meanings.values()) else ({},):
        for row in published_rows():
            names = _letters_of(row.meant, letters, said)
            spelled = {names.get(each, each) for each in letters}
            if len(spelled) == len(letters) and _nearly(spelled, row.letters):
                yield row, names


def _letters_of(
    meant: Mapping[str, frozenset[str]], letters: frozenset[str], meanings: Mapping[str, frozenset[str]]
) -> Mapping[str, str]:
    """Return the letters of a formula for those of a count that mean the same; one that means another thing is none."""
    found: dict[str, str] = {}
    for each in letters & meanings.keys():
        same = {letter for meaning in meanings[each] for letter in meant.get(meaning, NOTHING)}
        if len(same) == 1:
            (found[each],) = same
        elif meanings[each]:
            found[each] = f"{each}'"
    return found


def _renamed(value: Expr, names: Mapping[str, str]) -> Expr:
    return value.xreplace({Symbol(old): Symbol(new) for old, new in names.items()})


def _nearly(said: Set[str], published: Set[str]) -> bool:
    """Say whether at most one letter stands for another."""
    return len(published - said) <= 1 and len(said - published) <= 1


def shown(expression: Expr) -> str:
    """Return an expression as a text has it."""
    return str(expression).replace("**", "^").replace("*", " ")


@dataclass(frozen=True)
class Row:
    """A published formula, expanded, or what it is for all layers."""

    expression: Expr
    formula: Published
    times: str

    @cached_property
    def letters(self) -> frozenset[str]:
        """The letters in it."""
        return frozenset(map(str, self.expression.free_symbols))

    @cached_property
    def meant(self) -> Mapping[str, frozenset[str]]:
        """The letters of the paper by what a text may call them."""
        found: dict[str, frozenset[str]] = {}
        for each in self.formula.letters:
            for meaning in MEANT.get(each.meaning, NOTHING):
                found[meaning] = found.get(meaning, NOTHING) | {str(each.symbol)}
        return found

    @property
    def called(self) -> str:
        """What it counts, with its paper."""
        title, units = self.formula.title, self.formula.units
        return f"{title[:1].lower()}{title[1:]}, as {self.formula.source} has it, in {units}{self.times}"


@cache
def published_rows() -> tuple[Row, ...]:
    """Return the published formulas of three letters or more with their expressions."""
    found: list[Row] = []
    for formula in FORMULAS:
        plain = formula.expression.xreplace({each: Symbol(str(each)) for each in formula.expression.free_symbols})
        of_layers = [(Symbol(each) * plain, f", {each} layers") for each in LAYERS if "each layer" in formula.units]
        for expression, times in ((plain, ""), *of_layers):
            if len(expression.free_symbols) >= FEWEST:
                found.append(Row(expand(expression), formula, times))
    return tuple(found)
