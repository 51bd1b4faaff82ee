"""Shared functions of the commands: errors in one sentence, tables, progress, common arguments."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

__all__ = ["clean_errors", "folder_called", "lines_kept", "progress_of", "table_of"]

NUMBERS = ("value", "parameters", "share", "FLOPs", "multiply-adds", "number", "bytes")  # columns of numbers


def lines_kept(command: Callable[..., Any]) -> Callable[..., Any]:
    r"""Replace the \b of a docstring by the character for which click keeps the lines of a paragraph."""
    command.__doc__ = (command.__doc__ or "").replace("\\b\n", "\b\n")
    return command


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an exception of the package for bad input into one sentence and exit code 2."""
    try:
        yield
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


def table_of(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], counted: bool = True) -> None:
    """Print a table; when `counted`, its title has the number of rows."""
    from rich.console import Console  # the tables are needed by these commands alone
    from rich.table import Table

    title = f"{len(rows)} {title}" if counted else title
    table = Table(title=title, title_justify="left", min_width=len(title))
    for column in columns:
        number = column in NUMBERS
        table.add_column(
            column, overflow="fold", no_wrap=number or column == "id", justify="right" if number else "left"
        )
    for row in rows:
        table.add_row(*row)
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 140).print(table)


@contextmanager
def progress_of(count: int, words: str) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error; each call of the yielded function advances it by one of `count` steps."""
    from rich.console import Console  # as above
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words, total=count)
        yield lambda: progress.advance(task)
