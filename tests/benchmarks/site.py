"""How fast the site is in Chromium: `python -m tests.benchmarks.site FOLDER`, the folder of a site with Python.

Measured     bytes of a page; the first paint of pages that come from a local server to a browser that knows nothing of
             them; the answer of a slider, laid out; the judge from the click on a fresh page, and when it runs already:
             one equation, and documents of seventeen formulas (tests/benchmarks/documents.py)
Result       medians, with the least and the greatest

Node.js and Chromium are on the PATH; node_modules in KATEX_DIR, or here, has playwright-core.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.documents import section

__all__ = ["figures"]

PAGES, COLD, WARM = 40, 5, 20  # how often each is measured
MODELS = ("gpt2", "deepseek-v3", "t5-small", "gemma-2-9b")
EQUATIONS = [
    [rf"({a} {b})^\top", rf"{b}^\top {a}^\top", f"{a}: n x d\n{b}: d x m"]
    for a, b in zip("ABCDEFGHKM", "PQRSTUVWXY", strict=True)
]


def figures(folder: Path) -> Iterator[tuple[str, str, Sequence[float]]]:
    """Yield what was measured, its unit, and every value."""
    pages = {kind: sorted((folder / kind).glob("*.html")) for kind in ("results", "layers")}
    for kind, found in pages.items():
        yield f"page of {kind}", "kB", [path.stat().st_size / 1000 for path in found if path.stem != "index"]
    every = max(1, len(pages["results"]) // PAGES)
    request = {
        "folder": str(folder.resolve()),
        "pages": [path.relative_to(folder).as_posix() for path in pages["results"][::every]],
        "models": MODELS,
        "cold": COLD,
        "equations": EQUATIONS * 2,
        "documents": [section(number) for number in range(WARM)],
    }
    script, modules = Path(__file__).with_name("measure_site.js"), os.environ.get("KATEX_DIR", ".")
    command = [_program("node"), str(script), modules, _program("chromium", "chromium-browser")]
    answer = subprocess.run(command, input=json.dumps(request), stdout=subprocess.PIPE, encoding="utf-8", check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    for name, values in found.items():
        yield name, "ms", values


def _program(*names: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    raise SystemExit(f"{names[0]} is not on the PATH: install it")


def main() -> None:
    """Print the figures as a table of Markdown."""
    if len(sys.argv) != 2:
        raise SystemExit("name the folder of a site: python -m tests.benchmarks.site FOLDER")
    print("| what | count | median | least | greatest |\n| --- | --- | --- | --- | --- |")
    for what, unit, values in figures(Path(sys.argv[1])):
        shown = (f"{value:,.1f} {unit}" for value in (median(values), min(values), max(values)))
        print(f"| {what} | {len(values)} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
