"""Every formula of the pages of the project with every plausible mistake.

python -m tests.documents.mutants.every_page

Result       the table of `harness` over all pages, judged in two processes; progress on standard error. With -v every
             mutant that is not called wrong, in the order in which pages are done; a further word is a part of the
             names of pages
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import get_context

from tests.documents.mutants.harness import CAUGHT, Judged, all_mutants, judged, table_of
from tests.documents.mutants.texts import Text, documents

__all__ = ["every_page", "main"]

PROCESSES = 2


def _of_page(page: Text) -> tuple[str, Counter[tuple[str, str]], list[str]]:
    """Return how many mutants of a page of each kind are called what, and those that are not called wrong."""
    rows: list[Judged] = [judged(mutant) for mutant in all_mutants([page]) if mutant.answer == "different"]
    counts = Counter((row.mutant.kind, row.verdict) for row in rows)
    return page.name, counts, [str(row) for row in rows if row.verdict not in CAUGHT]


def every_page(names: Sequence[str] = ("",)) -> Iterator[tuple[str, Counter[tuple[str, str]], list[str]]]:
    """Yield what is said of the mutants of each page, as pages are done: the longest are begun first."""
    pages = [text for text in documents() if text.name.endswith(".md") and any(each in text.name for each in names)]
    pages.sort(key=lambda page: -len(page.text))
    with get_context("spawn").Pool(PROCESSES) as pool:
        for done, found in enumerate(pool.imap_unordered(_of_page, pages, chunksize=1), 1):
            print(f"{done} of {len(pages)} pages: {found[0]}, {found[1].total()} mutants", file=sys.stderr, flush=True)
            yield found


def main() -> None:
    """Print the table, and with -v what is not called wrong."""
    counts = Counter[tuple[str, str]]()
    for _, of_page, missed in every_page([each for each in sys.argv[1:] if not each.startswith("-")] or ("",)):
        counts += of_page
        if "-v" in sys.argv:
            print(*missed, sep="\n", flush=True)
    print(table_of(counts))


if __name__ == "__main__":
    main()
