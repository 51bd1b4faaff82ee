"""Pictures of the costs of a model: parameters by component, FLOPs by purpose, and memory by sequence length.

Every value is an exact count of `derivations.costs.counts`, converted to a float for drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

from sympy import Expr, Integer, Symbol

from derivations.costs.counts import Counts
from derivations.costs.questions.answer import length_of, put, source_length
from derivations.costs.questions.purposes import flops_by_purpose
from derivations.language.counting.costs import flops_by_part
from derivations.symbols import n
from numeric.models.matplotlib_figures import figure_module
from numeric.runtime.checks import InputError

__all__ = ["FORMATS", "check_picture", "plot_counts"]

FORMATS = (".pdf", ".png", ".svg")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999")  # Okabe and Ito (2008), safe for colour blindness
PHASES = {
    "forward": "a forward pass",
    "training": "a training step",
    "prefill": "a forward pass that fills the cache",
    "decode": "a decoding step",
}
LENGTHS = tuple(round(2 ** (6 + k / 4)) for k in range(57))  # from 64 to 2^20
PREFIXES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
NO_DATES: Mapping[str, dict[str, None]] = {  # nor versions: equal counts give equal files
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}


def plot_counts(counts: Counts, path: str | Path) -> None:
    """Write a picture with three panels, in the format that the suffix of the file name gives.

    Shows        parameters of every component; shares of the FLOPs of the phase by purpose against the length;
                 bytes of weights, of the state of training, of activations with and without recomputing attention,
                 and of the cache, against the length
    Raises       InputError where the name has another suffix or no folder, Matplotlib is missing, or writing fails
    """
    file = Path(path)
    check_picture(file)
    matplotlib, figures = import_module("matplotlib"), figure_module()
    with matplotlib.rc_context({"svg.hashsalt": "derivations", "font.size": 9, "axes.titlesize": 10}):
        figure = figures.Figure(figsize=(17, 6.4), dpi=120, layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 1, 1))
        figure.suptitle(f"{_short(counts.model.name)}: {PHASES[counts.phase]}", fontsize=13)
        _parameters(left, counts)
        _flops(middle, counts)
        _memory(right, counts)
        convention = fill(f"Convention: {counts.convention.describe()}", 300)
        figure.supxlabel(convention, fontsize=7, x=0.01, ha="left")
        try:
            figure.savefig(file, metadata=NO_DATES[file.suffix])
        except OSError as error:
            raise InputError(f"the picture {file} cannot be written ({error.strerror}); name another file") from error


def check_picture(file: Path) -> None:
    """Refuse a picture that cannot be written, before any work.

    Raises       InputError with the reason
    """
    if file.suffix not in FORMATS:
        raise InputError(f"the picture {file} has no known ending; end it in one of {', '.join(FORMATS)}")
    if not file.parent.is_dir():
        raise InputError(f"the picture {file} cannot be written: there is no folder {file.parent}; make it first")
    figure_module()


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"...{name[-77:]}"


# --- the panels -----------------------------------------------------------------------------------------------------


def _parameters(axes: Any, counts: Counts) -> None:
    numbers = {name: counts.number(value) for name, value in counts.components.items()}
    ordered = sorted(numbers.items(), key=lambda item: (item[1], item[0]))
    total = sum(numbers.values())
    bars = axes.barh([_words(name) for name, _ in ordered], [value for _, value in ordered], color=COLOURS[0])
    axes.bar_label(bars, [f"{value:,}  ({_share(value, total)})" for _, value in ordered], padding=3, fontsize=8)
    axes.set_xlim(0, max(numbers.values()) * 1.62)
    axes.xaxis.set_major_locator(import_module("matplotlib.ticker").MaxNLocator(4))
    axes.xaxis.set_major_formatter(lambda value, _: _decimal(value))
    axes.set(xlabel="parameters", title=f"Parameters by component: {total:,} in all")
    axes.spines[["top", "right"]].set_visible(False)


def _flops(axes: Any, counts: Counts) -> None:
    length = length_of(counts.model)
    curves = {purpose: _curve(counts, value, length) for purpose, value in _purposes(counts, length).items()}
    totals = [sum(values) for values in zip(*curves.values(), strict=True)]
    shares = [[100 * value / total for value, total in zip(v, totals, strict=True)] for v in curves.values()]
    axes.stackplot(LENGTHS, shares, labels=list(curves), colors=COLOURS, alpha=0.85)
    unit = "multiply-adds" if counts.convention.unit == "mac" else "FLOPs"
    title = f"{unit[:1].upper()}{unit[1:]} of {PHASES[counts.phase]} by purpose"
    axes.set(ylim=(0, 100), ylabel=f"share of {unit}, %", title=title)
    _against_length(axes, counts, length)


def _purposes(counts: Counts, length: Symbol) -> dict[str, Expr]:
    """Return the operations of the phase by purpose; a decoding step is forward(n + 1) - forward(n)."""
    if counts.phase != "decode":
        return flops_by_purpose(counts.parts)
    forward = flops_by_purpose(flops_by_part(counts.decoding_layer, counts.batch, counts.convention))
    return {purpose: value.xreplace({length: length + 1}) - value for purpose, value in forward.items()}


def _memory(axes: Any, counts: Counts) -> None:
    length = length_of(counts.model)
    saved = "saved residuals" if counts.recomputed == "nothing" else f"saved residuals, {counts.recomputed} again"
    lines = {
        f"weights, {counts.dtype}": 0 if isinstance(counts.stored, str) else counts.weights_bytes,
        "weights, gradients, Adam (16 B each)": counts.training_state_bytes,
        saved: counts.activation_bytes,
        "activations, scores computed again": counts.activation_bytes_with_recomputation,
        "key-value cache": counts.cache_bytes,
    }
    styles = ("-", "--", "-", "--", "-.")
    for (label, value), colour, style in zip(lines.items(), COLOURS, styles, strict=True):
        if value != 0:
            axes.plot(LENGTHS, _curve(counts, value, length), label=label, color=colour, linestyle=style)
    axes.set_yscale("log", base=2)
    ticker = import_module("matplotlib.ticker")
    axes.yaxis.set_major_locator(ticker.FixedLocator([2.0**k for k in range(0, 70, 5)]))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: _binary(value))
    axes.grid(axis="y", alpha=0.3)
    sequences = "1 sequence" if counts.batch == 1 else f"{counts.batch} sequences"
    axes.set(ylabel="bytes", title=f"Memory by component, {sequences}")
    _against_length(axes, counts, length)


def _against_length(axes: Any, counts: Counts, length: Symbol) -> None:
    """Draw the axis of lengths, the line at the counted length, and the legend."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(LENGTHS[0], LENGTHS[-1])
    axes.xaxis.set_major_locator(import_module("matplotlib.ticker").FixedLocator([4.0**k for k in range(3, 11)]))
    axes.xaxis.set_major_formatter(lambda value, _: _binary(value).removesuffix(" B").removesuffix("B"))
    here = counts.number(length)
    if LENGTHS[0] <= here <= LENGTHS[-1]:
        axes.axvline(here, color="black", linewidth=1, linestyle=":", label=f"{length} = {here:,}")
    source = "".join(f", source of {put(counts.model, m)}" for m in source_length(counts.model).values())
    axes.set_xlabel(f"{length if length != n else 'positions n'}{source}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=8, frameon=False)


# --- numbers and words ----------------------------------------------------------------------------------------------


def _curve(counts: Counts, value: Expr | int, length: Symbol) -> list[float]:
    fixed = {symbol: number for symbol, number in counts.values.items() if symbol != length}
    curve = Integer(value) if isinstance(value, int) else value.xreplace(source_length(counts.model)).xreplace(fixed)
    return [float(curve.xreplace({length: Integer(point)})) for point in LENGTHS]


def _words(name: str) -> str:
    return name.removeprefix("layers.").replace("_", " ")


def _share(value: int, total: int) -> str:
    share = 100 * value / total
    return f"{share:.1f}%" if share >= 0.05 else "< 0.1%"


def _decimal(value: float) -> str:
    for size, unit in ((10**12, " T"), (10**9, " B"), (10**6, " M"), (10**3, " k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _binary(value: float) -> str:
    power = min((round(value).bit_length() - 1) // 10, len(PREFIXES) - 1)
    return f"{value / 1024**power:g} {PREFIXES[power]}"
