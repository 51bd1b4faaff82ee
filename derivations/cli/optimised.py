"""The output of `derivations code --optimized`: the source of the optimised layer, or the list of its rewritings."""

import json
from collections.abc import Iterator
from typing import Any

import click

from derivations.cli.shared import table_of

__all__ = ["check_options", "optimised_source_of", "print_rewritings"]


def check_options(optimized: bool, backend: str, explain: bool, without: tuple[str, ...], as_json: bool) -> None:
    """Refuse options that exclude each other.

    Raises       ValueError with the option and the remedy
    """
    for given, option in ((explain, "--explain"), (without, "--without"), (as_json, "--json")):
        if given and not optimized:
            raise ValueError(f"{option} is about the optimised source: add --optimized")
    if optimized and backend != "numpy":
        raise ValueError(f"--backend {backend}: optimised source is NumPy's; leave out --backend or --optimized")
    if as_json and not explain:
        raise ValueError("--json prints the list of rewritings: add --explain, or leave it out for the source")


def optimised_source_of(layer: Any, without: tuple[str, ...]) -> str:
    """Return optimised source that runs without this package."""
    from numeric.optimize.standalone import (
        optimised_source,  # the numeric side is needed for the source of layers alone
    )

    return optimised_source(layer, without=without)


def print_rewritings(layer: Any, without: tuple[str, ...], as_json: bool) -> None:
    """Print every rewriting: pass, theorem, evidence, equations before and after."""
    from numeric.optimize import optimize  # as above

    optimised = optimize(layer, without=without)
    found = list(_rewritings(optimised, ""))
    if as_json:
        click.echo(json.dumps([_object(part, rewrite) for part, rewrite in found], ensure_ascii=False, indent=1))
        return
    rows: list[tuple[str, ...]] = [(part, r.name, r.theorem, _title(r.theorem), r.evidence) for part, r in found]
    table_of("rewritings", ("part", "pass", "by", "which says", "evidence"), rows)
    click.echo(optimised.explain())


def _rewritings(optimised: Any, part: str) -> Iterator[tuple[str, Any]]:
    yield from ((part, rewrite) for rewrite in optimised.rewrites)
    for name, inner in optimised.parts.items():
        yield from _rewritings(inner, f"{part}.{name}" if part else name)


def _object(part: str, rewrite: Any) -> dict[str, Any]:
    return {
        "part": part,
        "pass": rewrite.name,
        "theorem": rewrite.theorem,
        "evidence": rewrite.evidence,
        "reason": rewrite.reason,
        "before": [str(equation) for equation in rewrite.before],
        "after": [str(equation) for equation in rewrite.after],
        "weights": [str(equation) for equation in rewrite.packed],
    }


def _title(theorem: str) -> str:
    from derivations.catalogue import get  # SymPy comes with it

    return str(get(theorem).title) if "." in theorem else "nothing to prove"
