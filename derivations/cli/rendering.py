"""The command that fills the blocks of documents."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from derivations.cli import completion
from derivations.cli.own_modules import of_modules
from derivations.cli.shared import clean_errors, language_option, notation_option
from derivations.documents.choices import MATHS

if TYPE_CHECKING:
    from derivations.documents.rendering import Rendered

__all__ = ["render_command"]


@click.command("render", short_help="Fill documents with formulas.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.files)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a block is stale.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@notation_option
@click.option("--math", type=click.Choice(MATHS), default=None, help="How formulas are marked.")
@click.option("--label", metavar="PREFIX", default=None, help="Label the formulas, such as eq:softmax-jacobian of eq.")
@click.option("--width", metavar="WIDTH", default=None, help="Break LaTeX into lines that fit: pt, in, cm or mm.")
@language_option
@click.option("--module", "modules", multiple=True, metavar="MODULE", help="Import a module of yours for the marks.")
@clean_errors
def render_command(
    files: tuple[str, ...],
    check: bool,
    diff: bool,
    notation: str,
    math: str | None,
    label: str | None,
    width: str | None,
    lang: str,
    modules: tuple[str, ...],
) -> None:
    r"""Fill the blocks of documents with formulas: Markdown, notebooks, LaTeX, reStructuredText.

    A block stands between <!-- derivation: ID --> or <!-- layer: NAME --> and <!-- end -->; in LaTeX after %, in
    reStructuredText after two dots. Words after the id come before the options: steps, formula, title, gradient,
    set d_k=64, notation=, math=, label=, width=, lang=. FILE may be a folder. With --module mypackage.results a mark
    may name a result or layer of that module, such as mypackage.results:mine.

    \b
    derivations render notes.md
    derivations render docs --check
    derivations render paper.tex --notation vaswani --label eq
    derivations render paper.tex --width 3.3in
    derivations render chapter.ipynb --diff
    derivations render notes.md --module mypackage.results
    """
    from derivations.documents.rendering import Options, rendered
    from derivations.language.printing.fragments import points
    from derivations.language.printing.notation_file import notation_called
    from derivations.language.printing.words import language

    if width:
        points(width)  # one that is no length is refused before any work
    options = Options(notation_called(notation), math, label, language(lang).tag, width, own=of_modules(modules))
    found = [rendered(path, options) for path in _paths(files)]
    if diff:
        _print_difference(found)
    elif not check:
        _write(found)
    if check:
        _say_what_is_stale(found)
        if any(each.stale for each in found):
            sys.exit(1)


def _paths(files: Sequence[str]) -> tuple[Path, ...]:
    from derivations.documents.readers import SUFFIXES
    from derivations.documents.reports.files import files_of
    from derivations.documents.settings import configuration

    suffixes = [suffix for suffix, form in SUFFIXES.items() if form != "python"]
    paths = files_of(files, suffixes, configuration())
    if not paths:
        raise ValueError(f"there is no document in {', '.join(files)}: documents end in {', '.join(suffixes)}")
    return paths


def _print_difference(found: Sequence["Rendered"]) -> None:
    from derivations.documents.reports.differences import unified_diff
    from derivations.documents.reports.plain import visible

    for each in found:
        difference = unified_diff(each.file, each.original.text, each.replacements)
        click.echo(visible(difference) if sys.stdout.isatty() else difference, nl=False)


def _write(found: Sequence["Rendered"]) -> None:
    """Write the files with stale blocks, after all blocks were filled without an error."""
    from derivations.documents.replacing import repaired, write

    for each in found:
        if each.stale:
            write(Path(each.file), repaired(each.original.text, each.replacements), str(each.original.encoding))
            click.echo(f"{each.file}: {len(each.stale)} of {each.blocks} blocks written", err=True)
    if not any(each.blocks for each in found):
        click.echo("there is no block to fill: write <!-- derivation: softmax.jacobian --> and <!-- end -->", err=True)


def _say_what_is_stale(found: Sequence["Rendered"]) -> None:
    from derivations.documents.reports.text_report import place_of

    for each in found:
        for stale in each.stale:
            click.echo(f"{place_of(each.file, stale.place)}: {stale.name} is stale", err=True)
    count = sum(len(each.stale) for each in found)
    click.echo(f"blocks: {sum(each.blocks for each in found)}, of which {count} stale", err=True)
