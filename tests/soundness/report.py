"""Runs the whole harness, prints its figures and keeps them in docs/soundness.md.

python -m tests.soundness.report            all derivations, at least 20 false mutants of each where there are so many
python -m tests.soundness.report softmax    one topic, printed only
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from joblib import Parallel, delayed

from derivations.catalogue import get, names
from derivations.language.cross_check import cross_check
from tests.soundness.harness import WANTED, judged, mutants_of

__all__ = ["PAGE", "Figures", "figures_of", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "soundness.md"
_TERMS = 60_000  # for the decision of a mutant
_LEVELS = ("refuted", "unknown", "proved")
_HEAD = """# Soundness, measured

The judge is asked to prove what is false. Nothing below may come out `proved`; these figures are printed by
`python -m tests.soundness.report`, and an ordinary test run repeats a part of it.

## The numerical cross-check

Both sides of every step are evaluated at small sizes (distinct primes, all 1, random ones) by loops over whole arrays
of numbers of 60 digits, drawn and repaired so that the assumptions hold. It shares no code with the judge."""
_MUTANTS = """all that there were when this was measured, each shown false by the
cross-check and different from the others by its normal form: a step with one side broken (by two operators where one
does not give enough), or an assumption left out. What the cross-check does not show false is discarded. A mutant of two
operators counts under both."""
_NEAR = """false statements written by hand (`tests/soundness/near_misses_*.py`), each false in a corner only: at n = 1,
from n = 5 on, at ties, for negative numbers, in an empty range, out of range, with a captured index, at eps = 0, where
two sizes differ. None is proved."""
_COUNTERS = ("derivations", "mutants", "discarded", "duplicates", "levels", "operators", "cross_checks")
_NEAR_MISSES = ("sizes", "places", "domains", "arrays")


@dataclass
class Figures:
    """What the harness counted."""

    derivations: Counter[str] = field(default_factory=Counter)
    mutants: Counter[str] = field(default_factory=Counter)
    discarded: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    cross_checks: Counter[str] = field(default_factory=Counter)
    points: int = 0
    proved: list[str] = field(default_factory=list)
    small: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def figures_of(ids: Iterable[str], jobs: int = 1) -> Figures:
    """Break the derivations and ask the judge, in `jobs` processes; the cross-check runs over each as it stands."""
    found = Figures()
    for one in Parallel(jobs, return_as="generator")(delayed(_figures)(name) for name in ids):
        found.points += one.points
        found.proved += one.proved
        found.small |= one.small
        found.reasons |= one.reasons
        for counts in _COUNTERS:
            getattr(found, counts).update(getattr(one, counts))
    return found


def _figures(name: str) -> Figures:
    found, derivation = Figures(), get(name)
    topic, outcome, checked = derivation.topic, mutants_of(derivation), cross_check(derivation)
    found.derivations[topic] += 1
    found.mutants[topic] += len(outcome.false)
    found.discarded[topic] += outcome.not_shown_false
    found.duplicates[topic] += outcome.duplicates
    found.cross_checks[checked.outcome] += 1
    found.points += checked.points
    if checked.outcome != "agrees":
        found.reasons[name] = checked.reason
    if len(outcome.false) < WANTED:
        found.small[name] = len(outcome.false)
    for mutant in outcome.false:
        level = judged(mutant, _TERMS)
        found.levels[level] += 1
        found.operators.update(mutant.operator.split(" + "))
        if level not in ("refuted", "unknown"):
            found.proved.append(str(mutant))
            print(f"PROVED, AND FALSE: {mutant}", file=sys.stderr, flush=True)
    print(f"{name}: {len(outcome.false)} false mutants", file=sys.stderr, flush=True)
    return found


def page(found: Figures) -> str:
    """Return the page with the figures."""
    near = sum(len(import_module(f"tests.soundness.near_misses_{name}").NEAR_MISSES) for name in _NEAR_MISSES)
    derivations, mutants = sum(found.derivations.values()), sum(found.mutants.values())
    lines = [
        _HEAD,
        _table(
            ("outcome", "results", "share"),
            [
                (outcome, found.cross_checks[outcome], f"{found.cross_checks[outcome] / derivations:.1%}")
                for outcome in ("agrees", "disagrees", "not applicable")
            ],
        ),
        f"Steps were compared at {found.points} points.",
        "\n".join(f"- `{name}`: {reason}" for name, reason in sorted(found.reasons.items())),
        "## Mutants",
        f"{mutants} mutants of {derivations} derivations, {_MUTANTS} Proved: {len(found.proved)}.",
        _table(("operator", "mutants"), found.operators.most_common()),
        _table(
            ("topic", "derivations", "mutants", "discarded", "duplicates"),
            [
                (topic, count, found.mutants[topic], found.discarded[topic], found.duplicates[topic])
                for topic, count in sorted(found.derivations.items())
            ],
        ),
        _table(("the judge says", "mutants"), [(level, found.levels[level]) for level in _LEVELS]),
        "No counterexample is looked for here, so that a mutant that could be refuted is counted as unknown.",
        f"Derivations with fewer than {WANTED} distinct false mutants: {len(found.small)}.",
        _table(("derivation", "mutants"), sorted(found.small.items())) if found.small else "",
        "## Near-misses",
        f"{near} {_NEAR}",
    ]
    return "\n\n".join(part for part in lines if part) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    cells = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in cells)


def main(topics: list[str]) -> int:
    """Run the harness over the catalogue, or over some topics."""
    chosen = [name for name in names() if not topics or name.partition(".")[0] in topics]
    found = figures_of(chosen, jobs=2)
    text = page(found)
    print(text)
    if not topics:
        PAGE.write_text(text, encoding="utf-8")
    return int(bool(found.proved) or found.cross_checks["disagrees"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
