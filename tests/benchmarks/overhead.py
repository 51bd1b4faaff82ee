"""What stands around the arithmetic: compiling a whole model, and calling layers whose arrays are tiny.

Definition   compiling: from an architecture with N layers to its first result, in a fresh process after the imports,
             with tiny weights. Calling: see tests.benchmarks.calling
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from derivations.architectures.composition import build
from derivations.architectures.models import named_model
from derivations.language.layers.layer import Layer
from derivations.transformer.transformer import transformer
from numeric import initialise
from numeric.optimize.prepare import prepare
from tests.benchmarks import calling
from tests.benchmarks.fresh import answer, in_fresh_process
from tests.benchmarks.race import rounded
from tests.benchmarks.timing import progress

__all__ = ["DEPTHS", "first_result", "measured"]

DEPTHS = (2, 6, 24, 96)
PROCESSES = 5
SIZES = {"d_model": 8, "h": 2, "d_k": 4, "d_v": 4, "d_ff": 16, "vocab": 11, "positions": 7}
MODELS: dict[str, tuple[Callable[[], Layer], int]] = {  # how to build it, and how many inputs of tokens it has
    "GPT-2": (lambda: build(named_model("gpt2").architecture), 1),
    "Transformer": (transformer, 2),
}


def measured(rounds: int, depths: Sequence[int] = DEPTHS, processes: int = PROCESSES) -> dict[str, Any]:
    """Return the seconds of compiling by model and depth, and those of calling one layer."""
    compiling = []
    for name in MODELS:
        for depth in depths:
            progress(f"  compiling {name}, {depth} layers")
            runs = [in_fresh_process("overhead", name, depth) for _ in range(processes)]
            compiling.append({"model": name, "N": depth, "seconds": rounded(statistics.median(runs))})
    progress("  calling")
    return {"compiling": compiling, "calling": calling.measured(rounds)}


def first_result(name: str, depth: int) -> float:
    """Return how long it takes from the architecture to the first result, the making of the weights left out.

    Units        seconds
    """
    make, inputs = MODELS[name]
    start = time.perf_counter()
    layer = make()
    built = time.perf_counter() - start
    sizes = {size.name: SIZES.get(size.name, depth) for size in layer.sizes if size.name in {"N", *SIZES}}
    weights = initialise(layer, sizes)
    tokens = [np.zeros(1, int) for _ in range(inputs)]
    start = time.perf_counter()
    prepare(layer, weights)(*tokens)
    return built + time.perf_counter() - start


if __name__ == "__main__":
    answer(first_result)
