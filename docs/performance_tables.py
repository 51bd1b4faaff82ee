"""Write the tables of docs/performance.md from docs/performance.json: `python -m docs.performance_tables`.

The figures are measured by `python -m tests.benchmarks --page docs/performance.md`, which keeps them in the JSON file
and then does what this module does. What stands between a mark and its end is a view of the figures:

    <!-- measured machine -->     with what and when each part was measured
    <!-- measured forward -->     one part: forward, memory, gpt2, decoding, overhead, training, accuracy,
                                  documents
    <!-- end of measured -->
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.verdicts import OURS, Spread, fastest, line_through, paired, spread, verdict

__all__ = ["FIGURES", "PAGE", "VIEWS", "main", "refreshed", "shown"]

PAGE = Path(__file__).resolve().parent / "performance.md"
FIGURES = PAGE.with_suffix(".json")
MARK = re.compile(r"(<!-- measured (\w+) -->\n)(.*?)(<!-- end of measured -->)", re.S)
MEBI = 2**20
NOT_MEASURED = "Not measured yet: run `python -m tests.benchmarks {} --page docs/performance.md`.\n"
Record = Mapping[str, Any]


def races(label: str, records: Sequence[Record], cell: Callable[[Record, str], str], *more: str) -> str:
    """Return races as a table: a column for every contestant, ours to the fastest peer, what that says."""
    names = list(records[0]["roles"])
    rows = []
    for record in records:
        peer = fastest(record["seconds"], record["roles"])
        (ours,) = (name for name, role in record["roles"].items() if role == OURS)
        ratio = paired(record["seconds"], ours, peer)
        last = [_with_quartiles(ratio), peer, verdict(ratio), *(_column(record, what) for what in more)]
        rows.append((record["label"], *(cell(record, name) for name in names), *last))
    return _table((label, *names, "ours / fastest peer", "fastest peer", "ours is", *more), rows)


def forward(records: Sequence[Record]) -> str:
    """Return the encoder layer's forward pass in multiples of the products alone, then in milliseconds."""
    products = "products alone"

    def multiple(record: Record, name: str) -> str:
        if name == products:
            return f"1 = {_milliseconds(record['seconds'][name])}"
        return _with_quartiles(paired(record["seconds"], name, products))

    return races("batch, n, d_model, h, d_ff", records, multiple, "largest difference")


def training(records: Sequence[Record]) -> str:
    """Return the training step in milliseconds."""
    return races("batch, n, d_model, h, d_ff", records, _in_milliseconds, "largest difference")


def gpt2(records: Sequence[Record]) -> str:
    """Return the forward pass of a language model in milliseconds."""
    return races("tokens", records, _in_milliseconds, "largest difference")


def decoding(records: Sequence[Record]) -> str:
    """Return tokens a second; the ratio stays one of times."""

    def rate(record: Record, name: str) -> str:
        return _with_quartiles(spread([record["tokens"] / each for each in record["seconds"][name]]), 1)

    return races("new tokens", records, rate, "texts")


def memory(points: Sequence[Record]) -> str:
    """Return the peaks in MiB at every length, and the line through them."""
    names = list(points[0]["peaks"])
    heads = ("n", *(f"{name}, {what}" for name in names for what in ("by the call", "in all")), "one score tensor")
    rows = []
    for point in points:
        cells = (f"{point['peaks'][name][what] / MEBI:,.0f}" for name in names for what in ("by the call", "in all"))
        rows.append((f"{point['n']:,}", *cells, f"{point['scores'] / MEBI:,.0f}"))
    lengths = [point["n"] for point in points]
    said = []
    for name in names:
        slope, intercept, off = line_through(lengths, [point["peaks"][name]["by the call"] for point in points])
        said.append(
            f"The line through the peaks by the call, {name}: {slope / 1024:.1f} KiB a position "
            f"and {intercept / MEBI:.0f} MiB; no peak is off it by more than {100 * off:.1f} %."
        )
    return _table(heads, rows) + "\n" + "\n".join(said) + "\n"


def overhead(figures: Record) -> str:
    """Return the seconds of compiling by depth, and the microseconds of a call."""
    depths = list(dict.fromkeys(point["N"] for point in figures["compiling"]))
    taken = {(point["model"], point["N"]): point["seconds"] for point in figures["compiling"]}
    models = list(dict.fromkeys(model for model, _ in taken))
    rows = [(model, *(f"{taken[model, depth]:.2f} s" for depth in depths)) for model in models]
    compiling = _table(("architecture to first result", *(f"{depth} layers" for depth in depths)), rows)
    return compiling + "\n" + calling(figures["calling"])


def calling(records: Sequence[Record]) -> str:
    """Return the microseconds of calling a layer, and what of ours is not the NumPy calls that it makes."""
    if not records:
        return NOT_MEASURED.format("overhead")
    names = (OURS, "the same NumPy calls", "NumPy tuned by hand")
    rows = []
    for record in records:
        columns = [[1e6 * each for each in record["seconds"][name]] for name in names]
        beside = [ours - calls for ours, calls in zip(*columns[:2], strict=True)]
        rows.append(
            (f"{record['place']}, {record['caches']}", *(_with_quartiles(spread(c), 1) for c in (*columns, beside)))
        )
    heads = ("microseconds a layer, n = 1, d_model = 8", *names, "overhead: ours less the same NumPy calls")
    return _table(heads, rows)


def accuracy(rows: Sequence[Record]) -> str:
    """Return the rows as they are, under the names of their entries."""
    return _table(tuple(rows[0]), (tuple(map(_as_text, row.values())) for row in rows))


def documents(figures: Record) -> str:
    """Return the seconds of checking documents of growing length, and those of a cold start."""
    rows = []
    for record in figures["lengths"]:
        seconds, claims, characters = (record[what] for what in ("seconds", "claims", "characters"))
        each = f"{1e6 * seconds / characters:.1f} s"
        rows.append((f"{characters:,}", f"{claims:,}", f"{seconds:.2f} s", each, f"{claims / seconds:,.0f}"))
    cold = figures["cold"]
    heads = ("characters", "claims", "seconds of the processor", "seconds a million characters", "claims a second")
    return _table(heads, rows) + (
        f"\nA cold start, imports included, on {cold['documents']} documents of {cold['characters']:,} characters each "
        f"with `--jobs 2`: {cold['seconds']:.1f} s by the clock, {cold['processor']:.1f} s of the processor.\n"
    )


VIEWS: Mapping[str, Callable[[Any], str]] = {
    "forward": forward,
    "memory": memory,
    "gpt2": gpt2,
    "decoding": decoding,
    "overhead": overhead,
    "training": training,
    "accuracy": accuracy,
    "documents": documents,
}


def machine(figures: Mapping[str, Record]) -> str:
    """Return what the parts were measured with; where parts differ, each value with its parts."""
    rows = []
    for fact in dict.fromkeys(fact for part in figures.values() for fact in part["measured"]):
        values: dict[str, list[str]] = {}
        for name, part in figures.items():
            values.setdefault(str(part["measured"].get(fact, "")), []).append(name)
        told = [value if len(values) == 1 else f"{value} ({', '.join(parts)})" for value, parts in values.items()]
        rows.append((fact, "; ".join(told)))
    return _table(("", "measured with"), rows)


def shown(part: str, figures: Mapping[str, Record]) -> str:
    """Return one part of the page.

    Raises       KeyError for a part that does not exist
    """
    if part == "machine":
        return machine(figures)
    view = VIEWS[part]
    if part not in figures:
        return NOT_MEASURED.format(part)
    return view(figures[part]["figures"])


def refreshed(page: str, figures: Mapping[str, Record]) -> str:
    """Return a page with what stands at its marks written anew."""
    return MARK.sub(lambda found: found[1] + "\n" + shown(found[2], figures) + "\n" + found[4], page)


def main() -> None:
    """Write the tables of the page from the figures that are kept."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8", newline="\n")


# Cells


def _with_quartiles(figure: Spread, digits: int = 2) -> str:
    return f"{figure.median:.{digits}f} ({figure.low:.{digits}f} - {figure.high:.{digits}f})"


def _milliseconds(seconds: Sequence[float]) -> str:
    median = 1000 * spread(seconds).median
    return f"{median:.{0 if median >= 100 else 1}f} ms"


def _in_milliseconds(record: Record, name: str) -> str:
    times = spread([1000 * each for each in record["seconds"][name]])
    return _with_quartiles(times, 0 if times.median >= 100 else 1) + " ms"


def _column(record: Record, what: str) -> str:
    if what == "texts":
        return "; ".join(record["said"])
    return f"{max(record['differences'].values()):.0e}"


def _as_text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
