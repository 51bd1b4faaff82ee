"""Write the tables of docs/models.md and docs/loading.md: `python -m docs.model_tables` refreshes both.

What stands between a mark and its end is written here, the rest by hand:

    <!-- table models -->                     every built-in model: parameters, cache, what its authors state
    <!-- table conventions gpt2 1024 -->      what each choice of the convention does to one model at a length
    <!-- table phases llama-3-8b 8192 -->     FLOPs of the phases of one model at a length
    <!-- table families -->                   what is read: configurations, and which checkpoints run
    <!-- end of table -->
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from derivations.architectures.composition import build
from derivations.architectures.hugging_face import FAMILIES
from derivations.architectures.hugging_face.readers.joined import TEXTS
from derivations.architectures.models import model_names, named_model
from derivations.architectures.sizes import TABLES
from derivations.costs.counts import PHASES, Counts, count
from derivations.costs.published.totals import total
from derivations.language.counting.convention import Convention
from numeric import CompileError, source

__all__ = ["PAGES", "main", "refreshed"]

ROOT = Path(__file__).resolve().parent
PAGES = (ROOT / "models.md", ROOT / "loading.md")
MARK = re.compile(r"(<!-- table (\w+)((?: \S+)*?) -->\n)(.*?)(<!-- end of table -->)", re.S)
CHOICES: tuple[tuple[str, Convention], ...] = (
    ("as it is", Convention()),
    ("`--products 2k-1`", Convention(products="2k-1")),
    ("`--causal halved`", Convention(causal="halved")),
    ("`--causal visible`", Convention(causal="visible")),
    ("`--lookups counted`", Convention(lookups="counted")),
    ("`--convention mac`", Convention(unit="mac")),
)


def models() -> str:
    """Return every built-in model with its counts, and how far a stated number is from them."""
    rows = []
    for name in model_names():
        counts, published = count(named_model(name)), total(name)
        whole, active = counts.number(counts.total_parameters), counts.number(counts.active)
        stated = ("", "") if published is None else (published.as_stated, _more(published.stated, published.counted))
        counted = "" if published is None or published.counts == "total" else f", {published.counts}"
        cache = counts.number(counts.cache_bytes_per_token)
        numbers = (f"{whole:,}", "" if active == whole else f"{active:,}", f"{cache:,}" if cache else "")
        rows.append((f"`{name}`", *numbers, f"{stated[0]}{counted}", stated[1], counts.model.source))
    return _table(
        ("model", "parameters", "active", "cache bytes per position", "stated", "against the count", "source"), rows
    )


def conventions(name: str, length: str) -> str:
    """Return the FLOPs of a model under the default convention, and with one choice changed at a time."""
    model, rows = named_model(name), []
    usual = {phase: _flops(count(model, seq=int(length), phase=phase)) for phase in ("forward", "training")}
    for words, convention in CHOICES:
        row = [words]
        for phase, before in usual.items():
            number = _flops(count(model, seq=int(length), phase=phase, convention=convention))
            row += [f"{number:,}", "" if number == before else _more(number, before)]
        rows.append(tuple(row))
    return _table(("convention", "forward", "", "training", ""), rows)


def phases(name: str, length: str) -> str:
    """Return the FLOPs of the phases of a model: in products, in all, and for each position or new token."""
    rows = []
    for phase in PHASES:
        counts = count(named_model(name), seq=int(length), phase=phase)
        whole, products = _flops(counts), counts.number(counts.flops.matmul)
        each = whole if phase == "decode" else whole // int(length)
        rows.append((f"`--phase {phase}`", f"{products:,}", f"{whole:,}", f"{each:,}"))
    return _table(("phase", "in products", "FLOPs", "for each position"), rows)


def families() -> str:
    """Return the families whose configurations are read, the classes of each, and whether its checkpoints run."""
    rows = (
        (
            f"`{kind}`",
            ", ".join(f"`{name}`" for name in family.heads),
            ("texts" if kind in TEXTS else "yes") if family.runs and _compiles(kind) else "",
        )
        for kind, family in sorted(FAMILIES.items())
    )
    return _table(("`model_type`", "`architectures`; the first where none is named", "runs"), rows)


def _compiles(kind: str) -> bool:
    """Whether the equations of the first built-in model of a family, if there is one, have a NumPy form."""
    name = next((name for table in TABLES if table.common.get("model_type") == kind for name in table.rows), None)
    try:
        return name is None or bool(source(build(named_model(name).architecture)))
    except CompileError:
        return False


def _flops(counts: Counts) -> int:
    return counts.number(counts.flops.total)


def _more(number: int, before: int) -> str:
    return "exact" if number == before else f"{100 * (number / before - 1):+.3g}%"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines: list[tuple[str, ...]] = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


WRITERS: Mapping[str, Callable[..., str]] = {
    "models": models,
    "conventions": conventions,
    "phases": phases,
    "families": families,
}


def refreshed(text: str) -> str:
    """Return a page with its tables written anew.

    Raises       KeyError for a table that does not exist
    """
    return MARK.sub(lambda found: found[1] + WRITERS[found[2]](*found[3].split()) + found[5], text)


def main() -> None:
    """Refresh the pages; say which ones changed."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        new = refreshed(text)
        if new != text:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"docs/{path.name} refreshed", file=sys.stderr)


if __name__ == "__main__":
    main()
