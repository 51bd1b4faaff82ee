"""The command that builds the static site."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

import derivations
from derivations.cli import completion
from derivations.cli.listing import PROCESSES, judged_rows
from derivations.cli.shared import clean_errors, folder_called, progress_of
from derivations.processes import announce, workers

if TYPE_CHECKING:
    from derivations.catalogue import Verdict
    from derivations.site.results import ResultView

__all__ = ["site_command"]

CHECKOUT = Path(derivations.__file__).parent.parent  # an installed package has no docs and no tests beside it


@click.command("site", short_help="A static site of all of it.")
@click.argument("folder", metavar="DIR", shell_complete=completion.folders)
@click.option(
    "--docs",
    metavar="DIR",
    shell_complete=completion.folders,
    help="Pages in Markdown.  [default: docs of the checkout, if there is one]",
)
@click.option(
    "--tests",
    metavar="DIR",
    shell_complete=completion.folders,
    help="Tests that results are shown with.  [default: tests of the checkout]",
)
@click.option(
    "--katex",
    metavar="DIR",
    default=".",
    shell_complete=completion.folders,
    envvar="KATEX_DIR",
    help="Where node_modules has KaTeX.",
)
@click.option(
    "--pyodide",
    metavar="DIR",
    shell_complete=completion.folders,
    envvar="PYODIDE_DIR",
    help="Where node_modules has Pyodide.  [default: none]",
)
@clean_errors
def site_command(folder: str, docs: str | None, tests: str | None, katex: str, pyodide: str | None) -> None:
    r"""Write a site with a page for each result, layer and page of docs, which can be read without a network.

    KaTeX sets the formulas: install Node.js, and run `npm install katex@0.16`. The files may be opened as they are, or
    put on any web server. With Pyodide, `npm install pyodide@0.29`, a page judges what its readers paste.

    \b
    derivations site pages
    python -m http.server --directory pages
    """
    from derivations.language.printing.export import check_writable, write_files
    from derivations.site.katex import katex_in
    from derivations.site.pyodide import pyodide_in

    setter, out = katex_in(folder_called(katex)), folder_called(folder)  # refused before everything is proved
    check_writable(out)
    python = None if pyodide is None else pyodide_in(setter.node, folder_called(pyodide))
    announce("derivations.site.build")
    # Pyodide writes its archive in one process; two others plan and count the models and read the layers, while others
    # prove and print the results: the longest work comes first
    with ThreadPoolExecutor(1) as thread, workers(2) as processes:
        from derivations.architectures.models import model_names
        from derivations.catalogue import layers
        from derivations.site.calculator import calculator_script, counts_of, plans_of
        from derivations.site.layers import read_layers
        from numeric.codegen.compile import source  # the code beside the equations

        shipped = thread.submit(python.files if python else dict)
        planned, counted = (processes.submit(each, model_names()) for each in (plans_of, counts_of))
        layers_read = processes.submit(read_layers, layers(), source)
        results, source_of_evidence = _results()
        from derivations.language.results.derivation import RESULTS
        from derivations.site.attempts import read_attempts
        from derivations.site.build import Contents, built

        pages, tried = _beside("docs", docs, "index.md"), _beside("tests", tests, "conftest.py")
        attempts = {} if tried is None else read_attempts(tried, RESULTS)
        has_numpy = python is not None and python.numpy is not None
        contents = Contents(
            results, layers_read.result(), model_names(), pages, python is not None, has_numpy, attempts
        )
        made: dict[str, str | bytes] = {**setter.files(), **built(contents, setter), **shipped.result()}
        made["calculator-data.js"] = calculator_script(counted.result(), planned.result())
        files = write_files(out, made)
    click.echo(f"{len(files)} files in {folder}; open {out / 'index.html'}", err=True)
    click.echo(source_of_evidence, err=True)


def _results() -> tuple[list[ResultView], str]:
    """Return the views of all results for their pages, and the sentence that says where the evidence comes from."""
    from derivations.catalogue import names
    from derivations.site.build import read_results

    views: list[ResultView] = []

    def read(levels: Mapping[str, str]) -> Iterator[Verdict]:
        with progress_of(len(names()), "printing") as advance:
            for verdict, view in read_results(levels, PROCESSES):
                views.append(view)
                advance()
                yield verdict

    stored, source = judged_rows(prove=False, verdicts=lambda: read({}))
    if not views:
        deque(read({row.id: row.evidence for row in stored.rows}), maxlen=0)
    return views, source


def _beside(name: str, told: str | None, known_by: str) -> Path | None:
    """Return the folder that the user named, or that of the checkout. Without either, return None after a message."""
    if told is not None:
        return folder_called(told)
    found = CHECKOUT / name
    if (found / known_by).is_file():
        return found
    click.echo(f"there is no folder {name} here, so what it has is left out: name one by --{name}", err=True)
    return None
