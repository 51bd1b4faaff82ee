"""A race at drawn shapes: ours against PyTorch, JAX and the engines, by `python -m tests.benchmarks.drawn --seed 7`.

Definition   the four shapes of the forward race, then `--shapes` drawn ones; a ratio is ours / peer within a round, its
             median and quartiles are over the rounds. Engines run the exported layer, ours in an engine is the
             optimised one
Assumes      a contestant whose library is not installed is left out, and named on standard error; ours has the core
             install alone, and `ours, fast` the products of packed weights of the extra `fast`
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numeric import prepare_for_engine, to_onnx
from numeric.codegen.onnx_graph.engines import started
from numeric.optimize.prepare import prepare
from numeric.runtime.packed_weights import library
from tests.benchmarks.drawn_peers import flat, in_arrays, in_torch
from tests.benchmarks.drawn_shapes import BOUNDS, NAMED, TINY, DrawnShape, drawn_shapes, given, layer_of
from tests.benchmarks.machine import described, require_all_cores
from tests.benchmarks.race import race
from tests.benchmarks.timing import ROUNDS, Contestant, progress
from tests.benchmarks.verdicts import OURS, PEER, SHOWN, Spread, fastest, paired, spread, verdict

__all__ = ["measured", "table"]

Call = Callable[[], Any]
FAST = "ours, fast"


def measured(rounds: int, shapes: Sequence[DrawnShape]) -> list[dict[str, Any]]:
    """Return the race at every shape; results are compared with the textbook's in float64.

    Raises       Disagreement where a contestant's result differs by more than rounding
    """
    return [_at(shape, rounds) for shape in shapes]


def _at(shape: DrawnShape, rounds: int) -> dict[str, Any]:
    from scipy.special import erf

    layer = layer_of(shape)
    weights, rows = given(shape, layer)
    exact = in_arrays(shape, flat(weights, np.float64), np, erf)(*(x.astype(np.float64) for x in rows))
    ours = prepare(layer, weights, without=["packed_weights"])
    model = to_onnx(layer, weights)
    names = [each.name for each in model.graph.input]
    feeds = dict(zip(names, rows, strict=True))
    made: dict[str, tuple[Callable[[], Call], str]] = {
        "ours": (lambda: lambda: ours(*rows), OURS),
        FAST: (lambda: _fast(layer, weights, rows), SHOWN),
        "torch eager": (lambda: _torch(shape, weights, rows, compiled=False), PEER),
        "torch.compile": (lambda: _torch(shape, weights, rows, compiled=True), PEER),
        "jax.jit": (lambda: _jax(shape, weights, rows), PEER),
    }
    for engine in ("onnxruntime", "openvino"):
        made[engine] = (lambda engine=engine: _engine(started(engine, model), feeds), PEER)
        made[f"ours in {engine}"] = (lambda engine=engine: _prepared(engine, layer, weights, rows), SHOWN)
    contestants = []
    for name, (make, role) in made.items():
        try:
            contestants.append(Contestant(name, make(), role))
        except ImportError as error:
            progress(f"  without {name}: {error}")
    return race(str(shape), contestants, rounds, expected=exact)


def _fast(layer: Any, weights: Any, rows: Sequence[Any]) -> Call:
    if library() is None:
        raise ImportError("the extra `fast` is not installed")
    run = prepare(layer, weights)
    return lambda: run(*rows)


def _torch(shape: DrawnShape, weights: Any, rows: Sequence[Any], compiled: bool) -> Call:
    import torch

    forward, tensors = in_torch(shape, flat(weights)), [torch.from_numpy(x) for x in rows]
    if compiled:
        import torch._dynamo
        import torch._inductor.config

        torch._inductor.config.compile_threads = 1  # its workers are forked, which JAX's threads may not survive
        torch._dynamo.reset()  # else the ninth shape is one too many, and no longer compiled
        forward = torch.compile(forward)

    def run() -> Any:
        with torch.no_grad():
            return forward(*tensors).numpy()

    return run


def _jax(shape: DrawnShape, weights: Any, rows: Sequence[Any]) -> Call:
    import jax
    import jax.numpy as jnp

    own, arrays = jax.tree.map(jnp.asarray, flat(weights)), [jnp.asarray(x) for x in rows]
    compiled = jax.jit(lambda own, *x: in_arrays(shape, own, jnp, jax.scipy.special.erf)(*x))
    return lambda: np.asarray(compiled(own, *arrays))


def _engine(run: Any, feeds: Any) -> Call:
    return lambda: np.array(run(feeds)[0])  # OpenVINO's result lies in memory that its next call writes into


def _prepared(engine: str, layer: Any, weights: Any, rows: Sequence[Any]) -> Call:
    run = prepare_for_engine(layer, weights, engine)
    run(*rows)  # compiled for these batch axes
    return lambda: np.array(run(*rows))


def table(records: Sequence[dict[str, Any]]) -> str:
    """Return the ratios of ours to every peer, the fastest peer, and the medians over all shapes."""
    names = list(dict.fromkeys(name for each in records for name in each["roles"] if name != OURS))
    heads = ["layer (batch, n, d_model, h, d_ff)", "ours", *(f"ours / {n}" for n in names), "fastest peer", "ours is"]
    lines = [heads, ["---"] * len(heads)]
    ratios: dict[str, list[float]] = {name: [] for name in (*names, "fastest peer")}
    for record in records:
        seconds, peer = record["seconds"], fastest(record["seconds"], record["roles"])
        against = {name: paired(seconds, OURS, name) for name in names if name in seconds}
        for name, ratio in {**against, "fastest peer": against[peer]}.items():
            ratios[name].append(ratio.median)
        cells = [_cell(against[name]) if name in against else "" for name in names]
        ours = f"{1000 * spread(seconds[OURS]).median:.2f} ms"
        lines.append([record["label"], ours, *cells, peer, verdict(against[peer])])
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    for who, found in ((OURS, ratios), (FAST, _ratios_of(FAST, records))):
        said = [f"- {n}: median {spread(r).median:.2f}, worst {max(r):.2f}\n" for n, r in found.items() if r]
        if said:
            text += f"\n{who} over {len(records)} shapes, as medians of the ratios within rounds, to\n{''.join(said)}"
    return text


def _ratios_of(who: str, records: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the medians of the ratios of one contestant to every peer, over the shapes."""
    found: dict[str, list[float]] = {}
    for record in (each for each in records if who in each["seconds"]):
        seconds, roles = record["seconds"], record["roles"]
        peers = [name for name, role in roles.items() if role == PEER and name in seconds]
        for name, of in (*((each, each) for each in peers), ("fastest peer", fastest(seconds, roles))):
            found.setdefault(name, []).append(paired(seconds, who, of).median)
    return found


def _cell(ratio: Spread) -> str:
    return f"{ratio.median:.2f} ({ratio.low:.2f} - {ratio.high:.2f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the shapes, race, and print the table with the processor that was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.drawn", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True, help="of the drawn shapes")
    parser.add_argument("--shapes", type=int, default=12, help="how many are drawn")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often every contestant is timed")
    parser.add_argument("--tiny", action="store_true", help="tiny drawn sizes alone, to try the command")
    asked = parser.parse_args(arguments)
    require_all_cores()
    told = described(asked.rounds)
    drawn = drawn_shapes(asked.seed, asked.shapes, TINY if asked.tiny else BOUNDS)
    records = measured(asked.rounds, drawn if asked.tiny else [*NAMED, *drawn])
    held = f", with {told['set for BLAS']}" if "set for BLAS" in told else ""
    print(
        f"seed {asked.seed}, {asked.rounds} rounds, {told['processor']}, {told['cores']} cores, {told['date']}{held}\n"
    )
    print(table(records), flush=True)


if __name__ == "__main__":
    main()
