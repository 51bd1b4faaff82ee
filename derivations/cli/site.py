"""The command that builds the static site."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

import derivations
from derivations.cli.listing import judged_rows
from derivations.cli.shared import clean_errors, folder_called

__all__ = ["site_command"]

BESIDE = Path(derivations.__file__).parent.parent / "docs"  # of a checkout; an installed package has none


@click.command("site", short_help="A static site of all of it.")
@click.argument("folder", metavar="DIR")
@click.option("--docs", metavar="DIR", help="Pages in Markdown.  [default: docs of the checkout, if there is one]")
@click.option("--katex", metavar="DIR", default=".", envvar="KATEX_DIR", help="Where node_modules has KaTeX.")
@click.option("--pyodide", metavar="DIR", envvar="PYODIDE_DIR", help="Where node_modules has Pyodide.  [default: none]")
@clean_errors
def site_command(folder: str, docs: str | None, katex: str, pyodide: str | None) -> None:
    r"""Write a site with a page for each result, layer and page of docs, which is read without a network.

    KaTeX sets the formulas: install Node.js, and run `npm install katex@0.16`. The files may be opened as they are, or
    put on any web server. With Pyodide, `npm install pyodide@0.29`, a page judges what its readers paste.

    \b
    derivations site pages
    python -m http.server --directory pages
    """
    from derivations.site.katex import katex_in
    from derivations.site.pyodide import pyodide_in

    setter, out = katex_in(folder_called(katex)), folder_called(folder)  # refused before everything is proved
    python = None if pyodide is None else pyodide_in(setter.node, folder_called(pyodide))
    beside = ThreadPoolExecutor(1)  # Pyodide writes its archive in a process of its own, while this one proves
    shipped = beside.submit(python.files if python else dict)
    stored, source_of_evidence = judged_rows(prove=False)
    from derivations.architectures.models import model_names
    from derivations.catalogue import layers
    from derivations.language.printing.export import write_files
    from derivations.site.build import Contents, built, read_results
    from numeric.codegen.compile import source  # the code beside the equations

    pages = folder_called(docs) if docs is not None else BESIDE if (BESIDE / "index.md").is_file() else None
    if pages is None:
        click.echo("there is no folder docs here, so its pages are left out: name one by --docs", err=True)
    results = read_results({row.id: row.evidence for row in stored.rows})
    contents = Contents(results, layers(), model_names(), pages, source, python is not None)
    files = write_files(out, {**setter.files(), **built(contents, setter), **shipped.result()})
    click.echo(f"{len(files)} files in {folder}; open {out / 'index.html'}", err=True)
    click.echo(source_of_evidence, err=True)
