"""All benchmarks by one command, which prints their tables: `python -m tests.benchmarks [PART ...]`.

With `--page docs/performance.md` the figures are kept in the JSON file beside the page, and its tables are written
anew from them. Tables go to standard output, progress to standard error.
"""

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docs.performance_tables import refreshed, shown
from tests.benchmarks import documents, forward, language_model, memory, overhead, training
from tests.benchmarks.machine import described, require_all_cores
from tests.benchmarks.timing import ROUNDS, progress


def accuracy(rounds: int) -> Any:
    """Return the rows of the accuracy table, which only the peers can be imported for."""
    from tests.benchmarks.accuracy import rows

    return rows()


PARTS: Mapping[str, Callable[[int], Any]] = {
    "forward": forward.measured,
    "memory": lambda rounds: memory.measured(),
    "gpt2": language_model.forward,
    "decoding": language_model.decoding,
    "overhead": overhead.measured,
    "training": training.measured,
    "accuracy": accuracy,
    "documents": lambda rounds: documents.measured(),
}
NUMBERS = re.compile(r"\[\s+([-+.\de,\s]+?)\s+\]")  # a list of numbers, which stands in one line


def main() -> None:
    """Measure the parts that are asked for, and print or keep them."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all when left out")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often every contestant is timed")
    parser.add_argument("--page", type=Path, help="the page whose tables are written anew, from the JSON beside it")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}: choose of {', '.join(PARTS)}")
    if given.rounds < 1 or (given.page and given.rounds < ROUNDS):
        parser.error(f"--rounds must be at least {ROUNDS if given.page else 1}, not {given.rounds}")
    require_all_cores()
    for part in given.parts or PARTS:
        progress(part)
        measured = described(given.rounds)
        figures = {part: {"measured": measured, "figures": PARTS[part](given.rounds)}}
        print(f"## {part}\n\n{shown(part, figures)}", flush=True)
        if given.page:
            keep(given.page, figures)


def keep(page: Path, figures: dict[str, Any]) -> None:
    """Put figures beside those that are kept, and write the tables of the page anew."""
    kept = page.with_suffix(".json")
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    merged = {part: (known | figures)[part] for part in PARTS if part in known | figures}
    text = NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", json.dumps(merged, indent=1))
    kept.write_text(text + "\n", encoding="utf-8", newline="\n")
    page.write_text(refreshed(page.read_text(encoding="utf-8"), merged), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
