"""Commands for results and layers: list, show, verify, export, code."""

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import derivations
from derivations.cli.optimised import check_options, optimised_source_of, print_rewritings
from derivations.cli.shared import clean_errors, folder_called, progress_of, table_of
from derivations.documents.choices import LANGUAGES, MATHS, size_of
from derivations.processes import announce

if TYPE_CHECKING:
    from derivations.cli.stored_evidence import Row

__all__ = ["code_command", "export_command", "list_command", "show_command", "verify_command"]

BACKENDS = ("numpy", "jax", "torch")
FORMATS = ("latex", "markdown", "text", "json", "python")
PROCESSES = min(4, os.cpu_count() or 1)


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects: id, title, topic, evidence.")
@click.option("--prove", is_flag=True, help="Prove everything now, whatever is stored.")
@clean_errors
def list_command(as_json: bool, prove: bool) -> None:
    r"""List the results: ids, titles, topics, evidence.

    The evidence of this very source is proved once and then read from the user's cache folder; a last line says so.
    `verify` always proves anew.

    \b
    derivations list
    derivations list --json
    derivations list --prove
    """
    from derivations.cli import stored_evidence

    digest = stored_evidence.source_digest()
    stored = None if prove else stored_evidence.read(digest)
    source = f"of source {digest[:12]}, version {derivations.__version__}"
    if stored is None:
        stored = stored_evidence.keep(digest, _listed())
        said = f"Evidence {source}: proved now, and stored for the next list."
    else:
        said = (
            f"Evidence {source}: read from the cache, proved {stored.proved}; `derivations list --prove` proves anew."
        )
    if as_json:
        click.echo(json.dumps([asdict(row) for row in stored.rows], ensure_ascii=False, indent=1))
    else:
        table_of("results", ("id", "title", "evidence"), [(r.id, r.title, r.evidence) for r in stored.rows])
    click.echo(said, err=as_json)


def _listed() -> list["Row"]:
    """Prove every result and return the rows that `list` shows."""
    announce("derivations.catalogue")
    from derivations.catalogue import names, verify

    rows = []
    with progress_of(len(names()), "proving") as advance:
        for v in verify(names(), PROCESSES, cross_checked=False):
            rows.append(_row(v))
            advance()
    return rows


def _row(v: Any) -> "Row":
    from derivations.cli.stored_evidence import Row

    return Row(v.id, v.title, v.id.partition(".")[0], v.level)


@click.command("show")
@click.argument("name", metavar="ID")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--steps", is_flag=True, help="Show the derivation, not only the result.")
@click.option("--set", "sizes", multiple=True, metavar="SIZE=NUMBER", help="Put in numbers, such as d_k=64.")
@click.option("--notation", default="ours", show_default=True, help="A built-in notation or a file.")
@click.option("--math", type=click.Choice(MATHS), default=None, help="How formulas are marked.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the words.")
@click.option("--gradient", is_flag=True, help="Of a layer, show its gradient.")
@clean_errors
def show_command(
    name: str,
    form: str,
    as_json: bool,
    steps: bool,
    sizes: tuple[str, ...],
    notation: str,
    math: str | None,
    lang: str,
    gradient: bool,
) -> None:
    r"""Show one result, or one layer.

    \b
    derivations show softmax.jacobian --steps
    derivations show dot_product.variance --set d_k=64 --format latex
    derivations show feed_forward.column_form --notation columns --format markdown
    derivations show feed_forward --gradient
    """
    from derivations.catalogue import get
    from derivations.catalogue import layer as layer_called
    from derivations.language.printing.loops import python_source
    from derivations.language.printing.notation_file import notation_called

    if gradient and "." in name:
        raise ValueError(f"{name} is a result: --gradient shows the gradient of a layer, such as feed_forward")
    shown = get(name) if "." in name else _or_gradient(layer_called(name), gradient)
    if sizes:
        shown = shown.at(**dict(map(size_of, sizes)))
    if as_json or form == "json":
        click.echo(json.dumps(shown.json(), ensure_ascii=False, indent=1))
    elif form == "python":
        click.echo(python_source(shown) if "." in name else _source(shown, "numpy"), nl=False)
    else:
        options: dict[str, Any] = {"steps": steps, "lang": lang}
        if math is not None:
            options["math"] = math
        if form == "text":
            options.pop("math", None)
        click.echo(getattr(shown, form)(notation_called(notation), **options).rstrip("\n"))
        if form == "text" and "." in name:
            click.echo(f"Evidence: {shown.evidence.level}.")


@click.command("verify")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects: id, evidence, failures, cross-check.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Processes to use.")
@clean_errors
def verify_command(ids: tuple[str, ...], as_json: bool, jobs: int) -> None:
    r"""Prove results again, all of them by default, and cross-check them numerically.

    Exit 1 if any is refuted or unknown, or if the cross-check disagrees.

    \b
    derivations verify
    derivations verify --jobs 4
    derivations verify softmax.jacobian attention.scores --json
    """
    if jobs > 1:
        announce("derivations.catalogue")
    from derivations.catalogue import known, names, verify
    from derivations.cli import stored_evidence

    chosen = [known(name) for name in ids] or names()
    verdicts = []
    with progress_of(len(chosen), "proving") as advance:
        for verdict in verify(chosen, jobs):
            verdicts.append(verdict)
            advance()
    if not ids:
        stored_evidence.keep(stored_evidence.source_digest(), [_row(v) for v in verdicts])
    if as_json:
        click.echo(json.dumps([_verdict(v) for v in verdicts], ensure_ascii=False, indent=1))
    else:
        rows: list[tuple[str, ...]] = [
            (v.id, v.level, v.cross_check, "; ".join((*v.failures, *_disagreement(v)))) for v in verdicts
        ]
        table_of("verified", ("id", "evidence", "cross-check", "failures"), rows)
        without = sum(v.cross_check == "not applicable" for v in verdicts)
        click.echo(f"cross-check not applicable: {without} of {len(verdicts)} ({without / len(verdicts):.0%})")
    if any(v.failed for v in verdicts):
        sys.exit(1)


def _verdict(v: Any) -> dict[str, Any]:
    return {
        "id": v.id,
        "evidence": v.level,
        "failures": list(v.failures),
        "cross_check": v.cross_check,
        "cross_check_reason": v.reason,
        "second_route": v.cross_check,  # the former names of the two, for one release
        "second_route_reason": v.reason,
    }


def _disagreement(v: Any) -> tuple[str, ...]:
    return (f"the cross-check disagrees: {v.reason}",) if v.cross_check == "disagrees" else ()


@click.command("export")
@click.argument("folder", metavar="DIR")
@click.option("--notation", default="ours", show_default=True, help="A built-in notation or a file.")
@click.option("--math", type=click.Choice(MATHS), default="dollars", show_default=True, help="How formulas are marked.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the words.")
@clean_errors
def export_command(folder: str, notation: str, math: str, lang: str) -> None:
    r"""Write every result and layer as LaTeX and Markdown files, ready to \input or include.

    \b
    derivations export pages
    derivations export pages --notation vaswani --math brackets
    """
    from derivations.catalogue import layers, results
    from derivations.language.printing.export import export
    from derivations.language.printing.notation_file import notation_called

    files = export(folder_called(folder), results(), layers(), notation_called(notation), math, lang)
    click.echo(f"{len(files)} files in {folder}", err=True)


@click.command("code")
@click.argument("name", metavar="LAYER")
@click.option("--backend", type=click.Choice(BACKENDS), default="numpy", show_default=True, help="The library.")
@click.option("--gradient", is_flag=True, help="The source of the layer's gradient, forward and backward pass.")
@click.option("--optimized", is_flag=True, help="The source of the optimised layer: in place, in tiles, on threads.")
@click.option("--explain", is_flag=True, help="Of the optimised layer, list the rewritings instead.")
@click.option("--without", multiple=True, metavar="PASS", help="A pass of the optimiser to leave out.")
@click.option("--json", "as_json", is_flag=True, help="Print the rewritings as a list of objects.")
@clean_errors
def code_command(
    name: str,
    backend: str,
    gradient: bool,
    optimized: bool,
    explain: bool,
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Print standalone source of a layer or of its gradient, which runs without this package.

    \b
    derivations code scaled_dot_product_attention
    derivations code scaled_dot_product_attention --gradient
    derivations code transformer --backend jax
    derivations code transformer > transformer.py
    derivations code encoder_layer --optimized
    derivations code encoder_layer --optimized --explain --without base_two
    """
    from derivations.catalogue import layer as layer_called

    check_options(optimized, backend, explain, without, as_json)
    layer = layer_called(name)
    if optimized and gradient:
        layer = _inlined(layer)  # the passes of a gradient need its parts inlined
    layer = _or_gradient(layer, gradient)
    if explain:
        print_rewritings(layer, without, as_json)
    elif optimized:
        click.echo(optimised_source_of(layer, without), nl=False)
    else:
        click.echo(_source(layer, backend), nl=False)


def _inlined(layer: Any) -> Any:
    from derivations.language.layers.inlining import inlined  # SymPy comes with it

    return inlined(layer)


def _or_gradient(layer: Any, asked: bool) -> Any:
    """Return the layer, or its gradient if requested."""
    if not asked:
        return layer
    from derivations.language import gradient  # SymPy comes with it

    return gradient(layer)


def _source(layer: Any, backend: str) -> str:
    from numeric.codegen.compile import source  # the numeric side is needed for the source of layers alone

    return source(layer, backend)
