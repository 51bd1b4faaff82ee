"""Shared functions of the commands: errors in one sentence, tables, progress, common arguments."""

import shutil
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from derivations.cli import completion

__all__ = [
    "clean_errors",
    "folder_called",
    "language_option",
    "line_width",
    "lines_kept",
    "notation_option",
    "progress_of",
    "said",
    "shortened",
    "table_of",
    "wrapped",
]

UNBOUNDED = 140  # columns of output that goes to a file or to another program
SPACIOUS = 100  # columns from which a table may break its cells

NUMBERS = ("value", "parameters", "share", "FLOPs", "multiply-adds", "number", "bytes")  # columns of numbers


def _languages(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:
    from derivations.language.printing.words import languages  # SymPy comes with it

    return [tag for tag in languages() if tag.startswith(beginning)]


# The printers know the languages; a list of them here would be a second one.
language_option = click.option(
    "--lang",
    default="en",
    show_default=True,
    metavar="TAG",
    shell_complete=_languages,
    help="Language of the words, such as zh.",
)
notation_option = click.option(
    "--notation",
    default="ours",
    show_default=True,
    shell_complete=completion.notations,
    help="A built-in notation or a file.",
)


def lines_kept(command: Callable[..., Any]) -> Callable[..., Any]:
    r"""Replace the \b of a docstring by the character for which click keeps the lines of a paragraph."""
    command.__doc__ = (command.__doc__ or "").replace("\\b\n", "\b\n")
    return command


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an exception of the package for bad input into one sentence and exit code 2."""
    try:
        yield
    except BrokenPipeError:  # a reader such as `head` has seen enough; click ends quietly
        raise
    except (ValueError, OSError, LookupError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise click.ClickException(" ".join(str(text).split())) from error


def clean_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command report bad input in one sentence."""

    @wraps(lines_kept(command))
    def run(*arguments: Any, **options: Any) -> Any:
        with one_sentence():
            return command(*arguments, **options)

    return run


def folder_called(name: str) -> Path:
    """Return the path of a folder, and refuse an empty name."""
    if not name.strip():
        raise ValueError("the name of the folder is empty; give one, such as pages")
    return Path(name)


def line_width() -> int:
    """Return the width for output: `COLUMNS` or that of the terminal; files and pipes get wide lines."""
    return shutil.get_terminal_size((UNBOUNDED, 24)).columns


def said(text: str, indent: str = "") -> str:
    """Return a sentence wrapped to the output width. No word is broken, so that ids can be copied."""
    return textwrap.fill(text, line_width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def wrapped(text: str) -> str:
    """Return a text whose long lines are broken at words. Continuation lines are indented further."""
    lines = [(line, line[: len(line) - len(line.lstrip())]) for line in text.splitlines()]
    return "\n".join(said(line, f"{indent}  ") if len(line) > line_width() else line for line, indent in lines)


def shortened(text: str, width: int) -> str:
    """Return a text cut to a width, at the end of a word."""
    return textwrap.shorten(text, max(width, 4), placeholder=" ...")


def table_of(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], counted: bool = True) -> None:
    """Print a table; when `counted`, its title has the number of rows."""
    from rich.console import Console  # the tables are needed by these commands alone
    from rich.table import Table

    title = f"{len(rows)} {title}" if counted else title
    if _natural_width(columns, rows) > line_width() < SPACIOUS and len(columns) > 2:
        click.echo("\n".join([title, *(_record(columns, row) for row in rows)]))
        return
    table = Table(title=title, title_justify="left", min_width=len(title))
    for column in columns:
        number = column in NUMBERS
        table.add_column(
            column, overflow="fold", no_wrap=number or column == "id", justify="right" if number else "left"
        )
    for row in rows:
        table.add_row(*row)
    Console(markup=False, highlight=False, width=line_width()).print(table)


def _natural_width(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> int:
    """Return the width of a table in which no cell is broken."""
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    return sum(widths) + 3 * len(columns) + 1


def _record(columns: tuple[str, ...], row: tuple[str, ...]) -> str:
    """Return a row as lines `column: cell`, for a terminal that is too narrow for a table."""
    first, *rest = [f"{column}: {cell}" for column, cell in zip(columns, row, strict=True) if cell]
    return "\n".join([said(first, "    "), *(said(f"  {each}", "    ") for each in rest)])


@contextmanager
def progress_of(count: int, words: str) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error; each call of the yielded function advances it by one of `count` steps."""
    from rich.console import Console  # as above
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words, total=count)
        yield lambda: progress.advance(task)
