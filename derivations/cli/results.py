"""Commands for results and layers: show, verify, export, code."""

import json
import sys
from functools import partial
from typing import Any

import click

from derivations.cli import completion
from derivations.cli.listing import keep
from derivations.cli.onnx_export import write_onnx_file
from derivations.cli.optimised import check_options, optimised_source_of, print_rewritings
from derivations.cli.own_modules import is_own, judged, layer_called, result_called
from derivations.cli.page_export import chosen, is_id
from derivations.cli.shared import (
    clean_errors,
    folder_called,
    language_option,
    notation_option,
    progress_of,
    table_of,
    wrapped,
)
from derivations.cli.stored_evidence import source_digest
from derivations.documents.choices import MATHS, size_of
from derivations.processes import announce

__all__ = ["code_command", "export_command", "show_command", "verify_command"]

BACKENDS = ("numpy", "jax", "torch")
FORMATS = ("latex", "markdown", "text", "json", "python")


@click.command("show", short_help="A result or a layer.")
@click.argument("name", metavar="ID", shell_complete=completion.results_and_layers)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--steps", is_flag=True, help="Show the derivation, not only the result.")
@click.option("--set", "sizes", multiple=True, metavar="SIZE=NUMBER", help="Put in numbers, such as d_k=64.")
@notation_option
@click.option("--math", type=click.Choice(MATHS), default=None, help="How formulas are marked.")
@language_option
@click.option("--gradient", is_flag=True, help="Of a layer, show its gradient.")
@click.option("--numbered", is_flag=True, help="As LaTeX with a numbered equation.")
@click.option("--label", default="", metavar="PREFIX", help="As LaTeX with a label, such as eq:softmax-jacobian of eq.")
@click.option("--macros", is_flag=True, help="As LaTeX with macros for the letters, and their definitions.")
@click.option("--width", default="", help="As LaTeX in lines that fit into a width: pt, in, cm or mm.")
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
    numbered: bool,
    label: str,
    macros: bool,
    width: str,
) -> None:
    r"""Show one result, or one layer.

    \b
    derivations show softmax.jacobian --steps
    derivations show dot_product.variance --set d_k=64 --format latex
    derivations show feed_forward.column_form --notation columns --format markdown
    derivations show feed_forward --gradient
    derivations show softmax.jacobian --label eq
    derivations show softmax.jacobian --steps --width 3.3in
    derivations show mypackage.results:mine

    The last one imports mypackage.results, a module of yours: mine is a result, a layer, or a function that returns
    one. So do verify, export and code.
    """
    from derivations.language import Derivation
    from derivations.language.printing.breaking.atoms import expanding
    from derivations.language.printing.fragments import broken_view, points
    from derivations.language.printing.labels import label_of, labelled
    from derivations.language.printing.loops import python_source
    from derivations.language.printing.macros import definitions, with_macros
    from derivations.language.printing.notation_file import notation_called
    from derivations.language.printing.statement import statement
    from derivations.language.printing.words import Kind, language, said, word

    signs = language(lang)  # one without a catalogue is refused before the result is proved
    if gradient and "." in name and not is_own(name):  # said before the result is proved
        raise ValueError(_no_gradient(name))
    if numbered or label:
        form, math = _numbered(form, math)
    for given, option in ((macros, "--macros"), (width, "--width")):
        if given and form not in ("text", "latex"):
            raise ValueError(f"{option} is for LaTeX: leave --format out")
    within = points(width) if width else 0.0
    shown = judged(name)
    is_result = isinstance(shown, Derivation)
    if gradient and is_result:
        raise ValueError(_no_gradient(name))
    if steps and not is_result:
        raise ValueError(f"{name} is a layer, which has equations and no steps: leave --steps out, or name a result")
    if steps and (macros or form == "latex") and math is None:
        math = "brackets"  # a derivation is more than one formula: "Where" and the source stand below it
    shown = _or_gradient(shown, gradient)
    if sizes:
        shown = shown.at(**dict(map(size_of, sizes)))
    if as_json or form == "json":
        click.echo(json.dumps(shown.json(), ensure_ascii=False, indent=1))
    elif form == "python":
        click.echo(python_source(shown) if is_result else _source(shown, "numpy"), nl=False)
    else:
        using, letters = with_macros(notation_called(notation)) if macros else (notation_called(notation), {})
        form = "latex" if macros or width else form
        own = name + "_gradient" * gradient
        called = own if is_own(name) else shown.id if is_result else shown.name
        options: dict[str, Any] = {"steps": steps, "lang": lang}
        if math is not None:
            options["math"] = math
        if form == "text":
            options.pop("math", None)
        if width:
            parts = statement(shown, using, lang, called, steps=steps)
            with expanding(letters):
                printed = broken_view(parts, within, math or "dollars", lang, numbered, label)
        else:
            printed = getattr(shown, form)(using, **options).rstrip("\n")
        printed = definitions(letters) + printed  # the macros are known once the formulas are printed
        if label and not width:
            printed = labelled(printed, label_of(label, called))
        click.echo(wrapped(printed) if form == "text" and sys.stdout.isatty() else printed)
        if form == "text" and is_result:
            level = said(Kind.EVIDENCE, shown.evidence.level, lang)
            click.echo(f"{word('Evidence', lang)}{signs.colon}{level}{signs.stop}")


def _numbered(form: str, math: str | None) -> tuple[str, str]:
    """Return the format "latex" and the math mark "equation". Refuse options that ask for another format or mark."""
    if form not in ("text", "latex") or math not in (None, "equation"):
        raise ValueError("--numbered and --label are for LaTeX equations: leave --format and --math out")
    return "latex", "equation"


def _no_gradient(name: str) -> str:
    return f"{name} is a result: --gradient shows the gradient of a layer, such as feed_forward"


@click.command("verify", short_help="Prove and cross-check again.")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=completion.results)
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
    derivations verify mypackage.results:mine

    Of a layer, of the catalogue or of a module of yours, that its gradient is right is proved.
    """
    if jobs > 1:
        announce("derivations.catalogue")
    from derivations.catalogue import LAYERS, known, names, verify

    others = [name for name in ids if is_own(name) or name in LAYERS]
    of_modules = [_verified_own(name) for name in others]
    chosen = [known(name) for name in ids if name not in others] if ids else names()
    verdicts = []
    with progress_of(len(chosen), "proving") as advance:
        for verdict in verify(chosen, jobs):
            verdicts.append(verdict)
            advance()
    verdicts += of_modules
    if not ids:
        keep(source_digest(), verdicts)
    if as_json:
        click.echo(json.dumps([_verdict(v) for v in verdicts], ensure_ascii=False, indent=1))
    else:
        rows: list[tuple[str, ...]] = [
            (v.id, v.level, v.cross_check, "; ".join((*v.failures, *_remark(v)))) for v in verdicts
        ]
        failed = sum(v.failed for v in verdicts)
        table_of(
            f"judged, {failed} failed" if failed else "verified", ("id", "evidence", "cross-check", "remarks"), rows
        )
        without = sum(v.cross_check == "not applicable" for v in verdicts)
        click.echo(f"cross-check not applicable: {without} of {len(verdicts)} ({without / len(verdicts):.0%})")
    if any(v.failed for v in verdicts):
        sys.exit(1)


def _verified_own(name: str) -> Any:
    """Return the verdict on a result of a user's module, or on the gradient of a layer."""
    from derivations.catalogue import verdict

    return verdict(name, partial(result_called, name))


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


def _remark(v: Any) -> tuple[str, ...]:
    said = {"disagrees": f"the cross-check disagrees: {v.reason}", "not applicable": f"no cross-check: {v.reason}"}
    return (said[v.cross_check],) if v.cross_check in said and v.reason else ()


@click.command("export", short_help="All of it as LaTeX and Markdown; a layer as ONNX.")
@click.argument("folder", metavar="DIR|LAYER", shell_complete=completion.layers_or_folders)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=completion.results_and_layers)
@click.option("--gradients", is_flag=True, help="Of each layer, its gradient as well.")
@notation_option
@click.option("--math", type=click.Choice(MATHS), default="dollars", show_default=True, help="How formulas are marked.")
@language_option
@click.option("--width", default="345pt", show_default=True, help="Width of the text in LaTeX: pt, in, cm or mm.")
@click.option("--numbered", is_flag=True, help="Number the formulas of the LaTeX files.")
@click.option("--label", default="", metavar="PREFIX", help="Label them, such as eq:softmax-jacobian of eq.")
@click.option("--macros", is_flag=True, help="Letters as macros, which derivations.sty defines.")
@click.option(
    "--onnx",
    "onnx_file",
    metavar="FILE",
    shell_complete=completion.files,
    help="Write LAYER, or the model in a folder, as this ONNX file.",
)
@click.option("--set", "sizes", multiple=True, metavar="SIZE=NUMBER", help="With --onnx, fix a size, such as N=6.")
@click.option("--optimized", is_flag=True, help="With --onnx, the optimised layer.")
@click.option("--explain", is_flag=True, help="With --onnx --optimized, list the rewritings as well.")
@click.option("--external-data", is_flag=True, help="With --onnx, weights in a second file, FILE.data.")
@click.option(
    "--operator", "operators", multiple=True, help="With --onnx, one that may be a whole layer, such as Attention."
)
@clean_errors
def export_command(
    folder: str,
    ids: tuple[str, ...],
    gradients: bool,
    notation: str,
    math: str,
    lang: str,
    width: str,
    numbered: bool,
    label: str,
    macros: bool,
    onnx_file: str | None,
    sizes: tuple[str, ...],
    optimized: bool,
    explain: bool,
    external_data: bool,
    operators: tuple[str, ...],
) -> None:
    r"""Write results and layers as LaTeX and Markdown files, ready to \input or include, and a book of them.

    These are all of the catalogue, or those that are named, such as mypackage.results:mine of a module of yours.

    With --onnx, write one layer as an ONNX graph with symbolic dimensions; weights are inputs. A folder with
    config.json and safetensors is a model, whose weights are in the file.

    Formulas in LaTeX are broken into lines that fit into the width. The book is derivations.tex, with references.bib:
    run pdflatex, bibtex, then pdflatex three times; in Chinese lualatex.

    \b
    derivations export pages
    derivations export pages --notation vaswani --math brackets
    derivations export column --width 3.3in --label eq
    derivations export pages --macros
    derivations export column feed_forward --gradients --width 3.3in
    derivations export pages mypackage.results:mine
    derivations export encoder_layer --onnx encoder_layer.onnx
    derivations export encoder --onnx encoder.onnx --set N=6 --optimized --explain
    """
    if onnx_file:
        if ids or gradients:
            raise ValueError("--onnx writes one layer: name no other, and leave --gradients out")
        write_onnx_file(folder, onnx_file, sizes, optimized, explain, external_data, operators)
        return
    for given, option in (
        (sizes, "--set"),
        (optimized, "--optimized"),
        (explain, "--explain"),
        (external_data, "--external-data"),
        (operators, "--operator"),
    ):
        if given:
            raise ValueError(f"{option} is about a layer as ONNX: add --onnx FILE")
    if is_id(folder):
        raise ValueError(f"{folder} is a result or layer: name a folder first, `derivations export pages {folder}`")
    from derivations.language.judge.rules import laws
    from derivations.language.printing.export import Layout, export
    from derivations.language.printing.notation_file import notation_called
    from derivations.language.printing.words import language

    tag, using = language(lang).tag, notation_called(notation)  # refused before everything is proved
    layout = Layout(width, numbered, label, macros)
    place = folder_called(folder)
    results, layers = chosen(ids, gradients)
    files = export(place, results, layers, using, math, tag, layout, laws())
    click.echo(f"{len(files)} files in {folder}", err=True)


@click.command("code", short_help="Source for NumPy, JAX, PyTorch.")
@click.argument("name", metavar="LAYER", shell_complete=completion.layers)
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
    derivations code mypackage.layers:mine
    """
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
    from derivations.language.differentiation.reverse import required_gradient  # SymPy comes with it

    return required_gradient(layer)


def _source(layer: Any, backend: str) -> str:
    from numeric.codegen.compile import source  # the numeric side is needed for the source of layers alone

    return source(layer, backend)
