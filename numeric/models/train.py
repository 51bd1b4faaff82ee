"""Training: the Transformer learns to copy or reverse strings by its derived gradients and Adam.

Definition   each step takes a batch of new strings, the gradient of its mean cross-entropy, and one step of Adam whose
             rate warms up; a held-out string counts as right where greedy decoding gives every token of its answer
Result       the losses during training, and the number of held-out strings that are exactly right
Assumes      a loss is measured before training on its batch, so on strings that are new to the model
Source       Vaswani et al. (2017), section 5.3, with the beta_2 and epsilon that Kingma and Ba (2015) recommend

`python -m numeric.models.train --help` shows the sizes. The gradients are derived from the equations alone.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import click
import numpy as np

from numeric.models.matplotlib_figures import figure_module
from numeric.models.optimiser import Adam, warm_up
from numeric.models.tasks import TASKS, Task
from numeric.models.transformer import Transformer
from numeric.runtime.checks import InputError

__all__ = ["Training", "exactly_right", "main", "plot", "train", "train_command"]

SHOWN = 40  # most losses shown
WIDTH = 40  # columns of the largest loss in the table


@dataclass(frozen=True)
class Training:
    """The result of a training: the loss at some steps, and the number of held-out strings exactly right.

    Units        seconds: elapsed, and summed over all processors
    """

    task: Task
    parameters: int
    losses: tuple[tuple[int, float], ...]
    right: int
    held_out: int
    seconds: float
    processor_seconds: float

    def __str__(self) -> str:
        """Return the curve of the loss as text, and the figures."""
        lengths = f"{self.task.shortest} to {self.task.longest} of {self.task.alphabet} tokens"
        top = max(loss for _, loss in self.losses)
        rows = [f"{step:6d}  {loss:7.4f}  {'#' * round(WIDTH * loss / top)}" for step, loss in self.losses]
        return "\n".join(
            [
                f"{self.task.name}, strings of {lengths}; {self.parameters} parameters",
                "  step     loss",
                *rows,
                f"held-out strings exactly right: {self.right} of {self.held_out} ({self.right / self.held_out:.1%})",
                f"{self.seconds:.0f} s, {self.processor_seconds:.0f} s of processors",
            ]
        )


def train(
    model: Transformer,
    task: Task,
    steps: int,
    batch: int = 32,
    optimiser: Adam | None = None,
    warm_up_steps: int | None = None,
    held_out: int = 512,
    seed: int = 0,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> Training:
    """Train a model, whose weights change in place, and return the result; `report` is called with each loss shown.

    Assumes      without `warm_up_steps` the rate of the optimiser is constant
    Raises       InputError where a number is below 1, the vocabularies differ, or the training diverges
    """
    least = {"steps": steps, "batch": batch, "held_out": held_out}
    least |= {} if warm_up_steps is None else {"warm_up_steps": warm_up_steps}
    for name, value in least.items():
        if value < 1:
            raise InputError(f"training: {name} must be an integer >= 1, not {value}")
    if model.sizes["vocab"] != task.vocab:
        raise InputError(
            f"training: the task has {task.vocab} tokens, start and end included, and the model a vocab of "
            f"{model.sizes['vocab']}; make the model with vocab={task.vocab}"
        )
    left_out = task.held_out(held_out, seed)
    optimiser = optimiser or Adam()
    shown = {round(1 + (steps - 1) * place / (SHOWN - 1)) for place in range(SHOWN)}
    losses: list[tuple[int, float]] = []
    clock, processors = perf_counter(), process_time()
    with np.errstate(over="ignore", invalid="ignore"):  # the optimiser refuses gradients that are not finite
        for step, example in zip(range(1, steps + 1), task.batches(batch, seed, left_out), strict=False):
            if step in shown:
                losses.append((step, model.loss(*example, check=False)))
                report(*losses[-1])
            factor = 1.0 if warm_up_steps is None else warm_up(step, warm_up_steps, model.sizes["d_model"])
            optimiser.step(model.weights, model.gradient(*example, check=False), factor)
    right = exactly_right(model, task, left_out)
    count = sum(map(len, left_out))
    times = perf_counter() - clock, process_time() - processors
    return Training(task, model.parameters(), tuple(losses), right, count, *times)


def exactly_right(model: Transformer, task: Task, batches: Sequence[Any]) -> int:
    """Return the number of strings for which greedy decoding gives the whole answer, including its end token."""
    right = 0
    for strings in batches:
        source, _, labels = task.example(strings)
        found = model.greedy(source, task.start, task.end, labels.shape[-1], check=False)
        right += int((found == labels).all(axis=-1).sum())
    return right


def plot(training: Training, file: Path) -> None:
    """Write the curve of the loss as a picture, in the format that the suffix of the file name gives.

    Raises       InputError where Matplotlib is not installed or cannot write the file
    """
    figure = _figure(file)
    axes = figure.subplots()
    axes.plot(*zip(*training.losses, strict=True))
    axes.axhline(log(training.task.alphabet), linestyle=":", label="a guess among the alphabet")
    axes.set(xlabel="step", ylabel="cross-entropy", title=f"Learning to {training.task.name}", ylim=(0, None))
    axes.legend()
    try:
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    except OSError as error:
        raise InputError(f"the plot {file} cannot be written ({error.strerror}); give a file that can be") from error


def _figure(file: Path) -> Any:
    """Return an empty figure that can be written to the given file."""
    figure = figure_module().Figure(figsize=(6, 3.5), layout="constrained")
    formats = sorted(figure.canvas.get_supported_filetypes())
    if file.suffix[1:] not in formats:
        raise InputError(f"the plot {file} has no known ending; end it in one of {', '.join(formats)}")
    if not file.parent.is_dir():
        raise InputError(f"the plot {file} cannot be written: there is no folder {file.parent}; make it first")
    return figure


@click.command(
    "train", context_settings={"help_option_names": ["--help"], "max_content_width": 110, "show_default": True}
)
@click.option("--task", "name", type=click.Choice(TASKS), default=TASKS[0], help="What the answer to a string is.")
@click.option("--alphabet", default=256, help="Tokens that a string is made of.")
@click.option("--shortest", default=4, help="Tokens of the shortest string.")
@click.option("--longest", default=8, help="Tokens of the longest string.")
@click.option("--d-model", default=64, help="Width of the model.")
@click.option("--heads", default=4, help="Heads of each attention.")
@click.option("--d-ff", default=128, help="Hidden width of the feed-forward networks.")
@click.option("--layers", default=2, help="Layers of the encoder and of the decoder.")
@click.option("--steps", default=3000, help="Steps of Adam.")
@click.option("--batch", default=32, help="Strings in each step.")
@click.option("--rate", default=0.3, help="Factor of the learning rate.")
@click.option("--warm-up", "warm_up_steps", default=200, help="Steps until the learning rate is largest.")
@click.option("--held-out", default=512, help="Strings that are not trained on, to be decoded in the end.")
@click.option("--seed", default=0, help="Seed of the weights and of the strings.")
@click.option("--plot", "picture", type=click.Path(dir_okay=False, path_type=Path), help="File for the loss curve.")
def train_command(
    name: str,
    alphabet: int,
    shortest: int,
    longest: int,
    d_model: int,
    heads: int,
    d_ff: int,
    layers: int,
    steps: int,
    batch: int,
    rate: float,
    warm_up_steps: int,
    held_out: int,
    seed: int,
    picture: Path | None,
) -> None:
    """Train the Transformer to copy or reverse strings of bytes, with the derived gradients alone.

    Progress goes to standard error; the curve of the loss, and how many held-out strings are exactly right, to
    standard output.
    """
    if seed < 0:
        raise InputError(f"the seed must be an integer >= 0, not {seed}")
    task = Task(name, alphabet, shortest, longest)
    model = Transformer(d_model, heads, d_ff, layers, task.vocab, seed)
    if picture is not None:
        _figure(picture)  # raises the errors about the plot before any work
    optimiser = Adam(rate)

    def report(step: int, loss: float) -> None:
        click.echo(f"step {step} of {steps}, loss {loss:.4f}", err=True)

    training = train(model, task, steps, batch, optimiser, warm_up_steps, held_out, seed, report)
    click.echo(str(training))
    if picture is not None:
        plot(training, picture)


def main() -> None:
    """Run the command by itself: exit code 0 for success, 2 for bad input, 130 for Ctrl-C."""
    try:
        train_command(prog_name="python -m numeric.models.train", standalone_mode=False)
    except (click.ClickException, ValueError, OSError) as error:
        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"numeric.models.train: {' '.join(text.split())}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("numeric.models.train: stopped", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
