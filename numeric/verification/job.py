"""The main job: prove the catalogue, write it, run the base-size Transformer on a text, cross-check, summarise.

Definition   bytes of the text are tokens; the window is its first 512 bytes at most, and is both source and target
             (`numeric.verification.agreement.base_model`)
Result       one table on the console, progress on standard error, the proved results as LaTeX and Markdown in a folder
Assumes      bad input is refused before any work; results that are not proved are not written

Two processes prove and compare, the long comparisons first; meanwhile this process runs the model and writes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from threadpoolctl import threadpool_limits

from derivations.catalogue import layers, names, results, verify
from derivations.language.counting.costs import count_flops
from derivations.language.printing.export import pages_of, write_pages
from derivations.language.printing.notation_file import notation_called
from derivations.processes import workers
from numeric.models.transformer import Transformer
from numeric.verification import agreement
from numeric.verification.agreement import BASE, Agreement, Check, Run
from numeric.verification.agreement.counts import at
from numeric.verification.text import read_window

__all__ = ["Proof", "Summary", "main_job"]

SIZES = agreement.SIZES[:2]
PROCESSES = 2
WIDTH = 120  # of the table where the output is not a terminal
PROVED = ("proved", "definition")


@dataclass(frozen=True)
class Proof:
    """The verdicts of the judge and of the cross-check on a result, and the time they took."""

    id: str
    level: str
    failures: tuple[str, ...]
    seconds: float
    cross_check: str = "agrees"  # or "disagrees", "not applicable"

    @property
    def passed(self) -> bool:
        """Whether the result is proved, or is a definition, and the cross-check does not disagree."""
        return self.level in PROVED and self.cross_check != "disagrees"


@dataclass
class Summary:
    """All findings of the main job."""

    title: str
    proofs: list[Proof] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    counts: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """One sentence for every failure, and for every stage that did not run."""
        unproved = [f"{p.id} is {p.level}: {'; '.join(p.failures)}" for p in self.proofs if not p.passed]
        empty = [name for name in ("proofs", "agreements", "checks", "counts") if not getattr(self, name)]
        compared: list[Agreement | Check] = [*self.agreements, *self.checks]
        failed = [str(each) for each in compared if not each.passed]
        return [*unproved, *failed, *(f"there were no {name}" for name in empty)]

    def table(self) -> Table:
        """Return the table: results, layers, properties, counts."""
        table = Table(title=self.title)
        for heading in ("result, layer or count", "verdict", "figures"):
            table.add_column(heading, overflow="fold")
        sections: list[Iterable[tuple[str, str, str]]] = [
            ((p.id, p.level, f"{1e3 * p.seconds:.0f} ms") for p in self.proofs),
            (_worst(self.agreements, lambda a: (a.layer, "agrees", "DISAGREES", a.error_ulp, a.bound, "ULP"))),
            (_worst(self.checks, lambda c: (c.name, "holds", "FAILS", abs(c.measured), c.bound, c.what))),
            [*self._cross_checks(), *self.counts],
        ]
        for section in sections:
            for row in section:
                table.add_row(*row)
            table.add_section()
        return table

    def _cross_checks(self) -> list[tuple[str, str, str]]:
        """Return the row that counts the results that the cross-check confirms and those to which it does not apply."""
        if not self.proofs:
            return []
        outcomes = [proof.cross_check for proof in self.proofs]
        agree, absent = outcomes.count("agrees"), outcomes.count("not applicable")
        disagree = len(outcomes) - agree - absent
        what = f"{agree} agree, {absent} not applicable ({absent / len(outcomes):.1%})"
        return [("cross-check of every result", "DISAGREES" if disagree else "agrees", what)]

    def verdict(self, seconds: float) -> str:
        """Return one line: how much was done, or that it failed."""
        if self.failures:
            return f"FAILED: {len(self.failures)} of the above, in {seconds:.1f} s"
        compared = len({each.layer for each in self.agreements})
        return (
            f"All well: {len(self.proofs)} results proved, {compared} layers agree in {len(self.agreements)} "
            f"comparisons, {len(self.checks)} properties hold, in {seconds:.1f} s"
        )


def main_job(file: Path | None, out: Path, seed: int = 0, console: Console | None = None) -> bool:
    """Do the main job on a text, write results to a folder, print the summary; return whether everything passed.

    Raises       ValueError for a text that is empty or binary and for a seed below 0, OSError for a file that cannot be
                 read and a folder that cannot be written; both before any work
    """
    started = perf_counter()
    console = console or Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    window = read_window(file)
    if seed < 0:
        raise ValueError(f"the seed must be an integer >= 0, not {seed}")
    check_writable(out)
    origin = file.name if file else "the package's description"
    summary = Summary(f"The mathematics of the Transformer, run on {len(window)} bytes of {origin}")
    with _progress() as follow, workers(PROCESSES) as pool:
        comparing = _compared(pool, seed)
        proving = pool.map(prove, names())
        with threadpool_limits(1, "blas"):  # waiting BLAS threads spin: beside busy processes they only cost
            _run_model(summary, window, seed, follow)
        (pages,) = follow((pages_of(results(), layers(), notation_called("ours")) for _ in [0]), "writing pages", 1)
        summary.proofs += follow(proving, "proving the catalogue", len(names()))
        for found in follow((future.result() for future in comparing), "comparing layers", len(comparing)):
            for each in found:
                (summary.agreements if isinstance(each, Agreement) else summary.checks).append(each)
    proved = {proof.id for proof in summary.proofs if proof.passed}
    write_pages(out, pages.without(results().keys() - proved))
    console.print(summary.table())
    for failure in summary.failures:
        console.print(failure)
    console.print(summary.verdict(perf_counter() - started))
    return not summary.failures


Follow = Callable[[Iterable[Any], str, int | None], Iterable[Any]]


def _run_model(summary: Summary, window: bytes, seed: int, follow: Follow) -> None:
    """Run the base-size model on the window, and compare it with the float64 route and with its counts."""
    (run,) = follow((agreement.run(window, Transformer(**BASE, seed=seed)) for _ in [0]), "running the model", 1)
    summary.agreements += follow((agreement.base_agreement(run) for _ in [0]), "the model against the float64 route", 1)
    summary.checks += follow(agreement.base_checks(run), "the model's properties", None)
    summary.counts += _counts(run)


def _compared(pool: Executor, seed: int) -> list[Future[list[Agreement | Check]]]:
    """Compare layers with their loops, gradients with differences, and both with the results of the catalogue."""
    stages: list[tuple[Any, ...]] = [  # the longest first, so that both processes end together
        (agreement.gradient_checks, SIZES[:1], seed),
        *((agreement.against_reference, (sizes,), seed) for sizes in SIZES),
        (derived_checks, seed),
        (agreement.property_checks, SIZES, seed),
        (agreement.rejections,),
        (agreement.count_checks,),
    ]
    return [pool.submit(found_by, *stage) for stage in stages]


def found_by(stage: Callable[..., Iterable[Agreement | Check]], *arguments: Any) -> list[Agreement | Check]:
    """Return all agreements and checks that a stage of the comparison yields."""
    return list(stage(*arguments))


def derived_checks(seed: int) -> Iterator[Check]:
    """Compare compiled layers with the derivatives of the catalogue, and samples with its moments."""
    known = results().values()
    yield from agreement.derivative_checks(known, seed)
    yield from agreement.moment_checks(known)


def _counts(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the counts of the run, as rows of the table."""
    flops = count_flops(run.model.layer())
    sizes = ", ".join(f"{name} = {value}" for name, value in run.sizes.items())
    yield "parameters", f"{run.model.parameters():,}", sizes
    yield "FLOPs of products", f"{at(flops.matmul, run.sizes):,}", "one multiply-add is 2 FLOPs"
    yield "FLOPs of all else", f"{at(flops.total - flops.matmul, run.sizes):,}", "softmax, norms, activations, sums"
    if run.bits is not None:
        yield "bits for each next byte", f"{run.bits:.3f}", "without training; all bytes alike would take 8"


def _worst(items: Sequence[Any], shown: Callable[[Any], tuple[str, str, str, float, float, str]]) -> Iterator[Any]:
    """Yield a row for each name: the number of comparisons, and the one nearest to its bound or beyond it."""
    groups: dict[str, list[Any]] = {}
    for item in items:
        groups.setdefault(shown(item)[0], []).append(item)
    for name, group in groups.items():
        worst = max(group, key=lambda item: (not item.passed, shown(item)[3] / (shown(item)[4] or 1)))
        _, yes, no, value, bound, unit = shown(worst)
        figures = f"{value:.3g} of {bound:.3g} {unit}".rstrip() if bound or not worst.passed else "exact"
        times = f", the worst of {len(group)}" if len(group) > 1 else ""
        yield name, yes if worst.passed else no, figures + times


# The proofs


def prove(name: str) -> Proof:
    """Return the present verdicts of the judge and of the cross-check on a result."""
    started = perf_counter()
    (found,) = verify([name])
    reasons = (*found.failures, *([found.reason] if found.cross_check == "disagrees" else []))
    return Proof(name, found.level, reasons, perf_counter() - started, found.cross_check or "not applicable")


# Checks before the work, and the display of its progress


def check_writable(out: Path) -> None:
    """Refuse a folder in which no file can be written; leave the file system unchanged.

    Raises       OSError where `out` is not a folder, or a file cannot be made in it or in its nearest existing parent
    """
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file, not a folder: choose another folder with --out")
    nearest = out if out.is_dir() else next(parent for parent in out.absolute().parents if parent.exists())
    try:
        TemporaryDirectory(prefix=".derivations-", dir=nearest).cleanup()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(f"nothing can be written to {out} ({reason}): choose another folder with --out") from error


@contextmanager
def _progress() -> Iterator[Follow]:
    """Yield a function that passes items on and shows the progress on standard error."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield lambda items, words, total: progress.track(items, total=total, description=words)
