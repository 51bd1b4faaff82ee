"""Finds KaTeX and pdflatex; nothing is installed here.

KaTeX     Node.js, and the npm package in $KATEX_DIR/node_modules or in node_modules at the root of the checkout
pdflatex  on the PATH

Where one is absent, its tests are skipped with the reason; where CI=true they fail instead, so that a skip cannot pass
for a check.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

CHECK = Path(__file__).with_name("katex_check.js")

Katex = Callable[[Mapping[str, str]], dict[str, str]]
Pdflatex = Callable[[Path], str | None]
Typeset = Callable[..., str]


def absent(reason: str) -> NoReturn:
    """Skip, or fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def katex(repository: Path) -> Katex:
    """A function from formulas by id to KaTeX's complaints by id: empty where every formula renders."""
    node = shutil.which("node")
    if node is None:
        absent("KaTeX needs Node.js: no `node` on the PATH")
    folder = Path(os.environ.get("KATEX_DIR", repository))
    if not (folder / "node_modules" / "katex").is_dir():
        absent("no node_modules/katex in $KATEX_DIR or at the root: run `npm install --prefix DIR katex@0.16`")

    def complaints(formulas: Mapping[str, str]) -> dict[str, str]:
        request = json.dumps([{"id": name, "latex": latex} for name, latex in formulas.items()])
        command = [node, str(CHECK), str(folder)]
        answer = subprocess.run(command, input=request, capture_output=True, encoding="utf-8", check=False)
        assert answer.returncode == 0, answer.stderr
        report = json.loads(answer.stdout)
        failures = {failure["id"]: f"{failure['message']} in {failure['latex']}" for failure in report["failures"]}
        assert report["rendered"] + len(failures) == len(formulas)
        return failures

    return complaints


@pytest.fixture(scope="session")
def pdflatex() -> Pdflatex:
    """A function from a .tex file to None, or to what pdflatex complains of; the PDF is left beside the file."""
    program = shutil.which("pdflatex")
    if program is None:
        absent("no `pdflatex` on the PATH: install TeX Live (texlive-latex-base and texlive-latex-recommended)")

    def complaint(document: Path) -> str | None:
        command = [program, "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", document.name]
        for _ in range(2):  # the second run resolves references
            run = subprocess.run(command, cwd=document.parent, capture_output=True, check=False)
            output = run.stdout.decode("utf-8", errors="replace")
            if run.returncode != 0:
                return output[-2000:]
        log = document.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
        # pdflatex passes over a character that the font lacks, and over an unknown reference
        lost = [line for line in log.splitlines() if "Missing character" in line or "undefined" in line]
        return "\n".join(lost) or None

    return complaint


@pytest.fixture(scope="session")
def typeset() -> Typeset:
    """A function from a .tex file to the log of one run: of pdflatex, or of another program by name."""

    def log_of(document: Path, program: str = "pdflatex") -> str:
        found = shutil.which(program)
        if found is None:
            absent(f"no `{program}` on the PATH: install TeX Live")
        document.with_suffix(".log").unlink(missing_ok=True)
        command = [found, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", document.name]
        run = subprocess.run(command, cwd=document.parent, capture_output=True, check=False)
        assert run.returncode == 0, run.stdout.decode("utf-8", errors="replace")[-2000:]
        return document.with_suffix(".log").read_text(encoding="utf-8", errors="replace")

    return log_of
