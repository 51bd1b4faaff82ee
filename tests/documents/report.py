"""Runs the harnesses of `derivations check`, prints their figures and keeps them in docs/check_figures.md.

python -m tests.documents.report          with a draw of the formulas of the pages of the project
python -m tests.documents.report --all    with all of them as well, in two processes: for a quarter of an hour or longer

Assumes      the five documents and the file of claims judged by hand lie beside the checkout; without them the page is
             left as it is
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from textwrap import indent

from tests.documents import gold, reworded
from tests.documents.mutants.every_page import main as every_page
from tests.documents.mutants.harness import judged, mutants, table
from tests.documents.mutants.texts import Target, documents, targets

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check_figures.md"
SEED, SAMPLE = 6, 60
MATERIAL = "## Material that was used to develop"
_MATERIAL_TEXT = f"""{MATERIAL}

All figures below are of texts that were looked at while the checks were written. They are far better than those above,
and say nothing of other texts. Printed by `python -m tests.documents.report`; an ordinary test run repeats a part of
it. The times are in [Performance](performance.md).
"""
_PARTS: tuple[tuple[str, str, Callable[[], None]], ...] = (
    (
        "Five documents, judged by hand",
        """Five documents on the mathematics of the Transformer, and a file that says of each of their claims whether it
is correct, needs an assumption, is imprecise or wrong. Claims of formulas that agree with it, by kind, and what is said
of all of them; `none` is where no claim is made of the words, `fits` what is unknown and only seen to fit.
`python -m tests.documents.gold -v` names the others. Nothing can be decided of a definition, of a declaration or of a
number that is given: there it agrees to say that it is one, where the file says so too. Eight records are an
"equality" in the file, and the line that sets their left side: 002-035, 039, 043, 045, 055 and 057, 004-143 and
144. Of the 66 others 44 are sentences with a letter in them, of which nothing is read as a claim, and 15 are arrows
between shapes.""",
        gold.main,
    ),
    (
        "The same documents, written otherwise",
        """Letters renamed, lines moved, clauses reworded, other notations, other formats: how many verdicts agree, and
what becomes of those of the original.""",
        reworded.main,
    ),
    (
        "Mistakes put into formulas that are right",
        """Every formula of the five documents that was decided and not wrong, or seen to fit, with one plausible
mistake. What an independent evaluator does not call different is left out. `differs`: conditional, as it differs from
the usual; `fits`: unknown, as it is only seen to fit; `elsewhere`: another formula, which no longer agrees with it, is
called wrong.""",
        lambda: _mutants(target for text in documents() if text.name.endswith(".txt") for target in targets(text)),
    ),
    (
        "The same with formulas of these pages",
        f"{SAMPLE} such formulas of the pages of this project, drawn with a seed.",
        lambda: _mutants(
            _sampled([target for text in documents() if text.name.endswith(".md") for target in targets(text)])
        ),
    ),
)
_EVERY_PAGE = (
    "All formulas of these pages",
    """Every formula of the pages that was decided and not wrong, or fits, a formula that a page repeats once, with
three mistakes of a kind at most. `python -m tests.documents.mutants.every_page -v` names those that are not called
wrong.""",
    every_page,
)


def _sampled(found: Sequence[Target]) -> list[Target]:
    return random.Random(SEED).sample(found, min(SAMPLE, len(found)))


def _mutants(right: Iterable[Target]) -> None:
    """Print what is said of formulas with a mistake."""
    print(table([judged(mutant) for target in right for mutant in mutants(target) if mutant.answer == "different"]))


def page() -> str:
    """Return the page, measured now."""
    parts = [PAGE.read_text().partition(MATERIAL)[0] + _MATERIAL_TEXT]  # what was judged by hand stays
    for title, text, run in (*_PARTS, *((_EVERY_PAGE,) if "--all" in sys.argv else ())):
        printed = io.StringIO()
        with redirect_stdout(printed):
            run()
        print(title, printed.getvalue(), sep="\n", flush=True)
        figures = indent(printed.getvalue().rstrip(), "    ")
        parts.append(f"### {title}\n\n{text}\n\n{figures}\n")
    return "\n".join(parts)


def main() -> None:
    """Measure, print, and write the page."""
    if not gold.CLAIMS.exists():
        print(f"the documents are not at {gold.DOCUMENTS}: nothing is measured")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
