"""The command that judges the formulas of documents."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from derivations.cli import completion
from derivations.cli.shared import clean_errors, line_width, progress_of

if TYPE_CHECKING:
    from derivations.documents.reports.judging import Judged
    from derivations.documents.settings import Settings

__all__ = ["check_command"]

FORMATS = ("text", "github", "json", "sarif")
TEXTS = ("markdown", "notebook", "restructuredtext", "latex", "python")
STANDARD_INPUT = "-"


@click.command("check", short_help="Judge the formulas of documents.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.files)
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="How to report.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--sarif", "as_sarif", is_flag=True, help="The same as --format sarif.")
@click.option("--verbose", is_flag=True, help="Show every claim, not only what is wrong or rests on an assumption.")
@click.option("--not-understood", "not_understood", is_flag=True, help="Show what was not understood as well, and why.")
@click.option("--fix", is_flag=True, help="Print the repairs that are certain as a diff.")
@click.option("--write", "written", is_flag=True, help="With --fix: write the repairs into the files.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Processes to use at most.")
@click.option(
    "--config",
    metavar="FILE",
    shell_complete=completion.files,
    help="TOML file with the settings.  [default: the nearest pyproject.toml]",
)
@click.option("--ignore", multiple=True, metavar="ID", help="A check or a result whose findings are left out.")
@click.option("--stdin-format", type=click.Choice(TEXTS), default="markdown", show_default=True, help="Of FILE -.")
@clean_errors
def check_command(
    files: tuple[str, ...], verbose: bool, not_understood: bool, fix: bool, written: bool, **options: Any
) -> None:
    r"""Judge the formulas of documents: Markdown, notebooks, reStructuredText, LaTeX, Python docstrings.

    Each claim is proved, holds, holds under an assumption (conditional), is wrong, or is unknown. FILE may be a folder,
    or - for standard input. Exit 1 if anything is wrong, 2 if a file cannot be read.

    \b
    derivations check notes.md
    derivations check docs --jobs 4
    derivations check paper.tex --fix
    derivations check paper.tex --not-understood
    derivations check chapter.ipynb --ignore arithmetic --json
    cat notes.md | derivations check - --format github
    """
    form = _format(options["form"], options["as_json"], options["as_sarif"], fix)
    if written and not fix:
        raise ValueError("--write writes repairs: add --fix")
    if written and STANDARD_INPUT in files:
        raise ValueError("standard input has no file to --write to: leave --write out for the diff")
    judged = _judged(files, options)
    _print_problems(judged)
    if fix:
        judged = _repaired(judged, options, written)
    else:
        _print(judged, form, verbose, not_understood)
    if any(each.wrong for each in judged):
        sys.exit(1)
    if any(each.failed for each in judged):
        sys.exit(2)


def _format(form: str | None, as_json: bool, as_sarif: bool, fix: bool) -> str:
    """Return the requested format."""
    asked = {name for name, given in ((form, form), ("json", as_json), ("sarif", as_sarif)) if name and given}
    if len(asked) > 1:
        raise ValueError(f"choose one format, not {' and '.join(sorted(asked))}")
    if fix and asked - {"text"}:
        raise ValueError(f"--fix prints a diff: leave out the format {asked.pop()}")
    return asked.pop() if asked else "text"


# --- judging ---


def _judged(files: Sequence[str], options: dict[str, Any]) -> list["Judged"]:
    """Judge the files in their order."""
    from derivations.documents.reports.files import files_of
    from derivations.documents.reports.judging import judge_files

    settings = _configuration(options)
    found = [_standard_input(options["stdin_format"], settings)] if STANDARD_INPUT in files else []
    paths = files_of([name for name in files if name != STANDARD_INPUT], _suffixes(), settings)
    if not paths and not found:
        raise ValueError(f"there is no document in {', '.join(files)}: documents end in {', '.join(_suffixes())}")
    if len(paths) < 2:
        return [*found, *judge_files(paths, settings)]
    with progress_of(len(paths), "checking") as advance:
        for each in judge_files(paths, settings, options["jobs"]):
            found.append(each)
            advance()
    return found


def _standard_input(form: str, settings: "Callable[[Path], Settings]") -> "Judged":
    from derivations.documents.readers.source import MAX_FILE, decoded
    from derivations.documents.reports.judging import judge_text

    text, problems = decoded(sys.stdin.buffer.read(MAX_FILE + 1))
    return judge_text(text, form, "<stdin>", settings(Path()), problems)


def _configuration(options: dict[str, Any]) -> "Callable[[Path], Settings]":
    from derivations.documents.settings import configuration

    return configuration(Path(options["config"]) if options["config"] else None, options["ignore"])


def _suffixes() -> tuple[str, ...]:
    from derivations.documents.readers import SUFFIXES

    return tuple(SUFFIXES)


# --- output ------------


def _print_problems(judged: Sequence["Judged"]) -> None:
    from derivations.documents.reports.plain import visible
    from derivations.documents.reports.text_report import place_of

    for each in judged:
        for problem in each.report.problems:
            click.echo(f"{place_of(each.report.file, problem.place)}: {visible(problem.message)}", err=True)


def _print(judged: Sequence["Judged"], form: str, verbose: bool, not_understood: bool) -> None:
    reports = [each.report for each in judged]
    match form:
        case "json":
            from derivations.documents.reports.json_report import json_report

            click.echo(json_report(reports))
        case "sarif":
            from derivations.documents.reports.sarif import sarif_report

            click.echo(sarif_report(judged))
        case "github":
            from derivations.documents.reports.github import github_report

            click.echo(github_report(judged))
        case _:
            from rich.console import Console

            from derivations.documents.reports.text_report import print_report

            console = Console(markup=False, highlight=False, width=line_width())
            print_report(reports, console, verbose, not_understood)


# --- repairs ---


def _repaired(judged: Sequence["Judged"], options: dict[str, Any], written: bool) -> list["Judged"]:
    """Print the repairs; if they are to be written, write them and judge the changed files again."""
    from derivations.documents.replacing import repaired, write
    from derivations.documents.reports.differences import unified_diff
    from derivations.documents.reports.judging import judge_file
    from derivations.documents.reports.plain import visible
    from derivations.documents.reports.repairs import certain

    settings = _configuration(options)
    after, count = [], 0
    for each in judged:
        path, text = Path(each.report.file), each.original.text
        changes = certain(each, settings(path.parent))
        difference = unified_diff(each.report.file, text, changes, each.original.encoding)
        click.echo(visible(difference) if sys.stdout.isatty() else difference, nl=False)
        count += len(changes)
        if changes and written:
            write(path, repaired(text, changes), str(each.original.encoding))
            each = judge_file(path, settings(path.parent))
        after.append(each)
    done = "repaired" if written else "can be repaired with certainty"
    click.echo(f"wrong: {sum(each.wrong for each in judged)}, of which {count} {done}", err=True)
    return after
