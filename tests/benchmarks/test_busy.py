"""The layer of the benchmark under load: both contestants agree, and the figures are ratios within a round."""

import numpy as np
import pytest

from tests.benchmarks.agreement import Disagreement, require_agreement
from tests.benchmarks.busy import slowdowns, table
from tests.benchmarks.grouped_layer import drawn, grouped_layer, torch_grouped_layer

SIZES = {"n": 7, "d_model": 11, "d_ff": 13}


def test_both_are_the_layer() -> None:
    pytest.importorskip("torch")
    case = drawn(grouped_layer(2, 3, 10), SIZES)
    found = torch_grouped_layer({"block": case.arguments["block"]})(np.asarray(case.arguments["X"]))
    require_agreement("PyTorch", found, case.expected, 1e-5)
    with pytest.raises(Disagreement):
        require_agreement("PyTorch", found[::-1], case.expected, 1e-5)


def test_slowdowns_are_taken_within_a_round() -> None:
    quiet, busy = {"ours": [1.0, 2.0], "PyTorch": [1.0, 4.0]}, {"ours": [3.0, 6.0], "PyTorch": [2.0, 8.0]}
    found = slowdowns(quiet, busy)
    assert (found["ours"].median, found["PyTorch"].median, found["ours / PyTorch"].median) == (3, 2, 1.5)
    assert table(quiet, busy, 5).splitlines()[-1] == "| ours / PyTorch | | | 1.50 (1.50 - 1.50) |"
