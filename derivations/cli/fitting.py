"""The command that computes whether a model fits on devices, and what limits its speed."""

import json
from pathlib import Path
from typing import Any

import click

from derivations.cli import completion
from derivations.cli.counting import model_of_name
from derivations.cli.shared import clean_errors, said, table_of

__all__ = ["fit_command"]

OF_SERVING = ("cache", "engine")
OF_TRAINING = (
    *("data", "sequence", "chunks", "sharded", "micro_batches", "optimiser", "recomputed", "gradients"),
    *("rank", "targets", "tokens"),
)


def _list_devices(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from derivations.costs.fit.hardware import devices  # SymPy comes with it
    from derivations.costs.fit.units import shown_bytes  # as above

    table_of("devices", ("name", "device", "memory"), [(d.name, d.title, shown_bytes(d.memory)) for d in devices()])
    context.exit()


@click.command("fit", short_help="Does it fit, how fast can it be.")
@click.argument("model", metavar="MODEL", shell_complete=completion.models)
@click.option("--gpu", metavar="NAME", shell_complete=completion.devices, help="A device by its name.  [default: h100]")
@click.option("--gpus", is_flag=True, is_eager=True, expose_value=False, callback=_list_devices, help="List devices.")
@click.option(
    "--hardware", metavar="FILE", shell_complete=completion.files, help="A TOML file with devices of your own."
)
@click.option("--memory", metavar="BYTES", help="Of a device of your own: 80GB, 24GiB.")
@click.option("--bandwidth", metavar="BYTES", help="A second: 3.35TB, 900e9.")
@click.option("--flops", metavar="FLOPS", help="A second: 989T, 125e12.")
@click.option("--seq", type=int, default=None, help="Positions of a text.  [default: 8192, or the table of positions]")
@click.option("--batch", type=int, default=1, show_default=True, help="Texts at once.")
@click.option("--source", type=int, help="Positions that an encoder reads.  [default: as --seq]")
@click.option(
    "--weights", metavar="TYPE", help="Of stored weights: bfloat16, int8, int4, nf4, ...  [default: as stored]"
)
@click.option("--cache", metavar="TYPE", help="Serving: of keys and values, such as float8.")
@click.option(
    "--engine",
    default="plain",
    show_default=True,
    shell_complete=completion.engines,
    help="Serving: plain, vllm, sglang, ...",
)
@click.option("--tensor", "--devices", type=int, default=1, show_default=True, help="Tensor parallel ranks.")
@click.option("--pipeline", type=int, default=1, show_default=True, help="Stages.")
@click.option("--expert", type=int, default=1, show_default=True, help="Expert parallel ranks.")
@click.option("--train", is_flag=True, help="A step of training in place of serving.")
@click.option("--data", type=int, default=1, show_default=True, help="Training: data parallel ranks.")
@click.option("--sequence", is_flag=True, help="Training: tensor parallel ranks divide positions, too.")
@click.option("--chunks", type=int, default=1, show_default=True, help="Training: of a stage, interleaved.")
@click.option("--sharded", type=click.IntRange(0, 3), default=0, show_default=True, help="Training: 3 is fully.")
@click.option("--micro-batches", type=int, default=1, show_default=True, help="Training: of a data rank in a step.")
@click.option("--optimiser", "--optimizer", default="adam", show_default=True, help="Training: or adam-8bit, muon, ...")
@click.option("--recompute", "recomputed", default="attention", show_default=True, help="Training: or nothing, blocks.")
@click.option("--gradients", type=int, default=2, show_default=True, help="Training: bytes of a gradient, 2 or 4.")
@click.option("--lora", "rank", type=int, help="Training: the rank of adapters; the weights are frozen.")
@click.option("--targets", default="all", show_default=True, help="Training: of adapters, or attention.")
@click.option("--tokens", metavar="NUMBER", help="Training: a budget of tokens, such as 15T.")
@click.option("--symbolic", is_flag=True, help="Closed forms in the sizes.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
@click.option(
    "--plot",
    metavar="FILE",
    shell_complete=completion.files,
    help="Draw the bytes by part and by length (.png, .svg, .pdf).",
)
@click.option("--ignore", multiple=True, metavar="FIELD", help="A field of config.json to pass over.")
@clean_errors
def fit_command(model: str, plot: str | None, symbolic: bool, as_json: bool, **options: Any) -> None:
    r"""Report whether MODEL fits on a device, and by how much: a built-in name, or a config.json from a model hub.

    Every figure is an expression that is read off the model's equations, with the numbers put in.

    \b
    derivations fit llama-3-8b --gpu h100 --seq 8192
    derivations fit llama-3-70b --gpu h100 --tensor 2 --weights int4 --batch 16
    derivations fit mixtral-8x7b --memory 48GB --bandwidth 864GB --flops 362T
    derivations fit llama-3-8b --train --data 8 --sharded 3 --seq 4096
    derivations fit llama-3-70b --train --weights nf4 --lora 16 --seq 2048
    """
    if plot is not None:
        from numeric.models.cost_pictures import check_picture  # matplotlib is needed only for pictures

        check_picture(Path(plot))
    _refuse_idle(options["train"])
    report = _training(model, options) if options["train"] else _serving(model, options)
    if as_json:
        click.echo(json.dumps(report.json(symbolic=symbolic), ensure_ascii=False, indent=1))
    else:
        _print_report(report, symbolic)
    if plot is not None:
        from numeric.models.fit_pictures import plot_fit  # as above

        plot_fit(report.verdict, report.budget, report.room, Path(plot), report.longest)
        click.echo(f"picture in {plot}", err=True)


def _refuse_idle(train: bool) -> None:
    """Refuse an option that would have no effect: a training option without --train, or a serving option with it."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") == click.core.ParameterSource.COMMANDLINE
        if given and parameter.name in (OF_SERVING if train else OF_TRAINING):
            words = "serving; leave --train out" if train else "training; add --train"
            raise ValueError(f"{parameter.opts[0]} is for {words}, or leave it out")


def _print_report(report: Any, symbolic: bool) -> None:
    sections = list(report.sections(symbolic=symbolic))  # all of them, before one is printed
    click.echo(said(report.verdict))
    for section in sections:
        table_of(section.title, section.columns, list(section.rows), counted=False)
    click.echo(said("Assumed: " + " ".join(f"{text.rstrip('.')}." for text in report.notes()), "  "))


def _serving(model: str, options: dict[str, Any]) -> Any:
    from derivations.costs.fit.hardware import engine_named
    from derivations.costs.fit.inference import Serving, usual_length
    from derivations.costs.fit.mesh import Mesh
    from derivations.costs.fit.precision import computed_type, stored_as
    from derivations.costs.fit.serving_report import ServingReport

    found = stored_as(model_of_name(model, options["ignore"]), options["weights"])
    device = _device(options)
    serving = Serving(
        found,
        usual_length(found) if options["seq"] is None else options["seq"],
        options["batch"],
        Mesh(tensor=options["tensor"], pipeline=options["pipeline"], expert=options["expert"]),
        engine_named(options["engine"]),
        options["cache"],
        options["source"],
    )
    return ServingReport(serving, device, computed_type(found, options["weights"]))


def _training(model: str, options: dict[str, Any]) -> Any:
    from derivations.costs.fit.inference import usual_length
    from derivations.costs.fit.mesh import Mesh
    from derivations.costs.fit.precision import stored_as
    from derivations.costs.fit.training import Training
    from derivations.costs.fit.training_report import TrainingReport
    from derivations.costs.fit.units import quantity

    found = stored_as(model_of_name(model, options["ignore"]), options["weights"])
    mesh = {name: options[name] for name in ("tensor", "pipeline", "data", "expert", "sequence", "sharded", "chunks")}
    step = {
        name: options[name]
        for name in ("micro_batches", "optimiser", "recomputed", "gradients", "rank", "targets", "source")
    }
    seq = usual_length(found) if options["seq"] is None else options["seq"]
    tokens = None if options["tokens"] is None else int(quantity(options["tokens"], "--tokens"))
    training = Training(found, seq, options["batch"], mesh=Mesh(**mesh), **step)
    return TrainingReport(training, _device(options), tokens)


def _device(options: dict[str, Any]) -> Any:
    """Return the named device. Numbers that the user gives replace those of the device."""
    from derivations.costs.fit.hardware import device_named, own_device
    from derivations.costs.fit.units import quantity

    own = {name: options[name] for name in ("memory", "bandwidth", "flops") if options[name] is not None}
    numbers = {name: quantity(text, f"--{name}") for name, text in own.items()}
    file = None if options["hardware"] is None else Path(options["hardware"])
    if options["gpu"] is None and "memory" in numbers:
        return own_device(**numbers)
    base = device_named(options["gpu"] or "h100", file)
    return own_device(numbers.pop("memory", base.memory), **numbers, base=base) if own else base
