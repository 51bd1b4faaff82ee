"""Pictures of a memory budget: the parts on one device, and how they grow with the length of the texts.

Every value is an exact number of `derivations.costs.fit`, converted to a float for drawing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from sympy import Rational

from derivations.costs.fit.budget import Budget
from derivations.costs.fit.units import shown_bytes
from derivations.symbols import n
from numeric.models.cost_pictures import NO_DATES, check_picture
from numeric.models.matplotlib_figures import figure_module
from numeric.runtime.checks import InputError

__all__ = ["plot_fit"]

# Okabe and Ito (2008), safe for colour blindness
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#999999",
)
SHORTEST, POINTS = 128, 65  # of the axis of lengths, which is logarithmic


def plot_fit(title: str, budget: Budget, room: Rational, path: str | Path, longest: int | None) -> None:
    """Write a picture with two panels, in the format that the suffix of the file name gives.

    Shows        the bytes of every part, stacked, beside the memory; the same against the length of the texts, up to
                 a little beyond the longest that fits, or the length of the table of positions
    Raises       InputError where the name has another suffix or no folder, Matplotlib is missing, or writing fails
    """
    file = Path(path)
    check_picture(file)
    matplotlib, figures = import_module("matplotlib"), figure_module()
    with matplotlib.rc_context({"svg.hashsalt": "derivations", "font.size": 9, "axes.titlesize": 10}):
        figure = figures.Figure(figsize=(12, 5), dpi=120, layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 2))
        figure.suptitle(title, fontsize=10, wrap=True)
        _parts(left, budget, room)
        if n in budget.values:
            _lengths(right, budget, room, longest)
        try:
            figure.savefig(file, metadata=NO_DATES[file.suffix])
        except OSError as error:
            raise InputError(f"the picture {file} cannot be written ({error.strerror}); name another file") from error


def lengths_of(budget: Budget, longest: int | None) -> list[int]:
    """Return the lengths on the axis: from 128 to 1.25 times the longest that fits, or 4 times the requested length."""
    asked = int(budget.values[n])
    last = max(2 * SHORTEST, asked, longest * 5 // 4 if longest else 4 * asked)
    return [round(SHORTEST * (last / SHORTEST) ** (k / (POINTS - 1))) for k in range(POINTS)]


def _parts(axes: Any, budget: Budget, room: Rational) -> None:
    below = 0.0
    for (name, number), colour in zip(budget.numbers().items(), _colours(budget), strict=True):
        axes.bar([""], [number], bottom=below, color=colour, label=f"{name}: {shown_bytes(number)}", width=0.5)
        below += number
    _room(axes, room)
    axes.set(title="bytes on the most loaded device", xlim=(-0.6, 0.6))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), fontsize=8, frameon=False)


def _lengths(axes: Any, budget: Budget, room: Rational, longest: int | None) -> None:
    lengths = lengths_of(budget, longest)
    found = [budget.at({n: length}).numbers() for length in lengths]
    curves = [[float(numbers[part.name]) for numbers in found] for part in budget.parts]
    axes.stackplot(lengths, curves, colors=_colours(budget), alpha=0.9)
    _room(axes, room)
    axes.set_xscale("log", base=2)
    axes.set(title="bytes against the length of the texts", xlabel="positions", xlim=(lengths[0], lengths[-1]))
    axes.axvline(int(budget.values[n]), color="black", linewidth=1, linestyle=":")


def _room(axes: Any, room: Rational) -> None:
    axes.axhline(float(room), color="black", linewidth=1.5, linestyle="--", label=f"memory: {shown_bytes(room)}")
    axes.yaxis.set_major_formatter(lambda value, _: shown_bytes(round(value)))
    axes.spines[["top", "right"]].set_visible(False)


def _colours(budget: Budget) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(len(budget.parts))]
