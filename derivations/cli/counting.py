"""The command that counts parameters, FLOPs and bytes of a model."""

import json
from pathlib import Path
from typing import Any

import click

from derivations.cli import completion
from derivations.cli.own_modules import is_own
from derivations.cli.shared import clean_errors, said, table_of

__all__ = ["count_command", "model_of_name"]

PHASES = ("forward", "training", "prefill", "decode")
DTYPES = ("bfloat16", "float16", "float32", "float64", "float8", "int8")
RECOMPUTED = ("nothing", "attention", "blocks")
LATENT = ("absorbed", "expanded")


@click.command("count", short_help="Parameters, FLOPs and bytes.")
@click.argument("model", metavar="MODEL", shell_complete=completion.models)
@click.option("--batch", default=1, show_default=True, type=click.IntRange(min=1), help="Sequences at once.")
@click.option("--seq", type=click.IntRange(min=1), help="Positions; for decode, those in the cache.  [default: 1024]")
@click.option("--source", type=click.IntRange(min=1), help="Positions that an encoder reads.  [default: as --seq]")
@click.option("--phase", type=click.Choice(PHASES), default="forward", show_default=True)
@click.option("--convention", "unit", type=click.Choice(("flop", "mac")), default="flop", show_default=True)
@click.option("--products", type=click.Choice(("2k", "2k-1")), default="2k", show_default=True, help="Of k terms.")
@click.option("--causal", type=click.Choice(("full", "halved", "visible")), default="full", show_default=True)
@click.option("--lookups", type=click.Choice(("free", "counted")), default="free", show_default=True)
@click.option("--no-input-gradient", is_flag=True, help="Training: no gradient by the model's own inputs.")
@click.option("--recompute", "recomputed", type=click.Choice(RECOMPUTED), default="nothing", show_default=True)
@click.option("--dtype", type=click.Choice(DTYPES), help="Of every number.  [default: as stored, else bfloat16]")
@click.option("--latent", type=click.Choice(LATENT), default="absorbed", show_default=True, help="Latent attention.")
@click.option("--symbolic", is_flag=True, help="Closed forms in the sizes, where they come from, and their proof.")
@click.option("--json", "as_json", is_flag=True, help="Print one object of exact integers.")
@click.option(
    "--plot",
    metavar="FILE",
    shell_complete=completion.files,
    help="Draw parameters, FLOPs and memory (.png, .svg, .pdf).",
)
@click.option("--ignore", multiple=True, metavar="FIELD", help="A field of config.json to pass over.")
@clean_errors
def count_command(model: str, plot: str | None, symbolic: bool, as_json: bool, **options: Any) -> None:
    r"""Count parameters, FLOPs and bytes of MODEL: a built-in name, or a config.json from a model hub.

    Everything is read off the model's equations; the convention is printed with the numbers.

    \b
    derivations count gpt2 --seq 1024
    derivations count path/to/config.json --phase training --batch 8 --json
    derivations count llama-3-8b --phase decode --seq 8192 --causal visible
    derivations count mixtral-8x7b --symbolic
    derivations count deepseek-v3 --plot deepseek.png
    """
    from derivations.costs.counts import count
    from derivations.language.counting.convention import Convention

    if plot is not None:
        from numeric.models.cost_pictures import check_picture  # matplotlib is needed only for pictures

        check_picture(Path(plot))
    convention = Convention(
        unit=options["unit"],
        products=options["products"],
        causal=options["causal"],
        lookups=options["lookups"],
        input_gradient=not options["no_input_gradient"],
    )
    asked = {key: options[key] for key in ("batch", "seq", "source", "phase", "dtype", "recomputed", "latent")}
    counts = count(model_of_name(model, options["ignore"]), convention=convention, **asked)
    if options["source"] is not None and counts.source != options["source"]:
        raise ValueError(f"--source {options['source']}: {counts.model.name} reads no source of a length to choose")
    if as_json:
        click.echo(json.dumps(counts.json(symbolic=symbolic), ensure_ascii=False, indent=1))
    else:
        _print_counts(counts, symbolic)
    if plot is not None:
        from numeric.models.cost_pictures import plot_counts  # as above

        plot_counts(counts, Path(plot))
        click.echo(f"picture in {plot}", err=True)


def model_of_name(name: str, ignored: tuple[str, ...]) -> Any:
    """Read the configuration at a path, or return the built-in model of a name."""
    path = Path(name)
    if is_own(name) and not path.exists():
        raise ValueError(f"{name}: models are counted here; a layer is by count_flops(layer), count_parameters(layer)")
    if path.is_dir():
        path = path / "config.json"
    if path.exists() or path.suffix == ".json" or len(path.parts) > 1:
        from derivations.architectures.hugging_face import read_config

        return read_config(path, ignore=ignored)
    if ignored:
        raise ValueError(f"--ignore {ignored[0]}: {name} is a built-in model, which has no fields to pass over")
    from derivations.architectures.models import named_model

    return named_model(name)


def _print_counts(counts: Any, symbolic: bool) -> None:
    from derivations.costs.count_report import count_derivation, sections
    from derivations.costs.questions import summary

    for section in list(sections(counts, symbolic=symbolic)):  # all of them, before one is printed
        table_of(section.title, section.columns, list(section.rows), counted=False)
    if symbolic:
        shown = count_derivation(counts)
        click.echo(shown.text(steps=True).rstrip("\n"))
        click.echo(f"Evidence: {shown.evidence.level}.")
    for question, answer in summary(counts):
        click.echo(said(f"{question}: {answer}", "  "))
    click.echo(said("Convention: " + " ".join(f"{text.rstrip('.')}." for text in counts.assumptions), "  "))
