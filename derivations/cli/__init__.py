"""The command line: the main job, which proves and runs everything, and one command for each smaller task.

SymPy, NumPy and the tables are imported when a command needs them, so that `--help` answers at once.
"""

import sys
from difflib import get_close_matches
from pathlib import Path

import click
from click.shell_completion import CompletionItem

import derivations
from derivations.cli.checking import check_command
from derivations.cli.counting import count_command
from derivations.cli.fitting import fit_command
from derivations.cli.listing import keep, list_command
from derivations.cli.proving import prove_command
from derivations.cli.rendering import render_command
from derivations.cli.results import code_command, export_command, show_command, verify_command
from derivations.cli.shared import clean_errors, folder_called, line_width, lines_kept
from derivations.cli.site import site_command
from derivations.cli.stored_evidence import source_digest
from derivations.processes import announce, interruptions_kept
from derivations.topics import nearest_are

__all__ = ["cli", "main"]


class _MainJobByDefault(click.Group):
    """A group that runs the main job when no command is named: `derivations`, `derivations FILE`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Insert `run` before arguments that do not start with a command of the group."""
        own = {"--help", "--version", *self.commands}
        completing = context.resilient_parsing  # the shell asks for the commands, not for those of `run`
        if not completing and (not arguments or arguments[0] not in own):
            _refuse_misspelt(arguments[:1])
            arguments = ["run", *arguments]
        return super().parse_args(context, arguments)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the commands. If none matches, complete the path of a file for the main job."""
        return super().shell_complete(context, incomplete) or [CompletionItem(incomplete, type="file")]


def _refuse_misspelt(first: list[str]) -> None:
    """Refuse a word that is neither an option nor a file of the main job."""
    for word in first:
        if not word.startswith("-") and not Path(word).exists():
            known = [name for name, command in cli.commands.items() if not command.hidden]
            near = get_close_matches(word, known, 3)
            hint = nearest_are(near) if near else f"the commands are {', '.join(known)}"
            raise click.UsageError(f"there is no file and no command called {word!r}; {hint}")


@click.group(cls=_MainJobByDefault, context_settings={"help_option_names": ["--help"], "max_content_width": 110})
@click.version_option(derivations.__version__, prog_name="derivations")
@lines_kept
def cli() -> None:
    r"""The mathematics of the Transformer: derived, proved, printed, compiled, run and cross-checked.

    Without a command, the main job runs: prove everything, write it as LaTeX and Markdown to the folder
    derivations-output, run the base-size Transformer on a text (`derivations FILE` takes yours) and cross-check.

    \b
    derivations                                the main job
    derivations list                           topics, results, layers
    derivations show softmax.jacobian --steps  a result with its derivation
    derivations code encoder_layer             NumPy source of a layer
    derivations count llama-3-8b               parameters, FLOPs and bytes
    derivations fit llama-3-8b --gpu h100      bytes on a device, bounds on time
    derivations check notes.md                 judge the formulas of a document
    derivations render notes.md                fill a document with formulas
    derivations site pages                     a static site of all of it
    """


@cli.command("run", hidden=True)
@click.argument("file", required=False)
@click.option("--out", default="derivations-output", show_default=True, help="Folder for the LaTeX and Markdown files.")
@click.option("--seed", default=0, show_default=True, help="Seed of the weights.")
@click.option("--verbose", is_flag=True, help="Print a table of all results, layers and properties as well.")
@clean_errors
def run_command(file: str | None, out: str, seed: int, verbose: bool) -> None:
    r"""Derive and prove everything, write it, compile and run the Transformer on FILE, cross-check.

    FILE is any UTF-8 text; without it the description in the package's metadata is used.

    \b
    derivations
    derivations book.txt --out pages
    """
    if file is not None and not Path(file).exists():
        raise ValueError(f"there is no file {file!r}")
    announce("numeric.verification.job")
    from rich.console import Console

    from numeric.verification.job import main_job  # the numeric side is needed by this command alone

    digest, folder = source_digest(), folder_called(out)
    console = Console(markup=False, highlight=False, width=line_width())
    summary = main_job(None if file is None else Path(file), folder, seed, console, verbose)
    keep(digest, summary.proofs)  # everything was proved: the next `list` can read it
    if summary.failures:
        sys.exit(1)


COMMANDS = (
    list_command,
    show_command,
    verify_command,
    export_command,
    code_command,
    count_command,
    fit_command,
    check_command,
    prove_command,
    render_command,
    site_command,
)
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line: exit code 0 for success, 1 for a failed check, 2 for bad input, 130 for Ctrl-C."""
    try:
        with interruptions_kept():
            sys.exit(cli(prog_name="derivations", standalone_mode=False))
    except click.ClickException as error:
        click.echo(f"derivations: {error.format_message()}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("derivations: stopped", err=True)
        # CPython records an interruption inside `exec` of source text, as for a dataclass, as one that was not caught,
        # and at exit kills itself with the signal; running another source text clears the record.
        exec("")  # noqa: S102 - a constant
        sys.exit(130)
