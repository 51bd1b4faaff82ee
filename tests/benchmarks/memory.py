"""Peak resident memory of one encoder layer as the sequence grows: d_model 512, 8 heads, d_ff 2048, float32, batch 1.

Definition   by the call: the peak during the first call, less what was resident before it; in all: the peak of the
             process, imports and weights included (VmHWM of Linux). Each figure is the median of fresh processes
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from derivations.transformer.encoder import encoder_layer
from numeric.optimize.prepare import prepare
from tests.benchmarks.encoder_frameworks import torch_forward
from tests.benchmarks.encoder_peers import EncoderShape, random_input, random_weights
from tests.benchmarks.fresh import answer, in_fresh_process
from tests.benchmarks.timing import progress

__all__ = ["LENGTHS", "measured", "peaks", "score_bytes"]

LENGTHS = (2048, 4096, 8192, 16384)
PROCESSES = 3
NAMES = ("ours", "torch eager")
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measured(lengths: Sequence[int] = LENGTHS, processes: int = PROCESSES) -> list[dict[str, Any]]:
    """Return the peaks at every length, in bytes, and the score tensor of the textbook."""
    points = []
    for n in lengths:
        progress(f"  n = {n}")
        found = {name: [in_fresh_process("memory", name, n) for _ in range(processes)] for name in NAMES}
        peak = {name: _middle(runs) for name, runs in found.items()}
        points.append({"n": n, "scores": score_bytes(n), "peaks": peak})
    return points


def _middle(runs: list[dict[str, int]]) -> dict[str, int]:
    return {what: int(statistics.median(run[what] for run in runs)) for what in runs[0]}


def score_bytes(n: int, h: int = 8, batch: int = 1) -> int:
    """Return the size of the textbook's score tensor, batch x h x n x n entries.

    Units        bytes
    """
    return 4 * batch * h * n**2


def peaks(name: str, n: int) -> dict[str, int]:
    """Return the peaks of this process, in which the layer is called once.

    Units        bytes
    """
    shape = EncoderShape(1, n, 512, 8, 2048)
    run = _contestant(name, shape)
    before, up_to_now = _status("VmRSS"), _status("VmHWM")
    RESET.write_text("5", encoding="ascii")  # the peak starts anew
    result = run()
    assert np.isfinite(result).all()
    return {"by the call": _status("VmHWM") - before, "in all": max(up_to_now, _status("VmHWM"))}


def _contestant(name: str, shape: EncoderShape) -> Callable[[], Any]:
    weights, X = random_weights(shape), random_input(shape)
    if name == "torch eager":
        return torch_forward(weights, X, fast=False)
    layer = prepare(encoder_layer(biases=True), weights)
    return lambda: layer(X)


def _status(field: str) -> int:
    """Return a size from the status that the kernel keeps of this process."""
    (line,) = (line for line in STATUS.read_text(encoding="utf-8").splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    answer(peaks)
