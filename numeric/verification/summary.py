"""The summary of the main job: a short report, a table of everything, and the verdict.

Result       `report` has a line for each kind of comparison, with its worst error in words; `table` has a row for each
             result, layer and property
Units        an error counts units in the last place (ULP), or what its check names; its bound was fixed before
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from numeric.verification.agreement import Agreement, Check

__all__ = ["Proof", "Summary"]

TIE = "\xa0"  # a space at which no line is broken
PROVED = ("proved", "definition")
Compared = Agreement | Check


@dataclass(frozen=True)
class Proof:
    """The verdicts of the judge and of the cross-check on a result, and the time they took."""

    id: str
    level: str
    failures: tuple[str, ...]
    seconds: float
    cross_check: str = "agrees"  # or "disagrees", "not applicable"
    title: str = ""
    letters: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the result is proved, or is a definition, and the cross-check does not disagree."""
        return self.level in PROVED and self.cross_check != "disagrees"


@dataclass
class Summary:
    """All findings of the main job. `compared` holds the comparisons by their kind, in words."""

    title: str
    proofs: list[Proof] = field(default_factory=list)
    compared: dict[str, list[Compared]] = field(default_factory=dict)
    counts: list[tuple[str, str, str]] = field(default_factory=list)
    written: Mapping[Path, int] = field(default_factory=dict)

    @property
    def agreements(self) -> list[Agreement]:
        """The comparisons of layers."""
        return [each for group in self.compared.values() for each in group if isinstance(each, Agreement)]

    @property
    def checks(self) -> list[Check]:
        """The properties that were checked."""
        return [each for group in self.compared.values() for each in group if isinstance(each, Check)]

    @property
    def failures(self) -> list[str]:
        """One sentence for every failure, and for every stage that did not run."""
        unproved = [f"{p.id} is {p.level}: {'; '.join(p.failures)}" for p in self.proofs if not p.passed]
        empty = [name for name in ("proofs", "agreements", "checks", "counts") if not getattr(self, name)]
        failed = [str(each) for group in self.compared.values() for each in group if not each.passed]
        return [*unproved, *failed, *(f"there were no {name}" for name in empty)]

    def report(self, width: int) -> str:
        """Return the short report in lines of a width: proofs by topic, worst errors, counts, what was written."""
        compared = [f"{kind}: {_in_words(group)}" for kind, group in self.compared.items()]
        counts = "; ".join(f"{name} {value}" for name, value, _ in self.counts)
        written = ", ".join(f"{folder} ({count} files)" for folder, count in self.written.items())
        sections: list[tuple[str, list[str]]] = [
            (self.title, []),
            (self._proved(), [self._topics(), self._cross_check()]),
            ("Compared, the worst error beside what is allowed (ULP: units in the last place):", compared),
            (f"Counted: {counts}", []),
            (f"Written: {written}", []),
        ]
        lines = [_filled(head, width) for head, _ in sections]
        below = ["".join("\n" + _filled(item, width, "  ") for item in items) for _, items in sections]
        return "\n".join(map("".join, zip(lines, below, strict=True)))

    def _proved(self) -> str:
        levels = Counter(proof.level for proof in self.proofs)
        return f"Results: {len(self.proofs)} ({', '.join(f'{level} {n}' for level, n in levels.most_common())})"

    def _results(self) -> str:
        """Return how many results are proved, and how many are definitions, of which there is nothing to prove."""
        definitions = sum(proof.level == "definition" for proof in self.proofs)
        also = f" and {definitions} definition{'s' * (definitions > 1)}" if definitions else ""
        return f"{len(self.proofs) - definitions} results proved{also}"

    def _topics(self) -> str:
        """Return how many results of each topic passed, with their total where some failed."""
        topics: dict[str, list[bool]] = {}
        for proof in self.proofs:
            topics.setdefault(proof.id.partition(".")[0], []).append(proof.passed)
        return ", ".join(
            f"{topic}{TIE}{len(passed)}" if all(passed) else f"{topic}{TIE}{sum(passed)}{TIE}of{TIE}{len(passed)}"
            for topic, passed in topics.items()
        )

    def _cross_check(self) -> str:
        outcomes = Counter(proof.cross_check for proof in self.proofs)
        return f"numerical cross-check: {', '.join(f'{name} {n}' for name, n in outcomes.most_common())}"

    def table(self) -> Table:
        """Return the table: results, layers, properties, counts."""
        table = Table(title=self.title)
        for heading in ("result, layer or count", "verdict", "figures"):
            table.add_column(heading, overflow="fold")
        sections: list[Iterable[tuple[str, str, str]]] = [
            ((p.id, p.level, f"{1e3 * p.seconds:.0f} ms") for p in self.proofs),
            _rows(self.agreements, lambda a: a.layer, ("agrees", "DISAGREES")),
            _rows(self.checks, lambda c: c.name, ("holds", "FAILS")),
            self.counts,
        ]
        for section in sections:
            for row in section:
                table.add_row(*row)
            table.add_section()
        return table

    def verdict(self, seconds: float) -> str:
        """Return one line: how much was done, or that it failed."""
        if self.failures:
            return f"FAILED: {len(self.failures)} of the above, in {seconds:.1f} s"
        layers = len({each.layer for each in self.agreements})
        return (
            f"All well: {self._results()}, {layers} layers agree in {len(self.agreements)} "
            f"comparisons, {len(self.checks)} properties hold, in {seconds:.1f} s"
        )


def _measured(each: Compared) -> tuple[float, float, str]:
    """Return the error, its bound and its unit."""
    if isinstance(each, Agreement):
        return each.error_ulp, each.bound, "ULP"
    return abs(each.measured), each.bound, each.what


def _worst(group: Sequence[Any]) -> Any:
    """Return the comparison that failed, or the one whose error is nearest to its bound."""

    def order(each: Compared) -> tuple[bool, float]:
        error, bound, _ = _measured(each)
        return not each.passed, error / (bound or 1)

    return max(group, key=order)


def _in_words(group: Sequence[Compared]) -> str:
    """Return how many comparisons agree, and the worst error beside its bound."""
    passed = sum(each.passed for each in group)
    count = f"{passed} agree" if passed == len(group) else f"{len(group) - passed} of {len(group)} DISAGREE"
    if not group:
        return "nothing was compared"
    if passed == len(group) and not any(_measured(each)[1] for each in group):
        return f"{count}, exactly"
    worst = _worst(group)
    error, bound, unit = _measured(worst)
    unit = re.split(r"[,(]", unit)[0].strip()  # what follows tells more of this one case
    name = f" ({worst.layer})" if isinstance(worst, Agreement) and len(group) > 1 else ""
    return f"{count}, worst {_short(error)} of {_short(bound)} {unit}".rstrip() + name


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def _rows(group: Sequence[Any], named: Callable[[Any], str], words: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each name: the number of comparisons, and the one nearest to its bound or beyond it."""
    groups: dict[str, list[Any]] = {}
    for item in group:
        groups.setdefault(named(item), []).append(item)
    for name, items in groups.items():
        worst = _worst(items)
        value, bound, unit = _measured(worst)
        figures = f"{value:.3g} of {bound:.3g} {unit}".rstrip() if bound or not worst.passed else "exact"
        times = f", the worst of {len(items)}" if len(items) > 1 else ""
        yield name, words[not worst.passed], figures + times


def _filled(text: str, width: int, indent: str = "") -> str:
    """Return a text wrapped to a width. Lines are not broken at a tie, which becomes a space."""
    after = f"{indent}  "
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(lines).replace(TIE, " ")
