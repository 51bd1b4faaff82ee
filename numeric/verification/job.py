"""The main job: prove the catalogue, write it, run the base-size Transformer on a text, cross-check, summarise.

Definition   bytes of the text are tokens; the window is its first 512 bytes at most, and is both source and target
             (`numeric.verification.agreement.base_model`)
Result       a short report on the console, progress on standard error, the proved results as LaTeX and Markdown in a
             folder
Assumes      bad input is refused before any work; results that are not proved are not written

Two processes prove and compare, the long comparisons first; meanwhile this process runs the model and writes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from derivations.catalogue import layers, names, results, verify
from derivations.language.counting.costs import count_flops
from derivations.language.judge.rules import laws
from derivations.language.printing.export import check_writable, pages_of, write_pages
from derivations.language.printing.notation_file import notation_called
from derivations.processes import workers
from numeric.models.transformer import Transformer
from numeric.verification import agreement
from numeric.verification.agreement import BASE, Agreement, Check, Run
from numeric.verification.agreement.counts import at
from numeric.verification.summary import Proof, Summary
from numeric.verification.text import read_window

__all__ = ["main_job", "prove"]

SIZES = agreement.SIZES[:2]
PROCESSES = 2
WIDTH = 120  # of the report, if no console is given


def main_job(
    file: Path | None, out: Path, seed: int = 0, console: Console | None = None, verbose: bool = False
) -> Summary:
    """Do the main job on a text, write results to a folder, print the report, with a table if `verbose`.

    Raises       ValueError for a text that is empty or binary and for a seed below 0, OSError for a file that cannot be
                 read and a folder that cannot be written; both before any work
    """
    started = perf_counter()
    console = console or Console(markup=False, highlight=False, width=WIDTH)
    window = read_window(file)
    if seed < 0:
        raise ValueError(f"the seed must be an integer >= 0, not {seed}")
    check_writable(out)
    origin = file.name if file else "the package's description"
    summary = Summary(f"The mathematics of the Transformer, on {len(window)} bytes of {origin}")
    with workers(PROCESSES) as pool:
        comparing, proving = _submitted(pool, seed)
        with progress_of([*chain(*comparing.values()), *proving]):
            with threadpool_limits(1, "blas"):  # waiting BLAS threads spin: beside busy processes they only cost
                _run_model(summary, window, seed)
            pages = pages_of(results(), layers(), notation_called("ours"), rules=laws())
            summary.proofs += [future.result() for future in proving]
            for kind, futures in comparing.items():
                summary.compared[kind] = [found for future in futures for found in future.result()]
    proved = {proof.id for proof in summary.proofs if proof.passed}
    files = write_pages(out, pages.without(results().keys() - proved))
    summary.written = Counter(path.parent for path in files)
    if verbose:
        console.print(summary.table())
    console.print(summary.report(console.width))
    for failure in summary.failures:
        console.print(failure)
    console.print(summary.verdict(perf_counter() - started))
    return summary


def _submitted(
    pool: Executor, seed: int
) -> tuple[dict[str, list[Future[list[Agreement | Check]]]], list[Future[Proof]]]:
    """Submit all comparisons and proofs to the processes, and return their futures.

    The longest comparison comes first and half of the proofs last, so that all processes end together; the other half
    runs beside the longest comparison, so that progress is seen from the start.
    """
    ids = names()
    comparing: dict[str, list[Future[list[Agreement | Check]]]] = {}
    proving: list[Future[Proof]] = []
    for kind, calls in _stages(seed).items():
        comparing[kind] = [pool.submit(found_by, *call) for call in calls]
        proving += [pool.submit(prove, name) for name in ids[len(proving) : len(ids) // 2]]
    return comparing, [*proving, *(pool.submit(prove, name) for name in ids[len(proving) :])]


def _run_model(summary: Summary, window: bytes, seed: int) -> None:
    """Run the base-size model on the window, and compare it with the float64 route and with its counts."""
    run = agreement.run(window, Transformer(**BASE, seed=seed))
    summary.compared["base-size model, against float64"] = [agreement.base_agreement(run)]
    summary.compared["base-size model, sums, causality and counts"] = list(agreement.base_checks(run))
    summary.counts += _counts(run)


def _stages(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return the comparisons by kind, as functions with their arguments, the longest first."""
    return {
        "gradients, against differences": [(agreement.gradient_checks, SIZES[:1], seed)],
        "layers, against loops in 50 digits": [(agreement.against_reference, (sizes,), seed) for sizes in SIZES],
        "results, against differences and samples": [(derived_checks, seed)],
        "sums, masks and zeros": [(agreement.property_checks, SIZES, seed)],
        "wrong formulas, refused by samples": [(agreement.rejections,)],
        "parameters and FLOPs, against those executed": [(agreement.count_checks,)],
    }


def found_by(stage: Callable[..., Iterable[Agreement | Check]], *arguments: Any) -> list[Agreement | Check]:
    """Return all agreements and checks that a stage of the comparison yields."""
    return list(stage(*arguments))


def derived_checks(seed: int) -> Iterator[Check]:
    """Compare compiled layers with the derivatives of the catalogue, and samples with its moments."""
    known = results().values()
    yield from agreement.derivative_checks(known, seed)
    yield from agreement.moment_checks(known)


def _counts(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the counts of the run, each as a name, a number and a note."""
    flops = count_flops(run.model.layer())
    sizes = ", ".join(f"{name} = {value}" for name, value in run.sizes.items())
    yield "parameters", f"{run.model.parameters():,}", sizes
    yield "FLOPs of products", f"{at(flops.matmul, run.sizes):,}", "one multiply-add is 2 FLOPs"
    yield "FLOPs of all else", f"{at(flops.total - flops.matmul, run.sizes):,}", "softmax, norms, activations, sums"
    if run.bits is not None:
        yield "bits for each next byte", f"{run.bits:.3f}", "without training; all bytes alike would take 8"


# The proofs


def prove(name: str) -> Proof:
    """Return the present verdicts of the judge and of the cross-check on a result."""
    started = perf_counter()
    (found,) = verify([name])
    reasons = (*found.failures, *([found.reason] if found.cross_check == "disagrees" else []))
    seconds, outcome = perf_counter() - started, found.cross_check or "not applicable"
    return Proof(name, found.level, reasons, seconds, outcome, found.title, found.letters)


# The display of its progress


@contextmanager
def progress_of(work: Sequence[Future[Any]]) -> Iterator[None]:
    """Show a progress bar on standard error, if it is a terminal, which advances with each finished piece of work."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("proving and comparing", total=len(work))
        for future in work:
            future.add_done_callback(lambda _: progress.advance(task))
        yield
