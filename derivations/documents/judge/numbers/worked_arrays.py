r"""Examples with numbers: `Q K^\top = \begin{bmatrix} 1 & 0 \\ 2 & 2 \end{bmatrix}` where the section shows Q and K.

Definition   a letter is the array that the section wrote for it last, or what the formula that defined it comes to;
             the side behind an equality sign shows numbers
Result       holds        every entry is right as printed
             conditional  right from the numbers before they were rounded, with a softmax along columns, or with a
                          standard deviation that divides by n - 1
             wrong        an entry is none of these, every letter stands for one array, and nothing between may have
                          changed it; beside a letter alone only where the other entries are right, or it is near
Assumes      layers of normalisation have no epsilon and no weights, where the section shows none
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from derivations.documents.judge.numbers.arrays_shown import ArraysShown
from derivations.documents.judge.numbers.comparing_numbers import ShownNumbers, enclosure_of, touches, verdict_of
from derivations.documents.judge.numbers.given_numbers import Given, best_of, given_numbers
from derivations.documents.judge.numbers.intervals import NoNumber, Value
from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.number_array_functions import NORMALISING
from derivations.documents.judge.numbers.number_arrays import NumberArray
from derivations.documents.judge.numbers.number_links import CHECK, touch
from derivations.documents.judge.numbers.printed import Printed, decimal
from derivations.documents.judge.numbers.reading_number_arrays import ArrayReader
from derivations.documents.judge.numbers.values import Enclosure, Letters
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import folded
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Fence, List, MatrixLiteral, Name, Node, Number, Product, Transpose
from derivations.documents.verdicts import Finding, Repair

__all__ = ["check_worked_arrays"]

EQUALITIES = ("=", "≡", "≈", "≃", "≅", "≒")
OF_ARRAYS = frozenset({"tr", "trace", "det", "mean", "std", "max", "min", "sum", "softmax"})
WEIGHTS = ("γ", "gamma", "g", "β", "beta", "b", "ε", "epsilon", "w")  # of a normalisation
A_DIGIT_OR_TWO = 4  # half units of the last digit
ROUNDED = "the printed numbers were rounded"


def check_worked_arrays(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what the numbers of a section make of a link that shows an array, or a number made of arrays."""
    if link is None or statement.chain.relations[link] not in EQUALITIES or statement.is_equivalent:
        return
    right = statement.chain.sides[link + 1]
    shows_array = isinstance(right.operand if isinstance(right, Transpose) else right, MatrixLiteral | List)
    if not shows_array and not any(map(_may_be_of_arrays, statement.chain.sides[link].walk())):
        return
    shown, sources = ShownNumbers.of(right), _sources(statement, link)
    if shown is not None:
        ways = given_numbers(scope, *sources)
        yield from best_of([tuple(_Question(statement, sources, shown, scope, way).findings()) for way in ways])
    elif not any(isinstance(part, Name) for part in right.walk()):
        yield from _written_out(statement, sources[0], right, scope)


def _written_out(statement: Statement, source: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    r"""Judge `q \cdot k = 1 \cdot 1 + 0 \cdot 1`, where the side behind the sign is made of numbers alone."""
    arrays = ArraysShown(statement, scope)
    reader = ArrayReader(arrays.literal_first, letters_of(scope))
    try:
        first, second = reader.value(source), reader.value(right)
    except (NoNumber, ValueError, ArithmeticError):
        return
    if isinstance(first, NumberArray) or isinstance(second, NumberArray) or not arrays.used:
        return
    here, there = enclosure_of(first), enclosure_of(second)
    if touch(here, there):
        yield Finding("holds", CHECK, f"both are {decimal(here)}")
    elif arrays.is_certain(source) and not _has_rounded(source, right, *arrays.used.values()):
        reason = f"the left side is {decimal(here)}, the right side {decimal(there)}"
        yield Finding("wrong", CHECK, reason, right=decimal(here))


def _has_rounded(*sides: Node) -> bool:
    """Say whether a number that was rounded takes part."""
    return any(isinstance(each, Number) and not each.exact for side in sides for each in side.walk())


def _may_be_of_arrays(node: Node) -> bool:
    match node:
        case Fence(bracket="||" | "|") | MatrixLiteral() | List():
            return True
        case Call(function=Name(base=base)):
            return base.lower() in OF_ARRAYS
        case Product(factors=factors):
            return sum(isinstance(each, Name | Transpose) for each in factors) > 1
    return False


def _sources(statement: Statement, link: int) -> list[Node]:
    """Return the sides that a side is said to be equal to, the nearest first."""
    sources: list[Node] = []
    for place in range(link, -1, -1):
        sources.append(statement.chain.sides[place])
        if place and statement.chain.relations[place - 1] not in EQUALITIES:
            break
    return sources


@dataclass(frozen=True)
class _Question:
    """A link with what it shows and the sides that this is said to be."""

    statement: Statement
    sources: Sequence[Node]
    shown: ShownNumbers
    scope: Scope
    given: Given

    @property
    def letters(self) -> Letters:
        """The numbers that letters stand for."""
        return letters_of(self.scope, self.given)

    def findings(self) -> Iterator[Finding]:
        arrays = ArraysShown(self.statement, self.scope, self.given)
        source, entries, by_name = self._computed(arrays)
        if source is None or not (arrays.used or _has_array(source)) or _is_list_of_letters(source):
            return
        verdicts = self._verdicts(entries)
        if set(verdicts) == {"right"}:
            what = "every entry is what the numbers give" if self.shown.axes else "it is what the numbers give"
            yield Finding("holds", CHECK, f"{what}, rounded as printed")
            return
        for assumption, reader in self._readings(arrays):
            value = self._entries(source, reader)
            if value is not None and set(self._verdicts(value)) == {"right"}:
                yield Finding("conditional", CHECK, "so the numbers give", assumptions=(assumption,))
                return
        if "unclear" in verdicts or _has_rounded(source, *arrays.used.values()):
            spread = self._entries(source, ArrayReader(arrays.literal_first, self.letters, spread=True))
            if "unclear" in verdicts or spread is None:
                return
            if all(map(touches, spread, self.shown.entries)):
                yield Finding("conditional", CHECK, "so the numbers give", assumptions=(ROUNDED,))
                return
        certain = arrays.is_certain(source) and not self._is_weighted(source, arrays)
        certain = certain and bool(arrays.used or not _may_be_shapes(source))
        if certain and (not by_name or self._is_a_slip(entries, verdicts)):
            yield self._wrong(entries, verdicts)

    def _computed(self, arrays: ArraysShown) -> tuple[Node | None, tuple[Value, ...], bool]:
        """Return the nearest side that the section gives numbers for, its entries, and whether it was a mere name."""
        for source in self.sources:
            inner = arrays.formula(source) if isinstance(source, Name) else source
            reader = ArrayReader(arrays.literal_first, self.letters)
            entries = self._entries(inner, reader) if inner is not None else None
            if inner is not None and entries is not None:
                return inner, entries, isinstance(source, Name)
        return None, (), False

    def _readings(self, arrays: ArraysShown) -> Iterator[tuple[str, ArrayReader]]:
        letters = self.letters
        yield "the numbers were rounded after this one", ArrayReader(arrays.formula_first, letters)
        yield "the softmax runs along columns", ArrayReader(arrays.literal_first, letters, columns=True)
        yield "the standard deviation divides by n - 1", ArrayReader(arrays.literal_first, letters, fewer=1)

    def _entries(self, source: Node, reader: ArrayReader) -> tuple[Value, ...] | None:
        try:
            return self.shown.entries_of(reader.value(source))
        except (NoNumber, ValueError, ArithmeticError):
            return None

    def _verdicts(self, entries: Sequence[Value]) -> list[str]:
        return [verdict_of(value, shown) for value, shown in zip(entries, self.shown.entries, strict=True)]

    def _is_weighted(self, source: Node, arrays: ArraysShown) -> bool:
        """Say whether a layer of normalisation stands there whose weights the section may show."""
        calls = (part for part in source.walk() if isinstance(part, Call))
        if not any(folded(call.function) in NORMALISING for call in calls):
            return False
        letters = self.letters
        return any(letters(Name(each)) is not None or arrays.literal_first(Name(each)) for each in WEIGHTS)

    def _is_a_slip(self, entries: Sequence[Value], verdicts: Sequence[str]) -> bool:
        """Say whether most entries are right, or all are near: another setting of the formula changes them all."""
        off = [(v, s) for v, s, verdict in zip(entries, self.shown.entries, verdicts, strict=True) if verdict == "off"]
        return 2 * len(off) < len(verdicts) or all(
            not shown.exact and touches(value, _widened(shown)) for value, shown in off
        )

    def _wrong(self, entries: Sequence[Value], verdicts: Sequence[str]) -> Finding:
        written = self.shown.written(entries)
        place = verdicts.index("off")
        number, width = self.shown.entries[place], len(self.shown.rows[0])
        reason = f"{self.shown.named(place)} is {written[place]}, not {decimal(Enclosure(number.value, number.value))}"
        rows = [f"[{', '.join(written[at : at + width])}]" for at in range(0, len(written), width)]
        right = written[0] if not self.shown.axes else rows[0] if len(rows) == 1 else f"[{', '.join(rows)}]"
        return Finding("wrong", CHECK, reason, right=right, repair=self._repair(verdicts, written))

    def _repair(self, verdicts: Sequence[str], written: Sequence[str]) -> Repair | None:
        """Return the replacement of the one number that is not right, where its sign stays as it is."""
        place = verdicts.index("off")
        shown, text = self.shown.entries[place], written[place]
        start, old = shown.number.start, shown.number.text
        found = self.statement.passage.text[start : start + len(old)] == old
        if verdicts.count("off") > 1 or not found or shown.value < 0 or text.startswith("-"):
            return None
        return Repair(start, start + len(old), text)


def _widened(shown: Printed) -> Printed:
    return replace(shown, half_unit=A_DIGIT_OR_TWO * shown.half_unit)


def _has_array(source: Node) -> bool:
    return any(isinstance(each, MatrixLiteral | List) for each in source.walk())


def _may_be_shapes(source: Node) -> bool:
    """Say whether the only arrays are lists of whole numbers, as shapes are written: `(2, 3) + (2, 3) = (2, 3)`."""
    lists = [each for each in source.walk() if isinstance(each, MatrixLiteral | List)]
    whole = (isinstance(item, Number) and item.exact for each in lists if isinstance(each, List) for item in each.items)
    return all(isinstance(each, List) and each.bracket == "(" for each in lists) and all(whole)


def _is_list_of_letters(source: Node) -> bool:
    """Say whether a side is a list of letters, `(n, d) = (2, 3)`, which are set."""
    if not isinstance(source, MatrixLiteral | List) or (isinstance(source, List) and source.bracket == "⟨"):
        return False
    entries = source.items if isinstance(source, List) else [entry for row in source.rows for entry in row]
    return any(isinstance(each, Name) for each in entries)
